"""Labels of second-order features: tags, then pairs of them."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.designs.tag_labels import TagLabels
from parsimon.structures.label_pairs import LabelPairs


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_columns_of_steps_are_all_that_can_be(single: bool, seed: int) -> None:
    possible = np.random.default_rng(seed).random((5, 4)) < 0.5
    pairs = LabelPairs.of(possible)
    labels = TagLabels(pairs, single)
    meaning = [(int(b), int(t)) for b, t in zip(pairs.before, pairs.tag, strict=True)]
    wanted = [
        (i + labels.n_tag_labels, j + labels.n_tag_labels)
        for i, (_, tag) in enumerate(meaning)
        for j, (before, _) in enumerate(meaning)
        if before == tag
    ]
    if single:
        wanted += [each for each in meaning if each[0] >= 0]
    assert labels.n_labels == len(meaning) + 4 * single
    columns = labels.step_columns
    assert np.all(np.diff(columns) > 0)
    assert [divmod(int(c), labels.n_labels) for c in columns] == sorted(wanted)
