"""Data sets: a code corpus from the standard library, and public ones that are downloaded when first used.

>>> from parsimon.data import load_python_code
>>> train, test = load_python_code(4).split()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parsimon.data.python_code import CodeCorpus, load_python_code
    from parsimon.data.python_labels import label_python
    from parsimon.data.registry import (
        REGISTRY,
        DataSet,
        archive,
        is_available,
        load_conll2000,
        load_conll2002,
        member,
    )

__all__ = [
    "REGISTRY",
    "CodeCorpus",
    "DataSet",
    "archive",
    "is_available",
    "label_python",
    "load_conll2000",
    "load_conll2002",
    "load_python_code",
    "member",
]

_HOME = {
    "CodeCorpus": "python_code",
    "load_python_code": "python_code",
    "label_python": "python_labels",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME.get(name, 'registry')}"), name)


def __dir__() -> list[str]:
    return __all__
