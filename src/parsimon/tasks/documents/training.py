"""From texts and labels to a fitted classifier: connects vocabulary, problem, solver and model. No algorithms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.data.text.corpus import Corpus
from parsimon.data.text.reader import TextReader
from parsimon.designs.flat import FlatDesign
from parsimon.errors import ParsimonError
from parsimon.features.bag_of_words import BagOfWords, FittedBag
from parsimon.label_values import LabelValues
from parsimon.penalties import ElasticNet, Penalty, SentenceLasso
from parsimon.penalties.group_lasso import GroupPenalty
from parsimon.penalties.groupings import ByTemplate
from parsimon.problem import InMemoryProblem
from parsimon.solvers import ADMM, Result, Solver, Validation, Weights
from parsimon.tasks import naming
from parsimon.tasks.documents.features import (
    ByUnit,
    DocumentFeatures,
    OfWords,
    bend_by_count,
    corpus_of,
    spread_of,
)
from parsimon.tasks.documents.model import DocumentModel
from parsimon.tasks.documents.options import COUNT_POWERS, STRENGTHS, DocumentOptions
from parsimon.tasks.documents.paths import families_of
from parsimon.tasks.label_counts import OF_ROWS, check_label_counts
from parsimon.tasks.matrices.flat import (
    accuracy_on,
    as_weights,
    centred,
    columns_of,
    problem_of,
    with_gap,
)
from parsimon.tasks.options import excerpt
from parsimon.tasks.training import Run, Task, Trained, named_loss
from parsimon.tasks.tuning import Family, TunedTraining

ROUNDS = 100  # of ADMM at most, if it stops as in the paper
CERTIFIED, PAPER = 1e-4, 1e-3  # tolerances of the two ways to stop


@dataclass(frozen=True)
class LabelledDocuments:
    """The training data: documents, as `TextReader` takes them, and the label of each."""

    documents: Sequence[Any] | Corpus
    labels: Sequence[str]
    weights: Array | None = None  # how much each document counts
    order: Sequence[str] | None = None  # all labels; None: those that there are, sorted
    label_values: LabelValues = field(default_factory=dict)  # of labels that are no texts


@dataclass(kw_only=True)
class DocumentTraining(DocumentOptions, TunedTraining[LabelledDocuments, DocumentModel]):
    """How a document classifier is trained. `penalty` is ridge, lasso, elastic-net, sentence, or a penalty object.

    >>> from parsimon.tasks.documents.training import DocumentTraining
    >>> texts = ["A fine film. We liked it.", "Dull. We left early.", "Fine work!", "So dull, so long."]
    >>> training = DocumentTraining(penalty="lasso", l1=0.1)
    >>> model = training.fit(texts, ["good", "bad", "good", "bad"])
    >>> model.predict(model.read(["What a fine evening.", "A dull one."]))
    ['good', 'bad']
    """

    kind: ClassVar[str] = "document"
    group_strength: ClassVar[str] = "sentence"

    def fit(
        self,
        documents: Sequence[Any],
        labels: Sequence[str],
        *,
        dev: tuple[Sequence[Any], Sequence[str] | None] | None = None,
        weights: Array | None = None,
        start: DocumentModel | None = None,
    ) -> DocumentModel:
        """A model; with `dev` the one, along the way, that is best there."""
        return self.run(LabelledDocuments(documents, labels, weights), dev=dev, start=start).model

    def check(self) -> None:
        """Refuses invalid values and combinations."""
        super().check()
        if self.stopping != "paper":
            return
        if not self._splits or not isinstance(self.solver, str) or self.solver != "auto":
            raise ParsimonError(
                "the paper's stopping is ADMM's; with this penalty or solver use stopping='certified'."
            )
        if named_loss(self.loss) != "log":
            raise ParsimonError(
                f"the paper's stopping is for the log loss; with {named_loss(self.loss)} use 'certified'."
            )

    def content(self, data: LabelledDocuments) -> Sequence[Any]:
        """Documents and labels."""
        return [data.documents, data.labels, data.weights, data.order]

    def train(
        self, data: LabelledDocuments, run: Run, *, dev: Any = None, start: DocumentModel | None = None
    ) -> Trained[DocumentModel]:
        """One problem, from the weights of another model if there is one."""
        run.phase("reading documents")
        return self.learn(self.task(data), run, dev=dev, start=start)

    def learn(
        self, task: DocumentTask, run: Run, *, dev: Any = None, start: DocumentModel | None = None
    ) -> Trained[DocumentModel]:
        """The same for documents that are ready."""
        first = None if start is None else task.weights_of(start)
        run.phase("training")
        result = with_gap(task.problem, self.solve(task, first, run, dev=dev))
        return Trained(self.model_of(task, result), result)

    def model_of(self, task: DocumentTask, result: Result) -> DocumentModel:
        """The model with a description of its training."""
        return task.model(result, self.describe(task, result))

    def describe(self, task: Task[DocumentModel], result: Result) -> dict[str, Any]:
        """What the model records about its training."""
        penalty = self.chosen_penalty
        info = {
            **super().describe(task, result),
            **{name: getattr(self, name) for name in REMEMBERED},
            "loss": named_loss(self.loss),
            "penalty": self.penalty_name or repr(self.penalty),
            "values": self.values_name,
            "sentence": penalty.strength if isinstance(penalty, GroupPenalty) else None,
            "groups": self.groups if isinstance(self.groups, str) else "word list",
            "group_weight": self.group_weight if isinstance(self.group_weight, str) else "given",
        }
        if result.relevance is not None:
            info["groups_in_all"] = len(result.relevance)
            info["relevant_groups"] = int(np.sum(result.relevance > 0))
            if info["groups"] == "sentence" and len(result.relevance) == info["sentences"]:
                info["relevant_sentences"] = info["relevant_groups"]
        return info

    # ---- strengths that choose themselves ----------------------------------------------------------------------

    @property
    def tunes(self) -> bool:
        """If no strength is given, unless it is said otherwise. What stops early has more to choose than strengths."""
        if self.tune is not None or self.penalty_name is None:
            return bool(self.tune)
        return self.stopping == "certified" and not self._given

    @property
    def _given(self) -> dict[str, float]:
        """The strengths that are given."""
        if self.penalty_name is None:
            return {}
        given = {name: getattr(self, name) for name in STRENGTHS[self.penalty_name]}
        return {name: value for name, value in given.items() if value is not None}

    def families(self) -> Sequence[Family]:
        """The paths of the penalty; what is given stays."""
        if self.penalty_name is None:
            raise ParsimonError(
                f"tune=True chooses the strengths of a penalty by its name, and {excerpt(self.penalty)} has its own; "
                "leave one of them out."
            )
        if self.stopping != "certified":
            raise ParsimonError("tune=True needs stopping='certified': rounds of ADMM are another choice.")
        return families_of(self.penalty_name, self._given)

    @property
    def loose(self) -> float | None:
        """ADMM takes long for the last digits."""
        return 1e-2 if self._splits and self.solver == "auto" else super().loose

    def ready(self, data: LabelledDocuments) -> LabelledDocuments:
        """Documents are read once."""
        return replace(data, documents=corpus_of(data.documents, self.text_reader))

    def classes_of(self, data: LabelledDocuments) -> IntArray:
        """Labels as numbers."""
        return np.unique(np.asarray(data.labels, str), return_inverse=True)[1]

    def part(self, data: LabelledDocuments, chosen: IntArray) -> LabelledDocuments:
        """Some of the documents; labels have the same numbers."""
        assert isinstance(data.documents, Corpus)
        weights = None if data.weights is None else data.weights[chosen]
        labels = [data.labels[i] for i in chosen.tolist()]
        order = tuple(np.unique(np.asarray(data.labels, str)).tolist()) if data.order is None else data.order
        return replace(data, documents=data.documents[chosen], labels=labels, weights=weights, order=order)

    def held_out(self, data: LabelledDocuments) -> tuple[Any, Sequence[str]]:
        """Documents and labels."""
        return data.documents, data.labels

    # ---- problems ----------------------------------------------------------------------------------------------

    @property
    def text_reader(self) -> TextReader:
        """The reader that was given, or the usual one."""
        return TextReader() if self.reader is None else self.reader

    def prepare(
        self,
        documents: Sequence[Any],
        labels: Sequence[str],
        weights: Array | None = None,
    ) -> DocumentTask:
        """Vocabulary, matrix and labels as numbers, and the problem."""
        self.check()
        return self.task(LabelledDocuments(documents, labels, weights))

    def task(self, data: LabelledDocuments) -> DocumentTask:
        """The problem of some documents."""
        reader = self.text_reader
        corpus = corpus_of(data.documents, reader)
        if len(data.labels) != len(corpus):
            raise ParsimonError(
                f"there are {len(corpus)} documents and {len(data.labels)} labels; give one for each."
            )
        labels, gold = _numbered(data.labels, data.order)
        naming.check_labels(labels)
        check_label_counts(len(labels), len(gold), "documents", OF_ROWS)
        values: Any = self.values_name
        bag = BagOfWords(values, self.min_count, self.min_documents, self.max_documents, self.max_words)
        features = DocumentFeatures(corpus, bag.fit(corpus))
        matrix = features.bag.matrix(corpus)
        design = FlatDesign.build(matrix, len(labels), threads=self.n_threads)
        problem = self._problem(features, design, gold, data.weights)
        return DocumentTask(
            labels,
            features,
            design,
            gold,
            problem,
            reader,
            data.weights,
            data.label_values,
            spread_of(matrix),
        )

    def again(self, task: DocumentTask) -> DocumentTask:
        """The same documents with the penalty and the loss of this training."""
        self.check()
        return replace(task, problem=self._problem(task.documents, task.design, task.gold, task.weights))

    def _problem(
        self, features: DocumentFeatures, design: FlatDesign, gold: IntArray, weights: Array | None
    ) -> InMemoryProblem:
        return problem_of(design, gold, self.bound_penalty(features), self.loss, weights=weights)

    @property
    def chosen_penalty(self) -> Penalty:
        """The penalty with its strengths, before it knows the documents."""
        if self.penalty_name is None:
            return self.penalty  # type: ignore[return-value]
        strength = {"l1": 0.0, "l2": 0.0, **STRENGTHS[self.penalty_name], **self._given}
        if self.penalty_name == "sentence":
            return SentenceLasso(strength["sentence"], l1=strength["l1"], l2=strength["l2"])
        return ElasticNet(strength["l1"], strength["l2"])

    def bound_penalty(self, features: DocumentFeatures) -> Penalty:
        """The penalty on words, its groups found among the documents."""
        penalty: Any = self.chosen_penalty
        if isinstance(penalty, GroupPenalty):
            if not isinstance(self.groups, str):
                penalty = replace(penalty, groups=OfWords(self.groups, self.group_weight))
            elif penalty.groups is None:
                unit: Any = self.groups
                penalty = replace(penalty, groups=ByUnit(unit, self.window, self.group_weight))
            if isinstance(penalty.groups, ByTemplate):
                raise ParsimonError(
                    "documents have no templates; give groups of words, such as ByUnit('sentence')."
                )
        power = COUNT_POWERS.get(self.penalty_name or "")
        if power is not None:
            penalty = replace(penalty, bend=bend_by_count(features.counts, power))
        bound: Penalty = penalty.bind(features)
        return bound

    # ---- solvers -----------------------------------------------------------------------------------------------

    @property
    def _splits(self) -> bool:
        """Whether groups may be given copies of their weights."""
        if self.penalty_name is not None:
            return self.penalty_name == "sentence"
        return isinstance(self.penalty, GroupPenalty) and self.penalty.norm == 2

    @property
    def chosen_solver(self) -> str | Solver:
        """ADMM for groups with the log loss, unless there is another wish."""
        wish = not isinstance(self.solver, str) or self.solver != "auto"
        if wish or not self._splits or named_loss(self.loss) != "log":
            return self.solver  # type: ignore[no-any-return]
        stopping: Any = self.stopping
        tol = self.tol or (PAPER if stopping == "paper" else CERTIFIED)
        return ADMM(tol, self.rho, stopping, threads=self.n_threads)

    @property
    def iterations(self) -> int | None:
        """The limit of iterations; with the paper's stopping there is one anyway."""
        return ROUNDS if self.stopping == "paper" and self.max_iter is None else self.max_iter

    def validation(self, task: Task[DocumentModel], dev: Any, solver: Solver) -> Validation:
        """Scores every iteration."""
        return replace(super().validation(task, dev, solver), every=1)


@dataclass(frozen=True)
class DocumentTask:
    """Documents made ready for learning."""

    labels: tuple[str, ...]
    documents: DocumentFeatures
    design: FlatDesign
    gold: IntArray
    problem: InMemoryProblem
    reader: TextReader
    weights: Array | None = None  # how much each document counts
    label_values: LabelValues = field(default_factory=dict)  # of labels that are no texts
    spread: Array | None = None  # the standard deviation of each word's values

    @property
    def features(self) -> None:
        """No descriptions of features: no solver looks up groups of words by name."""
        return None

    @property
    def corpus(self) -> Corpus:
        """The documents."""
        return self.documents.corpus

    @property
    def bag(self) -> FittedBag:
        """Which words are features."""
        return self.documents.bag

    @property
    def width(self) -> int:
        """How many weights a word has."""
        return len(self.labels) if len(self.labels) > 2 else 1

    def facts(self) -> dict[str, Any]:
        """What the model records about the data."""
        return {
            "documents": len(self.corpus),
            "sentences": self.corpus.n_sentences,
            "candidate_words": len(self.bag.words),
        }

    def model(self, result: Result, info: dict[str, Any]) -> DocumentModel:
        """What is left of the words."""
        weights, bias = columns_of(result.weights.dense(), len(self.bag.words), self.width, bias=True)
        model = DocumentModel.from_weights(
            self.labels, self.bag, weights, bias, self.reader, info, self.spread
        )
        return replace(model, label_values=self.label_values)

    def weights_of(self, model: DocumentModel) -> Weights | None:
        """A model's weights in this task's numbering, words matched by name; None if it is of other labels."""
        if model.labels != self.labels:
            return None
        place = {word: i for i, word in enumerate(model.words)}
        weights = np.zeros((len(self.bag.words), self.width))
        pairs = [(i, place[word]) for i, word in enumerate(self.bag.words) if word in place]
        if pairs:
            here, there = np.array(pairs).T
            weights[here] = model.weights[there]
        return as_weights(weights, centred(model.bias))

    def development_score(
        self, dev: tuple[Sequence[Any], Sequence[str] | None]
    ) -> Callable[[Weights], float]:
        """The share of right labels among other documents."""
        corpus, labels = corpus_of(dev[0], self.reader), dev[1]
        if labels is None or len(labels) != len(corpus):
            raise ParsimonError("development documents need a label each.")
        number = {name: i for i, name in enumerate(self.labels)}
        gold = np.array([number.get(str(label), -1) for label in labels])
        return accuracy_on(self.bag.matrix(corpus), gold, self.width)


def _numbered(labels: Sequence[str], order: Sequence[str] | None) -> tuple[tuple[str, ...], IntArray]:
    """All labels, and the number of each document's."""
    names, gold = np.unique(np.asarray(labels, str), return_inverse=True)
    if len(names) < 2:
        only = f"all documents have the label {str(names[0])!r}" if len(names) else "there are no documents"
        raise ParsimonError(f"{only}; a classifier needs two labels or more.")
    if order is None:
        return tuple(names.tolist()), gold
    number = {name: i for i, name in enumerate(order)}
    return tuple(order), np.array([number[name] for name in names.tolist()], np.int64)[gold]


REMEMBERED = (
    "window",
    "stopping",
    "rho",
    "min_count",
    "min_documents",
    "max_documents",
    "max_words",
    "max_iter",
    "tol",
)
