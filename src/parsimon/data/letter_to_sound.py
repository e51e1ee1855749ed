"""NETtalk's pronouncing dictionary as sequences: a word's letters are the tokens, its phonemes the labels.

The dictionary (Sejnowski and Rosenberg 1987) has a phoneme for every letter, `-` where the letter is silent, and a
prosodic mark for every letter: `1`, `2` or `0` at the nucleus of a syllable with primary, secondary or no stress,
`>` before the nucleus and `<` after it.

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
    """An entry of the dictionary: one phoneme and one prosodic mark for every letter of the word."""

    word: str
    phonemes: str
    marks: str


def load_nettalk(
    prosody: bool = False,
    marks: Literal["letter", "phoneme"] = "letter",
    path: str | os.PathLike[str] | None = None,
) -> tuple[Columns, Labels]:
    """NETtalk's dictionary: one column, the letter, and the phoneme as label; a word is a sequence.

    With `prosody` the label is the phoneme followed by its prosodic mark, as in `x0` and `b>`; `phonemes` takes the
    marks off again. There are 51 phonemes. How many joint labels there are depends on what a mark belongs to:

    - `marks="letter"`: to the letter that it is aligned with, as in the dictionary. 163 labels, for stress may be
      marked at a silent letter or a consonant beside the vowel: the end of abbreviation is `S>`, `-0`, `x<`, `n<`.
    - `marks="phoneme"`: to the phoneme that is the nucleus of the syllable, see `marks_on_phonemes`: `S>`, `->`,
      `x0`, `n<`. 114 labels, the number of Lavergne et al. (2010), who "reassign prosodic marks to phonemes,
      rather than to letters" too.

    The dictionary has 20,008 entries of 19,802 words: some words have several pronunciations. `path` is for a
    nettalk.data of your own, gzipped or not; without it, the file that the registry knows is read.
    """
    if marks not in ("letter", "phoneme"):
        raise ParsimonError(f"marks is {marks!r}; give letter or phoneme, to which they are to belong.")
    entries = read_nettalk(member("nettalk", "nettalk.data") if path is None else path)
    X = Columns.from_sequences([list(entry.word) for entry in entries])
    if not prosody:
        return X, Labels.from_sequences([list(entry.phonemes) for entry in entries])
    given = [e.marks if marks == "letter" else marks_on_phonemes(e.phonemes, e.marks) for e in entries]
    joint = [
        [phoneme + mark for phoneme, mark in zip(entry.phonemes, its_marks, strict=True)]
        for entry, its_marks in zip(entries, given, strict=True)
    ]
    return X, Labels.from_sequences(joint)


def phonemes(y: Iterable[Sequence[str | None]]) -> Labels:
    """The phonemes of labels that `load_nettalk(prosody=True)` gave or of predictions of such labels.

    >>> list(phonemes([["b>", "i1", "-<"], ["i0"]]))
    [['b', 'i', '-'], ['i']]
    """
    joint = Labels.from_sequences(y)
    names = list(dict.fromkeys(name[:1] for name in joint.names))
    # A label that is not known (−1) picks the last one and stays unknown.
    number = np.array([*(names.index(name[:1]) for name in joint.names), -1], np.int32)
    return Labels(number[joint.ids], joint.lengths, names)


_ENTRY = re.compile(r"(\S+)\t(\S+)\t([012<>]+)(?:\t.*)?\s*")


def read_nettalk(path: str | os.PathLike[str]) -> list[Pronunciation]:
    """The entries of a file nettalk.data: word, phonemes, marks and a code for irregular and foreign words.

    The fields are separated by tabs. Lines that start with # and what stands above the first entry is passed over.
    """
    try:
        content = Path(path).read_bytes()
        text = (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).decode("latin-1")
    except (OSError, EOFError) as error:
        raise ParsimonError(
            f"{path} cannot be read: {error}; give the path of a file nettalk.data."
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
        raise ParsimonError(f"{path} has no entries; a line should be like abbey, @b-i- and 1<>0< with tabs.")
    return entries


# -- what the marks belong to ------------------------------------------------------------------------------

# Vowels, and the consonants that can be a syllable without one, as in bottLe, absM, buttoN and honoR.
_NUCLEI = frozenset("+@AEIOUWY^aceioux" + "LMNR")
_SYLLABLE = re.compile(">*([012]?)<*")


def marks_on_phonemes(phonemes: str, marks: str) -> str:
    """The marks moved from letters to phonemes: each stress goes to the phoneme that is the syllable's nucleus.

    Nuclei are vowels and the syllabic consonants L, M, N and R. Nearly every word has as many of them as it has
    stresses, which then go to them in order. In the 71 words that do not, each stress goes to the nucleus that is
    nearest to it in its syllable; a stress without one is dropped (the dictionary has `wn-` for one), and a nucleus
    without stress gets `0`. What a stress was taken from is before (`>`) or after (`<`) the nearest nucleus.

    >>> marks_on_phonemes("xb-rivieS-xn", "0<>>2>01>0<<")  # abbreviation
    '0<>>2>01>>0<'
    """
    stress = _stresses(phonemes, marks)
    moved = []
    for place, mark in enumerate(marks):
        if place not in stress and mark in "012":
            nearest = min(stress, key=lambda nucleus: abs(nucleus - place), default=place)
            mark = ">" if nearest > place else "<"
        moved.append(stress.get(place, mark))
    return "".join(moved)


def _stresses(phonemes: str, marks: str) -> dict[int, str]:
    """The stress of every nucleus, by its place in the word."""
    nuclei = [place for place, phoneme in enumerate(phonemes) if phoneme in _NUCLEI]
    stresses = re.findall("[012]", marks)
    if len(nuclei) == len(stresses):
        return dict(zip(nuclei, stresses, strict=True))
    found = dict.fromkeys(nuclei, "0")
    for syllable in _SYLLABLE.finditer(marks):
        at = syllable.start(1)
        inside = [place for place in nuclei if syllable.start() <= place < syllable.end()]
        if syllable[1] and inside:
            found[min(inside, key=lambda nucleus: abs(nucleus - at))] = syllable[1]
    return found
