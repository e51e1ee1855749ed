"""Searching with an automaton: one pass over the text, whatever the pattern.

All ways to match are followed side by side, in the order in which backtracking would try them (Thompson 1968; Pike's
variant keeps where each began). Two ways at the same instruction go on alike, so only the better one is kept, and
there are never more than instructions. Sets of ways, and what a character does to them, are remembered, as in a lazily
built deterministic automaton, so that ordinary text costs one look-up per character.
"""

from __future__ import annotations

from typing import TypeAlias

from parsimon.errors import ParsimonError
from parsimon.patterns.program import END, LAST_BREAK, Program, shortened

__all__ = ["Automaton"]

MOST_MOVES = 20_000  # remembered at a time
STEPS_PER_CHARACTER = (
    500  # a search looks beyond what it finds, so that many of them may read the same text often
)
STEPS_IN_ANY_TEXT = 1_000_000

# Where a way began, and the begin and the end of the group, or -1.
Places: TypeAlias = tuple[int, int, int]
# Which way goes on (-1: one that begins here), and which bounds of the group (1, 2) it has just passed.
Origin: TypeAlias = tuple[int, tuple[int, ...]]
# The offsets of a match, and of its group (-1 without one).
Found: TypeAlias = tuple[int, int, int, int]


class _State:
    """The instructions at which ways are, best first; whether new ones may begin; what holds of the character before.

    `nonempty` is set right after an empty match, where there cannot be another.
    """

    __slots__ = ("beginning", "context", "dead", "moves", "nonempty", "ways")

    def __init__(
        self, ways: tuple[int, ...], beginning: bool, context: tuple[bool, ...], nonempty: bool
    ) -> None:
        self.ways, self.beginning, self.context, self.nonempty = ways, beginning, context, nonempty
        self.dead = not ways and not beginning  # nothing can come of it
        # What a character does: the state after it; where its ways come from (None: all go on as they are); and the
        # match that ends before the character.
        self.moves: dict[str, tuple[_State, tuple[Origin, ...] | None, Origin | None]] = {}


class Automaton:
    """Finds what a program matches. `steps` counts what it has done since it was made."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._states: dict[tuple[tuple[int, ...], bool, tuple[bool, ...], bool], _State] = {}
        self._moves = 0
        self.steps = 0

    def search(self, text: str, begin: int, end: int, nonempty: bool = False) -> Found | None:
        """The leftmost match from `begin` on, the one that backtracking would find first."""
        state = self._state((), True, self._context(text[begin - 1] if begin else None), nonempty)
        ways: list[Places] = []
        best: tuple[Origin, list[Places], int] | None = None
        steps = at = begin
        for at in range(begin, end + 1):
            steps += len(ways)
            character = text[at] if at < end else END
            if character == "\n" and at == end - 1:
                character = LAST_BREAK
            move = state.moves.get(character)
            state, origins, match = move or self._move(state, character)
            if match:
                best = match, ways, at
            if origins is not None:
                ways = [
                    _places(origin, ways, at) if origin[1] or origin[0] < 0 else ways[origin[0]]
                    for origin in origins
                ]
            if state.dead:
                break
        self.steps += steps - begin + at - begin + 1
        if best is None:
            return None
        first, group_begin, group_end = _places(*best)
        return first, best[2], group_begin, group_end

    def findall(self, text: str, begin: int, end: int) -> list[str]:
        """All matches one after the other, or their group, as `re.Pattern.findall` has them."""
        last = self.steps + STEPS_IN_ANY_TEXT + STEPS_PER_CHARACTER * (end - begin)
        grouped = self._program.groups > 0
        found: list[str] = []
        match = self.search(text, begin, end)
        while match is not None:
            first, at, group_begin, group_end = match
            found.append(
                text[first:at] if not grouped else text[group_begin:group_end] if group_end >= 0 else ""
            )
            if self.steps > last:
                raise ParsimonError(
                    f"the pattern {shortened(self._program.text)} takes too many steps on a text of "
                    f"{end - begin:,} characters; make it simpler, so that what it matches does not depend on all "
                    "that follows."
                )
            match = self.search(text, at, end, nonempty=first == at)
        return found

    def _context(self, character: str | None) -> tuple[bool, ...]:
        return tuple([test(character) for test in self._program.before])

    def _state(
        self, ways: tuple[int, ...], beginning: bool, context: tuple[bool, ...], nonempty: bool
    ) -> _State:
        key = (ways, beginning, context, nonempty)
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = _State(*key)
        return state

    def _move(self, state: _State, character: str) -> tuple[_State, tuple[Origin, ...] | None, Origin | None]:
        """What a character does to a state, which is then remembered."""
        if self._moves >= MOST_MOVES:  # begin anew; `state` itself is still in use
            self._states.clear()
            state.moves.clear()
            self._moves = 0
        reached, match = _Closure(self._program, state, character).reached()
        origins: tuple[Origin, ...] | None = tuple(reached.values())
        if origins == tuple((way, ()) for way in range(len(state.ways))):
            origins = None
        context = self._context(character[:1] or None)
        after = self._state(tuple(reached), state.beginning and match is None, context, False)
        self._moves += 1
        state.moves[character] = move = (after, origins, match)
        return move


class _Closure:
    """Where the ways of a state get without reading, and then with one character, in the order of preference."""

    def __init__(self, program: Program, state: _State, character: str) -> None:
        self.program, self.state, self.character = program, state, character
        self.seen: set[int] = set()
        self.ways: dict[int, Origin] = {}

    def reached(self) -> tuple[dict[int, Origin], Origin | None]:
        """The instructions after the character and where they come from; and the match that ends before it."""
        starts = [(at, way) for way, at in enumerate(self.state.ways)]
        if self.state.beginning:
            starts.append((self.program.first, -1))
        for at, way in starts:
            match = self._follow(at, way)
            if match is not None:
                return self.ways, match
        return self.ways, None

    def _follow(self, first: int, way: int) -> Origin | None:
        """From an instruction on; ends at a match, as all that comes after it is worse."""
        program = self.program
        stack: list[tuple[int, tuple[int, ...]]] = [(first, ())]
        while stack:
            at, passed = stack.pop()
            if at in self.seen:
                continue
            self.seen.add(at)
            if at in program.reads:
                characters, then = program.reads[at]
                if characters(self.character[:1]):
                    self.ways.setdefault(then, (way, passed))
            elif at in program.splits:
                better, worse = program.splits[at]
                stack += [(worse, passed), (better, passed)]
            elif at in program.saves:
                bound, then = program.saves[at]
                stack.append((then, (*passed, bound)))
            elif at in program.asserts:
                assertion, then = program.asserts[at]
                if assertion.holds(self.state.context, self.character):
                    stack.append((then, passed))
            elif not (self.state.nonempty and way < 0):
                return way, passed
        return None


def _places(origin: Origin, ways: list[Places], at: int) -> Places:
    """Where a way began, and its group."""
    way, passed = origin
    first, group_begin, group_end = (at, -1, -1) if way < 0 else ways[way]
    for bound in passed:
        group_begin, group_end = (at, group_end) if bound == 1 else (group_begin, at)
    return first, group_begin, group_end
