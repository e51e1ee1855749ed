"""Choosing templates: what is kept, what the second stage gets, and what cannot work."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest

from parsimon import SequenceLabeler
from parsimon.errors import ParsimonError
from parsimon.features import Columns, ItemFeatures, Labels, TemplateFeatures, TemplateSet
from parsimon.penalties import L2, ElasticNet, GroupLasso
from parsimon.penalties.groupings import ByAttribute, ByTemplate
from parsimon.selection import GroupLassoPath, InformationGain, Sparseptron, template_norms
from parsimon.solvers import Online, PassiveAggressive, Weights
from parsimon.tasks.sequences.training import SequenceTraining

# Only the first column tells the label; the others are noise.
TEMPLATES = TemplateSet.parse(
    "U\nU:w=%x[0,0]\nU:n1=%x[0,1]\nU:n2=%x[-1,1]\nU:n3=%x[0,1]/%x[1,1]\nU:n4=%x[1,1]\nB"
)
GOOD = "U:w=%x[0,0]"


def make_data(seed: int = 0, n: int = 60) -> tuple[Columns, Labels]:
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for _ in range(n):
        y = rng.integers(3, size=rng.integers(2, 7))
        rows.append([(f"{'abc'[k]}{rng.integers(4)}", f"n{rng.integers(8)}") for k in y])
        labels.append([f"L{k}" for k in y])
    return Columns.from_sequences(rows), Labels.from_sequences(labels)


@pytest.fixture(scope="module")
def data() -> tuple[Columns, Labels]:
    return make_data()


def space() -> TemplateFeatures:
    return TemplateFeatures(TEMPLATES)


SELECTIONS: dict[str, Any] = {
    "sparseptron": Sparseptron(1, epochs=4, every=20),
    "sparseptron, survivors not shrunk": Sparseptron(1, epochs=4, every=20, shrink=False),
    "information gain": InformationGain(1),
    "group lasso": GroupLassoPath(1),
}


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_the_template_that_matters_is_kept(data: Any, selection: Any) -> None:
    model = SequenceTraining(selection=selection, penalty=ElasticNet(0.1, 1e-3)).fit(space(), *data)
    assert [t.source for t in model.space.templates] == ["U", GOOD, "B"]
    told = model.info["selection"]
    assert told["name"] == selection.name
    assert told["templates"][0][0] in (GOOD, "U", "B")
    assert model.info["candidate_templates"] == 7
    X, y = data
    predicted = model.predict_columns(X)
    assert np.mean(predicted.ids == y.ids) > 0.95


def test_the_second_stage_is_an_ordinary_training(data: Any) -> None:
    small = TemplateSet.parse(f"U\n{GOOD}\nB")
    mira = {"loss": "hinge", "solver": Online(3, PassiveAggressive(0.1)), "penalty": L2(0.0)}
    both = SequenceTraining(selection=Sparseptron(1, epochs=4, every=20), **mira).fit(space(), *data)
    alone = SequenceTraining(**mira).fit(TemplateFeatures(small), *data)
    np.testing.assert_array_equal(both.weights, alone.weights)


def test_how_many_weights_existed_is_remembered(data: Any) -> None:
    model = SequenceTraining(selection=Sparseptron(1, epochs=2, every=20)).fit(space(), *data)
    counts = [n for event in model.info["selection"]["history"] for n in event["instantiated"]]
    assert model.info["selection"]["instantiated"] == max(counts)
    assert min(counts) < max(counts)


def test_norms_of_templates(data: Any) -> None:
    task = SequenceTraining().prepare(space(), *data)
    rng = np.random.default_rng(0)
    w = rng.normal(size=task.problem.n_features)
    names = task.features.template_names()
    groups = ByTemplate(keep_bias=False).groups(task.features)
    assert template_norms(task.features, Weights(w, None, len(w))) == pytest.approx(groups.norms(w))
    assert [groups.name(m) for m in range(groups.n_groups)] == names


def test_other_groups_can_make_the_choice(data: Any) -> None:
    selection = Sparseptron(15, epochs=4, every=20, groups=ByAttribute())
    model = SequenceTraining(selection=selection).fit(space(), *data)
    assert GOOD in [t.source for t in model.space.templates]


def test_in_the_estimator(data: Any) -> None:
    X, y = data
    labeler = SequenceLabeler(TEMPLATES, selection=Sparseptron(1, epochs=4, every=20), l1=0.1).fit(X, list(y))
    assert labeler.score(X, list(y)) > 0.95
    from sklearn.base import clone

    assert clone(labeler).selection == labeler.selection


def test_group_lasso_drops_templates_along_a_path(data: Any) -> None:
    X, y = data
    penalty = GroupLasso(1.0, ByTemplate(weight="sqrt"))
    maker = SequenceLabeler(TEMPLATES, penalty=penalty, tol=1e-5)
    strongest = maker.max_strength(X, list(y))
    alive = []
    for strength, labeler in maker.path(X, list(y), [strongest * f for f in (1.001, 0.5, 0.02)]):
        assert labeler.penalty.strength == strength
        alive.append({t for t in names_in_use(labeler.model_) if t not in ("U", "B")})
    assert alive[0] == set()
    assert GOOD in alive[1]
    assert len(alive[2]) >= len(alive[1])


def names_in_use(model: Any) -> set[str]:
    names = model.space.template_names()
    used = {*model.space.node_templates(np.arange(model.space.n_node)).tolist()}
    used |= {*model.space.pair_templates(np.arange(model.space.n_pair)).tolist()}
    return {names[m] for m in used}


@pytest.mark.parametrize("selection", [Sparseptron(1, epochs=50), GroupLassoPath(1)], ids=lambda s: s.name)
def test_ctrl_c_while_templates_are_chosen_ends_it_all(data: Any, selection: Any) -> None:
    def interrupt(event: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        SequenceTraining(selection=selection, callback=interrupt).fit(space(), *data)


def test_what_cannot_work_is_refused(data: Any) -> None:
    X = [[{"w": "a"}, {"w": "b"}]]
    with pytest.raises(ParsimonError, match="templates"):
        SequenceTraining(selection=Sparseptron(1)).fit(ItemFeatures(), X, Labels.from_sequences([["A", "B"]]))
    with pytest.raises(ParsimonError, match="budget must be at least 1"):
        SequenceTraining(selection=Sparseptron(0)).fit(space(), *data)
