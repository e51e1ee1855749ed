"""Overlapping group lasso whose strength is chosen by cross-validation along its path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets

from parsimon.arrays import Array
from parsimon.estimators.estimator import documented
from parsimon.estimators.flat_weights import check_classes, instance_weights, validated
from parsimon.estimators.overlapping_group_lasso import (
    BaseOverlappingGroupLasso,
    OverlappingGroupLassoClassifier,
    OverlappingGroupLassoRegressor,
)
from parsimon.losses import Loss
from parsimon.tasks.matrices.model import MatrixModel
from parsimon.tasks.matrices.training import MatrixTraining, Rows, cut_short, falling, numbered
from parsimon.tasks.options import CHOOSING, changed, option
from parsimon.tasks.training import Run


@dataclass(kw_only=True, eq=False, repr=False)
class _ByCrossValidation(BaseOverlappingGroupLasso):
    """What the choice of a strength is for classification and regression alike."""

    alpha: ClassVar[float] = 1.0  # type: ignore[misc]  # it is chosen
    warm_start: ClassVar[bool] = False  # type: ignore[misc]
    tune: ClassVar[bool] = False  # type: ignore[misc]  # by scikit-learn's folds
    folds: ClassVar[int] = 5  # type: ignore[misc]
    tune_rule: ClassVar[str] = "best"  # type: ignore[misc]

    alphas: Sequence[float] | Array | None = option(
        None,
        "The strengths to choose from. None: `n_alphas` of them, from the smallest strength at which all groups are "
        "zero down to `eps` times that.",
        CHOOSING,
        from_python_only=True,
    )
    n_alphas: int = option(30, "The number of strengths to choose from.", CHOOSING, least=1)
    eps: float = option(1e-2, "The smallest strength, as a share of the largest.", CHOOSING, above=0, most=1)
    cv: Any = option(
        None,
        "The folds: their number (5 by default), a splitter, or splits, as in scikit-learn's LogisticRegressionCV.",
        CHOOSING,
        from_python_only=True,
    )

    def _fit_best(
        self, X: Any, y: Any, sample_weight: Any, scoring: Any, dev: tuple[Any, Any] | None
    ) -> Array:
        """Fits with the alpha that is best on average, of equals the largest; all scores, (alphas, folds).

        When Ctrl-C or the time limit ends the paths early, scores that are not there are NaN, and the model is the one
        with the chosen alpha that was trained last, on a part of the data.
        """
        weights = instance_weights(sample_weight, None, X, y)
        folds = list(check_cv(self.cv, y, classifier=not self.numbers).split(X, y))
        rows = replace(self._rows(X, y, weights), folds=folds)
        training: MatrixTraining
        training, watch = self._watched_training()
        with training.started(rows, watch=watch) as run:
            self.alphas_ = self._strengths(training, rows, run)
            scores = np.full((len(self.alphas_), len(folds)), np.nan)
            models: dict[int, MatrixModel] = {}
            early: str | None = None
            for number in range(len(folds)):
                path = self._scored(training, rows, weights, number, run, scoring)
                for i, (model, score) in enumerate(path):
                    scores[i, number], models[i] = score, model
                    early = cut_short(model)
                if early is not None:
                    break
            best = int(np.argmax(_means(scores)))
            self.alpha_ = float(self.alphas_[best])
            if early is None:
                chosen = replace(training, alpha=self.alpha_)
                self._learnt(chosen.train(rows, run, dev=self._checked_dev(dev)).model)
            else:
                self._learnt(replace(models[best], info={**models[best].info, "status": early}))
        return scores

    def _strengths(self, training: MatrixTraining, rows: Rows, run: Run) -> Array:
        if self.alphas is not None:
            return np.array(falling(self.alphas))
        return training.alphas(training.path_task(rows), run, self.n_alphas, self.eps)

    def _scored(
        self,
        training: MatrixTraining,
        rows: Rows,
        weights: Array | None,
        number: int,
        run: Run,
        scoring: Any,
    ) -> Iterator[tuple[MatrixModel, float]]:
        """The models of a path on one part of the data, and how well they do on the other."""
        train, test = rows.folds[number]
        mine = None if weights is None else weights[train]
        part = self._rows(_safe_indexing(rows.X, train), rows.y[train], mine)
        left, gold = _safe_indexing(rows.X, test), rows.y[test]
        counted = {} if weights is None else {"sample_weight": weights[test]}
        task, fitted = training.path_task(part), clone(self)
        scorer = check_scoring(self, scoring)
        for _, model in training.along(task, self.alphas_, run, f"fold {number + 1}: "):
            fitted._take(model)
            if task.classes is not None:
                fitted.classes_ = task.classes
            yield model, float(scorer(fitted, left, gold, **counted))

    @classmethod
    def _settings_of(cls, model: MatrixModel) -> dict[str, Any]:
        settings = super()._settings_of(model)
        settings.pop("alpha", None)
        return settings


def _means(scores: Array) -> Array:
    """The mean score of every alpha on the folds that have one."""
    there = np.isfinite(scores)
    total, count = np.where(there, scores, 0.0).sum(axis=1), there.sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), -np.inf)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class OverlappingGroupLassoClassifierCV(_ByCrossValidation, OverlappingGroupLassoClassifier):
    """`OverlappingGroupLassoClassifier` whose `alpha` is chosen by cross-validation.

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

    loss: str | Loss = changed(OverlappingGroupLassoClassifier, "loss", "log")  # not that of all matrices
    scoring: str | Callable[..., float] | None = option(
        None,
        "The score to maximise, for instance 'neg_log_loss'; accuracy by default. Of equal scores, the larger alpha "
        "wins.",
        CHOOSING,
        from_python_only=True,
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Chooses alpha, and learns from the rows of X and their classes; `dev` is for the last fit."""
        check_classes(y)
        X, y = validated(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        classes, _ = numbered(y)
        self.score_path_ = self._fit_best(X, y, sample_weight, self.scoring, dev)
        self.classes_ = classes
        return self


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class OverlappingGroupLassoRegressorCV(_ByCrossValidation, OverlappingGroupLassoRegressor):
    """`OverlappingGroupLassoRegressor` whose `alpha` is chosen by cross-validation.

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

    loss: str | Loss = changed(OverlappingGroupLassoRegressor, "loss", "squared")  # not that of all matrices

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Chooses alpha, and learns from the rows of X and their numbers; `dev` is for the last fit."""
        X, y = validated(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        self.mse_path_ = -self._fit_best(X, y, sample_weight, "neg_mean_squared_error", dev)
        return self
