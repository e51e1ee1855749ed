"""The compiled expansion against a slow one that follows the templates' own definitions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns
from parsimon.features.observations import Observations, Rows
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.templates import Template, TemplateSet, Test
from parsimon.features.transforms import Transform

Sequences = list[list[tuple[str, str]]]


def expand_slowly(templates: TemplateSet, sequence: list[tuple[str, ...]], t: int, template: Template) -> str:
    """One attribute, by `Test.locate` and `Template.render`."""
    values = []
    for test in template.tests:
        row = test.locate(t, len(sequence))
        if row < 0:
            value = templates.boundary_value(-row, after=False)
        elif row >= len(sequence):
            value = templates.boundary_value(row - len(sequence) + 1, after=True)
        else:
            value = sequence[row][test.column]
        values.append(test.transform(value))
    return template.render(values)


def slow_attributes(templates: TemplateSet, sequences: Any, part: str) -> list[list[str]]:
    """The attributes of every token (`node`) or of the step into it (`edge`; none into a first token)."""
    other = "edge" if part == "node" else "node"
    return [
        [] if part == "edge" and t == 0 else [
            expand_slowly(templates, s, t, template) for template in templates if template.kind != other
        ]
        for s in sequences
        for t in range(len(s))
    ]  # fmt: skip


def named(rows: Rows, names: list[str]) -> list[list[str]]:
    return [[names[a] for a in rows.index[rows.start[r] : rows.start[r + 1]]] for r in range(len(rows))]


def attributes(
    space: TemplateFeatures, observations: Observations
) -> tuple[list[list[str]], list[list[str]]]:
    node = space.node_names(np.arange(space.n_node))
    pair = space.pair_names(np.arange(space.n_pair))
    assert len(set(node)) == len(node)
    assert len(set(pair)) == len(pair)
    return named(observations.node, node), named(observations.pair, pair)


words = st.sampled_from(["a", "b", "Ab", "B7", "été", "_x-1"])
sequences_of_pairs = st.lists(st.lists(st.tuples(words, words), max_size=4), min_size=1, max_size=4)
transforms = st.sampled_from(
    ["", "", "lower", "shape", "suffix:1", "lower-ascii", "test:^[A-Z]", "match:[0-9]"]
)
tests = st.builds(
    Test, st.integers(-6, 6), st.integers(0, 1), transforms.map(Transform.parse), absolute=st.booleans()
)


@st.composite
def template_sets(draw: Any) -> TemplateSet:
    # A text of its own in front of every test, so that different templates cannot make equal attributes.
    out = []
    for j in range(draw(st.integers(1, 5))):
        kind, letter = draw(st.sampled_from([("node", "U"), ("edge", "B"), ("both", "*")]))
        pieces: list[Any] = [f"{letter}{j}:"]
        for test in draw(st.lists(tests, max_size=3)):
            pieces += [test, "/"]
        out.append(Template(kind, tuple(pieces)))
    return TemplateSet(tuple(out), draw(st.sampled_from(["wapiti", "crf++"])))


@given(template_sets(), sequences_of_pairs, st.sampled_from([1, 2]))
def test_expansion(templates: TemplateSet, sequences: Sequences, threads: int) -> None:
    space = TemplateFeatures(templates)
    X = Columns.from_sequences(sequences)
    if X.n_tokens == 0:
        return
    node, pair = attributes(space, space.learn(X, threads))
    assert node == slow_attributes(templates, sequences, "node")
    assert pair == slow_attributes(templates, sequences, "edge")


@given(template_sets(), sequences_of_pairs, sequences_of_pairs, st.sampled_from([1, 2]))
def test_observing_passes_over_what_was_not_learnt(
    templates: TemplateSet, learnt: Sequences, seen: Sequences, threads: int
) -> None:
    space = TemplateFeatures(templates)
    X, Z = Columns.from_sequences(learnt), Columns.from_sequences(seen)
    if X.n_tokens == 0 or Z.n_tokens == 0:
        return
    space.learn(X)
    before = space.n_node, space.n_pair
    node, pair = attributes(space, space.observe(Z, threads))
    assert (space.n_node, space.n_pair) == before
    for part, found in (("node", node), ("edge", pair)):
        known = {a for row in slow_attributes(templates, learnt, part) for a in row}
        assert found == [[a for a in row if a in known] for row in slow_attributes(templates, seen, part)]


@given(template_sets(), sequences_of_pairs, st.integers(1, 4))
def test_cut_off(templates: TemplateSet, sequences: Sequences, cutoff: int) -> None:
    X = Columns.from_sequences(sequences)
    if X.n_tokens == 0:
        return
    space = TemplateFeatures(templates, cutoff=cutoff)
    learnt = attributes(space, space.learn(X))
    for part, found in zip(("node", "edge"), learnt, strict=True):
        rows = slow_attributes(templates, sequences, part)
        count = Counter(a for row in rows for a in row)
        assert found == [[a for a in row if count[a] >= cutoff] for row in rows]
    assert attributes(space, space.observe(Columns.from_sequences(sequences))) == learnt


@given(template_sets(), sequences_of_pairs, st.integers(0, 1000))
def test_keeping_some_and_saving_them(templates: TemplateSet, sequences: Sequences, seed: int) -> None:
    X = Columns.from_sequences(sequences)
    if X.n_tokens == 0:
        return
    space = TemplateFeatures(templates)
    learnt = space.learn(X)
    rng = np.random.default_rng(seed)
    node, pair = rng.random(space.n_node) < 0.5, rng.random(space.n_pair) < 0.5
    kept = space.keep(node, pair)
    assert kept.node_names(np.arange(kept.n_node)) == space.node_names(np.flatnonzero(node))
    assert kept.pair_names(np.arange(kept.n_pair)) == space.pair_names(np.flatnonzero(pair))
    again = TemplateFeatures.from_state(*kept.state())
    assert again.templates == templates
    for other in (kept, again):
        seen = other.observe(Columns.from_sequences(sequences))
        for rows, wanted in ((seen.node, learnt.node.keep(node)), (seen.pair, learnt.pair.keep(pair))):
            np.testing.assert_array_equal(rows.start, wanted.start)
            np.testing.assert_array_equal(rows.index, wanted.index)


def learn(
    text: str, sequences: Any, **options: Any
) -> tuple[TemplateFeatures, list[list[str]], list[list[str]]]:
    space = TemplateFeatures(TemplateSet.parse(text, **options))
    return space, *attributes(space, space.learn(Columns.from_sequences(sequences)))


def test_templates_with_one_skeleton_share_a_bag_of_words() -> None:
    space, node, _ = learn("U:%x[-1,0]\nU:%x[1,0]", [["a", "b", "a"]])
    assert node == [["U:_x-1", "U:b"], ["U:a", "U:a"], ["U:b", "U:_x+1"]]
    assert space.n_node == 4
    apart, node, _ = learn("U1:%x[-1,0]\nU2:%x[1,0]", [["a", "b", "a"]])
    assert node[1] == ["U1:a", "U2:a"]
    assert apart.n_node == 6


def test_a_bag_counts_towards_the_cut_off() -> None:
    space = TemplateFeatures(TemplateSet.parse("U:%x[-1,0]\nU:%x[1,0]"), cutoff=2)
    space.learn(Columns.from_sequences([["a", "b", "a"]]))
    assert sorted(space.node_names(np.arange(space.n_node))) == ["U:a", "U:b"]


def test_absolute_rows() -> None:
    _, node, _ = learn("U1:%x[@1,0]\nU2:%x[@-1,0]\nU3:%x[@3,0]\nU4:%x[@-3,0]\nU5:%x[@0,0]", [["a", "b"]])
    assert node == [["U1:a", "U2:b", "U3:_x+1", "U4:_x-1", "U5:_x-1"]] * 2


def test_pairs_of_labels_that_look_at_the_input() -> None:
    space, node, pair = learn("U:%x[0,0]\nB\nB:%x[0,0]\n*b:%x[-1,0]", [["a", "b"], ["c"]])
    assert node == [["U:a", "*b:_x-1"], ["U:b", "*b:a"], ["U:c", "*b:_x-1"]]
    assert pair == [[], ["B", "B:b", "*b:a"], []]
    assert (space.n_node, space.n_pair) == (5, 3)


def test_boundaries_as_each_tool_writes_them() -> None:
    text = "\n".join(f"U{i}:%x[{-i},0]/%x[{i},0]" for i in (1, 4, 6))
    _, wapiti, _ = learn(text, [["a"]])
    assert wapiti == [["U1:_x-1/_x+1", "U4:_x-4/_x+4", "U6:_x-#/_x+#"]]
    _, crfpp, _ = learn(text, [["a"]], boundary="crf++")
    assert crfpp == [["U1:_B-1/_B+1", "U4:_B-4/_B+4", "U6:_B-6/_B+6"]]


def test_templates_and_constants() -> None:
    space, _, _ = learn("U00:%x[0,0]\nU\nB\nB1:%x[0,0]", [["a", "b", "a"]])
    names = space.template_names()
    assert names == ["U00:%x[0,0]", "U", "B", "B1:%x[0,0]"]
    owners = [names[k] for k in space.node_templates(np.arange(space.n_node))]
    assert owners == ["U00:%x[0,0]", "U00:%x[0,0]", "U"]
    node, pair = space.constant()
    assert space.node_names(node) == ["U"]
    assert space.pair_names(pair) == ["B"]
    assert [names[k] for k in space.pair_templates(pair)] == ["B"]


def test_a_column_that_is_not_there() -> None:
    space = TemplateFeatures(TemplateSet.parse("U:%x[0,2]"))
    with pytest.raises(
        ParsimonError, match="templates refer to column 2, but the input has 1 column besides the label"
    ):
        space.learn(Columns.from_sequences([["a"]]))


@pytest.mark.parametrize("sequences", [[], [[]], [[], []]])
def test_sequences_without_tokens(sequences: Any) -> None:
    space, *_ = learn("U:%x[0,0]\nB", [["a", "b"]])
    observations = space.observe(Columns.from_sequences(sequences))
    assert observations.n_tokens == 0
    assert observations.lengths.tolist() == [0] * len(sequences)


def test_learning_leaves_the_columns_as_they_were() -> None:
    X = Columns.from_sequences([["Ab", "cd"]])
    TemplateFeatures(TemplateSet.parse("U:%X[0,0]")).learn(X)
    assert X.sequence(0) == [("Ab",), ("cd",)]


def test_a_session_reads_on_while_strings_are_added() -> None:
    """Parts of one file share a table that grows; what was worked out for earlier strings stays right."""
    space, *_ = learn('U:%f[0,0,"lower"]', [["ab", "cd"]])
    first = Columns.from_sequences([["AB", "x"]])
    session = space.session(first.strings)
    assert named(session.observe(first).node, ["U:ab", "U:cd"]) == [["U:ab"], []]
    ids = first.strings.add_all(["Cd", "ab", "x"])
    second = Columns(ids.reshape(1, -1), np.array([3], np.int32), first.strings)
    assert named(session.observe(second).node, ["U:ab", "U:cd"]) == [["U:cd"], ["U:ab"], []]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, a: a["node.tuples"].__setitem__(0, 99), "refers to a string that does not exist"),
        (lambda s, a: a.__setitem__("node.count", a["node.count"] + 1), "do not match the templates"),
        (lambda s, a: s.__setitem__("templates", "U:%x[0,0]\nU2:%x[0,0]"), "do not match the templates"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(change: Any, message: str) -> None:
    space, *_ = learn("U:%x[0,0]\nB", [["a", "b"]])
    settings, arrays = space.state()
    change(settings, arrays)
    with pytest.raises(ParsimonError, match=message):
        TemplateFeatures.from_state(settings, arrays)
