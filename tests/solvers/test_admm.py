"""ADMM and proximal Newton on vectors: against CVXPY, each other and other solvers; certificates hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flat_problems import flat_toy, solved
from parsimon.errors import ParsimonError
from parsimon.penalties import ElasticNet, GroupLasso, OverlappingGroupLasso, SentenceLasso
from parsimon.solvers import ADMM, FISTA, Status, Weights, choose_solver
from parsimon.solvers.capabilities import COORDINATES
from parsimon.solvers.certificate import split_lower_bound

STRENGTHS = [(0.5, 0.1, 0.0), (0.3, 0.0, 0.0), (1.0, 0.5, 0.3), (0.2, 0.0, 1.0), (3.0, 0.1, 0.0)]


@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize(("sen", "l1", "l2"), STRENGTHS)
def test_the_optimum_is_cvxpys(n_labels: int, sen: float, l1: float, l2: float) -> None:
    toy = flat_toy(n_labels, n_labels=n_labels, weighted=n_labels == 2)
    problem = toy.problem(SentenceLasso(sen, toy.groups, l1=l1, l2=l2))
    result = solved(problem, ADMM(tol=1e-6))
    assert result.status is Status.CONVERGED
    assert result.gap is not None
    expected = toy.optimum(sen, l1, l2)
    assert result.objective == pytest.approx(expected, rel=1e-5)
    assert result.objective - result.gap <= expected * (1 + 1e-7)  # the bound is one


@pytest.mark.parametrize(
    "setting",
    [{"rho": 0.01}, {"rho": 100.0}, {"relaxation": 1.0}, {"relaxation": 1.9}, {"threads": 2}],
    ids=str,
)
def test_settings_do_not_change_the_solution(setting: dict[str, Any]) -> None:
    toy = flat_toy(5, n=80, d=20)
    problem = toy.problem(SentenceLasso(0.4, toy.groups, l1=0.2))
    reference, other = solved(problem, ADMM(tol=1e-9)), solved(problem, ADMM(tol=1e-9, **setting))
    assert other.objective == pytest.approx(reference.objective, rel=1e-8)
    np.testing.assert_allclose(other.weights.dense(), reference.weights.dense(), atol=1e-3)
    if setting == {"threads": 2}:
        assert np.array_equal(other.weights.dense(), reference.weights.dense())


def test_overlapping_groups_agree_with_fista() -> None:
    toy = flat_toy(7)
    sets = [sorted(set(each)) for each in toy.lists]
    groups = replace(toy, lists=sets).groups
    problem = toy.problem(OverlappingGroupLasso(0.4, groups, l1=0.1))
    assert solved(problem, ADMM(tol=1e-8)).objective == pytest.approx(
        solved(problem, FISTA(tol=1e-8)).objective, rel=1e-6
    )


def test_disjoint_groups_agree_with_working_sets() -> None:
    toy = replace(
        flat_toy(8), lists=[[0, 1, 2], [3, 4], [5, 6, 7, 8], [9, 10], [11, 12, 13]], weight=np.ones(5)
    )
    problem = toy.problem(GroupLasso(1.0, toy.groups))
    auto = choose_solver("block-working-set", problem, 1e-8)
    assert solved(problem, ADMM(tol=1e-8)).objective == pytest.approx(
        solved(problem, auto).objective, rel=1e-6
    )


def test_hinge_loss_and_sentences() -> None:
    toy = flat_toy(4)
    problem = toy.problem(SentenceLasso(0.3, toy.groups, l1=0.1), loss="hinge")
    result = solved(problem, choose_solver("auto", problem, 1e-3))
    expected = toy.optimum(0.3, 0.1, loss="hinge")
    assert expected <= result.objective * (1 + 1e-7)
    assert result.objective <= expected * (1 + 2e-3)
    assert result.objective - result.gap <= expected * (1 + 1e-7)


def test_the_bound_holds_at_any_point() -> None:
    toy = flat_toy(6)
    problem = toy.problem(SentenceLasso(0.5, toy.groups, l1=0.3))
    expected = toy.optimum(0.5, 0.3)
    admm, bounds, scores = ADMM(), [], COORDINATES.of(problem)
    now, split, copies = admm.prepare(problem, Weights.zeros(problem.n_features))
    for number, step in enumerate(admm.iterate(problem, Weights.zeros(problem.n_features))):
        bounds.append(split_lower_bound(scores, now.there, split.net, copies.dual()))
        w = step.weights.dense()
        now = type(now).at(scores, w, scores.margins(w))
        copies.update(now.w)
        if step.status is not None or number > 50:
            break
    assert max(bounds) <= expected * (1 + 1e-9)
    assert max(bounds) > 0.9 * expected


def test_relevance_is_the_norm_of_copies() -> None:
    toy = flat_toy(9, n=100, d=25)
    strength = 2.0
    problem = toy.problem(SentenceLasso(strength, toy.groups, l1=0.1))
    result = solved(problem, ADMM(tol=1e-9))
    w = result.weights.dense()
    expected = [np.linalg.norm(w[np.array(each)]) for each in toy.lists]
    np.testing.assert_allclose(result.relevance, expected, atol=1e-3)
    assert np.any(result.relevance == 0)
    for each, norm in zip(toy.lists, result.relevance, strict=True):
        assert norm > 0 or not np.any(w[np.array(each)])  # exactly


def test_as_in_the_paper() -> None:
    """One copy a token, ρ fixed, no over-relaxation: the updates written out."""
    toy, rho, sen, l1 = flat_toy(11), 2.0, 0.5, 0.2
    problem = toy.problem(SentenceLasso(sen, toy.groups, l1=l1))
    d = toy.X.shape[1]
    tokens = np.concatenate([np.sort(each) for each in toy.lists])
    M = np.zeros((len(tokens), d + 1))
    M[np.arange(len(tokens)), tokens] = 1
    v = u = np.zeros(len(tokens))
    cuts = np.cumsum([len(each) for each in toy.lists])[:-1]
    solver = ADMM(stopping="paper", rho=rho, tol=0.0)
    steps = (step for step in solver.iterate(problem, Weights.zeros(d + 1)) if step.whole)
    for number, step in enumerate(steps):
        w = step.weights.dense()
        # The w step minimises loss + l1 + ρ/2 ‖Mw − v − u/ρ‖²: no violation but for its tolerance.
        gradient = problem.loss_and_gradient(w)[1] + rho * M.T @ (M @ w - v - u / rho)
        net = ElasticNet(l1).exempt(np.array([d]), d + 1)
        assert np.max(net.violation(w, gradient)) < 0.02
        z = np.split(M @ w - u / rho, cuts)
        radii = sen * toy.weight / rho
        v = np.concatenate(
            [each * max(0.0, 1 - r / np.linalg.norm(each)) for each, r in zip(z, radii, strict=True)]
        )
        u = u + rho * (v - M @ w)
        norms = [np.linalg.norm(each) for each in np.split(v, cuts)]
        np.testing.assert_allclose(step.relevance, norms, atol=1e-9)
        if number == 10:
            break


def test_what_does_not_fit_is_refused() -> None:
    toy = flat_toy()
    problem = toy.problem(SentenceLasso(0.5, toy.groups))
    with pytest.raises(ParsimonError, match=r"fista needs a penalty with a proximal operator.*use admm"):
        choose_solver("fista", problem)
    with pytest.raises(ParsimonError, match="admm needs a penalty on groups"):
        choose_solver("admm", toy.problem(ElasticNet(1.0)))
    with pytest.raises(ParsimonError, match="certified or paper"):
        ADMM(stopping="soon")  # type: ignore[arg-type]
    with pytest.raises(ParsimonError, match="rho must be above zero"):
        ADMM(rho=-1.0)
    with pytest.raises(ParsimonError, match="between 0 and 2"):
        ADMM(relaxation=2.0)
    assert choose_solver("auto", problem).name == "admm"
