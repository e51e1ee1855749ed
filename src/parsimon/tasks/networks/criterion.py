"""Information criteria for networks: how much an edge must gain to be worth its weights.

    2 · loss + c · (d log n + 4 γ |E| log p)

is BIC for γ = 0 and the extended BIC of Foygel & Drton (2010, after Chen & Chen 2008) for γ > 0: d weights that are not
zero, n rows, |E| edges among p variables. c is 1 if the loss is a likelihood. A pseudo-likelihood counts what an edge
explains at both of its ends, so chance gains more, too; then c = tr(H⁻¹ J)/d, where H is the Hessian of the loss and J
the sum of the squares of the rows' gradients: d · c is the effective number of parameters of a composite likelihood
(Varin & Vidoni 2005; Gao & Song 2010). It is about 2 for a weak edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.designs.mrf import contrast_code
from parsimon.tasks.networks.model import NetworkModel


def criterion(
    loss: float, n_weights: float, n_edges: int, n_rows: float, n_variables: int, gamma: float
) -> float:
    """BIC, or with γ > 0 the extended one: the smaller, the better. `n_weights` may be the effective number.

    >>> round(criterion(100.0, 3, 1, 50, 10, gamma=0.0), 3), round(criterion(100.0, 3, 1, 50, 10, gamma=0.5), 3)
    (211.736, 216.341)
    """
    return float(2 * loss + n_weights * np.log(n_rows) + 4 * gamma * n_edges * np.log(n_variables))


@dataclass(frozen=True)
class _Conditional:
    """One variable given its neighbours: a logistic regression on the contrasts of their states."""

    features: IntArray  # (inputs, K − 1): the weight of each input for each contrast of the variable
    inputs: Array  # (rows, inputs): 1, and the contrasts of the neighbours
    own: Array  # (K, K − 1): contrasts of its states


def effective_parameters(model: NetworkModel, codes: IntArray, counts: Array | None = None) -> float:
    """tr(H⁻¹ J) of the pseudo-likelihood, over the weights that are not zero; rows count by `counts`."""
    counts = np.ones(len(codes)) if counts is None else counts
    hessian = np.zeros((model.n_features, model.n_features))
    gradient = np.zeros((len(codes), model.n_features))
    all_scores = model.conditional_scores(codes)
    for v, (each, scores) in enumerate(zip(_conditionals(model, codes), all_scores, strict=True)):
        if not each.features.size:
            continue
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        excess = p @ each.own - each.own[codes[:, v]]  # (rows, K − 1)
        # No input of a variable is there twice, so every weight is named once.
        gradient[:, each.features] += each.inputs[:, :, None] * excess[:, None, :]
        hessian += _curvature(each, p, counts, model.n_features)
    active = np.flatnonzero(model.weights)
    if not len(active):
        return 0.0
    used = gradient[:, active]
    bend = hessian[np.ix_(active, active)]
    bend[np.diag_indices_from(bend)] += 1e-9 * np.trace(bend) / len(active)  # where a state never changes
    return float(np.sum(np.linalg.solve(bend, used.T * counts) * used.T))


def _curvature(each: _Conditional, p: Array, counts: Array, n_features: int) -> Array:
    """Σ_rows (t tᵀ) ⊗ Bᵀ (diag p − p pᵀ) B, at the weights of one variable."""
    out = np.zeros((n_features, n_features))
    mean = p @ each.own
    for b in range(each.own.shape[1]):
        for c in range(each.own.shape[1]):
            spread = p @ (each.own[:, b] * each.own[:, c]) - mean[:, b] * mean[:, c]
            block = each.inputs.T @ (each.inputs * (counts * spread)[:, None])
            out[np.ix_(each.features[:, b], each.features[:, c])] += block
    return out


def _conditionals(model: NetworkModel, codes: IntArray) -> list[_Conditional]:
    own = [contrast_code(int(k)) for k in model.arity]
    features = [[model.features_of_node(v).reshape(1, -1)] for v in range(len(own))]
    inputs = [[np.ones((len(codes), 1))] for _ in own]
    for e, (u, v) in enumerate(model.edges.tolist()):
        table = model.features_of_edge(e).reshape(own[u].shape[1], own[v].shape[1])
        for one, other, oriented in ((v, u, table), (u, v, table.T)):
            features[one].append(oriented)
            inputs[one].append(own[other][codes[:, other]])
    return [
        _Conditional(np.concatenate(f), np.concatenate(x, axis=1), b)
        for f, x, b in zip(features, inputs, own, strict=True)
    ]
