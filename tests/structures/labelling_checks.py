"""What chains and trees of any kind must answer about the labellings of a batch, checked against enumeration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pytest
from hypothesis import strategies as st

from brute_force import Enumeration, barred, enumerate_batch
from parsimon.errors import ParsimonError
from parsimon.structures import Chain, ChainParts
from parsimon.structures.base import Oracle
from parsimon.structures.chain import PairLayout


@dataclass
class Case:
    """A batch with random scores, small enough to enumerate."""

    structure: Any  # Chain or one of its kind
    node: Any
    pair: Any
    single: Any
    rng: np.random.Generator

    @classmethod
    def with_scores(
        cls,
        structure: Chain,
        rng: np.random.Generator,
        *,
        scale: float,
        integers: bool,
        forbidden: float = 0.0,
        **more: Any,
    ) -> Self:
        """Normal scores of that scale; integers have many ties, and a share of the pairs may be forbidden."""
        node = scale * rng.normal(size=(structure.n_tokens, structure.n_labels))
        pair = scale * rng.normal(size=(structure.n_kinds, structure.n_labels, structure.n_labels))
        single = scale * rng.normal(size=structure.layout.n_singles)
        if integers:
            node, pair, single = np.round(node), np.round(pair), np.round(single)
        pair[rng.random(pair.shape) < forbidden] = -np.inf
        return cls(structure, node, pair, single, rng, **more)

    @property
    def scores(self) -> ChainParts:
        """Fresh every time, since marginals take the place of node scores."""
        return ChainParts(self.node.copy(), self.pair.copy(), self.single.copy())

    @property
    def zeros(self) -> ChainParts:
        return ChainParts(*map(np.zeros_like, (self.node, self.pair, self.single)))

    def labels(self, missing: float = 0.0) -> Any:
        """Labels of a possible labelling, −1 at a share of the tokens."""
        ids = self.possible_labels()
        return np.where(self.rng.random(len(ids)) < missing, -1, ids)

    def possible_labels(self) -> Any:
        """Labels that each token may have."""
        ids = self.rng.integers(self.structure.n_labels, size=self.structure.n_tokens)
        fine = barred(self.structure) == 0
        return np.where(fine[np.arange(len(ids)), ids], ids, fine.argmax(axis=1))

    def enumerations(self, scores: ChainParts) -> Iterator[tuple[slice, Enumeration]]:
        """The tokens and the enumeration of every instance."""
        return enumerate_batch(self.structure, scores)

    def steps(self, outputs: Enumeration) -> list[Any]:
        """Where the steps into each token of an instance come from, −1 for none: an array for every kind of step."""
        return [outputs.before]


def cases_of(
    make_case: Callable[..., Case],
    lengths: st.SearchStrategy[list[int]],
    *,
    most_labels: int,
    most_kinds: int,
    **more: st.SearchStrategy[Any],
) -> st.SearchStrategy[Any]:
    """Cases of all sizes and scales."""
    return st.builds(
        make_case,
        st.integers(0, 10**6),
        lengths,
        st.integers(1, most_labels),
        n_kinds=st.integers(1, most_kinds),
        scale=st.sampled_from([0.0, 1.0, 5.0, 60.0, 500.0]),
        weighted=st.booleans(),
        integers=st.booleans(),
        threads=st.sampled_from([1, 2]),
        **more,
    )


def check_it_answers_every_question(structure: type[Chain]) -> None:
    # Those two are for numbers and for graphs.
    assert structure.oracles == frozenset(Oracle) - {Oracle.MEAN, Oracle.CONDITIONALS}
    assert structure.exact


# --- Decoding -----------------------------------------------------------------------------------------------


def check_argmax(case: Case) -> None:
    best, labels = case.structure.argmax(case.scores)
    np.testing.assert_allclose(case.structure.score(case.scores, labels), best, rtol=1e-12, atol=1e-12)
    for i, (tokens, outputs) in enumerate(case.enumerations(case.scores)):
        assert best[i] == pytest.approx(outputs.best()[0], rel=1e-12, abs=1e-12)
        assert outputs.score_of(labels[tokens]) == pytest.approx(best[i], rel=1e-12, abs=1e-12)


def check_cost_augmented_argmax(case: Case, cost: float, missing: float) -> None:
    gold = case.labels(missing)
    best, labels = case.structure.cost_argmax(case.scores, gold, cost)
    for i, (tokens, outputs) in enumerate(case.enumerations(case.scores)):
        augmented = outputs.with_cost(gold[tokens], cost)
        assert best[i] == pytest.approx(augmented.best()[0], rel=1e-12, abs=1e-12)
        assert augmented.score_of(labels[tokens]) == pytest.approx(best[i], rel=1e-12, abs=1e-12)


def check_decoding_with_given_labels(case: Case, missing: float) -> None:
    given_labels = case.labels(missing)
    best, labels = case.structure.argmax(case.structure.constrain(case.scores, given_labels))
    assert np.all((labels == given_labels) | (given_labels < 0))
    for i, (tokens, outputs) in enumerate(case.enumerations(case.scores)):
        agreeing = outputs.agreeing(given_labels[tokens])
        assert best[i] == pytest.approx(agreeing.best()[0], rel=1e-12, abs=1e-12)


def check_minimum_risk(case: Case) -> None:
    """Of all possible labellings none has a larger sum of marginals."""
    labels = case.structure.minimum_risk(case.scores)
    for tokens, outputs in case.enumerations(case.scores):
        right = outputs.node_marginals()[np.arange(outputs.length), outputs.labellings].sum(axis=1)
        assert outputs.score_of(labels[tokens]) > -np.inf
        found = replace(outputs, scores=right).score_of(labels[tokens])
        assert found == pytest.approx(right[outputs.scores > -np.inf].max(), rel=1e-9, abs=1e-9)


def check_k_best(case: Case, k: int) -> None:
    values, labels = case.structure.kbest(case.scores, k)
    for i, (tokens, outputs) in enumerate(case.enumerations(case.scores)):
        np.testing.assert_allclose(values[:, i], outputs.k_best(k), rtol=1e-12, atol=1e-12)
        there = values[:, i] > -np.inf
        found = [tuple(row) for row in labels[there][:, tokens]]
        assert len(set(found)) == len(found) == min(k, np.isfinite(outputs.scores).sum())
        assert np.all(labels[~there][:, tokens] == -1)
        for row, value in zip(found, values[there, i], strict=True):
            assert outputs.score_of(np.array(row, int)) == pytest.approx(value, rel=1e-12, abs=1e-12)


# --- Sums ---------------------------------------------------------------------------------------------------


def single_sums(structure: Chain, steps: Any) -> Any:
    """Σ of step marginals (tokens × labels × labels) at single pairs."""
    layout = structure.layout
    out = np.zeros(layout.n_singles)
    if layout.row is None or layout.single_start is None or layout.single is None:
        return out
    for t in np.flatnonzero(layout.row >= 0).tolist():
        for e in range(*layout.single_start[layout.row[t] : layout.row[t] + 2].tolist()):
            pair = int(layout.single[e])
            out[e] += steps[t, pair >> 16, pair & 0xFFFF]
    return out


def expected_marginals(case: Case, scores: ChainParts) -> tuple[Any, ChainParts]:
    """log Z and marginals by their definition, every instance counted by its weight."""
    structure = case.structure
    n, Y = structure.n_tokens, structure.n_labels
    log_z, parts = np.zeros(structure.n_instances), case.zeros
    steps = np.zeros((n, structure.steps, Y, Y))
    for i, (tokens, outputs) in enumerate(case.enumerations(scores)):
        weight = 1.0 if structure.weights is None else structure.weights[i]
        log_z[i] = outputs.log_z
        parts.node[tokens] = weight * outputs.node_marginals()
        for s, before in enumerate(case.steps(outputs)):
            steps[tokens, s] = weight * replace(outputs, before=before).pair_marginals()
    kinds = structure.pair_kind.reshape(n, structure.steps)
    for t, s in np.argwhere(kinds >= 0).tolist():
        parts.pair[kinds[t, s]] += steps[t, s]
    parts.single = single_sums(structure, steps[:, 0])
    return log_z, parts


def check_marginals(case: Case, scores: ChainParts) -> None:
    wanted_z, wanted = expected_marginals(case, scores)
    log_z, parts = case.structure.marginals(scores)
    np.testing.assert_allclose(log_z, wanted_z, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts.node, wanted.node, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(parts.pair, wanted.pair, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(parts.single, wanted.single, rtol=1e-10, atol=1e-13)


def check_marginals_when_some_labels_are_given(case: Case, missing: float) -> None:
    check_marginals(case, case.structure.constrain(case.scores, case.labels(missing)))


def check_counting(case: Case) -> None:
    """With all scores zero, Z counts labellings."""
    count = [np.isfinite(outputs.scores).sum() for _, outputs in case.enumerations(case.zeros)]
    log_z, _ = case.structure.marginals(case.zeros)
    np.testing.assert_allclose(log_z, np.log(count), atol=1e-12)
    np.testing.assert_allclose(case.structure.log_outputs(), log_z, atol=1e-12)


def check_sampling_follows_the_marginals(case: Case) -> None:
    draws = case.structure.sample(case.scores, 20_000, seed=7)
    _, parts = case.structure.marginals(case.scores)
    shares = np.stack([(draws == y).mean(axis=0) for y in range(case.structure.n_labels)], axis=1)
    np.testing.assert_allclose(shares, parts.node, atol=0.015)  # four standard deviations
    for tokens, outputs in case.enumerations(case.scores):
        possible = outputs.labellings[outputs.scores > -np.inf]
        assert set(map(tuple, draws[:, tokens].tolist())) <= set(map(tuple, possible.tolist()))


def check_forbidden_pairs(case: Case) -> None:
    """Oracles give what is possible, or say that nothing is."""
    structure, enumerations = case.structure, list(case.enumerations(case.scores))
    if any(outputs.log_z == -np.inf for _, outputs in enumerations):
        for oracle in (structure.argmax, structure.marginals, structure.sample):
            with pytest.raises(ParsimonError, match="no possible labelling"):
                oracle(case.scores)
        return
    check_marginals(case, case.scores)
    best, labels = structure.argmax(case.scores)
    values, _ = structure.kbest(case.scores, 100)
    for i, (tokens, outputs) in enumerate(enumerations):
        assert best[i] == pytest.approx(outputs.best()[0])
        assert outputs.score_of(labels[tokens]) == pytest.approx(best[i])
        np.testing.assert_allclose(values[:, i], outputs.k_best(100))


# --- Parts --------------------------------------------------------------------------------------------------


def check_score_and_indicators(case: Case) -> None:
    """Indicators are the gradient of the score, and `add_output` takes them away again."""
    output, structure = case.labels(), case.structure
    attained = structure.score(case.scores, output)
    for i, (tokens, outputs) in enumerate(case.enumerations(case.scores)):
        assert attained[i] == pytest.approx(outputs.score_of(output[tokens]), rel=1e-12, abs=1e-11)
    parts = structure.indicators(output)
    inner = sum(np.sum(getattr(parts, each) * getattr(case, each)) for each in ("node", "pair", "single"))
    assert inner == pytest.approx(structure.weigh(attained), rel=1e-11, abs=1e-9)
    structure.add_output(parts, output, -1.0)
    for each in (parts.node, parts.pair, parts.single):
        np.testing.assert_allclose(each, 0, atol=1e-12)


def check_a_part_of_a_batch(case: Case, first: int) -> None:
    """The last instances alone give what they give among all, if all steps are scored by the same matrix."""
    structure = case.structure
    part, where = structure.part(first, structure.n_instances)
    everywhere = structure.with_layout(PairLayout(np.zeros_like(structure.layout.kind), 1))
    best, labels = part.argmax(ChainParts(case.node[where], case.pair[:1]))
    best_of_all, labels_of_all = everywhere.argmax(ChainParts(case.node, case.pair[:1]))
    np.testing.assert_array_equal(labels, labels_of_all[where])
    np.testing.assert_allclose(best, best_of_all[first:])
    log_z, _ = part.marginals(ChainParts(case.node[where].copy(), case.pair[:1]))
    log_z_of_all, _ = everywhere.marginals(ChainParts(case.node.copy(), case.pair[:1]))
    np.testing.assert_allclose(log_z, log_z_of_all[first:])
