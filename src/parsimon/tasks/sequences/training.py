"""From labelled sequences to a fitted model: connects features, problem, solver and model. Contains no algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.designs.chains import build_chain, width
from parsimon.designs.feature_index import FeatureIndex
from parsimon.designs.feature_table import FeatureTable
from parsimon.errors import ParsimonError
from parsimon.features.columns import Columns, Labels
from parsimon.features.node_kinds import NodeKinds
from parsimon.features.observations import Observations
from parsimon.features.space import FeatureSpace
from parsimon.features.template_features import TemplateFeatures
from parsimon.label_values import LabelValues
from parsimon.losses import get_loss
from parsimon.magnitudes import checked_weights
from parsimon.penalties import Penalty
from parsimon.problem import Batch, InMemoryProblem
from parsimon.selection import Candidates, Growth, Selected
from parsimon.selection.growth import Growing, Grown
from parsimon.selection.information_gain import information_gain
from parsimon.solvers import Event, Result, Status, Weights
from parsimon.structures.label_schemes import Transitions
from parsimon.structures.workspace import Workspace
from parsimon.tasks import naming
from parsimon.tasks.label_counts import OF_TOKENS, check_label_counts
from parsimon.tasks.selecting import described_selection, keeps_features, kept_features, select
from parsimon.tasks.sequences.metrics import SpanCounter, has_spans
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.options import LabellingOptions, SequenceOptions
from parsimon.tasks.sequences.second_order import TagPairs
from parsimon.tasks.training import (
    Run,
    Trained,
    along_path,
    cut_short,
    debiased,
    largest_strength,
)
from parsimon.tasks.trees.seen_below import seen_below
from parsimon.tasks.tuning import Family, TunedTraining

BATCH = 1 << 17  # part scores (tokens × labels) in one batch: 1 MB, so that they stay in a core's own cache
EVENLY = (
    16  # more batches than this come in multiples of it: so many groups of them are worked on side by side
)


@dataclass(frozen=True)
class Labelled:
    """The training data: input, what makes features of it, and labels."""

    space: FeatureSpace
    X: Any
    y: Labels
    weights: Array | None = None  # how much each sequence counts
    kinds: NodeKinds | None = None  # in trees: which labels a node may have


@dataclass(kw_only=True)
class LabellingTraining(LabellingOptions, TunedTraining[Labelled, SequenceModel]):
    """Training of sequences and of trees. `fit` runs the whole training; the other methods are its parts."""

    group_strength: ClassVar[str] = "group_lasso"
    model_class: ClassVar[type[SequenceModel]] = SequenceModel
    order: int = 1
    token_labels: str = "both"
    tag_pairs: str = "seen"
    growth: Growth | None = None

    def fit(
        self,
        space: FeatureSpace,
        X: Any,
        y: Labels,
        *,
        dev: tuple[Any, Labels] | None = None,
        weights: Array | None = None,
        start: SequenceModel | None = None,
    ) -> SequenceModel:
        """Learns attributes and weights, and keeps those that are not zero."""
        return self.run(Labelled(space, X, y, weights), dev=dev, start=start).model

    def content(self, data: Labelled) -> Sequence[Any]:
        """Templates, input and labels."""
        return [*data.space.state(), data.X, data.y, data.weights]

    def train(
        self, data: Labelled, run: Run, *, dev: Any = None, start: SequenceModel | None = None
    ) -> Trained[SequenceModel]:
        """Fits one problem, after the selection of templates if there is one, or several as the features grow."""
        data = self.limited(data)
        if dev is not None and data.kinds is not None:
            dev = data.kinds.limit(dev[0]), dev[1]
        if self.growth is not None:
            return self._grow(self.growth, data, run, dev, start)
        run.phase("making features")
        task = self._task(data, run)
        first = task.weights_of(start) if start is not None else Weights.zeros(task.problem.n_features)
        run.phase("training")
        result = self.solve(task, first, run, dev=dev)
        return Trained(self.model_of(task, result), result)

    def limited(self, data: Labelled) -> Labelled:
        """The data with limits on the labels of each token, if there are any."""
        return data

    def finished(self, task: Any, result: Result, run: Run) -> Result:
        """The result after pruning and debiasing, if requested."""
        result = super().finished(task, result, run)
        if self.debias is not None and result.status is not Status.INTERRUPTED:
            result = debiased(task, result, self.debias, run)
        return result

    def model_of(self, task: SequenceTask, result: Result) -> SequenceModel:
        """The model with a description of its training."""
        return task.model(result, self.describe(task, result))

    def describe(self, task: Any, result: Result) -> dict[str, Any]:
        """What the model records about its training."""
        selected = task.selected
        selection = None
        if self.selection is not None and selected is not None:
            kept = None if task.kept is None else len(task.kept)
            selection = described_selection(self.selection, selected, kept)
        return {
            **super().describe(task, result),
            "penalize_bias": self.penalize_bias,
            "candidates": self.candidates,
            "order": self.order,
            "debias": self.debias,
            "selection": selection,
        }

    # ---- a feature set that grows ------------------------------------------------------------------------------

    def _grow(
        self, growth: Growth, data: Labelled, run: Run, dev: Any, start: SequenceModel | None
    ) -> Trained[SequenceModel]:
        """Fits one stage after another, each with a warm start from the one before.

        Ctrl-C or the time limit ends any stage. Development data, pruning and debiasing are for the last stage only.
        """
        if self.selection is not None:
            raise ParsimonError("templates can be selected or grown, but not both; leave one of them out.")
        growing = Growing(growth, data.space)
        fitted: Trained[SequenceModel] | None = None
        for stage in range(len(growing)):
            run.phase(f"stage {stage + 1} of {len(growing)}: making features")
            try:
                task = self._task_of(*growing.enter(stage, data.X, self.n_threads), data)
            except KeyboardInterrupt:
                if fitted is None:
                    raise
                return cut_short(fitted, Status.INTERRUPTED)
            first = growing.carried(task.index)
            if start is not None and stage == 0:
                first = task.weights_of(start)
            run.phase(growing.now)
            last = stage == len(growing) - 1
            history = fitted.result.history if fitted is not None else ()
            if last:
                result = self.solve(task, first, run, dev=dev, name=f"stage {stage + 1}", history=history)
            else:
                result = self._for_a_while(task, first, run, growing, stage, history)
            stopped = not last and result.status.stopped_early
            if stopped:
                result = self.finished(task, result, run)
            task = replace(task, grown=growing.leave(task.index, result))
            fitted = Trained(self.model_of(task, result), result)
            if stopped:
                break
            del task  # before the next stage makes its own
        assert fitted is not None
        return fitted

    def _for_a_while(
        self,
        task: SequenceTask,
        first: Weights,
        run: Run,
        growing: Growing,
        stage: int,
        history: Sequence[Event],
    ) -> Result:
        """A stage before the last, with the number of iterations of the schedule."""
        iterations = growing.lasts(stage)
        # Online learners must know how many epochs they run.
        solver = replace(self, max_iter=iterations).solver_for(task)
        return run.fit(
            f"stage {stage + 1}",
            solver,
            task.problem,
            first,
            max_iter=iterations,
            history=history,
            proper_end=(Status.ITERATIONS,),
            whole=True,  # which attributes come in later depends on every bit
        )

    # ---- problems ----------------------------------------------------------------------------------------------

    def prepare(self, space: FeatureSpace, X: Any, y: Labels, weights: Array | None = None) -> SequenceTask:
        """Numbers attributes and features and sets up the problem, after the selection of templates if there is one."""
        self.check()
        if self.growth is not None:
            raise ParsimonError(
                "a feature set that grows is not one problem, so no path or largest strength can be found; use fit."
            )
        data = self.limited(Labelled(space, X, y, weights))
        return self._task(data, Run(self.time_limit, self.callbacks))

    def _task(self, data: Labelled, run: Run) -> SequenceTask:
        space = data.space
        if self.selection is None:
            return self._task_of(space, space.learn(data.X, self.n_threads), data)
        if not isinstance(space, TemplateFeatures):
            raise ParsimonError("templates can only be selected where there are templates; give some.")
        names = space.template_names()
        if keeps_features(self.selection, self.keep, self.solver):
            observations = space.learn(data.X, self.n_threads)
            task = self._task_of(space, observations, data)
            selected = select(self.selection, lambda: _candidates(task, observations, data.y), run, names)
            return replace(task, selected=selected, kept=kept_features(selected, task.problem.n_features))
        selected = select(self.selection, lambda: self._all_candidates(data), run, names)
        smaller = space.only(selected.kept)
        run.phase("making features")
        return replace(self._task_of(smaller, smaller.learn(data.X, self.n_threads), data), selected=selected)

    def _all_candidates(self, data: Labelled) -> Candidates:
        """Those of a first stage that leaves no trace, because a resumed run skips it."""
        alone = replace(data, X=data.X.with_own_strings())
        observations = alone.space.learn(alone.X, self.n_threads)
        return _candidates(self._task_of(alone.space, observations, alone), observations, alone.y)

    def _task_of(self, space: FeatureSpace, observations: Observations, data: Labelled) -> SequenceTask:
        y, weights = data.y, checked_weights(data.weights, len(data.y), "sequence")
        check_labels(observations, y)
        naming.check_labels(y.names)
        check_label_counts(len(y.names), len(y.ids), "tokens", OF_TOKENS)
        pairs = self._pairs(y)
        labels = y.names if pairs is None else pairs.names
        index = self._candidate_features(space, observations, y, pairs)
        features = FeatureTable(space, index, labels)
        penalty = self._penalty_on(features)
        below = None if observations.first_sibling is None else seen_below(observations, y)
        batches = tuple(make_batches(observations, y.ids, index, self.n_threads, weights, below))
        problem = InMemoryProblem(batches, get_loss(self.loss).bind(y.names), penalty, index.n_features)
        return SequenceTask(
            space,
            index,
            labels,
            problem,
            observations.n_tokens,
            label_values=data.y.values,
            pairs=pairs,
            below=below,
            kinds=data.kinds,
            metric=self.dev_metric,
            n_threads=self.n_threads,
        )

    def _penalty_on(self, features: FeatureTable) -> Penalty:
        penalty = self.chosen_penalty.bind(features)
        if self.penalize_bias:
            return penalty
        exempt: Penalty = penalty.exempt(features.bias_features(), features.index.n_features)
        return exempt

    def _candidate_features(
        self, space: FeatureSpace, observations: Observations, y: Labels, pairs: TagPairs | None
    ) -> FeatureIndex:
        if pairs is not None:
            paired = self.token_labels != "tags"
            if self.candidates == "seen":
                return FeatureIndex.second_order_seen(
                    observations, y.ids, pairs.labels, space.n_node, space.n_pair, paired=paired
                )
            return FeatureIndex.second_order(pairs.labels, space.n_node, space.n_pair, paired=paired)
        if self.candidates == "seen":
            return FeatureIndex.seen_pairs(observations, y.ids, len(y.names), space.n_node, space.n_pair)
        return FeatureIndex.all_labels(len(y.names), space.n_node, space.n_pair)

    def _pairs(self, y: Labels) -> TagPairs | None:
        """With order 2, what labels of features are made of."""
        if self.order == 1:
            return None
        return TagPairs.of(y, single=self.token_labels != "pairs", seen=self.tag_pairs == "seen")

    # ---- strengths ---------------------------------------------------------------------------------------------

    def families(self) -> Sequence[Family]:
        """The path of l1, of one set of features."""
        if self.penalty is not None:
            raise ParsimonError(
                "tune=True chooses l1, and a penalty object takes its place; leave one of them out."
            )
        if self.growth is not None or self.selection is not None:
            raise ParsimonError(
                "tune=True chooses l1 for all features, so templates can neither be selected nor grow; leave one out."
            )
        return [Family("l1", {"l2": self.l2}, least=1e-5, a_decade=3)]

    def classes_of(self, data: Labelled) -> IntArray:
        """None: sequences have no class."""
        return np.zeros(len(data.y), np.int64)

    def ready(self, data: Labelled) -> Labelled:
        """With the limits on labels that the whole data have."""
        return self.limited(data)

    def part(self, data: Labelled, chosen: IntArray) -> Labelled:
        """Some of the sequences."""
        weights = None if data.weights is None else data.weights[chosen]
        X: Any = data.X
        X = [X[i] for i in chosen.tolist()] if isinstance(X, list | tuple) else X[chosen]
        y: Any = data.y
        return replace(data, X=X, y=y[chosen], weights=weights)

    def held_out(self, data: Labelled) -> tuple[Any, Labels]:
        """Input and labels."""
        return data.X, data.y

    def task(self, data: Labelled) -> SequenceTask:
        """The features of some data, in a space of their own, and their problem."""
        space: Any = data.space
        own = replace(data, space=replace(space), X=_with_own_strings(data.X))
        return self._task_of(own.space, own.space.learn(own.X, self.n_threads), own)

    def scored_on(self, task: SequenceTask, dev: Any) -> Callable[[Weights], float]:
        """With the limits on labels that training has."""
        return task.development_score(dev if task.kinds is None else (task.kinds.limit(dev[0]), dev[1]))

    def again(self, task: SequenceTask) -> SequenceTask:
        """The same data with the strengths of this training."""
        return replace(task, problem=task.problem.with_penalty(self._penalty_on(task.features)))

    def path(
        self, space: FeatureSpace, X: Any, y: Labels, strengths: Sequence[float]
    ) -> Iterator[tuple[float, SequenceModel]]:
        """Models for decreasing strengths of the penalty, each with a warm start from the one before."""
        return along_path(self, self.prepare(space, X, y), strengths)

    def max_strength(self, space: FeatureSpace, X: Any, y: Labels) -> float:
        """The smallest strength of the penalty at which every weight that it can drop is zero."""
        task = self.prepare(space, X, y)
        return largest_strength(task.problem if task.kept is None else task.problem.restrict(task.kept))


@dataclass(kw_only=True)
class SequenceTraining(SequenceOptions, LabellingTraining):
    """How a sequence labeller is trained.

    >>> from parsimon.features import Columns, Labels, TemplateFeatures, TemplateSet
    >>> from parsimon.tasks.sequences.training import SequenceTraining
    >>> X, y = Columns.from_sequences([["a", "b"], ["b"]] * 5), Labels.from_sequences([["A", "B"], ["B"]] * 5)
    >>> model = SequenceTraining(l1=0.1).fit(TemplateFeatures(TemplateSet.parse("U:%x[0,0]")), X, y)
    >>> list(model.predict_columns(Columns.from_sequences([["b", "a"]])))
    [['B', 'A']]
    """

    kind: ClassVar[str] = "sequence"

    def model_of(self, task: SequenceTask, result: Result) -> SequenceModel:
        """The model, with the scheme that its predictions keep to."""
        model = super().model_of(task, result)
        return replace(model, scheme=self.scheme) if isinstance(self.scheme, str) else model


@dataclass(frozen=True)
class SequenceTask:
    """A learning problem and the meaning of its features."""

    space: FeatureSpace
    index: FeatureIndex
    labels: tuple[str, ...]
    problem: InMemoryProblem
    n_tokens: int
    selected: Selected | None = None
    kept: IntArray | None = None  # the features that a selection has left, if no others are learnt with
    grown: Grown | None = None
    pairs: TagPairs | None = None  # with order 2, what labels of features are made of
    below: Transitions | None = None  # in trees with steps from siblings: which labels may be below which
    kinds: NodeKinds | None = None  # in trees: which labels a node may have
    label_values: LabelValues = field(default_factory=dict)  # of tags that are no texts
    metric: str = "auto"  # of development data
    n_threads: int = 1

    @property
    def features(self) -> FeatureTable:
        """Descriptions of the features."""
        return FeatureTable(self.space, self.index, self.labels)

    def model(self, result: Result, info: dict[str, Any]) -> SequenceModel:
        """The model with the weights of a result."""
        order = 1 if self.pairs is None else 2
        model = SequenceModel.from_weights(self.labels, self.space, self.index, result.weights, info, order)
        if self.kept is not None and self.selected is not None:
            assert isinstance(model.space, TemplateFeatures)
            model = replace(model, space=model.space.without_empty(self.selected.kept))
        return replace(model, label_values=self.label_values)

    def facts(self) -> dict[str, Any]:
        """What the model records about the data."""
        names = self.space.template_names() if self.selected is None else self.selected.names
        return {
            "candidate_features": self.problem.n_features,
            "candidate_attributes": self.space.n_node + self.space.n_pair,
            "candidate_templates": len(names),
            "sequences": self.problem.n_instances,
            "tokens": self.n_tokens,
            "growth": None if self.grown is None else self.grown.to_dict(),
        }

    def development_score(self, dev: tuple[Any, Labels]) -> Callable[[Weights], float]:
        """A function that scores weights on development data by span F1 or token accuracy."""
        (X, y), metric, threads = dev, self.metric, self.n_threads
        observations = self.space.observe(X, threads)
        check_labels(observations, y)
        tags = self.labels if self.pairs is None else self.pairs.tags
        names = [*tags, *(name for name in y.names if name not in tags)]
        gold = y.renumbered(names).ids
        counter = SpanCounter(names) if metric == "f1" or (metric == "auto" and has_spans(names)) else None
        batches = tuple(make_batches(observations, gold, self.index, threads, allowed=self.below))
        problem = replace(self.problem, batches=batches)

        def score(weights: Weights) -> float:
            ids = np.concatenate(list(problem.predict(weights)))
            if counter is None:
                return float(np.mean((ids == gold)[gold >= 0]))
            return counter.count(gold, ids, observations.lengths).f1

        return score

    def weights_of(self, model: SequenceModel) -> Weights:
        """The weights of a model, numbered as in this task. Unknown features are left out."""
        label = {name: i for i, name in enumerate(self.labels)}
        place = np.array([label.get(name, -1) for name in model.labels])
        Y, n = len(self.labels), self.index.node.n_features
        found: list[tuple[IntArray, Array]] = []
        cut = model.index.node.n_features
        for part, rows, values, names, known in (
            (0, model.index.node, model.weights[:cut], model.space.node_names, self.space.node_names),
            (1, model.index.pair, model.weights[cut:], model.space.pair_names, self.space.pair_names),
        ):
            here = self.index.pair if part else self.index.node
            number = {name: a for a, name in enumerate(known(np.arange(here.n_attributes)))}
            attribute, column = rows.describe(np.arange(rows.n_features, dtype=np.int64))
            translate = np.array(
                [number.get(name, -1) for name in names(np.arange(rows.n_attributes))], np.int64
            )
            if part:
                x, y = place[column // model.n_labels], place[column % model.n_labels]
                column = np.where((x >= 0) & (y >= 0), x * Y + y, -1)
            else:
                column = place[column]
            where = here.find(translate[attribute] if len(attribute) else attribute, column.astype(np.int32))
            known_features = where >= 0
            found.append((where[known_features] + part * n, values[known_features]))
        features = np.concatenate([f for f, _ in found])
        order = np.argsort(features)
        return Weights(np.concatenate([v for _, v in found])[order], features[order], self.problem.n_features)


def _with_own_strings(X: Any) -> Any:
    """Columns whose strings nothing else adds to; other input is as it is."""
    return X.with_own_strings() if isinstance(X, Columns) else X


def _candidates(task: SequenceTask, observations: Observations, y: Labels) -> Candidates:
    """What a selection chooses from."""
    return Candidates(
        task.problem, task.features, partial(_template_gains, task.features, observations, y.ids)
    )


def _template_gains(features: FeatureTable, observations: Observations, gold: IntArray) -> Array:
    """The information gain of every template about the label."""
    owner, _ = features.template_of_attributes()
    return information_gain(observations, gold, features.n_labels, owner, len(features.template_names()))


def make_batches(
    observations: Observations,
    gold: IntArray,
    index: FeatureIndex,
    threads: int,
    weights: Array | None = None,
    allowed: Transitions | None = None,
) -> Iterator[Batch]:
    """Batches so small that part scores stay in the cache."""
    workspace = Workspace()
    number = observations.n_tokens * width(observations, index, allowed) / BATCH
    if number > EVENLY:
        number = EVENLY * np.ceil(number / EVENLY)
    size = max(int(observations.n_tokens / max(number, 1)), 1)
    for chosen, tokens, part in observations.batches(size):
        design, chain = build_chain(
            part,
            index,
            weights=None if weights is None else weights[chosen],
            allowed=allowed,
            threads=threads,
            workspace=workspace,
        )
        yield Batch(design, chain, gold[tokens])


def check_labels(observations: Observations, y: Labels) -> None:
    """Refuses data in which not every token has a label (or None)."""
    if len(observations.lengths) != len(y.lengths):
        raise ParsimonError(
            f"there are {len(observations.lengths)} sequences but labels for {len(y.lengths)}."
        )
    differ = np.flatnonzero(observations.lengths != y.lengths)
    if len(differ):
        i = int(differ[0])
        raise ParsimonError(f"sequence {i} has {observations.lengths[i]} tokens but {y.lengths[i]} labels.")
    if not len(y.names):
        raise ParsimonError("no token has a label, so there is nothing to learn.")
