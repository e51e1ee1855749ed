"""A regular expression as a program: instructions that read a character, branch, test a place or end a match.

Parsing is Python's own, so that the syntax, the flags and the characters of a class are exactly those of `re`. What no
automaton can do (back-references, looking further than one character) is refused.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any

from parsimon.errors import ParsimonError

__all__ = [
    "END",
    "LAST_BREAK",
    "LONGEST_PROGRAM",
    "Assertion",
    "Characters",
    "Program",
    "most_paths",
    "parse",
]

LONGEST_PROGRAM = 5000  # instructions; [a-z]{1,100} has 200

# What comes next in a text where that is not simply a character: nothing, or the line break at the very end.
END = ""
LAST_BREAK = "\n$"

Test = Callable[[str | None], bool]  # of a character, or of None where the text begins or ends
Node = tuple[Any, Any]  # of the tree that Python's parser makes: its kind, and what it is about

_parser: Any = import_module("re._parser")
_compiler: Any = import_module("re._compiler")

_STAR = (_parser.MAX_REPEAT, _parser.MIN_REPEAT)
_CHARACTERS = (_parser.LITERAL, _parser.NOT_LITERAL, _parser.ANY, _parser.IN)


def parse(text: str) -> Any:
    """The syntax tree; what is not a regular expression raises `re.error`."""
    try:
        return _parser.parse(text)
    except OverflowError as error:  # a{99999999999}
        raise re.error(str(error)) from None
    except RecursionError:
        raise re.error("it is nested too deeply") from None


class Characters:
    """What a node of the tree matches: the characters that `re` itself lets it match."""

    def __init__(self, node: Node, flags: int) -> None:
        self.node, self.flags = node, flags

    @cached_property
    def _matches(self) -> Callable[[str], object]:
        return _compiled([self.node], self.flags).match

    def __call__(self, character: str | None) -> bool:
        """Whether a character (not the end of a text) is among them."""
        return bool(character) and self._matches(character or "") is not None

    def overlap(self, other: Characters) -> bool:
        """Whether there is a character that both have."""
        mine = (_parser.SUBPATTERN, (None, self.flags, _FLAGS & ~self.flags, [self.node]))
        both = _compiled([(_parser.ASSERT, (1, _tree([mine], self.flags))), other.node], other.flags)
        return both.search(_all_characters()) is not None


_FLAGS = int(re.IGNORECASE | re.DOTALL | re.MULTILINE)


def _tree(nodes: list[Node], flags: int) -> Any:
    state = _parser.State()
    state.flags = flags
    return _parser.SubPattern(state, nodes)


def _compiled(nodes: list[Node], flags: int) -> re.Pattern[str]:
    pattern: re.Pattern[str] = _compiler.compile(_tree(nodes, flags), flags)
    return pattern


@lru_cache(maxsize=1)
def _all_characters() -> str:
    return "".join(map(chr, range(sys.maxunicode + 1)))


class Assertion:
    """A test of a place: what holds of the character before it is not, or is, what holds of the one after it.

    That is a word boundary as it stands; beginnings and ends of lines, and looking one character back or ahead, are
    tests of one side, with nothing on the other.
    """

    def __init__(self, before: int | None, after: Test | None, differ: bool) -> None:
        self.before, self.after, self.differ = before, after, differ

    def holds(self, context: Sequence[bool], following: str) -> bool:
        """Whether it does, after characters of which `context` says what holds."""
        left = self.before is not None and context[self.before]
        right = self.after is not None and self.after(following)
        return (left != right) == self.differ


class Program:
    """The instructions, each at a number: `reads` a character, `splits` two ways (the better first), and so on."""

    def __init__(self, text: str) -> None:
        tree = parse(text)
        self.text = text
        self.reads: dict[int, tuple[Characters, int]] = {}
        self.splits: dict[int, tuple[int, int]] = {}
        self.asserts: dict[int, tuple[Assertion, int]] = {}
        self.saves: dict[int, tuple[int, int]] = {}  # begin (1) or end (2) of the group
        self.before: list[Test] = []  # what assertions ask of the character before
        self.groups: int = tree.state.groups - 1
        self._known: dict[tuple[str, int], Characters] = {}
        self._length = 1  # instruction 0 is the end of a match
        try:
            self.first = self._sequence(tree, tree.state.flags, 0)
        except RecursionError:
            raise ParsimonError(
                f"the pattern {shortened(text)} is nested too deeply; make it simpler."
            ) from None

    def _number(self) -> int:
        self._length += 1
        if self._length > LONGEST_PROGRAM:
            raise ParsimonError(
                f"the pattern {shortened(self.text)} is too long once its repetitions are written out "
                f"(more than {LONGEST_PROGRAM:,} steps); make it shorter."
            )
        return self._length - 1

    def _characters(self, node: Node, flags: int) -> Characters:
        """One object for all places that read the same, of which there are many once repetitions are written out."""
        return self._known.setdefault((repr(node), flags), Characters(node, flags))

    def _sequence(self, nodes: Iterable[Node], flags: int, then: int) -> int:
        """The first instruction of some nodes in a row, after which comes the instruction `then`."""
        for kind, argument in reversed(list(nodes)):
            then = self._node(kind, argument, flags, then)
        return then

    def _node(self, kind: Any, argument: Any, flags: int, then: int) -> int:
        if kind in _CHARACTERS:
            self.reads[at := self._number()] = self._characters((kind, argument), flags), then
            return at
        if kind is _parser.BRANCH:
            return self._branch([self._sequence(each, flags, then) for each in argument[1]])
        if kind is _parser.SUBPATTERN:
            return self._group(argument, flags, then)
        if kind in _STAR:
            return self._repeat(argument, flags, then, greedy=kind is _parser.MAX_REPEAT)
        if kind is _parser.AT:
            return self._assert(self._place(argument, flags), then)
        if kind in (_parser.ASSERT, _parser.ASSERT_NOT):
            return self._assert(self._look(argument, flags, kind is _parser.ASSERT), then)
        raise ParsimonError(
            f"the pattern {shortened(self.text)} uses {_NAMES.get(str(kind), str(kind).lower())}, for which there is "
            "no bound on the time; leave that out, or give a function instead of a pattern."
        )

    def _branch(self, ways: list[int]) -> int:
        *others, then = ways
        for way in reversed(others):
            self.splits[at := self._number()] = way, then
            then = at
        return then

    def _group(self, argument: Any, flags: int, then: int) -> int:
        group, added, removed, inside = argument
        if added & _parser.TYPE_FLAGS:  # (?a:…) is no longer (?u:…)
            flags &= ~_parser.TYPE_FLAGS
        flags = (flags | added) & ~removed
        if group is None:
            return self._sequence(inside, flags, then)
        self.saves[end := self._number()] = 2, then
        self.saves[begin := self._number()] = 1, self._sequence(inside, flags, end)
        return begin

    def _repeat(self, argument: Any, flags: int, then: int, greedy: bool) -> int:
        fewest, most, inside = argument
        if most is _parser.MAXREPEAT or most > 1:
            self._check_repeated(inside)
        if most is _parser.MAXREPEAT:
            again = self._number()
            body = self._sequence(inside, flags, again)
            self.splits[again] = (body, then) if greedy else (then, body)
            then = again
        else:
            last = then
            for _ in range(most - fewest):
                body = self._sequence(inside, flags, then)
                self.splits[at := self._number()] = (body, last) if greedy else (last, body)
                then = at
        for _ in range(fewest):
            then = self._sequence(inside, flags, then)
        return then

    def _check_repeated(self, inside: Any) -> None:
        """Nothing that may be empty is repeated: `re` has rules of its own for that, and it is never needed."""
        if inside.getwidth()[0] == 0:
            raise ParsimonError(
                f"the pattern {shortened(self.text)} repeats something that may be empty, as (a*)* does; "
                "repeat what has at least one character."
            )

    def _assert(self, assertion: Assertion, then: int) -> int:
        self.asserts[at := self._number()] = assertion, then
        return at

    def _asked_before(self, test: Test) -> int:
        self.before.append(test)
        return len(self.before) - 1

    def _place(self, place: Any, flags: int) -> Assertion:
        """The assertion of ^ $ \\A \\Z \\b or \\B."""
        lines = bool(flags & re.MULTILINE)
        if place in (_parser.AT_BEGINNING, _parser.AT_BEGINNING_STRING):
            breaks = lines and place is _parser.AT_BEGINNING
            return Assertion(self._asked_before(lambda c: c is None or (breaks and c == "\n")), None, True)
        if place in (_parser.AT_END, _parser.AT_END_STRING):
            ends = {END} if place is _parser.AT_END_STRING else {END, LAST_BREAK, "\n" if lines else END}
            return Assertion(None, lambda c: c in ends, True)
        word = self._characters((_parser.IN, [(_parser.CATEGORY, _parser.CATEGORY_WORD)]), flags)
        return Assertion(self._asked_before(word), word, place is _parser.AT_BOUNDARY)

    def _look(self, argument: Any, flags: int, wanted: bool) -> Assertion:
        """Looking one character ahead or back."""
        direction, inside = argument
        if len(inside) != 1 or inside[0][0] not in _CHARACTERS:
            raise ParsimonError(
                f"the pattern {shortened(self.text)} looks ahead or back at more than one character, for which there "
                "is no bound on the time; look at one, such as (?!x) or (?<=[0-9]), or give a function instead."
            )
        test = self._characters(inside[0], flags)
        return (
            Assertion(None, test, wanted)
            if direction > 0
            else Assertion(self._asked_before(test), None, wanted)
        )


_NAMES = {
    "GROUPREF": "a back-reference such as \\1",
    "GROUPREF_EXISTS": "a condition on a group",
    "ATOMIC_GROUP": "an atomic group (?>…)",
    "POSSESSIVE_REPEAT": "a possessive repetition such as a++",
}


def most_paths(nodes: Iterable[Node], length: int, limit: int) -> int:
    """A bound on the ways that backtracking may try from one place in a text of some length, as far as `limit`."""
    ways: int = 1
    for kind, argument in nodes:
        ways *= _paths(kind, argument, length, limit)
        if ways > limit:
            return limit + 1
    return ways


def _paths(kind: Any, argument: Any, length: int, limit: int) -> int:
    if kind is _parser.BRANCH:
        return sum(most_paths(each, length, limit) for each in argument[1])
    if kind is _parser.SUBPATTERN:
        return most_paths(argument[3], length, limit)
    if kind in _STAR:
        return _paths_of_repeats(argument, length, limit)
    return 1 if kind in (*_CHARACTERS, _parser.AT, _parser.ASSERT, _parser.ASSERT_NOT) else limit + 1


def _paths_of_repeats(argument: Any, length: int, limit: int) -> int:
    fewest, most, inside = argument
    inner: int = most_paths(inside, length, limit)
    times: int = length if most is _parser.MAXREPEAT else min(most, length + 1)
    if inner == 1:
        return times + 1 if most != fewest else 1
    if times > limit.bit_length():  # at least 2 ** times
        return limit + 1
    total: int = sum(inner**n for n in range(times + 1))
    return min(limit + 1, total)


def shortened(text: str) -> str:
    """A pattern as a message shows it."""
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
