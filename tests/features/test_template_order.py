"""The order of templates: against its definition, its Hasse diagram, and what is printed and drawn."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.arrays import BoolArray
from parsimon.errors import ParsimonError
from parsimon.features import Template, TemplateFeatures, TemplateSet, Test, Transform, get_preset
from parsimon.features.template_order import TemplateOrder, default_symbols

P, W = 1, 0  # the columns
PAPER = [[(P, ""), (W, "")]]


def template(name: str, *tests: Test) -> Template:
    return Template("node", (f"U:{name}=", *(piece for test in tests for piece in (test, "/"))))


def ordered(text: str, symbols: Any = None) -> TemplateOrder:
    return TemplateOrder.from_symbols(TemplateSet.parse(text), symbols)


def comes_before(order: TemplateOrder, a: str, b: str) -> bool:
    """Whether a ⪯ b, by short names."""
    names = order.short_names()
    return bool(order.less[names.index(a), names.index(b)])


# --- Orders by symbols --------------------------------------------------------------------------------------


def test_positionwise_as_in_figure_1() -> None:
    """Every choice of ∅, p or w at three positions; Ta ⪯ Tb iff [Ta]_i ⪯ [Tb]_i at each position i."""
    choices = list(product("∅pw", repeat=3))
    templates = [
        template("".join(c), *(Test(i - 1, P if s == "p" else W) for i, s in enumerate(c) if s != "∅"))
        for c in choices
    ]
    order = TemplateOrder.from_symbols(TemplateSet(tuple(templates)), PAPER)
    rank = np.array([["∅pw".index(s) for s in c] for c in choices])
    np.testing.assert_array_equal(order.less, (rank[:, None] <= rank).all(axis=2))
    np.testing.assert_array_equal(order.depth(), rank.sum(axis=1))


def test_the_examples_of_section_3_1() -> None:
    order = ordered(
        "U:p0=%x[0,1]\nU:p0p1=%x[0,1]/%x[1,1]\nU:w0w1=%x[0,0]/%x[1,0]\nU:p-1p0=%x[-1,1]/%x[0,1]\nB", PAPER
    )
    assert comes_before(order, "p0p1", "w0w1")
    assert comes_before(order, "p0", "p0p1")
    assert comes_before(order, "p0", "w0w1")
    assert not comes_before(order, "p0p1", "p-1p0")
    assert not comes_before(order, "p-1p0", "p0p1")


def test_names_and_numbers_are_those_of_the_feature_space() -> None:
    text = "B\nU:near=%x[-1,0]\n*:both=%x[0,1]\nU1:%x[ 0 , 0 ]\nB:pair=%x[0,1]\nU:near=%x[1,0]\nU"
    templates = TemplateSet.parse(text)
    order = TemplateOrder.from_symbols(templates)
    assert list(order.names) == TemplateFeatures(templates).template_names()[:4]
    assert order.names == ("U:near=%x[-1,0]", "*:both=%x[0,1]", "U1:%x[ 0 , 0 ]", "U")
    for preset in ("martins-chunking", "python-code"):
        templates = get_preset(preset)
        names = TemplateFeatures(templates).template_names()
        assert list(TemplateOrder.from_symbols(templates).names) == names[:-1]


def test_a_bias_comes_before_everything() -> None:
    order = ordered("U0:%x[0,0]\nU:bias\nU1:%x[0,1]")
    assert order.roots().tolist() == [1]
    assert order.below("U:bias").tolist() == [0, 1, 2]


def test_parts_of_a_conjunction_at_one_place_come_first() -> None:
    """Even where the order of symbols says that the word includes its part of speech."""
    order = ordered('U:w=%x[0,0]\nU:wp=%x[0,0]/%x[0,1]\nU:p=%x[0,1]\nU:ps=%x[0,1]/%f[0,0,"shape"]')
    assert comes_before(order, "w", "wp")
    assert not comes_before(order, "wp", "w")
    assert comes_before(order, "p", "wp")
    assert comes_before(order, "ps", "wp"), "shape before word, and part of speech as it is"
    assert not comes_before(order, "ps", "w")


def test_each_coarse_test_needs_a_finer_one_of_its_own() -> None:
    """With a and b before c, and a before d: {a, b} must take d for a, though c would do for a too."""
    symbols = [[(0, ""), (2, "")], [(1, ""), (2, "")], [(0, ""), (3, "")]]
    order = ordered("U:ab=%x[0,0]/%x[0,1]\nU:cd=%x[0,2]/%x[0,3]\nU:bd=%x[0,1]/%x[0,3]\nU:c=%x[0,2]", symbols)
    assert comes_before(order, "ab", "cd")
    assert comes_before(order, "ab", "bd")
    assert comes_before(order, "bd", "cd")
    assert not comes_before(order, "ab", "c")


def test_places_from_the_ends_are_other_places() -> None:
    order = ordered("U0:%x[1,1]\nU1:%x[@1,0]\nU2:%x[1,0]")
    assert order.less.tolist() == [[True, False, True], [False, True, False], [False, False, True]]


def test_templates_that_share_attributes_count_as_one() -> None:
    order = ordered(
        "U:bag=%x[-1,1]\nU:bag=%x[1,1]\nU:before=%x[-1,0]\nU:words=%x[-1,0]\nU:words=%x[2,0]", PAPER
    )
    assert comes_before(order, "bag", "before")
    assert not comes_before(order, "bag", "words"), "nothing in the bag is coarser than the word at +2"
    assert comes_before(order, "words", "before")


def test_default_symbols() -> None:
    order = TemplateOrder.from_symbols(get_preset("martins-ner"))
    for chain in (
        ["prefix1[0]", "prefix2[0]", "prefix3[0]", "word[0]", "word[-1..0]", "word[-1..1]"],
        ["suffix1[-2..0]", "suffix3[-2..0]", "word[-2..0]"],
        ["case[1]", "shape[1]", "word[1]"],
        ["punct[0]", "shape[0]"],
        ["digit[0..1]", "shape[0..1]", "shape[0..2]"],
        ["pos[0]", "pos[0..1]", "word[0..1]"],
    ):
        for a, b in pairwise(chain):
            assert comes_before(order, a, b), f"{a} ⪯ {b}"
            assert not comes_before(order, b, a), f"{b} ⪯ {a}"
    for a, b in (
        ("prefix1[0]", "suffix1[0]"),
        ("pos[0]", "shape[0]"),
        ("case[0]", "punct[0]"),
        ("pos[0]", "word[1]"),
    ):
        assert not comes_before(order, a, b)
        assert not comes_before(order, b, a)


def test_default_symbols_of_other_transforms() -> None:
    templates = TemplateSet.parse('U0:%X[0,2]\nU1:%f[0,2,"lower"]\nU2:%t[0,2,"a"]\nU3:%f[0,2,"charclass"]')
    assert default_symbols(templates) == [
        [(2, "lower"), (2, "lower-ascii"), (2, "")],
        [(2, "lower-ascii"), (2, "")],
        [(2, "charclass"), (2, "")],
        [(2, "test:a"), (2, "")],
    ]
    assert default_symbols(TemplateSet.parse("U0:%x[0,1]\nU1:%x[0,2]")) == []


def test_a_symbol_in_no_chain_is_comparable_with_itself_only() -> None:
    order = ordered("U0:%x[0,0]\nU1:%x[0,1]\nU2:%x[0,0]/%x[1,0]", [])
    assert order.covers() == [(0, 2)]


looked_at = st.tuples(st.integers(-1, 1), st.sampled_from([(0, ""), (0, "shape"), (0, "case"), (1, "")]))


@given(st.sets(st.frozensets(looked_at, max_size=4), min_size=1, max_size=12))
def test_different_tests_always_make_a_partial_order(sets: set[frozenset[Any]]) -> None:
    """Reflexive, antisymmetric and transitive, or the constructor would refuse."""
    templates = [
        template(
            str(i), *(Test(offset, column, Transform.parse(spec)) for offset, (column, spec) in sorted(tests))
        )
        for i, tests in enumerate(sets)
    ]
    order = TemplateOrder.from_symbols(TemplateSet(tuple(templates)))
    for i, a in enumerate(sets):
        for j, b in enumerate(sets):
            if a <= b:
                assert order.less[i, j]


@pytest.mark.parametrize(
    ("text", "symbols", "sentence"),
    [
        (
            "U1:%x[0,0]\nU2:%x[0,0]",
            None,
            r"templates 'U1:%x\[0,0\]' and 'U2:%x\[0,0\]' come before each other",
        ),
        ("U1:%x[0,0]/%x[0,1]\nU2:%x[0,1]/%x[0,0]", None, "come before each other"),
        ("B\nB1:%x[0,0]", None, "at least one template for tokens"),
        ("U:%x[0,0]", [[(0, ""), (1, "")], [(1, ""), (0, "")]], r"\((0|1), ''\) ⪯ .* is a cycle"),
        ("U:%x[0,0]", [(1, ""), (0, "")], r"\(1, ''\) is not a chain of symbols; give a list of chains"),
        ("U:%x[0,0]", [[(0, "shap")]], "unknown transform 'shap'"),
    ],
)
def test_mistakes_with_symbols(text: str, symbols: Any, sentence: str) -> None:
    with pytest.raises(ParsimonError, match=sentence):
        ordered(text, symbols)


# --- Orders by hand, and what every order answers -----------------------------------------------------------


@st.composite
def orders(draw: Any) -> tuple[TemplateOrder, BoolArray]:
    """An order from random pairs, and the same by multiplying matrices; numbers are shuffled."""
    n = draw(st.integers(1, 8))
    number = draw(st.permutations(range(n)))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    pairs = [(number[min(p)], number[max(p)]) for p in pairs]
    names = [f"t{i}" for i in range(n)]
    step = np.eye(n, dtype=int)
    for a, b in pairs:
        step[a, b] = 1
    closed = np.linalg.matrix_power(step, n) > 0
    return TemplateOrder.from_pairs(names, [(names[a], names[b]) for a, b in pairs]), closed


@given(orders())
def test_pairs_are_closed(made: tuple[TemplateOrder, BoolArray]) -> None:
    order, closed = made
    np.testing.assert_array_equal(order.less, closed)
    for a in range(len(order.names)):
        assert order.below(a).tolist() == [b for b in range(len(closed)) if closed[a, b]]
        assert order.above(f"t{a}").tolist() == [b for b in range(len(closed)) if closed[b, a]]


@given(orders())
def test_covers_are_the_transitive_reduction(made: tuple[TemplateOrder, BoolArray]) -> None:
    order, closed = made
    arcs = order.covers()
    assert arcs == sorted(set(arcs))
    named = [(order.names[a], order.names[b]) for a, b in arcs]
    np.testing.assert_array_equal(TemplateOrder.from_pairs(order.names, named).less, closed)
    for i, (a, b) in enumerate(arcs):
        without = TemplateOrder.from_pairs(order.names, named[:i] + named[i + 1 :])
        assert not without.less[a, b], "no arc follows from the others"


@given(orders())
def test_depth_is_the_longest_way_from_a_root(made: tuple[TemplateOrder, BoolArray]) -> None:
    order, closed = made

    def longest(b: int) -> int:
        return max((1 + longest(a) for a in range(len(closed)) if closed[a, b] and a != b), default=0)

    assert order.depth().tolist() == [longest(b) for b in range(len(closed))]
    assert order.roots().tolist() == [b for b in range(len(closed)) if longest(b) == 0]


def test_mistakes_with_pairs() -> None:
    with pytest.raises(ParsimonError, match="is a cycle") as caught:
        TemplateOrder.from_pairs("abcd", [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    circle = str(caught.value).split(" is a cycle")[0].split(" ⪯ ")
    assert circle[0] == circle[-1]
    assert "".join(circle) in ("abca", "bcab", "cabc"), "in the direction of the pairs"
    with pytest.raises(ParsimonError, match=r"no template 'word0' in the order: did you mean 'word1'\?"):
        TemplateOrder.from_pairs(["word1", "pos"], [("pos", "word0")])
    with pytest.raises(ParsimonError, match="no template 'z' in the order: the first is 'a'"):
        TemplateOrder.from_pairs(["a"], []).below("z")
    with pytest.raises(ParsimonError, match="no template 3 in the order; templates are numbered from 0 to 0"):
        TemplateOrder.from_pairs(["a"], []).above(3)


@pytest.mark.parametrize(
    ("names", "less", "sentence"),
    [
        ((), np.zeros((0, 0)), "at least one template"),
        (("a", "a"), np.eye(2), "template 'a' occurs more than once"),
        (("a", "b"), np.eye(3), r"a 2 × 2 matrix, not one of shape \(3, 3\)"),
        (("a", "b"), [[1, 0], [0, 0]], "template 'b' must come before itself"),
        (("a", "b"), [[1, 1], [1, 1]], "templates 'a' and 'b' come before each other"),
        (
            ("a", "b", "c"),
            [[1, 1, 0], [0, 1, 1], [0, 0, 1]],
            "template 'a' comes before another that comes before 'c', but not before 'c' itself",
        ),
    ],
)
def test_matrices_that_are_not_partial_orders(names: tuple[str, ...], less: Any, sentence: str) -> None:
    with pytest.raises(ParsimonError, match=sentence):
        TemplateOrder(names, np.array(less, dtype=bool))


# --- Printing and drawing -----------------------------------------------------------------------------------

DIAMOND = TemplateOrder.from_pairs(
    ["top", "left", "right", "end"],
    [("top", "left"), ("top", "right"), ("left", "end"), ("right", "end")],
)


def test_text() -> None:
    assert DIAMOND.to_text(kept=np.array([True, False, True, False])).splitlines() == [
        "4 templates (2 kept ●, 2 dropped ○) from coarse to fine, each after those that its arrow points to",
        "● top",
        "  ○ left   ← top",
        "  ● right  ← top",
        "    ○ end  ← left, right",
    ]


def test_text_stays_readable() -> None:
    order = TemplateOrder.from_symbols(get_preset("martins-chunking"))
    lines = order.to_text(kept=np.arange(96) % 3 == 0).splitlines()
    assert len(lines) == 97
    assert max(map(len, lines)) <= 110
    many = [f"t{i}" for i in range(9)]
    wide = TemplateOrder.from_pairs([*many, "last"], [(name, "last") for name in many])
    assert wide.to_text().endswith("← t0, t1, t2, t3 and 5 more")


def test_short_names() -> None:
    assert ordered("U:word[0]=%x[0,0]\nU05:%x[0,1]\n*:a=%x[1,0]\nU").short_names() == (
        "word[0]",
        "U05",
        "*:a",
        "U",
    )
    assert ordered("U1:%x[0,0]\nU1:%x[0,0]/%x[0,1]").short_names() == ("U1:%x[0,0]", "U1:%x[0,0]/%x[0,1]")
    assert TemplateOrder.from_pairs(["both", "100 %"], []).short_names() == ("both", "100 %")


@pytest.mark.parametrize("kept", [[1, 0, 1, 0], [True, False]])
def test_kept_must_be_a_truth_value_a_template(kept: Any) -> None:
    with pytest.raises(ParsimonError, match="kept must be 4 truth values"):
        DIAMOND.to_text(kept=np.array(kept))
