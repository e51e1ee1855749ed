"""Overlapping group lasso whose strength is chosen by cross-validation along its path."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from parsimon.arrays import Array
from parsimon.estimators.flat_weights import numbered
from parsimon.estimators.overlapping_group_lasso import (
    BaseOverlappingGroupLasso,
    GroupPath,
    OverlappingGroupLassoClassifier,
    OverlappingGroupLassoRegressor,
)
from parsimon.penalties.groups import Rule
from parsimon.solvers import Event, Solver


class _ByCrossValidation(BaseOverlappingGroupLasso):
    """What the choice of a strength is for classification and regression alike."""

    warm_start = False
    alphas: Sequence[float] | Array | None
    n_alphas: int
    eps: float
    cv: Any

    def _fit_best(self, X: Any, y: Any, sample_weight: Any, scoring: Any) -> Array:
        """Fits with the alpha that is best on average, of equals the largest; all scores, (alphas, folds)."""
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        self.alphas_ = self._strengths(X, y, weights)
        folds = list(check_cv(self.cv, y, classifier=self._loss == "log").split(X, y))
        scores = np.stack(
            [self._scores(X, y, weights, train, test, scoring) for train, test in folds], axis=1
        )
        self.alpha_ = float(self.alphas_[np.argmax(scores.mean(axis=1))])
        self._fit(X, y, self.alpha_, weights)
        return scores

    def _strengths(self, X: Any, y: Any, weights: Array | None) -> Array:
        if self.alphas is not None:
            return np.sort(np.asarray(self.alphas, np.float64).reshape(-1))[::-1]
        training = self._training(X.shape[1])
        return training.alphas(self._problem(training, X, y, 1.0, weights), self.n_alphas, self.eps)

    def _scores(self, X: Any, y: Any, weights: Array | None, train: Any, test: Any, scoring: Any) -> Array:
        """How well the weights of the path on one part of the data do on the other."""
        mine = None if weights is None else weights[train]
        path = self._path(_safe_indexing(X, train), y[train], self.alphas_, 0, 0.0, mine)
        scorer, counted = (
            check_scoring(self, scoring),
            {} if weights is None else {"sample_weight": weights[test]},
        )
        left = _safe_indexing(X, test)
        return np.array([scorer(each, left, y[test], **counted) for each in self._along(path, y[train])])

    def _along(self, path: GroupPath, y: Any) -> Iterator[Any]:
        """The estimator as it would be with the weights of each alpha."""
        for coef, intercept in zip(path.coefs, path.intercepts, strict=True):
            fitted = copy.copy(self)
            fitted._take_weights(np.atleast_2d(coef), np.atleast_1d(intercept))
            fitted.classes_ = np.unique(y)
            yield fitted


class OverlappingGroupLassoClassifierCV(_ByCrossValidation, OverlappingGroupLassoClassifier):
    """`OverlappingGroupLassoClassifier` whose `alpha` is chosen by cross-validation.

    Parameters
    ----------
    alphas : numbers or None
        What to choose from. ``None``: `n_alphas` of them, from the smallest at which all groups are zero down to `eps`
        times that.
    cv : int, splitter, splits or None
        As of scikit-learn's ``LogisticRegressionCV``; 5 folds by default.
    scoring : str, callable or None
        What is to be large, for instance ``"neg_log_loss"``; accuracy by default. Of equals the larger alpha is taken.
    groups, group_weight, l1, l2, fit_intercept, class_weight, solver, tol, max_iter, n_jobs, callback
        As of `OverlappingGroupLassoClassifier`.

    Attributes
    ----------
    alpha_, alphas_
        The one chosen, and all of them, falling.
    score_path_ : array
        (alphas, folds).

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon.estimators import OverlappingGroupLassoClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> search = OverlappingGroupLassoClassifierCV(groups=[[0, 1, 2], [2, 3], [3, 4, 5]], n_alphas=5).fit(X, y)
    >>> search.score_path_.shape, bool(search.alpha_ < search.alphas_[0])
    ((5, 5), True)
    """

    def __init__(
        self,
        *,
        alphas: Sequence[float] | Array | None = None,
        n_alphas: int = 30,
        eps: float = 1e-2,
        cv: Any = None,
        scoring: str | Callable[..., float] | None = None,
        groups: Any = None,
        group_weight: Rule = "sqrt",
        l1: float = 0.0,
        l2: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | Solver = "auto",
        tol: float = 1e-5,
        max_iter: int = 5000,
        n_jobs: int | None = None,
        callback: Callable[[Event], Any] | None = None,
    ) -> None:
        self.alphas = alphas
        self.n_alphas = n_alphas
        self.eps = eps
        self.cv = cv
        self.scoring = scoring
        self.groups = groups
        self.group_weight = group_weight
        self.l1 = l1
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OverlappingGroupLassoClassifierCV:
        """Chooses alpha, and learns from the rows of X and their classes."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        classes, _ = numbered(y)
        self.score_path_ = self._fit_best(X, y, sample_weight, self.scoring)
        self.classes_ = classes
        return self


class OverlappingGroupLassoRegressorCV(_ByCrossValidation, OverlappingGroupLassoRegressor):
    """`OverlappingGroupLassoRegressor` whose `alpha` is chosen by cross-validation.

    Parameters
    ----------
    alphas, n_alphas, eps
        As of `OverlappingGroupLassoClassifierCV`.
    cv : int, splitter, splits or None
        As of scikit-learn's ``LassoCV``; 5 folds by default.
    groups, group_weight, l1, l2, fit_intercept, solver, tol, max_iter, n_jobs, callback
        As of `OverlappingGroupLassoRegressor`.

    Attributes
    ----------
    alpha_, alphas_
        The one chosen, which has the smallest mean squared error, and all of them, falling.
    mse_path_ : array
        (alphas, folds).

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon.estimators import OverlappingGroupLassoRegressorCV
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> y = 2 * X[:, 0] + X[:, 1] + 5
    >>> search = OverlappingGroupLassoRegressorCV(groups=[[0, 1, 2], [2, 3], [3, 4, 5]], n_alphas=5).fit(X, y)
    >>> bool(search.alpha_ == search.alphas_[np.argmin(search.mse_path_.mean(axis=1))])
    True
    """

    def __init__(
        self,
        *,
        alphas: Sequence[float] | Array | None = None,
        n_alphas: int = 30,
        eps: float = 1e-2,
        cv: Any = None,
        groups: Any = None,
        group_weight: Rule = "sqrt",
        l1: float = 0.0,
        l2: float = 0.0,
        fit_intercept: bool = True,
        solver: str | Solver = "auto",
        tol: float = 1e-5,
        max_iter: int = 5000,
        n_jobs: int | None = None,
        callback: Callable[[Event], Any] | None = None,
    ) -> None:
        self.alphas = alphas
        self.n_alphas = n_alphas
        self.eps = eps
        self.cv = cv
        self.groups = groups
        self.group_weight = group_weight
        self.l1 = l1
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OverlappingGroupLassoRegressorCV:
        """Chooses alpha, and learns from the rows of X and their numbers."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        self.mse_path_ = -self._fit_best(X, y, sample_weight, "neg_mean_squared_error")
        return self
