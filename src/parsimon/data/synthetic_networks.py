"""Synthetic tables from a known Markov network: Ising and Potts models on chains, grids and random graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError

__all__ = ["SyntheticNetwork", "agreement", "make_network"]

Kind: TypeAlias = Literal["chain", "grid", "random"]


@dataclass(frozen=True)
class SyntheticNetwork:
    """Rows drawn from P(x) ∝ exp(Σ_v field[v, x_v] + Σ_e weights[e] · s(x_u, x_v)), e = {u, v}.

    s is 1 if two states agree, and −1/(K − 1) if they differ. With two states, this is the Ising model with ±1 states.
    With more, it is the Potts model, centred so that s sums to zero over the states of either variable.
    """

    X: IntArray  # (rows, variables), states from 0 to K − 1
    edges: list[tuple[int, int]]  # u < v, ascending
    weights: Array  # (edges,)
    field: Array  # (variables, K)
    n_states: int


def make_network(
    kind: Kind = "chain",
    n_variables: int = 10,
    n_samples: int = 1000,
    *,
    coupling: float = 0.5,
    mixed_signs: bool = True,
    field: float = 0.0,
    n_states: int = 2,
    degree: float = 3.0,
    sweeps: int = 200,
    random_state: int = 0,
) -> SyntheticNetwork:
    """Draw a table of `n_samples` rows from a Markov network with the given graph.

    A ``chain`` joins every variable to the next one, and a ``grid`` (as square as possible) to those on its right and
    below. A ``random`` graph has n · `degree`/2 random edges. Every edge has the weight `coupling`, with a random sign
    if `mixed_signs`. The state preferences of every variable are drawn from a normal distribution with standard
    deviation `field`.

    Rows of a chain are drawn exactly, from the first variable to the last. For the other graphs, every row is the last
    state of its own Gibbs sampler after `sweeps` sweeps over all variables. Rows are therefore independent, but follow
    the distribution only approximately.

    >>> from parsimon.data import make_network
    >>> made = make_network("grid", 9, 100)
    >>> made.X.shape, len(made.edges), made.edges[:3]
    ((100, 9), 12, [(0, 1), (0, 3), (1, 2)])
    """
    _check(n_variables=(n_variables, 1), n_samples=(n_samples, 1), n_states=(n_states, 2), sweeps=(sweeps, 1))
    for name, number in (("coupling", coupling), ("field", field), ("degree", degree)):
        if not (np.isfinite(number) and number >= 0):
            raise ParsimonError(f"{name} is {number}; give a number that is 0 or more.")
    if kind not in get_args(Kind):
        raise ParsimonError(f"kind is {kind!r}; give chain, grid or random.")
    of_graph, of_weights, of_rows = np.random.default_rng(random_state).spawn(3)
    edges = GRAPHS[kind](n_variables, degree, of_graph)
    signs = of_weights.choice([-1.0, 1.0], len(edges)) if mixed_signs else np.ones(len(edges))
    fields = of_weights.normal(0.0, 1.0, (n_variables, n_states)) * field
    weights = coupling * signs
    if kind == "chain":
        rows = _draw_chain(fields, weights, n_samples, of_rows)
    else:
        rows = _draw_gibbs(fields, edges, weights, n_samples, sweeps, of_rows)
    return SyntheticNetwork(rows, edges, weights, fields, n_states)


def agreement(n_states: int) -> Array:
    """The matrix s(a, b): 1 where a = b, −1/(K − 1) elsewhere.

    >>> agreement(2)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return np.where(np.eye(n_states, dtype=bool), 1.0, -1.0 / (n_states - 1))


def _chain(n: int, degree: float, random: np.random.Generator) -> list[tuple[int, int]]:
    return [(v, v + 1) for v in range(n - 1)]


def _grid(n: int, degree: float, random: np.random.Generator) -> list[tuple[int, int]]:
    height = max(d for d in range(1, int(n**0.5) + 1) if n % d == 0)
    if height == 1 and n > 1:
        raise ParsimonError(
            f"n_variables is {n}, which is prime, so no grid has as many; give a number such as 9, 12 or 16."
        )
    width = n // height
    right = [(v, v + 1) for v in range(n) if (v + 1) % width]
    return sorted(right + [(v, v + width) for v in range(n - width)])


def _random(n: int, degree: float, random: np.random.Generator) -> list[tuple[int, int]]:
    one, other = np.triu_indices(n, 1)
    wanted = round(n * degree / 2)
    if wanted > len(one):
        raise ParsimonError(
            f"degree is {degree:g}, but {n} variables have at most {n - 1} neighbours each; give a smaller degree."
        )
    chosen = np.sort(random.choice(len(one), wanted, replace=False)) if wanted else np.zeros(0, np.int64)
    return list(zip(one[chosen].tolist(), other[chosen].tolist(), strict=True))


GRAPHS: dict[str, Callable[[int, float, np.random.Generator], list[tuple[int, int]]]] = {
    "chain": _chain,
    "grid": _grid,
    "random": _random,
}


def _draw_chain(field: Array, weights: Array, n: int, random: np.random.Generator) -> IntArray:
    """Draw each variable given the previous one, with all later variables summed out."""
    length, n_states = field.shape
    pair = weights[:, None, None] * agreement(n_states)
    after = np.zeros((length, n_states))  # log Σ over all later variables, given the state here
    for v in range(length - 2, -1, -1):
        after[v] = np.logaddexp.reduce(pair[v] + field[v + 1] + after[v + 1], axis=1)
    rows = np.zeros((n, length), np.int64)
    for v in range(length):
        scores = np.broadcast_to(field[v] + after[v], (n, n_states))
        rows[:, v] = _draw_states(scores if v == 0 else scores + pair[v - 1][rows[:, v - 1]], random)
    return rows


def _draw_gibbs(
    field: Array,
    edges: list[tuple[int, int]],
    weights: Array,
    n: int,
    sweeps: int,
    random: np.random.Generator,
) -> IntArray:
    """Start from random rows; every sweep redraws each variable, in all rows at once, given its neighbours."""
    length, n_states = field.shape
    neighbours: list[list[tuple[int, Array]]] = [[] for _ in range(length)]
    for (u, v), weight in zip(edges, weights, strict=True):
        neighbours[u].append((v, weight * agreement(n_states)))
        neighbours[v].append((u, weight * agreement(n_states)))
    rows = random.integers(n_states, size=(n, length))
    for _ in range(sweeps):
        for v in range(length):
            scores = np.broadcast_to(field[v], (n, n_states))
            for u, pair in neighbours[v]:
                scores = scores + pair[rows[:, u]]
            rows[:, v] = _draw_states(scores, random)
    return rows


def _draw_states(scores: Array, random: np.random.Generator) -> IntArray:
    """One state per row from the softmax of its scores: the largest score after adding Gumbel noise."""
    return np.asarray((scores + random.gumbel(size=scores.shape)).argmax(axis=1))


def _check(**numbers: tuple[int, int]) -> None:
    """Check integer arguments, each given as a pair of its value and its minimum."""
    for name, (number, minimum) in numbers.items():
        if not isinstance(number, int | np.integer) or number < minimum:
            raise ParsimonError(f"{name} is {number!r}; give a whole number that is {minimum} or more.")
