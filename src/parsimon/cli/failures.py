"""What can go wrong, as one sentence on standard error and an exit code; never a traceback for a user's mistake."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import click

from parsimon.cli.output import discard_output
from parsimon.errors import ParsimonError

MISTAKE = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
BROKEN_PIPE = 141  # 128 + SIGPIPE


class Failure(click.ClickException):
    """The end of a command: a sentence (or none) and an exit code."""

    def __init__(self, message: str, exit_code: int = MISTAKE) -> None:
        super().__init__(message)
        self.exit_code = exit_code

    def show(self, file: IO[Any] | None = None) -> None:
        """Prints the sentence on standard error."""
        if self.message:
            say(self.message)


def say(sentence: str) -> None:
    """A sentence for people, on standard error."""
    click.echo(f"parsimon: {sentence.rstrip('.')}.", err=True)


class Program(click.Group):
    """The group of all commands, which turns whatever they raise into a sentence and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command that was asked for."""
        with explained():
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Parses the command line, runs it and exits."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **extra)
        with suppress(AttributeError):  # a name that the terminal cannot show is escaped
            sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        try:
            with explained():
                result = super().main(*args, standalone_mode=False, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(MISTAKE)
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
def explained() -> Iterator[None]:
    """Within it, every mistake, and every failure of the machine, becomes a `Failure`."""
    try:
        yield
    except ParsimonError as error:
        raise Failure(str(error)) from error
    except (KeyboardInterrupt, click.Abort):
        raise Failure("interrupted", INTERRUPTED) from None
    except BrokenPipeError:  # whoever read our output has had enough: that is no failure worth a word
        discard_output()
        raise Failure("", BROKEN_PIPE) from None
    except OSError as error:
        discard_output()
        name = error.filename if error.filename is not None else "the output"
        raise Failure(f"{os.fsdecode(name)}: {error.strerror or error}") from error
    except MemoryError as error:
        raise Failure("there is not enough memory for this; try --candidates seen, --cutoff 2 or fewer templates") from error
