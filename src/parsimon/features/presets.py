"""Named template sets, for getting started without writing a template file.

>>> sorted(name for name in preset_names() if not name.startswith("nettalk"))
['chunking', 'chunking-wide', 'martins-chunking', 'martins-ner', 'ner', 'pos', 'python-code', 'sha-pereira',
'suzuki-pos', 'suzuki-pos+', 'words']
>>> len(get_preset("chunking")), len(get_preset("nettalk-5grm+"))
(20, 9)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from parsimon.errors import ParsimonError, nearest
from parsimon.features.ngram_templates import bias, conjunction, label_bigram, ngram, ngrams, with_kind
from parsimon.features.templates import TemplateSet, Test

__all__ = ["PRESETS", "Preset", "get_preset", "preset_names"]


@dataclass(frozen=True)
class Preset:
    """A named template set, with a description and the columns that it needs (excluding the label column)."""

    name: str
    description: str
    columns: tuple[str, ...]
    build: Callable[[], TemplateSet]


def get_preset(name: str) -> TemplateSet:
    """The templates of a preset.

    >>> get_preset("words").n_columns
    1
    """
    preset = PRESETS.get(name)
    if preset is None:
        close = nearest(name, PRESETS)
        hint = f"did you mean {close!r}? " if close else ""
        raise ParsimonError(f"unknown preset {name!r}: {hint}presets are {', '.join(PRESETS)}")
    return preset.build()


def preset_names() -> tuple[str, ...]:
    """The names of all presets; `PRESETS` has their descriptions and columns."""
    return tuple(PRESETS)


def _affixes(longest: int, window: int = 0) -> TemplateSet:
    """Prefixes and suffixes up to a length of each word in the window."""
    templates = TemplateSet(())
    for affix in ("prefix", "suffix"):
        for length in range(1, longest + 1):
            transform = f"{affix}:{length}"
            templates += ngrams(0, n=1, window=window, transform=transform, name=f"{affix}{length}")
    return templates


def _neighbours(transform: str, name: str) -> TemplateSet:
    """The previous and the next token, but not the current one."""
    before, _, after = ngrams(0, n=1, window=1, transform=transform, name=name)
    return TemplateSet((before, after))


def _words() -> TemplateSet:
    return (
        bias()
        + ngrams(0, n=1, window=2, name="word")
        + ngrams(0, n=2, window=1, name="word")
        + ngrams(0, n=1, window=1, transform="lower", name="lower")
        + ngrams(0, n=(1, 2), window=1, transform="shape", name="shape")
        + _affixes(4)
        + _neighbours("suffix:3", "suffix3")
        + label_bigram()
    )


def _chunking() -> TemplateSet:
    """The templates of CRF++'s base-NP and chunking examples, with readable names."""
    return (
        ngrams(0, n=1, window=2, name="word")
        + ngrams(0, n=2, window=1, name="word")
        + ngrams(1, n=(1, 2, 3), window=2, name="pos")
        + label_bigram()
    )


def _pos() -> TemplateSet:
    return (
        bias()
        + ngrams(0, n=1, window=2, transform="lower", name="lower")
        + ngrams(0, n=2, window=1, transform="lower", name="lower")
        + ngrams(0, n=1, window=0, name="word")
        + ngrams(0, n=1, window=1, transform="shape", name="shape")
        + ngrams(0, n=1, window=1, transform="charclass", name="class")
        + _neighbours("suffix:2", "suffix2")
        + _neighbours("suffix:3", "suffix3")
        + _affixes(5)
        + label_bigram()
    )


def _ner() -> TemplateSet:
    return (
        bias()
        + ngrams(0, n=1, window=2, name="word")
        + ngrams(0, n=2, window=1, name="word")
        + ngrams(0, n=1, window=2, transform="lower", name="lower")
        + ngrams(0, n=(1, 2, 3), window=2, transform="shape", name="shape")
        + ngrams(0, n=1, window=2, transform="charclass", name="class")
        + ngrams(1, n=(1, 2), window=2, name="pos")
        + _affixes(4)
        + label_bigram()
    )


def _python_code() -> TemplateSet:
    """Deliberately too many templates: learning should choose among them."""
    templates = (
        bias()
        + ngrams(0, n=(1, 2, 3), window=3, name="text")
        + ngrams(1, n=(1, 2, 3), window=4, name="type")
        + ngrams(0, n=(1, 2), window=2, transform="shape", name="shape")
        + ngrams(0, n=1, window=1, transform="charclass", name="class")
        + ngrams(0, n=1, window=1, transform="lower", name="lower")
        + _affixes(4, window=1)
    )
    for text_at in (-1, 0, 1):
        for type_at in (-2, -1, 0, 1, 2):
            templates += conjunction(("text", Test(text_at, 0)), ("type", Test(type_at, 1)))
    # The tokens on either side, with and without the token in between.
    templates += conjunction(("text", Test(-1, 0)), ("text", Test(1, 0)))
    templates += conjunction(("text", Test(-1, 0)), ("type", Test(0, 1)), ("text", Test(1, 0)))
    templates += conjunction(("type", Test(-1, 1)), ("text", Test(0, 0)), ("type", Test(1, 1)))
    return templates + label_bigram()


def _touching(longest: int, window: int, name: str, column: int = 0, transform: str = "") -> TemplateSet:
    """Every n-gram up to a size that has at least one token in the window from -window to +window.

    There are 2·window + n of size n: those that lie entirely in ±(window + n − 1).
    """
    templates = TemplateSet(())
    for size in range(1, longest + 1):
        templates += ngrams(column, n=size, window=window + size - 1, transform=transform, name=name)
    return templates


def _martins_chunking() -> TemplateSet:
    """The 96 templates of Martins et al. (2011, section 5, "Text Chunking"), and the label bigram.

    The paper has "up to 5-grams of POS tags, in windows of 5 tokens on the left and 5 tokens on the right",
    and likewise 3-grams of words in ±3 and 2-grams of shapes in ±2. There are 45 + 18 + 9 = 72 n-grams that lie
    entirely in the windows, 55 + 21 + 10 = 86 that begin in them, and 65 + 24 + 11 = 100 that touch them. None of these
    is 96, but the last reading gives exactly the paper's 452 for named entities (see `_martins_ner`), where POS and
    words are the same. With those two fixed, 96 − 65 − 24 leaves 7 templates for shapes: the number of unigrams and
    bigrams that touch ±1. Those include all bigrams in ±2, so of the paper's shapes only the single shapes two tokens
    away are missing.
    """
    return (
        _touching(5, window=5, name="pos", column=1)
        + _touching(3, window=3, name="word")
        + _touching(2, window=1, name="shape", transform="shape")
        + label_bigram()
    )


def _chunking_wide() -> TemplateSet:
    """The templates of `_martins_chunking`, and 50 conjunctions of words and parts of speech that the paper lacks.

    They are one word in ±2 with one part of speech in ±2; one word in ±1 with two adjacent parts of speech, or with the
    three in ±1; and the two word bigrams that include the current word, with one part of speech in ±2.
    """
    word, pos = (
        {i: (name, Test(i, column)) for i in range(-2, 3)} for column, name in enumerate(("word", "pos"))
    )
    together: list[tuple[tuple[str, Test], ...]] = [(word[i], pos[j]) for i in word for j in pos]
    for i in (-1, 0, 1):
        together += [(word[i], pos[j], pos[j + 1]) for j in (-2, -1, 0, 1)]
        together.append((word[i], pos[-1], pos[0], pos[1]))
    together += [(word[i], word[i + 1], pos[j]) for i in (-1, 0) for j in pos]
    templates = _martins_chunking()
    for parts in together:
        templates += conjunction(*parts)
    return templates


def _martins_ner() -> TemplateSet:
    """The 452 templates of Martins et al. (2011, section 5, "Named Entity Recognition"), and the label bigram.

    The paper adds to its chunking templates "up to 3-grams of shapes, in windows of size 3; for prefix/suffix
    sizes of 1, 2, 3, up to 3-grams of word prefixes/suffixes, in windows of size 3; up to 5-grams of case,
    punctuation, and digit indicators, in windows of size 5". There are 24 n-grams up to size 3 that *touch* ±3, and 65
    up to size 5 that touch ±5. Words, shapes (which include those of chunking) and six affixes give 8 · 24, and POS and
    three indicators give 4 · 65: 452 in all. N-grams entirely in the windows would be 8 · 18 + 4 · 45 = 324, and those
    that begin in them 8 · 21 + 4 · 55 = 388.
    """
    templates = _touching(5, window=5, name="pos", column=1)
    templates += _touching(3, window=3, name="word")
    templates += _touching(3, window=3, name="shape", transform="shape")
    for affix in ("prefix", "suffix"):
        for length in (1, 2, 3):
            templates += _touching(3, window=3, name=f"{affix}{length}", transform=f"{affix}:{length}")
    for name, transform in (("case", "case"), ("punct", "has-punct"), ("digit", "has-digit")):
        templates += _touching(5, window=5, name=name, transform=transform)
    return templates + label_bigram()


_Windows = Literal["", "-", "+", "++"]


def _nettalk(n: int, which: _Windows) -> TemplateSet:
    """Letter windows for letter-to-sound (Lavergne et al. 2010, section 5.1.1), each with labels and label pairs.

    The paper defines "all features testing embedded windows of k letters, for all 0 ≤ k ≤ n" for n-grm,
    "only [...] the window of length n" for n-grm-, "we add features for odd-size windows" for n-grm+, and "all
    sequences of letters up to size n occurring in current window" for n-grm++. In its example, the e of lemma has ∅, e
    and lem for 3-grm, only lem for 3-grm-, also le and em for 3-grm+, and also l and m for 3-grm++. So n-grm has the
    windows of odd length with the letter in the middle, and n-grm+ adds those of *even* length: for each length, the
    two with the letter next to the middle. (The paper's 250 million features of 5-grm+ agree with this, see
    docs/templates.md; all windows that contain the letter would give 279 million.)

    ∅, the empty test, is the bias and the label bigram. n-grm- has neither.
    """
    reach = n // 2
    if which == "-":
        return ngram(-reach, reach, kind="both", name="letter")
    if which == "++":
        windows = [(i, j) for i in range(-reach, reach + 1) for j in range(i, reach + 1)]
        windows.sort(key=lambda ends: (ends[1] - ends[0], ends))
    else:
        windows = [(0, 0)]
        for k in range(1, reach + 1):
            windows += [(-k, k - 1), (1 - k, k)] if which == "+" else []
            windows.append((-k, k))
    templates = bias()
    for first, last in windows:
        templates += ngram(first, last, kind="both", name="letter")
    return templates + label_bigram()


def _suzuki_pos(pairs: bool) -> TemplateSet:
    """The part-of-speech templates of Suzuki and Isozaki (2008) as described by Lavergne et al. (2010, 5.1.2).

    They use "the current words (as written and lowercased), prefixes and suffixes up to length 4, and typographical
    characteristics (case, etc.) of the words" and "individual and pairs of words in a window of 5 words".
    Pairs are of adjacent words: there are four. (All ten pairs would give far more than the paper's 70.2 million
    features, see docs/templates.md.)

    The paper does not say which tests are also combined with the label pair. Here, these are the single tests of the
    two tokens whose labels form the pair: all tests of the current token, and the previous word.
    """
    kind: Literal["node", "both"] = "both" if pairs else "node"
    current = ngrams(0, n=1, window=0, transform="lower", name="lower") + _affixes(4)
    for name, transform in (
        ("case", "case"),
        ("digit", "has-digit"),
        ("punct", "has-punct"),
        ("hyphen", "test:-"),
    ):
        current += ngram(0, 0, transform=transform, name=name)
    return (
        bias()
        + ngram(-2, -2, name="word")
        + ngram(-1, -1, name="word", kind=kind)
        + ngram(0, 0, name="word", kind=kind)
        + ngram(1, 1, name="word")
        + ngram(2, 2, name="word")
        + ngrams(0, n=2, window=2, name="word")
        + with_kind(current, kind)
        + label_bigram()
    )


def _sha_pereira() -> TemplateSet:
    """Noun-phrase chunking as in Sha & Pereira (2003), table 1, for labels that are pairs of tags (order 2).

    Words in ±2 and word bigrams that include the current word; n-grams of parts of speech in ±2 up to size 3.
    """
    return (
        bias()
        + ngrams(0, n=1, window=2, name="word")
        + ngrams(0, n=2, window=1, name="word")
        + ngrams(1, n=(1, 2, 3), window=2, name="pos")
        + label_bigram()
    )


_WORD, _POS = "the word", "its part of speech"

_WINDOWS: dict[_Windows, str] = {
    "": "windows of 1 to {n} letters around the letter",
    "-": "only the window of {n} letters around the letter",
    "+": "windows of 1 to {n} letters, including even lengths",
    "++": "all substrings of the window of {n} letters",
}


def _nettalk_presets() -> list[Preset]:
    return [
        Preset(
            f"nettalk-{n}grm{which}",
            f"letter-to-sound (Lavergne et al. 2010), with label pairs: {_WINDOWS[which].format(n=n)}",
            ("the letter",),
            partial(_nettalk, n, which),
        )
        for n in (1, 3, 5, 7)
        for which in get_args(_Windows)
    ]


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("words", "words, shapes and affixes: any task with one column", (_WORD,), _words),
        Preset("chunking", "CRF++'s chunking templates: words, POS n-grams in ±2", (_WORD, _POS), _chunking),
        Preset("pos", "part-of-speech tagging: words, affixes up to 5, shapes", (_WORD,), _pos),
        Preset("ner", "named entities: words, POS, shapes and affixes in ±2", (_WORD, _POS), _ner),
        Preset(
            "python-code",
            "tokens of Python source, over-complete: n-grams of text and type in ±3 and ±4",
            ("the text of the token", "its coarse type (name, operator, number, ...)"),
            _python_code,
        ),
        Preset(
            "martins-chunking",
            "chunking, over-complete (Martins et al. 2011): n-grams of POS up to 5, words up to 3, shapes up to 2",
            (_WORD, _POS),
            _martins_chunking,
        ),
        Preset(
            "chunking-wide",
            "chunking, over-complete: martins-chunking, and conjunctions of words and POS",
            (_WORD, _POS),
            _chunking_wide,
        ),
        Preset(
            "martins-ner",
            "named entities, over-complete (Martins et al. 2011): n-grams of POS, words, shapes, affixes, case, digits",
            (_WORD, _POS),
            _martins_ner,
        ),
        Preset(
            "sha-pereira",
            "noun phrases (Sha & Pereira 2003): words in ±2, pairs of words, n-grams of POS up to 3 (for order 2)",
            (_WORD, _POS),
            _sha_pereira,
        ),
        *_nettalk_presets(),
        Preset(
            "suzuki-pos",
            "part-of-speech tagging (Suzuki & Isozaki 2008): words and pairs of words in ±2, affixes up to 4, case",
            (_WORD,),
            partial(_suzuki_pos, pairs=False),
        ),
        Preset(
            "suzuki-pos+",
            "suzuki-pos, with tests of the current token and the previous word also for label pairs",
            (_WORD,),
            partial(_suzuki_pos, pairs=True),
        ),
    )
}
