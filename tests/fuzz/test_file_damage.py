"""Damage is the same for the same seed, and nearly always is damage."""

from __future__ import annotations

import numpy as np

from fuzz.file_damage import Damage, arrays_of, metadata, packed, paths

HEADER = {"a": [1, {"b": "text"}], "c": None, "d": {"e": 1.5, "f": [True, []]}}
ARRAYS = {"x": np.arange(5), "y": np.ones((2, 3))}


def test_the_same_seed_does_the_same_damage() -> None:
    content = packed(ARRAYS, {"texts": "here"})
    for one, other in ((Damage(3), Damage(3)),):
        for _ in range(50):
            assert one.bytes(content) == other.bytes(content)
            assert repr(one.header(HEADER)) == repr(other.header(HEADER))
            assert repr(one.arrays(ARRAYS)) == repr(other.arrays(ARRAYS))


def test_damage_leaves_the_original_alone_and_reaches_everything() -> None:
    damage, before, seen = Damage(1), repr(HEADER), set()
    for _ in range(300):
        seen |= {name for name in HEADER if repr(damage.header(HEADER).get(name)) != repr(HEADER[name])}
        damage.arrays(ARRAYS)
    assert seen == set(HEADER)
    assert repr(HEADER) == before
    assert ARRAYS["x"].tolist() == [0, 1, 2, 3, 4]


def test_files_are_taken_apart() -> None:
    content = packed(ARRAYS, {"texts": "here"})
    assert metadata(content) == {"texts": "here"}
    assert {name: values.tolist() for name, values in arrays_of(content).items()} == {
        name: values.tolist() for name, values in ARRAYS.items()
    }
    assert ("a", 1, "b") in set(paths(HEADER))
