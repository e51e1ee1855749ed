"""The scikit-learn contract, kept by our own tests since scikit-learn's checks do not know ragged input."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import joblib
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.utils.validation import check_is_fitted

from labelled_words import DICTS, LABELS, TEMPLATES, WORDS, dense_words, fitted, sparse_list, sparse_words
from parsimon import SequenceLabeler
from parsimon.errors import ParsimonError
from parsimon.features import Columns, SparseSequences
from parsimon.metrics import get_scorer, span_f1, token_accuracy
from parsimon.penalties import L1
from parsimon.solvers import OWLQN
from parsimon.tasks.model_file import dump_model


def test_parameters_are_kept_as_given() -> None:
    labeler = SequenceLabeler("words", l1=0.3, scheme="iob2", penalty=L1(1.0), solver=OWLQN())
    parameters = labeler.get_params()
    assert parameters["l1"] == 0.3
    assert parameters["penalty"] == L1(1.0)
    labeler.set_params(l1=2.0, cutoff=3)
    assert (labeler.l1, labeler.cutoff) == (2.0, 3)
    with pytest.raises(ValueError, match="Invalid parameter"):
        labeler.set_params(c1=1.0)
    assert "l1=2.0" in repr(labeler)


def test_making_one_checks_nothing() -> None:
    SequenceLabeler("no such file", l1=-1.0, loss="cubed", solver="newton", n_jobs=0)


def test_clone(labeler: SequenceLabeler) -> None:
    other = clone(labeler)
    assert other.get_params() == labeler.get_params()
    assert not hasattr(other, "model_")
    assert other.fit(WORDS, LABELS).predict(WORDS) == labeler.predict(WORDS)


def test_fit_returns_itself_and_leaves_its_parameters_alone() -> None:
    labeler = SequenceLabeler(TEMPLATES)
    before = labeler.get_params()
    assert labeler.fit(WORDS, LABELS) is labeler
    assert labeler.get_params() == before


def test_what_fitting_leaves(labeler: SequenceLabeler) -> None:
    check_is_fitted(labeler)
    assert sorted(labeler.classes_) == ["B-X", "I-X", "O"]
    assert labeler.n_features_ == len(labeler.coef_) > 0
    assert labeler.objective_ > 0
    assert labeler.n_iter_ == len(labeler.history_) > 0


@pytest.mark.parametrize("method", ["predict", "predict_marginals", "predict_kbest"])
def test_not_fitted(method: str) -> None:
    labeler = SequenceLabeler(TEMPLATES)
    with pytest.raises(NotFittedError, match="not fitted yet; call fit first"):
        getattr(labeler, method)(WORDS)
    with pytest.raises(NotFittedError):
        check_is_fitted(labeler)


def test_nothing_else_works_before_fitting_either(tmp_path: Path) -> None:
    labeler = SequenceLabeler(TEMPLATES)
    for use in (
        lambda: labeler.score(WORDS, LABELS),
        labeler.sparsify,
        lambda: labeler.save(tmp_path / "model"),
        lambda: labeler.coef_,
    ):
        with pytest.raises(NotFittedError):
            use()


def test_fitting_again_starts_afresh() -> None:
    labeler = SequenceLabeler(TEMPLATES, l1=0.1).fit(WORDS[:5], LABELS[:5])
    labeler.fit(WORDS, LABELS)
    fresh = SequenceLabeler(TEMPLATES, l1=0.1).fit(WORDS, LABELS)
    assert labeler.coef_.tobytes() == fresh.coef_.tobytes()


@pytest.mark.parametrize("templates", [TEMPLATES, None], ids=["templates", "dicts"])
def test_pickle_and_joblib(templates: Any, tmp_path: Path) -> None:
    X = WORDS if templates is not None else DICTS
    labeler = SequenceLabeler(templates, l1=0.1).fit(X, LABELS)
    joblib.dump(labeler, tmp_path / "labeler")
    for other in (pickle.loads(pickle.dumps(labeler)), joblib.load(tmp_path / "labeler")):
        assert other.predict(X) == labeler.predict(X)
        assert other.coef_.tobytes() == labeler.coef_.tobytes()
        assert other.get_params() == labeler.get_params()
        assert other.classes_.tolist() == labeler.classes_.tolist()
    assert pickle.loads(pickle.dumps(SequenceLabeler(templates))).get_params()["templates"] == templates


def test_save_and_load(labeler: SequenceLabeler, tmp_path: Path) -> None:
    labeler.save(tmp_path / "model")
    other = SequenceLabeler.load(tmp_path / "model", scheme="iob2")
    assert other.predict(WORDS) == fitted(scheme="iob2").predict(WORDS)
    assert (other.l1, other.l2, other.scheme) == (0.1, 0.01, "iob2")
    labeler.save(tmp_path / "small", dtype="float32")
    assert (tmp_path / "small").stat().st_size < (tmp_path / "model").stat().st_size


def test_two_fits_of_one_model_are_one_file() -> None:
    from dataclasses import replace

    first, second = (dump_model(replace(fitted().model_, info={})) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l1": -1.0}, "l1 must be a number, zero or more, not -1"),
        ({"l2": float("nan")}, "l2 must be a number, zero or more, not nan"),
        ({"loss": "cubed"}, "loss must be one of log, hinge, perceptron, not 'cubed'"),
        ({"solver": "newton"}, "solver must be one of auto, .*, not 'newton'"),
        ({"solver": "lbfgs"}, "the solver lbfgs needs a smooth penalty"),
        ({"candidates": "few"}, "candidates must be one of all, seen, not 'few'"),
        ({"n_jobs": 0}, "n_jobs must be a whole number and not 0"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        SequenceLabeler(TEMPLATES, **parameters).fit(WORDS, LABELS)


# ---- model selection ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["lists", "columns", "dicts", "sparse", "arrays", "sparse list"])
def test_grid_search(kind: str) -> None:
    X, templates = {
        "lists": (WORDS, TEMPLATES),
        "columns": (Columns.from_sequences(WORDS), TEMPLATES),
        "dicts": (DICTS, None),
        "sparse": (SparseSequences(*sparse_words()), None),
        "arrays": (dense_words(), None),
        "sparse list": (sparse_list(), None),
    }[kind]
    search = GridSearchCV(
        SequenceLabeler(templates, l2=0.01), {"l1": [0.05, 100.0]}, cv=3, error_score="raise"
    )
    search.fit(X, LABELS)
    assert search.best_params_ == {"l1": 0.05}
    assert search.best_score_ > 0.5
    assert [len(s) for s in search.predict(X)] == [len(s) for s in LABELS]


@pytest.mark.parametrize("name", ["span_f1", "token_accuracy"])
def test_cross_validation_with_our_scorers(name: str) -> None:
    labeler = SequenceLabeler(TEMPLATES, l1=0.05)
    scores = cross_val_score(
        labeler, WORDS, LABELS, cv=KFold(3), scoring=get_scorer(name), error_score="raise"
    )
    assert len(scores) == 3
    metric = {"span_f1": span_f1, "token_accuracy": token_accuracy}[name]
    train, test = next(KFold(3).split(WORDS))
    labeler.fit([WORDS[i] for i in train], [LABELS[i] for i in train])
    assert scores[0] == pytest.approx(
        metric([LABELS[i] for i in test], labeler.predict([WORDS[i] for i in test]))
    )


def test_cross_val_predict() -> None:
    predicted = cross_val_predict(SequenceLabeler(TEMPLATES, l1=0.05), WORDS, LABELS, cv=3)
    assert [len(s) for s in predicted] == [len(s) for s in LABELS]
    assert token_accuracy(LABELS, [list(s) for s in predicted]) > 0.7


def test_score(labeler: SequenceLabeler) -> None:
    assert labeler.score(WORDS, LABELS) == pytest.approx(span_f1(LABELS, labeler.predict(WORDS)))
    plain = [["N" if label == "O" else "V" for label in s] for s in LABELS]
    other = SequenceLabeler(TEMPLATES, l1=0.1).fit(WORDS, plain)
    assert other.score(WORDS, plain) == pytest.approx(token_accuracy(plain, other.predict(WORDS)))
