"""Overlapping group lasso for anyone's matrix and groups: the scikit-learn face of group training."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y, validate_data

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.estimators.flat_weights import as_coefficients, as_weights, instance_weights, numbered
from parsimon.estimators.threads import threads_of
from parsimon.penalties.groups import Groups, Rule
from parsimon.problem import Problem
from parsimon.solvers import Event, Result, Solver, Status, Weights
from parsimon.tasks.documents.model import log_softmax
from parsimon.tasks.documents.training import best_labels
from parsimon.tasks.matrices.column_groups import as_groups
from parsimon.tasks.matrices.group_training import GroupTraining
from parsimon.tasks.matrices.training import FlatTraining


class GroupPath(NamedTuple):
    """Solutions for falling alphas. `coefs` are (alphas, columns), with three or more classes (alphas, classes, …)."""

    alphas: Array
    coefs: Array
    intercepts: Array
    gaps: Array  # how far above the optimum each is at most
    active: BoolArray  # (alphas, groups): which groups have a weight that is not zero


class BaseOverlappingGroupLasso(BaseEstimator):
    """What classification and regression share."""

    _loss: str

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        groups: Any = None,
        group_weight: Rule = "sqrt",
        l1: float = 0.0,
        l2: float = 0.0,
        fit_intercept: bool = True,
        solver: str | Solver = "auto",
        tol: float = 1e-5,
        max_iter: int = 5000,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Callable[[Event], Any] | None = None,
    ) -> None:
        self.alpha = alpha
        self.groups = groups
        self.group_weight = group_weight
        self.l1 = l1
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def path(
        self,
        X: Any,
        y: Any,
        alphas: Sequence[float] | Array | None = None,
        *,
        n_alphas: int = 30,
        eps: float = 1e-2,
        sample_weight: Any = None,
    ) -> GroupPath:
        """Solutions for many strengths of the groups, each started from the one before; the estimator stays as it is.

        `alphas` go from the smallest at which all groups are zero down to `eps` times that, if none are given.
        """
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64, y_numeric=self._loss == "squared")
        return self._path(X, y, alphas, n_alphas, eps, sample_weight)

    def max_alpha(self, X: Any, y: Any, *, sample_weight: Any = None) -> float:
        """The smallest alpha at which all groups are zero."""
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64, y_numeric=self._loss == "squared")
        training = self._training(X.shape[1])
        return training.max_alpha(self._problem(training, X, y, 1.0, sample_weight))

    @property
    def active_groups_(self) -> IntArray:
        """The numbers of the groups that have a weight other than zero."""
        self._check_fitted()
        return np.flatnonzero(active_groups(self.groups_, self.coef_))

    def _fit(self, X: Any, y: Any, alpha: float, sample_weight: Any) -> None:
        training = self._training(X.shape[1])
        problem = self._problem(training, X, y, alpha, sample_weight)
        callbacks = () if self.callback is None else (self.callback,)
        result = training.solve(problem, self._start(problem), callbacks)
        if result.status is Status.ITERATIONS:
            warnings.warn(
                f"{type(self).__name__} is not at its optimum after {self.max_iter} iterations: the objective may be "
                f"{result.gap:.2g} above it; give it more (max_iter), or be content with less (tol).",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.groups_ = training.groups
        self._take(result, problem)

    def _take(self, result: Result, problem: Problem) -> None:
        self._take_weights(*self._coefficients(result, problem))
        self.objective_ = result.objective
        self.gap_ = result.gap
        self.history_ = result.history
        self.n_iter_ = len(result.history)

    def _take_weights(self, coef: Array, intercept: Array) -> None:
        self.coef_, self.intercept_ = coef, intercept

    def _coefficients(self, result: Result, problem: Problem) -> tuple[Array, Array]:
        design: Any = problem.batches[0].design
        n_columns = problem.n_features // design.width - self.fit_intercept
        return as_coefficients(result.weights, n_columns, design.width, bias=self.fit_intercept)

    def _path(self, X: Any, y: Any, alphas: Any, n_alphas: int, eps: float, sample_weight: Any) -> GroupPath:
        training = self._training(X.shape[1])
        problem = self._problem(training, X, y, 1.0, sample_weight)
        chosen = training.alphas(problem, n_alphas, eps) if alphas is None else np.asarray(alphas, np.float64)
        if chosen.ndim != 1 or not len(chosen) or not np.all(chosen > 0):
            raise ParsimonError("alphas must be numbers above zero, one or more.")
        steps = list(training.path(problem, chosen))
        weights = [self._coefficients(result, problem) for _, result in steps]
        coefs = np.stack([coef[0] if len(coef) == 1 else coef for coef, _ in weights])
        intercepts = np.stack([each[0] if len(each) == 1 else each for _, each in weights])
        return GroupPath(
            np.array([alpha for alpha, _ in steps]),
            coefs,
            intercepts,
            np.array([np.nan if result.gap is None else result.gap for _, result in steps]),
            np.stack([active_groups(training.groups, coef) for coef in coefs]),
        )

    def _training(self, n_columns: int) -> GroupTraining:
        flat = FlatTraining(self._loss, self.solver, self.tol, self.max_iter, threads=threads_of(self.n_jobs))
        groups = as_groups(self.groups, n_columns, self.group_weight)
        return GroupTraining(groups, flat, self.l1, self.l2, self.fit_intercept)

    def _problem(self, training: GroupTraining, X: Any, y: Any, alpha: float, sample_weight: Any) -> Problem:
        raise NotImplementedError

    def _start(self, problem: Problem) -> Weights | None:
        """The weights of the last fit, if there are as many now."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        start = as_weights(self.coef_, self.intercept_, bias=self.fit_intercept)
        return start if start.n_features == problem.n_features else None

    def _margins(self, X: Any) -> Any:
        self._check_fitted()
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return X @ self.coef_.T + self.intercept_

    def _check_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first.")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class OverlappingGroupLassoClassifier(ClassifierMixin, BaseOverlappingGroupLasso):
    """Logistic regression in which whole groups of columns are zero or not; a column may be in several groups.

    Minimises Σ log loss + alpha Σ_g d_g ‖w_g‖ + l1 ‖w‖₁ + l2/2 ‖w‖²; the intercept is not penalised. A column whose
    weight is not zero is in no group that is zero. With three or more classes there is a softmax, and a group has the
    weights of all classes, so columns are chosen for all classes at once.

    The loss is a *sum* over samples, not a mean. So scikit-learn's ``C`` is 1/l1 (for its L1 penalty) or 1/l2 (for its
    L2 penalty); and strengths of a library whose loss is a mean are multiplied by the number of samples.

    Parameters
    ----------
    alpha : float
        Strength of the groups.
    groups : lists of columns, a label for each column, Groups or None
        Lists may overlap. Columns in no group have the l1 and l2 terms alone. ``None``: each column is a group.
    group_weight : {"sqrt", "log2", "log2^1.5", "sqrt-log2", "ones"} or numbers
        d_g, by the number of columns, or as given; `Groups` have weights of their own.
    l1, l2 : float
        Strengths of the penalty on single weights.
    fit_intercept : bool
        Whether there is an intercept.
    class_weight : dict, "balanced" or None
        How much each class counts.
    solver : str or Solver
        ``auto``, or one of `parsimon.solvers.SOLVERS`: ``block-working-set``, ``fista``, ``admm``. (ADMM makes groups
        small, but not exactly zero.)
    tol, max_iter
        When to stop: optimality tolerance (by the largest violation at zero weights; with ``admm`` the duality gap, by
        the objective), and iterations.
    warm_start : bool
        Start from the weights of the last fit.
    n_jobs : int or None
        Threads; the result does not depend on them.
    callback : callable or None
        Called with every training `Event`.

    Attributes
    ----------
    classes_, coef_, intercept_
        As of scikit-learn's ``LogisticRegression``.
    groups_ : Groups
        The groups of columns.
    active_groups_ : array
        The numbers of those that are not zero.
    objective_, gap_, n_iter_
        The value reached, how far above the optimum it is at most, and after how many iterations.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon.estimators import OverlappingGroupLassoClassifier
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> groups = [[0, 1, 2], [2, 3], [3, 4, 5]]
    >>> classifier = OverlappingGroupLassoClassifier(alpha=4.0, groups=groups, group_weight="ones").fit(X, y)
    >>> classifier.active_groups_.tolist(), np.flatnonzero(classifier.coef_).tolist()
    ([0], [0, 1])
    """

    _loss = "log"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        groups: Any = None,
        group_weight: Rule = "sqrt",
        l1: float = 0.0,
        l2: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str | Solver = "auto",
        tol: float = 1e-5,
        max_iter: int = 5000,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Callable[[Event], Any] | None = None,
    ) -> None:
        super().__init__(
            alpha,
            groups=groups,
            group_weight=group_weight,
            l1=l1,
            l2=l2,
            fit_intercept=fit_intercept,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            n_jobs=n_jobs,
            callback=callback,
        )
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OverlappingGroupLassoClassifier:
        """Learns from the rows of X and their classes."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        classes, _ = numbered(y)
        if not np.array_equal(getattr(self, "classes_", ()), classes):
            self.__dict__.pop("coef_", None)  # nothing to start from
        self.classes_ = classes
        self._fit(X, y, self.alpha, sample_weight)
        return self

    def decision_function(self, X: Any) -> Array:
        """The score of the second class, or of each if there are more than two."""
        margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins  # type: ignore[no-any-return]

    def predict(self, X: Any) -> Any:
        """The best class of each row."""
        best = best_labels(self._margins(X))
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Array:
        """P(class | row), in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | row)."""
        margins = self._margins(X)
        if margins.shape[1] == 1:
            margins = np.concatenate([np.zeros_like(margins), margins], axis=1)
        return log_softmax(margins)

    def _problem(self, training: GroupTraining, X: Any, y: Any, alpha: float, sample_weight: Any) -> Problem:
        classes, gold = numbered(y)
        weights = instance_weights(sample_weight, self.class_weight, X, y)
        return training.problem(X, gold, len(classes), alpha, weights)


class OverlappingGroupLassoRegressor(RegressorMixin, BaseOverlappingGroupLasso):
    """Least squares in which whole groups of columns are zero or not; a column may be in several groups.

    Minimises Σ ½ (y − ŷ)² + alpha Σ_g d_g ‖w_g‖ + l1 ‖w‖₁ + l2/2 ‖w‖²; the intercept is not penalised. A column whose
    weight is not zero is in no group that is zero.

    The loss is a *sum* over the n samples, not a mean. So `l2` is the ``alpha`` of scikit-learn's ``Ridge``, `l1` is n
    times that of its ``Lasso``, and its ``ElasticNet`` has l1 = n·alpha·l1_ratio and l2 = n·alpha·(1 − l1_ratio).

    Parameters
    ----------
    alpha : float
        Strength of the groups.
    groups : lists of columns, a label for each column, Groups or None
        Lists may overlap. Columns in no group have the l1 and l2 terms alone. ``None``: each column is a group.
    group_weight : {"sqrt", "log2", "log2^1.5", "sqrt-log2", "ones"} or numbers
        d_g, by the number of columns, or as given; `Groups` have weights of their own.
    l1, l2 : float
        Strengths of the penalty on single weights.
    fit_intercept : bool
        Whether there is an intercept.
    solver, tol, max_iter, warm_start, n_jobs, callback
        As of `OverlappingGroupLassoClassifier`.

    Attributes
    ----------
    coef_, intercept_
        As of scikit-learn's ``Lasso``.
    groups_, active_groups_, objective_, gap_, n_iter_
        As of `OverlappingGroupLassoClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon.estimators import OverlappingGroupLassoRegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> y = 2 * X[:, 0] + X[:, 1] + 5
    >>> regressor = OverlappingGroupLassoRegressor(alpha=5.0, groups=["a", "a", "b", "b", "c", "c"]).fit(X, y)
    >>> [regressor.groups_.name(g) for g in regressor.active_groups_]
    ['a']
    >>> path = regressor.path(X, y, n_alphas=5)
    >>> path.active.sum(axis=1).tolist()
    [0, 1, 1, 1, 1]
    """

    _loss = "squared"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OverlappingGroupLassoRegressor:
        """Learns from the rows of X and their numbers."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        self._fit(X, y, self.alpha, sample_weight)
        return self

    def predict(self, X: Any) -> Array:
        """The number expected for each row."""
        return np.asarray(self._margins(X))

    def _take_weights(self, coef: Array, intercept: Any) -> None:
        self.coef_, self.intercept_ = coef[0], intercept[0]

    def _problem(self, training: GroupTraining, X: Any, y: Any, alpha: float, sample_weight: Any) -> Problem:
        weights = instance_weights(sample_weight, None, X, y)
        return training.problem(X, np.asarray(y, np.float64), 1, alpha, weights)


def active_groups(groups: Groups, coef: Array) -> BoolArray:
    """Which groups have a weight other than zero, for any class."""
    used = np.any(np.atleast_2d(coef) != 0, axis=0)
    return groups.reduce(used.astype(np.float64)) > 0
