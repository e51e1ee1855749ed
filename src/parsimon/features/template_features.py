"""Template features: attributes from columns. The expansion itself is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from parsimon._core import Extractor, StringTable
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns, offsets_of
from parsimon.features.observations import Observations, Rows
from parsimon.features.seen import Seen, SeenRows
from parsimon.features.sibling_steps import SIBLINGS, check_siblings
from parsimon.features.templates import Template, TemplateSet


class Expansion:
    """The templates of one kind (for tokens or for steps), with the attributes that they have produced."""

    def __init__(self, templates: Sequence[Template], inputs: dict[tuple[str, int, Any], int]) -> None:
        self.templates = tuple(templates)
        skeletons = list(dict.fromkeys(t.skeleton for t in self.templates))
        number = {skeleton: i for i, skeleton in enumerate(skeletons)}
        # The template that names each skeleton's attributes.
        self.representative = [next(t for t in self.templates if t.skeleton == s) for s in skeletons]
        tests = [
            (inputs[test.relation, test.column, test.transform], test.offset, test.absolute)
            for template in self.templates
            for test in template.tests
        ]
        self.extractor = Extractor(
            np.array(tests, np.int32).reshape(-1, 3),
            np.cumsum([0, *(len(t.tests) for t in self.templates)]).astype(np.int32),
            np.array([number[t.skeleton] for t in self.templates], np.int32),
        )

    @property
    def n_attributes(self) -> int:
        """The number of attributes."""
        return int(self.extractor.n_attributes)

    def skeleton_of(self, attributes: IntArray) -> IntArray:
        """The skeleton of each attribute."""
        return np.searchsorted(self.extractor.offsets, attributes, side="right") - 1

    def tuples(self) -> list[IntArray]:
        """The attributes of every skeleton as rows of string ids."""
        return [self.extractor.tuples(s) for s in range(len(self.representative))]

    def load(self, tuples: Sequence[IntArray]) -> None:
        """Load attributes, skeleton by skeleton."""
        for s, rows in enumerate(tuples):
            self.extractor.load(s, np.ascontiguousarray(rows, np.int32))

    def names(self, attributes: IntArray, strings: StringTable) -> list[str]:
        """Readable names: the template with its tests replaced by their values."""
        offsets = self.extractor.offsets
        tuples = self.tuples()
        out = []
        for a, s in zip(attributes.tolist(), self.skeleton_of(attributes).tolist(), strict=True):
            values = strings.get_all(np.ascontiguousarray(tuples[s][a - offsets[s]]))
            out.append(self.representative[s].render(values))
        return out


@dataclass
class TemplateFeatures:
    """The attributes that templates produce from columns.

    One table holds all strings: those in the columns and the results of transforms.
    """

    templates: TemplateSet
    cutoff: int = 1
    strings: StringTable = field(default_factory=StringTable, repr=False)
    siblings: str | None = None  # a key of SIBLINGS
    kind: ClassVar[str] = "templates"

    def __post_init__(self) -> None:
        check_siblings(self.siblings, self.templates)
        inputs = {view: i for i, view in enumerate(self.templates.views)}
        self._node = Expansion([t for t in self.templates if t.of_labels], inputs)
        pairs = sorted((t for t in self.templates if t.of_pairs), key=lambda t: t.kind == "sibling")
        self._pair = Expansion(pairs, inputs)  # those for siblings come last

    @property
    def expansions(self) -> tuple[Expansion, Expansion]:
        """The templates for tokens and those for steps, with their attributes."""
        return self._node, self._pair

    @property
    def n_node(self) -> int:
        """The number of token attributes."""
        return self._node.n_attributes

    @property
    def n_pair(self) -> int:
        """The number of step attributes."""
        return self._pair.n_attributes

    def learn(self, X: Columns, threads: int = 1) -> Observations:
        """Number every attribute that occurs at least `cutoff` times."""
        observations = self.number(X, threads)
        if self.cutoff <= 1:
            return observations
        node, pair = self.frequent(observations)
        kept = self.keep(node, pair)
        self._node, self._pair, self.strings = kept._node, kept._pair, kept.strings
        return observations.keep(node, pair)

    def number(self, X: Columns, threads: int = 1) -> Observations:
        """Number all attributes, including rare ones: template by template, in order of first occurrence."""
        self.strings = X.strings
        return self._expand(X, self.strings, self.strings.add, learn=True, threads=threads)

    @property
    def first_sibling(self) -> int:
        """The first attribute for pairs of siblings."""
        before = sum(t.kind != "sibling" for t in self._pair.representative)
        return int(self._pair.extractor.offsets[before])

    def frequent(self, observations: Observations) -> tuple[BoolArray, BoolArray]:
        """Masks of the token and step attributes that occur at least `cutoff` times."""
        node = np.bincount(observations.node.index, minlength=self.n_node) >= self.cutoff
        pair = np.bincount(observations.pair.index, minlength=self.n_pair) >= self.cutoff
        return node, pair

    def observe(self, X: Columns, threads: int = 1) -> Observations:
        """The known attributes of X."""
        return self.session(X.strings).observe(X, threads)

    def session(self, strings: StringTable) -> Session:
        """A session for observing many parts of one input that share a (growing) string table."""
        return Session(self, strings)

    def _expand(
        self, X: Columns, strings: StringTable, number: Callable[[str], int], *, learn: bool, threads: int
    ) -> Observations:
        session = Session(self, strings, number)
        return session.observe(X, threads, learn=learn)

    def keep(self, node: BoolArray, pair: BoolArray) -> TemplateFeatures:
        """The space with only some attributes; strings that no attribute needs are dropped."""
        chosen = [_chosen(self._node, node), _chosen(self._pair, pair)]
        used = np.unique(
            np.concatenate([np.zeros(0, np.int32), *(t.ravel() for part in chosen for t in part)])
        )
        renumber = np.full(len(self.strings) + 1, -1, np.int32)
        renumber[used] = np.arange(len(used), dtype=np.int32)
        kept = replace(self, strings=StringTable.unpack(*self.strings.pack(used)))
        for expansion, part in zip((kept._node, kept._pair), chosen, strict=True):
            expansion.load([renumber[tuples] for tuples in part])
        return kept

    def narrow(self, node: BoolArray, pair: BoolArray) -> TemplateFeatures:
        """The space with only some attributes and the same string table (which others may share)."""
        kept = replace(self)
        kept._node.load(_chosen(self._node, node))
        kept._pair.load(_chosen(self._pair, pair))
        return kept

    def only(self, kept: BoolArray) -> TemplateFeatures:
        """An empty space with only some of the templates (a mask in the order of `template_names`)."""
        return replace(self, templates=self._chosen_templates(kept), strings=StringTable())

    def without_empty(self, kept: BoolArray) -> TemplateFeatures:
        """The space with only some of the templates. The others must have no attributes, so no number changes."""
        out = replace(self, templates=self._chosen_templates(kept))
        cut = len(self._node.representative)
        for mine, old, chosen in zip(out.expansions, self.expansions, (kept[:cut], kept[cut:]), strict=True):
            mine.load([rows for rows, wanted in zip(old.tuples(), chosen, strict=True) if wanted])
        return out

    def _chosen_templates(self, kept: BoolArray) -> TemplateSet:
        names = [t.skeleton for t in (*self._node.representative, *self._pair.representative)]
        chosen = {(name, i < len(self._node.representative)) for i, name in enumerate(names) if kept[i]}
        templates = tuple(
            t
            for t in self.templates
            if (t.of_labels and (t.skeleton, True) in chosen)
            or (t.of_pairs and (t.skeleton, False) in chosen)
        )
        return TemplateSet(templates, self.templates.boundary)

    def node_names(self, attributes: IntArray) -> list[str]:
        """For instance ``U05:the/dog``."""
        return self._node.names(attributes, self.strings)

    def pair_names(self, attributes: IntArray) -> list[str]:
        """For instance ``B``."""
        return self._pair.names(attributes, self.strings)

    def template_names(self) -> list[str]:
        """The templates as written, those for tokens first."""
        return [t.source for t in (*self._node.representative, *self._pair.representative)]

    def node_templates(self, attributes: IntArray) -> IntArray:
        """The template of each token attribute."""
        return self._node.skeleton_of(attributes)

    def pair_templates(self, attributes: IntArray) -> IntArray:
        """The template of each step attribute."""
        return self._pair.skeleton_of(attributes) + len(self._node.representative)

    def constant(self) -> tuple[IntArray, IntArray]:
        """The attributes of templates without tests."""
        return _untested(self._node), _untested(self._pair)

    def state(self) -> tuple[dict[str, Any], dict[str, Array | IntArray]]:
        """The templates as text; strings and attribute tuples as arrays."""
        text, start = self.strings.pack(np.arange(len(self.strings), dtype=np.int32))
        arrays: dict[str, Any] = {"strings.text": text, "strings.length": np.diff(start)}
        for name, expansion in (("node", self._node), ("pair", self._pair)):
            tuples = expansion.tuples()
            arrays[f"{name}.count"] = np.array([len(t) for t in tuples], np.int64)
            arrays[f"{name}.tuples"] = np.concatenate([np.zeros(0, np.int32), *(t.ravel() for t in tuples)])
        settings = {
            "templates": self.templates.dumps(),
            "boundary": self.templates.boundary,
            "cutoff": self.cutoff,
            "siblings": self.siblings,
        }
        return settings, arrays

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, Any]) -> TemplateFeatures:
        """The space that `state` describes."""
        templates = TemplateSet.parse(settings["templates"], boundary=settings["boundary"])
        start = np.concatenate([[0], np.cumsum(arrays["strings.length"], dtype=np.int64)]).astype(np.int64)
        strings = StringTable.unpack(np.ascontiguousarray(arrays["strings.text"], np.uint8), start)
        space = cls(templates, int(settings["cutoff"]), strings, settings.get("siblings"))
        for name, expansion in (("node", space._node), ("pair", space._pair)):
            ids = arrays[f"{name}.tuples"].astype(np.int32)
            if ids.size and not (ids.min() >= 0 and ids.max() < len(strings)):
                raise ParsimonError("an attribute refers to a string that does not exist")
            counts = arrays[f"{name}.count"].astype(np.int64).tolist()
            arity = [len(t.tests) for t in expansion.representative]
            if len(counts) != len(arity) or sum(n * k for n, k in zip(counts, arity, strict=True)) != len(
                ids
            ):
                raise ParsimonError("the attributes do not match the templates")
            at, parts = 0, []
            for n, k in zip(counts, arity, strict=True):
                parts.append(ids[at : at + n * k].reshape(n, k))
                at += n * k
            expansion.load(parts)
        return space


class Session:
    """Observes columns that share one string table; every string is transformed only once.

    During learning, the results of transforms are added to the same table. Otherwise, the columns have a different
    table from the space, so every string is translated, and a string that is unknown to the space becomes −1.
    """

    def __init__(
        self, space: TemplateFeatures, strings: StringTable, number: Callable[[str], int] | None = None
    ) -> None:
        self._space = space
        self._strings = strings
        self._number = number or space.strings.find
        self._identity = number is not None or strings is space.strings
        templates = space.templates
        reach = max(templates.max_reach, 1)
        self._translate = [np.zeros(0, np.int32) for _ in templates.views]
        before = [templates.boundary_value(d + 1, after=False) for d in range(reach)]
        after = [templates.boundary_value(d + 1, after=True) for d in range(reach)]
        self._before = self._boundary(before)
        self._after = self._boundary(after)

    def _boundary(self, values: list[str]) -> IntArray:
        rows = [[self._number(transform(v)) for v in values] for *_, transform in self._space.templates.views]
        return np.array(rows, np.int32).reshape(-1, len(values))

    def observe(self, X: Columns, threads: int = 1, *, learn: bool = False) -> Observations:
        """The attributes of some columns."""
        templates = self._space.templates
        if X.n_columns < templates.n_columns and X.n_tokens:
            raise ParsimonError(
                f"the templates refer to column {templates.n_columns - 1}, but the input has {X.n_columns} "
                f"column{'s' * (X.n_columns != 1)} besides the label (columns are counted from 0)."
            )
        inputs = np.empty((len(templates.views), X.n_tokens), np.int32)
        if not X.n_tokens:
            nothing = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32))
            return self._with_siblings(Observations(nothing, nothing, X.lengths, X.links))
        for i, (relation, column, transform) in enumerate(templates.views):
            ids = self._related(X, relation, column) if relation else X.ids[column]
            inputs[i] = ids if self._identity and not transform.spec else self._translated(i, ids)
        seen = Seen(inputs, self._before, self._after, offsets_of(X.lengths))

        def expand(expansion: Expansion, skip: int) -> Rows:
            if not expansion.templates:
                return Rows(np.zeros(X.n_tokens + 1, np.int64), np.zeros(0, np.int32))
            if learn:
                return Rows.from_table(expansion.extractor.learn(*seen.arrays, skip, threads))
            return SeenRows(expansion.extractor, seen, skip, threads)

        # There is no step into the first token of a sequence, but there may be one into the first node of a tree.
        first = 0 if X.links is not None else 1
        rows = expand(self._space._node, 0), expand(self._space._pair, first)
        return self._with_siblings(Observations(*rows, X.lengths, X.links))

    def _with_siblings(self, observations: Observations) -> Observations:
        """Add steps from siblings if labels depend on siblings."""
        siblings = self._space.siblings
        if siblings is None:
            return observations
        if observations.links is None:
            raise ParsimonError("labels depend on siblings, but the input has sequences, not trees.")
        return SIBLINGS[siblings](observations, self._space.first_sibling)

    def _related(self, X: Columns, relation: str, column: int) -> IntArray:
        """The column values of related nodes; a value such as ``_parent`` if there is no such node."""
        if X.links is None:
            raise ParsimonError(
                f"a template refers to a node's {relation}, but the input has sequences, not trees."
            )
        related = X.links.related(relation)
        return np.where(related < 0, self._strings.add(f"_{relation}"), X.ids[column][related]).astype(
            np.int32
        )

    def _translated(self, i: int, ids: IntArray) -> IntArray:
        """Translate column ids to value ids, computing the transform for new strings."""
        table = self._translate[i]
        if len(table) < len(self._strings):
            table = np.concatenate([table, np.full(len(self._strings) - len(table), -2, np.int32)])
        values = table[ids]
        if (values == -2).any():
            new = np.unique(ids[values == -2])
            *_, transform = self._space.templates.views[i]
            table[new] = [self._number(transform(text)) for text in self._strings.get_all(new)]
            values = table[ids]
        self._translate[i] = table
        return values


def _chosen(expansion: Expansion, wanted: BoolArray) -> list[IntArray]:
    offsets = expansion.extractor.offsets
    return [tuples[wanted[offsets[s] : offsets[s + 1]]] for s, tuples in enumerate(expansion.tuples())]


def _untested(expansion: Expansion) -> IntArray:
    offsets = expansion.extractor.offsets
    ranges = [
        np.arange(offsets[s], offsets[s + 1])
        for s, template in enumerate(expansion.representative)
        if not template.tests
    ]
    return np.concatenate([np.zeros(0, np.int64), *ranges]).astype(np.int64)
