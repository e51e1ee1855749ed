"""Ways to ask for groups before features are numbered: by template, attribute, label, tree or a partial order.

A grouping is what a user names; it becomes `Groups` once there is a table of features.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.penalties.groups import BlockGroups, Groups, Rule, bounds, group_weights


class FeatureDescriptions(Protocol):
    """What the features of a problem are, as far as groupings ask.

    Features are numbered attribute by attribute: first those of attributes of tokens (`node`), with one label each,
    then those of attributes of steps between tokens (`pair`), with two.
    """

    @property
    def n_features(self) -> int:
        """How many features there are."""
        ...

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        ...

    def template_names(self) -> list[str]:
        """The templates."""
        ...

    def template_of_attributes(self) -> tuple[IntArray, IntArray]:
        """The template number of every node attribute, and of every pair attribute."""
        ...

    def starts(self) -> tuple[IntArray, IntArray]:
        """The first feature of every node attribute, and of every pair attribute, and one past the last of each."""
        ...

    def labels_of(self, features: IntArray) -> IntArray:
        """The label of each feature; of two labels the second."""
        ...

    def label_names(self) -> tuple[str, ...]:
        """The labels."""
        ...

    def attribute_name(self, feature: int) -> str:
        """The name of the attribute that a feature belongs to."""
        ...

    def bias_features(self) -> IntArray:
        """The features that look at nothing but labels, ascending."""
        ...

    def firings(self) -> Array:
        """How many attributes each template has where it has any."""
        ...


class Grouping(Protocol):
    """A way to group features that are not numbered yet."""

    def groups(self, features: FeatureDescriptions) -> Groups:
        """The groups that this makes of these features."""
        ...


class Order(Protocol):
    """A partial order of templates (`parsimon.features.template_order.TemplateOrder`)."""

    @property
    def names(self) -> tuple[str, ...]:
        """The templates."""
        ...

    def below(self, a: int) -> IntArray:
        """The numbers of all templates b with a ⪯ b, a among them."""
        ...


@dataclass(frozen=True)
class ByTemplate:
    """All features of a template are a group: templates are kept or dropped as a whole.

    With `keep_bias`, templates that look at nothing but labels (biases, label bigrams) are not penalised: they are
    groups with the weight 0. With `by_firings`, a template that makes several attributes at a time (of all words
    between the ends of an arc) has so many times the weight: whatever is learnt moves as many of its weights at once.
    """

    weight: Rule = "log2"
    keep_bias: bool = True
    by_firings: bool = True

    def groups(self, features: FeatureDescriptions) -> Groups:
        """Group m is template m."""
        groups = self._groups(features)
        return groups.reweighted(groups.weight * features.firings()) if self.by_firings else groups

    def _groups(self, features: FeatureDescriptions) -> Groups:
        runs = _TemplateRuns.of(features)
        n = len(runs.names)
        free = runs.bias & self.keep_bias
        if np.any(np.diff(runs.template) <= 0):  # a template's features are in more than one place
            return runs.unions([np.array([t]) for t in range(n)], runs.names, self.weight, free)
        ptr = runs.blocks.ptr[np.searchsorted(runs.template, np.arange(n + 1))]
        weight = group_weights(self.weight, np.diff(ptr))
        weight[free] = 0.0
        return Groups(ptr, None, weight, features.n_features, runs.names)


@dataclass(frozen=True)
class ByAttribute:
    """The features of an attribute, one for each label, are a group: attributes are kept or dropped as a whole."""

    weight: Rule = "ones"

    def groups(self, features: FeatureDescriptions) -> Groups:
        """One group an attribute, those of steps last."""
        node, pair = features.starts()
        ptr = np.concatenate([node, pair[1:]])

        def name(m: int) -> str:
            return features.attribute_name(int(ptr[m])) if ptr[m] < ptr[m + 1] else f"attribute {m}"

        return Groups.consecutive(ptr, features.n_features, name, self.weight)


@dataclass(frozen=True)
class ByLabel:
    """The features of a label are a group; a feature of a step belongs to the label that the step leads to."""

    weight: Rule = "sqrt"

    def groups(self, features: FeatureDescriptions) -> Groups:
        """One group a label."""
        n, piece = features.n_features, 1 << 20
        label = np.empty(n, np.int32)
        for a in range(0, n, piece):
            label[a : a + piece] = features.labels_of(np.arange(a, min(a + piece, n)))
        sizes = np.bincount(label, minlength=features.n_labels)
        index = np.argsort(label, kind="stable")
        return Groups(bounds(sizes), index, group_weights(self.weight, sizes), n, features.label_names())


@dataclass(frozen=True)
class ByOrder:
    """Coarse to fine: the group of a template a has the features of all templates b with a ⪯ b.

    So b is kept only if a is (Martins et al. 2011, §3.1). The groups overlap. Templates that the order does not name
    are groups by themselves, and so are biases and label bigrams with `keep_bias`, with the weight 0. With
    `by_firings`, the group of a has as many times the weight as a makes attributes at a time, as in `ByTemplate`.
    """

    order: Order
    weight: Rule = "log2"
    keep_bias: bool = True
    by_firings: bool = True

    def groups(self, features: FeatureDescriptions) -> Groups:
        """Group a is template a of the order; those that it does not name follow."""
        runs = _TemplateRuns.of(features)
        number = {name: a for a, name in enumerate(self.order.names)}
        unknown = [name for name in self.order.names if name not in runs.names]
        if unknown:
            raise ParsimonError(
                f"the order names the template {unknown[0]!r}, which is not there; make it from these templates."
            )
        kept = runs.bias & self.keep_bias
        place = np.array([number.get(name, -1) for name in runs.names], np.int64)
        sets, free = [], []
        for a in range(len(number)):
            free.append(bool(np.any(kept[place == a])))
            after = place == a if free[-1] else np.isin(place, self.order.below(a)) & ~kept
            sets.append(np.flatnonzero(after))
        others = np.flatnonzero(place < 0)
        names = [*self.order.names, *(runs.names[t] for t in others)]
        sets += [np.array([t]) for t in others]
        groups = runs.unions(sets, names, self.weight, np.array([*free, *kept[others]], bool))
        if not self.by_firings:
            return groups
        times = dict(zip(runs.names, features.firings(), strict=True))
        return groups.reweighted(groups.weight * np.array([times[name] for name in names]))


@dataclass(frozen=True)
class ByTree:
    """Nested groups of templates: a node of the tree has the features of all templates at it and below it.

    `parents` gives the parent of every node, −1 for a root. The first nodes are the templates, in their order; the
    others, if any, only hold templates together, and `names` are theirs. With `keep_bias`, biases and label bigrams are
    in no group but their own, which has the weight 0.
    """

    parents: Sequence[int]
    weight: Rule = "log2"
    keep_bias: bool = True
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        for node, parent in enumerate(self.parents):
            if not -1 <= parent < len(self.parents):
                raise ParsimonError(
                    f"node {node} of the tree has the parent {parent}; "
                    f"parents are nodes from 0 to {len(self.parents) - 1}, or -1 for a root."
                )
            if len(self._path(node)) > len(self.parents):
                raise ParsimonError(
                    f"node {node} of the tree is its own ancestor; parents must lead to a root."
                )

    def _path(self, node: int) -> list[int]:
        """A node and its ancestors, or more than there are if they go round in circles."""
        path: list[int] = []
        while node >= 0 and len(path) <= len(self.parents):
            path.append(node)
            node = self.parents[node]
        return path

    def groups(self, features: FeatureDescriptions) -> Groups:
        """Group m is node m."""
        runs = _TemplateRuns.of(features)
        n = len(runs.names)
        if len(self.parents) < n:
            raise ParsimonError(
                f"the tree has {len(self.parents)} nodes, but there are {n} templates; give a parent for each."
            )
        inside: list[list[int]] = [[] for _ in self.parents]
        free = np.zeros(len(inside), bool)
        free[:n] = runs.bias & self.keep_bias
        for t in range(n):
            for node in [t] if free[t] else self._path(t):
                inside[node].append(t)
        inner = [f"node {m}" for m in range(n, len(self.parents))]
        inner[: len(self.names)] = self.names[: len(inner)]
        sets = [np.array(templates, np.int64) for templates in inside]
        return runs.unions(sets, [*runs.names, *inner], self.weight, free)


@dataclass(frozen=True)
class _TemplateRuns:
    """Features in order, as runs of one template each."""

    blocks: Groups
    template: IntArray  # of each run
    names: list[str]
    bias: BoolArray  # templates that look at nothing but labels

    @classmethod
    def of(cls, features: FeatureDescriptions) -> _TemplateRuns:
        owner = np.concatenate(features.template_of_attributes())
        node, pair = features.starts()
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        ptr = np.append(np.concatenate([node[:-1], pair[:-1]])[first], features.n_features)
        blocks, template, names = (
            Groups.consecutive(ptr, features.n_features),
            owner[first],
            features.template_names(),
        )
        bias = np.diff(np.searchsorted(features.bias_features(), ptr))
        n_bias, n_all = (np.bincount(template, each, len(names)) for each in (bias, blocks.sizes))
        return cls(blocks, template, names, (n_bias == n_all) & (n_all > 0))

    def unions(
        self, sets: Iterable[IntArray], names: Sequence[str], rule: Rule, free: BoolArray
    ) -> BlockGroups:
        """Groups of all features of several templates; those that are `free` get the weight 0."""
        chosen = [np.flatnonzero(np.isin(self.template, templates)).tolist() for templates in sets]
        groups = BlockGroups(self.blocks, Groups.from_lists(chosen, self.blocks.n_groups, names, "ones"))
        weight = group_weights(rule, groups.sizes)
        weight[free] = 0.0
        return groups.reweighted(weight)
