"""Online learning on trees against a twin that keeps all weights in a plain vector."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_templates import ArcTemplates
from parsimon.losses import get_loss
from parsimon.penalties import L1, L2, GroupLasso
from parsimon.penalties.groupings import ByTemplate
from parsimon.solvers import Budget, Decreasing, Monitor, Online, PassiveAggressive, Weights, drive
from parsimon.structures import Arborescence, ArcParts
from parsimon.tasks.parsing.training import ParserTraining
from toy_treebanks import grammar, random_treebank

TEMPLATES = ArcTemplates.parse(
    "h.upos+m.upos+dir\nm.form\nh.upos+b.upos+dist\nh.feat+m.feat\nh.form+dir+dist\nh.lemma+m.lemma\nbias"
)
LENGTHS = (3, 1, 4, 6, 2, 5)
KINDS = {"crossing": (False, False), "one root": (False, True), "projective": (True, False)}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
LEARNERS = {
    "perceptron": ("perceptron", Decreasing()),
    "MIRA": ("hinge", PassiveAggressive(0.05)),
    "hinge": ("hinge", Decreasing(0.3)),
    "CRF": ("log", Decreasing(0.2)),
}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


@dataclass
class Twin:
    """The same rounds with Φ as a matrix."""

    task: Any
    loss: str
    step: Any
    every: int
    shrink: Any = None

    def run(self, epochs: int) -> tuple[Any, Any]:
        batches = [batch.part(i, i + 1) for batch in self.task.problem.batches
                   for i in range(batch.structure.n_instances)]  # fmt: skip
        n = self.task.problem.n_features
        w, total, counted, rounds = np.zeros(n), np.zeros(n), 0, 0
        for epoch in range(epochs):
            for batch in batches:
                w = w + self.change(batch, w, self.step.size(epoch))
                rounds += 1
                if epoch >= int(epochs / 3 + 1e-9):
                    total, counted = total + w, counted + 1
                last = rounds == epochs * len(batches)
                if self.shrink is not None and (rounds % self.every == 0 or last):
                    w = self.shrink(w, self.step.size(epoch), self.every / len(batches))
        return w, total / counted

    def change(self, batch: Any, w: Any, size: float) -> Any:
        trees: Arborescence = batch.structure
        value, parts = get_loss(self.loss)(trees, batch.design.scores(w), batch.gold)
        if self.loss != "log":
            cost = 1.0 if self.loss == "hinge" else 0.0
            _, output = trees.cost_argmax(batch.design.scores(w), batch.gold, cost)
            assert np.array_equal(parts.arc, trees.indicators(output).arc - trees.indicators(batch.gold).arc)
        change = np.zeros(len(w))
        batch.design.pullback(ArcParts(-parts.arc), change)
        if self.step.passive_aggressive:
            size = min(size, value / (change @ change)) if change @ change > 0 else 0.0
        return size * change


def task_of(kind: tuple[bool, bool], penalty: Any = None, loss: str = "hinge") -> Any:
    projective, single_root = kind
    treebank = grammar(6, seed=3) if projective else random_treebank(11, LENGTHS, single_root=single_root)
    training = ParserTraining(
        loss=loss, penalty=penalty or L2(0.0), projective=projective, single_root=single_root
    )
    return training.prepare(ArcFeatures(TEMPLATES), treebank)


def learnt(task: Any, epochs: int, step: Any, *, average: bool, every: int = 4, budget: Any = None) -> Any:
    solver = Online(epochs, step=step, average=average, every=every, budget=budget, shuffle=False).bind(
        task.features
    )
    return drive(solver, task.problem, Weights.zeros(task.problem.n_features), Monitor()).weights.dense()


@every_kind
@every_learner
def test_rounds_are_those_of_the_twin(kind, learner):
    loss, step = learner
    task = task_of(kind, loss=loss)
    w, average = Twin(task, loss, step, 4).run(4)
    assert np.count_nonzero(w) > 10
    np.testing.assert_allclose(learnt(task, 4, step, average=False), w, atol=2e-6)
    np.testing.assert_allclose(learnt(task, 4, step, average=True), average, atol=2e-6)


@pytest.mark.parametrize("penalty", [L1(0.3), L2(0.5), GroupLasso(0.1)], ids=["L1", "L2", "templates"])
def test_penalties_act_through_proximal_steps(penalty):
    task = task_of((False, False), penalty)
    bound = task.problem.penalty
    step = Decreasing(0.3)
    w, _ = Twin(task, "hinge", step, 4, lambda w, size, share: bound.prox(w, size * share)).run(3)
    np.testing.assert_allclose(learnt(task, 3, step, average=False), w, atol=1e-9)


def test_a_budget_leaves_so_many_templates():
    task = task_of((False, False), loss="perceptron")
    weights = learnt(task, 5, Decreasing(), average=False, budget=Budget(2, ByTemplate(), shrink=False))
    template = task.space.node_templates(np.flatnonzero(weights))
    kept = {task.space.template_names()[t] for t in template} - {"bias"}
    assert len(kept) == 2


def test_sentence_weights_count():
    treebank = random_treebank(11, LENGTHS)
    training = ParserTraining(loss="log")
    zero = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    some = training.prepare(ArcFeatures(TEMPLATES), treebank, zero)
    w, _ = Twin(some, "log", Decreasing(0.2), 4).run(2)
    np.testing.assert_allclose(learnt(some, 2, Decreasing(0.2), average=False), w, atol=2e-6)


def test_a_start_is_taken():
    task = task_of((False, False))
    n = task.problem.n_features
    start = Weights(np.linspace(-1, 1, n), np.arange(n), n)
    solver = Online(1, step=PassiveAggressive(0.0), average=False)
    found = drive(solver, task.problem, start, Monitor()).weights.dense()
    np.testing.assert_allclose(found, start.values)


def test_the_border_checks_its_arrays():
    task = task_of((False, False))
    design = task.problem.batches[0].design
    with pytest.raises(ValueError, match="one block an attribute"):
        design.new_learner(task.problem.batches[0].structure, np.zeros(1, np.int32), None, 1)
    learner = design.new_learner(
        task.problem.batches[0].structure, np.zeros(design.n_features, np.int32), None, 1
    )
    with pytest.raises(ValueError, match="one head a token"):
        learner.add(design.sentences, 0, 1, np.zeros(1, np.int32), None)
    with pytest.raises(ValueError, match="out of range"):
        learner.add(design.sentences, 0, 1, np.array([-1, 0, 0], np.int32), None)
    unknown = replace(task.problem.batches[0], gold=-np.ones(21, np.int32))
    instances = replace(task.problem, batches=(unknown,)).online()
    assert instances is not None
    with pytest.raises(ParsimonError, match="missing"):
        instances.learner(np.zeros(design.n_features, np.int32), np.zeros(0, np.int32), 1)
