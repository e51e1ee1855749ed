"""Options of document classifiers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from parsimon.tasks.options import (
    LEARNING,
    READING,
    SENTENCES,
    WORDS,
    DevelopmentOptions,
    TrainingOptions,
    TuningOptions,
    changed,
    excerpt,
    option,
)

if TYPE_CHECKING:
    from parsimon.data.text.reader import TextReader
    from parsimon.losses import Loss
    from parsimon.penalties import Penalty

# Repeated here because the modules that define them are slow to import.
UNITS = ("sentence", "paragraph", "document", "window")
GROUP_WEIGHTS = ("ones", "sqrt", "log2", "log2^1.5", "sqrt-log2")
VALUES = ("counts", "binary", "tf-idf")


# The strengths that each penalty has, if no others are given or chosen.
STRENGTHS = {
    "ridge": {"l2": 1.0},
    "lasso": {"l1": 1.0},
    "elastic-net": {"l1": 0.1, "l2": 0.1},
    "count-ridge": {"l2": 1.0},
    "count-elastic-net": {"l1": 0.5, "l2": 2.0},
    "sentence": {"sentence": 0.01, "l1": 0.1, "l2": 0.0},
}


# Of a word's count, in the strength of its ridge.
COUNT_POWERS = {"count-ridge": 0.5, "count-elastic-net": 1.0}


@dataclass(kw_only=True, eq=False, repr=False)
class DocumentOptions(TuningOptions, DevelopmentOptions, TrainingOptions):
    """Options for the features of documents and their penalty."""

    penalty: str | Penalty = option(
        "auto",
        "The penalty. 'sentence' is the sparse overlapping group lasso with a group for each sentence of the training "
        "documents. The ridge of 'count-ridge' is stronger for frequent words, in proportion to the root of a word's "
        "count; that of 'count-elastic-net' in proportion to the count. 'auto' takes 'sentence' if something is said "
        "about groups of words, and else 'count-elastic-net'.",
        LEARNING,
        choices=("auto", *STRENGTHS),
    )
    l1: float | None = option(
        None,
        "L1 strength. The larger it is, the fewer words remain.",
        LEARNING,
        least=0,
        shown="chosen; without choice 1 with lasso, 0.5 with count-elastic-net, else 0.1",
    )
    l2: float | None = option(
        None,
        "L2 strength.",
        LEARNING,
        least=0,
        shown="chosen; without choice 1 with a ridge, 2 with count-elastic-net, 0.1 with elastic-net, else 0",
    )
    loss: str | Loss = option(
        "log",
        "The loss. 'log' is logistic regression, with a softmax for more than two labels; 'hinge' is a support vector "
        "machine.",
        LEARNING,
        choices=("log", "hinge"),
    )
    sentence: float | None = option(
        None,
        "Strength of the group penalty. The larger it is, the fewer sentences matter.",
        SENTENCES,
        least=0,
        shown="chosen; without choice 0.01",
        flags=("--sentence-strength",),
    )
    groups: Any = option("sentence", "The units of text whose words form a group.", SENTENCES, choices=UNITS)
    window: int = option(20, "The number of tokens in a group if groups are windows.", SENTENCES, least=2)
    group_weight: Any = option(
        "ones",
        "The weight of a group as a function of its number of tokens.",
        SENTENCES,
        choices=GROUP_WEIGHTS,
    )
    stopping: str = option(
        "certified",
        "When to stop: 'certified' finds the optimum, with a duality gap; 'paper' stops like Yogatama & Smith "
        "(2014), which often predicts better.",
        SENTENCES,
        choices=("certified", "paper"),
    )
    rho: float | None = option(
        None,
        "The step size ρ of ADMM. It affects the result only with the paper's stopping, otherwise only the speed.",
        SENTENCES,
        above=0,
    )
    values: str = option(
        "auto",
        "The value of a word in a document: the number of its occurrences, whether it occurs, or tf-idf. 'auto' takes "
        "'binary' for penalties that know how often a word occurs, and 'counts' for all others.",
        WORDS,
        choices=("auto", *VALUES),
    )
    min_count: int = option(1, "Leave out words that occur fewer than N times.", WORDS, least=1)
    min_documents: int = option(1, "Leave out words that are in fewer than N documents.", WORDS, least=1)
    max_documents: float = option(
        1.0,
        "Leave out words that are in more than this share of the documents.",
        WORDS,
        above=0,
        most=1,
        metavar="SHARE",
    )
    max_words: int | None = option(None, "Keep only the N most frequent words.", WORDS, least=1)
    reader: TextReader | None = option(
        None, "The reader that splits texts into sentences and tokens.", READING, from_python_only=True
    )
    solver: Any = changed(
        TrainingOptions,
        "solver",
        "auto",
        help="The optimisation algorithm. 'auto' takes ADMM for groups with the log loss, otherwise the first that "
        "suits the loss and the penalty.",
    )
    tol: float | None = changed(
        TrainingOptions,
        "tol",
        None,
        help="Stop when the objective is within this share of the optimum; with the paper's stopping, when the "
        "weights change relatively less than this.",
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

    @property
    def penalty_name(self) -> str | None:
        """The penalty by its name; None for an object."""
        if not isinstance(self.penalty, str):
            return None
        if self.penalty != "auto":
            return self.penalty
        return "sentence" if self.about_groups else "count-elastic-net"

    @property
    def about_groups(self) -> list[str]:
        """The options about groups of words that are not what they are by default."""
        defaults = {each.name: each.default for each in fields(DocumentOptions)}
        names = ("sentence", "groups", "window", "group_weight", "stopping", "rho")
        return [name for name in names if excerpt(getattr(self, name)) != excerpt(defaults[name])]

    @property
    def values_name(self) -> str:
        """The values of words."""
        if self.values != "auto":
            return self.values
        return "binary" if self.penalty_name in COUNT_POWERS else "counts"

    @property
    def limit_is_method(self) -> bool:
        """The paper's stopping has a fixed number of rounds."""
        return self.stopping == "paper"
