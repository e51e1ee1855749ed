"""Which module does the work of `predict`, `evaluate` and `inspect` for a model that is not of column files."""

from __future__ import annotations

from importlib import import_module
from typing import Any

COMMANDS = {
    "document": "parsimon.cli.documents",
    "network": "parsimon.cli.networks",
    "pages": "parsimon.cli.pages",
    "parser": "parsimon.cli.parsers",
}


def commands_of(model: Any) -> Any:
    """The module with `predict(model, job)` and `evaluate(model, job)`; None for models of column files.

    If the model is not of sequences or trees, there is `inspect(model, name, …)`, too.
    """
    kind = model.info.get("input", model.kind) if model.kind == "sequence" else model.kind
    return import_module(COMMANDS[kind]) if kind in COMMANDS else None
