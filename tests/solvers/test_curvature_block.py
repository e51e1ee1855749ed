"""The block of B₀: which features are in it, and what is left of it on other features."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.solvers.curvature_block import LEAST, CurvatureBlock, that_move_most


def block() -> CurvatureBlock:
    random = np.random.default_rng(0)
    A = random.normal(size=(4, 6))
    return CurvatureBlock(np.array([1, 3, 4, 8]), A @ A.T)


def test_a_matrix_is_lifted_to_the_diagonal_that_is_known() -> None:
    estimate = np.array([[1.0, 0.5], [0.5, 3.0]])
    made = CurvatureBlock.of(np.array([2, 5]), estimate, np.array([2.0, 2.5]), 0.5)
    assert made.matrix == pytest.approx(0.5 * np.array([[2.0 + LEAST, 0.5], [0.5, 3.0 + LEAST]]))


@pytest.mark.parametrize("chosen", [[0, 1, 4, 9], [1, 3, 4, 8], [0, 2], [8], [9], []])
def test_among_other_features(chosen: list[int]) -> None:
    whole, left = block(), np.array(chosen, np.int64)
    part = whole.among(left)
    assert left[part.features].tolist() == [k for k in whole.features if k in chosen]
    there = np.isin(whole.features, left)
    assert part.matrix == pytest.approx(whole.matrix[np.ix_(there, there)])


def test_carried_to_other_features() -> None:
    old = np.arange(0, 20, 2)  # the block has features 2, 6, 8, 16 of the whole problem
    new = np.array([3, 6, 8, 11, 16, 17])
    carried = block().carried(old, new)
    assert new[carried.features].tolist() == [6, 8, 16]
    assert carried.matrix == pytest.approx(block().matrix[1:, 1:])


def test_the_diagonal_outside() -> None:
    diagonal = np.arange(1.0, 11.0)
    outside = block().outside(diagonal)
    assert outside.tolist() == [1, 0, 3, 0, 0, 6, 7, 8, 0, 10]
    assert diagonal[1] == 2


def test_the_inverse_of_a_part() -> None:
    face, right = np.array([0, 2, 3]), np.eye(3)
    assert block().matrix[np.ix_(face, face)] @ block().solve(face, right) == pytest.approx(np.eye(3))


def test_features_that_move_most() -> None:
    diagonal = np.array([1.0, 4.0, 1.0, 100.0, 2.0])
    steps = np.array([[3.0, 0.0], [1.0, 1.0], [0.0, 0.5], [0.0, 0.0], [0.0, 2.0]])  # 9, 8, 0.25, 0, 8
    assert that_move_most(diagonal, steps, 1).tolist() == [0]
    assert that_move_most(diagonal, steps, 3).tolist() == [0, 1, 4]
    assert that_move_most(diagonal, steps, 5).tolist() == [0, 1, 2, 4]
    assert that_move_most(diagonal, steps, 9).tolist() == [0, 1, 2, 4]
