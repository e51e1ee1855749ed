"""Splitting text into sentences: with rules for English prose, mail and news, by lines, or with sentencex.

A splitter is a function from a text to the character offsets of its sentences, in order. The characters between two
sentences (spaces, quote markers, rulers such as -----) belong to neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import TypeAlias

from parsimon.errors import ParsimonError

__all__ = ["Span", "Splitter", "named_splitter", "split_lines", "split_sentences"]

Span: TypeAlias = tuple[int, int]
Splitter: TypeAlias = Callable[[str], Iterable[Span]]


def split_sentences(text: str) -> list[Span]:
    """Split a text into sentences with rules for English prose, mail and news.

    A sentence ends at a full stop, question mark or exclamation mark, including any quotes, brackets and smileys that
    follow it, unless the stop belongs to an abbreviation, an initial or the number of a list item. It also ends at
    blank lines, where the quotation depth (`>`) changes, and before the next list item. Every line of a mail header is
    a sentence, and so is every line of a signature (the lines after `--`).

    >>> text = "Dr. A. Smith paid $3.50... in the U.S. He left."
    >>> [text[begin:end] for begin, end in split_sentences(text)]
    ['Dr. A. Smith paid $3.50... in the U.S.', 'He left.']
    """
    spans: list[Span] = []
    for begin, end, in_prose in _blocks(text):
        if in_prose:
            spans += _prose(text, begin, end)
        else:
            spans.append((begin, end))
    has_word = _LETTER_OR_DIGIT.search
    return [(begin, end) for begin, end in spans if has_word(text, begin, end)]


def split_lines(text: str) -> list[Span]:
    """The lines that are not blank, for texts with one sentence per line.

    >>> split_lines("it is dull .\\n\\ngo !\\n")
    [(0, 12), (14, 18)]
    """
    return [line.span() for line in _LINE_OF_TEXT.finditer(text)]


def named_splitter(name: str) -> Splitter:
    """The splitter with a name: rules, lines, sentencex, or sentencex:de for another language.

    >>> named_splitter("rules") is split_sentences
    True
    """
    if name in _SPLITTERS:
        return _SPLITTERS[name]
    library, _, language = name.partition(":")
    if library != "sentencex":
        raise ParsimonError(
            f"there is no sentence splitter called {name!r}; choose from rules, lines and sentencex, or give a "
            "function from a text to pairs of offsets."
        )
    try:
        segment = import_module("sentencex").segment
    except ImportError as error:
        raise ParsimonError(
            'the sentence splitter sentencex is not installed; pip install "parsimon[sentencex]", or choose rules.'
        ) from error
    return partial(_located, partial(segment, language or "en"))


def _located(segment: Callable[[str], Iterable[str]], text: str) -> Iterator[Span]:
    """The offsets of sentences that a library returns as strings, in order."""
    at = 0
    for piece in segment(text):
        sentence = piece.strip()
        if sentence:
            begin = text.index(sentence, at)
            at = begin + len(sentence)
            yield begin, at


_SPLITTERS: dict[str, Splitter] = {"rules": split_sentences, "lines": split_lines}

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_LINE_OF_TEXT = re.compile(r"\S(?:[^\n]*\S)?")


# -- blocks: consecutive lines that a sentence may span ----------------------------------------------------

# Quote markers of mail at the beginning of a line: >, >>, "> >", with initials JS>, also | and :
_QUOTE = r"(?:[ \t]*(?:[A-Za-z]{0,4}>|[|:}](?=[ \t>|:}])))*"
_LINE = re.compile(rf"({_QUOTE})([^\S\n]*)([^\n]*)\n?")
_HEADER = re.compile(r"[A-Z][A-Za-z0-9.-]*:(?=\s|$)")  # also Article-I.D.:
# A text that begins with one of these begins with a header.
_MAIL = re.compile(
    r"(?:From|Subject|Path|Newsgroups|Date|To|Cc|Organization|Message-ID|Xref|Received|Return-Path|Reply-To"
    r"|Sender|Lines|Nntp-Posting-Host):\s"
)
_ITEM = re.compile(r"(?:[-*+•·]|\(?\d{1,2}[.)]|\(?[A-Za-z]\))[ \t]+\S")
_SIGNATURE = re.compile(r"(?m)^-{2,3}[ \t\r]*$")
_LONGEST_SIGNATURE = 12  # lines; if more follow, the line -- does not start a signature

_Block: TypeAlias = tuple[int, int, bool]  # begin, end, and whether it is prose to be split further


def _blocks(text: str) -> Iterator[_Block]:
    """The parts of a text that no sentence crosses: paragraphs, quotations, list items, header lines."""
    signature = _signature(text)
    lines: list[re.Match[str]] = []  # of the block so far
    depth, first = "", True
    for line in _LINE.finditer(text):
        quote, _, rest = line.groups()
        has_text = rest[:1].isalnum() or _LETTER_OR_DIGIT.search(rest)
        this_depth = "".join(quote.split()) if quote else ""
        if lines and (not has_text or this_depth != depth or line.start() > signature):
            yield from _block(text, lines, first)
            lines, first = [], False
        if has_text:
            lines.append(line)
            depth = this_depth
    if lines:
        yield from _block(text, lines, first)


def _signature(text: str) -> int:
    """The offset at which the signature begins, or the length of the text if there is none."""
    if "--" in text:
        *_, last = [None, *_SIGNATURE.finditer(text)]
        if last and len(split_lines(text[last.end() :])) <= _LONGEST_SIGNATURE:
            return last.end()
    return len(text)


def _block(text: str, lines: list[re.Match[str]], first: bool) -> Iterator[_Block]:
    """A run of lines as one block, or as several if it is a header or contains list items."""
    in_header = _HEADER.match(lines[0][3]) is not None and _is_header(lines, first)
    starts_anew = _HEADER.match if in_header else _ITEM.match
    begin = previous = lines[0]
    for line in lines[1:]:
        if starts_anew(line[3]):
            yield begin.start(3), _end(text, previous), not in_header
            begin = line
        previous = line
    yield begin.start(3), _end(text, previous), not in_header


def _is_header(lines: list[re.Match[str]], first: bool) -> bool:
    """Whether lines are a mail header or similar fields further down, given that the first one looks like it."""
    if first and _MAIL.match(lines[0][3]):
        return True
    return len(lines) > 1 and all(line[2] or _HEADER.match(line[3]) for line in lines)


def _end(text: str, line: re.Match[str]) -> int:
    """The end of a line without trailing spaces."""
    return line.start(3) + len(line[3].rstrip())


# -- sentences in prose ------------------------------------------------------------------------------------

# Runs are taken whole (++, *+) and only from where they begin: no part of one would match, and trying all of them would
# take time in proportion to the square of their length.
_STOP = re.compile(
    r"""
    (?<![.!?…])([.!?…]++(?:[ ][.!?…]++)*)           # the stop, "?!", "..." or ". . ."
    (?:
        ([)\]}"'»”’*_>]*+                           # closing quotes and brackets
        (?:[ ]++[:;=8][-o^']?[)(DPp](?=\s|$))?)      # a smiley
        (?=\s|$)
        | (?=[A-Z][a-z]*[\s,;:'’])                  # a capital without a space before it
    )
    """,
    re.VERBOSE,
)
_GAP = re.compile(rf"(?:[^\S\n]*\n{_QUOTE})*[^\S\n]*")
_NEXT_WORD = re.compile(r"[\"'“‘«(\[{<*_`-]*(\w[\w'’]*)?(\.?)")
_OPENING = "\"'“‘«([{<*_`-"


def _prose(text: str, begin: int, end: int) -> Iterator[Span]:
    """The sentences in a block."""
    for stop in _STOP.finditer(text, begin, end):
        gap = _GAP.match(text, stop.end(), end)
        assert gap is not None  # the pattern can match the empty string
        if gap.end() < end and _is_end(text, begin, stop, gap.end(), end):
            yield begin, stop.end()
            begin = gap.end()
    yield begin, end


def _is_end(text: str, begin: int, stop: re.Match[str], next_at: int, end: int) -> bool:
    """Whether a stop ends the sentence that begins at `begin`, given that more text follows at `next_at`."""
    marks, closing = stop.groups()
    left = text[max(begin, stop.start() - 40) : stop.start()]
    words = left.split()
    word = words[-1].lstrip(_OPENING) if words and not left[-1].isspace() else ""
    if closing is None:
        # There is no space before the next word. Addresses and file names contain such stops, too.
        return bool(_PLAIN_WORD.fullmatch(word)) and text[next_at : next_at + 3] not in _DOMAINS
    following = _NEXT_WORD.match(text, next_at, end)
    assert following is not None
    next_word = following[1] or ""
    lower = next_word[:1].islower()
    if lower and closing:  # "Why?" he asked
        return False
    if "!" in marks or "?" in marks:
        return not (lower and marks == "!" and word[:1].isupper())  # Yahoo! is
    if marks != ".":  # a sentence continues after an ellipsis, unless a capital follows
        return next_word[:1].isupper() and next_word.partition("'")[0] != "I"
    if len(words) == 1 and len(left) == len(words[0]) < 9 and _MARKER.fullmatch(word):
        return False
    starts = next_word in _STARTERS and not following[2]  # "A." is more likely an initial
    return _full_stop_ends(word.rpartition("-")[2], next_word, starts)


def _full_stop_ends(word: str, next_word: str, starts: bool) -> bool:
    """Whether the full stop after a word ends the sentence; `starts` if the next word often starts a sentence."""
    lower, plain = next_word[:1].islower(), word.lower()
    if plain in _NEVER_LAST:
        return False
    if plain in _BEFORE_NUMBERS and next_word[:1].isdigit():
        return False
    if plain == "etc":
        return not lower
    if word in _SOMETIMES_LAST or plain in _SOMETIMES_LAST_ANY_CASE:
        return starts
    if _INITIALS.fullmatch(word):
        return word == "I" or starts or (len(word) == 1 and word.islower() and not lower)
    if lower:
        # Some authors never use capitals. But a short word with a capital or without a vowel is an abbreviation.
        return len(word) > 4 or (word == plain and (not word.isalpha() or bool(_VOWEL.search(word))))
    return True


_PLAIN_WORD = re.compile(r"[^\W\d_]?[a-z'’-]*[a-z]{2}")
_MARKER = re.compile(r"\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivx]{1,5}|[IVX]{1,5}")  # 1. 2.3. a. IV.
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]|Ph\.D|[MB]\.Sc")
_VOWEL = re.compile(r"[aeiouyäöüáéíóú]")
_DOMAINS = frozenset(["Com", "Org", "Net", "Edu", "Gov"])


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_LAST = _words(
    """
    dr mr mrs messrs prof st ste gen sen gov capt cpt lt col sgt cmdr maj rev fr hon pres
    supt amb insp mme mlle e.g i.e eg ie cf viz vs v.s approx ca resp incl esp orig misc
    """
)
_BEFORE_NUMBERS = _words(
    """
    no nos nr fig figs eq eqs p pp vol vols ch chap sec sect art ver v par para ref refs tel ext op rm rev ed pt pts
    jan feb mar apr jun jul aug sep sept oct nov dec
    """
)
_SOMETIMES_LAST_ANY_CASE = _words(
    "inc ltd corp bros dept univ assn jr sr al ave blvd yr yrs hr hrs lb lbs oz"
)
_SOMETIMES_LAST = _words(
    """
    Ms Rep Reps Adm Mt Ft ft Co Rd Dist Natl Intl Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu
    Thur Thurs Fri Calif Mass Conn Penn Fla Tex Ill Mich Minn Wash Ariz Colo
    """
)
_STARTERS = _words(
    """
    The A An This That These Those It It's He She We They You I I'm I've I'd I'll There Here In On At If But And Or So
    As When While What Why How Who Where Which Then Not No Yes My Our His Her Its Their Your After Before Some Many
    Most All Each Every For However Although Though Because Since Also Maybe Perhaps Please Thanks Now Once Only Even
    Is Are Was Were Do Does Did Don't Has Have Had Can Could Would Should Will With Without From By To Of Let Let's
    One Two Both Such Other Another Anyone Someone Everyone Nobody Nothing Just Well
    """
)
