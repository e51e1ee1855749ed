"""Φ for dependency trees: arcs scored by attributes that are expanded whenever they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from parsimon._core import ArcDictionary, ArcScorer, ArcSentences, OnlineArcs
from parsimon.arrays import Array, IntArray
from parsimon.designs.base import SparseVectors
from parsimon.features.columns import offsets_of
from parsimon.structures.arborescence import Arborescence, ArcParts

__all__ = ["ArcDesign", "build_arcs", "score_arcs"]

ARCS = 1 << 20  # whose scores are held at a time


@dataclass(frozen=True)
class ArcDesign:
    """The arcs of some sentences. There is one feature an attribute, and it fires with the value 1 or not at all.

    Nothing is stored but the words' values: a sentence has n² arcs, and an arc some hundred attributes.
    """

    dictionary: ArcDictionary
    sentences: ArcSentences
    offsets: IntArray  # where each sentence's tokens start, and their end
    first: int  # of the sentences
    last: int
    threads: int = 1

    @property
    def n_features(self) -> int:
        """The length of w."""
        return len(self.dictionary)

    @property
    def n_arcs(self) -> int:
        """How many arcs there are."""
        lengths = np.diff(self.offsets[self.first : self.last + 1])
        return int(np.sum(lengths * (lengths + 1)))

    def scores(self, w: Array) -> ArcParts:
        """Φ w."""
        out = np.empty(self.n_arcs)
        w = np.ascontiguousarray(w, np.float64)
        self.dictionary.scores(self.sentences, self.first, self.last, w, out, self.threads)
        return ArcParts(out)

    def scores_of(self, values: Array, features: IntArray) -> ArcParts:
        """Φ w where only the given features (ascending) are not zero; others are not even looked for."""
        return self.restrict(features).scores(values)

    def pullback(self, parts: ArcParts, out: Array) -> None:
        """out += Φᵀ parts."""
        self.dictionary.pullback(self.sentences, self.first, self.last, parts.arc, out, self.threads)

    def pullback_squared(self, parts: ArcParts, out: Array) -> None:
        """The same: values are ones."""
        self.pullback(parts, out)

    def restrict(self, features: IntArray) -> ArcDesign:
        """The map of some features only (ascending numbers)."""
        return replace(self, dictionary=self.dictionary.restrict(np.ascontiguousarray(features, np.int64)))

    def adapt(self, structure: Arborescence) -> Arborescence:
        """The structure as it is."""
        return structure

    def part(self, where: slice) -> ArcDesign:
        """The map of the sentences whose tokens these are."""
        begin = int(self.offsets[self.first])
        first, last = np.searchsorted(self.offsets, [begin + where.start, begin + where.stop])
        return replace(self, first=int(first), last=int(last))

    def differences(self, structure: Arborescence, gold: IntArray, output: IntArray) -> list[SparseVectors]:
        """f(gold) − f(output) of every sentence: of words whose heads differ."""
        from scipy import sparse

        token = np.repeat(
            np.arange(self.last - self.first), np.diff(self.offsets[self.first : self.last + 1])
        )
        shape = (self.last - self.first, self.n_features)
        total = sparse.csr_matrix(shape)
        other = gold != output
        for heads, sign in ((gold, 1.0), (output, -1.0)):
            chosen = np.ascontiguousarray(np.where(other, heads, -1), np.int32)
            start, index = self.dictionary.attributes(
                self.sentences, self.first, self.last, chosen, self.threads
            )
            row = np.repeat(token, np.diff(start))
            total = total + sparse.csr_matrix((np.full(len(index), sign), (row, index)), shape)
        total.eliminate_zeros()
        total.sort_indices()
        return [(0, total.indptr.astype(np.int64), total.indices.astype(np.int32), total.data)]

    @property
    def restricts_transitions(self) -> bool:
        """No: learners know what a tree is."""
        return False

    def attribute_starts(self) -> tuple[IntArray, IntArray]:
        """The first feature of every attribute (and one past the last); there are no attributes of steps."""
        return np.arange(self.n_features + 1), np.array([self.n_features])

    def new_learner(self, structure: Arborescence, block: IntArray, _: IntArray, n_blocks: int) -> OnlineArcs:
        """An online learner for trees with these features; blocks part the attributes."""
        return OnlineArcs(self.dictionary, structure.projective, structure.single_root, block, n_blocks)

    def teach(self, learner: OnlineArcs, structure: Arborescence, gold: IntArray) -> None:
        """Gives a learner this batch to learn from."""
        learner.add(
            self.sentences, self.first, self.last, np.ascontiguousarray(gold, np.int32), structure.weights
        )


def build_arcs(
    dictionary: ArcDictionary,
    sentences: ArcSentences,
    lengths: IntArray,
    *,
    projective: bool,
    single_root: bool,
    weights: Array | None = None,
    threads: int = 1,
    arcs: int = ARCS,
) -> list[tuple[slice, slice, ArcDesign, Arborescence]]:
    """Designs and structures of batches of about that many arcs, with which sentences and tokens they have."""
    offsets = offsets_of(lengths)
    return [
        (which, tokens, ArcDesign(dictionary, sentences, offsets, which.start, which.stop, threads), trees)
        for which, tokens, trees in _batches(offsets, projective, single_root, weights, threads, arcs)
    ]


def score_arcs(
    scorer: ArcScorer,
    sentences: ArcSentences,
    lengths: IntArray,
    *,
    projective: bool,
    single_root: bool,
    threads: int = 1,
    arcs: int = ARCS,
) -> Iterator[tuple[slice, slice, Arborescence, ArcParts]]:
    """The same batches, one after the other, with the scores of their arcs under weights that do not change."""
    for which, tokens, trees in _batches(offsets_of(lengths), projective, single_root, None, threads, arcs):
        out = np.empty(trees.n_arcs)
        scorer.scores(sentences, which.start, which.stop, out, threads)
        yield which, tokens, trees, ArcParts(out)


def _batches(
    offsets: IntArray,
    projective: bool,
    single_root: bool,
    weights: Array | None,
    threads: int,
    arcs: int,
) -> Iterator[tuple[slice, slice, Arborescence]]:
    """Which sentences and tokens make about that many arcs (at least a sentence), and their trees."""
    lengths = np.diff(offsets)
    ends = np.cumsum(lengths * (lengths + 1))
    first, n = 0, len(lengths)
    while first < n:
        before = int(ends[first - 1]) if first else 0
        last = min(max(int(np.searchsorted(ends, before + arcs, side="right")), first + 1), n)
        trees = Arborescence(
            lengths[first:last],
            projective=projective,
            single_root=single_root,
            weights=None if weights is None else weights[first:last],
            threads=threads,
        )
        trees.first = first
        yield slice(first, last), slice(int(offsets[first]), int(offsets[last])), trees
        first = last
