"""What tests of experiments share: experiments are programs, not a package."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports a program by its name; programs find each other in their folder."""
    monkeypatch.syspath_prepend(EXPERIMENTS)
    return import_module
