"""Document models and their evaluations as tables and records."""

from __future__ import annotations

import pytest

from parsimon.metrics import evaluate
from parsimon.report import document_tables as tables
from parsimon.report.tables import MATRIX, frequent_confusions
from parsimon.tasks.documents.inspect import WordShare, WordWeight

GOLD, PREDICTED = [["a"], ["a"], ["b"], ["b"]], [["a"], ["b"], ["b"], ["b"]]


def test_an_evaluation_has_accuracy_labels_and_a_matrix() -> None:
    text = tables.evaluation_text(evaluate(GOLD, PREDICTED))
    lines = text.splitlines()
    assert lines[:2] == ["processed 4 documents", "accuracy: 75.00% (3 of 4)"]
    assert lines[4].split() == ["a", "100.00%", "50.00%", "66.67%", "2"]
    assert [line.split() for line in lines[-2:]] == [["a", "1", "1"], ["b", "0", "2"]]


def test_a_large_matrix_is_left_out() -> None:
    names = [[f"L{i}"] for i in range(MATRIX + 1)]
    assert "predicted" not in tables.evaluation_text(evaluate(names, names))
    assert "predicted" in tables.evaluation_text(evaluate(names[:-1], names[:-1]))


def test_a_record_has_means_over_labels() -> None:
    record = tables.evaluation_record(evaluate(GOLD, PREDICTED))
    assert (record["scored"], record["documents"], record["correct"]) == ("documents", 4, 3)
    assert record["precision"] == pytest.approx((1 + 2 / 3) / 2)
    assert record["per_label"]["b"]["recall"] == 1.0
    assert (record["labels"], record["confusion"]) == (["a", "b"], [[1, 1], [0, 2]])


def test_confusions_are_of_documents() -> None:
    text = frequent_confusions(evaluate(GOLD, PREDICTED), "document")
    assert text.splitlines()[1].split() == ["1", "100.00%", "a", "b"]
    assert frequent_confusions(evaluate(GOLD, GOLD), "document") == "no document has a wrong label\n"


def test_the_summary_has_what_is_known() -> None:
    training = {
        "documents": 20,
        "tokens": 4000,
        "loss": "log",
        "penalty": "sentence",
        "l1": 0.1,
        "l2": 0,
        "sentence": 0.5,
        "groups": "sentence",
        "relevant_groups": 30,
        "groups_in_all": 60,
        "objective": 3.5,
        "gap": 0.01,
        "status": "converged",
    }
    summary = {
        "words": 5, "candidate_words": 50, "labels": ["a", "b"], "values": "tf-idf", "training": training,
    }  # fmt: skip
    assert [line.split(maxsplit=1) for line in tables.summary_text("m", 1500, summary).splitlines()] == [
        ["model", "m (2 kB)"],
        ["words", "5 of 50 (10.0%)"],
        ["labels", "2"],
        ["values", "tf-idf"],
        ["trained", "on  20 documents, 4,000 tokens"],
        ["by", "log loss, penalty sentence, l1 0.1, sentence 0.5, groups sentence"],
        ["sentences", "30 of 60 (50.0%) found relevant"],
        ["objective", "3.5000 (within 0.29% of the optimum)"],
        ["status", "converged"],
    ]


def test_words_are_side_by_side_for_few_labels_only() -> None:
    words = [WordWeight("good", 1.5), WordWeight("bad", -2.0)]
    few = tables.words_table({"a": words, "b": words[:1]}).splitlines()
    assert [line.split() for line in few] == [
        ["weight", "a", "weight", "b"],
        ["+1.5000", "good", "+1.5000", "good"],
        ["-2.0000", "bad"],
    ]
    many = tables.words_table({f"L{i}": words for i in range(5)})
    assert many.count("weight") == 5
    assert len(many.splitlines()) == 5 * 3 + 4


def test_shares() -> None:
    lines = tables.shares_table([WordShare("a", 0.5, 1200, 30, 99.5)]).splitlines()
    assert lines[1].split() == ["a", "+0.5000", "1,200", "30", "99.50"]
