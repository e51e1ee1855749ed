"""Parser scores as tables."""

from __future__ import annotations

from parsimon.report.parser_tables import SCORES, arcs_table, parser_scores_text, relations_table
from parsimon.tasks.parsing.metrics import ArcCounts, AttachmentScores, ParserScores


def scores(words: int, heads: int) -> AttachmentScores:
    return AttachmentScores(
        words=words,
        correct_heads=heads,
        correct_relations=heads,
        correct_both=heads,
        sentences=2,
        complete=1,
        complete_labelled=1,
        correct_roots=2,
        by_length={"1": ArcCounts(4, 2, 1)},
        by_relation={"subj": ArcCounts(1, 1, 1), "obj": ArcCounts(3, 2, 0)},
    )


def test_scores_are_percentages_with_and_without_punctuation() -> None:
    lines = parser_scores_text(ParserScores(scores(8, 4), scores(5, 1)), details=False).splitlines()
    assert lines[0] == "compared 8 words in 2 sentences"
    assert lines[3].split() == ["UAS", "50.00%", "20.00%"]
    assert lines[8].split() == ["root", "accuracy", "100.00%", "100.00%"]
    assert len(lines) == 3 + len(SCORES)


def test_details_add_lengths_and_relations() -> None:
    both = ParserScores(scores(8, 4), scores(5, 1))
    text = parser_scores_text(both)
    assert text.startswith(parser_scores_text(both, details=False))
    assert arcs_table("arc length", "heads of all words", both.all_words.by_length) in text
    assert text.endswith(relations_table(both.all_words))


def test_counts_of_arcs() -> None:
    assert arcs_table("arc length", "heads", {"1": ArcCounts(4, 2, 1)}).splitlines() == [
        "heads",
        "arc length  precision  recall      F1  gold  predicted",
        "1              50.00%  25.00%  33.33%     4          2",
    ]


def test_frequent_relations_come_first() -> None:
    assert [line.split()[0] for line in relations_table(scores(8, 4)).splitlines()[2:]] == ["obj", "subj"]
