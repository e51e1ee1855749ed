"""Overlapping group lasso for any matrix and any groups: the scikit-learn face of training on matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.estimators.estimator import Estimator, check_pair, documented
from parsimon.estimators.flat_weights import LinearClassifier, check_classes, instance_weights, validated
from parsimon.losses import Loss
from parsimon.penalties.groups import Groups
from parsimon.tasks.matrices.column_groups import as_groups
from parsimon.tasks.matrices.inspect import active_groups
from parsimon.tasks.matrices.model import MatrixModel
from parsimon.tasks.matrices.options import MatrixOptions
from parsimon.tasks.matrices.training import MatrixTraining, Rows, numbered
from parsimon.tasks.options import LEARNING, RUNNING, changed, option


class GroupPath(NamedTuple):
    """Solutions for falling alphas. `coefs` are (alphas, columns), with three or more classes (alphas, classes, …)."""

    alphas: Array
    coefs: Array
    intercepts: Array
    gaps: Array  # how far above the optimum each is at most
    active: BoolArray  # (alphas, groups): which groups have a weight that is not zero


@dataclass(kw_only=True, eq=False, repr=False)
class BaseOverlappingGroupLasso(MatrixOptions, Estimator):
    """What classification and regression share."""

    training_class: ClassVar[type[MatrixTraining]] = MatrixTraining
    model_class: ClassVar[type[MatrixModel]] = MatrixModel
    numbers: ClassVar[bool] = False  # whether outputs are numbers

    alpha: float = changed(MatrixOptions, "alpha", 1.0, positional=True)
    warm_start: bool = option(False, "Start from the weights of the previous fit.", RUNNING)

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

        `alphas` go from the smallest at which all groups are zero down to `eps` times that, if none are given. Ctrl-C
        or the time limit ends the path early.
        """
        rows = self._checked_rows(X, y, sample_weight)
        steps = self._training().path(
            rows.X, rows.y, alphas, n_alphas=n_alphas, eps=eps, weights=rows.weights
        )
        models = [model for _, model in steps]
        gaps = [model.info["gap"] for model in models]
        groups = as_groups(self.groups, models[0].n_columns, self.group_weight)
        return GroupPath(
            np.array([alpha for alpha, _ in steps]),
            np.stack([model.coef[0] if model.width == 1 else model.coef for model in models]),
            np.stack([m.intercepts[0] if m.width == 1 else m.intercepts for m in models]),
            np.array([np.nan if gap is None else gap for gap in gaps]),
            np.stack([active_groups(groups, model.coef) for model in models]),
        )

    def max_alpha(self, X: Any, y: Any, *, sample_weight: Any = None) -> float:
        """The smallest alpha at which all groups are zero."""
        rows = self._checked_rows(X, y, sample_weight)
        return float(self._training().max_alpha(rows.X, rows.y, weights=rows.weights))

    @property
    def coef_(self) -> Array:
        """The weights of all columns."""
        coef: Array = self._fitted().coef
        return coef[0] if self.numbers else coef

    @property
    def intercept_(self) -> Any:
        """The intercepts: one for each row of `coef_`."""
        intercepts = self._fitted().intercepts
        return intercepts[0] if self.numbers else intercepts

    @property
    def groups_(self) -> Groups:
        """The groups of columns."""
        model = self._fitted()
        if model.groups is not None:
            return model.groups  # type: ignore[no-any-return]
        return as_groups(None, model.n_columns, self.group_weight)

    @property
    def active_groups_(self) -> IntArray:
        """The numbers of the groups that have a weight other than zero."""
        return np.flatnonzero(active_groups(self.groups_, self._fitted().coef))

    def _learn(self, rows: Rows, dev: tuple[Any, Any] | None) -> None:
        start = self.model_ if self.warm_start and self.__sklearn_is_fitted__() else None
        self._fit(rows, dev=self._checked_dev(dev), start=start)

    def _training(self, **more: Any) -> Any:
        self.check()  # an estimator has fewer losses than the training
        return super()._training(**more)

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """What to learn from."""
        return Rows(X, y, instance_weights(sample_weight, None, X, y))

    def _checked_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        if not self.numbers:
            check_classes(y)
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64, y_numeric=self.numbers)
        return self._rows(X, y, sample_weight)

    def _checked_dev(self, dev: tuple[Any, Any] | None) -> tuple[Any, Any] | None:
        check_pair(dev)
        if dev is None:
            return None
        return validated(self, dev[0], reset=False, accept_sparse="csr", dtype=np.float64), dev[1]

    def _margins(self, X: Any) -> Array:
        model = self._fitted()
        X = validated(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        margins: Array = model.margins(X)
        return margins

    def _take(self, model: MatrixModel) -> None:
        if (model.classes is None) != self.numbers:
            made, other = ("numbers", "Regressor") if model.classes is None else ("classes", "Classifier")
            raise ParsimonError(
                f"the model predicts {made}, so it is one of an OverlappingGroupLasso{other}; load it there."
            )
        super()._take(model)
        self.gap_ = model.info.get("gap")
        self.n_features_in_ = model.n_columns

    @classmethod
    def _settings_of(cls, model: MatrixModel) -> dict[str, Any]:
        known = ("alpha", "l1", "l2", "fit_intercept", "group_weight", "loss")
        settings = {name: model.info[name] for name in known if model.info.get(name) is not None}
        if settings.get("group_weight") == "given":  # the groups have them
            del settings["group_weight"]
        return {**settings, "groups": model.groups}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@documented
@dataclass(eq=False, repr=False)
class OverlappingGroupLassoClassifier(LinearClassifier, BaseOverlappingGroupLasso):
    """Logistic regression in which whole groups of columns are zero or not; a column may be in several groups.

    Minimises Σ log loss + alpha Σ_g d_g ‖w_g‖ + l1 ‖w‖₁ + l2/2 ‖w‖²; the intercept is not penalised. A column whose
    weight is not zero is in no group that is zero. With three or more classes there is a softmax, and a group has the
    weights of all classes, so columns are chosen for all classes at once.

    The loss is a *sum* over samples, not a mean. So scikit-learn's ``C`` is 1/l1 (for its L1 penalty) or 1/l2 (for its
    L2 penalty); and strengths of a library whose loss is a mean are multiplied by the number of samples.

    Attributes
    ----------
    classes_, coef_, intercept_
        As of scikit-learn's ``LogisticRegression``.
    groups_ : Groups
        The groups of columns.
    active_groups_ : array
        The numbers of those that are not zero.
    objective_, gap_, n_iter_, status_
        The value reached, how far above the optimum it is at most (``None``: not known), after how many iterations,
        and why training ended there.
    model_ : MatrixModel
        What `save` writes.

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

    loss: str | Loss = changed(
        MatrixOptions,
        "loss",
        "log",
        help="The loss. 'log' is logistic regression; 'hinge' is a support vector machine, which has no probabilities.",
        choices=("log", "hinge"),
    )
    class_weight: Mapping[Any, float] | str | None = option(
        None,
        "The weight of each class; 'balanced' gives all classes the same total weight.",
        LEARNING,
        from_python_only=True,
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Learns from the rows of X and their classes.

        `dev` is a pair (X, y) for early stopping: the weights with the best score on it are kept.
        """
        check_classes(y)
        X, y = validated(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        classes, _ = numbered(y)
        self._learn(self._rows(X, y, sample_weight), dev)
        self.classes_ = classes
        return self

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        return Rows(X, y, instance_weights(sample_weight, self.class_weight, X, y))

    def _take(self, model: MatrixModel) -> None:
        super()._take(model)
        self.classes_ = model.class_values


@documented
@dataclass(eq=False, repr=False)
class OverlappingGroupLassoRegressor(RegressorMixin, BaseOverlappingGroupLasso):
    """Least squares in which whole groups of columns are zero or not; a column may be in several groups.

    Minimises Σ ½ (y − ŷ)² + alpha Σ_g d_g ‖w_g‖ + l1 ‖w‖₁ + l2/2 ‖w‖²; the intercept is not penalised. A column whose
    weight is not zero is in no group that is zero.

    The loss is a *sum* over the n samples, not a mean. So `l2` is the ``alpha`` of scikit-learn's ``Ridge``, `l1` is n
    times that of its ``Lasso``, and its ``ElasticNet`` has l1 = n·alpha·l1_ratio and l2 = n·alpha·(1 − l1_ratio).

    Attributes
    ----------
    coef_, intercept_
        As of scikit-learn's ``Lasso``.
    groups_, active_groups_, objective_, gap_, n_iter_, status_, model_
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

    numbers: ClassVar[bool] = True

    loss: str | Loss = changed(
        MatrixOptions, "loss", "squared", help="The loss, which is the squared loss.", choices=("squared",)
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Learns from the rows of X and their numbers.

        `dev` is a pair (X, y) for early stopping: the weights with the best score on it are kept.
        """
        X, y = validated(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        self._learn(self._rows(X, y, sample_weight), dev)
        return self

    def predict(self, X: Any) -> Array:
        """The number expected for each row."""
        return self._margins(X)[:, 0]
