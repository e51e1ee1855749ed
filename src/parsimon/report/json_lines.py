"""The training log: one JSON object a line, there as soon as it happened."""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsimon.errors import ParsimonError
from parsimon.files import write_to
from parsimon.tasks.model_file import jsonable

if TYPE_CHECKING:
    from parsimon.solvers.base import Event


class JsonLines:
    """Writes training events to a file.

    The first line must succeed. If a later one cannot be written (a full disk), `failure` says why and the
    log ends there: a log is not worth losing a training run for.
    """

    def __init__(self, path: str | Path, *, append: bool = False) -> None:
        self.path = Path(path)
        self.failure: str | None = None
        try:
            self._file = self.path.open("ab" if append else "wb", buffering=0)
            if append and self._broken_off():
                write_to(self._file.fileno(), b"\n")
        except OSError as error:
            raise ParsimonError(f"the log {path} cannot be written: {error.strerror or error}.") from error

    def _broken_off(self) -> bool:
        """Whether the run before was killed in the middle of a line."""
        if not self.path.is_file() or self.path.stat().st_size == 0:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) != b"\n"

    def start(self, **record: Any) -> None:
        """The first line: what is about to happen."""
        try:
            self._append(_line({"event": "start", **record}))
        except OSError as error:
            self._file.close()
            raise ParsimonError(
                f"the log {self.path} cannot be written: {error.strerror or error}."
            ) from error

    def __call__(self, event: Event) -> None:
        """A line for a training event."""
        self._write({"event": "iteration", **asdict(event)})

    def end(self, **record: Any) -> None:
        """The last line: what came of it."""
        self._write({"event": "end", **record})

    def _write(self, record: dict[str, Any]) -> None:
        if self.failure is not None:
            return
        try:
            self._append(_line(record))
        except OSError as error:
            self.failure = error.strerror or str(error)

    def _append(self, line: bytes) -> None:
        """A whole line, or nothing."""
        file = self._file.fileno()
        before = os.lseek(file, 0, os.SEEK_END) if stat.S_ISREG(os.fstat(file).st_mode) else None
        try:
            write_to(file, line)
        except OSError:
            if before is not None:
                with suppress(OSError):
                    os.ftruncate(file, before)
            raise

    def close(self) -> None:
        """No more lines."""
        self._file.close()


def _line(record: dict[str, Any]) -> bytes:
    return (json.dumps(jsonable(record), ensure_ascii=False) + "\n").encode()
