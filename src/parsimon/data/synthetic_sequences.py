"""Synthetic sequences whose relevant features are known: real-valued inputs, and labels drawn from a sparse CRF.

This is the set-up of Zhu, Xing & Zhang (2009, section 5.1), who compare selected features with the relevant ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError

__all__ = ["SyntheticSequences", "draw_labels", "make_sequences"]

Kind = Literal["iid", "correlated"]


@dataclass(frozen=True)
class SyntheticSequences:
    """Sequences, and the CRF from which their labels were drawn.

    The score of labels y of a sequence x is Σ_t x_t · state[:, y_t] + Σ_t transition[y_{t−1}, y_t].
    """

    X: list[Array]  # one (length, n_features) array per sequence
    y: list[list[str]]
    state: Array  # (n_features, n_labels), zero for irrelevant features
    transition: Array  # (n_labels, n_labels): previous label × label
    relevant: BoolArray  # (n_features,)


def make_sequences(
    kind: Kind = "correlated",
    *,
    n_sequences: int = 1000,
    length: int = 8,
    n_labels: int = 2,
    n_features: int = 100,
    n_relevant: int = 30,
    group_size: int = 3,
    noise: float = 0.05,
    scale: float = 1.0,
    sweeps: int = 100,
    random_state: int = 0,
) -> SyntheticSequences:
    """Draw sequences of real-valued features, some of them relevant, and labels from a CRF given the features.

    The defaults are those of Zhu, Xing & Zhang (2009): 30 of 100 features are relevant, here the first ones. Every
    feature is drawn from a standard normal distribution. If relevant features are ``correlated``, those in a group of
    three share one draw, and noise with standard deviation 0.05 is added to each. The weights of the relevant features
    with every label and of all label pairs come from a normal distribution with mean 0 and standard deviation `scale`,
    which the paper does not state: the larger it is, the less random the labels are.

    Labels, called "0", "1", …, are drawn from that CRF by Gibbs sampling: they start at random, and every sweep redraws
    each of them (see `draw_labels`). The same seed always gives the same CRF, whatever the kind, the number of
    sequences and their length.

    >>> from parsimon.data import make_sequences
    >>> made = make_sequences(n_sequences=50)
    >>> len(made.X), made.X[0].shape, int(made.relevant.sum())
    (50, (8, 100), 30)
    >>> len(made.y[0]), sorted(set(made.y[0]))
    (8, ['0', '1'])
    """
    _check_kind(kind, n_features, n_relevant, group_size)
    _check_numbers(
        n_sequences=(n_sequences, 1),
        length=(length, 1),
        n_labels=(n_labels, 2),
        sweeps=(sweeps, 1),
        random_state=(random_state, 0),
    )
    _check_deviations(noise=noise, scale=scale)
    of_weights, of_inputs, of_labels = np.random.default_rng(random_state).spawn(3)
    relevant = np.arange(n_features) < n_relevant
    transition = of_weights.normal(0.0, scale, (n_labels, n_labels))
    state = np.zeros((n_features, n_labels))
    state[relevant] = of_weights.normal(0.0, scale, (n_relevant, n_labels))

    inputs = of_inputs.standard_normal((n_sequences, length, n_features))
    if kind == "correlated":
        shared = of_inputs.standard_normal((n_sequences, length, n_relevant // group_size))
        inputs[..., relevant] = np.repeat(shared, group_size, axis=2) + noise * inputs[..., relevant]
    labels = draw_labels(inputs @ state, transition, sweeps, of_labels)
    return SyntheticSequences(
        list(inputs), [[str(label) for label in row] for row in labels.tolist()], state, transition, relevant
    )


def draw_labels(node: Array, transition: Array, sweeps: int, random: np.random.Generator) -> IntArray:
    """Draw label sequences from P(y) ∝ exp(Σ_t node[t, y_t] + Σ_t transition[y_{t−1}, y_t]) by Gibbs sampling.

    `node` has the shape sequences × tokens × labels; the result has the shape sequences × tokens. A sweep goes from the
    first token to the last and redraws its label, in all sequences at once, given the neighbouring labels.

    >>> node = np.zeros((1, 3, 2))
    >>> node[0, :, 1] = 50.0
    >>> draw_labels(node, np.zeros((2, 2)), sweeps=1, random=np.random.default_rng(0))
    array([[1, 1, 1]])
    """
    n, length, n_labels = node.shape
    labels = random.integers(n_labels, size=(n, length))
    for _ in range(sweeps):
        for t in range(length):
            scores = node[:, t].copy()
            if t > 0:
                scores += transition[labels[:, t - 1]]
            if t < length - 1:
                scores += transition[:, labels[:, t + 1]].T
            # The index of the largest score after adding Gumbel noise is a draw from the softmax.
            labels[:, t] = (scores + random.gumbel(size=(n, n_labels))).argmax(axis=1)
    return labels


def _check_kind(kind: str, n_features: int, n_relevant: int, group_size: int) -> None:
    if kind not in get_args(Kind):
        raise ParsimonError(f"kind is {kind!r}; give iid or correlated.")
    _check_numbers(n_features=(n_features, 1), n_relevant=(n_relevant, 0), group_size=(group_size, 1))
    if n_relevant > n_features:
        raise ParsimonError(f"n_relevant is {n_relevant}, but there are only {n_features} features.")
    if kind == "correlated" and n_relevant % group_size:
        raise ParsimonError(
            f"n_relevant is {n_relevant}, which is not a multiple of group_size, {group_size}; give a multiple."
        )


def _check_numbers(**numbers: tuple[int, int]) -> None:
    """Check integer arguments, each given as a pair of its value and its minimum."""
    for name, (number, minimum) in numbers.items():
        if not isinstance(number, int | np.integer) or number < minimum:
            raise ParsimonError(f"{name} is {number!r}; give a whole number that is {minimum} or more.")


def _check_deviations(**deviations: float) -> None:
    for name, deviation in deviations.items():
        if not (np.isfinite(deviation) and deviation >= 0):
            raise ParsimonError(
                f"{name} is {deviation}; give a standard deviation, a number that is 0 or more."
            )
