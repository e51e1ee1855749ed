"""Reading with limits, so that a hostile file cannot take all memory, and atomic writing."""

from __future__ import annotations

import errno
import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from parsimon.errors import ParsimonError
from parsimon.memory import format_size

BLOCK = 1 << 21  # bytes read at a time
LONGEST_LINE = 64 << 20  # bytes
LARGEST_WHOLE = 256 << 20  # bytes of what has no lines to speak of: a web page, a sequence


def bounded_lines(blocks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The blocks as they are, in a file without a line that is too long: a bomb or no text at all is refused early."""
    lines, length = 1, 0
    for block in blocks:
        first = block.find(b"\n")
        length += len(block) if first < 0 else first
        if length > LONGEST_LINE:
            raise ParsimonError(
                f"{name}, line {lines}: the line is longer than {format_size(LONGEST_LINE)}; is this a text file?"
            )
        if first >= 0:
            lines += block.count(b"\n")
            length = len(block) - block.rfind(b"\n") - 1
        yield block


def bounded_whole(blocks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The blocks as they are, which are not too much in all."""
    size = 0
    for block in blocks:
        size += len(block)
        if size > LARGEST_WHOLE:
            raise ParsimonError(
                f"{name} is larger than {format_size(LARGEST_WHOLE)}, which is too much for one page."
            )
        yield block


def blocks_of(stream: IO[bytes]) -> Iterator[bytes]:
    """What a stream has, block by block."""
    while block := stream.read(BLOCK):
        yield block


def read_text_file(source: str | os.PathLike[str]) -> bytes:
    """The bytes of a text file (``-`` is standard input), none of whose lines is too long."""
    if str(source) == "-":
        return b"".join(bounded_lines(blocks_of(sys.stdin.buffer), "standard input"))
    with Path(source).open("rb") as stream:
        return b"".join(bounded_lines(blocks_of(stream), os.fspath(source)))


def read_page_file(source: str | os.PathLike[str]) -> bytes:
    """The bytes of a web page (``-`` is standard input), which is not too large."""
    if str(source) == "-":
        return b"".join(bounded_whole(blocks_of(sys.stdin.buffer), "standard input"))
    with Path(source).open("rb") as stream:
        return b"".join(bounded_whole(blocks_of(stream), os.fspath(source)))


def write_atomically(path: Path, content: bytes) -> None:
    """Write a temporary file next to `path` and rename it. A failure leaves `path` unchanged and no temporary file."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is not a regular file")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_file(path: Path, content: bytes) -> None:
    """Like `write_atomically`, but a failure raises a `ParsimonError`."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise ParsimonError(
            f"{path} cannot be written: {error.strerror or error}; nothing was changed."
        ) from error
