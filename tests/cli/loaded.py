"""What a command imports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence


def loaded_by(arguments: Sequence[str]) -> set[str]:
    """The modules that a command has imported when it ends."""
    script = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from parsimon.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())
