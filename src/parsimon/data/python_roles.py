"""The role of every token in Python source, found in one pass over its syntax tree."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable, Iterable

from parsimon.data.python_scopes import Scope
from parsimon.data.python_tokens import Located, Position, PythonTokens
from parsimon.errors import ParsimonError

_EXPRESSION_KEYWORDS = {"lambda", "await", "yield"}
_OPERATOR_WORDS = {"and", "or", "not", "in", "is"}
_LITERAL_WORDS = {"True", "False", "None"}
_COMPARISONS = {"==", "!=", "<=", ">="}


def _default_label(tokens: PythonTokens, i: int) -> str | None:
    """The label that a token and its enclosing bracket suggest; None for a name, which needs the syntax tree."""
    text, kind = tokens.text[i], tokens.kind[i]
    if kind == "NAME":
        return _word_label(text) if keyword.iskeyword(text) else None
    if kind != "OP":
        return {"STRING": "string", "NUMBER": "literal", "COMMENT": "comment"}[kind]
    if text in "()":
        return "group-bracket"
    if text in "[]{}":
        return "display-bracket"
    enclosing = tokens.bracket[i]
    if text == ":":
        opening = tokens.text[enclosing] if enclosing >= 0 else ""
        return {"{": "dict-colon", "[": "slice-colon"}.get(opening, "block-colon")
    if text == "=":
        return "assign" if enclosing < 0 else "keyword-equals"
    if text.endswith("=") and text not in _COMPARISONS:
        return "assign"
    signs = {",": "separator", ";": "separator", ".": "dot", "...": "literal", "->": "annotation"}
    return signs.get(text, "binary-operator")


def _word_label(word: str) -> str:
    if word in _LITERAL_WORDS:
        return "literal"
    if word in _OPERATOR_WORDS:
        return "binary-operator"
    return "expression-keyword" if word in _EXPRESSION_KEYWORDS else "keyword"


class RoleVisitor(ast.NodeVisitor):
    """Walks the tree once and labels the tokens; what a name refers to is resolved at the end."""

    def __init__(self, tokens: PythonTokens) -> None:
        self.tokens = tokens
        self.labels = [_default_label(tokens, i) for i in range(len(tokens.text))]
        self.scope = Scope("module")
        self.uses: list[tuple[int, str, Scope, str]] = []  # token, name, scope, label when it is global

    def run(self, tree: ast.Module, filename: str) -> list[str]:
        """The label of every token."""
        self._body(tree)
        for i, name, scope, if_global in self.uses:
            if self.labels[i] is None:
                label = scope.resolve(name)
                self.labels[i] = if_global if label == "global" else label
        done: list[str] = []
        for i, label_or_none in enumerate(self.labels):
            if label_or_none is None:
                where = f"{filename}, line {self.tokens.row[i]}"
                raise ParsimonError(
                    f"{where}: {self.tokens.text[i]!r} is part of a Python construct that has no labels; "
                    "leave this file out."
                )
            done.append(label_or_none)
        return done

    # -- marking tokens ------------------------------------------------------------------------------------

    def _mark(self, i: int, label: str) -> None:
        self.labels[i] = label

    def _mark_if(self, span: Iterable[int], wanted: Callable[[int], bool], label: str) -> None:
        for i in span:
            if wanted(i):
                self.labels[i] = label

    def _mark_strings(self, node: ast.expr, label: str) -> None:
        self._mark_if(self.tokens.span(node), lambda i: self.tokens.kind[i] == "STRING", label)

    def _mark_bracket(self, i: int, label: str) -> None:
        self.labels[i] = self.labels[self.tokens.partner[i]] = label

    def _mark_commas(self, span: Iterable[int], enclosing: int) -> None:
        bracket, text = self.tokens.bracket, self.tokens.text
        self._mark_if(span, lambda i: bracket[i] == enclosing and text[i] == ",", "argument-comma")

    def _mark_last_name(self, node: ast.expr, label: str) -> None:
        """Mark `c` in a reference like `a.b.c`, `a.b.c[T]` or `a.b.c(x)`."""
        while isinstance(node, ast.Subscript | ast.Call):
            node = node.value if isinstance(node, ast.Subscript) else node.func
        if isinstance(node, ast.Name | ast.Attribute):
            self._mark(self.tokens.last(node), label)

    def _visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    # -- definitions ---------------------------------------------------------------------------------------

    def _body(self, node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._visit_all(node.body)
        head = node.body[0] if node.body else None
        if isinstance(head, ast.Expr) and _is_text(head.value):
            self._mark_strings(head.value, "docstring")

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """`def f[T](a, *b: int, c=0, **d) -> int: ...`."""
        tokens = self.tokens
        self._decorators(node.decorator_list)
        name = tokens.first(node) + (2 if isinstance(node, ast.AsyncFunctionDef) else 1)
        self._mark(name, "method-def" if self.scope.kind == "class" else "function-def")
        self.scope.bind(node.name)
        opening = self._type_parameters(node, name)
        self._mark_bracket(opening, "signature-bracket")
        self._signature(range(opening, tokens.partner[opening]), opening)
        self._annotation(node.returns)
        outer, inner = self.scope, Scope("function", self.scope)
        self._parameters(node.args, inner)
        self.scope = inner
        self._body(node)
        self.scope = outer

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """`lambda a, b=0: a + b`."""
        opening, colon = self.tokens.first(node), self.tokens.before(node.body)
        self._signature(range(opening, colon), self.tokens.bracket[opening])
        self._mark(colon, "block-colon")
        outer, inner = self.scope, Scope("function", self.scope)
        self._parameters(node.args, inner)
        self.scope = inner
        self.visit(node.body)
        self.scope = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """`class C[T](Base, metaclass=M): ...`."""
        tokens = self.tokens
        self._decorators(node.decorator_list)
        name = tokens.first(node) + 1
        self._mark(name, "class-def")
        self.scope.bind(node.name)
        opening = self._type_parameters(node, name)
        if tokens.text[opening] == "(":
            self._mark_bracket(opening, "signature-bracket")
            self._mark_commas(range(opening, tokens.partner[opening]), opening)
        self._visit_all([*node.bases, *node.keywords])
        for base in node.bases:
            self._mark_last_name(base, "base-class")
        self.scope = Scope("class", self.scope)
        self._body(node)
        self.scope = self.scope.parent or self.scope

    def _decorators(self, decorators: list[ast.expr]) -> None:
        for node in decorators:
            self._mark(self.tokens.before(node), "decorator")
            self.visit(node)
            part = node.func if isinstance(node, ast.Call) else node
            while isinstance(part, ast.Attribute):
                self._mark(self.tokens.last(part), "decorator")
                part = part.value
            self._mark_last_name(part, "decorator")

    def _signature(self, span: range, enclosing: int) -> None:
        """Mark commas, stars and the = before defaults, between `(` and `)` or between `lambda` and `:`."""
        text = self.tokens.text
        self._mark_commas(span, enclosing)
        previous = ""
        for i in span:
            if self.tokens.bracket[i] == enclosing:
                if text[i] == "=":
                    self._mark(i, "keyword-equals")
                elif text[i] in ("*", "**", "/") and previous in ("(", ",", "lambda"):
                    self._mark(i, "parameter-star")
            previous = previous if text[i] == "#" else text[i]

    def _parameters(self, arguments: ast.arguments, inner: Scope) -> None:
        """Bind parameters in the function's scope; defaults and annotations belong to the enclosing one."""
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for arg in [*named, arguments.vararg, arguments.kwarg]:
            if arg is not None:
                i = self.tokens.first(arg)
                self._mark(i, "parameter")
                inner.bind(arg.arg)
                if arg.annotation is not None:
                    self._mark(self.tokens.next(i), "annotation")
                    self._annotation(arg.annotation)
        self._visit_all([*arguments.defaults, *arguments.kw_defaults])

    def _type_parameters(self, node: ast.stmt, name: int) -> int:
        """Mark `[T: Bound]` after the name in a definition (Python 3.12), if any; return the next token."""
        following = self.tokens.next(name)
        parameters: list[ast.AST] = getattr(node, "type_params", [])
        if not parameters:
            return following
        closing = self.tokens.partner[following]
        span, text = range(following, closing), self.tokens.text
        self._visit_all(parameters)
        self._mark_bracket(following, "signature-bracket")
        self._signature(span, following)
        self._mark_if(span, self._names_a_type, "annotation")
        self._mark_if(span, lambda i: self.tokens.bracket[i] == following and text[i] == ":", "annotation")
        self._mark_if(
            span, lambda i: text[i] in ("*", "**") and text[i - 1] in ("[", ",", "#"), "parameter-star"
        )
        return self.tokens.next(closing)

    def _annotation(self, node: ast.expr | None) -> None:
        if node is not None:
            self.visit(node)
            self._mark_if(self.tokens.span(node), self._names_a_type, "annotation")

    def _names_a_type(self, i: int) -> bool:
        return self.tokens.is_name(i) or self.tokens.kind[i] == "STRING" or self.tokens.text[i] == "None"

    # -- statements ----------------------------------------------------------------------------------------

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """`x: int = 0`."""
        self.visit(node.target)
        self._mark(self.tokens.after(node.target), "annotation")
        self._annotation(node.annotation)
        self._visit_all([node.value])

    def visit_TypeAlias(self, node: ast.AST) -> None:
        """`type Pair[T] = tuple[T, T]` (Python 3.12)."""
        assert isinstance(node, ast.stmt)
        name: ast.Name = getattr(node, "name")  # noqa: B009 - Python 3.11 does not have this class
        self._mark(self.tokens.first(node), "keyword")
        self.visit(name)
        self._type_parameters(node, self.tokens.first(name))
        self._annotation(getattr(node, "value"))  # noqa: B009

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        """`for x in xs: ...`."""
        self._loop_target(node.target)
        self._mark(self.tokens.before(node.iter), "keyword")
        self._visit_all([node.iter, *node.body, *node.orelse])

    visit_AsyncFor = visit_For

    def _loop_target(self, target: ast.expr) -> None:
        self.visit(target)
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self._mark(self.tokens.first(part), "loop-variable")

    def visit_Import(self, node: ast.Import) -> None:
        """`import a.b as c`."""
        for alias in node.names:
            self.scope.bind(alias.asname or alias.name.split(".")[0], "module")
        self._mark_if(self.tokens.span(node), self.tokens.is_name, "module")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from ..a.b import c as d`; `from . import a` usually imports a module."""
        tokens = self.tokens
        for alias in node.names:
            self.scope.bind(alias.asname or alias.name, None if node.module else "module")
            self._mark_if(
                tokens.span(alias), lambda i: tokens.is_name(i) or tokens.text[i] == "*", "import-name"
            )
        path = range(tokens.first(node), tokens.before(node.names[0]))
        self._mark_if(path, tokens.is_name, "module")
        self._mark_if(path, lambda i: tokens.text[i] == "...", "dot")

    def visit_Raise(self, node: ast.Raise) -> None:
        """`raise Error(x) from cause`; in `raise error`, a local name is a variable, not a class."""
        if isinstance(node.exc, ast.Name):
            self.uses.append((self.tokens.first(node.exc), node.exc.id, self.scope, "exception"))
        elif node.exc is not None:
            self.visit(node.exc)
            self._mark_last_name(node.exc, "exception")
        self._visit_all([node.cause])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """`except* (A, b.C) as error: ...`."""
        tokens = self.tokens
        star = tokens.next(tokens.first(node))
        if tokens.text[star] == "*":
            self._mark(star, "keyword")
        if node.type is not None:
            self.visit(node.type)
            for kind in node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]:
                self._mark_last_name(kind, "exception")
            if node.name is not None:
                self._mark(tokens.next(tokens.after(node.type)), self.scope.bind(node.name))
        self._visit_all(node.body)

    def visit_Global(self, node: ast.Global) -> None:
        """`global a, b`."""
        self.scope.global_names.update(node.names)
        self._mark_if(self.tokens.span(node), self.tokens.is_name, "global")

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """`nonlocal a, b`."""
        self._mark_if(self.tokens.span(node), self.tokens.is_name, "local")

    # -- expressions ---------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> None:
        """A variable, bound or read."""
        i = self.tokens.first(node)
        if isinstance(node.ctx, ast.Store):
            self._mark(i, self.scope.bind(node.id))
        else:
            self.uses.append((i, node.id, self.scope, "global"))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """`(x := 0)` binds in the scope around the comprehensions that contain it."""
        scope = self.scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        self._mark(self.tokens.first(node.target), scope.bind(node.target.id))
        self.visit(node.value)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """`a.b`."""
        self.visit(node.value)
        stored = isinstance(node.ctx, ast.Store)
        self._mark(self.tokens.last(node), "attribute-store" if stored else "attribute")

    def visit_Call(self, node: ast.Call) -> None:
        """`f(x, *xs, key=y)`."""
        tokens, function = self.tokens, node.func
        self._visit_all([function, *node.args, *node.keywords])
        if isinstance(function, ast.Name):
            self._mark(tokens.first(function), "call")
        elif isinstance(function, ast.Attribute):
            self._mark(tokens.last(function), "method-call")
            if function.attr in ("format", "format_map") and _is_text(function.value):
                self._mark_strings(function.value, "format-string")
        opening = tokens.after(function)
        self._mark_bracket(opening, "call-bracket")
        # In f(a for a, b in pairs), the generator shares the call's parentheses, and the comma belongs to a tuple.
        if not (len(node.args) == 1 and tokens.starts.get(_start(node.args[0])) == opening):
            self._mark_commas(range(opening, tokens.partner[opening]), opening)

    def visit_keyword(self, node: ast.keyword) -> None:
        """`key=x` or `**x` in a call."""
        self._mark(self.tokens.first(node), "unpack" if node.arg is None else "keyword-argument")
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """`a[i]`, `a[i:j]`."""
        self._visit_all([node.value, node.slice])
        self._mark_bracket(self.tokens.after(node.value), "subscript-bracket")
        if _is_text(node.slice):
            self._mark_strings(node.slice, "key")

    def visit_Tuple(self, node: ast.Tuple) -> None:
        """`(a, b)`: only parentheses that belong to the tuple, not those around its first element."""
        opening = self.tokens.first(node)
        if self.tokens.partner.get(opening) == self.tokens.last(node) and self.tokens.text[opening] == "(":
            self._mark_bracket(opening, "display-bracket")
        self._visit_all(node.elts)

    def visit_Dict(self, node: ast.Dict) -> None:
        """`{"a": b, **c}`."""
        for key, value in zip(node.keys, node.values, strict=True):
            self._visit_all([key, value])
            if key is None:
                self._mark(self.tokens.before(value), "unpack")
            elif _is_text(key):
                self._mark_strings(key, "key")

    def visit_Starred(self, node: ast.Starred) -> None:
        """`*xs`."""
        self._mark(self.tokens.first(node), "unpack")
        self.visit(node.value)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """`-x`, `not x`."""
        self._mark(self.tokens.first(node), "unary-operator")
        self.visit(node.operand)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """`a + b`; in `"%s" % a`, the left operand is a format string."""
        self._visit_all([node.left, node.right])
        if isinstance(node.op, ast.Mod) and _is_text(node.left):
            self._mark_strings(node.left, "format-string")

    def visit_JoinedStr(self, node: ast.expr) -> None:
        """`f"..."`, a single token regardless of its content."""
        self._mark_strings(node, "format-string")

    visit_TemplateStr = visit_JoinedStr  # t"...", Python 3.14

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        """`yield from xs`."""
        self._mark(self.tokens.next(self.tokens.first(node)), "expression-keyword")
        self.visit(node.value)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """`a if test else b`."""
        self._mark(self.tokens.before(node.test), "expression-keyword")
        self._mark(self.tokens.before(node.orelse), "expression-keyword")
        self._visit_all([node.body, node.test, node.orelse])

    def _comprehension(self, generators: list[ast.comprehension], elements: list[ast.expr]) -> None:
        self.visit(generators[0].iter)  # the first iterable is evaluated in the enclosing scope
        outer = self.scope
        self.scope = Scope("comprehension", outer)
        for n, part in enumerate(generators):
            for_word = self.tokens.before(part.target)
            words = [for_word, *map(self.tokens.before, [part.iter, *part.ifs])]
            for i in [*words, for_word - 1] if part.is_async else words:
                self._mark(i, "expression-keyword")
            self._loop_target(part.target)
            self._visit_all([part.iter, *part.ifs] if n else part.ifs)
        self._visit_all(elements)
        self.scope = outer

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        """`[x for x in xs if x]`."""
        self._comprehension(node.generators, [node.elt])

    visit_SetComp = visit_ListComp
    visit_GeneratorExp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> None:
        """`{k: v for k, v in items}`."""
        self._comprehension(node.generators, [node.key, node.value])

    # -- patterns ------------------------------------------------------------------------------------------

    def visit_Match(self, node: ast.Match) -> None:
        """`match x: case pattern: ...`, whose two soft keywords the tokeniser reports as names."""
        self._mark(self.tokens.first(node), "keyword")
        for case in node.cases:
            self._mark(self.tokens.before(case.pattern), "keyword")
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        """`x`, `pattern as x` or the wildcard `_`."""
        self._mark(self.tokens.last(node), self.scope.bind(node.name) if node.name else "keyword")
        self._visit_all([node.pattern])

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        """`*rest` or `*_`."""
        self._mark(self.tokens.first(node), "unpack")
        self._mark(self.tokens.last(node), self.scope.bind(node.name) if node.name else "keyword")

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        """`{"a": pattern, **rest}`."""
        self._visit_all([*node.keys, *node.patterns])
        for key in filter(_is_text, node.keys):
            self._mark_strings(key, "key")
        opening = self.tokens.first(node)
        for i in self.tokens.span(node):
            if node.rest and self.tokens.bracket[i] == opening and self.tokens.text[i] == "**":
                self._mark(i, "unpack")
                self._mark(self.tokens.next(i), self.scope.bind(node.rest))

    def visit_MatchSequence(self, node: ast.MatchSequence) -> None:
        """`(a, b)` or `[a, b]`."""
        opening = self.tokens.first(node)
        if self.tokens.partner.get(opening) == self.tokens.last(node):
            self._mark_bracket(opening, "display-bracket")
        self._visit_all(node.patterns)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        """`C(pattern, key=pattern)`, written as a call."""
        tokens = self.tokens
        self._visit_all([node.cls, *node.patterns, *node.kwd_patterns])
        self._mark_last_name(node.cls, "call" if isinstance(node.cls, ast.Name) else "method-call")
        opening = tokens.after(node.cls)
        span = range(opening, tokens.partner[opening])
        self._mark_bracket(opening, "call-bracket")
        self._mark_commas(span, opening)
        for i in span:
            if tokens.bracket[i] == opening and tokens.text[i] == "=":
                self._mark(i - 1, "keyword-argument")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _start(node: Located) -> Position:
    return node.lineno, node.col_offset
