"""Information gain against two loops over everything, and against scikit-learn's mutual information."""

from __future__ import annotations

from math import log, log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.arrays import IntArray
from parsimon.errors import ParsimonError
from parsimon.features import Columns, ItemFeatures, TemplateFeatures, TemplateSet, get_preset
from parsimon.features.observations import Observations, Rows
from parsimon.selection import information_gain as module
from parsimon.selection.information_gain import information_gain, rank_templates


def observed(rows: list[list[int]], value: list[float] | None = None) -> Observations:
    """One sequence whose tokens have these attributes."""
    start = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    index = np.array([a for row in rows for a in row], np.int32)
    nothing = Rows(np.zeros(len(rows) + 1, np.int64), np.zeros(0, np.int32))
    weights = None if value is None else np.array(value)
    return Observations(Rows(start, index, weights), nothing, np.array([len(rows)]))


def slow_gain(rows: list[list[int]], gold: list[int], template: IntArray, n_templates: int) -> list[float]:
    """Equation 16 as it is written."""
    tokens = [(set(row), y) for row, y in zip(rows, gold, strict=True) if y >= 0]
    N = len(tokens)
    gain = [0.0] * n_templates
    for f, m in enumerate(template.tolist()):
        for y in set(gold) - {-1}:
            joint = sum(f in row and label == y for row, label in tokens) / N
            fires = sum(f in row for row, _ in tokens) / N
            labelled = sum(label == y for _, label in tokens) / N
            if joint:
                gain[m] += joint * log2(joint / (fires * labelled))
    return gain


@st.composite
def problems(draw: Any) -> tuple[list[list[int]], list[int], IntArray]:
    n = draw(st.integers(1, 12))
    rows = draw(st.lists(st.lists(st.integers(0, 7), max_size=6), min_size=n, max_size=n))
    gold = draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n).filter(lambda y: max(y) >= 0))
    template = draw(st.lists(st.integers(0, 2), min_size=8, max_size=8))
    return rows, gold, np.array(template)


@given(problems(), st.integers(1, 40), st.integers(1, 40))
def test_equation_16(problem: Any, cells: int, entries: int) -> None:
    """Attributes may repeat in a token, templates need not be contiguous, and parts may be of any size."""
    rows, gold, template = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", cells)
        patch.setattr(module, "_ENTRIES", entries)
        gain = information_gain(observed(rows), np.array(gold), 4, template, 3)
    np.testing.assert_allclose(gain, slow_gain(rows, gold, template, 3), atol=1e-12)
    assert (gain >= -1e-12).all()


def learnt(text: str, seed: int = 0, n: int = 60) -> tuple[TemplateFeatures, Observations, Any, Any]:
    """Some templates over random sequences of two columns, and labels that depend on column 0."""
    rng = np.random.default_rng(seed)
    words = rng.choice(list("abcdef"), size=n)
    tags = rng.choice(list("xyz"), size=n)
    tokens = list(zip(words.tolist(), tags.tolist(), strict=True))
    space = TemplateFeatures(TemplateSet.parse(text))
    observations = space.learn(Columns.from_sequences([tokens[: n // 2], tokens[n // 2 :]]))
    gold = np.array(["abcdef".index(w) // 2 for w in words])
    gold[rng.random(n) < 0.3] = 0
    return space, observations, words, gold


def test_mutual_information_of_one_template() -> None:
    from sklearn.metrics import mutual_info_score

    space, observations, words, gold = learnt("U0:%x[0,0]\nB")
    (gain,) = information_gain(observations, gold, 3, space.node_templates(np.arange(space.n_node)), 1)
    assert gain == pytest.approx(mutual_info_score(words, gold) / log(2), rel=1e-12)
    assert gain > 0.1


def test_a_constant_says_nothing_and_the_label_itself_everything() -> None:
    gold = np.array([0, 1, 2, 3])
    gain = information_gain(observed([[0, y + 1] for y in gold]), gold, 4, np.array([0, 1, 1, 1, 1]), 2)
    np.testing.assert_allclose(gain, [0, 2], atol=1e-15)


def test_the_numbers_of_the_labels_do_not_matter() -> None:
    space, observations, _, gold = learnt("U0:%x[0,0]\nU1:%x[-1,0]/%x[0,1]\nB")
    template = space.node_templates(np.arange(space.n_node))
    gain = information_gain(observations, gold, 3, template, 2)
    permuted = information_gain(observations, np.array([4, 0, 2])[gold], 5, template, 2)
    np.testing.assert_allclose(permuted, gain, rtol=1e-12)


def test_tokens_without_a_label_are_left_out() -> None:
    rows = [[0, 2], [1, 2], [0, 3], [1, 3], [0, 2]]
    gold = np.array([0, 1, -1, 1, 0])
    template = np.array([0, 0, 1, 1])
    known = information_gain(observed([rows[i] for i in (0, 1, 3, 4)]), gold[gold >= 0], 2, template, 2)
    np.testing.assert_array_equal(information_gain(observed(rows), gold, 2, template, 2), known)


def test_a_zero_does_not_fire_and_other_values_count_alike() -> None:
    rows, gold, template = [[0, 1], [0, 1], [0, 1]], np.array([0, 0, 1]), np.array([0, 1])
    valued = information_gain(observed(rows, [1, 0.0, 1, 2.5, 1, -3]), gold, 2, template, 2)
    plain = information_gain(observed([[0], [0, 1], [0, 1]]), gold, 2, template, 2)
    np.testing.assert_array_equal(valued, plain)


def test_ranking() -> None:
    space, observations, _, gold = learnt(
        'U0:%x[1,1]\nU1:%x[0,0]\nU2:same\nB\nB1:%x[0,0]\nU3:%f[0,0,"lower"]'
    )
    ranked = rank_templates(space, observations, gold, 3)
    assert [name for name, _ in ranked] == ["U1:%x[0,0]", 'U3:%f[0,0,"lower"]', "U0:%x[1,1]", "U2:same"]
    gains = [gain for _, gain in ranked]
    assert gains[0] == gains[1], "they are equal, so they stay in the order of the templates"
    assert gains[1] > gains[2] > gains[3] == 0


def test_ranking_of_a_preset_names_what_the_space_names() -> None:
    space = TemplateFeatures(get_preset("martins-chunking"))
    X = [[("The", "DT"), ("dog", "NN"), ("barks", "VBZ")], [("Dogs", "NNS"), ("bark", "VBP")]]
    ranked = rank_templates(space, space.learn(Columns.from_sequences(X)), np.array([0, 1, 2, 0, 2]), 3)
    assert len(ranked) == 96
    assert [name for name, _ in ranked if name not in space.template_names()] == []
    assert sorted((gain for _, gain in ranked), reverse=True) == [gain for _, gain in ranked]


def test_ranking_of_ready_made_features() -> None:
    space = ItemFeatures()
    observations = space.learn([[{"w": "a", "size": 0.0}, {"w": "b", "size": 2.0}]])
    assert rank_templates(space, observations, np.array([0, 1]), 2) == [("features", pytest.approx(1.5))]


@pytest.mark.parametrize(
    ("gold", "n_labels", "template", "sentence"),
    [
        ([0, 1], 2, [0, 0, 1], "gold has 2 labels, but the observations have 3 tokens"),
        ([-1, -1, -1], 2, [0, 0, 1], "no token has a known label"),
        ([0, 1, 2], 2, [0, 0, 1], "gold holds the label 2, but n_labels = 2 allows 0 to 1"),
        ([0, 1, 0], 2, [0, 0], "attribute 2 is observed, but template_of_attribute ends at attribute 1"),
        ([0, 1, 0], 2, [0, 0, 2], "template_of_attribute must hold numbers from 0 to 1"),
    ],
)
def test_mistakes(gold: list[int], n_labels: int, template: list[int], sentence: str) -> None:
    with pytest.raises(ParsimonError, match=sentence):
        information_gain(observed([[0], [1], [2]]), np.array(gold), n_labels, np.array(template), 2)
