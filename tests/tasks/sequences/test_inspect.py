"""Looking into sequence models: features, shares of templates and labels, transitions, and pruning."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.tasks.sequences.inspect import (
    features,
    heaviest_by_label,
    label_shares,
    pruned,
    summary,
    template_shares,
    transitions,
)
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining
from toy_sequences import make_data, space


@cache
def model() -> SequenceModel:
    return SequenceTraining(l1=0.2).fit(space(), *make_data())


def test_features_are_all_weights_with_names_the_heaviest_first() -> None:
    found = features(model())
    assert sorted(each.weight for each in found) == sorted(model().weights)
    sizes = [abs(each.weight) for each in found]
    assert sizes == sorted(sizes, reverse=True)
    assert {each.label for each in found} <= set(model().labels)
    assert {each.template for each in found} <= set(model().space.template_names())
    assert all((each.previous is None) == each.template.startswith("U") for each in found)
    assert len({(each.template, each.attribute, each.previous, each.label) for each in found}) == len(found)


def test_features_of_one_label_or_template() -> None:
    found = features(model())
    assert features(model(), top=3) == found[:3]
    assert features(model(), label="L1") == [each for each in found if each.label == "L1"]
    assert features(model(), template="U0", top=2) == [e for e in found if e.template.startswith("U0:")][:2]
    with pytest.raises(ParsimonError, match="the model has no label 'L9'; its labels are L"):
        features(model(), label="L9")
    with pytest.raises(ParsimonError, match="the model has no template 'U9'; its templates are U"):
        features(model(), template="U9")


@pytest.mark.parametrize("top", [1, 3, 1000])
def test_the_heaviest_of_every_label(top: int) -> None:
    by_label = heaviest_by_label(model(), top)
    for name in model().labels:
        sizes = [abs(each.weight) for each in by_label[name]]
        assert sizes == [abs(each.weight) for each in features(model(), label=name, top=top)]
        assert {each.label for each in by_label[name]} == {name}
    assert heaviest_by_label(model(), 0) == {}
    assert list(heaviest_by_label(model(), 2, label="L1")) == ["L1"]
    assert all(
        e.template.startswith("B") for es in heaviest_by_label(model(), 5, template="B0").values() for e in es
    )


def test_shares_add_up() -> None:
    total = float(np.abs(model().weights).sum())
    for shares in (template_shares(model()), label_shares(model())):
        assert sum(share.features for share in shares) == len(model().weights)
        assert sum(share.total for share in shares) == pytest.approx(total)
    assert [share.name for share in template_shares(model())] == model().space.template_names()
    found = features(model())
    for share in label_shares(model()):
        mine = [each for each in found if each.label == share.name]
        assert share.features == len(mine)
        assert share.attributes == len({(each.template, each.attribute) for each in mine})


def test_transitions_are_the_features_of_the_plain_bigram() -> None:
    table, names = transitions(model()), model().labels
    expected = np.zeros_like(table)
    for each in features(model()):
        if each.template == "B" and each.previous is not None:
            expected[names.index(each.previous), names.index(each.label)] += each.weight
    np.testing.assert_allclose(table, expected)


def test_the_summary() -> None:
    said = summary(model())
    assert said["features"] == len(model().weights)
    assert said["labels"] == list(model().labels)
    assert said["templates"] == sum(share.features > 0 for share in template_shares(model()))
    assert "history" not in said["training"]


def test_pruning() -> None:
    half = float(np.median(np.abs(model().weights)))
    small = pruned(model(), half)
    assert sorted(small.weights) == sorted(w for w in model().weights if abs(w) > half)
    assert len(pruned(model(), 0.0).weights) == len(model().weights)
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ParsimonError, match="the threshold must be zero or more"):
            pruned(model(), wrong)
