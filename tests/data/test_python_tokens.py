"""The tokens of Python source: their shortened text, and the way from nodes of the syntax tree to tokens."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from labelled_python import labelled, parsed
from parsimon.data.python_labels import label_python
from parsimon.data.python_tokens import PythonTokens

SOURCE = "x = (f(a, [1]))  # why\nif é: y.z\n"


def test_tokens_lines_and_brackets() -> None:
    tokens = PythonTokens.read(SOURCE)
    assert tokens.text == [*"x=(f(a,[1]))#", "if", *"é:y.z"]
    assert tokens.lines == [range(13), range(13, 19)]
    assert tokens.row == [1] * 13 + [2] * 6
    assert tokens.partner == {2: 11, 4: 10, 7: 9}
    assert tokens.bracket == [-1, -1, -1, 2, 2, 4, 4, 4, 7, 4, 2, -1, -1, *[-1] * 6]


def test_nodes_have_their_tokens() -> None:
    tokens = PythonTokens.read(SOURCE)
    assign, condition = ast.parse(SOURCE).body
    assert isinstance(assign, ast.Assign)
    assert isinstance(condition, ast.If)
    assert tokens.span(assign.value) == range(3, 11)  # without the parentheses around it
    assert (tokens.before(assign.value), tokens.after(assign.value)) == (1, 13)
    assert (tokens.first(condition), tokens.last(condition)) == (13, 18)
    attribute: Any = condition.body[0]
    assert tokens.text[tokens.last(attribute)] == "z"
    assert tokens.next(11) == 13  # the comment is skipped


def test_names_are_not_keywords() -> None:
    tokens = PythonTokens.read("if x: print('x')")
    assert [text for i, text in enumerate(tokens.text) if tokens.is_name(i)] == ["x", "print"]


def test_a_character_that_starts_no_token_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        PythonTokens.read("x = $\n")


def test_an_f_string_is_one_token_on_every_version() -> None:
    X, y = label_python("x = f'{a!r:>{width}} {b}' f\"\"\"\n{c['d']}\n\"\"\" 'e'")
    assert X[0][2:] == [("f'", "STRING"), ('f"""', "STRING"), ("'", "STRING")]
    assert y[0][2:] == ["format-string"] * 3


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("7", "7"),
        ("100", "100"),
        ("1000", "#"),
        ("1_000", "#"),
        ("3.14159", "#.#"),
        ("1.5e-10", "#.#e-#"),
        ("0xFFFF", "0x#"),
        ("0b1010", "0b#"),
        ("1000j", "#j"),
    ],
)
def test_long_numbers_are_shown_by_shape(number: str, shown: str) -> None:
    assert label_python(number)[0] == [[(shown, "NUMBER")]]


def test_positions_after_characters_of_several_bytes() -> None:
    assert labelled("f('é€', größe=x.y)[0]") == parsed(
        "f/call (/call-bracket '/string ,/argument-comma größe/keyword-argument =/keyword-equals x/global "
        "./dot y/attribute )/call-bracket [/subscript-bracket 0/literal ]/subscript-bracket"
    )


def test_comments_between_statements_and_layout_are_left_out() -> None:
    source = "# one\nif x:\n    # two\n\n    y  # three\n# four\n"
    assert [[text for text, _ in line] for line in labelled(source)] == [["if", "x", ":"], ["y", "#"]]
