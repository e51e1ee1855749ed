"""A penalty and a pull towards a point: what proximal-point methods and ADMM minimise in between."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from parsimon._core import dot
from parsimon.arrays import Array, IntArray
from parsimon.penalties.base import BasePenalty, SeparableTerms
from parsimon.penalties.elastic_net import ElasticNet


@dataclass(frozen=True)
class Pulled(BasePenalty):
    """Ω(w) = elastic net + ½ Σ_k pull_k (w_k − centre_k)².

    >>> import numpy as np
    >>> from parsimon.penalties import ElasticNet, Pulled
    >>> Pulled(ElasticNet(l1=1.0), pull=np.array([2.0, 0.0]), centre=np.array([1.0, 5.0])).value(np.array([2.0, -1.0]))
    4.0
    """

    net: ElasticNet
    pull: Array = field(repr=False)
    centre: Array = field(repr=False)

    @property
    def smooth(self) -> bool:
        """True when there is no L1 part."""
        return self.net.smooth

    @property
    def separable(self) -> bool:
        """Always."""
        return True

    @property
    def strength(self) -> float:
        """That of the elastic net."""
        return self.net.strength

    @property
    def weight(self) -> Array | None:
        """That of the elastic net."""
        return self.net.weight

    @property
    def l1_strength(self) -> float | Array:
        """What |w_k| is multiplied by."""
        return self.net.l1_strength

    def value(self, w: Array) -> float:
        """Both parts."""
        apart = w - self.centre
        return self.net.value(w) + 0.5 * float(dot(self.pull, apart * apart))

    def smooth_gradient(self, w: Array) -> Array:
        """The gradient of what is smooth."""
        return self.net.smooth_gradient(w) + self.pull * (w - self.centre)

    def prox(self, v: Array, step: float | Array) -> Array:
        """The elastic net's proximal operator at the mean of v and the centre, weighed 1 : step·pull."""
        more = 1 + step * self.pull
        return self.net.prox((v + step * self.pull * self.centre) / more, step / more)

    def even_steps(self, steps: Array) -> Array:
        """The steps given."""
        return steps

    def violation(self, w: Array, gradient: Array) -> Array:
        """That of the elastic net, the pull counted as loss."""
        return self.net.violation(w, gradient + self.pull * (w - self.centre))

    def separated(self, n_features: int) -> SeparableTerms:
        """As one absolute value and one parabola a weight."""
        net = self.net.separated(n_features)
        bend = net.bend + self.pull
        centre = np.divide(self.pull * self.centre, bend, out=np.zeros_like(bend), where=bend > 0)
        return SeparableTerms(net.l1, bend, centre)

    def restrict(self, features: IntArray) -> Pulled:
        """The penalty of some of the weights; the others being zero adds a constant."""
        return replace(
            self,
            net=self.net.restrict(features),
            pull=self.pull[features],
            centre=self.centre[features],
        )

    def scaled(self, strength: float) -> Pulled:
        """The same with another `l1`."""
        return replace(self, net=self.net.scaled(strength))
