"""The partial order of templates from coarse to fine, and its Hasse diagram as text (report/hasse_diagram.py draws it).

a ⪯ b means that template b should be in a model only if a is, too: parts of speech come before words, and the parts of
a conjunction before the conjunction (Martins et al. 2011, section 3.1 and figure 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from parsimon.arrays import BoolArray, IntArray
from parsimon.errors import ParsimonError, nearest
from parsimon.features.arc_templates import ArcTemplates
from parsimon.features.templates import Template, TemplateSet
from parsimon.features.transforms import Transform

__all__ = ["Symbol", "TemplateOrder", "default_symbols"]

Symbol: TypeAlias = tuple[int, str]
"""A column and a transform of it: (0, "shape"); (1, "") is column 1 itself."""


# Chains of treebank columns, from coarse to fine; each ends with the word itself.
ARC_SYMBOLS = (
    ("upos", "xpos", "form"),
    ("upos", "feat", "feats", "form"),
    ("upos", "lemma", "lower", "form"),
    ("upos", "charclass", "shape", "form"),
    *(("upos", *(f"{affix}:{n}" for n in range(1, 6)), "form") for affix in ("prefix", "suffix")),
)


@dataclass(frozen=True, eq=False)
class TemplateOrder:
    """A partial order a ⪯ b ("b only if a") of templates, from coarse to fine.

    `names` are the templates as written, with the same order and names as in a `TemplateFeatures` with the same
    templates. Only templates for tokens are in the order: a label bigram, or any other template for steps, is neither
    coarser nor finer than they are. `less[a, b]` is true if a ⪯ b.

    >>> from parsimon.features import TemplateSet
    >>> order = TemplateOrder.from_symbols(
    ...     TemplateSet.parse("U:p=%x[0,1]\\nU:w=%x[0,0]\\nU:pp=%x[-1,1]/%x[0,1]\\nU:ww=%x[-1,0]/%x[0,0]\\nB")
    ... )
    >>> print(order.to_text())
    4 templates from coarse to fine, each after those that its arrow points to
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
        """The order of templates induced by an order of symbols, as in figure 1 of Martins et al. 2011.

        A symbol is what a test reads: a column and a transform. `symbols` are chains of symbols, each from coarse to
        fine: `[[(1, ""), (0, "")], [(0, "shape"), (0, "")]]` puts column 1 and the shape of the word before the word.
        The default is `default_symbols(templates)`. A symbol that is in no chain is comparable only to itself.

        a ⪯ b if the tests of a can be matched one-to-one to tests of b in the same position that are at least as fine.
        (One-to-one matching ensures word ≺ word ∧ POS even if POS ⪯ word.) A bias has no tests, so it comes before
        everything. Templates that share their attributes count as one: a ⪯ b if each template of b is finer than some
        template of a.
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
        tested = [[_tested(template, number) for template in group] for group in shared.values()]
        less = [
            [all(any(_finer(y, x, at_least) for x in coarse) for y in fine) for fine in tested]
            for coarse in tested
        ]
        names = tuple(group[0].source for group in shared.values())
        return cls(names, np.array(less, dtype=bool).reshape(len(names), len(names)))

    @classmethod
    def from_arcs(
        cls, templates: ArcTemplates, symbols: Sequence[Sequence[str]] = ARC_SYMBOLS
    ) -> TemplateOrder:
        """The order of arc templates; `symbols` are chains of column names, from coarse to fine.

        A template that tests direction or length comes only before templates that test it, too. By default, parts of
        speech come before everything else, and shapes, affixes, lemmas and lowercase forms before forms.

        >>> from parsimon.features.arc_templates import ArcTemplates
        >>> order = TemplateOrder.from_arcs(ArcTemplates.parse("h.upos+m.upos\\nh.upos+m.form\\nh.upos+m.form+dist"))
        >>> print(order.to_text())
        3 templates from coarse to fine, each after those that its arrow points to
        h.upos+m.upos
          h.upos+m.form  ← h.upos+m.upos
            h.upos+m.form+dist  ← h.upos+m.form
        """
        used = [str(column) for column in templates.columns]
        number = {name: i for i, name in enumerate(dict.fromkeys(["", *used]))}
        chains = [[name for name in chain if name in number] for chain in symbols]
        steps = [(number[a], number[b]) for chain in chains for a, b in pairwise(chain)]
        at_least = _closure(list(number), steps).tolist()
        tested: list[_Tested] = []
        for template in templates:
            positions: _Tested = {}
            for test in template.tests:
                symbol = number["" if test.column is None else str(test.column)]
                positions.setdefault((test.place, test.offset), set()).add(symbol)
            tested.append(positions)
        less = [[_finer(fine, coarse, at_least) for fine in tested] for coarse in tested]
        return cls(tuple(templates.names), np.array(less, bool).reshape(len(tested), len(tested)))

    @classmethod
    def from_pairs(cls, names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> TemplateOrder:
        """An order from pairs (a, b) with a ⪯ b; the relations that follow from the pairs are added.

        >>> TemplateOrder.from_pairs(["x", "y", "z"], [("x", "y"), ("y", "z")]).below("x")
        array([0, 1, 2])
        """
        names = tuple(names)
        number = {name: i for i, name in enumerate(names)}
        steps = [(_find(number, a), _find(number, b)) for a, b in pairs]
        return cls(names, _closure(names, steps))

    def below(self, a: int | str) -> IntArray:
        """All b with a ⪯ b, including a: the templates that are dropped if a is dropped."""
        return np.flatnonzero(self.less[self._number(a)])

    def above(self, b: int | str) -> IntArray:
        """All a with a ⪯ b, including b: the templates that are kept if b is kept."""
        return np.flatnonzero(self.less[:, self._number(b)])

    def covers(self) -> list[tuple[int, int]]:
        """The edges of the Hasse diagram: a ≺ b with nothing in between."""
        strict = self.less & ~np.eye(len(self.names), dtype=bool)
        return [(int(a), int(b)) for a, b in np.argwhere(strict & ~_two_steps(strict))]

    def roots(self) -> IntArray:
        """The minimal templates, which come after no other."""
        return np.flatnonzero(self.less.sum(axis=0) == 1)

    def depth(self) -> IntArray:
        """The level of each template: 0 for a root, otherwise one more than the deepest one before it."""
        depth = np.zeros(len(self.names), np.int64)
        # A template that comes before b has fewer predecessors than b.
        for b in np.argsort(self.less.sum(axis=0), kind="stable").tolist():
            before = self.above(b)
            depth[b] = 1 + depth[before[before != b]].max(initial=-1)
        return depth

    def short_names(self) -> tuple[str, ...]:
        """Short names of the templates for drawings: `word[0]` for `U:word[0]=%x[0,0]`."""
        short = [_short(name) for name in self.names]
        count = Counter(short)
        return tuple(s if count[s] == 1 else name for s, name in zip(short, self.names, strict=True))

    def to_text(self, kept: BoolArray | None = None) -> str:
        """One line per template, level by level, each with its immediate predecessors.

        With `kept` (a mask of templates), ● marks templates that are kept and ○ those that are dropped.
        """
        kept = self.checked(kept)
        names, depth = self.short_names(), self.depth()
        before: list[list[str]] = [[] for _ in names]
        for a, b in self.covers():
            before[b].append(names[a])
        lines = [f"{tally(len(names), kept)} from coarse to fine, each after those that its arrow points to"]
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
                f"there is no template {template} in the order; templates are numbered from 0 to {len(self.names) - 1}"
            )
        return template

    def checked(self, kept: BoolArray | None) -> BoolArray | None:
        """The mask `kept` as an array; raises an error unless it has one truth value per template."""
        if kept is None:
            return None
        kept = np.asarray(kept)
        if kept.dtype != bool or kept.shape != (len(self.names),):
            raise ParsimonError(
                f"kept must be {len(self.names)} truth values, one per template, not {kept.dtype} of shape {kept.shape}"
            )
        return kept


# Families of transforms, from coarse to fine. (`case` and `charclass` are not strictly functions of `shape`, which does
# not distinguish `A` and `IBM`; they count as coarser because they have so few values.)
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
    """Chains of the symbols in templates, from coarse to fine, for data with the columns word and part of speech.

    Shorter prefixes and suffixes come before longer ones, indicators such as case before shapes, transforms of a column
    before the column itself, and column 1 before column 0.

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

# Position (relation, or whether rows count from an end; row) → numbers of symbols.
_Tested: TypeAlias = dict[Any, set[int]]


def _chain(symbols: Sequence[Symbol]) -> list[Symbol]:
    """The user's chain, with every transform in canonical form."""
    try:
        return [(int(column), Transform.parse(spec).spec) for column, spec in symbols]
    except (TypeError, ValueError) as error:
        if isinstance(error, ParsimonError):
            raise
        raise ParsimonError(
            f"{symbols!r} is not a chain of symbols; give a list of chains, each with pairs of a column and a "
            "transform from coarse to fine, as in [(1, ''), (0, '')]"
        ) from None


def _tested(template: Template, number: dict[Symbol, int]) -> _Tested:
    """The symbols that a template tests at each position."""
    tested: _Tested = {}
    for test in template.tests:
        symbol = number[test.column, test.transform.spec]
        tested.setdefault((test.relation or test.absolute, test.offset), set()).add(symbol)
    return tested


def _finer(fine: _Tested, coarse: _Tested, at_least: list[list[bool]]) -> bool:
    """Whether the tests of `coarse` can be matched to tests of `fine` in the same position and at least as fine."""
    return coarse.keys() <= fine.keys() and all(
        _matched(symbols, fine[position], at_least) for position, symbols in coarse.items()
    )


def _matched(coarse: set[int], fine: set[int], at_least: list[list[bool]]) -> bool:
    """Whether each coarse symbol can be matched to a different finer one: bipartite matching by augmenting paths."""
    match: dict[int, int] = {}  # fine symbol → the coarse one matched to it

    def augment(c: int, tried: set[int]) -> bool:
        for f in fine - tried:
            if at_least[c][f] and f not in tried:
                tried.add(f)
                if f not in match or augment(match[f], tried):
                    match[f] = c
                    return True
        return False

    return len(coarse) <= len(fine) and all(augment(c, set()) for c in coarse)


def _closure(names: Sequence[str], steps: Iterable[tuple[int, int]]) -> BoolArray:
    """The reflexive and transitive closure of steps (a, b), a ⪯ b."""
    before: dict[int, set[int]] = {i: set() for i in range(len(names))}
    for a, b in steps:
        if a != b:
            before[b].add(a)
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError as error:
        cycle = " ⪯ ".join(names[i] for i in error.args[1])
        raise ParsimonError(f"{cycle} is a cycle; leave out one of these steps") from None
    less = np.eye(len(names), dtype=bool)
    for b in order:  # all predecessors of b are complete by now
        for a in before[b]:
            less[:, b] |= less[:, a]
    return less


def _two_steps(relation: BoolArray) -> BoolArray:
    """Whether there is something between a and b. (A product of floats, because that of booleans is slow.)"""
    matrix = relation.astype(np.float32)
    return matrix @ matrix > 0


def _check_order(names: tuple[str, ...], less: BoolArray) -> None:
    n = len(names)
    if n == 0:
        raise ParsimonError(
            "an order needs at least one template for tokens (a line that starts with U or *)"
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ParsimonError(
            f"template {twice[0]!r} occurs more than once, but the names of templates must be unique"
        )
    if less.shape != (n, n):
        raise ParsimonError(
            f"the order of {n} templates needs a {n} × {n} matrix, not one of shape {less.shape}"
        )
    if not less.diagonal().all():
        a = names[int(np.argmin(less.diagonal()))]
        raise ParsimonError(f"template {a!r} must come before itself (a ⪯ a): the diagonal must be true")
    both = np.argwhere(np.triu(less & less.T, 1))
    if len(both):
        a, b = (names[i] for i in both[0])
        raise ParsimonError(
            f"templates {a!r} and {b!r} come before each other, as templates with the same tests do; "
            "leave one of them out"
        )
    gaps = np.argwhere(_two_steps(less) & ~less)
    if len(gaps):
        a, b = (names[i] for i in gaps[0])
        raise ParsimonError(
            f"template {a!r} comes before another that comes before {b!r}, but not before {b!r} itself; "
            "use from_pairs, which adds such relations"
        )


def _find(number: dict[str, int], name: str) -> int:
    if name not in number:
        close = nearest(name, number)
        hint = f"did you mean {close!r}?" if close else f"the first is {next(iter(number), '')!r}"
        raise ParsimonError(f"there is no template {name!r} in the order: {hint}")
    return number[name]


# --- Printing --------------------------------------------------------------------------------------------


def _short(name: str) -> str:
    try:
        # A name from the user need not be a template; a template without tests is short already.
        name = Template.parse(name).name if "%" in name else name
    except ParsimonError:
        return name
    return name.removeprefix("U:")


def tally(n: int, kept: BoolArray | None) -> str:
    """The number of templates, and how many are kept and dropped."""
    what = f"{n} template{'s' * (n != 1)}"
    return what if kept is None else f"{what} ({kept.sum()} kept ●, {n - kept.sum()} dropped ○)"


def _listed(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
