"""From a matrix and outputs to a fitted model: the wiring of groups, problem, solver and model. No algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.designs.flat import FlatDesign
from parsimon.errors import ParsimonError
from parsimon.label_values import named_labels
from parsimon.magnitudes import first_wrong, why_not
from parsimon.penalties import ElasticNet, GroupLasso, OverlappingGroupLasso, Penalty, never_dropped
from parsimon.penalties.group_lasso import GroupPenalty
from parsimon.penalties.groups import Groups
from parsimon.problem import InMemoryProblem
from parsimon.solvers import Result, Solver, Status, Validation, Weights, choose_solver
from parsimon.tasks import naming
from parsimon.tasks.label_counts import OF_ROWS, check_label_counts
from parsimon.tasks.matrices.column_groups import as_groups
from parsimon.tasks.matrices.flat import (
    accuracy_on,
    as_weights,
    centred,
    closeness_on,
    columns_of,
    over_columns,
    problem_of,
    with_gap,
)
from parsimon.tasks.matrices.model import MatrixModel
from parsimon.tasks.matrices.options import MatrixOptions
from parsimon.tasks.matrices.paths import families_of
from parsimon.tasks.options import LEARNING, option
from parsimon.tasks.training import Run, Task, Trained, named_loss
from parsimon.tasks.tuning import Family, TunedTraining

PRECISE = 1e-10  # the tolerance for the weights that no strength of groups makes zero


@dataclass(frozen=True)
class Rows:
    """The training data: a matrix, and a class or a number for every row."""

    X: Any  # numpy or scipy
    y: Any
    weights: Array | None = None  # how much each row counts
    folds: Sequence[
        tuple[IntArray, IntArray]
    ] = ()  # rows to learn from and to score on, for cross-validation

    def content(self) -> list[Any]:
        """What tells matrices apart: shapes, places and values."""
        matrix = as_matrix(self.X)
        parts = [matrix]
        if is_sparse(matrix):
            parts = [matrix.shape, matrix.indptr, matrix.indices, matrix.data]
        return [*parts, np.asarray(self.y), self.weights, self.folds]


def is_sparse(X: Any) -> bool:
    """Whether a matrix is one of scipy's sparse ones."""
    from scipy import sparse

    return bool(sparse.issparse(X))


def as_matrix(X: Any) -> Any:
    """A numpy array, or compressed sparse rows."""
    return X.tocsr() if is_sparse(X) else np.asarray(X)


@dataclass(kw_only=True)
class MatrixTraining(MatrixOptions, TunedTraining[Rows, MatrixModel]):
    """Minimises Σ loss + alpha Σ_g d_g ‖w_g‖ + l1 ‖w‖₁ + l2/2 ‖w‖² over groups of columns that may overlap.

    >>> import numpy as np
    >>> from parsimon.tasks.matrices.training import MatrixTraining
    >>> training = MatrixTraining(groups=[[0, 1], [1, 2]], loss="squared", tol=1e-9)
    >>> X, y = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), np.array([2.0, 1.0, 1.0])
    >>> round(training.max_alpha(X, y), 4)
    0.4714
    >>> [(alpha, len(model.columns)) for alpha, model in training.path(X, y, [0.5, 0.1])]
    [(0.5, 0), (0.1, 1)]
    """

    kind: ClassVar[str] = "matrix"
    group_strength: ClassVar[str] = "alpha"

    penalty: Penalty | None = option(
        None,
        "Takes the place of alpha, groups, l1 and l2; for instance TreeLasso(1.0, groups).",
        LEARNING,
        from_python_only=True,
    )

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        dev: tuple[Any, Any] | None = None,
        weights: Array | None = None,
        start: MatrixModel | None = None,
    ) -> MatrixModel:
        """Learns from the rows of X and their classes (or numbers, with the squared loss)."""
        return self.run(Rows(X, y, weights), dev=dev, start=start).model

    def content(self, data: Rows) -> Sequence[Any]:
        """The matrix and the outputs."""
        return data.content()

    def train(
        self, data: Rows, run: Run, *, dev: Any = None, start: MatrixModel | None = None
    ) -> Trained[MatrixModel]:
        """One problem, from the weights of another model if there is one."""
        task = self.task(data)
        first = None if start is None else task.weights_of(start)
        run.phase("training")
        result = self.solve(task, first, run, dev=dev)
        return Trained(task.model(result, self.describe(task, result)), result)

    def describe(self, task: Task[MatrixModel], result: Result) -> dict[str, Any]:
        """What the model records about its training."""
        penalty = task.problem.penalty
        known = penalty.strength if isinstance(penalty, GroupPenalty) else 0.0
        return {
            **super().describe(task, result),
            "alpha": known,
            "fit_intercept": self.fit_intercept,
            "group_weight": self.group_weight if isinstance(self.group_weight, str) else "given",
        }

    # ---- strengths that choose themselves ----------------------------------------------------------------------

    def families(self) -> Sequence[Family]:
        """The paths of what is not given."""
        if self.penalty is not None:
            raise ParsimonError(
                "tune=True chooses alpha, l1 or l2, and a penalty object has its own strengths; leave one of them out."
            )
        return families_of(self.alpha, self.l1, self.l2)

    def classes_of(self, data: Rows) -> IntArray:
        """Classes as numbers; numbers have none."""
        if named_loss(self.loss) == "squared":
            return np.zeros(len(data.y), np.int64)
        return np.unique(np.asarray(data.y), return_inverse=True)[1]

    def part(self, data: Rows, chosen: IntArray) -> Rows:
        """Some of the rows."""
        weights = None if data.weights is None else data.weights[chosen]
        return Rows(as_matrix(data.X)[chosen], np.asarray(data.y)[chosen], weights)

    def held_out(self, data: Rows) -> tuple[Any, Any]:
        """Rows and outputs."""
        return data.X, data.y

    def again(self, task: MatrixTask) -> MatrixTask:
        """The same rows with the strengths of this training."""
        assert task.all_groups is not None
        penalty = self.penalty_on(task.all_groups)
        width, bias = task.width, task.bias
        return replace(
            task, problem=task.problem.with_penalty(over_columns(penalty, task.n_columns, width, bias=bias))
        )

    # ---- problems ----------------------------------------------------------------------------------------------

    def prepare(self, X: Any, y: Any, weights: Array | None = None) -> MatrixTask:
        """The problem, and what its weights mean."""
        self.check()
        return self.task(Rows(X, y, weights))

    def task(self, data: Rows) -> MatrixTask:
        """The problem of some rows."""
        X, classes = checked_rows(data.X, data.y), None
        gold: Any = np.asarray(data.y)
        if named_loss(self.loss) == "squared":
            n_labels, gold = 1, gold.astype(np.float64)
        else:
            classes, gold = numbered(gold)
            n_labels = len(classes)
            check_label_counts(n_labels, len(gold), "rows", OF_ROWS)
        groups, penalty = None, self.penalty
        if penalty is None:
            groups = as_groups(self.groups, X.shape[1], self.group_weight)
            penalty = self.penalty_on(groups)
        elif isinstance(penalty.groups, Groups):
            groups = penalty.groups
        design = FlatDesign.build(X, n_labels, bias=self.fit_intercept, threads=self.n_threads)
        problem = problem_of(design, gold, penalty, self.loss, bias=self.fit_intercept, weights=data.weights)
        own = None if self.penalty is None and self.groups is None else groups
        return MatrixTask(problem, X.shape[1], classes, own, self.fit_intercept, len(gold), groups)

    def penalty_on(self, groups: Groups) -> ElasticNet | GroupPenalty:
        """The simplest that says it: solvers for single weights and for disjoint groups are the faster ones."""
        if self.alpha == 0:
            return ElasticNet(self.l1, self.l2)
        kind = GroupLasso if groups.disjoint else OverlappingGroupLasso
        return kind(self.alpha, groups, l1=self.l1, l2=self.l2)

    # ---- solvers -----------------------------------------------------------------------------------------------

    def solver_for(self, task: Task[MatrixModel]) -> Solver:
        """The solver, set up for a problem."""
        overlapping = isinstance(task.problem.penalty, OverlappingGroupLasso) and task.problem.loss.smooth
        if overlapping and isinstance(self.solver, str) and self.solver == "auto":  # ADMM is for more groups
            return replace(self, solver="block-working-set").solver_for(task)
        return super().solver_for(task)

    def validation(self, task: Task[MatrixModel], dev: Any, solver: Solver) -> Validation:
        """Scores every iteration, because scoring is cheap."""
        return replace(super().validation(task, dev, solver), every=1)

    def finished(self, task: Task[MatrixModel], result: Result, run: Run) -> Result:
        """With a duality gap that says how good the weights are."""
        return with_gap(task.problem, super().finished(task, result, run))

    # ---- paths -------------------------------------------------------------------------------------------------

    def path(
        self,
        X: Any,
        y: Any,
        alphas: Sequence[float] | Array | None = None,
        *,
        n_alphas: int = 30,
        eps: float = 1e-2,
        weights: Array | None = None,
    ) -> list[tuple[float, MatrixModel]]:
        """Models from the largest alpha to the smallest, each with a warm start from the one before.

        Without `alphas`, as many as asked for, from the smallest at which all groups are zero down to `eps` times that.
        Ctrl-C or the time limit ends the path early.
        """
        data = Rows(X, y, weights)
        with self.started(data) as run:
            task = self.path_task(data)
            chosen = self.alphas(task, run, n_alphas, eps) if alphas is None else alphas
            return list(self.along(task, chosen, run))

    def max_alpha(self, X: Any, y: Any, *, weights: Array | None = None) -> float:
        """The smallest alpha at which all groups are zero."""
        data = Rows(X, y, weights)
        with self.started(data) as run:
            return self.largest_alpha(self.path_task(data), run)

    def path_task(self, data: Rows) -> MatrixTask:
        """The problem for an alpha of 1; those of a path only differ in its strength."""
        if self.penalty is not None:
            raise ParsimonError("a path goes along alpha, so leave penalty out, and give groups, l1 and l2.")
        return replace(self, alpha=1.0).task(data)

    def along(
        self, task: MatrixTask, alphas: Sequence[float] | Array, run: Run, part: str = ""
    ) -> Iterator[tuple[float, MatrixModel]]:
        """The models of a path; `part` tells the paths of one run apart."""
        chosen = falling(alphas)
        start = self.without_groups(task, run, part)
        for alpha in chosen:
            run.phase(f"{part}alpha {alpha:.4g}")
            here = replace(task, problem=replace(task.problem, penalty=task.problem.penalty.scaled(alpha)))
            result = self.solve(here, start, run, name=f"{part}alpha {alpha!r}")
            start = result.weights
            yield alpha, here.model(result, self.describe(here, result))
            if result.status.stopped_early:
                return

    def alphas(self, task: MatrixTask, run: Run, n_alphas: int, eps: float) -> Array:
        """Evenly spaced in logarithms, from the largest that matters down to `eps` times that."""
        if n_alphas < 1:
            raise ParsimonError(f"n_alphas is {n_alphas}; give at least 1.")
        if not 0 < eps < 1:
            raise ParsimonError(
                f"eps is {eps}; give the smallest alpha as a share of the largest, between 0 and 1."
            )
        top = self.largest_alpha(task, run)
        return np.geomspace(top, eps * top, n_alphas) if top > 0 else np.full(n_alphas, np.finfo(float).tiny)

    def largest_alpha(self, task: MatrixTask, run: Run) -> float:
        """The alpha from which on all groups are zero."""
        apart = self.without_groups(task, run)
        loose = apart.features
        assert loose is not None
        _, gradient = task.problem.loss_and_gradient(Weights(apart.values, loose, task.problem.n_features))
        gradient[loose] = 0.0  # what is left of it at the optimum is not the groups' concern
        return float(task.problem.penalty.dual_norm(gradient))

    def without_groups(self, task: MatrixTask, run: Run, part: str = "") -> Weights:
        """The best weights of intercepts and columns in no group, all others being zero."""
        penalty: Any = task.problem.penalty
        n_features = task.problem.n_features
        loose = never_dropped(penalty, n_features)
        values = np.zeros(len(loose))
        if len(loose):
            free = np.zeros(0, np.int64) if penalty.free is None else np.searchsorted(loose, penalty.free)
            net = ElasticNet(self.l1, self.l2).exempt(free, len(loose))
            alone = replace(task.problem.restrict(loose), penalty=net)
            solver = choose_solver("auto", alone, PRECISE)
            start = Weights(values, None, len(loose))
            name = f"{part}without groups"
            values = run.fit(name, solver, alone, start, needed=True, callbacks=()).weights.dense()
        return Weights(values, loose, n_features)


@dataclass(frozen=True)
class MatrixTask:
    """A problem over the columns of a matrix."""

    problem: InMemoryProblem
    n_columns: int
    classes: Any  # an array, or None for numbers
    groups: Groups | None  # None: there are none, or every column is one
    bias: bool
    n_rows: int
    all_groups: Groups | None = None  # with those of single columns

    @property
    def features(self) -> None:
        """Columns have no names by which solvers could find groups."""
        return None

    @property
    def width(self) -> int:
        """How many weights a column has."""
        return 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)

    def facts(self) -> dict[str, Any]:
        """What the model records about the data."""
        return {
            "rows": self.n_rows,
            "candidate_columns": self.n_columns,
            "groups_in_all": None if self.groups is None else self.groups.n_groups,
        }

    def model(self, result: Result, info: dict[str, Any]) -> MatrixModel:
        """The columns that are left. Intercepts of more than two classes sum to zero."""
        weights, biases = columns_of(result.weights.dense(), self.n_columns, self.width, bias=self.bias)
        kept = np.flatnonzero(weights.any(axis=1))
        names, values = (None, {}) if self.classes is None else named_labels(self.classes.tolist())
        return MatrixModel(
            self.n_columns, kept, weights[kept], centred(biases), names, values, self.groups, info
        )

    def weights_of(self, model: MatrixModel) -> Weights | None:
        """Where to start; None for a model of other columns or classes."""
        names = None if self.classes is None else named_labels(self.classes.tolist())[0]
        if model.n_columns != self.n_columns or model.classes != names:
            return None
        return as_weights(model.coef.T, model.intercepts, bias=self.bias)

    def development_score(self, dev: tuple[Any, Any]) -> Callable[[Weights], float]:
        """The share of right classes, or the mean squared error with a minus."""
        X = checked_rows(*dev)
        if X.shape[1] != self.n_columns:
            raise ParsimonError(
                f"the development data have {X.shape[1]} columns, but those to learn from {self.n_columns}."
            )
        if self.classes is None:
            return closeness_on(X, np.asarray(dev[1], np.float64), bias=self.bias)
        number = {each: i for i, each in enumerate(self.classes.tolist())}
        gold = np.array([number.get(each, -1) for each in np.asarray(dev[1]).tolist()], np.int64)
        return accuracy_on(X, gold, self.width, bias=self.bias)


def checked_rows(X: Any, y: Any) -> Any:
    """A matrix with a finite number everywhere, and an output for each of its rows."""
    X = as_matrix(X)
    if len(X.shape) != 2:
        raise ParsimonError(f"X must be a matrix, but it has {len(X.shape)} dimensions.")
    outputs = np.asarray(y)
    if outputs.shape != X.shape[:1]:
        raise ParsimonError(f"X has {X.shape[0]} rows, so y must have as many outputs, one for each.")
    for name, values in (("X", X.data if is_sparse(X) else X), ("y", outputs)):
        at = first_wrong(values)
        if at is not None:
            raise ParsimonError(f"{name} has the number {why_not(float(values.reshape(-1)[at]))}.")
    return X


def numbered(y: Any) -> tuple[Any, IntArray]:
    """The classes, sorted, and the number of each output's class."""
    classes, gold = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        only = f"only one class, {classes[0]!r}" if len(classes) else "no class"
        raise ParsimonError(f"y has {only}; a classifier needs two or more.")
    naming.check_names(classes.tolist(), "class")
    return classes, gold


def cut_short(model: MatrixModel) -> str | None:
    """Why the training of a model ended, if Ctrl-C or the time limit ended it."""
    status = str(model.info["status"])
    return status if Status(status).stopped_early else None


def falling(alphas: Any) -> list[float]:
    """Strengths from the largest to the smallest."""
    chosen = np.asarray(alphas, np.float64)
    if chosen.ndim != 1 or not len(chosen) or not np.all(chosen > 0):
        raise ParsimonError("alphas must be numbers above zero, one or more.")
    return sorted(map(float, chosen), reverse=True)
