"""What all tests share: settings of hypothesis, Ctrl-C, and skipping tests whose data set is missing."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every run and machine, and no result that depends on the speed of the machine.
settings.register_profile(
    "parsimon",
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("parsimon")

# Processes started in the background ignore Ctrl-C, and the commands under test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def require_data(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """`require_data("conll2000")` skips a test (marked `data`) when that set is not on this machine."""
    if request.node.get_closest_marker("data") is None:
        pytest.fail("a test that needs a data set must be marked with pytest.mark.data")

    def require(name: str) -> None:
        from parsimon.data.registry import is_available

        if not is_available(name):
            pytest.skip(f"the data set {name} is not here; set PARSIMON_DATA to the folder that has {name}/")

    return require
