"""The tokens of Python source, and the mapping from nodes of its syntax tree to tokens."""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from dataclasses import dataclass, field

_STRING_OPENING = re.compile(r"\w*('{3}|\"{3}|['\"])")
_SHORT_NUMBER = 3  # a number with more characters than this is replaced by its shape
_LAYOUT = {"NL", "INDENT", "DEDENT", "ENDMARKER", "ENCODING"}
_INTERPOLATED_START = {"FSTRING_START", "TSTRING_START"}
_INTERPOLATED_END = {"FSTRING_END", "TSTRING_END"}

Position = tuple[int, int]  # line counted from 1, column in UTF-8 bytes counted from 0, as in ast
Located = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.excepthandler | ast.pattern


def _shorten(text: str, kind: str) -> str:
    """The shortened text of a token: from a limited vocabulary, never empty, without spaces."""
    if kind == "COMMENT":
        return "#"
    if kind == "STRING":
        opening = _STRING_OPENING.match(text)
        return opening[0] if opening else text
    if kind == "NUMBER" and len(text) > _SHORT_NUMBER:
        base = text[:2].lower()
        return f"{base}#" if base in ("0x", "0o", "0b") else re.sub("[0-9_]+", "#", text)
    return text


@dataclass
class PythonTokens:
    """The tokens of one source, and the mapping from nodes of its syntax tree to tokens."""

    text: list[str] = field(default_factory=list)  # shortened by _shorten
    kind: list[str] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    bracket: list[int] = field(default_factory=list)  # the innermost enclosing bracket of each token, or -1
    partner: dict[int, int] = field(default_factory=dict)  # opening bracket -> closing bracket
    starts: dict[Position, int] = field(default_factory=dict)
    ends: dict[Position, int] = field(default_factory=dict)
    lines: list[range] = field(default_factory=list)  # the logical lines

    @classmethod
    def read(cls, source: str) -> PythonTokens:
        """Tokenise; an f-string, which is several tokens since Python 3.12, becomes a single STRING."""
        tokens = cls()
        rows = source.split("\n")

        def position(row: int, column: int) -> Position:
            line = rows[row - 1]
            return row, column if line.isascii() else len(line[:column].encode())

        opened: list[int] = []
        line_start = nesting = 0
        string_start = tokenize.TokenInfo(tokenize.STRING, "", (1, 0), (1, 0), "")
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            kind, text, start = tokenize.tok_name[token.type], token.string, token.start
            if kind in _INTERPOLATED_START:
                string_start = string_start if nesting else token
                nesting += 1
            elif kind in _INTERPOLATED_END:
                nesting -= 1
                kind, text, start = "STRING", string_start.string, string_start.start
            if nesting or kind in _LAYOUT:
                continue
            # Python 3.12 and later take any character for an operator.
            if kind == "ERRORTOKEN" or (kind == "OP" and text not in tokenize.EXACT_TOKEN_TYPES):
                raise SyntaxError(f"stray {text!r} on line {start[0]}")
            size = len(tokens.text)
            if kind == "NEWLINE":
                if size > line_start:
                    tokens.lines.append(range(line_start, size))
                line_start = size
            elif kind != "COMMENT" or size > line_start:
                tokens._append(_shorten(text, kind), kind, position(*start), position(*token.end), opened)
        return tokens

    def _append(self, text: str, kind: str, start: Position, end: Position, opened: list[int]) -> None:
        i = len(self.text)
        if kind == "OP" and text in ")]}" and opened:
            self.partner[opened.pop()] = i
        self.text.append(text)
        self.kind.append(kind)
        self.row.append(start[0])
        self.bracket.append(opened[-1] if opened else -1)
        self.starts[start] = i
        self.ends[end] = i
        if kind == "OP" and text in "([{":
            opened.append(i)

    def first(self, node: Located) -> int:
        """The first token of a node."""
        return self.starts[node.lineno, node.col_offset]

    def last(self, node: Located) -> int:
        """The last token of a node."""
        return self.ends[node.end_lineno or 0, node.end_col_offset or 0]

    def span(self, node: Located) -> range:
        """All tokens of a node."""
        return range(self.first(node), self.last(node) + 1)

    def next(self, i: int) -> int:
        """The next token after `i` that is not a comment."""
        i += 1
        while self.text[i] == "#":
            i += 1
        return i

    def after(self, node: Located) -> int:
        """The token after a node and its closing parentheses."""
        i = self.last(node) + 1
        while self.text[i] in (")", "#"):
            i += 1
        return i

    def before(self, node: Located) -> int:
        """The token before a node and its opening parentheses."""
        i = self.first(node) - 1
        while self.text[i] in ("(", "#"):
            i -= 1
        return i

    def is_name(self, i: int) -> bool:
        """Whether a token is a name and not a keyword."""
        return self.kind[i] == "NAME" and not keyword.iskeyword(self.text[i])
