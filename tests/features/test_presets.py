"""The named template sets."""

from __future__ import annotations

import pytest

from parsimon.errors import ParsimonError
from parsimon.features.presets import PRESETS, get_preset, preset_names
from parsimon.features.templates import TemplateSet, Test


@pytest.mark.parametrize("name", preset_names())
def test_every_preset(name: str) -> None:
    templates = get_preset(name)
    assert [t.source for t in templates if t.kind != "node"] == ["B"]
    assert templates.n_columns == len(PRESETS[name].columns)
    assert len({t.skeleton for t in templates}) == len(templates), "every template has its own attributes"
    assert len(set(templates.names)) == len(templates)
    assert len({t.tests for t in templates}) >= len(templates) - 1, "only bias and label bigram test nothing"
    assert TemplateSet.parse(templates.dumps()) == templates
    assert PRESETS[name].name == name
    assert PRESETS[name].description
    assert "\n" not in PRESETS[name].description


def test_words_is_what_one_column_allows() -> None:
    specs = {spec.spec for _, spec in get_preset("words").inputs}
    affixes = {f"{affix}:{n}" for affix in ("prefix", "suffix") for n in (1, 2, 3, 4)}
    assert specs == {"", "lower", "shape"} | affixes
    assert get_preset("words").max_reach <= 2


def test_chunking_is_the_crfpp_set() -> None:
    words = [(i,) for i in range(-2, 3)] + [(-1, 0), (0, 1)]
    tags = [tuple(range(i, i + n)) for n in (1, 2, 3) for i in range(-2, 4 - n)]
    expected = [tuple(Test(i, 0) for i in w) for w in words] + [tuple(Test(i, 1) for i in t) for t in tags]
    assert [t.tests for t in get_preset("chunking")] == [*expected, ()]


def test_python_code_is_over_complete() -> None:
    templates = get_preset("python-code")
    assert 60 <= len(templates) - 1 <= 120
    assert templates.max_reach == 4
    assert any({look.column for look in t.tests} == {0, 1} for t in templates)


def test_ner_and_pos_columns() -> None:
    assert {column for column, _ in get_preset("ner").inputs} == {0, 1}
    assert {column for column, _ in get_preset("pos").inputs} == {0}


def test_unknown_presets() -> None:
    names = ", ".join(preset_names())
    with pytest.raises(
        ParsimonError, match=f"unknown preset 'chunk': did you mean 'chunking'\\? there are {names}"
    ):
        get_preset("chunk")
    with pytest.raises(ParsimonError, match=f"unknown preset 'zzz': there are {names}"):
        get_preset("zzz")
