"""Arc templates: conjunctions of columns of the head, the modifier and the words around and between them.

A template is a conjunction of tests, joined by `+`:

| test | value |
|---|---|
| `h.upos`, `m.form` | a column of the head, of the modifier |
| `h-1.upos`, `m+2.lemma` | a column of a word before or after them |
| `b.upos` | a column of the words between them; every value makes a separate feature |
| `dir` | the direction: whether the head is before the modifier |
| `dist` | the length of the arc: 1, 2, 3, 4, 5, 6–10, 11–20, more, or from the root |
| `bias` | none (used alone) |

Columns are `form`, `lemma`, `upos`, `xpos`, `feats` (all morphological features as one string) and `feat` (single
features, so that a word may have several values or none); and `lower`, `shape`, `prefix:3`, `suffix:3` of the form. Any
other transform can be given after a slash: `m.lemma/suffix:2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import total_ordering
from pathlib import Path
from typing import Any, overload

import numpy as np

from parsimon.arrays import IntArray
from parsimon.errors import ParsimonError
from parsimon.features.transforms import Transform
from parsimon.files import read_text_file

__all__ = ["ArcColumn", "ArcTemplate", "ArcTemplates", "ArcTest"]

COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "feat")
FORM_TRANSFORMS = ("lower", "shape", "charclass", "prefix", "suffix")  # may be written without a column
PLACES = ("h", "m", "b", "dir", "dist")
MAX_TESTS = 12

_TEST = re.compile(r"(?:(?P<place>[hm])(?P<offset>[+-][0-9])?|(?P<between>b))\.(?P<column>[^+\s]+)")


@dataclass(frozen=True)
class ArcColumn:
    """A column of a treebank, and the transform of its values.

    >>> str(ArcColumn.parse("lower")), ArcColumn.parse("lower")
    ('lower', ArcColumn(name='form', transform='lower'))
    """

    name: str
    transform: str = ""

    @classmethod
    def parse(cls, text: str) -> ArcColumn:
        """Parse a column such as `upos`, `lower`, `suffix:3` or `lemma/suffix:2`."""
        name, _, transform = text.partition("/")
        if name.partition(":")[0] in FORM_TRANSFORMS and not transform:
            name, transform = "form", name
        if name not in COLUMNS:
            raise ParsimonError(
                f"a treebank has no column {name!r}; give one of {', '.join((*COLUMNS, *FORM_TRANSFORMS))}."
            )
        return cls(name, Transform.parse(transform).spec)

    def __str__(self) -> str:
        if self.name == "form" and self.transform.partition(":")[0] in FORM_TRANSFORMS:
            return self.transform
        return f"{self.name}/{self.transform}" if self.transform else self.name

    @property
    def many(self) -> bool:
        """Whether a word may have several values."""
        return self.name == "feat"


@total_ordering
@dataclass(frozen=True)
class ArcTest:
    """A single test; `place` is h, m, b, dir or dist."""

    place: str
    offset: int = 0
    column: ArcColumn | None = None

    @classmethod
    def parse(cls, text: str) -> ArcTest:
        """Parse the text between two `+`."""
        if text in ("dir", "dist"):
            return cls(text)
        found = _TEST.fullmatch(text)
        if found is None:
            raise ParsimonError(
                f"{text!r} is not an arc test; valid tests look like h.upos, m+1.form, b.upos or dist."
            )
        place = found["place"] or found["between"]
        return cls(place, int(found["offset"] or 0), ArcColumn.parse(found["column"]))

    def __str__(self) -> str:
        if self.column is None:
            return self.place
        return f"{self.place}{f'{self.offset:+d}' if self.offset else ''}.{self.column}"

    def __lt__(self, other: ArcTest) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[int, int, str]:
        return PLACES.index(self.place), self.offset, str(self.column)


@dataclass(frozen=True)
class ArcTemplate:
    """A conjunction of tests, in the order head, modifier, between, direction, length.

    >>> ArcTemplate.parse("dist+m.form+h+1.upos+h.upos").name
    'h.upos+h+1.upos+m.form+dist'
    """

    tests: tuple[ArcTest, ...]

    def __post_init__(self) -> None:
        tests = tuple(sorted(set(self.tests)))
        object.__setattr__(self, "tests", tests)
        if len([test for test in tests if test.place == "b"]) > 1:
            raise ParsimonError(
                f"the template {self.name!r} has two tests of the words in between; it may have only one."
            )
        if len(tests) > MAX_TESTS:
            raise ParsimonError(
                f"the template {self.name!r} has {len(tests)} tests; it may have at most {MAX_TESTS}."
            )

    @classmethod
    def parse(cls, text: str) -> ArcTemplate:
        """Parse a template."""
        if text.strip() == "bias":
            return cls(())
        pieces = re.split(r"\+\s*(?![0-9])", text.strip())  # + before a digit starts an offset
        return cls(tuple(ArcTest.parse(piece.rstrip()) for piece in pieces))

    @property
    def name(self) -> str:
        """The template as text."""
        return "+".join(str(test) for test in self.tests) or "bias"

    def __str__(self) -> str:
        return self.name

    @property
    def tests_words(self) -> bool:
        """Whether the template tests anything besides direction and length."""
        return any(test.column is not None for test in self.tests)

    def render(self, values: Sequence[str]) -> str:
        """A readable attribute: the tests with their values."""
        return (
            "+".join(f"{test}={value}" for test, value in zip(self.value_names(), values, strict=True))
            or "bias"
        )

    def value_names(self) -> list[str]:
        """The test that each value of an attribute belongs to; direction and length share a value."""
        words = [str(test) for test in self.tests if test.column is not None]
        arc = [test.place for test in self.tests if test.column is None]
        return [*words, "+".join(arc)] if arc else words

    def code_name(self, code: int) -> str:
        """The readable form of the value of direction and length."""
        direction, length = (ArcTest(place) in self.tests for place in ("dir", "dist"))
        named = []
        if direction:
            named.append("left" if (code // len(LENGTHS) if length else code) else "right")
        if length:
            named.append(LENGTHS[code % len(LENGTHS)])
        return ":".join(named)


LENGTHS = ("1", "2", "3", "4", "5", "6–10", "11–20", "21+", "root")


@dataclass(frozen=True)
class ArcTemplates(Sequence[ArcTemplate]):
    """A sequence of distinct, numbered templates.

    >>> templates = ArcTemplates.parse("h.upos+m.upos\\n# how far\\nm.upos+dist\\n")
    >>> len(templates), templates.names
    (2, ['h.upos+m.upos', 'm.upos+dist'])
    """

    templates: tuple[ArcTemplate, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "templates", tuple(dict.fromkeys(self.templates)))

    @classmethod
    def parse(cls, text: str, name: str = "templates") -> ArcTemplates:
        """Parse one template per line; empty lines and text after a `#` are ignored."""
        found = []
        for number, line in enumerate(text.splitlines(), start=1):
            line = line.partition("#")[0].strip()
            if not line:
                continue
            try:
                found.append(ArcTemplate.parse(line))
            except ParsimonError as error:
                raise ParsimonError(f"{name}, line {number}: {error}") from None
        if not found:
            raise ParsimonError(f"{name}: there is no template; give one per line, such as h.upos+m.upos.")
        return cls(tuple(found))

    @classmethod
    def load(cls, path: str | Path) -> ArcTemplates:
        """Read a template file."""
        try:
            text = read_text_file(path).decode("utf-8")
        except UnicodeDecodeError:
            raise ParsimonError(f"{path} is not valid utf-8; convert it to utf-8.") from None
        except OSError as error:
            raise ParsimonError(f"{path} cannot be read: {error.strerror or error}.") from error
        return cls.parse(text, str(path))

    def dumps(self) -> str:
        """The text that `parse` reads."""
        return "".join(f"{template.name}\n" for template in self)

    @property
    def names(self) -> list[str]:
        """The templates as text."""
        return [template.name for template in self]

    @property
    def columns(self) -> list[ArcColumn]:
        """The distinct columns that the templates test."""
        return list(dict.fromkeys(test.column for t in self for test in t.tests if test.column is not None))

    def encoded(self) -> tuple[IntArray, IntArray]:
        """The start of each template's tests, and the tests as (place, offset, index into `columns`)."""
        number = {column: i for i, column in enumerate(self.columns)}
        rows = [
            (PLACES.index(test.place), test.offset, 0 if test.column is None else number[test.column])
            for template in self
            for test in template.tests
        ]
        start = np.concatenate([[0], np.cumsum([len(template.tests) for template in self])]).astype(np.int64)
        return start, np.array(rows, np.int32).reshape(-1, 3)

    def only(self, kept: Any) -> ArcTemplates:
        """The templates that a mask selects."""
        return ArcTemplates(tuple(t for t, wanted in zip(self, kept, strict=True) if wanted))

    def __len__(self) -> int:
        return len(self.templates)

    def __iter__(self) -> Iterator[ArcTemplate]:
        return iter(self.templates)

    @overload
    def __getitem__(self, which: int) -> ArcTemplate: ...
    @overload
    def __getitem__(self, which: slice) -> ArcTemplates: ...
    def __getitem__(self, which: int | slice) -> ArcTemplate | ArcTemplates:
        return ArcTemplates(self.templates[which]) if isinstance(which, slice) else self.templates[which]
