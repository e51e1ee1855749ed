"""Building templates in Python: n-grams in a window, conjunctions, the bias and the label bigram.

Each template gets a readable id, so that attributes are self-explanatory wherever they are shown: `U:word[-1]=the` is
the previous word, `U:pos[-1..1]=DT/NN/VBZ` a trigram of column 1, and `U:word[0]&pos[-1]=dog/DT` a conjunction. The id
names the column and the transform. Template sets are combined with `+`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from parsimon.errors import ParsimonError
from parsimon.features.templates import KIND_LETTERS, Kind, Template, TemplateSet, Test
from parsimon.features.transforms import Transform

__all__ = ["bias", "conjunction", "label_bigram", "ngram", "ngrams", "with_kind"]


def ngrams(
    column: int = 0,
    n: int | Iterable[int] = (1, 2, 3),
    window: int = 2,
    transform: str | Transform = "",
    kind: Kind = "node",
    name: str | None = None,
) -> TemplateSet:
    """Every contiguous n-gram of a column that lies entirely in the window from -window to +window.

    `n` is one size or several; sizes that do not fit in the window give no template. `name` is the name of the values
    in the ids: by default `word` for column 0 and `col1`, `col2`, ... for the others, followed by the transform if
    there is one, as in `word.suffix:3[0]`.

    >>> print(ngrams(column=1, n=(1, 2), window=1, name="pos").dumps(), end="")
    U:pos[-1]=%x[-1,1]
    U:pos[0]=%x[0,1]
    U:pos[1]=%x[1,1]
    U:pos[-1..0]=%x[-1,1]/%x[0,1]
    U:pos[0..1]=%x[0,1]/%x[1,1]
    """
    sizes = [n] if isinstance(n, int) else list(n)
    if not sizes or min(sizes) < 1:
        raise ParsimonError(f"n is {n!r}; give one or more sizes, each at least 1, as in n=(1, 2, 3)")
    if window < 0 or min(sizes) > 2 * window + 1:
        raise ParsimonError(
            f"window is {window}, which is too small for n-grams of size {min(sizes)}; give a larger window"
        )
    return TemplateSet(
        tuple(
            template
            for size in sizes
            for first in range(-window, window - size + 2)
            for template in ngram(first, first + size - 1, column, transform, kind, name)
        )
    )


def ngram(
    first: int,
    last: int,
    column: int = 0,
    transform: str | Transform = "",
    kind: Kind = "node",
    name: str | None = None,
) -> TemplateSet:
    """The n-gram of a column from token `first` to token `last`, relative to the current token.

    >>> ngram(-1, 0, name="letter", kind="both").dumps()
    '*:letter[-1..0]=%x[-1,0]/%x[0,0]\\n'
    """
    if last < first:
        raise ParsimonError(
            f"the n-gram from {first} to {last} has no tokens; last must not be before first, as in ngram(-1, 1)"
        )
    if not isinstance(transform, Transform):
        transform = Transform.parse(transform)
    name = _default_name(column, transform) if name is None else name
    place = f"[{first}]" if first == last else f"[{first}..{last}]"
    tests = [Test(offset, column, transform) for offset in range(first, last + 1)]
    return TemplateSet((_template(kind, name + place, tests),))


def conjunction(*parts: tuple[str, Test], kind: Kind = "node") -> TemplateSet:
    """A template that combines tests of any columns, each given with its name in the id.

    >>> conjunction(("word", Test(0, 0)), ("pos", Test(-1, 1))).dumps()
    'U:word[0]&pos[-1]=%x[0,0]/%x[-1,1]\\n'
    """
    if not parts:
        raise ParsimonError("a conjunction needs at least one test; for a template without tests, use bias()")
    names = [f"{name}[{'@' if test.absolute else ''}{test.offset}]" for name, test in parts]
    return TemplateSet((_template(kind, "&".join(names), [test for _, test in parts]),))


def bias() -> TemplateSet:
    """An attribute that every token has, which gives each label its own weight: `U:bias`."""
    return TemplateSet((Template("node", ("U:bias",)),))


def label_bigram() -> TemplateSet:
    """Pairs of adjacent labels, regardless of the tokens: `B`."""
    return TemplateSet((Template("edge", ("B",)),))


def with_kind(templates: TemplateSet, kind: Kind) -> TemplateSet:
    """The same tests, combined with the label (`node`), with the label pair (`edge`), or with `both`.

    Templates without tests, the bias and the label bigram, stay as they are.

    >>> with_kind(ngrams(n=1, window=0) + label_bigram(), "both").names
    ('*:word[0]', 'B')
    """
    letter = _letter(kind)
    return TemplateSet(
        tuple(
            Template(kind, (letter + str(t.pieces[0])[1:], *t.pieces[1:])) if t.tests else t
            for t in templates
        ),
        templates.boundary,
    )


def _template(kind: Kind, identifier: str, tests: list[Test]) -> Template:
    """`U:identifier=value/value/...`."""
    pieces: list[str | Test] = [f"{_letter(kind)}:{identifier}="]
    for i, test in enumerate(tests):
        pieces += ["/", test] if i else [test]
    return Template(kind, tuple(pieces))


def _letter(kind: Kind) -> str:
    if kind not in KIND_LETTERS:
        raise ParsimonError(f"kind is {kind!r}; give one of {', '.join(KIND_LETTERS)}")
    return KIND_LETTERS[kind]


def _default_name(column: int, transform: Transform) -> str:
    base = "word" if column == 0 else f"col{column}"
    # A regular expression may contain characters that are not allowed in the text of a template.
    return f"{base}.{re.sub('[%#]', '_', transform.spec)}" if transform.spec else base
