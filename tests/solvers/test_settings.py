"""The settings that several solvers have in common."""

from __future__ import annotations

import pytest

from parsimon.penalties.groupings import ByTemplate
from parsimon.solvers import SOLVERS, Budget, Online
from parsimon.solvers.settings import counts_epochs, epochs_of, validation_interval


def test_epochs_and_validation() -> None:
    assert counts_epochs(Online(epochs=4))
    assert epochs_of(Online(epochs=4)) == 4
    assert epochs_of(SOLVERS["bcd"]()) is None
    assert counts_epochs(SOLVERS["bcd"]())
    assert not counts_epochs(SOLVERS["lbfgs"]())
    assert validation_interval(Online()) == 1
    assert validation_interval(SOLVERS["lbfgs"]()) == 5


def test_groups_of_a_budget_are_found_among_the_features() -> None:
    class Features:
        pass

    solver = Online(budget=Budget(3, groups=ByTemplate()))
    with pytest.raises(AttributeError):  # it does ask the features
        solver.bind(Features())  # type: ignore[arg-type]
    assert Online().bind(Features()) == Online()  # type: ignore[arg-type]
