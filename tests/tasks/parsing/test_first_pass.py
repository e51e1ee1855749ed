"""The first pass of a parser: which arcs it leaves, how it is learnt, and that nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from damaged_headers import refused
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.features.arc_templates import ArcTemplates
from parsimon.losses import get_loss
from parsimon.solvers import Online, PassiveAggressive, Weights, drive
from parsimon.structures.arborescence import Arborescence, check_tree
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.parsing import first_pass as module
from parsimon.tasks.parsing.first_pass import KEPT, FirstPass, FirstPassTask
from parsimon.tasks.parsing.model import ParserModel
from parsimon.tasks.parsing.training import ParserTraining
from toy_treebanks import grammar, random_treebank

TEMPLATES = ArcTemplates.parse(
    "h.upos+m.upos+dir+dist\nh.form+m.form\nm.upos+dist\nh.upos+b.upos+m.upos\nbias"
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A margin is chosen by a few words already."""
    monkeypatch.setattr(module, "LEAST_WORDS", 20)


@cache
def model(loss: str = "hinge", threads: int = 1, projective: bool = False) -> ParserModel:
    training = ParserTraining(
        max_iter=3,
        loss=loss,
        solver="sgd" if loss == "log" else "mira",
        n_jobs=threads,
        projective=projective,
    )
    return training.fit(ArcFeatures(TEMPLATES), grammar(80))


def left_of(first_pass: FirstPass, treebank):
    """Which arcs are left, as one table of words × heads for each sentence."""
    tables = []
    for _, trees, scores in first_pass.scored(treebank):
        start, heads = trees.listed(trees.near_best(scores, first_pass.margin))
        for i, n in enumerate(trees.lengths.tolist()):
            table = np.zeros((n, n + 1), bool)
            for m in range(n):
                token = int(trees.offsets[i]) + m
                table[m, heads[start[token] : start[token + 1]]] = True
            tables.append(table)
    return tables


def test_a_first_pass_that_leaves_everything_changes_nothing():
    test = grammar(30, seed=5)
    there = model()
    assert there.first_pass is not None
    all_left = replace(there, first_pass=replace(there.first_pass, margin=1e9))
    unpruned = replace(there, first_pass=None)
    assert all_left.parse(test).to_bytes() == unpruned.parse(test).to_bytes()
    for a, b in zip(all_left.marginals(test)[0], unpruned.marginals(test)[0], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(all_left.kbest(test, 3)[0], unpruned.kbest(test, 3)[0])


def test_what_is_left_is_scored_as_before_and_the_rest_is_impossible():
    test = random_treebank(12, (1, 3, 9, 6, 14))
    there = model()
    tables = left_of(there.first_pass, test)
    assert 0.05 < np.mean(np.concatenate([t.ravel() for t in tables])) < 0.9
    pruned, whole = (
        np.concatenate([scores.arc for *_, scores in each.scored(test)])
        for each in (there, replace(there, first_pass=None))
    )
    left = np.concatenate([table.ravel() for table in tables])
    np.testing.assert_array_equal(pruned[left], whole[left])
    assert np.all(pruned[~left] == -np.inf)


@pytest.mark.parametrize("projective", [False, True])
def test_marginals_of_what_is_left_by_enumeration(projective):
    """All trees of what is left, one by one."""
    from itertools import product

    there = replace(model("log"), projective=projective)
    test = grammar(6, seed=9)
    test = test[test.lengths <= 6]
    assert len(test)
    marginals, log_z = there.marginals(test)
    scores = next(scores.arc for *_, scores in there.scored(test))
    tables, at = left_of(there.first_pass, test), 0
    for i, (table, found) in enumerate(zip(tables, marginals, strict=True)):
        n = len(table)
        s = scores[at : at + n * (n + 1)].reshape(n, n + 1)
        at += n * (n + 1)
        total, expected = 0.0, np.zeros_like(s)
        for heads in product(*(np.flatnonzero(row) for row in table)):
            if not is_tree(heads, projective):
                continue
            weight = np.exp(sum(s[m, h] for m, h in enumerate(heads)))
            total += weight
            expected[np.arange(n), heads] += weight
        assert log_z[i] == pytest.approx(np.log(total))
        np.testing.assert_allclose(found, expected / total, atol=1e-9)


def is_tree(heads, projective):
    from parsimon.errors import ParsimonError
    from parsimon.structures import is_projective

    try:
        check_tree(heads)
    except ParsimonError:
        return False
    return not projective or is_projective(np.array(heads))


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
def test_there_is_always_a_tree(projective, single_root):
    random = np.random.default_rng(3)
    lengths = [1, 2, 5, 9, 4]
    trees = Arborescence(lengths, projective=projective, single_root=single_root)
    from parsimon.structures import ArcParts

    for _ in range(20):
        scores = random.normal(size=trees.n_arcs)
        near = trees.near_best(ArcParts(scores.copy()), 0.0)
        assert near.sum() <= 2 * trees.n_tokens
        best, _ = trees.argmax(ArcParts(np.where(near, scores, -np.inf)))
        assert np.isfinite(best).all()


def test_listed_arcs_are_heads_in_ascending_order():
    trees = Arborescence([2, 1])
    start, heads = trees.listed(np.array([True, False, True, False, True, False, True, False]))
    assert start.tolist() == [0, 2, 3, 4]
    assert heads.tolist() == [0, 2, 1, 0]


def test_the_margin_leaves_as_many_right_arcs_as_is_said():
    treebank = random_treebank(7, tuple([7] * 200))
    task = FirstPassTask.of(treebank, single_root=False)
    assert task is not None
    random = np.random.default_rng(0)
    found = task.first_pass(
        Weights(random.normal(size=task.problem.n_features), None, task.problem.n_features)
    )
    gold, token = task.held_out.heads, 0
    kept = 0
    for _, trees, scores in found.scored(task.held_out):
        for n in trees.lengths.tolist():
            for m in range(n):
                row = scores.arc[token * (n + 1) : (token + 1) * (n + 1)].copy()  # all have the same length
                row[m + 1] = -np.inf
                kept += row[gold[token]] >= row.max() - found.margin
                token += 1
    assert KEPT <= kept / len(gold) < KEPT + 0.02
    assert found.margin > 0


def only_near_best(task, first_pass, treebank):
    """The problem of a task with the arcs that are left and those of the gold trees."""
    near = [
        (
            trees,
            trees.near_best(scores, first_pass.margin) | (trees.indicators(treebank.heads[tokens]).arc > 0),
        )
        for tokens, trees, scores in first_pass.scored(treebank)
    ]
    ((trees, left),) = near
    (batch,) = task.problem.batches
    sentences = batch.design.sentences.only(*trees.listed(left))
    return replace(
        task.problem, batches=(replace(batch, design=replace(batch.design, sentences=sentences)),)
    ), left


def test_learning_may_have_a_mask_of_arcs():
    treebank = random_treebank(4, tuple(range(1, 12)))
    strict = replace(model().first_pass, margin=0.0)
    task = ParserTraining(single_root=False).prepare(ArcFeatures(TEMPLATES), treebank)
    masked, left = only_near_best(task, strict, treebank)
    for batch in masked.batches:
        scores = batch.design.scores(np.zeros(masked.n_features))
        assert np.isfinite(batch.structure.score(scores, batch.gold)).all()
        assert np.isneginf(scores.arc).any()
    for loss, solver in (("hinge", Online(2, step=PassiveAggressive())), ("log", Online(2))):
        problem = replace(masked, loss=get_loss(loss).bind(("arc",)))
        weights = drive(solver, problem, Weights.zeros(problem.n_features)).weights
        assert weights.n_active
        assert np.isfinite(weights.values).all()
        heads = np.concatenate(list(problem.predict(weights)))
        assert left[batch.structure.places(heads)].all()


def test_gradients_of_what_is_left_by_finite_differences():
    treebank = grammar(5)
    task = ParserTraining(loss="log", l2=0.1).prepare(ArcFeatures(TEMPLATES), treebank)
    problem, _ = only_near_best(task, model().first_pass, treebank)
    w = np.random.default_rng(1).normal(size=problem.n_features)
    _, gradient = problem.loss_and_gradient(w)
    for k in range(0, problem.n_features, 3):
        step = np.zeros(problem.n_features)
        step[k] = 1e-6
        slope = (problem.loss_and_gradient(w + step)[0] - problem.loss_and_gradient(w - step)[0]) / 2e-6
        assert slope == pytest.approx(gradient[k], abs=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_the_same_bits_for_any_number_of_threads(loss):
    assert dump_model(model(loss, 1)) == dump_model(model(loss, 3))
    test = grammar(20, seed=3)
    assert model(loss).parse(test, threads=1).to_bytes() == model(loss).parse(test, threads=3).to_bytes()


def test_given_heads_are_kept_whatever_the_first_pass_says():
    there = model()
    strict = replace(there, first_pass=replace(there.first_pass, margin=0.0))
    test = grammar(10, seed=2)
    other = replace(there, first_pass=None)
    assert strict.decode(test, given_heads=True).tolist() == test.heads.tolist()
    some = test.with_heads(np.where(np.arange(test.n_tokens) % 3 == 0, test.heads, -1))
    assert strict.decode(some, given_heads=True).tolist() == other.decode(some, given_heads=True).tolist()


def test_there_is_none_if_there_is_too_little_to_choose_by_or_it_is_not_wanted(monkeypatch):
    space = ArcFeatures(arc_preset("mcdonald"))
    assert ParserTraining(max_iter=1, first_pass=False).fit(space, grammar(80)).first_pass is None
    monkeypatch.setattr(module, "LEAST_WORDS", 1000)
    assert ParserTraining(max_iter=1).fit(space, grammar(80)).first_pass is None


def test_it_is_in_the_file_and_damage_is_refused():
    there = model()
    back = parse_model(dump_model(there))
    assert back.first_pass.margin == there.first_pass.margin
    test = grammar(10, seed=4)
    assert back.parse(test).to_bytes() == there.parse(test).to_bytes()
    for margin in (None, -1.0, "1", 3, float("inf")):
        assert "margin" in refused(there, lambda h, t, m=margin: h["first_pass"].update(margin=m))
    for wrong in (3, [], {"margin": 1.0}, {"arcs": {}, "margin": 1.0}):
        assert "damaged" in refused(there, lambda h, t, w=wrong: h.update(first_pass=w))
    assert "damaged" in refused(there, lambda h, t: t.pop("first_pass.weights"))
    labels = lambda h, t: h["first_pass"]["arcs"].update(labels=["a", "b"])  # noqa: E731
    assert "damaged" in refused(there, labels)
