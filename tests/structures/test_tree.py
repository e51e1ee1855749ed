"""Every oracle of `Tree` against enumeration of all labellings, and against `Chain` where a tree is a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import enumerate_batch
from parsimon.errors import ParsimonError
from parsimon.penalties import L1
from parsimon.solvers import choose_solver
from parsimon.structures import Chain, ChainParts, Tree
from parsimon.structures.base import Oracle
from parsimon.structures.chain import PairLayout
from parsimon.structures.tree import attach_to_siblings
from toy_problems import make_toy, random_parents


@dataclass
class Case:
    tree: Tree
    node: Any
    pair: Any
    single: Any
    rng: np.random.Generator

    @property
    def scores(self) -> ChainParts:
        """Fresh every time, since marginals take the place of node scores."""
        return ChainParts(self.node.copy(), self.pair.copy(), self.single.copy())

    def labels(self, missing: float = 0.0) -> Any:
        """Labels that nodes may have, −1 at a share of them."""
        ids = self.rng.integers(self.tree.n_labels, size=self.tree.n_tokens)
        if self.tree.allowed is not None and self.tree.node_kind is not None:
            allowed = self.tree.allowed[self.tree.node_kind]
            ids = np.where(allowed[np.arange(len(ids)), ids], ids, allowed.argmax(axis=1))
        return np.where(self.rng.random(self.tree.n_tokens) < missing, -1, ids)


def with_singles(layout: PairLayout, rng: np.random.Generator, n_labels: int) -> PairLayout:
    """Some steps have a single pair and no matrix, some have two on top of the first matrix."""
    row = rng.integers(-1, 2, size=len(layout.kind)).astype(np.int32)
    kind = np.where(row < 0, layout.kind, row - 1).astype(np.int32)
    pairs = np.array([1, 0, (n_labels - 1 << 16) + 1], np.uint32)
    return PairLayout(kind, layout.n_kinds, row, np.array([-1, 0], np.int32), np.array([0, 1, 3]), pairs)


def make_case(
    seed: int,
    lengths: list[int],
    n_labels: int,
    *,
    n_kinds: int = 1,
    scale: float = 2.0,
    weighted: bool = False,
    masked: bool = False,
    singles: bool = False,
    forbidden: float = 0.0,
    integers: bool = False,
    threads: int = 1,
) -> Case:
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    allowed = rng.random((3, n_labels)) < 0.6
    allowed[np.arange(3), rng.integers(n_labels, size=3)] = True
    layout = PairLayout(rng.integers(n_kinds, size=n).astype(np.int32), n_kinds)
    if singles and n_labels > 1:
        layout = with_singles(layout, rng, n_labels)
    tree = Tree(
        np.array(lengths, np.int32),
        random_parents(rng, lengths),
        n_labels,
        layout=layout,
        node_kind=rng.integers(3, size=n) if masked else None,
        allowed=allowed if masked else None,
        weights=rng.uniform(0, 3, len(lengths)) if weighted else None,
        threads=threads,
    )
    node = scale * rng.normal(size=(n, n_labels))
    pair = scale * rng.normal(size=(n_kinds, n_labels, n_labels))
    single = scale * rng.normal(size=layout.n_singles)
    if integers:  # many ties
        node, pair, single = np.round(node), np.round(pair), np.round(single)
    pair[rng.random(pair.shape) < forbidden] = -np.inf
    return Case(tree, node, pair, single, rng)


cases = st.builds(
    make_case,
    st.integers(0, 10**6),
    st.lists(st.integers(0, 8), min_size=1, max_size=3),
    st.integers(1, 3),
    n_kinds=st.integers(1, 3),
    scale=st.sampled_from([0.0, 1.0, 5.0, 60.0, 500.0]),
    weighted=st.booleans(),
    masked=st.booleans(),
    singles=st.booleans(),
    integers=st.booleans(),
    threads=st.sampled_from([1, 2]),
)


def test_it_answers_every_question() -> None:
    assert Tree.oracles == frozenset(Oracle) - {Oracle.MEAN, Oracle.CONDITIONALS}
    assert Tree.exact


@given(cases)
def test_argmax(case: Case) -> None:
    best, labels = case.tree.argmax(case.scores)
    for i, (nodes, outputs) in enumerate(enumerate_batch(case.tree, case.scores)):
        assert best[i] == pytest.approx(outputs.best()[0], rel=1e-12, abs=1e-12)
        assert outputs.score_of(labels[nodes]) == pytest.approx(best[i], rel=1e-12, abs=1e-12)


@given(cases, st.sampled_from([0.5, 10.0]), st.sampled_from([0.0, 0.4]))
def test_cost_augmented_argmax(case: Case, cost: float, missing: float) -> None:
    gold = case.labels(missing)
    best, labels = case.tree.cost_argmax(case.scores, gold, cost)
    for i, (nodes, outputs) in enumerate(enumerate_batch(case.tree, case.scores)):
        augmented = outputs.with_cost(gold[nodes], cost)
        assert best[i] == pytest.approx(augmented.best()[0], rel=1e-12, abs=1e-12)
        assert augmented.score_of(labels[nodes]) == pytest.approx(best[i], rel=1e-12, abs=1e-12)


def single_sums(tree: Tree, steps: Any) -> Any:
    """Σ of step marginals (nodes × labels × labels) at single pairs."""
    layout = tree.layout
    out = np.zeros(layout.n_singles)
    if layout.row is None or layout.single_start is None or layout.single is None:
        return out
    for t in np.flatnonzero(layout.row >= 0).tolist():
        for e in range(*layout.single_start[layout.row[t] : layout.row[t] + 2].tolist()):
            pair = int(layout.single[e])
            out[e] += steps[t, pair >> 16, pair & 0xFFFF]
    return out


def expected_marginals(case: Case, scores: ChainParts) -> tuple[Any, ChainParts]:
    tree = case.tree
    log_z = np.zeros(tree.n_instances)
    parts = ChainParts(np.zeros_like(case.node), np.zeros_like(case.pair))
    steps = np.zeros((tree.n_tokens, tree.n_labels, tree.n_labels))
    for i, (nodes, outputs) in enumerate(enumerate_batch(tree, scores)):
        weight = 1.0 if tree.weights is None else tree.weights[i]
        log_z[i] = outputs.log_z
        parts.node[nodes] = weight * outputs.node_marginals()
        steps[nodes] = weight * outputs.pair_marginals()
    for t in np.flatnonzero(tree.pair_kind >= 0).tolist():
        parts.pair[tree.pair_kind[t]] += steps[t]
    parts.single = single_sums(tree, steps)
    return log_z, parts


def check_marginals(case: Case, scores: ChainParts) -> None:
    wanted_z, wanted = expected_marginals(case, scores)
    log_z, parts = case.tree.marginals(scores)
    np.testing.assert_allclose(log_z, wanted_z, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts.node, wanted.node, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(parts.pair, wanted.pair, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(parts.single, wanted.single, rtol=1e-10, atol=1e-13)


@given(cases)
def test_marginals(case: Case) -> None:
    check_marginals(case, case.scores)


@given(cases, st.sampled_from([0.2, 0.6, 1.0]))
def test_marginals_when_some_labels_are_given(case: Case, missing: float) -> None:
    check_marginals(case, case.tree.constrain(case.scores, case.labels(missing)))


@pytest.mark.parametrize("n_labels", [1, 2, 4, 5, 8, 9, 24, 25, 33])
def test_marginals_for_every_width_of_the_vector_loops(n_labels: int) -> None:
    case = make_case(n_labels, [2, 1, 2], n_labels, n_kinds=2)
    check_marginals(case, case.scores)


@given(cases)
def test_counting(case: Case) -> None:
    """With all scores zero, Z counts labellings."""
    zeros = ChainParts(np.zeros_like(case.node), np.zeros_like(case.pair), np.zeros_like(case.single))
    log_z, _ = case.tree.marginals(zeros)
    np.testing.assert_allclose(case.tree.log_outputs(), log_z, atol=1e-12)


@given(cases, st.integers(1, 12))
def test_k_best(case: Case, k: int) -> None:
    values, labels = case.tree.kbest(case.scores, k)
    for i, (nodes, outputs) in enumerate(enumerate_batch(case.tree, case.scores)):
        np.testing.assert_allclose(values[:, i], outputs.k_best(k), rtol=1e-12, atol=1e-12)
        there = values[:, i] > -np.inf
        found = [tuple(row) for row in labels[there][:, nodes]]
        assert len(set(found)) == len(found)
        assert np.all(labels[~there][:, nodes] == -1)
        for row, value in zip(found, values[there, i], strict=True):
            assert outputs.score_of(np.array(row, int)) == pytest.approx(value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0])
def test_forbidden_pairs(seed: int, scale: float) -> None:
    case = make_case(seed, [1, 5, 4], 3, n_kinds=2, forbidden=0.35, scale=scale)
    enumerations = list(enumerate_batch(case.tree, case.scores))
    if any(outputs.log_z == -np.inf for _, outputs in enumerations):
        for oracle in (case.tree.argmax, case.tree.marginals, case.tree.sample):
            with pytest.raises(ParsimonError, match="no possible labelling"):
                oracle(case.scores)
        return
    check_marginals(case, case.scores)
    best, labels = case.tree.argmax(case.scores)
    values, _ = case.tree.kbest(case.scores, 100)
    for i, (nodes, outputs) in enumerate(enumerations):
        assert best[i] == pytest.approx(outputs.best()[0])
        assert outputs.score_of(labels[nodes]) == pytest.approx(best[i])
        np.testing.assert_allclose(values[:, i], outputs.k_best(100))


@given(cases, st.sampled_from([0.3, 0.8]))
def test_decoding_with_given_labels(case: Case, missing: float) -> None:
    given_labels = case.labels(missing)
    best, labels = case.tree.argmax(case.tree.constrain(case.scores, given_labels))
    assert np.all((labels == given_labels) | (given_labels < 0))
    for i, (nodes, outputs) in enumerate(enumerate_batch(case.tree, case.scores)):
        agreeing = outputs.agreeing(given_labels[nodes])
        assert best[i] == pytest.approx(agreeing.best()[0], rel=1e-12, abs=1e-12)


@given(cases)
def test_labels_that_are_not_allowed_are_not_given(case: Case) -> None:
    tree = case.tree
    if tree.allowed is None or tree.node_kind is None:
        return
    allowed = tree.allowed[tree.node_kind]
    here = np.arange(tree.n_tokens)
    assert allowed[here, tree.argmax(case.scores)[1]].all()
    assert (tree.marginals(case.scores)[1].node[~allowed] == 0).all()
    for labels in tree.sample(case.scores, 3):
        assert allowed[here, labels].all()


@given(cases)
def test_score_and_indicators(case: Case) -> None:
    output, tree = case.labels(), case.tree
    attained = tree.score(case.scores, output)
    for i, (nodes, outputs) in enumerate(enumerate_batch(tree, case.scores)):
        assert attained[i] == pytest.approx(outputs.score_of(output[nodes]), rel=1e-12, abs=1e-11)
    parts = tree.indicators(output)
    inner = sum(np.sum(getattr(parts, each) * getattr(case, each)) for each in ("node", "pair", "single"))
    assert inner == pytest.approx(tree.weigh(attained), rel=1e-11, abs=1e-9)
    tree.add_output(parts, output, -1.0)
    for each in (parts.node, parts.pair, parts.single):
        np.testing.assert_allclose(each, 0, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_marginals_are_the_derivative_of_log_z(scale: float) -> None:
    """By differences; with large scores sums are taken in logarithms."""
    case = make_case(3, [6, 4], 3, n_kinds=2, masked=True)
    case.node *= scale
    parts = case.tree.marginals(case.scores)[1]
    h = 1e-5
    for name in ("node", "pair"):
        values, found = getattr(case, name), getattr(parts, name)
        for at in np.ndindex(values.shape):
            kept = values[at]
            ends = []
            for step in (h, -h):
                values[at] = kept + step
                ends.append(case.tree.marginals(case.scores)[0].sum())
            values[at] = kept
            assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(found[at], abs=1e-6)


@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_sampling_follows_the_marginals(forbidden: float) -> None:
    case = make_case(5, [4, 0, 3], 3, n_kinds=2, scale=1.0, forbidden=forbidden, masked=True)
    draws = case.tree.sample(case.scores, 20_000, seed=7)
    shares = np.stack([(draws == y).mean(axis=0) for y in range(3)], axis=1)
    np.testing.assert_allclose(shares, case.tree.marginals(case.scores)[1].node, atol=0.015)


@pytest.mark.parametrize("scale", [1.0, 500.0])
@pytest.mark.parametrize("n_kinds", [1, 20])
def test_a_path_gives_the_numbers_of_a_chain(scale: float, n_kinds: int) -> None:
    rng = np.random.default_rng(1)
    lengths, Y = [40, 1, 0, 17], 5
    n = sum(lengths)
    kinds, weights = rng.integers(n_kinds, size=n), rng.uniform(0, 2, len(lengths))
    chain = Chain(lengths, Y, pair_kind=kinds, n_kinds=n_kinds, weights=weights)
    tree = Tree(lengths, chain.before, Y, pair_kind=kinds, n_kinds=n_kinds, weights=weights)
    node, pair = scale * rng.normal(size=(n, Y)), scale * rng.normal(size=(n_kinds, Y, Y))
    fresh = lambda: ChainParts(node.copy(), pair.copy())  # noqa: E731
    for one, two in zip(chain.argmax(fresh()), tree.argmax(fresh()), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)
    for one, two in zip(chain.kbest(fresh(), 5), tree.kbest(fresh(), 5), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)
    (one_z, one_parts), (two_z, two_parts) = chain.marginals(fresh()), tree.marginals(fresh())
    np.testing.assert_allclose(one_z, two_z, rtol=1e-12)
    np.testing.assert_allclose(one_parts.node, two_parts.node, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(one_parts.pair, two_parts.pair, rtol=1e-11, atol=1e-14)
    marginals = one_parts.node
    for name in ("node", "pair"):
        first, second = (getattr(each.variances(marginals), name) for each in (chain, tree))
        np.testing.assert_allclose(first, second, rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 500.0])
def test_ten_thousand_nodes_at_a_depth_of_five_thousand(scale: float) -> None:
    """A path with a leaf at every node of it."""
    rng = np.random.default_rng(2)
    parent = np.concatenate([[-1], np.arange(4999), np.arange(5000)])
    tree = Tree([10_000], parent, 4)
    node, pair = scale * rng.normal(size=(10_000, 4)), scale * rng.normal(size=(1, 4, 4))
    best, labels = tree.argmax(ChainParts(node.copy(), pair))
    assert tree.score(ChainParts(node, pair), labels)[0] == pytest.approx(best[0], rel=1e-12)
    values, second = tree.kbest(ChainParts(node, pair), 2)
    assert values[0, 0] == pytest.approx(best[0], rel=1e-12)
    np.testing.assert_array_equal(second[0], labels)
    log_z, parts = tree.marginals(ChainParts(node.copy(), pair))
    assert np.isfinite(log_z[0])
    assert log_z[0] >= best[0]
    np.testing.assert_allclose(parts.node.sum(axis=1), 1.0, rtol=1e-9)
    assert parts.pair.sum() == pytest.approx(9999, rel=1e-9)


@pytest.mark.parametrize("n", [50, 2000])
def test_children_that_contradict_each_other(n: int) -> None:
    """The first half of a node's children all but rule a label out, the other half insist on it."""
    tree = Tree([2 * n + 1], [-1] + [0] * (2 * n), 2)
    node = np.zeros((2 * n + 1, 2))
    node[1 : n + 1] = [40.0, 0.0]
    node[n + 1 :] = [0.0, 40.0]
    node[0] = [0.0, 0.3]
    pair = np.array([[[30.0, 0.0], [0.0, 30.0]]])
    log_z, parts = tree.marginals(ChainParts(node.copy(), pair))
    assert parts.node[0, 1] == pytest.approx(1 / (1 + np.exp(-0.3)), rel=1e-9)
    each = [np.logaddexp(70.0, 0.0), np.logaddexp(40.0, 30.0)]
    assert log_z[0] == pytest.approx(n * sum(each) + np.log(1 + np.exp(0.3)), rel=1e-12)


def test_the_same_bits_for_any_number_of_threads() -> None:
    lengths = [5, 40, 0, 300, 7] * 20
    found = []
    for threads in (1, 2, 5):
        case = make_case(9, lengths, 5, n_kinds=3, weighted=True, masked=True, threads=threads)
        log_z, parts = case.tree.marginals(case.scores)
        found.append(
            b"".join(
                np.ascontiguousarray(each).tobytes()
                for each in (
                    log_z,
                    parts.node,
                    parts.pair,
                    *case.tree.argmax(case.scores),
                    *case.tree.kbest(case.scores, 3),
                    case.tree.sample(case.scores, 2, seed=4),
                )
            )
        )
    assert found[0] == found[1] == found[2]


def test_a_part_of_a_batch_is_the_same_trees() -> None:
    case = make_case(11, [4, 6, 0, 5], 3, weighted=True, masked=True)
    part, where = case.tree.part(1, 4)
    best, labels = case.tree.argmax(case.scores)
    some, chosen = part.argmax(ChainParts(case.node[where], case.pair))
    np.testing.assert_array_equal(labels[where], chosen)
    np.testing.assert_allclose(best[1:], some)


@given(st.integers(0, 10**6), st.lists(st.integers(0, 9), min_size=1, max_size=3))
def test_siblings_are_attached_to_the_one_before(seed: int, lengths: list[int]) -> None:
    parent = random_parents(np.random.default_rng(seed), lengths)
    new, to_sibling = attach_to_siblings(parent)
    Tree(lengths, new, 2)  # still trees
    for t, (was, now) in enumerate(zip(parent.tolist(), new.tolist(), strict=True)):
        earlier = [u for u in range(t) if parent[u] == was]
        assert now == (earlier[-1] if was >= 0 and earlier else was)
        assert to_sibling[t] == (was >= 0 and bool(earlier))


@pytest.mark.parametrize(
    ("lengths", "parent", "match"),
    [
        ([3], [-1, 0], "there are 3 nodes, but 2 parents"),
        ([2, 1], [-1, 0, 1], "parent of node 2 is 1"),
        ([2], [-1, 5], "parent of node 1 is 5"),
        ([2], [-1, -2], "parent of node 1 is -2"),
        ([4], [-1, 2, 3, 1], "node 1 is its own ancestor"),
        ([1], [0], "node 0 is its own ancestor"),
    ],
)
def test_what_is_no_tree_is_refused(lengths: list[int], parent: list[int], match: str) -> None:
    with pytest.raises(ParsimonError, match=match):
        Tree(lengths, parent, 2)


def test_an_infeasible_tree_is_named() -> None:
    tree = Tree([2, 2], [-1, 0, -1, 2], 2)
    node = np.zeros((4, 2))
    node[3] = -np.inf
    for oracle in (tree.argmax, tree.marginals):
        with pytest.raises(ParsimonError, match="tree 1 has no possible labelling"):
            oracle(ChainParts(node.copy(), np.zeros((1, 2, 2))))
    node[3] = np.nan
    with pytest.raises(ParsimonError, match="tree 1 are not numbers"):
        tree.marginals(ChainParts(node, np.zeros((1, 2, 2))))


def test_batches_without_nodes() -> None:
    for lengths in ([], [0, 0]):
        tree = Tree(lengths, [], 3)
        scores = ChainParts(np.zeros((0, 3)), np.zeros((1, 3, 3)))
        assert tree.argmax(scores)[0].tolist() == tree.marginals(scores)[0].tolist() == [0.0] * len(lengths)
        assert tree.kbest(scores, 1)[0].tolist() == [[0.0] * len(lengths)]


def test_what_is_compiled_for_chains_alone_is_refused() -> None:
    problem = make_toy(1, trees=True).problem("log", L1(0.1))
    with pytest.raises(ParsimonError, match="needs a structure with"):
        choose_solver("bcd", problem)
