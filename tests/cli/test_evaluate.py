"""Scoring from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from parsimon.features import read_labelled
from parsimon.metrics import evaluate
from parsimon.tasks.model_file import load_model


@pytest.fixture
def wrong(folder: Path) -> Path:
    """Test data on which the model makes mistakes."""
    path = folder / "wrong.txt"
    text = (folder / "test.txt").read_text()
    path.write_text(text.replace("dog NN I-NP", "dog NN B-NP").replace("Paris NNP B-NP", "Paris NNP O"))
    return path


def test_it_prints_what_conlleval_prints(run, trained, wrong):
    X, y = read_labelled(wrong)
    expected = evaluate(list(y), list(load_model(trained).predict_columns(X)))
    result = run("evaluate", trained, wrong)
    assert result.exit_code == 0, result.output
    assert result.stdout == expected.conlleval()
    assert 0 < expected.f1 < 1


def test_json_has_fractions(run, trained, wrong):
    X, y = read_labelled(wrong)
    expected = evaluate(list(y), list(load_model(trained).predict_columns(X)))
    record = json.loads(run("evaluate", trained, wrong, "--json").stdout)
    for name in ("accuracy", "precision", "recall", "f1"):
        assert record["scores"][name] == getattr(expected, name)
    assert record["details"]["scored"] == "spans"
    assert record["details"]["per_type"]["NP"]["gold"] == expected.per_type["NP"].gold
    assert sum(map(sum, record["details"]["confusion"])) == record["scores"]["tokens"] == expected.tokens


def test_raw_scores_tokens(run, trained, wrong):
    X, y = read_labelled(wrong)
    expected = evaluate(list(y), list(load_model(trained).predict_columns(X)), raw=True)
    assert run("evaluate", trained, wrong, "--raw").stdout == expected.conlleval()
    assert (
        json.loads(run("evaluate", trained, wrong, "--raw", "--json").stdout)["scores"]["f1"] == expected.f1
    )


def test_the_confusion_table(run, trained, wrong):
    text = run("evaluate", trained, wrong, "--confusion").stdout
    report, matrix, confusions = text.split("\n\n")
    assert report + "\n" == run("evaluate", trained, wrong).stdout
    header, *lines = matrix.splitlines()
    assert header.split()[3:] == [line.split()[0] for line in lines]
    assert confusions.splitlines()[0].split() == ["tokens", "of", "errors", "gold", "predicted"]
    assert confusions.splitlines()[1].split()[2:] == ["B-NP", "I-NP"]


def test_no_confusion(run, trained, folder):
    assert "no token has a wrong label" in run("evaluate", trained, folder / "test.txt", "--confusion").stdout


def test_labels_that_mark_no_spans_get_a_line_each(run, folder):
    tags = (folder / "train.txt").read_text().replace("B-", "").replace("I-", "")
    (folder / "tags.txt").write_text(tags)
    (folder / "wrong.txt").write_text(tags.replace("saw VBD VP", "saw VBD NP"))
    run("train", "sequence", folder / "tags.txt", "-m", folder / "tags.model", "--l1", "0.1")
    text = run("evaluate", folder / "tags.model", folder / "wrong.txt").stdout
    table = {fields[0]: fields[1:] for fields in map(str.split, text.splitlines()[3:])}
    assert table.keys() == {"label", "NP", "VP", "PP", "O", "mean"}
    assert table["PP"][:3] == ["100.00%"] * 3
    assert table["VP"][0] != "100.00%"
    record = json.loads(run("evaluate", folder / "tags.model", folder / "wrong.txt", "--json").stdout)
    assert record["details"]["scored"] == "labels"
    scores = record["details"]["per_label"].values()
    for name in ("precision", "recall", "f1"):
        assert record["scores"][name] == pytest.approx(sum(s[name] for s in scores) / len(scores))
    assert f"{100 * record['scores']['accuracy']:.2f}%" in text


def test_unknown_labels_count_as_wrong_and_are_mentioned(run, trained, folder):
    exact = json.loads(run("evaluate", trained, folder / "test.txt", "--json").stdout)
    text = (folder / "test.txt").read_text()
    (folder / "test.txt").write_text(text.replace("in IN B-PP", "in IN B-LST"))
    result = run("evaluate", trained, folder / "test.txt", "--json")
    assert result.exit_code == 0
    assert "1 token with a label that the model does not know (B-LST); it counts as wrong" in result.stderr
    record = json.loads(result.stdout)
    record, exact = record["scores"], exact["scores"]
    assert record["correct_tokens"] == exact["correct_tokens"] - 1
    assert record["tokens"] == exact["tokens"]


def test_many_blocks_are_like_one(run, trained, wrong, monkeypatch):
    wrong.write_text(wrong.read_text() * 10)
    whole = run("evaluate", trained, wrong, "--json").stdout
    monkeypatch.setattr("parsimon.features.columns.BLOCK", 100)
    assert run("evaluate", trained, wrong, "--json").stdout == whole


def test_standard_input(shell, trained, wrong):
    done = shell("evaluate", trained, "-", input=wrong.read_bytes())
    assert done.returncode == 0, done.stderr
    assert done.stdout == shell("evaluate", trained, wrong).stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "test.txt has no tokens"),
        ("a b X\nc d\n", "test.txt, line 2"),
        ("a b\nc d\n", "test.txt has 2 columns, but the model looks at 2 and needs one more"),
    ],
    ids=["empty", "ragged", "no labels"],
)
def test_bad_test_data(run, trained, folder, content, said):
    (folder / "test.txt").write_text(content)
    result = run("evaluate", trained, folder / "test.txt")
    assert result.exit_code == 2
    assert result.stderr.startswith("parsimon: ")
    assert said in result.stderr


def test_a_full_disk(trained, folder):
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "parsimon.cli", "evaluate", str(trained), str(folder / "test.txt")]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == "parsimon: the output cannot be written: No space left on device.\n"
