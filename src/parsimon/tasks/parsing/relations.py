"""Learning to name the relation of every word to its head: a classifier of the arcs of given trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsimon.arrays import Array
from parsimon.data.treebanks import Treebank
from parsimon.designs.feature_index import FeatureIndex
from parsimon.errors import ParsimonError
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_templates import ArcTemplates
from parsimon.losses import get_loss
from parsimon.penalties import L2
from parsimon.problem import InMemoryProblem
from parsimon.solvers import Weights
from parsimon.tasks import naming
from parsimon.tasks.parsing.model import in_order, observe_arcs
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import make_batches

NO_NAME = "_"


@dataclass(frozen=True)
class RelationTask:
    """A problem whose labels are the names of relations, and what its features mean."""

    space: ArcFeatures
    index: FeatureIndex
    names: tuple[str, ...]
    problem: InMemoryProblem

    @classmethod
    def of(
        cls, templates: ArcTemplates, treebank: Treebank, weights: Array | None = None, threads: int = 1
    ) -> RelationTask | None:
        """The problem of a treebank; None if its relations have no names."""
        names, gold = relation_names(treebank), treebank.relations.ids
        if not names:
            return None
        space = ArcFeatures(templates)
        observations = observe_arcs(space, treebank, treebank.heads, space.learn(treebank, threads), threads)
        index = FeatureIndex.seen_pairs(observations, gold, len(names), space.n_node, 0)
        each = None if weights is None else np.repeat(weights, treebank.lengths)
        batches = tuple(make_batches(observations, gold, index, threads, each))
        problem = InMemoryProblem(batches, get_loss("hinge").bind(names), L2(0.0), index.n_features)
        return cls(space, index, names, problem)

    def model(self, weights: Weights) -> SequenceModel:
        """The features that are left, as a model of words by themselves."""
        return in_order(SequenceModel.from_weights(self.names, self.space, self.index, weights, {}))


def relation_names(treebank: Treebank) -> tuple[str, ...]:
    """The names of relations in order of first appearance; none if no word has one, but some and not all is refused."""
    labels = treebank.relations
    names = tuple(name for name in labels.names if name != NO_NAME)
    if names and NO_NAME in labels.names:
        unnamed = int(np.sum(labels.ids == labels.names.index(NO_NAME)))
        raise ParsimonError(
            f"{treebank.name} has {unnamed:,} words without relation, but others have one; "
            "give all of them, or train without relations."
        )
    naming.check_labels(names, "relation")
    return names
