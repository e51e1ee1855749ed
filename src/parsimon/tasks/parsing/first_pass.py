"""A first pass over the arcs of a sentence: a small parser that leaves few of them to the large one.

Most arcs can be ruled out by parts of speech, words and distance alone. The first pass scores all arcs with a few
templates, and leaves those whose score is within a margin of the best arc into the same word. The margin is such that
nearly all right arcs are left of sentences that it has not learnt from (cf. Charniak et al. 2006, Rush & Petrov 2012).

It is a conditional random field: what it leaves besides the best arcs depends on how much worse the others are, which
probabilities say better than margins of whole trees. Which word hangs on the root is not decided word by word, so the
arcs from the root are first raised until one of them is the best into its word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from parsimon._core import ArcScorer, ArcSentences
from parsimon.arrays import Array, IntArray
from parsimon.data.treebanks import Treebank
from parsimon.designs.arcs import build_arcs, score_arcs
from parsimon.designs.feature_index import FeatureIndex
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.losses import get_loss
from parsimon.penalties import L2
from parsimon.problem import Batch, InMemoryProblem
from parsimon.solvers import Decreasing, Online, Solver, Weights
from parsimon.structures.arborescence import Arborescence, ArcParts
from parsimon.tasks.sequences.model import SequenceModel

ARC = ("arc",)
TEMPLATES = "first-pass"  # the preset
HELD_OUT = 10  # every tenth sentence chooses the margin
LEAST_WORDS = 1000  # that are held out
KEPT = 0.997  # of the right arcs of what is held out
EPOCHS, STEP = 4, 0.1  # of learning
LONGEST = 250  # words in a sentence to learn from, for the time goes with the third power


@dataclass(frozen=True)
class FirstPass:
    """What leaves arcs: those within `margin` of the best one into the same word, by a small model of arcs."""

    arcs: SequenceModel
    margin: float

    @property
    def space(self) -> ArcFeatures:
        """The attributes of arcs that it looks at."""
        space = self.arcs.space
        assert isinstance(space, ArcFeatures)
        return space

    @cached_property
    def scorer(self) -> ArcScorer:
        """Its weights, laid out for scoring."""
        return self.space.scorer(self.arcs.weights)

    def leave(self, treebank: Treebank, sentences: ArcSentences, threads: int = 1) -> ArcSentences:
        """The sentences with the arcs that are left."""
        starts: list[IntArray] = [np.zeros(1, np.int64)]
        heads: list[IntArray] = [np.zeros(0, np.int32)]
        before = 0
        for _, trees, scores in self.scored(treebank, threads):
            start, head = trees.listed(trees.near_best(scores, self.margin))
            starts.append(start[1:] + before)
            heads.append(head)
            before += len(head)
        return sentences.only(np.concatenate(starts), np.concatenate(heads))

    def scored(self, treebank: Treebank, threads: int = 1) -> Iterator[tuple[slice, Arborescence, ArcParts]]:
        """Which tokens, their trees, and the scores of all arcs as they are compared, some sentences at a time."""
        found, lengths = self.space.observe(treebank), treebank.lengths
        for _, tokens, trees, scores in score_arcs(
            self.scorer, found, lengths, projective=False, single_root=False, threads=threads
        ):
            trees.raise_root_arcs(scores)
            yield tokens, trees, scores


@dataclass(frozen=True)
class FirstPassTask:
    """Learning a first pass from most of the sentences, and its margin from the others."""

    space: ArcFeatures
    problem: InMemoryProblem
    held_out: Treebank

    @classmethod
    def of(
        cls,
        treebank: Treebank,
        weights: Array | None = None,
        *,
        projective: bool = False,
        single_root: bool = True,
        threads: int = 1,
    ) -> FirstPassTask | None:
        """The problem of a treebank; None if there is too little to choose a margin by."""
        held_out = np.arange(len(treebank)) % HELD_OUT == HELD_OUT - 1
        chosen = ~held_out & (treebank.lengths <= LONGEST)
        if treebank.lengths[held_out].sum() < LEAST_WORDS or not chosen.any():
            return None
        known = treebank[chosen]
        space = ArcFeatures(arc_preset(TEMPLATES))
        sentences = space.learn(known, threads)
        built = build_arcs(
            space.dictionary, sentences, known.lengths, projective=projective, single_root=single_root,
            weights=None if weights is None else weights[chosen], threads=threads,
        )  # fmt: skip
        batches = tuple(Batch(design, trees, known.heads[tokens]) for _, tokens, design, trees in built)
        problem = InMemoryProblem(batches, get_loss("log").bind(ARC), L2(0.0), space.n_node)
        return cls(space, problem, treebank[held_out])

    @staticmethod
    def solver(seed: int) -> Solver:
        """What learns it."""
        return Online(EPOCHS, step=Decreasing(STEP), seed=seed)

    def first_pass(self, weights: Weights, threads: int = 1) -> FirstPass:
        """What the weights leave, with the smallest margin that leaves enough right arcs of what is held out."""
        index = FeatureIndex.all_labels(1, self.space.n_node, 0)
        model = FirstPass(SequenceModel.from_weights(ARC, self.space, index, weights, {}), 0.0)
        short = [
            trees.best_into_tokens(scores) - scores.arc[trees.places(self.held_out.heads[tokens])]
            for tokens, trees, scores in model.scored(self.held_out, threads)
        ]
        return FirstPass(model.arcs, float(np.quantile(np.concatenate(short), KEPT, method="higher")))
