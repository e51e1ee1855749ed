"""A Markov network in a model file: its variables and their states, the edges that are left, and their weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsimon.arrays import IntArray
from parsimon.tasks.networks.model import NetworkModel


def take_apart(model: NetworkModel) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is said of a model in the header, and its arrays but the weights."""
    header = {"names": list(model.names), "categories": [list(states) for states in model.categories]}
    return header, {"edges": model.edges}


def put_together(header: dict[str, Any], tensors: dict[str, Any]) -> NetworkModel:
    """The model again, or a `ValueError` or `KeyError` that says what is wrong with it."""
    names = tuple(header["names"])
    categories = tuple(tuple(states) for states in header["categories"])
    if not names or len(set(names)) != len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError("variables must be there, and differ")
    if len(categories) != len(names):
        raise ValueError("not every variable has states")
    for states in categories:
        if not states or len(set(states)) != len(states):
            raise ValueError("states must be there, and differ")
        if not all(isinstance(state, str | int) for state in states):
            raise ValueError("a state is no string, whole number or boolean")
    edges = _edges(tensors["edges"], [len(states) for states in categories])
    weights = tensors["weights"].astype(np.float64)
    if weights.ndim != 1 or not np.isfinite(weights).all():
        raise ValueError("a weight is not finite, or weights are not a vector")
    model = NetworkModel(names, categories, edges, weights, dict(header["info"]))
    if len(weights) != model.n_features:
        raise ValueError("there are not as many weights as features")
    return model


def _edges(edges: Any, arity: list[int]) -> IntArray:
    """Pairs u < v of variables with two states or more, ascending."""
    if not np.issubdtype(edges.dtype, np.integer) or edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError("edges must be pairs of whole numbers")
    pairs = [(int(u), int(v)) for u, v in edges]
    if pairs != sorted(set(pairs)) or any(not 0 <= u < v < len(arity) for u, v in pairs):
        raise ValueError("an edge does not join two variables, or is there twice")
    if any(arity[u] < 2 or arity[v] < 2 for u, v in pairs):
        raise ValueError("an edge joins a variable that has one state")
    return np.asarray(edges, np.int64)
