"""What every feature space offers: from a user's input to numbered attributes, and back to names."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.features.observations import Observations


class NumberedFeatures(Protocol):
    """Numbered attributes of tokens (``node``) and of steps between tokens (``pair``), and what they are called."""

    kind: ClassVar[str]

    @property
    def n_node(self) -> int:
        """How many attributes of tokens there are."""
        ...

    @property
    def n_pair(self) -> int:
        """How many attributes of steps there are."""
        ...

    def keep(self, node: BoolArray, pair: BoolArray) -> Any:
        """The space of some attributes only, numbered anew in the same order."""
        ...

    def node_names(self, attributes: IntArray) -> list[str]:
        """Names for people."""
        ...

    def pair_names(self, attributes: IntArray) -> list[str]:
        """Names for people."""
        ...

    def template_names(self) -> list[str]:
        """The templates (or kinds) that attributes belong to."""
        ...

    def node_templates(self, attributes: IntArray) -> IntArray:
        """The template of each attribute, as a number into `template_names`."""
        ...

    def pair_templates(self, attributes: IntArray) -> IntArray:
        """The template of each attribute, as a number into `template_names`."""
        ...

    def constant(self) -> tuple[IntArray, IntArray]:
        """Attributes that look at nothing: biases, and label bigrams without an observation."""
        ...

    def state(self) -> tuple[dict[str, Any], dict[str, Array | IntArray]]:
        """What a model file keeps: JSON-able settings and arrays."""
        ...


class FeatureSpace(NumberedFeatures, Protocol):
    """Numbers the attributes of a user's input."""

    def learn(self, X: Any, threads: int) -> Observations:
        """Numbers every attribute of X."""
        ...

    def observe(self, X: Any, threads: int) -> Observations:
        """The attributes of X that are known; others are passed over."""
        ...


@runtime_checkable
class CountsFirings(Protocol):
    """Features whose templates may make several attributes at a time."""

    def firings(self) -> Array:
        """How many attributes each template has where it has any."""
        ...
