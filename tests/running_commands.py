"""Commands that run on their own while a test looks on, or on a disk that is full."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[Any]) -> None:
    """Until it holds; the command must not end before that."""
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, "training ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def lines_in(path: Path) -> int:
    """How many lines a file has; none if it is not there yet."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def fill_the_disk(patch: pytest.MonkeyPatch) -> None:
    """Nothing but checkpoints can be written."""

    def write(path: Path, content: bytes) -> None:
        if not str(path).endswith(".ckpt"):
            raise OSError(28, "No space left on device")
        path.write_bytes(content)

    patch.setattr("parsimon.files.write_atomically", write)
