"""A fitted dependency parser: the features of arcs that are left, their weights, and what names the relations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from parsimon._core import ArcScorer, FeatureRows
from parsimon.arrays import Array, IntArray
from parsimon.data.treebanks import Treebank
from parsimon.designs.arcs import score_arcs
from parsimon.designs.feature_index import FeatureIndex
from parsimon.errors import ParsimonError
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.columns import Labels
from parsimon.features.observations import Observations, Rows
from parsimon.structures.arborescence import Arborescence, ArcParts
from parsimon.structures.projectivity import is_projective
from parsimon.tasks.parsing.first_pass import FirstPass
from parsimon.tasks.sequences.model import SequenceModel, listed_rows

MST, MINIMUM_RISK = "mst", "minimum-risk"
DECODINGS = (MST, MINIMUM_RISK)


@dataclass(frozen=True)
class ParserModel:
    """The result of training: everything that parsing needs.

    `arcs` has one label, for its features speak for an arc or against it. `relations` labels words that have their
    heads already; ``None`` if it does not name relations.
    """

    kind: ClassVar[str] = "parser"
    arcs: SequenceModel
    relations: SequenceModel | None
    projective: bool = False
    single_root: bool = True
    info: dict[str, Any] = field(default_factory=dict)
    first_pass: FirstPass | None = None  # leaves the arcs to score; all are if there is none

    @property
    def weights(self) -> Array:
        """The weights of the features of arcs."""
        return self.arcs.weights

    @property
    def space(self) -> ArcFeatures:
        """The attributes of arcs."""
        space = self.arcs.space
        assert isinstance(space, ArcFeatures)
        return space

    @cached_property
    def scorer(self) -> ArcScorer:
        """The weights of arcs, laid out for scoring."""
        return self.space.scorer(self.weights)

    def prepare(self) -> Self:
        """Makes at once what the first sentence that is parsed would wait for; the same model."""
        _ = self.scorer, self.first_pass and self.first_pass.scorer
        if self.relations is not None:
            assert isinstance(self.relations.space, ArcFeatures)
            _ = self.relations.space.dictionary
        return self

    def scored(
        self, treebank: Treebank, threads: int = 1, *, given_heads: bool = False
    ) -> Iterator[tuple[slice, slice, Arborescence, ArcParts]]:
        """Which sentences, which tokens, their trees and the scores of all arcs, some sentences at a time.

        With `given_heads`, words that have a head in the treebank can have no other; all arcs are scored then, for
        those that the first pass leaves need not agree with what is given.
        """
        if given_heads:
            self._check_given(treebank)
        sentences = self.space.observe(treebank)
        if self.first_pass is not None and not given_heads:
            sentences = self.first_pass.leave(treebank, sentences, threads)
        for chosen, tokens, trees, scores in score_arcs(
            self.scorer,
            sentences,
            treebank.lengths,
            projective=self.projective,
            single_root=self.single_root,
            threads=threads,
        ):
            if given_heads:
                scores = trees.constrain(scores, treebank.heads[tokens])
            yield chosen, tokens, trees, scores

    def _check_given(self, treebank: Treebank) -> None:
        """Refuses heads that are in no tree of the kind that the parser gives."""
        trees = np.split(treebank.heads, np.cumsum(treebank.lengths)[:-1])
        for number, heads in enumerate(trees, start=1):
            many = self.single_root and np.sum(heads == 0) > 1
            if many or (self.projective and not is_projective(heads)):
                what = "several words at the root" if many else "arcs that cross"
                raise ParsimonError(
                    f"{treebank.name}, sentence {number} is given with {what}, which this parser does not allow; "
                    "write _ for some of its heads."
                )

    def decode(
        self, treebank: Treebank, *, decoding: str = MST, given_heads: bool = False, threads: int = 1
    ) -> IntArray:
        """The head of every word: those of the best tree, or of the one with the fewest wrong heads expected."""
        if decoding not in DECODINGS:
            raise ParsimonError(f"decoding must be one of {', '.join(DECODINGS)}, not {decoding!r}.")
        heads = np.empty(treebank.n_tokens, np.int32)
        for _, tokens, trees, scores in self.scored(treebank, threads, given_heads=given_heads):
            heads[tokens] = trees.argmax(scores)[1] if decoding == MST else trees.minimum_risk(scores)
        return heads

    def marginals(
        self, treebank: Treebank, *, given_heads: bool = False, threads: int = 1
    ) -> tuple[list[Array], Array]:
        """P(arc | sentence): for every sentence words × heads (0 is the root); and log Z of every sentence."""
        out: list[Array] = []
        log_z = np.empty(len(treebank))
        for chosen, _, trees, scores in self.scored(treebank, threads, given_heads=given_heads):
            log_z[chosen], parts = trees.marginals(scores)
            sizes = trees.lengths * (trees.lengths + 1)
            pieces = np.split(parts.arc, np.cumsum(sizes)[:-1])
            out += [piece.reshape(n, n + 1) for piece, n in zip(pieces, trees.lengths.tolist(), strict=True)]
        return out, log_z

    def kbest(
        self, treebank: Treebank, k: int, *, given_heads: bool = False, threads: int = 1
    ) -> tuple[Array, IntArray]:
        """The k best trees: log-probabilities (k, sentences), −∞ where there are fewer, and heads (k, words)."""
        values = np.empty((k, len(treebank)))
        heads = np.empty((k, treebank.n_tokens), np.int32)
        for chosen, tokens, trees, scores in self.scored(treebank, threads, given_heads=given_heads):
            values[:, chosen], heads[:, tokens] = trees.kbest(scores, k)
            values[:, chosen] -= trees.marginals(scores)[0]
        return values, heads

    def name_relations(self, treebank: Treebank, heads: IntArray, *, threads: int = 1) -> Labels | None:
        """The relations of words to these heads."""
        if self.relations is None:
            return None
        space = self.relations.space
        assert isinstance(space, ArcFeatures)
        observations = observe_arcs(space, treebank, heads, threads=threads)
        ids = self.relations.decode(observations, threads=threads)
        return Labels(ids, treebank.lengths, self.relations.labels)

    def parse(
        self, treebank: Treebank, *, decoding: str = MST, given_heads: bool = False, threads: int = 1
    ) -> Treebank:
        """The same sentences with predicted heads and relations, and `_` for what was said of others (DEPS)."""
        heads = self.decode(treebank, decoding=decoding, given_heads=given_heads, threads=threads)
        return treebank.with_heads(heads, self.name_relations(treebank, heads, threads=threads))


def in_order(model: SequenceModel) -> SequenceModel:
    """The same model, with its attributes in an order that needs little room in a file."""
    assert isinstance(model.space, ArcFeatures)
    space, was = model.space.in_order()
    rank = np.empty(len(was), np.int64)
    rank[was] = np.arange(len(was))
    attribute, column = model.index.node.describe(np.arange(model.index.n_features, dtype=np.int64))
    order = np.argsort(rank[attribute], kind="stable")
    alive = np.ones(len(was), bool)
    rows = listed_rows(rank[attribute][order], column[order], alive, model.n_labels)
    index = replace(model.index, node=rows)
    return replace(model, space=space, index=index, weights=np.ascontiguousarray(model.weights[order]))


def observe_arcs(
    space: ArcFeatures, treebank: Treebank, heads: IntArray, sentences: Any = None, threads: int = 1
) -> Observations:
    """The attributes of the arc into every word (none where the head is −1), each word as a sequence by itself."""
    if sentences is None:
        sentences = space.observe(treebank)
    start, index = space.dictionary.attributes(
        sentences, 0, len(treebank), np.ascontiguousarray(heads, np.int32), threads
    )
    n = treebank.n_tokens
    nothing = Rows(np.zeros(n + 1, np.int64), np.zeros(0, np.int32))
    return Observations(Rows(start, index), nothing, np.ones(n, np.int32))


def index_of_arcs(space: ArcFeatures) -> FeatureIndex:
    """One feature an attribute."""
    return FeatureIndex(1, FeatureRows(space.n_node, 1), FeatureRows(0, 1))
