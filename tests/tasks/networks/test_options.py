"""Options of networks: strengths by number, text and criterion."""

from __future__ import annotations

import math
from typing import Any

import pytest

from parsimon.data.discrete_table import MAX_STATES
from parsimon.errors import ParsimonError
from parsimon.penalties import L1
from parsimon.tasks.networks.model import INFERENCE
from parsimon.tasks.networks.options import CRITERIA, INFERENCES
from parsimon.tasks.networks.options import PENALTIES as NAMES
from parsimon.tasks.networks.strengths import CHOICES
from parsimon.tasks.networks.training import PENALTIES, NetworkTraining


def test_names_are_those_that_there_are() -> None:
    assert set(CRITERIA) == set(CHOICES)
    assert set(INFERENCES) == set(INFERENCE)
    assert set(NAMES) == {"auto", *PENALTIES}
    assert NetworkTraining().max_states == MAX_STATES


@pytest.mark.parametrize(
    ("alpha", "strength"), [(2, 2.0), (0.5, 0.5), ("3", 3.0), ("1e-3", 1e-3), ("bic", "bic"), ("cv", "cv")]
)
def test_strengths(alpha: Any, strength: Any) -> None:
    assert NetworkTraining(alpha=alpha).strength == strength


@pytest.mark.parametrize("alpha", [0, -1, math.nan, math.inf, True, "much", "", [], "nan", "-1"])
def test_strengths_that_are_none(alpha: Any) -> None:
    with pytest.raises(
        ParsimonError, match="alpha must be a number above zero, or one of bic, ebic, cv, not"
    ):
        NetworkTraining(alpha=alpha).check()


def test_the_strength_may_be_that_of_a_penalty() -> None:
    NetworkTraining(alpha=None, penalty=L1(1.0)).check()
    with pytest.raises(ParsimonError, match="alpha is None, which leaves the strength to a penalty object"):
        NetworkTraining(alpha=None).check()


def test_the_last_strength_is_below_the_first() -> None:
    with pytest.raises(ParsimonError, match="alpha_min_ratio must be a number above zero and below 1, not 1"):
        NetworkTraining(alpha_min_ratio=1).check()
