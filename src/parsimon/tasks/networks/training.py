"""Learning a Markov network: a table of states in, the edges worth having and their weights out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.data.discrete_table import DiscreteTable
from parsimon.designs.mrf import MRFDesign, contrast_code
from parsimon.errors import ParsimonError
from parsimon.losses import get_loss
from parsimon.penalties import ElasticNet, GroupLasso, Penalty
from parsimon.penalties.groups import Groups
from parsimon.problem import Batch, Problem
from parsimon.solvers import Monitor, Result, Solver, Status, Weights, choose_solver, drive
from parsimon.structures.graph import Graph
from parsimon.structures.pairwise_mrf import PairwiseMRF
from parsimon.structures.table import Table
from parsimon.tasks.networks.model import INFERENCE, SCORES, NetworkModel, feature_bounds
from parsimon.tasks.networks.stability import edge_frequencies
from parsimon.tasks.networks.strengths import CRITERIA, NetworkPath

LOSSES = ("pseudo-likelihood", "log")
METHODS = {inference: method for method, inference in SCORES.items()}
SOLVER = "grafting-light"
REFIT = 0.01  # of the strength: enough to keep weights finite where a state never meets another


@dataclass(frozen=True, eq=False)
class NetworkTask:
    """A table made ready: all edges there could be, their features, and what they cost at strength 1."""

    table: DiscreteTable
    counts: Array | None  # how much each row counts
    edges: IntArray  # (E, 2): pairs of variables with two states or more
    bounds: (
        IntArray  # where the features of each variable begin, then those of each edge, and where the last end
    )
    graph: Graph
    centre: Array  # the shares of all states, which are taken off in the features of edges
    design: MRFDesign
    penalty: Any

    @property
    def n_node_features(self) -> int:
        """Features of variables come first."""
        return int(self.bounds[len(self.table.names)])

    @property
    def n_rows(self) -> float:
        """How many rows there are, each counting as often as was said."""
        return float(len(self.table)) if self.counts is None else float(np.sum(self.counts))

    def edges_of(self, weights: Weights) -> IntArray:
        """The numbers of the edges that have a weight, ascending."""
        features = weights.nonzero().features
        assert features is not None
        group = np.searchsorted(self.bounds, features, "right") - 1 - len(self.table.names)
        return np.unique(group[group >= 0])

    def features_with(self, edges: IntArray) -> IntArray:
        """The features of all variables and of these edges, ascending."""
        first = self.bounds[len(self.table.names) :]
        ranges = [np.arange(first[e], first[e + 1]) for e in edges.tolist()]
        return np.concatenate([np.arange(self.n_node_features), *ranges]).astype(np.int64)

    def uncentred(self, weights: Weights, edges: IntArray) -> Array:
        """Weights of all variables and of some edges, as if no means had been taken off.

        Σ_ij w_ij (C_i(x_u) − c_i)(C_j(x_v) − c_j) has products C_i C_j, and −C_i(x_u) Σ_j w_ij c_j and
        −C_j(x_v) Σ_i w_ij c_i, which belong to the variables.
        """
        out = weights.at(self.features_with(edges))
        shares = np.split(self.centre, np.cumsum(self.graph.arity)[:-1])
        means = [share @ contrast_code(len(share)) for share in shares]
        at = self.n_node_features
        for u, v in self.edges[edges].tolist():
            W = out[at : at + len(means[u]) * len(means[v])].reshape(len(means[u]), len(means[v]))
            out[self.bounds[u] : self.bounds[u + 1]] -= W @ means[v]
            out[self.bounds[v] : self.bounds[v + 1]] -= means[u] @ W
            at += W.size
        return out

    def part(self, rows: IntArray) -> NetworkTask:
        """The same of some rows."""
        counts = None if self.counts is None else self.counts[rows]
        return replace(self, table=replace(self.table, codes=self.table.codes[rows]), counts=counts)


@dataclass(frozen=True)
class NetworkFit:
    """What was learnt, and how it came about."""

    model: NetworkModel
    result: Result
    path: NetworkPath | None = None
    frequencies: Array | None = None  # of the candidate edges of `task`
    task: NetworkTask | None = field(default=None, repr=False)


@dataclass(frozen=True)
class NetworkTraining:
    """How a network is learnt: Σ loss + alpha · Ω over all rows, with alpha given or chosen.

    >>> from parsimon.data import make_network
    >>> from parsimon.data.discrete_table import DiscreteTable
    >>> from parsimon.tasks.networks.training import NetworkTraining
    >>> made = make_network("chain", 5, 500, coupling=0.7)
    >>> NetworkTraining(alpha="bic").fit(DiscreteTable.learn(made.X)).model.edges.tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4]]
    """

    alpha: float | str | None = "ebic"
    penalty: str | Penalty = "auto"
    loss: str = "pseudo-likelihood"
    inference: str = "bp"
    node_share: float = 0.01
    solver: str | Solver = SOLVER
    unit: int | None = None
    gamma: float = 0.5
    cv: int = 5
    n_alphas: int = 30
    alpha_min_ratio: float = 0.02
    stability: int | None = None
    stability_threshold: float = 0.75
    tol: float | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    threads: int = 1
    seed: int = 0
    callbacks: Sequence[Callable[[Any], Any]] = ()

    def __post_init__(self) -> None:
        check_settings(self)

    def fit(self, table: DiscreteTable, counts: Array | None = None) -> NetworkFit:
        """Chooses alpha if need be, then learns; with `stability`, again on the edges that are stable."""
        task = self.prepare(table, counts)
        path, start, alpha = None, None, self.alpha
        if isinstance(alpha, str):
            path, start = CRITERIA[alpha](self, task)
            alpha = path.alpha
        problem = self.problem(task, alpha)
        result = self.solve(problem, self.independent(problem, task) if start is None else start)
        kept, frequencies = task.edges_of(result.weights), None
        if self.stability is not None:
            frequencies = edge_frequencies(self, task, problem.penalty.strength)
            kept = np.flatnonzero(frequencies >= self.stability_threshold)
            result = self.refit(problem, task, kept, result.weights)
        told = self._info(task, problem, result, path, None if frequencies is None else frequencies[kept])
        model = self.model(task, result.weights, kept, told)
        of_rows = model.log_likelihood(table.codes, told["score_method"], threads=self.threads)
        told["score"] = float(np.average(of_rows, weights=counts))
        return NetworkFit(model, result, path, frequencies, task)

    def prepare(self, table: DiscreteTable, counts: Array | None = None) -> NetworkTask:
        """All pairs of variables as candidates, and the penalty on their features."""
        arity = table.arity
        able = np.flatnonzero(arity > 1)
        one, other = np.triu_indices(len(able), 1)
        edges = np.stack([able[one], able[other]], axis=1).astype(np.int64)
        graph = Graph.single(arity, edges)
        bounds = feature_bounds(arity, edges)
        penalty = self._penalty(arity, edges, bounds)
        centre = Table(table.codes, arity, counts).means(Graph.single(arity, edges[:0])).node
        design = MRFDesign.contrasts(graph, centre=centre)
        return NetworkTask(table, counts, edges, bounds, graph, centre, design, penalty)

    def problem(self, task: NetworkTask, alpha: float | None) -> Problem:
        """Σ loss + alpha · Ω; without an alpha, with the strength that the penalty has."""
        gold: Any = Table(task.table.codes, task.table.arity, task.counts)
        inference: Any = INFERENCE[self.inference]()
        if not inference.exact:  # messages from nothing, or the objective would depend on what came before
            inference = replace(inference, warm=False)
        structure: Any = PairwiseMRF(
            task.graph, weights=np.array([task.n_rows]), inference=inference, threads=self.threads
        )
        penalty = task.penalty if alpha is None else task.penalty.scaled(alpha)
        batch = Batch(task.design, structure, gold)
        return Problem((batch,), get_loss(self.loss), penalty, task.design.n_features)

    def solve(self, problem: Problem, start: Weights | None = None) -> Result:
        """Weights."""
        solver = choose_solver(self.solver, problem, self.tol)
        if self.unit is not None:
            if not hasattr(solver, "unit"):
                raise ParsimonError(f"the solver {solver.name} adds no units of features; leave out unit.")
            solver = replace(solver, unit=self.unit)  # type: ignore[type-var]
        if hasattr(solver, "threads"):
            solver = replace(solver, threads=self.threads)  # type: ignore[type-var]
        watch = Monitor(self.max_iter, self.time_limit, self.callbacks)
        begin = Weights.zeros(problem.n_features) if start is None else start
        # Where belief propagation is far off, its gradient is not that of its log Z, curvatures come out absurd, and
        # the solver stalls; its status tells, so numbers that run over on the way need not be mentioned.
        quiet: Any = "warn" if self.sound else "ignore"
        with np.errstate(over=quiet, invalid=quiet):
            return drive(solver, problem, begin, watch)

    @property
    def sound(self) -> bool:
        """Whether losses and gradients are what they are said to be on all graphs."""
        return self.loss == "pseudo-likelihood" or INFERENCE[self.inference]().exact

    def refit(self, problem: Problem, task: NetworkTask, edges: IntArray, start: Weights) -> Result:
        """Weights of some edges only, with hardly any penalty, since these edges are chosen already."""
        features = task.features_with(edges)
        small = problem.restrict(features)
        small = replace(small, penalty=small.penalty.scaled(REFIT * problem.penalty.strength))
        begin = Weights(start.at(features), np.arange(len(features)), len(features))
        result = self.solve(small, begin)
        found = Weights(result.weights.dense(), features, problem.n_features)
        return replace(result, weights=found)

    def along(
        self, task: NetworkTask, alphas: Array, start: Weights | None = None
    ) -> Iterator[tuple[float, Problem, Result]]:
        """Fits for falling strengths, each started from the one before.

        Ends where belief propagation no longer leads downhill. Ctrl-C ends it all: half a path chooses nothing.
        """
        for alpha in alphas.tolist():
            problem = self.problem(task, alpha)
            start = self.independent(problem, task) if start is None else start
            result = uninterrupted(self.solve(problem, start))
            start = result.weights
            yield alpha, problem, result
            if not self.sound and result.status is Status.STALLED:
                break

    def alphas(self, task: NetworkTask) -> Array:
        """A geometric path down from the strength at which no edge is left."""
        return np.geomspace(1.0, self.alpha_min_ratio, self.n_alphas) * self.max_alpha(task)

    def max_alpha(self, task: NetworkTask) -> float:
        """The strength at which the first edge comes in.

        Variables without edges have weights of their own, which depend on the strength a little (by `node_share`); a
        few rounds settle both.
        """
        others = np.arange(task.n_node_features, task.bounds[-1])
        if not len(others):
            return 1.0
        alpha = 1.0
        for _ in range(3):
            problem = self.problem(task, alpha)
            weights = self.independent(problem, task)
            assert weights.features is not None
            _, gradient = problem.loss_and_full_gradient(weights.values, weights.features)
            alpha = float(problem.penalty.restrict(others).dual_norm(gradient[others]))
        return max(alpha, 1e-12)

    def independent(self, problem: Problem, task: NetworkTask) -> Weights:
        """The optimum without edges, which is where to look for edges first."""
        nodes = np.arange(task.n_node_features)
        alone = replace(self, callbacks=()).solve(problem.restrict(nodes), Weights.zeros(len(nodes)))
        return Weights(alone.weights.dense(), nodes, problem.n_features)

    def model(
        self, task: NetworkTask, weights: Weights, edges: IntArray, info: dict[str, Any]
    ) -> NetworkModel:
        """The network with some of the edges."""
        kept = task.uncentred(weights, edges)
        return NetworkModel(task.table.names, task.table.categories, task.edges[edges], kept, info)

    def _penalty(self, arity: IntArray, edges: IntArray, bounds: IntArray) -> Any:
        if not isinstance(self.penalty, str):
            return _checked_penalty(self.penalty, int(bounds[-1]))
        name = self.penalty
        if name == "auto":
            name = "l1" if np.all(arity <= 2) else "group"
        return PENALTIES[name](self.node_share, len(arity), bounds)

    def _info(
        self,
        task: NetworkTask,
        problem: Problem,
        result: Result,
        path: NetworkPath | None,
        stable: Array | None,
    ) -> dict[str, Any]:
        told: dict[str, Any] = {
            "alpha": problem.penalty.strength,
            "chosen_by": self.alpha if isinstance(self.alpha, str) else None,
            "path": None if path is None else path.to_dict(),
            "penalty": self.penalty if isinstance(self.penalty, str) else repr(self.penalty),
            "loss": self.loss,
            "inference": self.inference,
            "score_method": METHODS[self.inference] if self.loss == "log" else "pseudo-likelihood",
            "node_share": self.node_share,
            "solver": self.solver if isinstance(self.solver, str) else self.solver.name,
            "rows": len(task.table),
            "candidate_edges": len(task.edges),
            **result.told(),
        }
        if stable is not None:
            told |= {
                "stability": self.stability,
                "stability_threshold": self.stability_threshold,
                "frequencies": stable.tolist(),
            }
        return told


def uninterrupted(result: Result) -> Result:
    """The result of one fit of many, unless Ctrl-C was pressed during it."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def check_settings(training: NetworkTraining) -> None:
    """Refuses what cannot be meant."""
    alpha, penalty = training.alpha, training.penalty
    if isinstance(alpha, str) and alpha not in CRITERIA:
        raise ParsimonError(f"alpha is {alpha!r}; give a number above zero, or one of {', '.join(CRITERIA)}.")
    if alpha is None and isinstance(penalty, str):
        raise ParsimonError("alpha is None, which leaves the strength to a penalty object; give a number.")
    if not isinstance(alpha, str | None) and not 0 < alpha < float("inf"):
        raise ParsimonError(f"alpha is {alpha}; give a number above zero, or one of {', '.join(CRITERIA)}.")
    if isinstance(penalty, str) and penalty not in ("auto", *PENALTIES):
        raise ParsimonError(f"there is no penalty {penalty!r}; choose from auto, {', '.join(PENALTIES)}.")
    if training.loss not in LOSSES:
        raise ParsimonError(
            f"there is no loss {training.loss!r} for networks; choose from {', '.join(LOSSES)}."
        )
    if training.inference not in INFERENCE:
        raise ParsimonError(f"inference is {training.inference!r}; choose from {', '.join(INFERENCE)}.")
    if not training.node_share > 0:
        raise ParsimonError(
            f"node_share is {training.node_share}; give a number above zero, or columns with one frequent state have "
            "no finite weights."
        )
    if not 0 < training.alpha_min_ratio < 1:
        raise ParsimonError(f"alpha_min_ratio is {training.alpha_min_ratio}; give a number between 0 and 1.")
    if not 0 < training.stability_threshold <= 1:
        raise ParsimonError(f"stability_threshold is {training.stability_threshold}; give a share up to 1.")
    for name, least in (("n_alphas", 2), ("cv", 2), ("stability", 2), ("unit", 1), ("threads", 1)):
        number = getattr(training, name)
        if number is not None and not (isinstance(number, int | np.integer) and number >= least):
            raise ParsimonError(f"{name} is {number!r}; give a whole number that is {least} or more.")


def _checked_penalty(penalty: Any, n_features: int) -> Any:
    """A penalty made by hand, if it is one of so many features."""
    weight = getattr(penalty, "weight", None)
    n = penalty.groups.n_features if isinstance(penalty.groups, Groups) else n_features
    n = n if weight is None or penalty.groups is not None else len(weight)
    if (penalty.groups is not None and not isinstance(penalty.groups, Groups)) or n != n_features:
        raise ParsimonError(
            f"the penalty is not one of the {n_features} features of this table's network, those of its variables "
            "first, then those of its edges; make it for these, or use penalty='auto'."
        )
    return penalty


def _l1(node_share: float, n_variables: int, bounds: IntArray) -> Penalty:
    """Single weights."""
    weight = np.ones(int(bounds[-1]))
    weight[: bounds[n_variables]] = node_share
    return ElasticNet(1.0, weight=weight)


def _group(node_share: float, n_variables: int, bounds: IntArray) -> Penalty:
    """One group an edge, and one a variable, by the square roots of their sizes."""
    weight = np.sqrt(np.diff(bounds).astype(np.float64))
    weight[:n_variables] *= node_share
    return GroupLasso(1.0, Groups.consecutive(bounds, int(bounds[-1]), weight=weight))


PENALTIES: dict[str, Callable[[float, int, IntArray], Penalty]] = {"l1": _l1, "group": _group}
