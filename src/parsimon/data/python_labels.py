"""The syntactic role of every token in Python source, derived from the syntax tree.

`label_python` labels every token with a role that its text alone does not determine: whether a name is called,
bound, imported or caught; whether `:` opens a block, is part of a slice or separates a key from its value; whether
`*` multiplies or unpacks. The roles come from `ast` (python_roles.py) and the tokens from `tokenize`
(python_tokens.py); they are aligned by their positions in the source. `parsimon.data.python_code` builds a corpus
from them.
"""

from __future__ import annotations

import ast
import sys
import tokenize
import warnings

from parsimon.data.python_roles import RoleVisitor
from parsimon.data.python_tokens import PythonTokens
from parsimon.errors import ParsimonError

LABELS: dict[str, str] = {
    # names that define something
    "function-def": "the name of a function in its def",
    "method-def": "the name of a method in its def, directly inside a class",
    "class-def": "the name of a class in its definition",
    "parameter": "a parameter in the signature of a function or lambda",
    "local-store": "a variable of a function being bound",
    "global-store": "a variable of the module being bound",
    "attribute-store": "an attribute being bound: self.x = 1, or x = 1 in the body of a class",
    "loop-variable": "a variable bound by a for loop or a comprehension, and its uses in that comprehension",
    # names that refer to something
    "call": "the name of what is called: f in f(x)",
    "method-call": "the attribute that is called: m in a.m(x)",
    "keyword-argument": "the name of an argument in a call: key in f(key=x)",
    "attribute": "an attribute being read: b in a.b",
    "local": "a variable or parameter of a function being read",
    "global": "a module-level or built-in name being read",
    "module": "a module: in an import, or where an imported module is used",
    "import-name": "a name imported from a module, or its alias",
    "exception": "an exception class in raise or except",
    "base-class": "a class that another one inherits from",
    "decorator": "a decorator, including its @",
    "annotation": "a name or string in a type annotation, and the : or -> before it",
    # words and literals
    "keyword": "a keyword of a statement",
    "expression-keyword": "a keyword in an expression: lambda, await, yield, for or if in a comprehension",
    "literal": "a number, True, False, None or ...",
    "docstring": "the string that documents a module, class or function",
    "format-string": "a string with placeholders: f'...', '...' % x, '...'.format(x)",
    "key": "a string that is a dictionary key or a subscript",
    "string": "any other string",
    "comment": "a comment inside or at the end of a logical line",
    # operators and punctuation
    "assign": "= that binds a variable, or an augmented assignment such as +=",
    "keyword-equals": "= before a keyword argument's value or a parameter's default",
    "block-colon": ": that opens a block or a lambda's body",
    "slice-colon": ": between the bounds of a slice",
    "dict-colon": ": between a dictionary key and its value",
    "binary-operator": "an operator between two operands, including comparisons, and, or, in, is",
    "unary-operator": "an operator before its only operand: -x, not x",
    "unpack": "* or ** that unpacks a sequence or mapping",
    "parameter-star": "*, ** or / in a signature",
    "dot": "the dot before an attribute or in a module path",
    "argument-comma": "the comma between arguments or parameters",
    "separator": "any other comma, and the semicolon",
    "call-bracket": "the parentheses of a call",
    "signature-bracket": "the parentheses after def f or class C",
    "subscript-bracket": "the brackets of a subscript or slice",
    "display-bracket": "the brackets that build a list, tuple, dictionary or set",
    "group-bracket": "parentheses that only group",
}
"""The meaning of every label."""

Sequences = list[list[tuple[str, str]]]
LabelSequences = list[list[str]]


def label_python(source: str, filename: str = "<source>") -> tuple[Sequences, LabelSequences]:
    """The tokens of Python source as (text, type) pairs, one sequence per logical line, and their labels.

    The type is from `tokenize`: NAME, OP, NUMBER, STRING or COMMENT. A string is shortened to its prefix and opening
    quote, a comment to `#`, and a long number to its shape. An f-string is a single STRING on every version of
    Python. Indentation and comments on separate lines between statements are left out.

    >>> X, y = label_python("total = sum(x for x in row)")
    >>> [text for text, kind in X[0]]
    ['total', '=', 'sum', '(', 'x', 'for', 'x', 'in', 'row', ')']
    >>> y[0][:5]
    ['global-store', 'assign', 'call', 'call-bracket', 'loop-variable']
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in old code do not matter here
            tree = ast.parse(source)
        tokens = PythonTokens.read(source)
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError) as error:
        raise ParsimonError(
            f"{filename} does not parse as Python {sys.version_info[0]}.{sys.version_info[1]} ({error}); "
            "give the source of a valid module."
        ) from error
    labels = RoleVisitor(tokens).run(tree, filename)
    X = [[(tokens.text[i], tokens.kind[i]) for i in line] for line in tokens.lines]
    return X, [[labels[i] for i in line] for line in tokens.lines]
