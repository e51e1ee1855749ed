"""Templates built in Python: n-grams, conjunctions, the bias, the label bigram, and other kinds of the same tests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.features.ngram_templates import bias, conjunction, label_bigram, ngram, ngrams, with_kind
from parsimon.features.templates import Template, TemplateSet, Test
from parsimon.features.transforms import Transform


def test_one_ngram() -> None:
    (template,) = ngram(-1, 2, column=1, name="pos", kind="edge")
    assert template.source == "B:pos[-1..2]=%x[-1,1]/%x[0,1]/%x[1,1]/%x[2,1]"
    assert ngram(2, 2)[0].name == "U:word[2]"
    assert ngram(0, 0, transform="suffix:2")[0].source == 'U:word.suffix:2[0]=%f[0,0,"suffix:2"]'


def test_ngrams_are_made_of_them() -> None:
    assert ngrams(n=2, window=1, name="letter") == ngram(-1, 0, name="letter") + ngram(0, 1, name="letter")


def test_an_ngram_needs_a_token() -> None:
    with pytest.raises(ParsimonError, match="from 1 to 0 has no token"):
        ngram(1, 0)


def test_with_kind_changes_the_letter_and_nothing_else() -> None:
    templates = bias() + ngrams(n=(1, 2), window=1) + label_bigram()
    pairs = with_kind(templates, "both")
    assert [t.tests for t in pairs] == [t.tests for t in templates]
    assert [t.kind for t in pairs] == ["node", *["both"] * 5, "edge"]
    assert [t.source for t in pairs[1:-1]] == ["*" + t.source[1:] for t in templates[1:-1]]
    assert with_kind(pairs, "node") == templates
    assert TemplateSet.parse(pairs.dumps()) == pairs


def test_with_kind_keeps_ids_and_boundary() -> None:
    templates = TemplateSet((Template("node", ("U07:", Test(0, 0))),), boundary="crf++")
    assert with_kind(templates, "edge") == TemplateSet((Template.parse("B07:%x[0,0]"),), boundary="crf++")
    with pytest.raises(ParsimonError, match="kind is 'vertex'; give one of node, edge, both"):
        with_kind(templates, "vertex")  # type: ignore[arg-type]


@given(st.integers(1, 4), st.integers(0, 4), st.integers(0, 3))
def test_ngrams_are_all_those_inside_the_window(n: int, window: int, column: int) -> None:
    if n > 2 * window + 1:
        with pytest.raises(ParsimonError, match="is too small"):
            ngrams(column, n=n, window=window)
        return
    found = [tuple(look.offset for look in t.tests) for t in ngrams(column, n=n, window=window)]
    inside = [tuple(range(i, i + n)) for i in range(-50, 50) if -window <= i and i + n - 1 <= window]
    assert found == inside


def test_ngrams_have_readable_ids() -> None:
    templates = ngrams(n=(1, 3), window=1)
    assert templates.names == ("U:word[-1]", "U:word[0]", "U:word[1]", "U:word[-1..1]")
    assert templates[3].render(["the", "big", "dog"]) == "U:word[-1..1]=the/big/dog"
    assert ngrams(2, n=1, window=0)[0].source == "U:col2[0]=%x[0,2]"
    assert ngrams(1, n=1, window=0, kind="edge", name="pos")[0].source == "B:pos[0]=%x[0,1]"
    assert ngrams(0, n=1, window=0, transform="suffix:2")[0].source == 'U:word.suffix:2[0]=%f[0,0,"suffix:2"]'
    assert ngrams(0, n=1, window=0, transform=Transform("test:%#"))[0].name == "U:word.test:__[0]"
    assert [len(t.tests) for t in ngrams(n=(1, 2, 3), window=0)] == [1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n": ()}, "n is .*; give one or more sizes"),
        ({"n": 0}, "each at least 1"),
        ({"window": -1}, "window is -1, which is too small"),
        ({"window": 1001}, "row -1001 is out of range"),
        ({"column": -1}, "column -1 is out of range"),
        ({"kind": "vertex"}, "kind is 'vertex'; give one of node, edge, both"),
        ({"transform": "shap"}, "unknown transform 'shap'"),
        ({"name": "100%"}, "leave out % and line breaks"),
    ],
)
def test_mistakes_in_ngrams(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(ParsimonError, match=sentence):
        ngrams(**arguments)  # type: ignore[arg-type]


def test_conjunction_bias_and_label_bigram() -> None:
    (pair,) = conjunction(("word", Test(0, 0)), ("pos", Test(-1, 1, absolute=True)), kind="both")
    assert (pair.kind, pair.render(["dog", "."])) == ("both", "*:word[0]&pos[@-1]=dog/.")
    with pytest.raises(ParsimonError, match="at least one test"):
        conjunction()
    assert [(t.kind, t.source, t.tests) for t in bias() + label_bigram()] == [
        ("node", "U:bias", ()),
        ("edge", "B", ()),
    ]
