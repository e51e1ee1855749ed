"""A Markov network in a model file: its variables and their states, the edges that are left, and their weights."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from parsimon.arrays import IntArray
from parsimon.data.discrete_table import MISSING_STATE, Bins, State
from parsimon.forms import list_of, mapping, number, one_of, text, wrong
from parsimon.tasks import naming
from parsimon.tasks.info import measure, setting, size
from parsimon.tasks.networks.model import NetworkModel, NetworkPath, Stability
from parsimon.tasks.networks.options import INFERENCES, LOSSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from parsimon.forms import Form
    from parsimon.tasks.kinds import Header, Tensors

INFO: Mapping[str, Form] = {
    "search": setting,
    "chosen_by": setting,
    "node_share": measure,
    "rows": size,
    "candidate_edges": size,
    "score": measure,
    "halves": size,
    "halves_wanted": size,
    "dropped": size,
}


def take_apart(model: NetworkModel) -> tuple[Header, Tensors]:
    """The header of a model file, and all arrays except the weights."""
    stable = model.stability
    header = {
        "names": list(model.names),
        "categories": [list(states) for states in model.categories],
        "alpha": model.alpha,
        "loss": model.loss,
        "inference": model.inference,
        "path": None if model.path is None else model.path.to_dict(),
        "stability": None,
        "bins": {name: list(edges) for name, edges in model.bins.items()},
        "left_out": list(model.left_out),
    }
    tensors: Tensors = {"edges": model.edges}
    if stable is not None:
        header["stability"] = stable.to_dict()
        tensors |= {"stability.pairs": stable.pairs, "stability.frequencies": stable.frequencies}
    return header, tensors


def put_together(header: Header, tensors: Tensors) -> NetworkModel:
    """The model from its header and arrays; a `ValueError` or `KeyError` if they are invalid."""
    names = tuple(naming.names(header["names"], "names"))
    categories = tuple(map(tuple, list_of(list_of(_state))(header["categories"], "categories")))
    if not names or len(set(names)) != len(names):
        raise ValueError("variables must be there, and differ")
    if len(categories) != len(names):
        raise ValueError("not every variable has states")
    for states in categories:
        if not states or len(set(states)) != len(states):
            raise ValueError("states must be there, and differ")
    edges = _edges(tensors["edges"], [len(states) for states in categories])
    weights = tensors["weights"].astype(np.float64)
    if weights.ndim != 1:
        raise ValueError("weights are not a vector")
    model = NetworkModel(
        names,
        categories,
        edges,
        weights,
        dict(header["info"]),
        _alpha(header["alpha"]),
        one_of(*LOSSES)(header["loss"], "loss"),
        one_of(*INFERENCES)(header["inference"], "inference"),
        None if header["path"] is None else NetworkPath.from_dict(header["path"]),
        _stability(header["stability"], tensors, len(names)),
        _bins(header["bins"], names, categories),
        tuple(list_of(text)(header["left_out"], "left_out")),
    )
    if len(weights) != model.n_features:
        raise ValueError("there are not as many weights as features")
    return model


def _state(value: Any, place: str) -> str | int | float:
    """A value of a column."""
    if isinstance(value, str):
        return text(value, place)
    if not isinstance(value, int):
        raise wrong(value, place, "a text, a whole number, true or false")
    return value


def _bins(bins: Any, names: tuple[str, ...], categories: tuple[tuple[State, ...], ...]) -> Bins:
    """Ascending edges, one fewer than the variable has states, apart from that of missing values."""
    found = mapping(list_of(number))(bins, "bins")
    for name, edges in found.items():
        if name not in names:
            raise ValueError("there are bins of no variable")
        n_bins = len([state for state in categories[names.index(name)] if state != MISSING_STATE])
        if len(edges) != n_bins - 1 or any(low >= high for low, high in pairwise(edges)):
            raise ValueError("the edges of bins do not ascend, or are too many or too few")
    return {name: tuple(map(float, edges)) for name, edges in found.items()}


def _edges(edges: Any, arity: list[int]) -> IntArray:
    """Pairs of variables with two states or more."""
    found = _pairs(edges, len(arity))
    if any(arity[u] < 2 or arity[v] < 2 for u, v in found.tolist()):
        raise ValueError("an edge joins a variable that has one state")
    return found


def _pairs(pairs: Any, n_variables: int) -> IntArray:
    """Pairs u < v of variables, ascending."""
    if not np.issubdtype(pairs.dtype, np.integer) or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError("edges must be pairs of whole numbers")
    listed = [(int(u), int(v)) for u, v in pairs]
    if listed != sorted(set(listed)) or any(not 0 <= u < v < n_variables for u, v in listed):
        raise ValueError("an edge does not join two variables, or is there twice")
    return np.asarray(pairs, np.int64)


def _alpha(alpha: Any) -> float | None:
    """A strength, if it is known."""
    if alpha is not None and number(alpha, "alpha") < 0:
        raise wrong(alpha, "alpha", "a number of zero or more")
    return None if alpha is None else float(alpha)


def _stability(header: Mapping[str, Any] | None, tensors: Tensors, n_variables: int) -> Stability | None:
    """How often edges were found again, if that was asked for."""
    if header is None:
        return None
    pairs, shares = _pairs(tensors["stability.pairs"], n_variables), tensors["stability.frequencies"]
    halves, wanted, threshold = header["halves"], header["wanted"], header["threshold"]
    if shares.shape != (len(pairs),) or not np.all((shares >= 0) & (shares <= 1)):
        raise ValueError("every pair needs a share from zero to one")
    if not (isinstance(halves, int) and isinstance(wanted, int) and 1 <= halves <= wanted):
        raise ValueError("there must be halves, and no more of them than were wanted")
    if not 0 < threshold <= 1:
        raise ValueError("the threshold must be a share")
    return Stability(pairs, shares.astype(np.float64), halves, wanted, float(threshold))
