"""The command line: one file a command. Nothing heavy is imported until a command runs."""

from __future__ import annotations

import click

from parsimon import __version__
from parsimon.cli.commands.evaluate import evaluate
from parsimon.cli.commands.explain import explain
from parsimon.cli.commands.inspect import inspect
from parsimon.cli.commands.predict import predict
from parsimon.cli.commands.presets import presets
from parsimon.cli.commands.sample import sample
from parsimon.cli.commands.train import train
from parsimon.cli.failures import Program
from parsimon.cli.options import CONTEXT

__all__ = ["main", "program"]

EXAMPLES = """
\b
Examples:
  parsimon train sequence train.txt -m chunk.model -t chunk.tpl
  parsimon predict chunk.model new.txt > labelled.txt
  parsimon evaluate chunk.model test.txt
  parsimon inspect chunk.model --top 20
  parsimon train document reviews/ -m reviews.model
  parsimon explain reviews.model new.jsonl --html why.html
  parsimon train page pages/ --values values.csv -m records.model
  parsimon train parser train.conllu -m english.model
  parsimon train network survey.csv -m survey.model --draw survey.png
"""


@click.group(cls=Program, context_settings=CONTEXT, epilog=EXAMPLES)
@click.version_option(__version__, "--version", prog_name="parsimon", message="%(prog)s %(version)s")
def program() -> None:
    """Train small structured predictors, use them and inspect them.

    Sequences are read from column files: one token per line, columns separated by blanks or tabs, the label in the
    last column, and an empty line after every sequence. Feature templates are those of Wapiti and CRF++. Documents are
    in one directory per class, JSON lines, or lines 'label TAB text'. Treebanks are in CoNLL-U or CoNLL-X. Trees are in
    column files with a column of parents, or are web pages. Tables are CSV files with column names in the first line.
    '-' stands for standard input.
    """


for command in (train, predict, evaluate, inspect, explain, sample, presets):
    program.add_command(command)


def main() -> None:
    """The `parsimon` command."""
    program.main(prog_name="parsimon")
