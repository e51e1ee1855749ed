"""Checkpoints: what a training has done so far, to go on from after it was killed.

A checkpoint is a safetensors file. Its header has the mark of the training it belongs to, what was found out before
learning, the fits that are done and those that are not; its arrays are their weights, and the solvers' own state.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.files import write_file
from parsimon.solvers import SOLVERS, Event, Monitor, Result, Solver, Status
from parsimon.weights import Weights

FORMAT = 2
Arrays = dict[str, Array | IntArray]


@dataclass(frozen=True)
class Best:
    """What did best on development data."""

    score: float
    since: int  # scores since then
    objective: float
    kept: float  # the score of the weights that are kept, which may be a little below the best
    weights: Weights


@dataclass(frozen=True)
class Running:
    """How far a fit has come."""

    name: str
    weights: Weights  # with the solver's state, if it has one
    history: list[Event]
    counted_from: int
    best: Best | None = None

    @classmethod
    def of(cls, name: str, weights: Weights, monitor: Monitor) -> Running:
        """A fit as its monitor sees it."""
        best, seen = None, monitor.validation
        if seen is not None and seen.best_iterate is not None:
            at = seen.best_iterate
            best = Best(seen.best, seen.since_best, at.objective, seen.kept, at.weights)
        state = None if weights.state is None else dict(weights.state())
        frozen = replace(weights, state=None if state is None else lambda: state)
        return cls(name, frozen, list(monitor.history), monitor.counted_from or 0, best)

    def take_up(self, monitor: Monitor) -> Weights:
        """Where to start. Limits of iterations, and patience, count from where the first run began."""
        monitor.history, monitor.counted_from = list(self.history), self.counted_from
        if self.best is not None and monitor.validation is not None:
            best = self.best
            monitor.validation.resume(best.score, best.since, best.weights, best.objective, best.kept)
        return self.weights


@dataclass(frozen=True)
class Finished:
    """A fit that is done."""

    result: Result


@dataclass
class Checkpoint:
    """Where a training stands."""

    mark: str
    seconds: float = 0.0
    values: dict[str, dict[str, Any]] = field(default_factory=dict)  # found out before learning, by name
    finished: dict[str, Finished] = field(default_factory=dict)
    running: dict[str, Running] = field(default_factory=dict)  # begun, but not done

    def only(self, names: Collection[str]) -> None:
        """Forgets all other fits."""
        self.finished = {name: each for name, each in self.finished.items() if name in names}
        self.running = {name: each for name, each in self.running.items() if name in names}

    def save(self, path: Path) -> None:
        """Writes it whole or not at all."""
        from safetensors.numpy import save

        arrays: Arrays = {}
        header: dict[str, Any] = {
            "format": FORMAT,
            "mark": self.mark,
            "seconds": self.seconds,
            "values": self.values,
            "finished": [
                _finished_header(name, each.result, arrays, f"finished.{i}.")
                for i, (name, each) in enumerate(self.finished.items())
            ],
            "running": [
                _running_header(each, arrays, f"running.{i}.") for i, each in enumerate(self.running.values())
            ],
        }
        packed = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
        content = save(packed, metadata={"parsimon-checkpoint": json.dumps(header)})
        write_file(path, bytes(content))

    def save_or_warn(self, path: Path) -> None:
        """Writes it; a failure (a full disk) is no reason to lose the training."""
        try:
            self.save(path)
        except ParsimonError as error:
            warnings.warn(f"no checkpoint was kept: {error}", RuntimeWarning, stacklevel=4)

    @classmethod
    def load(cls, path: Path, mark: str) -> Checkpoint:
        """A checkpoint, which must belong to the same data and settings."""
        with _reading(path) as (arrays, header):
            if header["format"] != FORMAT:
                raise ValueError(f"format {header['format']}, not {FORMAT}")
            checkpoint = cls(
                str(header["mark"]),
                float(header["seconds"]),
                {str(name): dict(value) for name, value in header["values"].items()},
                {
                    str(told["name"]): Finished(_result(told, arrays, f"finished.{i}."))
                    for i, told in enumerate(header["finished"])
                },
                {
                    str(told["name"]): _running(told, arrays, f"running.{i}.")
                    for i, told in enumerate(header["running"])
                },
            )
        if checkpoint.mark != mark:
            raise ParsimonError(
                f"the checkpoint {path} belongs to other data, templates or settings; "
                "resume with the ones it was made with, or train without resuming."
            )
        return checkpoint


def lasting_settings(solver: str | Solver, *more: Any) -> list[Any]:
    """What a run must not change when it goes on: all there is to a solver that counts its epochs, else nothing."""
    named = isinstance(solver, str) and solver in SOLVERS
    made = SOLVERS[solver]() if named else solver  # type: ignore[index]
    return [made, *more] if hasattr(made, "epochs") else []


def ended(solver: Solver, start: Weights, monitor: Monitor) -> Result | None:
    """The result of a fit that was killed after learning had come to its end, or None if there is more to learn."""
    past = len(monitor.history) - (monitor.counted_from or 0)
    if not past:
        return None
    event, validation = monitor.history[-1], monitor.validation
    status = None
    if start.state is not None and past >= getattr(solver, "epochs", np.inf):
        status = Status.DONE
    elif start.state is not None and validation is not None and validation.exhausted:
        status = Status.DEVELOPMENT
    elif monitor.max_iter is not None and past > monitor.max_iter:
        status = Status.ITERATIONS
    if status is None:
        return None
    weights = replace(start, state=None)
    if validation is not None and validation.best_iterate is not None:
        best = validation.best_iterate
        return Result(best.weights, status, best.objective, history=monitor.history)
    return Result(
        weights, status, event.objective, event.kkt, event.gap, monitor.history, support=event.support
    )


# --- The parts of the file ------------------------------------------------------------------------------------


@contextmanager
def _reading(path: Path) -> Iterator[tuple[Arrays, dict[str, Any]]]:
    """The arrays and the header of a file; whatever is wrong with it is said in one sentence."""
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        raise ParsimonError(f"there is no checkpoint {path} to resume from; train without resuming first.")
    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
            yield arrays, json.loads(file.metadata()["parsimon-checkpoint"])
    except ParsimonError:
        raise
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParsimonError(f"{path} is not a checkpoint, or is damaged ({error}).") from None


def _put_weights(weights: Weights, arrays: Arrays, prefix: str) -> int:
    kept = weights.nonzero()
    assert kept.features is not None
    arrays[f"{prefix}features"], arrays[f"{prefix}values"] = kept.features, kept.values
    return kept.n_features


def _weights(arrays: Arrays, prefix: str, n_features: Any) -> Weights:
    features, values = arrays[f"{prefix}features"], arrays[f"{prefix}values"]
    if features.ndim != 1 or features.shape != values.shape or not np.isfinite(values).all():
        raise ValueError("weights that are no weights")
    if len(features) and not (
        np.all(np.diff(features) > 0) and features[0] >= 0 and features[-1] < n_features
    ):
        raise ValueError("features that are not there")
    return Weights(values.astype(np.float64), features.astype(np.int64), int(n_features))


def _finished_header(name: str, result: Result, arrays: Arrays, prefix: str) -> dict[str, Any]:
    if result.relevance is not None:
        arrays[f"{prefix}relevance"] = result.relevance
    return {
        "name": name,
        "n_features": _put_weights(result.weights, arrays, prefix),
        "status": result.status.name,
        "objective": result.objective,
        "kkt": result.kkt,
        "gap": result.gap,
        "support": result.support,
        "history": [asdict(event) for event in result.history],
    }


def _result(told: dict[str, Any], arrays: Arrays, prefix: str) -> Result:
    return Result(
        _weights(arrays, prefix, told["n_features"]),
        Status[told["status"]],
        float(told["objective"]),
        told["kkt"],
        told["gap"],
        [Event.from_dict(event) for event in told["history"]],
        told["support"],
        _floats(arrays.get(f"{prefix}relevance")),
    )


def _floats(values: Array | IntArray | None) -> Array | None:
    return None if values is None else values.astype(np.float64)


def _running_header(running: Running, arrays: Arrays, prefix: str) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": running.name,
        "n_features": _put_weights(running.weights, arrays, prefix),
        "history": [asdict(event) for event in running.history],
        "counted_from": running.counted_from,
        "best": None,
    }
    if running.weights.state is not None:
        state = running.weights.state()
        arrays.update({f"{prefix}state.{name}": values for name, values in state.items()})
    if running.best is not None:
        best = running.best
        _put_weights(best.weights, arrays, f"{prefix}best.")
        told["best"] = [best.score, best.since, best.objective, best.kept]
    return told


def _running(told: dict[str, Any], arrays: Arrays, prefix: str) -> Running:
    weights, best = _weights(arrays, prefix, told["n_features"]), None
    own = f"{prefix}state."
    state = {name.removeprefix(own): values for name, values in arrays.items() if name.startswith(own)}
    if state:
        weights = replace(weights, state=lambda: state)
    if told["best"] is not None:
        score, since, objective, kept = told["best"]
        at = _weights(arrays, f"{prefix}best.", told["n_features"])
        best = Best(float(score), int(since), float(objective), float(kept), at)
    history = [Event.from_dict(event) for event in told["history"]]
    return Running(str(told["name"]), weights, history, int(told["counted_from"]), best)
