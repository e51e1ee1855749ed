"""Every oracle of `SecondOrderChain` against enumeration, and against a chain whose labels are pairs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import Enumeration
from labelling_checks import (
    Case,
    cases_of,
    check_a_part_of_a_batch,
    check_argmax,
    check_cost_augmented_argmax,
    check_counting,
    check_decoding_with_given_labels,
    check_it_answers_every_question,
    check_k_best,
    check_minimum_risk,
    check_score_and_indicators,
)
from parsimon.errors import ParsimonError
from parsimon.structures import Chain, ChainParts, SecondOrderChain
from parsimon.structures.label_pairs import LabelPairs


@dataclass
class SecondOrderCase(Case):
    def parts_of(self, first: int, tags: Any) -> Iterator[tuple[int, list[int], int]]:
        """Of the tokens of a tagging, the columns of its node numbers and its triple (−1 for none)."""
        chain, before, last = self.structure, -1, -1
        one, two = chain.pairs.triples
        for t, tag in enumerate(tags):
            pair = int(chain.pairs.number(np.array(before), np.array(tag)))
            if pair < 0:
                yield first + t, [], -2
                return
            columns = [int(tag)] * chain.tags + [pair + chain.tags * chain.n_labels] * chain.paired
            triple = -1 if last < 0 else int(np.flatnonzero((one == last) & (two == pair))[0])
            yield first + t, columns, triple
            before, last = int(tag), pair

    def score_of(self, scores: ChainParts, first: int, tags: Any) -> float:
        total = 0.0
        for t, columns, triple in self.parts_of(first, tags):
            if triple == -2:
                return -np.inf
            total += float(scores.node[t, columns].sum())
            total += 0.0 if triple < 0 else scores.pair[self.structure.pair_kind[t], triple]
        return total

    def enumerations(self, scores: ChainParts) -> Iterator[tuple[slice, Enumeration]]:
        """The definition: Σ of tags, pairs and triples."""
        chain = self.structure
        for first, last in itertools.pairwise(chain.offsets.tolist()):
            every = np.array(list(itertools.product(range(chain.n_labels), repeat=last - first)), int)
            every = every.reshape(chain.n_labels ** (last - first), last - first)
            values = np.array([self.score_of(scores, first, tags) for tags in every])
            yield slice(first, last), Enumeration(every, values, chain.n_labels, np.arange(last - first) - 1)

    def possible_labels(self) -> Any:
        (ids,) = self.structure.sample(self.zeros, seed=int(self.rng.integers(99)))
        return ids


def make_case(
    seed: int,
    lengths: list[int],
    n_labels: int,
    *,
    n_kinds: int = 2,
    scale: float = 2.0,
    weighted: bool = False,
    limited: bool = True,
    scored: tuple[bool, bool] = (True, True),
    integers: bool = False,
    forbidden: float = 0.0,
    threads: int = 1,
) -> SecondOrderCase:
    rng = np.random.default_rng(seed)
    possible = rng.random((n_labels + 1, n_labels)) < (0.6 if limited else 2)
    possible[:, 0] = True  # so there is always a way
    chain = SecondOrderChain(
        lengths,
        LabelPairs.of(possible),
        tags=scored[0],
        paired=scored[1],
        kind=rng.integers(n_kinds, size=sum(lengths)).astype(np.int32),
        n_kinds=n_kinds,
        weights=rng.uniform(0, 3, len(lengths)) if weighted else None,
        threads=threads,
    )
    node = scale * rng.normal(size=(chain.n_tokens, chain.width))
    triple = scale * rng.normal(size=(n_kinds, len(chain.pairs.triples[0])))
    if integers:
        node, triple = np.round(node), np.round(triple)
    node[rng.random(node.shape) < forbidden] = -np.inf
    triple[rng.random(triple.shape) < forbidden] = -np.inf
    return SecondOrderCase(chain, node, triple, np.zeros(0), rng)


scored = st.sampled_from([(True, True), (True, False), (False, True)])
lengths = st.lists(st.integers(0, 5), min_size=1, max_size=3) | st.lists(st.just(6), min_size=1, max_size=1)
cases = cases_of(make_case, lengths, most_labels=3, most_kinds=3, limited=st.booleans(), scored=scored)
forbidding = st.builds(
    make_case, st.integers(0, 10**6), lengths, st.integers(1, 3), scored=scored, forbidden=st.just(0.2)
)


def test_it_answers_every_question() -> None:
    check_it_answers_every_question(SecondOrderChain)


@given(cases)
def test_argmax(case: Case) -> None:
    check_argmax(case)


@given(cases, st.sampled_from([0.5, 10.0]), st.sampled_from([0.0, 0.4]))
def test_cost_augmented_argmax(case: Case, cost: float, missing: float) -> None:
    check_cost_augmented_argmax(case, cost, missing)


@given(cases, st.sampled_from([0.2, 0.6, 1.0]))
def test_decoding_with_given_tags(case: Case, missing: float) -> None:
    check_decoding_with_given_labels(case, missing)


@given(cases)
def test_minimum_risk(case: Case) -> None:
    check_minimum_risk(case)


@given(cases, st.sampled_from([1, 2, 5, 100]))
def test_k_best(case: Case, k: int) -> None:
    check_k_best(case, k)


def check_marginals(case: Any, scores: ChainParts) -> None:
    chain, wanted = case.structure, case.zeros
    log_z = np.zeros(chain.n_instances)
    for i, (tokens, outputs) in enumerate(case.enumerations(scores)):
        log_z[i] = outputs.log_z
        weight = 1.0 if chain.weights is None else chain.weights[i]
        for tags, p in zip(outputs.labellings, outputs.probabilities, strict=True):
            for t, columns, triple in case.parts_of(tokens.start, tags) if p > 0 else ():
                wanted.node[t, columns] += weight * p
                if triple >= 0:
                    wanted.pair[chain.pair_kind[t], triple] += weight * p
    found_z, found = chain.marginals(scores)
    np.testing.assert_allclose(found_z, log_z, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.node, wanted.node, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(found.pair, wanted.pair, rtol=1e-10, atol=1e-13)


@given(cases)
def test_marginals(case: Case) -> None:
    check_marginals(case, case.scores)


@given(cases, st.sampled_from([0.2, 0.6, 1.0]))
def test_marginals_when_some_tags_are_given(case: Case, missing: float) -> None:
    check_marginals(case, case.structure.constrain(case.scores, case.labels(missing)))


@given(forbidding)
def test_what_is_forbidden(case: Case) -> None:
    if any(outputs.log_z == -np.inf for _, outputs in case.enumerations(case.scores)):
        for oracle in (case.structure.argmax, case.structure.marginals, case.structure.sample):
            with pytest.raises(ParsimonError, match="no possible labelling"):
                oracle(case.scores)
        return
    check_marginals(case, case.scores)
    check_argmax(case)
    check_k_best(case, 100)


@given(cases)
def test_counting(case: Case) -> None:
    check_counting(case)


@given(cases)
def test_score_and_indicators(case: Case) -> None:
    check_score_and_indicators(case)


@given(cases)
def test_a_part_of_a_batch(case: Case) -> None:
    check_a_part_of_a_batch(case, int(case.rng.integers(case.structure.n_instances)))


@pytest.mark.parametrize("scored", [(True, True), (True, False), (False, True)])
def test_sampling_follows_the_marginals(scored: tuple[bool, bool]) -> None:
    case = make_case(3, [4, 0, 3], 3, scored=scored, scale=1.0)
    draws = case.structure.sample(case.scores, 20_000, seed=7)
    _, parts = case.structure.marginals(case.scores)
    shares = np.stack([(draws == y).mean(axis=0) for y in range(3)], axis=1)
    np.testing.assert_allclose(shares, case.structure.of_labels(parts.node), atol=0.015)


@given(cases, st.sampled_from([1.0, 3.0]))
def test_expected_costs(case: Case, cost: float) -> None:
    gold = case.labels()
    _, parts = case.structure.marginals(case.scores)
    case.structure.add_output(parts, gold, -1.0)
    wanted = 0.0
    for i, (tokens, outputs) in enumerate(case.enumerations(case.scores)):
        weight = 1.0 if case.structure.weights is None else case.structure.weights[i]
        wrong = (outputs.labellings != gold[tokens]).sum(axis=1)
        wanted += weight * cost * float(outputs.probabilities @ wrong)
    assert case.structure.expected_cost(parts, gold, cost) == pytest.approx(wanted, rel=1e-8, abs=1e-8)


@given(cases)
def test_it_gives_what_a_chain_gives_whose_labels_are_pairs(case: Case) -> None:
    """The reference: labels that do not fit together are struck out of a dense chain."""
    chain, pairs = case.structure, case.structure.pairs
    P, first = pairs.n_labels, np.zeros(chain.n_tokens, bool)
    first[chain.offsets[:-1][np.diff(chain.offsets) > 0]] = True
    of_tags, of_pairs = np.split(case.node, [chain.tags * chain.n_labels], axis=1)
    node = np.zeros((chain.n_tokens, P))
    if chain.tags:
        node += of_tags[:, pairs.tag]
    if chain.paired:
        node += of_pairs
    node[first[:, None] != (pairs.before < 0)] = -np.inf
    matrices = np.full((chain.n_kinds, P, P), -np.inf)
    matrices[:, pairs.triples[0], pairs.triples[1]] = case.pair
    dense = Chain(
        np.diff(chain.offsets), P, pair_kind=chain.pair_kind, n_kinds=chain.n_kinds, weights=chain.weights
    )
    log_z, found = dense.marginals(ChainParts(node.copy(), matrices))
    mine_z, mine = chain.marginals(case.scores)
    np.testing.assert_allclose(mine_z, log_z, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mine.pair, found.pair[:, *pairs.triples], rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(chain.of_labels(mine.node), pairs.of_tags(found.node), rtol=1e-9, atol=1e-13)
    if chain.paired:
        paired = mine.node[:, chain.tags * chain.n_labels :]
        np.testing.assert_allclose(paired, found.node, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(
        chain.argmax(case.scores)[0], dense.argmax(ChainParts(node, matrices))[0], rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("n_kinds", [1, 3, 20])
def test_any_number_of_threads_gives_the_same_bits(n_kinds: int) -> None:
    one, two = (
        make_case(5, [7, 30, 0, 1, 12] * 20, 4, n_kinds=n_kinds, weighted=True, threads=t) for t in (1, 3)
    )
    for name in ("marginals", "argmax"):
        a, b = (getattr(each.structure, name)(each.scores)[1] for each in (one, two))
        if name == "marginals":
            assert a.node.tobytes() == b.node.tobytes()
            assert a.pair.tobytes() == b.pair.tobytes()
        else:
            assert a.tobytes() == b.tobytes()
    marginals = one.structure.marginals(one.scores)[1].node
    a, b = (each.structure.variances(marginals) for each in (one, two))
    assert a.node.tobytes() == b.node.tobytes()
    assert a.pair.tobytes() == b.pair.tobytes()


def test_long_sequences_and_large_scores() -> None:
    case = make_case(1, [20_000], 3, scale=500.0, n_kinds=1)
    log_z, parts = case.structure.marginals(case.scores)
    best, tags = case.structure.argmax(case.scores)
    assert np.isfinite(log_z).all()
    assert log_z[0] >= best[0]
    np.testing.assert_allclose(case.structure.of_labels(parts.node).sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(case.structure.score(case.scores, tags), best, rtol=1e-12)


@pytest.mark.parametrize("scored", [(True, True), (True, False), (False, True)])
def test_variances(scored: tuple[bool, bool]) -> None:
    """p(1 − p) of tokens exactly; triples as if their ends were independent given the middle."""
    case = make_case(2, [4, 3], 3, weighted=True, scored=scored, n_kinds=1)
    chain = case.structure
    _, parts = chain.marginals(case.scores)
    found = chain.variances(parts.node)
    weight = chain.weight_of_tokens()[:, None]
    np.testing.assert_allclose(found.node, parts.node * (1 - parts.node / weight), atol=1e-13)
    if scored[1]:
        p, tags = parts.node[:, -chain.pairs.n_labels :] / weight, chain.of_labels(parts.node) / weight
        one, two = chain.pairs.triples
        wanted = np.zeros(len(one))
        for t in (1, 2, 3, 5, 6):
            middle = tags[t - 1][chain.pairs.tag[one]]
            q = np.where(middle > 0, p[t - 1][one] * p[t][two] / np.where(middle > 0, middle, 1), 0)
            wanted += weight[t, 0] * q * (1 - q)
        np.testing.assert_allclose(found.pair[0], wanted, atol=1e-13)
    assert np.all(found.pair >= 0)


def test_tags_that_may_not_follow_each_other_are_no_output() -> None:
    chain = SecondOrderChain([2], LabelPairs.of(np.array([[True, True], [False, True], [True, True]])))
    assert chain.score(chain._zeros(), np.array([0, 0]))[0] == -np.inf
    with pytest.raises(ParsimonError, match="not known to follow each other"):
        chain.indicators(np.array([0, 0]))
