"""Structures: from part scores to outputs. They see neither weights nor features."""

from parsimon.structures.base import Oracle, Structure
from parsimon.structures.chain import Chain, ChainParts
from parsimon.structures.flat import Flat, FlatParts, Real
from parsimon.structures.tree import Tree

__all__ = ["Chain", "ChainParts", "Flat", "FlatParts", "Oracle", "Real", "Structure", "Tree"]
