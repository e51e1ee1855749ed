"""Labelled Python source in a compact notation."""

from __future__ import annotations

import textwrap

from parsimon.data.python_labels import label_python


def labelled(source: str) -> list[list[tuple[str, str]]]:
    """(text, label) of every token, line by line."""
    X, y = label_python(textwrap.dedent(source))
    return [
        [(token[0], label) for token, label in zip(tokens, labels, strict=True)]
        for tokens, labels in zip(X, y, strict=True)
    ]


def parsed(expected: str) -> list[list[tuple[str, str]]]:
    """The same from text/label pairs, a line of them for every logical line."""
    pairs = [
        [pair.rsplit("/", 1) for pair in line.split()] for line in textwrap.dedent(expected).splitlines()
    ]
    return [[(text, label) for text, label in line] for line in pairs if line]


def of(source: str, text: str) -> list[str]:
    """The labels of all tokens with this text."""
    return [label for line in labelled(source) for shown, label in line if shown == text]
