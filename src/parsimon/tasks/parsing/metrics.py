"""How good predicted dependency trees are: attachment scores, and where the wrong arcs are.

A word is right without label (UAS) when its head is, and with label (LAS) when its relation to the head is right
too. Every score is there over all words and over those that are no punctuation: CoNLL-X left punctuation out,
CoNLL-2007 and the shared tasks on UD counted it. Results are comparable only among the same words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from parsimon.arrays import BoolArray, IntArray
from parsimon.data.tree_checks import MISSING, first_true
from parsimon.data.treebanks import Treebank, distinct_values
from parsimon.errors import ParsimonError
from parsimon.features.columns import Labels

__all__ = [
    "ArcCounts", "AttachmentScores", "ParserScores", "compare_treebanks", "is_punctuation", "punctuation",
    "score_heads",
]  # fmt: skip

BUCKETS = ("root", "1", "2", "3–6", "7+")
"""Lengths of arcs, |head − modifier|; arcs from the root have none."""


@dataclass(frozen=True)
class ArcCounts:
    """Arcs of one length or relation: those in the gold, those predicted, and the correct ones, in both."""

    gold: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        """Correct arcs as a fraction of those predicted."""
        return _ratio(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """Correct arcs as a fraction of those in the gold."""
        return _ratio(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _ratio(2 * self.correct, self.gold + self.predicted)


@dataclass(frozen=True)
class AttachmentScores:
    """Scores over some words, all of them or those without punctuation, with the counts they come from.

    Sentences are those that have any of these words. In a complete sentence all of them are right, and its root is
    right when the gold and the prediction have the same words at the root. Arcs `by_length` are right when their
    heads are; arcs `by_relation` when the relation is right as well.
    """

    words: int
    correct_heads: int
    correct_relations: int
    correct_both: int
    sentences: int
    complete: int
    complete_labelled: int
    correct_roots: int
    by_length: dict[str, ArcCounts]
    by_relation: dict[str, ArcCounts]

    @property
    def uas(self) -> float:
        """The fraction of words with the right head."""
        return _ratio(self.correct_heads, self.words)

    @property
    def las(self) -> float:
        """The fraction of words with the right head and the right relation to it."""
        return _ratio(self.correct_both, self.words)

    @property
    def label_accuracy(self) -> float:
        """The fraction of words with the right relation, to whatever head."""
        return _ratio(self.correct_relations, self.words)

    @property
    def complete_match(self) -> float:
        """The fraction of sentences in which every head is right."""
        return _ratio(self.complete, self.sentences)

    @property
    def labelled_complete_match(self) -> float:
        """The fraction of sentences in which every head and every relation is right."""
        return _ratio(self.complete_labelled, self.sentences)

    @property
    def root_accuracy(self) -> float:
        """The fraction of sentences in which the words at the root are the right ones."""
        return _ratio(self.correct_roots, self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dicts and numbers, ready for JSON; scores are fractions."""
        names = ("uas", "las", "label_accuracy", "complete_match", "labelled_complete_match", "root_accuracy")
        counts = {field.name: getattr(self, field.name) for field in fields(self)}
        arcs = {name: counts.pop(name) for name in ("by_length", "by_relation")}
        return {
            **{name: getattr(self, name) for name in names},
            **counts,
            **{
                name: {
                    key: {"precision": arc.precision, "recall": arc.recall, "f1": arc.f1, **asdict(arc)}
                    for key, arc in arcs[name].items()
                }
                for name in arcs
            },
        }


@dataclass(frozen=True)
class ParserScores:
    """How good a parser is, over all words and over those that are no punctuation."""

    all_words: AttachmentScores
    without_punctuation: AttachmentScores

    @property
    def uas(self) -> float:
        """The fraction of all words with the right head."""
        return self.all_words.uas

    @property
    def las(self) -> float:
        """The fraction of all words with the right head and relation."""
        return self.all_words.las

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dicts and numbers, ready for JSON; scores are fractions."""
        return {
            "all_words": self.all_words.to_dict(),
            "without_punctuation": self.without_punctuation.to_dict(),
        }

    def __str__(self) -> str:
        rest = self.without_punctuation
        return (
            f"UAS {self.uas:.2%}, LAS {self.las:.2%} over {self.all_words.words:,} words; "
            f"without punctuation {rest.uas:.2%}, {rest.las:.2%}"
        )


def score_heads(
    gold: Treebank,
    heads: IntArray,
    relations: Labels | Sequence[str] | None = None,
    *,
    subtypes: bool = True,
) -> ParserScores:
    """Scores predicted heads, and relations if there are any, against those of a treebank.

    Without `subtypes`, relations are compared up to the colon, as the shared tasks on UD did (`acl:relcl` as `acl`).

    >>> import io
    >>> from parsimon.data import read_treebank
    >>> words = [(1, "Dogs", "NOUN", 2, "nsubj"), (2, "bark", "VERB", 0, "root"), (3, ".", "PUNCT", 2, "punct")]
    >>> rows = [f"{i}\\t{form}\\t_\\t{pos}\\t_\\t_\\t{head}\\t{rel}\\t_\\t_\\n" for i, form, pos, head, rel in words]
    >>> gold = read_treebank(io.BytesIO("".join(rows).encode()))
    >>> scores = score_heads(gold, np.array([2, 0, 1]), ["obj", "root", "punct"])
    >>> print(f"{scores.uas:.3f} {scores.las:.3f} {scores.without_punctuation.uas:.3f}")
    0.667 0.333 1.000
    """
    return compare_treebanks(gold, gold.with_heads(heads, relations), subtypes=subtypes)


def compare_treebanks(gold: Treebank, predicted: Treebank, *, subtypes: bool = True) -> ParserScores:
    """Scores the trees of one treebank against those of another that has the same words.

    A head that the prediction leaves open is wrong. For `subtypes` see `score_heads`.
    """
    _check_same_words(gold, predicted)
    if (token := first_true(gold.heads == MISSING)) is not None:
        sentence = int(np.searchsorted(np.cumsum(gold.lengths), token, side="right")) + 1
        raise ParsimonError(
            f"{gold.name}, sentence {sentence}: a word has no head; trees to compare with need all of them."
        )
    names, gold_relations, predicted_relations = _common_relations(gold, predicted, subtypes)
    comparison = _Comparison(
        gold.heads, predicted.heads, gold_relations, predicted_relations, gold.lengths, names
    )
    return ParserScores(
        all_words=comparison.scores(np.ones(gold.n_tokens, bool)),
        without_punctuation=comparison.scores(~punctuation(gold)),
    )


def is_punctuation(form: str) -> bool:
    """Whether all characters of a word are punctuation in Unicode, as in the CoNLL-X script eval.pl.

    >>> [is_punctuation(form) for form in (",", "...", "»", "$", "a.")]
    [True, True, True, False, False]
    """
    return bool(form) and all(unicodedata.category(character)[0] == "P" for character in form)


def punctuation(treebank: Treebank) -> BoolArray:
    """Which words are punctuation: in CoNLL-U those tagged PUNCT, in CoNLL-X those that `is_punctuation` takes so."""
    if treebank.format == "conllu":
        marked = distinct_values(treebank.strings, treebank.ids("upos"), "PUNCT".__eq__)
    else:
        marked = distinct_values(treebank.strings, treebank.ids("form"), is_punctuation)
    return marked.astype(bool)


@dataclass(frozen=True)
class _Comparison:
    """Heads and relations (ids into `names`) of the gold and of the prediction."""

    gold_heads: IntArray
    heads: IntArray
    gold_relations: IntArray
    relations: IntArray
    lengths: IntArray
    names: Sequence[str]

    def scores(self, counted: BoolArray) -> AttachmentScores:
        """The scores over the words that count."""
        sentence_of = np.repeat(np.arange(len(self.lengths)), self.lengths)
        right_head = self.gold_heads == self.heads
        right_relation = self.gold_relations == self.relations
        right = right_head & right_relation
        same_root = (self.gold_heads == 0) == (self.heads == 0)
        sentences = len(np.unique(sentence_of[counted]))

        def without(wrong: BoolArray) -> int:
            return sentences - len(np.unique(sentence_of[counted & wrong]))

        return AttachmentScores(
            words=int(counted.sum()),
            correct_heads=int((counted & right_head).sum()),
            correct_relations=int((counted & right_relation).sum()),
            correct_both=int((counted & right).sum()),
            sentences=sentences,
            complete=without(~right_head),
            complete_labelled=without(~right),
            correct_roots=without(~same_root),
            by_length=_arc_counts(
                self._buckets(self.gold_heads)[counted],
                self._buckets(self.heads)[counted],
                right_head[counted],
                BUCKETS,
            ),
            by_relation=_arc_counts(
                self.gold_relations[counted], self.relations[counted], right[counted], self.names
            ),
        )

    def _buckets(self, heads: IntArray) -> IntArray:
        """Which of the `BUCKETS` each arc is in; one too many for a head that is not given."""
        ends = np.cumsum(self.lengths)
        position = np.arange(len(heads)) - np.repeat(ends - self.lengths, self.lengths) + 1
        bucket = np.searchsorted([1, 2, 3, 7], np.abs(heads - position), side="right")
        return np.select([heads == 0, heads == MISSING], [0, len(BUCKETS)], bucket)


def _arc_counts(
    gold: IntArray, predicted: IntArray, correct: BoolArray, names: Sequence[str]
) -> dict[str, ArcCounts]:
    """The counts of each kind of arc that occurs; those beyond the names are left out."""
    counts = [np.bincount(kinds, minlength=len(names)) for kinds in (gold, predicted, gold[correct])]
    return {
        name: ArcCounts(int(g), int(p), int(c))
        for name, g, p, c in zip(names, *(kinds[: len(names)] for kinds in counts), strict=True)
        if g or p
    }


def _common_relations(
    gold: Treebank, predicted: Treebank, subtypes: bool
) -> tuple[list[str], IntArray, IntArray]:
    """The names of all relations in alphabetical order, and both treebanks' relations as numbers of them."""

    def compared(name: str) -> str:
        return name if subtypes else name.partition(":")[0] or name

    inventories = [treebank.relations for treebank in (gold, predicted)]
    names = sorted({compared(name) for labels in inventories for name in labels.names})
    number = {name: i for i, name in enumerate(names)}
    tables = [np.array([number[compared(name)] for name in labels.names]) for labels in inventories]
    return names, tables[0][inventories[0].ids], tables[1][inventories[1].ids]


def _check_same_words(gold: Treebank, predicted: Treebank) -> None:
    if len(gold) != len(predicted):
        raise ParsimonError(
            f"{gold.name} has {len(gold):,} sentences but {predicted.name} has {len(predicted):,}; both need the same."
        )
    if (i := first_true(gold.lengths != predicted.lengths)) is not None:
        raise ParsimonError(
            f"sentence {i + 1} has {gold.lengths[i]} words in {gold.name} but {predicted.lengths[i]} in "
            f"{predicted.name}; both need the same words."
        )
    if gold.strings is predicted.strings and np.array_equal(gold.ids("form"), predicted.ids("form")):
        return
    for i, (one, two) in enumerate(zip(gold.values("form"), predicted.values("form"), strict=True)):
        if one != two:
            sentence = int(np.searchsorted(np.cumsum(gold.lengths), i, side="right")) + 1
            raise ParsimonError(
                f"sentence {sentence} has the word {one!r} in {gold.name} but {two!r} in {predicted.name}; both need "
                "the same words."
            )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
