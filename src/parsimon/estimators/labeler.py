"""What labellers of sequences and of trees share: inputs, training and prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.estimators.estimator import Estimator, check_pair
from parsimon.features.columns import Columns, Labels
from parsimon.features.item_features import ItemFeatures, MatrixFeatures, SparseSequences, is_matrix
from parsimon.features.space import FeatureSpace
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.templates import TemplateSet, as_templates
from parsimon.label_values import name_of
from parsimon.magnitudes import checked_weights
from parsimon.structures.label_schemes import Transitions
from parsimon.tasks.options import FILES, LEARNING, RUNNING, option
from parsimon.tasks.sequences.metrics import has_spans, span_f1, token_accuracy
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.options import LabellingOptions
from parsimon.tasks.sequences.training import Labelled, LabellingTraining

VITERBI, MINIMUM_RISK = "viterbi", "minimum-risk"


class LabelLists(list[list[Any]]):
    """Lists of labels, of any lengths, that scikit-learn can put together as one array of lists."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        out = np.empty(len(self), dtype=object)
        for i, labels in enumerate(self):
            out[i] = labels
        return out


@dataclass(kw_only=True, eq=False, repr=False)
class Labeler(LabellingOptions, Estimator):
    """A labeller of tokens or nodes."""

    templates: str | Path | TemplateSet | None = option(
        None,
        "Feature templates over columns: a Wapiti or CRF++ template file, the name of a preset, or a TemplateSet. None "
        "means that X has ready-made features.",
        FILES,
    )
    transitions: bool = option(True, "Use label bigrams as features if there are no templates.", LEARNING)
    decoding: str = option(
        VITERBI,
        "How to predict: 'viterbi' gives the best sequence of labels, 'minimum-risk' the labels with the fewest "
        "expected errors.",
        RUNNING,
        choices=(VITERBI, MINIMUM_RISK),
    )
    warm_start: bool = option(False, "Start from the weights of the previous fit.", RUNNING)

    # ---- learning ----------------------------------------------------------------------------------------------

    def _learn(self, data: Labelled, dev: tuple[Any, Any] | None) -> Self:
        start = self.model_ if self.warm_start and self.__sklearn_is_fitted__() else None
        check_pair(dev)
        if dev is not None:
            dev = (self._data(dev[0], None), Labels.from_sequences(dev[1]))
        self._fit(data, dev=dev, start=start)
        self.templates_ = data.space.templates if isinstance(data.space, TemplateFeatures) else None
        return self

    def _labelled(
        self, X: Any, y: Any, lengths: IntArray | None = None, sample_weight: Array | None = None
    ) -> Labelled:
        data, labels = self._data(X, lengths), Labels.from_sequences(y)
        weights = checked_weights(sample_weight, len(labels), "sequence")
        return Labelled(self._space_of(data), data, labels, weights)

    def partial_fit(
        self,
        X: Any,
        y: Any,
        *,
        templates: str | Path | TemplateSet | None = None,
        lengths: IntArray | None = None,
        sample_weight: Array | None = None,
    ) -> Self:
        """Learns on from the weights there are, when more candidates for features have come (Perkins & Theiler 2003).

        These are `templates`, which join those of before; or in X more columns of a matrix, more keys of the feature
        dicts. X and y are all sequences that there are to learn from: with a convex loss the result is that of `fit`
        with all candidates, sooner. The solver ``grafting-light`` is made for this.
        """
        fitted = self.__sklearn_is_fitted__()
        known = self.templates_ if fitted else None
        if known is None and self.templates is not None:
            known = self._templates(self.templates)
        if templates is not None:
            new = self._templates(templates)
            if known is None and fitted:
                raise ParsimonError("templates need columns, but this labeller was fitted without templates.")
            known = new if known is None else joined(known, new)
        from sklearn.base import clone

        grown = clone(self).set_params(templates=known, warm_start=True)
        if fitted:
            grown._take(self.model_)
        grown.fit(X, y, lengths=lengths, sample_weight=sample_weight)
        self._take(grown.model_)
        self.templates_ = grown.templates_
        return self

    def path(self, X: Any, y: Any, strengths: Sequence[float]) -> Iterator[tuple[float, Self]]:
        """Fitted labellers for falling strengths of the penalty, each started from the one before."""
        data, training = self._labelled(X, y), self._training()
        assert isinstance(training, LabellingTraining)
        for strength, model in training.path(data.space, data.X, data.y, strengths):
            strong = {"l1": strength} if self.penalty is None else {"penalty": self.penalty.scaled(strength)}
            labeler = type(self)(**{**self.get_params(deep=False), **strong})
            labeler._take(model)
            yield strength, labeler

    def max_strength(self, X: Any, y: Any) -> float:
        """The smallest strength (l1, or that of a group penalty) at which every penalised weight is zero."""
        data = self._labelled(X, y)
        strength: float = self._training().max_strength(data.space, data.X, data.y)
        return strength

    # ---- predicting --------------------------------------------------------------------------------------------

    def predict(self, X: Any, *, lengths: IntArray | None = None, given: Any = None) -> list[list[Any]]:
        """The best labels, as given in training; `given` fixes some of them (``None`` leaves a token free)."""
        observations, fixed = self._observe(X, lengths, given)
        ids = self.model_.decode(
            observations,
            threads=self.n_threads,
            allowed=self._allowed(),
            given=fixed,
            minimum_risk=self.decoding == MINIMUM_RISK,
        )
        return LabelLists(self.model_.as_labels(ids, observations.lengths))

    def predict_marginals(self, X: Any, *, lengths: IntArray | None = None, given: Any = None) -> list[Array]:
        """P(label | sequence): for every sequence an array of tokens × labels, in the order of `classes_`."""
        observations, fixed = self._observe(X, lengths, given)
        marginals, _ = self.model_.marginals(
            observations, threads=self.n_threads, allowed=self._allowed(), given=fixed
        )
        ends = np.cumsum(observations.lengths)
        return [marginals[end - n : end] for end, n in zip(ends, observations.lengths, strict=True)]

    def predict_single(self, x: Any, *, given: Any = None) -> list[Any]:
        """The best labels of one sequence or tree, as `predict` gives them for many."""
        return self.predict([x], given=None if given is None else [given])[0]

    def predict_marginals_single(self, x: Any, *, given: Any = None) -> Array:
        """P(label | sequence) of one sequence or tree: tokens × labels, in the order of `classes_`."""
        return self.predict_marginals([x], given=None if given is None else [given])[0]

    def predict_kbest(
        self, X: Any, k: int = 5, *, lengths: IntArray | None = None, given: Any = None
    ) -> list[list[tuple[float, list[Any]]]]:
        """For every sequence its k best labellings with their log-probabilities, best first."""
        observations, fixed = self._observe(X, lengths, given)
        values, ids = self.model_.kbest(
            observations, k, threads=self.n_threads, allowed=self._allowed(), given=fixed
        )
        ends = np.cumsum(observations.lengths)
        labels = self.model_.classes
        return [
            [
                (float(values[r, i]), [labels[y] for y in ids[r, end - length : end]])
                for r in range(k)
                if values[r, i] > -np.inf
            ]
            for i, (end, length) in enumerate(zip(ends, observations.lengths, strict=True))
        ]

    def score(self, X: Any, y: Any, *, lengths: IntArray | None = None) -> float:
        """Span F1 when the labels mark spans (B-, I-, …), else token accuracy."""
        predicted, gold = self.predict(X, lengths=lengths), list(Labels.from_sequences(y))
        return span_f1(gold, predicted) if has_spans(self.model_.tags) else token_accuracy(gold, predicted)

    def sparsify(self, threshold: float = 0.0) -> Self:
        """Drops weights that are not larger than `threshold` in absolute value."""
        from parsimon.tasks.sequences.inspect import pruned

        self._take(pruned(self._fitted(), threshold))
        return self

    # ---- inputs ------------------------------------------------------------------------------------------------

    def _space_of(self, data: Any) -> FeatureSpace:
        if isinstance(data, SparseSequences):
            if self.cutoff > 1:
                raise ParsimonError("all columns of a matrix are features, so cutoff must be 1.")
            return MatrixFeatures(transitions=self.transitions)
        if self.templates is None:
            return ItemFeatures(cutoff=self.cutoff, transitions=self.transitions)
        return TemplateFeatures(self._templates(self.templates), cutoff=self.cutoff)

    def _templates(self, given: str | Path | TemplateSet) -> TemplateSet:
        return as_templates(given)

    def _data(self, X: Any, lengths: IntArray | None) -> Any:
        X = _gathered(X, lengths)
        if isinstance(X, Columns) and self.templates is None:
            raise ParsimonError("columns need templates; give a template file or a preset such as 'words'.")
        if isinstance(X, SparseSequences) and self.templates is not None:
            raise ParsimonError(
                "templates look at columns of strings, but X has matrices; leave templates out."
            )
        if isinstance(X, Columns | SparseSequences) or self.templates is None:
            return X
        return Columns.from_sequences(X)

    def _observe(self, X: Any, lengths: IntArray | None, given: Any) -> tuple[Any, IntArray | None]:
        model = self._fitted()
        observations = model.observe(self._data(X, lengths), self.n_threads)
        if given is None:
            return observations, None
        labels = Labels.from_sequences(given, model.tags, model.label_values)
        if not np.array_equal(labels.lengths, observations.lengths):
            raise ParsimonError("given labels must have the same lengths as the sequences (None where free).")
        return observations, labels.ids

    def _allowed(self) -> Transitions | None:
        """Which labels may follow each other in predictions."""
        return None

    def _take(self, model: SequenceModel) -> None:
        super()._take(model)
        self.templates_ = None
        self.classes_ = _classes_of(model)
        self.n_features_ = len(model.weights)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A model file has only names of labels that are neither texts nor numbers; a pickle has the labels."""
        super().__setstate__(state)
        if "model_" in vars(self):
            values = {name: each for each in self.classes_ if (name := name_of(each)) is not each}
            self.model_ = replace(self.model_, label_values=values)
            self.classes_ = _classes_of(self.model_)

    @classmethod
    def _settings_of(cls, model: Any) -> dict[str, Any]:
        settings = {"l1": model.info.get("l1") or 0.0, "l2": model.info.get("l2") or 0.0}
        if isinstance(model.space, TemplateFeatures):
            settings["templates"] = model.space.templates
        return settings


def _classes_of(model: SequenceModel) -> Any:
    """What is predicted, as an array of objects."""
    return np.fromiter(model.classes, dtype=object, count=len(model.classes))


def joined(known: TemplateSet, new: TemplateSet) -> TemplateSet:
    """Templates, and more of them; those that are there already are not doubled."""
    more = [template for template, name in zip(new, new.names, strict=True) if name not in known.names]
    return known + TemplateSet(tuple(more), known.boundary)


def _gathered(X: Any, lengths: IntArray | None) -> Any:
    """Matrices as `SparseSequences`, and what scikit-learn has taken apart put together again; else X as it is."""
    if is_matrix(X) and X.ndim < 3:
        if lengths is None:
            raise ParsimonError(
                "a matrix needs lengths, the number of tokens of every sequence; "
                "or give a list with a matrix for every sequence."
            )
        return SparseSequences(X, lengths)
    if lengths is not None:
        raise ParsimonError("lengths are for one matrix of all tokens, but X has sequences already.")
    if isinstance(X, Columns | SparseSequences):
        return X
    if not hasattr(X, "__len__") or isinstance(X, str):
        raise ParsimonError("X must be a list of sequences.")
    if len(X) and all(isinstance(part, Columns) for part in X):
        return Columns.concatenate(list(X))
    if len(X) and all(isinstance(part, SparseSequences) for part in X):
        return SparseSequences.concatenate(list(X))
    return SparseSequences.from_sequences(X) if any(map(is_matrix, X)) else X
