"""The roles of tokens in constructs of Python, against snippets labelled by hand."""

from __future__ import annotations

import ast
import sys

import pytest

from labelled_python import labelled, of, parsed
from parsimon.data.python_roles import RoleVisitor
from parsimon.data.python_tokens import PythonTokens
from parsimon.errors import ParsimonError


def test_a_name_without_a_role_is_refused_with_its_line() -> None:
    tokens = PythonTokens.read("pass\nx\n")
    with pytest.raises(
        ParsimonError, match=r"m\.py, line 2: 'x' is part of a Python construct that has no labels"
    ):
        RoleVisitor(tokens).run(ast.parse("pass"), "m.py")  # a tree that does not contain the name


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
