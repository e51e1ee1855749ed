"""What all solvers share: combinations that are refused, and how an optimum is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import L2
from parsimon.solvers import Subgradient, choose_solver
from parsimon.structures.base import Oracle
from solver_toys import TOYS
from toy_problems import make_toy


@pytest.mark.parametrize("loss", ["hinge", "perceptron"])
@pytest.mark.parametrize("solver", ["auto", "subgradient", Subgradient()])
def test_only_the_log_loss_takes_missing_labels(solver: Any, loss: str) -> None:
    with pytest.raises(ParsimonError, match="needs every label, but some are missing; use the log loss"):
        choose_solver(solver, make_toy(1, missing=0.5).problem(loss, L2(1.0)))


def test_a_structure_without_the_oracle_is_refused() -> None:
    class Mute:
        oracles: ClassVar[frozenset[Oracle]] = frozenset({Oracle.ARGMAX})

    problem = TOYS["plain"].problem("log", L2(1.0))
    mute = replace(problem, batches=tuple(replace(b, structure=Mute()) for b in problem.batches))
    with pytest.raises(
        ParsimonError, match="the log loss needs marginals, which this structure does not have"
    ):
        choose_solver("auto", mute)
