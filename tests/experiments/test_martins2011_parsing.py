"""The experiments on parsing: what is scored, which kinds of templates there are, and every way of choosing them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsimon.features.arc_templates import ArcTemplates
from toy_treebanks import random_treebank, treebank_of


@pytest.fixture
def work(load: Callable[[str], Any]) -> Any:
    return load("martins2011_parsing_jobs")


def test_kinds_of_templates(work: Any) -> None:
    templates = ArcTemplates.parse(
        "h.lemma+m.form+dir\nh.upos+m.form\nh.upos+h+1.upos+m.upos+b.upos+dist\nm.shape"
    )
    assert work.kinds(templates) == {
        "word → word": 1,
        "word → POS": 0,
        "POS → word": 1,
        "POS → POS": 1,
        "POS beside": 1,
        "POS between": 1,
        "shape": 1,
        "direction": 1,
        "length": 1,
    }


def test_scores_leave_punctuation_and_broken_trees_out(work: Any) -> None:
    one = [
        ("a", "a", "NOUN", "_", 2, "x"),
        ("b", "b", "VERB", "_", 0, "root"),
        (".", ".", "PUNCT", "_", 2, "p"),
    ]
    two = [("a", "a", "NOUN", "_", 0, "root"), ("b", "b", "VERB", "_", 0, "root")]
    heads = np.array([2, 0, 1, 0, 1])
    told = work.scores(treebank_of([one, two]), heads)
    assert told == {"all": 3 / 5, "uas": 3 / 4, "uas_single": 1.0, "single": 0.5}


def test_sentences_are_spread_evenly(work: Any) -> None:
    treebank = random_treebank(0, (1, 2, 3, 4, 5, 6, 7))
    assert work.spread(treebank, 3).lengths.tolist() == [1, 4, 7]
    assert work.spread(treebank, None) is treebank


def test_a_tenth_of_the_sentences_can_be_set_aside(work: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"train": random_treebank(0, range(1, 13)), "test": random_treebank(1, (3, 4))}
    monkeypatch.setattr(work, "load_treebank", lambda name, split="train": known[split])
    assert work.treebanks("toy", None, None) == (known["train"], known["test"])
    train, test = work.treebanks("toy", None, None, tenth=True)
    assert (train.lengths.tolist(), test.lengths.tolist()) == ([*range(2, 11), 12], [1, 11])


WAYS = ["all templates", "group lasso", "coarse to fine", "information gain", "L1", "d = √log2"]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_learns(work: Any, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setattr(work, "load_treebank", lambda name, split="train": random_treebank(1, (3, 4, 2, 5)))
    settings = {"sentences": None, "test_sentences": None, "epochs": 4, "refit": 6, "most": 0.1, "seed": 0}
    size = 0.01 if way == "L1" else 20
    told = work.learn(language="toy", way=way, size=size, preset="mcdonald", threads=1, **settings)
    assert told["all"] > 0.8  # of what was learnt from
    assert told["templates"] == len(told["names"])
    assert way in ("all templates", "L1") or 0 < told["templates"] <= 22  # bias and length stay in any case


@pytest.mark.data
def test_small_runs_print_every_table(
    load: Callable[[str], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    require_data: Callable[[str], None],
) -> None:
    require_data("danish_ddt")
    tables = load("martins2011_parsing")
    command = [
        "martins2011_parsing.py",
        "danish",
        "danish_tenth",
        "--small",
        "--cache",
        str(tmp_path / "known.jsonl"),
    ]
    monkeypatch.setattr(sys, "argv", command)
    assert tables.main() == 0
    printed = capsys.readouterr().out
    assert "684 templates, MIRA" in printed
    assert "budget falls over 2 epochs" in printed


def test_what_cannot_be_asked(load: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    tables = load("martins2011_parsing")
    for more in (["--small", "--write"], ["figure9", "--cache", "nowhere.jsonl"]):
        monkeypatch.setattr(sys, "argv", ["martins2011_parsing.py", *more])
        assert tables.main() == 2
