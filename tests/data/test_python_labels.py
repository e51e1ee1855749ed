"""The labels of tokens, against snippets labelled by hand and against counts of the syntax tree's nodes."""

from __future__ import annotations

import argparse
import ast
import asyncio.base_events
import collections
import dataclasses
import functools
import io
import sys
import textwrap
import tokenize
from types import ModuleType

import pytest

from parsimon.data.python_labels import LABELS, label_python
from parsimon.errors import ParsimonError


def labelled(source: str) -> list[list[tuple[str, str]]]:
    """(text, label) of every token, line by line."""
    X, y = label_python(textwrap.dedent(source))
    return [
        [(token[0], label) for token, label in zip(tokens, labels, strict=True)]
        for tokens, labels in zip(X, y, strict=True)
    ]


def parsed(expected: str) -> list[list[tuple[str, str]]]:
    """The same from text/label pairs, a line of them for every logical line."""
    pairs = [
        [pair.rsplit("/", 1) for pair in line.split()] for line in textwrap.dedent(expected).splitlines()
    ]
    return [[(text, label) for text, label in line] for line in pairs if line]


def of(source: str, text: str) -> list[str]:
    """The labels of all tokens with this text."""
    return [label for line in labelled(source) for shown, label in line if shown == text]


MODULE = '''
    """What it does."""
    import os.path as osp, sys
    from ..base import (Base, VALUES as V)  # why
    from . import text
    LIMIT: int = -10
    table = {"a": osp.join, **V}

    @osp.register(LIMIT)
    class Reader(Base, text.Mixin, metaclass=type):
        \'\'\'Reads.\'\'\'
        size = 3

        def read(self, path, *rest: "Path", sep=",", **options) -> None:
            for i, line in enumerate(open(path)):
                if not line in self.seen and i * 2 < len(line[1:-1]):
                    self.last = line.split(sep)[0]
            try:
                return [x for x in rest if x] or None
            except (OSError, text.Error) as error:
                raise ValueError("no %s" % path) from error

    def walk(a, /, b=table["k"]):
        global LIMIT
        LIMIT += len(*a); total = (a + b)
        yield lambda n, m=1: n if m else f"{n}"
        print("x" "y", 1234567, key=sys, *(total, a))
'''

MODULE_LABELS = '''
    """/docstring
    import/keyword os/module ./dot path/module as/keyword osp/module ,/separator sys/module
    from/keyword ./dot ./dot base/module import/keyword (/group-bracket Base/import-name ,/separator \
        VALUES/import-name as/keyword V/import-name )/group-bracket #/comment
    from/keyword ./dot import/keyword text/import-name
    LIMIT/global-store :/annotation int/annotation =/assign -/unary-operator 10/literal
    table/global-store =/assign {/display-bracket "/key :/dict-colon osp/module ./dot join/attribute \
        ,/separator **/unpack V/global }/display-bracket
    @/decorator osp/decorator ./dot register/decorator (/call-bracket LIMIT/global )/call-bracket
    class/keyword Reader/class-def (/signature-bracket Base/base-class ,/argument-comma text/module ./dot \
        Mixin/base-class ,/argument-comma metaclass/keyword-argument =/keyword-equals type/global \
        )/signature-bracket :/block-colon
    \'\'\'/docstring
    size/attribute-store =/assign 3/literal
    def/keyword read/method-def (/signature-bracket self/parameter ,/argument-comma path/parameter \
        ,/argument-comma */parameter-star rest/parameter :/annotation "/annotation ,/argument-comma \
        sep/parameter =/keyword-equals "/string ,/argument-comma **/parameter-star options/parameter \
        )/signature-bracket ->/annotation None/annotation :/block-colon
    for/keyword i/loop-variable ,/separator line/loop-variable in/keyword enumerate/call (/call-bracket \
        open/call (/call-bracket path/local )/call-bracket )/call-bracket :/block-colon
    if/keyword not/unary-operator line/local in/binary-operator self/local ./dot seen/attribute \
        and/binary-operator i/local */binary-operator 2/literal </binary-operator len/call (/call-bracket \
        line/local [/subscript-bracket 1/literal :/slice-colon -/unary-operator 1/literal \
        ]/subscript-bracket )/call-bracket :/block-colon
    self/local ./dot last/attribute-store =/assign line/local ./dot split/method-call (/call-bracket \
        sep/local )/call-bracket [/subscript-bracket 0/literal ]/subscript-bracket
    try/keyword :/block-colon
    return/keyword [/display-bracket x/loop-variable for/expression-keyword x/loop-variable \
        in/expression-keyword rest/local if/expression-keyword x/loop-variable ]/display-bracket \
        or/binary-operator None/literal
    except/keyword (/display-bracket OSError/exception ,/separator text/module ./dot Error/exception \
        )/display-bracket as/keyword error/local-store :/block-colon
    raise/keyword ValueError/exception (/call-bracket "/format-string %/binary-operator path/local \
        )/call-bracket from/keyword error/local
    def/keyword walk/function-def (/signature-bracket a/parameter ,/argument-comma //parameter-star \
        ,/argument-comma b/parameter =/keyword-equals table/global [/subscript-bracket "/key \
        ]/subscript-bracket )/signature-bracket :/block-colon
    global/keyword LIMIT/global
    LIMIT/global-store +=/assign len/call (/call-bracket */unpack a/local )/call-bracket ;/separator \
        total/local-store =/assign (/group-bracket a/local +/binary-operator b/local )/group-bracket
    yield/expression-keyword lambda/expression-keyword n/parameter ,/argument-comma m/parameter \
        =/keyword-equals 1/literal :/block-colon n/local if/expression-keyword m/local \
        else/expression-keyword f"/format-string
    print/call (/call-bracket "/string "/string ,/argument-comma #/literal ,/argument-comma \
        key/keyword-argument =/keyword-equals sys/module ,/argument-comma */unpack (/display-bracket \
        total/local ,/separator a/local )/display-bracket )/call-bracket
'''


def test_a_module_token_by_token() -> None:
    assert labelled(MODULE) == parsed(MODULE_LABELS)


def test_that_module_has_every_label() -> None:
    assert {label for line in parsed(MODULE_LABELS) for _, label in line} == set(LABELS)


@pytest.mark.parametrize(
    ("source", "text", "labels"),
    [
        # scopes: what a name refers to
        ("x = 1\ndef f():\n    return x", "x", ["global-store", "global"]),
        ("def f():\n    return x\n    x = 1", "x", ["local", "local-store"]),
        ("def f(x):\n    def g():\n        return x", "x", ["parameter", "local"]),
        (
            "class C:\n    x = 1\n    y = x\n    def f(self):\n        x",
            "x",
            ["attribute-store", "attribute", "global"],
        ),
        ("def f():\n    import os\n    os.getcwd", "os", ["module", "module"]),
        (
            "try:\n    import ssl\nexcept ImportError:\n    ssl = None\nssl",
            "ssl",
            ["module", "global-store", "module"],
        ),
        ("def f():\n    global n\n    n = 1\n    n", "n", ["global", "global-store", "global"]),
        (
            "def f(n):\n    def g():\n        nonlocal n\n        n = 1",
            "n",
            ["parameter", "local", "local-store"],
        ),
        ("def f(x):\n    [x for x in x]", "x", ["parameter", "loop-variable", "loop-variable", "local"]),
        ("def f(a):\n    {k: v for k in a for v in k}", "k", ["loop-variable"] * 3),
        ("def f(a):\n    [(y := x) for x in a]\n    y", "y", ["local-store", "local"]),
        ("def f(x):\n    del x", "x", ["parameter", "local"]),
        ("with f() as (a, b):\n    pass", "b", ["global-store"]),
        # roles of names
        ("def f(e):\n    raise e", "e", ["parameter", "local"]),
        ("raise KeyError", "KeyError", ["exception"]),
        ("@a.b\ndef f(): pass", "a", ["decorator"]),
        ("@a.b(c)\ndef f(): pass", "c", ["global"]),
        ("class C(a.B[T]): pass", "B", ["base-class"]),
        ("class C(a.B[T]): pass", "T", ["global"]),
        ("x: a.B[None, 'c'] = 1", "B", ["annotation"]),
        ("x: a.B[None, 'c'] = 1", "'", ["annotation"]),
        ("x: a.B[None, 'c'] = 1", "[", ["subscript-bracket"]),
        ("from a import *", "*", ["import-name"]),
        ("from ... import a", "...", ["dot"]),
        ("x = ...", "...", ["literal"]),
        ("(f)(x)", "f", ["call"]),
        ("async def f(): await g()", "f", ["function-def"]),
        # keywords
        ("[x async for x in y]", "async", ["expression-keyword"]),
        ("for x in y: pass\nelse: pass", "in", ["keyword"]),
        ("x is not y", "not", ["binary-operator"]),
        ("def f(): yield from x", "from", ["expression-keyword"]),
        ("a = (b) if (c) else (d)", "if", ["expression-keyword"]),
        # strings
        ("def f():\n    'doc'\n    'no doc'", "'", ["docstring", "string"]),
        ("'{}'.format(x)", "'", ["format-string"]),
        ("x % 'a'", "'", ["string"]),
        ("{'a': 'b'}['c']", "'", ["key", "string", "key"]),
        ("a = rb'x' rb'y'", "rb'", ["string", "string"]),
        # signs
        ("f((x for x in y))", "(", ["call-bracket", "group-bracket"]),
        ("f(a for a, b in c)", ",", ["separator"]),
        ("f([a for a, b in c], d)", ",", ["separator", "argument-comma"]),
        ("(f)(x)", "(", ["group-bracket", "call-bracket"]),
        ("(a), (b)", "(", ["group-bracket", "group-bracket"]),
        ("((a, b), c)", "(", ["display-bracket", "display-bracket"]),
        ("x = ()", "(", ["display-bracket"]),
        ("a[b][c:d, ::e]", ":", ["slice-colon"] * 3),
        ("{1: lambda: 0}", ":", ["dict-colon", "block-colon"]),
        ("a[lambda x: x]", ":", ["block-colon"]),
        ("f = lambda x=lambda y: y: x", ":", ["block-colon", "block-colon"]),
        ("f = lambda x=1: x", "=", ["assign", "keyword-equals"]),
        ("f = lambda *a, **k: a", "*", ["parameter-star"]),
        ("def f(a=2 * 3, *, b): pass", "*", ["binary-operator", "parameter-star"]),
        ("def f(a, # why\n  *b): pass", "*", ["parameter-star"]),
        ("a, *b = c * d", "*", ["unpack", "binary-operator"]),
        ("f(**a)", "**", ["unpack"]),
        ("{**a, 'b': 2 ** 3}", "**", ["unpack", "binary-operator"]),
        ("a @ b", "@", ["binary-operator"]),
        ("try: pass\nexcept* A: pass", "*", ["keyword"]),
        ("a == b <= c", "==", ["binary-operator"]),
        ("a >>= b", ">>=", ["assign"]),
        ("f(a, # why\n  b)", "#", ["comment"]),
    ],
)
def test_one_role(source: str, text: str, labels: list[str]) -> None:
    assert of(source, text) == labels


def test_patterns() -> None:
    source = """
        def f(match):
            match match:
                case Point(x=0, y=[a, *_]) | (None as a): pass
                case {"k": v, **rest}: pass
                case (m.RED, -1 | "s"): pass
                case _: return rest
    """
    expected = """
        def/keyword f/function-def (/signature-bracket match/parameter )/signature-bracket :/block-colon
        match/keyword match/local :/block-colon
        case/keyword Point/call (/call-bracket x/keyword-argument =/keyword-equals 0/literal \
            ,/argument-comma y/keyword-argument =/keyword-equals [/display-bracket a/local-store \
            ,/separator */unpack _/keyword ]/display-bracket )/call-bracket |/binary-operator \
            (/group-bracket None/literal as/keyword a/local-store )/group-bracket :/block-colon pass/keyword
        case/keyword {/display-bracket "/key :/dict-colon v/local-store ,/separator **/unpack \
            rest/local-store }/display-bracket :/block-colon pass/keyword
        case/keyword (/display-bracket m/global ./dot RED/attribute ,/separator -/unary-operator 1/literal \
            |/binary-operator "/string )/display-bracket :/block-colon pass/keyword
        case/keyword _/keyword :/block-colon return/keyword rest/local
    """
    assert labelled(source) == parsed(expected)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters() -> None:
    source = """
        type Pair[T: (int, str), *Ts] = tuple[T, T]
        class C[T](Base[T]):
            def f[U](self, x: U) -> "T": return type
    """
    expected = """
        type/keyword Pair/global-store [/signature-bracket T/annotation :/annotation (/display-bracket \
            int/annotation ,/separator str/annotation )/display-bracket ,/argument-comma */parameter-star \
            Ts/annotation ]/signature-bracket =/assign tuple/annotation [/subscript-bracket T/annotation \
            ,/separator T/annotation ]/subscript-bracket
        class/keyword C/class-def [/signature-bracket T/annotation ]/signature-bracket (/signature-bracket \
            Base/base-class [/subscript-bracket T/global ]/subscript-bracket )/signature-bracket :/block-colon
        def/keyword f/method-def [/signature-bracket U/annotation ]/signature-bracket (/signature-bracket \
            self/parameter ,/argument-comma x/parameter :/annotation U/annotation )/signature-bracket \
            ->/annotation "/annotation :/block-colon return/keyword type/global
    """
    assert labelled(source) == parsed(expected)


@pytest.mark.skipif(sys.version_info < (3, 14), reason="template strings came with Python 3.14")
def test_template_string() -> None:
    assert labelled('x = t"{a} b"') == parsed('x/global-store =/assign t"/format-string')


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


def test_an_empty_source_has_no_lines() -> None:
    assert label_python("# nothing\n") == ([], [])


@pytest.mark.parametrize("source", ["def f(:", "x = 'abc", "a b", "x\0y", "(" * 1000])
def test_what_does_not_parse_is_refused(source: str) -> None:
    with pytest.raises(ParsimonError, match=r"mine\.py does not parse as Python 3\.\d+ .*valid module\.$"):
        label_python(source, "mine.py")


def _plain_tokens(source: str) -> list[str]:
    """Names and operators outside of f-strings."""
    out, nesting = [], 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        nesting += name.endswith("STRING_START") - name.endswith("STRING_END")
        if not nesting and name in ("NAME", "OP"):
            out.append(token.string)
    return out


def _nodes(node: ast.AST) -> collections.Counter[str]:
    """How many nodes of each class there are outside of f-strings."""
    counts = collections.Counter([type(node).__name__])
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.JoinedStr):
            counts += _nodes(child)
    return counts


@pytest.mark.parametrize("module", [argparse, asyncio.base_events, collections, dataclasses, functools])
def test_real_modules_agree_with_their_syntax_tree(module: ModuleType) -> None:
    with tokenize.open(str(module.__file__)) as file:
        source = file.read()
    X, y = label_python(source)
    assert [text for line in X for text, kind in line if kind in ("NAME", "OP")] == _plain_tokens(source)
    assert list(map(len, X)) == list(map(len, y))
    labels = collections.Counter(label for line in y for label in line)
    nodes = _nodes(ast.parse(source))
    assert set(labels) <= set(LABELS)
    assert labels["function-def"] + labels["method-def"] == nodes["FunctionDef"] + nodes["AsyncFunctionDef"]
    assert labels["class-def"] == nodes["ClassDef"]
    assert labels["parameter"] == nodes["arg"]
    assert labels["subscript-bracket"] == 2 * nodes["Subscript"]
    assert labels["call-bracket"] == 2 * (nodes["Call"] + nodes["MatchClass"])
    assert labels["unary-operator"] == nodes["UnaryOp"]
