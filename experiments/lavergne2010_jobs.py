"""What the experiments of Lavergne, Cappé & Yvon (2010) run: fits, and measurements of what they cost.

Each is a job: a function with settings that can be written as JSON, and so can what it returns. The tables that are
made of them are in lavergne2010.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

from jobs import Job, peak_mb
from lavergne2010_orders import held_out, tested
from parsimon.arrays import Array
from parsimon.data import folds, load_brown, load_nettalk, load_treebank_pos, phonemes
from parsimon.designs.pairs import ChainDesign
from parsimon.features.columns import Columns, Labels
from parsimon.features.ngram_templates import bias, label_bigram, ngram, with_kind
from parsimon.features.presets import get_preset
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.templates import TemplateSet
from parsimon.penalties import L2, ElasticNet
from parsimon.problem import Batch, InMemoryProblem
from parsimon.selection.growth import Growth, Stage
from parsimon.solvers import LBFGS, Event, Monitor, Result, Status, Weights, drive
from parsimon.solvers.working_set import look_at_all
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import Labelled, SequenceTask, SequenceTraining
from parsimon.tasks.training import Run

RHO1, RHO2 = 0.5, 1e-5  # "nearly optimal" on Nettalk, and used throughout (section 5)
OURS = "working-set"  # proximal quasi-Newton steps on working sets, the default
MOST = {"sgd-l1": 60, "bcd": 30}  # epochs and sweeps, if the development set does not stop them before
PATIENCE = 6  # scores in a row on the development set that are no better than the best
TOLERANCE = 0.002  # of accuracy, a standard error of 14,600 letters: within it, the smallest model is kept
HANDFUL = 20  # L-BFGS iterations of the final fine-tuning, and
FINE = (0.03, 0.1, 0.3)  # its L2 strengths, of which the development set chooses
AGREED, ITERATIONS = (
    1e-5,
    300,
)  # the tolerance with which solvers are compared, and how long they have before fine-tuning
STEPS = 60  # iterations before the cost of an evaluation is measured, by labels and by candidates
MOST_DENSE = 51  # labels with which dense matrices are measured too; with 114 they take 3 GB and 16 s
LOOK = 0.8  # features are found whose gradient is above this share of ρ1, as the solver does


# --- Data ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """Something to learn from, to stop by, and to test on."""

    train: tuple[Columns, Labels]
    dev: tuple[Columns, Labels]
    test: tuple[Columns, Labels]


NETTALK: dict[str, Callable[[], tuple[Columns, Labels]]] = {
    "nettalk": load_nettalk,
    "prosody": partial(load_nettalk, prosody=True, marks="phoneme"),
    "prosody, marks on letters": partial(load_nettalk, prosody=True),
}


def some_of_brown(split: Any) -> tuple[Columns, Labels]:
    """Every fifth sentence: all of them take hours."""
    X, y = load_brown(split)
    return X[::5], y[::5]


TAGGED: dict[str, Callable[[Any], tuple[Columns, Labels]]] = {
    "penn": load_treebank_pos,
    "brown": some_of_brown,
}


def data_of(name: str, fold: int, words: int | None) -> Data:
    """A fold of Nettalk (eight tenths, one and one), or a tagged text with the parts it has; `words` cuts it short."""
    if name in TAGGED:
        parts = (TAGGED[name](split) for split in ("train", "dev", "test"))
        return Data(*((X[:words], y[:words]) for X, y in parts))
    return fold_of(*NETTALK[name](), fold, words)


def fold_of(X: Columns, y: Labels, fold: int, words: int | None) -> Data:
    """One of ten folds."""
    X, y = X[:words], y[:words]
    chosen = folds(len(X))[fold]
    return Data(*((X[i], y[i]) for i in (chosen.train, chosen.dev, chosen.test)))  # type: ignore[call-overload]


def templates_of(name: str, kind: Any = None) -> TemplateSet:
    """`5-grm+` of the paper, or any preset; with `kind="node"` no test is made with label pairs."""
    preset = f"nettalk-{name.replace('-', '', 1)}" if name[0].isdigit() else name
    return get_preset(preset) if kind is None else with_kind(get_preset(preset), kind)


def with_labels(n: int) -> tuple[Columns, Labels]:
    """Nettalk with so many labels: 51 phonemes, or 114 with prosody; 11 or 22 by merging, 228 by splitting.

    Merged: phonemes in order of frequency are dealt out to n classes, so that each has frequent and rare ones. Split: a
    letter at an odd place in its word has another label than one at an even place.
    """
    X, y = load_nettalk() if n <= 51 else load_nettalk(prosody=True, marks="phoneme")
    if n == len(y.names):
        return X, y
    if n < len(y.names):
        rank = np.argsort(np.argsort(-np.bincount(y.ids, minlength=len(y.names)), kind="stable"))
        return X, Labels((rank[y.ids] % n).astype(np.int32), y.lengths, [f"class {i}" for i in range(n)])
    place = np.concatenate([np.arange(length) for length in y.lengths])
    ids = 2 * y.ids + place % 2
    return X, Labels(ids.astype(np.int32), y.lengths, [f"{name}{odd}" for name in y.names for odd in "eo"])


# --- Fits ---------------------------------------------------------------------------------------------------


def fit(
    *,
    data: str,
    templates: str,
    fold: int,
    words: int | None,
    threads: int,
    solver: str = OURS,
    kind: str | None = None,
    l1: float = RHO1,
    l2: float = RHO2,
    dev_tolerance: float = TOLERANCE,
) -> dict[str, Any]:
    """Trains until the development set says stop, and tests; with an L1 penalty also after fine-tuning."""
    given = data_of(data, fold, words)
    training = stopped_by_dev(solver, threads, penalty=ElasticNet(l1, l2), dev_tolerance=dev_tolerance)
    clock = Clock()
    task = training.prepare(TemplateFeatures(templates_of(templates, kind)), *given.train)
    start = Weights.zeros(task.problem.n_features)
    result = finished(training.solve(task, start, Run(training.time_limit, began=clock.began), dev=given.dev))
    told = clock.read() | training_of(task, result, solver) | scores(task, result.weights, given, threads)
    if l1 > 0:
        tries = [scores(task, fine_tuned(task, result.weights, each), given, threads) for each in FINE]
        best = min(tries, key=lambda one: one["dev_error"])
        told |= {f"tuned_{of}": best[of] for of in ("error", "phoneme_error", "risk_error", "risk_dev_error")}
    return told


def stopped_by_dev(solver: str, threads: int, **settings: Any) -> SequenceTraining:
    """Training that the development set stops, as in section 5.3.1."""
    settings = {
        "max_iter": MOST.get(solver),
        "dev_metric": "accuracy",
        "patience": PATIENCE,
        "dev_tolerance": TOLERANCE,
        **settings,
    }
    return SequenceTraining(solver=solver, n_jobs=threads, **settings)


class Clock:
    """Wall time, the time of all processors together, which is what the paper gives, and memory."""

    def __init__(self) -> None:
        self.began, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        """Since it was made; memory since the process began."""
        seconds = time.perf_counter() - self.began
        return {"seconds": seconds, "cpu_seconds": time.process_time() - self._cpu, "peak_mb": peak_mb()}


def finished(result: Result) -> Result:
    """A result that is worth keeping."""
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def training_of(task: SequenceTask, result: Result, solver: str) -> dict[str, Any]:
    """How a training went."""
    return {
        "candidates": task.problem.n_features,
        "active": result.weights.n_active,
        "passes": passes_of(result.history, solver),
        "objective": result.objective,
        "status": result.status.value,
    }


def passes_of(history: Sequence[Event], solver: str) -> int:
    """Evaluations of loss and gradient, epochs, or sweeps (over all blocks or those that are active)."""
    return len(history) if solver in MOST else history[-1].evaluations


def scores(task: SequenceTask, weights: Weights, given: Data, threads: int) -> dict[str, Any]:
    """Errors on the development and the test data."""
    kept = SequenceModel.from_weights(task.labels, task.space, task.index, weights, {})
    return errors(kept, given, threads)


def errors(model: SequenceModel, given: Data, threads: int) -> dict[str, Any]:
    """Label errors; with prosody also those of the phonemes alone; `risk`: of minimum-risk decoding."""
    predicted = labelled(model, given.test[0], threads)
    joint = all(len(name) == 2 and name[1] in "012<>" for name in model.labels)
    return {
        "dev_error": error(given.dev[1], labelled(model, given.dev[0], threads)),
        "error": error(given.test[1], predicted),
        "phoneme_error": error(phonemes(given.test[1]), phonemes(predicted)) if joint else None,
        "risk_dev_error": error(given.dev[1], labelled(model, given.dev[0], threads, minimum_risk=True)),
        "risk_error": error(given.test[1], labelled(model, given.test[0], threads, minimum_risk=True)),
    }


def labelled(model: SequenceModel, X: Columns, threads: int, **how: Any) -> Labels:
    """What the model makes of it."""
    return model.as_labels(model.decode(model.observe(X, threads), threads=threads, **how), X.lengths)


def error(gold: Labels, predicted: Labels) -> float:
    """The share of wrong labels."""
    names = list(dict.fromkeys([*gold.names, *predicted.names]))
    return float(np.mean(gold.renumbered(names).ids != predicted.renumbered(names).ids))


def fine_tuned(task: SequenceTask, weights: Weights, strength: float) -> Weights:
    """A handful of L-BFGS iterations on the features that are left, with a small L2 penalty alone (section 5.3.1)."""
    kept = weights.nonzero()
    assert kept.features is not None
    problem = replace(task.problem.restrict(kept.features), penalty=L2(strength))
    start = Weights(kept.values, None, len(kept.values))
    refit = finished(drive(LBFGS(tol=1e-6), problem, start, Monitor(max_iter=HANDFUL)))
    return Weights(refit.weights.values, kept.features, kept.n_features)


def grow(
    *, data: str, solver: str, after: list[int] | None, words: int | None, threads: int
) -> dict[str, Any]:
    """A tagger whose tests join in stage by stage, or with `after=None` all at once."""
    given = data_of(data, 0, words)
    first, *later = stages()
    growth = None
    if after is None:
        for more in later:
            first = first + more
    else:
        growth = Growth([Stage(more, after=n) for more, n in zip(later, after, strict=True)])
    most = 4 if solver in MOST else None  # sweeps of the last stage: ten in all, as in the paper
    training = stopped_by_dev(solver, threads, growth=growth, max_iter=most)
    clock = Clock()
    labelled_data = Labelled(TemplateFeatures(first), *given.train)
    trained = training.run(labelled_data, dev=given.dev, began=clock.began)
    model, result = trained.model, finished(trained.result)
    told = clock.read() | errors(model, given, threads)
    told |= {"candidates": model.info["candidate_features"], "active": len(model.weights)}
    ends = (
        [stage["until"] + 1 for stage in model.info["growth"]["stages"]] if growth else [len(result.history)]
    )
    stretches = [result.history[first:end] for first, end in pairwise([0, *ends])]
    passes = sum(passes_of(stretch, solver) for stretch in stretches)
    return told | {"passes": passes, "growth": model.info["growth"]}


def stages() -> list[TemplateSet]:
    """The current word; pairs of words and affixes; three words; five words (section 5.4). All with label pairs too."""
    word = partial(ngram, name="word", kind="both")
    affixes = [
        ngram(0, 0, transform=f"{affix}:{length}", name=f"{affix}{length}", kind="both")
        for affix in ("prefix", "suffix")
        for length in range(1, 5)
    ]
    second = word(-1, 0) + word(0, 1)
    for affix in affixes:
        second = second + affix
    return [bias() + word(0, 0) + label_bigram(), second, word(-1, 1), word(-2, 2)]


# --- Costs --------------------------------------------------------------------------------------------------


def layouts(*, templates: str, fold: int, words: int | None, threads: int) -> dict[str, Any]:
    """One evaluation of loss and gradient on the features of a trained model: sparse and dense."""
    given = data_of("nettalk", fold, words)
    training = stopped_by_dev(OURS, threads)
    task = training.prepare(TemplateFeatures(templates_of(templates)), *given.train)
    result = finished(training.solve(task, Weights.zeros(task.problem.n_features), dev=given.dev))
    return costs(task, result.weights) | {"active": result.weights.n_active}


def costs(task: SequenceTask, weights: Weights, *, dense: bool = True) -> dict[str, Any]:
    """Median seconds of an evaluation, wall and processors, with label pairs laid out as chosen and all in matrices."""
    kept = weights.nonzero()
    assert kept.features is not None
    chosen = task.problem.restrict(kept.features)
    if not dense:
        return {"chosen": medians([partial(chosen.loss_and_gradient, kept.values)])[0]}
    matrices = with_matrices(chosen)
    loss, reference = chosen.loss_and_gradient(kept.values)[0], matrices.loss_and_gradient(kept.values)[0]
    assert np.isclose(loss, reference, rtol=1e-9), "both layouts are of one function"
    problems = (chosen, matrices)
    times = medians([partial(problem.loss_and_gradient, kept.values) for problem in problems])
    return {"chosen": times[0], "dense": times[1], "zeros": share_of_zeros(matrices, kept.values)}


def medians(functions: Sequence[Callable[[], Any]], repeats: int = 5) -> list[tuple[float, float]]:
    """Median wall and processor time of each; they take turns, after a first round that does not count."""
    times: list[list[tuple[float, float]]] = [[] for _ in functions]
    for repeat in range(repeats + 1):
        for function, own in zip(functions, times, strict=True):
            wall, cpu = time.perf_counter(), time.process_time()
            function()
            if repeat:
                own.append((time.perf_counter() - wall, time.process_time() - cpu))
    return [(median(wall for wall, _ in own), median(cpu for _, cpu in own)) for own in times]


def with_matrices(problem: InMemoryProblem) -> InMemoryProblem:
    """The same problem with the label pairs of every step in a matrix: dense forward–backward."""
    return replace(problem, batches=tuple(_with_matrices(batch) for batch in problem.batches))


def _with_matrices(batch: Batch) -> Batch:
    d: Any = batch.design
    dense = ChainDesign.build(
        d.n_labels, d.node, d.steps, d.step_row, matrices=True, threads=d.threads, workspace=d.workspace
    )
    chain: Any = batch.structure
    return replace(batch, design=dense, structure=dense.adapt(chain))


def share_of_zeros(dense: InMemoryProblem, w: Array) -> float:
    """The share of zeros in M_t(y', y) = exp(λ) − 1, over all steps (section 4.1)."""
    zeros = steps = 0.0
    for batch in dense.batches:
        chain: Any = batch.structure
        pair = batch.design.scores(w).pair
        share = np.mean(pair == 0, axis=(1, 2))
        into = np.ones(chain.n_tokens, bool)
        into[chain.offsets[:-1][np.diff(chain.offsets) > 0]] = False  # nothing leads into a first token
        kind = chain.pair_kind[into]
        zeros += float(np.where(kind >= 0, share[kind], 1.0).sum())
        steps += len(kind)
    return zeros / steps


def by_labels(*, n: int, templates: str, fold: int, words: int | None, threads: int) -> dict[str, Any]:
    """What training costs with so many labels: an evaluation, a look at all candidates, an iteration on average."""
    given = fold_of(*with_labels(n), fold, words)
    training = SequenceTraining(max_iter=STEPS, solver=OURS, n_jobs=threads)
    task = training.prepare(TemplateFeatures(templates_of(templates)), *given.train)
    began = time.process_time()
    result = finished(training.solve(task, Weights.zeros(task.problem.n_features)))
    iteration = (time.process_time() - began) / len(result.history)
    peak = peak_mb()  # dense matrices are not a part of it
    kept = result.weights.nonzero()
    (look,) = medians([partial(look_at_all, task.problem, kept, LOOK)], 3)
    return costs(task, kept, dense=n <= MOST_DENSE) | {
        "look": look,
        "iteration": iteration,
        "candidates": task.problem.n_features,
        "active": kept.n_active,
        "peak_mb": peak,
    }


def by_candidates(*, templates: str, fold: int, words: int | None, threads: int) -> dict[str, Any]:
    """What an evaluation costs with the features of a 3-grm model, when there are more and more candidates."""
    given = data_of("nettalk", fold, words)
    training = SequenceTraining(max_iter=STEPS, solver=OURS, n_jobs=threads)
    model = training.fit(TemplateFeatures(templates_of("3-grm")), *given.train)
    task = training.prepare(TemplateFeatures(templates_of(templates)), *given.train)
    kept = task.weights_of(model)
    assert kept.n_active == len(model.weights), "every candidate set has all of 3-grm"
    (look,) = medians([partial(look_at_all, task.problem, kept, LOOK)], 3)
    told = {"look": look, "candidates": task.problem.n_features, "active": kept.n_active}
    return told | costs(task, kept, dense=False)


def agree(*, solver: str, templates: str, fold: int, words: int | None, threads: int) -> dict[str, Any]:
    """Objective and optimality after a solver's own training, and after more steps of the default one from there."""
    given = data_of("nettalk", fold, words)
    tol = None if solver in MOST else AGREED
    most = MOST.get(solver, ITERATIONS)
    own = SequenceTraining(solver=solver, max_iter=most, tol=tol, n_jobs=threads)
    task = own.prepare(TemplateFeatures(templates_of(templates)), *given.train)
    clock = Clock()
    first = finished(own.solve(task, Weights.zeros(task.problem.n_features)))
    took = clock.read()["seconds"]
    more = SequenceTraining(solver=OURS, tol=AGREED, max_iter=600, n_jobs=threads)
    second = finished(more.solve(task, first.weights))
    return {
        "seconds": took,
        "passes": passes_of(first.history, solver),
        "own": certificate(task, first.weights),
        "tuned": certificate(task, second.weights),
        "more_passes": second.history[-1].evaluations,
    }


def certificate(task: SequenceTask, weights: Weights) -> dict[str, Any]:
    """The objective, the largest violation of an optimality condition, and how much lower the optimum can be."""
    view = look_at_all(task.problem, weights.nonzero(), LOOK)
    return {"objective": view.objective, "kkt": view.largest, "gap": view.gap, "active": weights.n_active}


JOBS: dict[str, Job] = {
    "fit": fit,
    "grow": grow,
    "layouts": layouts,
    "by_labels": by_labels,
    "by_candidates": by_candidates,
    "agree": agree,
    "held_out": held_out,
    "tested": tested,
}
