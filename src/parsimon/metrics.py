"""How good predictions are: the public names of the metrics of all tasks."""

from parsimon.tasks.pages.metrics import RecordScores, score_records
from parsimon.tasks.parsing.metrics import ParserScores, compare_treebanks, score_heads
from parsimon.tasks.sequences.metrics import (
    Evaluation,
    SpanCounter,
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

__all__ = [
    "Evaluation",
    "ParserScores",
    "RecordScores",
    "SpanCounter",
    "compare_treebanks",
    "evaluate",
    "get_scorer",
    "has_spans",
    "score_heads",
    "score_records",
    "span_f1",
    "span_f1_scorer",
    "span_precision",
    "span_recall",
    "token_accuracy",
    "token_accuracy_scorer",
]
