"""Sibling steps: labels that depend on that of the previous sibling, instead of or in addition to the parent's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from parsimon.data.parents import attach_to_siblings
from parsimon.errors import ParsimonError
from parsimon.features.observations import Observations
from parsimon.features.templates import TemplateSet


def instead(observations: Observations, first_sibling: int) -> Observations:
    """Replace the step from the parent by one from the previous sibling, except for first children and roots.

    Step attributes from number `first_sibling` on belong to siblings, those below it to parents and children.
    """
    links = observations.links
    assert links is not None
    parent, to_sibling = attach_to_siblings(links.parent)
    pair = observations.pair
    fitting = (pair.index >= first_sibling) == to_sibling[pair.owner]
    return replace(observations, pair=pair.where(fitting), links=replace(links, parent=parent))


def also(observations: Observations, first_sibling: int) -> Observations:
    """Add a second step into each node, from the previous sibling."""
    return replace(observations, first_sibling=first_sibling)


SIBLINGS: dict[str, Callable[[Observations, int], Observations]] = {"instead": instead, "also": also}


def check_siblings(siblings: Any, templates: TemplateSet) -> None:
    """Check `siblings`, and that there are templates for siblings only if labels depend on siblings."""
    if siblings is not None and not (isinstance(siblings, str) and siblings in SIBLINGS):
        raise ParsimonError(f"siblings must be None, 'instead' or 'also', not {siblings!r}.")
    unusable = [t.source for t in templates if t.kind == "sibling"]
    if siblings is None and unusable:
        raise ParsimonError(
            f"template {unusable[0]!r} is for the labels of siblings, but labels depend on siblings only in trees with "
            "siblings='instead' or 'also'; start it with U, B or *."
        )
