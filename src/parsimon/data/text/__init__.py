"""Text: splitting documents into sentences and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsimon.lazy import exports

if TYPE_CHECKING:
    from parsimon.data.text.corpus import Corpus as Corpus
    from parsimon.data.text.reader import TextReader as TextReader
    from parsimon.data.text.sentences import split_lines as split_lines
    from parsimon.data.text.sentences import split_sentences as split_sentences

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "corpus": ("Corpus",),
        "reader": ("TextReader",),
        "sentences": ("split_lines", "split_sentences"),
    },
)
