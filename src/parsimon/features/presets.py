"""Template sets with a name, for those who want to start without writing a template file.

>>> sorted(preset_names())
['chunking', 'ner', 'pos', 'python-code', 'words']
>>> len(get_preset("chunking"))
20
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from parsimon.errors import ParsimonError
from parsimon.features.ngrams import bias, conjunction, label_bigram, ngrams
from parsimon.features.templates import TemplateSet, Test

__all__ = ["PRESETS", "Preset", "get_preset", "preset_names"]


@dataclass(frozen=True)
class Preset:
    """A named template set: what it is for, and what its columns must hold (the label column not counted)."""

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
        close = get_close_matches(name, PRESETS, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ParsimonError(f"unknown preset {name!r}: {hint}there are {', '.join(PRESETS)}")
    return preset.build()


def preset_names() -> tuple[str, ...]:
    """The names that `get_preset` knows; `PRESETS` has their descriptions and columns."""
    return tuple(PRESETS)


def _affixes(longest: int, window: int = 0) -> TemplateSet:
    """Prefixes and suffixes of the word up to a length, of each token in the window."""
    templates = TemplateSet(())
    for affix in ("prefix", "suffix"):
        for length in range(1, longest + 1):
            transform = f"{affix}:{length}"
            templates += ngrams(0, n=1, window=window, transform=transform, name=f"{affix}{length}")
    return templates


def _neighbours(transform: str, name: str) -> TemplateSet:
    """The token before and the token after, but not the token itself."""
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
    """The templates of CRF++'s base-NP and chunking examples, under readable names."""
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
    """More templates than anybody needs: which of them to keep is for learning to say."""
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
    # What stands on either side, with and without what stands between.
    templates += conjunction(("text", Test(-1, 0)), ("text", Test(1, 0)))
    templates += conjunction(("text", Test(-1, 0)), ("type", Test(0, 1)), ("text", Test(1, 0)))
    templates += conjunction(("type", Test(-1, 1)), ("text", Test(0, 0)), ("type", Test(1, 1)))
    return templates + label_bigram()


_WORD, _POS = "the word", "its part of speech"

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
    )
}
