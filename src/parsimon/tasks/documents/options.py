"""The options of training document classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parsimon.tasks.options import (
    INTEGER,
    LEARNING,
    NUMBER,
    READING,
    SENTENCES,
    WORDS,
    DevelopmentOptions,
    TrainingOptions,
    changed,
    option,
)

if TYPE_CHECKING:
    from parsimon.data.text.reader import TextReader
    from parsimon.losses import Loss
    from parsimon.penalties import Penalty

# Named here because the modules that know them are too heavy for a help page.
PENALTIES = ("ridge", "lasso", "elastic-net", "sentence")
UNITS = ("sentence", "paragraph", "document", "window")
GROUP_WEIGHTS = ("ones", "sqrt", "log2", "log2^1.5", "sqrt-log2")
VALUES = ("counts", "binary", "tf-idf")


@dataclass(kw_only=True, eq=False, repr=False)
class DocumentOptions(DevelopmentOptions, TrainingOptions):
    """How documents become features, and how these are penalised."""

    penalty: str | Penalty = option(
        "sentence",
        "'sentence' is the sparse overlapping group lasso with a group for every sentence of the training documents.",
        LEARNING,
        choices=PENALTIES,
    )
    l1: float | None = option(
        None,
        "L1 strength: the larger, the fewer words.",
        LEARNING,
        kind=NUMBER,
        least=0,
        shown="1 with lasso, else 0.1",
    )
    l2: float | None = option(
        None,
        "L2 strength.",
        LEARNING,
        kind=NUMBER,
        least=0,
        shown="1 with ridge, 0.1 with elastic-net, else 0",
    )
    loss: str | Loss = option(
        "log",
        "'log' is logistic regression, with a softmax for more than two labels; 'hinge' is a support vector machine.",
        LEARNING,
        choices=("log", "hinge"),
    )
    sentence: float | None = option(
        None,
        "Strength of the penalty on groups: the larger, the fewer sentences matter.",
        SENTENCES,
        kind=NUMBER,
        least=0,
        shown="0.01",
        flags=("--sentence-strength",),
    )
    groups: Any = option("sentence", "What makes a group of words.", SENTENCES, choices=UNITS)
    window: int = option(
        20,
        "Tokens of a group, where groups are windows.",
        SENTENCES,
        kind=INTEGER,
        least=2,
        metavar="N",
    )
    group_weight: Any = option(
        "ones", "What a group weighs, by its number of tokens.", SENTENCES, choices=GROUP_WEIGHTS
    )
    stopping: str = option(
        "certified",
        "The optimum, with a certificate; or stop as Yogatama & Smith (2014) did, which often predicts better.",
        SENTENCES,
        choices=("certified", "paper"),
    )
    rho: float | None = option(
        None,
        "The step of ADMM. With the paper's stopping it matters, else only for speed.",
        SENTENCES,
        kind=NUMBER,
        above=0,
    )
    values: str = option(
        "counts",
        "What a word counts for: its occurrences, whether it occurs, or tf-idf.",
        WORDS,
        choices=VALUES,
    )
    min_count: int = option(
        1, "Leave out words that occur less often.", WORDS, kind=INTEGER, least=1, metavar="N"
    )
    min_documents: int = option(
        1, "Leave out words that are in fewer documents.", WORDS, kind=INTEGER, least=1, metavar="N"
    )
    max_documents: float = option(
        1.0,
        "Leave out words that are in more than this share of the documents.",
        WORDS,
        kind=NUMBER,
        above=0,
        most=1,
        metavar="SHARE",
    )
    max_words: int | None = option(
        None, "Keep only the N most frequent words.", WORDS, kind=INTEGER, least=1, metavar="N"
    )
    reader: TextReader | None = option(
        None, "How texts are split into sentences and tokens.", READING, from_python_only=True
    )
    solver: Any = changed(
        TrainingOptions,
        "solver",
        "auto",
        help="The algorithm: 'auto' takes ADMM for groups with the log loss, else the first that fits the loss and "
        "the penalty.",
    )
    tol: float | None = changed(
        TrainingOptions,
        "tol",
        None,
        help="How close to the optimum to come; with the paper's stopping, the relative change of the weights.",
        shown="1e-4; 1e-3 if stopping is 'paper'",
    )
    max_iter: int | None = changed(
        TrainingOptions,
        "max_iter",
        None,
        help="Stop after N iterations.",
        shown="100 if stopping is 'paper'",
    )
    patience: int = changed(DevelopmentOptions, "patience", 20)
