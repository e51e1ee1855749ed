"""Φ of a parser: a linear map and its transpose, gradients of losses, and training by solvers of all kinds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from parsimon.designs.arcs import build_arcs
from parsimon.errors import ParsimonError
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.features.arc_templates import ArcTemplates
from parsimon.losses import get_loss
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso
from parsimon.problem import Batch, InMemoryProblem
from parsimon.solvers import SOLVERS, Weights, choose_solver, drive
from parsimon.solvers.capabilities import first_missing
from parsimon.structures import ArcParts
from parsimon.tasks.parsing.model import index_of_arcs
from parsimon.tasks.parsing.training import ParserTraining
from toy_treebanks import attributes_of_arc, grammar, random_treebank

TEMPLATES = ArcTemplates.parse(
    "h.upos+m.upos+dir\nm.form\nh.upos+b.upos+dist\nh.feat+m.feat\nh.form+dir+dist\nbias"
)


def made(treebank, arcs=30, *, projective=False, single_root=False, weights=None, threads=1):
    space = ArcFeatures(TEMPLATES)
    sentences = space.learn(treebank)
    built = build_arcs(
        space.dictionary, sentences, treebank.lengths, projective=projective, single_root=single_root,
        weights=weights, threads=threads, arcs=arcs,
    )  # fmt: skip
    batches = tuple(Batch(design, trees, treebank.heads[tokens]) for _, tokens, design, trees in built)
    return space, batches


def dense(design):
    """Φ as a matrix."""
    columns = []
    for k in range(design.n_features):
        w = np.zeros(design.n_features)
        w[k] = 1.0
        columns.append(design.scores(w).arc)
    return np.array(columns).T


def test_scores_and_pullback_are_one_linear_map():
    treebank = random_treebank(3)
    _, batches = made(treebank)
    assert len(batches) > 2
    random = np.random.default_rng(0)
    for batch in batches:
        matrix = dense(batch.design)
        assert set(np.unique(matrix)) <= {0.0, 1.0}
        w, parts = random.normal(size=matrix.shape[1]), random.normal(size=matrix.shape[0])
        np.testing.assert_allclose(batch.design.scores(w).arc, matrix @ w, atol=1e-12)
        out, squared = np.ones(matrix.shape[1]), np.zeros(matrix.shape[1])
        batch.design.pullback(ArcParts(parts), out)
        batch.design.pullback_squared(ArcParts(parts), squared)
        np.testing.assert_allclose(out, 1 + matrix.T @ parts, atol=1e-12)
        np.testing.assert_allclose(squared, (matrix**2).T @ parts, atol=1e-12)
        some = np.flatnonzero(random.random(len(w)) < 0.4)
        np.testing.assert_allclose(batch.design.restrict(some).scores(w[some]).arc, matrix[:, some] @ w[some])
        np.testing.assert_allclose(batch.design.scores_of(w[some], some).arc, matrix[:, some] @ w[some])


def test_parts_of_a_batch_and_differences():
    treebank = random_treebank(4, (3, 2, 5, 4))
    _, (batch,) = made(treebank, arcs=1000)
    matrix = dense(batch.design)
    part = batch.part(1, 3)
    assert part.gold.tolist() == treebank.heads[3:10].tolist()
    np.testing.assert_array_equal(dense(part.design), matrix[12 : 12 + 6 + 30])
    again = part.part(1, 2)
    np.testing.assert_array_equal(dense(again.design), matrix[18:48])
    _, output = batch.structure.argmax(ArcParts(np.random.default_rng(0).normal(size=len(matrix))))
    ((first, start, index, value),) = batch.design.differences(batch.structure, batch.gold, output)
    assert first == 0
    for i, (a, b) in enumerate(pairwise(start)):
        one, where = batch.structure.part(i, i + 1)
        gold, other = one.indicators(batch.gold[where]), one.indicators(output[where])
        expected = np.zeros(batch.design.n_features)
        batch.part(i, i + 1).design.pullback(ArcParts(gold.arc - other.arc), expected)
        found = np.zeros(batch.design.n_features)
        found[index[a:b]] = value[a:b]
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("loss", ["log", "hinge", "perceptron"])
@pytest.mark.parametrize("projective", [False, True])
def test_gradients_by_finite_differences(loss, projective):
    treebank = grammar(6)
    weights = np.array([1.0, 0.5, 2.0, 1.0, 0.0, 1.5])
    _, batches = made(treebank, projective=projective, single_root=True, weights=weights)
    n = batches[0].design.n_features
    problem = InMemoryProblem(batches, get_loss(loss), L2(0.0), n)
    w = np.random.default_rng(1).normal(size=n)
    _, gradient = problem.loss_and_gradient(w)
    for k in range(n):
        step = np.zeros(n)
        step[k] = 1e-6
        slope = (problem.loss_and_gradient(w + step)[0] - problem.loss_and_gradient(w - step)[0]) / 2e-6
        assert slope == pytest.approx(gradient[k], abs=1e-5)


def test_the_same_bits_for_any_number_of_threads():
    treebank = random_treebank(6, tuple(range(1, 18)))
    found = []
    for threads in (1, 2, 3):
        _, batches = made(treebank, arcs=500, threads=threads)
        problem = InMemoryProblem(batches, get_loss("log"), L2(0.0), batches[0].design.n_features)
        w = np.random.default_rng(2).normal(size=problem.n_features)
        loss, gradient = problem.loss_and_gradient(w)
        found.append((loss, gradient.tobytes()))
    assert found[0] == found[1] == found[2]


PENALTIES = {
    "L2": ElasticNet(l1=0.0, l2=0.5),
    "L1": L1(0.3),
    "elastic net": ElasticNet(l1=0.2, l2=0.2),
    "templates": GroupLasso(0.3, l2=0.1),
}


@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
def test_convex_solvers_agree(penalty):
    treebank = random_treebank(8, (3, 4, 2, 5, 3))
    training = ParserTraining(loss="log", penalty=penalty)
    task = training.prepare(ArcFeatures(TEMPLATES), treebank)
    found = {}
    for name in ("lbfgs", "working-set", "owlqn", "block-working-set", "fista"):
        if first_missing(SOLVERS[name]().requires, task.problem) is None:
            solver = choose_solver(name, task.problem, 1e-7)
            result = drive(solver, task.problem, Weights.zeros(task.problem.n_features))
            found[name] = result.objective
    assert len(found) >= 2
    assert max(found.values()) - min(found.values()) < 1e-5 * min(found.values())


def test_a_group_lasso_drops_whole_templates():
    training = ParserTraining(loss="log", solver="auto", penalty=GroupLasso(1.0, l2=0.1), relations=None)
    model = training.fit(ArcFeatures(arc_preset("mcdonald")), grammar(20))
    kept = len(model.space.templates)
    assert 0 < kept < 40
    assert model.decode(grammar(20)).tolist() == grammar(20).heads.tolist()


def test_what_needs_sequences_is_refused():
    task = ParserTraining().prepare(ArcFeatures(TEMPLATES), random_treebank(1))
    with pytest.raises(ParsimonError, match=r"sgd-l1 needs sequences to label; use .*mira"):
        choose_solver("sgd-l1", task.problem)
    with pytest.raises(ParsimonError, match="bcd needs"):
        choose_solver(
            "bcd", InMemoryProblem(task.problem.batches, get_loss("log"), L1(1.0), task.problem.n_features)
        )


def test_one_feature_an_attribute():
    space, _ = made(random_treebank(2))
    index = index_of_arcs(space)
    assert index.n_features == space.n_node
    assert index.node.starts().tolist() == list(range(space.n_node + 1))


def test_information_gain_is_that_of_counted_arcs():
    treebank = random_treebank(12, (4, 3, 5))
    task = ParserTraining().prepare(ArcFeatures(TEMPLATES), treebank)
    known = set(task.space.node_names(np.arange(task.space.n_node)))
    offsets = np.concatenate([[0], np.cumsum(treebank.lengths)])
    arcs = [
        (i, h, m, bool(treebank.heads[offsets[i] + m - 1] == h))
        for i, n in enumerate(treebank.lengths.tolist())
        for m in range(1, n + 1)
        for h in range(n + 1)
        if h != m
    ]
    share = {a: np.mean([present == a for *_, present in arcs]) for a in (True, False)}
    expected = []
    for template in TEMPLATES:
        joint: dict[tuple[str, bool], float] = {}
        for i, h, m, present in arcs:
            for name in attributes_of_arc(template, treebank, i, h, m):
                if name in known:
                    joint[name, present] = joint.get((name, present), 0.0) + 1 / len(arcs)
        bits = 0.0
        for (name, present), p in joint.items():
            fires = joint.get((name, True), 0.0) + joint.get((name, False), 0.0)
            bits += p * np.log2(p / (fires * share[present]))
        expected.append(bits)
    np.testing.assert_allclose(task.gains(), expected, atol=1e-12)
