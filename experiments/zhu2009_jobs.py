"""What the experiments of Zhu, Xing & Zhang (2009) run: fits of a method on folds of a data set, and a race for M3Ns.

Each is a job: a function with settings that can be written as JSON, and so can what it returns. The tables and figures
that are made of them are in zhu2009.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from jobs import Job
from parsimon.data import load_ocr_letters, make_sequences
from parsimon.data.ocr_letters import OCRWords
from parsimon.data.synthetic_sequences import SyntheticSequences
from parsimon.features.columns import Labels
from parsimon.features.item_features import MatrixFeatures, SparseSequences
from parsimon.penalties import L1, L2, KLNorm, L1Ball, Penalty, SquaredL1
from parsimon.solvers import (
    LBFGS,
    Adaptive,
    CuttingPlane,
    Event,
    FrankWolfe,
    OneSlack,
    ProjectedSubgradient,
    Result,
    Smoothing,
    Solver,
    Status,
    Subgradient,
    Weights,
    WorkingSet,
)
from parsimon.tasks.sequences.training import SequenceTask, SequenceTraining

# --- Data ---------------------------------------------------------------------------------------------------

Part = tuple[SparseSequences, Labels]


@dataclass(frozen=True)
class Split:
    """Sequences to learn from and to test on."""

    train: Part
    test: Part


@cache
def made_set(seed: int, scale: float, sequences: int) -> tuple[SyntheticSequences, SparseSequences, Labels]:
    """One of the synthetic data sets, with correlated features."""
    made = make_sequences("correlated", n_sequences=sequences, scale=scale, random_state=seed)
    return made, SparseSequences.from_sequences(made.X), Labels.from_sequences(made.y)


def synthetic(fold: int, *, seed: int, scale: float, sequences: int, parts: int) -> Split:
    """One of so many parts to learn from, the others to test on. Sequences are in no order, so parts are slices."""
    _, X, y = made_set(seed, scale, sequences)
    cuts = np.array_split(np.arange(sequences), parts)
    rest = np.concatenate([part for p, part in enumerate(cuts) if p != fold])
    return Split((X[cuts[fold]], y[cuts[fold]]), (X[rest], y[rest]))  # type: ignore[call-overload]


@cache
def letters() -> OCRWords:
    """All words there are; beside the pixels, every letter has an attribute that always fires."""
    from scipy.sparse import csr_array, hstack

    words = load_ocr_letters()
    always = csr_array(np.ones((words.X.matrix.shape[0], 1)))
    return replace(words, X=SparseSequences(hstack([words.X.matrix, always]), words.X.lengths))


def ocr(fold: int, *, words: int | None, nine: bool) -> Split:
    """So many words of each fold, or all: those of one to learn from and of nine to test on; or the other way round."""
    drawn = letters() if words is None else letters().draw(words)
    one, others = drawn.select_folds(fold), drawn.select_folds(*(k for k in range(10) if k != fold))
    train, test = (others, one) if nine else (one, others)
    return Split((train.X, train.y), (test.X, test.y))


def ocr_development(fold: int, *, words: int, nine: bool, most: int) -> Split:
    """The same to learn from; words of the fold that are not even among the first `most` drawn to choose by."""
    everything = letters()
    chosen = np.setdiff1d(np.flatnonzero(everything.fold == fold), numbers_drawn(everything, most))
    dev = everything.X[chosen], everything.y[chosen]  # type: ignore[call-overload]
    return Split(ocr(fold, words=words, nine=nine).train, dev)


def numbers_drawn(words: OCRWords, n: int) -> Any:
    """Which words `draw` takes: drawing from their numbers instead of the words says so."""
    numbers: Any = np.arange(len(words))
    return OCRWords(numbers, numbers, words.fold).draw(n).X


DATA: dict[str, Callable[..., Split]] = {
    "synthetic": synthetic,
    "ocr": ocr,
    "ocr development": ocr_development,
}


def split_of(data: dict[str, Any], fold: int) -> Split:
    """A fold of a data set by its name and settings."""
    settings = dict(data)
    return DATA[settings.pop("name")](fold, **settings)


# --- Methods ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """A loss, a penalty that is made of constants, and a solver."""

    loss: str
    penalty: Callable[..., Penalty]
    solver: Solver


def laplace(strength: float, sharpness: float) -> KLNorm:
    """An L1 norm of that strength, rounded off within 1/√sharpness of zero."""
    return KLNorm(sharpness, strength / np.sqrt(sharpness))


# Objectives are Σ loss + Ω, so that ½‖w‖² + C Σξ of the paper is L2(1/C) and ‖w‖₁ + C Σξ is L1(1/C).
UNREGULARISED = 1e-6  # where a fold can be labelled without error, a CRF without any penalty has no optimum
METHODS = {
    "CRF": Method("log", lambda: L2(UNREGULARISED), LBFGS(tol=1e-5)),
    "L2-CRF": Method("log", L2, LBFGS(tol=1e-4)),
    "L1-CRF": Method("log", L1, WorkingSet(tol=1e-4)),
    "M3N": Method("hinge", L2, FrankWolfe(tol=1e-3)),
    "LapM3N": Method("hinge", laplace, Smoothing(tol=3e-3)),
    "LapM3N, EM": Method("hinge", laplace, Adaptive(tol=1e-3)),
    "cutting plane": Method("hinge", L1, CuttingPlane(tol=1e-3)),
    "EM": Method("hinge", L1, Adaptive(tol=1e-3, drop=1e-3)),
    "EM, Σ τ = K": Method("hinge", SquaredL1, Adaptive(tol=1e-3, drop=1e-3)),
    "subgradient": Method("hinge", L1Ball, ProjectedSubgradient(tol=1e-3, patience=50)),
}


def fit(
    *,
    data: dict[str, Any],
    method: str,
    grid: Sequence[Sequence[float]],
    folds: Sequence[int],
    threads: int,
    limit: float | None = None,
    tol: float | None = None,
) -> dict[str, Any]:
    """Learns from every fold with all constants of a grid, and tests on what is left.

    What comes back is `fits`, by constants and by fold; and for synthetic data the average weights over the folds.
    """
    how = METHODS[method]
    solver: Any = how.solver if tol is None else replace(how.solver, tol=tol)  # type: ignore[type-var]
    training = SequenceTraining(
        loss=how.loss, penalty=how.penalty(*grid[0]), solver=solver, time_limit=limit, n_jobs=threads
    )
    fits: list[list[dict[str, Any]]] = [[] for _ in grid]
    weights: list[list[Any]] = [[] for _ in grid]
    for fold in folds:
        given = split_of(data, fold)
        task = training.prepare(MatrixFeatures(), *given.train)
        accuracy = replace(task, metric="accuracy").development_score(given.test)
        for k, constants in enumerate(grid):
            own = replace(task, problem=replace(task.problem, penalty=how.penalty(*constants)))
            told, w = learnt(training, own)
            fits[k].append(told | {"error": 1 - accuracy(w)})
            weights[k].append(by_label(own, w) if data["name"] == "synthetic" else None)
    averages = [rounded(np.mean(of, axis=0)) if of[0] is not None else None for of in weights]
    return {"fits": fits, "weights": averages}


def learnt(training: SequenceTraining, task: SequenceTask) -> tuple[dict[str, Any], Weights]:
    """One fit, and what it cost; `loss` and `norm` tell what it is worth as an L1-M3N, whatever its own penalty was."""
    began, busy = time.perf_counter(), time.process_time()
    result = finished(training.solve(task, Weights.zeros(task.problem.n_features)))
    seconds, processors = time.perf_counter() - began, time.process_time() - busy
    w = result.weights.dense()
    told = {
        "objective": result.objective,
        "gap": result.gap,
        "loss": task.problem.loss_and_gradient(w)[0],
        "norm": float(np.abs(w).sum()),
        "active": result.weights.n_active,
        "support": result.support,
        "rounds": len(result.history),
        "passes": result.history[-1].evaluations,
        "seconds": seconds,
        "processors": processors,
        "status": result.status.name,
    }
    return told, result.weights


def finished(result: Result) -> Result:
    """The result, unless Ctrl-C cut it short: then there is none to remember."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def by_label(task: SequenceTask, weights: Weights) -> Any:
    """All weights, with the labels in the order of their names: (feature, label), then (label before, label)."""
    order = np.argsort(task.labels)
    w, cut = weights.dense(), task.index.node.n_features
    state, transition = w[:cut].reshape(-1, len(order)), w[cut:].reshape(len(order), len(order))
    return np.concatenate([state[:, order].ravel(), transition[np.ix_(order, order)].ravel()])


def rounded(values: Any) -> list[float]:
    """To six digits that count, so that only zeros are zero."""
    return [float(f"{value:.6g}") for value in values]


def truth(*, seed: int, scale: float, sequences: int, threads: int) -> dict[str, Any]:
    """The error of the CRF that a synthetic set was drawn from, on that set; and its weights."""
    made, X, y = made_set(seed, scale, sequences)
    task = SequenceTraining(n_jobs=threads).prepare(MatrixFeatures(), X, y)
    order = [int(name) for name in task.labels]
    w = np.concatenate([made.state[:, order].ravel(), made.transition[np.ix_(order, order)].ravel()])
    weights = Weights(w, None, len(w))
    error = 1 - replace(task, metric="accuracy").development_score((X, y))(weights)
    relevant = np.concatenate([np.repeat(made.relevant, len(order)), np.ones(len(order) ** 2, bool)])
    return {"error": error, "weights": rounded(by_label(task, weights)), "relevant": relevant.tolist()}


# --- A race -------------------------------------------------------------------------------------------------

# Subgradient does not know when it is done; it goes on until the time is up.
RACERS: dict[str, Callable[[float], Solver]] = {
    "frank-wolfe": lambda tol: FrankWolfe(tol=tol),
    "one-slack": lambda tol: OneSlack(tol=tol),
    "smoothing": lambda tol: Smoothing(tol=tol),
    "subgradient": lambda tol: Subgradient(tol=0.0, window=1_000_000),
}


def race(
    *, data: dict[str, Any], strength: float, gaps: Sequence[float], limit: float, threads: int
) -> dict[str, Any]:
    """M3N solvers one after the other on the same fold: when each was within `gaps` (relative) of the minimum.

    `certified` is when its own gap said so; `reached` is when its objective was so near to the best lower bound that
    any of them found.
    """
    given = split_of(data, 0)
    training = SequenceTraining(loss="hinge", penalty=L2(strength), time_limit=limit, n_jobs=threads)
    task = training.prepare(MatrixFeatures(), *given.train)
    accuracy = replace(task, metric="accuracy").development_score(given.test)
    results = {}
    for name, solver in RACERS.items():
        own = replace(training, solver=solver(min(gaps)))
        results[name] = finished(own.solve(task, Weights.zeros(task.problem.n_features)))
    floor = max(
        e.objective - e.gap for result in results.values() for e in result.history if e.gap is not None
    )
    told: dict[str, Any] = {"words": len(given.train[1]), "floor": floor, "solvers": {}}
    for name, result in results.items():
        told["solvers"][name] = {
            "certified": [first(result.history, lambda e: e.gap, gap) for gap in gaps],
            "reached": [first(result.history, lambda e: e.objective - floor, gap) for gap in gaps],
            "objective": result.objective,
            "gap": result.gap,
            "passes": result.history[-1].evaluations,
            "seconds": result.history[-1].seconds,
            "status": result.status.name,
            "error": 1 - accuracy(result.weights),
        }
    return told


def first(history: Sequence[Event], left: Callable[[Event], float | None], gap: float) -> list[float] | None:
    """Seconds and passes of the first event where no more is left than `gap` of the objective; None without any."""
    for event in history:
        value = left(event)
        if value is not None and value <= gap * abs(event.objective):
            return [event.seconds, event.evaluations]
    return None


JOBS: dict[str, Job] = {"fit": fit, "truth": truth, "race": race}
