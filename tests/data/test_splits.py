"""Folds: every sequence is trained on, chosen on and tested on as often as it should be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from parsimon.data import folds
from parsimon.errors import ParsimonError


@pytest.mark.parametrize(("n", "k"), [(20, 10), (23, 10), (3, 3), (17, 5)])
def test_every_sequence_has_each_role_as_often_as_it_should(n: int, k: int) -> None:
    made = folds(n, k)
    assert len(made) == k
    for fold in made:
        assert sorted(np.concatenate([fold.train, fold.dev, fold.test])) == list(range(n))
        for part in (fold.train, fold.dev, fold.test):
            assert sorted(part) == list(part)
        assert {len(fold.dev), len(fold.test)} <= {n // k, -(-n // k)}
    assert sorted(np.concatenate([fold.test for fold in made])) == list(range(n))
    assert sorted(np.concatenate([fold.dev for fold in made])) == list(range(n))
    for fold, following in zip(made, [*made[1:], made[0]], strict=True):
        assert list(fold.dev) == list(following.test)


def test_folds_depend_on_the_seed_alone() -> None:
    assert [f.test.tolist() for f in folds(50, 5)] == [f.test.tolist() for f in folds(50, 5)]
    assert folds(50, 5, seed=1)[0].test.tolist() != folds(50, 5)[0].test.tolist()
    # The numbers themselves, so that results can be compared from one version to the next.
    assert folds(12, 4)[0].test.tolist() == [1, 4, 10]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: folds(10, 2), "k is 2; .* at least 3 parts"),
        (lambda: folds(9), "9 sequences cannot be split into 10 parts"),
    ],
)
def test_wrong_arguments(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        call()
