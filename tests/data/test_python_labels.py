"""The labels of tokens, against snippets labelled by hand and against counts of the syntax tree's nodes."""

from __future__ import annotations

import argparse
import ast
import asyncio.base_events
import collections
import dataclasses
import functools
import io
import tokenize
from types import ModuleType

import pytest

from labelled_python import labelled, parsed
from parsimon.data.python_labels import LABELS, label_python
from parsimon.errors import ParsimonError

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
