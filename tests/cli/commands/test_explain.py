"""`parsimon explain`: in a terminal, as JSON and as a page."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from parsimon.tasks.documents.explain import explain
from parsimon.tasks.model_file import load_model
from toy_documents import TEXTS, save_reviews, written


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_reviews(tmp_path)


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


def test_sequence_models_where_a_document_model_is_needed(run, trained, folder):
    result = run("explain", trained, folder / "test.txt")
    assert result.exit_code == 2
    assert result.stderr.endswith("small.model is a sequence model; explain is for a document model.\n")
    result = run("predict", trained, folder / "new.txt", "--format", "jsonl")
    assert result.exit_code == 2
    assert "--format is for a model of web pages or a document model; leave it out" in result.stderr
