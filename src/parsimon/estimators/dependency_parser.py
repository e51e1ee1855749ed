"""DependencyParser: the scikit-learn face of parser training and the parser model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from parsimon.arrays import Array, IntArray
from parsimon.data.treebanks import Treebank
from parsimon.errors import ParsimonError
from parsimon.estimators.estimator import Estimator, documented
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import as_arc_templates
from parsimon.features.arc_templates import ArcTemplates
from parsimon.magnitudes import checked_weights
from parsimon.tasks.options import FILES, RUNNING, option
from parsimon.tasks.parsing.model import DECODINGS, MST, ParserModel
from parsimon.tasks.parsing.options import ParserOptions
from parsimon.tasks.parsing.training import Parsed, ParserTraining


@documented
@dataclass(eq=False, repr=False)
class DependencyParser(ParserOptions, Estimator):
    """A dependency parser whose feature templates are chosen by learning.

    Trees are scored arc by arc; the best one is a maximum spanning arborescence, or a projective tree.

    Examples
    --------
    >>> import io
    >>> from parsimon import DependencyParser
    >>> from parsimon.data import read_treebank
    >>> rows = "1\\tDogs\\t_\\tNOUN\\t_\\t_\\t2\\tnsubj\\t_\\t_\\n2\\tbark\\t_\\tVERB\\t_\\t_\\t0\\troot\\t_\\t_\\n"
    >>> treebank = read_treebank(io.BytesIO(rows.encode()))
    >>> parser = DependencyParser(max_iter=5).fit(treebank)
    >>> parsed = parser.predict(treebank)
    >>> parsed.heads.tolist(), parsed.values("deprel"), parser.score(treebank)
    ([2, 0], ['nsubj', 'root'], 1.0)
    """

    training_class: ClassVar[type[ParserTraining]] = ParserTraining
    model_class: ClassVar[type[ParserModel]] = ParserModel

    templates: str | Path | ArcTemplates = option(
        "mcdonald",
        "Templates of arcs: the name of a preset ('mcdonald', 'martins-parsing'), a file, or ArcTemplates.",
        FILES,
        positional=True,
    )
    decoding: str = option(
        MST,
        "How to predict: 'mst' gives the best tree, 'minimum-risk' the tree with the largest sum of marginals.",
        RUNNING,
        choices=DECODINGS,
    )

    def fit(
        self,
        X: Treebank,
        y: Any = None,
        *,
        sample_weight: Array | None = None,
        dev: Treebank | None = None,
    ) -> Self:
        """Learns from a treebank X. `y` may give the head of every word in place of those in X."""
        self.check()
        treebank = as_treebank(X)
        if y is not None:
            treebank = treebank.with_heads(_heads_of_words(y), treebank.relations)
        weights = checked_weights(sample_weight, len(treebank), "sentence")
        space = ArcFeatures(as_arc_templates(self.templates), self.cutoff)
        self._fit(Parsed(space, treebank, weights), dev=None if dev is None else as_treebank(dev))
        return self

    def predict(self, X: Treebank, *, given_heads: bool = False) -> Treebank:
        """The same sentences with predicted heads and relations.

        Heads in X are ignored. With `given_heads` they are kept, and the remaining heads are predicted.
        """
        parsed: Treebank = self._fitted().parse(
            as_treebank(X), decoding=self.decoding, given_heads=given_heads, threads=self.n_threads
        )
        return parsed

    def predict_heads(self, X: Treebank) -> list[IntArray]:
        """For every sentence the heads of its words, 0 for the root."""
        treebank = as_treebank(X)
        heads = self._fitted().decode(treebank, decoding=self.decoding, threads=self.n_threads)
        return np.split(heads, np.cumsum(treebank.lengths)[:-1]) if len(treebank) else []

    def predict_marginals(self, X: Treebank) -> list[Array]:
        """P(head | sentence), exactly: for every sentence an array of words × heads, the root first."""
        marginals: list[Array] = self._fitted().marginals(as_treebank(X), threads=self.n_threads)[0]
        return marginals

    def predict_kbest(self, X: Treebank, k: int = 5) -> list[list[tuple[float, IntArray]]]:
        """For every sentence its k best trees, as log-probability and heads, best first."""
        treebank = as_treebank(X)
        values, heads = self._fitted().kbest(treebank, k, threads=self.n_threads)
        ends = np.cumsum(treebank.lengths)
        return [
            [(float(values[r, i]), heads[r, end - n : end]) for r in range(k) if values[r, i] > -np.inf]
            for i, (end, n) in enumerate(zip(ends.tolist(), treebank.lengths.tolist(), strict=True))
        ]

    def score(self, X: Treebank, y: Any = None) -> float:
        """UAS: the share of words with the right head, punctuation included."""
        treebank = as_treebank(X)
        gold = treebank.heads if y is None else np.concatenate([np.asarray(heads) for heads in y])
        if np.any(gold < 0):
            raise ParsimonError(
                f"{treebank.name} has words without a head, so there is nothing to compare with."
            )
        heads = self._fitted().decode(treebank, decoding=self.decoding, threads=self.n_threads)
        return float(np.mean(heads == gold)) if len(gold) else 0.0

    def _take(self, model: ParserModel) -> None:
        super()._take(model)
        self.templates_ = model.space.templates
        self.n_features_ = len(model.weights)

    @classmethod
    def _settings_of(cls, model: ParserModel) -> dict[str, Any]:
        return {
            "templates": model.space.templates,
            "projective": model.projective,
            "single_root": model.single_root,
        }


def as_treebank(X: Any) -> Treebank:
    """X, if it is a treebank."""
    if not isinstance(X, Treebank):
        raise ParsimonError(
            f"a parser learns from a Treebank, not from {type(X).__name__}; read one with parsimon.data.read_treebank."
        )
    return X


def _heads_of_words(y: Any) -> IntArray:
    """The heads of all words, sentence after sentence."""
    try:
        return np.concatenate([np.asarray(heads) for heads in y])
    except (TypeError, ValueError, OverflowError):
        raise ParsimonError("y must have a list of heads, one for every word, for each sentence.") from None
