"""Patterns in which the next character decides what to do next, so that backtracking has nothing to try.

Matching such a pattern from one place with `re` takes time in proportion to what it reads there: wherever there is a
choice, all ways but one fail at once. (RE2 calls these patterns one-pass.)
"""

from __future__ import annotations

from itertools import combinations

from parsimon.patterns.program import Characters, Program

__all__ = ["is_one_pass"]

MOST_READS = 40  # of a program that is looked at: pairs of them are compared


def is_one_pass(program: Program) -> bool:
    """Whether there are never two ways to go on with a character."""
    if len(program.reads) > MOST_READS:
        return False
    starts = {program.first, *(then for _, then in program.reads.values())}
    pairs: set[tuple[Characters, Characters]] = set()
    for start in starts:
        reads = _next_reads(program, start)
        if reads is None:
            return False
        pairs.update(combinations((program.reads[at][0] for at in sorted(reads)), 2))
    return not any(a is b or a.overlap(b) for a, b in pairs)


def _next_reads(program: Program, start: int) -> list[int] | None:
    """The instructions that may read the next character; None if there are two ways to one of them."""
    seen: set[int] = set()
    stack, reads = [start], []
    while stack:
        at = stack.pop()
        if at in seen:
            return None
        seen.add(at)
        if at in program.reads:
            reads.append(at)
        elif at in program.splits:
            stack.extend(program.splits[at])
        elif at in program.saves:
            stack.append(program.saves[at][1])
        elif at in program.asserts:
            stack.append(program.asserts[at][1])
    return reads
