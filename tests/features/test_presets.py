"""The named template sets."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from parsimon.data import folds, load_nettalk, phonemes
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns
from parsimon.features.presets import PRESETS, get_preset, preset_names
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.templates import Boundary, TemplateSet, Test
from parsimon.features.transforms import Transform


@pytest.mark.parametrize("name", preset_names())
def test_every_preset(name: str) -> None:
    templates = get_preset(name)
    assert [t.source for t in templates if t.kind == "edge"] == ([] if name.endswith("grm-") else ["B"])
    assert any(t.kind == "both" for t in templates) == name.startswith(("nettalk", "suzuki-pos+"))
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


def test_the_wide_chunking_set_adds_words_with_parts_of_speech() -> None:
    narrow, wide = get_preset("martins-chunking"), get_preset("chunking-wide")
    added = set(wide) - set(narrow)
    assert set(narrow) < set(wide)
    assert len(added) == len(wide) - len(narrow) == 25 + 15 + 10
    for template in added:
        assert {test.column for test in template.tests} == {0, 1}
        assert all(abs(test.offset) <= 2 for test in template.tests)
    assert {"U:word[0]&pos[0]", "U:word[-1]&pos[-1]&pos[0]&pos[1]", "U:word[0]&word[1]&pos[-2]"} <= set(
        wide.names
    )


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


def windows(name: str) -> list[tuple[int, int]]:
    """First and last letter of every window of a preset for letter-to-sound, the shorter windows first."""
    spans = [[look.offset for look in t.tests] for t in get_preset(name) if t.tests]
    assert all(offsets == list(range(offsets[0], offsets[-1] + 1)) for offsets in spans)
    return sorted(((o[0], o[-1]) for o in spans), key=lambda span: (span[1] - span[0], span))


@pytest.mark.parametrize(
    ("name", "tests"),
    [
        ("nettalk-3grm", ["", "e", "l/e/m"]),
        ("nettalk-3grm-", ["l/e/m"]),
        ("nettalk-3grm+", ["", "e", "l/e", "e/m", "l/e/m"]),
        ("nettalk-3grm++", ["", "l", "e", "m", "l/e", "e/m", "l/e/m"]),
    ],
)
def test_nettalk_on_the_papers_example(name: str, tests: list[str]) -> None:
    """Lavergne et al. (2010, section 5.1.1): "the active bigram features at position t = 2" of lemma."""
    space = TemplateFeatures(get_preset(name))
    observed = space.learn(Columns.from_sequences([list("lemma")]))
    for rows, names in ((observed.node, space.node_names), (observed.pair, space.pair_names)):
        found = [attribute.partition("=")[2] for attribute in names(rows[1:2].index)]
        assert sorted(found) == sorted(tests)


def test_nettalk_windows() -> None:
    centred = [(0, 0), (-1, 1), (-2, 2), (-3, 3)]
    even = [(-1, 0), (0, 1), (-2, 1), (-1, 2), (-3, 2), (-2, 3)]
    for n in (1, 3, 5, 7):
        assert windows(f"nettalk-{n}grm") == centred[: n // 2 + 1]
        assert windows(f"nettalk-{n}grm-") == [(-(n // 2), n // 2)]
        assert set(windows(f"nettalk-{n}grm+")) == {*centred[: n // 2 + 1], *even[: n - 1]}
        every = [(i, j) for i in range(-9, 10) for j in range(i, 10) if -n <= 2 * i and 2 * j <= n]
        assert set(windows(f"nettalk-{n}grm++")) == set(every)
    sizes = [
        len(get_preset(f"nettalk-{n}grm{which}")) for n in (1, 3, 5, 7) for which in ("", "-", "+", "++")
    ]
    assert sizes == [3, 1, 3, 3, 4, 1, 6, 8, 5, 1, 9, 17, 6, 1, 12, 30]


def test_nettalk_tests_are_made_with_labels_and_pairs() -> None:
    templates = get_preset("nettalk-5grm")
    assert {t.kind for t in templates if t.tests} == {"both"}
    assert [t.source for t in templates if not t.tests] == ["U:bias", "B"]
    assert all(t.tests for t in get_preset("nettalk-5grm-")), "not even the label bigram"


@pytest.mark.data
def test_nettalk_attributes_are_those_of_the_paper(require_data: Callable[[str], None]) -> None:
    """Features the paper counts, in millions, on eight tenths of the dictionary: within 3 %."""
    require_data("nettalk")
    X, y = load_nettalk(prosody=True, marks="phoneme")
    X = X[folds(len(X))[0].train]  # type: ignore[call-overload]
    phoneme, joint = len(phonemes(y).names), len(y.names)
    published = [
        ("nettalk-3grm", phoneme, 14.3),
        ("nettalk-5grm", phoneme, 132.5),
        ("nettalk-5grm+", phoneme, 250.0),
        ("nettalk-1grm", joint, 0.36),
        ("nettalk-3grm", joint, 69.0),
        ("nettalk-7grm", joint, 1600.0),
    ]
    for name, labels, millions in published:
        space = TemplateFeatures(get_preset(name))
        space.learn(X)
        # An attribute that is only ever seen at the start of a word has no pair here; in the paper it has.
        assert space.n_node * (labels + labels**2) / 1e6 == pytest.approx(millions, rel=0.03), name


def test_suzuki_pos_tests_what_the_paper_says() -> None:
    templates = get_preset("suzuki-pos")
    tests = {t.tests for t in templates if t.tests}
    words = [(i,) for i in range(-2, 3)] + [(i, i + 1) for i in range(-2, 2)]
    affixes = [f"{affix}:{n}" for affix in ("prefix", "suffix") for n in (1, 2, 3, 4)]
    current = ["lower", *affixes, "case", "has-digit", "has-punct", "test:-"]
    assert tests == {
        *(tuple(Test(i, 0) for i in word) for word in words),
        *((Test(0, 0, Transform.parse(spec)),) for spec in current),
    }
    assert len(templates) == 9 + 13 + 2
    hyphen = next(t for t in templates if t.name == "U:hyphen[0]")
    assert [hyphen.tests[0].transform(word) for word in ("so-called", "called")] == ["true", "false"]


def test_suzuki_pos_with_pairs_has_the_same_tests() -> None:
    plain, pairs = get_preset("suzuki-pos"), get_preset("suzuki-pos+")
    assert [t.tests for t in plain] == [t.tests for t in pairs]
    assert {t.kind for t in plain if t.tests} == {"node"}
    with_pairs = [t for t in pairs if t.kind == "both"]
    assert len(with_pairs) == 15
    current = [t for t in pairs if [look.offset for look in t.tests] == [0]]
    assert set(with_pairs) == {*current, *(t for t in pairs if t.name == "*:word[-1]")}


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
    names = re.escape(", ".join(preset_names()))
    with pytest.raises(
        ParsimonError, match=f"unknown preset 'chunk': did you mean 'chunking'\\? presets are {names}"
    ):
        get_preset("chunk")
    with pytest.raises(ParsimonError, match=f"unknown preset 'zzz': presets are {names}"):
        get_preset("zzz")
