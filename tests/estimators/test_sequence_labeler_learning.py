"""How `SequenceLabeler` learns: weights, partial labels, warm starts, paths, limits, candidates that come later."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from labelled_words import DICTS, LABELS, TEMPLATES, WORDS, fitted, make_data, sparse_words
from parsimon import SequenceLabeler
from parsimon.errors import ParsimonError
from parsimon.features import SparseSequences, TemplateSet
from parsimon.metrics import token_accuracy


def test_sample_weights_are_repetitions() -> None:
    weights = np.arange(len(WORDS)) % 3
    X = [s for s, k in zip(WORDS, weights, strict=True) for _ in range(k)]
    y = [s for s, k in zip(LABELS, weights, strict=True) for _ in range(k)]
    settings = {"l1": 0.2, "l2": 0.01, "tol": 1e-8}
    weighted = SequenceLabeler(TEMPLATES, **settings).fit(WORDS, LABELS, sample_weight=weights)
    repeated = SequenceLabeler(TEMPLATES, **settings).fit(X, y)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-7)
    assert weighted.predict(WORDS) == repeated.predict(WORDS)
    with pytest.raises(ParsimonError, match="sequence weights must be finite and not negative"):
        SequenceLabeler(TEMPLATES).fit(WORDS, LABELS, sample_weight=-weights)


def test_partial_labels() -> None:
    some = [[label if (i + t) % 3 else None for t, label in enumerate(s)] for i, s in enumerate(LABELS)]
    labeler = SequenceLabeler(TEMPLATES, l1=0.05, l2=0.05).fit(WORDS, some)
    assert sorted(labeler.classes_) == ["B-X", "I-X", "O"]
    assert token_accuracy(LABELS, labeler.predict(WORDS)) > 0.75
    with pytest.raises(ParsimonError, match="the hinge loss needs every label"):
        SequenceLabeler(TEMPLATES, loss="hinge").fit(WORDS, some)
    with pytest.raises(ParsimonError, match="no token has a label"):
        SequenceLabeler(TEMPLATES).fit(WORDS, [[None] * len(s) for s in WORDS])


@pytest.mark.parametrize("templates", [TEMPLATES, None], ids=["templates", "dicts"])
def test_threads_give_identical_bits(templates: Any) -> None:
    X = WORDS if templates is not None else DICTS
    one, two, every = (SequenceLabeler(templates, l1=0.1, n_jobs=n).fit(X, LABELS) for n in (None, 2, -1))
    for other in (two, every):
        assert one.coef_.tobytes() == other.coef_.tobytes()
        assert one.predict(X) == other.predict(X)
        for a, b in zip(one.predict_marginals(X), other.predict_marginals(X), strict=True):
            assert a.tobytes() == b.tobytes()


def test_warm_start() -> None:
    labeler = SequenceLabeler(TEMPLATES, l1=0.1, l2=0.01, warm_start=True).fit(WORDS, LABELS)
    first, objective = labeler.history_[-1]["evaluations"], labeler.objective_
    labeler.fit(WORDS, LABELS)
    assert labeler.history_[-1]["evaluations"] < first
    assert labeler.objective_ == pytest.approx(objective, rel=1e-6)


@pytest.mark.parametrize("solver", ["lbfgs", "owlqn", "working-set"])
def test_warm_start_with_every_solver(solver: str) -> None:
    strengths = {"l1": 0.0, "l2": 0.5} if solver == "lbfgs" else {"l1": 0.3, "l2": 0.01}
    labeler = SequenceLabeler(TEMPLATES, **strengths, solver=solver, warm_start=True, max_iter=300).fit(
        WORDS, LABELS
    )
    first, objective = labeler.history_[-1]["evaluations"], labeler.objective_
    labeler.fit(WORDS, LABELS)
    assert labeler.history_[-1]["evaluations"] < first
    assert labeler.objective_ == pytest.approx(objective, rel=1e-6)


def test_path() -> None:
    labeler = SequenceLabeler(TEMPLATES, l2=0.01, tol=1e-6)
    found = list(labeler.path(WORDS, LABELS, [0.1, 2.0, 0.5]))
    assert [strength for strength, _ in found] == [2.0, 0.5, 0.1]
    for strength, one in found:
        assert one.l1 == strength
        alone = SequenceLabeler(TEMPLATES, l1=strength, l2=0.01, tol=1e-6).fit(WORDS, LABELS)
        assert one.objective_ == pytest.approx(alone.objective_, rel=1e-5)
    assert not hasattr(labeler, "model_")


def test_path_and_max_strength_take_a_matrix() -> None:
    matrix, lengths = sparse_words()
    X = SparseSequences(matrix, lengths)
    strength = SequenceLabeler().max_strength(X, LABELS)
    sizes = [
        one.n_features_
        for _, one in SequenceLabeler(l2=0.0).path(X, LABELS, [1.001 * strength, 0.3 * strength])
    ]
    assert sizes[0] == 0 < sizes[1]


def test_max_strength() -> None:
    strength = SequenceLabeler(TEMPLATES).max_strength(WORDS, LABELS)
    assert fitted(l1=strength * 1.0001).n_features_ == 0
    assert fitted(l1=strength * 0.99).n_features_ > 0


def test_development_set() -> None:
    events: list[Any] = []
    dev_words, dev_labels = make_data(seed=5, n=8)
    labeler = SequenceLabeler(TEMPLATES, l1=0.01, patience=1, callback=events.append)
    labeler.fit(WORDS, LABELS, dev=(dev_words, dev_labels))
    scores = [event.dev for event in events if event.dev is not None]
    assert scores
    assert labeler.score(dev_words, dev_labels) == pytest.approx(max(scores))


def test_limits_and_callbacks() -> None:
    events: list[Any] = []
    labeler = fitted(max_iter=3, callback=events.append, l1=0.01)
    assert len(events) == 4 == labeler.n_iter_
    assert fitted(time_limit=1e-9).n_iter_ == 1


def test_sparsify(labeler: SequenceLabeler) -> None:
    other = pickle.loads(pickle.dumps(labeler))
    threshold = float(np.median(np.abs(labeler.coef_)))
    assert other.sparsify(threshold) is other
    assert np.abs(other.coef_).min() > threshold
    assert other.n_features_ == np.count_nonzero(np.abs(labeler.coef_) > threshold)
    assert other.predict(WORDS)
    with pytest.raises(ParsimonError, match="threshold must be zero or more"):
        other.sparsify(-1.0)


def test_transitions_can_be_left_out() -> None:
    labeler = SequenceLabeler(l1=0.1, transitions=False).fit(DICTS, LABELS)
    assert labeler.model_.space.n_pair == 0


def test_candidates_may_come_later() -> None:
    """`partial_fit` with more templates, columns or keys ends where `fit` with all of them does."""
    rng = np.random.default_rng(3)
    words = [[(str(rng.integers(4)), str(rng.integers(3))) for _ in range(5)] for _ in range(30)]
    y = [[f"{a}{b}" if int(a) > 1 else "O" for a, b in sentence] for sentence in words]
    first, second = TemplateSet.parse("U0:%x[0,0]\nB\n"), TemplateSet.parse("U1:%x[0,1]\nU0:%x[0,0]\n")
    settings = {"l1": 0.3, "l2": 0.0, "tol": 1e-7, "solver": "grafting-light"}
    grown = SequenceLabeler(first, **settings).partial_fit(words, y)
    few = grown.objective_
    grown.partial_fit(words, y, templates=second)
    whole = SequenceLabeler(TemplateSet.parse("U0:%x[0,0]\nB\nU1:%x[0,1]\n"), **settings).fit(words, y)
    assert grown.objective_ < few
    assert grown.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    assert grown.templates_.names == ("U0", "B", "U1")
    assert grown.templates is first, "parameters stay as they were given"

    values = [rng.normal(size=(6, 4)) for _ in range(20)]
    labels = [["yes" if row[0] + row[3] > 0 else "no" for row in matrix] for matrix in values]
    online = SequenceLabeler(**settings).partial_fit([matrix[:, :2] for matrix in values], labels)
    online.partial_fit(values, labels)
    assert online.objective_ == pytest.approx(
        SequenceLabeler(**settings).fit(values, labels).objective_, rel=1e-6
    )
    with pytest.raises(ParsimonError, match="fitted without templates"):
        online.partial_fit(values, labels, templates=first)
