"""Writing a file so that nobody ever sees half of it."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

from parsimon.errors import ParsimonError


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside `path`, then rename over it; a failure leaves `path` as it was, and nothing beside it."""
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


def write_atomically_or_explain(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all; a failure is said in one sentence."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise ParsimonError(
            f"{path} cannot be written: {error.strerror or error}; nothing was changed."
        ) from error
