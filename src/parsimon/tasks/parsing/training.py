"""From a treebank to a fitted parser: connects features, problem, solver and model. Contains no algorithms.

First templates are selected, if requested; then arcs are learnt; then, on the gold trees, the relations of words to
their heads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from parsimon._core import ArcSentences
from parsimon.arrays import Array, IntArray
from parsimon.data.treebanks import Treebank
from parsimon.designs.arcs import ArcDesign, build_arcs
from parsimon.designs.feature_table import FeatureTable
from parsimon.errors import ParsimonError, warn
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import as_arc_templates
from parsimon.features.arc_templates import ArcTemplates
from parsimon.losses import get_loss
from parsimon.magnitudes import checked_weights
from parsimon.problem import Batch, InMemoryProblem
from parsimon.selection import Candidates, Selected, Selection
from parsimon.selection.information_gain import arc_information_gain
from parsimon.solvers import Online, PassiveAggressive, Result, Status, Weights
from parsimon.structures.arborescence import Arborescence, ArcParts
from parsimon.structures.projectivity import make_projective
from parsimon.tasks.parsing.first_pass import FirstPass, FirstPassTask
from parsimon.tasks.parsing.model import ParserModel, in_order, index_of_arcs
from parsimon.tasks.parsing.options import ParserOptions
from parsimon.tasks.parsing.relations import RelationTask, relation_names
from parsimon.tasks.selecting import described_selection, keeps_features, kept_features, select
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.training import Run, Trained, Training, cut_short

ARC = ("arc",)


@dataclass(frozen=True)
class Parsed:
    """The training data: the feature space of arcs, and sentences with their trees."""

    space: ArcFeatures
    treebank: Treebank
    weights: Array | None = None  # how much each sentence counts


@dataclass(kw_only=True)
class ParserTraining(ParserOptions, Training[Parsed, ParserModel]):
    """How a parser is trained. `fit` runs the whole training; the other methods are its parts.

    >>> import io
    >>> from parsimon.data import read_treebank
    >>> from parsimon.features.arc_presets import arc_preset
    >>> from parsimon.tasks.parsing.training import ParserTraining
    >>> rows = "1\\tDogs\\t_\\tNOUN\\t_\\t_\\t2\\tnsubj\\t_\\t_\\n2\\tbark\\t_\\tVERB\\t_\\t_\\t0\\troot\\t_\\t_\\n"
    >>> treebank = read_treebank(io.BytesIO(rows.encode()))
    >>> model = ParserTraining(max_iter=5).fit(ArcFeatures(arc_preset("mcdonald")), treebank)
    >>> model.decode(treebank).tolist()
    [2, 0]
    """

    kind: ClassVar[str] = "parser"
    group_strength: ClassVar[str] = "group_lasso"

    def fit(
        self,
        space: ArcFeatures,
        treebank: Treebank,
        *,
        dev: Treebank | None = None,
        weights: Array | None = None,
    ) -> ParserModel:
        """Learns attributes and weights, and keeps those that are not zero."""
        return self.run(Parsed(space, treebank, weights), dev=dev).model

    def check(self) -> None:
        """Refuses invalid values, and templates of relations that do not exist."""
        super().check()
        self._relation_templates()

    def content(self, data: Parsed) -> Sequence[Any]:
        """Templates and trees."""
        relations, space = self._relation_templates(), data.space
        named = None if relations is None else relations.dumps()
        return [space.templates.dumps(), space.cutoff, named, data.treebank, data.weights]

    def train(
        self, data: Parsed, run: Run, *, dev: Treebank | None = None, start: ParserModel | None = None
    ) -> Trained[ParserModel]:
        """Learns arcs, after the selection of templates if there is one; then relations."""
        if start is not None:
            raise ParsimonError("a parser is always learnt from the beginning; leave out what to start from.")
        if dev is not None:
            check_trees(dev, None)
        if self.relations is not None:
            relation_names(data.treebank)  # refused before arcs are learnt
        run.phase("making features")
        task = self._task(data, run)
        task = replace(task, first_pass=self._first_pass(data, task, run))
        run.phase("training")
        result = self.solve(task, None, run, dev=dev, only=task.kept)
        arcs = Trained(task.model(result, self.describe(task, result)), result)
        del task  # before the relations make their own
        return arcs if result.status is Status.INTERRUPTED else self._with_relations(arcs, data, run)

    def prepare(self, space: ArcFeatures, treebank: Treebank, weights: Array | None = None) -> ParserTask:
        """Numbers attributes and sets up the problem, after the selection of templates if there is one."""
        self.check()
        return self._task(Parsed(space, treebank, weights), Run(self.time_limit, self.callbacks))

    # ---- arcs ------------------------------------------------------------------------------------------------

    def _task(self, data: Parsed, run: Run) -> ParserTask:
        if self.selection is None:
            return self._task_of(data)
        names = data.space.template_names()
        if keeps_features(self.selection, self.keep, self.solver):
            task = replace(self._task_of(data), selection=self.selection)
            selected = select(self.selection, task.candidates, run, names)
            return replace(task, selected=selected, kept=kept_features(selected, task.problem.n_features))
        selected = select(self.selection, lambda: self._task_of(data).candidates(), run, names)
        run.phase("making features")
        smaller = replace(data, space=data.space.only(selected.kept))
        return replace(self._task_of(smaller), selection=self.selection, selected=selected)

    def _task_of(self, data: Parsed) -> ParserTask:
        space, treebank = data.space, data.treebank
        check_trees(treebank, data.weights)
        trees = Trees(self.projective, self._single_root(treebank), self.n_threads)
        treebank = self._possible(treebank)
        sentences = space.learn(treebank, self.n_threads)
        arcs = trees.arcs(space, sentences, treebank, data.weights)
        batches = tuple(each.batch for each in arcs)
        penalty = self.chosen_penalty.bind(FeatureTable(space, index_of_arcs(space), ARC))
        problem = InMemoryProblem(batches, get_loss(self.loss).bind(ARC), penalty, space.n_node)
        return ParserTask(space, problem, treebank, trees, arcs)

    def _first_pass(self, data: Parsed, task: ParserTask, run: Run) -> FirstPass | None:
        """What rules out most arcs, learnt from most of the sentences."""
        if not self.first_pass:
            return None
        run.phase("learning the first pass")
        first = FirstPassTask.of(
            task.treebank,
            data.weights,
            projective=task.trees.projective,
            single_root=task.trees.single_root,
            threads=self.n_threads,
        )
        if first is None:
            return None
        none = Weights.zeros(first.problem.n_features)
        result = run.fit(
            "first pass", first.solver(self.seed), first.problem, none, callbacks=(), needed=True
        )
        return first.first_pass(result.weights, self.n_threads)

    def _single_root(self, treebank: Treebank) -> bool:
        many = np.flatnonzero(treebank.n_roots > 1)
        if self.single_root and len(many):
            raise ParsimonError(
                f"{treebank.name}, sentence {many[0] + 1} has {treebank.n_roots[many[0]]} roots; "
                "do not ask for a single root, or leave such sentences out."
            )
        return not len(many) if self.single_root is None else self.single_root

    def _possible(self, treebank: Treebank) -> Treebank:
        """The treebank with trees that the parser can predict. The score of any other tree would grow without bound."""
        if not self.projective:
            return treebank
        trees = np.split(treebank.heads, np.cumsum(treebank.lengths)[:-1])
        straight = [make_projective(heads) for heads in trees]
        changed = sum(not np.array_equal(a, b) for a, b in zip(trees, straight, strict=True))
        if not changed:
            return treebank
        warn(
            f"{changed:,} of {len(treebank):,} trees of {treebank.name} have arcs that cross; a projective parser "
            "learns from what is left when these are lifted."
        )
        return treebank.with_heads(np.concatenate(straight), treebank.relations)

    # ---- relations -------------------------------------------------------------------------------------------

    def _relation_templates(self) -> ArcTemplates | None:
        return None if self.relations is None else as_arc_templates(self.relations)

    def _with_relations(self, arcs: Trained[ParserModel], data: Parsed, run: Run) -> Trained[ParserModel]:
        """The parser with a classifier of relations, which MIRA learns from words with their heads.

        Ctrl-C keeps the classifier learnt so far. After the time limit, one epoch is still run, because there would be
        no relations without it.
        """
        templates = self._relation_templates()
        if templates is None:
            return arcs
        try:
            run.phase("learning relations")
            task = RelationTask.of(templates, data.treebank, data.weights, self.n_threads)
        except KeyboardInterrupt:
            return cut_short(arcs, Status.INTERRUPTED)
        if task is None:
            return arcs
        solver = Online(self.relation_epochs, step=PassiveAggressive(), seed=self.seed)
        none = Weights.zeros(task.problem.n_features)
        result = run.fit("relations", solver, task.problem, none, callbacks=())
        kept = result.weights.without_small(self.prune) if self.prune > 0 else result.weights
        whole = replace(arcs, model=replace(arcs.model, relations=task.model(kept)))
        return whole if result.status is Status.DONE else cut_short(whole, result.status)


@dataclass(frozen=True)
class Arcs:
    """The arcs of some sentences."""

    design: ArcDesign
    trees: Arborescence
    heads: IntArray  # of their words

    @property
    def batch(self) -> Batch:
        """The same for a problem."""
        return Batch(self.design, self.trees, self.heads)


@dataclass(frozen=True)
class Trees:
    """Which trees are possible, and the number of threads."""

    projective: bool
    single_root: bool
    n_threads: int = 1

    def arcs(
        self,
        space: ArcFeatures,
        sentences: ArcSentences,
        treebank: Treebank,
        weights: Array | None = None,
    ) -> tuple[Arcs, ...]:
        """The arcs of all sentences in parts of bounded size."""
        built = build_arcs(
            space.dictionary,
            sentences,
            treebank.lengths,
            projective=self.projective,
            single_root=self.single_root,
            weights=weights,
            threads=self.n_threads,
        )
        return tuple(Arcs(design, trees, treebank.heads[tokens]) for _, tokens, design, trees in built)


@dataclass(frozen=True)
class ParserTask:
    """A learning problem and the meaning of its features."""

    space: ArcFeatures
    problem: InMemoryProblem
    treebank: Treebank
    trees: Trees
    arcs: tuple[Arcs, ...]
    selection: Selection | None = None
    selected: Selected | None = None  # what that has left of the templates
    kept: IntArray | None = None  # the features that it has left, if no others are learnt with
    first_pass: FirstPass | None = None  # learning is from all arcs; predictions are of those that it leaves

    @property
    def features(self) -> FeatureTable:
        """What the features mean."""
        return FeatureTable(self.space, index_of_arcs(self.space), ARC)

    def model(self, result: Result, info: dict[str, Any]) -> ParserModel:
        """The parser with the weights of a result, without relations."""
        arcs = SequenceModel.from_weights(ARC, self.space, index_of_arcs(self.space), result.weights, {})
        return ParserModel(
            in_order(arcs), None, self.trees.projective, self.trees.single_root, info, self.first_pass
        )

    def facts(self) -> dict[str, Any]:
        """What the model records about the data."""
        names, chosen = self.space.template_names(), None
        if self.selection is not None and self.selected is not None:
            kept = None if self.kept is None else len(self.kept)
            names = self.selected.names
            chosen = described_selection(self.selection, self.selected, kept)
        return {
            "candidate_features": self.problem.n_features,
            "candidate_attributes": self.space.n_node,
            "candidate_templates": len(names),
            "sentences": len(self.treebank),
            "tokens": self.treebank.n_tokens,
            "format": self.treebank.format,
            "selection": chosen,
        }

    def development_score(self, dev: Treebank) -> Callable[[Weights], float]:
        """Scores weights on other trees: the share of words with the right head."""
        sentences = self.space.observe(dev)
        if self.first_pass is not None:
            sentences = self.first_pass.leave(dev, sentences, self.trees.n_threads)
        arcs = self.trees.arcs(self.space, sentences, dev)
        problem = replace(self.problem, batches=tuple(each.batch for each in arcs))

        def score(weights: Weights) -> float:
            predicted = zip(problem.predict(weights), arcs, strict=True)
            right = sum(int(np.sum(heads == each.heads)) for heads, each in predicted)
            return right / max(dev.n_tokens, 1)

        return score

    def candidates(self) -> Candidates:
        """What a selection chooses from."""
        return Candidates(self.problem, self.features, self.gains)

    def gains(self) -> Array:
        """The information gain of every template about whether an arc is in a tree."""
        on_trees, on_arcs = np.zeros(self.space.n_node), np.zeros(self.space.n_node)
        n_arcs = 0
        for each in self.arcs:
            design = each.design
            _, fired = design.dictionary.attributes(
                design.sentences, design.first, design.last, each.heads, design.threads
            )
            on_trees += np.bincount(fired, minlength=len(on_trees))
            design.pullback(ArcParts(np.ones(design.n_arcs)), on_arcs)
            n_arcs += int(np.sum(each.trees.lengths**2))
        template = self.space.node_templates(np.arange(self.space.n_node))
        n_words = self.treebank.n_tokens
        return arc_information_gain(on_trees, on_arcs, n_words, n_arcs, template, len(self.space.templates))


def check_trees(treebank: Treebank, weights: Array | None) -> None:
    """Refuses treebanks without words or with incomplete trees."""
    if not treebank.n_tokens:
        raise ParsimonError(f"{treebank.name} has no words; it should have one a line, with its head.")
    missing = np.flatnonzero(treebank.heads < 0)
    if len(missing):
        sentence = int(np.searchsorted(np.cumsum(treebank.lengths), missing[0], side="right")) + 1
        raise ParsimonError(
            f"{treebank.name}, sentence {sentence}: a word has no head; a parser learns from complete trees."
        )
    checked_weights(weights, len(treebank), "sentence")
