"""Scores of parsers, against sums over words written out plainly, and by hand."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.data import Treebank, read_treebank
from parsimon.errors import ParsimonError
from parsimon.report.parser_tables import parser_scores_text
from parsimon.tasks.parsing.metrics import (
    BUCKETS,
    ArcCounts,
    AttachmentScores,
    ParserScores,
    compare_treebanks,
    is_punctuation,
    punctuation,
    score_heads,
)

Arc = tuple[int, str]  # head and relation
Sentence = list[tuple[str, str, int, str]]  # form, part of speech, head, relation


def treebank(sentences: list[Sentence], format: str = "conllu") -> Treebank:
    text = "".join(
        "".join(f"{i}\t{w}\t_\t{pos}\t_\t_\t{h}\t{r}\t_\t_\n" for i, (w, pos, h, r) in enumerate(rows, 1))
        + "\n"
        for rows in sentences
    )
    return read_treebank(io.BytesIO(text.encode()), format=format, missing_heads=True)  # type: ignore[arg-type]


GOLD: list[Sentence] = [
    [
        ("Dogs", "NOUN", 2, "nsubj"),
        ("bark", "VERB", 0, "root"),
        ("at", "ADP", 4, "case"),
        ("night", "NOUN", 2, "obl:tmod"),
        (".", "PUNCT", 2, "punct"),
    ],
    [("Stop", "VERB", 0, "root"), ("!", "PUNCT", 1, "punct")],
    [("?!", "PUNCT", 0, "root")],
]


def test_scores_by_hand() -> None:
    gold = treebank(GOLD)
    heads = np.array([2, 0, 2, 2, 4, 2, 0, 0])
    relations = ["obj", "root", "case", "obl", "punct", "root", "punct", "root"]
    scores = score_heads(gold, heads, relations)
    words = scores.all_words
    assert (words.words, words.correct_heads, words.correct_relations, words.correct_both) == (8, 4, 6, 2)
    assert (words.sentences, words.complete, words.complete_labelled, words.correct_roots) == (3, 1, 1, 2)
    assert (scores.uas, scores.las, words.label_accuracy) == (4 / 8, 2 / 8, 6 / 8)
    assert (words.complete_match, words.labelled_complete_match, words.root_accuracy) == (1 / 3, 1 / 3, 2 / 3)
    assert words.by_length == {
        "root": ArcCounts(gold=3, predicted=3, correct=2),
        "1": ArcCounts(gold=3, predicted=4, correct=1),
        "2": ArcCounts(gold=1, predicted=1, correct=1),
        "3–6": ArcCounts(gold=1, predicted=0, correct=0),
    }
    assert words.by_relation == {
        "case": ArcCounts(1, 1, 0),
        "nsubj": ArcCounts(1, 0, 0),
        "obj": ArcCounts(0, 1, 0),
        "obl": ArcCounts(0, 1, 0),
        "obl:tmod": ArcCounts(1, 0, 0),
        "punct": ArcCounts(2, 2, 0),
        "root": ArcCounts(3, 3, 2),
    }
    bare = scores.without_punctuation
    assert (bare.words, bare.correct_heads, bare.correct_both) == (5, 3, 1)
    # The third sentence is nothing but punctuation and does not count.
    assert (bare.sentences, bare.complete, bare.complete_labelled, bare.correct_roots) == (2, 0, 0, 1)


def test_subtypes_can_be_left_out() -> None:
    gold = treebank(GOLD)
    relations = ["nsubj", "root", "case", "obl", "punct", "root", "punct", "root"]
    assert score_heads(gold, gold.heads, relations).las == 7 / 8
    scores = score_heads(gold, gold.heads, relations, subtypes=False)
    assert scores.las == 1.0
    assert "obl" in scores.all_words.by_relation
    assert "obl:tmod" not in scores.all_words.by_relation


def test_perfect_and_empty_predictions() -> None:
    gold = treebank(GOLD)
    perfect = compare_treebanks(gold, treebank(GOLD))
    for part in (perfect.all_words, perfect.without_punctuation):
        for score in (
            "uas",
            "las",
            "label_accuracy",
            "complete_match",
            "labelled_complete_match",
            "root_accuracy",
        ):
            assert getattr(part, score) == 1.0
        assert all(arcs.f1 == 1.0 for arcs in (part.by_length | part.by_relation).values())
    nothing = score_heads(gold, np.full(8, -1))
    assert (nothing.uas, nothing.las) == (0.0, 0.0)
    assert nothing.all_words.root_accuracy == 0.0
    assert all(arcs.predicted == 0 for arcs in nothing.all_words.by_length.values())
    assert nothing.all_words.by_length["root"].precision == 0.0


def test_no_words_but_punctuation() -> None:
    scores = score_heads(treebank(GOLD[2:]), np.array([0]), ["root"])
    assert scores.uas == 1.0
    assert scores.without_punctuation.words == scores.without_punctuation.sentences == 0
    assert scores.without_punctuation.uas == scores.without_punctuation.complete_match == 0.0


# ---- against plain sums ------------------------------------------------------------------------------------

RELATIONS = ("root", "dep", "dep:x", "punct")


@st.composite
def arcs(draw: st.DrawFn, n: int) -> list[Arc]:
    """The heads of a random tree over `n` words, with relations."""
    order = draw(st.permutations(range(1, n + 1)))
    found: dict[int, Arc] = {}
    for i, modifier in enumerate(order):
        found[modifier] = (draw(st.sampled_from([0, *order[:i]])), draw(st.sampled_from(RELATIONS)))
    return [found[modifier] for modifier in range(1, n + 1)]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[Sentence], list[list[Arc]]]:
    """Sentences, and predictions for them."""
    sentences, predictions = [], []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 12))
        words = [
            draw(st.sampled_from([("a", "X"), (",", "PUNCT"), ("$", "SYM"), ("«", "X")])) for _ in range(n)
        ]
        sentences.append([(*word, *arc) for word, arc in zip(words, draw(arcs(n)), strict=True)])
        predictions.append(draw(arcs(n)))
    return sentences, predictions


def plainly(
    gold: list[Sentence], predicted: list[list[Arc]], format: str, with_punctuation: bool
) -> dict[str, float]:
    """UAS, LAS and all that, word by word."""
    totals = dict.fromkeys(("words", "uas", "las", "label", "sentences", "complete", "labelled", "roots"), 0)
    for one, two in zip(gold, predicted, strict=True):
        left = [
            (head, relation, *arc)
            for (form, pos, head, relation), arc in zip(one, two, strict=True)
            if with_punctuation or (pos != "PUNCT" if format == "conllu" else form not in (",", "«"))
        ]
        totals["words"] += len(left)
        totals["uas"] += sum(g == p for g, _, p, _ in left)
        totals["las"] += sum(g == p and r == s for g, r, p, s in left)
        totals["label"] += sum(r == s for _, r, _, s in left)
        if left:
            totals["sentences"] += 1
            totals["complete"] += all(g == p for g, _, p, _ in left)
            totals["labelled"] += all(g == p and r == s for g, r, p, s in left)
            totals["roots"] += [g == 0 for g, *_ in left] == [p == 0 for _, _, p, _ in left]
    return totals


def counted(scores: AttachmentScores) -> dict[str, float]:
    return {
        "words": scores.words,
        "uas": scores.correct_heads,
        "las": scores.correct_both,
        "label": scores.correct_relations,
        "sentences": scores.sentences,
        "complete": scores.complete,
        "labelled": scores.complete_labelled,
        "roots": scores.correct_roots,
    }


@given(pairs(), st.sampled_from(["conllu", "conllx"]))
def test_against_plain_sums(pair: tuple[list[Sentence], list[list[Arc]]], format: str) -> None:
    sentences, predictions = pair
    gold = treebank(sentences, format)
    flat = [arc for one in predictions for arc in one]
    scores = score_heads(gold, np.array([head for head, _ in flat]), [relation for _, relation in flat])
    assert counted(scores.all_words) == plainly(sentences, predictions, format, True)
    assert counted(scores.without_punctuation) == plainly(sentences, predictions, format, False)
    for part in (scores.all_words, scores.without_punctuation):
        assert sum(a.gold for a in part.by_length.values()) == part.words
        assert sum(a.predicted for a in part.by_length.values()) == part.words
        assert sum(a.correct for a in part.by_length.values()) == part.correct_heads
        assert sum(a.correct for a in part.by_relation.values()) == part.correct_both
        assert sum(a.gold for a in part.by_relation.values()) == part.words


@given(pairs())
def test_lengths_against_plain_counts(pair: tuple[list[Sentence], list[list[Arc]]]) -> None:
    def bucket(head: int, modifier: int) -> str:
        length = abs(head - modifier)
        return "root" if head == 0 else "7+" if length >= 7 else "3–6" if length >= 3 else str(length)

    sentences, predictions = pair
    expected = {name: [0, 0, 0] for name in BUCKETS}
    for one, two in zip(sentences, predictions, strict=True):
        for i, ((_, _, g, _), (p, _)) in enumerate(zip(one, two, strict=True), 1):
            expected[bucket(g, i)][0] += 1
            expected[bucket(p, i)][1] += 1
            expected[bucket(g, i)][2] += g == p
    gold = treebank(sentences)
    heads = np.array([head for one in predictions for head, _ in one])
    found = score_heads(gold, heads).all_words.by_length
    assert {name: [a.gold, a.predicted, a.correct] for name, a in found.items()} == {
        name: counts for name, counts in expected.items() if counts[0] or counts[1]
    }


# ---- punctuation, refusals, output -------------------------------------------------------------------------


def test_punctuation_by_tag_or_by_characters() -> None:
    rows: Sentence = [("...", "X", 0, "r"), ("a", "PUNCT", 1, "r"), ("$", "SYM", 1, "r"), ("„“", "X", 1, "r")]
    assert punctuation(treebank([rows])).tolist() == [False, True, False, False]
    assert punctuation(treebank([rows], "conllx")).tolist() == [True, False, False, True]
    assert [is_punctuation(form) for form in ("-", "_", "&", "%", "+", "`", "–", "1.")] == [
        True, True, True, True, False, False, True, False,
    ]  # fmt: skip


def test_treebanks_that_do_not_fit() -> None:
    gold = treebank(GOLD)
    with pytest.raises(ParsimonError, match="has 3 sentences but the input has 2; both need the same"):
        compare_treebanks(gold, gold[:2])
    with pytest.raises(ParsimonError, match="sentence 2 has 2 words in the input but 1 in"):
        compare_treebanks(gold, treebank([GOLD[0], GOLD[2], GOLD[2]]))
    other = [GOLD[0], [("Go", "VERB", 0, "root"), GOLD[1][1]], GOLD[2]]
    with pytest.raises(ParsimonError, match="sentence 2 has the word 'Stop' in the input but 'Go' in"):
        compare_treebanks(gold, treebank(other))
    with pytest.raises(ParsimonError, match="needs 8 integers, one per word"):
        score_heads(gold, np.array([0]))
    unparsed = gold.with_heads(np.array([2, 0, 4, 2, 2, 0, -1, 0]))
    with pytest.raises(
        ParsimonError, match="sentence 2: a word has no head; trees to compare with need all of them"
    ):
        compare_treebanks(unparsed, gold)


@pytest.fixture
def scores() -> ParserScores:
    gold = treebank(GOLD)
    return score_heads(gold, np.array([2, 0, 2, 2, 4, 2, 0, 0]), gold.relations)


def test_the_table(scores: ParserScores) -> None:
    assert str(scores) == "UAS 50.00%, LAS 50.00% over 8 words; without punctuation 60.00%, 60.00%"
    assert parser_scores_text(scores, details=False) == (
        "compared 8 words in 3 sentences\n"
        "\n"
        "                         all words  without punctuation\n"
        "UAS                         50.00%               60.00%\n"
        "LAS                         50.00%               60.00%\n"
        "label accuracy             100.00%              100.00%\n"
        "complete match              33.33%                0.00%\n"
        "labelled complete match     33.33%                0.00%\n"
        "root accuracy               66.67%               50.00%\n"
    )
    lines = parser_scores_text(scores).splitlines()
    lengths = lines[lines.index("heads of all words") + 1 :]
    assert lengths[0].split() == ["arc", "length", "precision", "recall", "F1", "gold", "predicted"]
    assert lengths[1].split() == ["root", "66.67%", "66.67%", "66.67%", "3", "3"]
    relations = lines[lines.index("heads and relations of all words") + 2 :]
    assert [line.split()[0] for line in relations[:2]] == ["root", "punct"]  # the most frequent first


def test_scores_for_json(scores: ParserScores) -> None:
    record = json.loads(json.dumps(scores.to_dict()))
    assert record["all_words"]["uas"] == 0.5
    assert record["without_punctuation"]["words"] == 5
    assert record["all_words"]["by_length"]["root"] == {
        "precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3, "gold": 3, "predicted": 3, "correct": 2,
    }  # fmt: skip
