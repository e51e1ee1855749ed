"""Parsers at work."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.tasks.parsing.model import DECODINGS
from toy_parser import learnt, treebank


@pytest.mark.parametrize("decoding", DECODINGS)
def test_trees_marginals_and_the_best_trees_agree(decoding: str) -> None:
    model, bank = learnt(), treebank(2)
    heads = model.decode(bank, decoding=decoding)
    assert heads.tolist() == bank.heads.tolist()
    marginals, log_z = model.marginals(bank)
    for table in marginals:
        np.testing.assert_allclose(table.sum(axis=1), 1.0)
    values, best = model.kbest(bank, 3)
    assert np.array_equal(best[0], model.decode(bank))
    assert np.all(np.exp(values).sum(axis=0) <= 1 + 1e-9)
    assert np.all(np.isfinite(log_z))


def test_heads_that_are_given_stay() -> None:
    model, bank = learnt(), treebank(1)
    wrong = bank.with_heads(np.array([0, -1, -1], np.int32), bank.relations)
    assert model.decode(wrong, given_heads=True)[0] == 0


def test_relations_follow_heads() -> None:
    model, bank = learnt(), treebank(1)
    names = model.name_relations(bank, bank.heads)
    assert names is not None
    assert next(iter(names)) == ["nsubj", "root", "advmod"]
    assert learnt(relations=None).name_relations(bank, bank.heads) is None


def test_a_decoding_that_is_not_there() -> None:
    with pytest.raises(ParsimonError, match="decoding must be one of"):
        learnt().decode(treebank(1), decoding="viterbi")
