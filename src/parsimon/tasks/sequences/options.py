"""The options of training sequence labellers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parsimon.tasks.options import (
    CHOOSING,
    INTEGER,
    LEARNING,
    NUMBER,
    STOPPING,
    SWITCH,
    DevelopmentOptions,
    PenaltyOptions,
    PruningOptions,
    SelectionOptions,
    TrainingOptions,
    changed,
    option,
)

if TYPE_CHECKING:
    from parsimon.losses import Loss
    from parsimon.selection import Growth

DEBIAS = 0.5  # the best of 0.1, 0.3, 0.5, 1, 2 on a held-out tenth of the chunking training set


@dataclass(kw_only=True, eq=False, repr=False)
class LabellingOptions(SelectionOptions, PenaltyOptions, PruningOptions, DevelopmentOptions, TrainingOptions):
    """What labellers of sequences and of trees have in common."""

    loss: str | Loss = option(
        "log",
        "'log' makes a conditional random field, 'hinge' a max-margin Markov network.",
        LEARNING,
        choices=("log", "hinge", "perceptron"),
    )
    l1: float = changed(
        PenaltyOptions,
        "l1",
        0.5,
        help="L1 strength: the larger, the fewer features. Wapiti's rho1, CRFsuite's c1.",
        shown="0.5; 0 with a group penalty, and for solvers with L2 or none",
    )
    l2: float = changed(
        PenaltyOptions,
        "l2",
        1e-5,
        help="L2 strength. Wapiti's rho2, twice CRFsuite's c2.",
        shown="1e-05; 1 with frank-wolfe and one-slack, 0 with solvers for L1 or none",
    )
    penalize_bias: bool = option(
        True,
        "Whether biases and plain label bigrams are penalised like other features, as in Wapiti and CRFsuite.",
        LEARNING,
        kind=SWITCH,
    )
    candidates: str = option(
        "all",
        "Attributes with all labels (Wapiti, CRF++), or only with those seen together (CRFsuite).",
        LEARNING,
        choices=("all", "seen"),
    )
    debias: float | None = option(
        None,
        f"At the end, refit the features that are left with this L2 strength only ({DEBIAS} works well).",
        LEARNING,
        kind=NUMBER,
        least=0,
        metavar="[L2]",
        flag_value=DEBIAS,
        lasting=False,
    )
    dev_metric: str = option(
        "auto",
        "How development data are scored; 'auto' is f1 where labels mark spans, else accuracy.",
        STOPPING,
        choices=("auto", "f1", "accuracy"),
        lasting=False,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceOptions(LabellingOptions):
    """What labellers of sequences have besides."""

    order: int = option(
        1,
        "How many labels before a token its label depends on; with 2, labels are learnt as pairs.",
        LEARNING,
        kind=INTEGER,
        least=1,
        most=2,
        metavar="N",
    )
    growth: Growth | None = option(
        None,
        "Templates that come in later, and only where the shorter tests that they contain are active.",
        CHOOSING,
        from_python_only=True,
    )
    scheme: Any = option(
        None,
        "Only label sequences that are valid in this scheme are predicted; 'auto' tells it from the labels.",
        LEARNING,
        choices=("iob2", "iobes", "iob1", "auto"),
        lasting=False,
    )
