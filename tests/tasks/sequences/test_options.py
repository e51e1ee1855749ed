"""Options of sequence labellers."""

from __future__ import annotations

import pytest

from parsimon.errors import ParsimonError
from parsimon.structures.label_schemes import SCHEMES
from parsimon.tasks.options import options_of
from parsimon.tasks.sequences.options import DEBIAS, LabellingOptions, SequenceOptions
from parsimon.tasks.sequences.training import SequenceTraining


def test_defaults_and_choices() -> None:
    training = SequenceTraining()
    assert (training.l1, training.l2, training.order, training.candidates) == (0.5, 1e-5, 1, "all")
    options = options_of(SequenceOptions)
    assert set(options["scheme"].choices or ()) == {*SCHEMES, "auto"}
    assert options["debias"].flag_value == DEBIAS
    assert set(options) - set(options_of(LabellingOptions)) == {
        "order",
        "token_labels",
        "tag_pairs",
        "growth",
        "scheme",
    }


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("order", 3), ("order", 0), ("debias", -1), ("candidates", "few"), ("token_labels", "one")],
)
def test_mistakes(name: str, wrong: object) -> None:
    with pytest.raises(ParsimonError, match=f"^{name} must be "):
        SequenceTraining(**{name: wrong}).check()  # type: ignore[arg-type]
