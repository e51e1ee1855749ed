"""Names that cannot be written are refused: before training, when a model is written, and when it is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from damaged_headers import changed, refused
from parsimon import DocumentClassifier, MarkovNetwork, SequenceLabeler
from parsimon.errors import ParsimonError
from parsimon.estimators import OverlappingGroupLassoClassifier
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.naming import check_labels, check_names

HALF = "\ud800"  # of a surrogate pair
WORDS = [[{"w": "a"}, {"w": "b"}]] * 3


def sequence(label: str) -> Any:
    return SequenceLabeler(l1=0.1).fit(WORDS, [[label, "B"]] * 3).model_


def document(label: str) -> Any:
    texts = ["a b", "c d"] * 3
    return DocumentClassifier(penalty="lasso", l1=0.01).fit(texts, [label, "B"] * 3).model_


def network(state: str) -> Any:
    return MarkovNetwork(alpha=0.1).fit(np.array([[state, "x"], ["b", "y"]] * 9, dtype=object)).model_


def matrix(name: str) -> Any:
    rows = np.random.default_rng(0).normal(size=(20, 3))
    return OverlappingGroupLassoClassifier().fit(rows, np.array([name, "b"] * 10, dtype=object)).model_


@pytest.mark.parametrize("make", [sequence, document, network, matrix])
def test_half_of_a_surrogate_pair_is_refused_before_training(make: Any) -> None:
    with pytest.raises(
        ParsimonError, match=r"cannot be (a state: .*another name|written as text; rename it)\.$"
    ):
        make(HALF)


@pytest.mark.parametrize("make", [sequence, document])
@pytest.mark.parametrize("label", ["a\nb", "a\rb", "a\0b"])
def test_labels_are_one_line(make: Any, label: str) -> None:
    with pytest.raises(
        ParsimonError, match="has a line break, a tab or another separator, which no label may have"
    ):
        make(label)


@pytest.mark.parametrize("make", [sequence, document])
@pytest.mark.parametrize("label", ["a\nb", "a\rb", "a\0b", HALF, 7, None, ["a"]])
def test_a_model_with_such_a_label_is_not_read(make: Any, label: Any) -> None:
    said = refused(make("A"), lambda header, _: header["labels"].__setitem__(0, label))
    assert "is damaged (" in said or "is not a Parsimon model" in said
    assert said.isprintable()


def test_a_model_with_such_a_label_is_not_written() -> None:
    model = sequence("A")
    object.__setattr__(model, "labels", ("a\nb", "B"))
    with pytest.raises(ParsimonError, match=r"cannot be written: labels\[0\] is 'a\\nb', not a label"):
        dump_model(model)


def test_cells_of_a_table_may_have_several_lines() -> None:
    content = dump_model(network("a\nb"))
    assert dump_model(parse_model(content)) == content


def test_names_with_half_of_a_surrogate_pair_are_not_read_or_written() -> None:
    for make, name in ((network, "names"), (matrix, "classes")):
        wrong = changed(make("a"), lambda header, _, name=name: header[name].__setitem__(0, HALF))  # type: ignore[misc]
        with pytest.raises(ParsimonError, match="damaged"):
            parse_model(wrong)
    model = matrix("a")
    object.__setattr__(model, "classes", (HALF, "b"))
    with pytest.raises(ParsimonError, match="cannot be written: it has half of a surrogate pair"):
        dump_model(model)


def test_names_are_checked_before_training() -> None:
    with pytest.raises(ParsimonError, match=r"^'a\\nb' cannot be a label: it must be a text on one line"):
        check_labels(["a\nb"])
    with pytest.raises(ParsimonError, match=r"^'\\ud800' cannot be a state: .*another name\.$"):
        check_names([HALF], "state")


def test_other_letters_are_fine() -> None:
    check_labels(["é", "a b", "\x1b[1m", "😀", ""])
    check_names(["a\nb", 7, 1.5, True, "é"], "state")
    model = sequence("😀")
    assert parse_model(dump_model(model)).labels == model.labels
