"""DocumentClassifier: the scikit-learn face of document training, the document model, and explanations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from parsimon.arrays import Array, IntArray
from parsimon.data.text.corpus import Corpus
from parsimon.errors import ParsimonError
from parsimon.estimators.estimator import Estimator, check_pair, documented
from parsimon.estimators.flat_weights import LinearClassifier, check_classes, instance_weights, validated
from parsimon.label_values import LabelValues, name_of, named_labels
from parsimon.penalties import Penalty
from parsimon.penalties.group_lasso import GroupPenalty
from parsimon.penalties.groups import Groups
from parsimon.tasks.documents.explain import ExplainedDocument, explain
from parsimon.tasks.documents.model import DocumentModel
from parsimon.tasks.documents.options import COUNT_POWERS, STRENGTHS, DocumentOptions
from parsimon.tasks.documents.training import DocumentTraining, LabelledDocuments
from parsimon.tasks.matrices.column_groups import FORMS, as_groups
from parsimon.tasks.matrices.flat import centred
from parsimon.tasks.matrices.linear import LinearModel
from parsimon.tasks.matrices.model import MatrixModel
from parsimon.tasks.matrices.training import MatrixTraining, Rows, numbered
from parsimon.tasks.options import LEARNING, RUNNING, STOPPING, changed, option, values_of
from parsimon.tasks.training import Trained
from parsimon.tasks.tuning import Family

MOST_NESTED = 20  # lists in X
OF_COLUMNS = ("ridge", "lasso", "elastic-net")  # penalties whose strengths choose themselves for a matrix


@documented
@dataclass(eq=False, repr=False)
class DocumentClassifier(LinearClassifier, DocumentOptions, Estimator):
    """A sparse linear classifier of documents, regularised by their sentences.

    Minimises Σ loss + sentence Σ_s ‖w_s‖ + l1 ‖w‖₁ + l2/2 ‖w‖² (Yogatama & Smith 2014): w_s has the weights of the
    words of sentence s of the training documents, so whole sentences are found irrelevant. The bias is not penalised.
    The losses are summed: scikit-learn's C is 1/l1, or 1/l2.

    Without a strength, all strengths are chosen, on `dev` or by folds; and without a penalty, what comes out is small
    and reads well: an elastic net of the words that occur, whose ridge is stronger for frequent words.

    X has raw texts, documents that are lists of sentences or lists of lists of tokens; or it is a matrix, dense or
    sparse. Groups of a matrix's columns are given as `groups`.

    Attributes
    ----------
    classes_, coef_, intercept_
        As of scikit-learn's ``LogisticRegression``.
    vocabulary_ : dict
        The column of ``coef_`` of each word (texts only).
    model_ : DocumentModel or MatrixModel
        What `save` writes.
    relevance_ : array or None
        The norms of the copies that ADMM has made of the weights of every group (by default: every sentence of
        training, in turn); zero where it is irrelevant, NaN where the group has no penalty.
    objective_, gap_, n_iter_, status_
        The value reached, how far above the optimum it is at most (``None``: not known), after how many iterations,
        and why training ended there.

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

    training_class: ClassVar[type[DocumentTraining]] = DocumentTraining
    model_class: ClassVar[type[LinearModel]] = LinearModel

    penalty: str | Penalty = changed(
        DocumentOptions,
        "penalty",
        "auto",
        positional=True,
        help="The penalty. 'auto' takes 'sentence' if something is said about groups of words, or for a matrix, and "
        "else 'count-elastic-net', whose ridge is stronger for frequent words. An object such as "
        "``OverlappingGroupLasso(1.0, groups)`` has its own strengths.",
    )
    groups: Any = changed(
        DocumentOptions,
        "groups",
        "sentence",
        help="Groups of words: the units of text whose words form a group, or lists of words. For a matrix, lists of "
        "columns (which may overlap), one label for each column, or `Groups`.",
    )
    class_weight: Mapping[Any, float] | str | None = option(
        None,
        "The weight of each class; 'balanced' gives all classes the same total weight.",
        LEARNING,
        from_python_only=True,
    )
    dev_share: float = option(
        0.0,
        "The share of the training data to hold out for early stopping: the best weights on it are kept. "
        "Alternatively, give such data as the argument `dev` of `fit`.",
        STOPPING,
    )
    warm_start: bool = option(False, "Start from the weights of the previous fit.", RUNNING)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, dev: tuple[Any, Any] | None = None) -> Self:
        """Learns from documents, or the rows of a matrix, and their classes.

        `dev` is a pair (X, y) for early stopping: the weights with the best score on it are kept.
        """
        self.check()
        check_pair(dev)
        texts = are_documents(X)
        X, y = self._checked(X, y, texts)
        classes, gold = numbered(y)
        weights = instance_weights(sample_weight, self.class_weight, np.zeros(len(gold)), y)
        self.held_out_ = self._kept_aside(gold, dev)
        if len(self.held_out_):
            dev = _safe_indexing(X, self.held_out_), y[self.held_out_]
            rest = np.setdiff1d(np.arange(len(gold)), self.held_out_)
            X, y, gold = _safe_indexing(X, rest), y[rest], gold[rest]
            weights = None if weights is None else weights[rest]
        if texts:
            trained = self._fit_texts(X, classes, gold, weights, dev)
        else:
            trained = self._fit_matrix(Rows(X, y, weights), dev)
        self.classes_ = classes
        self.relevance_: Array | None = trained.result.relevance
        return self

    def explain(
        self, documents: Iterable[Any], label: Any = None, *, training: bool = False
    ) -> list[ExplainedDocument]:
        """What each sentence does for the predicted class of its document, or for `label` (one, or one for each).

        `training` says that these are the documents of `fit`: then sentences say whether training found them relevant.
        """
        model = self._fitted()
        if not isinstance(model, DocumentModel):
            raise ParsimonError(
                "only documents can be explained, and this classifier was fitted to a matrix."
            )
        if training and (self.relevance_ is None or self.groups != "sentence"):
            raise ParsimonError(
                "training tells relevant sentences only if these are the groups of its penalty."
            )
        if label is not None:
            several = isinstance(label, list | tuple | np.ndarray)
            label = [name_of(each) for each in label] if several else name_of(label)
        explained = explain(model, documents, label, copies=self.relevance_ if training else None)
        return [_with_labels(each, model.label_values) for each in explained]

    # ---- what was learned --------------------------------------------------------------------------------------

    @property
    def coef_(self) -> Array:
        """The weights of all columns, or of all words in `vocabulary_`; one row for two classes, else one for each."""
        model = self._fitted()
        if isinstance(model, MatrixModel):
            return model.coef
        coef = np.zeros((model.width, len(self.vocabulary_)))
        places = np.fromiter((self.vocabulary_[word] for word in model.words), np.int64, len(model.words))
        coef[:, places] = model.weights.T
        return coef

    @property
    def intercept_(self) -> Array:
        """The intercepts. Those of more than two classes sum to zero."""
        model = self._fitted()
        return model.intercepts if isinstance(model, MatrixModel) else centred(model.bias)

    def _take(self, model: DocumentModel | MatrixModel) -> None:
        if isinstance(model, MatrixModel):
            classes, n_features = model.class_values, model.n_columns
            self.__dict__.pop("vocabulary_", None)  # of a fit to texts
        else:
            classes, n_features = np.array(model.classes), len(model.words)
            self.vocabulary_ = {word: i for i, word in enumerate(model.words)}
        super()._take(model)
        self.classes_, self.n_features_in_ = classes, n_features
        self.gap_ = model.info.get("gap")
        self.relevance_ = None

    @classmethod
    def _settings_of(cls, model: DocumentModel | MatrixModel) -> dict[str, Any]:
        settings = {} if model.info.get("loss") is None else {"loss": model.info["loss"]}
        if isinstance(model, DocumentModel):
            settings |= {"reader": model.reader, "values": model.values}
        return settings

    # ---- texts and matrices ------------------------------------------------------------------------------------

    def _fit_texts(
        self, X: Any, classes: Any, gold: IntArray, weights: Array | None, dev: Any
    ) -> Trained[Any]:
        """Words of all documents keep their columns in `coef_`, also those without a weight."""
        order, values = named_labels(classes.tolist())
        names = dict(zip(classes.tolist(), order, strict=True))
        if dev is not None:
            check_consistent_length(*dev)
            dev = dev[0], [names.get(each, str(each)) for each in np.asarray(dev[1]).tolist()]
        training: DocumentTraining
        training, watch = self._watched_training()
        data = LabelledDocuments(X, [order[i] for i in gold], weights, order, values)
        start = self._start()
        known = start if isinstance(start, DocumentModel) else None
        with training.started(data, watch=watch) as run:
            training, data, dev, known = training.settled(data, run, dev=dev, start=known)
            task = training.task(data)
            trained = training.learn(task, run, dev=dev, start=known)
        self._learnt(trained.model)
        self.vocabulary_ = {word: i for i, word in enumerate(task.bag.words)}
        self.n_features_in_ = len(task.bag.words)
        return trained

    def _fit_matrix(self, rows: Rows, dev: Any) -> Trained[Any]:
        if dev is not None:
            check_consistent_length(*dev)
            other = validated(self, dev[0], reset=False, accept_sparse="csr", dtype=np.float64)
            dev = other, dev[1]
        start = self._start()
        training, watch = self._watched_training()
        if training.penalty == "auto":
            training = replace(training, penalty="sentence")
        check_for_columns(training)
        trained = self._matrix_training(training, rows.X.shape[1]).run(
            rows, dev=dev, start=start if isinstance(start, MatrixModel) else None, watch=watch
        )
        self._learnt(trained.model)
        return trained

    def _matrix_training(self, training: DocumentTraining, n_columns: int) -> MatrixTraining:
        """The training on a matrix with the options of a training on documents."""
        training.check()
        own = {"solver": training.chosen_solver, "max_iter": training.iterations}
        shared = values_of(MatrixTraining, training)
        for name in ("penalty", "l1", "l2", "groups", "group_weight"):
            shared.pop(name, None)
        if training.tunes and training.penalty_name in OF_COLUMNS:
            strengths = {"alpha": 0.0, **STRENGTHS[training.penalty_name]}
            return NetOfColumns(**{**shared, **own, **strengths, "tune": None, "words": training})
        penalty = self._penalty_of_columns(training.chosen_penalty, n_columns)
        return MatrixTraining(**{**shared, **own, "penalty": penalty, "tune": None})

    def _penalty_of_columns(self, chosen: Penalty, n_columns: int) -> Penalty:
        if not isinstance(chosen, GroupPenalty):
            return chosen
        if not isinstance(self.groups, str):
            return replace(chosen, groups=as_groups(self.groups, n_columns, self.group_weight))
        if isinstance(chosen.groups, Groups):
            return chosen
        raise ParsimonError(f"a matrix has no groups by {self.groups}; give groups as {FORMS}.")

    def _start(self) -> DocumentModel | MatrixModel | None:
        """The model of the last fit, if that is where to start."""
        return self.model_ if self.warm_start and self.__sklearn_is_fitted__() else None

    def _checked(self, X: Any, y: Any, texts: bool) -> tuple[Any, Any]:
        check_classes(y)
        if texts:
            if y is None:
                raise ParsimonError("y is None; give the class of each document.")
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        else:
            X, y = validated(self, X, y, accept_sparse="csr", dtype=np.float64)
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

    def _margins(self, X: Any) -> Array:
        model = self._fitted()
        texts = are_documents(X)
        if texts != isinstance(model, DocumentModel):
            fitted, given = ("a matrix", "documents") if texts else ("documents", "a matrix")
            if not texts:  # what is wrong with it as a matrix matters more
                validated(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
            raise ParsimonError(
                f"the classifier was fitted to {fitted}, but X has {given}; give the same form."
            )
        if isinstance(model, DocumentModel):
            scores = model.scores(model.read(X))
            return scores[:, 1:] if len(self.classes_) == 2 else scores
        X = validated(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        margins: Array = model.margins(X)
        return margins

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(kw_only=True)
class NetOfColumns(MatrixTraining):
    """An elastic net of columns whose strengths choose themselves as those of words do."""

    words: DocumentTraining

    @property
    def tunes(self) -> bool:
        """Until they have."""
        return self.tune is None

    def families(self) -> Sequence[Family]:
        """Those of words."""
        return self.words.families()


def check_for_columns(training: DocumentTraining) -> None:
    """Refuses what is only for texts."""
    if training.tune and training.penalty_name not in OF_COLUMNS:
        raise ParsimonError(
            f"tune=True is for the penalties {', '.join(OF_COLUMNS)} here; for groups of columns, use "
            "OverlappingGroupLassoClassifier."
        )
    if training.penalty_name in COUNT_POWERS:
        raise ParsimonError(
            f"the penalty {training.penalty_name} counts words, so it needs texts; give another for a matrix."
        )


def _with_labels(explained: ExplainedDocument, values: LabelValues) -> ExplainedDocument:
    """An explanation with labels as they were given in training."""
    if not values:
        return explained
    return replace(
        explained,
        label=values[explained.label],
        predicted=values[explained.predicted],
        probabilities={values[name]: p for name, p in explained.probabilities.items()},
    )


def are_documents(X: Any) -> bool:
    """Whether X has documents (texts, or lists of sentences), and is no matrix."""
    if isinstance(X, Corpus):
        raise ParsimonError("X is a Corpus; give the documents, which the classifier's reader reads.")
    if isinstance(X, str):
        raise ParsimonError("X is a single string; give a list of documents.")
    if isinstance(X, dict | set | frozenset | Iterator) and not hasattr(X, "shape"):
        raise ParsimonError(f"X is of type {type(X).__name__}; give a list of documents.")
    if hasattr(X, "tocsr") or not hasattr(X, "__len__") or len(getattr(X, "shape", (0,))) != 1:
        return False
    return _are_texts(X)


def _are_texts(documents: Any) -> bool:
    """Whether the first thing, in lists of lists, that is no list is a string. Sentences are two lists deep."""
    for _ in range(MOST_NESTED):
        if not isinstance(documents, Iterable):
            return False
        first = next((x for x in documents if not isinstance(x, list | tuple | np.ndarray) or len(x)), None)
        if not isinstance(first, list | tuple | np.ndarray):
            return isinstance(first, str)
        documents = first
    raise ParsimonError(f"X has lists nested more than {MOST_NESTED} deep; give a list of documents.")
