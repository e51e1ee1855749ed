"""Another build of the compiled core for everything that runs: the file named by PARSIMON_TEST_CORE, if there is one.

`make sanitize` has the test-suite run with a core that has sanitisers in it: `pytest -p other_core`.
"""

from __future__ import annotations

import importlib.util
import os
import sys

NAME = "parsimon._core"


def use(path: str) -> None:
    """Takes the core from that file."""
    import parsimon

    assert NAME not in sys.modules, "the core is there already"
    spec = importlib.util.spec_from_file_location(NAME, path)
    assert spec is not None
    assert spec.loader is not None
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    sys.modules[NAME] = core
    parsimon._core = core  # type: ignore[attr-defined]


if path := os.environ.get("PARSIMON_TEST_CORE"):
    use(path)
