"""The partial order of templates from coarse to fine, and its Hasse diagram as text (report/hasse_diagram.py draws it).

a ⪯ b says that template b should be in a model only if a is: parts of speech before words, parts of a
conjunction before the conjunction (Martins et al. 2011, section 3.1 and figure 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from parsimon.arrays import BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.features.arc_templates import ArcTemplates
from parsimon.features.templates import Template, TemplateSet
from parsimon.features.transforms import Transform

__all__ = ["Symbol", "TemplateOrder", "default_symbols"]

Symbol: TypeAlias = tuple[
    int, str
]  # a column and a transform of it: (0, "shape"); (1, "") is column 1 itself


# Columns of treebanks, coarse to fine; each before the word itself.
ARC_SYMBOLS = (
    ("upos", "xpos", "form"),
    ("upos", "feat", "feats", "form"),
    ("upos", "lemma", "lower", "form"),
    ("upos", "charclass", "shape", "form"),
    *(("upos", *(f"{affix}:{n}" for n in range(1, 6)), "form") for affix in ("prefix", "suffix")),
)


@dataclass(frozen=True, eq=False)
class TemplateOrder:
    """A partial order a ⪯ b ("b only if a") of templates: coarse to fine.

    `names` are the templates as written, in the order and under the names that a `TemplateFeatures` of the
    same templates gives them. Only templates of tokens are in the order: a label bigram, or another template
    of steps, is neither coarser nor finer than they are. `less[a, b]` is whether a ⪯ b.

    >>> from parsimon.features import TemplateSet
    >>> order = TemplateOrder.from_symbols(
    ...     TemplateSet.parse("U:p=%x[0,1]\\nU:w=%x[0,0]\\nU:pp=%x[-1,1]/%x[0,1]\\nU:ww=%x[-1,0]/%x[0,0]\\nB")
    ... )
    >>> print(order.to_text())
    4 templates from coarse to fine, each after those behind the arrow
    p
      w   ← p
      pp  ← p
        ww  ← w, pp
    >>> [order.names[b] for b in order.below("U:w=%x[0,0]")]
    ['U:w=%x[0,0]', 'U:ww=%x[-1,0]/%x[0,0]']
    """

    names: tuple[str, ...]
    less: BoolArray  # (n, n), reflexive, antisymmetric and transitive

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "less", np.asarray(self.less, dtype=bool))
        _check_order(self.names, self.less)

    @classmethod
    def from_symbols(
        cls, templates: TemplateSet, symbols: Sequence[Sequence[Symbol]] | None = None
    ) -> TemplateOrder:
        """The order that an order of symbols induces, as in figure 1 of Martins et al. 2011.

        A symbol is what a test looks at: a column and a transform. `symbols` are chains of them, each from
        coarse to fine: `[[(1, ""), (0, "")], [(0, "shape"), (0, "")]]` puts column 1 and the shape of the word
        before the word. Left out, it is `default_symbols(templates)`. A symbol that is in no chain is
        comparable with itself only, and no test at all comes before every symbol.

        a ⪯ b if each test of a has a test of b of its own, at the same place and at least as fine. ("Of its
        own" makes word ≺ word ∧ POS where POS ⪯ word.) A bias, without tests, comes before everything.
        Templates that share their attributes count as one: a ⪯ b if each template of b is finer than one of a.
        """
        chains = default_symbols(templates) if symbols is None else [_chain(chain) for chain in symbols]
        used = [(column, transform.spec) for column, transform in templates.inputs]
        known = dict.fromkeys(symbol for chain in [used, *chains] for symbol in chain)
        number = {symbol: i for i, symbol in enumerate(known)}
        steps = [(number[a], number[b]) for chain in chains for a, b in pairwise(chain)]
        at_least = _closure([str(symbol) for symbol in number], steps).tolist()

        shared: dict[str, list[Template]] = {}
        for template in templates:
            if template.of_labels:
                shared.setdefault(template.skeleton, []).append(template)
        looks = [[_looks(template, number) for template in group] for group in shared.values()]
        less = [
            [all(any(_finer(y, x, at_least) for x in coarse) for y in fine) for fine in looks]
            for coarse in looks
        ]
        names = tuple(group[0].source for group in shared.values())
        return cls(names, np.array(less, dtype=bool).reshape(len(names), len(names)))

    @classmethod
    def from_arcs(
        cls, templates: ArcTemplates, symbols: Sequence[Sequence[str]] = ARC_SYMBOLS
    ) -> TemplateOrder:
        """The same of templates of arcs; `symbols` are chains of columns, as templates name them, coarse to fine.

        Direction and length come before nothing but templates that have them too. By default parts of speech come
        before all else, and shapes, affixes, lemmas and lower-case forms before forms.

        >>> from parsimon.features.arc_templates import ArcTemplates
        >>> order = TemplateOrder.from_arcs(ArcTemplates.parse("h.upos+m.upos\\nh.upos+m.form\\nh.upos+m.form+dist"))
        >>> print(order.to_text())
        3 templates from coarse to fine, each after those behind the arrow
        h.upos+m.upos
          h.upos+m.form  ← h.upos+m.upos
            h.upos+m.form+dist  ← h.upos+m.form
        """
        used = [str(column) for column in templates.columns]
        number = {name: i for i, name in enumerate(dict.fromkeys(["", *used]))}
        chains = [[name for name in chain if name in number] for chain in symbols]
        steps = [(number[a], number[b]) for chain in chains for a, b in pairwise(chain)]
        at_least = _closure(list(number), steps).tolist()
        looks: list[_Looks] = []
        for template in templates:
            places: _Looks = {}
            for test in template.tests:
                symbol = number["" if test.column is None else str(test.column)]
                places.setdefault((test.place, test.offset), set()).add(symbol)
            looks.append(places)
        less = [[_finer(fine, coarse, at_least) for fine in looks] for coarse in looks]
        return cls(tuple(templates.names), np.array(less, bool).reshape(len(looks), len(looks)))

    @classmethod
    def from_pairs(cls, names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> TemplateOrder:
        """An order by hand: each pair (a, b) says a ⪯ b, and what follows from the pairs holds as well.

        >>> TemplateOrder.from_pairs(["x", "y", "z"], [("x", "y"), ("y", "z")]).below("x")
        array([0, 1, 2])
        """
        names = tuple(names)
        number = {name: i for i, name in enumerate(names)}
        steps = [(_find(number, a), _find(number, b)) for a, b in pairs]
        return cls(names, _closure(names, steps))

    def below(self, a: int | str) -> IntArray:
        """All b with a ⪯ b, a included: what must go when a goes."""
        return np.flatnonzero(self.less[self._number(a)])

    def above(self, b: int | str) -> IntArray:
        """All a with a ⪯ b, b included: what must stay when b stays."""
        return np.flatnonzero(self.less[:, self._number(b)])

    def covers(self) -> list[tuple[int, int]]:
        """The arcs of the Hasse diagram: a ≺ b with nothing in between."""
        strict = self.less & ~np.eye(len(self.names), dtype=bool)
        return [(int(a), int(b)) for a, b in np.argwhere(strict & ~_two_steps(strict))]

    def roots(self) -> IntArray:
        """The templates that come after no other."""
        return np.flatnonzero(self.less.sum(axis=0) == 1)

    def depth(self) -> IntArray:
        """The level of each template: 0 for a root, else one more than the deepest that comes before it."""
        depth = np.zeros(len(self.names), np.int64)
        # What comes before b has fewer before it than b has.
        for b in np.argsort(self.less.sum(axis=0), kind="stable").tolist():
            before = self.above(b)
            depth[b] = 1 + depth[before[before != b]].max(initial=-1)
        return depth

    def short_names(self) -> tuple[str, ...]:
        """What drawings call the templates: `word[0]` for `U:word[0]=%x[0,0]`."""
        short = [_short(name) for name in self.names]
        count = Counter(short)
        return tuple(s if count[s] == 1 else name for s, name in zip(short, self.names, strict=True))

    def to_text(self, kept: BoolArray | None = None) -> str:
        """A line a template, level by level, each with the templates that it comes right after.

        With `kept` (one truth value a template), ● marks templates that are kept and ○ those that are dropped.
        """
        kept = self.checked(kept)
        names, depth = self.short_names(), self.depth()
        before: list[list[str]] = [[] for _ in names]
        for a, b in self.covers():
            before[b].append(names[a])
        lines = [f"{tally(len(names), kept)} from coarse to fine, each after those behind the arrow"]
        for level in range(int(depth.max()) + 1):
            members = np.flatnonzero(depth == level).tolist()
            width = max(len(names[b]) for b in members)
            for b in members:
                mark = "" if kept is None else "● " if kept[b] else "○ "
                line = f"{'  ' * level}{mark}{names[b]:<{width}}"
                lines.append((f"{line}  ← {_listed(before[b])}" if before[b] else line).rstrip())
        return "\n".join(lines)

    def _number(self, template: int | str) -> int:
        if isinstance(template, str):
            return _find({name: i for i, name in enumerate(self.names)}, template)
        if not 0 <= template < len(self.names):
            raise ParsimonError(
                f"there is no template {template} in the order, they are numbered from 0 to {len(self.names) - 1}"
            )
        return template

    def checked(self, kept: BoolArray | None) -> BoolArray | None:
        """Which templates are kept, if that is one truth value for each; refused otherwise."""
        if kept is None:
            return None
        kept = np.asarray(kept)
        if kept.dtype != bool or kept.shape != (len(self.names),):
            raise ParsimonError(
                f"kept must be {len(self.names)} truth values, one a template, not {kept.dtype} of shape {kept.shape}"
            )
        return kept


# Families of transforms; what loses more comes first. (`case` and `charclass` are not quite lost in `shape`, which
# does not tell `A` from `IBM`; with their few values they are the coarser all the same.)
_FAMILIES = (
    ("lower", "lower-ascii"),
    ("lower-ascii",),
    ("case", "shape"),
    ("charclass", "shape"),
    ("has-digit", "shape"),
    ("has-punct", "shape"),
    ("shape",),
)


def default_symbols(templates: TemplateSet) -> list[list[Symbol]]:
    """Chains of the symbols that templates use, coarse to fine, for data whose columns are word, part of speech.

    Shorter prefixes and suffixes come before longer ones, indicators of case and the like before shapes, what
    a transform makes of a column before the column itself, and column 1 before column 0.

    >>> default_symbols(TemplateSet.parse("U0:%f[0,0,\\"shape\\"]\\nU1:%x[0,1]\\nU2:%x[0,0]"))
    [[(0, 'shape'), (0, '')], [(1, ''), (0, '')]]
    """
    used: dict[int, list[Transform]] = {}
    for column, transform in templates.inputs:
        used.setdefault(column, []).append(transform)
    chains: list[list[Symbol]] = []
    for column, transforms in sorted(used.items()):
        specs = {transform.spec for transform in transforms}
        for affix in ("prefix", "suffix"):
            lengths = sorted(int(transform.argument) for transform in transforms if transform.name == affix)
            chains.append([(column, f"{affix}:{length}") for length in lengths])
        for family in _FAMILIES:
            if family[0] in specs:
                chains.append([(column, spec) for spec in family if spec in specs])
        chains += [[(column, t.spec)] for t in transforms if t.name in ("test", "match", "match-lower")]
    chains = [[*chain, (chain[0][0], "")] for chain in chains if chain]
    return [*chains, [(1, ""), (0, "")]] if {0, 1} <= used.keys() else chains


# --- Building an order --------------------------------------------------------------------------------------

# Place (relation, or whether rows count from an end; row) → numbers of symbols.
_Looks: TypeAlias = dict[Any, set[int]]


def _chain(symbols: Sequence[Symbol]) -> list[Symbol]:
    """A chain as the user gave it, with every transform in its canonical form."""
    try:
        return [(int(column), Transform.parse(spec).spec) for column, spec in symbols]
    except (TypeError, ValueError) as error:
        if isinstance(error, ParsimonError):
            raise
        raise ParsimonError(
            f"{symbols!r} is not a chain of symbols: write pairs of a column and a transform from coarse to "
            "fine, as in [(1, ''), (0, '')], and give a list of such chains"
        ) from None


def _looks(template: Template, number: dict[Symbol, int]) -> _Looks:
    """Which symbols a template tests where."""
    looks: _Looks = {}
    for test in template.tests:
        symbol = number[test.column, test.transform.spec]
        looks.setdefault((test.relation or test.absolute, test.offset), set()).add(symbol)
    return looks


def _finer(fine: _Looks, coarse: _Looks, at_least: list[list[bool]]) -> bool:
    """Whether every test of `coarse` has a test of its own in `fine`, at the same place and at least as fine."""
    return coarse.keys() <= fine.keys() and all(
        _matched(symbols, fine[place], at_least) for place, symbols in coarse.items()
    )


def _matched(coarse: set[int], fine: set[int], at_least: list[list[bool]]) -> bool:
    """Whether each coarse symbol can have a finer one to itself: bipartite matching by augmenting paths."""
    holder: dict[int, int] = {}  # fine symbol → the coarse one that has it

    def place(c: int, tried: set[int]) -> bool:
        for f in fine - tried:
            if at_least[c][f] and f not in tried:
                tried.add(f)
                if f not in holder or place(holder[f], tried):
                    holder[f] = c
                    return True
        return False

    return len(coarse) <= len(fine) and all(place(c, set()) for c in coarse)


def _closure(names: Sequence[str], steps: Iterable[tuple[int, int]]) -> BoolArray:
    """The reflexive and transitive closure of steps (a, b), a ⪯ b."""
    before: dict[int, set[int]] = {i: set() for i in range(len(names))}
    for a, b in steps:
        if a != b:
            before[b].add(a)
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError as error:
        circle = " ⪯ ".join(names[i] for i in error.args[1])
        raise ParsimonError(f"{circle} goes round in a circle, so leave out one of these steps") from None
    less = np.eye(len(names), dtype=bool)
    for b in order:  # everything before b is complete by now
        for a in before[b]:
            less[:, b] |= less[:, a]
    return less


def _two_steps(relation: BoolArray) -> BoolArray:
    """Whether there is something between a and b. (As a product of floats: that of truth values is slow.)"""
    matrix = relation.astype(np.float32)
    return matrix @ matrix > 0


def _check_order(names: tuple[str, ...], less: BoolArray) -> None:
    n = len(names)
    if n == 0:
        raise ParsimonError("an order needs at least one template of tokens (a line that starts with U or *)")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ParsimonError(
            f"template {twice[0]!r} is there more than once, and names must tell templates apart"
        )
    if less.shape != (n, n):
        raise ParsimonError(
            f"the order of {n} templates needs a {n} × {n} matrix, not one of shape {less.shape}"
        )
    if not less.diagonal().all():
        a = names[int(np.argmin(less.diagonal()))]
        raise ParsimonError(f"template {a!r} must come before itself (a ⪯ a), so the diagonal must be true")
    both = np.argwhere(np.triu(less & less.T, 1))
    if len(both):
        a, b = (names[i] for i in both[0])
        raise ParsimonError(
            f"templates {a!r} and {b!r} each come before the other, as templates with the same tests do: "
            "leave one of them out"
        )
    gaps = np.argwhere(_two_steps(less) & ~less)
    if len(gaps):
        a, b = (names[i] for i in gaps[0])
        raise ParsimonError(
            f"template {a!r} comes before another that comes before {b!r}, but not before {b!r} itself: "
            "use from_pairs, which adds what follows"
        )


def _find(number: dict[str, int], name: str) -> int:
    if name not in number:
        close = get_close_matches(name, number, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the first is {next(iter(number), '')!r}"
        raise ParsimonError(f"there is no template {name!r} in the order: {hint}")
    return number[name]


# --- Printing --------------------------------------------------------------------------------------------


def _short(name: str) -> str:
    try:
        # A name by hand need not be a template; one without tests is short already.
        name = Template.parse(name).name if "%" in name else name
    except ParsimonError:
        return name
    return name.removeprefix("U:")


def tally(n: int, kept: BoolArray | None) -> str:
    """How many templates there are, and how many are kept."""
    what = f"{n} template{'s' * (n != 1)}"
    return what if kept is None else f"{what} ({kept.sum()} kept ●, {n - kept.sum()} dropped ○)"


def _listed(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
