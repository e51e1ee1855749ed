"""Dependency trees: every token has a head, another token or the root, and arcs are scored one by one.

Tokens of a sentence have the numbers 1 … n, and 0 is the root. An array of numbers for arcs goes sentence by sentence
and, within one, modifier by modifier: for the modifiers m = 1 … n the heads h = 0 … n, n (n + 1) numbers in all. That
of h = m means nothing: its score is never looked at, its marginal is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma
from typing import Any, ClassVar, Self

import numpy as np

from parsimon import _core
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.magnitudes import check_scores
from parsimon.structures.base import Oracle


@dataclass
class ArcParts:
    """A number for every arc of a batch of sentences: scores, marginals or indicators.

    ``arc[a]`` for trees without labels, ``arc[a, l]`` for arcs that have labels.
    """

    arc: Array

    @property
    def node(self) -> Array:
        """The same: what is chosen for a token is its arc."""
        return self.arc

    def subtract(self, other: ArcParts) -> None:
        """``self -= other``."""
        self.arc -= other.arc

    def scale(self, factor: float) -> None:
        """``self *= factor``."""
        self.arc *= factor


class Arborescence:
    """A batch of sentences, each with a dependency tree. An output is the head of every token, 0 for the root.

    >>> import numpy as np
    >>> from parsimon.structures import Arborescence, ArcParts
    >>> trees = Arborescence(lengths=[2])
    >>> scores = ArcParts(np.array([1.0, 0.0, 5.0,  0.0, 3.0, 0.0]))  # arcs from 0, 1, 2 into 1, then into 2
    >>> best, heads = trees.argmax(scores)  # not each other's heads, though that would score 8
    >>> heads.tolist(), float(best[0])
    ([2, 0], 5.0)
    >>> log_z, marginals = trees.marginals(scores)
    >>> marginals.arc.round(2).tolist()
    [0.27, 0.0, 0.73, 0.73, 0.27, 0.0]

    `projective` trees have no arcs that cross; with a `single_root` only one token hangs on the root.
    """

    oracles: ClassVar[frozenset[Oracle]] = frozenset(
        {Oracle.ARGMAX, Oracle.COST_ARGMAX, Oracle.MARGINALS, Oracle.KBEST}
    )
    exact: ClassVar[bool] = True

    def __init__(
        self,
        lengths: IntArray | list[int],
        *,
        projective: bool = False,
        single_root: bool = True,
        weights: Array | None = None,
        threads: int = 1,
    ) -> None:
        lengths = np.asarray(lengths, np.int64)
        if weights is not None and (len(weights) != len(lengths) or not np.all(np.isfinite(weights))):
            raise ParsimonError(
                f"there are {len(lengths)} sentences; give as many weights, all of them finite."
            )
        self.lengths = lengths
        self.projective = bool(projective)
        self.single_root = bool(single_root)
        self.weights = weights
        self.threads = threads
        self.first = 0  # the number of the first sentence, for messages
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.sentence: IntArray = np.repeat(np.arange(len(lengths)), lengths)  # (n_tokens,)
        self._n_heads: IntArray = np.repeat(lengths + 1, lengths)  # (n_tokens,): how many arcs enter each
        self._first_arc: IntArray = np.cumsum(self._n_heads) - self._n_heads
        self.compiled = _core.Arborescences(self.offsets, self.projective, self.single_root)

    @property
    def n_labels(self) -> int:
        """How many labels an arc may have; one is as good as none."""
        return 1

    @property
    def n_instances(self) -> int:
        """How many sentences there are."""
        return len(self.lengths)

    @property
    def n_tokens(self) -> int:
        """How many tokens there are in all sentences."""
        return int(self.offsets[-1])

    @property
    def n_arcs(self) -> int:
        """How many arcs there are in all sentences."""
        return self.compiled.n_arcs

    @property
    def parts_shape(self) -> tuple[int, ...]:
        """The shape of arrays of parts."""
        return (self.n_arcs,)

    def argmax(self, scores: ArcParts) -> tuple[Array, IntArray]:
        """The best trees, and their scores.

        Maximum spanning arborescences (Chu & Liu 1965, Edmonds 1967), or those of Eisner (1996) if projective.
        """
        best = np.empty(self.n_instances)
        heads = np.empty(self.n_tokens, np.int32)
        if not self.compiled.argmax(scores.arc, best, heads, self.threads):
            raise self._infeasible(best)
        check_scores("sentence", best)
        return best, heads

    def cost_argmax(
        self, scores: ArcParts, gold: IntArray, cost: float | Array = 1.0
    ) -> tuple[Array, IntArray]:
        """argmax of score + cost of heads that differ from gold. Where gold is not known nothing costs anything."""
        return self.argmax(self.augment(scores, gold, cost))

    def augment(self, scores: ArcParts, gold: IntArray, cost: float | Array) -> ArcParts:
        """New scores, with the cost added to every arc into a token that differs from gold."""
        flat = scores.arc.reshape(-1)
        known = self._known(gold)
        arc = flat + np.where(self._arcs_into(known), _number(cost), 0.0)
        at = self.places(gold)[known]
        arc[at] = flat[at]
        return ArcParts(arc.reshape(scores.arc.shape))

    def marginals(self, scores: ArcParts) -> tuple[Array, ArcParts]:
        """log Z and the marginals of arcs, which take the place of the scores.

        By the matrix-tree theorem, or the inside–outside algorithm if projective.
        """
        log_z, probabilities = self._probabilities(scores.arc)
        return log_z, ArcParts(self._counted(probabilities))

    def _probabilities(self, part: Array) -> tuple[Array, Array]:
        """log Z, and probabilities, which take the place of scores."""
        log_z = np.empty(self.n_instances)
        if not self.compiled.marginals(part, log_z, part, self.threads):
            raise self._infeasible(log_z)
        return log_z, part

    def minimum_risk(self, scores: ArcParts) -> IntArray:
        """The trees with the largest sum of marginals: the fewest wrong heads are expected of them.

        >>> import numpy as np
        >>> from parsimon.structures import Arborescence, ArcParts
        >>> Arborescence([2]).minimum_risk(ArcParts(np.array([1.0, 0.0, 4.0,  0.5, 3.0, 0.0]))).tolist()
        [2, 0]
        """
        _, probabilities = self._probabilities(scores.arc.copy())
        return self.argmax(ArcParts(np.where(scores.arc > -np.inf, probabilities, -np.inf)))[1]

    def kbest(self, scores: ArcParts, k: int) -> tuple[Array, IntArray]:
        """The k best trees: scores (k, n_sentences), −∞ where there are fewer; outputs (k, n_tokens), −1 there."""
        if k < 1:
            raise ParsimonError(f"the number of best trees must be 1 or more, not {k}.")
        values = np.empty((k, self.n_instances))
        outputs = np.empty((k, self.n_tokens), np.int32)
        if not self.compiled.kbest(scores.arc.reshape(-1), self.n_labels, values, outputs, self.threads):
            raise self._infeasible(values[0])
        check_scores("sentence", values)
        return values, outputs

    def variances(self, marginals: Array) -> ArcParts:
        """p(1 − p) of every arc."""
        if self.weights is None:
            return ArcParts(marginals * (1 - marginals))
        weights = self._weight_of_parts().reshape(marginals.shape)
        share = np.divide(marginals, weights, out=np.zeros_like(marginals), where=weights != 0)
        return ArcParts(marginals * (1 - share))

    def score(self, scores: ArcParts, output: IntArray) -> Array:
        """The score of complete trees."""
        return self._by_sentence(scores.arc.reshape(-1)[self.places(output, complete=True)])

    def indicators(self, output: IntArray) -> ArcParts:
        """Ones (or the sentence's weight) at the arcs of complete trees."""
        parts = ArcParts(np.zeros(self.parts_shape))
        self.add_output(parts, output, 1.0)
        return parts

    def add_output(self, parts: ArcParts, output: IntArray, times: float) -> None:
        """parts += times · indicators(output)."""
        each = times if self.weights is None else times * self.weights[self.sentence]
        parts.arc.reshape(-1)[self.places(output, complete=True)] += each

    def expected_cost(self, parts: ArcParts, gold: IntArray, cost: float | Array) -> float:
        """Σ over tokens of cost · (1 − μ(gold)), where `parts` is μ − gold."""
        at = self.places(gold)[self._known(gold)]
        return -_number(cost) * float(np.sum(parts.arc.reshape(-1)[at]))

    def cost(self, gold: IntArray, output: IntArray, cost: float | Array) -> Array:
        """cost · the number of wrong heads in every sentence. Where gold is not known nothing costs anything."""
        return self._by_sentence(_number(cost) * ((gold != output) & (gold >= 0)))

    def log_outputs(self) -> Array:
        """The logarithm of how many trees there are.

        (n + 1)ⁿ⁻¹ in all (Cayley 1889), nⁿ⁻¹ with a single root; C(3n, n)/(2n + 1) are projective (trees that
        do not cross, Dulucq & Penaud 1993), C(3n − 2, n − 1)/n with a single root. Labels are chosen freely.
        """
        counts = [_log_trees(n, self.projective, self.single_root) for n in self.lengths.tolist()]
        return np.asarray(np.array(counts, np.float64) + self.lengths * np.log(self.n_labels))

    def constrain(self, scores: ArcParts, output: IntArray) -> ArcParts:
        """−∞ for every other arc into a token where `output` gives one (−1 leaves a token free)."""
        flat = scores.arc.reshape(-1)
        known = self._known(output)
        arc = np.where(self._arcs_into(known), -np.inf, flat)
        at = self.places(output)[known]
        arc[at] = flat[at]
        return ArcParts(arc.reshape(scores.arc.shape))

    def best_into_tokens(self, scores: ArcParts) -> Array:
        """The score of the best arc into every token."""
        scores.arc[self._loops()] = -np.inf
        if not self.n_tokens:
            return np.zeros(0)
        best: Array = np.maximum.reduceat(scores.arc, self._first_arc)
        return best

    def raise_root_arcs(self, scores: ArcParts) -> None:
        """Adds to the arcs from the root of every sentence until one of them is the best one into its token.

        Every tree has such an arc, but whose it is, all tokens decide: on its own it may be the best into none.

        >>> import numpy as np
        >>> from parsimon.structures import Arborescence, ArcParts
        >>> scores = ArcParts(np.array([1.0, 0.0, 4.0,  0.5, 3.0, 0.0]))
        >>> Arborescence([2]).raise_root_arcs(scores)
        >>> scores.arc.reshape(2, 3)[:, 0].tolist()
        [3.5, 3.0]
        """
        if not self.n_tokens:
            return
        root = scores.arc[self._first_arc]
        scores.arc[self._first_arc] = -np.inf
        lead = root - self.best_into_tokens(scores)
        some = self.lengths > 0
        most = np.zeros(self.n_instances)
        most[some] = np.maximum.reduceat(lead, self.offsets[:-1][some])
        scores.arc[self._first_arc] = root - np.minimum(most, 0.0)[self.sentence]

    def near_best(self, scores: ArcParts, margin: float) -> BoolArray:
        """Which arcs score within a margin of the best one into the same token.

        The arcs from every token to the next and from the root to the first one are always among them. They are a tree
        of every kind, so there is one under any scores of what is left.
        """
        least = self.best_into_tokens(scores) - margin
        near: BoolArray = scores.arc >= np.repeat(least, self._n_heads)
        near[self._loops()] = False
        near[self._loops() - 1] = True
        return near

    def listed(self, arcs: BoolArray) -> tuple[IntArray, IntArray]:
        """Some arcs as lists of heads: those of a token are from start[token] to before start[token + 1]."""
        at = np.flatnonzero(arcs)
        start: IntArray = np.searchsorted(at, np.append(self._first_arc, self.n_arcs))
        heads = at - np.repeat(self._first_arc, np.diff(start))
        return start.astype(np.int64), heads.astype(np.int32)

    def weigh(self, values: Array) -> float:
        """Σ weight · value over sentences."""
        return float(np.sum(values if self.weights is None else values * self.weights))

    def part(self, first: int, last: int) -> tuple[Self, slice]:
        """The sentences from `first` to before `last`, and where their tokens are."""
        weights = None if self.weights is None else self.weights[first:last]
        other = self._like(self.lengths[first:last], weights)
        other.first = self.first + first
        return other, slice(int(self.offsets[first]), int(self.offsets[last]))

    def _like(self, lengths: IntArray, weights: Array | None) -> Self:
        """Other sentences with trees of the same kind."""
        return type(self)(lengths, **self._settings(), weights=weights, threads=self.threads)

    def _settings(self) -> dict[str, Any]:
        return {"projective": self.projective, "single_root": self.single_root}

    def _known(self, output: IntArray) -> BoolArray:
        return np.asarray(output) >= 0

    def _arcs_into(self, tokens: BoolArray) -> BoolArray:
        """Which parts are of arcs into some tokens."""
        return np.repeat(tokens, self._n_heads * self.n_labels)

    def places(self, output: IntArray, *, complete: bool = False) -> IntArray:
        """Where in a flat array of parts those of an output are; of no use where it is not given."""
        output = np.asarray(output)
        if len(output) != self.n_tokens:
            raise ParsimonError(
                f"there are {self.n_tokens} tokens but {len(output)} heads; give one a token."
            )
        wrong = (output < 0 if complete else output < -1) | (output >= self._n_heads * self.n_labels)
        if np.any(wrong):
            at = int(np.flatnonzero(wrong)[0])
            sentence = int(self.sentence[at])
            raise ParsimonError(
                f"sentence {sentence + self.first}, token {at - int(self.offsets[sentence]) + 1}: the head must be "
                f"from 0 to {self.lengths[sentence]}, not {int(output[at]) // self.n_labels}."
            )
        places: IntArray = self._first_arc * self.n_labels + output
        return places

    def _loops(self) -> IntArray:
        """The arcs from every token to itself."""
        loops: IntArray = self._first_arc + np.arange(self.n_tokens) - self.offsets[self.sentence] + 1
        return loops

    def _by_sentence(self, of_tokens: Array) -> Array:
        """Sums, in the order of tokens."""
        total: Array = np.bincount(self.sentence, of_tokens, minlength=self.n_instances).astype(np.float64)
        return total

    def _weight_of_parts(self) -> Array:
        """The weight of each part's sentence."""
        weights = np.ones(self.n_instances) if self.weights is None else self.weights
        return np.repeat(weights, self.lengths * (self.lengths + 1) * self.n_labels)

    def _counted(self, arc: Array) -> Array:
        """Every sentence's numbers times its weight, in place."""
        if self.weights is not None:
            arc *= self._weight_of_parts().reshape(arc.shape)
        return arc

    def _infeasible(self, values: Array) -> ParsimonError:
        which = int(np.flatnonzero(~(values > -np.inf))[0])
        if np.isnan(values[which]):
            return ParsimonError(
                f"the scores of sentence {which + self.first} must be numbers or −∞, but some are not."
            )
        kind = ("projective " if self.projective else "") + "tree"
        root = " with a single root" if self.single_root else ""
        return ParsimonError(
            f"sentence {which + self.first} has no possible {kind}{root} under the given constraints."
        )


class LabelledArborescence(Arborescence):
    """Trees whose arcs have labels (grammatical relations), chosen jointly with the heads.

    Parts are ``arc[a, l]``, arcs × labels. An output is one number a token, head · n_labels + label; `join` and
    `split` go from heads and labels to it and back. A wrong head and a wrong label cost the same.

    >>> import numpy as np
    >>> from parsimon.structures import ArcParts, LabelledArborescence
    >>> trees = LabelledArborescence([1], n_labels=3)
    >>> best, output = trees.argmax(ArcParts(np.array([[0.5, 2.0, 1.0], [0.0, 0.0, 0.0]])))  # from 0, from itself
    >>> heads, labels = trees.split(output)
    >>> heads.tolist(), labels.tolist(), float(best[0])
    ([0], [1], 2.0)
    """

    def __init__(
        self,
        lengths: IntArray | list[int],
        n_labels: int,
        *,
        projective: bool = False,
        single_root: bool = True,
        weights: Array | None = None,
        threads: int = 1,
    ) -> None:
        if n_labels < 1:
            raise ParsimonError(f"arcs must have one label or more to choose from, not {n_labels}.")
        self._n_labels = n_labels
        super().__init__(
            lengths, projective=projective, single_root=single_root, weights=weights, threads=threads
        )

    @property
    def n_labels(self) -> int:
        """How many labels an arc may have."""
        return self._n_labels

    @property
    def parts_shape(self) -> tuple[int, ...]:
        """Arcs × labels."""
        return (self.n_arcs, self.n_labels)

    def join(self, heads: IntArray, labels: IntArray) -> IntArray:
        """Outputs from heads and labels; −1 where either is not given."""
        heads, labels = np.asarray(heads, np.int64), np.asarray(labels, np.int64)
        return np.where((heads < 0) | (labels < 0), -1, heads * self.n_labels + labels)

    def split(self, output: IntArray) -> tuple[IntArray, IntArray]:
        """The heads and the labels of outputs; −1 where none is given."""
        heads, labels = np.divmod(np.asarray(output), self.n_labels)
        return heads, np.where(heads < 0, -1, labels)

    def argmax(self, scores: ArcParts) -> tuple[Array, IntArray]:
        """The best trees with the best label at each arc."""
        part = scores.arc.reshape(self.parts_shape)
        best, heads = super().argmax(ArcParts(part.max(axis=1, initial=-np.inf)))
        labels = part[self._first_arc + heads].argmax(axis=1)
        return best, self.join(heads, labels)

    def _probabilities(self, part: Array) -> tuple[Array, Array]:
        """An arc scores the log Σ exp of its labels; its probability is shared among them as their exponentials."""
        part = part.reshape(self.parts_shape)
        log_z, arc = super()._probabilities(self._share(part))
        part *= arc[:, None]
        return log_z, part

    def _share(self, part: Array) -> Array:
        """The scores of arcs; the probabilities of their labels take the place of the scores of parts."""
        part[self._loops()] = 0.0
        high = part.max(axis=1, initial=-np.inf)
        high[np.isneginf(high)] = 0.0  # forbidden with any label
        part -= high[:, None]
        np.exp(part, out=part)
        total = part.sum(axis=1)
        possible = total > 0
        np.divide(part, total[:, None], out=part, where=possible[:, None])
        arc: Array = high + np.log(total, out=np.full(len(total), -np.inf), where=possible)
        return arc

    def _settings(self) -> dict[str, Any]:
        return {"n_labels": self.n_labels, **super()._settings()}


def _number(cost: float | Array) -> float:
    """The cost of a wrong head; heads have no names, so it cannot be a table."""
    if isinstance(cost, np.ndarray):
        raise ParsimonError("the cost of a wrong head must be one number, not a table of costs.")
    return cost


def _log_trees(n: int, projective: bool, single_root: bool) -> float:
    if n == 0:
        return 0.0
    if not projective:
        return (n - 1) * float(np.log(n if single_root else n + 1))
    if single_root:
        return _log_choose(3 * n - 2, n - 1) - float(np.log(n))
    return _log_choose(3 * n, n) - float(np.log(2 * n + 1))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def check_tree(heads: IntArray | list[int], *, single_root: bool = True) -> None:
    """Raises an error that says which token is in the way, if the heads of a sentence's tokens are not a tree.

    >>> from parsimon.structures import check_tree
    >>> check_tree([2, 0, 2])
    >>> check_tree([2, 3, 1])
    Traceback (most recent call last):
    ...
    parsimon.errors.ParsimonError: tokens 1, 2, 3 are in a cycle of heads; one of them needs a head outside it.
    """
    head = [int(each) for each in heads]
    for token, each in enumerate(head, 1):
        if not 0 <= each <= len(head):
            raise ParsimonError(
                f"token {token} has the head {each}; it must be from 0 (root) to {len(head)}."
            )
        if each == token:
            raise ParsimonError(f"token {token} is its own head; it must be another token or 0 (root).")
    _check_cycles(head)
    roots = [token for token, each in enumerate(head, 1) if each == 0]
    if single_root and len(roots) > 1:
        raise ParsimonError(
            f"tokens {' and '.join(map(str, roots[:2]))} both hang on the root; only one may have the head 0."
        )


def _check_cycles(head: list[int]) -> None:
    seen = [0] * (len(head) + 1)  # by the walk that started at which token
    for start in range(1, len(head) + 1):
        at = start
        while at != 0 and not seen[at]:
            seen[at] = start
            at = head[at - 1]
        if at == 0 or seen[at] != start:
            continue
        cycle = [at]
        while head[cycle[-1] - 1] != at:
            cycle.append(head[cycle[-1] - 1])
        named = ", ".join(map(str, sorted(cycle)))
        raise ParsimonError(f"tokens {named} are in a cycle of heads; one of them needs a head outside it.")
