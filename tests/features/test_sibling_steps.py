"""Steps from siblings, instead of or in addition to those from parents."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.features.links import Links
from parsimon.features.observations import Observations, Rows
from parsimon.features.sibling_steps import also, check_siblings, instead
from parsimon.features.templates import TemplateSet

# A root with three children, the second of which has a child. Attribute 0 is for parents, 1 for siblings.
TREE = Observations(
    Rows.identical(5, 1),
    Rows.identical(5, 2),
    np.array([5]),
    Links.from_parents([-1, 0, 0, 0, 2]),
)


def test_instead_of_parents() -> None:
    found = instead(TREE, 1)
    assert found.before.tolist() == [-1, 0, 1, 2, 2]
    assert found.steps_into_each == 1
    assert np.diff(found.pair.start).tolist() == [1] * 5
    assert found.pair.index.tolist() == [
        0,
        0,
        1,
        1,
        0,
    ]  # the second and third child have siblings before them


def test_in_addition_to_parents() -> None:
    attributes, sources = also(TREE, 1).steps
    assert sources.reshape(-1, 2).tolist() == [[-1, -1], [0, -1], [0, 1], [0, 2], [2, -1]]
    assert attributes.index.tolist() == [0, 1] * 5


def test_templates_for_siblings_need_labels_that_depend_on_siblings() -> None:
    templates = TemplateSet.parse("U:%x[0,0]\nS:%x[0,0]")
    check_siblings("also", templates)
    check_siblings(None, TemplateSet.parse("U:%x[0,0]\nB"))
    with pytest.raises(ParsimonError, match=r"template 'S:%x\[0,0\]' is for the labels of siblings"):
        check_siblings(None, templates)
    with pytest.raises(ParsimonError, match="siblings must be None, 'instead' or 'also', not 'too'"):
        check_siblings("too", templates)
