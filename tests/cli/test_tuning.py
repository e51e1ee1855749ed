"""Strengths that choose themselves, on the command line: which kinds, and what would make no difference."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from parsimon.cli.kind import all_kinds
from parsimon.cli.options import Asked
from parsimon.cli.tuning import check_stopping, check_tuning, has_tuning, write_tune_plot
from parsimon.errors import ParsimonError

VALUES = {"tune": None, "dev": None, "folds": 5, "tune_rule": "best", "tune_plot": None}


def test_kinds_that_have_it() -> None:
    names = {kind.name for kind in all_kinds() if has_tuning(kind)}
    assert names == {"sequence", "tree", "page", "document", "matrix"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tune": False, "folds": 3}, "--folds is about strengths that choose themselves"),
        ({"tune": False, "tune_rule": "best"}, "--tune-rule is about strengths that choose themselves"),
        ({"dev": "dev.txt", "folds": 3}, "--folds is about choosing strengths without --dev"),
        ({"tune_plot": Path("a.txt")}, r"ends in \.png, \.svg or \.pdf"),
        ({"tune": True, "folds": 3}, None),
    ],
    ids=str,
)
def test_what_would_make_no_difference_is_refused(given: dict[str, object], said: str | None) -> None:
    kinds = {kind.name: kind for kind in all_kinds()}
    job = Asked({**VALUES, **given}, frozenset(given))
    check_tuning(kinds["parser"], job)
    if said is None:
        check_tuning(kinds["document"], job)
        return
    with pytest.raises(ParsimonError, match=said):
        check_tuning(kinds["document"], job)


def test_development_data_that_choose_strengths_stop_nothing() -> None:
    kinds = {kind.name: kind for kind in all_kinds()}
    job = Asked({**VALUES, "dev": "dev.txt", "patience": 3}, frozenset({"dev", "patience"}))
    with pytest.raises(ParsimonError, match="--patience is about when --dev stops a fit"):
        check_stopping(kinds["document"], job, SimpleNamespace(tunes=True))
    check_stopping(kinds["document"], job, SimpleNamespace(tunes=False))
    check_stopping(kinds["parser"], job, SimpleNamespace())


def test_a_plot_of_nothing_is_not_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = Asked({**VALUES, "tune_plot": tmp_path / "a.png"}, frozenset())
    write_tune_plot(job, SimpleNamespace(info={}))
    assert "was not drawn, because no strengths were chosen" in capsys.readouterr().err
    assert not (tmp_path / "a.png").exists()
