"""Every oracle of `Chain` against enumeration of all labellings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import enumerate_batch
from labelling_checks import (
    Case,
    cases_of,
    check_argmax,
    check_cost_augmented_argmax,
    check_counting,
    check_decoding_with_given_labels,
    check_forbidden_pairs,
    check_it_answers_every_question,
    check_k_best,
    check_marginals,
    check_marginals_when_some_labels_are_given,
    check_minimum_risk,
    check_sampling_follows_the_marginals,
    check_score_and_indicators,
)
from parsimon.designs.pairs import Forbidden
from parsimon.errors import ParsimonError
from parsimon.structures import Chain, ChainParts
from parsimon.structures.label_schemes import constraints


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
    return Case.with_scores(chain, rng, scale=scale, integers=integers, forbidden=forbidden)


cases = cases_of(make_case, st.lists(st.integers(0, 5), min_size=1, max_size=4), most_labels=4, most_kinds=3)


def test_it_answers_every_question() -> None:
    check_it_answers_every_question(Chain)


@given(cases)
def test_argmax(case: Case) -> None:
    check_argmax(case)


@given(cases, st.sampled_from([0.5, 1.0, 10.0]), st.sampled_from([0.0, 0.4]))
def test_cost_augmented_argmax(case: Case, cost: float, missing: float) -> None:
    check_cost_augmented_argmax(case, cost, missing)


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
    gold, table = case.labels(missing), random_costs(case.rng, case.structure.n_labels)
    best, labels = case.structure.cost_argmax(case.scores, gold, table)
    augmented = case.structure.augment(case.scores, gold, table)
    np.testing.assert_allclose(best, case.structure.score(augmented, labels), rtol=1e-12, atol=1e-12)
    for i, (tokens, outputs) in enumerate(enumerate_batch(case.structure, case.scores)):
        total = outputs.scores + costs_of(table, outputs.labellings, gold[tokens])
        (chosen,) = np.flatnonzero((outputs.labellings == labels[tokens]).all(axis=1))
        assert best[i] == pytest.approx(total.max(), rel=1e-12, abs=1e-12)
        assert total[chosen] == pytest.approx(best[i], rel=1e-12, abs=1e-12)


@given(cases, st.sampled_from([0.0, 0.4]), st.booleans())
def test_expected_cost(case: Case, missing: float, alike: bool) -> None:
    """By enumeration, every sequence counted by its weight."""
    chain, gold = case.structure, case.labels(missing)
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


@given(cases)
def test_marginals(case: Case) -> None:
    check_marginals(case, case.scores)


@given(cases, st.sampled_from([0.2, 0.6, 1.0]))
def test_marginals_when_some_labels_are_given(case: Case, missing: float) -> None:
    check_marginals_when_some_labels_are_given(case, missing)


@pytest.mark.parametrize("n_labels", [1, 2, 3, 4, 5, 7, 8, 9, 24, 25, 29, 33])
def test_marginals_for_every_width_of_the_vector_loops(n_labels: int) -> None:
    case = make_case(n_labels, [2, 1, 2], n_labels, n_kinds=2)
    check_marginals(case, case.scores)


@pytest.mark.parametrize("n_labels", [1, 3, 8, 23, 28, 40])
def test_decoding_for_every_width_of_the_vector_loops(n_labels: int) -> None:
    case = make_case(n_labels, [2, 3 if n_labels < 20 else 1], n_labels)
    best, _ = case.structure.argmax(case.scores)
    values, _ = case.structure.kbest(case.scores, 3)
    for i, (_, outputs) in enumerate(enumerate_batch(case.structure, case.scores)):
        assert best[i] == pytest.approx(outputs.best()[0])
        np.testing.assert_allclose(values[:, i], outputs.k_best(3))


@given(cases)
def test_counting(case: Case) -> None:
    """With all scores zero all labellings are equally likely, and there are Y to the power of T."""
    check_counting(case)
    chain = case.structure
    log_z, parts = chain.marginals(case.zeros)
    np.testing.assert_allclose(log_z, np.diff(chain.offsets) * np.log(chain.n_labels), atol=1e-12)
    if chain.weights is None:
        np.testing.assert_allclose(parts.node, 1 / chain.n_labels)


@given(cases)
def test_minimum_risk(case: Case) -> None:
    check_minimum_risk(case)


@given(cases, st.integers(1, 12))
def test_k_best(case: Case, k: int) -> None:
    check_k_best(case, k)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0])
def test_forbidden_transitions(seed: int, scale: float) -> None:
    check_forbidden_pairs(make_case(seed, [1, 4, 3], 3, n_kinds=2, forbidden=0.35, scale=scale))


@pytest.mark.parametrize("seed", range(20))
def test_minimum_risk_with_forbidden_transitions(seed: int) -> None:
    check_minimum_risk(make_case(seed, [1, 4, 3], 3, n_kinds=2, forbidden=0.2, scale=1.0))


@given(cases, st.sampled_from([0.3, 0.8]))
def test_decoding_with_given_labels(case: Case, missing: float) -> None:
    check_decoding_with_given_labels(case, missing)


@pytest.mark.parametrize("seed", range(5))
def test_decoding_under_iob2(seed: int) -> None:
    names = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    allowed = constraints(names, "iob2")
    case = make_case(seed, [4, 1, 3], 5)
    scores = case.scores
    Forbidden.of(allowed, np.diff(case.structure.offsets)).strike_out(scores)
    best, labels = case.structure.argmax(ChainParts(scores.node.copy(), scores.pair))
    log_z, _ = case.structure.marginals(scores)
    for i, (tokens, outputs) in enumerate(enumerate_batch(case.structure, case.scores)):
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
    check_score_and_indicators(case)


def test_an_empty_sequence_scores_zero_whatever_follows_it() -> None:
    chain = Chain([0, 1], 2)
    scores = ChainParts(np.array([[-np.inf, 0.0]]), np.zeros((1, 2, 2)))
    assert chain.score(scores, np.array([0])).tolist() == [0.0, -np.inf]


def test_a_batch_without_any_sequence() -> None:
    chain = Chain([], 3)
    assert chain.n_instances == chain.n_tokens == 0
    best, labels = chain.argmax(ChainParts(np.zeros((0, 3)), np.zeros((1, 3, 3))))
    assert len(best) == len(labels) == 0


@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_sampling_follows_the_marginals(forbidden: float) -> None:
    case = make_case(4, [3, 0, 2], 3, n_kinds=2, scale=1.0, forbidden=forbidden)
    check_sampling_follows_the_marginals(case)


def test_samples_depend_on_the_seed_alone() -> None:
    one = make_case(1, [3, 4, 2], 4)
    two = make_case(1, [3, 4, 2], 4, threads=2)
    first = one.structure.sample(one.scores, 50, seed=3)
    np.testing.assert_array_equal(first, two.structure.sample(two.scores, 50, seed=3))
    assert not np.array_equal(first, one.structure.sample(one.scores, 50, seed=4))


def test_wrong_shapes_are_refused() -> None:
    chain = Chain([2], 3)
    with pytest.raises(ValueError, match="tokens × labels"):
        chain.argmax(ChainParts(np.zeros((3, 3)), np.zeros((1, 3, 3))))
    with pytest.raises(ValueError, match="kinds × labels × labels"):
        chain.argmax(ChainParts(np.zeros((2, 3)), np.zeros((2, 3, 3))))
    with pytest.raises(ValueError, match="pair kind"):
        Chain([2], 3, pair_kind=np.array([0, 5]))


@pytest.mark.parametrize("score", [np.nan, np.inf, 1e308])
@pytest.mark.parametrize("part", ["node", "pair"])
def test_viterbi_refuses_what_marginals_refuse(score: float, part: str) -> None:
    chain = Chain([3], 2)
    for ask in (chain.argmax, chain.marginals, lambda s: chain.kbest(s, 2), chain.sample, chain.minimum_risk):
        scores = ChainParts(np.zeros((3, 2)), np.zeros((1, 2, 2)))
        getattr(scores, part)[..., 0] = score
        with pytest.raises(ParsimonError, match=r"the scores of .* (not numbers|too large)"):
            ask(scores)
