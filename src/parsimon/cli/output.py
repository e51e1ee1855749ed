"""Where results go: standard output, or a file that nobody sees before it is complete."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import click

from parsimon.characters.printable import json_text, printable
from parsimon.errors import ParsimonError
from parsimon.files import probe, replaced, write_all

Write = Callable[[bytes], None]


@contextmanager
def output(path: str) -> Iterator[Write]:
    """A function that writes bytes to `path` (``-`` is standard output)."""
    if path == "-":
        stdout: Any = sys.stdout  # None when it is closed
        if stdout is None:
            raise ParsimonError("standard output is closed; write to a file with -o.")
        write = _explaining(stdout.buffer, "standard output")
        yield _harmless(write) if _is_terminal(stdout) else write
    elif Path(path).exists() and not Path(path).is_file():  # a device or a named pipe cannot be renamed over
        with _closing(_opened(Path(path), "wb", path)) as stream:
            yield _explaining(stream, path)
    else:
        with _complete_file(Path(os.path.realpath(path)), path) as stream:
            yield _explaining(stream, path)


def recoded(encoding: str) -> Callable[[bytes], bytes]:
    """From UTF-8 to the encoding of the input, part by part: a byte order mark comes once, at the beginning."""
    if encoding == "utf-8":
        return lambda content: content
    encoder = codecs.getincrementalencoder(encoding)()

    def encode(content: bytes) -> bytes:
        try:
            return encoder.encode(content.decode("utf-8"))
        except UnicodeEncodeError as error:
            what = error.object[error.start : error.end]
            raise ParsimonError(
                f"the output has {what!r}, which cannot be written in {encoding}; convert the input to utf-8."
            ) from None

    return encode


@contextmanager
def _complete_file(target: Path, name: str) -> Iterator[IO[bytes]]:
    """A file beside `target` that takes its place at the end, and is gone if anything fails."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(replaced(target))
        except OSError as error:
            raise ParsimonError(f"{name} cannot be written: {error.strerror or error}.") from error
        yield stack.enter_context(_closing(os.fdopen(file, "wb", closefd=False)))


@contextmanager
def _closing(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    """Closes it at the end. Every write was flushed, so only one that failed can fail here again."""
    try:
        yield stream
    finally:
        with suppress(OSError):
            stream.close()


def _opened(path: Path, mode: str, name: str) -> IO[bytes]:
    try:
        return path.open(mode)
    except OSError as error:
        raise ParsimonError(f"{name} cannot be written: {error.strerror or error}.") from error


def _explaining(stream: IO[bytes], name: str) -> Write:
    def write(content: bytes) -> None:
        try:
            write_all(stream, content)
            stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            if stream is sys.stdout.buffer:
                discard_output()
            raise ParsimonError(f"{name} cannot be written: {error.strerror or error}.") from error

    return write


def buffer_output() -> None:
    """Puts a buffer before standard output where PYTHONUNBUFFERED has taken it away.

    Text that goes to an unbuffered stream is lost in silence when the disk is full: it takes a part, and that is that.
    """
    stream: Any = sys.stdout  # None when it is closed
    raw = getattr(stream, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        buffered = io.BufferedWriter(raw)
        sys.stdout = io.TextIOWrapper(buffered, stream.encoding, stream.errors, line_buffering=True)


def _is_terminal(stream: IO[Any]) -> bool:
    return stream.isatty()


def _harmless(write: Write) -> Write:
    """For a terminal: what labels and words have in them is shown, not obeyed. Files and pipes get it as it is."""

    def escaped(content: bytes) -> None:
        # What is not UTF-8 stays as it is, but for bytes that are C1 controls to a terminal of another encoding.
        text = printable(content.decode("utf-8", "surrogateescape"))
        shown = _LONE_C1.sub(lambda found: f"\\x{ord(found[0]) - 0xDC00:02x}", text)
        write(shown.encode("utf-8", "surrogateescape"))

    return escaped


_LONE_C1 = re.compile("[\udc80-\udc9f]")


def show(text: str) -> None:
    """Prints text for people on standard output; nothing in it steers the terminal."""
    click.echo(printable(text), nl=False)


def show_record(record: Any) -> None:
    """Prints a line of JSON on standard output."""
    click.echo(json_text(record))


def discard_output() -> None:
    """Standard output goes nowhere from now on, so that what is still buffered does no harm at the end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def check_writable(path: Path, what: str) -> None:
    """Refuses, before any work, a file that could not be written at the end."""
    if path.exists() and not path.is_file():
        kind = "a directory" if path.is_dir() else "a device"
        raise ParsimonError(f"{what} {path} is {kind}; it must be a file.")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise ParsimonError(
            f"{what} {path} cannot be written: there is no directory {folder}; make it first."
        )
    try:
        probe(path)
    except OSError as error:
        raise ParsimonError(f"{what} {path} cannot be written: {error.strerror or error}.") from error
