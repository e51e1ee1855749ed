"""Bytes as text in an encoding that the user names; what does not fit is refused in a sentence, wherever it is read."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from parsimon.errors import ParsimonError

BOM = "\ufeff"
# The byte order marks of encodings that cannot be read without one.
NEED_BOM = {
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}


def encoding_name(encoding: str) -> str:
    """Python's name for an encoding of texts.

    >>> encoding_name("UTF8"), encoding_name("latin-1")
    ('utf-8', 'iso8859-1')
    """
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError):  # a null character is no LookupError
        codec = None
    # Some codecs make bytes of bytes, or text of text (base64, rot13).
    if codec is None or not getattr(codec, "_is_text_encoding", True):
        raise ParsimonError(f"there is no encoding called {encoding!r}; try utf-8 or latin-1.")
    return codec.name


def decoded(content: bytes, encoding: str, name: str) -> str:
    """The text of a whole file, without a byte order mark; `name` is the file's, for messages."""
    return "".join(decoded_blocks([content], encoding, name)).removeprefix(BOM)


def decoded_blocks(blocks: Iterable[bytes], encoding: str, name: str) -> Iterator[str]:
    """The text of a file that is read block by block."""
    encoding = encoding_name(encoding)
    decoder, lines = codecs.getincrementaldecoder(encoding)(), 1
    for block in _and_end(blocks):
        try:
            text = decoder.decode(block, final=not block)
            if encoding != "utf-8":
                text.encode()  # some encodings know halves of characters, which are no text
        except UnicodeError as error:
            lines += block.count(b"\n", 0, error.start if isinstance(error, UnicodeDecodeError) else 0)
            raise _refusal(error, encoding, name, lines) from None
        lines += text.count("\n")
        if text:
            yield text


def check_bom(content: bytes, encoding: str, name: str) -> None:
    """Refuses text of which nothing says in which order the bytes of a character come."""
    if content and encoding in NEED_BOM and not content.startswith(NEED_BOM[encoding]):
        raise _without_bom(encoding, name)


def _and_end(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The blocks that are not empty, and an empty one, which is the end to decoders."""
    yield from filter(None, blocks)
    yield b""


def _refusal(error: UnicodeError, encoding: str, name: str, line: int) -> ParsimonError:
    """What to say of bytes that are not text; without a byte order mark, decoders raise an error without a place."""
    placeless = not isinstance(error, UnicodeDecodeError | UnicodeEncodeError)
    if encoding in NEED_BOM and (placeless or "BOM" in str(error)):
        return _without_bom(encoding, name)
    other = "latin-1" if encoding == "utf-8" else "utf-8"
    return ParsimonError(
        f"{name}, line {line}: the text is not valid {encoding}; give the file's encoding, such as {other}."
    )


def _without_bom(encoding: str, name: str) -> ParsimonError:
    return ParsimonError(
        f"{name} does not begin with a byte order mark, so it cannot be read as {encoding}; give {encoding}-le or "
        f"{encoding}-be (or another encoding, if it is neither)."
    )
