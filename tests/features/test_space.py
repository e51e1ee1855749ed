"""Every feature space offers what the protocol says."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from parsimon.features import Columns, ItemFeatures, MatrixFeatures, TemplateFeatures, TemplateSet
from parsimon.features.space import FeatureSpace, NumberedFeatures


def members(protocol: Any) -> set[str]:
    return {name for name in dir(protocol) if not name.startswith("_")} | set(protocol.__annotations__)


SPACES = {
    "templates": (
        lambda: TemplateFeatures(TemplateSet.parse("U:%x[0,0]\nB")),
        Columns.from_sequences([["a", "b"], ["a"]]),
    ),
    "items": (ItemFeatures, [[{"w": "a"}, ["b", "c"]], [{"w": "a"}]]),
    "matrix": (MatrixFeatures, [np.eye(2), np.ones((1, 2))]),
}


@pytest.mark.parametrize("name", SPACES)
def test_a_space_numbers_names_and_restores_its_attributes(name: str) -> None:
    make, X = SPACES[name]
    space: Any = make()
    assert members(FeatureSpace) | members(NumberedFeatures) <= set(dir(space))
    assert space.kind == name
    learnt, observed = space.learn(X, 1), space.observe(X, 1)
    for a, b in ((learnt.node, observed.node), (learnt.pair, observed.pair)):
        assert (a.start.tolist(), a.index.tolist()) == (b.start.tolist(), b.index.tolist())
    node, pair = np.arange(space.n_node), np.arange(space.n_pair)
    names = space.node_names(node)
    assert len(set(names)) == len(names) == space.n_node > 1
    assert len(space.pair_names(pair)) == space.n_pair == 1
    templates = [*space.node_templates(node).tolist(), *space.pair_templates(pair).tolist()]
    assert set(templates) == set(range(len(space.template_names())))
    settings, arrays = space.state()
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    buffer.seek(0)
    again = type(space).from_state(settings, dict(np.load(buffer)))
    assert again.node_names(node) == names
    wanted = node % 2 == 0
    kept = space.keep(wanted, np.zeros(1, bool))
    assert (kept.n_node, kept.n_pair) == (wanted.sum(), 0)
    assert kept.node_names(np.arange(kept.n_node)) == [names[a] for a in np.flatnonzero(wanted)]
