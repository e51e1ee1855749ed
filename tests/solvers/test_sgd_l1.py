"""SGD-L1 against the procedure of Tsuruoka, Tsujii & Ananiadou (2009), written out on plain vectors."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from parsimon.data import load_python_code
from parsimon.errors import ParsimonError
from parsimon.features import Columns, Labels, TemplateFeatures, TemplateSet
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso
from parsimon.penalties.groups import Groups
from parsimon.solvers import (
    SGDL1,
    Decreasing,
    Exponential,
    Monitor,
    Status,
    Weights,
    WorkingSet,
    choose_solver,
    drive,
)
from parsimon.tasks.sequences.training import Labelled, SequenceTraining
from sequence_losses import TOYS, SequenceLosses, every_loss, every_toy
from toy_problems import Toy, make_toy

MANY_LABELS = {  # so many that label pairs are scored one by one
    "plain": make_toy(6, lengths=(2, 3, 2, 2, 1, 2), n_labels=17),
    "real values": make_toy(7, lengths=(2, 2, 3), n_labels=17, real=True),
    "trees": make_toy(8, lengths=(3, 2, 3), n_labels=17, trees=True),
}


@dataclass
class Twin:
    """Figure 2 of the paper, with the penalty applied to all weights in each round, and an L2 penalty besides."""

    toy: Toy
    loss: str
    step: Any
    penalty: ElasticNet

    def run(self, epochs: int, start: Any = None) -> tuple[Any, float]:
        """The weights, and the losses as they were met in the last epoch."""
        losses, n = SequenceLosses(self.toy, self.loss), len(self.toy.observations.lengths)
        w = np.zeros(self.toy.index.n_features) if start is None else start.copy()
        q, u, met = np.zeros_like(w), 0.0, 0.0
        free = np.zeros(len(w), bool) if self.penalty.weight is None else self.penalty.weight == 0
        for epoch in range(epochs):
            met = 0.0
            for i, step in enumerate(self.step.sizes(epoch, n)):
                value, change, weight = losses.at(i, w)
                met += weight * value
                w = w + step * weight * change
                u += step * self.penalty.l1 / n
                z = w.copy()
                w = np.where(w > 0, np.maximum(0, w - (u + q)), np.minimum(0, w + (u - q)))
                w[free] = z[free]
                q += w - z
                shrink = 1 + step * self.penalty.l2 / n  # what is owed shrinks with what there is
                w, q, u = np.where(free, w, w / shrink), q / shrink, u / shrink
        return w, met


def learn(toy: Toy, loss: str, solver: Any, penalty: Any, start: Weights | None = None) -> Any:
    problem = toy.problem(loss, penalty)
    return drive(solver, problem, start or Weights.zeros(problem.n_features), Monitor())


def by_the_book(epochs: int, step: Any) -> SGDL1:
    """In the order of the data, with nothing left out."""
    return SGDL1(epochs, step, negligible=0.0, shuffle=False)


def check_against_the_paper(toy: Toy, loss: str, step: Any) -> None:
    penalty = L1(0.2)
    result = learn(toy, loss, by_the_book(3, step), penalty)
    w, met = Twin(toy, loss, step, penalty).run(3)
    assert result.weights.dense() == pytest.approx(w, abs=1e-10)
    assert result.objective == pytest.approx(met + penalty.value(w))
    assert result.weights.n_active > 0
    assert result.status is Status.DONE


@every_toy
@every_loss
@pytest.mark.parametrize("step", [Exponential(0.7, 0.6), Decreasing(0.5)], ids=["exponential", "decreasing"])
def test_rounds_are_those_of_the_paper(toy: Toy, loss: str, step: Any) -> None:
    check_against_the_paper(toy, loss, step)


@pytest.mark.parametrize("toy", MANY_LABELS.values(), ids=MANY_LABELS)
@every_loss
def test_and_so_they_are_with_single_label_pairs(toy: Toy, loss: str) -> None:
    check_against_the_paper(toy, loss, Exponential(0.7, 0.6))


@pytest.mark.parametrize("name", ["plain", "real values", "seen pairs", "weighted"])
@every_loss
@pytest.mark.parametrize("kind", ["nothing", "l2", "elastic net", "strong l2", "half free"])
def test_other_penalties(name: str, loss: str, kind: str) -> None:
    toy = TOYS[name]
    free = np.arange(int(toy.index.node.starts()[1]))  # of the first attribute
    penalty = {
        "nothing": ElasticNet(),
        "l2": L2(0.5),
        "elastic net": ElasticNet(0.2, 0.3),
        "strong l2": ElasticNet(0.1, 50.0),
        "half free": ElasticNet(0.3, 0.4).exempt(free, toy.index.n_features),
    }[kind]
    step = Exponential(0.8, 0.7)
    result = learn(toy, loss, by_the_book(4, step), penalty)
    w, _ = Twin(toy, loss, step, penalty).run(4)
    assert result.weights.dense() == pytest.approx(
        w, abs=1e-6 if kind in ("nothing", "l2", "half free") else 1e-10
    )


@every_toy
def test_it_can_start_from_weights(toy: Toy) -> None:
    random = np.random.default_rng(3)
    w = random.normal(size=toy.index.n_features) * (random.random(toy.index.n_features) < 0.3)
    step, penalty = Exponential(0.5), L1(0.4)
    result = learn(toy, "log", by_the_book(1, step), penalty, Weights(w, None, len(w)))
    assert result.weights.dense() == pytest.approx(Twin(toy, "log", step, penalty).run(1, w)[0], abs=1e-10)


def test_steps_become_smaller_bit_by_bit() -> None:
    sizes = np.concatenate([Exponential(0.8, 0.5).sizes(epoch, 4) for epoch in range(2)])
    assert sizes == pytest.approx(0.8 * 0.5 ** (np.arange(8) / 4))
    assert Decreasing(1.0).sizes(3, 2).tolist() == [0.5, 0.5]
    assert len(Exponential().sizes(0, 0)) == 0


def test_small_changes_are_left_out() -> None:
    toy, step = MANY_LABELS["plain"], Exponential(0.5)
    found = [
        learn(toy, "log", replace(by_the_book(3, step), negligible=share), L1(0.3))
        for share in (0.0, 0.1, 1.0)
    ]
    counts = [result.history[-1].instantiated[-1] for result in found]
    assert counts[0] > counts[1] > counts[2] > found[2].weights.n_active
    assert found[0].weights.n_active <= counts[0] <= toy.index.n_features
    assert found[1].weights.dense() == pytest.approx(found[0].weights.dense(), abs=0.05)


def test_weights_exist_once_touched_and_are_counted_when_zero() -> None:
    toy = TOYS["plain"]
    history = learn(toy, "log", SGDL1(4), L1(1.5)).history
    counts = [event.instantiated[-1] for event in history]
    assert counts == sorted(counts)
    assert history[-1].active < counts[-1] <= toy.index.n_features


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads() -> None:
    toy = TOYS["plain"]
    runs = []
    for seed, threads in ((1, 1), (1, 2), (2, 1)):
        problem = toy.problem("log", L1(0.1), threads=threads)
        runs.append(drive(SGDL1(3, seed=seed), problem, Weights.zeros(problem.n_features)).weights.dense())
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_ctrl_c_keeps_what_was_learnt() -> None:
    problem = TOYS["plain"].problem("log", L1(0.1))

    def interrupt(event: Any) -> None:
        if event.iteration == 1:
            os.kill(os.getpid(), signal.SIGINT)

    result = drive(SGDL1(50), problem, Weights.zeros(problem.n_features), Monitor(callbacks=[interrupt]))
    assert result.status is Status.INTERRUPTED
    assert len(result.history) in (2, 3)
    assert result.weights.n_active > 0


# Label pairs × observations of real data, with more labels than have a matrix for every step.
TEMPLATES = TemplateSet.parse("U0:%x[0,0]\nU1:%x[-1,0]\n*2:%x[0,1]\nB\n")


@pytest.fixture(scope="module")
def code() -> tuple[Columns, Labels]:
    corpus = load_python_code(6, max_tokens=3000)
    return Columns.from_sequences(corpus.X), Labels.from_sequences(corpus.y)


def training(**settings: Any) -> SequenceTraining:
    return SequenceTraining(penalty=ElasticNet(0.5, 1e-5), **settings)


def test_it_comes_near_the_optimum_on_real_data(code: tuple[Columns, Labels]) -> None:
    problem = training().prepare(TemplateFeatures(TEMPLATES), *code).problem
    nothing = Weights.zeros(problem.n_features)
    best = drive(WorkingSet(tol=1e-5), problem, nothing)
    # The data are the standard library of this Python; 60 epochs are enough for some and not for others.
    found = list(SGDL1(150, Exponential(0.5, 0.98)).iterate(problem, nothing))
    objectives = []
    for iterate in found:
        assert iterate.weights.features is not None
        objectives.append(problem.restrict(iterate.weights.features).objective(iterate.weights.values))
    assert best.objective < objectives[-1] < 1.03 * best.objective
    assert objectives[-1] < objectives[9] < objectives[0] < problem.objective(nothing.dense())
    assert found[-1].weights.n_active < found[-1].instantiated[-1] < 0.5 * problem.n_features


def test_training_with_a_development_set_and_debiasing(code: tuple[Columns, Labels]) -> None:
    X, y = code
    first, rest = np.arange(0, len(y.lengths), 2), np.arange(1, len(y.lengths), 2)
    settings = training(solver="sgd-l1", max_iter=6, patience=3, debias=0.5)
    trained = settings.run(Labelled(TemplateFeatures(TEMPLATES), X[first], y[first]), dev=(X[rest], y[rest]))
    model, result = trained.model, trained.result
    scores = [event.dev for event in result.history if event.phase == "sgd-l1"]
    assert 4 <= len(scores) <= 6
    assert all(score is not None and 0 < score <= 1 for score in scores)
    assert {event.phase for event in result.history} > {"sgd-l1"}  # and that of the refit
    assert len(model.weights) == np.count_nonzero(result.weights.values)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SGDL1(0), ["epochs", "1"]),
        (lambda: SGDL1(negligible=-0.1), ["negligible", "zero"]),
        (lambda: Exponential(0.0), ["step", "zero"]),
        (lambda: Exponential(decay=1.5), ["decay", "1.5"]),
        (lambda: learn(make_toy(1, missing=0.5), "log", SGDL1(1), L1(0.1)), ["label"]),
        (lambda: learn(TOYS["plain"], "log", SGDL1(1), halved(TOYS["plain"])), ["attribute", "alike"]),
        (
            lambda: choose_solver("sgd-l1", TOYS["plain"].problem("log", grouped(TOYS["plain"]))),
            ["every weight"],
        ),
    ],
)
def test_what_cannot_work_is_refused(make: Any, words: list[str]) -> None:
    with pytest.raises(ParsimonError) as caught:
        make()
    assert all(word in str(caught.value) for word in words)


def halved(toy: Toy) -> ElasticNet:
    """The first feature counts half."""
    weight = np.ones(toy.index.n_features)
    weight[0] = 0.5
    return ElasticNet(0.1, weight=weight)


def grouped(toy: Toy) -> GroupLasso:
    return GroupLasso(
        1.0, Groups.consecutive(np.array([0, toy.index.n_features]), toy.index.n_features, ["all"], "ones")
    )
