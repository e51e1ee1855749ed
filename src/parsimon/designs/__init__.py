"""Designs Φ: sparse linear maps from weights to part scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsimon.lazy import exports

if TYPE_CHECKING:
    from parsimon.designs.arcs import ArcDesign as ArcDesign
    from parsimon.designs.arcs import build_arcs as build_arcs
    from parsimon.designs.base import Design as Design
    from parsimon.designs.chains import build_chain as build_chain
    from parsimon.designs.feature_index import FeatureIndex as FeatureIndex
    from parsimon.designs.feature_table import FeatureTable as FeatureTable
    from parsimon.designs.flat import FlatDesign as FlatDesign
    from parsimon.designs.mrf import MRFDesign as MRFDesign
    from parsimon.designs.pairs import ChainDesign as ChainDesign
    from parsimon.designs.pairs import PairDesign as PairDesign
    from parsimon.designs.pairs import SiblingDesign as SiblingDesign
    from parsimon.designs.pairs import TreeDesign as TreeDesign

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "arcs": ("ArcDesign", "build_arcs"),
        "base": ("Design",),
        "chains": ("build_chain",),
        "feature_index": ("FeatureIndex",),
        "feature_table": ("FeatureTable",),
        "flat": ("FlatDesign",),
        "mrf": ("MRFDesign",),
        "pairs": ("ChainDesign", "PairDesign", "SiblingDesign", "TreeDesign"),
    },
)
