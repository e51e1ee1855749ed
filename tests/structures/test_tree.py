"""Every oracle of `Tree` against enumeration of all labellings, and against `Chain` where a tree is a path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelling_checks import (
    Case,
    cases_of,
    check_a_part_of_a_batch,
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
from parsimon.data.parents import attach_to_siblings
from parsimon.errors import ParsimonError
from parsimon.penalties import L1
from parsimon.solvers import choose_solver
from parsimon.structures import Chain, ChainParts, Tree
from parsimon.structures.chain import PairLayout
from toy_problems import make_toy, random_parents


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
    return Case.with_scores(tree, rng, scale=scale, integers=integers, forbidden=forbidden)


cases = cases_of(
    make_case,
    st.lists(st.integers(0, 8), min_size=1, max_size=3),
    most_labels=3,
    most_kinds=3,
    masked=st.booleans(),
    singles=st.booleans(),
)


def test_it_answers_every_question() -> None:
    check_it_answers_every_question(Tree)


@given(cases)
def test_argmax(case: Case) -> None:
    check_argmax(case)


@given(cases, st.sampled_from([0.5, 10.0]), st.sampled_from([0.0, 0.4]))
def test_cost_augmented_argmax(case: Case, cost: float, missing: float) -> None:
    check_cost_augmented_argmax(case, cost, missing)


@given(cases)
def test_marginals(case: Case) -> None:
    check_marginals(case, case.scores)


@given(cases, st.sampled_from([0.2, 0.6, 1.0]))
def test_marginals_when_some_labels_are_given(case: Case, missing: float) -> None:
    check_marginals_when_some_labels_are_given(case, missing)


@pytest.mark.parametrize("n_labels", [1, 2, 4, 5, 8, 9, 24, 25, 33])
def test_marginals_for_every_width_of_the_vector_loops(n_labels: int) -> None:
    case = make_case(n_labels, [2, 1, 2], n_labels, n_kinds=2)
    check_marginals(case, case.scores)


@given(cases)
def test_counting(case: Case) -> None:
    check_counting(case)


@given(cases)
def test_minimum_risk(case: Case) -> None:
    check_minimum_risk(case)


@given(cases, st.integers(1, 12))
def test_k_best(case: Case, k: int) -> None:
    check_k_best(case, k)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0])
def test_forbidden_pairs(seed: int, scale: float) -> None:
    check_forbidden_pairs(make_case(seed, [1, 5, 4], 3, n_kinds=2, forbidden=0.35, scale=scale))


@given(cases, st.sampled_from([0.3, 0.8]))
def test_decoding_with_given_labels(case: Case, missing: float) -> None:
    check_decoding_with_given_labels(case, missing)


@given(cases)
def test_labels_that_are_not_allowed_are_not_given(case: Case) -> None:
    tree = case.structure
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
    check_score_and_indicators(case)


@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_marginals_are_the_derivative_of_log_z(scale: float) -> None:
    """By differences; with large scores sums are taken in logarithms."""
    case = make_case(3, [6, 4], 3, n_kinds=2, masked=True)
    case.node *= scale
    parts = case.structure.marginals(case.scores)[1]
    h = 1e-5
    for name in ("node", "pair"):
        values, found = getattr(case, name), getattr(parts, name)
        for at in np.ndindex(values.shape):
            kept = values[at]
            ends = []
            for step in (h, -h):
                values[at] = kept + step
                ends.append(case.structure.marginals(case.scores)[0].sum())
            values[at] = kept
            assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(found[at], abs=1e-6)


@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_sampling_follows_the_marginals(forbidden: float) -> None:
    case = make_case(5, [4, 0, 3], 3, n_kinds=2, scale=1.0, forbidden=forbidden, masked=True)
    check_sampling_follows_the_marginals(case)


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
        log_z, parts = case.structure.marginals(case.scores)
        found.append(
            b"".join(
                np.ascontiguousarray(each).tobytes()
                for each in (
                    log_z,
                    parts.node,
                    parts.pair,
                    *case.structure.argmax(case.scores),
                    *case.structure.kbest(case.scores, 3),
                    case.structure.sample(case.scores, 2, seed=4),
                )
            )
        )
    assert found[0] == found[1] == found[2]


def test_a_part_of_a_batch_is_the_same_trees() -> None:
    check_a_part_of_a_batch(make_case(11, [4, 6, 0, 5], 3, weighted=True, masked=True), first=1)


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
