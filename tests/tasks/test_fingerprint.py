"""Fingerprints: equal things have the same, other things have others, and no process changes them."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.data.discrete_table import DiscreteTable
from parsimon.features import Columns, Labels, SparseSequences
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso
from parsimon.penalties.groupings import ByTemplate
from parsimon.penalties.groups import Groups
from parsimon.selection import InformationGain, Sparseptron
from parsimon.solvers import Online, PassiveAggressive
from parsimon.tasks.fingerprint import HasContent, fingerprint
from parsimon.tasks.matrices.training import Rows
from toy_treebanks import grammar

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(plain, plain)
def test_plain_things_have_the_same_fingerprint_exactly_if_they_are_equal(one: Any, other: Any) -> None:
    assert fingerprint(one) == fingerprint(_copied(one))
    assert (fingerprint(one) == fingerprint(other)) == (_apart(one) == _apart(other))


def _copied(thing: Any) -> Any:
    if isinstance(thing, list):
        return tuple(map(_copied, thing))
    return {key: _copied(value) for key, value in thing.items()} if isinstance(thing, dict) else thing


def _apart(thing: Any) -> Any:
    """Things that Python takes for equal, but data do not: True and 1, and dictionaries in another order."""
    if isinstance(thing, list):
        return ["list", *map(_apart, thing)]
    if isinstance(thing, dict):
        return ["map", *((key, _apart(value)) for key, value in thing.items())]
    return [
        type(thing).__name__ if not isinstance(thing, int | float) or isinstance(thing, bool) else "",
        thing,
    ]


def test_numbers_of_all_types_that_are_equal() -> None:
    assert len({fingerprint(one) for one in (1, 1.0, np.float64(1), np.float32(1), np.int8(1))}) == 1
    assert fingerprint(0.1) == fingerprint(np.float64(0.1)) != fingerprint(np.float32(0.1))
    assert len({fingerprint(one) for one in (0, 1, True, "1", b"1", None, 1.5, math.inf, math.nan, 1j)}) == 10


def test_what_begins_and_ends_where() -> None:
    ways = [
        ["a", "bc"],
        ["ab", "c"],
        ["abc"],
        "abc",
        [["a"], "bc"],
        ["a", ["bc"]],
        [[], "abc"],
        ["abc", []],
        [],
    ]
    assert len({fingerprint(way) for way in ways}) == len(ways)
    assert fingerprint("a", "b") != fingerprint(["a", "b"])
    assert fingerprint("3:abc") != fingerprint("abc")
    assert fingerprint("\ud800") != fingerprint("\ud801")


ARRAYS = [
    np.zeros(4),
    np.zeros(4, np.float32),
    np.zeros(4, np.int64),
    np.zeros(5),
    np.zeros((2, 2)),
    np.arange(4.0),
    np.array(["a", "b"]),
    np.array(["a", "b"], object),
    np.array([["a", "b"]], object),
    np.array([1, None], object),
    np.array("a", object),
]


def test_arrays() -> None:
    assert len({fingerprint(array) for array in ARRAYS}) == len(ARRAYS)
    for array in ARRAYS:
        assert fingerprint(array) == fingerprint(array.copy())
    two = np.arange(6).reshape(2, 3)
    assert (
        fingerprint(two)
        == fingerprint(np.asfortranarray(two))
        == fingerprint(np.repeat(two, 2, axis=1)[:, ::2])
    )
    assert fingerprint(two) != fingerprint(two.T)


def test_sets_have_no_order() -> None:
    assert fingerprint({"a", "b", "c"}) == fingerprint(frozenset(["c", "b", "a"])) != fingerprint({"a", "b"})
    assert fingerprint({"ab"}) != fingerprint({"a", "b"})


@dataclass(frozen=True)
class Setting:
    size: float
    name: str = ""
    cache: dict[str, int] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Other:
    size: float
    name: str = ""


class Thing:
    def __init__(self, size: int) -> None:
        self.size = size


class Slots:
    __slots__ = ("size",)


class Listed:
    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def content(self) -> Iterator[Any]:
        yield from self.parts


def test_objects_are_known_by_what_they_are_made_of() -> None:
    assert fingerprint(Setting(1)) == fingerprint(Setting(1.0, cache={"a": 1}))
    assert (
        len({fingerprint(each) for each in (Setting(1), Setting(2), Setting(1, "a"), Other(1), Setting)}) == 5
    )
    assert fingerprint(Thing(1)) == fingerprint(Thing(1)) != fingerprint(Thing(2))
    assert fingerprint(Slots()) == fingerprint(Slots())
    assert fingerprint(Fraction(1, 2)) != fingerprint(Fraction(1, 3))
    assert fingerprint(Path("a")) != fingerprint(Path("b"))


def test_things_that_list_their_content() -> None:
    assert isinstance(Listed(), HasContent)
    assert fingerprint(Listed("a", 1)) == fingerprint(Listed("a", 1)) != fingerprint(Listed("a", 2))
    assert fingerprint(Listed("a")) != fingerprint(["a"])


# ---- callables ---------------------------------------------------------------------------------------------


def scale(x: float, by: float = 2.0) -> float:
    return x * by


def scaled(by: float) -> Callable[[float], float]:
    return lambda x: x * by


class Scale:
    def __init__(self, by: float) -> None:
        self.by = by

    def __call__(self, x: float) -> float:
        return x * self.by

    def method(self, x: float) -> float:
        return x * self.by


CALLABLES: list[Any] = [
    scale,
    lambda x: x * 2,
    lambda x: x * 3,
    lambda x: x + 2,
    lambda x, by=2: x * by,
    lambda x, by=3: x * by,
    lambda x, *, by=3: x * by,
    lambda x: abs(x),
    lambda x: round(x),
    scaled(2.0),
    scaled(3.0),
    partial(scale, by=2.0),
    partial(scale, by=3.0),
    partial(scale, 3.0),
    Scale(2.0),
    Scale(3.0),
    Scale(2.0).method,
    Scale(3.0).method,
    Scale,
    Thing,
    str.lower,
    str.upper,
    np.log2,
    np.sqrt,
    max,
]


def test_callables_are_told_apart_by_what_they_do() -> None:
    marks = [fingerprint(each) for each in CALLABLES]
    assert len(set(marks)) == len(marks)
    assert marks == [fingerprint(each) for each in CALLABLES]
    assert fingerprint(scaled(2)) == fingerprint(scaled(2.0))
    assert fingerprint(Scale(2.0).method) == fingerprint(Scale(2.0).method)


def test_a_function_that_calls_itself_from_within() -> None:
    def outer() -> Any:
        def inner(n: int) -> int:
            return 1 if n == 0 else inner(n - 1)

        return inner

    assert fingerprint(outer()) == fingerprint(outer())


def test_a_function_with_code_in_its_code() -> None:
    def make(n: int) -> Any:
        return [lambda x: [x + 1 for _ in range(3)], lambda x: [x + 2 for _ in range(3)]][n]

    assert fingerprint(make(0)) == fingerprint(make(0)) != fingerprint(make(1))


# ---- data and options --------------------------------------------------------------------------------------

COLUMNS = Columns.from_sequences([["a", "b"], ["c"]])
TABLE = DiscreteTable.learn([["a", 1], ["b", 2]])
X = np.array([[0.0, 1.0], [2.0, 0.0]])
GROUPS = Groups.from_lists([[0, 1]], 2)


def sparse(X: Any) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(X)


DATA: dict[str, Callable[[], list[Any]]] = {
    "columns": lambda: [
        Columns.from_sequences(words)
        for words in ([["a", "b"], ["c"]], [["a"], ["b", "c"]], [["a", "b"], ["d"]], [["a", "b"]], [])
    ],
    "two columns": lambda: [
        Columns.from_sequences(words)
        for words in ([[("a", "b")]], [[("b", "a")]], [[("a", "a")]], [[("a",)]], [[("ab", "")]])
    ],
    "labels": lambda: [
        Labels.from_sequences(labels)
        for labels in ([["A", "B"], ["A"]], [["A"], ["B", "A"]], [["B", "A"], ["B"]], [["A", None], ["A"]])
    ],
    "numbers": lambda: [
        SparseSequences(sparse(matrix), lengths)
        for matrix, lengths in ((X, [2]), (X, [1, 1]), (X + 1, [2]), (X.T, [2]))
    ],
    "treebanks": lambda: [
        grammar(3),
        grammar(4),
        grammar(3, seed=1),
        grammar(3).with_heads(np.zeros(grammar(3).n_tokens, np.int64), grammar(3).relations),
    ],
    "tables": lambda: [
        TABLE,
        replace(TABLE, names=("p", "q")),
        DiscreteTable.learn([["a", 2], ["b", 1]]),
        DiscreteTable.learn([["a", "1"], ["b", "2"]]),
    ],
    "matrices": lambda: [
        Rows(X, [1, 2]),
        Rows(X.T, [1, 2]),
        Rows(X, [2, 1]),
        Rows(X, [1, 2], np.ones(2)),
        Rows(sparse(X), [1, 2]),
        Rows(X, [1, 2], folds=((np.array([0]), np.array([1])),)),
    ],
    "penalties": lambda: [
        L1(1.0),
        L1(2.0),
        L2(1.0),
        ElasticNet(1.0, 0.5),
        ElasticNet(1.0, 0.5, weight=np.ones(2)),
        GroupLasso(1.0),
        GroupLasso(1.0, ByTemplate()),
        GroupLasso(1.0, GROUPS),
        GroupLasso(1.0, Groups.from_lists([[0], [1]], 2)),
        GroupLasso(1.0, l2=0.1),
    ],
    "solvers and selections": lambda: [
        Online(5),
        Online(6),
        Online(5, PassiveAggressive(0.1)),
        Sparseptron(budget=3),
        Sparseptron(budget=4),
        InformationGain(3),
    ],
}


@pytest.mark.parametrize("kind", DATA)
def test_data_and_options(kind: str) -> None:
    one, other = (list(map(fingerprint, DATA[kind]())) for _ in range(2))
    assert one == other
    distinct = len(set(one))
    # A penalty that is not told its groups has those of templates.
    assert distinct == len(one) - (kind == "penalties" and one[5] == one[6])


SCRIPT = """
import sys; sys.path.insert(0, {tests!r})
import importlib.util as util
spec = util.spec_from_file_location("these_tests", {file!r})
module = util.module_from_spec(spec); sys.modules["these_tests"] = module; spec.loader.exec_module(module)
from parsimon.tasks.fingerprint import fingerprint
things = [each for make in module.DATA.values() for each in make()] + [module.Thing(1), module.Slots()]
print(fingerprint(*things, *module.CALLABLES, {{"a", "b", "c", ("d", 1)}}, [lambda x: x in {{"p", "q", "r"}}]))
"""


def test_it_is_the_same_in_every_process() -> None:
    script = SCRIPT.format(tests=str(Path(__file__).parents[1]), file=__file__)
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "17")
    }
    assert len(printed) == 1
    assert len(printed.pop()) > 10
