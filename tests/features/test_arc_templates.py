"""Templates of arcs: their text, what is refused, and the presets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.features.arc_presets import arc_preset
from parsimon.features.arc_templates import ArcColumn, ArcTemplate, ArcTemplates, ArcTest

columns = st.sampled_from(["form", "upos", "feat", "feats", "lower", "suffix:2", "lemma/prefix:1", "shape"])
ends = st.builds(
    lambda place, offset, column: ArcTest(place, offset, ArcColumn.parse(column)),
    st.sampled_from("hm"),
    st.integers(-3, 3),
    columns,
)
arcs = st.sampled_from([ArcTest("dir"), ArcTest("dist"), ArcTest("b", 0, ArcColumn("upos"))])


@given(st.lists(ends | arcs, max_size=6))
def test_a_template_is_read_as_it_is_written(tests):
    template = ArcTemplate(tuple(tests))
    assert ArcTemplate.parse(template.name) == template
    assert ArcTemplates.parse(template.name)[0] == template


def test_tests_are_put_in_order_and_counted_once():
    template = ArcTemplate.parse("dist + m-1.upos+h+1.upos+h.form+h.form")
    assert template.name == "h.form+h+1.upos+m-1.upos+dist"
    assert ArcTemplate.parse("bias").tests == ()


def test_a_plus_may_also_be_an_offset():
    assert ArcTemplate.parse("h.upos+m.upos+h+1.upos+dist").name == "h.upos+h+1.upos+m.upos+dist"
    assert [t.offset for t in ArcTemplate.parse("h+2.form+m-2.form").tests] == [2, -2]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("h.upos+m", "'m' is not an arc test"),
        ("x.upos", "'x.upos' is not an arc test"),
        ("h.colour", "no column 'colour'"),
        ("h.upos+b.upos+b.form", "two tests of the words in between"),
        ("b+1.upos", "not an arc test"),
        ("h.form/nonsense", "nonsense"),
        ("+".join(f"h+{k}.upos+m+{k}.upos" for k in range(1, 8)), "14 tests; it may have at most 12"),
        ("# nothing\n\n", "there is no template"),
    ],
)
def test_mistakes_are_refused(text, what):
    with pytest.raises(ParsimonError, match="templates") as error:
        ArcTemplates.parse(text)
    assert what in str(error.value)


def test_a_mistake_is_found_by_its_line(tmp_path):
    path = tmp_path / "mine.tpl"
    path.write_text("h.upos\nh.upos+m.nothing\n")
    with pytest.raises(ParsimonError, match=r"mine.tpl, line 2: .*nothing"):
        ArcTemplates.load(path)
    with pytest.raises(ParsimonError, match="cannot be read"):
        ArcTemplates.load(tmp_path / "other.tpl")


def test_files(tmp_path):
    templates = arc_preset("mcdonald")
    (tmp_path / "t").write_text(templates.dumps())
    assert ArcTemplates.load(tmp_path / "t") == templates


def test_encoding_names_columns_by_number():
    templates = ArcTemplates.parse("h.upos+m-1.form+dir\nb.form")
    start, tests = templates.encoded()
    assert start.tolist() == [0, 3, 4]
    assert [str(c) for c in templates.columns] == ["upos", "form"]
    assert tests.tolist() == [[0, 0, 0], [1, -1, 1], [3, 0, 0], [2, 0, 1]]


def test_a_long_run_of_spaces() -> None:
    with pytest.raises(ParsimonError):
        ArcTemplate.parse("h.upos" + " " * 100_000 + "x")
    assert ArcTemplate.parse("h.upos" + " " * 1000 + "+" + " " * 1000 + "m.upos") == ArcTemplate.parse(
        "h.upos+m.upos"
    )
