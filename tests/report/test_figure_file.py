"""Saving figures: the formats, and file names that are refused before and after drawing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from parsimon.errors import ParsimonError
from parsimon.report.figure_file import check_ending, save_figure


class Figure:
    """Writes its format, and then fails if it is told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def savefig(self, buffer: Any, format: str, dpi: int) -> None:
        buffer.write(format.encode())
        if self.error is not None:
            raise self.error


@pytest.mark.parametrize("name", ["a.png", "a.SVG", "a.b.pdf"])
def test_endings(name: str) -> None:
    check_ending(Path(name))


@pytest.mark.parametrize("name", ["a", "a.doc", "png", "a.png.gz"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(
        ParsimonError, match=r"cannot draw to .*; give a file name that ends in \.png, \.svg or"
    ):
        check_ending(Path(name))


def test_the_ending_is_the_format(tmp_path: Path) -> None:
    for name, format in (("a.svg", "svg"), ("a.pdf", "pdf"), ("plain", "png")):
        save_figure(Figure(), tmp_path / name)
        assert (tmp_path / name).read_text() == format


def test_a_failure_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_text("before")
    with pytest.raises(ParsimonError, match=r"cannot draw to .*no such format"):
        save_figure(Figure(ValueError("no such format")), path)
    assert path.read_text() == "before"
    with pytest.raises(ParsimonError, match="cannot be written"):
        save_figure(Figure(), tmp_path / "nowhere" / "a.png")
    assert list(tmp_path.iterdir()) == [path]
