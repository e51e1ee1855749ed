"""Encodings that users name: read right, or refused in one sentence."""

from __future__ import annotations

import pytest

from parsimon.characters.encodings import check_bom, decoded, decoded_blocks, encoding_name
from parsimon.errors import ParsimonError

TEXT = "Zürich\nça va\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "UTF8", "utf-8-sig", "latin-1", "utf-16", "utf-16-be", "utf-32", "utf-7", "cp037"]
)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_text_is_read(encoding, size):
    content = TEXT.encode(encoding)
    blocks = [content[i : i + size] for i in range(0, len(content), size)]
    assert "".join(decoded_blocks(blocks, encoding, "x")) == TEXT
    assert decoded(content, encoding, "x") == TEXT


def test_a_byte_order_mark_is_no_text():
    assert decoded(b"\xef\xbb\xbfa", "utf-8", "x") == "a"
    assert decoded("\ufeffa".encode("utf-16-le"), "utf-16-le", "x") == "a"


@pytest.mark.parametrize("encoding", ["nonsense", "rot13", "base64", "hex", "zlib", "", "utf-8\0"])
def test_unknown_encodings(encoding):
    with pytest.raises(ParsimonError, match="there is no encoding called"):
        encoding_name(encoding)


@pytest.mark.parametrize("encoding", ["undefined", "idna", "punycode", "utf-32-le", "ascii", "utf-8"])
def test_bytes_that_are_not_text(encoding):
    with pytest.raises(
        ParsimonError, match=r"x, line \d: the text is not valid .*; give the file's encoding"
    ):
        decoded(b"a\xff\n\xfe", encoding, "x")


def test_the_line_is_named():
    with pytest.raises(ParsimonError, match="x, line 3"):
        list(decoded_blocks([b"a\n", b"b\nc\xff"], "utf-8", "x"))


@pytest.mark.parametrize("encoding", ["utf-7", "unicode_escape"])
def test_halves_of_characters_are_not_text(encoding):
    content = {"utf-7": b"+2AA-", "unicode_escape": b"\\ud800"}[encoding]
    with pytest.raises(ParsimonError, match="the text is not valid"):
        decoded(content, encoding, "x")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_the_order_of_bytes_must_be_known(encoding):
    content = TEXT.encode(f"{encoding}-le")
    with pytest.raises(
        ParsimonError, match=f"no?t begin with a byte order mark.*give {encoding}-le or {encoding}-be"
    ):
        decoded(content, encoding, "x")
    with pytest.raises(ParsimonError, match="byte order mark"):
        check_bom(content, encoding, "x")
    check_bom(TEXT.encode(encoding), encoding, "x")
    check_bom(content, f"{encoding}-le", "x")
    assert decoded(b"", encoding, "x") == ""
