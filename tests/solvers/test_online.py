"""Online learning against a twin that keeps all weights in a plain vector and shrinks them at once."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso, OverlappingGroupLasso
from parsimon.penalties.groups import Groups
from parsimon.solvers import Budget, Decreasing, Monitor, Online, PassiveAggressive, Status, Weights, drive
from parsimon.solvers.online import ProximalSteps
from sequence_losses import TOYS, SequenceLosses, every_loss, every_toy
from toy_problems import Toy, make_toy


@dataclass
class Twin:
    """The same algorithm on a dense vector; `shrink` is applied every `every` rounds."""

    toy: Toy
    loss: str
    step: Any
    shrink: Any = None
    every: int = 3
    burn_in: float = 1 / 3
    w: Any = field(init=False)
    average: Any = field(init=False)

    def run(self, epochs: int) -> Any:
        n = self.toy.index.n_features
        self.w, total, counted = np.zeros(n), np.zeros(n), 0
        losses, sequences = SequenceLosses(self.toy, self.loss), len(self.toy.observations.lengths)
        rounds = 0
        for epoch in range(epochs):
            for i in range(sequences):
                value, change, weight = losses.at(i, self.w)
                size = self.step.size(epoch)
                if self.step.passive_aggressive:
                    size = min(size, value / (change @ change)) if change @ change > 0 else 0.0
                self.w = self.w + size * weight * change
                rounds += 1
                if epoch >= int(self.burn_in * epochs):
                    total, counted = total + self.w, counted + 1
                last = rounds == epochs * sequences
                if self.shrink is not None and (rounds % self.every == 0 or last):
                    self.w = self.shrink(self.w, self.step.size(epoch), self.every / sequences)
        self.average = total / counted
        return self.w


def learn(toy: Toy, loss: str, solver: Online, penalty: Any = None) -> Any:
    problem = toy.problem(loss, penalty or ElasticNet())
    return drive(solver, problem, Weights.zeros(problem.n_features), Monitor())


@every_toy
@every_loss
@pytest.mark.parametrize("burn_in", [None, 0.0, 0.4, 0.7])
def test_rounds_are_those_of_the_twin(toy: Toy, loss: str, burn_in: float | None) -> None:
    step, average, burn_in = Decreasing(0.7), burn_in is not None, burn_in or 0.0
    result = learn(toy, loss, Online(3, step, average=average, burn_in=burn_in, shuffle=False))
    twin = Twin(toy, loss, step, burn_in=burn_in)
    last = twin.run(3)
    expected = twin.average if average else last
    assert result.weights.dense() == pytest.approx(expected, abs=1e-6)  # marginals below 1e-7 are left out
    assert result.status is Status.DONE


@every_toy
@pytest.mark.parametrize("most", [0.05, 10.0])
def test_mira(toy: Toy, most: float) -> None:
    step = PassiveAggressive(most)
    result = learn(toy, "hinge", Online(2, step, average=False, shuffle=False))
    assert result.weights.dense() == pytest.approx(Twin(toy, "hinge", step).run(2), abs=1e-10)


@pytest.mark.parametrize("loss", ["perceptron", "hinge"])
def test_many_labels(loss: str) -> None:
    toy = make_toy(6, lengths=(2, 3, 1, 2), n_labels=17)  # so many that label pairs are scored one by one
    step = Decreasing(0.7)
    result = learn(toy, loss, Online(3, step, average=False, shuffle=False))
    assert result.weights.dense() == pytest.approx(Twin(toy, loss, step).run(3), abs=1e-10)


def by_attribute(toy: Toy) -> Groups:
    starts = np.concatenate(
        [toy.index.node.starts(), toy.index.pair.starts()[1:] + toy.index.node.n_features]
    )
    return Groups.consecutive(starts, toy.index.n_features, [f"a{i}" for i in range(len(starts) - 1)], "ones")


def in_two(toy: Toy) -> Groups:
    """The first two attributes of tokens, and all others."""
    cut = int(toy.index.node.starts()[2])
    n = toy.index.n_features
    return Groups.consecutive(np.array([0, cut, n]), n, ["few", "rest"], np.array([1.0, 1.5]))


@every_toy
@every_loss
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(
    "kind",
    [
        "l1",
        "l2",
        "elastic net",
        "half free",
        "groups",
        "groups, half free",
        "elastic net, half free",
        "sparse groups",
    ],
)
def test_gravity_is_the_proximal_operator(toy: Toy, loss: str, kind: str, average: bool) -> None:
    n = toy.index.n_features
    free = np.arange(int(toy.index.node.starts()[1]))  # of the first attribute
    penalty: Any = {
        "l1": L1(0.3),
        "l2": L2(0.5),
        "elastic net": ElasticNet(0.2, 0.3),
        "half free": L1(0.3).exempt(free, n),
        "groups": GroupLasso(0.4, in_two(toy)),
        "elastic net, half free": ElasticNet(0.2, 0.9).exempt(free, n),
        "groups, half free": GroupLasso(0.4, in_two(toy)).exempt(free, n),
        "sparse groups": GroupLasso(0.3, in_two(toy), l1=0.1, l2=0.2),
    }[kind]
    step = Decreasing(0.7)
    result = learn(toy, loss, Online(4, step, average=average, every=3, shuffle=False), penalty)
    if kind == "sparse groups":  # the learner takes the group first, then single weights

        def shrink(w: Any, eta: float, share: float) -> Any:
            w = GroupLasso(0.3, in_two(toy)).prox(w, eta * share)
            return ElasticNet(0.1, 0.2).prox(w, eta * share)
    else:

        def shrink(w: Any, eta: float, share: float) -> Any:
            return penalty.prox(w, eta * share)

    twin = Twin(toy, loss, step, shrink)
    last = twin.run(4)
    if not average:
        assert result.weights.dense() == pytest.approx(last, abs=1e-6)
    elif kind in ("l2", "groups"):
        # An average takes a proximal step into account from the next round on, as the twin does.
        assert result.weights.dense() == pytest.approx(twin.average, abs=1e-6)


@every_toy
def test_a_penalty_without_a_compiled_form_takes_the_slow_way(toy: Toy) -> None:
    n = toy.index.n_features
    overlapping = OverlappingGroupLasso(
        0.3, Groups.from_lists([list(range(0, n, 2)), list(range(0, n, 3))], n)
    )
    step = Decreasing(0.5)
    result = learn(toy, "hinge", Online(3, step, average=False, every=3, shuffle=False), overlapping)
    twin = Twin(toy, "hinge", step, lambda w, eta, share: overlapping.prox(w, eta * share))
    assert result.weights.dense() == pytest.approx(twin.run(3), abs=1e-7)


@every_toy
def test_rows_of_attributes_are_shrunk_late_but_right(toy: Toy) -> None:
    groups = by_attribute(toy).reweighted(np.full(by_attribute(toy).n_groups, 1.7))
    many = replace(Online(4, Decreasing(0.6), average=False, every=2, shuffle=False))
    import parsimon.solvers.online as online

    plain = learn(toy, "perceptron", many, GroupLasso(0.5, groups))
    before, online.MANY = online.MANY, 1  # so that attributes count as rows, not as blocks
    try:
        late = learn(toy, "perceptron", many, GroupLasso(0.5, groups))
    finally:
        online.MANY = before
    assert late.weights.dense() == pytest.approx(plain.weights.dense(), abs=1e-10)


@every_toy
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("shrink", [True, False])
def test_a_budget_keeps_so_many_groups(toy: Toy, size: int, shrink: bool) -> None:
    groups = by_attribute(toy)
    budget = Budget(size, groups, shrink)
    result = learn(toy, "perceptron", Online(5, average=False, budget=budget, every=3))
    assert np.count_nonzero(groups.norms(result.weights.dense())) <= size
    assert result.history[-1].instantiated[-1] == len(result.weights.values)


def test_the_threshold_of_a_budget_lies_halfway() -> None:
    budget = Budget(2)
    assert budget.threshold(np.array([5.0, 1.0, 3.0, 2.0]), 1.0) == 2.5
    assert budget.threshold(np.array([5.0, 1.0, 0.0]), 1.0) == 0.0
    assert budget.threshold(np.array([6.0, 1.0, 9.0, 4.0]), np.array([2.0, 1.0, 0.0, 1.0])) == 2.0  # 3, 1, 4


def test_a_budget_falls_by_the_same_factor_at_every_step() -> None:
    budget = Budget(4, fall=0.5)
    assert [budget.allowed(64, share) for share in (0.0, 0.125, 0.25, 0.375, 0.5, 1.0)] == [
        64,
        32,
        16,
        8,
        4,
        4,
    ]
    assert budget.allowed(3, 0.0) == 4
    norms = np.arange(16.0)
    assert budget.threshold(norms, 1.0, 0.25) == 7.5  # eight may stay
    assert budget.threshold(norms, 1.0) == 11.5
    each = budget.family_thresholds(norms, np.ones(16), [np.arange(8), np.arange(8, 16)], 0.25)
    assert each.tolist() == [7.0] * 8 + [0.0] * 8
    with pytest.raises(ParsimonError, match="falls over"):
        Budget(4, fall=-1.0)


def test_with_haste_a_budget_falls_fast_at_first() -> None:
    even, hasty = Budget(4, fall=2.0), Budget(4, fall=2.0, haste=2.0)
    shares = (0.0, 1.0, 2.0)
    assert [even.allowed(64, share) for share in shares] == [64, 16, 4]
    assert [hasty.allowed(64, share) for share in shares] == [64, 8, 4]
    with pytest.raises(ParsimonError, match="the haste of a budget must be above zero, not 0"):
        Budget(4, haste=0.0)


def test_weights_that_are_dropped_leave_the_memory() -> None:
    toy = TOYS["plain"]
    budget = Budget(1, by_attribute(toy))
    history = learn(toy, "perceptron", Online(4, average=False, budget=budget, every=3)).history
    counts = [n for event in history for n in event.instantiated]
    assert min(counts) < max(counts)


def test_overlapping_groups_go_family_by_family() -> None:
    toy = TOYS["plain"]
    n, cut = toy.index.n_features, toy.index.node.starts()
    coarse = np.arange(int(cut[0]), int(cut[4]))
    fine = np.arange(int(cut[2]), int(cut[4]))
    other = np.arange(int(cut[4]), n)
    groups = Groups.from_lists([coarse, fine, other], n, weight="ones")
    result = learn(toy, "perceptron", Online(5, average=False, budget=Budget(2, groups), every=3))
    assert np.count_nonzero(groups.norms(result.weights.dense())) <= 2


def test_the_same_seed_gives_the_same_weights_and_another_does_not() -> None:
    toy = TOYS["plain"]
    runs = [learn(toy, "perceptron", Online(3, seed=seed)).weights.dense() for seed in (1, 1, 2)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_ctrl_c_keeps_what_was_learnt() -> None:
    problem = TOYS["plain"].problem("perceptron")

    def interrupt(event: Any) -> None:
        if event.iteration == 1:
            os.kill(os.getpid(), signal.SIGINT)

    result = drive(Online(50), problem, Weights.zeros(problem.n_features), Monitor(callbacks=[interrupt]))
    assert result.status is Status.INTERRUPTED
    assert len(result.history) in (2, 3)
    assert result.weights.n_active > 0


def test_it_can_start_from_weights() -> None:
    toy = TOYS["plain"]
    problem = toy.problem("perceptron")
    solver = Online(1, average=False, shuffle=False)
    first = drive(solver, problem, Weights.zeros(problem.n_features), Monitor())
    second = drive(solver, problem, first.weights, Monitor())
    both = drive(
        replace(solver, epochs=2, step=Constant()), problem, Weights.zeros(problem.n_features), Monitor()
    )
    assert second.weights.dense() == pytest.approx(both.weights.dense())


def kept(weights: Weights) -> Weights:
    """The same with its state as it is now, as a checkpoint keeps it."""
    assert weights.state is not None
    state = {name: np.array(values) for name, values in weights.state().items()}
    return replace(weights, state=lambda: state)


@every_toy
@every_loss
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kind", ["none", "elastic net", "strong", "groups", "rows", "budget", "slow"])
def test_going_on_from_a_state_gives_the_same_bits(
    toy: Toy, loss: str, average: bool, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = toy.index.n_features
    penalty: Any = {
        "none": ElasticNet(),
        "elastic net": ElasticNet(0.2, 0.3),
        "strong": L2(50.0),  # so that scales become small
        "groups": GroupLasso(0.3, in_two(toy), l1=0.1, l2=0.2),
        "rows": GroupLasso(0.2, by_attribute(toy)),
        "budget": ElasticNet(),
        "slow": OverlappingGroupLasso(0.3, Groups.from_lists([[0, 1], [1, 2]], n)),
    }[kind]
    if kind == "rows":
        monkeypatch.setattr(
            "parsimon.solvers.online.MANY", 1
        )  # so that attributes count as rows, not as blocks
    budget = Budget(2, by_attribute(toy)) if kind == "budget" else None
    solver = Online(6, Decreasing(0.7), average=average, every=3, budget=budget, seed=1)
    problem = toy.problem(loss, penalty)
    whole, states = [], []
    for iterate in solver.iterate(problem, Weights.zeros(n)):
        whole.append((iterate.weights.dense().tolist(), iterate.objective, iterate.instantiated))
        states.append(kept(iterate.weights))
    for done, start in enumerate(states[:-1], start=1):
        rest = [
            (iterate.weights.dense().tolist(), iterate.objective, iterate.instantiated)
            for iterate in solver.iterate(problem, start)
        ]
        assert rest == whole[done:]
    with pytest.raises(ParsimonError, match="all 6 epochs were run before"):
        next(solver.iterate(problem, states[-1]))


def test_a_result_does_not_hold_on_to_the_learner() -> None:
    assert learn(TOYS["plain"], "hinge", Online(2)).weights.state is None


def test_states_are_checked_at_the_border() -> None:
    problem = TOYS["plain"].problem("hinge")
    start = kept(next(iter(Online(2).iterate(problem, Weights.zeros(problem.n_features)))).weights)
    assert start.state is not None
    sound = start.state()

    def learner() -> Any:
        return ProximalSteps.of(problem, None).learner()

    def restore(learner: Any, **changed: Any) -> None:
        learner.restore(**{**sound, **changed})

    with pytest.raises(ValueError, match="of other blocks"):
        restore(learner(), blocks=np.zeros(3))
    with pytest.raises(ValueError, match="a value and a drift"):
        restore(learner(), drifts=np.zeros(0))
    with pytest.raises(ValueError, match="no such feature"):
        restore(learner(), features=sound["features"] + problem.n_features)
    twice = learner()
    restore(twice)
    with pytest.raises(ValueError, match="restored once"):
        restore(twice)


@dataclass(frozen=True)
class Constant:
    passive_aggressive = False

    def size(self, epoch: int) -> float:
        return 1.0


def both_a_budget_and_groups(toy: Toy) -> Any:
    return learn(toy, "log", Online(budget=Budget(1, by_attribute(toy))), GroupLasso(1.0, in_two(toy)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Budget(0), ["budget", "1"]),
        (lambda: Online(0), ["epochs"]),
        (lambda: Online(every=0), ["every"]),
        (lambda: learn(make_toy(1, missing=0.5), "log", Online(1)), ["label"]),
        (lambda: both_a_budget_and_groups(TOYS["plain"]), ["budget", "group"]),
    ],
)
def test_what_cannot_work_is_refused(make: Any, words: list[str]) -> None:
    with pytest.raises(ParsimonError) as caught:
        make()
    assert all(word in str(caught.value) for word in words)
