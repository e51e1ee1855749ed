"""Checkpoints: the weights and the history of a training run, to go on from after it was killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from parsimon.errors import ParsimonError
from parsimon.files import write_atomically_or_explain
from parsimon.selection.base import Selected
from parsimon.solvers import SOLVERS
from parsimon.solvers.base import Event, Result, Solver, Status
from parsimon.solvers.driver import Monitor, Validation
from parsimon.weights import Weights

STATE = "state."  # what the arrays of a solver's state are called


@dataclass(frozen=True)
class Checkpoint:
    """Where a training run stood."""

    weights: Weights
    history: list[Event]
    # The best development score, how many there were since; the weights that are kept, their objective and score.
    best: tuple[float, int, Weights, float, float] | None
    selected: Selected | None = None  # by a first stage

    def take_up(self, monitor: Monitor) -> Weights:
        """Where to start. Limits of iterations and time, and patience, count from where the first run began."""
        monitor.history = list(self.history)
        if self.history:
            monitor.started -= self.history[-1].seconds
        if self.best is not None and monitor.validation is not None:
            monitor.validation.resume(*self.best)
        return self.weights


def save_checkpoint(
    path: Path,
    fingerprint: str,
    weights: Weights,
    history: list[Event],
    validation: Validation | None = None,
    *,
    selected: Selected | None = None,
    exactly: bool = False,
) -> None:
    """Writes the non-zero weights, and those that did best on a development set, whole or not at all.

    `selected` is what a first stage has chosen. `exactly` also keeps the solver's state, if it has one.
    """
    from safetensors.numpy import save

    kept = weights.nonzero()
    assert kept.features is not None
    header: dict[str, Any] = {
        "fingerprint": fingerprint,
        "n_features": kept.n_features,
        "history": [asdict(event) for event in history],
    }
    arrays = {"features": np.ascontiguousarray(kept.features), "values": np.ascontiguousarray(kept.values)}
    if validation is not None and validation.best_iterate is not None:
        best = validation.best_iterate.weights.nonzero()
        assert best.features is not None
        objective = validation.best_iterate.objective
        header["dev"] = [validation.best, validation.since_best, objective, validation.kept]
        arrays["best.features"] = np.ascontiguousarray(best.features)
        arrays["best.values"] = np.ascontiguousarray(best.values)
    if selected is not None:
        header["selected"] = selected.told()
    if exactly and weights.state is not None:
        arrays |= {f"{STATE}{name}": np.ascontiguousarray(a) for name, a in weights.state().items()}
    content = save(arrays, metadata={"parsimon-checkpoint": json.dumps(header)})
    write_atomically_or_explain(path, bytes(content))


def load_checkpoint(path: Path, fingerprint: str) -> Checkpoint:
    """A checkpoint, which must belong to the same data, templates and settings."""
    with _reading(path) as (file, header):
        weights = _weights(file, "", header)
        best = None
        if "dev" in header:
            score, since, objective, *kept = header["dev"]
            at = float(kept[0]) if kept else float(score)
            best = (float(score), int(since), _weights(file, "best.", header), float(objective), at)
        names = [name for name in file.keys() if name.startswith(STATE)]  # noqa: SIM118 (not a dictionary)
        state = {name.removeprefix(STATE): file.get_tensor(name) for name in names}
        history = [Event.from_told(event) for event in header["history"]]
        selected = _selected(header)
        owner = header["fingerprint"]
    if owner != fingerprint:
        raise belongs_elsewhere(path)
    if state:
        weights = replace(weights, state=lambda: state)
    return Checkpoint(weights, history, best, selected)


def selected_before(path: Path) -> Selected | None:
    """What the first stage of a run has chosen. Whose run it was is for `load_checkpoint` to say."""
    with _reading(path) as (_, header):
        return _selected(header)


def belongs_elsewhere(path: Path) -> ParsimonError:
    """What is said of a checkpoint that something else has left."""
    return ParsimonError(
        f"the checkpoint {path} belongs to other data, templates or settings; "
        "resume with the ones it was made with, or train without --resume."
    )


def lasting_settings(solver: str | Solver, *more: Any) -> list[Any]:
    """What a run must not change when it goes on: all there is to a solver that counts its epochs, else nothing."""
    named = isinstance(solver, str) and solver in SOLVERS
    made = SOLVERS[solver]() if named else solver  # type: ignore[index]
    return [repr(made), *more] if hasattr(made, "epochs") else []


def ended(solver: Solver, start: Weights, monitor: Monitor) -> Result | None:
    """The result of a run that was killed after learning had come to its end, or None if there is more to learn."""
    if start.state is None:
        return None
    event, validation = monitor.history[-1], monitor.validation
    status = None
    if len(monitor.history) - (monitor.counted_from or 0) >= getattr(solver, "epochs", np.inf):
        status = Status.DONE
    elif validation is not None and validation.exhausted:
        status = Status.DEVELOPMENT
    if status is None:
        return None
    weights, objective = replace(start, state=None), event.objective
    if validation is not None and validation.best_iterate is not None:
        weights, objective = validation.best_iterate.weights, validation.best_iterate.objective
    return Result(weights, status, objective, history=monitor.history)


@contextmanager
def _reading(path: Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The file and its header; whatever is wrong with it is told in one sentence."""
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        raise ParsimonError(f"there is no checkpoint {path} to resume from; train without --resume first.")
    try:
        with safe_open(path, framework="numpy") as file:
            yield file, json.loads(file.metadata()["parsimon-checkpoint"])
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise ParsimonError(f"{path} is not a checkpoint, or is damaged ({error}).") from None


def _selected(header: dict[str, Any]) -> Selected | None:
    return Selected.from_told(header["selected"]) if "selected" in header else None


def _weights(file: Any, prefix: str, header: dict[str, Any]) -> Weights:
    features, values = file.get_tensor(f"{prefix}features"), file.get_tensor(f"{prefix}values")
    return Weights(values.astype(np.float64), features.astype(np.int64), int(header["n_features"]))
