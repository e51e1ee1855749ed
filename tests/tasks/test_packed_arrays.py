"""Arrays in less room: what comes back, what it costs, and what is refused."""

from __future__ import annotations

import tracemalloc
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parsimon.errors import ParsimonError
from parsimon.tasks import packed_arrays
from parsimon.tasks.packed_arrays import coded, decoded, is_weights, lloyd, pack, unpack, with_weights_as

RANDOM = np.random.default_rng(0)
ARRAYS: dict[str, Any] = {
    "many": np.arange(10_000) // 7,
    "small": np.arange(5000, dtype=np.uint16).reshape(50, 100),
    "noise": RANDOM.integers(0, 256, 9000).astype(np.uint8),
    "weights": RANDOM.normal(size=3000),
    "few": np.array([1.0, 2.0]),
    "none": np.zeros((0, 3)),
    "number": np.float64(3.0),
}


def test_packed_arrays_come_back_as_they_were() -> None:
    given = {name: np.ascontiguousarray(values) for name, values in ARRAYS.items()}
    packed, described = pack(given)
    assert set(described) >= {"many", "small"}
    assert not set(described) & {"noise", "few", "none", "number"}  # nothing would be gained
    assert sum(v.nbytes for v in packed.values()) < 0.6 * sum(v.nbytes for v in given.values())
    back = unpack(packed, described, 1)
    for name, values in given.items():
        assert back[name].dtype == values.dtype
        np.testing.assert_array_equal(back[name], values)


PACKED, DESCRIBED = pack({"a": np.zeros(10_000, np.int32)})
BLOB = PACKED["a"].tobytes()


@pytest.mark.parametrize(
    ("blob", "described", "said"),
    [
        (BLOB, None, "not described"),
        (BLOB, {"a": 3}, "packed.a"),
        (BLOB, {"a": {"dtype": "int32"}}, "packed.a"),
        (BLOB, {"a": {"dtype": "int32", "shape": [-1]}}, "packed.a"),
        (BLOB, {"a": {"dtype": "object", "shape": [10_000]}}, "has no numbers"),
        (BLOB, {"a": {"dtype": "U3", "shape": [10_000]}}, "has no numbers"),
        (BLOB, {"a": {"dtype": "int32", "shape": [9999]}}, "another size"),
        (BLOB, {"a": {"dtype": "int32", "shape": [10_001]}}, "another size"),
        (BLOB, {"a": {"dtype": "int32", "shape": [0]}}, "another size"),
        (BLOB[:-3], DESCRIBED, "another size"),
        (BLOB[:-1] + b"\x00", DESCRIBED, "cut or changed"),
        (b"no such stream", DESCRIBED, "cut or changed"),
        (BLOB, {"a": {"dtype": "int32", "shape": [10**9, 10**9]}}, "more than a file of this size"),
    ],
)
def test_what_pack_has_not_made_is_refused(blob: bytes, described: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        unpack({"a": np.frombuffer(blob, np.uint8)}, described, len(blob))


def test_a_bomb_takes_no_memory() -> None:
    """A megabyte that would become a gigabyte: neither said nor unsaid does it get that far."""
    bomb = np.frombuffer(zlib.compress(bytes(400 << 20), 1), np.uint8)
    tracemalloc.start()
    for shape in ([400 << 20], [1000]):
        with pytest.raises(ValueError, match=r"more than a file of this size|another size"):
            unpack({"a": bomb}, {"a": {"dtype": "uint8", "shape": shape}}, 1 << 20)
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()


@given(arrays(np.float64, st.integers(0, 400), elements=st.floats(-1e6, 1e6)))
def test_codes_keep_zeros_signs_and_few_values(values: Any) -> None:
    codes, levels = coded(values)
    back = levels[codes] if len(levels) else values
    assert len(levels) <= 256
    np.testing.assert_array_equal(back == 0, values == 0)
    if len(np.unique(values)) <= 255:
        np.testing.assert_array_equal(back, values)


@pytest.mark.parametrize("draw", ["normal", "laplace", "standard_t"])
def test_codes_are_nearly_as_good_as_eight_bits_can_be(draw: str) -> None:
    """The signal-to-noise ratio of the best quantiser of 256 levels is some 43.7 dB for a normal, 40.6 for a Laplace
    distribution (Jayant & Noll 1984, table 4.3, with Panter and Dite's approximation)."""
    sample = getattr(np.random.default_rng(1), draw)(
        **({"df": 3} if draw == "standard_t" else {}), size=200_000
    )
    codes, levels = coded(sample)
    ratio = 10 * np.log10(np.mean(sample**2) / np.mean((levels[codes] - sample) ** 2))
    assert ratio > {"normal": 43.0, "laplace": 40.0, "standard_t": 35.0}[draw]
    even = np.linspace(sample.min(), sample.max(), 256)  # for comparison
    nearest = even[np.searchsorted((even[1:] + even[:-1]) / 2, sample)]
    assert np.mean((levels[codes] - sample) ** 2) < 0.7 * np.mean((nearest - sample) ** 2)


def test_levels_are_the_means_of_what_is_nearest_to_them() -> None:
    values = np.sort(np.random.default_rng(2).normal(size=5000))
    levels = lloyd(values, 8)
    nearest = np.searchsorted((levels[1:] + levels[:-1]) / 2, values)
    means = np.array([values[nearest == k].mean() for k in range(len(levels))])
    np.testing.assert_allclose(levels, means, atol=0.01)


def test_only_weights_get_fewer_bits() -> None:
    tensors = {
        "weights": np.array([0.1, 0.0]),
        "first.weights": np.array([[0.3]]),
        "groups.weight": np.array([0.1]),
    }
    for dtype in ("float32", "float16", "int8"):
        out = with_weights_as(tensors, dtype)
        assert out["groups.weight"].dtype == np.float64
        back = decoded(out)
        assert set(back) == set(tensors)
        for name, values in tensors.items():
            assert back[name].shape == values.shape
            np.testing.assert_allclose(back[name], values, rtol=1e-3)
    assert [is_weights(name) for name in ("weights", "a.weights", "weightsof", "weight")] == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(ParsimonError, match="too large for float16; keep float64"):
        with_weights_as({"weights": np.array([1e5])}, "float16")
    with pytest.raises(ParsimonError, match="not 'int4'"):
        with_weights_as({}, "int4")


@pytest.mark.parametrize(
    "tensors",
    [
        {"weights": np.zeros(3, np.uint8), "weights.levels": np.zeros((2, 2))},
        {"weights": np.zeros(3, np.uint8), "weights.levels": np.zeros(2, np.int64)},
        {"weights": np.zeros(3), "weights.levels": np.zeros(2)},
        {"weights": np.full(3, 7, np.uint8), "weights.levels": np.zeros(2)},
        {"weights.levels": np.zeros(2)},
    ],
)
def test_codes_that_mean_nothing_are_refused(tensors: Any) -> None:
    with pytest.raises((ValueError, IndexError, KeyError)):
        decoded(tensors)


def test_small_arrays_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = {"a": np.zeros(100)}
    assert pack(zeros)[1] == {}
    monkeypatch.setattr(packed_arrays, "WORTH_IT", 100)
    assert set(pack(zeros)[1]) == {"a"}
