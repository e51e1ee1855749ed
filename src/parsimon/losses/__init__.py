"""Losses. They see part scores and a structure's oracles, never features.

| loss       | value at one instance                        | μ                           |
|------------|----------------------------------------------|-----------------------------|
| log        | log Z(s) − s(gold)                           | the marginals               |
| hinge      | max_y [s(y) + cost(y, gold)] − s(gold)       | the cost-augmented argmax   |
| perceptron | max_y s(y) − s(gold)                         | the argmax                  |
| squared    | ½ (s − gold)²                                | the mean, which is s itself |

The gradient with respect to part scores is μ − gold. Markov random fields also have the pseudo-likelihood.
"""

from __future__ import annotations

from parsimon.errors import ParsimonError
from parsimon.losses.base import Loss, loss_settings, some_missing
from parsimon.losses.costs import Cost
from parsimon.losses.hinge import Hinge, SmoothedHinge
from parsimon.losses.log import Log
from parsimon.losses.perceptron import Perceptron
from parsimon.losses.pseudo_likelihood import PseudoLikelihood
from parsimon.losses.squared import Squared

__all__ = [
    "LOSSES",
    "Cost",
    "Hinge",
    "Log",
    "Loss",
    "Perceptron",
    "PseudoLikelihood",
    "SmoothedHinge",
    "Squared",
    "get_loss",
    "loss_settings",
    "some_missing",
]

LOSSES: dict[str, type[Log] | type[Hinge] | type[Perceptron] | type[Squared] | type[PseudoLikelihood]] = {
    loss.name: loss for loss in (Log, Hinge, Perceptron, Squared, PseudoLikelihood)
}


def get_loss(loss: str | Loss) -> Loss:
    """A loss by name (``log``, ``hinge``, ``perceptron``, ``squared``, ``pseudo-likelihood``), or the loss given."""
    if not isinstance(loss, str):
        return loss
    if loss not in LOSSES:
        raise ParsimonError(f"there is no loss called {loss!r}; choose from {', '.join(LOSSES)}.")
    return LOSSES[loss]()
