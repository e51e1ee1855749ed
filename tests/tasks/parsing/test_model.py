"""Parser models: trees, their probabilities, and heads that are given."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.structures import is_projective
from parsimon.tasks.parsing.model import ParserModel, index_of_arcs, observe_arcs
from parsimon.tasks.parsing.training import ParserTraining
from toy_treebanks import grammar, random_treebank

TEST = grammar(8, seed=1)


@cache
def model(projective: bool = False, single_root: bool | None = None) -> ParserModel:
    training = ParserTraining(
        loss="log",
        solver="lbfgs",
        l2=0.5,
        max_iter=15,
        relations=None,
        projective=projective,
        single_root=single_root,
    )
    return training.fit(ArcFeatures(arc_preset("mcdonald"), 1), grammar(15))


@pytest.mark.parametrize("projective", [True, False])
def test_marginals_are_probabilities_of_heads(projective: bool) -> None:
    marginals, log_z = model(projective).marginals(TEST)
    assert len(marginals) == len(log_z) == len(TEST)
    for each, n in zip(marginals, TEST.lengths.tolist(), strict=True):
        assert each.shape == (n, n + 1)
        np.testing.assert_allclose(each.sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.parametrize("projective", [True, False])
def test_the_best_of_the_k_best_is_what_is_predicted(projective: bool) -> None:
    values, heads = model(projective).kbest(TEST, 3)
    assert np.array_equal(heads[0], model(projective).decode(TEST))
    assert np.all(np.diff(values, axis=0) <= 1e-12)
    assert np.all(np.exp(values).sum(axis=0) <= 1 + 1e-9)
    if projective:
        assert all(is_projective(each) for each in np.split(heads[1], np.cumsum(TEST.lengths)[:-1]))


def test_heads_that_are_given_stay_and_need_not_be_those_of_the_treebank() -> None:
    heads = TEST.heads.copy()
    heads[::2] = -1
    given = TEST.with_heads(heads, TEST.relations)
    found = model().decode(given, given_heads=True)
    assert np.array_equal(found[1::2], TEST.heads[1::2])
    marginals, _ = model().marginals(given, given_heads=True)
    p = np.concatenate(
        [
            m[np.arange(len(m)), h]
            for m, h in zip(marginals, np.split(heads, np.cumsum(TEST.lengths)[:-1]), strict=True)
        ]
    )
    np.testing.assert_allclose(p[1::2], 1.0)


def test_given_heads_that_no_tree_has() -> None:
    crossing = random_treebank(5, (9,) * 10, single_root=True)
    with pytest.raises(
        ParsimonError, match="is given with arcs that cross, which this parser does not allow"
    ):
        model(True).decode(crossing, given_heads=True)
    many = TEST.with_heads(np.zeros_like(TEST.heads), TEST.relations)
    with pytest.raises(ParsimonError, match="sentence 1 is given with several words at the root"):
        model().decode(many, given_heads=True)


def test_mistakes_and_threads() -> None:
    with pytest.raises(ParsimonError, match="decoding must be one of mst, minimum-risk, not 'best'"):
        model().decode(TEST, decoding="best")
    assert np.array_equal(model().decode(TEST, threads=2), model().decode(TEST))
    assert model().name_relations(TEST, TEST.heads) is None
    assert np.array_equal(model().parse(TEST).heads, model().decode(TEST))


def test_attributes_of_arcs_are_those_of_words_with_heads() -> None:
    space = model().space
    heads = TEST.heads.copy()
    seen = observe_arcs(space, TEST, heads)
    assert len(seen.lengths) == TEST.n_tokens
    heads[3] = -1
    fewer = observe_arcs(space, TEST, heads, space.observe(TEST))
    counts = np.diff(fewer.node.start), np.diff(seen.node.start)
    assert counts[0][3] == 0
    assert np.array_equal(np.delete(counts[0], 3), np.delete(counts[1], 3))
    assert index_of_arcs(space).n_features == space.n_node
