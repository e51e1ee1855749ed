"""Arc attributes: the values that templates extract from a treebank, numbered template by template.

The core expands them on demand (core/dependency_trees/arc_features.hpp). This module provides the column values of
words as string ids,
and the names of attributes. Only attributes that fire on arcs of the training data are numbered, as in McDonald's
MSTParser.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from parsimon._core import ArcDictionary, ArcScorer, ArcSentences, StringTable
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.data.treebanks import Treebank
from parsimon.features.arc_templates import LENGTHS, ArcColumn, ArcTemplate, ArcTemplates
from parsimon.features.columns import offsets_of

__all__ = ["ArcFeatures"]

# Placeholders where there is no word: the first strings of every table. No word contains a tab.
NO_WORD = ("\troot", "\tstart", "\tend")
SHOWN = ("<root>", "<start>", "<end>")
SAMPLED = 50  # sentences used to estimate how often templates fire


def new_strings() -> StringTable:
    """A string table that contains only the placeholders."""
    strings = StringTable()
    strings.add_all(list(NO_WORD))
    return strings


@dataclass
class ArcFeatures:
    """The attributes that templates extract from arcs. There is one weight per attribute, so attributes are features.

    >>> import io
    >>> from parsimon.data import read_treebank
    >>> rows = "1\\tDogs\\t_\\tNOUN\\t_\\t_\\t2\\tnsubj\\t_\\t_\\n2\\tbark\\t_\\tVERB\\t_\\t_\\t0\\troot\\t_\\t_\\n"
    >>> space = ArcFeatures(ArcTemplates.parse("h.upos+m.form\\nm.upos+dir"))
    >>> sentences = space.learn(read_treebank(io.BytesIO(rows.encode())))
    >>> space.node_names(np.arange(space.n_node))
    ['h.upos=VERB+m.form=Dogs', 'h.upos=<root>+m.form=bark', 'm.upos=NOUN+dir=left', 'm.upos=VERB+dir=right']
    """

    templates: ArcTemplates
    cutoff: int = 1
    strings: StringTable = field(default_factory=new_strings, repr=False)
    # The values of the tests of all attributes, once the attributes are final.
    values: IntArray | None = field(default=None, repr=False)
    kind: ClassVar[str] = "arcs"
    n_pair: ClassVar[int] = 0
    counts: IntArray = field(init=False, repr=False)  # how many attributes each template has

    def __post_init__(self) -> None:
        self.counts = np.zeros(len(self.templates), np.int64)
        self._learnt_from: tuple[ArcSentences, IntArray] | None = None
        self._lengths: IntArray = np.zeros(0, np.int32)

    @property
    def n_node(self) -> int:
        """The number of attributes."""
        return int(self.counts.sum())

    @property
    def starts(self) -> IntArray:
        """The first attribute of every template, and one past the last."""
        return offsets_of(self.counts)

    @cached_property
    def dictionary(self) -> ArcDictionary:
        """Numbers the attributes of arcs; made when it is first asked for, because a scorer does without."""
        values = np.zeros(0, np.int32) if self.values is None else self.values
        return ArcDictionary(*self.templates.encoded(), self.counts, values)

    def scorer(self, weights: Array, threads: int = 1) -> ArcScorer:
        """What scores arcs by these weights of all attributes."""
        many = [column.many for column in self.templates.columns]
        values = self._all_values()
        w = np.ascontiguousarray(weights, np.float64)
        return ArcScorer(*self.templates.encoded(), self.counts, values, w, many, threads)

    def learn(self, treebank: Treebank, threads: int = 1) -> ArcSentences:
        """Number the attributes that fire on at least `cutoff` arcs."""
        sentences = _sentences(treebank, self.templates.columns, self.strings.add)
        start, tests = self.templates.encoded()
        heads = np.ascontiguousarray(treebank.heads, np.int32)
        self.dictionary = ArcDictionary.supported(start, tests, sentences, heads, self.cutoff, threads)
        self.counts = np.diff(self.dictionary.starts())
        self._learnt_from = sentences, heads
        self._lengths = treebank.lengths
        return sentences

    def observe(self, treebank: Treebank) -> ArcSentences:
        """The column values of other sentences; unknown values have the number −1."""
        return _sentences(treebank, self.templates.columns, self.strings.find)

    def only(self, kept: Any) -> ArcFeatures:
        """An empty space with only some of the templates."""
        return ArcFeatures(self.templates.only(kept), self.cutoff)

    def keep(self, node: BoolArray, pair: BoolArray) -> ArcFeatures:
        """The space with only some attributes, renumbered, without unused templates and strings."""
        attributes = np.flatnonzero(node)
        values = self._values(attributes)
        kept = np.zeros(len(self.templates), bool)
        kept[self.node_templates(attributes)] = True
        templates = self.templates.only(kept)
        counts = np.diff(np.searchsorted(attributes, self.starts))[kept]
        is_code = _codes(templates, counts)
        used = np.union1d(np.arange(len(NO_WORD)), values[~is_code])
        renumber = np.zeros(len(self.strings), np.int32)
        renumber[used] = np.arange(len(used), dtype=np.int32)
        values = np.where(is_code, values, renumber[np.where(is_code, 0, values)]).astype(np.int32)
        strings = StringTable.unpack(*self.strings.pack(used.astype(np.int32)))
        return ArcFeatures._final(templates, self.cutoff, strings, counts, values)

    @classmethod
    def _final(
        cls, templates: ArcTemplates, cutoff: int, strings: StringTable, counts: IntArray, values: IntArray
    ) -> ArcFeatures:
        space = cls(templates, cutoff, strings, values=values)
        space.counts = counts.astype(np.int64)
        return space

    def _all_values(self) -> IntArray:
        return self._values(np.arange(self.n_node)) if self.values is None else self.values

    def _values(self, attributes: IntArray) -> IntArray:
        """The values of the tests of some attributes, concatenated."""
        if self.values is None:
            if self._learnt_from is None:
                return np.zeros(0, np.int32)
            few = self.dictionary.restrict(np.ascontiguousarray(attributes, np.int64))
            return few.values(*self._learnt_from, 1)
        arity = np.array([_arity(template) for template in self.templates], np.int64)
        starts = self.starts
        first = np.concatenate([[0], np.cumsum(arity * np.diff(starts))])
        t = self.node_templates(attributes)
        begin, n = first[t] + (attributes - starts[t]) * arity[t], arity[t]
        at = np.repeat(begin - (np.cumsum(n) - n), n) + np.arange(int(n.sum()))
        return self.values[at]

    def in_order(self) -> tuple[ArcFeatures, IntArray]:
        """The same attributes, each template's in the order of their values; and which was where before.

        Neighbours then differ little, so that they need little room in a file.
        """
        orders: list[IntArray] = [np.zeros(0, np.int64)]
        ordered: list[IntArray] = [np.zeros(0, np.int32)]
        counts = self.counts
        tables = _tables(self.templates, counts, self._all_values())
        for first, table in zip(self.starts.tolist(), tables, strict=False):
            order = np.lexsort(table.T[::-1]) if table.size else np.arange(len(table))
            orders.append(first + order)
            ordered.append(table[order].reshape(-1))
        values = np.concatenate(ordered)
        return ArcFeatures._final(self.templates, self.cutoff, self.strings, counts, values), np.concatenate(
            orders
        )

    def node_names(self, attributes: IntArray) -> list[str]:
        """For instance ``h.upos=VERB+m.form=dog``."""
        order = np.argsort(attributes, kind="stable")
        values = self._values(np.asarray(attributes)[order]).tolist()
        names = [""] * len(order)
        at = 0
        for i, t in zip(
            order.tolist(), self.node_templates(np.asarray(attributes)[order]).tolist(), strict=True
        ):
            template = self.templates[t]
            n = _arity(template)
            names[i] = self._name(template, values[at : at + n])
            at += n
        return names

    def _name(self, template: ArcTemplate, values: list[int]) -> str:
        texts = []
        for test, value in zip(template.value_names(), values, strict=True):
            if "." not in test:
                texts.append(template.code_name(value))
            else:
                texts.append(SHOWN[value] if value < len(SHOWN) else self.strings[value])
        return template.render(texts)

    def pair_names(self, attributes: IntArray) -> list[str]:
        """An empty list: arcs have no pair attributes."""
        return []

    def template_names(self) -> list[str]:
        """The templates as written."""
        return self.templates.names

    def node_templates(self, attributes: IntArray) -> IntArray:
        """The template of each attribute."""
        return (np.searchsorted(self.starts, attributes, side="right") - 1).astype(np.int32)

    def pair_templates(self, attributes: IntArray) -> IntArray:
        """An empty array: arcs have no pair attributes."""
        return np.zeros(0, np.int32)

    def firings(self) -> Array:
        """The mean number of attributes per arc of each template, over arcs where it fires, in a sample of trees.

        It is one for most templates, and more for those that test all words in between or single morphological
        features.
        """
        n_templates, n = len(self.templates), min(len(self._lengths), SAMPLED)
        if self._learnt_from is None or not n:
            return np.ones(n_templates)
        sentences, heads = self._learnt_from
        start, index = self.dictionary.attributes(sentences, 0, n, heads[: int(self._lengths[:n].sum())], 1)
        template = self.node_templates(index).astype(np.int64)
        arc = np.repeat(np.arange(len(start) - 1), np.diff(start))
        arcs = np.bincount(np.unique(arc * n_templates + template) % n_templates, minlength=n_templates)
        mean: Array = np.bincount(template, minlength=n_templates) / np.maximum(arcs, 1)
        return np.where(arcs == 0, 1.0, mean)

    def constant(self) -> tuple[IntArray, IntArray]:
        """The attributes of templates that test no word: the bias, direction and length."""
        starts = self.starts
        ranges = [
            np.arange(starts[t], starts[t + 1])
            for t, template in enumerate(self.templates)
            if not template.tests_words
        ]
        return np.concatenate([np.zeros(0, np.int64), *ranges]), np.zeros(0, np.int64)

    def state(self) -> tuple[dict[str, Any], dict[str, Array | IntArray]]:
        """Templates as text; strings and the values of all attributes as arrays."""
        counts = self.counts
        tables = _tables(self.templates, counts, self._all_values())
        text, start = self.strings.pack(np.arange(len(self.strings), dtype=np.int32))
        arrays: dict[str, Any] = {
            "strings.text": text,
            "strings.length": np.diff(start),
            "count": counts,
            "columns": np.concatenate([np.zeros(0, np.int32), *(each.T.reshape(-1) for each in tables)]),
        }
        return {"templates": self.templates.dumps(), "cutoff": self.cutoff}, arrays

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, Any]) -> ArcFeatures:
        """The space that `state` describes."""
        templates = ArcTemplates.parse(settings["templates"])
        start = np.concatenate([[0], np.cumsum(arrays["strings.length"], dtype=np.int64)]).astype(np.int64)
        strings = StringTable.unpack(np.ascontiguousarray(arrays["strings.text"], np.uint8), start)
        if strings.get_all(np.arange(min(3, len(strings)), dtype=np.int32)) != list(NO_WORD):
            raise ValueError("the strings do not begin with the placeholders")
        by_rows = "values" in arrays  # in files of format 2
        counts, values = (
            arrays["count"].astype(np.int64),
            arrays["values" if by_rows else "columns"].astype(np.int32),
        )
        arity = np.array([_arity(template) for template in templates])
        if len(counts) != len(templates) or (counts < 0).any() or counts @ arity != len(values):
            raise ValueError("the attributes do not match the templates")
        if not by_rows:
            tables = _tables(templates, counts, values, by_columns=True)
            values = np.concatenate([np.zeros(0, np.int32), *(each.reshape(-1) for each in tables)])
        is_code = _codes(templates, counts)
        if values.min(initial=0) < 0 or values[~is_code].max(initial=0) >= len(strings):
            raise ValueError("an attribute refers to a string that does not exist")
        if values[is_code].max(initial=0) >= 2 * len(LENGTHS):
            raise ValueError("an attribute has an invalid arc length")
        return cls._final(templates, int(settings["cutoff"]), strings, counts, values)


def _tables(
    templates: ArcTemplates, counts: IntArray, values: IntArray, *, by_columns: bool = False
) -> list[IntArray]:
    """The values of attributes as a table of attributes × tests for each template; given by rows, or by columns."""
    out, at = [], 0
    for template, count in zip(templates, counts.tolist(), strict=True):
        arity = _arity(template)
        some = values[at : at + count * arity]
        out.append(some.reshape(arity, count).T if by_columns else some.reshape(count, arity))
        at += count * arity
    return out


def _arity(template: ArcTemplate) -> int:
    """The number of values in an attribute."""
    return len(template.value_names())


def _codes(templates: ArcTemplates, counts: IntArray) -> Any:
    """Which of the values of all attributes encode direction and length rather than strings."""
    pieces = [np.zeros(0, bool)]
    for template, count in zip(templates, counts.tolist(), strict=True):
        is_code = np.array(["." not in test for test in template.value_names()], bool)
        pieces.append(np.tile(is_code, count))
    return np.concatenate(pieces)


def _sentences(treebank: Treebank, columns: list[ArcColumn], number: Callable[[str], int]) -> ArcSentences:
    values, starts = [], []
    for column in columns:
        value, start = _numbered(treebank, column, number)
        values.append(value)
        starts.append(start)
    return ArcSentences(offsets_of(treebank.lengths), values, starts)


def _numbered(
    treebank: Treebank, column: ArcColumn, number: Callable[[str], int]
) -> tuple[IntArray, IntArray | None]:
    """The values of all words, and the start of each word's values if it may have several.

    Every distinct string is transformed only once.
    """
    from parsimon.features.transforms import Transform

    transform = Transform.parse(column.transform)
    of_words = treebank.ids("feats" if column.many else column.name)
    seen = np.zeros(len(treebank.strings), bool)
    seen[of_words] = True
    ids, where = np.flatnonzero(seen), (np.cumsum(seen) - 1)[of_words]
    texts = treebank.strings.get_all(ids.astype(np.int32))
    if not column.many:
        return np.array([number(transform(text)) for text in texts], np.int32)[where], None
    lists = [
        np.unique([number(transform(each)) for each in text.split("|")] if text != "_" else []).astype(
            np.int32
        )
        for text in texts
    ]
    n = np.array([len(each) for each in lists], np.int64)
    flat, first = np.concatenate([np.zeros(0, np.int32), *lists]), np.cumsum(n) - n
    start = np.concatenate([[0], np.cumsum(n[where])]).astype(np.int64)
    at = np.repeat(first[where] - start[:-1], n[where]) + np.arange(start[-1])
    return flat[at], start
