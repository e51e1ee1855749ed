"""Parsimon learns small, fast, explainable structured predictors.

Importing it is cheap: what you name is loaded when you name it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parsimon.errors import ParsimonError, ParsimonWarning
    from parsimon.estimators import (
        DependencyParser,
        DocumentClassifier,
        MarkovNetwork,
        OverlappingGroupLassoClassifier,
        OverlappingGroupLassoClassifierCV,
        OverlappingGroupLassoRegressor,
        OverlappingGroupLassoRegressorCV,
        SequenceLabeler,
        TreeLabeler,
    )
    from parsimon.features import Columns, TemplateSet, read_columns, read_labelled
    from parsimon.penalties import L1, L2, ElasticNet
    from parsimon.tasks.documents.model import DocumentModel
    from parsimon.tasks.matrices.model import MatrixModel
    from parsimon.tasks.model_file import load_model, save_model
    from parsimon.tasks.networks.model import NetworkModel
    from parsimon.tasks.parsing.model import ParserModel
    from parsimon.tasks.sequences.model import SequenceModel

__version__ = "0.1.0"

_HOME = {
    "SequenceLabeler": "parsimon.estimators",
    "TreeLabeler": "parsimon.estimators",
    "DependencyParser": "parsimon.estimators",
    "DocumentClassifier": "parsimon.estimators",
    "MarkovNetwork": "parsimon.estimators",
    "OverlappingGroupLassoClassifier": "parsimon.estimators",
    "OverlappingGroupLassoClassifierCV": "parsimon.estimators",
    "OverlappingGroupLassoRegressor": "parsimon.estimators",
    "OverlappingGroupLassoRegressorCV": "parsimon.estimators",
    "DocumentModel": "parsimon.tasks.documents.model",
    "MatrixModel": "parsimon.tasks.matrices.model",
    "NetworkModel": "parsimon.tasks.networks.model",
    "ParserModel": "parsimon.tasks.parsing.model",
    "SequenceModel": "parsimon.tasks.sequences.model",
    "load_model": "parsimon.tasks.model_file",
    "save_model": "parsimon.tasks.model_file",
    "L1": "parsimon.penalties",
    "L2": "parsimon.penalties",
    "ElasticNet": "parsimon.penalties",
    "Columns": "parsimon.features",
    "TemplateSet": "parsimon.features",
    "read_columns": "parsimon.features",
    "read_labelled": "parsimon.features",
    "ParsimonError": "parsimon.errors",
    "ParsimonWarning": "parsimon.errors",
}

__all__ = [
    "L1",
    "L2",
    "Columns",
    "DependencyParser",
    "DocumentClassifier",
    "DocumentModel",
    "ElasticNet",
    "MarkovNetwork",
    "MatrixModel",
    "NetworkModel",
    "OverlappingGroupLassoClassifier",
    "OverlappingGroupLassoClassifierCV",
    "OverlappingGroupLassoRegressor",
    "OverlappingGroupLassoRegressorCV",
    "ParserModel",
    "ParsimonError",
    "ParsimonWarning",
    "SequenceLabeler",
    "SequenceModel",
    "TemplateSet",
    "TreeLabeler",
    "load_model",
    "read_columns",
    "read_labelled",
    "save_model",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'parsimon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
