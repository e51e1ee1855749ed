"""The strength of an overlapping group lasso, chosen by cross-validation."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from parsimon.errors import ParsimonError
from parsimon.estimators import (
    OverlappingGroupLassoClassifier,
    OverlappingGroupLassoClassifierCV,
    OverlappingGroupLassoRegressor,
    OverlappingGroupLassoRegressorCV,
)

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


def test_cross_validation_of_classes() -> None:
    y = OUTPUTS["three"]
    search = OverlappingGroupLassoClassifierCV(groups=DISJOINT, n_alphas=4, cv=3, scoring="neg_log_loss")
    search.set_params(eps=0.1).fit(X, y)
    assert search.score_path_.shape == (4, 3)
    assert search.alpha_ == search.alphas_[np.argmax(search.score_path_.mean(axis=1))]
    assert search.alphas_[0] == pytest.approx(estimator("three", groups=DISJOINT).max_alpha(X, y))
    again = estimator("three", search.alpha_, tol=search.tol, groups=DISJOINT).fit(X, y)
    np.testing.assert_allclose(search.coef_, again.coef_, atol=1e-10)
    assert search.score(X, y) == again.score(X, y)


def test_cross_validation_of_numbers() -> None:
    y = OUTPUTS["numbers"]
    search = OverlappingGroupLassoRegressorCV(alphas=[1.0, 50.0, 5.0], groups=DISJOINT, cv=2).fit(X, y)
    assert search.alphas_.tolist() == [50.0, 5.0, 1.0]
    assert search.alpha_ == search.alphas_[np.argmin(search.mse_path_.mean(axis=1))]
    grid = GridSearchCV(
        estimator("numbers", groups=DISJOINT),
        {"alpha": [50.0, 5.0, 1.0]},
        cv=2,
        scoring="neg_mean_squared_error",
    ).fit(X, y)
    np.testing.assert_allclose(-grid.cv_results_["mean_test_score"], search.mse_path_.mean(axis=1), rtol=1e-3)


def test_cross_validation_prefers_the_larger_of_equals() -> None:
    y = OUTPUTS["two"]
    search = OverlappingGroupLassoClassifierCV(alphas=[1e6, 1e5], groups=DISJOINT, cv=3).fit(X, y)
    assert search.alpha_ == 1e6


def test_cross_validation_with_weights() -> None:
    y, weights = OUTPUTS["numbers"], np.random.default_rng(1).uniform(0.5, 2.0, N)
    parameters: Any = {"alphas": [5.0], "groups": DISJOINT, "cv": 2}
    plain = OverlappingGroupLassoRegressorCV(**parameters).fit(X, y, sample_weight=np.ones(N))
    weighed = OverlappingGroupLassoRegressorCV(**parameters).fit(X, y, sample_weight=weights)
    train, test = np.arange(N // 2, N), np.arange(N // 2)
    other = estimator("numbers", 5.0, groups=DISJOINT).fit(X[train], y[train], weights[train])
    error = np.average((other.predict(X[test]) - y[test]) ** 2, weights=weights[test])
    assert weighed.mse_path_[0, 0] == pytest.approx(error, rel=1e-4)
    assert plain.mse_path_[0, 0] != pytest.approx(error, rel=1e-4)


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


def search_of(kind: str, **parameters: Any) -> Any:
    made = OverlappingGroupLassoRegressorCV if kind == "numbers" else OverlappingGroupLassoClassifierCV
    return made(**{"groups": OVERLAPPING, "n_alphas": 4, "cv": 3, **parameters})


def test_what_was_chosen_is_saved(tmp_path: Path) -> None:
    for kind in OUTPUTS:
        search = search_of(kind, group_weight=[1, 2, 1, 2, 1]).fit(X, OUTPUTS[kind])
        search.save(tmp_path / "m")
        assert np.array_equal(type(search).load(tmp_path / "m").predict(X), search.predict(X))
        one = type(estimator(kind)).load(tmp_path / "m")
        assert one.alpha == search.alpha_
        assert one.groups_.weight.tolist() == [1, 2, 1, 2, 1]
        assert pickle.loads(pickle.dumps(search)).alpha_ == search.alpha_


@pytest.mark.parametrize("kind", OUTPUTS)
def test_cross_validation_is_killed_and_resumed(kind: str, tmp_path: Path) -> None:
    y = OUTPUTS[kind]
    counted: list[Any] = []
    whole = search_of(kind, callback=counted.append).fit(X, y)
    safe: Any = {"checkpoint": tmp_path / "run", "checkpoint_every": 1e-9}
    with pytest.raises(Killed):
        search_of(kind, callback=killer(len(counted) // 2), **safe).fit(X, y)
    seen: list[Any] = []
    resumed = search_of(kind, callback=seen.append, resume=True, **safe).fit(X, y)
    assert 0 < len(seen) < len(counted)
    assert resumed.alpha_ == whole.alpha_
    assert resumed.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
        search_of(kind, cv=4, resume=True, **safe).fit(X, y)  # other folds
