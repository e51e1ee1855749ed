"""Commands that run on their own while a test looks on."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


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
