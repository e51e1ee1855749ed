"""pyproject.toml is true: what the source imports is declared there, and its lower bounds are versions that install.

That the suite passes with these lower bounds is what `make test-lowest` shows.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import pytest

import parsimon

ROOT = Path(__file__).parents[1]
SOURCE = Path(parsimon.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOWEST = "PARSIMON_LOWEST"  # set by `make test-lowest`

# Packages whose module has another name.
PACKAGE = {"sklearn": "scikit-learn", "pycrfsuite": "python-crfsuite"}

# What a module of a folder may import when it is loaded. Everything else is imported where it is used.
LOADED_AT_ONCE = {"": {"numpy", "threadpoolctl"}, "cli": {"click"}, "estimators": {"scikit-learn"}}

# Imported only for users who gave an object of it, so it is there.
BROUGHT_BY_USERS = {"pandas"}


_VERSION = r"\d+(?:\.\d+)*"


class Import(NamedTuple):
    """One import of a third-party package."""

    package: str
    line: int
    at_once: bool  # when the module is loaded, not in a function
    guarded: bool  # in a `try` that turns an ImportError into a sentence


def lower_bound(requirement: str) -> tuple[str, str]:
    """The package and the version of a requirement ``package>=version``; broken releases may be excluded."""
    plain = requirement.partition(";")[0].strip()  # without the systems that it is for
    match = re.fullmatch(rf"([a-z0-9]+(?:-[a-z0-9]+)*)>=({_VERSION})(?:,!={_VERSION})*", plain)
    assert match, f"{requirement!r} is not of the form package>=version"
    return match[1], match[2]


def requirements() -> dict[str, dict[str, str]]:
    """The lower bounds of the dependencies and of each extra but `dev`, which pins the tools."""
    project = PROJECT["project"]
    lists = {"": project["dependencies"], **project["optional-dependencies"]}
    return {name: dict(map(lower_bound, each)) for name, each in lists.items() if name != "dev"}


def imports(text: str) -> Iterator[Import]:
    """The third-party imports of a module; those under TYPE_CHECKING only exist for type checkers."""

    def walk(node: ast.AST, at_once: bool, guarded: bool) -> Iterator[Import]:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            at_once = False
        if isinstance(node, ast.Try):
            caught = {ast.unparse(handler.type) for handler in node.handlers if handler.type}
            for child in node.body:
                yield from walk(child, at_once, guarded or "ImportError" in caught)
            node = ast.Module([*node.handlers, *node.orelse, *node.finalbody], [])  # type: ignore[list-item]
        for module in imported_by(node):
            name = module.split(".")[0]
            if name != "parsimon" and name not in sys.stdlib_module_names:
                yield Import(PACKAGE.get(name, name), node.lineno, at_once, guarded)  # type: ignore[attr-defined]
        for child in ast.iter_child_nodes(node):
            yield from walk(child, at_once, guarded)

    yield from walk(ast.parse(text), True, False)


def imported_by(node: ast.AST) -> list[str]:
    """The modules that a statement, or a call of import_module with a name, imports."""
    match node:
        case ast.Import(names):
            return [each.name for each in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case ast.Call(ast.Name("import_module"), [ast.Constant(str(module))]):
            return [module]
    return []


def not_allowed(folder: str, text: str) -> list[str]:
    """What is wrong with the imports of a module in a folder of the package."""
    at_once = LOADED_AT_ONCE[""] | LOADED_AT_ONCE.get(folder, set())
    bounds = requirements()
    optional = set().union(*bounds.values()) - set(bounds[""])
    found = list(imports(text))
    guarded = {each.package for each in found if each.guarded}  # the first import: others come after it
    wrong = []
    for each in found:
        if each.package not in bounds[""] and each.package not in optional:
            wrong.append(f"line {each.line}: {each.package} is not declared in pyproject.toml")
        elif each.at_once and each.package not in at_once:
            wrong.append(f"line {each.line}: import {each.package} in the function that uses it")
        elif each.package in optional - BROUGHT_BY_USERS - guarded:
            wrong.append(f"line {each.line}: {each.package} is optional; say so when it is missing")
    return wrong


def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers, without zeros at the end: 5 and 5.0.0 are the same."""
    found = [int(number) for number in re.findall(r"\d+", version)]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)


def test_all_lower_bounds_are_plain() -> None:
    """A list of lower bounds alone can be turned into a list of lowest versions; upper bounds only age."""
    assert all(requirements().values())
    build = dict(map(lower_bound, PROJECT["build-system"]["requires"]))
    assert set(build) == {"scikit-build-core", "nanobind"}


def test_what_two_lists_name_has_one_bound() -> None:
    bounds: dict[str, set[str]] = {}
    for each in requirements().values():
        for package, version in each.items():
            bounds.setdefault(package, set()).add(version)
    assert not {package: found for package, found in bounds.items() if len(found) > 1}


def test_the_oldest_python_is_the_same_everywhere() -> None:
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert PROJECT["tool"]["mypy"]["python_version"] == oldest
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    assert f"find_package(Python {oldest} " in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    listed = [
        each.rpartition(" ")[2]
        for each in PROJECT["project"]["classifiers"]
        if re.search(r":: 3\.\d+$", each)
    ]
    assert listed[0] == oldest


def test_dependencies_are_used() -> None:
    used = {each.package for path in SOURCE.rglob("*.py") for each in imports(path.read_text("utf-8"))}
    assert set(requirements()[""]) <= used


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_are_declared_and_lazy(path: Path) -> None:
    folder = path.relative_to(SOURCE).parts[0]
    assert not not_allowed(folder, path.read_text(encoding="utf-8"))


def test_installed_versions_are_new_enough() -> None:
    """Whatever is installed where the suite runs; with `make test-lowest` it is the lower bounds themselves."""
    lowest = os.environ.get(LOWEST) == "1"
    for bounds in (requirements()[""], requirements()["test"]):
        for package, bound in bounds.items():
            version = numbers(metadata.version(package))
            assert version >= numbers(bound), f"{package} is older than {bound}"
            assert not lowest or version == numbers(bound), f"{package} is newer than {bound}"


def test_what_is_wrong_is_found() -> None:
    assert not not_allowed("cli", "import json\nimport click\nimport numpy as np\nfrom parsimon import files")
    assert not_allowed("solvers", "import click") == ["line 1: import click in the function that uses it"]
    assert not_allowed("solvers", "class A:\n    import scipy.sparse") == [
        "line 2: import scipy in the function that uses it"
    ]
    assert not_allowed("data", "def f():\n    import torch") == [
        "line 2: torch is not declared in pyproject.toml"
    ]
    drawing = "def f():\n    {}import_module('matplotlib.figure')"
    assert not_allowed("report", drawing.format("")) == [
        "line 2: matplotlib is optional; say so when it is missing"
    ]
    guarded = drawing.format("try:\n        ") + "\n    except ImportError as error:\n        raise"
    assert not not_allowed("report", guarded)
    assert not_allowed("report", guarded + "\n    import lxml") == [
        "line 6: lxml is optional; say so when it is missing"
    ]
    assert not not_allowed("report", "if TYPE_CHECKING:\n    from torch import nn")


def test_a_requirement_without_a_lower_bound_is_found() -> None:
    assert lower_bound("scikit-learn>=1.6") == ("scikit-learn", "1.6")
    assert lower_bound("click>=8.2,!=8.3.0") == ("click", "8.2")
    for wrong in ("numpy", "numpy==1.26", "numpy>=1.26,<3", "numpy>=1.26rc1"):
        with pytest.raises(AssertionError, match="not of the form"):
            lower_bound(wrong)


def test_versions_are_compared_as_numbers() -> None:
    assert numbers("1.10") > numbers("1.9.9")
    assert numbers("5.0.0") == numbers("5")
