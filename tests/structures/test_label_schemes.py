"""Label schemes, against the definition: a sequence is valid when it is how some set of spans is written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, pairwise, product

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.structures.label_schemes import (
    SCHEMES,
    Transitions,
    constraints,
    convert,
    detect_scheme,
    forbid,
    join_label,
    spans,
    split_label,
)

Span = tuple[str, int, int]
MAX_LENGTH = 4
TYPES = ("X", "Y-1")
TAGS = {"iob1": "BI", "iob2": "BI", "iobes": "BIES"}


def inventory(scheme: str, types: tuple[str, ...] = TYPES) -> list[str]:
    return ["O", *(f"{tag}-{kind}" for tag in TAGS[scheme] for kind in types)]


def segmentations(length: int, start: int = 0) -> Iterator[list[Span]]:
    """All sets of spans that do not overlap, in a sequence of that length."""
    if start == length:
        yield []
        return
    yield from segmentations(length, start + 1)  # the token at start is outside
    for end in range(start + 1, length + 1):
        for kind, rest in product(TYPES, segmentations(length, end)):
            yield [(kind, start, end), *rest]


def write(segmentation: list[Span], length: int, scheme: str) -> tuple[str, ...]:
    """A segmentation as labels, token by token from the words that define the scheme."""
    labels = []
    for token in range(length):
        here = [span for span in segmentation if span[1] <= token < span[2]]
        if not here:
            labels.append("O")
            continue
        kind, start, end = here[0]
        first, last = token == start, token == end - 1
        touches_its_like = any(k == kind and e == start for k, _, e in segmentation)
        tag = {
            "iob1": "B" if first and touches_its_like else "I",
            "iob2": "B" if first else "I",
            "iobes": "S" if first and last else "B" if first else "E" if last else "I",
        }[scheme]
        labels.append(f"{tag}-{kind}")
    return tuple(labels)


ALL = [(n, segmentation) for n in range(1, MAX_LENGTH + 1) for segmentation in segmentations(n)]
VALID = {scheme: {write(segmentation, n, scheme) for n, segmentation in ALL} for scheme in SCHEMES}


def allows(transitions: Transitions, path: tuple[int, ...]) -> bool:
    return bool(
        transitions.start[path[0]]
        and all(transitions.pair[p, q] for p, q in pairwise(path))
        and transitions.end[path[-1]]
    )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_constraints_allow_exactly_the_valid_sequences(scheme: str) -> None:
    labels = inventory(scheme)
    transitions = constraints(labels, scheme)
    allowed = {
        tuple(labels[y] for y in path)
        for length in range(1, MAX_LENGTH + 1)
        for path in product(range(len(labels)), repeat=length)
        if allows(transitions, path)
    }
    assert allowed == VALID[scheme]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_constraints_over_part_of_an_inventory_are_those_of_the_whole(scheme: str) -> None:
    labels = inventory(scheme)
    whole = constraints(labels, scheme)
    some = [5 % len(labels), 1, 3, 0]
    part = constraints([labels[y] for y in some], scheme)
    np.testing.assert_array_equal(part.start, whole.start[some])
    np.testing.assert_array_equal(part.end, whole.end[some])
    np.testing.assert_array_equal(part.pair, whole.pair[np.ix_(some, some)])


def test_schemes_without_types() -> None:
    transitions = constraints(["O", "B", "I"], "iob2")
    assert transitions.pair.tolist() == [[True, True, False], [True, True, True], [True, True, True]]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_spans_read_back_what_was_written(scheme: str) -> None:
    for length, segmentation in ALL:
        assert spans(write(segmentation, length, scheme)) == segmentation


@pytest.mark.parametrize("source", SCHEMES)
@pytest.mark.parametrize("target", SCHEMES)
def test_convert_writes_the_same_spans_and_comes_back(source: str, target: str) -> None:
    for length, segmentation in ALL:
        tags = write(segmentation, length, source)
        converted = convert(tags, source, target)
        assert tuple(converted) == write(segmentation, length, target)
        assert tuple(convert(converted, target, source)) == tags


@pytest.mark.parametrize("scheme", SCHEMES)
def test_convert_refuses_exactly_the_invalid_sequences(scheme: str) -> None:
    for length in range(1, 4):
        for tags in product(inventory(scheme), repeat=length):
            if tags in VALID[scheme]:
                assert tuple(convert(tags, scheme, scheme)) == tags
            else:
                with pytest.raises(ParsimonError, match=f"not valid {scheme}"):
                    convert(tags, scheme, scheme)


@pytest.mark.parametrize("target", SCHEMES)
def test_lenient_convert_makes_any_sequence_valid_and_keeps_its_spans(target: str) -> None:
    for length in range(1, 4):
        for tags in product(inventory("iobes"), repeat=length):
            repaired = convert(tags, None, target)
            assert tuple(repaired) in VALID[target]
            assert spans(repaired) == spans(tags)


def test_convert_of_nothing_is_nothing() -> None:
    assert convert([], "iob1", "iobes") == []


def test_convert_keeps_labels_without_types() -> None:
    assert convert(["B", "I", "O", "B"], "iob2", "iobes") == ["B", "E", "O", "S"]


@pytest.mark.parametrize(
    ("tags", "source", "message"),
    [
        (["O", "I-X"], "iob2", "'I-X' at position 1 cannot follow 'O'"),
        (["B-X", "I-X"], "iob1", "'B-X' cannot start a sequence"),
        (["O", "B-X"], "iobes", "'B-X' cannot end a sequence"),
        (["E-X"], "iob2", "label 'E-X' is not of the iob2 scheme"),
        (["O"], "bilou", "source='bilou' is not a known scheme"),
    ],
)
def test_convert_says_where_tags_are_wrong(tags: list[str], source: str, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        convert(tags, source, "iob2")


def test_spans_of_sequences_that_are_valid_nowhere() -> None:
    assert spans(["I-X", "I-Y", "B-Y", "E-Y", "E-Y", "S-Y", "I-Y"]) == [
        ("X", 0, 1),
        ("Y", 1, 2),
        ("Y", 2, 4),
        ("Y", 4, 5),
        ("Y", 5, 6),
        ("Y", 6, 7),
    ]


def test_spans_of_bracket_tags_are_single_tokens() -> None:
    assert spans([".", "[-X", "[-X", ".", "]-X"]) == [("X", 1, 2), ("X", 2, 3), ("X", 4, 5)]


def test_a_plain_label_after_a_typed_one_is_a_span_that_outside_ends() -> None:
    assert spans(["NOUN", "O", "B-X", "NOUN", "O"]) == [("X", 2, 3), ("", 3, 4)]


def test_tags_that_spell_a_rule_when_joined_are_not_taken_for_it() -> None:
    assert spans(["", "OB", "NOUN"]) == []


def explained_by(labels: frozenset[str], scheme: str) -> bool:
    """Whether each of the labels occurs in a valid sequence made of them alone."""
    used = [set(sequence) for sequence in VALID[scheme] if labels.issuperset(sequence)]
    return labels == set().union(*used)


def test_detect_scheme_names_the_first_scheme_that_explains_the_inventory() -> None:
    every = [*inventory("iobes", ("X",)), "B-Y-1", "I-Y-1"]
    subsets = chain.from_iterable(combinations(every, size) for size in range(1, len(every) + 1))
    answers = set()
    for subset in subsets:
        fitting = [s for s in ("iob2", "iob1", "iobes") if explained_by(frozenset(subset), s)]
        expected = fitting[0] if fitting and subset != ("O",) else None
        assert detect_scheme(subset) == expected, subset
        answers.add(expected)
    assert answers == {None, *SCHEMES}


@pytest.mark.parametrize("labels", [[], ["O"], ["NOUN", "VERB"], ["O", "B-X", "NOUN"], ["O-X", "B-X"]])
def test_auto_refuses_labels_that_tell_no_scheme(labels: list[str]) -> None:
    assert detect_scheme(labels) is None
    with pytest.raises(ParsimonError, match="cannot be told from their names"):
        constraints(labels, "auto")


def test_auto_uses_the_detected_scheme() -> None:
    labels = ["O", "I-X", "B-X", "I-Z"]  # I-Z without B-Z: IOB1
    auto, named = constraints(labels, "auto"), constraints(labels, "iob1")
    np.testing.assert_array_equal(auto.pair, named.pair)
    np.testing.assert_array_equal(auto.start, named.start)


def test_constraints_refuse_unknown_schemes_and_foreign_labels() -> None:
    with pytest.raises(
        ParsimonError, match="scheme='iob3' is not a known scheme; use 'iob1', 'iob2' or 'iobes'"
    ):
        constraints(["O"], "iob3")
    with pytest.raises(ParsimonError, match="label 'NOUN' is not of the iob2 scheme"):
        constraints(["O", "NOUN"], "iob2")


def test_forbid_forbids_these_pairs_and_no_others() -> None:
    transitions = forbid(["a", "b", "c"], [("a", "b"), ("c", "c")])
    assert transitions.start.all()
    assert transitions.end.all()
    assert np.argwhere(~transitions.pair).tolist() == [[0, 1], [2, 2]]


def test_forbid_refuses_unknown_labels() -> None:
    with pytest.raises(ParsimonError, match=r"label 'z' in the forbidden pair \('a', 'z'\)"):
        forbid(["a", "b"], [("a", "z")])


def test_and_keeps_what_both_allow() -> None:
    labels = inventory("iob2")
    scheme, own = constraints(labels, "iob2"), forbid(labels, [("O", "B-X"), ("O", "I-X")])
    both = scheme & own
    for length in range(1, 4):
        for path in product(range(len(labels)), repeat=length):
            assert allows(both, path) == (allows(scheme, path) and allows(own, path))


def test_and_of_different_inventories_is_refused() -> None:
    with pytest.raises(ParsimonError, match="over 2 labels cannot be combined with transitions over 3"):
        forbid(["a", "b"], []) & forbid(["a", "b", "c"], [])


def test_transitions_refuse_shapes_that_disagree() -> None:
    with pytest.raises(ParsimonError, match="do not agree"):
        Transitions(np.ones(2, bool), np.ones(2, bool), np.ones((2, 3), bool))


def test_first_violation_is_the_first_position_that_no_valid_sequence_shares() -> None:
    labels = inventory("iobes")
    transitions = constraints(labels, "iobes")
    assert transitions.first_violation([]) is None
    ids = [labels.index(label) for label in ("O", "B-X", "E-Y-1", "I-X")]
    assert transitions.first_violation(ids) == 2
    assert transitions.first_violation(ids[:2]) == 2
    assert transitions.first_violation(ids[3:]) == 0
    assert transitions.first_violation(ids[:1]) is None


@pytest.mark.parametrize("label", ["O", "B", "B-X", "I-NP-1"])
def test_labels_split_and_join(label: str) -> None:
    assert join_label(*split_label(label)) == label
