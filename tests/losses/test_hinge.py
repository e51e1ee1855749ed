"""The hinge loss and its smoothed form: costs, values and gradients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_toys import random_costs, toys, weights_for
from parsimon.errors import ParsimonError
from parsimon.losses import Hinge, SmoothedHinge
from parsimon.penalties import ElasticNet
from parsimon.solvers import choose_solver
from toy_problems import Toy, make_toy


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 3.0]))
def test_hinge_scales_its_cost(seed: int, cost: float) -> None:
    toy = make_toy(seed)
    w = weights_for(toy, seed)
    wanted = sum(
        weight * (outputs.with_cost(toy.gold[tokens], cost).best()[0] - outputs.score_of(toy.gold[tokens]))
        for tokens, weight, outputs in toy.enumerations(w)
    )
    assert toy.problem(Hinge(cost=cost)).loss_and_gradient(w)[0] == pytest.approx(wanted)


def test_hinge_at_zero_counts_tokens() -> None:
    toy = make_toy(0)
    value, _ = toy.problem("hinge").loss_and_gradient(np.zeros(toy.index.n_features))
    assert value == len(toy.gold)


@given(toys, st.integers(0, 100))
def test_hinge_with_a_table_of_costs_is_the_definition(toy: Toy, seed: int) -> None:
    w, table = weights_for(toy, seed), random_costs(np.random.default_rng(seed), toy.n_labels)
    wanted = 0.0
    for tokens, weight, outputs in toy.enumerations(w):
        gold = toy.gold[tokens]
        costs = table[gold, outputs.labellings].sum(axis=1)
        wanted += weight * (np.max(outputs.scores + costs) - outputs.score_of(gold))
    value, _ = toy.problem(Hinge(cost=table)).loss_and_gradient(w)
    assert value == pytest.approx(wanted, rel=1e-11, abs=1e-10)


@given(toys, st.integers(0, 100))
def test_a_table_of_equal_costs_is_a_number(toy: Toy, seed: int) -> None:
    w = weights_for(toy, seed)
    for make in (Hinge, lambda cost: SmoothedHinge(0.5, cost)):
        one, table = (
            toy.problem(make(cost)).loss_and_gradient(w) for cost in (2.5, 2.5 * (1 - np.eye(toy.n_labels)))
        )
        assert one[0] == pytest.approx(table[0], rel=1e-12, abs=1e-10)
        np.testing.assert_allclose(one[1], table[1], atol=1e-10)


@given(toys, st.integers(0, 100), st.sampled_from([0.05, 0.5, 2.0]))
def test_smoothed_hinge_is_above_the_hinge_and_tends_to_it(toy: Toy, seed: int, temperature: float) -> None:
    w, table = weights_for(toy, seed), random_costs(np.random.default_rng(seed), toy.n_labels)
    hinge = toy.problem(Hinge(table)).loss_and_gradient(w)[0]
    smoothed = [
        toy.problem(SmoothedHinge(t, table)).loss_and_gradient(w)[0] for t in (temperature, temperature / 10)
    ]
    weights = np.ones(len(toy.observations.lengths)) if toy.weights is None else toy.weights
    outputs = float(toy.observations.lengths @ weights) * np.log(toy.n_labels)
    for value, t in zip(smoothed, (temperature, temperature / 10), strict=True):
        assert hinge - 1e-9 <= value <= hinge + t * outputs + 1e-9
    assert smoothed[1] <= smoothed[0] + 1e-9


@given(toys, st.integers(0, 100))
def test_gradient_of_the_smoothed_hinge_by_finite_differences(toy: Toy, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = toy.problem(SmoothedHinge(0.7, random_costs(rng, toy.n_labels)))
    w = 0.7 * rng.normal(size=problem.n_features)
    _, gradient = problem.loss_and_gradient(w)
    for k in rng.choice(problem.n_features, size=min(5, problem.n_features), replace=False):
        e = np.zeros_like(w)
        e[k] = 1e-5
        slope = (problem.loss_and_gradient(w + e)[0] - problem.loss_and_gradient(w - e)[0]) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_costs_by_name_need_the_names() -> None:
    toy = make_toy(0)
    for loss in (Hinge(cost={("a", "b"): 2.0}), SmoothedHinge(1.0, lambda gold, given: gold != given)):
        with pytest.raises(ParsimonError, match=r"by names of labels, so bind\(labels\) must come first"):
            toy.problem(loss).loss_and_gradient(np.zeros(toy.index.n_features))


def test_online_learners_take_one_number() -> None:
    toy = make_toy(0)
    for name in ("sgd", "mira", "sgd-l1"):
        choose_solver(name, toy.problem(Hinge(cost=2.0), ElasticNet(0.1)))
        with pytest.raises(
            ParsimonError, match=f"{name} needs a cost that is one number for every wrong label"
        ):
            choose_solver(name, toy.problem(Hinge(cost=1 - np.eye(3)), ElasticNet(0.1)))
