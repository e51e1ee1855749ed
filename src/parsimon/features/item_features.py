"""Features computed by the user: dictionaries and strings as in CRFsuite, and dense or sparse matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from parsimon._core import StringTable, collect_items
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.features.columns import choose, offsets_of
from parsimon.features.observations import Observations, Rows
from parsimon.magnitudes import LARGEST, first_wrong, why_not


class _LabelBigram:
    """The common base of the user's own features: every step has a single attribute, for label bigrams."""

    transitions: bool

    @property
    def n_pair(self) -> int:
        """One for the label bigram, or zero."""
        return int(self.transitions)

    def pair_names(self, attributes: IntArray) -> list[str]:
        """The name of the label bigram, repeated."""
        return ["transition" for _ in attributes]

    def pair_templates(self, attributes: IntArray) -> IntArray:
        """The number of the last template, repeated."""
        return np.full(len(attributes), 1)

    def template_names(self) -> list[str]:
        """Two names: one for all of the user's features, one for the label bigram."""
        return ["features", "transition"]

    def node_templates(self, attributes: IntArray) -> IntArray:
        """The number of the first template, repeated."""
        return np.zeros(len(attributes), np.int64)

    def constant(self) -> tuple[IntArray, IntArray]:
        """The label bigram; it is not known which of the user's features are biases."""
        return np.zeros(0, np.int64), np.arange(self.n_pair)

    def _observations(self, node: Rows, lengths: IntArray) -> Observations:
        return Observations(node, Rows.identical(len(node), self.n_pair), lengths)


@dataclass
class ItemFeatures(_LabelBigram):
    """Features in the form that sklearn-crfsuite takes: a dict or a list of strings per token.

    ``{"word": "the", "bias": 1.0}`` gives the attributes ``word:the`` (value 1) and ``bias`` (value 1.0).
    """

    cutoff: int = 1
    transitions: bool = True
    names: StringTable = field(default_factory=StringTable, repr=False)
    kind: ClassVar[str] = "items"

    @property
    def n_node(self) -> int:
        """The number of attributes."""
        return len(self.names)

    def learn(self, X: Any, threads: int = 1) -> Observations:
        """Number every attribute that occurs at least `cutoff` times."""
        self.names = StringTable()
        node, lengths = self._collect(X, learn=True)
        if self.cutoff > 1:
            wanted = np.bincount(node.index, minlength=self.n_node) >= self.cutoff
            self.names = self._names_kept(wanted)
            node = node.keep(wanted)
        return self._observations(node, lengths)

    def observe(self, X: Any, threads: int = 1) -> Observations:
        """The known attributes of X."""
        return self._observations(*self._collect(X, learn=False))

    def _collect(self, X: Any, learn: bool) -> tuple[Rows, IntArray]:
        if isinstance(X, SparseSequences):
            raise ParsimonError(
                "the model was trained on named features, but X has matrices; give dicts or strings."
            )
        try:
            start, index, value, lengths = collect_items(X, self.names, learn, LARGEST)
        except (ValueError, TypeError) as error:
            raise ParsimonError(f"{error}.") from None
        return Rows(start, index, value), lengths

    def keep(self, node: BoolArray, pair: BoolArray) -> ItemFeatures:
        """The space with only some attributes."""
        return ItemFeatures(self.cutoff, bool(pair.any()), self._names_kept(node))

    def _names_kept(self, wanted: BoolArray) -> StringTable:
        return StringTable.unpack(*self.names.pack(np.flatnonzero(wanted).astype(np.int32)))

    def node_names(self, attributes: IntArray) -> list[str]:
        """The names that the user gave."""
        return self.names.get_all(np.asarray(attributes, np.int32))

    def state(self) -> tuple[dict[str, Any], dict[str, Array | IntArray]]:
        """The settings, and the names as one text."""
        text, start = self.names.pack(np.arange(len(self.names), dtype=np.int32))
        settings = {"cutoff": self.cutoff, "transitions": self.transitions}
        return settings, {"names.text": text, "names.length": np.diff(start)}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, Any]) -> ItemFeatures:
        """The space that `state` describes."""
        start = np.concatenate([[0], np.cumsum(arrays["names.length"], dtype=np.int64)]).astype(np.int64)
        names = StringTable.unpack(np.ascontiguousarray(arrays["names.text"], np.uint8), start)
        return cls(int(settings["cutoff"]), bool(settings["transitions"]), names)


def is_matrix(X: Any) -> bool:
    """Whether a value is a matrix of numbers: a numpy array or a scipy sparse matrix."""
    return hasattr(X, "tocsr") or (isinstance(X, np.ndarray) and X.dtype.kind in "biufc")


def _check_matrix(matrix: Any, what: str) -> None:
    if not is_matrix(matrix):
        raise ParsimonError(
            f"{what} is a {type(matrix).__name__}; it should be a matrix of numbers (tokens × features): "
            "a numpy array or a scipy sparse matrix."
        )
    if matrix.ndim != 2:
        raise ParsimonError(f"{what} has the shape {matrix.shape}; it should be tokens × features.")
    if matrix.dtype.kind not in "biuf":
        raise ParsimonError(f"{what} has values of type {matrix.dtype}; they should be real numbers.")


class SparseSequences(Sequence["SparseSequences"]):
    """Sequences as one matrix of all tokens (tokens × features), sparse or dense, and the length of each sequence.

    `names` are the column names; by default, columns are named by their numbers.

    >>> import numpy as np
    >>> from parsimon.features import SparseSequences
    >>> X = SparseSequences.from_sequences([np.eye(2), np.ones((3, 2))], names=["width", "height"])
    >>> len(X), X.lengths.tolist(), X.matrix.shape
    (2, [2, 3], (5, 2))
    """

    def __init__(
        self, matrix: Any, lengths: Sequence[int] | IntArray, names: Sequence[str] | None = None
    ) -> None:
        from scipy.sparse import csr_array

        _check_matrix(matrix, "the matrix")
        matrix = matrix.astype(np.float64, copy=False)  # before duplicate entries are summed
        self.matrix = matrix.tocsr() if hasattr(matrix, "tocsr") else csr_array(matrix)
        self.lengths = np.asarray(lengths, np.int32)
        if self.lengths.sum() != self.matrix.shape[0] or (self.lengths < 0).any():
            raise ParsimonError(
                f"the lengths add up to {int(self.lengths.sum())}, but the matrix has {self.matrix.shape[0]} rows."
            )
        self.names = None if names is None else _column_names(names, self.matrix.shape[1])

    def content(self) -> Iterator[Any]:
        """What tells it apart, for fingerprints."""
        yield from (self.matrix.indptr, self.matrix.indices, self.matrix.data, self.matrix.shape)
        yield from (self.lengths, self.names)

    @classmethod
    def from_sequences(cls, sequences: Iterable[Any], names: Sequence[str] | None = None) -> SparseSequences:
        """Build from one matrix (tokens × features) per sequence: numpy arrays or scipy sparse matrices.

        A sequence without tokens may also be an empty list.
        """
        parts: list[Any] = []
        lengths: list[int] = []
        for i, sequence in enumerate(sequences):
            if _without_tokens(sequence):
                lengths.append(0)
                continue
            _check_matrix(sequence, f"sequence {i}")
            if parts and sequence.shape[1] != parts[0].shape[1]:
                raise ParsimonError(
                    f"sequence {i} has {sequence.shape[1]} columns, but those before it have {parts[0].shape[1]}; "
                    "every token needs the same features."
                )
            parts.append(sequence)
            lengths.append(sequence.shape[0])
        return cls(_stacked(parts, len(names or ())), lengths, names)

    @classmethod
    def concatenate(cls, parts: Sequence[SparseSequences]) -> SparseSequences:
        """One set of sequences from several with the same columns."""
        whole = cls.from_sequences([part.matrix for part in parts], parts[0].names)
        return cls(whole.matrix, np.concatenate([part.lengths for part in parts]), whole.names)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, which: Any) -> SparseSequences:
        chosen, tokens = choose(self.lengths, which)
        some = SparseSequences(self.matrix[tokens], self.lengths[chosen])
        some.names = self.names  # already checked
        return some

    def column_name(self, column: int) -> str:
        """The name of a column, or its number if it has no name."""
        return str(column) if self.names is None else self.names[column]


def _without_tokens(sequence: Any) -> bool:
    """Whether a sequence is an array without rows or an empty list, which fits any number of columns."""
    if isinstance(sequence, list | tuple):
        return not sequence
    return is_matrix(sequence) and sequence.shape[:1] == (0,)


def _column_names(names: Sequence[str], n_columns: int) -> tuple[str, ...]:
    given = tuple(map(str, names))
    if len(given) != n_columns:
        raise ParsimonError(f"there are {len(given)} names but {n_columns} columns; give one per column.")
    if len(set(given)) != len(given):
        twice = next(name for i, name in enumerate(given) if name in given[:i])
        raise ParsimonError(f"two columns have the name {twice!r}; every column needs its own.")
    return given


def _stacked(parts: list[Any], n_columns: int) -> Any:
    """Matrices stacked on top of each other; dense ones are stacked before conversion, which is faster."""
    if not parts:
        return np.zeros((0, n_columns))
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    from scipy.sparse import csr_array, vstack

    return vstack([csr_array(part, dtype=np.float64) for part in parts])


@dataclass
class MatrixFeatures(_LabelBigram):
    """The columns of a matrix as attributes, with their values.

    X is a `SparseSequences` or a list with one matrix per sequence.
    """

    transitions: bool = True
    columns: IntArray = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    n_columns: int = 0
    names: tuple[str, ...] | None = field(default=None, repr=False)  # of the columns in use
    kind: ClassVar[str] = "matrix"

    @property
    def n_node(self) -> int:
        """The number of columns in use."""
        return len(self.columns)

    def learn(self, X: Any, threads: int = 1) -> Observations:
        """Make every column an attribute."""
        X = _as_sequences(X)
        self.n_columns = int(X.matrix.shape[1])
        self.columns = np.arange(self.n_columns)
        self.names = X.names
        return self.observe(X, threads)

    def observe(self, X: Any, threads: int = 1) -> Observations:
        """The values of the columns in use."""
        X = _as_sequences(X)
        self._check_columns(X)
        matrix = X.matrix
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        value = matrix.data.astype(np.float64)
        rows = Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), value)
        _check_values(rows, value, X)
        if (value == 1.0).all():
            rows = Rows(rows.start, rows.index)
        wanted = np.zeros(self.n_columns, bool)
        wanted[self.columns] = True
        return self._observations(rows if wanted.all() else rows.keep(wanted), X.lengths)

    def _check_columns(self, X: SparseSequences) -> None:
        """Check that the columns are those of the training data; an input without tokens may have any columns."""
        n_tokens, n_columns = X.matrix.shape
        if n_tokens and n_columns != self.n_columns:
            raise ParsimonError(
                f"the matrix has {n_columns} columns, but the model was trained on {self.n_columns}."
            )
        if not n_tokens or X.names is None or self.names is None:
            return
        for column, name in zip(self.columns.tolist(), self.names, strict=True):
            if X.names[column] != name:
                raise ParsimonError(
                    f"column {column} is called {X.names[column]!r}, but the model was trained with {name!r} there; "
                    "the columns must be in the same order."
                )

    def keep(self, node: BoolArray, pair: BoolArray) -> MatrixFeatures:
        """The space with only some columns."""
        names = None
        if self.names is not None:
            names = tuple(self.names[a] for a in np.flatnonzero(node))
        return MatrixFeatures(bool(pair.any()), self.columns[node], self.n_columns, names)

    def node_names(self, attributes: IntArray) -> list[str]:
        """The names or numbers of the columns."""
        if self.names is not None:
            return [self.names[a] for a in attributes]
        return [str(column) for column in self.columns[attributes]]

    def state(self) -> tuple[dict[str, Any], dict[str, Array | IntArray]]:
        """The settings, and the numbers of the columns in use."""
        settings: dict[str, Any] = {"transitions": self.transitions, "n_columns": self.n_columns}
        if self.names is not None:
            settings["names"] = list(self.names)
        return settings, {"columns": self.columns}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, Any]) -> MatrixFeatures:
        """The space that `state` describes."""
        columns, n_columns = arrays["columns"].astype(np.int64), int(settings["n_columns"])
        if columns.ndim != 1 or (len(columns) and not (columns.min() >= 0 and columns.max() < n_columns)):
            raise ParsimonError("a column is out of range")
        if (np.diff(columns) <= 0).any():
            raise ParsimonError("column numbers must be ascending")
        names = settings.get("names")
        if names is not None:
            names = _column_names(names, len(columns))
        return cls(bool(settings["transitions"]), columns, n_columns, names)


def _as_sequences(X: Any) -> SparseSequences:
    return X if isinstance(X, SparseSequences) else SparseSequences.from_sequences(X)


def _check_values(rows: Rows, value: Array, X: SparseSequences) -> None:
    """Refuses values that cannot be computed with."""
    at = first_wrong(value)
    if at is None:
        return
    row = int(np.searchsorted(rows.start, at, side="right")) - 1
    offsets = offsets_of(X.lengths)
    sequence = int(np.searchsorted(offsets, row, side="right")) - 1
    raise ParsimonError(
        f"sequence {sequence}, token {row - int(offsets[sequence])}: the feature "
        f"{X.column_name(int(rows.index[at]))} has the value {why_not(float(value[at]))}."
    )
