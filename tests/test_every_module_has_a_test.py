"""Tests mirror the source: those of src/parsimon/solvers/fista.py are in tests/solvers/test_fista.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

import parsimon

TESTS = Path(__file__).parent
SOURCE = Path(parsimon.__file__).parent

# Modules without behaviour of their own, and why.
WITHOUT_A_TEST = {
    "arrays.py": "names of types",
    "designs/base.py": "protocols: what designs offer is tested with each design",
    "structures/base.py": "protocols and the names of oracles: tested with each structure",
}


def modules() -> Iterator[str]:
    """All modules but packages' own files, which only say what is public, and the entry point of `python -m`."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name not in ("__init__.py", "__main__.py"):
            yield path.relative_to(SOURCE).as_posix()


def place_of_tests(module: str) -> Path:
    path = PurePosixPath(module)
    return TESTS / path.parent / f"test_{path.name}"


def has_tests(path: Path) -> bool:
    return path.exists() and "\ndef test_" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("module", list(modules()))
def test_every_module_has_a_test_by_its_name(module: str) -> None:
    if module in WITHOUT_A_TEST:
        return
    assert has_tests(place_of_tests(module)), (
        f"src/parsimon/{module} needs tests in {place_of_tests(module).relative_to(TESTS.parent)}"
    )


def test_exceptions_are_needed() -> None:
    """A module that has gone, or has tests by now, is no exception."""
    assert set(WITHOUT_A_TEST) <= set(modules())
    assert not [module for module in WITHOUT_A_TEST if has_tests(place_of_tests(module))]


def test_a_module_without_a_test_is_found() -> None:
    assert place_of_tests("solvers/fista.py") == TESTS / "solvers" / "test_fista.py"
    assert not has_tests(place_of_tests("solvers/no_such_solver.py"))
    assert not has_tests(TESTS / "conftest.py")
