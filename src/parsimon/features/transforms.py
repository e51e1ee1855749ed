"""Transforms of a value before it becomes part of an attribute, such as its lowercase form or its shape.

A transform is a named function from string to string, possibly with an argument, so that it can be written in a
template file (`%f[0,0,"suffix:3"]`) or a model file and read back. It is applied once to each *distinct* value of a
column, not once per token.

The simple regular expressions of Wapiti's `%t` and `%m` are here, too, as the transforms `test`, `match` and
`match-lower`.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from parsimon.errors import ParsimonError
from parsimon.patterns import Pattern

__all__ = ["IDENTITY", "Transform", "known_transforms", "wapiti_regexp"]


@dataclass(frozen=True)
class Transform:
    """A named function from string to string, defined entirely by its canonical text `spec`.

    >>> Transform.parse("shape")("Confidence"), Transform.parse("suffix:03")("tokens")
    ('Aa', 'ens')
    >>> Transform.parse("suffix:03").spec
    'suffix:3'
    """

    spec: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "spec", _resolve(self.spec)[0])

    @classmethod
    def parse(cls, spec: str) -> Transform:
        """The transform that `spec` names: `""` (identity), `"lower"`, `"prefix:3"`, ..."""
        return cls(spec)

    @property
    def name(self) -> str:
        """The part of `spec` before the colon."""
        return self.spec.partition(":")[0]

    @property
    def argument(self) -> str:
        """The part of `spec` after the colon, empty if the transform takes no argument."""
        return self.spec.partition(":")[2]

    def __call__(self, value: str) -> str:
        """The transformed value."""
        return _resolve(self.spec)[1](value)

    def __str__(self) -> str:
        return self.spec


# --- The functions ------------------------------------------------------------------------------------------


def identity(value: str) -> str:
    """The value itself."""
    return value


def lower(value: str) -> str:
    """The lowercase form, in any script: `Élan` becomes `élan`."""
    return value.lower()


_TO_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def lower_ascii(value: str) -> str:
    """Only A–Z to lowercase, as in Wapiti's `%X`: `Élan Vital` becomes `Élan vital`."""
    return value.translate(_TO_ASCII_LOWER)


def shape(value: str) -> str:
    """The character types without repetitions: `Aa` for `Confidence`, `0,0+,0+` for `2,664,098`.

    A capital letter becomes `A`, any other letter (or mark on a letter) `a`, and a digit `0`; every other character
    stays as it is. A run of one type is collapsed into a single character. Runs of digits and punctuation get a `+`,
    runs of letters do not: this rule reproduces both examples of Martins et al. (2011, section 5), and it distinguishes
    `.` and `...`.
    """
    collapsed = []
    for kind, run in groupby(value, _character_type):
        repeated = sum(1 for _ in run) > 1
        collapsed.append(kind + "+" if repeated and kind not in ("A", "a") else kind)
    return "".join(collapsed)


def _character_type(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Lu", "Lt"):
        return "A"
    return {"L": "a", "M": "a", "N": "0"}.get(category[0], character)


def charclass(value: str) -> str:
    """A class for the whole token, ignoring its punctuation.

    | class | letters and digits in the token | examples |
    |---|---|---|
    | `empty` | the token is the empty string | |
    | `punct` | none | `.` `--` `$` |
    | `number` | digits only | `7` `1,000` `3:30` |
    | `alnum` | digits and letters | `3rd` `B2B` |
    | `init-cap` | a capital, then only lowercase letters (or none) | `The` `A` `Corp.` |
    | `all-caps` | two or more capitals | `IBM` `U.S.` |
    | `lower` | lowercase letters | `dog` `don't` |
    | `mixed` | uppercase and lowercase in any other order | `iPhone` `McGill` |
    | `uncased` | letters of a script without case | `東京` |
    """
    types = {_character_type(character) for character in value}
    if "0" in types:
        return "alnum" if types & {"A", "a"} else "number"
    if not types & {"A", "a"}:
        return "punct" if value else "empty"
    return _letter_case(value) or "uncased"


def _letter_case(value: str) -> str:
    """`lower`, `init-cap`, `all-caps` or `mixed`, based only on letters; empty if no letter has a case."""
    letters = "".join(character for character in value if character.isalpha())
    if letters.islower():
        return "lower"
    if letters[:1].isupper() and (len(letters) == 1 or letters[1:].islower()):
        return "init-cap"
    if letters.isupper():
        return "all-caps"
    return "mixed" if letters.lower() != letters.upper() else ""


# The values beyond the ends of a sequence (`TemplateSet.boundary_value`). The indicators below leave them as they are:
# a capital at the start of a sentence means little, and `lower` for the previous token would hide the boundary.
_BOUNDARY = re.compile(r"_[xB][+-][1-8#]")


def case(value: str) -> str:
    """The case of the letters, regardless of other characters in the token.

    `lower`, `init-cap`, `all-caps` and `mixed` as in `charclass`, and `none` for a token without cased letters.
    """
    if _BOUNDARY.fullmatch(value):
        return value
    return _letter_case(value) or "none"


def has_digit(value: str) -> str:
    """`true` if the token contains a digit, in any script, otherwise `false`."""
    return _contains(value, "N")


def has_punct(value: str) -> str:
    """`true` if the token contains punctuation or a symbol (`$`, `+`), in any script, otherwise `false`."""
    return _contains(value, "PS")


def _contains(value: str, categories: str) -> str:
    """Whether the value contains a character in one of these Unicode categories."""
    if _BOUNDARY.fullmatch(value):
        return value
    found = any(unicodedata.category(character)[0] in categories for character in value)
    return "true" if found else "false"


def prefix(value: str, length: int) -> str:
    """The first N characters, or the whole value if it is shorter."""
    return value[:length]


def suffix(value: str, length: int) -> str:
    """The last N characters, or the whole value if it is shorter."""
    return value[-length:]


def matches(value: str, pattern: Pattern) -> str:
    """Wapiti's `%t`: `true` if the regular expression matches anywhere in the value, otherwise `false`."""
    return "false" if pattern.search(value) is None else "true"


def match(value: str, pattern: Pattern) -> str:
    """Wapiti's `%m`: the first part of the value that matches the regular expression, empty if none does."""
    return pattern.search(value) or ""


def match_lower(value: str, pattern: Pattern) -> str:
    """Wapiti's `%M`: like `match`, with A–Z in the result converted to lowercase."""
    return lower_ascii(match(value, pattern))


# --- Wapiti's regular expressions ---------------------------------------------------------------------------

# The classes are those of C's <ctype.h> in the C locale; a capital letter means the complement.
_CLASSES = {
    "a": string.ascii_letters,
    "d": string.digits,
    "l": string.ascii_lowercase,
    "p": string.punctuation,
    "s": string.whitespace,
    "u": string.ascii_uppercase,
    "w": string.ascii_letters + string.digits,
}
# A single character, plain or escaped, and its quantifier. Wapiti tries zero repetitions first for `*` and one
# occurrence first for `?`, so the star is lazy and the question mark is greedy.
_ATOM = re.compile(r"(\\.|[^*?\\])([*?]?)", re.DOTALL)
_REPEAT = {"": "", "*": "*?", "?": "?"}


def wapiti_regexp(text: str) -> Pattern:
    r"""The pattern for a regular expression in Wapiti's dialect.

    `.` is any character; `\d \a \w \l \u \p \s` are an ASCII digit, letter, letter or digit, lowercase letter,
    uppercase letter, punctuation mark and space, and `\D \A ...` are their complements. `\` before any other character,
    and every other character, match the character itself. `^` at the beginning and `$` at the end are anchors; `*`
    repeats the previous character as few times as possible; `?` makes it optional. Nothing else is special:
    `+ ( ) [ ] { } |` match themselves.

    There are two differences from Wapiti's own matcher: it matches characters, not bytes of UTF-8, and the length of a
    match is correct in cases where Wapiti counts a failed attempt twice (`a?ab` on `ab`).

    >>> wapiti_regexp(r"\u\l*$").search("Mc Gill")
    'Gill'
    """
    pieces = [r"\A"] if text.startswith("^") else []
    position = len(pieces)
    while position < len(text):
        if text[position:] == "$":
            pieces.append(r"\Z")
            break
        atom = _ATOM.match(text, position)
        if atom is None:
            raise ParsimonError(
                f"regular expression {text!r}, character {position + 1}: {_stray(text[position])}"
            )
        pieces.append(_single(atom[1]) + _REPEAT[atom[2]])
        position = atom.end()
    return Pattern("(?s)" + "".join(pieces))


def _stray(character: str) -> str:
    if character == "\\":
        return "the backslash at the end escapes nothing; write \\\\ to match a backslash"
    return f"{character} must follow the character that it repeats; write \\{character} to match {character}"


def _single(atom: str) -> str:
    """The Python pattern for a single character: a dot, an escape, or the character itself."""
    if atom == ".":
        return "."
    letter = atom[-1]
    if len(atom) == 2 and letter.lower() in _CLASSES:
        complement = "^" if letter.isupper() else ""
        return f"[{complement}{re.escape(_CLASSES[letter.lower()])}]"
    return re.escape(letter)


# --- The registry -------------------------------------------------------------------------------------------

Function = Callable[[str], str]
Bind = Callable[[str, str | None], tuple[str, Function]]  # (name, argument) → canonical spec, function


@dataclass(frozen=True)
class Definition:
    """The definition of a transform: its syntax, how to make a function from it, and a summary."""

    form: str
    bind: Bind
    summary: str


def _plain(function: Function) -> Bind:
    """A transform without an argument."""

    def bind(name: str, argument: str | None) -> tuple[str, Function]:
        if argument is not None:
            raise ParsimonError(
                f"transform {name!r} takes no argument; write {name!r} instead of {name + ':' + argument!r}"
            )
        return name, function

    return bind


_LONGEST_AFFIX = 100


def _counted(function: Callable[[str, int], str]) -> Bind:
    """A transform whose argument is a number of characters."""

    def bind(name: str, argument: str | None) -> tuple[str, Function]:
        if (
            argument is None
            or not re.fullmatch("0*[0-9]{1,3}", argument)
            or not 1 <= int(argument) <= _LONGEST_AFFIX
        ):
            found = "nothing" if argument is None else repr(argument)
            raise ParsimonError(
                f"transform {name!r} needs a number of characters from 1 to {_LONGEST_AFFIX}, "
                f"as in '{name}:3', but got {found}"
            )
        length = int(argument)
        return f"{name}:{length}", lambda value: function(value, length)

    return bind


def _regexp(function: Callable[[str, Pattern], str]) -> Bind:
    """A transform whose argument is a regular expression in Wapiti's dialect."""

    def bind(name: str, argument: str | None) -> tuple[str, Function]:
        if argument is None:
            raise ParsimonError(f"transform {name!r} needs a regular expression, as in '{name}:^.?.?'")
        if "\n" in argument or "\r" in argument:
            raise ParsimonError(
                f"transform {name!r} cannot match a line break, because no token contains one"
            )
        # A quotation mark is written \" in a template file; `\\.` skips characters that are already escaped.
        canonical = re.sub(r'\\.|"', lambda found: '\\"' if found[0] == '"' else found[0], argument)
        pattern = wapiti_regexp(canonical)
        return f"{name}:{canonical}", lambda value: function(value, pattern)

    return bind


_REGISTRY: dict[str, Definition] = {
    "": Definition("", _plain(identity), "the value as it is"),
    "lower": Definition("lower", _plain(lower), "lowercase, in any script"),
    "lower-ascii": Definition("lower-ascii", _plain(lower_ascii), "A–Z to lowercase, as in Wapiti's %X"),
    "shape": Definition("shape", _plain(shape), "character types: Confidence → Aa, 2,664,098 → 0,0+,0+"),
    "charclass": Definition(
        "charclass", _plain(charclass), "a class for the whole token: init-cap, number, ..."
    ),
    "case": Definition(
        "case", _plain(case), "the case of the letters: lower, init-cap, all-caps, mixed, none"
    ),
    "has-digit": Definition("has-digit", _plain(has_digit), "true or false: is there a digit?"),
    "has-punct": Definition("has-punct", _plain(has_punct), "true or false: is there punctuation?"),
    "prefix": Definition("prefix:N", _counted(prefix), "the first N characters"),
    "suffix": Definition("suffix:N", _counted(suffix), "the last N characters"),
    "test": Definition("test:REGEXP", _regexp(matches), "true or false: does it match? Wapiti's %t"),
    "match": Definition("match:REGEXP", _regexp(match), "the first part that matches, Wapiti's %m"),
    "match-lower": Definition(
        "match-lower:REGEXP", _regexp(match_lower), "the first part that matches, in lowercase, Wapiti's %M"
    ),
}


def known_transforms() -> dict[str, str]:
    """The syntax of each transform, and a one-line summary.

    >>> known_transforms()["prefix:N"]
    'the first N characters'
    """
    return {definition.form: definition.summary for definition in _REGISTRY.values()}


@lru_cache(maxsize=4096)
def _resolve(spec: str) -> tuple[str, Function]:
    """The canonical form of a spec, and its function."""
    name, colon, argument = spec.partition(":")
    if name not in _REGISTRY:
        forms = ", ".join(form for form in known_transforms() if form)
        raise ParsimonError(f"unknown transform {spec!r}; transforms are {forms}")
    return _REGISTRY[name].bind(name, argument if colon else None)


IDENTITY = Transform("")
