"""Every oracle of `Chain` against enumeration of all labellings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import enumerate_batch
from parsimon.design import Forbidden
from parsimon.errors import ParsimonError
from parsimon.label_schemes import constraints
from parsimon.structures import Chain, ChainParts
from parsimon.structures.base import Oracle


@dataclass
class Case:
    chain: Chain
    node: Any
    pair: Any
    rng: np.random.Generator

    @property
    def scores(self) -> ChainParts:
        """Fresh every time, since marginals take the place of node scores."""
        return ChainParts(self.node.copy(), self.pair.copy())

    def labels(self, missing: float = 0.0) -> Any:
        ids = self.rng.integers(self.chain.n_labels, size=self.chain.n_tokens)
        return np.where(self.rng.random(self.chain.n_tokens) < missing, -1, ids)


def make_case(
    seed: int,
    lengths: list[int],
    n_labels: int,
    *,
    n_kinds: int = 1,
    scale: float = 2.0,
    weighted: bool = False,
    forbidden: float = 0.0,
    integers: bool = False,
    threads: int = 1,
) -> Case:
    rng = np.random.default_rng(seed)
    n_tokens = sum(lengths)
    chain = Chain(
        np.array(lengths, np.int32),
        n_labels,
        pair_kind=rng.integers(n_kinds, size=n_tokens),
        n_kinds=n_kinds,
        weights=rng.uniform(0, 3, len(lengths)) if weighted else None,
        threads=threads,
    )
    node = scale * rng.normal(size=(n_tokens, n_labels))
    pair = scale * rng.normal(size=(n_kinds, n_labels, n_labels))
    if integers:  # many ties
        node, pair = np.round(node), np.round(pair)
    pair[rng.random(pair.shape) < forbidden] = -np.inf
    return Case(chain, node, pair, rng)


cases = st.builds(
    make_case,
    st.integers(0, 10**6),
    st.lists(st.integers(0, 5), min_size=1, max_size=4),
    st.integers(1, 4),
    n_kinds=st.integers(1, 3),
    scale=st.sampled_from([0.0, 1.0, 5.0, 60.0, 500.0]),
    weighted=st.booleans(),
    integers=st.booleans(),
    threads=st.sampled_from([1, 2]),
)


def test_it_answers_every_question() -> None:
    # Those two are for numbers and for graphs.
    assert Chain.oracles == frozenset(Oracle) - {Oracle.MEAN, Oracle.CONDITIONALS}
    assert Chain.exact


@given(cases)
def test_argmax(case: Case) -> None:
    best, labels = case.chain.argmax(case.scores)
    for i, (tokens, outputs) in enumerate(enumerate_batch(case.chain, case.scores)):
        assert best[i] == pytest.approx(outputs.best()[0], rel=1e-12, abs=1e-12)
        assert outputs.score_of(labels[tokens]) == pytest.approx(best[i], rel=1e-12, abs=1e-12)


@given(cases, st.sampled_from([0.5, 1.0, 10.0]), st.sampled_from([0.0, 0.4]))
def test_cost_augmented_argmax(case: Case, cost: float, missing: float) -> None:
    gold = case.labels(missing)
    best, labels = case.chain.cost_argmax(case.scores, gold, cost)
    for i, (tokens, outputs) in enumerate(enumerate_batch(case.chain, case.scores)):
        augmented = outputs.with_cost(gold[tokens], cost)
        assert best[i] == pytest.approx(augmented.best()[0], rel=1e-12, abs=1e-12)
        assert augmented.score_of(labels[tokens]) == pytest.approx(best[i], rel=1e-12, abs=1e-12)


def random_costs(rng: np.random.Generator, n_labels: int) -> Any:
    table = rng.uniform(0.0, 3.0, (n_labels, n_labels)) * (rng.random((n_labels, n_labels)) < 0.7)
    np.fill_diagonal(table, 0.0)
    return table


def costs_of(table: Any, labellings: Any, gold: Any) -> Any:
    """What every labelling costs, token by token; where gold is −1, nothing."""
    return np.array(
        [sum(table[g, y] for g, y in zip(gold, labels, strict=True) if g >= 0) for labels in labellings]
    )


@given(cases, st.sampled_from([0.0, 0.4]))
def test_cost_augmented_argmax_with_a_table_of_costs(case: Case, missing: float) -> None:
    gold, table = case.labels(missing), random_costs(case.rng, case.chain.n_labels)
    best, labels = case.chain.cost_argmax(case.scores, gold, table)
    augmented = case.chain.augment(case.scores, gold, table)
    np.testing.assert_allclose(best, case.chain.score(augmented, labels), rtol=1e-12, atol=1e-12)
    for i, (tokens, outputs) in enumerate(enumerate_batch(case.chain, case.scores)):
        total = outputs.scores + costs_of(table, outputs.labellings, gold[tokens])
        (chosen,) = np.flatnonzero((outputs.labellings == labels[tokens]).all(axis=1))
        assert best[i] == pytest.approx(total.max(), rel=1e-12, abs=1e-12)
        assert total[chosen] == pytest.approx(best[i], rel=1e-12, abs=1e-12)


@given(cases, st.sampled_from([0.0, 0.4]), st.booleans())
def test_expected_cost(case: Case, missing: float, alike: bool) -> None:
    """By enumeration, every sequence counted by its weight."""
    chain, gold = case.chain, case.labels(missing)
    cost: Any = 1.5 if alike else random_costs(case.rng, chain.n_labels)
    table = 1.5 * (1 - np.eye(chain.n_labels)) if alike else cost
    wanted = 0.0
    for i, (tokens, outputs) in enumerate(enumerate_batch(chain, case.scores)):
        weight = 1.0 if chain.weights is None else chain.weights[i]
        wanted += weight * (outputs.probabilities @ costs_of(table, outputs.labellings, gold[tokens]))
    _, parts = chain.marginals(case.scores)
    chain.add_output(
        parts, np.maximum(gold, 0), -1.0
    )  # what stands in for labels that are missing is not looked at
    assert chain.expected_cost(parts, gold, cost) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def expected_marginals(case: Case, scores: ChainParts) -> tuple[Any, ChainParts]:
    chain = case.chain
    log_z = np.zeros(chain.n_instances)
    parts = ChainParts(np.zeros_like(case.node), np.zeros_like(case.pair))
    for i, (tokens, outputs) in enumerate(enumerate_batch(chain, scores)):
        weight = 1.0 if chain.weights is None else chain.weights[i]
        log_z[i] = outputs.log_z
        parts.node[tokens] = weight * outputs.node_marginals()
        for kind, step in zip(chain.pair_kind[tokens][1:], outputs.pair_marginals()[1:], strict=True):
            parts.pair[kind] += weight * step
    return log_z, parts


def check_marginals(case: Case, scores: ChainParts) -> None:
    wanted_z, wanted = expected_marginals(case, scores)
    log_z, parts = case.chain.marginals(scores)
    np.testing.assert_allclose(log_z, wanted_z, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts.node, wanted.node, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(parts.pair, wanted.pair, rtol=1e-10, atol=1e-13)


@given(cases)
def test_marginals(case: Case) -> None:
    check_marginals(case, case.scores)


@given(cases, st.sampled_from([0.2, 0.6, 1.0]))
def test_marginals_when_some_labels_are_given(case: Case, missing: float) -> None:
    check_marginals(case, case.chain.constrain(case.scores, case.labels(missing)))


@pytest.mark.parametrize("n_labels", [1, 2, 3, 4, 5, 7, 8, 9, 24, 25, 29, 33])
def test_marginals_for_every_width_of_the_vector_loops(n_labels: int) -> None:
    check_marginals(
        make_case(n_labels, [2, 1, 2], n_labels, n_kinds=2),
        make_case(n_labels, [2, 1, 2], n_labels, n_kinds=2).scores,
    )


@pytest.mark.parametrize("n_labels", [1, 3, 8, 23, 28, 40])
def test_decoding_for_every_width_of_the_vector_loops(n_labels: int) -> None:
    case = make_case(n_labels, [2, 3 if n_labels < 20 else 1], n_labels)
    best, _ = case.chain.argmax(case.scores)
    values, _ = case.chain.kbest(case.scores, 3)
    for i, (_, outputs) in enumerate(enumerate_batch(case.chain, case.scores)):
        assert best[i] == pytest.approx(outputs.best()[0])
        np.testing.assert_allclose(values[:, i], outputs.k_best(3))


@given(cases)
def test_counting(case: Case) -> None:
    """With all scores zero, Z counts labellings and all are equally likely."""
    chain = case.chain
    log_z, parts = chain.marginals(ChainParts(np.zeros_like(case.node), np.zeros_like(case.pair)))
    np.testing.assert_allclose(log_z, np.diff(chain.offsets) * np.log(chain.n_labels), atol=1e-12)
    np.testing.assert_allclose(chain.log_outputs(), log_z, atol=1e-12)
    if chain.weights is None:
        np.testing.assert_allclose(parts.node, 1 / chain.n_labels)


@given(cases, st.integers(1, 12))
def test_k_best(case: Case, k: int) -> None:
    values, labels = case.chain.kbest(case.scores, k)
    for i, (tokens, outputs) in enumerate(enumerate_batch(case.chain, case.scores)):
        np.testing.assert_allclose(values[:, i], outputs.k_best(k), rtol=1e-12, atol=1e-12)
        there = values[:, i] > -np.inf
        found = [tuple(row) for row in labels[there][:, tokens]]
        assert len(set(found)) == len(found) == min(k, case.chain.n_labels**outputs.length)
        for row, value in zip(found, values[there, i], strict=True):
            assert outputs.score_of(np.array(row, int)) == pytest.approx(value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0])
def test_forbidden_transitions(seed: int, scale: float) -> None:
    case = make_case(seed, [1, 4, 3], 3, n_kinds=2, forbidden=0.35, scale=scale)
    enumerations = list(enumerate_batch(case.chain, case.scores))
    if any(outputs.log_z == -np.inf for _, outputs in enumerations):
        with pytest.raises(ParsimonError, match="no possible labelling"):
            case.chain.argmax(case.scores)
        with pytest.raises(ParsimonError, match="no possible labelling"):
            case.chain.marginals(case.scores)
        return
    check_marginals(case, case.scores)
    best, labels = case.chain.argmax(case.scores)
    values, _ = case.chain.kbest(case.scores, 100)
    for i, (tokens, outputs) in enumerate(enumerations):
        assert best[i] == pytest.approx(outputs.best()[0])
        assert outputs.score_of(labels[tokens]) == pytest.approx(best[i])
        np.testing.assert_allclose(values[:, i], outputs.k_best(100))


@given(cases, st.sampled_from([0.3, 0.8]))
def test_decoding_with_given_labels(case: Case, missing: float) -> None:
    given_labels = case.labels(missing)
    scores = case.chain.constrain(case.scores, given_labels)
    best, labels = case.chain.argmax(scores)
    assert np.all((labels == given_labels) | (given_labels < 0))
    for i, (tokens, outputs) in enumerate(enumerate_batch(case.chain, case.scores)):
        assert best[i] == pytest.approx(
            outputs.agreeing(given_labels[tokens]).best()[0], rel=1e-12, abs=1e-12
        )


@pytest.mark.parametrize("seed", range(5))
def test_decoding_under_iob2(seed: int) -> None:
    names = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    allowed = constraints(names, "iob2")
    case = make_case(seed, [4, 1, 3], 5)
    scores = case.scores
    Forbidden.of(allowed, np.diff(case.chain.offsets)).strike_out(scores)
    best, labels = case.chain.argmax(ChainParts(scores.node.copy(), scores.pair))
    log_z, _ = case.chain.marginals(scores)
    for i, (tokens, outputs) in enumerate(enumerate_batch(case.chain, case.scores)):
        possible = outputs.allowed(allowed.start, allowed.end, allowed.pair)
        assert allowed.first_violation(labels[tokens]) is None
        assert best[i] == pytest.approx(possible.best()[0])
        assert log_z[i] == pytest.approx(possible.log_z)


def test_an_infeasible_sequence_is_named() -> None:
    chain = Chain([2, 2], 2)
    scores = ChainParts(np.zeros((4, 2)), np.zeros((1, 2, 2)))
    scores.node[3] = -np.inf
    for oracle in (chain.argmax, chain.marginals):
        with pytest.raises(ParsimonError, match="sequence 1 has no possible labelling"):
            oracle(ChainParts(scores.node.copy(), scores.pair))
    with pytest.raises(ParsimonError, match="no possible labelling"):
        chain.sample(scores)


def test_scores_that_are_not_numbers_are_refused() -> None:
    chain = Chain([1, 2], 2)
    node = np.zeros((3, 2))
    node[1, 0] = np.nan
    with pytest.raises(ParsimonError, match="sequence 1 are not numbers"):
        chain.marginals(ChainParts(node, np.zeros((1, 2, 2))))


@given(cases)
def test_score_and_indicators(case: Case) -> None:
    output = case.labels()
    chain = case.chain
    attained = chain.score(case.scores, output)
    for i, (tokens, outputs) in enumerate(enumerate_batch(chain, case.scores)):
        assert attained[i] == pytest.approx(outputs.score_of(output[tokens]), rel=1e-12, abs=1e-11)
    parts = chain.indicators(output)
    inner = np.sum(parts.node * case.node) + np.sum(parts.pair * case.pair)
    assert inner == pytest.approx(chain.weigh(attained), rel=1e-11, abs=1e-9)


def test_an_empty_sequence_scores_zero_whatever_follows_it() -> None:
    chain = Chain([0, 1], 2)
    scores = ChainParts(np.array([[-np.inf, 0.0]]), np.zeros((1, 2, 2)))
    assert chain.score(scores, np.array([0])).tolist() == [0.0, -np.inf]


def test_a_batch_without_any_sequence() -> None:
    chain = Chain([], 3)
    assert chain.n_instances == chain.n_tokens == 0
    best, labels = chain.argmax(ChainParts(np.zeros((0, 3)), np.zeros((1, 3, 3))))
    assert len(best) == len(labels) == 0


@given(cases)
def test_add_output_undoes_indicators(case: Case) -> None:
    output = case.labels()
    parts = case.chain.indicators(output)
    case.chain.add_output(parts, output, -1.0)
    np.testing.assert_allclose(parts.node, 0, atol=1e-12)
    np.testing.assert_allclose(parts.pair, 0, atol=1e-12)


@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_sampling_follows_the_marginals(forbidden: float) -> None:
    case = make_case(4, [3, 0, 2], 3, n_kinds=2, scale=1.0, forbidden=forbidden)
    draws = case.chain.sample(case.scores, 20_000, seed=7)
    _, parts = case.chain.marginals(case.scores)
    shares = np.stack([(draws == y).mean(axis=0) for y in range(3)], axis=1)
    np.testing.assert_allclose(shares, parts.node, atol=0.015)  # four standard deviations
    for _, outputs in enumerate_batch(case.chain, case.scores):
        if outputs.length == 3:
            assert {tuple(row) for row in draws[:, :3]} <= {
                tuple(row) for row in outputs.labellings[outputs.scores > -np.inf]
            }


def test_samples_depend_on_the_seed_alone() -> None:
    one = make_case(1, [3, 4, 2], 4)
    two = make_case(1, [3, 4, 2], 4, threads=2)
    first = one.chain.sample(one.scores, 50, seed=3)
    np.testing.assert_array_equal(first, two.chain.sample(two.scores, 50, seed=3))
    assert not np.array_equal(first, one.chain.sample(one.scores, 50, seed=4))


def test_wrong_shapes_are_refused() -> None:
    chain = Chain([2], 3)
    with pytest.raises(ValueError, match="tokens × labels"):
        chain.argmax(ChainParts(np.zeros((3, 3)), np.zeros((1, 3, 3))))
    with pytest.raises(ValueError, match="kinds × labels × labels"):
        chain.argmax(ChainParts(np.zeros((2, 3)), np.zeros((2, 3, 3))))
    with pytest.raises(ValueError, match="pair kind"):
        Chain([2], 3, pair_kind=np.array([0, 5]))
