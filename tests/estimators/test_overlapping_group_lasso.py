"""Overlapping group lasso for matrices: the optimum is that of others, and scikit-learn's contract is kept."""

from __future__ import annotations

import os
import pickle
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from parsimon.errors import ParsimonError
from parsimon.estimators import (
    OverlappingGroupLassoClassifier,
    OverlappingGroupLassoClassifierCV,
    OverlappingGroupLassoRegressor,
    OverlappingGroupLassoRegressorCV,
)
from parsimon.penalties.groups import Groups
from parsimon.solvers import ADMM
from parsimon.tasks.matrices.column_groups import as_groups

N, D = 40, 12


OVERLAPPING = [[0, 1, 2, 3], [2, 3, 4, 5], [5, 6, 7], [7, 8, 9], [0, 9]]  # 10 and 11 are in none


DISJOINT = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3]


def make_data(seed: int = 0) -> tuple[Any, Any]:
    """Some zeros, so that it makes sense as a sparse matrix, and scores that depend on the first two groups."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.6)
    return X, X[:, :4] @ np.array([1.5, -1.0, 1.0, 0.5]) - X[:, 5] + 0.8 + 0.5 * rng.normal(size=N)


X, SCORE = make_data()


OUTPUTS = {
    "two": (SCORE > 0).astype(int),
    "three": np.digitize(SCORE, [-0.5, 1.5]),
    "numbers": SCORE + 3.0,
}


def estimator(kind: str, *arguments: Any, **parameters: Any) -> Any:
    made = OverlappingGroupLassoRegressor if kind == "numbers" else OverlappingGroupLassoClassifier
    return made(*arguments, **{"groups": OVERLAPPING, "tol": 1e-7, **parameters})


# ---- the contract ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        OverlappingGroupLassoClassifier(tol=1e-11, max_iter=100),
        OverlappingGroupLassoRegressor(0.1, tol=1e-11, max_iter=100),
        OverlappingGroupLassoClassifierCV(alphas=[5.0], cv=2, tol=1e-11, max_iter=100),
        OverlappingGroupLassoRegressorCV(alphas=[5.0], cv=2, tol=1e-11, max_iter=100),
    ],
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_making_one_checks_nothing() -> None:
    OverlappingGroupLassoClassifier(-1.0, groups="all", solver="none", n_jobs=0)


@pytest.mark.parametrize("kind", OUTPUTS)
def test_clone_pickle_and_fitting_again(kind: str) -> None:
    fitted = estimator(kind, 2.0).fit(X, OUTPUTS[kind])
    again = clone(fitted)
    assert not hasattr(again, "coef_")
    assert again.fit(X, OUTPUTS[kind]).coef_.tobytes() == fitted.coef_.tobytes()
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def test_grid_search_and_pipeline() -> None:
    steps = make_pipeline(StandardScaler(), estimator("two"))
    search = GridSearchCV(steps, {"overlappinggrouplassoclassifier__alpha": [0.5, 1e3]}, cv=2)
    search.fit(X, OUTPUTS["two"])
    assert search.best_params_ == {"overlappinggrouplassoclassifier__alpha": 0.5}
    assert search.score(X, OUTPUTS["two"]) > 0.8


@pytest.mark.parametrize("kind", OUTPUTS)
def test_not_fitted(kind: str) -> None:
    for use in (lambda e: e.predict(X), lambda e: e.active_groups_):
        with pytest.raises(NotFittedError, match="not fitted yet; call fit first"):
            use(estimator(kind))


# ---- the optimum -------------------------------------------------------------------------------------------


def cvxpy_optimum(X: Any, kind: str, groups: Groups, alpha: float, l1: float, l2: float, bias: bool) -> float:
    cp = pytest.importorskip("cvxpy")
    y = OUTPUTS[kind]
    width = 3 if kind == "three" else 1
    w, b = cp.Variable((D, width)), cp.Variable((1, width))
    scores = X @ w + (np.ones((N, 1)) @ b if bias else 0)
    if kind == "three":
        loss = cp.sum(cp.log_sum_exp(scores, axis=1)) - cp.sum(cp.multiply(np.eye(3)[y], scores))
    elif kind == "two":
        loss = cp.sum(cp.logistic(scores) - cp.multiply(y[:, None], scores))
    else:
        loss = 0.5 * cp.sum_squares(scores - y[:, None])
    penalty = l1 * cp.sum(cp.abs(w)) + 0.5 * l2 * cp.sum_squares(w)
    for m in range(groups.n_groups):
        rows = [w[int(k)] for k in groups.members(m)]
        penalty += alpha * groups.weight[m] * cp.norm(cp.hstack(rows))
    return float(cp.Problem(cp.Minimize(loss + penalty)).solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("kind", OUTPUTS)
@pytest.mark.parametrize(
    ("l1", "l2", "bias", "weight"),
    [(0.0, 0.0, True, "sqrt"), (0.3, 0.2, True, "ones"), (0.2, 0.0, False, "log2")],
)
def test_cvxpy(kind: str, l1: float, l2: float, bias: bool, weight: str) -> None:
    given = {"l1": l1, "l2": l2, "fit_intercept": bias, "group_weight": weight}
    expected = cvxpy_optimum(X, kind, as_groups(OVERLAPPING, D, weight), 2.0, l1, l2, bias)
    for data in (X, sparse.csr_matrix(X)) if l1 == 0 else (X,):
        fitted = estimator(kind, 2.0, **given).fit(data, OUTPUTS[kind])
        assert fitted.objective_ == pytest.approx(expected, rel=1e-5)
        assert expected - 1e-6 * expected <= fitted.objective_ <= expected + fitted.gap_ + 1e-6 * expected
        assert fitted.gap_ < 1e-4 * expected


@pytest.mark.parametrize("kind", OUTPUTS)
def test_the_gap_is_never_too_small(kind: str) -> None:
    best = estimator(kind, 1.0, tol=1e-9).fit(X, OUTPUTS[kind]).objective_
    with pytest.warns(ConvergenceWarning, match="not at its optimum after 3 iterations"):
        rough = estimator(kind, 1.0, max_iter=3).fit(X, OUTPUTS[kind])
    assert best < rough.objective_ <= best + rough.gap_


@pytest.mark.parametrize("kind", OUTPUTS)
def test_solvers_agree(kind: str) -> None:
    fits = [
        estimator(kind, 2.0, solver=solver, l2=0.1).fit(X, OUTPUTS[kind])
        for solver in ("auto", "fista", "admm", ADMM(tol=1e-8, rho=3.0))
    ]
    for other in fits[1:]:
        assert other.objective_ == pytest.approx(fits[0].objective_, rel=1e-7)
        np.testing.assert_allclose(other.coef_, fits[0].coef_, atol=1e-3)


def test_two_classes_like_logistic_regression() -> None:
    y = OUTPUTS["two"]
    lasso: dict[str, Any] = {"l1_ratio": 1.0, "solver": "saga", "max_iter": 20_000, "tol": 1e-8}
    if getattr(LogisticRegression(), "penalty", None) == "l2":  # scikit-learn before 1.8
        lasso["penalty"] = "elasticnet"
    for ours, theirs in (
        ({"l2": 0.5}, {"C": 2.0}),
        ({"l1": 0.5}, {"C": 2.0, **lasso}),
    ):
        fitted = estimator("two", 0.0, **ours).fit(X, y)
        other = LogisticRegression(**{"tol": 1e-9, **theirs}).fit(X, y)
        np.testing.assert_allclose(fitted.coef_, other.coef_, atol=1e-4)
        np.testing.assert_allclose(fitted.predict_proba(X), other.predict_proba(X), atol=1e-4)


def test_three_classes_like_logistic_regression() -> None:
    fitted = estimator("three", 0.0, l2=0.5).fit(X, OUTPUTS["three"])
    other = LogisticRegression(C=2.0, tol=1e-9, max_iter=1000).fit(X, OUTPUTS["three"])
    np.testing.assert_allclose(fitted.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(fitted.predict_proba(X), other.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
def test_numbers_like_lasso_ridge_and_elastic_net(bias: bool) -> None:
    y = OUTPUTS["numbers"]
    for ours, other in (
        ({"l1": 0.1 * N}, Lasso(alpha=0.1, tol=1e-10, fit_intercept=bias)),
        ({"l2": 2.0}, Ridge(alpha=2.0, fit_intercept=bias)),
        (
            {"l1": 0.03 * N, "l2": 0.07 * N},
            ElasticNet(alpha=0.1, l1_ratio=0.3, tol=1e-10, fit_intercept=bias),
        ),
        ({}, LinearRegression(fit_intercept=bias)),
    ):
        fitted = estimator("numbers", 0.0, fit_intercept=bias, **ours).fit(X, y)
        other.fit(X, y)
        np.testing.assert_allclose(fitted.coef_, other.coef_, atol=1e-5)
        assert fitted.intercept_ == pytest.approx(other.intercept_, abs=1e-5)


def test_without_groups_every_column_is_one() -> None:
    fitted = estimator("numbers", 0.1 * N, groups=None).fit(X, OUTPUTS["numbers"])
    np.testing.assert_allclose(
        fitted.coef_, Lasso(0.1, tol=1e-10).fit(X, OUTPUTS["numbers"]).coef_, atol=1e-5
    )


def test_what_is_zero_is_zero() -> None:
    fitted = estimator("three", 6.0, groups=DISJOINT).fit(X, OUTPUTS["three"])
    assert 0 < len(fitted.active_groups_) < 4
    for m in range(4):
        assert bool(fitted.coef_[:, np.array(DISJOINT) == m].any()) == (m in fitted.active_groups_)


@pytest.mark.parametrize("kind", OUTPUTS)
def test_sample_weights_are_repetitions(kind: str) -> None:
    times = np.random.default_rng(3).integers(0, 3, N)
    weighed = estimator(kind, 1.0).fit(X, OUTPUTS[kind], sample_weight=times)
    repeated = estimator(kind, 1.0).fit(X.repeat(times, axis=0), OUTPUTS[kind].repeat(times))
    assert weighed.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    np.testing.assert_allclose(weighed.coef_, repeated.coef_, atol=1e-4)


def test_class_weights_are_sample_weights() -> None:
    y = OUTPUTS["two"]
    weights = np.where(y == 1, 3.0, 1.0)
    by_class = estimator("two", 1.0, class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    by_sample = estimator("two", 1.0).fit(X, y, sample_weight=weights)
    assert by_class.coef_.tobytes() == by_sample.coef_.tobytes()


@pytest.mark.parametrize("kind", OUTPUTS)
def test_threads_do_not_change_bits(kind: str) -> None:
    one, three = (
        estimator(kind, 1.0, n_jobs=jobs).fit(sparse.csr_matrix(X), OUTPUTS[kind]) for jobs in (1, 3)
    )
    assert one.coef_.tobytes() == three.coef_.tobytes()
    assert one.objective_ == three.objective_


# ---- groups ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", OUTPUTS)
def test_groups_in_all_three_forms_agree(kind: str) -> None:
    lists = [np.flatnonzero(np.array(DISJOINT) == m).tolist() for m in range(4)]
    forms = (
        DISJOINT,
        np.array(list("aaabbccccddd")),
        lists,
        [np.array(each) for each in lists],
        Groups.from_lists(lists, D),
    )
    fits = [estimator(kind, 2.0, groups=form).fit(X, OUTPUTS[kind]) for form in forms]
    assert len({fitted.coef_.tobytes() for fitted in fits}) == 1


def test_group_weights() -> None:
    y = OUTPUTS["numbers"]
    by_rule = estimator("numbers", 2.0, group_weight="sqrt").fit(X, y)
    given = estimator("numbers", 2.0, group_weight=np.sqrt([4, 4, 3, 3, 2])).fit(X, y)
    assert by_rule.coef_.tobytes() == given.coef_.tobytes()
    heavy = estimator("numbers", 2.0, group_weight=[1, 1, 1, 1, 1e3]).fit(X, y)
    assert not heavy.coef_[[0, 9]].any()
    assert heavy.coef_[1:4].all()


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (
            {"groups": "sentence"},
            "groups is 'sentence'; give lists of columns, one label for each column, or Groups",
        ),
        ({"groups": [[0, 12]]}, "group 0 has column 12, but columns of X go from 0 to 11"),
        ({"groups": [[0], [1, 1]]}, "group 1 has a feature twice"),
        ({"groups": [["a"]]}, "group 0 is .*; give the numbers of its columns, from 0 to 11"),
        ({"groups": [0, 1, 2]}, "groups has 3 labels, but X has 12 columns; give one for each column"),
        ({"groups": [0, [1, 2]]}, "both lists and single labels"),
        ({"groups": Groups.from_lists([[0]], 5)}, "the groups are of 5 columns, but X has 12"),
        ({"group_weight": "cube"}, "group_weight must be one of sqrt, log2, .*, not 'cube'"),
        ({"alpha": -1.0}, "alpha must be a number, zero or more, not -1.0"),
        ({"loss": "squared"}, "loss must be one of log, hinge, not 'squared'"),
        ({"tol": 0.0}, "tol must be a number above zero, not 0.0"),
        ({"max_iter": 0}, "max_iter must be a whole number, 1 or more"),
        ({"time_limit": -1}, "time_limit must be a number above zero"),
        ({"memory": "much"}, "'much' is not a size; give a number with a unit"),
        ({"resume": True}, "there is no checkpoint to resume from"),
        ({"solver": "simplex"}, "solver must be one of auto, .*, not 'simplex'"),
        ({"solver": "lbfgs"}, "the solver lbfgs needs a smooth penalty"),
        ({"n_jobs": 0}, "n_jobs must be a whole number and not 0"),
    ],
)
def test_mistakes(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ParsimonError, match=said) as caught:
        estimator("two", **parameters).fit(X, OUTPUTS["two"])
    assert str(caught.value).endswith(".")
    assert ". " not in str(caught.value)


def test_mistakes_with_data() -> None:
    with pytest.raises(ParsimonError, match=r"y has only one class, .*; a classifier needs two or more"):
        estimator("two").fit(X, np.ones(N, int))
    with pytest.raises(ParsimonError, match="sample_weight has numbers below zero"):
        estimator("two").fit(X, OUTPUTS["two"], sample_weight=np.full(N, -1.0))
    for alphas in ([], [0.0], [[1.0]]):
        with pytest.raises(ParsimonError, match="alphas must be numbers above zero"):
            estimator("two").path(X, OUTPUTS["two"], alphas)
    with pytest.raises(ParsimonError, match="eps is 2; give"):
        estimator("two").path(X, OUTPUTS["two"], eps=2)
    with pytest.raises(ParsimonError, match="n_alphas is 0; give at least 1"):
        estimator("two").path(X, OUTPUTS["two"], n_alphas=0)


# ---- paths and cross-validation ----------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "l1"), [("two", 0.0), ("three", 0.0), ("numbers", 0.5)])
def test_path(kind: str, l1: float) -> None:
    y = OUTPUTS[kind]
    path = estimator(kind, l1=l1).path(X, y, n_alphas=4)
    assert path.alphas[-1] == pytest.approx(0.01 * path.alphas[0])
    assert np.all(np.diff(path.alphas) < 0)
    assert path.coefs.shape == ((4, 3, D) if kind == "three" else (4, D))
    assert path.intercepts.shape == ((4, 3) if kind == "three" else (4,))
    assert not path.active[0].any()
    assert path.active[1].any()
    assert path.active[-1].sum() >= path.active[1].sum()
    for i in (0, 1, 3):  # those along the path are those from scratch
        cold = estimator(kind, path.alphas[i], l1=l1).fit(X, y)
        np.testing.assert_allclose(np.squeeze(cold.coef_), path.coefs[i], atol=2e-3)
        assert cold.gap_ + path.gaps[i] < 1e-4 * cold.objective_


@pytest.mark.parametrize("kind", OUTPUTS)
def test_max_alpha_is_where_groups_come_in(kind: str) -> None:
    y = OUTPUTS[kind]
    top = estimator(kind).max_alpha(X, y)
    for factor, empty in ((1.001, True), (0.98, False)):
        fitted = estimator(kind, factor * top).fit(X, y)
        assert (len(fitted.active_groups_) == 0) == empty
        assert np.any(np.atleast_2d(fitted.coef_)[:, 10:])  # these are in no group


@pytest.mark.parametrize("kind", OUTPUTS)
def test_warm_starts_end_where_cold_ones_do(kind: str) -> None:
    y = OUTPUTS[kind]
    cold = estimator(kind, 1.0).fit(X, y)
    warm = estimator(kind, 2.0, warm_start=True).fit(X, y)
    warm.set_params(alpha=1.0).fit(X, y)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-8)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-3)
    before = warm.n_iter_
    assert warm.fit(X, y).n_iter_ < before
    warm.set_params(groups=None).fit(X[:, :5], y)  # nothing that could be started from
    assert np.atleast_2d(warm.coef_).shape[1] == 5


# ---- runs and files ----------------------------------------------------------------------------------------


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


def search_of(kind: str, **parameters: Any) -> Any:
    made = OverlappingGroupLassoRegressorCV if kind == "numbers" else OverlappingGroupLassoClassifierCV
    return made(**{"groups": OVERLAPPING, "n_alphas": 4, "cv": 3, **parameters})


@pytest.mark.parametrize("kind", OUTPUTS)
def test_save_and_load(kind: str, tmp_path: Path) -> None:
    fitted = estimator(kind, 2.0, l1=0.1).fit(X, OUTPUTS[kind])
    fitted.save(tmp_path / "m")
    loaded = type(fitted).load(tmp_path / "m", tol=1e-3)
    assert np.array_equal(loaded.predict(X), fitted.predict(X))
    assert loaded.predict(X).dtype == fitted.predict(X).dtype
    assert np.array_equal(loaded.coef_, fitted.coef_)
    assert np.array_equal(loaded.intercept_, fitted.intercept_)
    assert loaded.active_groups_.tolist() == fitted.active_groups_.tolist()
    assert (loaded.alpha, loaded.l1, loaded.tol) == (2.0, 0.1, 1e-3)
    assert (loaded.objective_, loaded.gap_, loaded.n_iter_, loaded.status_) == (
        fitted.objective_,
        fitted.gap_,
        fitted.n_iter_,
        fitted.status_,
    )
    again = loaded.set_params(tol=1e-7).fit(X, OUTPUTS[kind])
    assert again.objective_ == pytest.approx(fitted.objective_, rel=1e-9)
    other = OverlappingGroupLassoClassifier if kind == "numbers" else OverlappingGroupLassoRegressor
    with pytest.raises(ParsimonError, match="so it is one of an OverlappingGroupLasso"):
        other.load(tmp_path / "m")


def test_parameters() -> None:
    for made in (OverlappingGroupLassoClassifier, OverlappingGroupLassoRegressor):
        assert made(3.0).alpha == 3.0
        with pytest.raises(TypeError):
            made(3.0, [[0]])
        assert {"time_limit", "checkpoint", "resume", "memory", "verbose", "n_jobs", "random_state"} <= set(
            made().get_params()
        )
    for made in (OverlappingGroupLassoClassifierCV, OverlappingGroupLassoRegressorCV):
        assert not {"alpha", "warm_start"} & set(made().get_params())
    for made in (
        OverlappingGroupLassoClassifier,
        OverlappingGroupLassoRegressor,
        OverlappingGroupLassoClassifierCV,
        OverlappingGroupLassoRegressorCV,
    ):
        assert all(f"\n{name} : " in str(made.__doc__) for name in made().get_params())


def test_the_hinge_loss_knows_no_probabilities() -> None:
    fitted = estimator("two", loss="hinge", tol=1e-3).fit(X, OUTPUTS["two"])
    assert fitted.score(X, OUTPUTS["two"]) > 0.8
    assert not hasattr(fitted, "predict_proba")
    assert hasattr(estimator("two"), "predict_proba")


@pytest.mark.parametrize("kind", OUTPUTS)
def test_development_data(kind: str) -> None:
    y = OUTPUTS[kind]
    fitted = estimator(kind, 0.1, solver="fista", patience=3).fit(X[:25], y[:25], dev=(X[25:], y[25:]))
    scores = [event["dev"] for event in fitted.history_]
    own = fitted.score(X[25:], y[25:])
    if kind == "numbers":
        own = -np.mean((fitted.predict(X[25:]) - y[25:]) ** 2)
    assert own == pytest.approx(max(scores), abs=1e-6)


def test_killed_and_resumed(tmp_path: Path) -> None:
    y = OUTPUTS["three"]
    whole = estimator("three", solver="fista").fit(X, y)
    safe: Any = {"solver": "fista", "checkpoint": tmp_path / "run", "checkpoint_every": 1e-9}
    with pytest.raises(Killed):
        estimator("three", callback=killer(4), **safe).fit(X, y)
    seen: list[Any] = []
    resumed = estimator("three", callback=seen.append, resume=True, **safe).fit(X, y)
    assert seen[0].iteration == 4
    assert resumed.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    np.testing.assert_allclose(resumed.coef_, whole.coef_, atol=1e-4)


def test_ctrl_c_gives_the_best_so_far() -> None:
    fitted = estimator("two", solver="fista", tol=1e-12, callback=interrupt_at(3)).fit(X, OUTPUTS["two"])
    assert "interrupted" in fitted.status_
    assert fitted.n_iter_ in (4, 5)
    for kind in OUTPUTS:
        search = search_of(kind, solver="fista", callback=interrupt_at(30)).fit(X, OUTPUTS[kind])
        assert "interrupted" in search.status_
        scores = search.mse_path_ if kind == "numbers" else search.score_path_
        assert np.isnan(scores).any()
        assert np.isfinite(scores[search.alphas_ == search.alpha_]).any()
        assert search.predict(X).shape == (N,)


def test_limits_of_time() -> None:
    assert "time limit" in estimator("two", time_limit=1e-9, tol=1e-12).fit(X, OUTPUTS["two"]).status_
    search = search_of("two", time_limit=1e-9).fit(X, OUTPUTS["two"])
    assert "time limit" in search.status_
    assert np.isfinite(search.score_path_).sum() == 1
    assert len(estimator("two", time_limit=1e-9).path(X, OUTPUTS["two"]).alphas) == 1


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    estimator("two").fit(X, OUTPUTS["two"])
    assert not capsys.readouterr().err
    seen: list[Any] = []
    estimator("two", verbose=1, callback=seen.append).fit(X, OUTPUTS["two"])
    assert "objective" in capsys.readouterr().err
    assert seen
