"""Learning the relations of words to their heads."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.features.arc_presets import arc_preset
from parsimon.features.columns import Labels
from parsimon.solvers import Online, PassiveAggressive, Weights, drive
from parsimon.tasks.parsing.model import observe_arcs
from parsimon.tasks.parsing.relations import RelationTask, relation_names
from toy_treebanks import grammar

TEMPLATES = arc_preset("relations")


def named(names: list[str]) -> Labels:
    treebank = grammar(5)
    given = (names * treebank.n_tokens)[: treebank.n_tokens]
    return Labels.from_sequences(
        [given[e - n : e] for e, n in zip(np.cumsum(treebank.lengths), treebank.lengths, strict=True)]
    )


def test_relations_of_given_trees_are_learnt() -> None:
    treebank, test = grammar(40), grammar(10, seed=1)
    task = RelationTask.of(TEMPLATES, treebank)
    assert task is not None
    assert task.problem.n_instances == treebank.n_tokens
    result = drive(Online(5, step=PassiveAggressive()), task.problem, Weights.zeros(task.problem.n_features))
    model = task.model(result.weights)
    ids = model.decode(observe_arcs(model.space, test, test.heads))  # type: ignore[arg-type]
    gold = test.relations
    right = [model.labels[i] == gold.names[g] for i, g in zip(ids.tolist(), gold.ids.tolist(), strict=True)]
    assert np.mean(right) > 0.95


def test_weights_of_sentences_are_those_of_their_words() -> None:
    treebank = grammar(6)
    weights = np.arange(6.0)
    task = RelationTask.of(TEMPLATES, treebank, weights)
    one, whole = RelationTask.of(TEMPLATES, treebank, np.ones(6)), RelationTask.of(TEMPLATES, treebank)
    assert task is not None
    assert one is not None
    assert whole is not None
    w = np.random.default_rng(0).normal(size=whole.problem.n_features)
    assert one.problem.objective(w) == pytest.approx(whole.problem.objective(w))
    assert task.problem.objective(w) != pytest.approx(whole.problem.objective(w))


def test_trees_without_relations_have_nothing_to_learn() -> None:
    treebank = grammar(5)
    bare = treebank.with_heads(treebank.heads, named(["_"]))
    assert relation_names(bare) == ()
    assert RelationTask.of(TEMPLATES, bare) is None


def test_some_words_without_relation_are_refused() -> None:
    treebank = grammar(5)
    mixed = treebank.with_heads(treebank.heads, named(["subj", "_"]))
    with pytest.raises(ParsimonError, match="words without relation, but others have one"):
        relation_names(mixed)


def test_names_are_in_the_order_of_the_text() -> None:
    treebank = grammar(5)
    assert relation_names(treebank.with_heads(treebank.heads, named(["b", "a", "c"]))) == ("b", "a", "c")
