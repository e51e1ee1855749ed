"""DocumentClassifier: the scikit-learn face of document training, the document model, and explanations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from parsimon.arrays import Array, IntArray
from parsimon.data.text.corpus import Corpus
from parsimon.data.text.reader import TextReader
from parsimon.errors import ParsimonError
from parsimon.estimators.flat_weights import as_coefficients, as_weights, instance_weights, numbered
from parsimon.estimators.threads import threads_of
from parsimon.losses import get_loss
from parsimon.penalties import Penalty, SentenceLasso
from parsimon.penalties.groups import Groups, Rule
from parsimon.problem import Problem
from parsimon.solvers import Event, Result, Validation, Weights
from parsimon.solvers.duality_gap import duality_gap
from parsimon.tasks.documents.explain import ExplainedDocument, explain
from parsimon.tasks.documents.model import DocumentModel, log_softmax
from parsimon.tasks.documents.training import (
    PATIENCE,
    DocumentTask,
    DocumentTraining,
    accuracy_on,
    best_labels,
)
from parsimon.tasks.matrices.column_groups import FORMS, OfWords, as_groups
from parsimon.tasks.model_file import load_model, save_model


@dataclass(frozen=True)
class _Held:
    """Instances kept aside, as `accuracy_on` wants them."""

    X: Any
    gold: IntArray
    width: int


def _has_probabilities(classifier: DocumentClassifier) -> bool:
    if get_loss(classifier.loss).name != "log":
        raise AttributeError(f"the {classifier.loss} loss knows no probabilities; use loss='log'.")
    return True


class DocumentClassifier(ClassifierMixin, BaseEstimator):
    """A sparse linear classifier of documents, regularised by their sentences.

    Minimises Σ loss + sentence Σ_s ‖w_s‖ + l1 ‖w‖₁ + l2/2 ‖w‖² (Yogatama & Smith 2014): w_s has the weights of the
    words of sentence s of the training documents, so whole sentences are found irrelevant. The bias is not penalised.

    X has raw texts, documents that are lists of sentences or lists of lists of tokens; or it is a matrix, dense or
    sparse. Groups of a matrix's columns are given as `groups`.

    Parameters
    ----------
    penalty : {"sentence", "lasso", "ridge", "elastic-net"} or Penalty
        What is added to the loss; an object such as ``OverlappingGroupLasso(1.0, groups)`` has its own strengths.
    l1, l2, sentence : float or None
        Strengths; ``None`` for a moderate one. The losses are summed: scikit-learn's C is 1/l1, or 1/l2.
    groups : {"sentence", "paragraph", "document", "window"}, or groups
        What makes a group. For texts lists of words will do, too; for a matrix, lists of columns (which may
        overlap), one label for each column, or `Groups`.
    window : int
        How many tokens a window has.
    group_weight : str or numbers
        How much a group counts by its size: ``"ones"``, ``"sqrt"``, ``"log2"``, …; `Groups` have weights of their own.
    stopping : {"certified", "paper"}
        Until a duality gap says that the optimum is near; or as in the paper, where stopping early regularises.
    rho : float or None
        ADMM's ρ at the start (``"certified"``), or all the time (``"paper"``).
    loss : {"log", "hinge"}
        ``log`` is logistic regression, with a softmax for more than two classes.
    values : {"counts", "binary", "tf-idf"}
        What a word of a text counts for.
    min_count, min_documents, max_documents, max_words
        Words of texts that occur less often, in fewer documents, or in a larger share of them, are no features;
        `max_words` keeps the most frequent ones.
    reader : TextReader or None
        How texts are split into sentences and tokens.
    class_weight : dict, "balanced" or None
        How much each class counts.
    dev_share : float
        The share of training that is kept aside; the weights that are best on it, along the way, are taken. The
        argument `dev` of `fit` names such documents instead.
    tol, max_iter, time_limit
        When to stop: optimality tolerance, iterations, seconds.
    warm_start : bool
        Start from the weights of the last fit.
    random_state : int, RandomState or None
        Chooses what is kept aside.
    n_jobs : int or None
        Threads; the result does not depend on them.
    callback : callable or None
        Called with every training `Event`.

    Attributes
    ----------
    classes_, coef_, intercept_
        As of scikit-learn's ``LogisticRegression``.
    vocabulary_ : dict
        The column of ``coef_`` of each word (texts only).
    model_ : DocumentModel
        What `save` writes (texts only).
    relevance_ : array or None
        The norms of the copies that ADMM has made of the weights of every group (by default: every sentence of
        training, in turn); zero where it is irrelevant, NaN where nobody asked.
    objective_, gap_, n_iter_
        The value reached, how far above the optimum it is at most (``None``: not known), and after how many iterations.

    Examples
    --------
    >>> from parsimon.estimators import DocumentClassifier
    >>> texts = ["A fine film. We liked it.", "Dull. We left early.", "Fine work!", "So dull, so long."]
    >>> classifier = DocumentClassifier(sentence=0.01, l1=0.1).fit(texts, ["good", "bad", "good", "bad"])
    >>> classifier.predict(["What a fine evening.", "A dull one."]).tolist()
    ['good', 'bad']
    >>> [sentence.text for sentence in classifier.explain(["Fine. We went home."])[0].sentences if sentence.norm > 0]
    ['Fine.']
    """

    def __init__(
        self,
        penalty: str | Penalty = "sentence",
        *,
        l1: float | None = None,
        l2: float | None = None,
        sentence: float | None = None,
        groups: Any = "sentence",
        window: int = 20,
        group_weight: Rule = "ones",
        stopping: str = "certified",
        rho: float | None = None,
        loss: str = "log",
        values: str = "counts",
        min_count: int = 1,
        min_documents: int = 1,
        max_documents: float = 1.0,
        max_words: int | None = None,
        reader: TextReader | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        dev_share: float = 0.0,
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[Event], Any] | None = None,
    ) -> None:
        self.penalty = penalty
        self.l1 = l1
        self.l2 = l2
        self.sentence = sentence
        self.groups = groups
        self.window = window
        self.group_weight = group_weight
        self.stopping = stopping
        self.rho = rho
        self.loss = loss
        self.values = values
        self.min_count = min_count
        self.min_documents = min_documents
        self.max_documents = max_documents
        self.max_words = max_words
        self.reader = reader
        self.class_weight = class_weight
        self.dev_share = dev_share
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None
    ) -> DocumentClassifier:
        """Learns from documents, or the rows of a matrix, and their classes.

        `dev` is a pair (X, y) on which weights are tried along the way; the best are taken.
        """
        texts = are_documents(X)
        X, y = self._checked(X, y, texts)
        classes, gold = numbered(y)
        weights = instance_weights(sample_weight, self.class_weight, np.zeros(len(gold)), y)
        self.held_out_ = self._kept_aside(gold, dev)
        if len(self.held_out_):
            dev = _safe_indexing(X, self.held_out_), y[self.held_out_]
            rest = np.setdiff1d(np.arange(len(gold)), self.held_out_)
            X, gold = _safe_indexing(X, rest), gold[rest]
            weights = None if weights is None else weights[rest]
        (self._fit_texts if texts else self._fit_matrix)(X, classes, gold, weights, dev)
        return self

    def decision_function(self, X: Any) -> Array:
        """The score of the second class, or of each if there are more than two."""
        margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X: Any) -> Any:
        """The best class of each document."""
        best = best_labels(self._margins(X))
        return self.classes_[best]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """P(class | document), in the order of `classes_`; for the log loss."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | document)."""
        margins = self._margins(X)
        if margins.shape[1] == 1:
            margins = np.concatenate([np.zeros_like(margins), margins], axis=1)
        return log_softmax(margins)

    def explain(
        self, documents: Iterable[Any], label: Any = None, *, training: bool = False
    ) -> list[ExplainedDocument]:
        """What each sentence does for the predicted class of its document, or for `label` (one, or one for each).

        `training` says that these are the documents of `fit`: then sentences say whether training found them relevant.
        """
        self._check_fitted()
        if not hasattr(self, "model_"):
            raise ParsimonError(
                "only documents can be explained, and this classifier was fitted to a matrix."
            )
        if training and (self.relevance_ is None or self.groups != "sentence"):
            raise ParsimonError(
                "training tells relevant sentences only if these are the groups of its penalty."
            )
        if label is not None:
            several = isinstance(label, list | tuple | np.ndarray)
            label = [str(each) for each in label] if several else str(label)
        return explain(self.model_, documents, label, copies=self.relevance_ if training else None)

    def save(self, path: str | Path, *, dtype: str = "float64") -> None:
        """Writes the model file that `load` and the command line read."""
        self._check_fitted()
        if not hasattr(self, "model_"):
            raise ParsimonError("a classifier that was fitted to a matrix has no model file; pickle it.")
        save_model(self.model_, path, dtype=dtype)

    @classmethod
    def load(cls, path: str | Path, **parameters: Any) -> DocumentClassifier:
        """A fitted classifier from a model file; `parameters` are those of the constructor. Classes are strings."""
        model: Any = load_model(path)
        if not isinstance(model, DocumentModel):
            raise ParsimonError(f"{path} is no model of documents; load it with SequenceLabeler.load.")
        classifier = cls(**{"reader": model.reader, "values": model.values, **parameters})
        classifier.model_ = model
        classifier.classes_ = np.array(model.labels)
        classifier.vocabulary_ = {word: i for i, word in enumerate(model.words)}
        classifier.coef_, classifier.intercept_ = model.weights.T.copy(), model.bias.copy()
        classifier.n_features_in_, classifier.relevance_ = len(model.words), None
        for name, key in (("objective_", "objective"), ("gap_", "gap"), ("n_iter_", "iterations")):
            setattr(classifier, name, model.info.get(key))
        return classifier

    # ---- texts and matrices --------------------------------------------------------------------------------

    def _fit_texts(self, X: Any, classes: Array, gold: IntArray, weights: Array | None, dev: Any) -> None:
        training = self._training(self._penalty_of_words())
        names = [str(each) for each in classes]
        task = training.prepare(training.reader.read(X), [names[i] for i in gold])
        task = replace(
            task, labels=tuple(names), gold=gold
        )  # in the order of classes, which need be no strings
        problem = training.flat.problem_of(
            task.design, gold, training.bound_penalty(task.features), weights=weights
        )
        held = None
        if dev is not None:
            held = self._held(task.bag.matrix(training.reader.read(dev[0])), dev[1], classes)
        result = self._solve(training, problem, held, self._start(classes, task))
        self.n_features_in_ = len(task.bag.words)
        self._take(problem, result, classes)
        self.vocabulary_ = {word: i for i, word in enumerate(task.bag.words)}
        self.model_ = training.model(task, problem, result)

    def _fit_matrix(self, X: Any, classes: Array, gold: IntArray, weights: Array | None, dev: Any) -> None:
        penalty = self._penalty_of_columns(X.shape[1])
        training = self._training(penalty)
        problem = training.flat.problem(X, gold, len(classes), penalty, weights=weights)
        held = None
        if dev is not None:
            other = validate_data(self, dev[0], reset=False, accept_sparse="csr", dtype=np.float64)
            held = self._held(other, dev[1], classes)
        result = self._solve(training, problem, held, self._start(classes, None))
        for name in ("model_", "vocabulary_"):
            self.__dict__.pop(name, None)  # of a fit to texts
        self._take(problem, result, classes)

    def _solve(
        self, training: DocumentTraining, problem: Problem, held: _Held | None, start: Weights | None
    ) -> Result:
        validation = None
        if held is not None:
            task: Any = held
            validation = Validation(accuracy_on(task, held.X, held.gold), every=1, patience=PATIENCE)
        callbacks = () if self.callback is None else (self.callback,)
        return training.solve(problem, start, validation=validation, callbacks=callbacks)

    def _take(self, problem: Problem, result: Result, classes: Array) -> None:
        width = 1 if len(classes) == 2 else len(classes)
        self.classes_ = classes
        self.coef_, self.intercept_ = as_coefficients(result.weights, self.n_features_in_, width)
        self.relevance_ = result.relevance
        self.objective_ = result.objective
        gap = duality_gap(problem, result.weights.dense()) if result.gap is None else result.gap
        self.gap_ = gap if gap is not None and np.isfinite(gap) else None
        self.history_ = result.history
        self.n_iter_ = len(result.history)

    def _checked(self, X: Any, y: Any, texts: bool) -> tuple[Any, Any]:
        if texts:
            if y is None:
                raise ParsimonError("y is None; give the class of each document.")
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        else:
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        return X, np.asarray(y)

    def _kept_aside(self, gold: IntArray, dev: Any) -> IntArray:
        if self.dev_share == 0:
            return np.zeros(0, np.int64)
        if dev is not None:
            raise ParsimonError("dev_share and dev are both given; give one of them.")
        if not 0 < self.dev_share < 1:
            raise ParsimonError(f"dev_share is {self.dev_share}; give a share from 0 to below 1.")
        _, held = train_test_split(
            np.arange(len(gold)), test_size=self.dev_share, stratify=gold, random_state=self.random_state
        )
        return np.sort(held)

    def _held(self, X: Any, y: Any, classes: Array) -> _Held:
        check_consistent_length(X, y)
        number = {each: i for i, each in enumerate(classes.tolist())}
        gold = np.array([number.get(each, -1) for each in np.asarray(y).tolist()], np.int64)
        return _Held(X, gold, 1 if len(classes) == 2 else len(classes))

    def _margins(self, X: Any) -> Array:
        self._check_fitted()
        texts = are_documents(X)
        if texts != hasattr(self, "model_"):
            fitted, given = ("a matrix", "documents") if texts else ("documents", "a matrix")
            if not texts:  # what is wrong with it as a matrix matters more
                validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
            raise ParsimonError(
                f"the classifier was fitted to {fitted}, but X has {given}; give the same form."
            )
        if texts:
            scores = self.model_.scores(self.model_.read(X))
            return scores[:, 1:] if len(self.classes_) == 2 else scores
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return np.asarray(X @ self.coef_.T + self.intercept_)

    # ---- parameters ----------------------------------------------------------------------------------------

    def _training(self, penalty: str | Penalty) -> DocumentTraining:
        given = isinstance(self.groups, str)
        settings: Any = {"stopping": self.stopping, "groups": self.groups if given else "sentence"}
        return DocumentTraining(
            penalty=penalty,
            l1=self.l1,
            l2=self.l2,
            sentence=self.sentence,
            window=self.window,
            group_weight=self.group_weight,  # type: ignore[arg-type]
            rho=self.rho,
            loss=self.loss,
            values=self.values,
            min_count=self.min_count,
            min_documents=self.min_documents,
            max_documents=self.max_documents,
            max_words=self.max_words,
            reader=TextReader() if self.reader is None else self.reader,
            max_iter=self.max_iter,
            tol=self.tol,
            time_limit=self.time_limit,
            threads=threads_of(self.n_jobs),
            **settings,
        )

    def _penalty_of_words(self) -> str | Penalty:
        """The penalty as training wants it: its groups are found among the documents, or are lists of words."""
        if isinstance(self.groups, str):
            return self.penalty
        chosen = self._grouped()
        return (
            self.penalty
            if chosen is None
            else replace(chosen, groups=OfWords(self.groups, self.group_weight))
        )

    def _penalty_of_columns(self, n_columns: int) -> Penalty:
        chosen = self._grouped()
        if chosen is None:
            return self._plain().chosen_penalty  # type: ignore[no-any-return]
        if isinstance(self.groups, str):
            if isinstance(chosen.groups, Groups):
                return chosen  # type: ignore[no-any-return]
            raise ParsimonError(f"a matrix has no groups by {self.groups}; give groups as {FORMS}.")
        return replace(chosen, groups=as_groups(self.groups, n_columns, self.group_weight))  # type: ignore[no-any-return]

    def _plain(self) -> DocumentTraining:
        return DocumentTraining(self.penalty, self.l1, self.l2, self.sentence)

    def _grouped(self) -> Any:
        """The penalty if it is one on groups, else None."""
        chosen = self._plain().chosen_penalty
        return chosen if isinstance(chosen, SentenceLasso) or hasattr(chosen, "split") else None

    def _start(self, classes: Array, task: DocumentTask | None) -> Weights | None:
        """The weights of the last fit, words matched by name; None if they are of other classes or columns."""
        if not self.warm_start or not hasattr(self, "coef_") or not np.array_equal(self.classes_, classes):
            return None
        if (task is None) == hasattr(self, "vocabulary_"):
            return None
        coef = self.coef_
        if task is not None:
            coef = np.zeros((len(coef), len(task.bag.words)))
            pairs = [(i, self.vocabulary_[w]) for i, w in enumerate(task.bag.words) if w in self.vocabulary_]
            if pairs:
                here, there = np.array(pairs).T
                coef[:, here] = self.coef_[:, there]
        elif coef.shape[1] != self.n_features_in_:
            return None
        return as_weights(coef, self.intercept_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise NotFittedError("this DocumentClassifier is not fitted yet; call fit first.")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def are_documents(X: Any) -> bool:
    """Whether X has documents (texts, or lists of sentences), and is no matrix."""
    if isinstance(X, Corpus):
        raise ParsimonError("X is a Corpus; give the documents, which the classifier's reader reads.")
    if isinstance(X, str):
        raise ParsimonError("X is a single string; give a list of documents.")
    if hasattr(X, "tocsr") or not hasattr(X, "__len__") or len(getattr(X, "shape", (0,))) != 1:
        return False
    return _are_texts(X)


def _are_texts(documents: Iterable[Any]) -> bool:
    """Whether the first thing, in lists of lists, that is no list is a string."""
    for each in documents:
        if not isinstance(each, list | tuple | np.ndarray):
            return isinstance(each, str)
        if len(each):
            return _are_texts(each)
    return False
