"""Checkpoints: the weights and the history of a training run, to go on from after it was killed."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from parsimon.errors import ParsimonError
from parsimon.model_file import write_atomically_or_explain
from parsimon.solvers.base import Event, Weights


def save_checkpoint(path: Path, fingerprint: str, weights: Weights, history: list[Event]) -> None:
    """Writes the non-zero weights, whole or not at all."""
    from safetensors.numpy import save

    kept = weights.nonzero()
    assert kept.features is not None
    header = {
        "fingerprint": fingerprint,
        "n_features": kept.n_features,
        "history": [asdict(event) for event in history],
    }
    content = save(
        {"features": np.ascontiguousarray(kept.features), "values": np.ascontiguousarray(kept.values)},
        metadata={"parsimon-checkpoint": json.dumps(header)},
    )
    write_atomically_or_explain(path, bytes(content))


def load_checkpoint(path: Path, fingerprint: str) -> tuple[Weights, list[Event]]:
    """The weights and history of a checkpoint, which must belong to the same data, templates and settings."""
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        raise ParsimonError(f"there is no checkpoint {path} to resume from; train without --resume first.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads(file.metadata()["parsimon-checkpoint"])
            features, values = file.get_tensor("features"), file.get_tensor("values")
        history = [Event(**event) for event in header["history"]]
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise ParsimonError(f"{path} is not a checkpoint, or is damaged ({error}).") from None
    if header["fingerprint"] != fingerprint:
        raise ParsimonError(
            f"the checkpoint {path} belongs to other data, templates or settings; "
            "resume with the ones it was made with, or train without --resume."
        )
    return Weights(values.astype(np.float64), features.astype(np.int64), int(header["n_features"])), history
