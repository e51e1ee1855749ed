"""Options of sequence labellers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parsimon.tasks.options import (
    CHOOSING,
    LEARNING,
    STOPPING,
    DevelopmentOptions,
    PenaltyOptions,
    PruningOptions,
    SelectionOptions,
    TrainingOptions,
    TuningOptions,
    changed,
    option,
)

if TYPE_CHECKING:
    from parsimon.losses import Loss
    from parsimon.selection import Growth

DEBIAS = 0.5  # the best of 0.1, 0.3, 0.5, 1, 2 on a held-out tenth of the chunking training set


@dataclass(kw_only=True, eq=False, repr=False)
class LabellingOptions(
    TuningOptions, SelectionOptions, PenaltyOptions, PruningOptions, DevelopmentOptions, TrainingOptions
):
    """Options that labellers of sequences and of trees share."""

    loss: str | Loss = option(
        "log",
        "The loss. 'log' gives a conditional random field, 'hinge' a max-margin Markov network.",
        LEARNING,
        choices=("log", "hinge", "perceptron"),
    )
    l1: float = changed(
        PenaltyOptions,
        "l1",
        0.5,
        help="L1 strength. The larger it is, the fewer features remain. The same as Wapiti's rho1 and CRFsuite's c1.",
        shown="0.5; 0 with a group penalty, and for solvers with L2 or none",
    )
    l2: float = changed(
        PenaltyOptions,
        "l2",
        1e-5,
        help="L2 strength. The same as Wapiti's rho2 and twice CRFsuite's c2.",
        shown="1e-05; 1 with frank-wolfe and one-slack, 0 with solvers for L1 or none",
    )
    tune: bool | None = changed(
        TuningOptions,
        "tune",
        None,
        help="Choose l1, with l2 as given, by the score on the development data, or by folds of the training data if "
        "there are no others.",
        shown="no",
    )
    penalize_bias: bool = option(
        True,
        "Penalise biases and plain label bigrams like other features, as Wapiti and CRFsuite do.",
        LEARNING,
    )
    candidates: str = option(
        "all",
        "Candidate features: 'all' combines every attribute with every label (as in Wapiti and CRF++), 'seen' only "
        "with the labels that occur with it in the training data (as in CRFsuite).",
        LEARNING,
        choices=("all", "seen"),
    )
    debias: float | None = option(
        None,
        f"After training, refit the remaining features with an L2 penalty of this strength only ({DEBIAS} works well).",
        LEARNING,
        least=0,
        metavar="[L2]",
        flag_value=DEBIAS,
        lasting=False,
    )
    dev_metric: str = option(
        "auto",
        "The score on development data. 'auto' is F1 if the labels mark spans, else accuracy.",
        STOPPING,
        choices=("auto", "f1", "accuracy"),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceOptions(LabellingOptions):
    """Options that only labellers of sequences have."""

    order: int = option(
        1,
        "The number of previous labels that a label depends on.",
        LEARNING,
        least=1,
        most=2,
    )
    token_labels: str = option(
        "both",
        "With order 2, what each attribute of a token has features for: 'tags', 'pairs' of tags, or 'both'.",
        LEARNING,
        choices=("tags", "pairs", "both"),
    )
    tag_pairs: str = option(
        "seen",
        "With order 2, which tags may follow which: those that do in the training data ('seen'), or 'all'.",
        LEARNING,
        choices=("seen", "all"),
    )
    growth: Growth | None = option(
        None,
        "Templates that are added during training, only where the shorter tests that they contain are active.",
        CHOOSING,
        from_python_only=True,
    )
    scheme: Any = option(
        None,
        "Predict only label sequences that are valid in this scheme. 'auto' recognises the scheme by the labels.",
        LEARNING,
        choices=("iob2", "iobes", "iob1", "auto"),
        lasting=False,
    )
