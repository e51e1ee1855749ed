"""The demonstration runs from end to end, on a corpus small enough for a test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from parsimon import demo, load_model
from parsimon.data import label_python


def test_demonstration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "MODULES", 8)
    monkeypatch.setattr(demo, "MAX_TOKENS", 12_000)
    monkeypatch.setattr(demo, "PRESET", "chunking")
    for name in ("SPARSE", "DENSE"):
        monkeypatch.setattr(demo, name, replace(getattr(demo, name), max_iter=10))
    assert demo.main() == 0
    printed = capsys.readouterr().out
    model = load_model(tmp_path / "demo" / "chunking.parsimon")
    assert f"{len(model.weights):,}" in printed
    assert "sparse CRF" in printed
    assert "dense CRF" in printed
    assert (tmp_path / "demo" / "held-out.tsv").read_text().count("\n\n") > 10


def test_tokens_stand_where_the_source_has_them() -> None:
    source = (
        "# a comment of its own\n"
        "def f(x):  # a comment in a line\n"
        "    y = f'{x!r} and {f\"{x}\"}' + '''two\nlines'''\n"
        "    return [y,\n"
        "            0.125]\n"
    )
    X, _ = label_python(source)
    places = list(demo.logical_lines(source))
    assert [len(line) for line in places] == [len(line) for line in X]
    rows = source.split("\n")
    for line, tokens in zip(places, X, strict=True):
        for place, (text, _) in zip(line, tokens, strict=True):
            assert rows[place.row - 1][place.start : place.end].startswith(text.split("#")[0])
    assert [place.row for place in places[-1]] == [5, 5, 5, 5, 6, 6]
