"""Looking into a network: numbers about it."""

from __future__ import annotations

from typing import Any

from parsimon.tasks.networks.model import NetworkModel

OWN = ("alpha", "loss", "inference", "score_method")  # which the model itself says, whatever its `info` does


def summary(model: NetworkModel) -> dict[str, Any]:
    """Numbers about a network: variables, edges, learning."""
    stable = model.stability
    return {
        "kind": model.kind,
        "variables": len(model.names),
        "edges": len(model.edges),
        "candidate_edges": model.info.get("candidate_edges"),
        "left_out": list(model.left_out),
        "bins": {name: list(edges) for name, edges in model.bins.items()},
        "path": None if model.path is None else model.path.summary(),
        "stability": None if stable is None else stable.to_dict(),
        "training": {
            "alpha": model.alpha,
            "loss": model.loss,
            "inference": model.inference,
            "score_method": model.score_method,
            **{
                name: value
                for name, value in model.info.items()
                if name not in ("history", "candidate_edges", *OWN)
            },
        },
    }
