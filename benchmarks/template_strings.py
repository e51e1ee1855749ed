"""Templates expanded in plain Python, as a user of python-crfsuite does it: strings for every token.

Written for speed within what Python allows: one pass over a sentence for every template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from parsimon.features.templates import Template, TemplateSet

Sentence = Sequence[Sequence[str]]  # tokens, each with its columns


def cannot_expand(templates: TemplateSet) -> str | None:
    """Why python-crfsuite cannot have the same features, or None."""
    for template in templates:
        if any(test.absolute for test in template.tests):
            return f"{template.source} looks at an absolute row, which is not written out for python-crfsuite"
        if template.kind != "node" and template.pieces != ("B",):
            return f"python-crfsuite has no label pairs that see the input, as {template.source} does"
    if not any(template.kind == "edge" for template in templates):
        return "python-crfsuite cannot do without label pairs, and the templates have none"
    return None


def expander(templates: TemplateSet) -> Callable[[Sentence], list[tuple[str, ...]]]:
    """A function from a sentence to the attributes of its tokens."""
    reach = templates.max_reach
    before = [templates.boundary_value(d, after=False) for d in range(reach, 0, -1)]
    after = [templates.boundary_value(d, after=True) for d in range(1, reach + 1)]
    nodes = [(_format(t), t.tests) for t in templates if t.kind == "node"]

    def expand(sentence: Sentence) -> list[tuple[str, ...]]:
        length = len(sentence)
        columns = list(zip(*sentence, strict=True))
        padded = {
            (column, transform): [
                value if not transform.spec else transform(value)
                for value in (*before, *columns[column], *after)
            ]
            for column, transform in templates.inputs
        }
        made = []
        for text, tests in nodes:
            looks = [
                padded[test.column, test.transform][reach + test.offset : reach + test.offset + length]
                for test in tests
            ]
            made.append(list(map(text, *looks)) if looks else [text()] * length)
        return list(zip(*made, strict=True))

    return expand


def _format(template: Template) -> Callable[..., str]:
    pieces = (
        p.replace("{", "{{").replace("}", "}}") if isinstance(p, str) else "{}" for p in template.pieces
    )
    return "".join(pieces).format


def sentences(path: Path) -> Iterator[list[list[str]]]:
    """The sentences of a column file."""
    sentence: list[list[str]] = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            columns = line.split()
            if columns:
                sentence.append(columns)
            elif sentence:
                yield sentence
                sentence = []
    if sentence:
        yield sentence


def write_attributes(templates: TemplateSet, source: Path, target: Path) -> None:
    """A labelled column file as lines of `label TAB attribute TAB attribute ...`."""
    expand = expander(templates)
    with target.open("w", encoding="utf-8") as file:
        for sentence in sentences(source):
            for token, attributes in zip(sentence, expand(sentence), strict=True):
                file.write("\t".join((token[-1], *attributes)) + "\n")
            file.write("\n")
