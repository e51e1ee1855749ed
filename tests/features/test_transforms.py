"""Transforms: their values, their specs, and Wapiti's regular expressions against a recursive matcher."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.features.transforms import IDENTITY, Transform, known_transforms, wapiti_regexp


@pytest.mark.parametrize(
    ("spec", "value", "expected"),
    [
        ("", "Élan", "Élan"),
        ("lower", "ÉLAN Vital", "élan vital"),
        ("lower-ascii", "ÉLAN Vital", "Élan vital"),
        ("shape", "Confidence", "Aa"),
        ("shape", "2,664,098", "0,0+,0+"),
        ("shape", "IBM-360/40", "A-0+/0+"),
        ("shape", "...", ".+"),
        ("shape", ".", "."),
        ("shape", "iPhone12", "aAa0+"),
        ("shape", "Économie", "Aa"),
        ("shape", "", ""),
        ("prefix:3", "token", "tok"),
        ("prefix:3", "to", "to"),
        ("suffix:3", "token", "ken"),
        ("suffix:3", "to", "to"),
        ("suffix:1", "", ""),
        (r"test:^\u\l*$", "Paris", "true"),
        (r"test:^\u\l*$", "PARIS", "false"),
        ("match:^.?.?", "Paris", "Pa"),
        (r"match:\d", "Paris", ""),
        ("match-lower:^.?.?", "PARIS", "pa"),
    ],
)
def test_values(spec: str, value: str, expected: str) -> None:
    assert Transform.parse(spec)(value) == expected


@pytest.mark.parametrize(
    ("kind", "tokens"),
    [
        ("empty", [""]),
        ("punct", [".", "--", "$", "..."]),
        ("number", ["7", "1,000", "3:30", "-1.5"]),
        ("alnum", ["3rd", "B2B", "mid-1990s"]),
        ("init-cap", ["The", "A", "Corp.", "Éric"]),
        ("all-caps", ["IBM", "U.S.", "ÉTÉ"]),
        ("lower", ["dog", "don't", "well-known", "été"]),
        ("mixed", ["iPhone", "McGill"]),
        ("uncased", ["東京", "שלום"]),
    ],
)
def test_charclass(kind: str, tokens: list[str]) -> None:
    charclass = Transform.parse("charclass")
    assert {token: charclass(token) for token in tokens} == dict.fromkeys(tokens, kind)


@given(st.text())
def test_shape_keeps_the_order_of_types_and_repeats_none(value: str) -> None:
    shape = Transform.parse("shape")(value)
    assert len(shape) <= len(value)
    assert "AA" not in shape
    assert "aa" not in shape
    assert "00" not in shape


def test_specs_are_canonical() -> None:
    assert Transform.parse("prefix:003") == Transform("prefix:3")
    assert Transform.parse('test:"') == Transform.parse(r"test:\"")
    assert Transform.parse(r'test:\\"').spec == r"test:\\\""
    assert (Transform.parse("prefix:3").name, Transform.parse("prefix:3").argument) == ("prefix", "3")
    assert (IDENTITY.name, IDENTITY.argument) == ("", "")


@pytest.mark.parametrize("spec", ["", "lower", "prefix:4", r"test:\d:\p"])
def test_a_transform_is_a_value(spec: str) -> None:
    transform = Transform.parse(spec)
    again = pickle.loads(pickle.dumps(transform))
    assert again == transform
    assert hash(again) == hash(transform)
    assert again("A1:.") == transform("A1:.")
    assert Transform.parse(transform.spec) == transform


def test_every_known_form_can_be_written() -> None:
    for form in known_transforms():
        spec = form.replace("N", "2").replace("REGEXP", "^.")
        assert Transform.parse(spec).spec == spec


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (
            "uper",
            "unknown transform 'uper'; transforms are lower, lower-ascii, shape, .*prefix:N, .*test:REGEXP",
        ),
        ("lower:3", "'lower' takes no argument; write 'lower'"),
        ("prefix", "'prefix' needs a number of characters from 1 to 100, as in 'prefix:3', but got nothing"),
        ("suffix:0", "'suffix' needs .* got '0'"),
        ("suffix:-2", "'suffix' needs .* got '-2'"),
        ("suffix:101", "'suffix' needs .* got '101'"),
        ("prefix:" + "9" * 5000, "'prefix' needs"),
        ("test", "'test' needs a regular expression"),
        ("match:a\nb", "cannot match a line break"),
        ("test:*", r"regular expression '\*', character 1: \* must follow"),
        ("test:^?", "character 2: \\? must follow"),
        ("test:a**", r"character 3: \* must follow"),
        ("test:a?*", r"character 3: \* must follow"),
        ("test:a\\", "character 2: the backslash at the end escapes nothing"),
    ],
)
def test_mistakes(spec: str, sentence: str) -> None:
    with pytest.raises(ParsimonError, match=sentence):
        Transform.parse(spec)


# --- Wapiti's matcher, recursive as its own is, on one character at a time ----------------------------------


def is_punctuation(c: str) -> bool:
    return 32 < ord(c) < 127 and not c.isalnum()


CTYPE = {
    "a": lambda c: c.isascii() and c.isalpha(),
    "d": lambda c: c.isascii() and c.isdigit(),
    "l": lambda c: c.isascii() and c.islower(),
    "p": is_punctuation,
    "s": lambda c: c in " \t\n\v\f\r",
    "u": lambda c: c.isascii() and c.isupper(),
    "w": lambda c: c.isascii() and c.isalnum(),
}


def matches_one(atom: str, c: str) -> bool:
    if atom == ".":
        return True
    if len(atom) == 2 and atom[1] in CTYPE:
        return CTYPE[atom[1]](c)
    if len(atom) == 2 and atom[1].lower() in CTYPE:
        return not CTYPE[atom[1].lower()](c)
    return atom[-1] == c


def match_here(regexp: str, text: str, at: int) -> int | None:
    """Where a match that starts at `at` ends."""
    if regexp == "":
        return at
    if regexp == "$":
        return at if at == len(text) else None
    width = 2 if regexp[0] == "\\" else 1
    atom, rest = regexp[:width], regexp[width:]
    assert atom not in ("*", "?", "\\"), "wapiti_regexp must have refused this"
    if rest[:1] == "*":
        while True:
            end = match_here(rest[1:], text, at)
            if end is not None or at == len(text) or not matches_one(atom, text[at]):
                return end
            at += 1
    if rest[:1] == "?":
        if at < len(text) and matches_one(atom, text[at]):
            end = match_here(rest[1:], text, at + 1)
            if end is not None:
                return end
        return match_here(rest[1:], text, at)
    return match_here(rest, text, at + 1) if at < len(text) and matches_one(atom, text[at]) else None


def first_match(regexp: str, text: str) -> str | None:
    if regexp.startswith("^"):
        end = match_here(regexp[1:], text, 0)
        return None if end is None else text[:end]
    for start in range(len(text) + 1):
        end = match_here(regexp, text, start)
        if end is not None:
            return text[start:end]
    return None


ALPHABET = 'aAbB19.-_ é$^*?+()[]{}|\\"'
atoms = st.one_of(
    st.sampled_from([".", *(f"\\{c}" for c in 'adlpsuwADLPSUWn.*?$^\\"+')]),
    st.sampled_from([c for c in ALPHABET if c not in "*?\\"]),
)
well_formed = st.builds(
    lambda start, body, end: start + "".join(body) + end,
    st.sampled_from(["", "^"]),
    st.lists(st.builds(str.__add__, atoms, st.sampled_from(["", "", "*", "?"])), max_size=5),
    st.sampled_from(["", "$"]),
)
values = st.text(alphabet=ALPHABET, max_size=8)


def assert_agrees(regexp: str, value: str) -> None:
    found = wapiti_regexp(regexp).search(value)
    assert found == first_match(regexp, value)


@given(well_formed, values)
@example("a?ab", "ab")  # the optional character is tried first, then given back
@example("a*", "aa")  # the star is content with nothing
@example("a*$", "baa")
@example("a$b$", "a$b")  # only the last $ is an anchor
@example("^^a", "^a")  # only the first ^ is an anchor
@example("a.b", "a\nb")
@example("$*", "$$")
@example(r"\$", "a$")
def test_regexps_match_as_in_wapiti(regexp: str, value: str) -> None:
    assert_agrees(regexp, value)


@given(st.text(alphabet="ab^$*?\\.d", max_size=6), values)
def test_any_text_is_a_regexp_or_is_refused(regexp: str, value: str) -> None:
    try:
        wapiti_regexp(regexp)
    except ParsimonError:
        assert set(regexp) & set("*?\\")
    else:
        assert_agrees(regexp, value)


@given(values)
def test_nothing_else_is_special(value: str) -> None:
    assert Transform.parse("match:(a+|[b]{1})")(value) == ("(a+|[b]{1})" if "(a+|[b]{1})" in value else "")
    assert Transform.parse("match:(a+|[b]{1})")(value + "(a+|[b]{1})") == "(a+|[b]{1})"


def test_an_underscore_is_punctuation_and_not_of_a_word() -> None:
    assert Transform.parse(r"test:\w")("_") == "false"
    assert Transform.parse(r"test:\p")("_") == "true"
    assert Transform.parse(r"test:\p")("«") == "false"


@pytest.mark.parametrize("command", ["test", "match"])
@pytest.mark.parametrize("regexp", ["a*a*a*a*a*a*a*a*b", "a?" * 30 + "b", ".*.*.*.*.*=", "\\a*\\w*.*-$"])
def test_no_regexp_takes_forever(command: str, regexp: str) -> None:
    """With backtracking, these take from minutes to longer than the sun will shine."""
    transform = Transform.parse(f"{command}:{regexp}")
    for length in (200, 20_000):
        assert transform("a" * length) == {"test": "false", "match": ""}[command]


def test_optional_characters_match_what_is_left() -> None:
    """The quickest way not to hang would be to match nothing."""
    assert Transform.parse("match:" + "a?" * 30 + "a" * 30)("a" * 40) == "a" * 40
    assert Transform.parse("match:a*a*a*a*a*a*a*a*b")("c" + "a" * 5000 + "bb") == "a" * 5000 + "b"


def test_a_regexp_that_is_too_long() -> None:
    with pytest.raises(ParsimonError, match="characters; it may have 20,000"):
        Transform.parse("test:" + "a*" * 20_000)
