"""How good predicted label sequences are: token accuracy, and precision, recall and F1 of spans.

Span scores are those of ``conlleval``, the script of the CoNLL shared tasks (version of 2004-01-26): a
predicted span counts when its first token, its last token and its type are all right. IOB1, IOB2, IOBES and
IOE labels, and sequences that are valid in no scheme, can be scored; :mod:`parsimon.structures.label_schemes` has the
rules, and the one place where they complete the script's (``S``, and ``B`` after ``E``: it has no rule for
them, and would join neighbouring spans of one type).

>>> gold = [["B-NP", "I-NP", "O", "B-NP"]]
>>> predicted = [["B-NP", "I-NP", "O", "O"]]
>>> token_accuracy(gold, predicted), span_precision(gold, predicted), span_recall(gold, predicted)
(0.75, 1.0, 0.5)

Details that are the script's:

- A label is cut into tag and type at its *first* hyphen: ``B-NP-1`` has the type ``NP-1``.
- A label without a hyphen is a tag with an empty type. So ``B`` and ``I`` alone mark spans of type ``""``.
  Any other, such as ``NOUN``, is no span on its own, but after a label *with* a type it counts as the start
  of a span of type ``""``: do not ask for spans of plain labels (:func:`has_spans` tells), or ask with
  ``raw=True``, where each token that is not ``O`` is a span of one token whose type is the whole label.
- A division by zero gives 0.0.

Two accidents of the script are left out: it takes the type ``0`` for an empty one, and prints the line of the
empty type twice. Sequences are scored one by one, so nothing is ever carried from one into the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from parsimon.errors import ParsimonError
from parsimon.structures.label_schemes import KNOWN_TAGS, OUTSIDE, ends_span, split_label, starts_span

LabelSequences = Sequence[Sequence[str]]
Ints = NDArray[np.int64]


def has_spans(labels: Iterable[str]) -> bool:
    """Whether a label inventory marks spans at all; part-of-speech tags and phonemes do not.

    It does when some label is one of ``B I E S [ ]`` with a hyphen and a type, or when all labels are tags of
    a scheme without types, such as ``B``, ``I`` and ``O``. Of other labels, report the accuracy only.

    >>> has_spans(["O", "B-NP", "I-NP"]), has_spans(["B", "I", "O"]), has_spans(["NOUN", "VERB", "I"])
    (True, True, False)
    """
    inventory = set(labels)
    parts = [split_label(label) for label in inventory]
    if any(tag in tuple("BIES[]") and kind for tag, kind in parts):
        return True
    return inventory <= set("BIESO") and bool(inventory & set("BI"))


@dataclass(frozen=True)
class SpanScore:
    """The scores of one span type, as fractions, with the counts they come from."""

    precision: float
    recall: float
    f1: float
    gold: int
    predicted: int
    correct: int


@dataclass(frozen=True)
class LabelScore:
    """The token-level scores of one label, as fractions; *support* is how often the gold has it."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True, eq=False)
class SpanCounts:
    """Spans by type: those in the gold, those predicted, and the correct ones, in both; ``+`` sums them."""

    types: tuple[str, ...]
    correct: Ints  # [types]
    predicted: Ints  # [types]
    gold: Ints  # [types]

    @property
    def precision(self) -> float:
        """Correct spans as a fraction of those predicted, over all types."""
        return _ratio(self.correct.sum(), self.predicted.sum())

    @property
    def recall(self) -> float:
        """Correct spans as a fraction of those in the gold, over all types."""
        return _ratio(self.correct.sum(), self.gold.sum())

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, over all types."""
        return _f1(self.correct.sum(), self.gold.sum(), self.predicted.sum())

    def per_type(self) -> dict[str, SpanScore]:
        """The scores of each type that occurs, in the gold or the prediction, in alphabetical order."""
        scores = {}
        for name, correct, predicted, gold in sorted(
            zip(self.types, self.correct.tolist(), self.predicted.tolist(), self.gold.tolist(), strict=True)
        ):
            if gold or predicted:
                scores[name] = SpanScore(
                    precision=_ratio(correct, predicted),
                    recall=_ratio(correct, gold),
                    f1=_f1(correct, gold, predicted),
                    gold=gold,
                    predicted=predicted,
                    correct=correct,
                )
        return scores

    def __add__(self, other: SpanCounts) -> SpanCounts:
        if not isinstance(other, SpanCounts):
            return NotImplemented
        types = tuple(sorted({*self.types, *other.types}))
        one, two = self._over(types), other._over(types)
        return SpanCounts(
            types, one.correct + two.correct, one.predicted + two.predicted, one.gold + two.gold
        )

    def _over(self, types: tuple[str, ...]) -> SpanCounts:
        """The same counts over more types."""
        index = {name: number for number, name in enumerate(types)}
        where = np.array([index[name] for name in self.types], dtype=np.intp)
        correct, predicted, gold = (np.zeros(len(types), dtype=np.int64) for _ in range(3))
        correct[where], predicted[where], gold[where] = self.correct, self.predicted, self.gold
        return SpanCounts(types, correct, predicted, gold)


class SpanCounter:
    """Counts the spans in sequences of label ids; made once for a label inventory, then fast.

    When the gold has labels that a model does not know, give the inventory of both.

    >>> counter = SpanCounter(["O", "B-NP", "I-NP"])
    >>> gold, predicted = np.array([1, 2, 0, 1], np.int32), np.array([1, 2, 0, 0], np.int32)
    >>> counts = counter.count(gold, predicted, lengths=np.array([3, 1]))
    >>> counts.precision, counts.recall
    (1.0, 0.5)
    """

    def __init__(self, labels: Sequence[str], raw: bool = False) -> None:
        self.labels = tuple(labels)
        self.raw = raw
        parts = [_raw_parts(label) if raw else split_label(label) for label in self.labels]
        parts.append((OUTSIDE, ""))  # one more label, the sentence boundary: it reads as O
        # The empty type sorts first. The boundary has it; it is reported if a label other than O has it too.
        types = sorted({kind for _, kind in parts})
        self._hidden = 0 if any(kind == "" and tag != OUTSIDE for tag, kind in parts) else 1
        self.types = tuple(types[self._hidden :])

        type_index = {kind: number for number, kind in enumerate(types)}
        self._type = np.array([type_index[kind] for _, kind in parts], dtype=np.intp)  # [Y + 1]
        tags = [tag if tag in KNOWN_TAGS else "?" for tag, _ in parts]
        self._starts = self._table(starts_span, tags)  # [Y + 1][Y + 1], flat
        self._ends = self._table(ends_span, tags)

    def _table(self, rule: Callable[[str, str, bool], bool], tags: list[str]) -> NDArray[np.bool_]:
        """What *rule* says of every pair of labels, asked only once for each pair of distinct tags."""
        distinct, tag = np.unique(np.array(tags, dtype=np.str_), return_inverse=True)
        answers = np.array(
            [[[rule(p, t, same) for same in (False, True)] for t in distinct] for p in distinct]
        )
        same_type = self._type[:, None] == self._type[None, :]
        table: NDArray[np.bool_] = answers[tag[:, None], tag[None, :], same_type.astype(np.intp)]
        return table.ravel()

    def count(
        self, gold: NDArray[np.integer], predicted: NDArray[np.integer], lengths: NDArray[np.integer]
    ) -> SpanCounts:
        """Count the spans of concatenated sequences, of which *lengths* says how many labels each has."""
        lengths = np.asarray(lengths, dtype=np.intp)
        self._check(gold, predicted, lengths)
        boundary = len(self.labels)
        # Every sequence stands between boundaries: | y y y | y y | y |
        where = np.arange(len(gold)) + 1 + np.repeat(np.arange(len(lengths)), lengths)
        padded = np.full((2, len(gold) + len(lengths) + 1), boundary, dtype=np.intp)
        padded[0, where], padded[1, where] = gold, predicted

        step = padded[:, :-1] * (boundary + 1) + padded[:, 1:]  # (previous, next) as an index into the tables
        gold_starts, predicted_starts = self._starts[step]
        gold_ends, predicted_ends = self._ends[step]
        gold_type, predicted_type = self._type[padded]
        same_type = gold_type == predicted_type

        correct = _finished_correct(
            both_start=gold_starts & predicted_starts & same_type[1:],
            both_end=gold_ends & predicted_ends,
            one_ends=gold_ends != predicted_ends,
            same_type=same_type[1:],
            at_boundary=padded[0, 1:] == boundary,
        )
        return SpanCounts(
            self.types,
            correct=self._by_type(gold_type[:-1][correct]),
            predicted=self._by_type(predicted_type[1:][predicted_starts]),
            gold=self._by_type(gold_type[1:][gold_starts]),
        )

    def _by_type(self, types: NDArray[np.intp]) -> Ints:
        return np.bincount(types, minlength=len(self.types) + self._hidden)[self._hidden :].astype(np.int64)

    def _check(
        self, gold: NDArray[np.integer], predicted: NDArray[np.integer], lengths: NDArray[np.integer]
    ) -> None:
        if not len(gold) == len(predicted) == lengths.sum() or (lengths < 0).any():
            raise ParsimonError(
                f"gold has {len(gold)} labels, predicted {len(predicted)} and lengths add up to "
                f"{lengths.sum()}; all three must be the same, and no length negative"
            )
        for name, ids in (("gold", gold), ("predicted", predicted)):
            if len(ids) and (ids.min() < 0 or ids.max() >= len(self.labels)):
                raise ParsimonError(
                    f"{name} has label ids from {ids.min()} to {ids.max()}, "
                    f"but ids of the {len(self.labels)} labels are 0 to {len(self.labels) - 1}"
                )


def _raw_parts(label: str) -> tuple[str, str]:
    return (OUTSIDE, "") if label == OUTSIDE else ("B", label)


def _finished_correct(
    both_start: NDArray[np.bool_],
    both_end: NDArray[np.bool_],
    one_ends: NDArray[np.bool_],
    same_type: NDArray[np.bool_],
    at_boundary: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Where a span that is the same in gold and prediction has just ended.

    conlleval walks over the tokens with a flag, "gold and prediction have agreed since both started a span".
    A step first clears the flag where a span ends or the two disagree, then sets it where both start a span.
    The flag before a step is thus decided by the latest step that touched it, which needs no walk.
    """
    finishes = both_end | at_boundary
    clears = finishes | one_ends | ~same_type
    latest = np.maximum.accumulate(np.where(clears | both_start, np.arange(len(clears)), 0))
    agreed = both_start[latest]  # after each step
    finishes[1:] &= agreed[:-1]
    finishes[:1] = False
    return finishes


def token_accuracy(y_true: LabelSequences, y_pred: LabelSequences) -> float:
    """The fraction of tokens with the right label.

    >>> token_accuracy([["O", "B-NP"], ["O"]], [["O", "O"], ["O"]])
    0.6666666666666666
    """
    pair = _encode(y_true, y_pred)
    return _ratio((pair.gold == pair.predicted).sum(), len(pair.gold))


def span_f1(y_true: LabelSequences, y_pred: LabelSequences, raw: bool = False) -> float:
    """F1 of spans over all types, as a fraction.

    >>> span_f1([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]])
    0.5
    """
    return _span_counts(y_true, y_pred, raw).f1


def span_precision(y_true: LabelSequences, y_pred: LabelSequences, raw: bool = False) -> float:
    """Precision of spans over all types, as a fraction."""
    return _span_counts(y_true, y_pred, raw).precision


def span_recall(y_true: LabelSequences, y_pred: LabelSequences, raw: bool = False) -> float:
    """Recall of spans over all types, as a fraction."""
    return _span_counts(y_true, y_pred, raw).recall


def _span_counts(y_true: LabelSequences, y_pred: LabelSequences, raw: bool) -> SpanCounts:
    pair = _encode(y_true, y_pred)
    return SpanCounter(pair.labels, raw).count(pair.gold, pair.predicted, pair.lengths)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All there is to say about predicted sequences beside the right ones; made by :func:`evaluate`."""

    labels: tuple[str, ...]
    tokens: int
    correct_tokens: int
    sequences: int
    correct_sequences: int
    spans: SpanCounts
    confusion: Ints  # [labels][labels], gold by predicted

    @property
    def accuracy(self) -> float:
        """The fraction of tokens with the right label."""
        return _ratio(self.correct_tokens, self.tokens)

    @property
    def sequence_accuracy(self) -> float:
        """The fraction of sequences in which every label is right."""
        return _ratio(self.correct_sequences, self.sequences)

    @property
    def precision(self) -> float:
        """Precision of spans over all types."""
        return self.spans.precision

    @property
    def recall(self) -> float:
        """Recall of spans over all types."""
        return self.spans.recall

    @property
    def f1(self) -> float:
        """F1 of spans over all types."""
        return self.spans.f1

    @property
    def per_type(self) -> dict[str, SpanScore]:
        """Scores of each span type."""
        return self.spans.per_type()

    @property
    def per_label(self) -> dict[str, LabelScore]:
        """Token-level scores of each label."""
        correct, gold, predicted = (
            counts.tolist()
            for counts in (np.diag(self.confusion), self.confusion.sum(axis=1), self.confusion.sum(axis=0))
        )
        return {
            label: LabelScore(_ratio(c, p), _ratio(c, g), _f1(c, g, p), support=g)
            for label, c, g, p in zip(self.labels, correct, gold, predicted, strict=True)
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dicts, lists and numbers, ready for JSON; scores are fractions."""
        return {
            "tokens": self.tokens,
            "correct_tokens": self.correct_tokens,
            "sequences": self.sequences,
            "correct_sequences": self.correct_sequences,
            "accuracy": self.accuracy,
            "sequence_accuracy": self.sequence_accuracy,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "per_type": {name: asdict(score) for name, score in self.per_type.items()},
            "per_label": {name: asdict(score) for name, score in self.per_label.items()},
            "labels": list(self.labels),
            "confusion": self.confusion.tolist(),
        }

    def conlleval(self) -> str:
        """What the ``conlleval`` script prints, in its exact layout, final newline included."""
        correct, predicted, gold = (
            int(counts.sum()) for counts in (self.spans.correct, self.spans.predicted, self.spans.gold)
        )
        text = f"processed {self.tokens} tokens with {gold} phrases; "
        text += f"found: {predicted} phrases; correct: {correct}.\n"
        if self.tokens:
            text += f"accuracy: {_percent(self.correct_tokens, self.tokens):6.2f}%; "
            text += _conlleval_scores(correct, gold, predicted) + "\n"
        for name, score in self.per_type.items():
            scores = _conlleval_scores(score.correct, score.gold, score.predicted)
            text += f"{name:>17}: {scores}  {score.predicted}\n"
        return text


def evaluate(y_true: LabelSequences, y_pred: LabelSequences, raw: bool = False) -> Evaluation:
    """Score predicted label sequences against the right ones; ``raw`` makes each token but ``O`` a span.

    >>> result = evaluate([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]])
    >>> print(result.conlleval(), end="")
    processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.
    accuracy:  75.00%; precision:  50.00%; recall:  50.00%; FB1:  50.00
                   NP: precision:  50.00%; recall: 100.00%; FB1:  66.67  2
                   VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
    """
    pair = _encode(y_true, y_pred)
    size = len(pair.labels)
    cells = np.bincount(pair.gold.astype(np.intp) * size + pair.predicted, minlength=size * size)
    wrong = pair.gold != pair.predicted
    sequence_of = np.repeat(np.arange(len(pair.lengths)), pair.lengths)
    return Evaluation(
        labels=pair.labels,
        tokens=len(pair.gold),
        correct_tokens=int((~wrong).sum()),
        sequences=len(pair.lengths),
        correct_sequences=len(pair.lengths) - len(np.unique(sequence_of[wrong])),
        spans=SpanCounter(pair.labels, raw).count(pair.gold, pair.predicted, pair.lengths),
        confusion=cells.reshape(size, size).astype(np.int64),
    )


class Predictor(Protocol):
    """What a scorer needs of an estimator."""

    def predict(self, X: Any, /) -> LabelSequences:
        """The predicted label sequences of *X*."""
        ...


Scorer = Callable[[Predictor, Any, LabelSequences], float]


def token_accuracy_scorer(estimator: Predictor, X: Any, y: LabelSequences) -> float:
    """:func:`token_accuracy` of what an estimator predicts, for scikit-learn's ``scoring=``."""
    return token_accuracy(y, estimator.predict(X))


def span_f1_scorer(estimator: Predictor, X: Any, y: LabelSequences) -> float:
    """:func:`span_f1` of what an estimator predicts, for scikit-learn's ``scoring=``."""
    return span_f1(y, estimator.predict(X))


# Plain functions, because scikit-learn's make_scorer checks y and refuses sequences of different lengths.
_SCORERS: dict[str, Scorer] = {"token_accuracy": token_accuracy_scorer, "span_f1": span_f1_scorer}


def get_scorer(name: str) -> Scorer:
    """The scorer called ``"token_accuracy"`` or ``"span_f1"``."""
    if name not in _SCORERS:
        raise ParsimonError(f"there is no scorer {name!r}; use {' or '.join(map(repr, _SCORERS))}")
    return _SCORERS[name]


@dataclass(frozen=True, eq=False)
class _Encoded:
    """Gold and predicted labels as ids over their common inventory."""

    labels: tuple[str, ...]
    gold: NDArray[np.int32]
    predicted: NDArray[np.int32]
    lengths: NDArray[np.intp]


def _encode(y_true: LabelSequences, y_pred: LabelSequences) -> _Encoded:
    gold, predicted = _label_lists(y_true, "y_true"), _label_lists(y_pred, "y_pred")
    if len(gold) != len(predicted):
        raise ParsimonError(
            f"y_true has {len(gold)} sequences but y_pred has {len(predicted)}; there must be one for one"
        )
    for number, (g, p) in enumerate(zip(gold, predicted, strict=True)):
        if len(g) != len(p):
            raise ParsimonError(
                f"sequence {number + 1} has {len(g)} labels in y_true[{number}] but {len(p)} in "
                f"y_pred[{number}]; both must have one label a token"
            )
    labels = tuple(sorted({label for sequences in (gold, predicted) for s in sequences for label in s}))
    index = {label: number for number, label in enumerate(labels)}
    return _Encoded(
        labels,
        gold=np.array([index[label] for sequence in gold for label in sequence], dtype=np.int32),
        predicted=np.array([index[label] for sequence in predicted for label in sequence], dtype=np.int32),
        lengths=np.array([len(sequence) for sequence in gold], dtype=np.intp),
    )


def _label_lists(y: LabelSequences, argument: str) -> list[list[str]]:
    sequences = list(y)
    for number, sequence in enumerate(sequences):
        if isinstance(sequence, str):
            raise ParsimonError(
                f"{argument}[{number}] is the string {sequence!r}, "
                f"but {argument} must be a list of label sequences"
            )
    return [[str(label) for label in sequence] for sequence in sequences]


def _ratio(part: int | np.integer, whole: int | np.integer) -> float:
    return float(part / whole) if whole else 0.0


def _f1(correct: int | np.integer, gold: int | np.integer, predicted: int | np.integer) -> float:
    # 2pr / (p + r) with p = correct/predicted and r = correct/gold
    return _ratio(2 * correct, gold + predicted)


def _conlleval_scores(correct: int, gold: int, predicted: int) -> str:
    # In the script's own order of operations, so that the last printed digit is the same too.
    precision, recall = _percent(correct, predicted), _percent(correct, gold)
    fb1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {fb1:6.2f}"


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
