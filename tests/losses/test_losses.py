"""Losses against their definitions; gradients against finite differences and the subgradient inequality."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.features.columns import Labels
from parsimon.features.item_features import ItemFeatures
from parsimon.losses import LOSSES, Hinge, Log, Perceptron, SmoothedHinge, get_loss
from parsimon.penalties import L2, ElasticNet
from parsimon.solvers import choose_solver
from parsimon.structures import Chain, ChainParts
from parsimon.tasks.fingerprint import fingerprint
from parsimon.tasks.matrices.flat import flat_problem
from parsimon.tasks.sequences.training import SequenceTraining
from toy_problems import Toy, make_toy

OF_LABELS = [name for name, loss in LOSSES.items() if loss.oracle in Chain.oracles]

toys = st.builds(
    make_toy,
    st.integers(0, 10**6),
    n_pair=st.integers(0, 3),
    real=st.booleans(),
    weighted=st.booleans(),
    candidates=st.sampled_from(["all", "seen"]),
    trees=st.booleans(),
)


def weights_for(toy: Toy, seed: int, scale: float = 1.0) -> Any:
    return scale * np.random.default_rng(seed).normal(size=toy.index.n_features)


@pytest.mark.parametrize("name", OF_LABELS)
@given(toys, st.integers(0, 100))
def test_value_is_the_definition(name: str, toy: Toy, seed: int) -> None:
    w = weights_for(toy, seed)
    value, _ = toy.problem(name).loss_and_gradient(w)
    assert value == pytest.approx(toy.loss(name, w), rel=1e-11, abs=1e-10)


@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.sampled_from([0.3, 0.7, 1.0]))
def test_value_with_missing_labels(seed: int, real: bool, weighted: bool, missing: float) -> None:
    toy = make_toy(seed, real=real, weighted=weighted, missing=missing)
    w = weights_for(toy, seed)
    value, gradient = toy.problem("log").loss_and_gradient(w)
    assert value == pytest.approx(toy.loss("log", w), rel=1e-11, abs=1e-10)
    if missing == 1.0:
        assert value == pytest.approx(0.0, abs=1e-10)
        np.testing.assert_allclose(gradient, 0.0, atol=1e-10)


@given(toys, st.sampled_from([0.0, 0.4]), st.integers(0, 100))
def test_gradient_of_the_log_loss_by_finite_differences(toy: Toy, missing: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    toy.gold[rng.random(len(toy.gold)) < missing] = -1
    problem = toy.problem("log")
    w = 0.7 * rng.normal(size=problem.n_features)
    _, gradient = problem.loss_and_gradient(w)
    h = 1e-5
    for k in rng.choice(problem.n_features, size=min(12, problem.n_features), replace=False):
        e = np.zeros_like(w)
        e[k] = h
        # Richardson's extrapolation of central differences: an error of order h⁴.
        near = (problem.loss_and_gradient(w + e)[0] - problem.loss_and_gradient(w - e)[0]) / (2 * h)
        far = (problem.loss_and_gradient(w + 2 * e)[0] - problem.loss_and_gradient(w - 2 * e)[0]) / (4 * h)
        assert gradient[k] == pytest.approx((4 * near - far) / 3, rel=1e-6, abs=2e-8)


@given(toys, st.integers(0, 100))
def test_gradient_is_expected_minus_observed_features(toy: Toy, seed: int) -> None:
    from toy_problems import dense_map

    w = weights_for(toy, seed)
    node_map, pair_map = dense_map(toy.index, toy.observations)
    wanted = np.zeros_like(w)
    for tokens, weight, outputs in toy.enumerations(w):
        for labels, p in [
            *zip(outputs.labellings, outputs.probabilities, strict=True),
            (toy.gold[tokens], -1.0),
        ]:
            here = np.arange(tokens.start, tokens.stop)
            wanted += weight * p * node_map[here, labels].sum(axis=0)
            steps = np.flatnonzero(outputs.before >= 0)
            pairs = pair_map[here[steps], labels[outputs.before[steps]], labels[steps]]
            wanted += weight * p * pairs.sum(axis=0)
    _, gradient = toy.problem("log").loss_and_gradient(w)
    np.testing.assert_allclose(gradient, wanted, atol=1e-10)


@pytest.mark.parametrize("name", ["hinge", "perceptron", "log"])
@given(toys, st.integers(0, 100), st.sampled_from([0.01, 1.0, 10.0]))
def test_subgradient_inequality(name: str, toy: Toy, seed: int, distance: float) -> None:
    """A convex function lies above each of its tangents: L(v) ≥ L(w) + g·(v − w)."""
    problem = toy.problem(name)
    w = weights_for(toy, seed)
    v = w + weights_for(toy, seed + 1, distance)
    here, gradient = problem.loss_and_gradient(w)
    there, _ = problem.loss_and_gradient(v)
    assert there >= here + gradient @ (v - w) - 1e-9 * (1 + abs(here) + abs(there))


@given(toys, st.integers(0, 100))
def test_losses_are_ordered(toy: Toy, seed: int) -> None:
    """The cost only adds to the maximum, and log Z is at least the maximum."""
    w = weights_for(toy, seed)
    perceptron = toy.problem("perceptron").loss_and_gradient(w)[0]
    assert perceptron >= -1e-10
    assert toy.problem("hinge").loss_and_gradient(w)[0] >= perceptron - 1e-10
    assert toy.problem("log").loss_and_gradient(w)[0] >= perceptron - 1e-10


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


def test_log_loss_at_zero_counts_labellings() -> None:
    toy = make_toy(0, n_labels=4)
    value, _ = toy.problem("log").loss_and_gradient(np.zeros(toy.index.n_features))
    assert value == pytest.approx(len(toy.gold) * np.log(4))


def test_weights_are_repetitions() -> None:
    chain, twice = Chain([2], 2, weights=np.array([2.0])), Chain([2, 2], 2)
    rng = np.random.default_rng(0)
    node, pair = rng.normal(size=(2, 2)), rng.normal(size=(1, 2, 2))
    gold = np.array([0, 1])
    for loss in (Log(), Hinge(), Perceptron()):
        one, parts = loss(chain, ChainParts(node.copy(), pair), gold)
        two, both = loss(twice, ChainParts(np.concatenate([node, node]), pair), np.concatenate([gold, gold]))
        assert one == pytest.approx(two)
        np.testing.assert_allclose(parts.pair, both.pair, atol=1e-12)
        np.testing.assert_allclose(parts.node, both.node[:2] + both.node[2:], atol=1e-12)


def test_losses_by_name() -> None:
    assert get_loss("log") == Log()
    assert get_loss(Hinge(2.0)) == Hinge(2.0)
    with pytest.raises(ParsimonError, match="no loss called 'cubed'; choose from log, hinge, perceptron"):
        get_loss("cubed")


# ---- costs --------------------------------------------------------------------------------------------------


def random_costs(rng: np.random.Generator, n_labels: int) -> Any:
    table = rng.uniform(0.0, 3.0, (n_labels, n_labels)) * (rng.random((n_labels, n_labels)) < 0.8)
    np.fill_diagonal(table, 0.0)
    return table


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


def test_costs_by_name() -> None:
    labels = ["B", "I", "O"]
    wanted = [[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [0.25, 1.0, 0.0]]
    pairs = {("B", "O"): 5, ("O", "B"): 0.25}
    of_pairs = Hinge(cost=pairs).bind(labels)
    assert of_pairs.cost.tolist() == wanted
    of_function = Hinge(cost=lambda gold, given: pairs.get((gold, given), float(gold != given)))
    assert of_function.bind(labels) == of_pairs == Hinge(cost=wanted) == Hinge(cost=wanted).bind(labels)
    assert Hinge(cost=2).bind(labels) == Hinge(cost=2.0) != Hinge()
    smoothed = SmoothedHinge(0.5, pairs).bind(labels)
    assert (smoothed.temperature, smoothed.cost.tolist()) == (0.5, wanted)
    assert smoothed != SmoothedHinge(0.4, wanted) != of_pairs
    assert of_pairs.bind(labels) == of_pairs
    assert hash(Hinge(cost=wanted)) == hash(of_pairs)
    for loss in (Log(), Perceptron(), get_loss("squared")):
        assert loss.bind(labels) is loss


def test_a_table_of_costs_is_copied() -> None:
    table = np.array([[0.0, 1.0], [2.0, 0.0]])
    loss = Hinge(cost=table)
    table[0, 1] = 7.0
    assert loss == Hinge(cost=[[0, 1], [2, 0]])


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ({("O", "X"): 1.0}, "there is a cost for the label 'X', but the labels are B, O"),
        ({"OB": 1.0}, r"goes from pairs \(gold, given\) of labels, not from 'OB'"),
        ({("O", "B"): -1.0}, "giving label 'B' where 'O' is gold must be zero or more, not -1.0"),
        ({("O", "B"): float("nan")}, "giving label 'B' where 'O' is gold must be zero or more, not nan"),
        ({("O", "B"): "much"}, "giving label 'B' where 'O' is gold must be a number, not 'much'"),
        ({("O", "O"): 2.0}, "label 'O' is right where it is gold, so it must cost 0 there, not 2.0"),
        (lambda gold, given: 1.0, "label 'B' is right where it is gold"),
        (lambda gold, given: None, "giving label 'B' where 'B' is gold must be a number, not None"),
        ([[0.0, 1.0], [-2.0, 0.0]], "giving label 0 where 1 is gold must be zero or more, not -2.0"),
        ([[0.0, np.inf], [1.0, 0.0]], "giving label 1 where 0 is gold must be zero or more, not inf"),
        ([[1.0, 1.0], [1.0, 0.0]], "label 0 is right where it is gold"),
        (np.ones((2, 3)), r"a row and a column for each label, not the shape \(2, 3\)"),
        (np.ones(2), r"a row and a column for each label, not the shape \(2,\)"),
        (1 - np.eye(3), "the table of costs is for 3 labels, but there are 2; give 2 rows and columns"),
        ([[0.0, 1.0], [1.0]], "a cost must be a number, an array"),
        ("hamming", "a cost must be a number, an array .* not 'hamming'"),
        (-1.0, "the cost of a wrong label must be zero or more, not -1.0"),
        (float("nan"), "the cost of a wrong label must be zero or more, not nan"),
    ],
)
def test_bad_costs_are_explained(cost: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message) as error:
        Hinge(cost=cost).bind(["B", "O"])
    assert str(error.value).count(". ") == 0
    with pytest.raises(ParsimonError, match=message):
        SmoothedHinge(1.0, cost).bind(["B", "O"])


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


X = [[{"w=a": 1.0}, {"w=b": 1.0}], [{"w=b": 1.0}, {"w=a": 1.0}, {"w=c": 1.0}]]
Y = [["O", "B"], ["B", "O", "B"]]


def task_of(loss: Any) -> Any:
    return SequenceTraining(loss=loss, penalty=L2(0.1)).prepare(ItemFeatures(), X, Labels.from_sequences(Y))


def test_training_finds_the_names_of_costs() -> None:
    task = task_of(Hinge(cost={("O", "B"): 4.0}))
    table = task.problem.loss.cost
    assert table[task.labels.index("O"), task.labels.index("B")] == 4.0
    assert table.sum() == 5.0
    with pytest.raises(ParsimonError, match="a cost for the label 'I'"):
        task_of(Hinge(cost={("O", "I"): 4.0}))


def test_checkpoints_tell_costs_apart() -> None:
    losses = [
        "hinge",
        Hinge(2.0),
        Hinge({("O", "B"): 4.0}),
        Hinge({("O", "B"): 3.0}),
        Hinge(lambda gold, given: 4.0 * (gold == "O" != given) or gold != given),
        Hinge(lambda gold, given: 3.0 * (gold == "O" != given) or gold != given),
        SmoothedHinge(1.0),
        "log",
    ]
    assert len({fingerprint(loss) for loss in losses}) == len(losses)
    assert fingerprint(Hinge({("O", "B"): 4.0})) == fingerprint(Hinge({("O", "B"): 4.0}))


def test_vectors_have_numbers_for_labels() -> None:
    loss = Hinge(cost={(0, 1): 3.0})
    problem = flat_problem(np.eye(3), np.array([0, 1, 0]), 2, L2(1.0), loss, bias=False)
    assert problem.loss == Hinge(cost=[[0, 3], [1, 0]])
    assert problem.loss_and_gradient(np.zeros(problem.n_features))[0] == 3 + 1 + 3
