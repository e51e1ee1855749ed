"""The NETtalk pronouncing dictionary as sequences: the letters of a word are tokens, its phonemes are labels.

The dictionary (Sejnowski and Rosenberg 1987) has one phoneme per letter (`-` if the letter is silent) and one
prosodic mark per letter: `1`, `2` or `0` at the nucleus of a syllable with primary, secondary or no stress, `>`
before the nucleus and `<` after it.

    word      abbreviation
    phonemes  xb-rivieS-xn
    marks     0<>>2>01>0<<
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from parsimon.data.registry import member
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns, Labels

__all__ = ["Pronunciation", "load_nettalk", "marks_on_phonemes", "phonemes", "read_nettalk"]


# -- reading the dictionary --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pronunciation:
    """A dictionary entry, with one phoneme and one prosodic mark per letter of the word."""

    word: str
    phonemes: str
    marks: str


def load_nettalk(
    prosody: bool = False,
    marks: Literal["letter", "phoneme"] = "letter",
    path: str | os.PathLike[str] | None = None,
) -> tuple[Columns, Labels]:
    """The NETtalk dictionary: one column with the letter, and the phoneme as label; every word is a sequence.

    With `prosody`, the label is the phoneme followed by its prosodic mark, as in `x0` and `b>`; `phonemes` removes the
    marks again. There are 51 phonemes. The number of joint labels depends on what the marks are attached to:

    - `marks="letter"`: the letter that the mark is aligned with in the dictionary. There are 163 labels, because
      stress may be marked on a silent letter or a consonant next to the vowel: abbreviation ends in `S>`, `-0`, `x<`,
      `n<`.
    - `marks="phoneme"`: the phoneme that is the nucleus of the syllable (see `marks_on_phonemes`): `S>`, `->`, `x0`,
      `n<`. There are 114 labels, as in Lavergne et al. (2010), who also "reassign prosodic marks to phonemes, rather
      than to letters".

    The dictionary has 20,008 entries for 19,802 words, because some words have several pronunciations. `path` may name
    your own copy of nettalk.data, gzipped or not; the default is the registered file.
    """
    if marks not in ("letter", "phoneme"):
        raise ParsimonError(
            f"marks is {marks!r}; give letter or phoneme, whichever they should be attached to."
        )
    entries = read_nettalk(member("nettalk", "nettalk.data") if path is None else path)
    X = Columns.from_sequences([list(entry.word) for entry in entries])
    if not prosody:
        return X, Labels.from_sequences([list(entry.phonemes) for entry in entries])
    all_marks = [e.marks if marks == "letter" else marks_on_phonemes(e.phonemes, e.marks) for e in entries]
    joint = [
        [phoneme + mark for phoneme, mark in zip(entry.phonemes, entry_marks, strict=True)]
        for entry, entry_marks in zip(entries, all_marks, strict=True)
    ]
    return X, Labels.from_sequences(joint)


def phonemes(y: Iterable[Sequence[str | None]]) -> Labels:
    """The phonemes in joint labels, either from `load_nettalk(prosody=True)` or predicted.

    >>> list(phonemes([["b>", "i1", "-<"], ["i0"]]))
    [['b', 'i', '-'], ['i']]
    """
    joint = Labels.from_sequences(y)
    names = list(dict.fromkeys(name[:1] for name in joint.names))
    # An unknown label (−1) indexes the last entry and stays unknown.
    number = np.array([*(names.index(name[:1]) for name in joint.names), -1], np.int32)
    return Labels(number[joint.ids], joint.lengths, names)


_ENTRY = re.compile(r"(\S+)\t(\S+)\t([012<>]+)(?:\t.*)?\s*")


def read_nettalk(path: str | os.PathLike[str]) -> list[Pronunciation]:
    """The entries of nettalk.data: word, phonemes, marks, and a code for irregular and foreign words.

    Fields are separated by tabs. Lines that start with # and everything above the first entry are skipped.
    """
    try:
        content = Path(path).read_bytes()
        text = (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).decode("latin-1")
    except (OSError, EOFError) as error:
        raise ParsimonError(
            f"{path} cannot be read: {error}; give the path of a nettalk.data file."
        ) from error
    entries: list[Pronunciation] = []
    for number, line in enumerate(text.splitlines(), start=1):
        found = _ENTRY.fullmatch(line)
        if found and len(found[1]) == len(found[2]) == len(found[3]):
            entries.append(Pronunciation(found[1], found[2], found[3]))
        elif found or (entries and line.strip() and not line.startswith("#")):
            raise ParsimonError(
                f"{path}, line {number}: {line!r} should be a word, a phoneme for each of its letters and a mark "
                "(0, 1, 2, < or >) for each, separated by tabs."
            )
    if not entries:
        raise ParsimonError(
            f"{path} has no entries; a line should look like abbey, @b-i- and 1<>0<, separated by tabs."
        )
    return entries


# -- moving marks to phonemes ------------------------------------------------------------------------------

# Vowels, and the consonants that can form a syllable without one, as in bottLe, absM, buttoN and honoR.
_NUCLEI = frozenset("+@AEIOUWY^aceioux" + "LMNR")
_SYLLABLE = re.compile(">*([012]?)<*")


def marks_on_phonemes(phonemes: str, marks: str) -> str:
    """Move the marks from letters to phonemes: each stress goes to the phoneme that is the syllable's nucleus.

    Nuclei are vowels and the syllabic consonants L, M, N and R. Nearly every word has as many nuclei as stresses, which
    are then matched in order. In the 71 other words, each stress goes to the nearest nucleus of its syllable. A stress
    without a nucleus is dropped (the dictionary has `wn-` for one), and a nucleus without stress gets `0`. The letter
    that lost a stress gets `>` or `<`, depending on whether it is before or after the nearest nucleus.

    >>> marks_on_phonemes("xb-rivieS-xn", "0<>>2>01>0<<")  # abbreviation
    '0<>>2>01>>0<'
    """
    stress = _stresses(phonemes, marks)
    moved = []
    for i, mark in enumerate(marks):
        if i not in stress and mark in "012":
            nearest = min(stress, key=lambda nucleus: abs(nucleus - i), default=i)
            mark = ">" if nearest > i else "<"
        moved.append(stress.get(i, mark))
    return "".join(moved)


def _stresses(phonemes: str, marks: str) -> dict[int, str]:
    """The stress of every nucleus, keyed by its index in the word."""
    nuclei = [i for i, phoneme in enumerate(phonemes) if phoneme in _NUCLEI]
    stresses = re.findall("[012]", marks)
    if len(nuclei) == len(stresses):
        return dict(zip(nuclei, stresses, strict=True))
    found = dict.fromkeys(nuclei, "0")
    for syllable in _SYLLABLE.finditer(marks):
        at = syllable.start(1)
        inside = [i for i in nuclei if syllable.start() <= i < syllable.end()]
        if syllable[1] and inside:
            found[min(inside, key=lambda nucleus: abs(nucleus - at))] = syllable[1]
    return found
