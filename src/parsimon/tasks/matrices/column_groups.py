"""Groups of a matrix's columns as users have them: lists, a label for each column, or `Groups`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from parsimon.arrays import IntArray
from parsimon.errors import ParsimonError
from parsimon.penalties.groups import Groups, Rule, bounds, group_weights
from parsimon.tasks.options import excerpt

FORMS = "lists of columns, one label for each column, or Groups"


def as_groups(groups: Any, n_columns: int, weight: Rule = "sqrt") -> Groups:
    """Groups of columns; `None` makes every column one of its own. `Groups` keep the weights that they have.

    >>> from parsimon.tasks.matrices.column_groups import as_groups
    >>> as_groups([[0, 1], [1, 2]], n_columns=3).sizes.tolist()
    [2, 2]
    >>> labelled = as_groups(["age", "gene", "gene"], n_columns=3)
    >>> labelled.name(1), labelled.members(1).tolist()
    ('gene', [1, 2])
    """
    if groups is None:
        return Groups.consecutive(np.arange(n_columns + 1), n_columns, weight=weight)
    if isinstance(groups, Groups):
        if groups.n_features != n_columns:
            raise ParsimonError(
                f"the groups are of {groups.n_features} columns, but X has {n_columns}; make them for these."
            )
        return groups
    if isinstance(groups, str | Mapping) or not isinstance(groups, Collection):
        raise ParsimonError(f"groups is {excerpt(groups)}; give {FORMS}.")
    nested = [is_list(each) for each in groups]
    if not all(nested):
        if any(nested):
            raise ParsimonError(f"groups has both lists and single labels; give {FORMS}.")
        return _labelled(groups, n_columns, weight)
    lists: list[Any] = [_columns(m, each, n_columns) for m, each in enumerate(groups)]
    return Groups.from_lists(lists, n_columns, weight=weight)


def is_list(each: object) -> bool:
    """Whether something has members and is not a name."""
    return isinstance(each, Sized) and not isinstance(each, str | bytes)


def _columns(m: int, members: Sequence[Any], n_columns: int) -> IntArray:
    try:
        numbers = np.asarray(members)
    except ValueError:  # members of different lengths, or far too deep
        numbers = np.asarray("none")
    if numbers.ndim == 1 and len(numbers) == 0:
        return np.zeros(0, np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ParsimonError(
            f"group {m} is {excerpt(members)}; give the numbers of its columns, from 0 to {n_columns - 1}."
        )
    outside = numbers[(numbers < 0) | (numbers >= n_columns)]
    if len(outside):
        raise ParsimonError(
            f"group {m} has column {outside[0]}, but columns of X go from 0 to {n_columns - 1}."
        )
    return numbers.astype(np.int64)


def _labelled(labels: Any, n_columns: int, weight: Rule) -> Groups:
    """One group for each label, in sorted order."""
    if np.ndim(labels) != 1:
        raise ParsimonError(f"groups has {np.ndim(labels)} dimensions; give {FORMS}.")
    if len(labels) != n_columns:
        raise ParsimonError(
            f"groups has {len(labels)} labels, but X has {n_columns} columns; give one for each column."
        )
    names, number = np.unique(np.asarray(labels), return_inverse=True)
    sizes = np.bincount(number, minlength=len(names))
    index = np.argsort(number, kind="stable")
    in_order = np.array_equal(index, np.arange(n_columns))
    weights = group_weights(weight, sizes)
    return Groups(
        bounds(sizes), None if in_order else index, weights, n_columns, [str(name) for name in names]
    )
