"""MarkovNetwork: the scikit-learn face of learning which columns of a table depend on each other."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from parsimon.arrays import Array
from parsimon.data.discrete_table import MAX_STATES, DiscreteTable, check_weights, encode
from parsimon.errors import ParsimonError
from parsimon.penalties import Penalty
from parsimon.solvers import Event, Solver
from parsimon.tasks.model_file import load_model, save_model
from parsimon.tasks.networks.model import NetworkModel
from parsimon.tasks.networks.strengths import NetworkPath
from parsimon.tasks.networks.training import SOLVER, NetworkFit, NetworkTraining


class MarkovNetwork(BaseEstimator):
    """A sparse Markov network of the columns of a table: which depend on each other, given all the others, and how.

    Minimises Σ loss + alpha · Ω over the rows. P(x) ∝ exp(Σ_v s_v(x_v) + Σ_{uv} s_uv(x_u, x_v)); all pairs of columns
    are candidates, and those whose weights end at zero are no edges. With binary columns Ω is the L1 norm of one weight
    an edge (an Ising model); with more states, a group lasso with a group for every edge, by the root of its size.

    Parameters
    ----------
    alpha : float, {"bic", "ebic", "cv"} or None
        Strength of the penalty. Losses are summed, so it grows with the number of rows. Or how it is chosen along a
        path: by the Bayesian information criterion, the extended one (Foygel & Drton 2010), or held-out rows. ``None``
        leaves it to a penalty object.
    penalty : {"auto", "l1", "group"} or Penalty
        An object is one of all features: those of the columns in turn, then those of the pairs of columns.
    loss : {"pseudo-likelihood", "log"}
        The pseudo-likelihood (Besag 1975) has an exact gradient on any graph. ``log`` is the likelihood, as far as
        `inference` finds it.
    inference : {"bp", "exact"}
        Belief propagation, exact on trees and otherwise an approximation; or a junction tree, for small networks.
    node_share : float
        Weights of single columns (with products in edges taken from their means) are penalised by this share of
        alpha, so that rare states stay finite.
    solver : str or Solver
        How to minimise.
    unit : int or None
        How many features or groups a grafting solver adds at a time.
    gamma : float
        Of the extended BIC: 0 is BIC, 1 the most cautious.
    cv : int
        Folds of ``alpha="cv"``.
    n_alphas, alpha_min_ratio
        The path: so many strengths, from the one at which the first edge comes in down to that share of it. It ends
        early when five in a row are no better than the best.
    stability : int or None
        Stability selection (Meinshausen & Bühlmann 2010) on so many random halves of the rows: edges that are found on
        a share of at least `stability_threshold` are kept, and their weights learnt again nearly without penalty.
    stability_threshold : float
        That share.
    max_states : int
        Columns with more different values are refused.
    random_state : int, RandomState or None
        Chooses folds and halves, and what `sample` draws.
    max_iter, tol
        When a fit stops.
    threads : int
        Threads; the result does not depend on them.
    verbose : int
        Above zero: lines about how it goes, on standard error.
    callback : callable or None
        Called with every training `Event`.

    Attributes
    ----------
    edges_ : list of pairs of names
    edge_weights_ : array
        The strength of each edge: the norm of its weights; of two binary columns, the weight itself, above zero if both
        tend to be in their first states or both in their second.
    n_edges_ : int
    categories_ : list of arrays
        The states of each column, sorted.
    feature_names_in_, n_features_in_
        The columns.
    alpha_ : float
    path_ : NetworkPath or None
        `alphas`, `scores` and `n_edges` of the path, if alpha was chosen.
    stability_ : dict or None
        Of every pair of columns the share of halves on which it has an edge.
    score_method_ : {"pseudo-likelihood", "bethe", "exact"}
        What `score` is: that of the loss, and with ``loss="log"`` that of the inference.
    converged_ : bool or None
        Whether the last belief propagation has converged.
    model_ : NetworkModel
        What `save` writes.
    objective_, kkt_, status_, history_, n_iter_
        How the last fit went.

    Examples
    --------
    >>> from parsimon import MarkovNetwork
    >>> from parsimon.data import make_network
    >>> made = make_network("chain", 6, 1000, coupling=0.6, mixed_signs=False)
    >>> network = MarkovNetwork().fit(made.X)
    >>> network.edges_
    [('x0', 'x1'), ('x1', 'x2'), ('x2', 'x3'), ('x3', 'x4'), ('x4', 'x5')]
    >>> network.conditional({"x0": 1})["x1"][1] > 0.6
    True
    """

    converged_: bool | None

    def __init__(
        self,
        alpha: float | str | None = "ebic",
        *,
        penalty: str | Penalty = "auto",
        loss: str = "pseudo-likelihood",
        inference: str = "bp",
        node_share: float = 0.01,
        solver: str | Solver = SOLVER,
        unit: int | None = None,
        gamma: float = 0.5,
        cv: int = 5,
        n_alphas: int = 30,
        alpha_min_ratio: float = 0.02,
        stability: int | None = None,
        stability_threshold: float = 0.75,
        max_states: int = MAX_STATES,
        random_state: Any = None,
        max_iter: int | None = None,
        tol: float | None = None,
        threads: int = 1,
        verbose: int = 0,
        callback: Callable[[Event], Any] | None = None,
    ) -> None:
        self.alpha = alpha
        self.penalty = penalty
        self.loss = loss
        self.inference = inference
        self.node_share = node_share
        self.solver = solver
        self.unit = unit
        self.gamma = gamma
        self.cv = cv
        self.n_alphas = n_alphas
        self.alpha_min_ratio = alpha_min_ratio
        self.stability = stability
        self.stability_threshold = stability_threshold
        self.max_states = max_states
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol
        self.threads = threads
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MarkovNetwork:
        """Learns from the rows of a table: a data frame, an array or a list of rows, of discrete columns.

        Cells are strings, whole numbers or booleans. `sample_weight` says how often each row counts; `y` is ignored.
        """
        training = self._training()
        table = DiscreteTable.learn(X, max_states=self.max_states)
        self._frame = hasattr(X, "iloc")
        self._take(training.fit(table, check_weights(sample_weight, len(table))))
        return self

    # ---- probabilities -------------------------------------------------------------------------------------

    def marginals(self) -> dict[str, dict[Any, float]]:
        """The probability of every state of every column."""
        return self.conditional({})

    def conditional(self, evidence: Mapping[str, Any]) -> dict[str, dict[Any, float]]:
        """The probability of every state of the other columns, given the states of some.

        `evidence` maps names to states. Whether belief propagation has converged is in `converged_`.
        """
        model = self._fitted()
        found = model.marginals(evidence, inference=self.inference, threads=self.threads)
        self.converged_ = found.report.all_converged
        return {
            name: dict(zip(states, p.tolist(), strict=True))
            for name, states, p in zip(model.names, model.categories, found.states, strict=True)
            if name not in evidence
        }

    def most_likely(self, evidence: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The states of all columns that are likeliest together, given those of some."""
        model = self._fitted()
        codes, report = model.most_likely(evidence, inference=self.inference, threads=self.threads)
        self.converged_ = report.all_converged
        return {
            name: states[k]
            for name, states, k in zip(model.names, model.categories, codes.tolist(), strict=True)
        }

    def sample(self, n: int = 1, evidence: Mapping[str, Any] | None = None, *, burn_in: int = 200) -> Any:
        """Rows drawn by Gibbs sampling, `burn_in` sweeps before the first one counts.

        A data frame if the network was learnt from one, otherwise an array, of strings or numbers if all columns have
        such states, else of objects.
        """
        model = self._fitted()
        if not (isinstance(n, int | np.integer) and n >= 1):
            raise ParsimonError(f"n is {n!r}; give how many rows to draw, 1 or more.")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        codes = model.sample(int(n), evidence, seed=seed, burn_in=burn_in, threads=self.threads)
        columns = [
            np.array(states, dtype=_dtype(states))[codes[:, j]] for j, states in enumerate(model.categories)
        ]
        if getattr(self, "_frame", False):
            from pandas import DataFrame

            return DataFrame(dict(zip(model.names, columns, strict=True)))
        kinds = {column.dtype.kind for column in columns}
        return np.stack([c if len(kinds) == 1 else c.astype(object) for c in columns], axis=1)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, method: str | None = None) -> float:
        """The mean log-likelihood of a row, as far as it can be had: see `score_method_`.

        `method` asks for another: the log "pseudo-likelihood", the "bethe" approximation of the log-likelihood, or the
        "exact" one, which a network of large tree-width refuses.
        """
        each = self.score_samples(X, method=method)
        return float(np.average(each, weights=check_weights(sample_weight, len(each))))

    def score_samples(self, X: Any, *, method: str | None = None) -> Array:
        """The log-likelihood of every row, as `score` has it."""
        model = self._fitted()
        codes = encode(X, model.names, model.categories)
        return model.log_likelihood(codes, method or self.score_method_, threads=self.threads)

    # ---- the graph -----------------------------------------------------------------------------------------

    @property
    def graph_(self) -> Any:
        """The network as a `networkx.Graph`: nodes have their `states`, edges their `weight`."""
        model = self._fitted()
        try:
            from networkx import Graph
        except ImportError as error:
            raise ParsimonError(
                "graph_ needs networkx, which is not installed; pip install 'parsimon[networks]', or use edges_."
            ) from error
        graph = Graph()
        for name, states in zip(model.names, model.categories, strict=True):
            graph.add_node(name, states=list(states))
        for (u, v), weight in zip(self.edges_, self.edge_weights_.tolist(), strict=True):
            graph.add_edge(u, v, weight=weight)
        return graph

    def draw(self, to: Any = None) -> Any:
        """A matplotlib figure: written to a file if `to` is a path, or drawn on axes if it is such."""
        from parsimon.report.figure_file import check_ending, save_figure
        from parsimon.report.network_drawing import draw_model

        model = self._fitted()
        if to is None or not isinstance(to, str | Path):
            return draw_model(model, to)

        check_ending(Path(to))
        figure = draw_model(model)
        save_figure(figure, Path(to))
        return figure

    # ---- files ---------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, dtype: str = "float64") -> None:
        """Writes the model file that `load` and the command line read."""
        save_model(self._fitted(), path, dtype=dtype)

    @classmethod
    def load(cls, path: str | Path, **parameters: Any) -> MarkovNetwork:
        """A fitted network from a model file; `parameters` are those of the constructor."""
        model = load_model(path, "network")
        settings: dict[str, Any] = {}
        settings |= {name: model.info[name] for name in ("alpha", "loss", "inference") if name in model.info}
        network = cls(**(settings | parameters))
        network._take_model(model)
        return network

    def _training(self) -> NetworkTraining:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        callbacks: list[Callable[[Event], Any]] = [] if self.callback is None else [self.callback]
        if self.verbose:
            from parsimon.report.progress import ProgressLines
            from parsimon.report.time_left import TimeLeft

            began, left = time.perf_counter(), TimeLeft(self.max_iter, None)
            callbacks.append(ProgressLines(sys.stderr, began=began, time_left=left))
        return NetworkTraining(
            alpha=self.alpha,
            penalty=self.penalty,
            loss=self.loss,
            inference=self.inference,
            node_share=self.node_share,
            solver=self.solver,
            unit=self.unit,
            gamma=self.gamma,
            cv=self.cv,
            n_alphas=self.n_alphas,
            alpha_min_ratio=self.alpha_min_ratio,
            stability=self.stability,
            stability_threshold=self.stability_threshold,
            tol=self.tol,
            max_iter=self.max_iter,
            threads=self.threads,
            seed=seed,
            callbacks=callbacks,
        )

    def _take(self, fit: NetworkFit) -> None:
        self._take_model(fit.model)
        self.path_ = fit.path
        self.history_ = fit.result.history
        self.stability_ = None
        if fit.frequencies is not None and fit.task is not None:
            pairs = fit.task.edges.tolist()
            names = fit.model.names
            self.stability_ = {
                (names[u], names[v]): share
                for (u, v), share in zip(pairs, fit.frequencies.tolist(), strict=True)
            }

    def _take_model(self, model: NetworkModel) -> None:
        info = model.info
        self.model_ = model
        self.feature_names_in_ = np.array(model.names, dtype=object)
        self.n_features_in_ = len(model.names)
        self.categories_ = [np.array(states, dtype=_dtype(states)) for states in model.categories]
        self.edges_ = [(model.names[u], model.names[v]) for u, v in model.edges.tolist()]
        self.edge_weights_ = model.strengths
        self.n_edges_ = len(model.edges)
        self.alpha_ = info.get("alpha")
        self.path_ = None if info.get("path") is None else NetworkPath.from_dict(info["path"])
        self.stability_ = None
        self.score_method_ = info.get("score_method", "pseudo-likelihood")
        self.converged_ = None
        self.objective_ = info.get("objective")
        self.kkt_ = info.get("kkt")
        self.status_ = info.get("status")
        self.history_ = info.get("history", [])
        self.n_iter_ = info.get("iterations")

    def _fitted(self) -> NetworkModel:
        if not hasattr(self, "model_"):
            raise NotFittedError("this MarkovNetwork is not fitted yet; call fit first.")
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _dtype(states: Any) -> Any:
    """Numbers and booleans as such; strings, and states of several types, as objects."""
    kinds = {type(state) for state in states}
    return {frozenset({int}): np.int64, frozenset({bool}): np.bool_}.get(frozenset(kinds), object)
