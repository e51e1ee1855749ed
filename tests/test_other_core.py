"""Another build of the core can take the place of the usual one; `make sanitize` needs that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from parsimon import _core

SHOW = """
import other_core
from parsimon import _core
import parsimon.structures.chain as chain
assert chain._core is _core
print(_core.__file__)
"""


def test_the_core_of_another_file_is_used(tmp_path: Path) -> None:
    copy = tmp_path / Path(str(_core.__file__)).name
    shutil.copy(str(_core.__file__), copy)
    for path in (str(copy), ""):
        environment = {**os.environ, "PARSIMON_TEST_CORE": path, "PYTHONPATH": str(Path(__file__).parent)}
        shown = subprocess.run(
            [sys.executable, "-c", SHOW], env=environment, capture_output=True, text=True, check=True
        )
        assert shown.stdout.strip() == (path or _core.__file__)
