"""All targets by name: the TARGETS of every file in targets/."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from fuzz.target import Target


def all_targets() -> dict[str, type[Target]]:
    files = sorted((Path(__file__).parent / "targets").glob("*.py"))
    modules = [import_module(f"fuzz.targets.{file.stem}") for file in files]
    found = [target for module in modules for target in getattr(module, "TARGETS", ())]
    return {target.name: target for target in found}
