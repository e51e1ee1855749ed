"""The first of two stages: what it leaves, that it runs once, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.features import Columns, Labels, TemplateFeatures, TemplateSet
from parsimon.penalties import ByAttribute
from parsimon.selection import Candidates, GroupLassoPath, InformationGain, Selected, Sparseptron
from parsimon.solvers import Monitor, Online, PassiveAggressive
from parsimon.tasks.checkpoint import Checkpoint
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.selecting import described_selection, keeps_features, kept_features, select
from parsimon.tasks.sequences.training import SequenceTraining
from parsimon.tasks.training import NobodyWatches, Run


class Watcher(NobodyWatches):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def phase(self, text: str, done: float | None = None) -> None:
        self.heard.append(text)


def started(path: Path, *, resume: bool = False, **more: Any) -> Run:
    run = Run(**more)
    run.keep_in(path, 1e-9, "mark", resume=resume)
    return run


class First:
    """Selects the first template."""

    name = "first"
    weighs_features = False

    def select(self, candidates: Any, monitor: Any) -> Selected:
        assert candidates == "candidates"
        return Selected(["a", "b"], np.array([True, False]), np.array([1.5, 0.0]))


def test_templates_are_selected_once(tmp_path: Path) -> None:
    selection: Any = First()
    candidates: Any = lambda: "candidates"  # noqa: E731
    watcher = Watcher()
    run = started(tmp_path / "run", watch=watcher)
    assert select(selection, candidates, run, ["a", "b"]).kept.tolist() == [True, False]
    assert watcher.heard == ["choosing templates: first"]
    run = started(tmp_path / "run", resume=True)
    again = select(selection, lambda: pytest.fail("they are selected again"), run, ["a", "b"])
    assert again.order == [("a", 1.5), ("b", 0.0)]
    described = described_selection(selection, again, None)
    assert (described["name"], described["templates"]) == ("first", [["a", 1.5]])
    assert described["features"] is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"names": ["U1"]},
        {"names": "U0"},
        {"kept": [1]},
        {"kept": [True, True]},
        {"score": [None]},
        {"score": []},
        {"history": [{}]},
        {"features": [1, 1]},
        {"features": [-1]},
        {"features": [0.5]},
        {"features": "all"},
        {"more": 1},
    ],
    ids=str,
)
def test_a_selection_of_something_else_is_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run"
    right = {"names": ["U0"], "kept": [True], "score": [1.5], "history": [], "features": [0, 3]}
    Checkpoint("mark", values={"selection": {**right, **wrong}}).save(path)
    with pytest.raises(ParsimonError, match="is damaged: it"):
        select(First(), lambda: None, started(path, resume=True), ["U0"])  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("features", [None, np.array([2, 9])])
def test_features_that_there_are_not_are_refused(features: Any) -> None:
    damaged = Selected(["a"], np.array([True]), np.array([1.0]), features=features)
    with pytest.raises(ParsimonError, match="is damaged: it has a selection of other features"):
        kept_features(damaged, 9)


@pytest.mark.parametrize(
    ("selection", "keep", "solver", "features"),
    [
        (None, "auto", "mira", False),
        (Sparseptron(2), "auto", "mira", True),
        (Sparseptron(2), "auto", Online(5), True),
        (Sparseptron(2), "auto", "auto", False),
        (Sparseptron(2), "features", "auto", True),
        (Sparseptron(2), "templates", "mira", False),
        (GroupLassoPath(2), "auto", "sgd", True),
        (InformationGain(2), "auto", "mira", False),
    ],
)
def test_what_is_kept(selection: Any, keep: str, solver: Any, features: bool) -> None:
    assert keeps_features(selection, keep, solver) is features


def test_a_filter_has_no_features() -> None:
    with pytest.raises(ParsimonError, match=r"information-gain ranks templates .* use keep='templates'"):
        keeps_features(InformationGain(2), "features", "mira")


# ---- whole trainings -----------------------------------------------------------------------------------------

SPACE = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[1,0]\nU3:%x[-2,0]/%x[2,0]\nB"


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    words = [random.choice(list("abcdefgh"), size=8).tolist() for _ in range(40)]
    tags = [[("X" if w in "ab" else "Y" if w in "cd" and i else "O") for i, w in enumerate(s)] for s in words]
    for row in random.integers(40, size=25):
        tags[row][int(random.integers(8))] = "X"
    return Columns.from_sequences(words), Labels.from_sequences(tags)


def space() -> TemplateFeatures:
    return TemplateFeatures(TemplateSet.parse(SPACE))


MIRA = SequenceTraining(loss="hinge", solver=Online(6, PassiveAggressive(0.1)), l1=0.0)
CRF = SequenceTraining(l1=0.1, l2=0.01)


def named(model: Any) -> set[tuple[str, str]]:
    return {(each.attribute, str(each.labels)) for each in model.features()}


@pytest.mark.parametrize("training", [MIRA, CRF], ids=["mira", "crf"])
@pytest.mark.parametrize(
    "selection", [Sparseptron(2, 3), Sparseptron(6, 3, ByAttribute()), GroupLassoPath(2)], ids=str
)
def test_the_second_stage_has_no_other_features(training: Any, selection: Any, data: Any) -> None:
    if isinstance(selection, GroupLassoPath) and training.loss == "hinge":
        training = replace(training, loss="log", solver="sgd")  # the path is of the training's own loss
    training = replace(training, selection=selection, keep="features")
    task = training.prepare(space(), *data)
    model = training.fit(space(), *data)
    assert task.kept is not None
    left = set(task.kept.tolist())
    assert set(task.weights_of(model).features.tolist()) <= left
    assert len(left) < task.problem.n_features
    assert model.info["selection"]["features"] == len(left)
    assert len(model.space.template_names()) == task.selected.kept.sum()
    whole = replace(training, keep="templates").fit(space(), *data)
    assert whole.info["selection"]["features"] is None
    if isinstance(selection, Sparseptron):  # it makes a difference
        assert not set(task.weights_of(whole).features.tolist()) <= left


def test_biases_and_label_bigrams_are_always_left(data: Any) -> None:
    training = replace(MIRA, selection=Sparseptron(1, 1), keep="features")
    task = training.prepare(space(), *data)
    assert set(task.features.bias_features().tolist()) <= set(task.kept.tolist())


def test_what_is_left_are_the_weights_of_the_first_stage(data: Any) -> None:
    training = replace(MIRA, selection=Sparseptron(2, 3), keep="features")
    task = training.prepare(space(), *data)
    solver = Sparseptron(2, 3)
    chosen = solver.select(Candidates(task.problem, task.features, lambda: np.zeros(0)), Monitor())
    np.testing.assert_array_equal(chosen.features, task.kept)
    assert chosen.features is not None
    again = Selected.from_dict(json.loads(json.dumps(chosen.to_dict())))
    np.testing.assert_array_equal(again.features, chosen.features)


def test_the_model_remembers_how_many_features_it_had(data: Any) -> None:
    model = replace(MIRA, selection=Sparseptron(2, 3)).fit(space(), *data)
    again = parse_model(dump_model(model))
    assert again.info["selection"]["features"] == model.info["selection"]["features"] > 0


def test_strengths_are_those_of_what_is_left(data: Any) -> None:
    training = replace(CRF, selection=Sparseptron(1, 2), keep="features")
    task = training.prepare(space(), *data)
    limit = training.max_strength(space(), *data)
    assert limit <= replace(training, selection=None).max_strength(space(), *data)
    for _, model in training.path(space(), *data, [0.5, 0.1]):
        assert set(task.weights_of(model).features.tolist()) <= set(task.kept.tolist())


def test_debiasing_after_a_selection_of_features(data: Any) -> None:
    training = replace(CRF, selection=Sparseptron(2, 2), keep="features", debias=0.1)
    task = training.prepare(space(), *data)
    model = training.fit(space(), *data, dev=data)
    assert set(task.weights_of(model).features.tolist()) <= set(task.kept.tolist())
