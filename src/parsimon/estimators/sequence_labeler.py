"""SequenceLabeler: the scikit-learn face of sequence training and the sequence model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from parsimon.arrays import Array, IntArray
from parsimon.errors import ParsimonError
from parsimon.estimators.fitted_model import FittedModel
from parsimon.estimators.threads import threads_of
from parsimon.features.columns import Columns, Labels
from parsimon.features.item_features import ItemFeatures, MatrixFeatures, SparseSequences, is_matrix
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.templates import TemplateSet, as_templates
from parsimon.losses import Loss
from parsimon.penalties import ElasticNet, Penalty
from parsimon.selection.base import Selection
from parsimon.selection.growth import Growth
from parsimon.solvers import Event, Solver
from parsimon.structures.label_schemes import Transitions, constraints, forbid
from parsimon.tasks.model_file import load_model, save_model
from parsimon.tasks.sequences.metrics import has_spans, span_f1, token_accuracy
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining


class LabelLists(list[list[str]]):
    """Lists of labels, of any lengths, that scikit-learn can put together as one array of lists."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        out = np.empty(len(self), dtype=object)
        for i, labels in enumerate(self):
            out[i] = labels
        return out


class SequenceLabeler(FittedModel):
    """A sparse sequence labeller: a linear chain over features that learning keeps or drops.

    Minimises Σ loss + l1 ‖w‖₁ + l2/2 ‖w‖².

    Parameters
    ----------
    templates : str, Path, TemplateSet or None
        Feature templates over columns: a Wapiti or CRF++ template file, a preset's name, or a `TemplateSet`.
        ``None`` means that X holds ready-made features.
    l1, l2 : float
        Strengths of the penalty: Wapiti's ρ1 and ρ2; CRFsuite's c1, and twice its c2.
    loss : {"log", "hinge", "perceptron"} or Loss
        ``log`` is a conditional random field.
    penalty : Penalty or None
        Takes the place of `l1` and `l2`; for instance ``GroupLasso(5.0)``, which drops whole templates.
    selection : Selection or None
        A first stage that chooses templates, for instance ``Sparseptron(budget=30)``; all else is about the second.
    growth : Growth or None
        Templates that come in later, and only where the shorter tests that they contain are active.
    penalize_bias : bool
        Whether biases and label bigrams are penalised like all other features, as Wapiti and CRFsuite do.
    candidates : {"all", "seen"}
        Features are attributes with all labels (Wapiti, CRF++) or only with labels seen together (CRFsuite).
    cutoff : int
        Attributes that occur less often are left out.
    order : {1, 2}
        How many labels before a token its label depends on. With 2, labels are learnt as pairs of tags.
    solver : str or Solver
        ``auto``, or one of `parsimon.solvers.SOLVERS`: ``working-set``, ``fista``, ``mira``, ``sgd``, …
    tol, max_iter, time_limit
        When to stop: optimality tolerance, iterations (or epochs), seconds.
    prune : float
        In the end, weights below this share of the root mean square of all that are not zero are dropped. Online
        learners leave many behind that they have touched once: after ``mira``, 1 costs no accuracy.
    debias : float or None
        After an L1 fit, refit the surviving features with this (small) L2 strength only.
    decoding : str, Transitions, list of pairs or None
        Which label sequences are possible in prediction: ``"iob2"``, ``"iobes"``, ``"iob1"``, ``"auto"``, pairs
        of labels that may not follow each other, or anything (``None``).
    minimum_risk : bool
        Predict the labels of which the fewest are expected to be wrong, in place of those of the single best sequence.
    dev_metric, patience, dev_tolerance
        How the development set given to `fit` is scored, how long to wait for a better score, and how far a score may
        be below the best for the sake of a smaller model.
    warm_start : bool
        Start from the weights of the last fit.
    n_jobs : int or None
        Threads; the result does not depend on them.
    callback : callable or None
        Called with every training `Event`.

    Examples
    --------
    >>> from parsimon import SequenceLabeler
    >>> X = [[{"w": "the"}, {"w": "dog"}], [{"w": "a"}, {"w": "cat"}]] * 5
    >>> y = [["D", "N"], ["D", "N"]] * 5
    >>> labeler = SequenceLabeler(l1=0.1).fit(X, y)
    >>> labeler.predict([[{"w": "the"}, {"w": "cat"}]])
    [['D', 'N']]
    """

    model_kind = "sequence"

    def __init__(
        self,
        templates: str | Path | TemplateSet | None = None,
        *,
        l1: float = 0.5,
        l2: float = 1e-5,
        loss: str | Loss = "log",
        penalty: Penalty | None = None,
        selection: Selection | None = None,
        growth: Growth | None = None,
        penalize_bias: bool = True,
        candidates: str = "all",
        cutoff: int = 1,
        transitions: bool = True,
        order: int = 1,
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        prune: float = 0.0,
        debias: float | None = None,
        decoding: str | Transitions | Sequence[tuple[str, str]] | None = None,
        minimum_risk: bool = False,
        dev_metric: str = "auto",
        patience: int = 10,
        dev_tolerance: float = 0.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Callable[[Event], Any] | None = None,
    ) -> None:
        self.templates = templates
        self.l1 = l1
        self.l2 = l2
        self.loss = loss
        self.penalty = penalty
        self.selection = selection
        self.growth = growth
        self.penalize_bias = penalize_bias
        self.candidates = candidates
        self.cutoff = cutoff
        self.transitions = transitions
        self.order = order
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.prune = prune
        self.debias = debias
        self.decoding = decoding
        self.minimum_risk = minimum_risk
        self.dev_metric = dev_metric
        self.patience = patience
        self.dev_tolerance = dev_tolerance
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        lengths: IntArray | None = None,
        sample_weight: Array | None = None,
        dev: tuple[Any, Any] | None = None,
    ) -> SequenceLabeler:
        """Learns from sequences X and label sequences y.

        X: lists of tokens (column tuples when there are templates, else feature dicts or lists of feature strings), a
        `Columns`, or numbers: a list with a matrix (tokens × features) for every sequence, numpy arrays or sparse
        ones, or one matrix of all tokens with `lengths`. A label ``None`` is not known and is summed over. `dev` is a
        pair (X, y) for early stopping.
        """
        space, data = self._space_and_data(X, lengths)
        labels = Labels.from_sequences(y)
        start = getattr(self, "model_", None) if self.warm_start else None
        development = None
        if dev is not None:
            development = (self._data(dev[0], None), Labels.from_sequences(dev[1]))
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        model = self._training().fit(space, data, labels, dev=development, weights=weights, start=start)
        self._take(model)
        self.templates_ = getattr(space, "templates", None)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        *,
        templates: str | Path | TemplateSet | None = None,
        lengths: IntArray | None = None,
        sample_weight: Array | None = None,
    ) -> SequenceLabeler:
        """Learns on from the weights there are, when more candidates for features have come (Perkins & Theiler 2003).

        These are `templates`, which join those of before; or in X more columns of a matrix, more keys of the feature
        dicts. X and y are all sequences that there are to learn from: with a convex loss the result is that of `fit`
        with all candidates, sooner. The solver ``grafting-light`` is made for this.
        """
        known = getattr(self, "templates_", None)
        if known is None and self.templates is not None:
            known = self._templates(self.templates)
        if templates is not None:
            new = self._templates(templates)
            if known is None and hasattr(self, "model_"):
                raise ParsimonError("templates need columns, but this labeller was fitted without templates.")
            known = new if known is None else joined(known, new)
        grown = clone(self).set_params(templates=known, warm_start=True)
        if hasattr(self, "model_"):
            grown._take(self.model_)
        grown.fit(X, y, lengths=lengths, sample_weight=sample_weight)
        self._take(grown.model_)
        self.templates_ = grown.templates_
        return self

    def path(self, X: Any, y: Any, strengths: Sequence[float]) -> Iterator[tuple[float, SequenceLabeler]]:
        """Fitted labellers for falling strengths of the penalty, each started from the one before."""
        space, data = self._space_and_data(X, None)
        for strength, model in self._training().path(space, data, Labels.from_sequences(y), strengths):
            strong = {"l1": strength} if self.penalty is None else {"penalty": self.penalty.scaled(strength)}
            labeler = type(self)(**{**self.get_params(deep=False), **strong})
            labeler._take(model)
            yield strength, labeler

    def max_strength(self, X: Any, y: Any) -> float:
        """The smallest strength (l1, or that of a group penalty) at which every penalised weight is zero."""
        space, data = self._space_and_data(X, None)
        return self._training().max_strength(space, data, Labels.from_sequences(y))

    def predict(self, X: Any, *, lengths: IntArray | None = None, given: Any = None) -> list[list[str]]:
        """The best labels; `given` fixes some of them (``None`` leaves a token free)."""
        observations, fixed = self._observe(X, lengths, given)
        ids = self.model_.decode(
            observations,
            threads=threads_of(self.n_jobs),
            allowed=self._allowed(),
            given=fixed,
            minimum_risk=self.minimum_risk,
        )
        return LabelLists(self.model_.as_labels(ids, observations.lengths))  # type: ignore[arg-type]

    def predict_marginals(self, X: Any, *, lengths: IntArray | None = None, given: Any = None) -> list[Array]:
        """P(label | sequence): for every sequence an array of tokens × labels, in the order of `classes_`."""
        observations, fixed = self._observe(X, lengths, given)
        marginals, _ = self.model_.marginals(
            observations, threads=threads_of(self.n_jobs), allowed=self._allowed(), given=fixed
        )
        ends = np.cumsum(observations.lengths)
        return [marginals[end - n : end] for end, n in zip(ends, observations.lengths, strict=True)]

    def predict_kbest(
        self, X: Any, k: int = 5, *, lengths: IntArray | None = None, given: Any = None
    ) -> list[list[tuple[float, list[str]]]]:
        """For every sequence its k best labellings with their log-probabilities, best first."""
        observations, fixed = self._observe(X, lengths, given)
        values, ids = self.model_.kbest(
            observations, k, threads=threads_of(self.n_jobs), allowed=self._allowed(), given=fixed
        )
        ends = np.cumsum(observations.lengths)
        names = self.model_.tags
        return [
            [
                (float(values[r, i]), [names[y] for y in ids[r, end - length : end]])
                for r in range(k)
                if values[r, i] > -np.inf
            ]
            for i, (end, length) in enumerate(zip(ends, observations.lengths, strict=True))
        ]

    def score(self, X: Any, y: Any, *, lengths: IntArray | None = None) -> float:
        """Span F1 when the labels mark spans (B-, I-, …), else token accuracy."""
        predicted = self.predict(X, lengths=lengths)
        gold = [list(sequence) for sequence in y]
        return span_f1(gold, predicted) if has_spans(self.model_.tags) else token_accuracy(gold, predicted)

    def sparsify(self, threshold: float = 0.0) -> SequenceLabeler:
        """Drops weights that are not larger than `threshold` in absolute value."""
        from parsimon.tasks.sequences.inspect import pruned

        self._check_fitted()
        self._take(pruned(self.model_, threshold))
        return self

    def save(self, path: str | Path, *, dtype: str = "float64") -> None:
        """Writes the model file that `load` and the command line read."""
        self._check_fitted()
        save_model(self.model_, path, dtype=dtype)

    @classmethod
    def load(cls, path: str | Path, **parameters: Any) -> SequenceLabeler:
        """A fitted labeller from a model file; `parameters` are those of the constructor."""
        model = load_model(path, "sequence")
        settings = {"l1": model.info.get("l1") or 0.0, "l2": model.info.get("l2") or 0.0, **parameters}
        if isinstance(model.space, TemplateFeatures):
            settings.setdefault("templates", model.space.templates)
        labeler = cls(**settings)
        labeler._take(model)
        return labeler

    @property
    def coef_(self) -> Array:
        """The non-zero weights."""
        self._check_fitted()
        return self.model_.weights

    def _take(self, model: SequenceModel) -> None:
        self.model_ = model
        self.classes_ = np.array(model.tags, dtype=object)
        self.n_features_ = len(model.weights)
        self.objective_ = model.info.get("objective")
        self.history_ = model.info.get("history", [])
        self.n_iter_ = len(self.history_)

    def _training(self) -> SequenceTraining:
        penalty = self.penalty if self.penalty is not None else ElasticNet(l1=self.l1, l2=self.l2)
        return SequenceTraining(
            loss=self.loss,
            penalty=penalty,
            penalize_bias=self.penalize_bias,
            candidates=self.candidates,
            order=self.order,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            dev_metric=self.dev_metric,
            patience=self.patience,
            dev_tolerance=self.dev_tolerance,
            prune=self.prune,
            debias=self.debias,
            selection=self.selection,
            growth=self.growth,
            threads=threads_of(self.n_jobs),
            callbacks=() if self.callback is None else (self.callback,),
        )

    def _space_and_data(self, X: Any, lengths: IntArray | None) -> tuple[Any, Any]:
        data = self._data(X, lengths)
        if isinstance(data, SparseSequences):
            if self.cutoff > 1:
                raise ParsimonError("all columns of a matrix are features, so cutoff must be 1.")
            return MatrixFeatures(transitions=self.transitions), data
        if self.templates is None:
            return ItemFeatures(cutoff=self.cutoff, transitions=self.transitions), data
        return self._space(self._templates(self.templates)), data

    def _templates(self, given: str | Path | TemplateSet) -> TemplateSet:
        return as_templates(given)

    def _space(self, templates: TemplateSet) -> TemplateFeatures:
        return TemplateFeatures(templates, cutoff=self.cutoff)

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
        self._check_fitted()
        observations = self.model_.observe(self._data(X, lengths), threads_of(self.n_jobs))
        if given is None:
            return observations, None
        labels = Labels.from_sequences(given, names=self.model_.tags)
        if not np.array_equal(labels.lengths, observations.lengths):
            raise ParsimonError("given labels must have the same lengths as the sequences (None where free).")
        return observations, labels.ids

    def _allowed(self) -> Transitions | None:
        if self.decoding is None or isinstance(self.decoding, Transitions):
            return self.decoding
        if isinstance(self.decoding, str):
            return constraints(self.model_.tags, self.decoding)
        return forbid(self.model_.tags, self.decoding)

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise NotFittedError("this SequenceLabeler is not fitted yet; call fit first.")


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
