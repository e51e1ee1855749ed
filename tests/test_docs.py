"""What the documentation shows works: its Python blocks run, and so do the examples in docstrings."""

from __future__ import annotations

import doctest
import os
import pkgutil
import platform
import re
import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import parsimon

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^(?P<indent> *)```python\n(?P<code>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)
EXAMPLES = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules() -> Iterator[str]:
    """Every module of the package; the compiled one has no examples, and __main__ modules are programmes."""
    yield "parsimon"
    for module in pkgutil.walk_packages(parsimon.__path__, "parsimon."):
        if not module.name.endswith(("._core", ".__main__")):
            yield module.name


def python_blocks(text: str) -> Iterator[tuple[int, str]]:
    """The fenced Python blocks of a page, with the lines they begin on."""
    for block in FENCE.finditer(text):
        indent = len(block["indent"])
        code = "".join(line[indent:] or "\n" for line in block["code"].splitlines(keepends=True))
        yield text.count("\n", 0, block.start("code")) + 1, code


def run_block(code: str, name: str, line: int, namespace: dict[str, Any]) -> None:
    """Runs a block; one with prompts must print what it says it prints."""
    if ">>>" in code:
        # The shared namespace stays the test's: the runner would clear its own.
        test = doctest.DocTestParser().get_doctest(code, namespace, name, name, line - 1)
        test.globs = namespace
        report: list[str] = []
        result = doctest.DocTestRunner(optionflags=EXAMPLES).run(test, out=report.append, clear_globs=False)
        assert not result.failed, "".join(report)
        return
    try:
        exec(compile("\n" * (line - 1) + code, name, "exec", dont_inherit=True), namespace)
    except Exception:
        pytest.fail(f"{name}, the block on line {line}:\n{traceback.format_exc(limit=-2)}", pytrace=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In order, in one namespace and in an empty folder, as somebody who reads the page would run them."""
    if "PARSIMON_DATA" in os.environ:
        monkeypatch.setenv("PARSIMON_DATA", str(Path(os.environ["PARSIMON_DATA"]).resolve()))
    blocks = list(python_blocks(page.read_text(encoding="utf-8")))
    if not blocks:
        pytest.skip("the page has no Python blocks")
    monkeypatch.chdir(tmp_path)
    page_module = ModuleType("__docs__")  # dataclasses look for the module of a class
    monkeypatch.setitem(sys.modules, "__docs__", page_module)
    namespace = vars(page_module)
    for line, code in blocks:
        run_block(code, page.name, line, namespace)


PRINTED = re.compile(r"```python\n(.*?)```\n\nprints \(Python ([0-9.]+);.*?\n\n```\n(.*?)```", re.DOTALL)


def test_the_readme_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its data are the standard library, so this can only be said of one version of Python."""
    found = PRINTED.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert found is not None
    code, version, printed = found.groups()
    if platform.python_version() != version:
        pytest.skip(f"what is printed is of Python {version}")
    monkeypatch.chdir(tmp_path)
    run_block(code, "README.md", 1, {"__name__": "__docs__"})
    shown = capsys.readouterr().out
    # How many features are left at this tolerance depends a little on the processor and on versions.
    mine, page = (
        int(re.search(r"with ([\d,]+) features", text)[1].replace(",", "")) for text in (shown, printed)
    )
    assert mine == pytest.approx(page, rel=0.05)
    assert re.sub(r"with [\d,]+ features", "", shown) == re.sub(r"with [\d,]+ features", "", printed)


@pytest.mark.parametrize("module", list(modules()))
def test_examples_in_docstrings(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = import_module(module)
    result = doctest.testmod(found, optionflags=EXAMPLES)
    assert not result.failed, f"{result.failed} examples of {module} print something else; see above"


def test_blocks_are_found_and_fail_where_they_should() -> None:
    text = (
        "# A page\n\n```python\nx = 2\n```\n\ntext\n\n- a list\n\n  ```python\n  if x:\n      y = x\n  ```\n"
    )
    assert list(python_blocks(text)) == [(4, "x = 2\n"), (12, "if x:\n    y = x\n")]
    namespace: dict[str, Any] = {}
    run_block("x = 1\n", "page", 1, namespace)
    run_block(">>> x + 1\n2\n>>> y = 5\n", "page", 1, namespace)
    run_block("assert y == 5\n", "page", 1, namespace)
    with pytest.raises(AssertionError, match="Expected"):
        run_block(">>> x\n7\n", "page", 1, namespace)
    with pytest.raises(pytest.fail.Exception, match="page, the block on line 3"):
        run_block("x = nothing\n", "page", 3, namespace)
