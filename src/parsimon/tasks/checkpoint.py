"""Checkpoints: how far a training has come, so that it can go on after it was killed.

A checkpoint is a safetensors file. Its header has the mark of the training it belongs to, what was found out before
learning, the fits that are finished, and those that are not. Its arrays are the weights of these fits and the state of
their solvers. A digest of all that shows damage.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError, warn
from parsimon.files import write_file
from parsimon.forms import (
    bound,
    count,
    duration,
    line,
    list_of,
    mapping,
    number,
    one_of,
    optional,
    record,
    shown,
    text,
    told,
    tuple_of,
)
from parsimon.solvers import SOLVERS, Event, Monitor, Result, Solver, Status
from parsimon.solvers.settings import counts_epochs, epochs_of
from parsimon.tasks.fingerprint import fingerprint
from parsimon.weights import Weights

FORMAT = 3
LARGEST = 1e100  # no weight is; sums of products of such weights are still finite
Arrays = dict[str, Array | IntArray]
Header = Mapping[str, Any]  # as it comes out of JSON: nothing in it can be trusted


@dataclass(frozen=True)
class Best:
    """The iterate with the best score on the development data."""

    score: float
    since: int  # how many scores there were after it
    objective: float
    kept: float  # the score of the weights that are kept, which may be a little below the best
    weights: Weights


@dataclass(frozen=True)
class Running:
    """How far a fit has come."""

    name: str
    weights: Weights  # with the state of the solver, if it has one
    history: list[Event]
    counted_from: int
    best: Best | None = None

    @classmethod
    def of(cls, name: str, weights: Weights, monitor: Monitor) -> Running:
        """The fit that a monitor watches."""
        best, seen = None, monitor.validation
        if seen is not None and seen.best_iterate is not None:
            at = seen.best_iterate
            best = Best(seen.best, seen.since_best, at.objective, seen.kept, at.weights)
        state = None if weights.state is None else dict(weights.state())
        frozen = replace(weights, state=None if state is None else lambda: state)
        return cls(name, frozen, list(monitor.history), monitor.counted_from or 0, best)

    def take_up(self, monitor: Monitor) -> Weights:
        """Prepares a monitor to go on, and returns the weights to start from.

        The limit of iterations and the patience count from the beginning of the first run.
        """
        monitor.history, monitor.counted_from = list(self.history), self.counted_from
        if self.best is not None and monitor.validation is not None:
            best = self.best
            monitor.validation.resume(best.score, best.since, best.weights, best.objective, best.kept)
        return self.weights


@dataclass
class Checkpoint:
    """How far a training has come."""

    mark: str
    seconds: float = 0.0
    values: dict[str, dict[str, Any]] = field(default_factory=dict)  # found out before learning, by name
    finished: dict[str, Result] = field(default_factory=dict)
    running: dict[str, Running] = field(default_factory=dict)  # begun, but not finished

    def only(self, names: Collection[str]) -> None:
        """Forgets all other fits."""
        self.finished = {name: each for name, each in self.finished.items() if name in names}
        self.running = {name: each for name, each in self.running.items() if name in names}

    def save(self, path: Path) -> None:
        """Writes the whole file, or leaves the old one as it is."""
        from safetensors.numpy import save

        arrays: Arrays = {}
        header = json.dumps(
            {
                "format": FORMAT,
                "mark": self.mark,
                "seconds": self.seconds,
                "values": self.values,
                "finished": [
                    _finished_header(name, each, arrays, f"finished.{i}.")
                    for i, (name, each) in enumerate(self.finished.items())
                ],
                "running": [
                    _running_header(each, arrays, f"running.{i}.")
                    for i, each in enumerate(self.running.values())
                ],
            }
        )
        packed = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
        signed = json.dumps({"digest": _digest(header, packed), "header": header})
        content = save(packed, {"parsimon-checkpoint": signed})
        write_file(path, bytes(content))

    def save_or_warn(self, path: Path) -> None:
        """Writes the file. If that fails (a full disk), there is a warning, and training goes on."""
        try:
            self.save(path)
        except ParsimonError as error:
            warn(f"no checkpoint was kept: {error}")

    @classmethod
    def load(cls, path: Path, mark: str) -> Checkpoint:
        """Reads the checkpoint of a training, which must have the same data and settings."""
        with _reading(path) as (arrays, header):
            checkpoint = cls(
                header["mark"],
                header["seconds"],
                header["values"],
                {
                    each["name"]: _result(each, arrays, f"finished.{i}.")
                    for i, each in enumerate(header["finished"])
                },
                {
                    each["name"]: _running(each, arrays, f"running.{i}.")
                    for i, each in enumerate(header["running"])
                },
            )
            if len(checkpoint.finished) + len(checkpoint.running) < len(
                header["finished"] + header["running"]
            ):
                raise ValueError("a fit is there twice")
            if arrays:
                raise ValueError(f"{shown(min(arrays))} is of no fit")
        if checkpoint.mark != mark:
            raise ParsimonError(
                f"the checkpoint {path} belongs to other data, templates or settings; "
                "resume with the ones it was made with, or train without resuming."
            )
        return checkpoint


def lasting_settings(solver: str | Solver, *more: Any) -> list[Any]:
    """What must stay the same when a run is resumed: everything about a solver that counts epochs, else nothing."""
    made = SOLVERS[solver]() if isinstance(solver, str) and solver in SOLVERS else solver
    return [made, *more] if not isinstance(made, str) and counts_epochs(made) else []


def ended(solver: Solver, start: Weights, monitor: Monitor) -> Result | None:
    """The result of a fit that was killed after its last iteration, or None if there are iterations left."""
    past = len(monitor.history) - (monitor.counted_from or 0)
    if not past:
        return None
    event, validation = monitor.history[-1], monitor.validation
    status, epochs = None, epochs_of(solver)
    if start.state is not None and epochs is not None and past >= epochs:
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


# --- Reading and writing the file -----------------------------------------------------------------------------

DAMAGE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)


@contextmanager
def _reading(path: Path) -> Iterator[tuple[Arrays, Header]]:
    """The arrays and the header of a file. Whatever is wrong with it is reported in one sentence."""
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        raise ParsimonError(f"there is no checkpoint {path} to resume from; train without resuming first.")
    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dictionary)
            signed = json.loads(file.metadata()["parsimon-checkpoint"])
            if signed["digest"] != _digest(signed["header"], arrays):
                raise ValueError("the digest differs")
            header = json.loads(signed["header"])
            if header["format"] != FORMAT:
                raise ValueError(f"its format is {shown(header['format'])}, not {FORMAT}")
            yield arrays, HEADER(header, "the header")
    except ParsimonError:
        raise
    except (SafetensorError, *DAMAGE) as error:
        raise ParsimonError(f"{path} is not a checkpoint, or is damaged ({told(error)}).") from None


def _digest(header: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    return fingerprint(header, {name: arrays[name] for name in sorted(arrays)})


def _put_weights(weights: Weights, arrays: Arrays, prefix: str) -> int:
    kept = weights.nonzero()
    assert kept.features is not None
    arrays[f"{prefix}features"] = kept.features.astype(np.int64)
    arrays[f"{prefix}values"] = kept.values.astype(np.float64)
    return kept.n_features


def _weights(arrays: Arrays, prefix: str, n_features: int) -> Weights:
    features, values = arrays.pop(f"{prefix}features"), arrays.pop(f"{prefix}values")
    if features.dtype != np.int64 or values.dtype != np.float64:
        raise ValueError("weights of another type")
    if features.ndim != 1 or features.shape != values.shape:
        raise ValueError("weights that are no vector")
    if not np.all(np.abs(values) <= LARGEST):  # nor are they NaN
        raise ValueError("weights that are not finite, or too large for any fit")
    if len(features) and not (
        np.all(np.diff(features) > 0) and features[0] >= 0 and features[-1] < n_features
    ):
        raise ValueError("features that do not exist")
    return Weights(values.astype(np.float64), features.astype(np.int64), n_features)


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


def _result(header: Header, arrays: Arrays, prefix: str) -> Result:
    return Result(
        _weights(arrays, prefix, header["n_features"]),
        Status[header["status"]],
        header["objective"],
        header["kkt"],
        header["gap"],
        _in_order(header["history"]),
        header["support"],
        _relevance(arrays.pop(f"{prefix}relevance", None)),
    )


def _relevance(values: NDArray[Any] | None) -> Array | None:
    if values is None:
        return None
    if values.dtype != np.float64 or values.ndim != 1 or not np.all(np.isfinite(values) & (values >= 0)):
        raise ValueError("the relevance of groups must be numbers of zero or more")
    return values


def _running_header(running: Running, arrays: Arrays, prefix: str) -> dict[str, Any]:
    header: dict[str, Any] = {
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
        header["best"] = [best.score, best.since, best.objective, best.kept]
    return header


def _running(header: Header, arrays: Arrays, prefix: str) -> Running:
    n_features, best = header["n_features"], None
    weights = _weights(arrays, prefix, n_features)
    own = f"{prefix}state."
    state = {name.removeprefix(own): arrays.pop(name) for name in list(arrays) if name.startswith(own)}
    if state:
        weights = replace(weights, state=lambda: state)
    if header["best"] is not None:
        score, since, objective, kept = header["best"]
        best = Best(score, since, objective, kept, _weights(arrays, f"{prefix}best.", n_features))
    history, counted_from = _in_order(header["history"]), header["counted_from"]
    if counted_from > len(history):
        raise ValueError("iterations that count from after the last one")
    return Running(header["name"], weights, history, counted_from, best)


def _in_order(history: list[Event]) -> list[Event]:
    if [event.iteration for event in history] != list(range(len(history))):
        raise ValueError("the iterations of a history are not numbered one by one")
    return history


# --- What a header may say ------------------------------------------------------------------------------------

_FIT = {"name": line, "n_features": count, "history": list_of(Event.from_dict)}
_FINISHED = record(
    {
        **_FIT,
        "status": one_of(*Status.__members__),
        "objective": number,
        "kkt": optional(bound),
        "gap": optional(bound),
        "support": optional(count),
    },
    closed=True,
)
_BEST = tuple_of(number, count, number, number)
_RUNNING = record({**_FIT, "counted_from": count, "best": optional(_BEST)}, closed=True)
HEADER = record(
    {
        "format": count,
        "mark": text,
        "seconds": duration,
        "values": mapping(record({})),
        "finished": list_of(_FINISHED),
        "running": list_of(_RUNNING),
    },
    closed=True,
)
