"""Information gain: which templates are most informative about the label of a token, without training a model.

This is the filter that learnt selections of templates are measured against (Martins et al. 2011, section 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.features.observations import Observations, Rows
from parsimon.features.space import FeatureSpace
from parsimon.selection.base import Candidates, Selected, check_budget, selected
from parsimon.solvers.driver import Monitor

__all__ = ["InformationGain", "arc_information_gain", "information_gain", "rank_templates"]

# Counts are kept for as many attributes at a time as have this many (attribute, label) cells: 128 MB.
_CELLS = 2**25
# And the tokens are gone through in parts of about this many entries.
_ENTRIES = 2**21


def information_gain(
    observations: Observations,
    gold: IntArray,
    n_labels: int,
    template_of_attribute: IntArray,
    n_templates: int,
) -> Array:
    """How many bits each template says about the label of a token: Martins et al. 2011, eq. 16.

        IG_m = Σ_{f ∈ T_m} Σ_y P(f, y) log2 [P(f, y) / (P(f) P(y))]

    P(f, y) is the share of tokens that have label y and on which attribute f fires, counted once a token and
    whatever its value is. The paper has arcs, present or absent, where this has labels. Tokens whose label
    is not known (−1) are left out. For a template that makes exactly one attribute of every token, it is the
    mutual information of the template's value and the label.

    >>> import numpy as np
    >>> from parsimon.features import Rows
    >>> node = Rows(np.arange(0, 9, 2), np.array([0, 2, 0, 2, 1, 2, 1, 2]))
    >>> nothing = Rows(np.zeros(5, np.int64), np.zeros(0, np.int32))
    >>> observations = Observations(node, nothing, np.array([4]))
    >>> information_gain(observations, np.array([0, 0, 1, 1]), 2, np.array([0, 0, 1]), n_templates=2)
    array([1., 0.])
    """
    gold = np.asarray(gold)
    template_of_attribute = np.asarray(template_of_attribute)
    _check(observations, gold, n_labels, template_of_attribute, n_templates)
    tokens_with = np.bincount(gold[gold >= 0], minlength=n_labels)
    gain = np.zeros(n_templates)
    width = max(_CELLS // n_labels, 1)
    table = np.empty((min(width, len(template_of_attribute)), n_labels), np.int32)  # used again and again
    for first in range(0, len(template_of_attribute), width):
        template = template_of_attribute[first : first + width]
        counts = table[: len(template)]
        _count(observations, gold, first, counts)
        attribute, bits = _bits(counts, tokens_with)
        gain += np.bincount(template[attribute], bits, minlength=n_templates)
    return gain


def arc_information_gain(
    on_trees: Array, on_arcs: Array, n_words: int, n_arcs: int, template: IntArray, n_templates: int
) -> Array:
    """The same of arcs, present or absent: how many bits each template says about A (Martins et al. 2011, eq. 16).

    `on_trees` and `on_arcs` are how many arcs of the trees, and how many of all, each attribute fires on; there are
    `n_words` and `n_arcs` of them.

    >>> arc_information_gain(np.array([2.0, 0.0, 1.0]), np.array([2.0, 2.0, 2.0]), 2, 4, np.array([0, 0, 1]), 2)
    array([1., 0.])
    """
    bits = np.zeros(len(on_arcs))
    for joint, share in ((on_trees, n_words / n_arcs), (on_arcs - on_trees, 1 - n_words / n_arcs)):
        p = joint / n_arcs
        some = joint > 0
        bits[some] += p[some] * np.log2(p[some] / (on_arcs[some] / n_arcs * share))
    return np.bincount(template, bits, minlength=n_templates).astype(np.float64)


def rank_templates(
    space: FeatureSpace, observations: Observations, gold: IntArray, n_labels: int
) -> list[tuple[str, float]]:
    """The templates of tokens with their information gain in bits, best first; equals as `space` has them.

    Templates that have no attributes of tokens, such as the label bigram, are not in the list.

    >>> from parsimon.features import Columns, TemplateFeatures, TemplateSet
    >>> space = TemplateFeatures(TemplateSet.parse("U0:%x[-1,0]\\nU1:%x[0,0]\\nB"))
    >>> observations = space.learn(Columns.from_sequences([["a", "b", "a"], ["b", "a"]]))
    >>> rank_templates(space, observations, np.array([0, 1, 0, 1, 0]), n_labels=2)[0][0]
    'U1:%x[0,0]'
    """
    names = space.template_names()
    owner = space.node_templates(np.arange(space.n_node))
    gain = information_gain(observations, gold, n_labels, owner, len(names))
    present = np.unique(owner)
    order = present[np.argsort(-gain[present], kind="stable")]
    return [(names[m], float(gain[m])) for m in order.tolist()]


def _count(observations: Observations, gold: IntArray, first: int, counts: IntArray) -> None:
    """On how many tokens of each label the attributes first, first + 1, … fire: counts[attribute − first, label]."""
    n, n_labels = counts.shape
    counts.fill(0)
    entries_per_token = len(observations.node.index) / max(observations.n_tokens, 1)
    for _, tokens, part in observations.batches(max(int(_ENTRIES / max(entries_per_token, 1)), 1)):
        attribute, label = _firing(part.node, gold[tokens])
        inside = (attribute >= first) & (attribute < first + n)
        cell = (attribute[inside].astype(np.int64) - first) * n_labels + label[inside]
        np.add.at(counts.reshape(-1), cell, np.int32(1))


def _bits(counts: IntArray, tokens_with: IntArray) -> tuple[IntArray, Array]:
    """The attributes that fire with some label, and P(f, y) log2 [P(f, y) / (P(f) P(y))] of each such pair."""
    n_tokens = float(tokens_with.sum())
    fires = counts.sum(axis=1)
    attribute, label = np.nonzero(counts)
    joint = counts[attribute, label].astype(np.float64)
    expected = fires[attribute] * (tokens_with[label] / n_tokens)
    return attribute, joint / n_tokens * np.log2(joint / expected)


def _firing(rows: Rows, gold: IntArray) -> tuple[IntArray, IntArray]:
    """The attributes that fire, each once a token, and the labels there; tokens without label are left out."""
    token = np.repeat(np.arange(len(rows)), np.diff(rows.start))
    attribute, label = rows.index, gold[token]
    fires = label >= 0
    if rows.value is not None:
        fires &= rows.value != 0
    if not fires.all():
        token, attribute, label = token[fires], attribute[fires], label[fires]
    # Templates that share their attributes (a bag of words) can make the same one twice. Where every template
    # has its own, the attributes of a token ascend, and there is nothing to look for.
    if ((token[1:] == token[:-1]) & (attribute[1:] <= attribute[:-1])).any():
        n_attributes = int(attribute.max()) + 1
        _, once = np.unique(token * n_attributes + attribute, return_index=True)
        attribute, label = attribute[once], label[once]
    return attribute, label


def _check(
    observations: Observations, gold: IntArray, n_labels: int, template: IntArray, n_templates: int
) -> None:
    if len(gold) != observations.n_tokens:
        raise ParsimonError(
            f"gold has {len(gold)} labels, but the observations have {observations.n_tokens} tokens: "
            "give one label a token, -1 where it is not known"
        )
    if not (gold >= 0).any():
        raise ParsimonError("no token has a known label, and information gain needs at least one")
    if gold.max() >= n_labels:
        raise ParsimonError(
            f"gold holds the label {gold.max()}, but n_labels = {n_labels} allows 0 to {n_labels - 1}"
        )
    if observations.node.index.max(initial=-1) >= len(template):
        raise ParsimonError(
            f"attribute {observations.node.index.max()} is observed, but template_of_attribute ends "
            f"at attribute {len(template) - 1}"
        )
    if len(template) and not (template.min() >= 0 and template.max() < n_templates):
        raise ParsimonError(f"template_of_attribute must hold numbers from 0 to {n_templates - 1}")


@dataclass(frozen=True)
class InformationGain:
    """A filter: the templates with the largest information gain (Martins et al. 2011, eq. 16)."""

    budget: int = 30
    name: ClassVar[str] = "information-gain"
    weighs_features: ClassVar[bool] = False

    def select(self, candidates: Candidates, monitor: Monitor) -> Selected:
        """Keeps the best."""
        features = candidates.features
        check_budget(self.budget, features)
        bits = candidates.gains()
        best = np.argsort(-bits, kind="stable")[: self.budget]
        kept = np.zeros(len(bits), bool)
        kept[best] = True
        return selected(features, kept & (bits > 0), bits, [])
