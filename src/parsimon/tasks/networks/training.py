"""Training of Markov networks: from a table of states to edges and their weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.data.discrete_table import DiscreteTable
from parsimon.designs.mrf import MRFDesign, contrast_code
from parsimon.errors import ParsimonError
from parsimon.losses import get_loss
from parsimon.penalties import ElasticNet, GroupLasso, Penalty
from parsimon.penalties.groups import Groups
from parsimon.problem import Batch, InMemoryProblem
from parsimon.solvers import Result, Status, Weights, drive
from parsimon.solvers.choice import set_up_solver
from parsimon.structures.graph import Graph
from parsimon.structures.pairwise_mrf import PairwiseMRF
from parsimon.structures.table import Table
from parsimon.tasks import naming
from parsimon.tasks.networks.model import INFERENCE, NetworkModel, feature_bounds
from parsimon.tasks.networks.options import NetworkOptions
from parsimon.tasks.networks.search import PROPER_END, REFIT, SEARCHES
from parsimon.tasks.too_strong import TooStrong
from parsimon.tasks.training import Run, Trained, Training


@dataclass(frozen=True, eq=False)
class NetworkTask:
    """A table prepared for training: all candidate edges, their features, and their penalty at strength 1."""

    table: DiscreteTable
    counts: Array | None  # the weight of each row
    edges: IntArray  # (E, 2): pairs of variables with two states or more
    bounds: IntArray  # where the features of each variable begin, then those of each edge; and the end of the last
    graph: Graph
    centre: Array  # the shares of all states, which are subtracted in the features of edges
    design: MRFDesign
    penalty: Penalty

    @property
    def n_node_features(self) -> int:
        """The number of features of variables, which come first."""
        return int(self.bounds[len(self.table.names)])

    @property
    def n_rows(self) -> float:
        """The number of rows, weighted."""
        return float(len(self.table)) if self.counts is None else float(np.sum(self.counts))

    def edges_of(self, weights: Weights) -> IntArray:
        """The numbers of the edges that have a weight, ascending."""
        features = weights.nonzero().features
        assert features is not None
        group = np.searchsorted(self.bounds, features, "right") - 1 - len(self.table.names)
        return np.unique(group[group >= 0])

    def numbers_of(self, pairs: IntArray) -> IntArray:
        """The numbers of candidate edges, given as pairs of variables in ascending order."""
        width = len(self.table.names)
        key = self.edges @ np.array([width, 1])
        return np.asarray(np.searchsorted(key, pairs @ np.array([width, 1])), np.int64)

    def features_with(self, edges: IntArray) -> IntArray:
        """The features of all variables and of these edges, ascending."""
        first = self.bounds[len(self.table.names) :]
        ranges = [np.arange(first[e], first[e + 1]) for e in edges.tolist()]
        return np.concatenate([np.arange(self.n_node_features), *ranges]).astype(np.int64)

    def uncentred(self, weights: Weights, edges: IntArray) -> Array:
        """Weights of all variables and of some edges for features without subtracted means.

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
        """The same for some of the rows."""
        counts = None if self.counts is None else self.counts[rows]
        return replace(self, table=replace(self.table, codes=self.table.codes[rows]), counts=counts)


@dataclass(frozen=True)
class Counted:
    """The training data: rows and their weights."""

    table: DiscreteTable
    counts: Array | None = None


@dataclass(kw_only=True)
class NetworkTraining(NetworkOptions, Training[Counted, NetworkModel]):
    """How a network is trained: minimises Σ loss + alpha · Ω over all rows, with alpha given or selected.

    A training is a sequence of fits. A resumed run repeats the fit during which it was killed, and its result is the
    same, bit for bit.

    >>> from parsimon.data import make_network
    >>> from parsimon.data.discrete_table import DiscreteTable
    >>> from parsimon.tasks.networks.training import NetworkTraining
    >>> made = make_network("chain", 5, 500, coupling=0.7)
    >>> NetworkTraining(alpha="bic").fit(DiscreteTable.learn(made.X)).edges.tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4]]
    """

    kind: ClassVar[str] = "network"
    group_strength: ClassVar[str] = "alpha"

    def fit(self, table: DiscreteTable, counts: Array | None = None) -> NetworkModel:
        """Selects alpha if necessary, then fits. With `stability`, refits the stable edges."""
        return self.run(Counted(table, counts)).model

    def content(self, data: Counted) -> Sequence[Any]:
        """The rows and the seed, which determines folds and halves."""
        return [data.table, data.counts, self.seed]

    def train(self, data: Counted, run: Run, *, dev: Any = None, start: Any = None) -> Trained[NetworkModel]:
        """Looks for edges, and fits their weights, as the options say."""
        if dev is not None or start is not None:
            raise ParsimonError("a network has no use for development data or a model to start from.")
        naming.check_names(data.table.names, "variable")
        for states in data.table.categories:
            naming.check_names(states, "state")
        task = self.prepare(data.table, data.counts)
        found = SEARCHES[self.chosen_search](self, task, run)
        result = found.result
        if result.status is not Status.INTERRUPTED and not found.complete:
            result = replace(result, status=run.stopped or Status.TIME)
        model = self.model(task, result.weights, found.edges)
        model = replace(model, alpha=found.alpha, path=found.path, stability=found.stability)
        return Trained(replace(model, info=self._info(data, task, model, result)), result)

    # ---- the problem -------------------------------------------------------------------------------------------

    def prepare(self, table: DiscreteTable, counts: Array | None = None) -> NetworkTask:
        """The candidate edges, which are all pairs of variables, and the penalty on their features."""
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

    def problem(self, task: NetworkTask, alpha: float | None) -> InMemoryProblem:
        """Σ loss + alpha · Ω; without an alpha, with the strength that the penalty has."""
        gold: Any = Table(task.table.codes, task.table.arity, task.counts)
        inference: Any = INFERENCE[self.inference]()
        if not inference.exact:  # no warm messages: the objective must not depend on earlier evaluations
            inference = replace(inference, warm=False)
        structure: Any = PairwiseMRF(
            task.graph, weights=np.array([task.n_rows]), inference=inference, threads=self.n_threads
        )
        penalty = task.penalty if alpha is None else task.penalty.scaled(alpha)
        batch = Batch(task.design, structure, gold)
        return InMemoryProblem((batch,), get_loss(self.loss), penalty, task.design.n_features)

    # ---- fits --------------------------------------------------------------------------------------------------

    def minimise(
        self,
        problem: InMemoryProblem,
        start: Weights,
        run: Run | None = None,
        name: str = "fit",
        *,
        brief: bool = False,
        proper_end: Sequence[Status] = (),
    ) -> Result:
        """One fit of the run. Set `brief` for one of many that others go on from."""
        run = run or Run(self.time_limit, self.callbacks)
        solver = self.set_up(problem, unit=self.unit)
        with self._quiet():
            return run.fit(
                name,
                solver,
                problem,
                start,
                max_iter=self.max_iter,
                brief=brief,
                whole=True,
                proper_end=PROPER_END if brief else proper_end,
            )

    def _quiet(self) -> np.errstate:
        """Suppresses warnings about overflow where belief propagation is inaccurate.

        There, its gradient is not that of its log Z, curvatures are meaningless, and the solver stalls, which the
        status of the fit reports.
        """
        quiet: Literal["warn", "ignore"] = "warn" if self.sound else "ignore"
        return np.errstate(over=quiet, invalid=quiet)

    @property
    def sound(self) -> bool:
        """Whether losses and gradients are exact on all graphs."""
        return self.loss == "pseudo-likelihood" or INFERENCE[self.inference]().exact

    def refit(
        self,
        problem: InMemoryProblem,
        task: NetworkTask,
        edges: IntArray,
        start: Weights,
        run: Run,
        name: str,
        *,
        brief: bool = False,
    ) -> Result:
        """Refits the weights of selected edges, almost without penalty."""
        features = task.features_with(edges)
        small = problem.restrict(features)
        small = replace(small, penalty=small.penalty.scaled(REFIT * problem.penalty.strength))
        begin = Weights(start.at(features), np.arange(len(features)), len(features))
        result = self.minimise(small, begin, run, name, brief=brief)
        found = Weights(result.weights.dense(), features, problem.n_features)
        return replace(result, weights=found)

    def ridge(self, task: NetworkTask, edges: IntArray, strength: float, run: Run, name: str) -> Result:
        """Fits the weights of selected edges with a small L2 penalty, by L-BFGS: the objective is smooth."""
        features = task.features_with(edges)
        problem = self.problem(task, 1.0)
        small = replace(problem.restrict(features), penalty=ElasticNet(l2=strength))
        solver = set_up_solver("lbfgs", small, tol=self.tol, max_iter=self.max_iter)
        with self._quiet():
            result = run.fit(
                name, solver, small, Weights.zeros(len(features)), max_iter=self.max_iter, whole=True
            )
        found = Weights(result.weights.dense(), features, problem.n_features)
        return replace(result, weights=found)

    def along(
        self, task: NetworkTask, alphas: Array, run: Run, fold: int | None = None
    ) -> Iterator[tuple[float, InMemoryProblem, Result]]:
        """Fits for decreasing strengths, each with a warm start from the one before.

        Ends when belief propagation no longer gives descent directions, or after the fit that the time limit or Ctrl-C
        cut short. A `fold` is part of the names of its fits.
        """
        within, phase = "", ""
        if fold is not None:
            within, phase = f"fold {fold}, ", f"fold {fold} of {self.cv}, "
        start: Weights | None = None
        for number, alpha in enumerate(alphas.tolist(), 1):
            run.phase(f"{phase}strength {number} of {len(alphas)}")
            problem = self.problem(task, alpha)
            start = self.independent(problem, task, run) if start is None else start
            result = self.minimise(problem, start, run, f"{within}strength {number}", brief=True)
            start = result.weights
            yield alpha, problem, result
            if result.status.stopped_early or (not self.sound and result.status is Status.STALLED):
                break

    def alphas(self, task: NetworkTask, run: Run | None = None) -> Array:
        """A geometric path down from the strength at which no edge is left."""
        return np.geomspace(1.0, self.alpha_min_ratio, self.n_alphas) * self.max_alpha(task, run)

    def max_alpha(self, task: NetworkTask, run: Run | None = None) -> float:
        """The strength at which the first edge enters.

        Variables without edges have weights of their own, which depend on the strength a little (by `node_share`); a
        few rounds settle both.
        """
        others = np.arange(task.n_node_features, task.bounds[-1])
        if not len(others):
            return 1.0
        alpha = 1.0
        for _ in range(3):
            problem = self.problem(task, alpha)
            weights = self.independent(problem, task, run)
            assert weights.features is not None
            _, gradient = problem.loss_and_gradient(
                Weights(weights.values, weights.features, problem.n_features)
            )
            alpha = float(problem.penalty.restrict(others).dual_norm(gradient[others]))
        return max(alpha, 1e-12)

    def independent(self, problem: InMemoryProblem, task: NetworkTask, run: Run | None = None) -> Weights:
        """The optimum without edges, from which to look for edges first.

        This takes so little time that it is not a named fit of the run and has no time limit. After Ctrl-C, the run
        stops at its next fit.
        """
        nodes = np.arange(task.n_node_features)
        alone = problem.restrict(nodes)
        with self._quiet():
            solver = self.set_up(alone, unit=self.unit)
            monitor = (run or Run()).monitor(max_iter=self.max_iter, time_limit=None, callbacks=())
            result = drive(solver, alone, Weights.zeros(len(nodes)), monitor)
        if run is None and monitor.interrupted.is_set():
            raise KeyboardInterrupt
        return Weights(result.weights.dense(), nodes, problem.n_features)

    def model(self, task: NetworkTask, weights: Weights, edges: IntArray) -> NetworkModel:
        """The network with some of the edges."""
        kept = task.uncentred(weights, edges)
        table = task.table
        return NetworkModel(
            table.names,
            table.categories,
            task.edges[edges],
            kept,
            loss=self.loss,
            inference=self.inference,
            bins=table.bins,
            left_out=table.left_out,
        )

    def _penalty(self, arity: IntArray, edges: IntArray, bounds: IntArray) -> Any:
        if not isinstance(self.penalty, str):
            return _checked_penalty(self.penalty, int(bounds[-1]))
        name = self.penalty
        if name == "auto":
            name = "l1" if np.all(arity <= 2) else "group"
        return PENALTIES[name](self.node_share, len(arity), bounds)

    def _info(self, data: Counted, task: NetworkTask, model: NetworkModel, result: Result) -> dict[str, Any]:
        """How training went."""
        of_rows = model.log_likelihood(data.table.codes, model.score_method, threads=self.n_threads)
        info: dict[str, Any] = {
            "search": self.chosen_search,
            "chosen_by": self.alpha if isinstance(self.strength, str) else None,
            "penalty": self.penalty if isinstance(self.penalty, str) else repr(self.penalty),
            "threshold": model.alpha,
            "node_share": self.node_share,
            "solver": self.solver if isinstance(self.solver, str) else self.solver.name,
            "random_state": self.seed,
            "rows": len(task.table),
            "dropped": data.table.dropped,
            "candidate_edges": len(task.edges),
            "score": float(np.average(of_rows, weights=data.counts)),
            **result.to_dict(),
        }
        if not isinstance(self.strength, str) and not len(task.edges_of(result.weights)):
            given, limit = model.alpha or 0.0, self.max_alpha(task)
            if limit <= given:
                info["too_strong"] = TooStrong(self.group_strength, given, limit).to_dict()
        if self.stability is not None:
            info["halves"] = 0 if model.stability is None else model.stability.halves
            info["halves_wanted"] = self.stability
        return info


def _checked_penalty(penalty: Penalty, n_features: int) -> Penalty:
    """A penalty object, if it is for this number of features."""
    weight = penalty.weight
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
