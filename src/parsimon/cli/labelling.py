"""A model at work on a column file, block by block: a file of any length needs little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.arrays import IntArray
    from parsimon.features.columns import ColumnFile, Columns
    from parsimon.features.observations import Observations
    from parsimon.structures.label_schemes import Transitions
    from parsimon.tasks.sequences.model import SequenceModel


@dataclass(frozen=True)
class Part:
    """Some whole sequences of a file, with the text they were read from."""

    name: str
    columns: Columns
    text: bytes
    start: IntArray  # where each token's line begins in `text`
    end: IntArray
    lines_before: int
    observed: Observations | None = None

    @property
    def observations(self) -> Observations:
        """The attributes that the model knows."""
        assert self.observed is not None
        return self.observed

    def line_of(self, token: int) -> int:
        """The number of a token's line in the file, from 1."""
        return self.lines_before + self.text.count(b"\n", 0, int(self.start[token])) + 1

    def place_of(self, token: int) -> str:
        """A token's line for messages."""
        return f"{self.name}, line {self.line_of(token)}"

    def observations_of(self, tokens: slice) -> Observations:
        """The attributes of one sequence, given by its tokens."""
        return self.observations[tokens]

    def labels(self) -> list[str]:
        """The distinct strings of the last column, in order of first appearance."""
        import numpy as np

        seen, first = np.unique(self.columns.ids[-1], return_index=True)
        return self.columns.strings.get_all(seen[np.argsort(first)])

    def label_ids(self, number: dict[str, int], otherwise: int) -> IntArray:
        """The last column as numbers; strings that are not in `number` become `otherwise`."""
        import numpy as np

        seen, inverse = np.unique(self.columns.ids[-1], return_inverse=True)
        ids = [number.get(text, otherwise) for text in self.columns.strings.get_all(seen)]
        return np.array(ids, np.int32)[inverse]


def parts(model: SequenceModel, file: ColumnFile, threads: int, *, labelled: bool) -> Iterator[Part]:
    """The file in blocks of whole sequences, with the attributes that the model knows.

    `labelled` says that the last column is a label, which templates do not see.
    """
    from parsimon.features.columns import Columns
    from parsimon.features.template_features import TemplateFeatures

    if not isinstance(model.space, TemplateFeatures):
        raise ParsimonError(
            "this model was trained on ready-made features, not on columns; use it from Python."
        )
    if is_tree(model) and "parent_column" not in model.info:
        raise ParsimonError(
            "this model labels trees that were not read from a column file; use it from Python."
        )
    if not labelled:
        look_up_only(file, model)
    session = model.space.session(file.strings)  # works out once what each string means to the templates
    lines = 0
    for columns, text, (start, end) in file:
        if not columns.n_tokens:  # nothing but empty lines and comments
            lines += text.count(b"\n")
            continue
        check_columns(model, file.name, columns.n_columns, labelled)
        part = Part(file.name, columns, text, start, end, lines)
        inputs = Columns(columns.ids[:-1], columns.lengths, columns.strings) if labelled else columns
        if is_tree(model):
            inputs = as_trees(inputs, model, part.place_of)
        yield replace(part, observed=session.observe(inputs, threads))
        lines += text.count(b"\n")


def is_tree(model: SequenceModel) -> bool:
    """Whether the model labels trees: their nodes are its tokens."""
    return model.info.get("structure") == "tree"


def as_trees(columns: Columns, model: SequenceModel, place: Callable[[int], str]) -> Columns:
    """Columns with links from the column of parents, and the labels that kinds of nodes allow."""
    from parsimon.features.node_kinds import NodeKinds
    from parsimon.features.tree_columns import parents_from_column

    trees = parents_from_column(columns, model.info["parent_column"], place)
    told = model.info.get("node_kinds")
    return trees if told is None else NodeKinds.from_told(told, model.labels).limit(trees)


def read_trees(file: ColumnFile, column: int) -> Columns:
    """A whole file of trees, one of whose columns has parents; mistakes are told with their lines."""
    from parsimon.features.columns import Columns
    from parsimon.features.tree_columns import parents_from_column

    trees, lines = [], 0
    for columns, text, (start, end) in file:
        if columns.n_tokens:
            part = Part(file.name, columns, text, start, end, lines)
            trees.append(parents_from_column(columns, column, part.place_of))
        lines += text.count(b"\n")
    if not trees:
        raise ParsimonError(f"{file.name} has no nodes; it should have one node a line, with its label last.")
    return Columns.concatenate(trees)


def look_up_only(file: ColumnFile, model: SequenceModel) -> None:
    """Spares reading what the model has no use for: further columns, and strings that it does not know."""
    from parsimon.features.template_features import TemplateFeatures

    if isinstance(model.space, TemplateFeatures) and not is_tree(model):  # parents need their strings
        file.wanted = model.needs_columns
        if not any(transform.spec for _, transform in model.space.templates.inputs):  # these need the strings
            file.strings, file.frozen = model.space.strings, True


def check_columns(model: SequenceModel, name: str, n_columns: int, labelled: bool) -> None:
    """Refuses a file with fewer columns than the model's templates look at; more are fine."""
    needed = model.needs_columns
    if n_columns >= needed + labelled:
        return
    has = f"{name} has {n_columns} column{'s' * (n_columns != 1)}"
    if labelled:
        raise ParsimonError(
            f"{has}, but the model looks at {needed} and needs one more, the last, for the label."
        )
    raise ParsimonError(f"{has}, but the model looks at {needed}.")


def allowed_transitions(model: SequenceModel, scheme: str | None) -> Transitions | None:
    """Which labels may follow each other under a scheme of span labels."""
    from parsimon.structures.label_schemes import constraints

    return None if scheme is None else constraints(model.tags, scheme)
