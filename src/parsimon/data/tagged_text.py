"""Part-of-speech corpora: the Penn Treebank sample and the Brown corpus.

They stand in for the full Penn Treebank, which is not free. Both loaders return one column, the word as written, and
the tags as labels; every sentence is a sequence.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import PurePosixPath
from typing import Literal, get_args

from parsimon.data.registry import texts
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns, Labels, read_labelled

__all__ = ["Split", "brown_base_tag", "load_brown", "load_treebank_pos", "tagged_lines", "tagged_trees"]

Split = Literal["train", "dev", "test", "all"]
Sentence = list[tuple[str, str]]  # words with their tags


def load_treebank_pos(split: Split = "train") -> tuple[Columns, Labels]:
    """The Penn Treebank sample: words and their tags, 45 in all.

    The words are the leaves of the trees, without empty elements (-NONE-). The first 80 % of the sentences are for
    training (3,131), the next 10 % for development (391), and the last 10 % for testing (392).
    """
    _check(split, "treebank_pos")
    sentences: list[Sentence] = []
    for path, text in texts("treebank_pos", "*.mrg").items():
        sentences += tagged_trees(text, path)
    n = len(sentences)
    parts = {
        "train": slice(0, n * 8 // 10),
        "dev": slice(n * 8 // 10, n * 9 // 10),
        "test": slice(n * 9 // 10, n),
        "all": slice(0, n),
    }
    return _columns(sentences[parts[split]])


def load_brown(split: Split = "train", tags: Literal["base", "original"] = "base") -> tuple[Columns, Labels]:
    """The Brown corpus: words and their tags, 92 in all, or with `tags="original"` all 472; see `brown_base_tag`.

    It is split by text, and each of the fifteen categories is in every split: of every ten texts in a category, the
    fifth is for development, the sixth for testing, and the others are for training.
    """
    _check(split, "brown")
    if tags not in ("base", "original"):
        raise ParsimonError(f"tags is {tags!r}; give base or original.")
    sentences: list[Sentence] = []
    count: dict[str, int] = {}  # texts of each category so far
    for path, text in texts("brown", "*/c[a-r][0-9][0-9]").items():
        category = PurePosixPath(path).name[:2]
        number = count[category] = count.get(category, 0) + 1
        if split in ("all", {5: "dev", 6: "test"}.get(number % 10, "train")):
            sentences += tagged_lines(text, path)
    if tags == "base":
        sentences = [[(word, brown_base_tag(tag)) for word, tag in sentence] for sentence in sentences]
    return _columns(sentences)


@cache
def brown_base_tag(tag: str) -> str:
    """A Brown corpus tag without its affixes.

    The affixes mark a word in a title (-tl), in a headline (-hl) or cited (-nc), and a foreign word (fw-). In
    contractions, they are the tags of the second word (+) and of a negation (*), so a contraction gets the tag of its
    first word. The possessive $ is part of the tag, and untagged words keep nil.

    >>> [brown_base_tag(tag) for tag in ("nn-tl-hl", "fw-in+at-tl", "pps+bez", "md*", "np$", "*")]
    ['nn', 'in', 'pps', 'md', 'np$', '*']
    """
    base = tag.removeprefix("fw-").partition("+")[0]
    while base.endswith(("-tl", "-hl", "-nc")):
        base = base[:-3]
    return base.rstrip("*") or base


def tagged_lines(text: str, name: str = "the text") -> Iterator[Sentence]:
    """The sentences in a text with one sentence per line, of words and tags such as `The/at jury/nn`.

    >>> list(tagged_lines("The/at jury/nn\\n\\n1/2/cd"))
    [[('The', 'at'), ('jury', 'nn')], [('1/2', 'cd')]]
    """
    for number, line in enumerate(text.splitlines(), start=1):
        sentence = []
        for token in line.split():
            word, slash, tag = token.rpartition("/")
            if not (word and slash and tag):
                raise ParsimonError(f"{name}, line {number}: {token!r} should be a word, / and its tag.")
            sentence.append((word, tag))
        if sentence:
            yield sentence


_PIECE = re.compile(r"\(([^\s()]+)\s+([^\s()]+)\)|[()]")


def tagged_trees(text: str, name: str = "the text") -> Iterator[Sentence]:
    """The words and tags in bracketed trees, without empty elements (-NONE-).

    >>> list(tagged_trees("( (S (NP (NN rain) ) (VP (VBD fell) (-NONE- *T*-1) ) (. .) ))"))
    [[('rain', 'NN'), ('fell', 'VBD'), ('.', '.')]]
    """
    depth, sentence = 0, Sentence()
    for piece in _PIECE.finditer(text):
        if piece[1]:
            sentence += [(piece[2], piece[1])] if piece[1] != "-NONE-" else []
        else:
            depth += 1 if piece[0] == "(" else -1
        if depth < 0:
            break
        if depth == 0 and sentence:
            yield sentence
            sentence = []
    if depth:
        side = "closing" if depth < 0 else "opening"
        raise ParsimonError(f"{name}: {side} bracket without a match; give complete trees.")


def _check(split: Split, name: str) -> None:
    if split not in get_args(Split):
        raise ParsimonError(f"{name} has no split {split!r}; give train, dev, test or all.")


def _columns(sentences: Iterable[Sentence]) -> tuple[Columns, Labels]:
    # Reading a column file is four times as fast as building the columns in Python, because its reader is compiled.
    rows = ("".join(f"{word}\t{tag}\n" for word, tag in sentence) for sentence in sentences)
    return read_labelled(io.BytesIO("\n".join(rows).encode()), separator="\t")
