"""Metrics, against a plain rewriting of the conlleval script, against seqeval, and by hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities, precision_recall_fscore_support

from parsimon.errors import ParsimonError
from parsimon.structures.label_schemes import convert, spans
from parsimon.tasks.sequences.metrics import (
    SpanCounter,
    SpanCounts,
    evaluate,
    get_scorer,
    has_spans,
    span_f1,
    span_f1_scorer,
    span_precision,
    span_recall,
    token_accuracy,
    token_accuracy_scorer,
)

Sequences = list[list[str]]
TYPES = ("X", "Y-1")

untimed = settings(deadline=None)  # how long an example takes depends on the machine


# ---- the script, rule by rule -----------------------------------------------------------------------------


def end_of_chunk(previous: str, tag: str, previous_type: str, kind: str) -> bool:
    ends = (previous, tag) in {
        ("B", "B"), ("B", "O"), ("I", "B"), ("I", "O"), ("E", "E"), ("E", "I"), ("E", "O"),
    }  # fmt: skip
    if previous not in ("O", ".") and previous_type != kind:
        ends = True
    return ends or previous in ("[", "]")


def start_of_chunk(previous: str, tag: str, previous_type: str, kind: str) -> bool:
    starts = (previous, tag) in {
        ("B", "B"), ("I", "B"), ("O", "B"), ("O", "I"), ("E", "E"), ("E", "I"), ("O", "E"),
    }  # fmt: skip
    if tag not in ("O", ".") and previous_type != kind:
        starts = True
    return starts or tag in ("[", "]")


def split(label: str) -> tuple[str, str]:
    tag, _, kind = label.partition("-")
    return tag, kind


class Script:
    """The counters and the loop of conlleval, one line of its input after the other."""

    def __init__(
        self, gold: Sequences, predicted: Sequences, raw: bool = False, blank_after: bool = True
    ) -> None:
        self.correct, self.gold, self.predicted = Counter[str](), Counter[str](), Counter[str]()
        self.tokens = self.correct_tokens = 0
        self.in_correct = False
        self.last = ("O", ""), ("O", "")
        for gold_labels, predicted_labels in zip(gold, predicted, strict=True):
            for g, p in zip(gold_labels, predicted_labels, strict=True):
                self.tokens += 1
                self.correct_tokens += g == p
                if raw:
                    g, p = (label if label == "O" else f"B-{label}" for label in (g, p))
                self.line(split(g), split(p))
            if blank_after:  # the empty line after a sentence
                self.line(("O", ""), ("O", ""))
        if self.in_correct:
            self.correct[self.last[0][1]] += 1

    def line(self, gold: tuple[str, str], predicted: tuple[str, str]) -> None:
        (tag_g, type_g), (tag_p, type_p) = gold, predicted
        (last_g, last_type_g), (last_p, last_type_p) = self.last
        gold_ends = end_of_chunk(last_g, tag_g, last_type_g, type_g)
        predicted_ends = end_of_chunk(last_p, tag_p, last_type_p, type_p)
        gold_starts = start_of_chunk(last_g, tag_g, last_type_g, type_g)
        predicted_starts = start_of_chunk(last_p, tag_p, last_type_p, type_p)
        if self.in_correct:
            if gold_ends and predicted_ends and last_type_p == last_type_g:
                self.in_correct = False
                self.correct[last_type_g] += 1
            elif gold_ends != predicted_ends or type_p != type_g:
                self.in_correct = False
        if gold_starts and predicted_starts and type_p == type_g:
            self.in_correct = True
        self.gold[type_g] += gold_starts
        self.predicted[type_p] += predicted_starts
        self.last = gold, predicted

    def by_type(self) -> dict[str, tuple[int, int, int]]:
        names = {name for name in self.gold | self.predicted if self.gold[name] or self.predicted[name]}
        return {name: (self.correct[name], self.predicted[name], self.gold[name]) for name in names}


def by_type(gold: Sequences, predicted: Sequences, raw: bool = False) -> dict[str, tuple[int, int, int]]:
    scores = evaluate(gold, predicted, raw).per_type
    return {name: (score.correct, score.predicted, score.gold) for name, score in scores.items()}


# ---- what to score ----------------------------------------------------------------------------------------

Pair = tuple[Sequences, Sequences]


def pairs(labels: Iterable[str]) -> st.SearchStrategy[Pair]:
    """Gold sequences of any labels, valid or not, with predictions that mostly agree."""
    label = st.sampled_from(sorted(labels))
    token = st.one_of(label.map(lambda y: (y, y)), label.map(lambda y: (y, y)), st.tuples(label, label))
    sequences = st.lists(st.lists(token, max_size=8), max_size=4)
    return sequences.map(
        lambda rows: ([[g for g, _ in row] for row in rows], [[p for _, p in row] for row in rows])
    )


def typed(tags: str) -> list[str]:
    return ["O", *(f"{tag}-{kind}" for tag in tags for kind in TYPES)]


SCRIPT_ALPHABETS = {
    "IOB": typed("BI"),
    "IOE": typed("IE"),
    "IO": typed("I"),
    "no types": ["O", "B", "I"],
    "types on some": ["O", "B", "I", "B-X", "I-X"],
    "brackets": [".", "[-X", "]-X", "[-Y", "]-Y"],
}


@pytest.mark.parametrize("alphabet", SCRIPT_ALPHABETS)
@untimed
@given(data=st.data())
def test_counts_are_the_scripts(alphabet: str, data: st.DataObject) -> None:
    gold, predicted = data.draw(pairs(SCRIPT_ALPHABETS[alphabet]))
    script, result = Script(gold, predicted), evaluate(gold, predicted)
    assert by_type(gold, predicted) == script.by_type()
    assert (result.tokens, result.correct_tokens) == (script.tokens, script.correct_tokens)


@untimed
@given(pairs(["O", "NOUN", "B-X", "V-x"]))
def test_raw_counts_are_the_scripts(pair: Pair) -> None:
    assert by_type(*pair, raw=True) == Script(*pair, raw=True).by_type()


@untimed
@given(pairs(["O", ".", "NOUN", "VERB", "M-X", "B-X", "I-X", "E", "I"]))
def test_plain_labels_among_others_count_as_in_the_script_on_each_sequence(pair: Pair) -> None:
    # The script misses that O ends a span of an empty type, unless the file ends there.
    for gold, predicted in zip(*pair, strict=True):
        assert by_type([gold], [predicted]) == Script([gold], [predicted], blank_after=False).by_type()


@untimed
@given(pairs(typed("BIES")))
def test_iobes_scores_as_the_script_scores_the_same_spans_in_iob2(pair: Pair) -> None:
    gold, predicted = ([convert(labels, None, "iob2") for labels in sequences] for sequences in pair)
    assert by_type(*pair) == Script(gold, predicted).by_type()


def test_the_script_joins_iobes_spans_that_touch_and_this_does_not() -> None:
    for labels in (["S-X", "S-X"], ["B-X", "E-X", "B-X", "E-X"], ["S-X", "B-X", "E-X"]):
        assert Script([labels], [labels]).by_type() == {"X": (1, 1, 1)}
        assert by_type([labels], [labels]) == {"X": (2, 2, 2)}


@untimed
@given(pairs(typed("BIES")))
def test_scores_are_seqevals(pair: Pair) -> None:
    gold, predicted = pair
    assert [(k, s, e - 1) for labels in gold for k, s, e in spans(labels)] == [
        entity for labels in gold for entity in get_entities(labels)
    ]
    if not any(spans(labels) for labels in gold + predicted):
        assert span_f1(gold, predicted) == 0.0  # seqeval wants at least one span
        return
    precision, recall, f1, _ = precision_recall_fscore_support(
        gold, predicted, average="micro", zero_division=0
    )
    assert span_precision(gold, predicted) == pytest.approx(precision)
    assert span_recall(gold, predicted) == pytest.approx(recall)
    assert span_f1(gold, predicted) == pytest.approx(f1)

    per_type = precision_recall_fscore_support(gold, predicted, average=None, zero_division=0)
    ours = [
        (s.precision, s.recall, s.f1, s.gold) for _, s in sorted(evaluate(gold, predicted).per_type.items())
    ]
    np.testing.assert_allclose(np.array(ours).T, np.array(per_type))


@pytest.mark.filterwarnings("ignore:.*seems not to be NE tag")
def test_plain_labels_are_no_spans_as_in_the_script_though_seqeval_finds_some() -> None:
    labels = ["NOUN", "VERB"]
    assert get_entities(labels) == [("OUN", 0, 0), ("ERB", 1, 1)]
    assert by_type([labels], [labels]) == Script([labels], [labels]).by_type() == {}


# ---- by hand ----------------------------------------------------------------------------------------------

GOLD = [
    ["B-NP", "I-NP", "B-VP", "B-NP", "I-NP", "O"],  # NP VP NP
    ["B-NP", "B-NP", "O", "B-ADVP"],  # NP NP ADVP
    ["B-PP", "B-NP", "I-NP"],  # PP NP
]
PREDICTED = [
    ["B-NP", "I-NP", "B-VP", "B-NP", "O", "O"],  # the second NP is too short
    ["B-NP", "I-NP", "O", "B-PRT"],  # two NP joined, a wrong type
    ["B-PP", "B-NP", "I-NP"],  # all right
]


def test_text_is_the_scripts_to_the_byte() -> None:
    # 8 gold spans (5 NP, VP, ADVP, PP), 7 predicted (4 NP, VP, PRT, PP), 4 correct (2 NP, VP, PP);
    # 10 of 13 tokens; FB1 = 2 * 4 / (8 + 7).
    assert evaluate(GOLD, PREDICTED).conlleval() == (
        "processed 13 tokens with 8 phrases; found: 7 phrases; correct: 4.\n"
        "accuracy:  76.92%; precision:  57.14%; recall:  50.00%; FB1:  53.33\n"
        "             ADVP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n"
        "               NP: precision:  50.00%; recall:  40.00%; FB1:  44.44  4\n"
        "               PP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
        "              PRT: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
        "               VP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
    )


def test_text_of_nothing_has_only_the_first_line() -> None:
    assert evaluate([], []).conlleval() == (
        "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n"
    )


def test_all_of_an_evaluation_by_hand() -> None:
    result = evaluate(GOLD, PREDICTED)
    assert (result.tokens, result.correct_tokens) == (13, 10)
    assert (result.precision, result.recall) == (4 / 7, 4 / 8)
    assert result.f1 == 8 / 15
    assert result.sequence_accuracy == 1 / 3
    label = result.per_label["I-NP"]  # three in the gold, three predicted, two of them the same
    assert (label.precision, label.recall, label.f1, label.support) == (2 / 3, 2 / 3, 2 / 3, 3)
    row, column = result.labels.index("B-NP"), result.labels.index("I-NP")
    assert result.confusion[row, column] == 1
    assert result.confusion[column, row] == 0
    assert result.confusion.sum() == 13
    assert np.trace(result.confusion) == 10


@untimed
@given(pairs(typed("BI")))
def test_label_scores_follow_from_counting_tokens(pair: Pair) -> None:
    tokens = [t for g, p in zip(*pair, strict=True) for t in zip(g, p, strict=True)]
    result = evaluate(*pair)
    for y, score in result.per_label.items():
        both, gold, predicted = (
            sum(t == (y, y) for t in tokens), sum(g == y for g, _ in tokens), sum(p == y for _, p in tokens)
        )  # fmt: skip
        assert score.support == gold
        assert score.precision == (both / predicted if predicted else 0.0)
        assert score.recall == (both / gold if gold else 0.0)
        assert score.f1 == pytest.approx(2 * both / (gold + predicted))
    assert set(result.labels) == {label for token in tokens for label in token}
    assert result.correct_sequences == sum(g == p for g, p in zip(*pair, strict=True))


def test_dict_goes_through_json_with_fractions() -> None:
    result = evaluate(GOLD, PREDICTED)
    loaded = json.loads(json.dumps(result.to_dict()))
    assert loaded["accuracy"] == 10 / 13
    assert (loaded["precision"], loaded["recall"], loaded["f1"]) == (4 / 7, 0.5, 8 / 15)
    assert loaded["per_type"]["NP"]["gold"] == 5
    assert loaded["per_label"]["O"]["support"] == 2
    assert loaded["confusion"] == result.confusion.tolist()


def test_zero_divisions_are_zero() -> None:
    for gold, predicted in (
        ([], []),
        ([["O"]], [["O"]]),
        ([[]], [[]]),
        ([["B-X"]], [["O"]]),
        ([["O"]], [["I-X"]]),
    ):
        result = evaluate(gold, predicted)
        assert (result.precision, result.recall, result.f1) == (0.0, 0.0, 0.0)
    assert token_accuracy([], []) == 0.0
    assert evaluate([], []).sequence_accuracy == 0.0


# ---- the counter on ids -----------------------------------------------------------------------------------


def test_spans_do_not_cross_sequences() -> None:
    ids = np.array([0, 1, 1, 1], dtype=np.int32)
    counter = SpanCounter(["B-X", "I-X"])
    assert counter.count(ids, ids, np.array([4])).gold.tolist() == [1]
    assert counter.count(ids, ids, np.array([2, 0, 2])).gold.tolist() == [2]
    # In one sequence of four the prediction differs; cut in two, the second halves are the same span.
    other = np.array([0, 0, 1, 1], dtype=np.int32)
    assert counter.count(ids, other, np.array([4])).correct.tolist() == [0]
    assert counter.count(ids, other, np.array([2, 2])).correct.tolist() == [1]


@untimed
@given(pairs(typed("BIES")))
def test_counts_of_parts_add_up(pair: Pair) -> None:
    labels = [*typed("BIES"), "B-unused"]
    counter = SpanCounter(labels)

    def count(gold: Sequences, predicted: Sequences) -> SpanCounts:
        gold_ids, predicted_ids = (
            np.array([labels.index(y) for labels_of_one in y_s for y in labels_of_one], dtype=np.int32)
            for y_s in (gold, predicted)
        )
        return counter.count(gold_ids, predicted_ids, np.array([len(s) for s in gold], dtype=np.int64))

    gold, predicted = pair
    whole, parts = count(gold, predicted), count(gold[:1], predicted[:1]) + count(gold[1:], predicted[1:])
    assert whole.types == parts.types == ("X", "Y-1", "unused")
    assert whole.per_type() == parts.per_type() == evaluate(gold, predicted).per_type


def test_counts_over_different_types_add_by_name() -> None:
    one = evaluate([["B-b", "B-c"]], [["B-b", "O"]]).spans
    two = evaluate([["B-a", "B-c"]], [["B-c", "B-c"]]).spans
    total = one + two
    assert total.types == ("a", "b", "c")
    assert total.correct.tolist() == [0, 1, 1]
    assert total.predicted.tolist() == [0, 1, 2]
    assert total.gold.tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("gold", "predicted", "lengths", "message"),
    [
        ([0, 1], [0], [2], "gold has 2 labels, predicted 1"),
        ([0, 1], [0, 1], [3], "lengths add up to 3"),
        ([0, 1], [0, 1], [3, -1], "no length negative"),
        ([0, 2], [0, 1], [2], "gold has label ids from 0 to 2, but ids of the 2 labels are 0 to 1"),
        ([0, 1], [0, -1], [2], "predicted has label ids from -1 to 0"),
    ],
)
def test_counter_refuses_arrays_that_disagree(
    gold: list[int], predicted: list[int], lengths: list[int], message: str
) -> None:
    with pytest.raises(ParsimonError, match=message):
        SpanCounter(["O", "B-X"]).count(
            np.array(gold, np.int32), np.array(predicted, np.int32), np.array(lengths)
        )


# ---- inputs and errors ------------------------------------------------------------------------------------


def test_any_sequences_of_sequences_will_do() -> None:
    gold = (np.array(["B-X", "I-X"]), ("O",))
    predicted = np.empty(2, dtype=object)
    predicted[0], predicted[1] = ["B-X", "I-X"], ["B-X"]
    assert token_accuracy(gold, predicted) == 2 / 3  # type: ignore[arg-type]
    assert span_precision(gold, predicted) == 0.5  # type: ignore[arg-type]


def test_sequences_of_different_lengths_are_named() -> None:
    with pytest.raises(ParsimonError, match=r"sequence 2 has 1 labels in y_true\[1\] but 2 in y_pred\[1\]"):
        span_f1([["O"], ["O"]], [["O"], ["O", "O"]])
    with pytest.raises(ParsimonError, match="y_true has 1 sequences but y_pred has 2"):
        token_accuracy([["O"]], [["O"], ["O"]])


def test_a_flat_list_of_labels_is_refused() -> None:
    with pytest.raises(ParsimonError, match=r"y_true\[0\] is the string 'B-X'"):
        evaluate(["B-X", "O"], ["B-X", "O"])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["O", "B-NP", "I-NP"], True),
        (["O", "I-NP"], True),
        (["S-NP", "NOUN"], True),
        (["[-NP", "."], True),
        (["B", "I", "O"], True),
        (["B", "I", "E", "S"], True),
        (["O"], False),
        ([], False),
        (["NOUN", "VERB", "O"], False),
        (["NN-TL", "IN-HL", "-LRB-"], False),
        (["I", "E", "O", "a", "x"], False),  # phonemes
        (["B-", "I-"], False),
    ],
)
def test_has_spans(labels: list[str], expected: bool) -> None:
    assert has_spans(labels) is expected


# ---- scorers ----------------------------------------------------------------------------------------------


class Fixed:
    def __init__(self, answer: Sequences) -> None:
        self.answer = answer

    def predict(self, X: Any, /) -> Sequences:
        return [self.answer[x] for x in X]


def test_scorers_score_predictions() -> None:
    estimator = Fixed(PREDICTED)
    assert token_accuracy_scorer(estimator, [0, 1, 2], GOLD) == 10 / 13
    assert span_f1_scorer(estimator, [0, 1, 2], GOLD) == 8 / 15
    assert get_scorer("token_accuracy") is token_accuracy_scorer
    assert get_scorer("span_f1") is span_f1_scorer


def test_unknown_scorer_is_refused() -> None:
    with pytest.raises(ParsimonError, match="no scorer 'accuracy'; use 'token_accuracy' or 'span_f1'"):
        get_scorer("accuracy")


def test_scikit_learn_takes_the_scorers() -> None:
    from sklearn.base import BaseEstimator
    from sklearn.model_selection import cross_validate

    class MostFrequent(BaseEstimator):  # type: ignore[misc]
        def fit(self, X: Sequences, y: Sequences) -> MostFrequent:
            self.label_ = Counter(label for labels in y for label in labels).most_common(1)[0][0]
            return self

        def predict(self, X: Sequences) -> Sequences:
            return [[self.label_] * len(x) for x in X]

    X = [["w"] * n for n in (1, 2, 3, 4)]
    y = [["B-X"] * n for n in (1, 2, 3, 4)]
    scoring = {name: get_scorer(name) for name in ("token_accuracy", "span_f1")}
    scores = cross_validate(MostFrequent(), X, y, cv=2, scoring=scoring)
    assert scores["test_token_accuracy"].tolist() == [1.0, 1.0]
    assert scores["test_span_f1"].tolist() == [1.0, 1.0]
