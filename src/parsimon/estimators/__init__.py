"""Estimators: the scikit-learn contract around the library's parts. No algorithms live here."""

from parsimon.estimators.dependency_parser import DependencyParser
from parsimon.estimators.document_classifier import DocumentClassifier
from parsimon.estimators.markov_network import MarkovNetwork
from parsimon.estimators.overlapping_group_lasso import (
    OverlappingGroupLassoClassifier,
    OverlappingGroupLassoRegressor,
)
from parsimon.estimators.overlapping_group_lasso_cv import (
    OverlappingGroupLassoClassifierCV,
    OverlappingGroupLassoRegressorCV,
)
from parsimon.estimators.sequence_labeler import SequenceLabeler
from parsimon.estimators.tree_labeler import TreeLabeler

__all__ = [
    "DependencyParser",
    "DocumentClassifier",
    "MarkovNetwork",
    "OverlappingGroupLassoClassifier",
    "OverlappingGroupLassoClassifierCV",
    "OverlappingGroupLassoRegressor",
    "OverlappingGroupLassoRegressorCV",
    "SequenceLabeler",
    "TreeLabeler",
]
