"""What each token of a Python source *is*, read off its syntax tree.

`label_python` pairs every token with a role that its text alone does not tell: whether a name is called,
bound, imported or caught; whether `:` opens a block, cuts a slice or separates a key from its value; whether
`*` multiplies or unpacks. The roles come from `ast` (python_roles.py), the tokens from `tokenize`
(python_tokens.py), and the two meet at their positions in the source. `parsimon.data.python_code` makes a corpus
of it.
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
    "function-def": "the name that a def gives to a function",
    "method-def": "the name that a def directly inside a class gives to a method",
    "class-def": "the name of a class being defined",
    "parameter": "a parameter in the signature of a function or lambda",
    "local-store": "a variable of a function being bound",
    "global-store": "a variable of the module being bound",
    "attribute-store": "an attribute being bound: self.x = 1, or x = 1 in the body of a class",
    "loop-variable": "a variable bound by a for loop or a comprehension, and its uses in that comprehension",
    # names that refer to something
    "call": "the plain name of what is called: f in f(x)",
    "method-call": "the attribute that is called: m in a.m(x)",
    "keyword-argument": "the name of an argument where it is passed: key in f(key=x)",
    "attribute": "an attribute being read: b in a.b",
    "local": "a variable of a function being read, its parameters included",
    "global": "a name of the module or a built-in one being read",
    "module": "a module: in an import, or where an imported module is used",
    "import-name": "a name imported from a module, or its alias",
    "exception": "an exception class in raise or except",
    "base-class": "a class that another one inherits from",
    "decorator": "a decorator, with its @",
    "annotation": "a name or string in a type annotation, and the : or -> before it",
    # words and literals
    "keyword": "a keyword that builds a statement",
    "expression-keyword": "a keyword in an expression: lambda, await, yield, for or if in a comprehension",
    "literal": "a number, True, False, None or ...",
    "docstring": "the string that documents a module, class or function",
    "format-string": "a string with holes: f'...', '...' % x, '...'.format(x)",
    "key": "a string that is a dictionary's key or a subscript",
    "string": "any other string",
    "comment": "a comment within or at the end of a logical line",
    # signs
    "assign": "= that binds a variable, and += and the like",
    "keyword-equals": "= that passes an argument by name or gives a parameter its default",
    "block-colon": ": that opens a block or a lambda's body",
    "slice-colon": ": between the bounds of a slice",
    "dict-colon": ": between a dictionary's key and its value",
    "binary-operator": "an operator between two operands, comparisons, and, or, in, is included",
    "unary-operator": "an operator before its one operand: -x, not x",
    "unpack": "* or ** that unpacks a sequence or mapping",
    "parameter-star": "*, ** or / in a signature",
    "dot": "the dot of an attribute or of a module's path",
    "argument-comma": "the comma between arguments or parameters",
    "separator": "any other comma, and the semicolon",
    "call-bracket": "the parentheses of a call",
    "signature-bracket": "the parentheses after def f or class C",
    "subscript-bracket": "the brackets of a subscript or slice",
    "display-bracket": "the brackets that build a list, tuple, dictionary or set",
    "group-bracket": "parentheses that only group",
}
"""Every label with its meaning."""

Sequences = list[list[tuple[str, str]]]
LabelSequences = list[list[str]]


def label_python(source: str, filename: str = "<source>") -> tuple[Sequences, LabelSequences]:
    """The tokens of a Python source as (text, type) pairs, one sequence a logical line, and their labels.

    The type is `tokenize`'s: NAME, OP, NUMBER, STRING or COMMENT. The text of a string is its prefix and
    opening quote, that of a comment `#`, that of a long number its shape. An f-string is one STRING on every
    version of Python. Indentation, and comments on lines of their own between statements, are left out.

    >>> X, y = label_python("total = sum(x for x in row)")
    >>> [text for text, kind in X[0]]
    ['total', '=', 'sum', '(', 'x', 'for', 'x', 'in', 'row', ')']
    >>> y[0][:5]
    ['global-store', 'assign', 'call', 'call-bracket', 'loop-variable']
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an old source's odd escapes are no concern of the reader's
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
