"""What features mean, feature by feature: template, attribute and label, against loops over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.designs.feature_table import FeatureTable
from parsimon.tasks.sequences.training import SequenceTraining
from toy_templates import make_data, space


@pytest.fixture(scope="module", params=["all", "seen"])
def table(request: pytest.FixtureRequest) -> FeatureTable:
    task = SequenceTraining(candidates=request.param).prepare(space(), *make_data(n=8))
    assert isinstance(task.features, FeatureTable)
    return task.features


def one_by_one(table: FeatureTable) -> list[tuple[str, int, int]]:
    """The part, the attribute and the number of the label (or the pair of labels) of every feature."""
    out = []
    for part, rows in (("node", table.index.node), ("pair", table.index.pair)):
        attribute, column = rows.describe(np.arange(rows.n_features, dtype=np.int64))
        out += [(part, int(a), int(c)) for a, c in zip(attribute, column, strict=True)]
    return out


def test_labels_and_names_of_all_features(table: FeatureTable) -> None:
    every = one_by_one(table)
    assert table.n_features == len(every)
    assert table.n_labels == len(table.label_names()) == 3
    names = {
        "node": table.space.node_names(np.arange(table.space.n_node)),
        "pair": table.space.pair_names(np.arange(table.space.n_pair)),
    }
    found = table.labels_of(np.arange(len(every)))
    shuffled = np.random.default_rng(0).permutation(len(every))
    np.testing.assert_array_equal(table.labels_of(shuffled), found[shuffled])
    for feature, (part, attribute, column) in enumerate(every):
        assert found[feature] == column % 3
        assert table.attribute_name(feature) == names[part][attribute]


def test_attributes_start_where_their_first_feature_is(table: FeatureTable) -> None:
    every, (node, pair) = one_by_one(table), table.starts()
    assert (len(node), len(pair)) == (table.space.n_node + 1, table.space.n_pair + 1)
    for part, starts in (("node", node), ("pair", pair)):
        for a in range(len(starts) - 1):
            members = list(range(starts[a], starts[a + 1]))
            assert members == [f for f, each in enumerate(every) if each[:2] == (part, a)]


def test_biases_and_label_bigrams_look_at_nothing(table: FeatureTable) -> None:
    bias = {table.attribute_name(f) for f in table.bias_features()}
    others = {table.attribute_name(f) for f in range(table.n_features)} - bias
    assert bias == {"U", "B"}
    assert others
    wanted = [f for f in range(table.n_features) if table.attribute_name(f) in bias]
    assert table.bias_features().tolist() == wanted
    names = table.template_names()
    assert {names[m] for m in table.bias_templates()} == bias


def test_features_in_their_two_parts(table: FeatureTable) -> None:
    random = np.random.default_rng(1)
    features = np.flatnonzero(random.random(table.n_features) < 0.3)
    values: Any = random.normal(size=len(features))
    every, names, seen = one_by_one(table), table.template_names(), []
    for part, (rows, templates, numbers, some) in zip(
        ("node", "pair"), table.parts(features, values), strict=True
    ):
        attribute, column = rows.describe(numbers)
        for a, c, value in zip(attribute.tolist(), column.tolist(), some.tolist(), strict=True):
            seen.append((every.index((part, a, c)), value))
            assert table.attribute_name(seen[-1][0]).startswith(names[templates[a]].split("=")[0])
    assert seen == list(zip(features.tolist(), values.tolist(), strict=True))


def test_templates_of_attributes(table: FeatureTable) -> None:
    node, pair = table.template_of_attributes()
    names = table.template_names()
    for attribute, template in enumerate(node.tolist()):
        name = table.space.node_names(np.array([attribute]))[0]
        assert name.split("=")[0].split(":")[-1] in names[template]
    assert [names[m] for m in pair.tolist()] == ["B"]
    assert len(table.firings()) == len(names)
    assert np.all(table.firings() >= 1)
