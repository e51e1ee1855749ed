"""How much of the experiments on max-margin Markov networks is run, and on which data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from program import Request
from zhu2009_fits import Grid, line_of

SCALE = 1.0  # of the generating weights, which the paper does not give


@dataclass(frozen=True)
class Plan:
    """How much is run."""

    sequences: int = 1000
    sets: int = 10
    parts: tuple[int, ...] = (20, 10, 7, 5, 4)  # one of these to learn from
    parts_of_first: int = 10  # where only the first set is looked at
    tuned_on: int = 3  # folds of the eleventh set
    words: tuple[int, ...] = (100, 150, 200, 250)
    folds: int = 10
    folds_of_planes: int = 2  # in figure 6, for the cutting plane
    folds_of_nine: int = 10  # where nine folds are learnt from
    words_of_nine: tuple[int, ...] = (100, 150, 200, 250)
    every: int = 1  # of the constants in a grid
    limit: float = 60.0  # seconds for a fit where constants are chosen
    race: float = 100.0  # and for a solver in the race
    race_words: int | None = None


SMALL = Plan(
    sequences=60,
    sets=2,
    parts=(6, 3),
    parts_of_first=3,
    tuned_on=1,
    words=(6, 8),
    folds=2,
    folds_of_planes=1,
    folds_of_nine=1,
    words_of_nine=(6, 8),
    every=5,
    limit=5.0,
    race=1.0,
    race_words=8,
)


@dataclass(frozen=True)
class Asked(Request[Plan]):
    """What was asked for on the command line."""

    scale: float = SCALE
    nine: bool = False

    def line(self, job: str, settings: dict[str, Any], told: dict[str, Any]) -> str:
        """Of fits, the mean errors by constants."""
        return f"{settings.get('data', settings)} {settings.get('method', job)}: {line_of(told)}"

    def made(self, seed: int, parts: int) -> dict[str, Any]:
        """A synthetic set, in so many parts."""
        return {"name": "synthetic", "parts": parts, **self.drawn(seed)}

    def drawn(self, seed: int) -> dict[str, Any]:
        """How a synthetic set is made."""
        return {"seed": seed, "scale": self.scale, "sequences": self.plan.sequences}

    def drawn_words(self, words: int) -> dict[str, Any]:
        """So many words of every fold."""
        return {"name": "ocr", "words": words, "nine": self.nine}

    def grid(self, constants: Grid) -> Grid:
        """All of it, or less to try things out."""
        return constants[:: self.plan.every]

    def strengths(self, all_of_them: Sequence[float]) -> list[float]:
        """Likewise."""
        return list(all_of_them[:: self.plan.every])
