"""Labels straight from what templates see, without attributes in between: Φw in prediction.

The weights of a model are laid out by what templates see (`core/input/template_weights.hpp`), so that one look-up
gives those of several templates. Where all steps of a chain are scored alike, scores and the recursion go sequence by
sequence (`core/chains/labelling_body.hpp`); everything else takes the scores of tokens from here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from parsimon._core import LabelStep, TemplateWeights
from parsimon.arrays import Array, IntArray
from parsimon.designs.feature_index import FeatureIndex
from parsimon.features.observations import Observations
from parsimon.features.seen import Seen, SeenRows
from parsimon.features.space import NumberedFeatures
from parsimon.features.template_features import TemplateFeatures
from parsimon.magnitudes import LARGEST_SCORE
from parsimon.structures.label_schemes import Transitions
from parsimon.structures.workspace import Workspace


class TemplateScores:
    """The weights of templates, for one model."""

    def __init__(self, space: TemplateFeatures, index: FeatureIndex, weights: Array) -> None:
        node, pair = (expansion for expansion in space.expansions)
        cut = index.node.n_features
        self.compiled = TemplateWeights(node.extractor, index.node, weights[:cut])
        # Nothing that steps look at makes a difference between them.
        same = index.tags is None and len(space.constant()[1]) == pair.n_attributes
        self._pair = _matrix(index, weights[cut:]) if same else None
        self._steps: list[tuple[Transitions | None, LabelStep]] = []

    @classmethod
    def of(cls, space: NumberedFeatures, index: FeatureIndex, weights: Array) -> TemplateScores | None:
        """None for other features than those of templates, and where scores might be too large or no numbers."""
        if not isinstance(space, TemplateFeatures) or not np.isfinite(weights).all():
            return None
        scores = cls(space, index, weights)
        return scores if scores.compiled.largest <= LARGEST_SCORE else None

    def of_tokens(self, seen: Seen, threads: int, workspace: Workspace) -> Array:
        """Scores, tokens × labels."""
        out = workspace.array("scores", seen.inputs.shape[1], self.compiled.n_labels)
        self.compiled.scores(*seen.arrays, out, threads)
        return out

    def step(
        self,
        observations: Observations,
        allowed: Transitions | None,
        meaning: Callable[[Transitions | None], Transitions | None],
    ) -> LabelStep | None:
        """What all steps are scored by; None where they differ, for trees and for second-order chains.

        `meaning` says what is allowed of labels; it is only asked about what was not asked for last time.
        """
        if self._pair is None or observations.links is not None:
            return None
        for known, step in self._steps:
            if known is allowed:
                return step
        pair, first, last = self._pair, np.zeros(len(self._pair)), np.zeros(len(self._pair))
        possible = meaning(allowed)
        if possible is not None:
            pair = np.where(possible.pair, pair, -np.inf)
            first[~possible.start] = -np.inf
            last[~possible.end] = -np.inf
        step = LabelStep(pair, first, last)
        self._steps = [(allowed, step)]
        return step

    def labels(self, step: LabelStep, seen: Seen, given: IntArray | None, threads: int) -> IntArray | None:
        """The labels of the best sequences; None if some sequence has none."""
        labels = np.empty(seen.inputs.shape[1], np.int32)
        found = step.labels(self.compiled, *seen.arrays, _numbers(given), labels, threads)
        return labels if found else None

    def marginals(
        self, step: LabelStep, seen: Seen, given: IntArray | None, threads: int
    ) -> tuple[Array, Array] | None:
        """P(label | sequence) of every token, and log Z of every sequence; None if some sequence has no labels."""
        out = np.empty((seen.inputs.shape[1], self.compiled.n_labels))
        log_z = np.empty(len(seen.offsets) - 1)
        found = step.marginals(self.compiled, *seen.arrays, _numbers(given), out, log_z, threads)
        return (out, log_z) if found else None


def seen_by_templates(observations: Observations) -> Seen | None:
    """What templates see, if these observations are that."""
    return observations.node.seen if isinstance(observations.node, SeenRows) else None


def _numbers(given: IntArray | None) -> IntArray | None:
    return None if given is None else np.ascontiguousarray(given, np.int32)


def _matrix(index: FeatureIndex, weights: Array) -> Array:
    """Σ of weights of label pairs, where every attribute fires on every step."""
    pair = np.zeros(index.n_labels**2)
    _, column = index.pair.describe(np.arange(index.pair.n_features, dtype=np.int64))
    np.add.at(pair, column, weights)
    return pair.reshape(index.n_labels, index.n_labels)
