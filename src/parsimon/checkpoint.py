"""Checkpoints: the weights and the history of a training run, to go on from after it was killed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from parsimon.errors import ParsimonError
from parsimon.model_file import write_atomically_or_explain
from parsimon.solvers.base import Event, Weights
from parsimon.solvers.driver import Validation


@dataclass(frozen=True)
class Checkpoint:
    """Where a training run stood."""

    weights: Weights
    history: list[Event]
    # The best development score, how many scores there were since, its weights and their objective.
    best: tuple[float, int, Weights, float] | None


def save_checkpoint(
    path: Path, fingerprint: str, weights: Weights, history: list[Event], validation: Validation | None = None
) -> None:
    """Writes the non-zero weights, and those that did best on a development set, whole or not at all."""
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
        header["dev"] = [validation.best, validation.since_best, validation.best_iterate.objective]
        arrays["best.features"] = np.ascontiguousarray(best.features)
        arrays["best.values"] = np.ascontiguousarray(best.values)
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
                score, since, objective = header["dev"]
                best = (float(score), int(since), _weights(file, "best.", header), float(objective))
        history = [_event(event) for event in header["history"]]
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise ParsimonError(f"{path} is not a checkpoint, or is damaged ({error}).") from None
    if header["fingerprint"] != fingerprint:
        raise ParsimonError(
            f"the checkpoint {path} belongs to other data, templates or settings; "
            "resume with the ones it was made with, or train without --resume."
        )
    return Checkpoint(weights, history, best)


def _weights(file: Any, prefix: str, header: dict[str, Any]) -> Weights:
    features, values = file.get_tensor(f"{prefix}features"), file.get_tensor(f"{prefix}values")
    return Weights(values.astype(np.float64), features.astype(np.int64), int(header["n_features"]))


def _event(told: dict[str, Any]) -> Event:
    return Event(**{**told, "instantiated": tuple(told["instantiated"])})
