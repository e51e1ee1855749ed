"""Steps from siblings: where labels depend on that of the sibling before, instead of the parent's or also."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from parsimon.data.parents import attach_to_siblings
from parsimon.errors import ParsimonError
from parsimon.features.observations import Observations
from parsimon.features.templates import TemplateSet


def instead(observations: Observations, beside: int) -> Observations:
    """Every node but first children and roots has its step from the sibling before, not from the parent.

    Attributes of steps from number `beside` on are about siblings, those before it about parents and children.
    """
    links = observations.links
    assert links is not None
    parent, to_sibling = attach_to_siblings(links.parent)
    pair = observations.pair
    fitting = (pair.index >= beside) == to_sibling[pair.owner]
    return replace(observations, pair=pair.where(fitting), links=replace(links, parent=parent))


def also(observations: Observations, beside: int) -> Observations:
    """There is a second step into each node, from the sibling before."""
    return replace(observations, beside=beside)


SIBLINGS: dict[str, Callable[[Observations, int], Observations]] = {"instead": instead, "also": also}


def check_siblings(siblings: str | None, templates: TemplateSet) -> None:
    """Refuses what is none of them, and templates about siblings where labels do not depend on theirs."""
    if siblings is not None and siblings not in SIBLINGS:
        raise ParsimonError(f"siblings must be None, 'instead' or 'also', not {siblings!r}.")
    strange = [t.source for t in templates if t.kind == "sibling"]
    if siblings is None and strange:
        raise ParsimonError(
            f"template {strange[0]!r} is about labels of siblings, on which labels only depend in trees with "
            "siblings='instead' or 'also'; start it with U, B or *."
        )
