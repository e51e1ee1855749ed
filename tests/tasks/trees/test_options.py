"""Options of tree labellers."""

from __future__ import annotations

import pytest

from parsimon.errors import ParsimonError
from parsimon.tasks.options import options_of
from parsimon.tasks.sequences.options import LabellingOptions
from parsimon.tasks.trees.options import TreeOptions
from parsimon.tasks.trees.training import TreeTraining


def test_what_trees_have_besides() -> None:
    assert set(options_of(TreeOptions)) - set(options_of(LabellingOptions)) == {"siblings", "kind_column"}
    assert options_of(TreeOptions)["siblings"].choices == ("instead", "also")


@pytest.mark.parametrize(("name", "wrong"), [("siblings", "both"), ("siblings", True), ("kind_column", -1)])
def test_mistakes(name: str, wrong: object) -> None:
    with pytest.raises(ParsimonError, match=f"^{name} must be "):
        TreeTraining(**{name: wrong}).check()  # type: ignore[arg-type]
