"""The loss of one sequence and its derivatives, by enumeration; and the toys that online learners are tested on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from parsimon.structures import ChainParts
from toy_problems import Toy, dense_map, make_toy

TOYS = {
    "plain": make_toy(1, lengths=(3, 1, 0, 3, 2, 4, 2)),
    "real values": make_toy(2, lengths=(3, 2, 2, 3), real=True),
    "seen pairs": make_toy(3, lengths=(3, 3, 1, 2), candidates="seen"),
    "weighted": make_toy(4, lengths=(2, 3, 2, 4), weighted=True),
    "no transitions": make_toy(5, lengths=(3, 2, 3), n_pair=0),
    "trees": make_toy(8, lengths=(4, 1, 0, 3, 3), trees=True),
}
every_toy = pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
every_loss = pytest.mark.parametrize("loss", ["perceptron", "hinge", "log"])


@dataclass(frozen=True)
class SequenceLosses:
    """The losses of a toy's sequences (or trees), each for itself."""

    toy: Toy
    loss: str

    @cached_property
    def maps(self) -> tuple[Any, Any]:
        """Φ of tokens and of steps, as arrays."""
        return dense_map(self.toy.index, self.toy.observations)

    def at(self, i: int, w: Any) -> tuple[float, Any, float]:
        """The loss of a sequence, −∇ of it, and how much the sequence counts."""
        tokens, weight, outputs = list(self.toy.enumerations(w))[i]
        if not outputs.length:
            return 0.0, np.zeros_like(w), weight
        gold = self.toy.gold[tokens]
        if self.loss == "log":
            node, pair = self.maps
            features = np.einsum("ty,tyk->k", outputs.node_marginals(), node[tokens])
            features += np.einsum("txy,txyk->k", outputs.pair_marginals(), pair[tokens])
            value = outputs.log_z
        else:
            costly = outputs.with_cost(gold, 1.0) if self.loss == "hinge" else outputs
            best = self.decoded(tokens, w)  # of those that tie, the one that the library takes
            value = costly.score_of(best)
            assert value == pytest.approx(costly.best()[0])
            features = self.features(tokens, best)
        return value - outputs.score_of(gold), self.features(tokens, gold) - features, weight

    def decoded(self, tokens: slice, w: Any) -> Any:
        """The output that the loss compares with gold."""
        node, pair = (np.ascontiguousarray(each[tokens] @ w) for each in self.maps)
        chain, scores = self.toy.structure(tokens), ChainParts(node, pair)
        if self.loss == "hinge":
            return chain.cost_argmax(scores, self.toy.gold[tokens], 1.0)[1]
        return chain.argmax(scores)[1]

    def features(self, tokens: slice, labels: Any) -> Any:
        """Φᵀ of a labelling."""
        node, pair = self.maps
        here, before = np.arange(tokens.start, tokens.stop), self.toy.before(tokens)
        steps = np.flatnonzero(before >= 0)
        of_steps = pair[here[steps], labels[before[steps]], labels[steps]].sum(axis=0)
        return node[here, labels].sum(axis=0) + of_steps
