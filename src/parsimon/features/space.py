"""The interface of feature spaces: from the user's input to numbered attributes, and back to names."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.features.observations import Observations


class NumberedFeatures(Protocol):
    """Numbered attributes of tokens (``node``) and of steps between tokens (``pair``), and their names."""

    kind: ClassVar[str]

    @property
    def n_node(self) -> int:
        """The number of token attributes."""
        ...

    @property
    def n_pair(self) -> int:
        """The number of step attributes."""
        ...

    def keep(self, node: BoolArray, pair: BoolArray) -> Any:
        """The space with only some attributes, renumbered in the same order."""
        ...

    def node_names(self, attributes: IntArray) -> list[str]:
        """Readable names of token attributes."""
        ...

    def pair_names(self, attributes: IntArray) -> list[str]:
        """Readable names of step attributes."""
        ...

    def template_names(self) -> list[str]:
        """The templates (or kinds) to which attributes belong."""
        ...

    def node_templates(self, attributes: IntArray) -> IntArray:
        """The template of each attribute, as an index into `template_names`."""
        ...

    def pair_templates(self, attributes: IntArray) -> IntArray:
        """The template of each attribute, as an index into `template_names`."""
        ...

    def constant(self) -> tuple[IntArray, IntArray]:
        """The attributes that test nothing: biases and plain label bigrams."""
        ...

    def state(self) -> tuple[dict[str, Any], dict[str, Array | IntArray]]:
        """The content for a model file: settings for JSON, and arrays."""
        ...


class FeatureSpace(NumberedFeatures, Protocol):
    """Numbers the attributes of the user's input."""

    def learn(self, X: Any, threads: int) -> Observations:
        """Number every attribute of X."""
        ...

    def observe(self, X: Any, threads: int) -> Observations:
        """The known attributes of X; others are ignored."""
        ...


@runtime_checkable
class CountsFirings(Protocol):
    """Features whose templates may make several attributes at a time."""

    def firings(self) -> Array:
        """How many attributes each template has where it has any."""
        ...
