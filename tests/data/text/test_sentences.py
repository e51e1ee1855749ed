"""Sentence splitting: a table of tricky cases for the rules, lines, and sentencex."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsimon.data.text.sentences import _STOP, named_splitter, split_lines, split_sentences
from parsimon.errors import ParsimonError


def sentences(text: str) -> list[str]:
    return [text[begin:end] for begin, end in split_sentences(text)]


# Sentences are parted by |, which must be a place where the rules part them, and the only one.
PROSE = {
    "plain": "It rained. |We stayed in.",
    "question and exclamation marks": "Why? |Because! |So there.",
    "several marks": "You did what?! |No!!! |Really?? |Yes.",
    "a title": "I saw Dr. Smith and Mrs. Jones. |They waved.",
    "a title before an initial": "Prof. J. R. R. Tolkien wrote it. |We read it.",
    "abbreviations before lower case": "Fruit, e.g. apples, i.e. food, etc. are approx. five. |Good.",
    "etc. at the end": "Bring bread, cheese etc. |Then we leave.",
    "U.S. inside": "The U.S. Army left. |It was late.",
    "U.S. at the end": "He lives in the U.S. |The house is old.",
    "p.m. inside and at the end": "At 5 p.m. Monday we met, until 7 p.m. |Then we left.",
    "degrees": "She has a Ph.D. from M.I.T. and a job. |Fine.",
    "the word I": "So do I. |Nobody knows.",
    "a letter that is no initial": "We chose plan B. |It worked.",
    "companies": "Apple Inc. said so. |Ask Smith & Co. about it.",
    "versus": "It is Windows vs. Mac. |Choose one.",
    "months": "On Jan. 5 it snowed. |It was in Dec. |The cold stayed.",
    "number abbreviations": "See No. 5, Fig. 3 and pp. 12 f. in vol. 2. |No. |I refuse.",
    "and others": "Smith et al. found it. |We did not.",
    "units": "She is 5 yrs. old and 4 ft. tall. |Fine.",
    "decimals": "It costs $3.50 or .5 more. |Version 2.0.1 is out.",
    "a year at the end": "That was in 1993. |Later it changed.",
    "a number starts": "They came. |20 people left.",
    "an ellipsis inside": "Well... maybe not. |Hm ... I think so. |And … so on.",
    "an ellipsis at the end": "I wonder... |The rest is silence.",
    "a spaced ellipsis": "It was . . . odd. |Yes.",
    "quotes after the stop": 'He said "No." |She left. |“Really?” |Yes.',
    "speech goes on": '"Why?" he asked. |"Go!" she said.',
    "brackets after the stop": "(It was late.) |We left. |(See there.) |Good [indeed!]. |Right.",
    "a bracket inside": "It (see Fig. 3.) is so. |Yes.",
    "emphasis": "It is *so* good. |_Truly._ |I mean it.",
    "enumeration in a line": "1. Go there. |2. Come back. |a. Rest. |IV. Sleep.",
    "no space after a stop": "I liked it.|Then we left. |Really?|Yes, sir.",
    "names with a stop inside": "Use Node.JS or comp.sys.Mac here. |Visit amazon.Com soon.",
    "lower-case starts": "i went home. |then i slept. |was it good? |yes it was.",
    "unknown abbreviation": "The Elec. engineering dept. is big. |Yes.",
    "name with an exclamation mark": "He joined Yahoo! in May. |Then he left.",
    "address of a page": "See http://www.x.org/a.b.html?q=1.2 for it. |Then http://x.org/. |Good.",
    "address of mail": "Ask joe.b@cs.x.edu or <a.b@c.d>. |Thanks.",
    "files": "Open read.me or a.out now. |Then run it.",
    "smileys": "Great! :-) |I agree. ;) |So do we.",
    "tokenised": "it is good . |he said so ! |was it ?",
    "Unicode": "Él llegó. |Übel war es nicht. |«Sí.» |Bien.",
    "a stop alone": "This is it .",
    "nothing closes it": "No stop here",
}


@pytest.mark.parametrize("marked", PROSE.values(), ids=PROSE)
def test_prose(marked: str) -> None:
    assert sentences(marked.replace("|", "")) == [part.strip() for part in marked.split("|")]


def test_sentences_run_over_lines_but_not_over_blank_ones() -> None:
    assert sentences("A title\n\nIt was\nlate. We\r\nleft\n \t\nThe end") == [
        "A title",
        "It was\nlate.",
        "We\r\nleft",
        "The end",
    ]


def test_a_header_has_one_sentence_a_line() -> None:
    message = (
        "From: joe@x.edu (Joe B. Doe)\nSubject: Re: Why? Because! And more.\nOrganization: X Inc. The best.\n"
        "References: <1@x>\n\t<2@y>\nLines: 2\n\nHello. Bye.\n"
    )
    assert sentences(message) == [
        "From: joe@x.edu (Joe B. Doe)",
        "Subject: Re: Why? Because! And more.",
        "Organization: X Inc. The best.",
        "References: <1@x>\n\t<2@y>",
        "Lines: 2",
        "Hello.",
        "Bye.",
    ]


def test_a_second_header() -> None:
    text = "Hello.\n\nArchive-name: a/b\nVersion: 1.2. Final.\n\nNote: this is prose. It\ngoes on."
    assert sentences(text) == [
        "Hello.",
        "Archive-name: a/b",
        "Version: 1.2. Final.",
        "Note: this is prose.",
        "It\ngoes on.",
    ]


def test_quotations() -> None:
    text = "Joe writes:\n>I think\n>that it works. Do\n>you?\n>> I asked\n>> first\nNo.\nJS> Never\nJS> ever. So.\n"
    assert sentences(text) == [
        "Joe writes:",
        "I think\n>that it works.",
        "Do\n>you?",
        "I asked\n>> first",
        "No.",
        "Never\nJS> ever.",
        "So.",
    ]


def test_a_blank_line_in_a_quotation() -> None:
    assert sentences("> one\n>\n> two\n: three\n: four\n") == ["one", "two", "three\n: four"]


def test_a_signature_has_one_sentence_a_line() -> None:
    text = "I agree\nwith you\n-- \nJoe Doe\nX University\njoe@x.edu  Tel. 123\n"
    assert sentences(text) == ["I agree\nwith you", "Joe Doe", "X University", "joe@x.edu  Tel. 123"]


def test_dashes_above_a_long_text_are_no_signature() -> None:
    text = "Above\n--\n" + "one more\nline.\n" * 20
    assert sentences(text)[:3] == ["Above", "one more\nline.", "one more\nline."]


def test_items_of_a_list() -> None:
    text = "We need\nthese:\n- bread and\n  butter\n* milk\n1) eggs\n2. ham. And salt.\n(a) tea\nJ. Smith"
    assert sentences(text) == [
        "We need\nthese:",
        "- bread and\n  butter",
        "* milk",
        "1) eggs",
        "2. ham.",
        "And salt.",
        "(a) tea\nJ. Smith",
    ]


def test_rulers_are_no_sentences_but_part_them() -> None:
    assert sentences("one\n-----\ntwo\n=====\n\n***\n") == ["one", "two"]
    assert sentences("") == sentences(" \n\n ... !\n") == []


@given(st.text(st.sampled_from("aB1 .!?\"')>\n-:…I,@\t\r|"), max_size=60))
def test_whatever_the_text(text: str) -> None:
    """Sentences are in order, do not overlap, are trimmed, and hold all letters and digits but quoting initials."""
    spans = split_sentences(text)
    assert all(begin < end for begin, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    for begin, end in spans:
        assert text[begin:end] == text[begin:end].strip()
        assert any(sign.isalnum() for sign in text[begin:end])
    if ">" not in text:
        inside = "".join(text[begin:end] for begin, end in spans)
        assert sum(map(str.isalnum, inside)) == sum(map(str.isalnum, text))


def test_lines() -> None:
    text = "  one . two \n\n\t\nthree\r\nx"
    assert [text[begin:end] for begin, end in split_lines(text)] == ["one . two", "three", "x"]


def test_an_unknown_name() -> None:
    with pytest.raises(ParsimonError, match="no sentence splitter called 'punkt'; choose from rules, lines"):
        named_splitter("punkt")


def test_sentencex_is_asked_in_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def segment(language: str, text: str) -> list[str]:
        asked.append(language)
        return ["Eins. ", "\n\n", "Eins.", " Zwei"]

    monkeypatch.setitem(sys.modules, "sentencex", SimpleNamespace(segment=segment))
    text = "Eins. \n\nEins. Zwei"
    assert list(named_splitter("sentencex:de")(text)) == [(0, 5), (8, 13), (14, 18)]
    list(named_splitter("sentencex")(text))
    assert asked == ["de", "en"]


def test_sentencex_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencex", None)
    with pytest.raises(
        ParsimonError, match=r"sentencex is not installed; pip install \"parsimon\[sentencex\]\""
    ):
        named_splitter("sentencex")


def test_sentencex_itself() -> None:
    pytest.importorskip("sentencex")
    text = "Dr. Smith left.  He ran.\n\nThe end"
    assert [text[b:e] for b, e in named_splitter("sentencex")(text)] == [
        "Dr. Smith left.",
        "He ran.",
        "The end",
    ]


# As it was before runs were taken whole; it takes time in proportion to the square of a run, or to its cube.
SLOW_STOP = re.compile(
    r"""([.!?…]+(?:[ ][.!?…]+)*)
    (?:([)\]}"'»”’*_>]*(?:[ ]+[:;=8][-o^']?[)(DPp](?=\s|$))?)(?=\s|$)
    |(?=[A-Z][a-z]*[\s,;:'’]))""",
    re.VERBOSE,
)


@settings(max_examples=300, deadline=None)
@given(st.text('.. ..!?) ")*:-)Aa,\n', max_size=30), st.integers(0, 3))
def test_stops_are_those_of_the_simple_pattern(text: str, begin: int) -> None:
    while text[begin - 1 : begin] in tuple(".!?"):  # no block begins inside a run
        begin -= 1
    begin = max(begin, 0)
    expected = [(m.span(), m.groups()) for m in SLOW_STOP.finditer(text, begin)]
    assert [(m.span(), m.groups()) for m in _STOP.finditer(text, begin)] == expected


@pytest.mark.parametrize(
    "text", ["." * 50_000 + "x", "." * 50_000 + ")" * 50_000 + "x", "!?" * 50_000 + "a", ".)" * 50_000]
)
def test_long_runs_of_stops_take_no_longer_than_text(text: str) -> None:
    """The simple pattern takes minutes."""
    assert len(split_sentences("A b. " + text)) == 2 - (not text.endswith(("x", "a")))
