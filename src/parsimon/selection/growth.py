"""Feature sets that grow: a longer test comes in only where the shorter tests that it contains are active.

With windows of two, three, five words the number of features explodes; but where a long test is of use, the shorter
ones within it nearly always are as well. So a model is trained on short tests for a few iterations, then longer
ones join in, only those whose parts have a weight by then, and so on (Lavergne, Cappé & Yvon 2010, §5.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from parsimon._core import FeatureRows
from parsimon.arrays import Array, BoolArray, IntArray
from parsimon.designs.feature_index import FeatureIndex
from parsimon.errors import ParsimonError
from parsimon.features.observations import Observations
from parsimon.features.space import FeatureSpace
from parsimon.features.template_features import Expansion, TemplateFeatures
from parsimon.features.templates import Template, TemplateSet, Test, as_templates
from parsimon.solvers.base import Result
from parsimon.weights import Weights

__all__ = ["Growing", "Grown", "GrownStage", "Growth", "Stage", "admitted", "parents_of"]

Rule = Literal["all", "any"]
Marks: TypeAlias = tuple[BoolArray, BoolArray]  # one for every attribute of tokens, and of steps


@dataclass(frozen=True)
class Stage:
    """Templates that join in: a template set, the name of a preset, or a file.

    They do so `after` that many iterations (epochs of an online learner) of the stage before, or earlier if that has
    converged; ``None`` waits until it has.
    """

    templates: str | Path | TemplateSet
    after: int | None = 10

    def __post_init__(self) -> None:
        if self.after is not None and (self.after < 1 or self.after != int(self.after)):
            raise ParsimonError(
                f"a stage joins in after 1 or more iterations of the stage before, not after {self.after}."
            )


@dataclass(frozen=True)
class Growth:
    """A schedule of template sets, after those that training begins with.

    A *parent* of a template is one of earlier stages whose tests are all among its own; only the largest are
    looked at, so a trigram goes by the bigrams in it if there are any, or else by the single words. What it makes of
    a token comes in if for all of its parents (``parents="any"``: for at least one) what they make of the same token
    is active: has a weight other than zero, with any label or pair of labels. A template without parents comes in
    whole.

    That is looked into whenever a stage begins, for the templates of all stages but the first; what is active stays.

    >>> from parsimon.features import ngrams
    >>> Growth([Stage(ngrams(n=2, window=1), after=5), Stage(ngrams(n=3, window=1))]).parents
    'all'
    """

    stages: Sequence[Stage]
    parents: Rule = "all"

    def __post_init__(self) -> None:
        object.__setattr__(self, "stages", tuple(self.stages))
        if not self.stages:
            raise ParsimonError(
                "growth needs at least one stage, as in Growth([Stage('bigrams.tpl', after=10)])."
            )
        if self.parents not in get_args(Rule):
            raise ParsimonError(f"parents must be 'all' or 'any', not {self.parents!r}.")

    def schedule(self, first: TemplateSet) -> list[TemplateSet]:
        """The templates of every stage, the first included; those that an earlier stage has are left out."""
        total, out = first, [first]
        for number, stage in enumerate(self.stages, start=2):
            named = as_templates(stage.templates)
            known = set(total)
            new = TemplateSet(tuple(t for t in named if t not in known), named.boundary)
            if not len(new):
                raise ParsimonError(
                    f"stage {number} has no template that is not in an earlier one; leave the stage out."
                )
            _check_apart(total, new, number)
            total = total + new
            out.append(new)
        return out


def _check_apart(earlier: TemplateSet, new: TemplateSet, number: int) -> None:
    """Templates with the same text share attributes, so they must all be of one stage."""
    owner = {template.skeleton: template for template in earlier}
    for template in new:
        if template.skeleton in owner:
            raise ParsimonError(
                f"template {template.source!r} of stage {number} would share its attributes with "
                f"{owner[template.skeleton].source!r} of an earlier stage; give it another id."
            )


# --- Who comes in -------------------------------------------------------------------------------------------


def parents_of(tests: frozenset[Test], shorter: Iterable[frozenset[Test]]) -> list[frozenset[Test]]:
    """The largest of the shorter sets of tests that lie within a set; empty sets do not count.

    >>> def tests(text): return frozenset(Template.parse(text).tests)
    >>> shorter = [tests(text) for text in ("U1:%x[0,0]", "U2:%x[1,0]", "U3:%x[-1,0]/%x[0,0]", "B")]
    >>> parents = parents_of(tests("U4:%x[-1,0]/%x[0,0]/%x[1,0]"), shorter)
    >>> parents == [tests("U2:%x[1,0]"), tests("U3:%x[-1,0]/%x[0,0]")]
    True
    """
    within = [other for other in dict.fromkeys(shorter) if other and other <= tests]
    return [other for other in within if not any(other < larger for larger in within)]


def admitted(space: TemplateFeatures, stage: Mapping[str, int], active: Marks, rule: Rule = "all") -> Marks:
    """Which attributes may be in the model, when some are active; `stage` is that of each skeleton.

    Templates that share attributes are of one stage; an attribute may come in if one of them lets it in.
    """
    combine = np.logical_and if rule == "all" else np.logical_or
    node, pair = (
        list(_made(expansion, stage, marks))
        for expansion, marks in zip(space.expansions, active, strict=True)
    )
    out = active[0].copy(), active[1].copy()
    for made, allowed in zip((node, pair), out, strict=True):
        for one in made:
            earlier = [other for other in (*node, *pair) if other.stage < one.stage]
            parents = parents_of(one.tests, (other.tests for other in earlier))
            if not parents:
                allowed[one.own] = True
                continue
            seen = []
            for parent in parents:
                tests = list(parent)
                known = [other.seen(tests)[other.active] for other in earlier if other.tests == parent]
                seen.append(_among(one.seen(tests), np.concatenate(known)))
            allowed[one.own] |= combine.reduce(seen)
    return out


@dataclass(frozen=True)
class _Made:
    """What a template has made of tokens, or of steps."""

    template: Template
    tests: frozenset[Test]
    stage: int
    own: slice  # the numbers of its attributes
    tuples: IntArray  # their string ids, a column a test
    active: BoolArray

    def seen(self, tests: Sequence[Test]) -> IntArray:
        """The string ids of some of its tests."""
        return self.tuples[:, [self.template.tests.index(test) for test in tests]]


def _made(expansion: Expansion, stage: Mapping[str, int], active: BoolArray) -> Iterator[_Made]:
    offsets, tuples = expansion.extractor.offsets.tolist(), expansion.tuples()
    number = {template.skeleton: s for s, template in enumerate(expansion.representative)}
    for template in expansion.templates:
        s = number[template.skeleton]
        own = slice(offsets[s], offsets[s + 1])
        tests = frozenset(template.tests)
        yield _Made(template, tests, stage[template.skeleton], own, tuples[s], active[own])


def _among(rows: IntArray, known: IntArray) -> BoolArray:
    """Whether each row of ids is one of the known rows."""
    out = np.ones(len(rows), bool)
    for column, ids in zip(rows.T, known.T, strict=True):  # most rows are out after this
        out &= np.isin(column, ids)
    if rows.shape[1] == 1:
        return out
    left = np.flatnonzero(out)
    both = np.concatenate([known, rows[left]]).astype(np.int64)
    code = both[:, 0]
    for column in both.T[1:]:  # ids and codes have at most 31 bits
        _, code = np.unique(code << 32 | column, return_inverse=True)
    out[left] = np.isin(code[len(known) :], code[: len(known)])
    return out


# --- Stage after stage --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GrownStage:
    """What a stage had, and what it learnt: its templates with those before, and how many attributes were admitted."""

    templates: int
    attributes: int
    possible_attributes: int
    features: int = 0
    candidate_features: int = 0
    objective: float = 0.0
    until: int = 0  # the number of its last iteration

    def __str__(self) -> str:
        return (
            f"{self.templates} templates, {self.attributes:,} of {self.possible_attributes:,} attributes, "
            f"{self.features:,} of {self.candidate_features:,} features, objective {self.objective:,.6g}"
        )


@dataclass(frozen=True)
class Grown:
    """How a model grew."""

    parents: Rule
    stages: tuple[GrownStage, ...]

    def to_dict(self) -> dict[str, Any]:
        """For a model file."""
        return {"parents": self.parents, "stages": [asdict(stage) for stage in self.stages]}


class Growing:
    """One run through a schedule: for every stage `enter`, `carried`, and when it has been trained `leave`.

    Attributes are numbered template by template in order of first occurrence, and templates of later stages come
    last. So among *all* attributes, whether they are in or not, one has the same number in every stage; what is active
    is remembered by these numbers.
    """

    def __init__(self, growth: Growth, space: FeatureSpace) -> None:
        if not isinstance(space, TemplateFeatures):
            raise ParsimonError("feature sets can only grow where there are templates; give some.")
        self._growth = growth
        self._sets = growth.schedule(space.templates)
        self._cutoff = space.cutoff
        self._stage = {t.skeleton: k for k, templates in enumerate(self._sets) for t in templates}
        self._numbers: list[IntArray] = []  # of the attributes that are in
        # Of tokens and of steps: attributes, labels or pairs of labels, and their weights.
        self._weights: list[tuple[IntArray, IntArray, Array]] = [
            (np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0))
        ] * 2
        self._stages: list[GrownStage] = []

    def __len__(self) -> int:
        return len(self._sets)

    def lasts(self, stage: int) -> int | None:
        """After how many iterations the next stage begins."""
        return self._growth.stages[stage].after

    def enter(self, stage: int, X: Any, threads: int) -> tuple[TemplateFeatures, Observations]:
        """The attributes that are in from this stage on."""
        templates = self._sets[0]
        for more in self._sets[1 : stage + 1]:
            templates = templates + more
        space = TemplateFeatures(templates, self._cutoff)
        observations = space.number(X, threads)
        frequent = space.frequent(observations)
        allowed = admitted(space, self._stage, self._active(space), self._growth.parents)
        node, pair = frequent[0] & allowed[0], frequent[1] & allowed[1]
        self._numbers = [np.flatnonzero(node), np.flatnonzero(pair)]
        possible = int(frequent[0].sum() + frequent[1].sum())
        self._stages.append(GrownStage(len(templates), int(node.sum() + pair.sum()), possible))
        if node.all() and pair.all():
            return space, observations
        return space.narrow(node, pair), observations.keep(node, pair)

    def _active(self, space: TemplateFeatures) -> Marks:
        node, pair = np.zeros(space.n_node, bool), np.zeros(space.n_pair, bool)
        for marks, (numbers, _, _) in zip((node, pair), self._weights, strict=True):
            marks[numbers] = True
        return node, pair

    def carried(self, index: FeatureIndex) -> Weights:
        """The weights of the stage before, as those of this stage's features."""
        features, values = [], []
        shift = 0
        for rows, here, (numbers, column, theirs) in zip(
            (index.node, index.pair), self._numbers, self._weights, strict=True
        ):
            features.append(rows.find(np.searchsorted(here, numbers), column) + shift)
            values.append(theirs)
            shift += rows.n_features
        return Weights(np.concatenate(values), np.concatenate(features), index.n_features)

    def leave(self, index: FeatureIndex, result: Result) -> Grown:
        """Remembers what the stage has learnt."""
        kept = result.weights.nonzero()
        assert kept.features is not None
        self._weights = [
            (here[attribute], column, values)
            for here, (attribute, column, values) in zip(
                self._numbers, _described(index, kept.features, kept.values), strict=True
            )
        ]
        self._stages[-1] = replace(
            self._stages[-1],
            features=len(kept.values),
            candidate_features=index.n_features,
            objective=result.objective,
            until=result.history[-1].iteration,
        )
        return Grown(self._growth.parents, tuple(self._stages))

    @property
    def now(self) -> str:
        """A description of the present stage."""
        stage = self._stages[-1]
        attributes = f"{stage.attributes:,} of {stage.possible_attributes:,} attributes"
        return f"stage {len(self._stages)} of {len(self)}, {attributes}"


def _described(
    index: FeatureIndex, features: IntArray, values: Array
) -> Iterator[tuple[IntArray, IntArray, Array]]:
    """Ascending features as attributes and columns with values: those of tokens, then those of steps."""
    node, pair = index.split(features)
    parts: list[tuple[FeatureRows, IntArray, Array]] = [
        (index.node, node, values[: len(node)]),
        (index.pair, pair, values[len(node) :]),
    ]
    for rows, numbers, theirs in parts:
        yield *rows.describe(np.ascontiguousarray(numbers, np.int64)), theirs
