"""The named template sets."""

from __future__ import annotations

import pytest

from parsimon.errors import ParsimonError
from parsimon.features.presets import PRESETS, get_preset, preset_names
from parsimon.features.templates import Boundary, TemplateSet, Test
from parsimon.features.transforms import Transform


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


def touching(column: int, transform: str, longest: int, window: int) -> set[tuple[Test, ...]]:
    """The n-grams up to a size that have a token in the window, by trying far more than that."""
    return {
        tuple(Test(i, column, Transform.parse(transform)) for i in range(first, first + size))
        for size in range(1, longest + 1)
        for first in range(-30, 31)
        if any(abs(i) <= window for i in range(first, first + size))
    }


def test_martins_chunking_has_the_papers_number_of_templates() -> None:
    templates = get_preset("martins-chunking")
    assert len(templates) == 96 + 1
    kinds = [touching(1, "", 5, 5), touching(0, "", 3, 3), touching(0, "shape", 2, 1)]
    assert [len(kind) for kind in kinds] == [65, 24, 7]
    assert {t.tests for t in templates} == set.union(*kinds, {()})


def test_martins_ner_has_the_papers_number_of_templates() -> None:
    templates = get_preset("martins-ner")
    assert len(templates) == 452 + 1
    affixes = [f"{affix}:{n}" for affix in ("prefix", "suffix") for n in (1, 2, 3)]
    kinds = [touching(0, spec, 3, 3) for spec in ("", "shape", *affixes)]
    kinds += [
        touching(1, "", 5, 5),
        *(touching(0, spec, 5, 5) for spec in ("case", "has-punct", "has-digit")),
    ]
    assert {t.tests for t in templates} == set.union(*kinds, {()})
    assert set(get_preset("martins-chunking")) <= set(templates), "the paper adds to its chunking templates"


def test_martins_presets_have_readable_names() -> None:
    assert {"U:pos[0]", "U:pos[-9..-5]", "U:word[-1..1]", "U:shape[1..2]"} <= set(
        get_preset("martins-chunking").names
    )
    assert {"U:suffix3[-1..0]", "U:case[5..9]", "U:punct[0]", "U:digit[-5]"} <= set(
        get_preset("martins-ner").names
    )


@pytest.mark.parametrize(
    ("token", "case", "punct", "digit"),
    [
        ("dog", "lower", "false", "false"),
        ("The", "init-cap", "false", "false"),
        ("U.S.", "all-caps", "true", "false"),
        ("McGill", "mixed", "false", "false"),
        ("3rd", "lower", "false", "true"),
        ("B2B", "all-caps", "false", "true"),
        ("1,000", "none", "true", "true"),
        ("$", "none", "true", "false"),
        ("東京", "none", "false", "false"),
        ("Élan", "init-cap", "false", "false"),
        ("«", "none", "true", "false"),
        ("٣", "none", "false", "true"),
        ("", "none", "false", "false"),
    ],
)
def test_indicators(token: str, case: str, punct: str, digit: str) -> None:
    indicators = [Transform.parse(spec) for spec in ("case", "has-punct", "has-digit")]
    assert [indicator(token) for indicator in indicators] == [case, punct, digit]


@pytest.mark.parametrize("boundary", ["wapiti", "crf++"])
@pytest.mark.parametrize("spec", ["case", "has-punct", "has-digit"])
def test_indicators_do_not_confuse_a_boundary_with_a_token(boundary: Boundary, spec: str) -> None:
    templates = TemplateSet((), boundary)
    for distance in range(1, 12):
        for after in (False, True):
            value = templates.boundary_value(distance, after)
            assert Transform.parse(spec)(value) == value


def test_unknown_presets() -> None:
    names = ", ".join(preset_names())
    with pytest.raises(
        ParsimonError, match=f"unknown preset 'chunk': did you mean 'chunking'\\? there are {names}"
    ):
        get_preset("chunk")
    with pytest.raises(ParsimonError, match=f"unknown preset 'zzz': there are {names}"):
        get_preset("zzz")
