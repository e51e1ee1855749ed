"""`parsimon predict`: a column file in, the same lines with labels out; or documents, web pages or sentences in."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.failures import say
from parsimon.cli.labelling import Part, allowed_transitions, look_up_only, parts
from parsimon.cli.live_input import LiveInput
from parsimon.cli.model_kinds import commands_of
from parsimon.cli.options import (
    column_file,
    command,
    decoding_option,
    is_minimum_risk,
    option,
    reading_options,
    threads_option,
)
from parsimon.cli.output import output
from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.arrays import Array, IntArray
    from parsimon.features.columns import ColumnFile
    from parsimon.structures.label_schemes import Transitions
    from parsimon.tasks.sequences.model import SequenceModel

PLACEHOLDERS = ("?", "_", "-")  # in place of a given label they mean none, unless the model has such a label
DIGITS = 4  # of a probability
STEPS = 10**DIGITS

EXAMPLES = """
\b
Examples:
  parsimon predict chunk.model new.txt > labelled.txt
  cut -f1,2 new.txt | parsimon predict chunk.model | head
  parsimon predict chunk.model new.txt --marginals -o labelled.txt
  parsimon predict chunk.model new.txt --kbest 3
  parsimon predict chunk.model half_done.txt --given-labels --scheme iob2
  parsimon predict news.model new.jsonl --format jsonl --marginals
  parsimon predict records.model pages/ > records.tsv
  parsimon predict english.model new.conllu > parsed.conllu
"""


@dataclass(frozen=True)
class Prediction:
    """What was asked for."""

    model: str
    input: str
    output: str
    marginals: bool
    kbest: int | None
    given_labels: bool
    unknown: Sequence[str]
    scheme: str | None
    decoding: str | None
    format: str | None
    threads: int
    encoding: str
    separator: str
    comment: str | None


@command("predict", epilog=EXAMPLES, short_help="Label a column file, documents or web pages, or parse.")
@click.argument("model")
@click.argument("input", default="-")
@option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    section="Output",
    show_default="standard output",
    help="Where to write; a file appears only when it is complete.",
)
@option(
    "--marginals",
    is_flag=True,
    section="Output",
    help="Add a column: the probability of the label; for documents, the probabilities of all labels; for parsers, "
    "that of every head, as ArcProb=0.98 in the last column.",
)
@option(
    "--format",
    type=click.Choice(["tsv", "jsonl"]),
    section="Output",
    show_default="tsv",
    help="How labels of documents and records of web pages are written: as a table, or as JSON lines.",
)
@option(
    "--kbest",
    type=click.IntRange(min=1),
    metavar="N",
    section="Output",
    help="Write the N best labellings of every sequence, each after a line '# rank probability'.",
)
@option(
    "--scheme",
    type=click.Choice(["iob2", "iobes", "iob1", "auto"]),
    section="Constraints",
    help="Only label sequences that are valid in this scheme; 'auto' tells it from the labels.",
)
@decoding_option
@option(
    "--given-labels",
    is_flag=True,
    section="Constraints",
    help="The last column holds labels that are certain: keep them, and find the others given them. For parsers: keep "
    "the heads that words have.",
)
@option(
    "--unknown",
    multiple=True,
    metavar="TEXT",
    section="Constraints",
    show_default="? _ -",
    help="With --given-labels: what stands in the last column where no label is given (may be repeated).",
)
@reading_options
@threads_option
def predict(**options: Any) -> None:
    """Label the tokens of INPUT (standard input when it is left out) with MODEL.

    Every token's line is written as it was read, with a tab and the label added, and an empty line after
    every sequence. The input needs the columns that the model's templates look at. More columns are fine, so
    a file that has labels can be labelled too. Comment lines are left out. The output has the encoding of
    the input.

    A document model labels documents: INPUT is a directory of text files (or of such directories), JSON lines
    with a "text", or a document a line. A line is written for each: its label, a tab and the probability.

    A model of web pages finds their records: INPUT is a directory of pages, or one page. What is written is a table
    with a line for every value: page, attribute and value, tabs between.

    A parser reads CoNLL-U or CoNLL-X and writes the same file with heads and relations; those of INPUT are not looked
    at, and may be '_'.
    """
    job = Prediction(**options)
    from parsimon.tasks.model_file import load_model

    model = load_model(job.model)
    if job.kbest is not None and job.decoding is not None:
        raise ParsimonError(
            "--kbest gives the best of all, so there is nothing for --decoding; leave one out."
        )
    commands = commands_of(model)
    if commands is not None:
        commands.predict(model, job)
        return
    if job.format is not None:
        raise ParsimonError(
            f"{job.model} is a sequence model, and --format is for models of documents or web pages; leave it out."
        )
    careful = is_minimum_risk(job.model, job.decoding, "viterbi")
    labeller = Labeller(model, job, allowed_transitions(model, job.scheme), careful)
    file = _input(job, model)
    encode = _encoder(file.encoding)
    with output(job.output) as write:
        for part in parts(model, file, job.threads, labelled=job.given_labels):
            write(encode(labeller.label(part)))


def _input(job: Prediction, model: SequenceModel) -> ColumnFile:
    file = column_file(job.input, job.encoding, job.separator, job.comment)
    if not job.given_labels:
        look_up_only(file, model)
    if job.input == "-":
        if sys.stdin is not None and sys.stdin.isatty():
            say("reading from the terminal; an empty line ends a sequence, Ctrl-D the input")
        if sys.platform != "win32":
            file.source = LiveInput()
    return file


def _encoder(encoding: str) -> Callable[[bytes], bytes]:
    """From UTF-8 to the encoding of the input."""
    if encoding == "utf-8":
        return lambda content: content
    encoder = codecs.getincrementalencoder(encoding)()

    def encode(content: bytes) -> bytes:
        try:
            return encoder.encode(content.decode("utf-8"))
        except UnicodeEncodeError as error:
            what = error.object[error.start : error.end]
            raise ParsimonError(
                f"a label has {what!r}, which cannot be written in {encoding}; convert the input to utf-8."
            ) from None

    return encode


@dataclass(frozen=True)
class Labeller:
    """Turns parts of the input into text with labels."""

    model: SequenceModel
    job: Prediction
    allowed: Transitions | None
    minimum_risk: bool = False

    def label(self, part: Part) -> bytes:
        """The lines of a part with what was asked for."""
        given = self._given(part) if self.job.given_labels else None
        settings: dict[str, Any] = {"threads": self.job.threads, "allowed": self.allowed, "given": given}
        try:
            marginals = self.model.marginals(part.observations, **settings)[0] if self.job.marginals else None
            if self.job.kbest is None:
                labels = self.model.decode(part.observations, **settings, minimum_risk=self.minimum_risk)
                return added(part, *self._column(labels, marginals))
            values, best = self.model.kbest(part.observations, self.job.kbest, **settings)
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
        codes, which = np.unique(labels * (STEPS + 1) + probability, return_inverse=True)
        texts = [
            f"{names[y]}\t{p / STEPS:.{DIGITS}f}" for y, p in (divmod(c, STEPS + 1) for c in codes.tolist())
        ]
        return which.astype(np.int32), texts

    def _given(self, part: Part) -> IntArray:
        """The labels of the last column, −1 where none is given."""
        number = {name: y for y, name in enumerate(self.model.tags)}
        free = self.job.unknown or [text for text in PLACEHOLDERS if text not in number]
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


def added(part: Part, which: IntArray, texts: list[str]) -> bytes:
    """The lines of a part, each with a tab and its text."""
    from parsimon._core import label_lines

    return label_lines(part.text, part.start, part.end, part.columns.lengths, which, texts)


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
