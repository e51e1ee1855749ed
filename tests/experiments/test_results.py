"""What experiments do with their results: nothing is written over without being asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("write", [False, True])
def test_pictures_of_pages_are_only_drawn_for_pages(
    load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: bool
) -> None:
    results = load("results")
    for name in ("PAGES", "TRIED"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(results, name, tmp_path / name)
    monkeypatch.setattr(results, "pictures", tmp_path)
    (tmp_path / "PAGES" / "page.md").write_text("<!-- begin:part -->\n\n<!-- end:part -->\n")
    monkeypatch.setattr("sys.argv", ["experiment", "part", *["--write"] * write])

    def part(threads: int) -> str:
        return str(results.figure("drawn", lambda axes: axes.plot([0, 1])))

    assert results.main({"part": part}, "page.md", "An experiment.") == 0
    assert (tmp_path / "PAGES" / "drawn.png").exists() is write
    assert (tmp_path / "TRIED" / "drawn.png").exists() is not write
    assert ("drawn.png" in (tmp_path / "PAGES" / "page.md").read_text()) is write
