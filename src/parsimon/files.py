"""Files that are read within limits, and written whole or not at all, whatever happens meanwhile.

The content goes into a hidden temporary file next to the file, which then takes its place in one step. So at every
moment, also after a kill or a crash of the machine, the file is the old one or the new one.

A writer holds a lock on its temporary file. What a killed one has left behind is not locked, and so the next writer of
the same file removes it.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from parsimon.errors import ParsimonError
from parsimon.memory import format_size

BLOCK = 1 << 19  # bytes read at a time; what is made of as many fits into a processor's cache
LONGEST_LINE = 64 << 20  # bytes
LARGEST_WHOLE = 256 << 20  # bytes of what has no lines to speak of: a web page, a sequence


def bounded_lines(blocks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The blocks as they are, in a file without a line that is too long: a bomb or no text at all is refused early."""
    from parsimon._core import count_lines

    lines, length = 1, 0
    for block in blocks:
        first = block.find(b"\n")
        length += len(block) if first < 0 else first
        if length > LONGEST_LINE:
            raise ParsimonError(
                f"{name}, line {lines}: the line is longer than {format_size(LONGEST_LINE)}; is this a text file?"
            )
        if first >= 0:
            lines += count_lines(block)
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


LONGEST = 100  # letters of a name within that of its temporary file; file systems allow 255 bytes
RANDOM = re.compile(r"[0-9a-f]{8}\.tmp")


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces a file, or makes it. A failure leaves it unchanged and no temporary file."""
    with replaced(path) as file:
        write_to(file, content)


@contextmanager
def replaced(path: Path) -> Iterator[int]:
    """A descriptor to write to; what was written takes the place of a file at the end, unless anything fails.

    A link stays one: what it points to is replaced. The new file has the owner and the permissions of the old one.
    """
    target = Path(os.path.realpath(path))
    before = _regular(target)
    _remove_left_behind(target)
    temporary, file = _opened(target, 0o666 if before is None else 0o600)
    try:
        if before is not None:
            _take_over(file, before)
        yield file
        os.fsync(file)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    finally:
        with suppress(OSError):  # everything was synchronised
            os.close(file)
    _sync_folder(target.parent)


def write_file(path: Path, content: bytes) -> None:
    """Like `write_atomically`, but a failure raises a `ParsimonError`."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise ParsimonError(
            f"{path} cannot be written: {error.strerror or error}; nothing was changed."
        ) from error


def write_to(file: int, content: bytes) -> None:
    """Writes everything; the system may take less at a time than it is given."""
    left = memoryview(content)
    while left:
        try:
            written = os.write(file, left)
        except InterruptedError:
            continue
        if not written:
            raise OSError(errno.EIO, "nothing could be written")
        left = left[written:]


def _regular(target: Path) -> os.stat_result | None:
    """What there is at the moment; None for nothing. What is no file is not replaced."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    return found


def probe(path: Path) -> None:
    """Raises an `OSError` if a file could not be replaced or made here."""
    target = Path(os.path.realpath(path))
    temporary, file = _opened(target, 0o600)
    os.close(file)
    temporary.unlink(missing_ok=True)


def _opened(target: Path, mode: int) -> tuple[Path, int]:
    """A new temporary file that is locked."""
    while True:
        temporary = target.with_name(f"{_prefix(target)}{os.urandom(4).hex()}.tmp")
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)
        _lock(file, wait=True)
        if os.fstat(file).st_nlink:
            return temporary, file
        os.close(file)  # another writer took it for left behind before it was locked


def _prefix(target: Path) -> str:
    return f".{target.name[:LONGEST]}."


def _take_over(file: int, before: os.stat_result) -> None:
    """Gives a file the owner and the permissions of another, as far as we may; until then nobody else can read it."""
    now = os.fstat(file)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with suppress(OSError):
            os.chown(file, before.st_uid, before.st_gid)
    with suppress(OSError):  # a file system without permissions
        os.chmod(file, stat.S_IMODE(before.st_mode))


def _remove_left_behind(target: Path) -> None:
    """Removes temporary files of the same file whose writers were killed: those that nobody has locked."""
    prefix = _prefix(target)
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and RANDOM.fullmatch(entry.name[len(prefix) :]):
                with suppress(OSError):
                    _remove_if_unlocked(entry.path)


def _remove_if_unlocked(path: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | getattr(os, "O_CLOEXEC", 0))
    try:
        if _lock(file, wait=False):
            os.unlink(path)
    finally:
        os.close(file)


def _lock(file: int, *, wait: bool) -> bool:
    """Locks a file until it is closed; False if someone else has, or if there are no locks here."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Makes a new name last through a crash of the machine, where folders can be synchronised."""
    with suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def write_all(stream: IO[bytes], content: bytes) -> None:
    """Writes all of the content. An unbuffered stream may take only a part at a time, and does not call it an error."""
    rest = memoryview(content)
    while rest:
        taken: Any = stream.write(rest)
        if taken is None and isinstance(stream, io.RawIOBase):  # others may return nothing
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        rest = rest[len(rest) if taken is None else taken :]
