"""What a labeller has learnt, in numbers and names."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.tasks.sequences import inspect as look
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining
from toy_sequences import make_data, space


@pytest.fixture(scope="module")
def model() -> SequenceModel:
    return SequenceTraining(l1=0.2, l2=0.1).fit(space(), *make_data())


def test_all_features_are_there_the_heaviest_first(model: SequenceModel) -> None:
    every = look.features(model)
    assert sorted(f.weight for f in every) == sorted(model.weights.tolist())
    sizes = [abs(f.weight) for f in every]
    assert sizes == sorted(sizes, reverse=True)
    assert look.features(model, top=2) == every[:2]
    assert {f.label for f in look.features(model, label="L1")} == {"L1"}


def test_shares_add_up(model: SequenceModel) -> None:
    for shares in (look.template_shares(model), look.label_shares(model)):
        assert sum(share.features for share in shares) == len(model.weights)
        assert sum(share.total for share in shares) == pytest.approx(np.abs(model.weights).sum())
    counts = look.summary(model)
    assert (counts["features"], counts["templates"]) == (
        len(model.weights),
        sum(share.features > 0 for share in look.template_shares(model)),
    )


def test_transitions_are_the_weights_of_plain_label_bigrams(model: SequenceModel) -> None:
    weights = look.transitions(model)
    found = {(f.previous, f.label): f.weight for f in look.features(model, template="B")}
    for (previous, label), weight in found.items():
        assert weights[model.labels.index(previous), model.labels.index(label)] == weight
    assert np.count_nonzero(weights) == len(found)


def test_a_smaller_model(model: SequenceModel) -> None:
    small = look.pruned(model, 0.5)
    assert np.abs(small.weights).min() > 0.5
    assert len(small.weights) == int((np.abs(model.weights) > 0.5).sum())
    with pytest.raises(ParsimonError, match="zero or more"):
        look.pruned(model, -1.0)
