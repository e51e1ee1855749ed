"""The types written down for the compiled core name what is really there."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from parsimon import _core

STUB = ast.parse((Path(__file__).parents[1] / "src/parsimon/_core.pyi").read_text(encoding="utf-8"))


def stubbed() -> dict[str, list[str]]:
    """Functions, methods and properties of the stub by name, with their arguments."""
    out: dict[str, list[str]] = {}
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            out[node.name] = [a.arg for a in node.args.args]
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    out[f"{node.name}.{part.name}"] = [
                        a.arg for a in (*part.args.posonlyargs, *part.args.args) if a.arg != "self"
                    ]
    return out


def compiled() -> dict[str, Any]:
    """What the module has, in the same names."""
    out: dict[str, Any] = {}
    for name, thing in vars(_core).items():
        if isinstance(thing, type):
            for part in vars(thing):
                if not part.startswith("__") or part in ("__init__", "__len__", "__getitem__"):
                    out[f"{name}.{part}"] = getattr(thing, part)
        elif not name.startswith("__"):
            out[name] = thing
    return out


def arguments(function: Any) -> list[str] | None:
    """The names of a compiled function's arguments; None for a property or when they have no names."""
    signatures = getattr(function, "__nb_signature__", None)
    if signatures is None:
        return None
    names = re.findall(r"(\w+): ", re.sub(r"\[.*?\]", "", signatures[0][0].split("->")[0]))
    return None if "arg" in names or "arg0" in names else names


def test_stub_and_module_have_the_same_names() -> None:
    assert sorted(stubbed()) == sorted(compiled())


@pytest.mark.parametrize("name", sorted(stubbed()))
def test_arguments_have_the_same_names(name: str) -> None:
    found = arguments(compiled()[name])
    assert found is None or found == stubbed()[name]
