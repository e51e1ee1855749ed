"""Options that several commands have, and help pages that list options under headings."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from parsimon.features.columns import ColumnFile

Function = TypeVar("Function", bound=Callable[..., Any])

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

MINIMUM_RISK = "minimum-risk"
SEPARATORS = {"any": None, "tab": "\t", "space": " "}


class SectionOption(click.Option):
    """An option that is listed under a heading."""

    def __init__(self, *args: Any, section: str = "Options", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose help lists its options under headings, in the order in which they were written."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes one block of options a section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "Other"), []).append(record)
        for section in sorted(sections, key=lambda name: name == "Other"):  # what is in no section comes last
            with formatter.section(section):
                formatter.write_dl(sections[section])


option = partial(click.option, cls=SectionOption, show_default=True)
command = partial(click.command, cls=SectionedCommand, context_settings=CONTEXT)


Check = Callable[[click.Context, click.Parameter, float | None], float | None]


def _checked(wanted: str, right: Callable[[float], bool]) -> Check:
    def check(ctx: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
        if value is not None and not (math.isfinite(value) and right(value)):
            raise click.BadParameter(f"{value:g} is not {wanted}.", ctx, parameter)
        return value

    return check


number = partial(
    option, type=float, metavar="NUMBER", callback=_checked("a number, zero or more", lambda x: x >= 0)
)
positive = partial(
    option, type=float, metavar="NUMBER", callback=_checked("a number above zero", lambda x: x > 0)
)


encoding_option = option(
    "--encoding", default="utf-8", metavar="NAME", section="Reading", help="Encoding of the data."
)


def reading_options(function: Function) -> Function:
    """How column files are read: the same in every command."""
    section = "Reading"
    for add in (
        option(
            "--comment", metavar="PREFIX", section=section, help="Pass over lines that start with PREFIX."
        ),
        option(
            "--separator",
            type=click.Choice(list(SEPARATORS)),
            default="any",
            section=section,
            help="What stands between columns: one tab, one space, or any run of both.",
        ),
        encoding_option,
    ):
        function = add(function)
    return function


def decoding_option(function: Function) -> Function:
    """Which labels, or which tree, a model gives."""
    add = option(
        "--decoding",
        type=click.Choice(["viterbi", "mst", MINIMUM_RISK]),
        section="Decoding",
        show_default="viterbi, or mst for parsers",
        help="The best labelling or the best tree; or that of which the fewest wrong labels or heads are expected: it "
        "has the largest sum of probabilities.",
    )
    return add(function)


def is_minimum_risk(model: str, decoding: str | None, best: str) -> bool:
    """What --decoding asks for, of a model that knows this name for the other choice."""
    if decoding not in (None, best, MINIMUM_RISK):
        raise ParsimonError(
            f"{model} cannot be asked for {decoding}; --decoding is {best} or {MINIMUM_RISK} here."
        )
    return decoding == MINIMUM_RISK


def threads_option(function: Function) -> Function:
    """On how many threads to work; the result does not depend on it."""
    add = option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        section="Running",
        default=available_processors,
        show_default="all processors",
        help="Threads. The result is the same for any number of them.",
    )
    return add(function)


def size_of(text: str) -> int:
    """A size such as 500M or 4G in bytes."""
    from parsimon.memory import parse_size

    return parse_size(text)


def available_processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def column_file(source: str, encoding: str, separator: str, comment: str | None) -> ColumnFile:
    """A column file as the reading options say."""
    from parsimon.features.columns import ColumnFile

    return ColumnFile(source, encoding=encoding, separator=SEPARATORS[separator], comment=comment)
