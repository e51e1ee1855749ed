"""Tables of discrete columns: the states of each column, and every cell encoded as a state number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.data.bins import bin_names, bin_of, is_measured, quantile_edges
from parsimon.errors import ParsimonError, nearest
from parsimon.magnitudes import LARGEST, first_wrong

State: TypeAlias = str | int | bool
Bins: TypeAlias = Mapping[
    str, tuple[float, ...]
]  # of columns of measurements: the upper ends of all bins but the last
MAX_STATES = 50  # a column with more distinct values than this is unlikely to be categorical
MISSING_STATE = "missing"  # of missing values, if they are a state
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
    bins: Bins = field(default_factory=dict)
    left_out: tuple[str, ...] = ()  # columns of X that the table does not have
    rows: IntArray | None = None  # the rows of X that are left, if some had missing values
    dropped: int = 0  # how many had

    @classmethod
    def learn(
        cls,
        X: Any,
        *,
        names: Sequence[str] | None = None,
        max_states: int = MAX_STATES,
        drop: Sequence[str] = (),
        bins: int | None = None,
        missing: str = "refuse",
    ) -> DiscreteTable:
        """Build a table from a data frame, an array or a list of rows.

        The states of a column are its distinct values, sorted. Columns to `drop` are left out. With `bins`, columns of
        numbers with fractions, or of more distinct numbers, are cut at their quantiles. Rows with a `missing` value are
        refused ("refuse"), or left out ("drop"); or being missing is a state of its own ("state").
        """
        found, raw = _named_columns(X, names)
        names, raw = without(found, raw, drop)
        if not raw or not len(raw[0]):
            raise ParsimonError("X has no cells; give a table with at least one row and one column.")
        columns = [[plain(value) for value in column] for column in raw]
        rows = _complete_rows(columns) if missing == "drop" else None
        if rows is not None:
            if not len(rows):
                raise ParsimonError(
                    "every row of X has a missing value; use missing='state', or drop a column."
                )
            columns = [[column[i] for i in rows.tolist()] for column in columns]
        categories, edges_of = [], {}
        codes = np.empty((len(columns[0]), len(columns)), np.int64)
        for j, (name, column) in enumerate(zip(names, columns, strict=True)):
            empty = _missing_cells(name, column) if missing == "state" else frozenset()
            if missing == "refuse":
                _refuse_missing(name, column)
            known = [value for i, value in enumerate(column) if i not in empty]
            edges = None if bins is None else _edges(known, bins)
            if edges is not None:
                edges_of[name] = edges
                states: tuple[State, ...] = bin_names(edges)
            else:
                _check_states(name, column, empty)
                states = _sorted(set(known))
            if empty:
                states = (*states, MISSING_STATE)
            if len(states) > max_states:
                raise ParsimonError(
                    f"column {name!r} has {len(states)} distinct values, but at most {max_states} states are allowed; "
                    "cut its numbers into bins (bins=4), drop the column, or raise max_states."
                )
            of_cell = _Codes(states, edges)
            codes[:, j] = [of_cell(MISSING_STATE if i in empty else cell) for i, cell in enumerate(column)]
            categories.append(states)
        dropped = 0 if rows is None else len(raw[0]) - len(rows)
        return cls(names, tuple(categories), codes, edges_of, tuple(drop), rows, dropped)

    @property
    def arity(self) -> IntArray:
        """How many states each column has."""
        return np.array([len(states) for states in self.categories], np.int64)

    def content(self) -> Iterator[Any]:
        """What tells tables apart; fingerprints are made of it."""
        bins = {name: list(edges) for name, edges in self.bins.items()}
        yield from (self.names, self.categories, self.codes, bins, self.left_out)

    def __len__(self) -> int:
        return len(self.codes)


class _Codes:
    """The codes of cells that are states of a column, or numbers to be put in its bins; −1 for other cells."""

    def __init__(self, states: Sequence[State], edges: Sequence[float] | None) -> None:
        self._code_of = {state: k for k, state in enumerate(states)}
        self._edges = edges

    def __call__(self, cell: Any) -> int:
        if self._edges is not None and _is_number(cell):
            return bin_of(cell, self._edges)
        return self._code_of.get(cell, -1) if isinstance(cell, str | int) else -1


def encode(
    X: Any,
    names: Sequence[str],
    categories: Sequence[Sequence[State]],
    *,
    bins: Bins | None = None,
    left_out: Sequence[str] = (),
) -> IntArray:
    """The cells of a new table as codes for known states; a data frame's columns are matched by name.

    Numbers are put into the bins of their column. Other tables may have the columns that were left out, or not.
    """
    found, columns = _named_columns(X)
    if hasattr(X, "columns"):
        missing = [name for name in names if name not in found]
        if missing:
            raise ParsimonError(
                f"X has no column {missing[0]!r}, which the network has; give all of its columns."
            )
        columns = [columns[found.index(name)] for name in names]
    elif left_out and len(columns) == len(names) + len(left_out):
        _, columns = without(found, columns, left_out)
    elif len(columns) != len(names):
        raise ParsimonError(
            f"X has {len(columns)} columns, but the network has {len(names)}; give one for each of its variables."
        )
    codes = np.empty((len(columns[0]), len(names)), np.int64)
    for j, (name, raw, states) in enumerate(zip(names, columns, categories, strict=True)):
        column = [plain(value) for value in raw]
        edges = (bins or {}).get(name)
        empty = _missing_cells(name, column, states)
        if edges is None:
            _check_states(name, column, empty)
        of_cell = _Codes(states, edges)
        for i, state in enumerate(column):
            code = of_cell(MISSING_STATE if i in empty else state)
            if code < 0:
                raise ParsimonError(f"row {i} of X: {unknown_state(name, state, states)}")
            codes[i, j] = code
    return codes


def code_of(state: Any, states: Sequence[State], edges: Sequence[float] | None = None) -> int:
    """The code of a state, or of a number in a column with bins; −1 if it is neither.

    >>> code_of("no", ("no", "yes")), code_of(3, ("<= 2", "> 2"), (2.0,)), code_of("> 2", ("<= 2", "> 2"), (2.0,))
    (0, 1, 1)
    """
    return _Codes(states, edges)(plain(state))


def without(
    names: Sequence[str], columns: Sequence[Any], drop: Sequence[str]
) -> tuple[tuple[str, ...], list[Any]]:
    """The columns except some, which must be there.

    >>> without(("id", "age"), ([7, 8], [30, 40]), ["id"])
    (('age',), [[30, 40]])
    """
    for name in drop:
        if name not in names:
            close = nearest(str(name), names)
            hint = f"did you mean {close!r}?" if close else f"the columns are {', '.join(names[:LISTED])}."
            raise ParsimonError(f"there is no column {name!r} to drop; {hint}")
    kept = [j for j, name in enumerate(names) if name not in drop]
    if drop and not kept:
        raise ParsimonError("all columns are dropped; leave some to learn from.")
    return tuple(names[j] for j in kept), [columns[j] for j in kept]


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


def _named_columns(X: Any, given: Sequence[str] | None = None) -> tuple[tuple[str, ...], list[Any]]:
    """The column names (`given`, or else the table's own) and the cells of each column."""
    names, raw = _raw_columns(X)
    if given is not None:
        names = tuple(given)
    if len(set(names)) != len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ParsimonError(f"two columns are called {twice!r}; give every column a name of its own.")
    return names, raw


def _complete_rows(columns: Sequence[Sequence[Any]]) -> IntArray:
    """The rows without missing values."""
    missing = np.array([[_is_missing(value) for value in column] for column in columns])
    return np.flatnonzero(~np.any(missing, axis=0)).astype(np.int64)


def _missing_cells(name: str, column: Sequence[Any], states: Sequence[State] | None = None) -> frozenset[int]:
    """The rows in which a value is missing, if that can be a state: of new tables, if it is one of `states`."""
    if states is not None and MISSING_STATE not in states:
        return frozenset()
    empty = frozenset(i for i, value in enumerate(column) if _is_missing(value))
    if states is None and empty and MISSING_STATE in column:
        raise ParsimonError(
            f"column {name!r} has missing values and the state {MISSING_STATE!r}, which would be one state; give that "
            "state another name."
        )
    return empty


def _edges(known: Sequence[Any], bins: int) -> tuple[float, ...] | None:
    """Where a column is cut, if it is one of measurements."""
    if not known or not all(map(_is_number, known)) or not is_measured(set(known), bins):
        return None
    return quantile_edges(np.array(known, np.float64), bins)


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number, and no boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


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


def _check_states(name: str, column: Sequence[Any], empty: frozenset[int] = frozenset()) -> None:
    """Refuses a cell that cannot be a state; those in the rows `empty` are missing values, which may be one."""
    for i, value in enumerate(column):
        if not isinstance(value, str | int) and i not in empty:  # bool is a subclass of int
            raise ParsimonError(f"column {name!r}, row {i} (counting from 0): {_why_not_a_state(value)}")


def _refuse_missing(name: str, column: Sequence[Any]) -> None:
    """Refuses the first missing value of a column."""
    for i, value in enumerate(column):
        if _is_missing(value):
            raise ParsimonError(f"column {name!r}, row {i} (counting from 0): {_why_not_a_state(value)}")


def _why_not_a_state(value: Any) -> str:
    if _is_missing(value):
        return (
            "the value is missing; fill it in, leave such rows out (missing='drop'), or make missing values a state "
            "(missing='state')."
        )
    if isinstance(value, float):
        return (
            f"{value} is not a whole number, but a network has discrete states; cut the column into bins (bins=4), or "
            "drop it."
        )
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
