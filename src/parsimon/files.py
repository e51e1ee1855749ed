"""Writing files and streams: all of the content, or an error."""

from __future__ import annotations

import errno
import io
import os
import secrets
from pathlib import Path
from typing import IO, Any

from parsimon.errors import ParsimonError


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


def write_all(stream: IO[bytes], content: bytes) -> None:
    """Writes all of the content. An unbuffered stream may take only a part at a time, and does not call it an error."""
    rest = memoryview(content)
    while rest:
        taken: Any = stream.write(rest)
        if taken is None and isinstance(stream, io.RawIOBase):  # others may return nothing
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        rest = rest[len(rest) if taken is None else taken :]
