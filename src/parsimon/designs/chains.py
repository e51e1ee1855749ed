"""From observations to the design and the structure of sequences and trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from parsimon._core import LinearMap, distinct_rows
from parsimon.arrays import Array
from parsimon.designs.feature_index import FeatureIndex
from parsimon.designs.pairs import ChainDesign, Forbidden, PairDesign, SiblingDesign, TreeDesign
from parsimon.features.observations import Observations, Rows
from parsimon.structures.chain import Chain
from parsimon.structures.label_schemes import Transitions
from parsimon.structures.workspace import Workspace

if TYPE_CHECKING:
    from parsimon.designs.second_order import SecondOrderDesign
    from parsimon.structures.tree import Tree


def build_chain(
    observations: Observations,
    index: FeatureIndex,
    *,
    weights: Array | None = None,
    allowed: Transitions | None = None,
    threads: int = 1,
    workspace: Workspace | None = None,
    scored: bool = False,
) -> tuple[PairDesign | SecondOrderDesign, Chain]:
    """The design and the structure of a batch of sequences, or of trees where observations have links.

    `allowed` says which labels may follow each other or, where steps come from siblings too, be below each other. With
    `scored`, scores of tokens come from elsewhere, and the design has no attributes of tokens.
    """
    if scored:
        observations = replace(observations, node=Rows.identical(observations.n_tokens, 0))
    if index.tags is not None:
        from parsimon.designs.second_order import build_second_order

        return build_second_order(
            observations, index, weights=weights, allowed=allowed, threads=threads, workspace=workspace
        )
    rows, _ = observations.steps
    start, attributes, value, step_row = distinct_rows(rows.start, rows.index, rows.value)
    if len(start) == 1:  # no token, so no step; a chain has at least one kind of them
        start = np.zeros(2, np.int64)
    node = LinearMap(observations.node.start, observations.node.index, observations.node.value, index.node)
    steps = LinearMap(start, attributes, value, index.pair)
    shared: dict[str, Any] = {"threads": threads, "workspace": workspace}
    if observations.first_sibling is not None:
        from parsimon.structures.sibling_tree import SiblingTree

        design: PairDesign = SiblingDesign.build(index.n_labels, node, steps, step_row, **shared)
        possible = None if allowed is None else np.concatenate([allowed.start[None], allowed.pair])
        return design, _tree(
            partial(SiblingTree, possible=possible), observations, design, weights=weights, **shared
        )
    forbidden = None if allowed is None else Forbidden.of(allowed, observations.lengths)
    kind = ChainDesign if observations.links is None else TreeDesign
    design = kind.build(index.n_labels, node, steps, step_row, forbidden=forbidden, **shared)
    if observations.links is not None:
        from parsimon.structures.tree import Tree

        return design, _tree(Tree, observations, design, weights=weights, **shared)
    return design, Chain(
        observations.lengths, index.n_labels, layout=design.layout, weights=weights, **shared
    )


def _tree(kind: Callable[..., Tree], observations: Observations, design: PairDesign, **shared: Any) -> Tree:
    links = observations.links
    assert links is not None
    limits = {"node_kind": links.node_kind, "allowed": links.allowed}
    return kind(observations.lengths, links.parent, design.n_labels, layout=design.layout, **limits, **shared)


def width(observations: Observations, index: FeatureIndex, allowed: Transitions | None) -> int:
    """How many numbers a token takes up while a structure is at work on it."""
    if index.tags is not None:
        return index.node.width + index.tags.pairs.n_labels
    if observations.first_sibling is None:
        return index.n_labels
    if allowed is None:
        return index.n_labels * (index.n_labels + 1)
    return int(allowed.start.sum() + allowed.pair.sum())
