"""Small networks to be found again, and what `MarkovNetwork` finds."""

from __future__ import annotations

from functools import cache
from typing import Any

from parsimon import MarkovNetwork
from parsimon.data import make_network


def pairs(made: Any) -> list[tuple[str, str]]:
    return [(f"x{u}", f"x{v}") for u, v in made.edges]


@cache
def chain() -> Any:
    return make_network("chain", 6, 1500, coupling=0.6, field=0.3, random_state=1)


@cache
def potts() -> Any:
    return make_network("chain", 4, 1500, coupling=0.8, field=0.3, n_states=3, random_state=2)


@cache
def fitted(loss: str = "pseudo-likelihood", inference: str = "exact", which: str = "chain") -> MarkovNetwork:
    return MarkovNetwork(5.0, loss=loss, inference=inference).fit({"chain": chain, "potts": potts}[which]().X)
