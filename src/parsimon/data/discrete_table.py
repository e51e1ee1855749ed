"""Tables of discrete columns: the states of each column, and every cell encoded as a state number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.magnitudes import first_wrong

State: TypeAlias = str | int | bool
MAX_STATES = 50  # a column with more distinct values than this is unlikely to be categorical
LISTED = 8  # how many states an error message lists


@dataclass(frozen=True, eq=False)
class DiscreteTable:
    """Rows of states. `codes[i, j]` is the index in `categories[j]` of the state in row i, column j.

    >>> table = DiscreteTable.learn([["yes", 1], ["no", 3], ["yes", 3]])
    >>> table.categories, table.codes.tolist()
    ((('no', 'yes'), (1, 3)), [[1, 0], [0, 1], [1, 1]])
    """

    names: tuple[str, ...]
    categories: tuple[tuple[State, ...], ...]
    codes: IntArray  # (rows, columns)

    @classmethod
    def learn(
        cls, X: Any, *, names: Sequence[str] | None = None, max_states: int = MAX_STATES
    ) -> DiscreteTable:
        """Build a table from a data frame, an array or a list of rows.

        The states of a column are its distinct values, sorted.
        """
        names, columns = _columns(X, names)
        if not columns or not len(columns[0]):
            raise ParsimonError("X has no cells; give a table with at least one row and one column.")
        categories, codes = [], np.empty((len(columns[0]), len(columns)), np.int64)
        for j, (name, column) in enumerate(zip(names, columns, strict=True)):
            states = _sorted(set(column))
            if len(states) > max_states:
                raise ParsimonError(
                    f"column {name!r} has {len(states)} distinct values, but at most {max_states} states are allowed; "
                    "discretise it, drop it, or raise max_states."
                )
            code_of = {state: k for k, state in enumerate(states)}
            codes[:, j] = [code_of[state] for state in column]
            categories.append(states)
        return cls(names, tuple(categories), codes)

    @property
    def arity(self) -> IntArray:
        """How many states each column has."""
        return np.array([len(states) for states in self.categories], np.int64)

    def content(self) -> Iterator[Any]:
        """What tells tables apart; fingerprints are made of it."""
        yield from (self.names, self.categories, self.codes)

    def __len__(self) -> int:
        return len(self.codes)


def encode(X: Any, names: Sequence[str], categories: Sequence[Sequence[State]]) -> IntArray:
    """The cells of a new table as codes for known states; a data frame's columns are matched by name."""
    found, columns = _columns(X)
    if hasattr(X, "columns"):
        missing = [name for name in names if name not in found]
        if missing:
            raise ParsimonError(
                f"X has no column {missing[0]!r}, which the network has; give all of its columns."
            )
        columns = [columns[found.index(name)] for name in names]
    elif len(columns) != len(names):
        raise ParsimonError(
            f"X has {len(columns)} columns, but the network has {len(names)}; give one for each of its variables."
        )
    codes = np.empty((len(columns[0]), len(names)), np.int64)
    for j, (name, column, states) in enumerate(zip(names, columns, categories, strict=True)):
        code_of = {state: k for k, state in enumerate(states)}
        for i, state in enumerate(column):
            code = code_of.get(state)
            if code is None:
                raise ParsimonError(f"row {i} of X: {unknown_state(name, state, states)}")
            codes[i, j] = code
    return codes


def unknown_state(name: str, state: Any, states: Sequence[State]) -> str:
    """The error message for an unknown state of a variable; it lists the known ones."""
    some = ", ".join(repr(each) for each in states[:LISTED]) + (", …" if len(states) > LISTED else "")
    return f"{state!r} is not a state of {name!r}, which has {some}."


def plain(value: Any) -> Any:
    """A state as it is stored: NumPy scalars become Python values, and whole floats become integers."""
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def check_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Sample weights as an array; None if all rows have the same weight."""
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParsimonError("sample_weight must have numbers, one per row.") from None
    if weights.shape != (n_rows,):
        raise ParsimonError(
            f"sample_weight has the shape {weights.shape}; give {n_rows} numbers, one per row."
        )
    if first_wrong(weights) is not None or np.any(weights < 0) or not np.any(weights > 0):
        raise ParsimonError("sample_weight must have finite numbers of zero or more, not all of them zero.")
    return weights


def _columns(X: Any, given: Sequence[str] | None = None) -> tuple[tuple[str, ...], list[list[State]]]:
    """The column names (`given`, or else the table's own) and each column's states as plain Python values."""
    names, raw = _raw_columns(X)
    if given is not None:
        names = tuple(given)
    if len(set(names)) != len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ParsimonError(f"two columns are called {twice!r}; give every column a name of its own.")
    return names, [_states(name, column) for name, column in zip(names, raw, strict=True)]


def _raw_columns(X: Any) -> tuple[tuple[str, ...], list[Any]]:
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        names = tuple(str(name) for name in X.columns)
        return names, [X.iloc[:, j].tolist() for j in range(X.shape[1])]
    if hasattr(X, "tocsr"):
        raise ParsimonError("X is a sparse matrix; give a dense one, because zero is a state like any other.")
    if isinstance(X, str) or not hasattr(X, "__len__"):
        raise ParsimonError(f"X must be a table: a data frame, a 2-d array or a list of rows, not {X!r}.")
    if not isinstance(X, np.ndarray):
        X = _from_rows(X)
    if X.ndim != 2:
        raise ParsimonError(f"X has {X.ndim} dimension{'s' * (X.ndim != 1)}; a table has two.")
    return tuple(f"x{j}" for j in range(X.shape[1])), [X[:, j].tolist() for j in range(X.shape[1])]


def _from_rows(rows: Any) -> Any:
    """Rows of equal length as an object array, so that every cell keeps its type."""
    for i, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise ParsimonError(f"row {i} of X is {row!r}, not a list of cells; a table has two dimensions.")
        if len(row) != len(rows[0]):
            raise ParsimonError(
                f"row {i} of X has {len(row)} cells, but row 0 has {len(rows[0])}; all rows must have the same length."
            )
    table = np.empty((len(rows), len(rows[0]) if len(rows) else 0), object)
    for i, row in enumerate(rows):
        table[i] = list(row)
    return table


def _states(name: str, column: list[Any]) -> list[State]:
    """The states in a column; raises an error for a cell that cannot be a state."""
    out = []
    for i, value in enumerate(column):
        value = plain(value)
        if not isinstance(value, str | int):  # bool is a subclass of int
            raise ParsimonError(f"column {name!r}, row {i} (counting from 0): {_why_not_a_state(value)}")
        out.append(value)
    return out


def _why_not_a_state(value: Any) -> str:
    if _is_missing(value):
        return "the value is missing; drop the row, or give missing values a state of their own."
    if isinstance(value, float):
        return f"{value} is not a whole number, but a network has discrete states; discretise the column or drop it."
    return (
        f"a state is a string, a whole number or a boolean, not {type(value).__name__}; convert the column."
    )


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or a missing value of pandas; missing values do not equal themselves."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # the truth value of pandas.NA is undefined
        return True
    except ValueError:  # an array
        return False


def _sorted(states: set[State]) -> tuple[State, ...]:
    """States in ascending order: numbers first, then strings."""
    return tuple(sorted(states, key=lambda state: (isinstance(state, str), state)))
