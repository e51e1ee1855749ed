"""Every oracle of `Arborescence` against enumeration of all trees."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import all_trees, enumerate_trees
from parsimon.errors import ParsimonError
from parsimon.losses import Hinge, Log, Perceptron, SmoothedHinge
from parsimon.structures import (
    Arborescence,
    ArcParts,
    LabelledArborescence,
    Oracle,
    check_tree,
    is_projective,
)

KINDS = [(projective, single) for projective in (False, True) for single in (False, True)]
kinds = pytest.mark.parametrize(("projective", "single_root"), KINDS)


@dataclass
class Case:
    trees: Arborescence
    arc: Any
    rng: np.random.Generator

    @property
    def scores(self) -> ArcParts:
        """Fresh every time, since marginals take the place of scores."""
        return ArcParts(self.arc.copy())

    def output(self, missing: float = 0.0) -> Any:
        """Some tree of every sentence, drawn at random."""
        drawn = [
            outputs.labellings[self.rng.integers(len(outputs.labellings))]
            for _, _, outputs in enumerate_trees(self.trees, self.scores)
        ]
        output = np.concatenate([np.zeros(0, np.int64), *drawn])
        return np.where(self.rng.random(len(output)) < missing, -1, output)

    def feasible(self) -> bool:
        return all(outputs.log_z > -np.inf for _, _, outputs in enumerate_trees(self.trees, self.scores))


def make_case(
    seed: int,
    lengths: list[int],
    *,
    kind: tuple[bool, bool] = (False, True),
    n_labels: int = 0,
    scale: float = 2.0,
    weighted: bool = False,
    forbidden: float = 0.0,
    integers: bool = False,
    threads: int = 1,
) -> Case:
    rng = np.random.default_rng(seed)
    settings: Any = {
        "projective": kind[0],
        "single_root": kind[1],
        "weights": rng.uniform(0, 3, len(lengths)) if weighted else None,
        "threads": threads,
    }
    trees = (
        LabelledArborescence(lengths, n_labels, **settings) if n_labels else Arborescence(lengths, **settings)
    )
    arc = scale * rng.normal(size=trees.parts_shape)
    if integers:  # many ties
        arc = np.round(arc)
    arc[rng.random(arc.shape) < forbidden] = -np.inf
    return Case(trees, arc, rng)


scales = st.sampled_from([0.0, 1.0, 5.0, 60.0, 500.0])
plain = st.builds(
    make_case,
    st.integers(0, 10**6),
    st.lists(st.integers(0, 4), min_size=1, max_size=3),
    kind=st.sampled_from(KINDS),
    scale=scales,
    weighted=st.booleans(),
    forbidden=st.sampled_from([0.0, 0.0, 0.2, 0.4]),
    integers=st.booleans(),
    threads=st.sampled_from([1, 2]),
)
labelled = st.builds(
    make_case,
    st.integers(0, 10**6),
    st.lists(st.integers(0, 3), min_size=1, max_size=3),
    kind=st.sampled_from(KINDS),
    n_labels=st.integers(1, 3),
    scale=scales,
    weighted=st.booleans(),
    forbidden=st.sampled_from([0.0, 0.3]),
    integers=st.booleans(),
)
cases = plain | labelled
large = [make_case(n, [n], kind=kind, scale=s) for n in (5, 6) for kind in KINDS for s in (1.0, 200.0)]


def check_argmax(case: Case) -> None:
    if not case.feasible():
        with pytest.raises(ParsimonError, match="no possible"):
            case.trees.argmax(case.scores)
        return
    best, output = case.trees.argmax(case.scores)
    np.testing.assert_array_equal(best, case.trees.score(case.scores, output))
    for i, (tokens, _, outputs) in enumerate(enumerate_trees(case.trees, case.scores)):
        assert best[i] == pytest.approx(outputs.best()[0], rel=1e-12, abs=1e-12)
        assert outputs.score_of(output[tokens]) == pytest.approx(best[i], rel=1e-12, abs=1e-12)


def check_marginals(case: Case, scores: ArcParts) -> None:
    enumerated = list(enumerate_trees(case.trees, scores))
    log_z, parts = case.trees.marginals(scores)
    assert parts.arc.shape == case.trees.parts_shape
    for i, (_, arcs, outputs) in enumerate(enumerated):
        weight = 1.0 if case.trees.weights is None else case.trees.weights[i]
        assert log_z[i] == pytest.approx(outputs.log_z, rel=1e-12, abs=1e-12)
        wanted = weight * outputs.node_marginals()
        np.testing.assert_allclose(parts.arc[arcs].reshape(wanted.shape), wanted, rtol=1e-9, atol=1e-13)


def check_k_best(case: Case, k: int) -> None:
    values, found = case.trees.kbest(case.scores, k)
    for i, (tokens, _, outputs) in enumerate(enumerate_trees(case.trees, case.scores)):
        np.testing.assert_allclose(values[:, i], outputs.k_best(k), rtol=1e-12, atol=1e-12)
        there = values[:, i] > -np.inf
        rows = [tuple(row) for row in found[there][:, tokens]]
        assert len(set(rows)) == len(rows)
        assert np.all(found[~there][:, tokens] == -1)
        for row, value in zip(rows, values[there, i], strict=True):
            assert outputs.score_of(np.array(row, int)) == pytest.approx(value, rel=1e-12, abs=1e-12)


def test_it_answers_all_but_draws() -> None:
    assert Arborescence.oracles == {Oracle.ARGMAX, Oracle.COST_ARGMAX, Oracle.MARGINALS, Oracle.KBEST}
    assert Arborescence.exact


@settings(max_examples=300)
@given(cases)
def test_argmax(case: Case) -> None:
    check_argmax(case)


@settings(max_examples=200)
@given(cases)
def test_marginals(case: Case) -> None:
    if case.feasible():
        check_marginals(case, case.scores)
    else:
        with pytest.raises(ParsimonError, match="no possible"):
            case.trees.marginals(case.scores)


@given(cases, st.integers(1, 12))
def test_k_best(case: Case, k: int) -> None:
    if case.feasible():
        check_k_best(case, k)
    else:
        with pytest.raises(ParsimonError, match="no possible"):
            case.trees.kbest(case.scores, k)


@pytest.mark.parametrize("case", large, ids=lambda case: f"{case.trees.n_tokens} tokens")
def test_larger_trees(case: Case) -> None:
    check_argmax(case)
    check_marginals(case, case.scores)
    check_k_best(case, 20)


@given(cases, st.sampled_from([0.5, 1.0, 10.0]), st.sampled_from([0.0, 0.4]))
def test_cost_augmented_argmax(case: Case, cost: float, missing: float) -> None:
    if not case.feasible():
        return
    gold = case.output(missing)
    best, output = case.trees.cost_argmax(case.scores, gold, cost)
    costs = case.trees.cost(gold, output, cost)
    for i, (tokens, _, outputs) in enumerate(enumerate_trees(case.trees, case.scores)):
        augmented = outputs.with_cost(gold[tokens], cost)
        assert best[i] == pytest.approx(augmented.best()[0], rel=1e-12, abs=1e-12)
        assert augmented.score_of(output[tokens]) == pytest.approx(best[i], rel=1e-12, abs=1e-12)
        assert costs[i] == cost * np.sum((gold[tokens] != output[tokens]) & (gold[tokens] >= 0))


@given(cases, st.sampled_from([0.2, 0.6, 1.0]))
def test_some_arcs_are_given(case: Case, missing: float) -> None:
    """Forced arcs, on top of forbidden ones: what cannot be is said to be so, with the sentence's number."""
    given_arcs = case.output(missing)
    constrained = case.trees.constrain(case.scores, given_arcs)
    impossible = [
        i
        for i, (tokens, _, outputs) in enumerate(enumerate_trees(case.trees, case.scores))
        if outputs.agreeing(given_arcs[tokens]).log_z == -np.inf
    ]
    if impossible:
        with pytest.raises(ParsimonError, match=f"sentence {impossible[0]} has no possible"):
            case.trees.marginals(constrained)
        return
    for tokens, arcs, outputs in enumerate_trees(case.trees, case.scores):
        agreeing = outputs.agreeing(given_arcs[tokens])
        (_, _, found), *_ = (e for e in enumerate_trees(case.trees, constrained) if e[1] == arcs)
        np.testing.assert_array_equal(found.scores, agreeing.scores)
    check_argmax(Case(case.trees, constrained.arc, case.rng))
    check_marginals(case, constrained)


@given(cases, st.sampled_from([0.0, 0.4]))
def test_expected_cost(case: Case, missing: float) -> None:
    if not case.feasible():
        return
    gold, wanted = case.output(missing), 0.0
    for i, (tokens, _, outputs) in enumerate(enumerate_trees(case.trees, case.scores)):
        weight = 1.0 if case.trees.weights is None else case.trees.weights[i]
        wrong = ((outputs.labellings != gold[tokens]) & (gold[tokens] >= 0)).sum(axis=1)
        wanted += weight * 1.5 * float(outputs.probabilities @ wrong)
    _, parts = case.trees.marginals(case.scores)
    case.trees.add_output(
        parts, np.maximum(gold, 0), -1.0
    )  # what stands in for missing heads is not looked at
    assert case.trees.expected_cost(parts, gold, 1.5) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@given(cases)
def test_minimum_risk(case: Case) -> None:
    """The tree that has the largest sum of marginals of all trees that are possible."""
    if not case.feasible():
        return
    output = case.trees.minimum_risk(case.scores)
    for tokens, _, outputs in enumerate_trees(case.trees, case.scores):
        marginal = outputs.node_marginals()
        gain = marginal[np.arange(outputs.length), outputs.labellings].sum(axis=1)
        gain[outputs.scores == -np.inf] = -np.inf
        (chosen,) = np.flatnonzero((outputs.labellings == output[tokens]).all(axis=1))
        assert gain[chosen] == pytest.approx(gain.max(), abs=1e-9)


@kinds
@pytest.mark.parametrize("n_labels", [0, 3])
def test_counting(projective: bool, single_root: bool, n_labels: int) -> None:
    """With all scores zero, Z counts trees."""
    case = make_case(0, [*range(7), 30], kind=(projective, single_root), scale=0.0, n_labels=n_labels)
    log_z, _ = case.trees.marginals(case.scores)
    np.testing.assert_allclose(case.trees.log_outputs(), log_z, rtol=1e-12, atol=1e-12)
    counted = [
        len(all_trees(n, projective, single_root)) * max(n_labels, 1) ** n
        for n in range(7 if not n_labels else 5)
    ]
    np.testing.assert_allclose(np.exp(log_z[: len(counted)]), counted)


def test_projective_trees_are_counted_by_binomials() -> None:
    assert [len(all_trees(n, True, False)) for n in range(1, 6)] == [
        comb(3 * n, n) // (2 * n + 1) for n in range(1, 6)
    ]


@kinds
@pytest.mark.parametrize("n_labels", [0, 2])
@pytest.mark.parametrize(
    "loss", [Log(), SmoothedHinge(0.7), Hinge(), Perceptron()], ids=lambda loss: loss.name
)
def test_losses_and_their_gradients(loss: Any, n_labels: int, projective: bool, single_root: bool) -> None:
    """By finite differences; arcs from a token to itself have no gradient, whatever they score."""
    case = make_case(5, [3, 4, 1], kind=(projective, single_root), n_labels=n_labels, weighted=True)
    gold = case.output()
    value, parts = loss(case.trees, case.scores, gold)
    assert value >= 0
    flat, step = case.arc.reshape(-1), 1e-6
    for a in range(len(flat)):
        ends = []
        for sign in (1, -1):
            flat[a] += sign * step
            ends.append(loss(case.trees, case.scores, gold)[0])
            flat[a] -= sign * step
        assert parts.arc.reshape(-1)[a] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7)


def test_the_log_loss_of_trees_with_missing_heads() -> None:
    case = make_case(8, [4, 3])
    gold = case.output(0.5)
    value, parts = Log()(case.trees, case.scores, gold)
    wanted = sum(
        outputs.log_z - outputs.agreeing(gold[tokens]).log_z
        for tokens, _, outputs in enumerate_trees(case.trees, case.scores)
    )
    assert value == pytest.approx(wanted)
    assert parts.arc.sum() == pytest.approx(0.0, abs=1e-12)


@given(plain)
def test_variances(case: Case) -> None:
    """p(1 − p), counted by weights."""
    if not case.feasible():
        return
    _, parts = case.trees.marginals(case.scores)
    _, once = make_unweighted(case.trees).marginals(case.scores)
    weight = np.repeat(
        np.ones(case.trees.n_instances) if case.trees.weights is None else case.trees.weights,
        case.trees.lengths * (case.trees.lengths + 1),
    )
    np.testing.assert_allclose(
        case.trees.variances(parts.node).arc, weight * once.arc * (1 - once.arc), rtol=1e-9, atol=1e-12
    )


def make_unweighted(trees: Arborescence) -> Arborescence:
    return Arborescence(trees.lengths, projective=trees.projective, single_root=trees.single_root)


@given(cases)
def test_parts_of_batches(case: Case) -> None:
    """The sentences of a part have the trees that they have in the whole."""
    if not case.feasible():
        return
    trees = case.trees
    best, output = trees.argmax(case.scores)
    first, last = 1, trees.n_instances
    some, where = trees.part(first, last)
    assert type(some) is type(trees)
    arcs = np.cumsum(trees.lengths * (trees.lengths + 1))[first - 1]
    values, found = some.argmax(ArcParts(case.arc[arcs:].copy()))
    np.testing.assert_array_equal(values, best[first:last])
    np.testing.assert_array_equal(found, output[where])
    assert some.weigh(values) == pytest.approx(
        np.sum(best[first:] * (1 if trees.weights is None else trees.weights[first:]))
    )


def test_messages_name_the_sentence_of_the_whole() -> None:
    case = make_case(1, [2, 3, 2])
    part, _ = case.trees.part(1, 3)
    arc = np.zeros(part.n_arcs)
    arc[12:] = -np.inf
    with pytest.raises(ParsimonError, match=r"^sentence 2 has no possible tree with a single root under"):
        part.argmax(ArcParts(arc))
    arc[:] = 0.0
    arc[0] = np.nan
    with pytest.raises(ParsimonError, match=r"^the scores of sentence 1 must be numbers"):
        part.marginals(ArcParts(arc))


def test_two_roots_that_nothing_else_can_head() -> None:
    """Possible with several roots, impossible with one, for every oracle."""
    arc = np.array([0.0, 0.0, -np.inf, 0.0, -np.inf, 0.0])
    for projective in (False, True):
        several = Arborescence([2], projective=projective, single_root=False)
        assert several.argmax(ArcParts(arc))[1].tolist() == [0, 0]
        assert several.marginals(ArcParts(arc.copy()))[0] == pytest.approx([0.0])
        one = Arborescence([2], projective=projective)
        for oracle in (
            one.argmax,
            one.marginals,
            one.minimum_risk,
            lambda scores, one=one: one.kbest(scores, 2),
        ):
            with pytest.raises(ParsimonError, match="sentence 0 has no possible"):
                oracle(ArcParts(arc.copy()))


def exact_marginals(arc: Any, n: int, single_root: bool) -> tuple[Fraction, list[Fraction]]:
    """Z and marginals in rational numbers; arcs are powers of two."""
    weight = [Fraction(2) ** int(a) for a in arc]
    total, of_arcs = Fraction(0), [Fraction(0)] * len(weight)
    for heads in all_trees(n, False, single_root).tolist():
        product = Fraction(1)
        at = [m * (n + 1) + h for m, h in enumerate(heads)]
        for a in at:
            product *= weight[a]
        total += product
        for a in at:
            of_arcs[a] += product
    return total, [each / total for each in of_arcs]


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("spread", [50, 700, 2000])
def test_marginals_lose_no_digits(spread: int, single_root: bool) -> None:
    """Where the best arcs go round in circles, a determinant would have none left (rational numbers have them all).

    Marginals below 1e-48 may be zero.
    """
    rng, n = np.random.default_rng(spread), 4
    for _ in range(5):
        powers = rng.integers(-spread, spread, size=n * (n + 1))
        powers[:: n + 1] -= 2 * spread  # from the root
        log_z, parts = Arborescence([n], single_root=single_root).marginals(ArcParts(powers * np.log(2)))
        total, wanted = exact_marginals(powers, n, single_root)
        size = total.numerator.bit_length() - total.denominator.bit_length()
        assert log_z[0] == pytest.approx(
            size * np.log(2) + np.log(float(total / Fraction(2) ** size)), rel=1e-13
        )
        sizes = np.array([float(p) for p in wanted])
        np.testing.assert_allclose(parts.arc, sizes, rtol=1e-9, atol=1e-48)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("n", [7, 8, 13, 30])
def test_marginals_are_those_of_determinants(n: int, single_root: bool) -> None:
    """As textbooks have it (Koo et al. 2007), for weights that do not differ much."""
    arc = np.random.default_rng(n).normal(size=(n, n + 1))
    weight = np.exp(arc)
    root, among = weight[:, 0], weight[:, 1:].T * (1 - np.eye(n))  # from row to column
    laplacian = np.diag(among.sum(axis=0)) - among
    if single_root:
        laplacian[0] = root
        inverse = np.linalg.inv(laplacian)
        wanted_root = root * inverse[:, 0]
        kept = np.arange(n) > 0  # the first row says nothing of arcs any more
    else:
        laplacian += np.diag(root)
        inverse = np.linalg.inv(laplacian)
        wanted_root = root * np.diag(inverse)
        kept = np.ones(n, bool)
    wanted = among * (np.where(kept, np.diag(inverse), 0.0) - np.where(kept[:, None], inverse.T, 0.0))
    log_z, parts = Arborescence([n], single_root=single_root).marginals(ArcParts(arc.reshape(-1).copy()))
    assert log_z[0] == pytest.approx(np.linalg.slogdet(laplacian)[1], rel=1e-12)
    found = parts.arc.reshape(n, n + 1)
    np.testing.assert_allclose(found[:, 0], wanted_root, rtol=1e-9)
    np.testing.assert_allclose(found[:, 1:].T, wanted, rtol=1e-9, atol=1e-15)


@kinds
def test_scores_out_of_range_and_forbidden_arcs_come_to_the_same(projective: bool, single_root: bool) -> None:
    """Arcs that score −5000 are as good as forbidden."""
    rng, n = np.random.default_rng(4), 40
    trees = Arborescence([n], projective=projective, single_root=single_root)
    forbidden = rng.random(trees.n_arcs) < 0.1
    arc = rng.normal(size=trees.n_arcs)
    log_z, parts = trees.marginals(ArcParts(np.where(forbidden, -np.inf, arc)))
    low_z, low = trees.marginals(ArcParts(np.where(forbidden, -5000.0, arc)))
    assert low_z[0] == pytest.approx(log_z[0], rel=1e-12)
    np.testing.assert_allclose(low.arc, parts.arc, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("projective", [False, True])
def test_all_arcs_from_the_root_may_be_unlikely(projective: bool) -> None:
    """With a single root, it makes no difference how unlikely; where it does, logarithms take over."""
    rng, n = np.random.default_rng(5), 30
    trees = Arborescence([n], projective=projective)
    arc = rng.normal(size=(n, n + 1))
    log_z, parts = trees.marginals(ArcParts(arc.reshape(-1).copy()))
    arc[:, 0] -= 690.0
    low_z, low = trees.marginals(ArcParts(arc.reshape(-1).copy()))
    assert low_z[0] == pytest.approx(log_z[0] - 690, rel=1e-12)
    np.testing.assert_allclose(low.arc, parts.arc, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("n", [7, 30])
def test_several_roots_that_are_too_unlikely_are_one(projective: bool, n: int) -> None:
    """Beyond the range of doubles for several roots, well within it for a single one."""
    arc = np.random.default_rng(n).normal(size=(n, n + 1))
    arc[:, 0] -= 650.0
    one_z, one = Arborescence([n], projective=projective).marginals(ArcParts(arc.reshape(-1).copy()))
    several = Arborescence([n], projective=projective, single_root=False)
    log_z, parts = several.marginals(ArcParts(arc.reshape(-1).copy()))
    assert log_z[0] == pytest.approx(one_z[0], rel=1e-12)
    np.testing.assert_allclose(parts.arc, one.arc, rtol=1e-9, atol=1e-15)


@kinds
@pytest.mark.parametrize("scale", [1.0, 500.0])
def test_long_sentences_and_large_scores(projective: bool, single_root: bool, scale: float) -> None:
    n = 500
    trees = Arborescence([n], projective=projective, single_root=single_root)
    arc = np.random.default_rng(0).uniform(-scale, scale, n * (n + 1))
    best, heads = trees.argmax(ArcParts(arc))
    check_tree(heads, single_root=single_root)
    assert is_projective(heads) or not projective
    log_z, parts = trees.marginals(ArcParts(arc.copy()))
    assert best[0] - 1e-6 <= log_z[0] <= best[0] + trees.log_outputs()[0] + 1e-6
    marginal = parts.arc.reshape(n, n + 1)
    assert np.all(marginal >= 0)
    np.testing.assert_allclose(marginal.sum(axis=1), 1.0, atol=1e-8)
    if single_root:
        assert marginal[:, 0].sum() == pytest.approx(1.0, abs=1e-8)


@kinds
@pytest.mark.parametrize("n", [60, 150])
def test_a_range_of_scores_beyond_that_of_doubles(projective: bool, single_root: bool, n: int) -> None:
    rng = np.random.default_rng(n)
    trees = Arborescence([n], projective=projective, single_root=single_root)
    arc = rng.choice([-500.0, 500.0, 0.0], n * (n + 1)) + rng.normal(size=n * (n + 1))
    arc.reshape(n, n + 1)[:, 0] = -500.0
    best, heads = trees.argmax(ArcParts(arc))
    log_z, parts = trees.marginals(ArcParts(arc.copy()))
    assert best[0] - 1e-6 <= log_z[0] <= best[0] + trees.log_outputs()[0] + 1e-6
    np.testing.assert_allclose(parts.arc.reshape(n, n + 1).sum(axis=1), 1.0, atol=1e-8)
    check_tree(heads, single_root=single_root)


@kinds
def test_the_same_bits_for_any_number_of_threads(projective: bool, single_root: bool) -> None:
    def answers(threads: int) -> list[Any]:
        case = make_case(
            3, [12, 0, 7, 20, 1, 9, 15], kind=(projective, single_root), n_labels=2, threads=threads
        )
        log_z, parts = case.trees.marginals(case.scores)
        return [*case.trees.argmax(case.scores), *case.trees.kbest(case.scores, 3), log_z, parts.arc]

    for one, four in zip(answers(1), answers(4), strict=True):
        np.testing.assert_array_equal(one, four)


def test_outputs_of_labelled_arcs() -> None:
    trees = LabelledArborescence([3], 4)
    output = trees.join(np.array([2, 0, -1]), np.array([3, 1, 0]))
    assert output.tolist() == [11, 1, -1]
    heads, labels = trees.split(output)
    assert heads.tolist() == [2, 0, -1]
    assert labels.tolist() == [3, 1, -1]


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([2, 5, 0], "token 2 has the head 5; it must be from 0 (root) to 3."),
        ([2, -1], "token 2 has the head -1; it must be from 0 (root) to 2."),
        ([0, 2], "token 2 is its own head; it must be another token or 0 (root)."),
        ([0, 1, 4, 5, 3], "tokens 3, 4, 5 are in a cycle of heads; one of them needs a head outside it."),
        ([0, 1, 0], "tokens 1 and 3 both hang on the root; only one may have the head 0."),
    ],
)
def test_what_is_not_a_tree(heads: list[int], message: str) -> None:
    with pytest.raises(ParsimonError) as error:
        check_tree(heads)
    assert str(error.value) == message


def test_mistakes_are_named() -> None:
    trees = Arborescence([2, 2])
    scores = ArcParts(np.zeros(trees.n_arcs))
    with pytest.raises(ParsimonError, match=r"sentence 1, token 2: the head must be from 0 to 2, not 3"):
        trees.score(scores, np.array([0, 1, 0, 3]))
    with pytest.raises(ParsimonError, match=r"there are 4 tokens but 3 heads"):
        trees.score(scores, np.array([0, 1, 0]))
    with pytest.raises(ParsimonError, match="not a table of costs"):
        trees.cost_argmax(scores, np.array([0, 1, 0, 1]), np.zeros((2, 2)))
    with pytest.raises(ParsimonError, match="1 or more, not 0"):
        trees.kbest(scores, 0)
    with pytest.raises(ParsimonError, match="2 sentences; give as many weights"):
        Arborescence([1, 1], weights=np.ones(3))
    with pytest.raises(ParsimonError, match="one label or more"):
        LabelledArborescence([1], 0)


def test_arcs_from_the_root_are_raised_until_one_is_the_best_into_its_token():
    random = np.random.default_rng(4)
    trees = Arborescence([3, 0, 1, 6, 2, 0])
    for _ in range(20):
        scores = random.normal(size=trees.n_arcs)
        raised = ArcParts(scores.copy())
        trees.raise_root_arcs(raised)
        at = 0
        for n in trees.lengths.tolist():
            before, after = (x[at : at + n * (n + 1)].reshape(n, n + 1) for x in (scores, raised.arc))
            at += n * (n + 1)
            others = np.where(np.eye(n, n + 1, 1, dtype=bool), -np.inf, before)[:, 1:].max(
                axis=1, initial=-np.inf
            )
            short = np.min(others - before[:, 0], initial=np.inf)
            np.testing.assert_allclose(after[:, 0], before[:, 0] + (max(short, 0.0) if n > 1 else 0.0))
            others = ~np.eye(n, n + 1, 1, dtype=bool)
            others[:, :1] = False
            np.testing.assert_array_equal(after[others], before[others])
    Arborescence([]).raise_root_arcs(ArcParts(np.zeros(0)))
