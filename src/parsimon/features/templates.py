"""Feature templates: the language of Wapiti's pattern files and CRF++'s template files.

A template names the columns to read, their positions, and how to combine their values. `U05:%x[-1,0]/%x[0,0]` reads
column 0 of the previous and the current token; if they are `the` and `dog`, it produces the attribute `U05:the/dog`.
The first letter names the part of the output to which the attribute applies: the label of the token (`U`, a node of the
chain), the pair of labels that ends there (`B`, an edge), or both (`*`). In trees, it may also apply to pairs of
sibling labels (`S`).

This module reads and writes the language. The expansion over a data set is compiled and uses these definitions.
`docs/templates.md` describes the language for users.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, cast, get_args, overload

from parsimon.characters.encodings import decoded
from parsimon.errors import ParsimonError
from parsimon.features.links import check_relation
from parsimon.features.transforms import IDENTITY, Transform
from parsimon.files import read_text_file

__all__ = ["KIND_LETTERS", "Boundary", "Kind", "Template", "TemplateSet", "Test", "as_templates"]

Kind = Literal["node", "edge", "both", "sibling"]
Boundary = Literal["wapiti", "crf++"]

KIND_LETTERS: dict[Kind, str] = {"node": "U", "edge": "B", "both": "*", "sibling": "S"}

MAX_ROW = 1000
MAX_COLUMN = 1000

# The spaces of C's isspace(): white space at the ends of a line is ignored.
_SPACE = " \t\n\v\f\r"

# The transform of each command; its quoted argument, if any, completes the spec.
_COMMANDS = {
    "x": "",
    "X": "lower-ascii",
    "t": "test:",
    "T": "test:",  # "true" and "false" are already lowercase
    "m": "match:",
    "M": "match-lower:",
    "f": "",
}
_TAKES_ARGUMENT = frozenset("tTmMf")


@dataclass(frozen=True)
class Test:
    """A single test: the transformed value of a column, at a row relative to the current one.

    With `absolute`, rows count from 1 at the first token, and backwards from -1 at the last. In trees, a `relation` may
    replace the row: `%x[parent,0]` reads a node's parent, `%x[parent.previous_sibling,0]` the previous sibling of the
    parent (see `parsimon.features.links`).

    >>> str(Test(-1, 0)), str(Test(-1, 0, Transform("shape"), absolute=True))
    ('%x[-1,0]', '%f[@-1,0,"shape"]')
    """

    __test__: ClassVar[bool] = (
        False  # "test" is the term in the field; keeps pytest from collecting the class
    )

    offset: int
    column: int
    transform: Transform = IDENTITY
    absolute: bool = False
    relation: str = ""

    def __post_init__(self) -> None:
        if self.relation:
            check_relation(self.relation)
        if abs(self.offset) > MAX_ROW:
            raise ParsimonError(f"row {self.offset} is out of range; rows go from -{MAX_ROW} to {MAX_ROW}")
        if not 0 <= self.column <= MAX_COLUMN:
            raise ParsimonError(f"column {self.column} is out of range; columns go from 0 to {MAX_COLUMN}")

    def locate(self, position: int, length: int) -> int:
        """The row that is read at `position` in a sequence of `length` tokens.

        A negative row is before the first token, a row of `length` or more after the last one.

        >>> Test(-2, 0).locate(1, length=5), Test(-1, 0, absolute=True).locate(1, length=5)
        (-1, 4)
        """
        if not self.absolute:
            return position + self.offset
        return self.offset + length if self.offset < 0 else self.offset - 1

    def __str__(self) -> str:
        row = self.relation or f"{'@' if self.absolute else ''}{self.offset}"
        place = f"{row},{self.column}"
        spec = self.transform.spec
        for command, prefix in _COMMANDS.items():
            if spec == prefix and command not in _TAKES_ARGUMENT:
                return f"%{command}[{place}]"
            if prefix and command in _TAKES_ARGUMENT and spec.startswith(prefix):
                return f'%{command}[{place},"{spec.removeprefix(prefix)}"]'
        return f'%f[{place},"{spec}"]'


@dataclass(frozen=True)
class Template:
    """One line of a template file: literal text and tests, in order.

    `pieces` begins with the text of the leading letter and id. `source` is the line as written; it does not affect
    comparisons, and by default it is generated from the pieces.

    >>> t = Template.parse("U05:%x[-1,0]/%x[0,0]")
    >>> [str(piece) for piece in t.pieces]
    ['U05:', '%x[-1,0]', '/', '%x[0,0]']
    >>> t.kind, t.name, t.skeleton, t.render(["the", "dog"])
    ('node', 'U05', 'U05:%/%', 'U05:the/dog')
    """

    kind: Kind
    pieces: tuple[str | Test, ...]
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        letter = KIND_LETTERS.get(self.kind)
        if letter is None:
            raise ParsimonError(
                f"template kind {self.kind!r} is unknown; give one of {', '.join(KIND_LETTERS)}"
            )
        pieces = _joined(self.pieces)
        if not pieces or not str(pieces[0]).startswith(letter):
            raise ParsimonError(
                f"the pieces of a {self.kind} template must start with the letter {letter}: {pieces!r}"
            )
        for text in (piece for piece in pieces if isinstance(piece, str)):
            if re.search("[%\n\r]", text):
                raise ParsimonError(
                    f"the text {text!r} is not allowed in a template; leave out % and line breaks"
                )
        if isinstance(pieces[-1], str) and pieces[-1] != pieces[-1].rstrip(_SPACE):
            raise ParsimonError(
                f"the text {pieces[-1]!r} cannot end a template, because trailing white space is dropped"
            )
        object.__setattr__(self, "pieces", pieces)
        object.__setattr__(self, "source", self.source or str(self))

    @classmethod
    def parse(cls, text: str) -> Template:
        """Parse a template without a comment."""
        return _parse_template(text.strip(_SPACE))

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests, in the order in which `render` takes their values."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Test))

    @property
    def of_labels(self) -> bool:
        """Whether attributes apply to single labels."""
        return self.kind in ("node", "both")

    @property
    def of_pairs(self) -> bool:
        """Whether attributes apply to label pairs: of adjacent tokens, parents and children, or siblings."""
        return self.kind != "node"

    @property
    def skeleton(self) -> str:
        """The template with a `%` for each test; templates with the same skeleton share their attributes.

        For example, `U:%x[-1,0]` and `U:%x[1,0]` make a bag of words of the two adjacent tokens, as in CRF++ and
        Wapiti.
        """
        return "".join(piece if isinstance(piece, str) else "%" for piece in self.pieces)

    @property
    def name(self) -> str:
        """A short readable name: `U05` for `U05:%x[0,0]`, `U:word[0]` for `U:word[0]=%x[0,0]`.

        It is the id between the letter and the first colon; if there is none, the text before the first test; if that
        is empty, too, the whole line.
        """
        head = str(self.pieces[0])
        identifier, colon, _ = head.partition(":")
        if colon and len(identifier) > 1:
            return identifier
        label = head if len(self.pieces) == 1 else head.rstrip("=:" + _SPACE)
        return self.source if len(self.pieces) > 1 and len(label) == 1 else label

    def render(self, values: Sequence[str]) -> str:
        """The attribute that the template produces if its tests have the given values."""
        n_tests = len(self.tests)
        if len(values) != n_tests:
            raise ParsimonError(f"template {self.source!r} has {n_tests} tests, but got {len(values)} values")
        remaining = iter(values)
        return "".join(piece if isinstance(piece, str) else next(remaining) for piece in self.pieces)

    def __str__(self) -> str:
        return "".join(str(piece) for piece in self.pieces)


def _joined(pieces: Iterable[str | Test]) -> tuple[str | Test, ...]:
    """The same pieces, with adjacent texts joined and empty ones removed."""
    joined: list[str | Test] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece != "":
            joined.append(piece)
    return tuple(joined)


@dataclass(frozen=True)
class TemplateSet(Sequence[Template]):
    """An immutable sequence of templates, and their values beyond the ends of a sequence.

    `boundary` selects those values: `"wapiti"` (`_x-1`, `_x+1`) or `"crf++"` (`_B-1`, `_B+1`).

    >>> templates = TemplateSet.parse("U00:%x[-1,0]  # the previous word\\nU01:%X[0,0]/%x[0,1]\\nB")
    >>> len(templates), templates.n_columns, templates.max_reach, templates.names
    (3, 2, 1, ('U00', 'U01', 'B'))
    >>> print((templates + TemplateSet.parse("U02:%f[0,0,\\"suffix:3\\"]")).dumps(), end="")
    U00:%x[-1,0]
    U01:%X[0,0]/%x[0,1]
    B
    U02:%f[0,0,"suffix:3"]
    """

    templates: tuple[Template, ...]
    boundary: Boundary = "wapiti"

    def __post_init__(self) -> None:
        object.__setattr__(self, "templates", tuple(self.templates))
        _check_boundary(self.boundary)
        for template in self.templates if self.boundary == "wapiti" else ():
            if any(isinstance(piece, str) and "#" in piece for piece in template.pieces):
                raise ParsimonError(
                    f"the # in template {template.source!r} would start a comment in Wapiti's language; "
                    "use another character or boundary='crf++'"
                )

    @classmethod
    def parse(cls, text: str, source: str = "<templates>", boundary: Boundary | None = None) -> TemplateSet:
        """Parse the text of a template file; `source` is its name in error messages.

        With `boundary="crf++"`, a `#` starts a comment only at the beginning of a line, as in CRF++; otherwise it does
        so anywhere, as in Wapiti. The default `boundary` is the one in a line `# parsimon: boundary=...`, if there is
        one, or else Wapiti's.
        """
        return _parse_set(text, source, boundary)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], encoding: str = "utf-8", boundary: Boundary | None = None
    ) -> TemplateSet:
        """Read a template file of Wapiti or CRF++, or one written by `dumps`; see `parse`."""
        try:
            content = read_text_file(path)
        except OSError as error:
            raise ParsimonError(f"cannot read template file {os.fspath(path)}: {error.strerror}") from error
        text = decoded(content, encoding, f"template file {os.fspath(path)}")
        return cls.parse(text, source=os.fspath(path), boundary=boundary)

    def dumps(self) -> str:
        """The text of a template file that `parse` reads back as an equal set."""
        header = [] if self.boundary == "wapiti" else [f"# parsimon: boundary={self.boundary}"]
        return "".join(f"{line}\n" for line in (*header, *self.templates))

    @property
    def names(self) -> tuple[str, ...]:
        """A short name for each template; templates with the same short name get their whole line instead."""
        count = Counter(template.name for template in self.templates)
        return tuple(t.name if count[t.name] == 1 else t.source for t in self.templates)

    @property
    def tests(self) -> tuple[Test, ...]:
        """The tests of all templates, including repetitions."""
        return tuple(test for template in self.templates for test in template.tests)

    @property
    def inputs(self) -> tuple[tuple[int, Transform], ...]:
        """The distinct pairs of column and transform in the tests, in order of first use."""
        return tuple(dict.fromkeys((test.column, test.transform) for test in self.tests))

    @property
    def views(self) -> tuple[tuple[str, int, Transform], ...]:
        """The distinct triples of relation, column and transform; the relation is empty for rows."""
        return tuple(dict.fromkeys((test.relation, test.column, test.transform) for test in self.tests))

    @property
    def n_columns(self) -> int:
        """The number of columns that the data must have: one more than the highest column in a test."""
        return max((test.column + 1 for test in self.tests), default=0)

    @property
    def max_reach(self) -> int:
        """The maximum distance of a test beyond either end of a sequence."""
        # `@1` and `@-1` are tokens of every sequence; `@0` is the position before the first one.
        return max((abs(abs(t.offset) - 1) if t.absolute else abs(t.offset) for t in self.tests), default=0)

    def with_siblings(self) -> TemplateSet:
        """These templates and, unless some are for siblings already, those for label pairs repeated for siblings.

        >>> TemplateSet.parse("U:%x[0,0]\\nB:%x[0,1]").with_siblings().names
        ('U:%x[0,0]', 'B:%x[0,1]', 'S:%x[0,1]')
        """
        if any(template.kind == "sibling" for template in self.templates):
            return self
        pieces = [("S" + str(t.pieces[0])[1:], *t.pieces[1:]) for t in self.templates if t.of_pairs]
        return self + TemplateSet(tuple(Template("sibling", each) for each in pieces), self.boundary)

    def boundary_value(self, distance: int, after: bool) -> str:
        """The value of a column `distance` tokens before the first or after the last token (1 is the nearest).

        The transform of a test applies to it as to any other value, as in Wapiti.

        >>> wapiti, crfpp = TemplateSet(()), TemplateSet((), boundary="crf++")
        >>> [wapiti.boundary_value(d, after=False) for d in (1, 4, 5, 6)]
        ['_x-1', '_x-4', '_x-#', '_x-#']
        >>> [crfpp.boundary_value(d, after=True) for d in (1, 8, 9)]
        ['_B+1', '_B+8', '_B+8']
        """
        if distance < 1:
            raise ParsimonError(
                f"distance is {distance}, which is not beyond an end of the sequence; give 1 or more"
            )
        sign = "+" if after else "-"
        if self.boundary == "crf++":
            return f"_B{sign}{min(distance, 8)}"
        return f"_x{sign}{distance if distance <= 4 else '#'}"

    def __add__(self, other: TemplateSet) -> TemplateSet:
        if not isinstance(other, TemplateSet):
            return NotImplemented
        if self.boundary != other.boundary:
            raise ParsimonError(
                f"cannot add templates with boundary {other.boundary!r} to templates with boundary "
                f"{self.boundary!r}; give both the same, as in TemplateSet(other, boundary={self.boundary!r})"
            )
        return TemplateSet(self.templates + other.templates, self.boundary)

    def __len__(self) -> int:
        return len(self.templates)

    def __iter__(self) -> Iterator[Template]:
        return iter(self.templates)

    @overload
    def __getitem__(self, index: int) -> Template: ...
    @overload
    def __getitem__(self, index: slice) -> TemplateSet: ...
    def __getitem__(self, index: int | slice) -> Template | TemplateSet:
        if isinstance(index, slice):
            return TemplateSet(self.templates[index], self.boundary)
        return self.templates[index]


def as_templates(templates: Any) -> TemplateSet:
    """A template set from a template set, the name of a preset, or a file."""
    from parsimon.features.presets import get_preset, preset_names  # presets import this module

    if isinstance(templates, TemplateSet):
        return templates
    if not isinstance(templates, str | os.PathLike):
        raise ParsimonError(
            f"templates must be the name of a preset, the path of a file, or a TemplateSet, not {templates!r}."
        )
    if isinstance(templates, str) and templates in preset_names():
        return get_preset(templates)
    if isinstance(templates, str) and not Path(templates).exists():
        raise ParsimonError(
            f"there is no template file {templates!r} and no preset with that name; "
            f"presets are {', '.join(preset_names())}."
        )
    return TemplateSet.load(templates)


# --- Reading a file -----------------------------------------------------------------------------------------

LONGEST_LINE = 10_000  # characters

# Everything before the first # that is not in the quoted argument of a command.
_BEFORE_COMMENT = re.compile(r'(?:%\w\[[^]"#%]*+"(?:[^"\\]|\\.)*+"|[^#])*+')
_HEADER = re.compile(r"#\s*+parsimon:\s*+boundary\s*+=\s*+(\S*+)\s*+")


def _parse_set(text: str, source: str, boundary: Boundary | None) -> TemplateSet:
    # Not str.splitlines(), which also splits at form feeds and other characters.
    lines = re.split("\r\n|\n|\r", text.removeprefix("\ufeff"))
    chosen = _check_boundary(boundary or "wapiti")
    templates: list[Template] = []
    for number, line in enumerate(lines, start=1):
        try:
            if len(line) > LONGEST_LINE:
                raise ParsimonError(
                    f"the line has {len(line):,} characters; a template has at most {LONGEST_LINE:,}"
                )
            header = _HEADER.fullmatch(line)
            if header and boundary is None and _check_boundary(header[1]) != chosen:
                if templates:
                    raise ParsimonError(f"boundary={header[1]} must be declared before the first template")
                chosen = _check_boundary(header[1])
            content = _without_comment(line, chosen)
            if content:
                templates.append(_parse_template(content))
        except ParsimonError as error:
            raise ParsimonError(f"{source}, line {number}: {error}") from None
    if not templates:
        raise ParsimonError(
            f"{source} contains no template; it needs at least one line that starts with U, B or *, "
            "such as U00:%x[0,0]"
        )
    return TemplateSet(tuple(templates), chosen)


def _check_boundary(name: str) -> Boundary:
    if name not in get_args(Boundary):
        raise ParsimonError(f"boundary {name!r} is unknown; give 'wapiti' or 'crf++'")
    return cast(Boundary, name)


def _without_comment(line: str, boundary: Boundary) -> str:
    line = line.strip(_SPACE)
    if boundary == "crf++":
        return "" if line.startswith("#") else line
    before = _BEFORE_COMMENT.match(line)
    return before[0].rstrip(_SPACE) if before else line


# --- Reading a line -----------------------------------------------------------------------------------------

_PLACE = re.compile(r"\[\s*+(?:(@)\s*+)?([+-]?[0-9]{1,9}|[a-z][a-z_.]*)\s*,\s*([+-]?[0-9]{1,9})\s*")
_ARGUMENT = re.compile(r',\s*"((?:[^"\\]|\\.)*)"\s*')


def _parse_template(line: str) -> Template:
    letter = line[:1].upper()
    kinds = [kind for kind, kind_letter in KIND_LETTERS.items() if kind_letter == letter]
    if not kinds:
        raise ParsimonError(f"template {line!r} must start with U (label), B (pair of labels) or * (both)")
    pieces: list[str | Test] = [letter]
    position = 1
    while position < len(line):
        if line[position] == "%":
            test, position = _parse_test(line, position)
            pieces.append(test)
        else:
            end = line.find("%", position)
            end = len(line) if end < 0 else end
            pieces.append(line[position:end])
            position = end
    return Template(kinds[0], tuple(pieces), source=line)


def _parse_test(line: str, start: int) -> tuple[Test, int]:
    """Parse the command at `start`; also returns the position after it."""
    command = line[start + 1 : start + 2]
    if command not in _COMMANDS:
        known = ", ".join(f"%{letter}" for letter in _COMMANDS)
        raise ParsimonError(f"unknown command '%{command}' in {line!r}; the commands are {known}")
    place = _PLACE.match(line, start + 2)
    if place is None:
        raise ParsimonError(
            f"{line[start:]!r} needs a row and a column in brackets, as in {_example(command)}"
        )
    argument, end = _parse_argument(line, command, place.end())
    if line[end : end + 1] != "]":
        raise ParsimonError(f"missing ] after {line[start:end]!r}; write it as in {_example(command)}")
    at, row, column = place.groups()
    transform = Transform.parse(_COMMANDS[command] + argument)
    if row[0].isalpha():
        if at:
            raise ParsimonError(
                f"{line[start : end + 1]!r} combines @ with {row!r}, but @ is only for row numbers; drop the @"
            )
        return Test(0, int(column), transform, relation=row), end + 1
    return Test(int(row), int(column), transform, absolute=at == "@"), end + 1


def _parse_argument(line: str, command: str, position: int) -> tuple[str, int]:
    """Parse the quoted argument, if the command takes one; also returns the position after it."""
    if command not in _TAKES_ARGUMENT:
        if line[position : position + 1] == ",":
            raise ParsimonError(f"%{command} takes only a row and a column, as in {_example(command)}")
        return "", position
    found = _ARGUMENT.match(line, position)
    if found is None:
        raise ParsimonError(
            f"%{command} needs a third argument in quotation marks, as in {_example(command)}"
        )
    return found[1], found.end()


def _example(command: str) -> str:
    third = {"x": "", "X": "", "f": ',"shape"'}.get(command, ',"^.?"')
    return f"%{command}[-1,0{third}]"
