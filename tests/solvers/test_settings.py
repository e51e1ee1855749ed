"""The settings that several solvers have in common."""

from __future__ import annotations

import dataclasses

import pytest

from parsimon.penalties.groupings import ByTemplate
from parsimon.solvers import SOLVERS, Budget, Online
from parsimon.solvers.settings import (
    AddsUnits,
    CountsEpochs,
    HasSeed,
    HasTolerance,
    HasValidationInterval,
    UsesThreads,
    counts_epochs,
    epochs_of,
    validation_interval,
    with_settings,
)


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


SETTINGS = {
    HasTolerance: "tol",
    CountsEpochs: "epochs",
    HasSeed: "seed",
    UsesThreads: "threads",
    AddsUnits: "unit",
    HasValidationInterval: "validate_every",
}


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_has_a_setting_if_it_has_the_attribute(name: str) -> None:
    solver = SOLVERS[name]()
    for kind, attribute in SETTINGS.items():
        assert isinstance(solver, kind) == hasattr(solver, attribute), attribute
    fields = {each.name for each in dataclasses.fields(solver)}
    for attribute in fields & set(SETTINGS.values()):
        other = with_settings(solver, **{attribute: 3})
        assert getattr(other, attribute) == 3
        assert with_settings(other, **{attribute: getattr(solver, attribute)}) == solver
