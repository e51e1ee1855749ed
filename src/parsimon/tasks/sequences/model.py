"""A fitted sequence labeller: labels, the attributes that are left, and their weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.designs.chains import build_chain, width
from parsimon.designs.feature_index import FeatureIndex
from parsimon.designs.template_scores import TemplateScores, seen_by_templates
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns, Labels
from parsimon.features.observations import Observations
from parsimon.features.space import NumberedFeatures
from parsimon.features.template_features import TemplateFeatures
from parsimon.label_values import LabelValues, labels_of
from parsimon.structures.chain import Chain, ChainParts
from parsimon.structures.label_schemes import Transitions
from parsimon.structures.workspace import Workspace
from parsimon.weights import Weights

if TYPE_CHECKING:
    from parsimon._core import LabelStep
    from parsimon.features.seen import Seen
    from parsimon.tasks.sequences.second_order import TagPairs

BATCH = 1 << 21  # part scores held at a time while predicting
ROUNDING = 1e-3  # how far from one the probabilities of a token's labels may add up


@dataclass(frozen=True)
class SequenceModel:
    """The result of training: everything that prediction needs.

    Only attributes with a non-zero weight are in `space`; `index` lists their labels; `weights` has one
    number for each, none of them zero.
    """

    kind: ClassVar[str] = "sequence"
    of_trees: ClassVar[bool] = False  # whether this is a `TreeModel`
    labels: tuple[str, ...]
    space: NumberedFeatures
    index: FeatureIndex
    weights: Array
    info: dict[str, Any] = field(default_factory=dict)
    order: int = 1  # with 2, labels of features are tags and pairs of tags (see second_order.py)
    scheme: str | None = None  # predictions are valid in it, unless another one is asked for
    label_values: LabelValues = field(default_factory=dict)  # of tags that are no texts

    @classmethod
    def from_weights(
        cls,
        labels: tuple[str, ...],
        space: NumberedFeatures,
        index: FeatureIndex,
        weights: Weights,
        info: dict[str, Any],
        order: int = 1,
    ) -> SequenceModel:
        """Keeps what is not zero."""
        kept = weights.nonzero()
        assert kept.features is not None
        node, pair = index.split(kept.features)
        node_attribute, node_column = index.node.describe(np.ascontiguousarray(node, np.int64))
        pair_attribute, pair_column = index.pair.describe(np.ascontiguousarray(pair, np.int64))
        alive = [np.zeros(space.n_node, bool), np.zeros(space.n_pair, bool)]
        alive[0][node_attribute] = True
        alive[1][pair_attribute] = True
        small = FeatureIndex(
            len(labels),
            listed_rows(node_attribute, node_column, alive[0], index.node.width),
            listed_rows(pair_attribute, pair_column, alive[1], index.pair.width),
            index.tags,
        )
        return cls(labels, space.keep(*alive), small, np.ascontiguousarray(kept.values), info, order)

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.labels)

    @cached_property
    def pairs(self) -> TagPairs | None:
        """With order 2, what labels are made of."""
        if self.order == 1:
            return None
        from parsimon.tasks.sequences.second_order import TagPairs

        return TagPairs.parse(self.labels)

    @property
    def tags(self) -> tuple[str, ...]:
        """What is predicted: the labels or, with order 2, the tags."""
        return self.labels if self.pairs is None else self.pairs.tags

    @property
    def classes(self) -> list[Any]:
        """What is predicted, as it was given in training."""
        return labels_of(self.tags, self.label_values)

    @cached_property
    def template_scores(self) -> TemplateScores | None:
        """Scores straight from what templates see; None where there are no templates."""
        return TemplateScores.of(self.space, self.index, self.weights)

    def _at_once(
        self, observations: Observations, allowed: Transitions | None
    ) -> tuple[TemplateScores, LabelStep, Seen] | None:
        """What goes through sequences one by one; None where steps differ."""
        scores, seen = self.template_scores, seen_by_templates(observations)
        if scores is None or seen is None:
            return None
        step = scores.step(observations, allowed, self._possible)
        return None if step is None else (scores, step, seen)

    def _possible(self, allowed: Transitions | None) -> Transitions | None:
        """Which labels may follow each other; None for all."""
        return allowed

    def scored(
        self,
        observations: Observations,
        threads: int,
        allowed: Transitions | None = None,
        given: IntArray | None = None,
    ) -> Iterator[tuple[slice, slice, Chain, ChainParts]]:
        """Sequences in batches, with their chains and part scores.

        Labels and pairs that are forbidden, or not those that are given, score −∞.
        """
        workspace, possible = Workspace(), self._possible(allowed)
        size = max(BATCH // width(observations, self.index, possible), 1)
        for chosen, tokens, part in observations.batches(size):
            seen, node = seen_by_templates(part), None
            if self.template_scores is not None and seen is not None:
                node = self.template_scores.of_tokens(seen, threads, workspace)
            design, chain = build_chain(
                part,
                self.index,
                allowed=possible,
                threads=threads,
                workspace=workspace,
                scored=node is not None,
            )
            chain.first = chosen.start
            scores = design.scores(self.weights, node)
            yield (
                chosen,
                tokens,
                chain,
                scores if given is None else chain.constrain(scores, given[tokens]),
            )

    def decode(
        self,
        observations: Observations,
        *,
        threads: int = 1,
        allowed: Transitions | None = None,
        given: IntArray | None = None,
        minimum_risk: bool = False,
    ) -> IntArray:
        """The labels of the best sequences; `given` fixes labels (−1 leaves a token free).

        With `minimum_risk`, those of the sequences of which the fewest wrong labels are expected.
        """
        found = None if minimum_risk else self._at_once(observations, allowed)
        if found is not None:
            scores, step, seen = found
            labels = scores.labels(step, seen, given, threads)
            if labels is not None:  # else what follows says which sequence has none
                return labels
        out = np.empty(observations.n_tokens, np.int32)
        for _, tokens, chain, parts in self.scored(observations, threads, allowed, given):
            out[tokens] = chain.minimum_risk(parts) if minimum_risk else chain.argmax(parts)[1]
        return out

    def marginals(
        self,
        observations: Observations,
        *,
        threads: int = 1,
        allowed: Transitions | None = None,
        given: IntArray | None = None,
    ) -> tuple[Array, Array]:
        """P(label | sequence) of every token (tokens × labels), and log Z of every sequence."""
        out, log_z = self._marginals(observations, threads, allowed, given)
        if np.any(np.abs(out.sum(axis=1) - 1.0) > ROUNDING):
            raise ParsimonError(
                f"the scores are too large for probabilities (the largest log Z is {log_z.max():g}); scale the "
                "features, or use viterbi decoding."
            )
        return out, log_z

    def _marginals(
        self,
        observations: Observations,
        threads: int,
        allowed: Transitions | None,
        given: IntArray | None,
    ) -> tuple[Array, Array]:
        known = self._at_once(observations, allowed)
        if known is not None:
            scores, step, seen = known
            found = scores.marginals(step, seen, given, threads)
            if found is not None:  # else what follows says which sequence has none
                return found
        out = np.empty((observations.n_tokens, len(self.tags)))
        log_z = np.empty(len(observations.lengths))
        for chosen, tokens, chain, parts in self.scored(observations, threads, allowed, given):
            log_z[chosen], sums = chain.marginals(parts)
            out[tokens] = chain.of_labels(sums.node)
        return out, log_z

    def kbest(
        self,
        observations: Observations,
        k: int,
        *,
        threads: int = 1,
        allowed: Transitions | None = None,
        given: IntArray | None = None,
    ) -> tuple[Array, IntArray]:
        """The k best labellings: log-probabilities (k, sequences), −∞ where there are fewer, and labels (k, tokens)."""
        if k < 1:
            raise ParsimonError(f"k must be at least 1, not {k}.")
        values = np.empty((k, len(observations.lengths)))
        labels = np.empty((k, observations.n_tokens), np.int32)
        for chosen, tokens, chain, scores in self.scored(observations, threads, allowed, given):
            values[:, chosen], labels[:, tokens] = chain.kbest(scores, k)
            log_z, _ = chain.marginals(scores)
            values[:, chosen] -= log_z
        return values, labels

    def log_likelihood(self, observations: Observations, labels: Labels, *, threads: int = 1) -> float:
        """Σ log P(labels | sequence)."""
        total = 0.0
        for _, tokens, chain, scores in self.scored(observations, threads):
            gold = labels.ids[tokens]
            attained = chain.score(scores, gold)
            log_z, _ = chain.marginals(scores)
            total += float(np.sum(attained - log_z))
        return total

    def as_labels(self, ids: IntArray, lengths: IntArray) -> Labels:
        """Label numbers with their names."""
        return Labels(ids, lengths, self.tags, self.label_values)

    def observe(self, X: Any, threads: int = 1) -> Observations:
        """The attributes of an input that the model knows."""
        space: Any = self.space
        return space.observe(X, threads)  # type: ignore[no-any-return]

    @property
    def needs_columns(self) -> int:
        """How many columns an input must have (0 when the model does not read columns)."""
        return self.space.templates.n_columns if isinstance(self.space, TemplateFeatures) else 0

    def predict_columns(self, X: Columns, threads: int = 1) -> Labels:
        """Labels for columns."""
        observations = self.observe(X, threads)
        return self.as_labels(self.decode(observations, threads=threads), X.lengths)


def listed_rows(attribute: IntArray, column: IntArray, alive: Any, width: int) -> Any:
    """The features of the attributes that are alive, renumbered."""
    from parsimon._core import FeatureRows

    number = np.cumsum(alive) - 1
    n = int(alive.sum())
    start = np.searchsorted(number[attribute], np.arange(n + 1)).astype(np.int64)
    return FeatureRows(n, width, start, np.ascontiguousarray(column, np.int32))
