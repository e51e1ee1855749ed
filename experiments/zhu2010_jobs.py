"""What the experiments of Zhu, Lao & Xing (2010) run: fits by a method that selects features, and what each cost.

Each is a job: a function with settings that can be written as JSON, and so can what it returns. The tables and figures
that are made of them are in zhu2010.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from endings import ProcessorTime, Steady
from jobs import Job, peak_mb
from parsimon.arrays import Array, IntArray
from parsimon.data import load_conll2000, load_ocr_letters, make_network, make_sequences
from parsimon.designs.feature_table import FeatureTable
from parsimon.designs.mrf import MRFDesign
from parsimon.features.columns import Labels
from parsimon.features.item_features import MatrixFeatures, SparseSequences
from parsimon.features.presets import get_preset
from parsimon.features.space import FeatureSpace
from parsimon.features.template_features import TemplateFeatures
from parsimon.losses import Log, PseudoLikelihood
from parsimon.penalties import L1, L2, ElasticNet, Penalty
from parsimon.problem import Batch, InMemoryProblem
from parsimon.solvers import (
    LBFGS,
    OWLQN,
    Event,
    GaussSeidel,
    Grafting,
    Monitor,
    Result,
    Solver,
    Status,
    Weights,
    drive,
)
from parsimon.structures import BeliefPropagation, Graph, MRFParts, PairwiseMRF, Table
from parsimon.tasks.sequences.training import SequenceTraining

# --- Methods ------------------------------------------------------------------------------------------------

# By name; `unit` is the number of features that are selected at a time.
METHODS: dict[str, Callable[[int, float], Solver]] = {
    "Grafting-Light": lambda unit, tol: Grafting(unit=unit, steps=1, tol=tol),
    "Grafting": lambda unit, tol: Grafting(unit=unit, tol=tol),
    "Gauss-Seidel": lambda unit, tol: GaussSeidel(unit=unit, tol=tol),
    "Full-Opt.-L1": lambda unit, tol: OWLQN(tol=tol),
}


def told(result: Result, problem: InMemoryProblem, seconds: float, processors: float) -> dict[str, Any]:
    """The criteria of the paper but the error."""
    last = result.history[-1]
    kept = result.weights.nonzero()
    assert kept.features is not None
    loss = result.objective - problem.penalty.restrict(kept.features).value(kept.values)
    return {
        "seconds": seconds,
        "processors": processors,
        "objective": result.objective,
        "loss": loss,
        "active": result.weights.n_active,
        "selected": problem.n_features if last.selected is None else last.selected,
        "gradients": last.evaluations,
        "kkt": result.kkt,
        "status": result.status.name,
        "peak_mb": peak_mb(),
    }


# --- Labelling sequences ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Labelling:
    """Sequences to learn from and to test on, and how they are looked at."""

    space: FeatureSpace
    train: tuple[Any, Labels]
    test: tuple[Any, Labels]
    metric: str
    order: int = 1

    def training(
        self, penalty: Penalty, solver: Solver, callbacks: Sequence[Callable[[Event], Any]], threads: int
    ) -> SequenceTraining:
        """With these settings."""
        return SequenceTraining(
            penalty=penalty,
            solver=solver,
            callback=callbacks,
            n_jobs=threads,
            order=self.order,
            token_labels="pairs" if self.order == 2 else "both",  # the features of Sha & Pereira
            dev_metric=self.metric,
        )


@cache
def synthetic(
    *, sequences: int, features: int, relevant: int, scale: float, seed: int, share: float = 0.6
) -> Labelling:
    """A chain CRF with independent normal features of which the first are relevant; a share to learn from."""
    made = make_sequences(
        "iid",
        n_sequences=sequences,
        n_features=features,
        n_relevant=relevant,
        scale=scale,
        random_state=seed,
    )
    X, y = SparseSequences.from_sequences(made.X), Labels.from_sequences(made.y)
    cut = int(share * sequences)
    return Labelling(MatrixFeatures(), (X[:cut], y[:cut]), (X[cut:], y[cut:]), "accuracy")


def noun_phrases(y: Labels) -> Labels:
    """B, I and O of noun phrases; all other chunks are outside."""
    tag = np.array([("O", "B", "I").index({"B-NP": "B", "I-NP": "I"}.get(name, "O")) for name in y.names])
    return Labels(tag[y.ids].astype(np.int32), y.lengths, ("O", "B-NP", "I-NP"))


@cache
def chunking(*, sentences: int | None = None, development: bool = False) -> Labelling:
    """Noun phrases of CoNLL-2000 with second-order labels; to choose by, every tenth sentence is held out."""
    (X, y), (X_test, y_test) = load_conll2000("train"), load_conll2000("test")
    y, y_test = noun_phrases(y), noun_phrases(y_test)
    if sentences is not None:
        X, y, X_test, y_test = X[:sentences], y[:sentences], X_test[:sentences], y_test[:sentences]
    if development:
        numbers = np.arange(len(y))
        some, others = numbers[numbers % 10 == 0], numbers[numbers % 10 != 0]
        X, X_test = X[others], X[some]  # type: ignore[index]
        y, y_test = y[others], y[some]  # type: ignore[call-overload]
    space = TemplateFeatures(get_preset("sha-pereira"))
    return Labelling(space, (X, y), (X_test, y_test), "f1", order=2)


LABELLINGS: dict[str, Callable[..., Labelling]] = {"synthetic": synthetic, "chunking": chunking}


def select(
    *,
    data: dict[str, Any],
    method: str,
    unit: int,
    strength: float,
    tol: float,
    limit: float,
    threads: int,
) -> dict[str, Any]:
    """Features are selected and their weights learnt by one of the methods; all six criteria, the last on test data."""
    return solved(data, L1(strength), METHODS[method](unit, tol), limit, threads)


def everything(*, data: dict[str, Any], strength: float, limit: float, threads: int) -> dict[str, Any]:
    """The CRF with all features, and an L2 penalty."""
    return solved(data, L2(strength), LBFGS(tol=1e-4), limit, threads)


def solved(
    data: dict[str, Any], penalty: Penalty, solver: Solver, limit: float, threads: int
) -> dict[str, Any]:
    """What a solver comes to within so many seconds of processor time, how it got there, and the score on test data."""
    settings = dict(data)
    given = LABELLINGS[settings.pop("name")](**settings)
    way = Way()
    training = given.training(penalty, ProcessorTime(solver, limit), [way], threads)
    task = training.prepare(given.space, *given.train)
    score = task.development_score(given.test)
    way.begin()
    began, busy = time.perf_counter(), time.process_time()
    result = training.solve(task, Weights.zeros(task.problem.n_features))
    seconds, processors = time.perf_counter() - began, time.process_time() - busy
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return told(result, task.problem, seconds, processors) | {
        "score": score(result.weights),
        "candidates": task.problem.n_features,
        "attributes": n_attributes(task.features, result.weights),
        "way": way.points,
    }


def n_attributes(features: FeatureTable, weights: Weights) -> int:
    """How many attributes have a weight that is not zero, with whatever label."""
    kept = weights.nonzero()
    assert kept.features is not None
    node, pair = features.starts()
    starts = np.concatenate([node[:-1], pair[:-1]])
    return len(np.unique(np.searchsorted(starts, kept.features, side="right")))


@dataclass
class Way:
    """Objectives by seconds of processor time: every new one that is lower than the one before by a ten-thousandth."""

    points: list[tuple[float, float]] = field(default_factory=list)
    began: float = 0.0

    def begin(self) -> None:
        """From now on."""
        self.began = time.process_time()

    def __call__(self, event: Event) -> None:
        """After an iteration."""
        if not self.points or event.objective < self.points[-1][1] * (1 - 1e-4):
            self.points.append((round(time.process_time() - self.began, 3), event.objective))


# --- Images of letters --------------------------------------------------------------------------------------

SIDE = 20  # images are so many pixels square, with the glyph of 16 × 8 in their middle
DOWN, RIGHT = 2, 6


@cache
def images(letter: str) -> tuple[IntArray, IntArray]:
    """All images of a letter as rows of 400 pixels: every other one to learn from, the others to test on."""
    words = load_ocr_letters()
    pixels = np.asarray(words.X.matrix.todense(), np.int64).reshape(-1, 16, 8)
    names = np.array(words.y.names)[words.y.ids]
    glyphs = pixels[names == letter]
    square = np.zeros((len(glyphs), SIDE, SIDE), np.int64)
    square[:, DOWN : DOWN + 16, RIGHT : RIGHT + 8] = glyphs
    rows = square.reshape(len(glyphs), -1)
    return rows[::2], rows[1::2]


class CompleteGraph(PairwiseMRF):
    """A Markov random field in which edges without a weight pass messages too, as if they were not known to be idle."""

    def marginals(self, scores: MRFParts) -> tuple[Array, MRFParts]:
        """Every edge scores something, if only 10⁻³⁰⁰."""
        return super().marginals(MRFParts(scores.node, np.where(scores.edge == 0, 1e-300, scores.edge)))


NODE_SHARE = 0.01  # of the strength: pixels that are always black need some, all others hardly any


def network_problem(
    rows: IntArray, strength: float, threads: int, *, centred: bool, complete: bool
) -> tuple[InMemoryProblem, Weights]:
    """A binary Markov random field over all pixels and all pairs of them, with an L1 penalty; and where to start.

    As in the paper, features are y_v and y_u y_v, all are penalised alike, and all weights start at zero. Or they are
    `centred`: covariances in place of products, pixels hardly penalised, and a start at independent pixels. If it is
    `complete`, messages go along all edges.
    """
    graph = Graph.complete([2] * rows.shape[1])
    table = Table(rows, graph.arity)
    if centred:
        design = MRFDesign.contrasts(graph, centre=table.means(graph).node, threads=threads)
        weight = np.ones(design.n_features)
        weight[: graph.n_nodes] = NODE_SHARE
        penalty = ElasticNet(l1=strength, weight=weight)
        start = independent(rows, strength, design.n_features)
    else:
        design = MRFDesign.reference(graph, threads=threads)
        penalty, start = L1(strength), Weights.zeros(design.n_features)
    messages = BeliefPropagation(tol=1e-4, warm=False)
    kind = CompleteGraph if complete else PairwiseMRF
    structure = kind(graph, weights=np.array([table.total]), inference=messages, threads=threads)
    return InMemoryProblem((Batch(design, structure, table),), Log(), penalty, design.n_features), start


def independent(rows: IntArray, strength: float, n_features: int) -> Weights:
    """The optimum without edges: pixel by pixel, N tanh(w) = Σ ±1, each shrunk by the penalty."""
    total = (2 * rows - 1).sum(axis=0).astype(float)
    shrunk = np.sign(total) * np.maximum(np.abs(total) - NODE_SHARE * strength, 0.0)
    return Weights(np.arctanh(shrunk / len(rows)), np.arange(rows.shape[1]), n_features)


def letter(
    *,
    letter: str,
    method: str,
    unit: int,
    share: float,
    centred: bool,
    tol: float,
    change: float,
    limit: float,
    threads: int,
    complete: bool = False,
    rows: int | None = None,
    chains: int = 16,
) -> dict[str, Any]:
    """The structure of a letter's image, and how good a model of it that is by measures that do not trust messages."""
    train, test = (part[:rows] for part in images(letter))
    strength = share * len(train)
    problem, start = network_problem(train, strength, threads, centred=centred, complete=complete)
    solver = Steady(METHODS[method](unit, tol), change)
    began, busy = time.perf_counter(), time.process_time()
    result = drive(solver, problem, start, Monitor(time_limit=limit))
    seconds, processors = time.perf_counter() - began, time.process_time() - busy
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    design: Any = problem.batches[0].design
    n_pixels = train.shape[1]
    kept = result.weights.nonzero()
    assert kept.features is not None
    return told(result, problem, seconds, processors) | {
        "edges": int((kept.features >= n_pixels).sum()),
        "rows": len(train),
        "bethe": -(told_loss(problem, result.weights)) / (len(train) * n_pixels),
        "pseudo": conditional_likelihood(design, result.weights, test, threads),
        "likelihood": sampled_likelihood(design, result.weights, test, threads, chains=chains),
        **average_images(problem, result.weights, threads),
        "data": train.mean(axis=0).round(4).tolist(),
    }


def told_loss(problem: InMemoryProblem, weights: Weights) -> float:
    """Σ loss, with messages that start from nothing."""
    kept = weights.nonzero()
    assert kept.features is not None
    small = problem.restrict(kept.features)
    batch = small.batches[0]
    structure: Any = batch.structure
    cold = PairwiseMRF(structure.graph, weights=structure.weights, threads=structure.threads)
    return problem.loss(cold, batch.design.scores(kept.values), batch.gold)[0]


def conditional_likelihood(design: MRFDesign, weights: Weights, rows: IntArray, threads: int) -> float:
    """Mean log p(pixel | all others) on images that were not learnt from: exact."""
    kept = weights.nonzero()
    assert kept.features is not None
    small = design.restrict(kept.features)
    structure = PairwiseMRF(small.graph, weights=np.ones(1), threads=threads)
    value, _ = PseudoLikelihood()(structure, small.scores(kept.values), Table(rows, small.graph.arity))
    return -value / rows.shape[1]


def sampled_likelihood(
    design: MRFDesign, weights: Weights, rows: IntArray, threads: int, *, steps: int = 200, chains: int = 16
) -> float:
    """Mean log-likelihood a pixel on images that were not learnt from, log Z by annealed importance sampling.

    From independent pixels (edges times β = 0) to the model (β = 1): log Z = log Z₀ + log mean exp Σ_t (β_t − β_{t−1})
    s_edges(x_{t−1}), with x_t a sweep of Gibbs sampling at β_t after x_{t−1} (Neal 2001).
    """
    kept = weights.nonzero()
    assert kept.features is not None
    small = design.restrict(kept.features)
    structure = PairwiseMRF(small.graph, threads=threads)
    scores = small.scores(kept.values)
    node = scores.node.reshape(-1, 2)
    log_z0 = float(np.logaddexp(node[:, 0], node[:, 1]).sum())
    weight = np.zeros(chains)
    edges_only = replace_parts(scores, 0.0, 1.0)
    for chain in range(chains):
        x = structure.sample(replace_parts(scores, 1.0, 0.0), 1, seed=chain, burn_in=1, chains=1)[0]
        for t in range(1, steps + 1):
            weight[chain] += float(structure.score(edges_only, x)[0]) / steps
            at = replace_parts(scores, 1.0, t / steps)
            x = structure.sample(at, 1, seed=chain * steps + t, burn_in=1, chains=1, start=x)[0]
    log_z = log_z0 + float(np.logaddexp.reduce(weight)) - np.log(chains)
    mean = float(structure.score(scores, Table(rows, small.graph.arity))[0])
    return (mean - log_z) / rows.shape[1]


def replace_parts(scores: Any, nodes: float, edges: float) -> Any:
    """Scores times so much."""
    return type(scores)(nodes * scores.node, edges * scores.edge)


def average_images(problem: InMemoryProblem, weights: Weights, threads: int) -> dict[str, Any]:
    """What the model thinks of every pixel: by messages, and by sampling."""
    kept = weights.nonzero()
    assert kept.features is not None
    batch = problem.restrict(kept.features).batches[0]
    structure: Any = batch.structure
    scores: Any = batch.design.scores(kept.values)
    cold = PairwiseMRF(structure.graph, threads=threads)
    _, beliefs = cold.marginals(scores)
    drawn = cold.sample(scores, 400, seed=1, burn_in=200, thin=5, chains=20)
    assert cold.inference_report is not None
    return {
        "believed": np.asarray(beliefs.node).reshape(-1, 2)[:, 1].round(4).tolist(),
        "sampled": drawn.mean(axis=0).round(4).tolist(),
        "messages_converged": cold.inference_report.all_converged,
    }


# --- Recovery -----------------------------------------------------------------------------------------------


def recover(
    *, kind: str, variables: int, samples: int, coupling: float, seed: int, threads: int
) -> dict[str, Any]:
    """Edges found from samples of a known Ising network, by a Markov network and by the graphical lasso."""
    from parsimon import MarkovNetwork

    made = make_network(kind, variables, samples, coupling=coupling, random_state=seed)
    true = {tuple(sorted(edge)) for edge in np.asarray(made.edges).tolist()}
    out: dict[str, Any] = {"edges": len(true)}
    for name, settings in {
        "pseudo-likelihood, EBIC": {"alpha": "ebic"},
        "pseudo-likelihood, CV": {"alpha": "cv"},
        "belief propagation, EBIC": {"alpha": "ebic", "loss": "log"},
    }.items():
        began = time.perf_counter()
        network = MarkovNetwork(n_jobs=threads, random_state=0, **settings).fit(made.X)
        found = {tuple(sorted(map(int, edge))) for edge in network.model_.edges}
        out[name] = precision_recall(found, true) | {"seconds": time.perf_counter() - began}
    began = time.perf_counter()
    out["graphical lasso, CV"] = precision_recall(by_graphical_lasso(made.X), true) | {
        "seconds": time.perf_counter() - began
    }
    return out


def by_graphical_lasso(X: Any) -> set[tuple[int, int]]:
    """scikit-learn's, its strength by cross-validation, as if the columns were normal."""
    from sklearn.covariance import GraphicalLassoCV

    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in np.asarray(X).T])
    precision = GraphicalLassoCV().fit(codes.astype(float)).precision_
    u, v = np.nonzero(np.triu(np.abs(precision) > 1e-8, 1))
    return set(zip(u.tolist(), v.tolist(), strict=True))


def precision_recall(found: set[tuple[int, int]], true: set[tuple[int, int]]) -> dict[str, float]:
    """Of edges."""
    right = len(found & true)
    return {"precision": right / max(len(found), 1), "recall": right / max(len(true), 1), "found": len(found)}


# --- Speed --------------------------------------------------------------------------------------------------


def sweeps(*, variables: int, edges: int, schedule: str, threads: int) -> dict[str, Any]:
    """Seconds a sweep of belief propagation over so many random edges, all of which score."""
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(variables, 1)
    some = np.sort(rng.choice(len(u), edges, replace=False))
    graph = Graph.single([2] * variables, np.column_stack([u, v])[some])
    design = MRFDesign.contrasts(graph)
    w = rng.normal(size=design.n_features) * 0.5 / np.sqrt(variables)
    scores = design.scores(w)
    times = []
    for n in (1, 21):
        messages = BeliefPropagation(tol=0.0, max_sweeps=n, schedule=schedule, adaptive=False, warm=False)
        structure = PairwiseMRF(graph, inference=messages, threads=threads)
        each = []
        for _ in range(5):
            began = time.perf_counter()
            structure.marginals(scores)
            each.append(time.perf_counter() - began)
        times.append(float(np.median(each)))
    return {"seconds": (times[1] - times[0]) / 20, "with_one": times[0], "peak_mb": peak_mb()}


JOBS: dict[str, Job] = {
    "select": select,
    "everything": everything,
    "letter": letter,
    "recover": recover,
    "sweeps": sweeps,
}
