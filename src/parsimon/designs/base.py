"""What every design offers: Φ, the sparse linear map from weights to part scores."""

from __future__ import annotations

from typing import Any, Protocol

from parsimon.arrays import Array, IntArray


class Design(Protocol):
    """The map Φ of one batch of instances, for a set of features."""

    @property
    def n_features(self) -> int:
        """The length of w."""
        ...

    def scores(self, w: Array) -> Any:
        """Φ w, as parts."""
        ...

    def scores_of(self, values: Array, features: IntArray) -> Any:
        """Φ w where only the given features (ascending) are not zero."""
        ...

    def pullback(self, parts: Any, out: Array) -> None:
        """out += Φᵀ parts."""
        ...

    def pullback_squared(self, parts: Any, out: Array) -> None:
        """out += (Φ∘Φ)ᵀ parts, the values of features squared."""
        ...

    def restrict(self, features: IntArray) -> Design:
        """The map of some features only (ascending numbers)."""
        ...

    def adapt(self, structure: Any) -> Any:
        """The structure with parts as this design scores them: fewer features may need fewer parts."""
        ...

    def part(self, where: slice) -> Design:
        """The map of some instances: those whose outputs are there in an array of outputs."""
        ...

    def differences(self, structure: Any, gold: IntArray, output: IntArray) -> list[SparseVectors]:
        """f(gold) − f(output) of every instance; features ascend from one element of the list to the next."""
        ...


# Sparse vectors, one an instance: the number of the first feature; where each vector starts; features, counted from
# that first one; values.
SparseVectors = tuple[int, IntArray, IntArray, Array]
