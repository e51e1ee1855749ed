"""Φ of second-order chains against the features of whole taggings, counted one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.designs.feature_index import FeatureIndex
from parsimon.designs.second_order import FewStepsDesign, SecondOrderDesign, build_second_order
from parsimon.designs.tag_labels import TagLabels
from parsimon.features.observations import Observations, Rows
from parsimon.structures import ChainParts
from parsimon.structures.label_pairs import LabelPairs
from parsimon.structures.label_schemes import Transitions

KINDS = [(True, False), (True, True), (False, True)]  # features of tags, of pairs


def made(seed: int, single: bool, paired: bool, *, kinds: int = 3, lengths: Any = (4, 0, 1, 5)) -> Any:
    rng = np.random.default_rng(seed)
    possible = rng.random((4, 3)) < 0.7
    possible[:, 0] = True
    labels = TagLabels(LabelPairs.of(possible), single)
    n = sum(lengths)
    node = Rows.from_table(rng.integers(-1, 4, size=(n, 2)).astype(np.int32))
    node = Rows(node.start, node.index, rng.uniform(0.5, 2, len(node.index)))
    step = Rows.from_table(rng.integers(-1, kinds, size=(n, 2)).astype(np.int32))
    observations = Observations(node, step, np.array(lengths))
    index = FeatureIndex.second_order(labels, 4, kinds, paired=paired)
    return observations, index


def of_tagging(observations: Any, index: FeatureIndex, tags: Any) -> Any:
    """The features of an output, by the definition of each."""
    labels, out = index.tags, np.zeros(index.n_features)
    assert labels is not None
    pairs, Y, n = labels.pairs, labels.n_tag_labels, labels.n_labels
    before, last = observations.before, {}
    for t, tag in enumerate(tags):
        pair = int(pairs.number(np.array(-1 if before[t] < 0 else tags[before[t]]), np.array(tag)))
        last[t] = pair
        columns = [tag] * labels.single + [Y + pair] * (index.node.width > Y)
        steps = []
        if before[t] >= 0:
            steps = [(Y + last[t - 1]) * n + Y + pair] + [tags[t - 1] * n + tag] * labels.single
        for rows, features, cs, shift in (
            (observations.node, index.node, columns, 0),
            (observations.pair, index.pair, steps, index.node.n_features),
        ):
            for j in range(rows.start[t], rows.start[t + 1]):
                for c in cs:
                    k = int(features.find(np.array([rows.index[j]], np.int64), np.array([c], np.int32))[0])
                    out[shift + k] += 1.0 if rows.value is None else rows.value[j]
    return out


@pytest.mark.parametrize(("single", "paired"), KINDS)
@pytest.mark.parametrize("kinds", [1, 3, 40])
def test_scores_pullback_restriction_and_differences(single: bool, paired: bool, kinds: int) -> None:
    rng = np.random.default_rng(1)
    observations, index = made(2, single, paired, kinds=kinds, lengths=(4, 0, 1, 5) + (12,) * (kinds // 10))
    design, chain = build_second_order(observations, index)
    assert type(design) is (FewStepsDesign if design.steps.n_rows <= 16 else SecondOrderDesign)
    w = rng.normal(size=design.n_features)
    one, two = chain.sample(chain._zeros(), 2, seed=3)
    f_one, f_two = (of_tagging(observations, index, tags) for tags in (one, two))
    assert chain.score(design.scores(w), one).sum() == pytest.approx(w @ f_one)
    found = np.zeros(len(w))
    design.pullback(chain.indicators(one), found)
    np.testing.assert_allclose(found, f_one, atol=1e-12)
    some = np.flatnonzero(rng.random(len(w)) < 0.4)
    small = design.restrict(some)
    few = small.adapt(chain)
    assert few.score(small.scores(w[some]), two).sum() == pytest.approx(w[some] @ f_two[some])
    spread = design.scores_of(w[some], some)
    assert chain.score(spread, two).sum() == pytest.approx(w[some] @ f_two[some])
    found = np.zeros(len(some))
    small.pullback(few.indicators(two), found)
    np.testing.assert_allclose(found, f_two[some], atol=1e-12)
    total = np.zeros(len(w))
    for offset, start, feature, value in design.differences(chain, one, two):
        assert len(start) == chain.n_instances + 1
        np.add.at(total, offset + feature, value)
    np.testing.assert_allclose(total, f_one - f_two, atol=1e-12)


@pytest.mark.parametrize(("single", "paired"), KINDS)
def test_screening_finds_what_the_gradient_shows(single: bool, paired: bool) -> None:
    rng = np.random.default_rng(4)
    given, wanted = [], 0.0
    for seed in (5, 5):
        observations, index = made(seed, single, paired)
        design, chain = build_second_order(observations, index)
        assert isinstance(design, FewStepsDesign)
        some = np.flatnonzero(rng.random(design.n_features) < 0.3)
        w = rng.normal(size=len(some))
        small = design.restrict(some).with_own_memory()
        few = small.adapt(chain).with_own_memory()
        _, parts = few.marginals(small.scores(w))
        gradient = np.zeros(design.n_features)
        _, whole = chain.marginals(design.scores_of(w, some))
        design.pullback(whole, gradient)
        wanted = wanted + gradient
        given.append((design, few, parts))
    features, values = given[0][0].screen(given, 0.4)
    np.testing.assert_array_equal(features, np.flatnonzero(np.abs(wanted) > 0.4))
    np.testing.assert_allclose(values, np.asarray(wanted)[features], atol=1e-12)


@pytest.mark.parametrize(("single", "paired"), KINDS)
def test_what_is_forbidden_scores_minus_infinity(single: bool, paired: bool) -> None:
    observations, index = made(6, single, paired)
    start, end, pair = np.array([1, 1, 0], bool), np.array([1, 0, 1], bool), np.ones((3, 3), bool)
    pair[0, 1] = pair[1, 1] = False
    design, chain = build_second_order(observations, index, allowed=Transitions(start, end, pair))
    plain, _ = build_second_order(observations, index)
    w = np.random.default_rng(7).normal(size=design.n_features)
    every = chain.sample(chain._zeros(), 300, seed=1)
    for tags in every:
        values = chain.score(design.scores(w), tags)
        free = chain.score(plain.scores(w), tags)
        for i, (a, b) in enumerate(zip(chain.offsets[:-1], chain.offsets[1:], strict=True)):
            own = tags[a:b]
            fine = len(own) == 0 or bool(start[own[0]] and end[own[-1]] and pair[own[:-1], own[1:]].all())
            assert values[i] == (pytest.approx(free[i]) if fine else -np.inf)


def test_parts_of_a_batch() -> None:
    observations, index = made(8, True, True)
    design, chain = build_second_order(observations, index)
    w = np.random.default_rng(9).normal(size=design.n_features)
    part, where = chain.part(2, 4)
    small = design.part(where)
    few = small.adapt(part)
    log_z, _ = chain.marginals(design.scores(w))
    mine, parts = few.marginals(small.scores(w))
    np.testing.assert_allclose(mine, log_z[2:])
    assert isinstance(parts, ChainParts)
    small.pullback_squared(few.variances(parts.node), out := np.zeros(design.n_features))
    assert np.all(out >= 0)
    assert out.any()
