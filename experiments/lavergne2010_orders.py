"""Does a second tag before help? Chunking (CoNLL-2000) with chains of order 1 and 2: jobs of lavergne2010.py."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from jobs import peak_mb
from parsimon.arrays import IntArray
from parsimon.data import load_conll2000
from parsimon.features.columns import Columns, Labels
from parsimon.features.presets import get_preset
from parsimon.features.template_features import TemplateFeatures
from parsimon.tasks.sequences.metrics import SpanCounter
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining

STRENGTHS = (1.0, 0.5, 0.25)  # ρ1, of which held-out data choose
RHO2 = 1e-5
TENTHS = (0, 5)  # of the training sentences, each held out once
ROUGH = 1e-3  # tolerance of fits that only choose a strength
ORDERS: dict[str, dict[str, Any]] = {
    "order 1": {},
    "order 2, tags": {"order": 2, "token_labels": "tags"},
    "order 2, tags and pairs": {"order": 2, "token_labels": "both"},
}
DRAWS = 2000  # of the bootstrap


def held_out(*, kind: str, tenth: int, words: int | None, threads: int) -> dict[str, Any]:
    """F1 on a tenth of the training sentences, at every strength, learnt from the others."""
    X, y = load_conll2000()
    X, y = X[:words], y[:words]
    out = np.arange(len(y)) % 10 == tenth
    training = SequenceTraining(l2=RHO2, n_jobs=threads, tol=ROUGH, **ORDERS[kind])
    space = TemplateFeatures(get_preset("chunking"))
    others, mine = np.flatnonzero(~out), np.flatnonzero(out)
    path = training.path(space, X[others], y[others], STRENGTHS)
    return {"f1": {str(l1): f1(spans(model, X[mine], y[mine], threads)) for l1, model in path}}


def tested(*, kind: str, l1: float, words: int | None, threads: int) -> dict[str, Any]:
    """Trained on all training sentences to the default tolerance: spans of every test sentence, and what it cost."""
    X, y = load_conll2000()
    began, cpu = time.perf_counter(), time.process_time()
    training = SequenceTraining(l1=l1, l2=RHO2, n_jobs=threads, **ORDERS[kind])
    model = training.fit(TemplateFeatures(get_preset("chunking")), X[:words], y[:words])
    told = {"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - cpu}
    X_test, y_test = load_conll2000("test")
    model.decode(model.observe(X_test, 1))  # loads what is loaded once
    observations = model.observe(X_test, 1)
    began = time.perf_counter()
    model.decode(observations)
    told["tokens_a_second"] = observations.n_tokens / (time.perf_counter() - began)
    counts = spans(model, X_test, y_test, threads)
    return told | {
        "active": len(model.weights),
        "candidates": model.info["candidate_features"],
        "objective": model.info["objective"],
        "f1": f1(counts),
        "spans": counts.tolist(),
        "peak_mb": peak_mb(),
    }


def spans(model: SequenceModel, X: Columns, y: Labels, threads: int) -> IntArray:
    """Correct, predicted and gold spans of every sentence, (sentences, 3)."""
    predicted = model.as_labels(model.decode(model.observe(X, threads), threads=threads), X.lengths)
    names = list(dict.fromkeys([*y.names, *predicted.names]))
    gold, given = y.renumbered(names).ids, predicted.renumbered(names).ids
    counter, ends = SpanCounter(names), np.cumsum(X.lengths)
    out = np.zeros((len(X.lengths), 3), np.int64)
    for i, (end, length) in enumerate(zip(ends.tolist(), X.lengths.tolist(), strict=True)):
        own = slice(end - length, end)
        counts = counter.count(gold[own], given[own], X.lengths[i : i + 1])
        out[i] = counts.correct.sum(), counts.predicted.sum(), counts.gold.sum()
    return out


def f1(counts: IntArray) -> float:
    """Of all sentences."""
    correct, predicted, gold = counts.sum(axis=0)
    return float(2 * correct / max(predicted + gold, 1))


def bootstrap(counts: IntArray, other: IntArray) -> tuple[float, float]:
    """The standard errors of F1, and of its difference from the other's: test sentences are drawn anew."""
    random = np.random.default_rng(0)
    draws = random.integers(len(counts), size=(DRAWS, len(counts)))
    own = np.array([f1(counts[each]) for each in draws])
    theirs = np.array([f1(other[each]) for each in draws])
    return float(own.std()), float((own - theirs).std())
