"""Structures: from part scores to outputs. They see neither weights nor features."""

from parsimon.structures.base import Oracle, Structure
from parsimon.structures.chain import Chain, ChainParts

__all__ = ["Chain", "ChainParts", "Oracle", "Structure"]
