"""The arc template presets: their sizes, and the reconstruction of the 684 templates."""

from __future__ import annotations

import pytest

from parsimon.errors import ParsimonError
from parsimon.features.arc_presets import arc_preset, arc_preset_names


@pytest.mark.parametrize("name", arc_preset_names())
def test_the_templates_of_a_preset_are_all_different(name: str) -> None:
    names = arc_preset(name).names
    assert len(set(names)) == len(names)
    assert "bias" in names


def test_the_template_groups_of_martins_et_al_have_the_sizes_in_the_table() -> None:
    conjunctions = {
        tuple(str(test) for test in template.tests if test.column is not None)
        for template in arc_preset("martins-parsing")
    }
    between = {tests for tests in conjunctions if any(test.startswith("b.") for test in tests)}
    ends = {tests for tests in conjunctions if all(test[:2] in ("h.", "m.") for test in tests)}
    two_away = {tests for tests in conjunctions if any(test[1:3] in ("-2", "+2") for test in tests)}
    assert (len(ends), len(between), len(two_away)) == (8 * 8, 5 * 5, 4 * 4 + 4 + 2)
    assert len(conjunctions - ends - between - two_away) == 4 * 15


def test_presets_have_the_sizes_that_are_told_of_them():
    assert {name: len(arc_preset(name)) for name in arc_preset_names()} == {
        "mcdonald": 86,
        "martins-parsing": 684,
        "relations": 41,
        "first-pass": 15,
    }
    with pytest.raises(ParsimonError, match="no arc template preset 'other'"):
        arc_preset("other")


def test_the_684_templates_are_171_with_every_look_at_the_arc_itself():
    words = {
        tuple(t for t in template.tests if t.column is not None) for template in arc_preset("martins-parsing")
    }
    assert len(words) == 171
    kinds = [
        {test.place for test in template.tests} & {"dir", "dist"}
        for template in arc_preset("martins-parsing")
    ]
    assert [kinds.count(kind) for kind in (set(), {"dir"}, {"dist"}, {"dir", "dist"})] == [171] * 4
