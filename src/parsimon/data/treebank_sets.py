"""The registered dependency treebanks: Danish, Spanish, Basque, and five from Universal Dependencies."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from parsimon.arrays import BoolArray
from parsimon.data.registry import member, texts
from parsimon.data.treebank_files import read_treebank
from parsimon.data.treebanks import Format, Treebank
from parsimon.errors import ParsimonError

__all__ = ["TREEBANKS", "load_treebank", "spread_evenly"]

DANISH_TEST = 322  # sentences


@dataclass(frozen=True)
class _Files:
    """The location of a treebank's splits: data set, archive, and the path with a placeholder for the split."""

    data_set: str
    archive: str
    path: str
    splits: tuple[str, ...]
    format: Format
    encoding: str = "utf-8"


def _ud(archive: str, prefix: str, *splits: str) -> _Files:
    return _Files("ud", f"UD_{archive}.tar.xz", f"{prefix}-ud-{{split}}.conllu", splits, "conllu")


TREEBANKS = {
    "danish": _Files("danish_ddt", "cdt_danish_ddt_conll.tar.xz", "*-da.conll", ("train", "test"), "conllx"),
    "spanish": _Files("conll2007", "conll2007.zip", "esp.{split}", ("train", "test"), "conllx"),
    "basque": _Files("conll2007", "conll2007.zip", "eus.{split}", ("train", "test"), "conllx", "latin-1"),
    "english": _ud("English-EWT", "en_ewt", "train", "dev", "test"),
    "hungarian": _ud("Hungarian-Szeged", "hu_szeged", "train", "dev", "test"),
    "portuguese": _ud("Portuguese-Bosque", "pt_bosque", "train", "dev", "test"),
    "slovenian": _ud("Slovenian-SST-2023", "sl_sst", "train", "test"),
    "turkish": _ud("Turkish-IMST", "tr_imst", "train", "dev", "test"),
}
"""All treebanks by name."""


def load_treebank(name: str, split: Literal["train", "dev", "test"] = "train") -> Treebank:
    """Load a treebank by the name of its language; all except Danish have the splits of their archives.

    | name | source | training | development | test |
    |---|---|---|---|---|
    | danish | Copenhagen release | 5,316 sentences | | 322 |
    | spanish | CoNLL-X | 2,949 | | 563 |
    | basque | CoNLL-2007 | 2,595 | | 580 |
    | english | UD, EWT | 12,544 | 2,001 | 2,077 |
    | hungarian | UD, Szeged | 910 | 441 | 449 |
    | portuguese | UD, Bosque | 7,018 | 1,172 | 1,167 |
    | slovenian | UD, SST (speech) | 2,078 | | 1,110 |
    | turkish | UD, IMST | 3,435 | 1,100 | 1,100 |

    The Danish release has no splits, and its sentences differ slightly from those of CoNLL-X, which had 5,190 for
    training and 322 for testing. Here, too, 322 are for testing: with the texts in order of their names, every 17th or
    18th sentence, so that they are spread evenly over all texts (`spread_evenly`). The word numbers among the
    morphological features, such as `id=43`, are removed; CoNLL-X does not have them either.

    The Spanish sentences are exactly those of CoNLL-X, but the archive splits them differently (3,306 and 206 there).
    There are fewer Basque sentences than in CoNLL-2007 (3,190 and 334 there). Results are therefore not comparable
    with those of the shared tasks.
    """
    if name not in TREEBANKS:
        raise ParsimonError(f"there is no treebank {name!r}; give one of {', '.join(sorted(TREEBANKS))}.")
    files = TREEBANKS[name]
    if split not in files.splits:
        raise ParsimonError(f"the treebank {name} has no split {split!r}; give {' or '.join(files.splits)}.")
    if name == "danish":
        return _danish(files, split)
    path = member(files.data_set, files.path.format(split=split), files.archive)
    return read_treebank(path, format=files.format, encoding=files.encoding)


def _danish(files: _Files, split: str) -> Treebank:
    found = texts(files.data_set, files.path, files.archive)
    whole = "".join(text.rstrip("\n") + "\n\n" for text in found.values())
    source = io.BytesIO(without_word_numbers(whole).encode())
    source.name = "the Danish treebank"  # for messages
    treebank = read_treebank(source, format=files.format)
    is_test = spread_evenly(DANISH_TEST, len(treebank))
    return treebank[is_test if split == "test" else ~is_test]  # type: ignore[call-overload, no-any-return]


def without_word_numbers(text: str) -> str:
    """The text without features such as `id=43`, which number the words of the Danish treebank.

    >>> without_word_numbers("case=gen|id=71\\t9\\nCC\\tid=49\\t6")
    'case=gen\\t9\\nCC\\t_\\t6'
    """
    return re.sub(r"\|id=[0-9]+(?=\t)", "", re.sub(r"\tid=[0-9]+(?=\t)", "\t_", text))


def spread_evenly(some: int, n: int) -> BoolArray:
    """A mask that selects `some` of `n` items so that the gaps between them differ by at most one.

    >>> spread_evenly(3, 8).tolist()
    [False, False, True, False, False, True, False, True]
    """
    taken = np.arange(n + 1) * some // n
    chosen: BoolArray = taken[1:] > taken[:-1]
    return chosen
