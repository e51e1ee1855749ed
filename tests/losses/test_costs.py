"""Costs of wrong labels: by name, as tables, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.features.columns import Labels
from parsimon.features.item_features import ItemFeatures
from parsimon.losses import Hinge, Log, Perceptron, SmoothedHinge, get_loss
from parsimon.penalties import L2
from parsimon.tasks.fingerprint import fingerprint
from parsimon.tasks.matrices.flat import flat_problem
from parsimon.tasks.sequences.training import SequenceTraining


def test_costs_by_name() -> None:
    labels = ["B", "I", "O"]
    wanted = [[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [0.25, 1.0, 0.0]]
    pairs = {("B", "O"): 5, ("O", "B"): 0.25}
    of_pairs = Hinge(cost=pairs).bind(labels)
    assert of_pairs.cost.tolist() == wanted
    of_function = Hinge(cost=lambda gold, given: pairs.get((gold, given), float(gold != given)))
    assert of_function.bind(labels) == of_pairs == Hinge(cost=wanted) == Hinge(cost=wanted).bind(labels)
    assert Hinge(cost=2).bind(labels) == Hinge(cost=2.0) != Hinge()
    smoothed = SmoothedHinge(0.5, pairs).bind(labels)
    assert (smoothed.temperature, smoothed.cost.tolist()) == (0.5, wanted)
    assert smoothed != SmoothedHinge(0.4, wanted) != of_pairs
    assert of_pairs.bind(labels) == of_pairs
    assert hash(Hinge(cost=wanted)) == hash(of_pairs)
    for loss in (Log(), Perceptron(), get_loss("squared")):
        assert loss.bind(labels) is loss


def test_a_table_of_costs_is_copied() -> None:
    table = np.array([[0.0, 1.0], [2.0, 0.0]])
    loss = Hinge(cost=table)
    table[0, 1] = 7.0
    assert loss == Hinge(cost=[[0, 1], [2, 0]])


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ({("O", "X"): 1.0}, "there is a cost for the label 'X', but the labels are B, O"),
        ({"OB": 1.0}, r"goes from pairs \(gold, given\) of labels, not from 'OB'"),
        ({("O", "B"): -1.0}, "giving label 'B' where 'O' is gold must be zero or more, not -1.0"),
        ({("O", "B"): float("nan")}, "giving label 'B' where 'O' is gold must be zero or more, not nan"),
        ({("O", "B"): "much"}, "giving label 'B' where 'O' is gold must be a number, not 'much'"),
        ({("O", "O"): 2.0}, "label 'O' is right where it is gold, so it must cost 0 there, not 2.0"),
        (lambda gold, given: 1.0, "label 'B' is right where it is gold"),
        (lambda gold, given: None, "giving label 'B' where 'B' is gold must be a number, not None"),
        ([[0.0, 1.0], [-2.0, 0.0]], "giving label 0 where 1 is gold must be zero or more, not -2.0"),
        ([[0.0, np.inf], [1.0, 0.0]], "giving label 1 where 0 is gold must be zero or more, not inf"),
        ([[1.0, 1.0], [1.0, 0.0]], "label 0 is right where it is gold"),
        (np.ones((2, 3)), r"a row and a column for each label, not the shape \(2, 3\)"),
        (np.ones(2), r"a row and a column for each label, not the shape \(2,\)"),
        (1 - np.eye(3), "the table of costs is for 3 labels, but there are 2; give 2 rows and columns"),
        ([[0.0, 1.0], [1.0]], "a cost must be a number, an array"),
        ("hamming", "a cost must be a number, an array .* not 'hamming'"),
        (-1.0, "the cost of a wrong label must be zero or more, not -1.0"),
        (float("nan"), "the cost of a wrong label must be zero or more, not nan"),
    ],
)
def test_bad_costs_are_explained(cost: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message) as error:
        Hinge(cost=cost).bind(["B", "O"])
    assert str(error.value).count(". ") == 0
    with pytest.raises(ParsimonError, match=message):
        SmoothedHinge(1.0, cost).bind(["B", "O"])


X = [[{"w=a": 1.0}, {"w=b": 1.0}], [{"w=b": 1.0}, {"w=a": 1.0}, {"w=c": 1.0}]]
Y = [["O", "B"], ["B", "O", "B"]]


def task_of(loss: Any) -> Any:
    return SequenceTraining(loss=loss, penalty=L2(0.1)).prepare(ItemFeatures(), X, Labels.from_sequences(Y))


def test_training_finds_the_names_of_costs() -> None:
    task = task_of(Hinge(cost={("O", "B"): 4.0}))
    table = task.problem.loss.cost
    assert table[task.labels.index("O"), task.labels.index("B")] == 4.0
    assert table.sum() == 5.0
    with pytest.raises(ParsimonError, match="a cost for the label 'I'"):
        task_of(Hinge(cost={("O", "I"): 4.0}))


def test_checkpoints_tell_costs_apart() -> None:
    losses = [
        "hinge",
        Hinge(2.0),
        Hinge({("O", "B"): 4.0}),
        Hinge({("O", "B"): 3.0}),
        Hinge(lambda gold, given: 4.0 * (gold == "O" != given) or gold != given),
        Hinge(lambda gold, given: 3.0 * (gold == "O" != given) or gold != given),
        SmoothedHinge(1.0),
        "log",
    ]
    assert len({fingerprint(loss) for loss in losses}) == len(losses)
    assert fingerprint(Hinge({("O", "B"): 4.0})) == fingerprint(Hinge({("O", "B"): 4.0}))


def test_vectors_have_numbers_for_labels() -> None:
    loss = Hinge(cost={(0, 1): 3.0})
    problem = flat_problem(np.eye(3), np.array([0, 1, 0]), 2, L2(1.0), loss, bias=False)
    assert problem.loss == Hinge(cost=[[0, 3], [1, 0]])
    assert problem.loss_and_gradient(np.zeros(problem.n_features))[0] == 3 + 1 + 3
