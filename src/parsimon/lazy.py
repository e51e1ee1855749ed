"""Packages whose public names are imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def exports(
    package: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` of a package, given the names that each of its modules provides.

    Module names are relative to the package or begin with ``parsimon.``. Type checkers see the same names in a
    ``TYPE_CHECKING`` block; a test compares the two.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = home[name] if home[name].startswith("parsimon.") else f"{package}.{home[name]}"
        return getattr(import_module(module), name)

    return sorted(home), get, lambda: sorted(home)
