"""From a treebank to a fitted parser: the wiring of features, problem, solver and model. No algorithms.

Arcs are learnt first, templates chosen before that if asked for; then, on the trees of the treebank, the relations of
words to their heads.
"""

from __future__ import annotations

import json
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from parsimon._core import ArcSentences
from parsimon.arrays import Array
from parsimon.data.treebanks import Treebank
from parsimon.designs.arcs import build_arcs
from parsimon.designs.feature_index import FeatureIndex
from parsimon.designs.feature_table import FeatureTable
from parsimon.errors import ParsimonError
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.features.arc_templates import ArcTemplates
from parsimon.losses import Loss, get_loss, settings_of
from parsimon.memory import at_most
from parsimon.penalties import L2, ElasticNet, Penalty
from parsimon.problem import Batch, Problem
from parsimon.selection.base import Candidates, Selected, Selection
from parsimon.selection.information_gain import arc_information_gain
from parsimon.solvers import (
    Event,
    Monitor,
    Online,
    PassiveAggressive,
    Result,
    Solver,
    Status,
    Validation,
    Weights,
    choose_solver,
    drive,
)
from parsimon.solvers.base import thinned
from parsimon.solvers.driver import keep
from parsimon.structures.arborescence import ArcParts
from parsimon.structures.projectivity import make_projective
from parsimon.tasks.checkpoint import Checkpoint, ended, lasting_settings, load_checkpoint, save_checkpoint
from parsimon.tasks.parsing.model import ParserModel, index_of_arcs, observe_arcs
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import make_batches

ARC = ("arc",)


@dataclass(frozen=True)
class ParserTraining:
    """How to train. `fit` does it; the parts of it are there for experiments."""

    loss: str | Loss = "hinge"
    penalty: Penalty = field(default_factory=lambda: ElasticNet(l1=0.0, l2=0.0))
    solver: str | Solver = "mira"
    tol: float | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    selection: Selection | None = None
    projective: bool = False
    single_root: bool | None = None  # None: if all sentences to learn from have one
    relations: ArcTemplates | None = field(default_factory=lambda: arc_preset("relations"))
    relation_epochs: int = 10
    patience: int = 10
    dev_tolerance: float = 0.0
    prune: float = 0.0
    seed: int = 0
    threads: int = 1
    memory: int | None = None  # bytes; more is refused
    callbacks: Sequence[Callable[[Event], Any]] = ()
    checkpoint: Path | None = None
    checkpoint_every: float = 30.0
    resume: bool = False

    def fit(
        self,
        space: ArcFeatures,
        treebank: Treebank,
        *,
        dev: Treebank | None = None,
        weights: Array | None = None,
    ) -> ParserModel:
        """Learns attributes and weights, and keeps what is not zero."""
        return self.run(space, treebank, dev=dev, weights=weights)[0]

    def run(
        self,
        space: ArcFeatures,
        treebank: Treebank,
        *,
        dev: Treebank | None = None,
        weights: Array | None = None,
        began: float | None = None,
        tell: Callable[[str], Any] = lambda phase: None,
    ) -> tuple[ParserModel, Result]:
        """What `fit` does, with the solver's result; `tell` hears what is being done."""
        began = time.perf_counter() if began is None else began
        with at_most(self.memory):
            kept = self._kept(space, treebank, weights)
            task = self.prepare(space, treebank, weights, selected=None if kept is None else kept.selected)
            tell("training")
            result = self.solve(task, dev=dev, began=began, kept=kept)
            arcs = task.model(result.weights)
            info = self.describe(task, result)
            single_root = task.single_root
            del task, kept  # before the relations make their own
            relations = None
            if self.relations is not None and result.status is not Status.INTERRUPTED:
                tell("learning relations")
                relations, interrupted = self._learn_relations(treebank, weights)
                if interrupted:
                    result = replace(result, status=Status.INTERRUPTED)
                    info = {**info, "status": result.status.value}
            return ParserModel(arcs, relations, self.projective, single_root, info), result

    def prepare(
        self,
        space: ArcFeatures,
        treebank: Treebank,
        weights: Array | None = None,
        *,
        selected: Selected | None = None,
    ) -> ParserTask:
        """Numbers attributes and sets the problem up; with a selection, only templates that it keeps.

        `selected` is what it has kept before, which saves doing it again.
        """
        mark = "" if self.checkpoint is None else self._mark(space, treebank, weights)
        if self.selection is None:
            return replace(self._task(space, treebank, weights), mark=mark)
        if selected is None:
            task = self._task(space, treebank, weights)
            monitor = Monitor(callbacks=self.callbacks, time_limit=self.time_limit)
            selected = self.selection.select(Candidates(task.problem, task.features, task.gains), monitor)
            del task  # before the second stage makes its own
        smaller = self._task(space.only(selected.kept), treebank, weights)
        return replace(smaller, selected=selected, mark=mark)

    # ---- checkpoints ---------------------------------------------------------------------------------------

    def _kept(self, space: ArcFeatures, treebank: Treebank, weights: Array | None) -> Checkpoint | None:
        """What to go on from; refused if it belongs to something else, before any work."""
        if self.checkpoint is None or not self.resume:
            return None
        return load_checkpoint(self.checkpoint, self._mark(space, treebank, weights))

    def _mark(self, space: ArcFeatures, treebank: Treebank, weights: Array | None) -> str:
        """Tells data and settings apart, so that a checkpoint is only taken up by the training it belongs to."""
        loss = get_loss(self.loss)
        told = [space.templates.dumps(), space.cutoff, loss.name, settings_of(loss), repr(self.penalty)]
        told += [self.projective, self.single_root, repr(self.selection)]
        told += lasting_settings(self.solver, self.max_iter, self.seed)
        mark = zlib.crc32(json.dumps(told).encode(), zlib.crc32(treebank.text))
        for values in (treebank.lengths, treebank.heads, weights):
            mark = mark if values is None else zlib.crc32(np.ascontiguousarray(values).data, mark)
        return f"{mark:08x}-{len(treebank)}-{treebank.n_tokens}"

    # ---- stages --------------------------------------------------------------------------------------------

    def _task(self, space: ArcFeatures, treebank: Treebank, weights: Array | None) -> ParserTask:
        check_trees(treebank, weights)
        single_root = self._single_root(treebank)
        treebank = self._possible(treebank)
        sentences = space.learn(treebank, self.threads)
        batches = self._batches(space, sentences, treebank, single_root, weights)
        features = FeatureTable(space, index_of_arcs(space), ARC)
        problem = Problem(batches, get_loss(self.loss).bind(ARC), self.penalty.bind(features), space.n_node)
        return ParserTask(space, problem, treebank, single_root)

    def _single_root(self, treebank: Treebank) -> bool:
        many = np.flatnonzero(treebank.n_roots > 1)
        if self.single_root and len(many):
            raise ParsimonError(
                f"{treebank.name}, sentence {many[0] + 1} has {treebank.n_roots[many[0]]} roots; "
                "do not ask for a single root, or leave such sentences out."
            )
        return not len(many) if self.single_root is None else self.single_root

    def _possible(self, treebank: Treebank) -> Treebank:
        """With trees that the parser could give: a tree that is not among them would be pushed up for ever."""
        if not self.projective:
            return treebank
        trees = np.split(treebank.heads, np.cumsum(treebank.lengths)[:-1])
        straight = [make_projective(heads) for heads in trees]
        changed = sum(not np.array_equal(a, b) for a, b in zip(trees, straight, strict=True))
        if not changed:
            return treebank
        warnings.warn(
            f"{changed:,} of {len(treebank):,} trees of {treebank.name} have arcs that cross; a projective parser "
            "learns from what is left when these are lifted.",
            RuntimeWarning,
            stacklevel=3,
        )
        return treebank.with_heads(np.concatenate(straight), treebank.relations)

    def _batches(
        self,
        space: ArcFeatures,
        sentences: ArcSentences,
        treebank: Treebank,
        single_root: bool,
        weights: Array | None = None,
    ) -> tuple[Batch, ...]:
        built = build_arcs(
            space.dictionary,
            sentences,
            treebank.lengths,
            projective=self.projective,
            single_root=single_root,
            weights=weights,
            threads=self.threads,
        )
        return tuple(Batch(design, trees, treebank.heads[tokens]) for _, tokens, design, trees in built)

    def solve(
        self,
        task: ParserTask,
        *,
        dev: Treebank | None = None,
        began: float | None = None,
        kept: Checkpoint | None = None,
    ) -> Result:
        """Runs the solver, perhaps from a checkpoint, then drops small weights if asked for."""
        monitor = Monitor(
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            callbacks=self.callbacks,
            checkpoint_every=self.checkpoint_every,
            started=began if began is not None else time.perf_counter(),
            counted_from=0,
        )
        solver = self.choose_solver(task)
        if dev is not None:
            check_trees(dev, None)
            monitor.validation = Validation(
                self.development_score(task, dev),
                every=getattr(solver, "validate_every", 5),
                patience=self.patience,
                tolerance=self.dev_tolerance,
            )
        if self.checkpoint is not None:
            monitor.checkpoint = partial(
                save_checkpoint, self.checkpoint, task.mark, selected=task.selected, exactly=True
            )
        start = Weights.zeros(task.problem.n_features) if kept is None else kept.take_up(monitor)
        if self.checkpoint is not None and kept is None and task.selected is not None:
            keep(monitor, start)  # at once: choosing may have taken long
        result = ended(solver, start, monitor) or drive(solver, task.problem, start, monitor)
        if self.prune > 0:
            result = replace(result, weights=result.weights.without_small(self.prune))
        return result

    def choose_solver(self, task: ParserTask) -> Solver:
        """The solver, told how many epochs to run if it counts them, and which features its groups have."""
        solver = choose_solver(self.solver, task.problem, self.tol)
        if hasattr(solver, "epochs") and self.max_iter is not None:
            solver = replace(solver, epochs=self.max_iter)  # type: ignore[type-var]
        if isinstance(self.solver, str) and hasattr(solver, "seed"):
            solver = replace(solver, seed=self.seed)  # type: ignore[type-var]
        return solver.bind(task.features) if hasattr(solver, "bind") else solver

    def development_score(self, task: ParserTask, dev: Treebank) -> Callable[[Weights], float]:
        """Scores weights on other trees: the share of words with the right head."""
        batches = self._batches(task.space, task.space.observe(dev), dev, task.single_root)

        def score(weights: Weights) -> float:
            kept = weights.nonzero()
            assert kept.features is not None
            right = 0
            for batch in batches:
                small = batch.restrict(kept.features)
                heads = small.structure.argmax(small.design.scores(kept.values))[1]
                right += int(np.sum(heads == batch.gold))
            return right / max(dev.n_tokens, 1)

        return score

    def learn_relations(self, treebank: Treebank, weights: Array | None = None) -> SequenceModel | None:
        """What names relations: a classifier of words with their heads, by MIRA. None if there is nothing to tell."""
        return self._learn_relations(treebank, weights)[0]

    def _learn_relations(
        self, treebank: Treebank, weights: Array | None
    ) -> tuple[SequenceModel | None, bool]:
        """The same, and whether Ctrl-C has cut it short."""
        assert self.relations is not None
        labels = treebank.relations
        known = [name for name in labels.names if name != "_"]
        if not known:
            return None, False
        named = labels.renumbered(known)
        space = ArcFeatures(self.relations)
        sentences = space.learn(treebank, self.threads)
        observations = observe_arcs(space, treebank, treebank.heads, sentences)
        gold = np.where(treebank.heads >= 0, named.ids, -1).astype(np.int32)
        index = FeatureIndex.seen_pairs(observations, gold, len(known), space.n_node, 0)
        chosen = gold >= 0
        if not chosen.all():
            raise ParsimonError(
                f"{treebank.name} has {int((~chosen).sum()):,} words without relation, but others have one; "
                "give all of them, or train without relations."
            )
        each = None if weights is None else np.repeat(weights, treebank.lengths)
        batches = tuple(make_batches(observations, gold, index, self.threads, each))
        problem = Problem(batches, get_loss("hinge").bind(tuple(known)), L2(0.0), index.n_features)
        solver = Online(self.relation_epochs, step=PassiveAggressive(), seed=self.seed)
        result = drive(solver, problem, Weights.zeros(problem.n_features), Monitor())
        kept = result.weights.without_small(self.prune) if self.prune > 0 else result.weights
        model = SequenceModel.from_weights(tuple(known), space, index, kept, {})
        return model, result.status is Status.INTERRUPTED

    def describe(self, task: ParserTask, result: Result) -> dict[str, Any]:
        """What a model remembers of its training. Not how long it took: the same training makes the same file."""
        penalty = task.problem.penalty
        return {
            "loss": get_loss(self.loss).name,
            "penalty": repr(penalty),
            "candidate_features": task.problem.n_features,
            "candidate_attributes": task.space.n_node,
            "candidate_templates": len(
                task.space.templates if task.selected is None else task.selected.names
            ),
            "sentences": len(task.treebank),
            "tokens": task.treebank.n_tokens,
            "format": task.treebank.format,
            "selection": None if task.selected is None else self._described(task.selected),
            "solver": self.solver if isinstance(self.solver, str) else self.solver.name,
            "prune": self.prune,
            "seed": self.seed,
            "status": result.status.value,
            "objective": result.objective,
            "kkt": result.kkt,
            "gap": result.gap,
            "history": thinned(result.history),
        }

    def _described(self, selected: Selected) -> dict[str, Any]:
        assert self.selection is not None
        return {
            "name": self.selection.name,
            "templates": [[name, round(score, 6)] for name, score in selected.order if score > 0],
            "instantiated": max((n for event in selected.history for n in event.instantiated), default=None),
            "history": thinned(selected.history),
        }


@dataclass(frozen=True)
class ParserTask:
    """A problem together with what its features mean."""

    space: ArcFeatures
    problem: Problem
    treebank: Treebank
    single_root: bool
    selected: Selected | None = None
    mark: str = ""  # tells data and settings apart

    @property
    def features(self) -> FeatureTable:
        """What the features mean."""
        return FeatureTable(self.space, index_of_arcs(self.space), ARC)

    def gains(self) -> Array:
        """The information gain of every template about whether an arc is in a tree."""
        on_trees, on_arcs = np.zeros(self.space.n_node), np.zeros(self.space.n_node)
        n_arcs = 0
        for batch in self.problem.batches:
            design: Any = batch.design
            _, fired = design.dictionary.attributes(design.sentences, design.first, design.last, batch.gold)
            on_trees += np.bincount(fired, minlength=len(on_trees))
            design.pullback(ArcParts(np.ones(design.n_arcs)), on_arcs)
            structure: Any = batch.structure
            n_arcs += int(np.sum(structure.lengths**2))
        template = self.space.node_templates(np.arange(self.space.n_node))
        n_words = self.treebank.n_tokens
        return arc_information_gain(on_trees, on_arcs, n_words, n_arcs, template, len(self.space.templates))

    def model(self, weights: Weights) -> SequenceModel:
        """The features that are left, as a model with one label."""
        return SequenceModel.from_weights(ARC, self.space, index_of_arcs(self.space), weights, {})


def check_trees(treebank: Treebank, weights: Array | None) -> None:
    """Refuses what nothing can be learnt from."""
    if not treebank.n_tokens:
        raise ParsimonError(f"{treebank.name} has no words; it should have one a line, with its head.")
    missing = np.flatnonzero(treebank.heads < 0)
    if len(missing):
        sentence = int(np.searchsorted(np.cumsum(treebank.lengths), missing[0], side="right")) + 1
        raise ParsimonError(
            f"{treebank.name}, sentence {sentence}: a word has no head; a parser learns from complete trees."
        )
    if weights is not None and (
        len(weights) != len(treebank) or not np.all(np.isfinite(weights)) or np.any(weights < 0)
    ):
        raise ParsimonError("sentence weights must be finite and not negative, one for every sentence.")
