"""SequenceLabeler: the scikit-learn face of training and using sequence models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from parsimon.arrays import Array, IntArray
from parsimon.estimators.estimator import documented
from parsimon.estimators.labeler import Labeler
from parsimon.features.templates import TemplateSet
from parsimon.structures.label_schemes import Transitions, constraints, forbid
from parsimon.tasks.options import changed
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.options import SequenceOptions
from parsimon.tasks.sequences.training import SequenceTraining


@documented
@dataclass(eq=False, repr=False)
class SequenceLabeler(SequenceOptions, Labeler):
    """A sparse sequence labeller: a linear chain over features that learning keeps or drops.

    Minimises Σ loss + l1 ‖w‖₁ + l2/2 ‖w‖².

    Examples
    --------
    >>> from parsimon import SequenceLabeler
    >>> X = [[{"w": "the"}, {"w": "dog"}], [{"w": "a"}, {"w": "cat"}]] * 5
    >>> y = [["D", "N"], ["D", "N"]] * 5
    >>> labeler = SequenceLabeler(l1=0.1).fit(X, y)
    >>> labeler.predict([[{"w": "the"}, {"w": "cat"}]])
    [['D', 'N']]
    """

    training_class: ClassVar[type[SequenceTraining]] = SequenceTraining
    model_class: ClassVar[type[SequenceModel]] = SequenceModel

    templates: str | Path | TemplateSet | None = changed(Labeler, "templates", None, positional=True)
    scheme: str | Transitions | Sequence[tuple[str, str]] | None = changed(
        SequenceOptions,
        "scheme",
        None,
        help="The label sequences that may be predicted: those that are valid in a scheme ('auto' recognises it by the "
        "labels), those without the given pairs of consecutive labels, or all (None).",
    )

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        lengths: IntArray | None = None,
        sample_weight: Array | None = None,
        dev: tuple[Any, Any] | None = None,
    ) -> Self:
        """Learns from sequences X and label sequences y.

        X: lists of tokens (column tuples when there are templates, else feature dicts or lists of feature strings), a
        `Columns`, or numbers: a list with a matrix (tokens × features) for every sequence, numpy arrays or sparse
        ones, or one matrix of all tokens with `lengths`. A label ``None`` is not known and is summed over. `dev` is a
        pair (X, y) for early stopping.
        """
        return self._learn(self._labelled(X, y, lengths, sample_weight), dev)

    def _allowed(self) -> Transitions | None:
        if self.scheme is None or isinstance(self.scheme, Transitions):
            return self.scheme
        if isinstance(self.scheme, str):
            return constraints(self.model_.tags, self.scheme)
        return forbid(self.model_.tags, [(str(before), str(after)) for before, after in self.scheme])

    @classmethod
    def _settings_of(cls, model: Any) -> dict[str, Any]:
        return {**super()._settings_of(model), "scheme": model.scheme}
