"""The comparison with Wapiti: what it prints and dumps is understood."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsimon.features.columns import Columns, Labels
from parsimon.features.presets import get_preset
from parsimon.features.template_features import TemplateFeatures
from parsimon.solvers import Weights
from parsimon.tasks.sequences.training import SequenceTraining


@pytest.fixture
def very_large(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Benchmarks are programs, not a package: they find each other in their folder."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return import_module("very_large")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "  [   1] obj=8115.39    act=4366     err=36.98%/98.33% time=0.39s/0.39s",
            ("8115.39", "4366", "0.39"),
        ),
        ("  [  12] obj=NA act=5559     err=12.25%/55.67% time=10.5s/0.39s", ("NA", "5559", "10.5")),
    ],
)
def test_lines_of_progress(very_large: Any, line: str, told: tuple[str, ...]) -> None:
    assert very_large.STEP.match(line).groups() == told


def dump(model: Any) -> Iterator[str]:
    """A model as Wapiti dumps one: a line a weight, # where there is no previous label, u for U and b for B."""
    yield "something that is no weight\n"
    for rows, names, w, pair in (
        (model.index.pair, model.space.pair_names, model.weights[model.index.node.n_features :], True),
        (model.index.node, model.space.node_names, model.weights[: model.index.node.n_features], False),
    ):
        attribute, column = rows.describe(np.arange(rows.n_features))
        for name, place, value in zip(names(attribute), column.tolist(), w, strict=True):
            previous = model.labels[place // model.n_labels] if pair else "#"
            yield f"{name[0].lower()}{name[1:]}\t{previous}\t{model.labels[place % model.n_labels]}\t{value:.12f}\n"


def test_a_dump_has_the_weights_of_the_model(very_large: Any) -> None:
    X = Columns.from_sequences([list("abca"), list("bca"), list("cab"), list("aab")])
    y = Labels.from_sequences([list("pqqp"), list("qpp"), list("qpq"), list("ppq")])
    training = SequenceTraining(max_iter=20)
    task = training.prepare(TemplateFeatures(get_preset("nettalk-3grm")), X, y)
    result = training.solve(task, Weights.zeros(task.problem.n_features))
    read = very_large.dumped(task, dump(task.model(result, {})))
    kept = result.weights.nonzero()
    assert len(kept.values) > 4
    np.testing.assert_array_equal(read.features, kept.features)
    np.testing.assert_allclose(read.values, kept.values, atol=1e-11)
