"""Tables of discrete columns: what states each column has, and every cell as the number of its state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError

State: TypeAlias = str | int | bool
MAX_STATES = 50  # more different values than this are hardly categories
LISTED = 8  # states that an error message names


@dataclass(frozen=True, eq=False)
class DiscreteTable:
    """Rows of states. `codes[i, j]` is the place of row i's state among `categories[j]`.

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
        """From a data frame, an array or a list of rows; the states of a column are those in it, sorted."""
        names, columns = _columns(X, names)
        if not columns or not len(columns[0]):
            raise ParsimonError("X has no cells; give a table with at least one row and one column.")
        categories, codes = [], np.empty((len(columns[0]), len(columns)), np.int64)
        for j, (name, column) in enumerate(zip(names, columns, strict=True)):
            states = _sorted(set(column))
            if len(states) > max_states:
                raise ParsimonError(
                    f"column {name!r} has {len(states)} different values, and {max_states} states are the most that is "
                    "allowed; discretise it or drop it, or raise max_states."
                )
            place = {state: k for k, state in enumerate(states)}
            codes[:, j] = [place[state] for state in column]
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
    """Another table by the states of one that was learnt; columns with names are found by them."""
    found, columns = _columns(X)
    if hasattr(X, "columns"):
        missing = [name for name in names if name not in found]
        if missing:
            raise ParsimonError(
                f"X has no column {missing[0]!r}, which the network knows; give all its columns."
            )
        columns = [columns[found.index(name)] for name in names]
    elif len(columns) != len(names):
        raise ParsimonError(
            f"X has {len(columns)} columns, but the network has {len(names)}; give one for each of its variables."
        )
    codes = np.empty((len(columns[0]), len(names)), np.int64)
    for j, (name, column, states) in enumerate(zip(names, columns, categories, strict=True)):
        place = {state: k for k, state in enumerate(states)}
        for i, state in enumerate(column):
            code = place.get(state)
            if code is None:
                raise ParsimonError(f"row {i} of X: {unknown_state(name, state, states)}")
            codes[i, j] = code
    return codes


def unknown_state(name: str, state: Any, states: Sequence[State]) -> str:
    """That a variable has no such state, and which it has."""
    some = ", ".join(repr(each) for each in states[:LISTED]) + (", …" if len(states) > LISTED else "")
    return f"{state!r} is no state of {name!r}, which has {some}."


def plain(value: Any) -> Any:
    """A state as it is kept: NumPy's numbers as Python's, whole floats as integers."""
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def check_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """How much each row counts; None where all count the same."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != (n_rows,):
        raise ParsimonError(f"sample_weight has the shape {weights.shape}; give {n_rows} numbers, one a row.")
    if not (np.all(np.isfinite(weights)) and np.all(weights >= 0) and np.any(weights > 0)):
        raise ParsimonError("sample_weight must be finite numbers, zero or more, and not all zero.")
    return weights


def _columns(X: Any, given: Sequence[str] | None = None) -> tuple[tuple[str, ...], list[list[State]]]:
    """Names, those given or else its own, and the states of each column as plain Python values."""
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
        raise ParsimonError("X is a sparse matrix; give a dense one: zeros are states like any other.")
    if isinstance(X, str) or not hasattr(X, "__len__"):
        raise ParsimonError(f"X must be a table: a data frame, a 2-d array or a list of rows, not {X!r}.")
    if not isinstance(X, np.ndarray):
        X = _from_rows(X)
    if X.ndim != 2:
        raise ParsimonError(f"X has {X.ndim} dimension{'s' * (X.ndim != 1)}; a table has two.")
    return tuple(f"x{j}" for j in range(X.shape[1])), [X[:, j].tolist() for j in range(X.shape[1])]


def _from_rows(rows: Any) -> Any:
    """Rows of equal lengths as an array of objects, so that no cell changes its type."""
    for i, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise ParsimonError(f"row {i} of X is {row!r}, not a list of cells; a table has two dimensions.")
        if len(row) != len(rows[0]):
            raise ParsimonError(
                f"row {i} of X has {len(row)} cells, but row 0 has {len(rows[0])}; rows must be equally long."
            )
    table = np.empty((len(rows), len(rows[0]) if len(rows) else 0), object)
    for i, row in enumerate(rows):
        table[i] = list(row)
    return table


def _states(name: str, column: list[Any]) -> list[State]:
    """A column's cells, refused where they are no states."""
    out = []
    for i, value in enumerate(column):
        value = plain(value)
        if not isinstance(value, str | int):  # True and False are integers, too
            raise ParsimonError(f"column {name!r}, row {i} (the first is 0): {_why_no_state(value)}")
        out.append(value)
    return out


def _why_no_state(value: Any) -> str:
    if _is_missing(value):
        return "the value is missing; drop the row, or give missing values a state of their own."
    if isinstance(value, float):
        return f"{value} is no whole number, and a network has discrete states; discretise the column or drop it."
    return (
        f"a state is a string, a whole number or a boolean, not {type(value).__name__}; convert the column."
    )


def _is_missing(value: Any) -> bool:
    """None, NaN, and what pandas has in their place: none of them equals itself."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA is not sure
        return True
    except ValueError:  # an array
        return False


def _sorted(states: set[State]) -> tuple[State, ...]:
    """In their own order; states of several types one type after the other."""
    return tuple(sorted(states, key=lambda state: (isinstance(state, str), state)))
