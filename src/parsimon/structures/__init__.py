"""Structures: from part scores to outputs. They see neither weights nor features."""

from parsimon.structures.arborescence import (
    Arborescence,
    ArcParts,
    LabelledArborescence,
    check_tree,
    is_projective,
)
from parsimon.structures.base import Oracle, Structure
from parsimon.structures.chain import Chain, ChainParts
from parsimon.structures.flat import Flat, FlatParts, Real

__all__ = [
    "Arborescence",
    "ArcParts",
    "Chain",
    "ChainParts",
    "Flat",
    "FlatParts",
    "LabelledArborescence",
    "Oracle",
    "Real",
    "Structure",
    "check_tree",
    "is_projective",
]
