"""Scores, labels and marginals straight from what templates see, against those from attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsimon.designs.feature_index import FeatureIndex
from parsimon.designs.template_scores import TemplateScores, seen_by_templates
from parsimon.errors import ParsimonError
from parsimon.features import Columns, TemplateFeatures, TemplateSet
from parsimon.features.observations import Observations, Rows
from parsimon.solvers import Weights
from parsimon.structures.label_schemes import Transitions, forbid
from parsimon.structures.workspace import Workspace
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining
from toy_sequences import make_data, space
from toy_trees import model as tree_model
from toy_trees import trees

LABELS = ("X", "Y", "Z")
TEMPLATES = (
    "U",
    "U1:%x[0,0]",
    "U2:%x[-1,0]",
    "U3:%x[2,0]",
    "U4:%x[-1,0]/%x[0,0]",
    "U5:%x[0,0]/%x[1,0]",
    "U6:%x[1,0]/%x[0,0]",
    "U7:%x[0,1]",
    "U8:%x[-1,1]/%x[0,1]/%x[1,1]",
    "U9:%x[0,1]/%x[1,1]/%x[2,1]",
    "UA:%x[0,0]/%x[0,1]",
    "UB:%x[-2,0]/%x[0,1]/%x[3,0]/%x[0,0]",
    "UC:%x[@1,0]",
    "UD:%x[@-1,1]/%x[0,0]",
    "UE:%x[-70,0]",
    'UF:%f[0,0,"suffix:1"]',
    'UG:%f[-1,0,"suffix:1"]/%x[0,1]',
    "*H:%x[-1,0]",
    "*H:%x[1,0]",
)
OF_STEPS = ("B", "B1:%x[0,1]", "B2:%x[-1,1]/%x[0,1]")


def columns(rng: np.random.Generator, n: int, words: int) -> Columns:
    rows = [
        [(f"w{rng.integers(words)}", "pqrs"[rng.integers(4)]) for _ in range(rng.integers(0, 6))]
        for _ in range(n)
    ]
    return Columns.from_sequences([[("w0", "p")], *rows])


def random_model(
    rng: np.random.Generator, templates: list[str], share: float, boundary: Any
) -> SequenceModel:
    templates = [t.replace("*H", "UH") for t in templates]
    made = TemplateFeatures(TemplateSet.parse("\n".join(templates), boundary=boundary))
    made.learn(columns(rng, 12, 9))
    index = FeatureIndex.all_labels(len(LABELS), made.n_node, made.n_pair)
    w = rng.normal(size=index.n_features) * (rng.random(index.n_features) < share)
    return SequenceModel.from_weights(LABELS, made, index, Weights(w, None, len(w)), {})


def looked_up(observations: Observations) -> Observations:
    """The same with their attributes, from which everything goes the long way."""
    node, pair = (Rows(rows.start, rows.index, rows.value) for rows in (observations.node, observations.pair))
    return replace(observations, node=node, pair=pair)


def by_sequence(of_tokens: Any, lengths: Any) -> list[Any]:
    return np.split(of_tokens, np.cumsum(lengths)[:-1])


def check_same(model: SequenceModel, X: Columns, **given: Any) -> None:
    """Sums in another order decide ties in another way, so only labels that no others equal must be the same."""
    seen = model.observe(X)
    plain = looked_up(seen)
    assert seen_by_templates(seen) is not None
    assert seen_by_templates(plain) is None
    expected, expected_log_z = model.marginals(plain, **given)
    best, _ = model.kbest(plain, 2, **given)
    unique = best[0] > best[1] + 1e-9
    for threads in (1, 3):
        found, log_z = model.marginals(seen, threads=threads, **given)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(log_z, expected_log_z, rtol=1e-12, atol=1e-12)
        viterbi = (model.decode(seen, threads=threads, **given), model.decode(plain, **given))
        for one, other, is_unique in zip(*(by_sequence(y, X.lengths) for y in viterbi), unique, strict=True):
            assert np.array_equal(one, other) or not is_unique
        worth = [model.decode(each, minimum_risk=True, threads=threads, **given) for each in (seen, plain)]
        sums = [expected[np.arange(len(y)), y] for y in worth]
        for one, other in zip(*(by_sequence(y, X.lengths) for y in sums), strict=True):
            assert one.sum() == pytest.approx(other.sum(), abs=1e-9)
    values, _ = model.kbest(seen, 2, **given)
    np.testing.assert_allclose(values, best, atol=1e-9)


@given(
    st.integers(0, 2**32),
    st.lists(st.sampled_from(TEMPLATES), min_size=1, max_size=8, unique=True),
    st.lists(st.sampled_from(OF_STEPS), max_size=2, unique=True),
    st.sampled_from([0.05, 0.4, 1.0]),
    st.sampled_from(["wapiti", "crf++"]),
)
@settings(max_examples=60, deadline=None)
def test_any_templates(
    seed: int, of_tokens: list[str], of_steps: list[str], share: float, boundary: str
) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(rng, [*of_tokens, *of_steps], share, boundary)
    X = columns(rng, 8, 14)  # with words that nobody has seen
    check_same(model, X)
    given = rng.integers(-1, len(LABELS), X.n_tokens).astype(np.int32)
    check_same(model, X, given=given)
    check_same(model, X, allowed=forbid(LABELS, [("X", "Y"), ("Y", "Y"), ("Z", "X")]))
    ends = Transitions(np.array([True, False, True]), np.array([False, True, True]), np.ones((3, 3), bool))
    check_same(model, X, allowed=ends)
    check_same(model, X, allowed=ends)  # once more, as blocks of a file are


def test_scores_are_sums_of_weights() -> None:
    rng = np.random.default_rng(3)
    for share in (0.1, 1.0):
        model = random_model(rng, [*TEMPLATES, "B"], share, "wapiti")
        seen = model.observe(columns(rng, 20, 12))
        scores = model.template_scores
        assert scores is not None
        what = seen_by_templates(seen)
        assert what is not None
        found = scores.of_tokens(what, 2, Workspace())
        expected = np.zeros_like(found)
        weights = model.weights[: model.index.node.n_features]
        attribute, label = model.index.node.describe(np.arange(len(weights)))
        for t in range(seen.n_tokens):
            for a in seen.node.index[seen.node.start[t] : seen.node.start[t + 1]]:
                expected[t, label[attribute == a]] += weights[attribute == a]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        assert np.abs(found).max() <= scores.compiled.largest


@pytest.mark.parametrize("order", [1, 2])
def test_tags_in_pairs(order: int) -> None:
    X, Y = make_data()
    model = SequenceTraining(l1=0.2, order=order).fit(space(), X, Y)
    check_same(model, X)
    check_same(model, X, given=np.where(np.arange(X.n_tokens) % 3, -1, Y.ids).astype(np.int32))
    check_same(model, X, allowed=forbid(model.tags, [("L0", "L1")]))


@pytest.mark.parametrize("siblings", [None, "instead", "also"])
def test_trees(siblings: str | None) -> None:
    model, (X, _) = tree_model(siblings=siblings), trees(15, seed=2)
    check_same(model, model.limited(X))


def test_what_is_not_possible_is_said_as_ever() -> None:
    model = random_model(np.random.default_rng(0), ["U1:%x[0,0]", "B"], 1.0, "wapiti")
    X = Columns.from_sequences([[("w0", "p")], [("w0", "p")] * 2])
    nothing = Transitions(np.ones(3, bool), np.ones(3, bool), np.zeros((3, 3), bool))
    for call in (model.decode, model.marginals):
        with pytest.raises(ParsimonError, match="sequence 1 has no possible labelling"):
            call(model.observe(X), allowed=nothing)


def test_scores_that_might_be_too_large_go_the_long_way() -> None:
    model = random_model(np.random.default_rng(0), ["U1:%x[0,0]", "B"], 1.0, "wapiti")
    assert model.template_scores is not None
    assert TemplateScores.of(model.space, model.index, model.weights * 1e300) is None
