"""Flags that are made of declared options, and help pages with headings."""

from __future__ import annotations

from dataclasses import dataclass, fields

import click
import pytest

from parsimon.cli import program
from parsimon.cli.commands.train import command_of
from parsimon.cli.kind import Kind, all_kinds
from parsimon.cli.options import command, flags_of, said_of_flags
from parsimon.errors import ParsimonError
from parsimon.tasks.options import (
    INTEGER,
    LEARNING,
    NUMBER,
    SECTIONS,
    SIZE,
    SWITCH,
    TrainingOptions,
    option,
    options_of,
)
from refusals import refused


def test_help_shows_examples_defaults_and_headings(run):
    text = run("train", "sequence", "--help").stdout
    assert "Examples:" in text
    assert "0.5;" in text
    headings = [
        "Files:",
        "What to learn:",
        "Which templates to keep:",
        "Growing:",
        "How long:",
        "Safety:",
        "Running:",
        "Reading:",
        "Other:",
    ]
    places = [text.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)


# --- Flags from declared options ----------------------------------------------------------------------------


@dataclass
class Some:
    """One option of each sort."""

    share: float = option(0.5, "A share.", LEARNING, kind=NUMBER, above=0, most=1)
    count: int = option(3, "A count.", LEARNING, kind=INTEGER, least=1, metavar="N")
    how: str = option("one", "How.", LEARNING, choices=("one", "two"))
    room: str | None = option(None, "How much room.", LEARNING, kind=SIZE)
    loud: bool = option(False, "Whether it is loud.", LEARNING, kind=SWITCH)
    kept: bool = option(True, "Whether it is kept.", LEARNING, kind=SWITCH)
    strength: float | None = option(None, "With or without.", LEARNING, kind=NUMBER, least=0, flag_value=2.0)
    named: int = option(1, "By another name.", LEARNING, kind=INTEGER, flags=("-x", "--the-name"))
    thing: object = option(None, "An object.", LEARNING, from_python_only=True)


@pytest.fixture
def some():
    """A command that says what it was given."""
    from click.testing import CliRunner

    def tell(**values):
        click.echo(values)

    for add in reversed(flags_of(Some)):
        tell = add(tell)
    made = command("some")(tell)
    return lambda *arguments: CliRunner().invoke(made, arguments)


def test_every_sort_of_option_becomes_a_flag(some):
    names = ("share", "count", "how", "room", "loud", "kept", "strength", "named")
    defaults = (0.5, 3, "one", None, False, True, None, 1)
    assert some().output == f"{dict(zip(names, defaults, strict=True))}\n"
    given = some(
        *("--share", "1", "--count", "7", "--how", "two", "--room", "2K", "--loud", "--no-kept"),
        *("--strength", "-x", "4"),
    )
    values = (1.0, 7, "two", 2048, True, False, 2.0, 4)
    assert given.output == f"{dict(zip(names, values, strict=True))}\n"
    assert "'strength': 0.25" in some("--strength=0.25").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--share", "0"], "0 is not a number above zero and up to 1"),
        (["--share", "nan"], "nan is not a number above zero and up to 1"),
        (["--count", "0"], "0 is not in the range x>=1"),
        (["--how", "three"], "'three' is not one of 'one', 'two'"),
        (["--room", "lots"], "'lots' is not a size"),
        (["--thing", "x"], "No such option"),
    ],
)
def test_values_that_cannot_be_meant_are_refused(some, arguments, said):
    result = some(*arguments)
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.parametrize("kind", all_kinds(), ids=lambda kind: kind.name)
def test_train_has_a_flag_for_every_option_of_a_kind(kind: Kind):
    parameters = {each.name: each for each in command_of(kind).params}
    for name, told in options_of(kind.options).items():
        if not told.from_python_only:  # for objects the command line has flags of its own
            flags = told.flags or (f"--{name.replace('_', '-')}",)
            assert flags[-1].split("/")[0] in parameters[name].opts
            assert parameters[name].help == told.help
            assert parameters[name].section == told.section in SECTIONS
    assert {each.name for each in fields(TrainingOptions)} - {"callback"} <= parameters.keys()


@pytest.mark.parametrize("kind", all_kinds(), ids=lambda kind: kind.name)
def test_help_names_every_flag_once(run, kind: Kind):
    text = run("train", kind.name, "--help").stdout
    for each in command_of(kind).params:
        if isinstance(each, click.Option):
            assert each.opts[-1] in text
    for flag in ("--n-jobs", "--random-state", "--max-iter", "--time-limit", "--checkpoint", "--resume"):
        assert text.count(f"{flag} ") + text.count(f"{flag}\n") >= 1
    for old in ("--threads", "--seed ", "--max-iterations", "--threshold "):
        assert old not in text


def test_commands_share_their_names():
    """What one command calls --n-jobs, no other calls --threads."""
    all_flags = {flag for each in program.commands.values() for p in each.params for flag in p.opts}
    assert not all_flags & {"--threads", "--seed", "--max-iterations", "--threshold"}


# --- What the library says of parameters ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("n_jobs must not be 0.", "--n-jobs must not be 0."),
        ("drop such rows (missing='drop').", "drop such rows (--missing drop)."),
        (
            "read the table with header=False if this is a row.",
            "read the table with --no-header if this is a row.",
        ),
        ("discretise it, or raise max_states.", "discretise it, or raise --max-states."),
        ("column 'max_states' has 9 values.", "column 'max_states' has 9 values."),
        ("data/max_states.csv, line 3: no cells.", "data/max_states.csv, line 3: no cells."),
        ("max_states.csv cannot be read.", "max_states.csv cannot be read."),
        ("the value of 'a' is missing; fill it in.", "the value of 'a' is missing; fill it in."),
    ],
)
def test_parameters_become_flags(sentence, told):
    from parsimon.cli.kinds.networks import KIND

    assert said_of_flags(sentence, command_of(KIND).params) == told


def test_they_become_flags_in_what_a_command_says(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,\n")
    refused(run("train", "network", tmp_path / "t.csv"), "leave such rows out (--missing drop)")
    (tmp_path / "t.csv").write_text("a,\n1,2\n")
    refused(run("train", "network", tmp_path / "t.csv"), "read the table with --no-header if this is a row")
    (tmp_path / "t.csv").write_text("a\n" + "".join(f"w{i}\n" for i in range(60)))
    refused(run("train", "network", tmp_path / "t.csv"), "or raise --max-states")


def test_no_error_of_the_library_names_a_flag():
    """Flags are the command line's; the library speaks of parameters."""
    import re
    from pathlib import Path

    import parsimon

    folder = Path(parsimon.__file__).parent
    for path in folder.rglob("*.py"):
        if "cli" in path.parts or path.name in ("demo.py", "options.py"):
            continue
        found = re.findall(r"(?<![\w-])--[a-z][a-z-]+", path.read_text(encoding="utf-8"))
        assert not found, f"{path}: {found}"


def test_errors_stay_errors_of_the_library():
    @command("failing")
    @click.option("--max-iter", "max_iter")
    def failing(max_iter):
        raise ParsimonError("max_iter is wrong.")

    with pytest.raises(ParsimonError, match=r"^--max-iter is wrong\.$"):
        failing.main([], standalone_mode=False)
