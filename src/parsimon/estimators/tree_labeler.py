"""TreeLabeler: labels for the nodes of trees. Training and the model are those of sequences, with parents for steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.estimators.sequence_labeler import SequenceLabeler
from parsimon.features.columns import Columns, Labels
from parsimon.features.node_kinds import NodeKinds
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.templates import TemplateSet, as_templates
from parsimon.features.tree_columns import tree_columns
from parsimon.losses import Loss
from parsimon.penalties import Penalty
from parsimon.selection.base import Selection
from parsimon.solvers import Event, Solver


class TreeLabeler(SequenceLabeler):
    """A sparse labeller of trees: every node has a label, which depends on what is seen and on other nodes' labels.

    Minimises Σ loss + l1 ‖w‖₁ + l2/2 ‖w‖². Trees are given as pairs: a list of nodes, each a tuple of columns, and a
    list with the number of every node's parent (−1 for roots).

    Parameters
    ----------
    templates : str, Path or TemplateSet
        Feature templates over columns. Rows are nodes in the order given (in a page, reading order), and relations
        lead elsewhere: ``%x[parent,0]``, ``first_child``, ``last_child``, ``previous_sibling``, ``next_sibling``, and
        paths of them such as ``parent.parent``. Templates that start with ``B`` speak about the label of a node
        together with that of its parent, those with ``S`` together with that of the sibling before.
    siblings : {None, "instead", "also"}
        Whose label the label of a node depends on: its parent's; that of the sibling before *instead* (first children
        still depend on their parent); or on the parent's and *also* on the sibling's. If no template starts with
        ``S``, those that start with ``B`` are for siblings, too. With ``"also"``, only labels that were seen below
        another can be there, and learning takes longer.
    kind_column : int or None
        A column that tells kinds of nodes apart. A node is then only given labels that nodes of its kind have in
        training; nodes of a kind that is new may have any.
    l1, l2, loss, penalty, selection, penalize_bias, candidates, cutoff, solver, tol, max_iter, time_limit
        As for `SequenceLabeler`; all solvers but block coordinate descent (``bcd``) take trees.
    prune, debias, minimum_risk, dev_metric, patience, dev_tolerance, warm_start, n_jobs, callback
        As for `SequenceLabeler`.

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

    def __init__(
        self,
        templates: str | Path | TemplateSet | None = None,
        *,
        siblings: str | None = None,
        kind_column: int | None = None,
        l1: float = 0.5,
        l2: float = 1e-5,
        loss: str | Loss = "log",
        penalty: Penalty | None = None,
        selection: Selection | None = None,
        penalize_bias: bool = True,
        candidates: str = "all",
        cutoff: int = 1,
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        prune: float = 0.0,
        debias: float | None = None,
        minimum_risk: bool = False,
        dev_metric: str = "accuracy",
        patience: int = 10,
        dev_tolerance: float = 0.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Callable[[Event], Any] | None = None,
    ) -> None:
        super().__init__(
            templates,
            l1=l1,
            l2=l2,
            loss=loss,
            penalty=penalty,
            selection=selection,
            penalize_bias=penalize_bias,
            candidates=candidates,
            cutoff=cutoff,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            time_limit=time_limit,
            prune=prune,
            debias=debias,
            minimum_risk=minimum_risk,
            dev_metric=dev_metric,
            patience=patience,
            dev_tolerance=dev_tolerance,
            warm_start=warm_start,
            n_jobs=n_jobs,
            callback=callback,
        )
        self.siblings = siblings
        self.kind_column = kind_column

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        lengths: IntArray | None = None,
        sample_weight: Array | None = None,
        dev: tuple[Any, Any] | None = None,
    ) -> TreeLabeler:
        """Learns from trees X and a list of labels for each, in the order of its nodes.

        X is a list of pairs (nodes, parents), or `Columns` with links. A label ``None`` is not known and is summed
        over. `dev` is a pair (X, y) for early stopping.
        """
        columns, kinds = self._limited(self._columns(X, lengths), y)
        if dev is not None:
            dev = (self._columns(dev[0]) if kinds is None else kinds.limit(self._columns(dev[0])), dev[1])
        super().fit(columns, y, sample_weight=sample_weight, dev=dev)
        self._remember(kinds)
        return self

    def path(self, X: Any, y: Any, strengths: Sequence[float]) -> Iterator[tuple[float, SequenceLabeler]]:
        """Fitted labellers for falling strengths of the penalty, each started from the one before."""
        columns, kinds = self._limited(self._columns(X), y)
        for strength, labeler in super().path(columns, y, strengths):
            assert isinstance(labeler, TreeLabeler)
            labeler._remember(kinds)
            yield strength, labeler

    def max_strength(self, X: Any, y: Any) -> float:
        """The smallest strength (l1, or that of a group penalty) at which every penalised weight is zero."""
        return super().max_strength(self._limited(self._columns(X), y)[0], y)

    def score(self, X: Any, y: Any, *, lengths: IntArray | None = None) -> float:
        """The share of nodes whose label is right; those without a label are not counted."""
        pairs = [
            (gold, given)
            for golds, givens in zip(y, self.predict(X, lengths=lengths), strict=True)
            for gold, given in zip(golds, givens, strict=True)
            if gold is not None
        ]
        return float(np.mean([gold == given for gold, given in pairs]))

    @classmethod
    def load(cls, path: str | Path, **parameters: Any) -> TreeLabeler:
        """A fitted labeller from a model file; `parameters` are those of the constructor."""
        labeler = super().load(path, **parameters)
        assert isinstance(labeler, cls)
        if "siblings" not in parameters:
            labeler.siblings = getattr(labeler.model_.space, "siblings", None)
        kinds = labeler._kinds()
        if kinds is not None and "kind_column" not in parameters:
            labeler.kind_column = kinds.column
        return labeler

    def _templates(self, given: str | Path | TemplateSet) -> TemplateSet:
        return as_templates(given) if self.siblings is None else as_templates(given).with_siblings()

    def _space(self, templates: TemplateSet) -> TemplateFeatures:
        return TemplateFeatures(templates, cutoff=self.cutoff, siblings=self.siblings)

    def _columns(self, X: Any, lengths: IntArray | None = None) -> Columns:
        if lengths is not None:
            raise ParsimonError("trees are given one by one, so lengths must be left out.")
        if self.templates is None:
            raise ParsimonError("a TreeLabeler needs templates, such as TemplateSet.parse('U:%x[0,0]').")
        if not isinstance(X, Columns) and len(X) and all(isinstance(part, Columns) for part in X):
            X = Columns.concatenate(list(X))  # scikit-learn has taken them apart
        columns = X if isinstance(X, Columns) else tree_columns(X)
        if columns.links is None:
            raise ParsimonError("X has sequences, not trees; give pairs of nodes and parents.")
        return columns

    def _data(self, X: Any, lengths: IntArray | None) -> Columns:
        columns, kinds = self._columns(X, lengths), self._kinds()
        assert columns.links is not None
        return columns if kinds is None or columns.links.allowed is not None else kinds.limit(columns)

    def _limited(self, columns: Columns, y: Any) -> tuple[Columns, NodeKinds | None]:
        """Trees whose nodes may only have labels that y has at their kind of nodes."""
        if self.kind_column is None:
            return columns, None
        kinds = NodeKinds.learn(columns, self.kind_column, Labels.from_sequences(y))
        return kinds.limit(columns), kinds

    def _remember(self, kinds: NodeKinds | None) -> None:
        self.model_.info["structure"] = "tree"
        if kinds is not None:
            self.model_.info["node_kinds"] = kinds.told()

    def _kinds(self) -> NodeKinds | None:
        told = self.model_.info.get("node_kinds") if hasattr(self, "model_") else None
        return None if told is None else NodeKinds.from_told(told, self.model_.labels)

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise NotFittedError("this TreeLabeler is not fitted yet; call fit first.")
