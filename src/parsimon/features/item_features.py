"""Ready-made features: CRFsuite's dictionaries and strings, and sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from parsimon._core import StringTable, collect_items
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.features.observations import Observations, Rows


class _LabelBigram:
    """What ready-made features share: one attribute of every step, so that label pairs are learnt."""

    transitions: bool

    @property
    def n_pair(self) -> int:
        """One, the label bigram, or none."""
        return int(self.transitions)

    def pair_names(self, attributes: IntArray) -> list[str]:
        """The label bigram has no name of its own."""
        return ["transition" for _ in attributes]

    def pair_templates(self, attributes: IntArray) -> IntArray:
        """The last template."""
        return np.full(len(attributes), 1)

    def template_names(self) -> list[str]:
        """All attributes belong to one kind."""
        return ["features", "transition"]

    def node_templates(self, attributes: IntArray) -> IntArray:
        """The first template."""
        return np.zeros(len(attributes), np.int64)

    def constant(self) -> tuple[IntArray, IntArray]:
        """The label bigram; which of the user's features are biases is not known."""
        return np.zeros(0, np.int64), np.arange(self.n_pair)

    def _observations(self, node: Rows, lengths: IntArray) -> Observations:
        return Observations(node, Rows.same_everywhere(len(node), self.n_pair), lengths)


@dataclass
class ItemFeatures(_LabelBigram):
    """Features as sklearn-crfsuite takes them: a dict, or a list of strings, per token.

    ``{"word": "the", "bias": 1.0}`` makes the attributes ``word:the`` (value 1) and ``bias`` (value 1.0).
    """

    cutoff: int = 1
    transitions: bool = True
    names: StringTable = field(default_factory=StringTable, repr=False)
    kind: ClassVar[str] = "items"

    @property
    def n_node(self) -> int:
        """How many attributes there are."""
        return len(self.names)

    def learn(self, X: Any, threads: int = 1) -> Observations:
        """Numbers every attribute that occurs at least `cutoff` times."""
        self.names = StringTable()
        node, lengths = self._collect(X, learn=True)
        if self.cutoff > 1:
            wanted = np.bincount(node.index, minlength=self.n_node) >= self.cutoff
            self.names = self._names_kept(wanted)
            node = node.keep(wanted)
        return self._observations(node, lengths)

    def observe(self, X: Any, threads: int = 1) -> Observations:
        """The attributes of X that are known."""
        return self._observations(*self._collect(X, learn=False))

    def _collect(self, X: Any, learn: bool) -> tuple[Rows, IntArray]:
        try:
            start, index, value, lengths = collect_items(X, self.names, learn)
        except (ValueError, TypeError) as error:
            raise ParsimonError(f"{error}.") from None
        return Rows(start, index, value), lengths

    def keep(self, node: BoolArray, pair: BoolArray) -> ItemFeatures:
        """Some attributes only."""
        return ItemFeatures(self.cutoff, bool(pair.any()), self._names_kept(node))

    def _names_kept(self, wanted: BoolArray) -> StringTable:
        return StringTable.unpack(*self.names.pack(np.flatnonzero(wanted).astype(np.int32)))

    def node_names(self, attributes: IntArray) -> list[str]:
        """The user's names."""
        return self.names.get_all(np.asarray(attributes, np.int32))

    def state(self) -> tuple[dict[str, Any], dict[str, Array | IntArray]]:
        """Names as one text."""
        text, start = self.names.pack(np.arange(len(self.names), dtype=np.int32))
        settings = {"cutoff": self.cutoff, "transitions": self.transitions}
        return settings, {"names.text": text, "names.length": np.diff(start)}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, Any]) -> ItemFeatures:
        """The space that `state` described."""
        start = np.concatenate([[0], np.cumsum(arrays["names.length"], dtype=np.int64)]).astype(np.int64)
        names = StringTable.unpack(np.ascontiguousarray(arrays["names.text"], np.uint8), start)
        return cls(int(settings["cutoff"]), bool(settings["transitions"]), names)


class SparseSequences(Sequence["SparseSequences"]):
    """Sequences given as one sparse matrix (tokens × features) and their lengths."""

    def __init__(self, matrix: Any, lengths: Sequence[int] | IntArray) -> None:
        self.matrix = matrix.tocsr()
        self.lengths = np.asarray(lengths, np.int32)
        if self.lengths.sum() != self.matrix.shape[0] or (self.lengths < 0).any():
            raise ParsimonError(
                f"the lengths add up to {int(self.lengths.sum())} but the matrix has {self.matrix.shape[0]} rows."
            )

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, which: Any) -> SparseSequences:
        from parsimon.features.columns import choose

        chosen, tokens = choose(self.lengths, which)
        return SparseSequences(self.matrix[tokens], self.lengths[chosen])


@dataclass
class MatrixFeatures(_LabelBigram):
    """The columns of a sparse matrix as attributes, with their values."""

    transitions: bool = True
    columns: IntArray = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    n_columns: int = 0
    kind: ClassVar[str] = "matrix"

    @property
    def n_node(self) -> int:
        """How many columns are in use."""
        return len(self.columns)

    def learn(self, X: SparseSequences, threads: int = 1) -> Observations:
        """Every column is an attribute."""
        self.n_columns = int(X.matrix.shape[1])
        self.columns = np.arange(self.n_columns)
        return self.observe(X, threads)

    def observe(self, X: SparseSequences, threads: int = 1) -> Observations:
        """The values of the columns in use."""
        if X.matrix.shape[1] != self.n_columns:
            raise ParsimonError(
                f"the matrix has {X.matrix.shape[1]} columns, but the model was trained on {self.n_columns}."
            )
        matrix = X.matrix
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        value = matrix.data.astype(np.float64)
        if not np.isfinite(value).all():
            raise ParsimonError("the matrix has values that are not finite (NaN or infinity).")
        rows = Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), value)
        wanted = np.zeros(self.n_columns, bool)
        wanted[self.columns] = True
        return self._observations(rows if wanted.all() else rows.keep(wanted), X.lengths)

    def keep(self, node: BoolArray, pair: BoolArray) -> MatrixFeatures:
        """Some columns only."""
        return MatrixFeatures(bool(pair.any()), self.columns[node], self.n_columns)

    def node_names(self, attributes: IntArray) -> list[str]:
        """Column numbers."""
        return [str(column) for column in self.columns[attributes]]

    def state(self) -> tuple[dict[str, Any], dict[str, Array | IntArray]]:
        """Which columns."""
        return {"transitions": self.transitions, "n_columns": self.n_columns}, {"columns": self.columns}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, Any]) -> MatrixFeatures:
        """The space that `state` described."""
        columns, n_columns = arrays["columns"].astype(np.int64), int(settings["n_columns"])
        if columns.ndim != 1 or (len(columns) and not (columns.min() >= 0 and columns.max() < n_columns)):
            raise ParsimonError("a column is out of range")
        if (np.diff(columns) <= 0).any():
            raise ParsimonError("columns must ascend")
        return cls(bool(settings["transitions"]), columns, n_columns)
