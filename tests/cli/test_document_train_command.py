"""Training document classifiers from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from parsimon.cli.train_document import LOSSES, PENALTIES, STRENGTHS, TRAINING, UNITS, VALUES, WEIGHTS

from parsimon.data.text import TextReader
from parsimon.tasks.documents.model import DocumentModel
from parsimon.tasks.model_file import load_model

THINGS = {
    "space": [
        "The rocket was launched.",
        "An orbit around the moon.",
        "NASA has a shuttle.",
        "The probe saw Mars.",
    ],
    "med": ["The doctor came.", "Take this drug.", "A patient was ill.", "The disease spread."],
}
FILLER = ["It is late.", "We think so.", "Who knows?", "That was all.", "See you then."]


def texts(n: int, seed: int) -> Iterator[tuple[str, str]]:
    """Labels and texts: two sentences that tell, and two that do not."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        label = ("space", "med")[i % 2]
        chosen = [*rng.choice(THINGS[label], 2), *rng.choice(FILLER, 2)]
        yield label, " ".join(chosen[k] for k in rng.permutation(4))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with training, development and test data."""
    for name, n, seed in (("train", 60, 0), ("dev", 20, 1), ("test", 20, 2)):
        (tmp_path / f"{name}.tsv").write_text("".join(f"{y}\t{x}\n" for y, x in texts(n, seed)))
    return tmp_path


def accuracy(run, model, test) -> float:
    return json.loads(run("evaluate", model, test, "--json").stdout)["accuracy"]


@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_penalty_learns(run, corpus, penalty):
    strengths = {
        "ridge": ["--l2", "0.1"],
        "lasso": ["--l1", "0.1"],
        "elastic-net": ["--l1", "0.1", "--l2", "0.1"],
        "sentence": ["--l1", "0.05", "--sentence-strength", "0.05"],
    }
    model = corpus / "a.model"
    result = run(
        "train", "document", corpus / "train.tsv", "-m", model, "--penalty", penalty, *strengths[penalty]
    )
    assert result.exit_code == 0, result.output
    fitted = load_model(model, "document")
    assert set(fitted.labels) == {"med", "space"}
    assert accuracy(run, model, corpus / "test.tsv") == 1.0
    assert (
        f"words      {len(fitted.words)} of " in result.stdout or f"{len(fitted.words)} of " in result.stdout
    )


def test_directories_and_json_lines(run, corpus, tmp_path):
    for i, (label, text) in enumerate(texts(60, 0)):
        place = tmp_path / "classes" / label
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i:02}.txt").write_text(text)
    ordered = sorted(enumerate(texts(60, 0)), key=lambda item: (item[1][0], item[0]))
    (tmp_path / "x.jsonl").write_text(
        "".join(json.dumps({"text": text, "label": label}) + "\n" for _, (label, text) in ordered)
    )
    for source in ("classes", "x.jsonl"):
        result = run(
            "train", "document", tmp_path / source, "-m", tmp_path / f"{source}.model", "--l1", "0.1"
        )
        assert result.exit_code == 0, result.output
    one, two = (load_model(tmp_path / f"{source}.model") for source in ("classes", "x.jsonl"))
    assert one.words == two.words
    np.testing.assert_array_equal(one.weights, two.weights)


def test_the_reader_and_the_words_are_as_asked_for(run, corpus):
    model = corpus / "a.model"
    result = run(
        "train", "document", corpus / "train.tsv", "-m", model, "--penalty", "ridge", "--l2", "1",
        "--no-lowercase", "--tokens", r"\w+", "--sentences", "lines", "--values", "binary", "--min-documents", "5",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    fitted = load_model(model, "document")
    assert fitted.reader == TextReader("lines", r"\w+", False)
    assert fitted.values == "binary"
    assert "The" in fitted.words
    documents = [set(TextReader("lines", r"\w+", False).read([x]).words) for _, x in texts(60, 0)]
    assert all(sum(word in d for d in documents) >= 5 for word in fitted.words)


def test_options_reach_training(run, corpus, monkeypatch):
    """Everything that is named is passed on, and nothing else."""
    import parsimon.cli.document_run as runs

    seen = {}

    class Recorder:
        def __init__(self, **settings):
            seen.update(settings)

        def fit(self, documents, labels, dev=None, callbacks=()):
            seen["dev"] = dev
            return DocumentModel(tuple(sorted(set(labels))), ("moon",), np.ones((1, 1)), np.zeros(1))

    monkeypatch.setattr(runs, "DocumentTraining", Recorder)
    base = ["train", "document", corpus / "train.tsv", "-m", corpus / "a.model", "--n-jobs", 1]
    assert run(*base).exit_code == 0
    assert seen == {"reader": TextReader(), "threads": 1, "seed": 0, "dev": None}
    values = {
        "--penalty": "sentence", "--l1": 0.5, "--l2": 0.25, "--sentence-strength": 0.125, "--groups": "window",
        "--window": 7, "--group-weight": "sqrt", "--stopping": "paper", "--rho": 2.0, "--loss": "hinge",
        "--values": "tf-idf", "--min-count": 2, "--min-documents": 3, "--max-documents": 0.75, "--max-words": 99,
        "--max-iter": 11, "--tol": 1e-3, "--time-limit": 60.0, "--random-state": 4,
    }  # fmt: skip
    seen.clear()
    arguments = [text for pair in values.items() for text in pair]
    result = run(*base, *arguments, "--dev", corpus / "dev.tsv")
    assert result.exit_code == 0, result.output
    names = {"--sentence-strength": "sentence"}
    for option, value in values.items():
        assert seen[names.get(option, option.strip("-").replace("-", "_"))] == value
    assert set(seen) == {*TRAINING, "reader", "dev"}
    documents, labels = seen["dev"]
    assert len(documents) == len(labels) == 20


def test_development_data_and_the_log(run, corpus):
    model, log = corpus / "a.model", corpus / "a.jsonl"
    result = run(
        "train", "document", corpus / "train.tsv", "-m", model, "--dev", corpus / "dev.tsv", "--l1", "0.1",
        "--log", log, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["words"] == len(load_model(model).words)
    assert record["bytes"] == model.stat().st_size
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [lines[0]["event"], lines[-1]["event"]] == ["start", "end"]
    assert lines[0]["l1"] == 0.1
    assert {line["event"] for line in lines[1:-1]} == {"iteration"}
    assert lines[-1]["words"] == record["words"]
    assert record["dev"] == max(line["dev"] for line in lines[1:-1] if line["dev"] is not None)


def test_quiet_verbose_and_small(run, corpus):
    base = ["train", "document", corpus / "train.tsv", "-m", corpus / "a.model", "--l1", "0.1"]
    quiet = run(*base, "-q")
    assert (quiet.exit_code, quiet.output) == (0, "")
    verbose = run(*base, "-v")
    assert "reading train.tsv" in verbose.stderr
    size = (corpus / "a.model").stat().st_size
    assert run(*base, "-q", "--float32").exit_code == 0
    assert (corpus / "a.model").stat().st_size < size


def test_ctrl_c_before_there_is_a_model(run, corpus, monkeypatch):
    import parsimon.cli.document_run as runs

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(runs.DocumentTraining, "fit", interrupt)
    result = run("train", "document", corpus / "train.tsv", "-m", corpus / "a.model")
    assert result.exit_code == 130
    assert "interrupted, and no model was written" in result.stderr
    assert not (corpus / "a.model").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.tsv", "-m", "a.model"], "nowhere.tsv cannot be read: there is no such file or directory"),
        (["train.tsv", "-m", "no/a.model"], "there is no directory"),
        (["train.tsv", "-m", "train.tsv"], "would be overwritten"),
        (["bare.tsv", "-m", "a.model"], "the documents of bare.tsv have no labels"),
        (["ragged.tsv", "-m", "a.model"], "ragged.tsv, line 2 has no tab"),
        (["train.tsv", "-m", "a.model", "--tokens", "("], "is not a regular expression"),
        (["train.tsv", "-m", "a.model", "--sentences", "magic"], "no sentence splitter called 'magic'"),
        (["train.tsv", "-m", "a.model", "--min-count", "1000"], "words"),
        (["train.tsv", "-m", "a.model", "--max-documents", "2"], "max_documents is 2.0"),
        (["train.tsv", "-m", "a.model", "--l1", "-1"], "-1 is not a number, zero or more"),
        (["train.tsv", "-m", "a.model", "--penalty", "ridg"], "'ridg' is not one of"),
        (["train.tsv", "-m", "a.model", "--penalty", "ridge", "--l1", "1"], "--penalty ridge has no --l1"),
        (
            ["train.tsv", "-m", "a.model", "--penalty", "lasso", "--sentence-strength", "1"],
            "use --penalty sentence",
        ),
        (
            ["train.tsv", "-m", "a.model", "--penalty", "lasso", "--rho", "1"],
            "--rho is about --penalty sentence",
        ),
        (["train.tsv", "-m", "a.model", "--window", "9"], "--window is about --groups window"),
        (["train.tsv", "-m", "-"], "the model must be a file"),
        (["-", "-m", "a.model", "--dev", "-"], "cannot both be standard input"),
    ],
)
def test_mistakes_are_one_sentence(run, corpus, monkeypatch, arguments, said):
    monkeypatch.chdir(corpus)
    Path("bare.tsv").write_text("Just a text.\nAnother.\n")
    Path("ragged.tsv").write_text("a\tb\nc\n")
    result = run("train", "document", *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr.splitlines()[0]
    assert result.stderr.startswith("parsimon: ")
    assert "Traceback" not in result.output
    assert not Path("a.model").exists()


def test_choices_are_those_that_the_library_has():
    from typing import get_args

    from parsimon.features.bag_of_words import Values
    from parsimon.losses import LOSSES as losses
    from parsimon.penalties.groups import RULES
    from parsimon.tasks.documents.model import VALUES as values
    from parsimon.tasks.documents.training import PENALTIES as penalties
    from parsimon.tasks.documents.units import Unit

    assert set(WEIGHTS) == set(RULES)
    assert set(VALUES) == set(values) == set(get_args(Values))
    assert set(LOSSES) <= set(losses)
    assert set(UNITS) == set(get_args(Unit))
    assert set(PENALTIES) == set(penalties) == set(STRENGTHS)
