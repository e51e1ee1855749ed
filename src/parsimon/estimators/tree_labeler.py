"""TreeLabeler: labels for the nodes of trees. Training and the model are those of sequences, with parents for steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.estimators.estimator import documented
from parsimon.estimators.labeler import Labeler
from parsimon.features.columns import Columns, Labels
from parsimon.features.item_features import is_matrix
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.templates import TemplateSet, as_templates
from parsimon.features.tree_columns import tree_columns
from parsimon.tasks.options import changed
from parsimon.tasks.sequences.options import LabellingOptions
from parsimon.tasks.trees.model import TreeModel
from parsimon.tasks.trees.options import TreeOptions
from parsimon.tasks.trees.training import TreeTraining


@documented
@dataclass(eq=False, repr=False)
class TreeLabeler(TreeOptions, Labeler):
    """A sparse labeller of trees: every node has a label, which depends on what is seen and on other nodes' labels.

    Minimises Σ loss + l1 ‖w‖₁ + l2/2 ‖w‖². Trees are given as pairs: a list of nodes, each a tuple of columns, and a
    list with the number of every node's parent (−1 for roots).

    In templates, rows are nodes in the order given (in a page, reading order), and relations lead elsewhere:
    ``%x[parent,0]``, ``first_child``, ``last_child``, ``previous_sibling``, ``next_sibling``, and paths of them such as
    ``parent.parent``. Templates that start with ``B`` look at the label of a node together with that of its parent,
    those with ``S`` together with that of the sibling before. All solvers but block coordinate descent (``bcd``) take
    trees.

    Examples
    --------
    >>> from parsimon import TreeLabeler
    >>> from parsimon.features import TemplateSet
    >>> templates = TemplateSet.parse("U0:%x[0,0]\\nU1:%x[parent,0]/%x[0,0]\\nB")
    >>> trees = [([("table",), ("th",), ("td",)], [-1, 0, 0]), ([("list",), ("td",)], [-1, 0])] * 5
    >>> labels = [["X", "NAME", "VALUE"], ["X", "TEXT"]] * 5
    >>> labeler = TreeLabeler(templates, l1=0.1).fit(trees, labels)
    >>> labeler.predict([([("td",), ("table",)], [1, -1])])
    [['VALUE', 'X']]
    """

    training_class: ClassVar[type[TreeTraining]] = TreeTraining
    model_class: ClassVar[type[TreeModel]] = TreeModel

    templates: str | Path | TemplateSet | None = changed(Labeler, "templates", None, positional=True)
    dev_metric: str = changed(LabellingOptions, "dev_metric", "accuracy")

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        lengths: IntArray | None = None,
        sample_weight: Array | None = None,
        dev: tuple[Any, Any] | None = None,
    ) -> Self:
        """Learns from trees X and a list of labels for each, in the order of its nodes.

        X is a list of pairs (nodes, parents), or `Columns` with links. A label ``None`` is not known and is summed
        over. `dev` is a pair (X, y) for early stopping.
        """
        return self._learn(self._labelled(X, y, lengths, sample_weight), dev)

    def score(self, X: Any, y: Any, *, lengths: IntArray | None = None) -> float:
        """The share of nodes whose label is right; those without a label are not counted."""
        predicted, labels = self.predict(X, lengths=lengths), Labels.from_sequences(y)
        if labels.lengths.tolist() != [len(each) for each in predicted]:
            raise ParsimonError(
                "y must have a list of labels for every tree, with one for each of its nodes."
            )
        pairs = [
            (gold, given)
            for golds, givens in zip(labels, predicted, strict=True)
            for gold, given in zip(golds, givens, strict=True)
            if gold is not None
        ]
        if not pairs:
            raise ParsimonError("no node has a label, so there is nothing to compare with.")
        return float(np.mean([gold == given for gold, given in pairs]))

    def _space_of(self, data: Any) -> TemplateFeatures:
        assert self.templates is not None  # or there were no columns
        return TemplateFeatures(self._templates(self.templates), cutoff=self.cutoff, siblings=self.siblings)

    def _templates(self, given: str | Path | TemplateSet) -> TemplateSet:
        return as_templates(given) if self.siblings is None else as_templates(given).with_siblings()

    def _data(self, X: Any, lengths: IntArray | None) -> Columns:
        if lengths is not None:
            raise ParsimonError("trees are given one by one, so lengths must be left out.")
        if self.templates is None:
            raise ParsimonError("a TreeLabeler needs templates, such as TemplateSet.parse('U:%x[0,0]').")
        if not hasattr(X, "__len__") or isinstance(X, str) or is_matrix(X):
            raise ParsimonError("X must be a list of trees, each a pair of nodes and parents.")
        if not isinstance(X, Columns) and len(X) and all(isinstance(part, Columns) for part in X):
            X = Columns.concatenate(list(X))  # scikit-learn has taken them apart
        columns = X if isinstance(X, Columns) else tree_columns(X)
        if columns.links is None:
            raise ParsimonError("X has sequences, not trees; give pairs of nodes and parents.")
        return columns

    def _observe(self, X: Any, lengths: IntArray | None, given: Any) -> tuple[Any, IntArray | None]:
        return super()._observe(self._fitted().limited(self._data(X, lengths)), None, given)

    @classmethod
    def _settings_of(cls, model: Any) -> dict[str, Any]:
        siblings = model.space.siblings if isinstance(model.space, TemplateFeatures) else None
        column = None if model.node_kinds is None else model.node_kinds.column
        return {**super()._settings_of(model), "siblings": siblings, "kind_column": column}
