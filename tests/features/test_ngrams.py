"""Single n-grams, and the same tests made with the label, the label pair or both."""

from __future__ import annotations

import pytest

from parsimon.errors import ParsimonError
from parsimon.features.ngram_templates import bias, label_bigram, ngram, ngrams, with_kind
from parsimon.features.templates import Template, TemplateSet, Test


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
