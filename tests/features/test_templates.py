"""The template language: files of Wapiti and CRF++, what they become, the way back, and every mistake."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.features.templates import KIND_LETTERS, Boundary, Kind, Template, TemplateSet, Test
from parsimon.features.transforms import Transform

# What CRF++ ships for chunking.
CRFPP_CHUNKING = """\
# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]

U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]

U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]

# Bigram
B
"""

# In the manner of the chunking patterns that come with Wapiti.
WAPITI_CHUNKING = r"""
*

U:Wrd-1 X=%x[ 0,0]
U:wrd-1LL=%X[-2,0]
u:wrd-2 R=%X[ 0,0]/%X[ 1,0]   # the bigram to the right

*:Pos-1 L=%x[-1,1]
*:Pre-2 X=%m[ 0,0,"^.?.?"]
*:Suf-2 X=%M[ 0,0,".?.?$"]
*:Caps? L=%t[-1,0,"\u"]
*:AllC? X=%T[ 0,0,"^\u*$"]
*:Quote X=%t[ 0,0,"^\"$"]
b:Ends=%x[@1,0]/%x[@-1,1]
"""


def only(text: str, boundary: Boundary | None = None) -> Template:
    (template,) = TemplateSet.parse(text, boundary=boundary)
    return template


def transform(spec: str) -> Transform:
    return Transform.parse(spec)


# --- Files of both tools ------------------------------------------------------------------------------------


def test_a_crfpp_file() -> None:
    templates = TemplateSet.parse(CRFPP_CHUNKING, boundary="crf++")
    assert len(templates) == 20
    assert [t.kind for t in templates] == ["node"] * 19 + ["edge"]
    assert templates[5] == Template("node", ("U05:", Test(-1, 0), "/", Test(0, 0)))
    assert templates[-1] == Template("edge", ("B",))
    assert templates.names[:7] == ("U00", "U01", "U02", "U03", "U04", "U05", "U06")
    assert templates.inputs == ((0, transform("")), (1, transform("")))
    assert (templates.n_columns, templates.max_reach) == (2, 2)
    assert TemplateSet.parse(CRFPP_CHUNKING).templates == templates.templates


def test_a_wapiti_file() -> None:
    templates = TemplateSet.parse(WAPITI_CHUNKING)
    assert templates.boundary == "wapiti"
    assert list(templates) == [
        Template("both", ("*",)),
        Template("node", ("U:Wrd-1 X=", Test(0, 0))),
        Template("node", ("U:wrd-1LL=", Test(-2, 0, transform("lower-ascii")))),
        Template(
            "node",
            ("U:wrd-2 R=", Test(0, 0, transform("lower-ascii")), "/", Test(1, 0, transform("lower-ascii"))),
        ),
        Template("both", ("*:Pos-1 L=", Test(-1, 1))),
        Template("both", ("*:Pre-2 X=", Test(0, 0, transform("match:^.?.?")))),
        Template("both", ("*:Suf-2 X=", Test(0, 0, transform("match-lower:.?.?$")))),
        Template("both", ("*:Caps? L=", Test(-1, 0, transform(r"test:\u")))),
        Template("both", ("*:AllC? X=", Test(0, 0, transform(r"test:^\u*$")))),
        Template("both", ("*:Quote X=", Test(0, 0, transform(r"test:^\"$")))),
        Template("edge", ("B:Ends=", Test(1, 0, absolute=True), "/", Test(-1, 1, absolute=True))),
    ]
    assert templates[3].source == "u:wrd-2 R=%X[ 0,0]/%X[ 1,0]"
    assert len(set(templates.names)) == len(templates)
    assert templates.inputs[:4] == (
        (0, transform("")),
        (0, transform("lower-ascii")),
        (1, transform("")),
        (0, transform("match:^.?.?")),
    )
    (quote,) = templates[9].tests
    assert (quote.transform('"'), quote.transform('""')) == ("true", "false")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark(newline: str) -> None:
    text = "\ufeff" + CRFPP_CHUNKING.replace("\n", newline)
    assert TemplateSet.parse(text) == TemplateSet.parse(CRFPP_CHUNKING)


def test_the_extension() -> None:
    template = only('U:%f[0,0,"lower"]/%f[ -1, 1, "prefix:3" ]/%f[@-1,0,"shape"]/%f[0,0,""]')
    assert template.tests == (
        Test(0, 0, transform("lower")),
        Test(-1, 1, transform("prefix:3")),
        Test(-1, 0, transform("shape"), absolute=True),
        Test(0, 0),
    )
    assert only(r'U:%f[0,0,"test:^\u"]') == only(r'U:%t[0,0,"^\u"]')


def test_comments_of_wapiti_start_anywhere_but_in_quotation_marks() -> None:
    assert only("U:%x[0,0]# %x[1,0]") == only("U:%x[0,0]")
    assert only("  U:%x[0,0] \t # trailing") == only("U:%x[0,0]")
    assert only('U:%t[0,0,"#\\"#"] # "quoted"').tests == (Test(0, 0, transform(r"test:#\"#")),)


def test_comments_of_crfpp_start_a_line() -> None:
    assert only("# a comment\nU#1:%x[0,0]", boundary="crf++").pieces == ("U#1:", Test(0, 0))
    assert only("U#1:%x[0,0]") == only("U")


def test_the_boundary_can_be_declared_in_the_file() -> None:
    text = "# parsimon: boundary=crf++\nU#1:%x[0,0]\n"
    assert TemplateSet.parse(text).boundary == "crf++"
    assert TemplateSet.parse(text).dumps() == text
    assert TemplateSet.parse(text, boundary="wapiti").boundary == "wapiti"
    assert TemplateSet.parse("# boundary=crf++\nU").boundary == "wapiti"


def test_loading(tmp_path: Path) -> None:
    path = tmp_path / "templates.txt"
    path.write_bytes(WAPITI_CHUNKING.replace("Wrd", "Möt").encode("latin-1"))
    templates = TemplateSet.load(path, encoding="latin-1")
    assert templates[1].name == "U:Möt-1 X"
    assert TemplateSet.load(str(path), encoding="latin-1", boundary=None) == templates


# --- Templates as objects -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("U05:%x[0,0]", "U05"),
        ("*3:%x[0,0]%x[1,0]", "*3"),
        ("U05:word=%x[0,0]", "U05"),
        ("U:word[0]=%x[0,0]", "U:word[0]"),
        ("U:prefix:3[0]=%x[0,0]", "U:prefix:3[0]"),
        ("*:Pos-1 L=%x[-1,1]", "*:Pos-1 L"),
        ("u:%x[0,0]", "u:%x[0,0]"),
        ("U%x[0,0]:", "U%x[0,0]:"),
        ("B", "B"),
        ("*", "*"),
        ("U:bias", "U:bias"),
    ],
)
def test_names(line: str, name: str) -> None:
    assert Template.parse(line).name == name


def test_names_of_a_set_tell_templates_apart() -> None:
    templates = TemplateSet.parse("U1:%x[0,0]\nU1:%x[0,1]\nU2:%x[0,0]")
    assert templates.names == ("U1:%x[0,0]", "U1:%x[0,1]", "U2")


def test_a_bag_of_words_shares_its_skeleton() -> None:
    before, after, capital, both, pair = TemplateSet.parse(
        "U:%x[-1,0]\nu:%x[1,0]\nU:%X[0,1]\n*:%x[1,0]\nU:%x[0,0]%x[1,0]"
    )
    assert before.skeleton == after.skeleton == capital.skeleton == "U:%"
    assert len({before.skeleton, both.skeleton, pair.skeleton}) == 3


def test_render() -> None:
    template = Template.parse("U05:%x[-1,0]/%x[0,0]")
    assert template.render(["the", "dog"]) == "U05:the/dog"
    assert Template.parse("B").render([]) == "B"
    with pytest.raises(ParsimonError, match="has 2 tests, but got 1 values"):
        template.render(["the"])


def test_pieces_are_put_together() -> None:
    assert Template("node", ("U", "", "1:", Test(0, 0), "")).pieces == ("U1:", Test(0, 0))
    assert Template("node", ("U1:", Test(0, 0))).source == "U1:%x[0,0]"


@pytest.mark.parametrize(
    ("kind", "pieces", "sentence"),
    [
        ("vertex", ("U",), "kind 'vertex' is unknown; give one of node, edge, both"),
        ("node", ("B",), "start with the letter U"),
        ("node", (Test(0, 0),), "start with the letter U"),
        ("node", (), "start with the letter U"),
        ("node", ("U100%:", Test(0, 0)), "leave out % and line breaks"),
        ("node", ("U\n", Test(0, 0)), "leave out % and line breaks"),
        ("node", ("U ",), "trailing white space is dropped"),
    ],
)
def test_templates_that_could_not_be_written(
    kind: Kind, pieces: tuple[str | Test, ...], sentence: str
) -> None:
    with pytest.raises(ParsimonError, match=sentence):
        Template(kind, pieces)


def test_locate() -> None:
    look = Test(-2, 0)
    assert [look.locate(t, 3) for t in range(3)] == [-2, -1, 0]
    for offset, row in {1: 0, 3: 2, 4: 3, 0: -1, -1: 2, -3: 0, -4: -1}.items():
        assert {Test(offset, 0, absolute=True).locate(t, 3) for t in range(3)} == {row}


def test_boundary_values() -> None:
    wapiti = TemplateSet.parse(CRFPP_CHUNKING)
    crfpp = replace(wapiti, boundary="crf++")

    def values(templates: TemplateSet, after: bool, *distances: int) -> str:
        return " ".join(templates.boundary_value(distance, after) for distance in distances)

    assert values(wapiti, False, 1, 2, 3, 4, 5, 6) == "_x-1 _x-2 _x-3 _x-4 _x-# _x-#"
    assert values(wapiti, True, 1, 4, 5, 99) == "_x+1 _x+4 _x+# _x+#"
    assert values(crfpp, False, 1, 5, 8, 9) == "_B-1 _B-5 _B-8 _B-8"
    assert values(crfpp, True, 1, 8, 20) == "_B+1 _B+8 _B+8"
    with pytest.raises(ParsimonError, match="distance is 0, which is not beyond an end"):
        wapiti.boundary_value(0, after=True)


@given(st.integers(-6, 6), st.booleans(), st.integers(1, 8))
def test_no_test_reaches_further_than_max_reach(offset: int, absolute: bool, length: int) -> None:
    look = Test(offset, 0, absolute=absolute)
    reach = TemplateSet((Template("node", ("U", look)),)).max_reach
    for position in range(length):
        assert -reach <= look.locate(position, length) < length + reach


# --- Sets ---------------------------------------------------------------------------------------------------


def test_a_set_is_a_sequence() -> None:
    a, b = TemplateSet.parse(CRFPP_CHUNKING), TemplateSet.parse("*:%x[0,3]")
    assert (a + b).templates == a.templates + b.templates
    assert (a + b)[20:] == b
    assert (a + b).n_columns == 4
    assert b[0] in a + b
    assert sum([a, b], TemplateSet(())) == a + b
    assert hash(pickle.loads(pickle.dumps(a + b))) == hash(a + b)
    empty = TemplateSet(())
    assert (len(empty), empty.inputs, empty.n_columns, empty.max_reach, empty.dumps()) == (0, (), 0, 0, "")


def test_sets_that_do_not_go_together() -> None:
    a, b = TemplateSet.parse("U"), TemplateSet.parse("U#1", boundary="crf++")
    with pytest.raises(ParsimonError, match=r"boundary 'crf\+\+' to templates with boundary 'wapiti'"):
        a + b
    with pytest.raises(ParsimonError, match="the # in template 'U#1' would start a comment"):
        TemplateSet(b.templates)
    with pytest.raises(ParsimonError, match=r"boundary 'mallet' is unknown; give 'wapiti' or 'crf\+\+'"):
        TemplateSet(a.templates, boundary="mallet")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        a + "U"  # type: ignore[operator]


ATOMS = [".", "a", "#", '"', "]", "[", ",", "%", "é", "(", " ", "$", r"\u", r"\D", r"\"", r"\\", r"\*"]
regexps = st.lists(st.builds(str.__add__, st.sampled_from(ATOMS), st.sampled_from(["", "*", "?"]))).map(
    "".join
)
transforms = st.one_of(
    st.sampled_from(["", "lower", "lower-ascii", "shape", "charclass", "prefix:3", "suffix:12"]),
    st.builds(str.__add__, st.sampled_from(["test:", "match:", "match-lower:"]), regexps),
).map(Transform.parse)
tests = st.builds(Test, st.integers(-1000, 1000), st.integers(0, 1000), transforms, st.booleans())


@st.composite
def template_sets(draw: st.DrawFn) -> TemplateSet:
    boundary: Boundary = draw(st.sampled_from(["wapiti", "crf++"]))
    excluded = "%\n\r#" if boundary == "wapiti" else "%\n\r"
    texts = st.text(st.characters(exclude_characters=excluded, exclude_categories=["Cs"]), max_size=6)
    templates = []
    for _ in range(draw(st.integers(1, 4))):
        kind: Kind = draw(st.sampled_from(sorted(KIND_LETTERS)))
        pieces = draw(st.lists(st.one_of(texts, tests), max_size=6))
        if pieces and isinstance(pieces[-1], str):
            pieces[-1] += "."
        templates.append(Template(kind, (KIND_LETTERS[kind], *pieces)))
    return TemplateSet(tuple(templates), boundary)


@given(template_sets())
def test_round_trip(templates: TemplateSet) -> None:
    text = templates.dumps()
    again = TemplateSet.parse(text)
    assert again == templates
    assert again.dumps() == text
    assert again.names == templates.names
    assert [t.skeleton for t in again] == [t.skeleton for t in templates]
    assert TemplateSet.parse(text.replace("\n", "  \r\n")) == templates


@given(template_sets())
def test_inputs_are_what_the_tests_look_at(templates: TemplateSet) -> None:
    seen = [(look.column, look.transform) for template in templates for look in template.tests]
    assert len(set(templates.inputs)) == len(templates.inputs)
    assert set(templates.inputs) == set(seen)
    assert sorted(templates.inputs, key=seen.index) == list(templates.inputs)


@pytest.mark.parametrize("text", [CRFPP_CHUNKING, WAPITI_CHUNKING])
def test_round_trip_of_real_files(text: str) -> None:
    templates = TemplateSet.parse(text)
    assert TemplateSet.parse(templates.dumps()) == templates


@given(st.text('UB*u%xtfm[]@-+0,1"\\# ^$?:\n', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        templates = TemplateSet.parse(text)
    except ParsimonError:
        return
    assert TemplateSet.parse(templates.dumps()) == templates


# --- Mistakes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "X:%x[0,0]",
            r"template 'X:%x\[0,0\]' must start with U \(label\), B \(pair of labels\) or \* \(both\)",
        ),
        ("%x[0,0]", "must start with U"),
        ("U:%y[0,0]", "unknown command '%y' in .*; the commands are %x, %X, %t, %T, %m, %M, %f"),
        ("U:100%", "unknown command '%'"),
        ("U:%F[0,0]", "unknown command '%F'"),
        ("U:%x", r"'%x' needs a row and a column in brackets, as in %x\[-1,0\]"),
        ("U:%x(0,0)", "needs a row and a column in brackets"),
        ("U:%x[0]", "needs a row and a column in brackets"),
        ("U:%x[a,0]", "'a' is not a valid row"),
        ("U:%x[1.5,0]", "needs a row and a column in brackets"),
        ("U:%t[,0]", r"as in %t\[-1,0,\"\^\.\?\"\]"),
        ("U:%x[0,0", r"missing \] after '%x\[0,0'"),
        ("U:%x[0,0/%x[1,0]", r"missing \]"),
        ('U:%t[0,0,"a"', r"missing \]"),
        ("U:%x[0,-1]", "column -1 is out of range; columns go from 0 to 1000"),
        ("U:%x[0,1001]", "column 1001 is out of range"),
        ("U:%x[-1001,0]", "row -1001 is out of range; rows go from -1000 to 1000"),
        ("U:%x[@1001,0]", "row 1001 is out of range"),
        ("U:%x[" + "9" * 5000 + ",0]", "needs a row"),
        ('U:%x[0,0,"a"]', r"%x takes only a row and a column, as in %x\[-1,0\]"),
        ("U:%t[0,0]", "%t needs a third argument in quotation marks"),
        ("U:%m[0,0,a]", "%m needs a third argument in quotation marks"),
        ('U:%m[0,0,"a]', "%m needs a third argument in quotation marks"),
        (r'U:%m[0,0,"a\"]', "%m needs a third argument in quotation marks"),
        ("U:%f[0,0]", r"%f needs a third argument in quotation marks, as in %f\[-1,0,\"shape\"\]"),
        ('U:%t[0,0,"*"]', r"regular expression '\*', character 1"),
        ('U:%f[0,0,"shap"]', "unknown transform 'shap'; transforms are lower"),
        ('U:%f[0,0,"prefix"]', "'prefix' needs a number of characters"),
        ("# parsimon: boundary=mallet", "boundary 'mallet' is unknown"),
        ("# parsimon: boundary=crf++", r"boundary=crf\+\+ must be declared before the first template"),
    ],
)
def test_mistakes_in_a_file(line: str, sentence: str) -> None:
    with pytest.raises(ParsimonError, match=sentence) as caught:
        TemplateSet.parse(f"# templates\n\nU:%x[0,0]\n{line}\nB\n", source="my.tpl")
    assert str(caught.value).startswith("my.tpl, line 4: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n  # comments\n"])
def test_no_template_at_all(text: str) -> None:
    with pytest.raises(ParsimonError, match=r"my\.tpl contains no template; it needs at least one line"):
        TemplateSet.parse(text, source="my.tpl")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match=r"cannot read template file .*missing\.tpl: No such file"):
        TemplateSet.load(tmp_path / "missing.tpl")
    with pytest.raises(ParsimonError, match="cannot read template file"):
        TemplateSet.load(tmp_path)
    path = tmp_path / "latin.tpl"
    path.write_bytes("U:é=%x[0,0]\n".encode("latin-1"))
    with pytest.raises(ParsimonError, match=r"latin\.tpl, line 1: the text is not valid utf-8; give"):
        TemplateSet.load(path)
    with pytest.raises(ParsimonError, match="there is no encoding called 'latin-one-ish'"):
        TemplateSet.load(path, encoding="latin-one-ish")
    path.write_text("U\nX\n")
    with pytest.raises(ParsimonError, match=r"latin\.tpl, line 2: template 'X' must start with U"):
        TemplateSet.load(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("U:" + "%x[" * 3000, "needs a row and a column"),
        ("U:%x[" + " " * 9000 + "x", "needs a row and a column"),
        ("# parsimon: boundary=" + " " * 9000 + "x y", "contains no template"),
        ("U:" + "x" * 10_000, "line 1: the line has 10,002 characters; a template has at most 10,000"),
    ],
    ids=["commands", "spaces", "header", "long"],
)
def test_hostile_lines_are_refused_at_once(line: str, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        TemplateSet.parse(line)


@pytest.mark.parametrize(
    ("line", "template"),
    [
        ('U:%t[0,0,"#"] # comment', 'U:%t[0,0,"#"]'),
        ('U:%t[0,0,"\\"#"]%x[1,0]# "comment"', 'U:%t[0,0,"\\"#"]%x[1,0]'),
        ('U:%x[0,0]# %t[0,0,"#"]', "U:%x[0,0]"),
        ("U:%x[ @ 0 , 0 ]", "U:%x[ @ 0 , 0 ]"),
    ],
)
def test_comments_and_spaces(line: str, template: str) -> None:
    assert TemplateSet.parse(line).templates[0].source == template
