"""Choosing a solver: by name, the first that fits, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from group_toys import crossing, thirds
from parsimon.errors import ParsimonError
from parsimon.penalties import L1, L2, GroupLasso, OverlappingGroupLasso
from parsimon.solvers import (
    LBFGS,
    OWLQN,
    SOLVERS,
    FrankWolfe,
    Online,
    Smoothing,
    Subgradient,
    WorkingSet,
    choose_solver,
    set_up_solver,
)
from solver_toys import TOYS

NOT_SMOOTH = "needs a smooth loss, and hinge is not; use"
REFUSALS = [
    ("lbfgs", "log", L1(1.0), "an L1 part is not; use working-set or owlqn or"),
    ("lbfgs", "log", L1(1.0), "the solver lbfgs needs a smooth penalty, and"),
    ("lbfgs", "hinge", L2(1.0), f"the solver lbfgs {NOT_SMOOTH}"),
    ("owlqn", "hinge", L1(1.0), f"the solver owlqn {NOT_SMOOTH}"),
    (
        "working-set",
        "perceptron",
        L1(1.0),
        "a smooth loss, and perceptron is not; use subgradient or sgd or sgd-l1.",
    ),
    ("mira", "perceptron", L2(1.0), "the solver mira needs the hinge loss, not the perceptron loss"),
    ("newton", "log", L1(1.0), "no solver called 'newton'; choose from auto, lbfgs, proximal-newton"),
]


@pytest.mark.parametrize(("solver", "loss", "penalty", "message"), REFUSALS)
def test_what_cannot_work_is_refused(solver: str, loss: str, penalty: Any, message: str) -> None:
    with pytest.raises(ParsimonError) as error:
        choose_solver(solver, TOYS["plain"].problem(loss, penalty))
    assert message in str(error.value)


def test_auto_takes_what_fits() -> None:
    toy = TOYS["plain"]
    assert isinstance(choose_solver("auto", toy.problem("log", L2(1.0))), LBFGS)
    assert isinstance(choose_solver("auto", toy.problem("log", L1(1.0))), WorkingSet)
    assert isinstance(choose_solver("auto", toy.problem("hinge", L1(1.0))), Smoothing)
    assert isinstance(choose_solver("auto", toy.problem("hinge", L2(1.0))), FrankWolfe)
    assert isinstance(choose_solver("auto", toy.problem("perceptron", L2(1.0))), Subgradient)
    named = choose_solver("owlqn", toy.problem("log", L1(1.0)), 1e-3)
    assert isinstance(named, WorkingSet)
    assert isinstance(named.inner, OWLQN)
    assert named.tol == 1e-3
    mine = OWLQN(memory=3)
    assert choose_solver(mine, toy.problem("log", L1(1.0))) is mine


@pytest.mark.parametrize(
    ("loss", "penalty", "expected"),
    [
        ("log", L1(1.0), "working-set"),
        ("log", L2(1.0), "lbfgs"),
        ("log", GroupLasso(1.0, thirds(33)), "working-set"),
        ("log", OverlappingGroupLasso(1.0, crossing(33)), "working-set"),
        ("hinge", GroupLasso(1.0, thirds(33)), "smoothing"),
        ("hinge", L1(1.0), "smoothing"),
        ("perceptron", L1(1.0), "subgradient"),
    ],
)
def test_what_auto_takes(loss: str, penalty: Any, expected: str) -> None:
    assert choose_solver("auto", TOYS["plain"].problem(loss, penalty)).name == expected
    assert set(SOLVERS) >= {"fista", "block-working-set", "smoothing", "mira", "sgd"}


def test_settings_go_to_the_solvers_that_have_them() -> None:
    problem = TOYS["plain"].problem("log", L1(0.3))
    online: Any = set_up_solver("sgd", problem, max_iter=7, random_state=3)
    assert (online.epochs, online.seed) == (7, 3)
    own: Any = set_up_solver(Online(seed=5), problem, max_iter=7, random_state=3)
    assert (own.epochs, own.seed) == (7, 5)
    batch: Any = set_up_solver("working-set", problem, tol=1e-3, max_iter=7)
    assert batch.tol == 1e-3
    some: Any = set_up_solver("grafting", problem, unit=4)
    assert some.unit == 4
    with pytest.raises(ParsimonError, match="adds no units of features; leave out unit"):
        set_up_solver("owlqn", problem, unit=4)
    with pytest.raises(ParsimonError, match="has no tolerance; leave it out"):
        set_up_solver("sgd", problem, tol=0.1)
