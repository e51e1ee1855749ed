"""`parsimon sample`: rows drawn from a Markov network."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from parsimon.cli.options import command, option, threads_option
from parsimon.cli.output import output
from parsimon.errors import ParsimonError
from parsimon.tasks.options import threads_of

if TYPE_CHECKING:
    from parsimon.tasks.networks.model import NetworkModel

EXAMPLES = """
\b
Examples:
  parsimon sample survey.model -n 1000 > made.csv
  parsimon sample survey.model -n 100 --given smoker=yes --given age=young -o young.csv
"""


@command("sample", epilog=EXAMPLES, short_help="Draw rows from a Markov network.")
@click.argument("model", metavar="MODEL")
@option(
    "-n",
    "--rows",
    type=click.IntRange(min=1),
    default=100,
    metavar="N",
    section="Rows",
    help="The number of rows.",
)
@option(
    "--given",
    multiple=True,
    metavar="COLUMN=STATE",
    section="Rows",
    help="Draw only rows in which this column has this state (may be repeated).",
)
@option(
    "--random-state",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    section="Rows",
    help="The seed of the random draws.",
)
@option(
    "-o",
    "--output",
    "target",
    default="-",
    metavar="FILE",
    section="Output",
    show_default="standard output",
    help="Where to write. The file appears only when it is complete.",
)
@threads_option
def sample(model: str, rows: int, given: Sequence[str], random_state: int, target: str, n_jobs: int) -> None:
    """Draw rows from the Markov network MODEL by Gibbs sampling, and write them as CSV with a header."""
    from parsimon.tasks.model_file import load_model
    from parsimon.tasks.networks.model import NetworkModel

    network = load_model(model, NetworkModel)
    evidence = dict(_given(network, text) for text in given)
    drawn = network.sample(rows, evidence, seed=random_state, threads=threads_of(n_jobs))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(network.names)
    for codes in drawn.tolist():
        writer.writerow([states[k] for states, k in zip(network.categories, codes, strict=True)])
    with output(target) as write:
        write(text.getvalue().encode("utf-8", "surrogatepass"))


def _given(network: NetworkModel, text: str) -> tuple[str, object]:
    """COLUMN=STATE; a state that is a number may be written as one, and so may any number in a column with bins."""
    column, equals, written = text.partition("=")
    if not equals:
        raise ParsimonError(f"--given {text!r} has no '='; write COLUMN=STATE.")
    if column in network.names:
        for state in network.categories[network.names.index(column)]:
            if str(state) == written:
                return column, state
        if column in network.bins:
            with suppress(ValueError):
                return column, float(written)
    return column, written  # which the network refuses, saying which states there are
