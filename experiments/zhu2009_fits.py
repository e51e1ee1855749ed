"""Fits of the experiments on max-margin Markov networks: how they are asked for, and what came of them in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from results import percent

Constants = tuple[float, ...]
Grid = list[Constants]
TITLES = {"LapM3N, EM": "LapM3N", "cutting plane": "L1-M3N", "EM": "L1-M3N"}


def alone(*strengths: float) -> Grid:
    """A constant at a time."""
    return [(strength,) for strength in strengths]


def fits(
    data: dict[str, Any], method: str, grid: Sequence[Any], folds: Iterable[int], **more: Any
) -> dict[str, Any]:
    """The settings of a job."""
    return {"data": data, "method": method, "grid": [list(one) for one in grid], "folds": list(folds), **more}


def line_of(told: dict[str, Any]) -> str:
    """An outcome in a line: of fits, the mean errors by constants."""
    if "fits" not in told:
        return ", ".join(f"{name} {value:.4g}" for name, value in told.items() if isinstance(value, float))
    errors = " ".join(percent(mean_of(of, "error")) for of in told["fits"])
    seconds = sum(fit["seconds"] for of in told["fits"] for fit in of)
    return f"error {errors} % ({sum(map(len, told['fits']))} fits in {seconds:.1f} s)"


def values_of(told: Iterable[dict[str, Any]], of: str) -> list[float]:
    """As far as there are any."""
    return [one[of] for one in told if one.get(of) is not None]


def mean_of(told: Iterable[dict[str, Any]], of: str) -> float | None:
    """The mean, or None if there is nothing to average."""
    values = values_of(told, of)
    return float(np.mean(values)) if values else None


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation, in per cent."""
    return f"{percent(float(np.mean(values)))} ± {percent(float(np.std(values)))}" if len(values) else "–"


def told_constants(constants: Sequence[float] | None) -> str:
    """A strength, or a strength and λ."""
    if constants is None or not constants:
        return "–"
    return f"{constants[0]:g}" if len(constants) == 1 else f"{constants[0]:g} (λ = {constants[1]:g})"


def chosen_by(told: dict[str, Any] | None, grid: Grid) -> Constants | None:
    """The constants with the lowest mean error; the first of equals."""
    if told is None:
        return None
    return grid[int(np.argmin([mean_of(of, "error") for of in told["fits"]]))]


def decimal(value: float | None) -> str:
    """A mean of counts."""
    return "–" if value is None else f"{value:,.1f}"


def seconds_of(value: float | None) -> str:
    """For people."""
    return "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def objective_of(value: float | None) -> str:
    """With two digits after the point."""
    return "–" if value is None else f"{value:,.2f}"
