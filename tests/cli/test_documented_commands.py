"""Commands that pages and help texts show: there is such a command, and it has these options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from parsimon.cli import program
from parsimon.cli.kind import all_kinds
from parsimon.tasks.kinds import find_kind

ROOT = Path(__file__).parents[2]
WORDS = "|".join(["learn", *program.commands])
PLACES = re.compile(
    rf"^(?:.*\| *)?[ $]*(parsimon (?:{WORDS}) .*)$|`(parsimon (?:{WORDS}) [^`]*)`", re.MULTILINE
)


def texts() -> dict[str, str]:
    """Pages by their names, and the examples of help pages."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    examples = [program.epilog, *(each.epilog for each in program.commands.values())]
    told = {page.name: page.read_text(encoding="utf-8") for page in pages}
    return {
        **told,
        "--help": "\n".join([*(each or "" for each in examples), *(k.examples for k in all_kinds())]),
    }


def commands(text: str) -> list[str]:
    """The commands of a text, without comments, pipes and files that output goes to."""
    found = ["".join(match) for match in PLACES.findall(text)]
    plain = [re.split(r"\s+[|>#]|\s{3,}|` \|", command)[0].strip() for command in found]
    return [each for each in plain if "…" not in each and not re.search(r"\b(KIND|TRAIN|INPUT)\b", each)]


@pytest.mark.parametrize("name", list(texts()))
def test_commands_can_be_given(name: str) -> None:
    for written in commands(texts()[name]):
        word, *arguments = shlex.split(written)[1:]
        command = program.commands.get(word)
        if isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
            kind, *arguments = arguments
            if find_kind(kind) is None:
                assert name == "add_a_task.md", written  # its kind is made there, and tested with it
                continue
            command = command.get_command(click.Context(command), kind)
        assert command is not None, written
        try:
            command.make_context(word, arguments)
        except click.exceptions.Exit:  # --help
            pass
        except click.UsageError as error:
            pytest.fail(f"{written}: {error.format_message()}")


def test_commands_are_found() -> None:
    assert len(commands(texts()["command_line.md"])) > 20
    assert len(commands(texts()["README.md"])) > 8
    assert len(commands(texts()["--help"])) > 40
