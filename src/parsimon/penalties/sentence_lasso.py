"""The sentence regularizer: one group for every sentence of the training documents (Yogatama & Smith 2014)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from parsimon.arrays import Array
from parsimon.errors import ParsimonError
from parsimon.penalties.elastic_net import soft_threshold
from parsimon.penalties.group_lasso import GroupPenalty
from parsimon.penalties.groups import Groups


@dataclass(frozen=True)
class SentenceLasso(GroupPenalty):
    """Ω(w) = strength Σ_{d,s} ‖w_{d,s}‖ + l1 ‖w‖₁: λ_sen and λ_las of the paper.

    w_{d,s} has the weight of every *token* of sentence s of document d, so a word that is there twice counts twice.
    There may be millions of groups, and a word is in as many as it has sentences. Such a penalty has no practical
    proximal operator; ADMM gives every token a copy of its weight instead.

    >>> import numpy as np
    >>> from parsimon.penalties.groups import Groups
    >>> from parsimon.penalties import SentenceLasso
    >>> sentences = Groups(np.array([0, 2, 5]), np.array([0, 1, 1, 2, 2]), np.ones(2), n_features=3)
    >>> SentenceLasso(1.0, sentences, l1=0.5).value(np.array([0.0, 1.0, 0.0]))
    2.5
    """

    groups: Any = field(default=None)  # Groups, or a grouping until `bind`; None: by sentence

    @property
    def proximal(self) -> bool:
        """No: groups may have a feature several times."""
        return False

    def prox(self, v: Array, step: float | Array) -> Array:
        """There is none."""
        raise ParsimonError("the sentence regularizer has no proximal operator; use the solver admm.")

    def violation(self, w: Array, gradient: Array) -> Array:
        """Refused: it does not follow from the weights alone."""
        raise ParsimonError(
            "only a duality gap says how far the sentence regularizer is from optimal; use admm."
        )

    def dual_norm(self, gradient: Array) -> float:
        """A strength from which on all weights are zero, l1 being what it is: max_s ‖(g_k/n_k)_{k ∈ s}‖ / d_s.

        n_k is how many tokens have the weight k. When all of them pull the same, −g is a sum of such pulls, so zero is
        optimal; other shares may show that of a smaller strength.
        """
        groups = self._known
        tokens = groups.spread((groups.weight > 0).astype(np.float64))
        pull = np.abs(soft_threshold(self._held(gradient), self.l1))
        held = groups.weight > 0
        each = np.divide(pull, tokens, out=np.zeros_like(pull), where=tokens > 0)
        return float(np.max(groups.norms(each)[held] / groups.weight[held], initial=0.0))

    def _check(self, groups: Groups) -> None:
        if self.norm != 2:
            raise ParsimonError("sentences have the norm 2, not inf.")
