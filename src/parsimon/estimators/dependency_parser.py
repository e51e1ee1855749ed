"""DependencyParser: the scikit-learn face of parser training and the parser model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from parsimon.arrays import Array, IntArray
from parsimon.data.treebanks import Treebank
from parsimon.errors import ParsimonError
from parsimon.estimators.fitted_model import FittedModel
from parsimon.estimators.threads import threads_of
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset, arc_preset_names
from parsimon.features.arc_templates import ArcTemplates
from parsimon.losses import Loss
from parsimon.penalties import ElasticNet, Penalty
from parsimon.selection.base import Selection
from parsimon.solvers import Event, Solver
from parsimon.tasks.model_file import load_model, save_model
from parsimon.tasks.parsing.model import DECODINGS, ParserModel
from parsimon.tasks.parsing.training import ParserTraining


class DependencyParser(FittedModel):
    """A dependency parser whose feature templates are chosen by learning.

    Trees are scored arc by arc; the best one is a maximum spanning arborescence, or a projective tree.

    Parameters
    ----------
    templates : str, Path or ArcTemplates
        Templates of arcs: a preset's name (``mcdonald``, ``martins-parsing``), a file, or `ArcTemplates`.
    loss : {"hinge", "log", "perceptron"} or Loss
        ``log`` is a conditional random field over trees.
    solver : str or Solver
        ``mira`` or ``sgd`` (online), or any solver that fits the loss and the penalty: ``lbfgs``, ``working-set``, …
    l1, l2 : float
        Strengths of the penalty on weights.
    penalty : Penalty or None
        Takes the place of `l1` and `l2`; for instance ``GroupLasso(5.0)``, which drops whole templates.
    selection : Selection or None
        A first stage that chooses templates, for instance ``Sparseptron(budget=200)``; all else is about the second.
    projective : bool
        Whether arcs must not cross.
    single_root : bool or None
        Whether one word only may hang on the root; ``None``: if it is so in all trees to learn from.
    decoding : {"mst", "minimum-risk"}
        The best tree, or the one with the largest sum of marginals.
    relations : str, Path, ArcTemplates or None
        Templates by which the relations of words to their heads are named, in a second step; ``None``: not at all.
    cutoff : int
        Attributes that fire on fewer arcs of the trees are left out.
    tol, max_iter, time_limit
        When to stop: optimality tolerance, iterations (or epochs), seconds.
    prune : float
        In the end, weights below this share of the root mean square of all that are not zero are dropped.
    patience, dev_tolerance
        How long to wait for a better score on the development set given to `fit`, and how far a score may be below
        the best for the sake of a smaller model.
    random_state : int
        For the order of online learning.
    n_jobs : int or None
        Threads; the result does not depend on them.
    callback : callable or None
        Called with every training `Event`.

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

    model_kind = "parser"

    def __init__(
        self,
        templates: str | Path | ArcTemplates = "mcdonald",
        *,
        loss: str | Loss = "hinge",
        solver: str | Solver = "mira",
        l1: float = 0.0,
        l2: float = 0.0,
        penalty: Penalty | None = None,
        selection: Selection | None = None,
        projective: bool = False,
        single_root: bool | None = None,
        decoding: str = "mst",
        relations: str | Path | ArcTemplates | None = "relations",
        cutoff: int = 1,
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        prune: float = 0.0,
        patience: int = 10,
        dev_tolerance: float = 0.0,
        random_state: int = 0,
        n_jobs: int | None = None,
        callback: Callable[[Event], Any] | None = None,
    ) -> None:
        self.templates = templates
        self.loss = loss
        self.solver = solver
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.selection = selection
        self.projective = projective
        self.single_root = single_root
        self.decoding = decoding
        self.relations = relations
        self.cutoff = cutoff
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.prune = prune
        self.patience = patience
        self.dev_tolerance = dev_tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(
        self,
        X: Treebank,
        y: Any = None,
        *,
        sample_weight: Array | None = None,
        dev: Treebank | None = None,
    ) -> DependencyParser:
        """Learns from a treebank X. `y` may give the head of every word in place of those in X."""
        if self.decoding not in DECODINGS:
            raise ParsimonError(f"decoding must be one of {', '.join(DECODINGS)}, not {self.decoding!r}.")
        treebank = as_treebank(X)
        if y is not None:
            treebank = treebank.with_heads(
                np.concatenate([np.asarray(heads) for heads in y]), treebank.relations
            )
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        space = ArcFeatures(as_arc_templates(self.templates), self.cutoff)
        self._take(self._training().fit(space, treebank, dev=dev, weights=weights))
        return self

    def predict(self, X: Treebank, *, given_heads: bool = False) -> Treebank:
        """The same sentences with the heads and relations that the parser gives them.

        Heads in X are not looked at; with `given_heads` they stay, and the others are the best that go with them.
        """
        return self._fitted().parse(
            as_treebank(X), decoding=self.decoding, given_heads=given_heads, threads=threads_of(self.n_jobs)
        )

    def predict_heads(self, X: Treebank) -> list[IntArray]:
        """For every sentence the heads of its words, 0 for the root."""
        treebank = as_treebank(X)
        heads = self._fitted().decode(treebank, decoding=self.decoding, threads=threads_of(self.n_jobs))
        return np.split(heads, np.cumsum(treebank.lengths)[:-1]) if len(treebank) else []

    def predict_marginals(self, X: Treebank) -> list[Array]:
        """P(head | sentence), exactly: for every sentence an array of words × heads, the root first."""
        return self._fitted().marginals(as_treebank(X), threads=threads_of(self.n_jobs))[0]

    def predict_kbest(self, X: Treebank, k: int = 5) -> list[list[tuple[float, IntArray]]]:
        """For every sentence its k best trees, as log-probability and heads, best first."""
        treebank = as_treebank(X)
        values, heads = self._fitted().kbest(treebank, k, threads=threads_of(self.n_jobs))
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
        heads = self._fitted().decode(treebank, decoding=self.decoding, threads=threads_of(self.n_jobs))
        return float(np.mean(heads == gold)) if len(gold) else 0.0

    def save(self, path: str | Path, *, dtype: str = "float64") -> None:
        """Writes the model file that `load` and the command line read."""
        save_model(self._fitted(), path, dtype=dtype)

    @classmethod
    def load(cls, path: str | Path, **parameters: Any) -> DependencyParser:
        """A fitted parser from a model file; `parameters` are those of the constructor."""
        model = load_model(path, "parser")
        settings = {
            "templates": model.space.templates,
            "projective": model.projective,
            "single_root": model.single_root,
            **parameters,
        }
        parser = cls(**settings)
        parser._take(model)
        return parser

    @property
    def coef_(self) -> Array:
        """The non-zero weights of arcs."""
        return self._fitted().weights

    def _take(self, model: ParserModel) -> None:
        self.model_ = model
        self.templates_ = model.space.templates
        self.n_features_ = len(model.weights)
        self.objective_ = model.info.get("objective")
        self.history_ = model.info.get("history", [])
        self.n_iter_ = len(self.history_)

    def _training(self) -> ParserTraining:
        return ParserTraining(
            loss=self.loss,
            penalty=self.penalty if self.penalty is not None else ElasticNet(l1=self.l1, l2=self.l2),
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            selection=self.selection,
            projective=self.projective,
            single_root=self.single_root,
            relations=None if self.relations is None else as_arc_templates(self.relations),
            patience=self.patience,
            dev_tolerance=self.dev_tolerance,
            prune=self.prune,
            seed=self.random_state,
            threads=threads_of(self.n_jobs),
            callbacks=() if self.callback is None else (self.callback,),
        )

    def _fitted(self) -> ParserModel:
        if not hasattr(self, "model_"):
            raise NotFittedError("this DependencyParser is not fitted yet; call fit first.")
        return self.model_


def as_treebank(X: Any) -> Treebank:
    """X, if it is a treebank."""
    if not isinstance(X, Treebank):
        raise ParsimonError(
            f"a parser learns from a Treebank, not from {type(X).__name__}; read one with parsimon.data.read_treebank."
        )
    return X


def as_arc_templates(templates: str | Path | ArcTemplates) -> ArcTemplates:
    """Templates by the name of a preset, from a file, or as they are."""
    if isinstance(templates, ArcTemplates):
        return templates
    if str(templates) in arc_preset_names():
        return arc_preset(str(templates))
    if not Path(templates).exists():
        raise ParsimonError(
            f"there is no file {str(templates)!r} of arc templates and no preset of that name; "
            f"presets are {', '.join(arc_preset_names())}."
        )
    return ArcTemplates.load(templates)
