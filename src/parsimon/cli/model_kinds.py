"""Which module does the work of `predict`, `evaluate` and `inspect` for a model that is not of sequences."""

from __future__ import annotations

from importlib import import_module
from typing import Any

COMMANDS = {
    "document": "parsimon.cli.documents",
    "network": "parsimon.cli.networks",
    "parser": "parsimon.cli.parsers",
}


def commands_of(model: Any) -> Any:
    """The module with `predict(model, job)`, `evaluate(model, job)` and `inspect(model, name, …)`."""
    return import_module(COMMANDS[model.kind])
