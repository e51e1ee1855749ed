"""Training on matrices: classes and numbers, paths, and runs that are killed, interrupted or limited."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from memory_in_use import memory_in_use
from parsimon.errors import ParsimonError
from parsimon.penalties import L1, ElasticNet, TreeLasso
from parsimon.penalties.groups import Groups
from parsimon.solvers import Status
from parsimon.tasks.matrices.training import MatrixTraining, Rows
from parsimon.tasks.model_file import dump_model

N, D = 50, 10
GROUPS = [[0, 1, 2], [2, 3, 4], [4, 5, 6, 7]]  # 8 and 9 are in none


def make_data(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.7)
    return X, X[:, 0] - 2 * X[:, 1] + X[:, 3] + 0.5 * X[:, 8] + 0.7 + 0.5 * rng.normal(size=N)


X, SCORE = make_data()
OUTPUTS = {
    "two": np.where(SCORE > 0, "yes", "no"),
    "three": np.digitize(SCORE, [-0.5, 1.5]),
    "numbers": SCORE,
}


def training_of(kind: str, **settings: Any) -> MatrixTraining:
    loss = "squared" if kind == "numbers" else "log"
    return MatrixTraining(**{"groups": GROUPS, "loss": loss, "tol": 1e-7, "alpha": 2.0, **settings})


class Killed(Exception):
    pass


def killer(after: int) -> Any:
    """Kills a run after so many rounds in all."""
    rounds = iter(range(1, 10_000))

    def kill(event: Any) -> None:
        if next(rounds) > after:
            raise Killed

    return kill


def interrupt_at(number: int) -> Any:
    """Ctrl-C, when there have been so many rounds in all."""
    rounds = iter(range(10_000))

    def interrupt(event: Any) -> None:
        if next(rounds) == number:
            os.kill(os.getpid(), signal.SIGINT)

    return interrupt


# ---- models ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", OUTPUTS)
def test_what_is_learnt(kind: str) -> None:
    y = OUTPUTS[kind]
    model = training_of(kind).fit(X, y)
    assert model.n_columns == D
    assert set(model.columns) >= {0, 1, 8}
    assert model.info["status"] == Status.CONVERGED.value
    assert 0 <= model.info["gap"] < 1e-5 * model.info["objective"]
    assert (model.info["rows"], model.info["alpha"], model.info["groups_in_all"]) == (N, 2.0, 3)
    predicted = model.predict(X)
    if kind == "numbers":
        assert np.corrcoef(predicted, y)[0, 1] > 0.9
    else:
        assert np.mean(predicted == y) > 0.75
        np.testing.assert_allclose(model.probabilities(X).sum(axis=1), 1.0)
    dense = dump_model(model)
    assert dump_model(training_of(kind).fit(sparse.csr_array(X), y)) == dense
    assert dump_model(training_of(kind, n_jobs=2).fit(X, y)) == dense


def test_the_hinge_loss_and_penalties_of_ones_own() -> None:
    y = OUTPUTS["two"]
    assert np.mean(training_of("two", loss="hinge", tol=1e-3).fit(X, y).predict(X) == y) > 0.8
    lasso = training_of("two", penalty=L1(2.0)).fit(X, y)
    assert lasso.groups is None
    nested = Groups.from_lists([[0, 1, 2, 3], [0, 1], [4, 5]], D)
    assert training_of("two", penalty=TreeLasso(1.0, nested)).fit(X, y).groups is nested


@pytest.mark.parametrize("kind", OUTPUTS)
def test_development_data_choose_the_iterate(kind: str) -> None:
    y = OUTPUTS[kind]
    seen: list[Any] = []
    training = training_of(kind, callback=seen.append, alpha=0.1, solver="fista", patience=3)
    model = training.fit(X[:30], y[:30], dev=(sparse.csr_array(X[30:]), y[30:]))
    assert all(event.dev is not None for event in seen)
    predicted = model.predict(X[30:])
    score = -np.mean((predicted - y[30:]) ** 2) if kind == "numbers" else np.mean(predicted == y[30:])
    assert score == pytest.approx(max(event.dev for event in seen))
    with pytest.raises(ParsimonError, match="development data have 9 columns, but those to learn from 10"):
        training.fit(X, y, dev=(X[:, :9], y))


@pytest.mark.parametrize("kind", OUTPUTS)
def test_it_starts_from_a_model(kind: str) -> None:
    y = OUTPUTS[kind]
    training = training_of(kind)
    first = training.fit(X, y)
    assert training.fit(X, y, start=first).info["iterations"] < first.info["iterations"]
    other = training_of(kind, groups=None).fit(X[:, :5], y, start=first)  # of other columns
    assert other.n_columns == 5


@pytest.mark.parametrize(
    ("settings", "data", "said"),
    [
        ({"alpha": -1}, (X, SCORE > 0), "alpha must be a number, zero or more, not -1"),
        ({"l1": np.nan}, (X, SCORE > 0), "l1 must be a number, zero or more"),
        ({"loss": "cubed"}, (X, SCORE > 0), "loss must be one of log, hinge, squared, not 'cubed'"),
        ({"group_weight": "cube"}, (X, SCORE > 0), "group_weight must be one of sqrt"),
        ({"resume": True}, (X, SCORE > 0), "there is no checkpoint to resume from"),
        ({}, (X[0], SCORE > 0), "X must be a matrix, but it has 1 dimensions"),
        ({}, (X, SCORE[:-1] > 0), "X has 50 rows, so y must have as many outputs"),
        (
            {},
            (np.where(X[0, 0] == X, np.nan, X), SCORE > 0),
            "X has the number (NaN|infinity); values",
        ),
        (
            {},
            (sparse.csr_array(np.where(X == 0, 0, np.inf)), SCORE > 0),
            "X has the number (NaN|infinity); values",
        ),
        ({"loss": "squared"}, (X, SCORE * np.inf), "y has the number infinity; values must be finite"),
        ({}, (X, np.ones(N)), "y has only one class, .*; a classifier needs two or more"),
        ({"groups": [[0, 12]]}, (X, SCORE > 0), "group 0 has column 12"),
    ],
    ids=str,
)
def test_mistakes(settings: dict[str, Any], data: Any, said: str) -> None:
    with pytest.raises(ParsimonError, match=said) as caught:
        MatrixTraining(**settings).fit(*data)
    assert "\n" not in str(caught.value)


# ---- runs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", OUTPUTS)
def test_killed_and_resumed(kind: str, tmp_path: Path) -> None:
    y = OUTPUTS[kind]
    training = training_of(kind, solver="fista", checkpoint=tmp_path / "run", checkpoint_every=1e-9)
    whole = replace(training, checkpoint=None).fit(X, y)
    with pytest.raises(Killed):
        replace(training, callback=killer(5)).fit(X, y)
    seen: list[Any] = []
    resumed = replace(training, resume=True, callback=seen.append).fit(X, y)
    assert seen[0].iteration == 5
    assert resumed.columns.tolist() == whole.columns.tolist()
    assert resumed.info["objective"] == pytest.approx(whole.info["objective"], rel=1e-8)
    np.testing.assert_allclose(resumed.weights, whole.weights, atol=1e-3)
    seen.clear()
    again = replace(training, resume=True, callback=seen.append).fit(X, y)
    assert not seen
    assert dump_model(again) == dump_model(resumed)


def test_a_checkpoint_of_other_data_or_settings_is_refused(tmp_path: Path) -> None:
    y = OUTPUTS["two"]
    training = training_of("two", checkpoint=tmp_path / "run")
    training.fit(X, y)
    again = replace(training, resume=True)
    for other, *data in (
        (again, X + 1, y),
        (again, X, y[::-1]),
        (replace(again, alpha=3.0), X, y),
        (replace(again, groups=GROUPS[:2]), X, y),
        (replace(again, penalty=L1(1.0)), X, y),
    ):
        with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
            other.fit(*data)
    with pytest.raises(ParsimonError, match="belongs to other data"):
        again.fit(X, y, weights=np.full(N, 2.0))
    assert again.fit(X, y).info["status"] == Status.CONVERGED.value


def test_what_tells_matrices_apart() -> None:
    from parsimon.tasks.fingerprint import fingerprint

    y = OUTPUTS["two"]
    csr = sparse.csr_array(X)
    marks = [
        fingerprint(Rows(data, y, weights))
        for data, weights in (
            (X, None),
            (csr, None),
            (csr * 2, None),
            (csr, np.ones(N)),
            (csr[:, ::-1], None),
        )
    ]
    assert len(set(marks)) == len(marks)
    assert fingerprint(Rows(csr.tocoo(), y)) == marks[1] == fingerprint(Rows(csr.copy(), y.copy()))


@pytest.mark.parametrize("kind", OUTPUTS)
def test_ctrl_c_gives_the_best_so_far(kind: str) -> None:
    training = training_of(kind, solver="fista", tol=1e-12, callback=interrupt_at(3))
    model = training.fit(X, OUTPUTS[kind])
    assert model.info["status"] == Status.INTERRUPTED.value
    assert model.info["iterations"] in (4, 5)
    assert len(model.columns)


def test_a_limit_of_time() -> None:
    model = training_of("two", time_limit=1e-9, tol=1e-12).fit(X, OUTPUTS["two"])
    assert model.info["status"] == Status.TIME.value


def test_a_limit_of_memory() -> None:
    large = np.random.default_rng(0).normal(size=(4000, 1000))
    with pytest.raises(ParsimonError, match=r"training needs more than .* of memory"):
        MatrixTraining(memory=memory_in_use() + (16 << 20)).fit(large, large[:, 0] > 0)
    assert len(training_of("two", memory="64G").fit(X, OUTPUTS["two"]).columns)


# ---- paths -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", OUTPUTS)
def test_a_path_is_killed_and_resumed(kind: str, tmp_path: Path) -> None:
    y = OUTPUTS[kind]
    training = training_of(kind, checkpoint=tmp_path / "run", checkpoint_every=1e-9)
    counted: list[Any] = []
    whole = replace(training, callback=counted.append, checkpoint=None).path(X, y, n_alphas=6)
    assert [alpha for alpha, _ in whole] == sorted((alpha for alpha, _ in whole), reverse=True)
    assert not set(range(8)) & set(whole[0][1].columns)  # all groups are zero, what is in none is not
    with pytest.raises(Killed):
        replace(training, callback=killer(len(counted) // 2)).path(X, y, n_alphas=6)
    seen: list[Any] = []
    resumed = replace(training, resume=True, callback=seen.append).path(X, y, n_alphas=6)
    assert 0 < len(seen) < len(counted)
    assert [alpha for alpha, _ in resumed] == [alpha for alpha, _ in whole]
    for (_, one), (_, other) in zip(whole, resumed, strict=True):
        assert other.info["objective"] == pytest.approx(one.info["objective"], rel=1e-6)
    seen.clear()
    again = replace(training, resume=True, callback=seen.append).path(X, y, n_alphas=6)
    assert not seen
    assert [dump_model(model) for _, model in again] == [dump_model(model) for _, model in resumed]


def test_a_path_ends_at_ctrl_c_or_when_time_is_up() -> None:
    y = OUTPUTS["two"]
    steps = training_of("two", solver="fista", callback=interrupt_at(8)).path(X, y, n_alphas=10)
    assert 1 <= len(steps) < 10
    assert steps[-1][1].info["status"] == Status.INTERRUPTED.value
    (only,) = training_of("two", time_limit=1e-9).path(X, y, n_alphas=10)
    assert only[1].info["status"] == Status.TIME.value


def test_paths_need_groups_and_strengths() -> None:
    y = OUTPUTS["two"]
    with pytest.raises(ParsimonError, match="a path goes along alpha, so leave penalty out"):
        training_of("two", penalty=L1(1.0)).path(X, y)
    with pytest.raises(ParsimonError, match="alphas must be numbers above zero"):
        training_of("two").path(X, y, [0.0])
    assert training_of("two", alpha=0.0).max_alpha(X, y) == training_of("two").max_alpha(X, y) > 0


# ---- strengths that choose themselves ------------------------------------------------------------------------


def rows(n: int, seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 12))
    return X, X[:, 0] - X[:, 1] + 0.5 * random.normal(size=n)


@pytest.mark.parametrize(
    ("settings", "main"),
    [
        ({"groups": [[0, 1, 2], [3, 4], [5, 6, 7, 8, 9, 10, 11]]}, "alpha"),
        ({"groups": [[0, 1, 2], [2, 3, 4], [5, 6, 7, 8, 9, 10, 11]]}, "alpha"),  # they overlap
        ({"alpha": 0, "l2": 0.5}, "l1"),
        ({"alpha": 0, "l1": 0.5}, "l2"),
        ({"alpha": 0}, None),
    ],
)
@pytest.mark.parametrize("loss", ["log", "squared"])
def test_a_strength_chooses_itself(settings: dict[str, Any], main: str | None, loss: str) -> None:
    X, y = rows(80, 0)
    y = y if loss == "squared" else np.where(y > 0, "yes", "no")
    training = MatrixTraining(**settings, loss=loss, tune=True, folds=3)
    model = training.fit(X, y)
    tuning = model.info["tuning"]
    if main is not None:
        assert next(iter(tuning["chosen"])) == main
    for name, value in tuning["chosen"].items():
        assert model.info[name] == value
    assert max(each["score"] for each in tuning["tried"]) > (0.8 if loss == "log" else -0.5)
    again = replace(training, tune=None, **tuning["chosen"]).fit(X, y)
    np.testing.assert_allclose(again.coef, model.coef, atol=1e-6)


def test_development_rows_choose() -> None:
    X, y = rows(80, 0)
    model = MatrixTraining(alpha=0, l2=1.0, loss="squared", tune=True).fit(X, y, dev=rows(40, 1))
    tuning = model.info["tuning"]
    assert tuning["folds"] is None
    assert set(model.columns.tolist()) >= {0, 1}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"alpha": 2.0}, "tune=True chooses alpha, so alpha=2 would make no difference"),
        ({"alpha": 0, "l1": 1.0, "l2": 1.0}, "every strength is given"),
        ({"penalty": ElasticNet(1.0)}, "a penalty object has its own strengths"),
    ],
)
def test_what_cannot_be_chosen_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        MatrixTraining(**settings, tune=True, loss="squared").fit(*rows(20, 0))
