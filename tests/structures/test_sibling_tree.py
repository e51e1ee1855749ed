"""Every oracle of `SiblingTree` against enumeration of all labellings, scored by nodes, parents and siblings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import Enumeration, barred, enumerate_forest
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
    check_marginals,
    check_marginals_when_some_labels_are_given,
    check_minimum_risk,
    check_score_and_indicators,
)
from parsimon.data.parents import previous_siblings
from parsimon.errors import ParsimonError
from parsimon.structures import ChainParts, SiblingTree, Tree
from toy_problems import random_parents


@dataclass
class SiblingCase(Case):
    possible: Any  # (labels + 1) × labels: which may be below which, roots first

    def possible_labels(self) -> Any:
        """Labels of a possible labelling, all of them equally likely."""
        (ids,) = self.structure.sample(self.zeros, seed=int(self.rng.integers(99)))
        return ids

    def enumerations(self, scores: ChainParts) -> Iterator[tuple[slice, Enumeration]]:
        """The definition: Σ node + Σ parent and child + Σ neighbouring siblings."""
        tree = self.structure
        matrices = np.concatenate([scores.pair, np.zeros((1, *scores.pair.shape[1:]))])
        kind = tree.pair_kind.reshape(-1, 2)
        node = scores.node + barred(tree)
        for first, last in itertools.pairwise(tree.offsets.tolist()):
            nodes = slice(first, last)
            parent = np.where(tree.parent[nodes] < 0, -1, tree.parent[nodes] - first)
            outputs = enumerate_forest(node[nodes], matrices[kind[nodes, 0]], parent)
            y, total = outputs.labellings, outputs.scores
            for t, before in enumerate(previous_siblings(parent).tolist()):
                if before >= 0:
                    total = total + matrices[kind[first + t, 1]][y[:, before], y[:, t]]
            above = np.where(parent < 0, -1, y[:, parent])
            fine = self.possible[above + 1, y].all(axis=1)
            yield nodes, replace(outputs, scores=np.where(fine, total, -np.inf))

    def steps(self, outputs: Enumeration) -> list[Any]:
        return [outputs.before, previous_siblings(outputs.before)]


def make_case(
    seed: int,
    lengths: list[int],
    n_labels: int,
    *,
    n_kinds: int = 2,
    scale: float = 2.0,
    weighted: bool = False,
    masked: bool = False,
    limited: bool = False,
    integers: bool = False,
    threads: int = 1,
) -> SiblingCase:
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    allowed = rng.random((3, n_labels)) < 0.6
    allowed[:, 0] = True
    possible = np.ones((n_labels + 1, n_labels), bool)
    if limited:
        possible = rng.random(possible.shape) < 0.6
        possible[:, 0] = True  # so there is always a way
    tree = SiblingTree(
        np.array(lengths, np.int32),
        random_parents(rng, lengths),
        n_labels,
        pair_kind=rng.integers(-1, n_kinds, size=2 * n).astype(np.int32),
        n_kinds=n_kinds,
        possible=possible if limited else None,
        node_kind=rng.integers(3, size=n) if masked else None,
        allowed=allowed if masked else None,
        weights=rng.uniform(0, 3, len(lengths)) if weighted else None,
        threads=threads,
    )
    return SiblingCase.with_scores(tree, rng, scale=scale, integers=integers, possible=possible)


cases = cases_of(
    make_case,
    st.lists(st.integers(0, 6), min_size=1, max_size=3) | st.lists(st.just(7), min_size=1, max_size=1),
    most_labels=3,
    most_kinds=4,
    masked=st.booleans(),
    limited=st.booleans(),
)


def test_it_answers_every_question() -> None:
    check_it_answers_every_question(SiblingTree)


@given(cases)
def test_argmax(case: Case) -> None:
    check_argmax(case)


@given(cases, st.sampled_from([0.2, 0.6, 1.0]))
def test_decoding_with_given_labels(case: Case, missing: float) -> None:
    check_decoding_with_given_labels(case, missing)


@given(cases)
def test_the_score_of_any_labelling(case: Case) -> None:
    if case.structure.allowed is not None:
        return  # nobody asks for the score of labels that a node cannot have
    labels = case.rng.integers(case.structure.n_labels, size=case.structure.n_tokens)
    found = case.structure.score(case.scores, labels)
    for i, (nodes, outputs) in enumerate(case.enumerations(case.scores)):
        assert found[i] == pytest.approx(outputs.score_of(labels[nodes]), rel=1e-12, abs=1e-12)


@given(cases, st.sampled_from([0.5, 10.0]), st.sampled_from([0.0, 0.4]))
def test_cost_augmented_argmax(case: Case, cost: float, missing: float) -> None:
    check_cost_augmented_argmax(case, cost, missing)


@given(cases)
def test_marginals(case: Case) -> None:
    check_marginals(case, case.scores)


@given(cases, st.sampled_from([0.2, 0.6, 1.0]))
def test_marginals_when_some_labels_are_given(case: Case, missing: float) -> None:
    check_marginals_when_some_labels_are_given(case, missing)


@given(cases)
def test_minimum_risk(case: Case) -> None:
    check_minimum_risk(case)


@given(cases, st.integers(1, 12))
def test_k_best(case: Case, k: int) -> None:
    check_k_best(case, k)


@given(cases)
def test_counting(case: Case) -> None:
    check_counting(case)


@given(cases)
def test_score_and_indicators(case: Case) -> None:
    check_score_and_indicators(case)


@given(cases)
def test_variances_are_of_independent_labels(case: Case) -> None:
    tree = case.structure
    _, parts = tree.marginals(case.scores)
    found, kind = tree.variances(parts.node), tree.pair_kind
    down = Tree(np.diff(tree.offsets), tree.parent, tree.n_labels, weights=tree.weights)
    np.testing.assert_allclose(found.node, down.variances(parts.node).node)
    if tree.weights is None:
        wanted = np.zeros_like(found.pair)
        for s, before in enumerate(tree.before.tolist()):
            if before >= 0 and kind[s] >= 0:
                p = np.outer(parts.node[before], parts.node[s // 2])
                wanted[kind[s]] += p * (1 - p)
        np.testing.assert_allclose(found.pair, wanted, atol=1e-12)


def only_children(rng: np.random.Generator, lengths: list[int]) -> Any:
    """Forests in which everybody has at most one child, and nodes come in any order."""
    parents, at = [], 0
    for length in lengths:
        place = at + rng.permutation(length)
        parent = np.full(length, -1)
        for t in range(1, length):
            parent[place[t] - at] = -1 if rng.random() < 0.2 else place[t - 1]
        parents.append(parent)
        at += length
    return np.concatenate([np.zeros(0, np.int64), *parents])


@given(st.integers(0, 10**6), st.lists(st.integers(0, 40), min_size=1, max_size=4), st.integers(1, 4))
def test_without_siblings_it_is_a_tree(seed: int, lengths: list[int], n_labels: int) -> None:
    rng = np.random.default_rng(seed)
    parent, n = only_children(rng, lengths), sum(lengths)
    kind = rng.integers(3, size=n).astype(np.int32)
    tree = Tree(lengths, parent, n_labels, pair_kind=kind, n_kinds=3)
    both = np.stack([kind, np.full(n, 3, np.int32)], axis=1).reshape(-1)
    other = SiblingTree(lengths, parent, n_labels, pair_kind=both, n_kinds=4)
    node, pair = 3 * rng.normal(size=(n, n_labels)), 3 * rng.normal(size=(4, n_labels, n_labels))
    best, labels = tree.argmax(ChainParts(node.copy(), pair[:3]))
    found, same = other.argmax(ChainParts(node.copy(), pair))
    np.testing.assert_array_equal(labels, same)
    np.testing.assert_allclose(found, best, rtol=1e-12)
    log_z, parts = tree.marginals(ChainParts(node.copy(), pair[:3].copy()))
    other_z, others = other.marginals(ChainParts(node.copy(), pair))
    np.testing.assert_allclose(other_z, log_z, rtol=1e-12)
    np.testing.assert_allclose(others.node, parts.node, atol=1e-12)
    np.testing.assert_allclose(others.pair, np.concatenate([parts.pair, 0 * pair[:1]]), atol=1e-11)


@pytest.mark.parametrize("depth", [5000, 1, 9999])
def test_large_trees(depth: int) -> None:
    """10,000 nodes: a path of so many nodes, and all others children of its last."""
    n, rng = 10_000, np.random.default_rng(0)
    parent = np.concatenate([np.arange(-1, depth - 1), np.full(n - depth, depth - 1)])
    tree = SiblingTree([n], parent, 3, pair_kind=np.tile([0, 1], n), n_kinds=2)
    node, pair = rng.normal(size=(n, 3)), rng.normal(size=(2, 3, 3))
    best, labels = tree.argmax(ChainParts(node, pair))
    assert tree.score(ChainParts(node, pair), labels)[0] == pytest.approx(best[0])
    log_z, parts = tree.marginals(ChainParts(node.copy(), pair))
    assert best[0] < log_z[0] < best[0] + n * np.log(3)
    np.testing.assert_allclose(parts.node.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(parts.pair.sum(axis=(1, 2)), [n - 1, max(n - depth - 1, 0)], rtol=1e-9)


@given(cases)
def test_a_part_of_a_batch_is_that_batch(case: Case) -> None:
    check_a_part_of_a_batch(case, case.structure.n_instances // 2)


def test_an_impossible_tree_is_named() -> None:
    possible = np.array([[True, False], [False, True], [False, True]])
    tree = SiblingTree([1, 2], [-1, -1, 1], 2, possible=possible)
    zeros = ChainParts(np.zeros((3, 2)), np.zeros((1, 2, 2)))
    assert tree.argmax(zeros)[1].tolist() == [0, 0, 1]
    with pytest.raises(ParsimonError, match="tree 1 has no possible labelling"):
        tree.argmax(tree.constrain(zeros, np.array([-1, -1, 0])))
