"""Lines that name columns, where there should be data."""

from __future__ import annotations

from collections.abc import Sequence

# What columns of labels, and of texts and tokens, are called.
OF_LABELS = frozenset({
    "label", "labels", "class", "classes", "category", "target", "tag", "tags", "ner", "ner_tag", "ner_tags", "chunk",
    "bio", "iob", "y", "sentiment", "topic", "polarity", "gold",
})  # fmt: skip
OF_INPUT = frozenset({
    "text", "texts", "document", "documents", "doc", "sentence", "sentences", "content", "body", "message", "review",
    "comment", "title", "x", "word", "words", "token", "tokens", "form", "id", "pos",
})  # fmt: skip


def names_columns(cells: Sequence[str]) -> bool:
    """Whether all cells are usual names of columns, one of them that of a label.

    >>> names_columns(["Label", "text"]), names_columns(["pos", "A text."]), names_columns(["word", "pos", "tag"])
    (True, False, True)
    """
    names = {cell.strip().strip('"').lower() for cell in cells}
    return bool(names & OF_LABELS) and names <= OF_LABELS | OF_INPUT
