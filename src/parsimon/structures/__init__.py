"""Structures: from part scores to outputs. They see neither weights nor features."""

from parsimon.structures.arborescence import (
    Arborescence,
    ArcParts,
    LabelledArborescence,
    check_tree,
)
from parsimon.structures.base import Oracle, Structure
from parsimon.structures.belief_propagation import BeliefPropagation
from parsimon.structures.chain import Chain, ChainParts
from parsimon.structures.flat import Flat, FlatParts, Real
from parsimon.structures.graph import Graph, MRFParts
from parsimon.structures.inference import InferenceReport
from parsimon.structures.junction_tree import JunctionTree
from parsimon.structures.pairwise_mrf import PairwiseMRF
from parsimon.structures.projectivity import is_projective, make_projective
from parsimon.structures.sibling_tree import SiblingTree
from parsimon.structures.table import Table
from parsimon.structures.tree import Tree

__all__ = [
    "Arborescence",
    "ArcParts",
    "BeliefPropagation",
    "Chain",
    "ChainParts",
    "Flat",
    "FlatParts",
    "Graph",
    "InferenceReport",
    "JunctionTree",
    "LabelledArborescence",
    "MRFParts",
    "Oracle",
    "PairwiseMRF",
    "Real",
    "SiblingTree",
    "Structure",
    "Table",
    "Tree",
    "check_tree",
    "is_projective",
    "make_projective",
]
