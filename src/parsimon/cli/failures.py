"""What can go wrong: one sentence on standard error and an exit code, and no traceback."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

import click

from parsimon.characters.printable import one_line, printable, shortened
from parsimon.cli.output import buffer_output, discard_output
from parsimon.errors import ParsimonError

LONGEST_SENTENCE = 2000  # characters; some speak of a line of the input

# A group without a command: its help is shown. Older versions of click have no exception for it.
NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())


class Failure(click.ClickException):
    """The end of a command: a sentence (or none) and an exit code."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Prints the sentence on standard error."""
        if self.message:
            say(self.message)


class Interrupted(Failure):
    """Ctrl-C."""

    exit_code = 128 + 2  # as shells have it: SIGINT is 2


class PipeClosed(Failure):
    """Whoever read our output has had enough, which is not worth a word."""

    exit_code = 128 + 13  # SIGPIPE is 13


def say(sentence: str) -> None:
    """A sentence for people, on standard error; nothing in it steers the terminal."""
    sentence = printable(shortened(sentence, LONGEST_SENTENCE))
    end = "" if sentence.endswith((".", "?")) else "."
    click.echo(f"parsimon: {sentence}{end}", err=True)


def say_unknown(name: str, n: int, what: str, labels: Sequence[str]) -> None:
    """Says that labels in a file, which so many tokens or documents (`what`) have, are not known to the model."""
    if labels:
        some = ", ".join(map(one_line, labels[:5])) + (", …" if len(labels) > 5 else "")
        say(
            f"{one_line(name)} has {n:,} {what}{'s' * (n != 1)} with a label that the model does not know ({some}); "
            f"{'they count' if n != 1 else 'it counts'} as wrong"
        )


class Program(click.Group):
    """The group of all commands, which turns whatever they raise into a sentence and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they are used, not that of the alphabet."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command that was asked for."""
        with explained(), warnings_as_sentences():
            result = super().invoke(ctx)
            print(end="", flush=True)  # what fails, fails here and not when the interpreter ends
            return result

    def main(self, *args: Any, **extra: Any) -> Any:
        """Parses the command line, runs it and exits."""
        extra["standalone_mode"] = False  # or click would print and exit in its own way
        buffer_output()
        with suppress(AttributeError):  # a name that the terminal cannot show is escaped
            sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        try:
            with explained():
                result = super().main(*args, **extra)
        except NO_ARGUMENTS as error:
            error.show()
            sys.exit(error.exit_code)
        except click.UsageError as error:
            say(error.format_message())
            if error.ctx is not None:
                click.echo(f"Try '{error.ctx.command_path} --help'.", err=True)
            sys.exit(error.exit_code)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        sys.exit(result if isinstance(result, int) else 0)


@contextmanager
def warnings_as_sentences() -> Iterator[None]:
    """Within it, a warning is a sentence for people, without the line of source that Python adds."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: say(str(message))
        yield


@contextmanager
def explained() -> Iterator[None]:
    """Within it, every mistake, and every failure of the machine, becomes a `Failure`."""
    try:
        yield
    except ParsimonError as error:
        raise Failure(one_line(str(error))) from error
    except (KeyboardInterrupt, click.Abort):
        raise Interrupted("interrupted") from None
    except BrokenPipeError:
        discard_output()
        raise PipeClosed("") from None
    except OSError as error:
        discard_output()
        what = "the output cannot be written" if error.filename is None else os.fsdecode(error.filename)
        raise Failure(one_line(f"{what}: {error.strerror or error}")) from error
    except MemoryError as error:
        raise Failure(
            "there is not enough memory for this; try --candidates seen, --cutoff 2 or fewer templates"
        ) from error
