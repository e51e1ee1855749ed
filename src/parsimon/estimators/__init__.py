"""Estimators: the scikit-learn contract around the library's parts. No algorithms live here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsimon.lazy import exports

if TYPE_CHECKING:
    from parsimon.estimators.dependency_parser import DependencyParser as DependencyParser
    from parsimon.estimators.document_classifier import DocumentClassifier as DocumentClassifier
    from parsimon.estimators.markov_network import MarkovNetwork as MarkovNetwork
    from parsimon.estimators.overlapping_group_lasso import (
        OverlappingGroupLassoClassifier as OverlappingGroupLassoClassifier,
    )
    from parsimon.estimators.overlapping_group_lasso import (
        OverlappingGroupLassoRegressor as OverlappingGroupLassoRegressor,
    )
    from parsimon.estimators.overlapping_group_lasso_cv import (
        OverlappingGroupLassoClassifierCV as OverlappingGroupLassoClassifierCV,
    )
    from parsimon.estimators.overlapping_group_lasso_cv import (
        OverlappingGroupLassoRegressorCV as OverlappingGroupLassoRegressorCV,
    )
    from parsimon.estimators.sequence_labeler import SequenceLabeler as SequenceLabeler
    from parsimon.estimators.tree_labeler import TreeLabeler as TreeLabeler

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "dependency_parser": ("DependencyParser",),
        "document_classifier": ("DocumentClassifier",),
        "markov_network": ("MarkovNetwork",),
        "overlapping_group_lasso": ("OverlappingGroupLassoClassifier", "OverlappingGroupLassoRegressor"),
        "overlapping_group_lasso_cv": (
            "OverlappingGroupLassoClassifierCV",
            "OverlappingGroupLassoRegressorCV",
        ),
        "sequence_labeler": ("SequenceLabeler",),
        "tree_labeler": ("TreeLabeler",),
    },
)
