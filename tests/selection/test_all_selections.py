"""All ways of choosing templates: what is kept, and what cannot work."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest

from parsimon import SequenceLabeler
from parsimon.errors import ParsimonError
from parsimon.features import ItemFeatures, Labels
from parsimon.penalties import ElasticNet
from parsimon.selection import GroupLassoPath, InformationGain, Sparseptron
from parsimon.tasks.sequences.training import SequenceTraining
from toy_templates import GOOD, TEMPLATES, space

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


def test_in_the_estimator(data: Any) -> None:
    X, y = data
    labeler = SequenceLabeler(TEMPLATES, selection=Sparseptron(1, epochs=4, every=20), l1=0.1).fit(X, list(y))
    assert labeler.score(X, list(y)) > 0.95
    from sklearn.base import clone

    assert clone(labeler).selection == labeler.selection


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
