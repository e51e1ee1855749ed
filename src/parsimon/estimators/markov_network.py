"""MarkovNetwork: the scikit-learn face of learning which columns of a table depend on each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from parsimon.arrays import Array
from parsimon.data.discrete_table import DiscreteTable, State, check_weights
from parsimon.errors import ParsimonError
from parsimon.estimators.estimator import Estimator, documented
from parsimon.tasks.networks.model import NetworkModel
from parsimon.tasks.networks.options import NetworkOptions
from parsimon.tasks.networks.training import Counted, NetworkTraining
from parsimon.tasks.options import changed


@documented
@dataclass(eq=False, repr=False)
class MarkovNetwork(NetworkOptions, Estimator):
    """A sparse Markov network of the columns of a table: which depend on each other, given all the others, and how.

    Minimises Σ loss + alpha · Ω over the rows. P(x) ∝ exp(Σ_v s_v(x_v) + Σ_{uv} s_uv(x_u, x_v)); all pairs of columns
    are candidates, and those whose weights end at zero are no edges. With binary columns Ω is the L1 norm of one weight
    an edge (an Ising model); with more states, a group lasso with a group for every edge, by the root of its size.

    Attributes
    ----------
    edges_ : list of pairs of names
    edge_weights_ : array
        The strength of each edge: the norm of its weights; of two binary columns, the weight itself, above zero if both
        tend to be in their first states or both in their second.
    n_edges_ : int
    categories_ : list of arrays
        The states of each column, sorted; of numbers in bins, the names of the bins.
    bins_ : dict
        Of every column that was cut into bins, the upper ends of all bins but the last.
    feature_names_in_, n_features_in_
        The columns.
    alpha_ : float
    path_ : NetworkPath or None
        `alphas`, `scores` and `n_edges` of the path, if alpha was chosen. `end` says what has ended it: patience, the
        weakest strength, the time limit or belief propagation.
    stability_ : dict or None
        Of every pair of columns the share of halves on which it has an edge.
    score_method_ : {"pseudo-likelihood", "bethe", "exact"}
        What `score` is: that of the loss, and with ``loss="log"`` that of the inference.
    converged_ : bool or None
        Whether the last belief propagation has converged.
    model_ : NetworkModel
        What `save` writes.
    objective_, kkt_, status_, history_, n_iter_
        How the last fit on the way went. The status also says if a time limit has left out a part of it all.

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

    training_class: ClassVar[type[NetworkTraining]] = NetworkTraining
    model_class: ClassVar[type[NetworkModel]] = NetworkModel

    alpha: float | str | None = changed(NetworkOptions, "alpha", "ebic", positional=True)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from the rows of a table: a data frame, an array or a list of rows, of discrete columns.

        Cells are strings, whole numbers or booleans; with `bins`, any numbers; with `missing`, also None and NaN.
        `sample_weight` says how often each row counts; `y` is ignored.
        """
        self.check()
        table = DiscreteTable.learn(
            X, max_states=self.max_states, drop=tuple(self.drop), bins=self.bins, missing=self.missing
        )
        counts = check_weights(sample_weight, len(table) + table.dropped)
        if counts is not None and table.rows is not None:
            counts = counts[table.rows]
        self._fit(Counted(table, counts))
        self._frame = hasattr(X, "iloc")
        return self

    # ---- probabilities -------------------------------------------------------------------------------------

    def marginals(self) -> dict[str, dict[Any, float]]:
        """The probability of every state of every column."""
        return self.conditional({})

    def conditional(self, evidence: Mapping[str, Any]) -> dict[str, dict[Any, float]]:
        """The probability of every state of the other columns, given the states of some.

        `evidence` maps names to states, or to numbers in columns that were cut into bins. Whether belief propagation
        has converged is in `converged_`.
        """
        model: NetworkModel = self._fitted()
        found = model.marginals(evidence, inference=self.inference, threads=self.n_threads)
        self.converged_: bool | None = found.report.all_converged
        return {
            name: dict(zip(states, p.tolist(), strict=True))
            for name, states, p in zip(model.names, model.categories, found.states, strict=True)
            if name not in evidence
        }

    def most_likely(self, evidence: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The states of all columns that are likeliest together, given those of some."""
        model: NetworkModel = self._fitted()
        codes, report = model.most_likely(evidence, inference=self.inference, threads=self.n_threads)
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
        model: NetworkModel = self._fitted()
        if not (isinstance(n, int | np.integer) and n >= 1):
            raise ParsimonError(f"n is {n!r}; give how many rows to draw, 1 or more.")
        codes = model.sample(int(n), evidence, seed=self.seed, burn_in=burn_in, threads=self.n_threads)
        columns = [
            np.array(states, dtype=_dtype(states))[codes[:, j]] for j, states in enumerate(model.categories)
        ]
        if self._frame:
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
        model: NetworkModel = self._fitted()
        codes = model.encode(X)
        return model.log_likelihood(codes, method or self.score_method_, threads=self.n_threads)

    # ---- the graph -----------------------------------------------------------------------------------------

    @property
    def graph_(self) -> Any:
        """The network as a `networkx.Graph`: nodes have their `states`, edges their `weight`."""
        model: NetworkModel = self._fitted()
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

        model: NetworkModel = self._fitted()
        if to is None or not isinstance(to, str | Path):
            return draw_model(model, to)

        check_ending(Path(to))
        figure = draw_model(model)
        save_figure(figure, Path(to))
        return figure

    # ---- the fitted model ------------------------------------------------------------------------------------

    def _take(self, model: NetworkModel) -> None:
        super()._take(model)
        self.n_iter_ = model.info.get("iterations", 0)  # the history may be thin_history
        self.feature_names_in_ = np.array(model.names, dtype=object)
        self.n_features_in_ = len(model.names)
        self.categories_ = [np.array(states, dtype=_dtype(states)) for states in model.categories]
        self.bins_ = {name: np.array(edges) for name, edges in model.bins.items()}
        self.edges_ = [(model.names[u], model.names[v]) for u, v in model.edges.tolist()]
        self.edge_weights_ = model.strengths
        self.n_edges_ = len(model.edges)
        self.alpha_ = model.alpha
        self.path_ = model.path
        self.stability_ = _frequencies(model)
        self.score_method_ = model.score_method
        self.converged_ = None
        self._frame = False  # whether samples are data frames

    @classmethod
    def _settings_of(cls, model: NetworkModel) -> dict[str, Any]:
        return {"alpha": model.alpha, "loss": model.loss, "inference": model.inference}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _frequencies(model: NetworkModel) -> dict[tuple[str, str], float] | None:
    """Of every pair of columns with two states or more the share of halves on which it has an edge."""
    if model.stability is None:
        return None
    able = np.flatnonzero(model.arity > 1)
    one, other = np.triu_indices(len(able), 1)
    pairs = np.stack([able[one], able[other]], axis=1)
    shares = model.stability.of_edges(pairs).tolist()
    return {(model.names[u], model.names[v]): p for (u, v), p in zip(pairs.tolist(), shares, strict=True)}


def _dtype(states: Sequence[State]) -> Any:
    """Numbers and booleans as such; strings, states of several types and huge numbers as objects."""
    kinds = {type(state) for state in states}
    if kinds == {int} and max(abs(int(state)) for state in states) >= 2**63:
        return object
    return {frozenset({int}): np.int64, frozenset({bool}): np.bool_}.get(frozenset(kinds), object)
