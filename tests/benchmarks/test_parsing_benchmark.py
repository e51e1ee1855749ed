"""The comparison with UDPipe: files for both, trees that are scored, ratios."""

from __future__ import annotations

import json
from argparse import Namespace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsimon import DependencyParser
from parsimon.data import read_treebank
from parsimon.errors import ParsimonError
from toy_treebanks import grammar, random_treebank


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Benchmarks are programs, not a package: they find each other in their folder."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return Namespace(**{name: import_module(name) for name in ("parsing", "parse_worker")})


@pytest.fixture
def files(benchmarks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `data` writes of a toy grammar."""
    made = {"train": grammar(60, 0), "test": grammar(20, 1)}
    monkeypatch.setattr("parsimon.data.load_treebank", lambda name, split: made[split])
    facts = benchmarks.parse_worker.PARTS["data"]("toy", str(tmp_path), "2", "50", "10", "1000")
    assert (facts["sentences"], facts["test_sentences"], facts["sizes"]) == (50, 20, [10])
    assert facts["single_root"]
    return tmp_path


def test_words_are_written_without_heads_and_as_often_as_asked(files: Path) -> None:
    test = read_treebank(files / "test.conll")
    words = read_treebank(files / "words.conll", missing_heads=True)
    assert len(words) == 2 * len(test)
    assert words.values("form") == 2 * test.values("form")
    assert (words.heads == -1).all()
    assert set(words.values("deprel")) == {"_"}
    assert len(read_treebank(files / "train-10.conll")) == 10


def test_parsed_trees_are_scored(benchmarks: Any, files: Path) -> None:
    model = files / "toy.model"
    DependencyParser(max_iter=3).fit(read_treebank(files / "train.conll")).save(model)
    parts = benchmarks.parse_worker.PARTS
    said = parts["parsimon"](str(model), str(files / "words.conll"), str(files / "parsed.conll"))
    assert said["tokens"] == read_treebank(files / "words.conll", missing_heads=True).n_tokens
    assert 0 < said["parse_seconds"] < said["file_seconds"]
    scores = parts["score"](str(files / "test.conll"), str(files / "parsed.conll"))
    own = DependencyParser.load(model).score(read_treebank(files / "test.conll"))
    assert scores["uas"] == own > 0.9


def test_udpipe_reads_trains_and_parses(benchmarks: Any, files: Path) -> None:
    pytest.importorskip("ufal.udpipe")
    parts, model = benchmarks.parse_worker.PARTS, str(files / "udpipe.model")
    parts["udpipe-train"](str(files / "train.conll"), model, "iterations=3;single_root=1;use_gold_tags=1")
    said = parts["udpipe"](model, str(files / "words.conll"), str(files / "parsed.conll"), "5")
    assert said["tokens"] == read_treebank(files / "words.conll", missing_heads=True).n_tokens
    assert np.all(read_treebank(files / "parsed.conll").heads >= 0)
    assert parts["score"](str(files / "test.conll"), str(files / "parsed.conll"))["uas"] > 0.5


def test_udpipe_has_the_beam_that_is_asked_for(benchmarks: Any, tmp_path: Path) -> None:
    """It passes over options that it does not know, so a wrong name would go unnoticed."""
    pytest.importorskip("ufal.udpipe")
    parts, model, words = benchmarks.parse_worker.PARTS, str(tmp_path / "model"), tmp_path / "words.conll"
    random_treebank(0, (9,) * 40, single_root=True).write(words)
    parts["udpipe-train"](str(words), model, "iterations=1;single_root=0;use_gold_tags=1")
    for beam in ("1", "5"):
        parts["udpipe"](model, str(words), str(tmp_path / beam), beam)
    assert (tmp_path / "1").read_bytes() != (tmp_path / "5").read_bytes()


def task(benchmarks: Any, work: Path, **options: Any) -> Any:
    given = {"quick": False, "udpipe_options": "", "udpipe_model": None, "limit": 60.0, **options}
    return benchmarks.parsing.Task(work, {"single_root": False, "sentences": 50}, Namespace(**given))


def test_settings_of_udpipe_can_be_replaced(benchmarks: Any, tmp_path: Path) -> None:
    text = benchmarks.parsing.udpipe_options(
        task(benchmarks, tmp_path, udpipe_options="iterations=3;beam=2;")
    )
    settings = dict(pair.split("=") for pair in text.split(";"))
    assert settings["iterations"] == "3"
    assert settings["beam"] == "2"
    assert settings["single_root"] == "0"
    assert settings["transition_system"] == "swap"


def test_a_model_of_other_sentences_is_not_used_again(benchmarks: Any, tmp_path: Path) -> None:
    kept = tmp_path / "kept.model"
    kept.write_bytes(b"a model")
    asked = task(benchmarks, tmp_path, udpipe_model=kept)
    record = {
        "seconds": 1.0,
        "peak_mb": None,
        "sentences": 50,
        "options": benchmarks.parsing.udpipe_options(asked),
    }
    (tmp_path / "kept.model.json").write_text(json.dumps(record))
    assert benchmarks.parsing.train_udpipe(asked)[1].seconds == 1.0
    (tmp_path / "kept.model.json").write_text(json.dumps({**record, "sentences": 49}))
    with pytest.raises(ParsimonError, match="49 sentences"):
        benchmarks.parsing.train_udpipe(asked)


def test_ratios(benchmarks: Any, tmp_path: Path) -> None:
    parsing = benchmarks.parsing

    def parser(name: str, worker: str, *took: float) -> Any:
        runs = [
            {"tokens": 1200, "file_seconds": s, "parse_seconds": s / 2, "peak_mb": 64.0, "templates": 7}
            for s in took
        ]
        return parsing.Parser(name, tmp_path, [worker], runs=runs)

    compared = [
        parser("ours", "parsimon", 3.0, 2.0, 9.0),
        parser("UDPipe, beam of 5", "udpipe", 6.0, 6.0, 7.0),
        parser("UDPipe, greedy", "udpipe", 1.0, 1.0, 1.0),
    ]
    options = Namespace(copies=2, repeats=3)
    text = parsing.speed_table(
        parsing.Task(tmp_path, {"test_tokens": 600, "test_sentences": 30}, options), compared
    )
    ours = next(line for line in text.splitlines() if line.startswith("| ours"))
    assert [cell.strip() for cell in ours.split("|")[1:-1]] == [
        "ours", "7", "400", "800", "2.00×", "0.33×", "64 MB"
    ]  # fmt: skip
