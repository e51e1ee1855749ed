"""Document models on the command line: predict, evaluate, inspect and explain."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from parsimon.tasks.documents.explain import explain
from parsimon.tasks.documents.model import DocumentModel
from parsimon.tasks.model_file import load_model, save_model

TEXTS = ["A fine film. The end.", "Dull, dull, dull!", "Fine, but dull. Dull."]
GOLD = ["good", "bad", "good"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    info = {
        "loss": "log",
        "penalty": "sentence",
        "l1": 0.5,
        "documents": 40,
        "candidate_words": 300,
        "objective": 12.5,
        "kkt": 0.01,
        "status": "converged",
        "history": [{"iteration": 0, "objective": 20.0, "active": 0, "evaluations": 1}],
    }
    words, weights = ("fine", "dull", "end"), np.array([[2.0], [-1.5], [0.25]])
    path = tmp_path / "reviews.model"
    save_model(DocumentModel(("bad", "good"), words, weights, np.array([0.1]), info=info), path)
    return path


@pytest.fixture(params=["tsv", "jsonl", "directory"])
def test_data(request, tmp_path: Path) -> Path:
    return written(tmp_path, request.param)


def written(folder: Path, form: str, labels: list[str] | None = GOLD) -> Path:
    """The texts in one of the forms that are read; in a directory their order is good, bad, good, too."""
    lines = [
        {"text": text, **({} if labels is None else {"label": labels[i]})} for i, text in enumerate(TEXTS)
    ]
    if form == "directory":
        for i, line in enumerate(lines):
            place = folder / "data" / {"good": "good", "bad": "bad"}[line["label"]]
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{i}.txt").write_text(line["text"])
        return folder / "data"
    path = folder / f"data.{form}"
    if form == "jsonl":
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    else:
        path.write_text("".join(f"{line['label']}\t{line['text']}\n" for line in lines))
    return path


# --- Predict ------------------------------------------------------------------------------------------------


def test_predict_writes_labels_and_probabilities(run, model, tmp_path):
    data = written(tmp_path, "jsonl", None)
    fitted = load_model(model)
    rows = fitted.probabilities(fitted.read(TEXTS))
    result = run("predict", model, data)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"good\t{rows[0, 1]:.4f}\nbad\t{rows[1, 0]:.4f}\nbad\t{rows[2, 0]:.4f}\n"
    lines = [json.loads(x) for x in run("predict", model, data, "--format", "jsonl").stdout.splitlines()]
    assert lines[1] == {"label": "bad", "probability": pytest.approx(rows[1, 0])}
    text = run("predict", model, data, "--marginals").stdout.splitlines()[0]
    assert text == f"good\t{rows[0, 1]:.4f}\tbad={rows[0, 0]:.4f}\tgood={rows[0, 1]:.4f}"
    line = json.loads(run("predict", model, data, "--format", "jsonl", "--marginals").stdout.splitlines()[0])
    assert line["probabilities"] == {"bad": pytest.approx(rows[0, 0]), "good": pytest.approx(rows[0, 1])}


def test_predict_takes_all_forms_and_many_blocks(run, model, test_data, monkeypatch):
    expected = run("predict", model, test_data).stdout
    assert sorted(line.split("\t")[0] for line in expected.splitlines()) == ["bad", "bad", "good"]
    monkeypatch.setattr("parsimon.cli.documents.AT_ONCE", 2)
    assert run("predict", model, test_data).stdout == expected


def test_predict_to_a_file(run, model, tmp_path):
    data = written(tmp_path, "tsv")
    assert run("predict", model, data, "-o", tmp_path / "out.tsv").exit_code == 0
    assert (tmp_path / "out.tsv").read_text() == run("predict", model, data).stdout


def test_standard_input(shell, model):
    done = shell("predict", model, input="\n".join(TEXTS).encode())
    assert [line.split("\t")[0] for line in done.stdout.decode().splitlines()] == ["good", "bad", "bad"]
    wrong = shell("predict", model, input=b'{"text": 3}\n')
    assert wrong.returncode == 2
    assert wrong.stderr.startswith(b"parsimon: standard input, line 1 should be")


# --- Evaluate -----------------------------------------------------------------------------------------------


def test_evaluate(run, model, test_data):
    result = run("evaluate", model, test_data)
    assert result.exit_code == 0, result.output
    head, scores, confusion = result.stdout.split("\n\n")
    assert head == "processed 3 documents\naccuracy: 66.67% (2 of 3)"
    assert [line.split() for line in scores.splitlines()] == [
        ["label", "precision", "recall", "F1", "documents"],
        ["bad", "50.00%", "100.00%", "66.67%", "1"],
        ["good", "100.00%", "50.00%", "66.67%", "2"],
        ["mean", "of", "labels", "75.00%", "75.00%", "66.67%"],
    ]
    assert [line.split() for line in confusion.splitlines()[1:]] == [["bad", "1", "0"], ["good", "1", "1"]]


def test_evaluate_as_json(run, model, tmp_path):
    record = json.loads(run("evaluate", model, written(tmp_path, "tsv"), "--json").stdout)
    assert record["accuracy"] == pytest.approx(2 / 3)
    assert (record["documents"], record["correct"]) == (3, 2)
    assert record["confusion"] == [[1, 0], [1, 1]]
    assert record["per_label"]["good"] == {"precision": 1.0, "recall": 0.5, "f1": 2 / 3, "support": 2}


def test_most_frequent_confusions(run, model, tmp_path):
    text = run("evaluate", model, written(tmp_path, "tsv"), "--confusion").stdout
    assert text.splitlines()[-1].split() == ["1", "100.00%", "good", "bad"]
    right = written(tmp_path, "tsv", ["good", "bad", "bad"])
    assert run("evaluate", model, right, "--confusion").stdout.endswith("no document has a wrong label\n")


def test_unknown_labels_count_as_wrong(run, model, tmp_path):
    result = run("evaluate", model, written(tmp_path, "tsv", ["good", "bad", "odd"]))
    assert "accuracy: 66.67%" in result.stdout
    assert "1 document with a label that the model does not know (odd); it counts as wrong" in result.stderr


# --- Inspect ------------------------------------------------------------------------------------------------


def test_inspect(run, model):
    summary, labels, words = run("inspect", model).stdout.split("\n\n")
    assert "words       3 of 300 (1.0%)" in summary
    assert "by          log loss, penalty sentence, l1 0.5" in summary
    assert "objective   12.5000 (KKT residual 0.01)" in summary
    assert [line.split() for line in labels.splitlines()[1:]] == [
        ["bad", "+0.0000", "1", "2", "3.75"],
        ["good", "+0.1000", "2", "1", "3.75"],
    ]
    assert [line.split() for line in words.splitlines()] == [
        ["weight", "bad", "weight", "good"],
        ["+1.5000", "dull", "+2.0000", "fine"],
        ["+0.2500", "end"],
    ]


def test_inspect_one_label_and_the_history(run, model):
    _, words, history = run("inspect", model, "--label", "good", "--top", 1, "--history").stdout.split("\n\n")
    assert words.splitlines()[1:] == ["+2.0000  fine"]
    assert history.splitlines()[0].split()[0] == "iteration"
    result = run("inspect", model, "--label", "ugly")
    assert result.exit_code == 2
    assert "the model has no label 'ugly'; its labels are bad, good" in result.stderr


def test_inspect_as_json(run, model):
    record = json.loads(run("inspect", model, "--json").stdout)
    assert (record["kind"], record["words"], record["labels"]) == ("document", 3, 2)
    assert record["label_names"] == ["bad", "good"]
    assert record["heaviest"]["bad"] == [{"word": "dull", "weight": 1.5}]
    assert record["training"]["candidate_words"] == 300
    assert record["reader"]["lowercase"] is True
    assert len(record["history"]) == 1


# --- Explain ------------------------------------------------------------------------------------------------


def test_explain_in_a_terminal(run, model, tmp_path):
    result = run("explain", model, written(tmp_path, "jsonl", None))
    assert result.exit_code == 0, result.output
    first = explain(load_model(model), TEXTS)[0]
    assert f"1 {first.sentences[0].log_odds:+.3f} A fine film.\n" in result.stdout
    assert "document 3: bad" in result.stdout
    assert "\x1b" not in result.stdout


def test_explain_one_label_and_some_documents(run, model, tmp_path):
    data = written(tmp_path, "tsv")
    result = run("explain", model, data, "--label", "bad", "--limit", 1)
    assert "about bad" in result.stdout
    assert "document 2" not in result.stdout
    assert "these are the first 1 of 3 documents" in result.stderr
    wrong = run("explain", model, data, "--label", "ugly")
    assert wrong.exit_code == 2
    assert "its labels are bad, good" in wrong.stderr


def test_explain_as_json(run, model, tmp_path):
    lines = run("explain", model, written(tmp_path, "tsv"), "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [d.to_dict() for d in explain(load_model(model), TEXTS)]


def test_explain_as_a_page(run, model, tmp_path):
    result = run("explain", model, written(tmp_path, "tsv"), "--html", tmp_path / "why.html")
    assert result.exit_code == 0, result.output
    assert f"3 documents explained in {tmp_path / 'why.html'}" in result.stdout
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert page.count("<article>") == 3
    assert "gold: <b>good</b>" in page


def test_explain_refuses_a_page_that_cannot_be_written(run, model, tmp_path):
    result = run("explain", model, written(tmp_path, "tsv"), "--html", tmp_path / "no" / "why.html")
    assert result.exit_code == 2
    assert "there is no directory" in result.stderr


def test_explain_in_colour(shell, model, tmp_path):
    data = written(tmp_path, "tsv")
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    assert b"\x1b[" not in shell("explain", model, data, env=plain).stdout
    coloured = shell(
        "explain", model, data, env={**plain, "FORCE_COLOR": "1", "COLORTERM": "truecolor"}
    ).stdout
    assert b"48;2;" in coloured
    grey = shell("explain", model, data, env={**plain, "FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert b"48;" not in grey


# --- One kind for the other ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("predict", ["--kbest", "2"], "--kbest is for sequence models"),
        ("predict", ["--scheme", "iob2"], "--scheme is for sequence models"),
        ("predict", ["--given-labels"], "--given-labels is for sequence models"),
        ("predict", ["--separator", "tab"], "--separator is for sequence models"),
        ("evaluate", ["--comment", "#"], "--comment is for sequence models"),
        ("evaluate", ["--raw"], "--raw is for sequence models"),
        ("inspect", ["--template", "U0"], "--template is for sequence models"),
        ("inspect", ["--transitions"], "--transitions is for sequence models"),
        ("inspect", ["--html", "a.html"], "--html is for sequence models"),
    ],
)
def test_options_of_sequence_models(run, model, tmp_path, command, options, said):
    data = [] if command == "inspect" else [written(tmp_path, "tsv")]
    result = run(command, model, *data, *options)
    assert result.exit_code == 2
    assert f"reviews.model is a document model, and {said}; leave it out." in result.stderr


def test_sequence_models_where_a_document_model_is_needed(run, trained, folder):
    result = run("explain", trained, folder / "test.txt")
    assert result.exit_code == 2
    assert result.stderr.endswith("small.model is a sequence model, but a document model is needed here.\n")
    result = run("predict", trained, folder / "new.txt", "--format", "jsonl")
    assert result.exit_code == 2
    assert "--format is for models of documents or web pages" in result.stderr


def test_document_models_where_a_sequence_model_is_needed(run, model, folder):
    result = run(
        "train",
        "sequence",
        folder / "train.txt",
        "-m",
        folder / "m",
        "-t",
        folder / "small.tpl",
        "--initial",
        model,
    )
    assert result.exit_code == 2
    assert "reviews.model is a document model, but a sequence model is needed here." in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [("Just a text.\n", "have no labels; give a directory of class directories"), ("\n", "has no documents")],
)
def test_bad_test_data(run, model, tmp_path, content, said):
    (tmp_path / "x.tsv").write_text(content)
    result = run("evaluate", model, tmp_path / "x.tsv")
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_nothing_heavy_is_imported(model, tmp_path):
    from test_help import loaded_by

    data = written(tmp_path, "tsv")
    for arguments in (["predict", model, data], ["evaluate", model, data], ["inspect", model]):
        loaded = loaded_by([str(a) for a in arguments])
        assert loaded & {"sklearn", "scipy", "rich", "pandas", "pooch", "jinja2"} == set()
