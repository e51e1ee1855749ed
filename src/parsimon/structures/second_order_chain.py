"""Second-order chains: a step sees three tags, its own and the two before."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from parsimon import _core
from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.magnitudes import check_scores
from parsimon.structures.base import Oracle
from parsimon.structures.chain import Chain, ChainParts, PairLayout
from parsimon.structures.label_pairs import LabelPairs
from parsimon.structures.workspace import Workspace


class SecondOrderChain(Chain):
    """A batch of tag sequences, laid end to end, in which only some pairs of tags may follow each other.

    Parts are `ChainParts`. ``node[t]`` has a number for each tag (with `tags`) and then one for each pair of the tag
    before and the token's own (with `paired`); ``pair[k, r]`` is of triple r of `LabelPairs.triples`, two pairs with a
    tag in common, in a step of kind k. There are no single pairs. Outputs are tags.

    The recursions are those of chains whose labels are pairs (Sha & Pereira 2003), but a step costs what there are
    triples, not the square of the number of pairs.

    >>> import numpy as np
    >>> from parsimon.structures import ChainParts, SecondOrderChain
    >>> from parsimon.structures.label_pairs import LabelPairs
    >>> pairs = LabelPairs.of(np.ones((3, 2), bool))
    >>> chain = SecondOrderChain(lengths=[4], pairs=pairs, paired=False)
    >>> one, two = pairs.triples
    >>> inside = pairs.before[one] >= 0  # there is a tag two before
    >>> change = np.where(inside & (pairs.tag[two] != pairs.before[one]), 1.0, 0.0)
    >>> best, tags = chain.argmax(ChainParts(np.array([[0.5, 0], [0.25, 0], [0, 0], [0, 0]]), change[None]))
    >>> tags.tolist(), float(best[0])
    ([0, 0, 1, 1], 2.75)
    """

    oracles: ClassVar[frozenset[Oracle]] = Chain.oracles

    def __init__(
        self,
        lengths: IntArray | list[int],
        pairs: LabelPairs,
        *,
        tags: bool = True,
        paired: bool = True,
        kind: IntArray | None = None,
        n_kinds: int = 1,
        weights: Array | None = None,
        threads: int = 1,
        workspace: Workspace | None = None,
    ) -> None:
        self.pairs = pairs
        self.tags, self.paired = tags, paired
        super().__init__(
            lengths,
            pairs.n_tags,
            pair_kind=kind,
            n_kinds=n_kinds,
            weights=weights,
            threads=threads,
            workspace=workspace,
        )

    def _lay_out(self, layout: PairLayout) -> None:
        self.layout = layout
        self._second = _core.SecondOrderChain(
            self.offsets,
            layout.kind,
            self.weights,
            self.pairs.before,
            self.pairs.tag,
            self.n_labels,
            layout.n_kinds,
            self.tags,
            self.paired,
        )

    @property
    def width(self) -> int:
        """How many numbers a token has."""
        return self.tags * self.pairs.n_tags + self.paired * self.pairs.n_labels

    def argmax(self, scores: ChainParts) -> tuple[Array, IntArray]:
        """The best tag sequences (Viterbi), and their scores."""
        self._check(scores)
        best, tags = np.empty(self.n_instances), np.empty(self.n_tokens, np.int32)
        if not self._second.argmax(scores.node, scores.pair, best, tags, self.threads):
            raise self._infeasible(best)
        return best, tags

    def augment(self, scores: ChainParts, gold: IntArray, cost: float | Array) -> ChainParts:
        """New scores, with its cost added to every tag that differs from gold."""
        nothing = ChainParts(np.zeros((self.n_tokens, self.n_labels)), scores.pair)
        return self._with_tags(scores, super().augment(nothing, gold, cost).node)

    def constrain(self, scores: ChainParts, output: IntArray) -> ChainParts:
        """−∞ for every other tag where `output` gives one (−1 leaves a token free)."""
        nothing = ChainParts(np.zeros((self.n_tokens, self.n_labels)), scores.pair)
        return self._with_tags(scores, super().constrain(nothing, output).node)

    def _with_tags(self, scores: ChainParts, of_tags: Array) -> ChainParts:
        """New scores, with numbers of tags (tokens × tags) added."""
        node = scores.node.copy()
        if self.tags:
            node[:, : self.n_labels] += of_tags
        else:
            node += of_tags[:, self.pairs.tag]
        return ChainParts(node, scores.pair.copy())

    def of_labels(self, node: Array) -> Array:
        """Of marginals of tokens, those of tags."""
        return node[:, : self.n_labels] if self.tags else self.pairs.of_tags(node)

    def marginals(self, scores: ChainParts) -> tuple[Array, ChainParts]:
        """log Z and marginals (forward–backward). Those of tokens take the place of their scores."""
        log_z, triple = np.empty(self.n_instances), np.empty_like(scores.pair)
        if not self._second.marginals(scores.node, scores.pair, log_z, scores.node, triple, self.threads):
            raise self._infeasible(log_z)
        check_scores(self.instance, log_z)
        return log_z, ChainParts(scores.node, triple)

    def minimum_risk(self, scores: ChainParts, gather: Callable[[Array], Array] | None = None) -> IntArray:
        """The taggings with the largest sum of marginals: the fewest wrong tags are expected of them."""
        node, pair = (np.where(np.isneginf(each), each, 0.0) for each in (scores.node, scores.pair))
        _, parts = self.marginals(ChainParts(scores.node.copy(), scores.pair))
        worth = self.of_labels(parts.node)
        return self.argmax(
            self._with_tags(ChainParts(node, pair), worth if gather is None else gather(worth))
        )[1]

    def variances(self, marginals: Array) -> ChainParts:
        """p(1 − p) of every part from the marginals of tokens, those of triples taken as p(a, b) p(b, c) / p(b)."""
        out = self._zeros()
        self._second.variances(marginals, out.node, out.pair, self.threads)
        return out

    def _zeros(self) -> ChainParts:
        return ChainParts(
            np.zeros((self.n_tokens, self.width)), np.zeros((self.n_kinds, self._second.n_triples))
        )

    def kbest(self, scores: ChainParts, k: int) -> tuple[Array, IntArray]:
        """The k best tag sequences: scores (k, n_sequences), −∞ where there are fewer; tags (k, n_tokens)."""
        self._check(scores)
        values = np.empty((k, self.n_instances))
        tags = np.empty((k, self.n_tokens), np.int32)
        self._second.kbest(scores.node, scores.pair, values, tags, self.threads)
        return values, tags

    def sample(self, scores: ChainParts, n: int = 1, seed: int = 0) -> IntArray:
        """n draws from p(y) ∝ exp(score): tags (n, n_tokens). The same for any number of threads."""
        self._check(scores)
        tags = np.empty((n, self.n_tokens), np.int32)
        if not self._second.sample(scores.node, scores.pair, seed, tags, self.threads):
            raise ParsimonError(
                f"some {self.instance} has no possible labelling under the given constraints."
            )
        return tags

    def score(self, scores: ChainParts, output: IntArray) -> Array:
        """The score of complete tag sequences; −∞ where a pair of tags may not be."""
        out = np.empty(self.n_instances)
        self._second.score(scores.node, scores.pair, np.ascontiguousarray(output, np.int32), out)
        return out

    def add_output(self, parts: ChainParts, output: IntArray, times: float) -> None:
        """parts += times · indicators(output)."""
        if not self._second.add(np.ascontiguousarray(output, np.int32), times, parts.node, parts.pair):
            raise ParsimonError(
                f"some {self.instance} has a pair of tags that are not known to follow each other."
            )

    def indicators(self, output: IntArray) -> ChainParts:
        """Ones (or the sequence's weight) at the parts of complete tag sequences."""
        parts = self._zeros()
        self.add_output(parts, output, 1.0)
        return parts

    def expected_cost(self, parts: ChainParts, gold: IntArray, cost: float | Array) -> float:
        """Σ over tokens of Σ_y μ(y)·cost(gold, y), where `parts` is μ − gold; gold itself costs nothing."""
        return super().expected_cost(ChainParts(self.of_labels(parts.node), parts.pair), gold, cost)

    def log_outputs(self) -> Array:
        """Counted by scores of zero: not every tag may follow every other."""
        return self.marginals(self._zeros())[0]
