"""How late every solver stops: seconds from the time limit, or from Ctrl-C, to the end of training.

    python benchmarks/stopping.py [--seconds 2] [--write docs/reliability.md]

The data are made sequences (and vectors, for the solvers that need them), plain, with columns × 30 and × 1000.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from parsimon import OverlappingGroupLassoClassifier, SequenceLabeler
from parsimon.data import make_sequences
from parsimon.penalties import ByAttribute, GroupLasso
from parsimon.report.markdown import replace_blocks, table
from parsimon.solvers import SOLVERS

FACTORS = (1, 30, 1000)
HINGE = (
    "frank-wolfe",
    "smoothing",
    "subgradient",
    "cutting-plane",
    "em",
    "one-slack",
    "projected-subgradient",
    "mira",
)
SMOOTH = ("lbfgs", "frank-wolfe", "one-slack")  # with L2 only
VECTORS = ("proximal-newton", "admm")
PLENTY = 10**6  # iterations or epochs
EPOCHS = ("mira", "sgd", "sgd-l1")


def sequences(solver: str, factor: float) -> Callable[..., Any]:
    made = make_sequences(n_sequences=400, length=20, n_labels=5, n_features=200)
    X = [factor * each for each in made.X]
    strengths: dict[str, Any] = {"l1": 0.0, "l2": 0.01} if solver in SMOOTH else {"l1": 0.05, "l2": 0.0}
    if solver == "block-working-set":
        strengths = {"penalty": GroupLasso(0.05, ByAttribute())}

    def fit(**limits: Any) -> Any:
        settings = {"max_iter": PLENTY} if solver in EPOCHS else {"tol": 1e-13}
        loss = "hinge" if solver in HINGE else "log"
        return SequenceLabeler(loss=loss, solver=solver, **strengths, **{**settings, **limits}).fit(X, made.y)

    return fit


def vectors(solver: str, factor: float) -> Callable[..., Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 400))
    y = (X[:, :20].sum(axis=1) + random.normal(size=4000) > 0).astype(int)
    groups = (
        None if solver == "proximal-newton" else [list(range(j, min(400, j + 15))) for j in range(0, 400, 10)]
    )

    def fit(**limits: Any) -> Any:
        settings: dict[str, Any] = {"alpha": 0.01, "groups": groups, "solver": solver, "tol": 1e-13, **limits}
        return OverlappingGroupLassoClassifier(**settings).fit(factor * X, y)

    return fit


def late(fit: Callable[..., Any], seconds: float, *, by_hand: bool) -> float | None:
    """Seconds from the request to the end; None if training had ended by itself."""
    began = time.perf_counter()
    if by_hand:
        alarm = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        alarm.start()
        try:
            fit()
        except KeyboardInterrupt:  # there was no model yet
            pass
        finally:
            alarm.cancel()
    else:
        fit(time_limit=seconds)
    past = time.perf_counter() - began - seconds
    return past if past > 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    head = [
        "solver",
        *(f"{what}{'' if f == 1 else f', × {f}'}" for f in FACTORS for what in ("limit", "Ctrl-C")),
    ]
    rows = []
    for solver in SOLVERS:
        row = [f"`{solver}`"]
        make = vectors if solver in VECTORS else sequences
        for factor in FACTORS:
            fit = make(solver, factor)
            for by_hand in (False, True):
                past = late(fit, given.seconds, by_hand=by_hand)
                row.append("–" if past is None else f"{past:.2f}")
        rows.append(row)
        print(*rows[-1], flush=True)
    text = table(head, rows)
    print(text)
    if given.write is not None:
        replace_blocks(given.write, {"stopping": text})


if __name__ == "__main__":
    main()
