"""`parsimon train document`: the options of training a document classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from parsimon.cli.options import CONTEXT, SectionedCommand, encoding_option, number, option, positive
from parsimon.cli.train import train
from parsimon.cli.training_options import (
    LEARNING,
    READING,
    STOPPING,
    TrainingJob,
    at_least_one,
    dev_option,
    float32_option,
    iterations_option,
    log_option,
    model_option,
    running_options,
    time_limit_option,
)

# Named here because the modules that know them are too heavy for a help page.
PENALTIES = ("ridge", "lasso", "elastic-net", "sentence")
UNITS = ("sentence", "paragraph", "document", "window")
WEIGHTS = ("ones", "sqrt", "log2", "log2^1.5", "sqrt-log2")
LOSSES = ("log", "hinge")
VALUES = ("counts", "binary", "tf-idf")

# Headings of the help page.
SENTENCES, WORDS = "Which sentences matter", "Words"

EXAMPLES = """
\b
Examples:
  parsimon train document reviews/ -m reviews.model
  parsimon train document train.jsonl -m news.model --dev dev.jsonl --penalty lasso --l1 1
  parsimon train document train.tsv -m news.model --l1 0.1 --sentence-strength 0.1
  parsimon train document train.tsv -m news.model --stopping paper --rho 0.1 --max-iter 30
  parsimon train document train.tsv -m news.model --groups paragraph --group-weight sqrt
"""


@dataclass(frozen=True)
class DocumentJob(TrainingJob):
    """What was asked for; ``None`` leaves the choice to training."""

    penalty: str | None
    l1: float | None
    l2: float | None
    sentence: float | None
    groups: str | None
    window: int | None
    group_weight: str | None
    stopping: str | None
    rho: float | None
    values: str | None
    min_count: int | None
    min_documents: int | None
    max_documents: float | None
    max_words: int | None
    lowercase: bool
    tokens: str
    sentences: str
    max_iter: int | None

    @property
    def settings(self) -> dict[str, Any]:
        """What was said about training, and the reader of texts."""
        from parsimon.data.text.reader import TextReader

        named = {name: getattr(self, name) for name in TRAINING if getattr(self, name) is not None}
        return {**named, "reader": TextReader(self.sentences, self.tokens, self.lowercase)}


# Which strengths a penalty has.
STRENGTHS = {
    "ridge": ("l2",),
    "lasso": ("l1",),
    "elastic-net": ("l1", "l2"),
    "sentence": ("l1", "l2", "sentence"),
}
OF_SENTENCES = ("groups", "window", "group_weight", "stopping", "rho")  # what only `sentence` has
TRAINING = (
    "penalty",
    "l1",
    "l2",
    "sentence",
    "groups",
    "window",
    "group_weight",
    "stopping",
    "rho",
    "loss",
    "values",
    "min_count",
    "min_documents",
    "max_documents",
    "max_words",
    "max_iter",
    "tol",
    "time_limit",
    "threads",
    "seed",
)


@train.command(
    "document",
    cls=SectionedCommand,
    context_settings=CONTEXT,
    epilog=EXAMPLES,
    short_help="A document classifier.",
)
@click.argument("train", metavar="TRAIN")
@model_option()
@dev_option
@log_option
@float32_option
@option(
    "--penalty",
    section=LEARNING,
    type=click.Choice(PENALTIES),
    show_default="sentence",
    help="'sentence' is the sparse overlapping group lasso with a group for every sentence of TRAIN.",
)
@number(
    "--l1",
    section=LEARNING,
    show_default="1 with lasso, else 0.1",
    help="L1 strength: the larger, the fewer words.",
)
@number(
    "--l2", section=LEARNING, show_default="1 with ridge, 0.1 with elastic-net, else 0", help="L2 strength."
)
@option(
    "--loss",
    section=LEARNING,
    type=click.Choice(LOSSES),
    show_default="log",
    help="'log' is logistic regression.",
)
@number(
    "--sentence-strength",
    "sentence",
    section=SENTENCES,
    show_default="0.01",
    help="Strength of the penalty on groups: the larger, the fewer sentences matter.",
)
@option(
    "--groups",
    section=SENTENCES,
    type=click.Choice(UNITS),
    show_default="sentence",
    help="What makes a group of words.",
)
@option(
    "--window",
    section=SENTENCES,
    type=at_least_one,
    metavar="N",
    show_default="20",
    help="Tokens of a group, with --groups window.",
)
@option(
    "--group-weight",
    section=SENTENCES,
    type=click.Choice(WEIGHTS),
    show_default="ones",
    help="What a group weighs, by its number of tokens.",
)
@option(
    "--stopping",
    section=SENTENCES,
    type=click.Choice(["certified", "paper"]),
    show_default="certified",
    help="The optimum, with a certificate; or stop as Yogatama & Smith (2014) did, which often predicts better.",
)
@positive(
    "--rho",
    section=SENTENCES,
    help="The step of ADMM. With --stopping paper it matters, else only for speed.",
)
@option(
    "--values",
    section=WORDS,
    type=click.Choice(VALUES),
    show_default="counts",
    help="What a word counts for: its occurrences, whether it occurs, or tf-idf.",
)
@option(
    "--min-count",
    section=WORDS,
    type=at_least_one,
    metavar="N",
    help="Leave out words that occur less often.",
)
@option(
    "--min-documents",
    section=WORDS,
    type=at_least_one,
    metavar="N",
    help="Leave out words that are in fewer documents.",
)
@positive(
    "--max-documents",
    section=WORDS,
    metavar="SHARE",
    help="Leave out words that are in more than this share of the documents.",
)
@option(
    "--max-words", section=WORDS, type=at_least_one, metavar="N", help="Keep only the N most frequent words."
)
@option(
    "--sentences",
    section=READING,
    default="rules",
    metavar="HOW",
    help="How texts are split: rules, lines (one sentence a line) or sentencex.",
)
@option(
    "--tokens",
    section=READING,
    default="words",
    metavar="HOW",
    help="What a token is: words, whitespace, or a regular expression.",
)
@option("--lowercase/--no-lowercase", section=READING, default=True, help="Whether case makes no difference.")
@encoding_option
@positive(
    "--tol",
    section=STOPPING,
    show_default="1e-4; 1e-3 with --stopping paper",
    help="How close to the optimum to come; with --stopping paper, the relative change of the weights.",
)
@iterations_option(shown="100 with --stopping paper", help="Stop after N iterations.")
@time_limit_option("Stop after this time of training.")
@running_options(seed="For what is done in random order.")
def document(**options: Any) -> None:
    """Train a sparse document classifier on TRAIN.

    TRAIN is a directory with a directory of text files for every class, a file of JSON lines
    ({"text": …, "label": …}, where the text may be a list of sentences), or of lines 'label TAB text'.

    It minimises loss + l1 Σ|w| + l2/2 Σw² + sentence-strength Σ‖w_s‖, where w_s are the weights of the
    words of sentence s. Words whose weight ends at zero are not in the model.

    Ctrl-C stops early and writes the best model so far.
    """
    from parsimon.cli.document_run import run

    run(DocumentJob(**options))
