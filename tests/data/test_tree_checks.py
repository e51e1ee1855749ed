"""Heads that form trees are accepted, and the first word that breaks a tree is named."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conll_text import trees
from parsimon.data.tree_checks import MISSING, check_heads, first_true
from parsimon.errors import ParsimonError


def check(heads: list[int], lengths: list[int], **options: Any) -> None:
    check_heads(np.array(heads, int), np.array(lengths, int), where=lambda token: f"word {token}", **options)


def test_trees_are_accepted() -> None:
    check([2, 0, 2, 0], [3, 1])
    check([0, 0], [2])  # several roots, unless they are refused
    check([MISSING, 1], [2], missing=True)
    check([], [])


@pytest.mark.parametrize(
    ("heads", "lengths", "options", "message"),
    [
        ([0, -2], [1, 1], {}, "word 1: the head '-2' is not a word number; it should be 0 to 1"),
        ([0, 2], [1, 1], {}, "word 1: the head is 2, but the sentence has 1 word"),
        ([0, 1, 3], [1, 2], {}, "word 2: the head is 3, but the sentence has 2 words"),
        ([0, 2], [2], {}, "word 1: the word is its own head"),
        ([0, MISSING], [2], {}, "word 1: the word has no head; it should be 0 to 2"),
        ([0, 0, 3, 2], [1, 3], {}, "word 2: the heads form a cycle, 2 → 3 → 2, and never reach the root"),
        ([0, 1, 0], [3], {"single_root": True}, "word 2: the words 1 and 3 both have the head 0"),
        ([0, 7], [2], {"written": lambda token: f"<{token}>"}, "word 1: the head is <1>, but"),
    ],
)
def test_other_heads_are_refused(
    heads: list[int], lengths: list[int], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParsimonError, match=message):
        check(heads, lengths, **options)


def test_one_root_per_sentence_is_a_single_root() -> None:
    check([0, 1, 0], [2, 1], single_root=True)


def test_first_true() -> None:
    assert first_true(np.array([False, True, True])) == 1
    assert first_true(np.array([False, False])) is None
    assert first_true(np.zeros(0, bool)) is None


@given(trees(), st.randoms(use_true_random=False))
def test_cycles_are_found_where_they_are(sentences: list[list[int]], random: Any) -> None:
    heads = random.choice(sentences)
    word_number = random.randrange(1, len(heads) + 1)
    heads[word_number - 1] = random.randrange(len(heads) + 1)

    def reaches_root(i: int) -> bool:
        for _ in heads:
            i = heads[i - 1] if i else 0
        return i == 0

    right = all(map(reaches_root, range(1, len(heads) + 1)))
    flat = np.array([head for one in sentences for head in one])
    lengths = np.array([len(one) for one in sentences])
    with nullcontext() if right else pytest.raises(ParsimonError, match=r"cycle|its own head"):
        check_heads(flat, lengths, where=str)


def test_a_long_cycle_is_told_by_its_ends() -> None:
    heads = np.roll(np.arange(1, 100_001), -1)
    with pytest.raises(ParsimonError, match="cycle, 1 → 2 → 3 → 4 → 5 → 6 → 7 → 8 → 9 → … → 100000 → 1, and"):
        check_heads(heads, np.array([len(heads)]), where=str)
