"""Learning a network that is killed, interrupted or out of time, and goes on from a checkpoint."""

from __future__ import annotations

import contextlib
import signal
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsimon import MarkovNetwork
from parsimon.data.discrete_table import DiscreteTable
from parsimon.errors import ParsimonError
from parsimon.solvers import Status
from parsimon.tasks.model_file import dump_model
from parsimon.tasks.networks.model import NetworkModel
from parsimon.tasks.networks.training import Counted, NetworkTraining
from parsimon.tasks.training import NobodyWatches
from toy_networks import chain, potts

TABLE = DiscreteTable.learn(chain().X[:200])
COUNTS = np.random.default_rng(0).uniform(0.5, 2.0, 200)


class Killed(Exception):
    pass


class Phases(NobodyWatches):
    """What is being done when each event comes; perhaps ends a training in the middle of it."""

    def __init__(self, at: str = "", event: int = 1, end: Any = None) -> None:
        self.seen: list[str] = []
        self.at, self.event, self.end = at, event, end

    def phase(self, text: str, done: float | None = None) -> None:
        self.seen.append(text)

    def __call__(self, event: Any) -> None:
        if self.seen and self.seen[-1] == self.at and event.iteration == self.event:
            self.end()


def kill() -> None:
    raise Killed


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def press_once() -> Any:
    """Ctrl-C at the first call only: a second one would end the program at once."""
    presses = iter([press])
    return lambda: next(presses, lambda: None)()


def run(training: NetworkTraining, phases: Phases | None = None) -> NetworkModel:
    phases = phases or Phases()
    rows = Counted(TABLE, COUNTS)
    return replace(training, callback=phases).run(rows, watch=phases).model


PLACES = {
    "criterion": (NetworkTraining(alpha="bic", n_alphas=8), ["strength 1 of 8", "strength 3 of 8", "fitting"]),
    "folds": (
        NetworkTraining(alpha="cv", cv=3, n_alphas=4, random_state=5),
        ["fold 1 of 3, strength 1 of 4", "fold 3 of 3, strength 2 of 4", "strength 3 of 4", "fitting"],
    ),
    "halves": (
        NetworkTraining(alpha=10.0, stability=5, max_iter=6),
        ["fitting", "half 1 of 5", "half 4 of 5", "refitting"],
    ),
    "all": (
        NetworkTraining(
            alpha="ebic", n_alphas=4, stability=2, loss="log", inference="exact", solver="owlqn", tol=1e-3
        ),
        ["strength 4 of 4", "half 2 of 2", "refitting"],
    ),
}  # fmt: skip


@cache
def undisturbed(name: str) -> NetworkModel:
    return run(PLACES[name][0])


@pytest.mark.parametrize("event", [1, 3])
@pytest.mark.parametrize(
    ("name", "place"), [(name, place) for name, (_, places) in PLACES.items() for place in places]
)
def test_killed_anywhere_it_comes_to_the_same_bits(name: str, place: str, event: int, tmp_path: Path) -> None:
    training = PLACES[name][0]
    whole = undisturbed(name)
    safe = replace(training, checkpoint=tmp_path / "run", checkpoint_every=1e-9)
    with contextlib.suppress(Killed):  # or the fit was over before
        run(safe, Phases(place, event, kill))
    again = Phases()
    resumed = run(replace(safe, resume=True), again)
    assert dump_model(resumed) == dump_model(whole)
    assert resumed.info["status"] == whole.info["status"]


def test_a_run_that_is_resumed_does_not_do_again_what_is_done(tmp_path: Path) -> None:
    training = replace(PLACES["halves"][0], checkpoint=tmp_path / "run", checkpoint_every=1e-9)
    events: list[Any] = []
    with pytest.raises(Killed):
        run(training, Phases("half 4 of 5", 1, kill))
    again = Phases()
    replace(training, resume=True, callback=events.append).run(Counted(TABLE, COUNTS), watch=again)
    assert again.seen == ["fitting", "half 4 of 5", "half 5 of 5", "refitting"]
    fits = sum(event.iteration == 0 for event in events)
    assert fits == 3


def test_checkpoints_are_not_written_more_often_than_asked(tmp_path: Path) -> None:
    path = tmp_path / "run"
    training = replace(PLACES["halves"][0], checkpoint=path, checkpoint_every=3600.0)
    with pytest.raises(Killed):
        run(training, Phases("fitting", 1, kill))
    assert not path.exists()
    with pytest.raises(Killed):
        run(training, Phases("half 4 of 5", 1, kill))
    again = Phases()
    run(replace(training, resume=True), again)
    assert again.seen == ["fitting", *(f"half {k} of 5" for k in range(1, 6)), "refitting"]


# ---- Ctrl-C ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "place", "n"),
    [
        ("criterion", "strength 1 of 8", 1),
        ("criterion", "strength 4 of 8", 3),
        ("folds", "fold 2 of 3, strength 3 of 4", 2),
        ("folds", "strength 2 of 4", 4),
    ],
)
def test_ctrl_c_on_a_path_leaves_the_best_network_so_far(
    name: str, place: str, n: int, tmp_path: Path
) -> None:
    training, whole = PLACES[name][0], undisturbed(name)
    safe = replace(training, checkpoint=tmp_path / "run", checkpoint_every=3600.0)
    phases = Phases(place, 0, press_once())
    model = run(safe, phases)
    assert phases.seen[-1] == "fitting"
    assert model.info["status"] == Status.INTERRUPTED.value
    assert model.path is not None
    assert whole.path is not None
    assert not model.path.complete
    assert len(model.path.alphas) == n
    if n > 1:
        assert model.path.scores.tolist() == whole.path.scores[:n].tolist()
        assert model.path.scores[model.path.best] == model.path.scores.max()
    # It goes on from there, to the same as in one go.
    assert dump_model(run(replace(safe, resume=True))) == dump_model(whole)


def test_ctrl_c_leaves_the_halves_so_far(tmp_path: Path) -> None:
    training, whole = replace(PLACES["halves"][0], max_iter=None), PLACES["halves"][0]
    safe = replace(training, checkpoint=tmp_path / "run", checkpoint_every=3600.0)
    phases = Phases("half 4 of 5", 0, press_once())
    model = run(safe, phases)
    assert phases.seen[-1] == "refitting"
    assert model.info["status"] == Status.INTERRUPTED.value
    assert model.stability is not None
    assert (model.stability.halves, model.stability.wanted) == (3, whole.stability)
    assert dump_model(run(replace(safe, resume=True))) == dump_model(run(training))


def test_ctrl_c_in_the_last_fit_leaves_the_best_network_so_far(tmp_path: Path) -> None:
    training = NetworkTraining(alpha=5.0, stability=4, checkpoint=tmp_path / "run", tol=1e-9)
    phases = Phases("fitting", 3, press)
    stopped = run(training, phases)
    assert stopped.info["status"] == Status.INTERRUPTED.value
    assert stopped.info["iterations"] == 4
    assert stopped.stability is None
    assert phases.seen == ["fitting"]  # no halves
    assert (stopped.info["halves"], stopped.info["halves_wanted"]) == (0, 4)
    # It goes on from there, to the same optimum.
    resumed, whole = run(replace(training, resume=True)), run(replace(training, checkpoint=None))
    assert resumed.edges.tolist() == whole.edges.tolist()
    np.testing.assert_allclose(resumed.weights, whole.weights, atol=1e-5)


def test_ctrl_c_at_once_leaves_an_older_checkpoint_alone(tmp_path: Path) -> None:
    training = replace(PLACES["halves"][0], checkpoint=tmp_path / "run")
    run(training)
    before = (tmp_path / "run").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        run(NetworkTraining(alpha=3.0, checkpoint=tmp_path / "run", stability=3), Raising())
    assert (tmp_path / "run").read_bytes() == before


class Raising(Phases):
    """Ctrl-C before the first fit."""

    def phase(self, text: str, done: float | None = None) -> None:
        raise KeyboardInterrupt


# ---- the time limit ----------------------------------------------------------------------------------------


LIMIT = 1e6


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes phases from one of which on the time is over."""
    clock, passed = time.perf_counter, [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + passed[0])

    class Late(Phases):
        def phase(self, text: str, done: float | None = None) -> None:
            super().phase(text)
            passed[0] += LIMIT * (text == self.at)

    return Late


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("criterion", "strength 1 of 8"),
        ("criterion", "strength 4 of 8"),
        ("folds", "fold 2 of 3, strength 3 of 4"),
        ("folds", "strength 2 of 4"),
    ],
)
def test_a_path_out_of_time_ends_with_what_it_has(name: str, place: str, late: Any, tmp_path: Path) -> None:
    training, whole = PLACES[name][0], undisturbed(name)
    safe = replace(training, checkpoint=tmp_path / "run", time_limit=LIMIT)
    phases = late(place)
    model = run(safe, phases)
    assert phases.seen[-1] == "fitting"
    assert model.info["status"] == Status.TIME.value
    assert model.path is not None
    assert whole.path is not None
    assert not model.path.complete
    n = {"strength 1 of 8": 1, "strength 4 of 8": 3, "fold 2 of 3, strength 3 of 4": 2}.get(place, 4)
    assert len(model.path.alphas) == n
    if n > 1:
        assert model.path.scores.tolist() == whole.path.scores[:n].tolist()
        assert model.path.scores[model.path.best] == model.path.scores.max()
    # With more time, it comes to the same as in one go.
    resumed = run(replace(safe, time_limit=None, resume=True))
    assert dump_model(resumed) == dump_model(whole)


@pytest.mark.parametrize("iteration", [0, 1])
@pytest.mark.parametrize("place", ["strength 1 of 8", "strength 3 of 8"])
def test_time_that_is_over_within_a_fit(
    place: str, iteration: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is kept of what followed from a fit that was cut short."""
    training, whole = PLACES["criterion"][0], undisturbed("criterion")
    clock, passed = time.perf_counter, [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + passed[0])
    safe = replace(training, checkpoint=tmp_path / "run", time_limit=LIMIT)
    model = run(safe, Phases(place, iteration, lambda: passed.__setitem__(0, 2 * LIMIT)))
    assert model.path is not None
    assert not model.path.complete
    assert np.all(np.isfinite(model.path.scores))
    assert dump_model(run(replace(safe, time_limit=None, resume=True))) == dump_model(whole)


def test_halves_out_of_time_are_left_out(late: Any, tmp_path: Path) -> None:
    training, whole = PLACES["halves"][0], undisturbed("halves")
    safe = replace(training, checkpoint=tmp_path / "run", time_limit=LIMIT)
    model = run(safe, late("half 4 of 5"))
    stable = model.stability
    assert stable is not None
    assert (stable.halves, stable.wanted) == (3, 5)
    assert np.all(np.isin((stable.frequencies * 3).round(9), [1, 2, 3]))
    assert model.info["status"] == Status.TIME.value
    assert (model.info["halves"], model.info["halves_wanted"]) == (3, 5)
    assert dump_model(run(replace(safe, time_limit=None, resume=True))) == dump_model(whole)
    none = run(replace(training, time_limit=LIMIT), late("half 1 of 5"))
    assert none.stability is None
    assert none.info["halves"] == 0
    assert none.edges.tolist() == run(replace(training, stability=None)).edges.tolist()
    assert none.info["status"] == Status.TIME.value


# ---- what a checkpoint belongs to --------------------------------------------------------------------------


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    training = replace(PLACES["halves"][0], checkpoint=tmp_path / "run")
    run(training)
    again = replace(training, resume=True)
    others = [
        (replace(again, alpha=11.0), TABLE, COUNTS),
        (replace(again, random_state=1), TABLE, COUNTS),
        (replace(again, penalty="group"), TABLE, COUNTS),
        (again, DiscreteTable.learn(chain().X[1:201]), COUNTS),
        (again, TABLE, None),
        (again, replace(TABLE, names=tuple("abcdef")), COUNTS),
    ]
    for changed, table, counts in others:
        with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
            changed.fit(table, counts)
    replace(again, tol=1e-3, n_jobs=2, max_iter=9).fit(TABLE, COUNTS)


def test_the_estimator_resumes(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"n_alphas": 6, "stability": 3, "checkpoint": tmp_path / "run"}
    whole = MarkovNetwork("bic", n_alphas=6, stability=3).fit(potts().X[:200])
    events = iter(range(10_000))

    def stop(event: Any) -> None:
        if next(events) == 60:
            raise Killed

    with pytest.raises(Killed):
        MarkovNetwork("bic", callback=stop, checkpoint_every=1e-9, **settings).fit(potts().X[:200])
    resumed = MarkovNetwork("bic", resume=True, **settings).fit(potts().X[:200])
    assert dump_model(resumed.model_) == dump_model(whole.model_)
    assert resumed.stability_ == whole.stability_
