"""The serial share and the speed-up in the tables of growth are Amdahl's."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest


@pytest.mark.parametrize("share", [0.0, 0.04, 0.3, 1.0])
@pytest.mark.parametrize("threads", [2, 8])
def test_the_serial_share_is_found_from_two_times(
    share: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    growth = import_module("growth")
    one = 7.0
    many = one * (share + (1 - share) / threads)
    assert growth.serial_share(one, many, threads) == pytest.approx(share, abs=1e-12)
    assert growth.speed_up(share, threads) == pytest.approx(one / many)
