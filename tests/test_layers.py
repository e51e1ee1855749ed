"""Imports only go down: the table of layers in docs/architecture.md is what this test goes by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import parsimon

ROOT = Path(__file__).parents[1]
SOURCE = Path(parsimon.__file__).parent
ROW = re.compile(r"^\| *(\d+) *\| *((?:`\w+`(?:, )?)+) *\|", re.MULTILINE)


def layers() -> dict[str, int]:
    """The layer of every folder and module at the top of the package, by the page's table."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return {name: int(row[1]) for row in ROW.finditer(page) for name in re.findall(r"`(\w+)`", row[2])}


def imports(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a module that import from the package, and what at its top they import from."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "." * node.level  # which folder that is, a reader would have to count
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "parsimon":
            deeper = (node.module or "").split(".")[1:2]
            yield from ((node.lineno, name) for name in deeper or [alias.name for alias in node.names])
        elif isinstance(node, ast.Import):
            yield from (
                (node.lineno, a.name.split(".")[1]) for a in node.names if a.name.startswith("parsimon.")
            )


def upward(place: str, text: str) -> list[str]:
    """The imports of a module in `place` that go up. What is not in the table comes from the package's public face."""
    layer, top = layers(), max(layers().values())
    own = layer[place]
    return [
        f"line {line} of a module in {place} imports {name}, which is above it"
        for line, name in imports(text)
        if layer.get(name, -1 if name == "__version__" else top + 1) > own
    ]


def test_everything_has_a_layer() -> None:
    there = {
        path.stem for path in SOURCE.iterdir() if path.suffix in (".py", "") and path.stem.isidentifier()
    }
    assert there - {"__init__", "__main__", "__pycache__"} == set(layers()) - {"_core"}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_import_goes_up(path: Path) -> None:
    place = path.relative_to(SOURCE).with_suffix("").parts[0]
    if place not in ("__init__", "__main__"):  # the face of the whole
        assert not upward(place, path.read_text(encoding="utf-8"))


def test_an_import_that_goes_up_is_found() -> None:
    assert upward("penalties", "def f():\n    from parsimon.solvers.base import Status") == [
        "line 2 of a module in penalties imports solvers, which is above it"
    ]
    assert upward("features", "import parsimon.tasks.model_file")
    assert upward("structures", "if TYPE_CHECKING:\n    from parsimon.estimators import SequenceLabeler")
    assert upward("structures", "from .. import tasks")
    assert upward("structures", "from parsimon import SequenceLabeler")
    assert not upward("solvers", "from parsimon.penalties import L1\nfrom parsimon import errors")
