"""Tables of evaluations and models."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.inspect import Feature, Share
from parsimon.metrics import evaluate
from parsimon.report import tables


def test_columns_are_aligned():
    text = tables.table(("a", "number"), [("long name", "1"), ("b", "22")], "<>")
    assert text == "a          number\nlong name       1\nb              22\n"


def test_spans_get_conllevals_report():
    evaluation = evaluate([["B-NP", "O"]], [["B-NP", "B-NP"]])
    assert tables.evaluation_text(evaluation) == evaluation.conlleval()


def test_means_of_labels():
    evaluation = evaluate([["A", "A", "B", "B"]], [["A", "B", "B", "B"]])
    means = tables.label_means(evaluation)
    assert means["precision"] == pytest.approx((1 + 2 / 3) / 2)
    assert means["recall"] == pytest.approx((1 / 2 + 1) / 2)
    assert "mean of labels" in tables.evaluation_text(evaluation)


def test_large_confusion_matrices_become_lists():
    names = [f"L{i:02d}" for i in range(30)]
    evaluation = evaluate([names * 2], [[*names, *reversed(names)]])
    lines = tables.confusion_table(evaluation).splitlines()
    assert len(lines) == 1 + tables.LISTED
    assert lines[0].split() == ["tokens", "of", "errors", "gold", "predicted"]


def test_features_of_label_pairs_show_both():
    text = tables.features_table([Feature(-0.5, "B", "B", "O", "B-NP"), Feature(2.0, "U", "U:x", "O")])
    assert text.splitlines()[1:] == ["-0.5000  B-NP → O  B", "+2.0000  O         U:x"]
    assert tables.features_table([]) == "no such feature\n"


def test_transitions():
    weights = np.array([[0.0, -1.5], [2.0, 0.0]])
    assert tables.transitions_table(["A", "B"], weights).splitlines() == [
        "from \\ to       A       B",
        "A               .  -1.500",
        "B          +2.000       .",
    ]
    assert "no weight" in tables.transitions_table(["A", "B"], 0 * weights)
    many = tables.transitions_table([f"L{i}" for i in range(20)], np.eye(20) + 1)
    assert many.splitlines()[-1] == "and 380 more"


def test_shares_and_sizes():
    text = tables.shares_table("label", [Share("NP", 12000, 300, 4.5)])
    assert text.splitlines()[1].split() == ["NP", "12,000", "300", "4.50"]
    assert [tables.file_size(n) for n in (12, 640_123, 3_200_000)] == ["12 bytes", "640 kB", "3.2 MB"]
    assert tables.of(12, 1200) == "12 of 1,200 (1.0%)"
    assert tables.of(12, 1_000_000) == "12 of 1,000,000 (0.0012%)"
    assert tables.of(12, None) == "12"


def test_cells_stay_in_their_place():
    assert tables.table(("a\tb", "n"), [("x\ny", "1\x1b[2J")], "<>") == "a\\tb         n\nx\\ny  1\\x1b[2J\n"
    assert tables.facts([("model\u202e", "m\n")]) == "model\\u202e  m\\n\n"
