"""Checkpoints: the weights and the history of a training run, to go on from after it was killed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from parsimon.errors import ParsimonError
from parsimon.model_file import write_atomically_or_explain
from parsimon.selection import Selected
from parsimon.solvers.base import Event, Weights
from parsimon.solvers.driver import Monitor, Validation

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
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        raise ParsimonError(f"there is no checkpoint {path} to resume from; train without --resume first.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads(file.metadata()["parsimon-checkpoint"])
            weights = _weights(file, "", header)
            best = None
            if "dev" in header:
                score, since, objective, *kept = header["dev"]
                at = float(kept[0]) if kept else float(score)
                best = (float(score), int(since), _weights(file, "best.", header), float(objective), at)
            names = [name for name in file.keys() if name.startswith(STATE)]  # noqa: SIM118 (not a dictionary)
            state = {name.removeprefix(STATE): file.get_tensor(name) for name in names}
        history = [Event.from_told(event) for event in header["history"]]
        selected = Selected.from_told(header["selected"]) if "selected" in header else None
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise ParsimonError(f"{path} is not a checkpoint, or is damaged ({error}).") from None
    if header["fingerprint"] != fingerprint:
        raise ParsimonError(
            f"the checkpoint {path} belongs to other data, templates or settings; "
            "resume with the ones it was made with, or train without --resume."
        )
    if state:
        weights = replace(weights, state=lambda: state)
    return Checkpoint(weights, history, best, selected)


def _weights(file: Any, prefix: str, header: dict[str, Any]) -> Weights:
    features, values = file.get_tensor(f"{prefix}features"), file.get_tensor(f"{prefix}values")
    return Weights(values.astype(np.float64), features.astype(np.int64), int(header["n_features"]))
