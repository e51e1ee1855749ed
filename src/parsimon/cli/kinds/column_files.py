"""Column files on the command line: read block by block, so that a file of any length needs little memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from parsimon.cli.failures import say, say_unknown
from parsimon.cli.kind import Evaluated
from parsimon.cli.live_input import LiveInput
from parsimon.cli.options import Asked, column_file, is_minimum_risk
from parsimon.cli.output import output, recoded
from parsimon.errors import ParsimonError
from parsimon.tasks.options import threads_of

if TYPE_CHECKING:
    from parsimon.arrays import Array, IntArray
    from parsimon.features.columns import ColumnFile, Columns, Labels
    from parsimon.features.observations import Observations
    from parsimon.structures.label_schemes import Transitions
    from parsimon.tasks.sequences.model import SequenceModel
    from parsimon.tasks.trees.model import TreeModel


PLACEHOLDERS = ("?", "_", "-")  # in place of a given label they mean none, unless the model has such a label
DIGITS = 4  # of a probability
STEPS = 10**DIGITS


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


def parts(
    model: SequenceModel, file: ColumnFile, threads: int, *, labelled: bool, skipped: Skipped | None = None
) -> Iterator[Part]:
    """The file in blocks of whole sequences, with the attributes that the model knows.

    `labelled` says that the last column is a label, which templates do not see. With `skipped`, trees that are none are
    left out, and counted there.
    """
    from parsimon.features.columns import Columns
    from parsimon.features.template_features import TemplateFeatures

    if not isinstance(model.space, TemplateFeatures):
        raise ParsimonError(
            "this model was trained on ready-made features, not on columns; use it from Python."
        )
    trees = as_trees(model)
    if trees is not None and trees.parent_column is None:
        raise ParsimonError(
            "this model labels trees that were not read from a column file; use it from Python."
        )
    if not labelled:
        look_up_only(file, model)
    file.threads = threads
    session = model.space.session(file.strings)  # works out once what each string means to the templates
    lines, next_lines = 0, 0  # before a part, and before the one after it
    for columns, text, (start, end) in file:
        lines, next_lines = next_lines, file.lines_read
        if not columns.n_tokens:  # nothing but empty lines and comments
            continue
        check_columns(model, file.name, columns.n_columns, labelled)
        part = Part(file.name, columns, text, start, end, lines)
        if trees is not None and skipped is not None:
            part = skipped.without_bad(part, trees.parent_column or 0)
            columns = part.columns
            if not columns.n_tokens:
                continue
        inputs = Columns(columns.ids[:-1], columns.lengths, columns.strings) if labelled else columns
        if trees is not None:
            from parsimon.features.tree_columns import parents_from_column

            inputs = trees.limited(parents_from_column(inputs, trees.parent_column or 0, part.place_of))
        yield replace(part, observed=session.observe(inputs, threads))


@dataclass
class Skipped:
    """What was left out of a file of trees, and of how many."""

    mistakes: list[str] = field(default_factory=list)
    n_trees: int = 0

    def without_bad(self, part: Part, column: int) -> Part:
        """The trees of a part whose parents make trees."""
        import numpy as np

        from parsimon.data.skipping import readable
        from parsimon.features.columns import choose, offsets_of
        from parsimon.features.tree_columns import parents_from_column

        trees = range(len(part.columns))
        first = offsets_of(part.columns.lengths)

        def read(some: Sequence[int]) -> None:
            begin = int(first[some[0]])
            place = lambda node: part.place_of(begin + node)  # noqa: E731
            parents_from_column(part.columns[some[0] : some[-1] + 1], column, place)

        chosen: Any = np.array(list(readable(trees, read, self.mistakes)), np.int64)
        self.n_trees += len(trees)
        _, nodes = choose(part.columns.lengths, chosen)
        return replace(part, columns=part.columns[chosen], start=part.start[nodes], end=part.end[nodes])

    def mention(self, name: str) -> None:
        """Warns of them."""
        from parsimon.data.skipping import mention_skipped

        mention_skipped(self.mistakes, self.n_trees, "trees", name)


def read_trees(file: ColumnFile, column: int, skipped: Skipped | None = None) -> Columns:
    """A whole file of trees, one of whose columns has parents; what is wrong is refused by line, or `skipped`."""
    from parsimon.features.columns import Columns
    from parsimon.features.tree_columns import parents_from_column

    trees, lines = [], 0
    for columns, text, (start, end) in file:
        if columns.n_tokens:
            part = Part(file.name, columns, text, start, end, lines)
            part = part if skipped is None else skipped.without_bad(part, column)
            if part.columns.n_tokens:
                trees.append(parents_from_column(part.columns, column, part.place_of))
        lines += text.count(b"\n")
    if skipped is not None:
        skipped.mention(file.name)
    if not trees:
        raise ParsimonError(f"{file.name} has no nodes; it should have one node a line, with its label last.")
    return Columns.concatenate(trees)


def as_trees(model: SequenceModel) -> TreeModel | None:
    """A model that labels trees, if it is one; no other needs to load what trees need."""
    if not model.of_trees:
        return None
    from parsimon.tasks.trees.model import TreeModel

    assert isinstance(model, TreeModel)
    return model


def look_up_only(file: ColumnFile, model: SequenceModel) -> None:
    """Spares reading what the model has no use for: further columns, and strings that it does not know."""
    from parsimon.features.template_features import TemplateFeatures

    if isinstance(model.space, TemplateFeatures) and not model.of_trees:  # parents need their strings
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


def allowed_transitions(model: SequenceModel, given: str | None) -> Transitions | None:
    """Which labels may follow each other under a scheme of span labels: the one given, or else the model's."""
    from parsimon.structures.label_schemes import constraints

    scheme = given or model.scheme
    return None if scheme is None else constraints(model.tags, scheme)


# --- Predict -----------------------------------------------------------------------------------------------------


def predict_columns(model: SequenceModel, job: Asked) -> None:
    """Every line as it was read, with a label."""
    careful = is_minimum_risk(job.model, job["decoding"], "viterbi")
    threads = threads_of(job["n_jobs"])
    labeller = Labeller(model, job, allowed_transitions(model, job["scheme"]), threads, careful)
    file = _input(job, model)
    encode = recoded(file.encoding)
    with output(job["output"]) as write:
        for part in parts(model, file, threads, labelled=job["given_labels"]):
            write(encode(labeller.label(part)))


def _input(job: Asked, model: SequenceModel) -> ColumnFile:
    file = column_file(job["input"], job["encoding"], job["separator"], job["comment"])
    if not job["given_labels"]:
        look_up_only(file, model)
    if job["input"] == "-":
        if sys.stdin is not None and sys.stdin.isatty():
            say("reading from the terminal; an empty line ends a sequence, Ctrl-D the input")
        if sys.platform != "win32":
            file.source = LiveInput()
    return file


@dataclass(frozen=True)
class Labeller:
    """Turns parts of the input into text with labels."""

    model: SequenceModel
    job: Asked
    allowed: Transitions | None
    threads: int
    minimum_risk: bool = False

    def label(self, part: Part) -> bytes:
        """The lines of a part with what was asked for."""
        given = self._given(part) if self.job["given_labels"] else None
        settings: dict[str, Any] = {"threads": self.threads, "allowed": self.allowed, "given": given}
        try:
            marginals = (
                self.model.marginals(part.observations, **settings)[0] if self.job["marginals"] else None
            )
            if self.job["kbest"] is None:
                labels = self.model.decode(part.observations, **settings, minimum_risk=self.minimum_risk)
                return added(part, *self._column(labels, marginals), self.threads)
            values, best = self.model.kbest(part.observations, self.job["kbest"], **settings)
        except ParsimonError as error:
            raise self._located(part, given, error) from None
        # Where there are fewer labellings than asked for, labels are −1; `ranked` leaves these out.
        columns = [self._column(labels.clip(0), marginals) for labels in best]
        return b"".join(ranked(part, values, columns))

    def _column(self, labels: IntArray, marginals: Array | None) -> tuple[IntArray, list[str]]:
        """What to add to each line, as numbers into a list of texts: the label, perhaps with its probability.

        Rounded probabilities are few, so that no text is made for a token by itself.
        """
        import numpy as np

        names = list(self.model.tags)
        if marginals is None:
            return labels, names
        probability = np.rint(marginals[np.arange(len(labels)), labels] * STEPS).astype(np.int64)
        codes = labels * (STEPS + 1) + probability
        met = np.zeros(len(names) * (STEPS + 1), bool)
        met[codes] = True
        texts = [
            f"{names[y]}\t{p / STEPS:.{DIGITS}f}"
            for y, p in (divmod(c, STEPS + 1) for c in np.flatnonzero(met).tolist())
        ]
        number = np.cumsum(met, dtype=np.int32) - 1
        return number[codes], texts

    def _given(self, part: Part) -> IntArray:
        """The labels of the last column, −1 where none is given."""
        number = {name: y for y, name in enumerate(self.model.tags)}
        free = self.job["unknown"] or [text for text in PLACEHOLDERS if text not in number]
        ids = part.label_ids({**number, **dict.fromkeys(free, -1)}, otherwise=-2)
        if (ids == -2).any():
            token = int((ids == -2).argmax())
            text = part.columns.strings[int(part.columns.ids[-1, token])]
            raise ParsimonError(
                f"{part.name}, line {part.line_of(token)}: {text!r} is no label of the model; write "
                f"{free[0] if free else 'a placeholder named with --unknown'} where the label is not known."
            )
        return ids

    def _located(self, part: Part, given: IntArray | None, error: ParsimonError) -> ParsimonError:
        """The error with the place of the sequence that caused it."""
        first = 0
        for length in part.columns.lengths.tolist():
            tokens = slice(first, first + length)
            one = None if given is None else given[tokens]
            try:
                self.model.decode(part.observations_of(tokens), allowed=self.allowed, given=one)
            except ParsimonError:
                return ParsimonError(
                    f"{part.name}, line {part.line_of(first)}: no labelling of the sequence that starts here "
                    "agrees with the given labels and the scheme."
                )
            first += length
        return error


def added(part: Part, which: IntArray, texts: list[str], threads: int = 1) -> bytes:
    """The lines of a part, each with a tab and its text."""
    from parsimon._core import label_lines

    return label_lines(part.text, part.start, part.end, part.columns.lengths, which, texts, threads)


def ranked(part: Part, values: Array, columns: list[tuple[IntArray, list[str]]]) -> Iterator[bytes]:
    """The k labellings of each sequence, best first, each after a line with its rank and probability.

    `values[r, i]` is the log-probability of the r-th labelling of sequence i, −∞ when there is none.
    """
    import numpy as np

    from parsimon.features.columns import offsets_of

    lengths = part.columns.lengths
    blocks = []
    for which, texts in columns:
        text = added(part, which, texts)
        size = np.array([len(t.encode()) for t in texts])[which] + (part.end - part.start) + 2
        ends = np.cumsum(np.add.reduceat(size, offsets_of(lengths)[:-1]) + 1).tolist()
        blocks.append((text, [0, *ends]))
    probability = np.exp(values)
    for i in range(len(lengths)):
        for rank, (text, at) in enumerate(blocks):
            if values[rank, i] > -np.inf:
                yield f"# {rank + 1} {probability[rank, i]:.{DIGITS}f}\n".encode()
                yield text[at[i] : at[i + 1]]


# --- Evaluate ----------------------------------------------------------------------------------------------------


def evaluate_columns(model: SequenceModel, job: Asked, outputs: str) -> Evaluated:
    """Spans where labels mark any, else labels; `outputs` is what tokens make up."""
    from parsimon.report.tables import confusion_table, evaluation_record, evaluation_text
    from parsimon.tasks.sequences.metrics import evaluate as compare

    file = column_file(job["test"], job["encoding"], job["separator"], job["comment"])
    gold, predicted = _labels(model, file, job)
    evaluation = compare(gold, predicted, raw=job["raw"])
    text = evaluation_text(evaluation, raw=job["raw"], outputs=outputs)
    if job["confusion"]:
        text += "\n" + confusion_table(evaluation)
    return Evaluated.split(evaluation_record(evaluation, raw=job["raw"]), text)


def _labels(model: SequenceModel, file: ColumnFile, job: Asked) -> tuple[Labels, Labels]:
    """The labels of the file, and the model's."""
    import numpy as np

    from parsimon.features.columns import Labels

    threads = threads_of(job["n_jobs"])
    settings: dict[str, Any] = {
        "threads": threads,
        "allowed": allowed_transitions(model, job["scheme"]),
        "minimum_risk": is_minimum_risk(job.model, job["decoding"], "viterbi"),
    }
    number = {name: y for y, name in enumerate(model.tags)}
    gold: list[IntArray] = []
    predicted: list[IntArray] = []
    lengths: list[IntArray] = []
    skipped = Skipped() if job["skip_bad"] else None
    for part in parts(model, file, threads, labelled=True, skipped=skipped):
        for name in part.labels():
            number.setdefault(name, len(number))
        gold.append(part.label_ids(number, otherwise=-1))
        predicted.append(model.decode(part.observations, **settings))
        lengths.append(part.columns.lengths)
    if not lengths:
        raise ParsimonError(
            f"{file.name} has no tokens; it should have one token a line, with its label last."
        )
    if skipped is not None:
        skipped.mention(file.name)
    truth = Labels(np.concatenate(gold), np.concatenate(lengths), list(number))
    n_unknown = int((truth.ids >= len(model.tags)).sum())
    say_unknown(file.name, n_unknown, "token", truth.names[len(model.tags) :])
    return truth, Labels(np.concatenate(predicted), truth.lengths, truth.names)
