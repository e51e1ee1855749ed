"""Training a document classifier: texts and labels in, a `DocumentModel` out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.data.text.corpus import Corpus
from parsimon.data.text.reader import TextReader
from parsimon.designs.flat import FlatDesign
from parsimon.errors import ParsimonError
from parsimon.features.bag_of_words import BagOfWords, FittedBag
from parsimon.penalties import ElasticNet, Penalty, SentenceLasso
from parsimon.penalties.groupings import ByTemplate
from parsimon.problem import Problem
from parsimon.solvers import ADMM, Result, Validation, Weights
from parsimon.solvers.admm import Stopping
from parsimon.tasks.documents.features import ByUnit, DocumentFeatures
from parsimon.tasks.documents.model import DocumentModel
from parsimon.tasks.documents.units import Unit
from parsimon.tasks.matrices.training import FlatTraining, columns_of

PATIENCE = 20  # iterations in a row that are no better on the development set
ROUNDS = 100  # of ADMM at most, if it stops as in the paper


@dataclass(frozen=True)
class DocumentTask:
    """Documents made ready for learning."""

    labels: tuple[str, ...]
    features: DocumentFeatures
    design: FlatDesign
    gold: IntArray

    @property
    def corpus(self) -> Corpus:
        """The documents."""
        return self.features.corpus

    @property
    def bag(self) -> FittedBag:
        """Which words are features."""
        return self.features.bag

    @property
    def width(self) -> int:
        """How many weights a word has."""
        return len(self.labels) if len(self.labels) > 2 else 1


@dataclass(frozen=True)
class DocumentTraining:
    """How a document classifier is trained. `penalty` is ridge, lasso, elastic-net, sentence, or a penalty object.

    >>> from parsimon.tasks.documents.training import DocumentTraining
    >>> texts = ["A fine film. We liked it.", "Dull. We left early.", "Fine work!", "So dull, so long."]
    >>> training = DocumentTraining(penalty="lasso", l1=0.1)
    >>> model = training.fit(texts, ["good", "bad", "good", "bad"])
    >>> model.predict(model.read(["What a fine evening.", "A dull one."]))
    ['good', 'bad']
    """

    penalty: str | Penalty = "sentence"
    l1: float | None = None
    l2: float | None = None
    sentence: float | None = None
    groups: Unit = "sentence"
    window: int = 20
    group_weight: str = "ones"
    stopping: Stopping = "certified"
    rho: float | None = None
    loss: str = "log"
    values: str = "counts"
    min_count: int = 1
    min_documents: int = 1
    max_documents: float = 1.0
    max_words: int | None = None
    reader: TextReader = field(default_factory=TextReader)
    max_iter: int | None = None
    tol: float | None = None
    time_limit: float | None = None
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.penalty, str) and self.penalty not in PENALTIES:
            raise ParsimonError(f"there is no penalty {self.penalty!r}; choose from {', '.join(PENALTIES)}.")
        if self.stopping == "paper" and not self._splits:
            raise ParsimonError("the paper's stopping is ADMM's; with this penalty use stopping='certified'.")
        if self.stopping == "paper" and self.loss != "log":
            raise ParsimonError(
                f"the paper's stopping is for the log loss; with {self.loss} use 'certified'."
            )

    @property
    def _splits(self) -> bool:
        if isinstance(self.penalty, str):
            return self.penalty == "sentence"
        return hasattr(self.penalty, "split") and getattr(self.penalty, "norm", 2) == 2

    def fit(
        self,
        documents: Sequence[Any],
        labels: Sequence[str],
        *,
        dev: tuple[Sequence[Any], Sequence[str] | None] | None = None,
        callbacks: Sequence[Callable[[Any], Any]] = (),
    ) -> DocumentModel:
        """A model; with `dev` the one, along the way, that is best there."""
        task = self.prepare(self.reader.read(documents), labels)
        watched = None if dev is None else self.held_out(task, self.reader.read(dev[0]), dev[1])
        problem = self.problem(task)
        return self.model(task, problem, self.solve(problem, validation=watched, callbacks=callbacks))

    def prepare(self, corpus: Corpus, labels: Sequence[str]) -> DocumentTask:
        """Vocabulary, matrix and labels as numbers."""
        if len(labels) != len(corpus):
            raise ParsimonError(
                f"there are {len(corpus)} documents and {len(labels)} labels; give one for each."
            )
        names, gold = np.unique(np.asarray(labels, str), return_inverse=True)
        if len(names) < 2:
            raise ParsimonError(
                f"all documents have the label {str(names[0])!r}; a classifier needs two or more."
            )
        values: Any = self.values
        bag = BagOfWords(values, self.min_count, self.min_documents, self.max_documents, self.max_words).fit(
            corpus
        )
        design = FlatDesign.build(bag.matrix(corpus), len(names), threads=self.threads)
        return DocumentTask(tuple(names.tolist()), DocumentFeatures(corpus, bag), design, gold)

    def problem(self, task: DocumentTask) -> Problem:
        """Σ loss + Ω."""
        return self.flat.problem_of(task.design, task.gold, self.bound_penalty(task.features))

    @property
    def chosen_penalty(self) -> Any:
        """The penalty with its strengths, before it knows the documents."""
        return PENALTIES[self.penalty](self) if isinstance(self.penalty, str) else self.penalty

    def bound_penalty(self, features: DocumentFeatures) -> Penalty:
        """The penalty on words, its groups found among the documents."""
        penalty = self.chosen_penalty
        if isinstance(penalty, SentenceLasso) and penalty.groups is None:
            penalty = replace(penalty, groups=ByUnit(self.groups, self.window, self.group_weight))
        if isinstance(penalty.groups, ByTemplate):
            raise ParsimonError(
                "documents have no templates; give groups of words, such as ByUnit('sentence')."
            )
        return penalty.bind(features)  # type: ignore[no-any-return]

    def solve(
        self,
        problem: Problem,
        start: Weights | None = None,
        *,
        validation: Validation | None = None,
        callbacks: Sequence[Callable[[Any], Any]] = (),
    ) -> Result:
        """Weights."""
        return self.flat.solve(problem, start, validation=validation, callbacks=callbacks)

    @property
    def flat(self) -> FlatTraining:
        """The solver and its limits."""
        rounds = ROUNDS if self.stopping == "paper" and self.max_iter is None else self.max_iter
        flat = FlatTraining(self.loss, "auto", self.tol, rounds, self.time_limit, self.threads)
        if not self._splits or self.loss != "log":
            return flat
        tol = self.tol or (1e-3 if self.stopping == "paper" else 1e-4)
        return replace(flat, solver=ADMM(tol, self.rho, self.stopping, threads=self.threads))

    def held_out(self, task: DocumentTask, corpus: Corpus, labels: Sequence[str] | None) -> Validation:
        """Accuracy on other documents, at every iteration; of equals the smaller model is kept."""
        if labels is None or len(labels) != len(corpus):
            raise ParsimonError("development documents need a label each.")
        number = {name: i for i, name in enumerate(task.labels)}
        gold = np.array([number.get(str(label), -1) for label in labels])
        score = accuracy_on(task, task.bag.matrix(corpus), gold)
        return Validation(score, every=1, patience=PATIENCE)

    def model(self, task: DocumentTask, problem: Problem, result: Result) -> DocumentModel:
        """What is left of the words, and how it came about."""
        w = result.weights.dense()
        weights, bias = columns_of(w, len(task.bag.words), task.width, bias=True)
        info = self._info(task, problem, result)
        return DocumentModel.from_weights(task.labels, task.bag, weights, bias, self.reader, info)

    def _info(self, task: DocumentTask, problem: Problem, result: Result) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in SETTINGS}
        penalty = self.chosen_penalty
        told["penalty"] = self.penalty if isinstance(self.penalty, str) else repr(self.penalty)
        told |= {name: getattr(penalty, name, None) for name in ("l1", "l2")}
        told["sentence"] = penalty.strength if self._splits else None
        told |= {
            "documents": len(task.corpus),
            "sentences": task.corpus.n_sentences,
            "candidate_words": len(task.bag.words),
            **result.told(),
        }
        if result.relevance is not None:
            told["groups_in_all"] = len(result.relevance)
            told["relevant_groups"] = int(np.sum(result.relevance > 0))
            if len(result.relevance) == task.corpus.n_sentences and self.groups == "sentence":
                told["relevant_sentences"] = told["relevant_groups"]
        return told


def accuracy_on(task: DocumentTask, X: Any, gold: IntArray) -> Callable[[Weights], float]:
    """The share of right labels, as a function of weights."""

    def score(weights: Weights) -> float:
        coefficients, bias = columns_of(weights.dense(), X.shape[1], task.width, bias=True)
        return float(np.mean(best_labels(X @ coefficients + bias) == gold))

    return score


def best_labels(margins: Array) -> IntArray:
    """The label with the largest score; with one column, the second where it is above zero."""
    if margins.shape[1] == 1:
        return np.asarray(margins[:, 0] > 0, np.int64)
    return np.asarray(np.argmax(margins, axis=1))


def _ridge(training: DocumentTraining) -> Penalty:
    return ElasticNet(0.0, _given(training.l2, 1.0))


def _lasso(training: DocumentTraining) -> Penalty:
    return ElasticNet(_given(training.l1, 1.0), 0.0)


def _elastic_net(training: DocumentTraining) -> Penalty:
    return ElasticNet(_given(training.l1, 0.1), _given(training.l2, 0.1))


def _sentence(training: DocumentTraining) -> Penalty:
    return SentenceLasso(
        _given(training.sentence, 0.01), l1=_given(training.l1, 0.1), l2=_given(training.l2, 0.0)
    )


def _given(value: float | None, default: float) -> float:
    return default if value is None else value


PENALTIES: dict[str, Callable[[DocumentTraining], Penalty]] = {
    "ridge": _ridge,
    "lasso": _lasso,
    "elastic-net": _elastic_net,
    "sentence": _sentence,
}
SETTINGS = (
    "l1",
    "l2",
    "sentence",
    "groups",
    "window",
    "group_weight",
    "stopping",
    "rho",
    "loss",
    "values",
    "min_count",
    "min_documents",
    "max_documents",
    "max_words",
    "max_iter",
    "tol",
    "seed",
)
