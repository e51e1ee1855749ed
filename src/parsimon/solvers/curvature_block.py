"""Some features, of which the curvature of the loss is known in full: the part of B₀ that is no diagonal.

The diagonal of the Hessian says nothing of features that share a change: a step may raise one common feature and lower
another, and cost next to nothing. Then Σ_k D_k s_k² is hundreds of times sᵀHs, and a few hundred features have nearly
all of that sum. They are the block: those that moved most, in the norm of D, in the steps that are remembered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsimon.arrays import Array, IntArray

LEAST = 0.1  # curvature that every feature of the block has


@dataclass(frozen=True, eq=False)
class CurvatureBlock:
    """Features and the matrix of their second derivatives."""

    features: IntArray  # ascending
    matrix: Array

    @classmethod
    def of(cls, features: IntArray, covariance: Array, diagonal: Array, times: float = 1.0) -> CurvatureBlock:
        """So many times an estimate of the matrix, lifted where its diagonal is below what is known of it.

        Features that always go together have a singular matrix, hence `LEAST` on its diagonal.
        """
        short = np.maximum(diagonal - np.diag(covariance), 0.0) + LEAST
        return cls(features, times * (covariance + np.diag(short)))

    @property
    def diagonal(self) -> Array:
        """That of the matrix."""
        return np.diag(self.matrix)

    def among(self, chosen: IntArray) -> CurvatureBlock:
        """What is left of it where there are only some features (ascending), numbered anew."""
        at = np.searchsorted(chosen, self.features)
        at[at == len(chosen)] = 0
        there = chosen[at] == self.features if len(chosen) else np.zeros(len(at), bool)
        return CurvatureBlock(at[there], np.ascontiguousarray(self.matrix[np.ix_(there, there)]))

    def carried(self, old: IntArray, new: IntArray) -> CurvatureBlock:
        """From one set of features to another."""
        return CurvatureBlock(old[self.features], self.matrix).among(new)

    def outside(self, diagonal: Array) -> Array:
        """A diagonal that is zero where the block is."""
        out = diagonal.copy()
        out[self.features] = 0.0
        return out

    def solve(self, face: IntArray, right: Array) -> Array:
        """The inverse of the part of some features (numbers within the block) times a matrix or a vector."""
        return np.asarray(np.linalg.solve(self.matrix[np.ix_(face, face)], right), np.float64)


EMPTY = CurvatureBlock(np.zeros(0, np.int64), np.zeros((0, 0)))


def that_move_most(diagonal: Array, steps: Array, most: int) -> IntArray:
    """The features with the largest D_k Σ s_k² over steps (a column each), ascending."""
    moved = diagonal * np.einsum("ij,ij->i", steps, steps)
    if len(moved) <= most:
        return np.flatnonzero(moved)
    steepest = np.argpartition(-moved, most - 1)[:most]
    return np.sort(steepest[moved[steepest] > 0])
