"""SIGKILL at random moments of training and saving loses nothing (kills.py runs more of them)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NUMBER = int(os.environ.get("PARSIMON_KILLS", "9"))  # one for every job


@pytest.mark.kills
def test_kills_lose_nothing() -> None:
    paths = os.pathsep.join([str(HERE), str(HERE / "cli")])
    done = subprocess.run(
        [sys.executable, str(HERE / "kills.py"), "--kills", str(NUMBER)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=60 + 30 * NUMBER,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found.pop("kills"), found.pop("lost")) == (NUMBER, [])
    assert sum(found.values()) == NUMBER
