"""Structures: from part scores to outputs. They see neither weights nor features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsimon.lazy import exports

if TYPE_CHECKING:
    from parsimon.structures.arborescence import Arborescence as Arborescence
    from parsimon.structures.arborescence import ArcParts as ArcParts
    from parsimon.structures.arborescence import LabelledArborescence as LabelledArborescence
    from parsimon.structures.arborescence import check_tree as check_tree
    from parsimon.structures.base import Oracle as Oracle
    from parsimon.structures.base import Structure as Structure
    from parsimon.structures.belief_propagation import BeliefPropagation as BeliefPropagation
    from parsimon.structures.chain import Chain as Chain
    from parsimon.structures.chain import ChainParts as ChainParts
    from parsimon.structures.flat import Flat as Flat
    from parsimon.structures.flat import FlatParts as FlatParts
    from parsimon.structures.flat import Real as Real
    from parsimon.structures.graph import Graph as Graph
    from parsimon.structures.graph import MRFParts as MRFParts
    from parsimon.structures.inference import InferenceReport as InferenceReport
    from parsimon.structures.junction_tree import JunctionTree as JunctionTree
    from parsimon.structures.pairwise_mrf import PairwiseMRF as PairwiseMRF
    from parsimon.structures.projectivity import is_projective as is_projective
    from parsimon.structures.projectivity import make_projective as make_projective
    from parsimon.structures.second_order_chain import SecondOrderChain as SecondOrderChain
    from parsimon.structures.sibling_tree import SiblingTree as SiblingTree
    from parsimon.structures.table import Table as Table
    from parsimon.structures.tree import Tree as Tree

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "arborescence": ("Arborescence", "ArcParts", "LabelledArborescence", "check_tree"),
        "base": ("Oracle", "Structure"),
        "belief_propagation": ("BeliefPropagation",),
        "chain": ("Chain", "ChainParts"),
        "flat": ("Flat", "FlatParts", "Real"),
        "graph": ("Graph", "MRFParts"),
        "inference": ("InferenceReport",),
        "junction_tree": ("JunctionTree",),
        "pairwise_mrf": ("PairwiseMRF",),
        "projectivity": ("is_projective", "make_projective"),
        "second_order_chain": ("SecondOrderChain",),
        "sibling_tree": ("SiblingTree",),
        "table": ("Table",),
        "tree": ("Tree",),
    },
)
