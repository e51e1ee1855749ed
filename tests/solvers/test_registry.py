"""The solvers by name: each can be made, takes its settings, and is imported only then."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import is_dataclass

import pytest

import parsimon.solvers
from parsimon.solvers import SOLVERS
from parsimon.solvers.capabilities import Capability
from parsimon.solvers.settings import HasTolerance

every_name = pytest.mark.parametrize("name", SOLVERS)


@every_name
def test_every_name_makes_a_solver(name: str) -> None:
    solver = SOLVERS[name]()
    assert is_dataclass(solver)  # so that settings can be changed
    assert isinstance(solver.name, str)
    assert all(isinstance(each, Capability) for each in solver.requires)
    assert callable(solver.iterate)
    assert SOLVERS[name]() == solver


@every_name
def test_settings_reach_the_solver(name: str) -> None:
    if isinstance(SOLVERS[name](), HasTolerance):
        solver = SOLVERS[name](tol=0.0125)
        assert isinstance(solver, HasTolerance)
        assert solver.tol == 0.0125
    with pytest.raises(TypeError, match="no_such_setting"):
        SOLVERS[name](no_such_setting=1)


def test_no_two_names_mean_the_same_solver() -> None:
    made = [SOLVERS[name]() for name in SOLVERS]
    assert all(a != b for i, a in enumerate(made) for b in made[:i])


def test_every_solver_that_is_public_has_a_name() -> None:
    public = [getattr(parsimon.solvers, name) for name in parsimon.solvers.__all__]
    kinds = {each for each in public if isinstance(each, type) and hasattr(each, "iterate")}
    made = [SOLVERS[name]() for name in SOLVERS]
    named = {type(each) for each in made} | {type(each.inner) for each in made if hasattr(each, "inner")}
    assert {kind.__name__ for kind in kinds - named} == {"Solver"}  # the protocol


def test_nothing_is_imported_before_a_solver_is_made() -> None:
    code = (
        "import sys; from parsimon.solvers.registry import SOLVERS; "
        "before = [m for m in ('owlqn', 'online', 'cutting_plane') if 'parsimon.solvers.' + m in sys.modules]; "
        "SOLVERS['cutting-plane'](); print(before, 'parsimon.solvers.cutting_plane' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] True\n"
