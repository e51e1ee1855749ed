"""The page on adding a solver: it shows the real protocol, and the solver that it adds finds the optimum.

That all its code runs is tested with the other pages.
"""

from __future__ import annotations

import inspect
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from parsimon.penalties import L1, L2, ElasticNet
from parsimon.solvers import Capability, Iterate, Solver, Status, Weights, drive
from toy_problems import by_cvxpy, make_toy

PAGE = (Path(__file__).parents[2] / "docs" / "add_a_solver.md").read_text(encoding="utf-8")


@cache
def sparsa() -> Any:
    module = ModuleType("__add_a_solver__")
    sys.modules[module.__name__] = module  # dataclasses look for the module of a class
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (code,) = (block for block in blocks if re.search(r"^class SpaRSA:", block, re.MULTILINE))
    exec(compile(code, "add_a_solver.md", "exec", dont_inherit=True), vars(module))
    return vars(module)["SpaRSA"]


@pytest.mark.parametrize("shown", [Solver, Iterate, Capability])
def test_the_page_shows_the_protocol_as_it_is(shown: type) -> None:
    assert f"```py\n{inspect.getsource(shown)}```" in PAGE


def test_the_new_solver_takes_about_forty_lines() -> None:
    (code,) = re.findall(
        r"^@dataclass\(frozen=True\)\nclass SpaRSA:.*?(?=^```)", PAGE, re.MULTILINE | re.DOTALL
    )
    assert len([line for line in code.splitlines() if line.strip()]) <= 42


@pytest.mark.parametrize("penalty", [L1(0.3), L2(0.5), ElasticNet(0.2, 0.3)], ids=["l1", "l2", "both"])
@pytest.mark.parametrize("trees", [False, True], ids=["chains", "trees"])
def test_the_new_solver_against_cvxpy(penalty: ElasticNet, trees: bool) -> None:
    pytest.importorskip("cvxpy")
    toy = make_toy(3, weighted=True, trees=trees)
    problem = toy.problem("log", penalty)
    result = drive(sparsa()(tol=1e-7), problem, Weights.zeros(problem.n_features))
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(by_cvxpy(toy, "log", penalty), rel=1e-6)
    objectives = [event.objective for event in result.history]
    assert objectives == sorted(objectives, reverse=True)


def test_the_new_solver_starts_anywhere_and_says_when_it_gets_no_further() -> None:
    problem = make_toy(3).problem("log", L1(0.3))
    far = Weights(np.linspace(-1, 3, problem.n_features), None, problem.n_features)
    here, there = (
        drive(sparsa()(tol=1e-8), problem, start) for start in (Weights.zeros(problem.n_features), far)
    )
    assert there.objective == pytest.approx(here.objective, rel=1e-10)
    stuck = drive(sparsa()(tol=0.0), problem, here.weights)
    assert stuck.status in (Status.STALLED, Status.CONVERGED)
    assert stuck.objective <= here.objective
