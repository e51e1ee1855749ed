"""Options that several commands have, and help pages that list options under headings."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from parsimon.cli.failures import say
from parsimon.errors import ParsimonError, ParsimonWarning
from parsimon.memory import parse_size
from parsimon.tasks.options import (
    FILE,
    INTEGER,
    NUMBER,
    SECTIONS,
    SIZE,
    SWITCH,
    Option,
    TrainingOptions,
    options_of,
)

if TYPE_CHECKING:
    from parsimon.features.columns import ColumnFile

Function = TypeVar("Function", bound=Callable[..., Any])

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

MINIMUM_RISK = "minimum-risk"
SEPARATORS = {"any": None, "tab": "\t", "space": " "}


@dataclass(frozen=True)
class Asked:
    """What a command was asked for: all its options by name, and which of them were given and are no defaults."""

    values: Mapping[str, Any]
    given: frozenset[str]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """An option that not every command has."""
        return self.values.get(name, default)

    @property
    def model(self) -> str:
        """The model file."""
        return str(self.values["model"])


def refuse_idle(job: Asked, names: Iterable[str], what: str, flag: str) -> None:
    """Refuses options that were given and would make no difference without another flag."""
    for name in names:
        if name in job.given:
            idle = f"--{name.replace('_', '-')}"
            raise ParsimonError(f"{idle} is about {what}; add {flag}, or leave it out.")


GIVEN = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)


def asked(values: Mapping[str, Any]) -> Asked:
    """What the command that is running was asked for."""
    context = click.get_current_context()
    return Asked(values, frozenset(name for name in values if context.get_parameter_source(name) in GIVEN))


def flags_by_name() -> dict[str, str]:
    """The flags of the command that is running, by the names of their options."""
    return {each.name or "": each.opts[-1] for each in click.get_current_context().command.params}


def said_of_flags(sentence: str, parameters: Sequence[click.Parameter]) -> str:
    """A sentence of the library with flags in place of the names of parameters, which it may give with a value.

    Names of one word are words of other sentences too; they are only taken for parameters where a value is given.
    """
    for each in parameters:
        if not isinstance(each, click.Option) or each.name is None:
            continue
        flag = each.opts[-1]
        if each.secondary_opts:
            sentence = re.sub(rf"{_ALONE}{each.name}=False\b", each.secondary_opts[-1], sentence)
            sentence = re.sub(rf"{_ALONE}{each.name}=True\b", flag, sentence)
        sentence = re.sub(rf"{_ALONE}{each.name}='?(\w+)'?", rf"{flag} \1", sentence)
        if "_" in each.name:
            sentence = re.sub(rf"{_ALONE}{each.name}(?![\w'/=-]|\.\w)", flag, sentence)
    return sentence


@contextmanager
def warnings_said(parameters: Sequence[click.Parameter]) -> Iterator[None]:
    """Within it, the library's warnings are sentences on standard error; those of others are what they were."""
    others, said = warnings.showwarning, set[str]()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, ParsimonWarning):
            others(message, category, filename, lineno, file, line)
        elif str(message) not in said:  # what a selection and a training both come upon is said once
            said.add(str(message))
            say(said_of_flags(str(message), parameters))

    with warnings.catch_warnings():
        warnings.simplefilter("always", ParsimonWarning)
        warnings.showwarning = show
        yield


_ALONE = r"(?<![\w'\"/.-])"  # not in a word, a path or quotes


class SectionOption(click.Option):
    """An option that is listed under a heading."""

    def __init__(self, *args: Any, section: str = "Options", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose help lists its options under headings, in the order in which they were written."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command. What the library says of parameters is said of the flags that set them."""
        try:
            with warnings_said(self.params):
                return super().invoke(ctx)
        except ParsimonError as error:
            sentence = said_of_flags(str(error), self.params)
            if sentence == str(error):
                raise
            raise ParsimonError(sentence) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes one block of options a section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "Other"), []).append(record)
        places = {name: place for place, name in enumerate(SECTIONS)}
        # Sections that are named here alone come first, and what is in no section last.
        for section in sorted(sections, key=lambda name: 99 if name == "Other" else places.get(name, -1)):
            with formatter.section(section):
                formatter.write_dl(sections[section])


option = partial(click.option, cls=SectionOption, show_default=True)
command = partial(click.command, cls=SectionedCommand, context_settings=CONTEXT)


def number(
    *flags: str,
    wanted: str = "a number, zero or more",
    right: Callable[[float], bool] = lambda x: x >= 0,
    **settings: Any,
) -> Any:
    """A flag with a number that must be right."""

    def check(ctx: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
        if value is not None and not (math.isfinite(value) and right(value)):
            raise click.BadParameter(f"{value:g} is not {wanted}.", ctx, parameter)
        return value

    return option(*flags, type=float, callback=check, **{"metavar": "NUMBER", **settings})


positive = partial(number, wanted="a number above zero", right=lambda x: x > 0)

encoding_option = option(
    "--encoding", default="utf-8", metavar="NAME", section="Reading", help="Encoding of the data."
)


lines_option = option(
    "--lines", is_flag=True, section="Reading", help="Treat every line of a text file as a document."
)


skip_bad_option = option(
    "--skip-bad",
    is_flag=True,
    section="Reading",
    help="Leave out trees with mistakes, and list them, instead of refusing the file.",
)


cell_separator_option = option(
    "--separator",
    section="Reading",
    type=click.Choice(["comma", "tab", "semicolon"]),
    show_default="detected from the first lines",
    help="What separates cells.",
)


def reading_flags() -> list[Any]:
    """How column files are read: the same in every command, but for their encoding, which all files have."""
    section = "Reading"
    return [
        option(
            "--separator",
            type=click.Choice(list(SEPARATORS)),
            default="any",
            section=section,
            help="What separates columns: one tab, one space, or any run of both.",
        ),
        option("--comment", metavar="PREFIX", section=section, help="Skip lines that start with PREFIX."),
    ]


def reading_options(function: Function) -> Function:
    """How files are read."""
    for add in reversed([encoding_option, *reading_flags()]):
        function = add(function)
    return function


decoding_option = option(
    "--decoding",
    type=click.Choice(["viterbi", "mst", MINIMUM_RISK]),
    section="Decoding",
    show_default="viterbi, or mst for parsers",
    help="'viterbi' and 'mst' predict the labelling or tree with the highest score, 'minimum-risk' that with the "
    "fewest expected errors.",
)


def is_minimum_risk(model: str, decoding: str | None, best: str) -> bool:
    """What --decoding asks for, of a model that knows this name for the other choice."""
    if decoding not in (None, best, MINIMUM_RISK):
        raise ParsimonError(
            f"{model} cannot be asked for {decoding}; --decoding is {best} or {MINIMUM_RISK} here."
        )
    return decoding == MINIMUM_RISK


# --- Options of training -----------------------------------------------------------------------------------------

ALL_PROCESSORS = -1


def flags_of(kind: type) -> list[Callable[[Any], Any]]:
    """The flags of a class of options, in the order of its fields."""
    defaults = {each.name: each.default for each in fields(kind)}
    defaults["n_jobs"] = ALL_PROCESSORS
    return [
        flag_of(name, each, defaults[name])
        for name, each in options_of(kind).items()
        if not each.from_python_only
    ]


def flag_of(name: str, described: Option, default: Any) -> Callable[[Any], Any]:
    """A flag, as the description of an option says."""
    flags = described.flags or (f"--{name.replace('_', '-')}",)
    shown: Any = described.shown or default is not None
    settings: dict[str, Any] = {"section": described.section, "help": described.help, "default": default}
    if name == "n_jobs":
        shown = "all processors"
    if described.kind == SWITCH:
        if "/" in flags[0]:  # one way, the other, or neither
            return option(*flags, name, show_default=shown, **settings)
        if default is True:
            flags = (f"{flags[0]}/--no-{flags[0].removeprefix('--')}",)
        return option(*flags, name, is_flag=True, **{**settings, "default": bool(default)})
    if described.choices is not None:
        settings["type"] = click.Choice(described.choices)
    elif described.kind == FILE:
        settings["type"] = click.Path(path_type=Path)
    elif described.kind == INTEGER:
        settings["type"] = _whole_numbers(described)
    elif described.kind in (NUMBER, SIZE):
        settings["type"] = float if described.kind == NUMBER else str
        settings["callback"] = _checked(name, described)
    if described.flag_value is not None:
        settings |= {"is_flag": False, "flag_value": described.flag_value}
    return option(*flags, name, metavar=described.metavar, show_default=shown, **settings)


def _whole_numbers(described: Option) -> click.ParamType[int]:
    if described.least is None and described.most is None:
        return click.INT
    least, most = (None if limit is None else int(limit) for limit in (described.least, described.most))
    return click.IntRange(least, most)


def _checked(name: str, described: Option) -> Callable[..., Any]:
    def check(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        try:
            described.check(name, value)
            return value if value is None or described.kind != SIZE else parse_size(value)
        except ParsimonError as error:
            text = f"{value:g} is not {described.wanted}." if described.kind == NUMBER else str(error)
            raise click.BadParameter(text, ctx, parameter) from None

    return check


threads_option = flag_of("n_jobs", options_of(TrainingOptions)["n_jobs"], ALL_PROCESSORS)


def column_file(source: str, encoding: str, separator: str, comment: str | None) -> ColumnFile:
    """A column file as the reading options say."""
    from parsimon.features.columns import ColumnFile

    return ColumnFile(source, encoding=encoding, separator=SEPARATORS[separator], comment=comment)
