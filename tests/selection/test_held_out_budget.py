"""A budget that is chosen on held-out instances."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.selection import GroupLassoPath, HeldOutBudget, InformationGain, Selected, Sparseptron
from parsimon.selection.base import features_of_templates
from parsimon.selection.held_out_budget import excess
from parsimon.solvers import Monitor, Weights
from parsimon.tasks.parsing.training import ParserTraining
from parsimon.tasks.selecting import keeps_features
from parsimon.tasks.sequences.training import SequenceTraining
from toy_templates import GOOD, space
from toy_treebanks import grammar


@pytest.mark.parametrize(
    "inner", [Sparseptron(7, epochs=4, every=20), InformationGain(7), GroupLassoPath(7)], ids=lambda s: s.name
)
def test_one_template_is_enough_where_one_matters(inner: Any, data: Any) -> None:
    selection = HeldOutBudget(inner, budgets=(1, 2, 3, 5))
    training = SequenceTraining(selection=selection, l1=0.1)
    task = training.prepare(space(), *data)
    chosen = task.selected
    assert chosen is not None
    assert [each.budget for each in chosen.tried] == [1, 2, 3, 5]
    kept = [name for name, wanted in zip(chosen.names, chosen.kept, strict=True) if wanted]
    assert kept == ["U", GOOD, "B"]
    model = training.fit(space(), *data)
    assert [each["budget"] for each in model.info["selection"]["tried"]] == [1, 2, 3, 5]
    assert model.info["selection"]["name"] == inner.name


def test_the_smallest_within_a_standard_error_is_taken() -> None:
    mistakes = np.array([[3.0, 3, 3, 3, 2, 3], [1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0]])
    worse, error = excess(mistakes)
    assert worse.tolist() == [15.0, 1.0, 0.0, 0.0]
    d = mistakes[1] - mistakes[2]
    assert error[1] == pytest.approx(d.std(ddof=1) * np.sqrt(6))
    assert next(i for i in range(4) if worse[i] <= error[i]) == 1
    assert error[2] == 0.0


def test_one_instance_has_no_standard_error() -> None:
    assert excess(np.array([[1.0], [0.0]]))[1].tolist() == [0.0, 0.0]


def test_what_was_tried_is_kept_in_checkpoints(data: Any) -> None:
    training = SequenceTraining(
        selection=HeldOutBudget(Sparseptron(2, 2), (1, 2)), loss="hinge", solver="mira"
    )
    chosen = training.prepare(space(), *data).selected
    assert chosen is not None
    again = Selected.from_dict(json.loads(json.dumps(chosen.to_dict())))
    assert again.tried == chosen.tried


def test_by_default_no_budget_is_as_large_as_there_are_templates(data: Any) -> None:
    selection = HeldOutBudget(Sparseptron(2, 2))
    chosen = SequenceTraining(selection=selection).prepare(space(), *data).selected
    assert chosen is not None
    assert [each.budget for each in chosen.tried] == [4]  # of five


def test_it_keeps_what_the_selection_keeps() -> None:
    assert keeps_features(HeldOutBudget(Sparseptron(2)), "auto", "mira")
    assert not keeps_features(HeldOutBudget(InformationGain(2)), "auto", "mira")


def test_parsers_have_it_too() -> None:
    treebank = grammar(60)
    selection = HeldOutBudget(Sparseptron(4, 2), (2, 4), epochs=2)
    model = ParserTraining(selection=selection, max_iter=2, relations=None).fit(
        ArcFeatures(arc_preset("mcdonald")), treebank
    )
    assert [each["budget"] for each in model.info["selection"]["tried"]] == [2, 4]


def test_few_instances_are_refused(data: Any) -> None:
    X, y = data
    training = SequenceTraining(selection=HeldOutBudget(Sparseptron(2)))
    with pytest.raises(ParsimonError, match="there are 19 instances, too few to hold any out; it takes 20"):
        training.fit(space(), X[:19], y[:19])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"share": 1.0}, "between 0 and 1"), ({"budgets": (0, 3)}, "budgets must be at least 1")],
)
def test_wrong_settings(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        HeldOutBudget(Sparseptron(2), **wrong)


def test_features_of_templates(data: Any) -> None:
    task = SequenceTraining().prepare(space(), *data)
    names = task.features.template_names()
    some = np.array([name in (GOOD, "B") for name in names])
    found, rest = (features_of_templates(task.features, mask) for mask in (some, ~some))
    assert np.union1d(found, rest).tolist() == list(range(task.problem.n_features))
    assert len(np.intersect1d(found, rest)) == 0
    assert {task.features.attribute_name(f)[:3] for f in found.tolist()} == {"U:w", "B"}


# ---- the problem's part --------------------------------------------------------------------------------------


def test_instances_are_in_one_of_two_problems(data: Any) -> None:
    problem = SequenceTraining().prepare(space(), *data).problem
    learnt, held = problem.held_out(0.25, 3)
    assert learnt.n_instances + held.n_instances == problem.n_instances
    assert 0.2 < held.n_instances / problem.n_instances < 0.3
    w = np.random.default_rng(0).normal(size=problem.n_features)
    assert learnt.loss_and_gradient(w)[0] + held.loss_and_gradient(w)[0] == pytest.approx(
        problem.loss_and_gradient(w)[0], rel=1e-12
    )
    again = problem.held_out(0.25, 3)[1]
    assert again.loss_and_gradient(w)[0] == held.loss_and_gradient(w)[0]


def test_mistakes_are_counted_instance_by_instance(data: Any) -> None:
    problem = SequenceTraining().prepare(space(), *data).problem
    w = np.random.default_rng(0).normal(size=problem.n_features)
    weights = Weights(w, None, len(w))
    wrong = np.concatenate(
        [out != batch.gold for out, batch in zip(problem.predict(weights), problem.batches, strict=True)]
    )
    mistakes = problem.mistakes(weights)
    assert len(mistakes) == problem.n_instances
    assert mistakes.sum() == wrong.sum() > 0


def test_a_problem_that_cannot_hold_out_is_refused(data: Any) -> None:
    from parsimon.selection import Candidates

    task = SequenceTraining().prepare(space(), *data)
    bare: Any = object()
    with pytest.raises(ParsimonError, match="no instances of this problem can be held out; give a budget"):
        HeldOutBudget(Sparseptron(2)).select(
            replace(Candidates(task.problem, task.features, lambda: np.zeros(0)), problem=bare), Monitor()
        )
