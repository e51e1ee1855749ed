"""Options of parsers."""

from __future__ import annotations

import pytest

from parsimon.errors import ParsimonError
from parsimon.features.arc_presets import arc_preset
from parsimon.tasks.options import options_of
from parsimon.tasks.parsing.options import ParserOptions
from parsimon.tasks.parsing.training import ParserTraining


def test_defaults() -> None:
    training = ParserTraining()
    assert (training.solver, training.loss, training.projective, training.single_root) == (
        "mira",
        "hinge",
        False,
        None,
    )
    assert (training.relations, training.relation_epochs) == ("relations", 10)
    assert len(arc_preset("relations")) > 0
    assert options_of(ParserOptions)["single_root"].flags == ("--single-root/--many-roots",)


def test_mistakes() -> None:
    with pytest.raises(ParsimonError, match="relation_epochs must be a whole number, 1 or more, not 0"):
        ParserTraining(relation_epochs=0).check()
    with pytest.raises(ParsimonError, match="no preset of that name"):
        ParserTraining(relations="nothing").check()
