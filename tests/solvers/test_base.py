"""What all solvers share: combinations that are refused, and how an optimum is told."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import L1, L2, ElasticNet, OverlappingGroupLasso
from parsimon.penalties.groups import Groups
from parsimon.solvers import Event, Result, Status, Subgradient, Weights, choose_solver
from parsimon.solvers.base import residual, thin_history
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


GROUPS = Groups.from_lists([[0, 1, 2], [2, 3]], 6, weight="ones")


@pytest.mark.parametrize(
    "penalty",
    [
        L1(0.3),
        ElasticNet(0.2, 0.1),
        OverlappingGroupLasso(0.4, GROUPS),
        OverlappingGroupLasso(0.4, GROUPS, l1=0.1),
    ],
    ids=str,
)
def test_the_residual_is_the_largest_violation_of_a_weight_or_a_group(penalty: Any) -> None:
    random = np.random.default_rng(0)
    for _ in range(10):
        w, g = random.normal(size=(2, 6)) * (random.random((2, 6)) < 0.6)
        each = penalty.violation(w, g)
        norms = [0.0] if penalty.groups is None else [np.linalg.norm(each[m]) for m in ([0, 1, 2], [2, 3])]
        assert residual(penalty, w, g) == pytest.approx(max(*each, *norms))  # 4 and 5 are in no group


def test_events_survive_json() -> None:
    event = Event(3, 0.25, 1.5, 7, 9, phase="p", kkt=0.5, dev=0.75, instantiated=(4, 8), selected=3)
    assert Event.from_dict(json.loads(json.dumps(asdict(event)))) == event


@pytest.mark.parametrize("n", [1, 2, 10, 11, 95])
def test_a_long_history_is_thinned_but_keeps_its_ends(n: int) -> None:
    history = [Event(i, float(i), 1.0 / 3.0 + i, 5, i, dev=0.5 if i % 2 else None) for i in range(n)]
    thin = thin_history(history, most=10)
    assert [line["iteration"] for line in thin] == sorted({*range(0, n, max(1, n // 10)), n - 1})
    for line in thin:
        assert "seconds" not in line  # models of the same data must be the same
        assert ("dev" in line) == (line["iteration"] % 2 == 1)
        assert line["objective"] == round(1 / 3 + line["iteration"], 6)


def test_how_training_ended_can_be_stored() -> None:
    history = [Event(i, 0.1, 1.0, 2, i) for i in range(3)]
    told = Result(Weights.zeros(4), Status.STALLED, 1.25, kkt=0.5, history=history).to_dict()
    again = json.loads(json.dumps(told))
    assert [line["evaluations"] for line in again["history"]] == [0, 1, 2]
    assert (told["status"], told["iterations"], told["gap"]) == (Status.STALLED.value, 3, None)
