"""The command line: one file a command. Nothing heavy is imported until a command runs."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from importlib import import_module

import click

from parsimon import __version__
from parsimon.cli.failures import Program
from parsimon.cli.options import CONTEXT

__all__ = ["main", "program"]

MANY_OBJECTS = (
    100_000  # until the first search for cycles: what is imported makes many objects, and no garbage
)

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


class Commands(MutableMapping[str, click.Command]):
    """All commands by name; the file of each is loaded when somebody asks for it."""

    def __init__(self, *names: str) -> None:
        self._known: dict[str, click.Command | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> click.Command:
        command = self._known[name]
        if command is None:
            command = getattr(import_module(f"parsimon.cli.commands.{name}"), name)
            self._known[name] = command
        return command

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._known[name] = command

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


COMMANDS = Commands("train", "predict", "evaluate", "inspect", "explain", "sample", "presets")


@click.group(cls=Program, context_settings=CONTEXT, epilog=EXAMPLES, commands=COMMANDS)
@click.version_option(__version__, "--version", prog_name="parsimon", message="%(prog)s %(version)s")
def program() -> None:
    """Train small structured predictors, use them and inspect them.

    Sequences are read from column files: one token per line, columns separated by blanks or tabs, the label in the
    last column, and an empty line after every sequence. Feature templates are those of Wapiti and CRF++. Documents are
    in one directory per class, JSON lines, or lines 'label TAB text'. Treebanks are in CoNLL-U or CoNLL-X. Trees are in
    column files with a column of parents, or are web pages. Tables are CSV files with column names in the first line.
    '-' stands for standard input.
    """


def main() -> None:
    """The `parsimon` command."""
    gc.set_threshold(MANY_OBJECTS)
    try:
        program.main(prog_name="parsimon")
    except SystemExit as end:
        _leave(end.code)
        raise


def _leave(code: str | int | None) -> None:
    """Ends the process at once: taking down all modules takes as long as labelling ten thousand words.

    What was registered for the end is done; if anything is left that the interpreter waits for, or says, it goes on.
    """
    if not isinstance(code, int) or threading.active_count() > 1:
        return
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):  # else the interpreter tries once more, and says so
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)
