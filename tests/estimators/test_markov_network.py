"""MarkovNetwork: what it finds, what it says of probabilities, and the scikit-learn contract."""

from __future__ import annotations

import json
import pickle
import sys
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import check_is_fitted

from parsimon import MarkovNetwork
from parsimon.data import make_network
from parsimon.discrete_table import DiscreteTable
from parsimon.errors import ParsimonError
from parsimon.groups import Groups
from parsimon.model_file import dump_model, parse_model
from parsimon.network_criterion import criterion, effective_parameters
from parsimon.network_model import NetworkModel
from parsimon.network_training import NetworkTraining
from parsimon.penalties import L1, ElasticNet, GroupLasso
from parsimon.solvers import Weights


def pairs(made: Any) -> list[tuple[str, str]]:
    return [(f"x{u}", f"x{v}") for u, v in made.edges]


@cache
def chain() -> Any:
    return make_network("chain", 6, 1500, coupling=0.6, field=0.3, random_state=1)


@cache
def potts() -> Any:
    return make_network("chain", 4, 1500, coupling=0.8, field=0.3, n_states=3, random_state=2)


@cache
def fitted(loss: str = "pseudo-likelihood", inference: str = "exact", which: str = "chain") -> MarkovNetwork:
    return MarkovNetwork(5.0, loss=loss, inference=inference).fit({"chain": chain, "potts": potts}[which]().X)


def joint(model: NetworkModel) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """P of every row there can be, by enumeration of the model's own scores."""
    rows = list(product(*(range(k) for k in model.arity)))
    scores = np.zeros(len(rows))
    for i, row in enumerate(rows):
        for v, k in enumerate(row):
            scores[i] += model.scores.node[model.graph.node_at[v] + k]
        for e, (u, v) in enumerate(model.edges.tolist()):
            scores[i] += model.scores.edge[model.graph.edge_at[e] + row[u] * model.arity[v] + row[v]]
    return rows, np.exp(scores - np.logaddexp.reduce(scores))


# ---- what it finds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ["bic", "ebic"])
def test_a_chain_is_found(alpha: str) -> None:
    network = MarkovNetwork(alpha, n_alphas=12, threads=2).fit(chain().X)
    assert network.edges_ == pairs(chain())
    assert np.array_equal(np.sign(network.edge_weights_), np.sign(chain().weights))
    np.testing.assert_allclose(network.edge_weights_, chain().weights, atol=0.3)  # shrunk


def test_a_grid_is_found() -> None:
    made = make_network("grid", 9, 2000, coupling=0.4, random_state=5)
    network = MarkovNetwork(n_alphas=15, tol=1e-4).fit(made.X)
    assert network.edges_ == pairs(made)


def test_edges_of_many_states_come_whole() -> None:
    network = MarkovNetwork(n_alphas=12).fit(potts().X)
    assert network.edges_ == pairs(potts())
    for e in range(network.n_edges_):
        assert np.all(network.model_.weights[network.model_.features_of_edge(e)] != 0)
    assert np.all(network.edge_weights_ > 0)


@pytest.mark.parametrize("inference", ["bp", "exact"])
def test_the_likelihood_finds_the_same_chain(inference: str) -> None:
    network = MarkovNetwork("bic", loss="log", inference=inference, n_alphas=8, tol=1e-4).fit(chain().X)
    assert network.edges_ == pairs(chain())
    assert network.score_method_ == {"bp": "bethe", "exact": "exact"}[inference]


def test_independent_columns_have_no_edges() -> None:
    X = np.random.default_rng(0).integers(0, 2, (500, 8))
    network = MarkovNetwork(n_alphas=8).fit(X)
    assert network.edges_ == []
    assert network.edge_weights_.shape == (0,)
    for j, of_column in enumerate(network.marginals().values()):
        assert of_column[1] == pytest.approx(X[:, j].mean(), abs=0.02)


def test_the_optimum_does_not_depend_on_the_solver() -> None:
    found = [
        MarkovNetwork(20.0, solver=solver, tol=1e-8).fit(chain().X).edge_weights_
        for solver in ("grafting-light", "grafting", "working-set", "owlqn", "fista")
    ]
    found += [MarkovNetwork(20.0, unit=unit, tol=1e-8).fit(chain().X).edge_weights_ for unit in (1, 3)]
    for other in found[1:]:
        np.testing.assert_allclose(found[0], other, atol=1e-4)


def test_weights_satisfy_the_optimality_conditions() -> None:
    """By a gradient of finite differences, and the log pseudo-likelihood written out."""
    network = MarkovNetwork(30.0, tol=1e-9, penalty="l1").fit(chain().X)
    training = NetworkTraining(alpha=30.0, penalty="l1", tol=1e-9)
    task = training.prepare(DiscreteTable.learn(chain().X))
    problem = training.problem(task, 30.0)
    result = training.solve(problem, training.independent(problem, task))
    w = result.weights.dense()
    kept = task.edges_of(result.weights)
    assert network.model_.edges.tolist() == task.edges[kept].tolist()
    np.testing.assert_allclose(network.model_.weights, task.uncentred(result.weights, kept), atol=1e-6)

    def loss(w: np.ndarray) -> float:
        plain = task.uncentred(Weights(w, None, len(w)), np.arange(len(task.edges)))
        model = NetworkModel(network.model_.names, network.model_.categories, task.edges, plain)
        return -float(model.log_likelihood(chain().X, "pseudo-likelihood").sum())

    gradient = np.array([(loss(w + h) - loss(w - h)) / 2e-5 for h in 1e-5 * np.eye(len(w))])
    strength = np.full(len(w), 30.0)
    strength[:6] *= 0.01
    assert np.all(np.abs(gradient[w != 0] + (strength * np.sign(w))[w != 0]) < 0.01)
    assert np.all(np.abs(gradient[w == 0]) <= strength[w == 0] + 0.01)
    assert np.count_nonzero(w == 0) > 3


def test_the_strength_of_the_path_is_where_edges_begin() -> None:
    training = NetworkTraining()
    table = DiscreteTable.learn(chain().X)
    top = training.max_alpha(training.prepare(table))
    assert len(NetworkTraining(alpha=top * 1.01).fit(table).model.edges) == 0
    assert len(NetworkTraining(alpha=top * 0.98).fit(table).model.edges) in (1, 2)


def test_same_bits_for_any_number_of_threads() -> None:
    for settings in (
        {"alpha": 10.0},
        {"alpha": "cv", "n_alphas": 3, "cv": 2},
        {"alpha": 10.0, "loss": "log"},
    ):
        one, three = (
            MarkovNetwork(threads=threads, random_state=0, **settings).fit(potts().X)  # type: ignore[arg-type]
            for threads in (1, 3)
        )
        assert one.model_.weights.tobytes() == three.model_.weights.tobytes()
        assert one.sample(50).tobytes() == three.sample(50).tobytes()


def test_rows_that_count_twice_are_rows_that_are_there_twice() -> None:
    X = chain().X[:300]
    counts = np.random.default_rng(0).integers(0, 3, len(X))
    for alpha in (5.0, "bic"):
        once = MarkovNetwork(alpha, tol=1e-8, n_alphas=6).fit(X, sample_weight=counts)
        often = MarkovNetwork(alpha, tol=1e-8, n_alphas=6).fit(np.repeat(X, counts, axis=0))
        assert once.edges_ == often.edges_
        np.testing.assert_allclose(once.edge_weights_, often.edge_weights_, atol=1e-4)


def test_a_column_that_never_changes_is_kept_without_edges() -> None:
    X = np.column_stack([chain().X, np.full(len(chain().X), 7)])
    network = MarkovNetwork(n_alphas=12).fit(X)
    assert network.edges_ == pairs(chain())
    assert network.marginals()["x6"] == {7: 1.0}
    assert network.conditional({"x6": 7})["x0"] == pytest.approx(network.marginals()["x0"])
    assert set(network.sample(10)[:, 6]) == {7}
    assert network.score(X) == pytest.approx(
        MarkovNetwork(network.alpha_).fit(chain().X).score(chain().X), abs=0.01
    )


def test_a_nearly_constant_column_stays_finite() -> None:
    X = chain().X.copy()
    X[:, 0] = 0
    X[3, 0] = 1
    network = MarkovNetwork(0.5).fit(X)
    assert np.all(np.isfinite(network.model_.weights))
    assert np.abs(network.model_.weights).max() < 20


def test_one_column() -> None:
    network = MarkovNetwork().fit([["a"], ["b"], ["b"], ["b"]])
    assert network.edges_ == []
    assert network.most_likely() == {"x0": "b"}


# ---- how strong ----------------------------------------------------------------------------------------------


def test_cross_validation_keeps_what_is_there() -> None:
    network = MarkovNetwork("cv", cv=3, n_alphas=6, tol=1e-4, random_state=0).fit(chain().X)
    assert set(pairs(chain())) <= set(network.edges_)
    path = network.path_
    assert path.criterion == "held-out log pseudo-likelihood a row"
    assert path.scores.argmax() == path.best
    assert network.alpha_ == path.alpha
    assert path.scores.max() > path.scores[0] + 0.1
    assert -6 * np.log(2) < path.scores[0] < 0


def test_the_path() -> None:
    path = MarkovNetwork("ebic", n_alphas=25, alpha_min_ratio=0.001).fit(chain().X).path_
    np.testing.assert_allclose(path.alphas[1:] / path.alphas[:-1], 0.001 ** (1 / 24))
    assert path.n_edges[0] <= 1
    assert path.n_edges[-1] > path.n_edges[path.best] == 5
    assert path.criterion == "-pseudo-EBIC, gamma 0.5"
    assert np.all(path.scores[path.best + 1 :] < path.scores[path.best])
    assert path.best + 6 == len(path.alphas) < 25  # it has ended early


def test_the_extended_criterion_is_the_more_cautious() -> None:
    X = make_network("random", 10, 200, coupling=0.15, degree=3, random_state=3).X
    bic, ebic, strict = (
        MarkovNetwork(a, gamma=g, n_alphas=12, tol=1e-4).fit(X).n_edges_
        for a, g in (("bic", 0.5), ("ebic", 0.5), ("ebic", 1.0))
    )
    assert bic >= ebic >= strict
    assert bic > strict


def test_criteria_by_hand() -> None:
    assert criterion(10.0, 3, 2, 100, 5, 0.5) == pytest.approx(20 + 3 * np.log(100) + 4 * np.log(5))


def test_effective_parameters_by_finite_differences() -> None:
    """tr(H⁻¹ J), with the rows' gradients and the Hessian from the log pseudo-likelihood itself."""
    network = MarkovNetwork(20.0).fit(potts().X[:100, :3])
    model, X = network.model_, potts().X[:100, :3]
    counts = np.random.default_rng(1).uniform(0.5, 2.0, len(X))

    def losses(w: np.ndarray) -> np.ndarray:
        return -NetworkModel(model.names, model.categories, model.edges, w).log_likelihood(
            X, "pseudo-likelihood"
        )

    def gradients(w: np.ndarray) -> np.ndarray:
        steps = 1e-4 * np.eye(len(w))
        return np.array([(losses(w + h) - losses(w - h)) / 2e-4 for h in steps])

    steps = 1e-3 * np.eye(len(model.weights))
    H = np.array(
        [(gradients(model.weights + h) - gradients(model.weights - h)) @ counts / 2e-3 for h in steps]
    )
    G = gradients(model.weights)
    kept = np.flatnonzero(model.weights)
    expected = np.trace(np.linalg.solve(H[np.ix_(kept, kept)], ((G * counts) @ G.T)[np.ix_(kept, kept)]))
    assert effective_parameters(model, X, counts) == pytest.approx(expected, rel=1e-4)


def test_a_pseudo_likelihood_counts_independent_edges_twice() -> None:
    """Where there is nothing to be found, an edge has two parameters and a variable one."""
    X = np.random.default_rng(0).integers(0, 2, (4000, 4))
    model = NetworkModel(tuple("abcd"), ((0, 1),) * 4, np.array([[0, 1], [2, 3]]), np.full(6, 1e-9))
    assert effective_parameters(model, X) == pytest.approx(4 + 2 * 2, rel=0.02)


def test_stability_selection() -> None:
    X = chain().X[:400]
    settings: dict[str, Any] = {"alpha": 20.0, "stability": 12, "tol": 1e-4}
    network = MarkovNetwork(random_state=0, **settings).fit(X)
    assert len(network.stability_) == 15
    assert {round(12 * share) for share in network.stability_.values()} <= set(range(13))
    assert network.edges_ == [pair for pair, share in network.stability_.items() if share >= 0.75]
    assert set(pairs(chain())) <= set(network.edges_)
    # Weights are learnt again, nearly without penalty.
    once = MarkovNetwork(20.0).fit(X)
    shrunk = dict(zip(once.edges_, once.edge_weights_, strict=True))
    weights = dict(zip(network.edges_, network.edge_weights_, strict=True))
    assert all(abs(weights[edge]) > abs(shrunk[edge]) for edge in pairs(chain()))
    loose = MarkovNetwork(random_state=0, stability_threshold=0.05, **settings).fit(X)
    assert loose.n_edges_ > network.n_edges_
    assert loose.stability_ == network.stability_
    assert MarkovNetwork(random_state=1, **settings).fit(X).stability_ != network.stability_


# ---- probabilities -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["chain", "potts"])
@pytest.mark.parametrize("inference", ["bp", "exact"])
def test_marginals_and_conditionals_are_those_of_enumeration(which: str, inference: str) -> None:
    """Also by belief propagation where the graph is a tree."""
    network = MarkovNetwork(inference=inference)
    network._take_model(fitted("pseudo-likelihood", "exact", which).model_)
    if inference == "bp":
        whole = network.model_
        tree = np.flatnonzero(whole.edges[:, 1] == whole.edges[:, 0] + 1)
        weights = [whole.weights[: whole.bounds[len(whole.names)]]]
        weights += [whole.weights[whole.features_of_edge(e)] for e in tree]
        network._take_model(
            NetworkModel(whole.names, whole.categories, whole.edges[tree], np.concatenate(weights))
        )
    rows, p = joint(network.model_)
    for evidence in ({}, {"x1": 1}, {"x0": 0, "x2": 1}):
        agree = np.array([all(row[int(n[1:])] == k for n, k in evidence.items()) for row in rows])
        q = p * agree / (p * agree).sum()
        found = network.conditional(evidence)
        assert set(found) == {f"x{v}" for v in range(len(network.model_.names))} - set(evidence)
        for name, states in found.items():
            for k, probability in states.items():
                expected = sum(q[i] for i, row in enumerate(rows) if row[int(name[1:])] == k)
                assert probability == pytest.approx(expected, abs=1e-6)
        assert network.converged_
        best = dict(zip((f"x{v}" for v in range(len(rows[0]))), rows[int(np.argmax(q))], strict=True))
        assert network.most_likely(evidence) == best


@pytest.mark.parametrize("which", ["chain", "potts"])
def test_scores_are_those_of_enumeration(which: str) -> None:
    network = fitted("log", "exact", which)
    rows, p = joint(network.model_)
    place = {row: i for i, row in enumerate(rows)}
    X = {"chain": chain, "potts": potts}[which]().X[:50]
    exact = network.score_samples(X)
    np.testing.assert_allclose(exact, np.log([p[place[tuple(x)]] for x in X.tolist()]), atol=1e-8)
    assert network.score(X) == pytest.approx(exact.mean())
    assert network.score(X, sample_weight=np.arange(50.0)) == pytest.approx(
        np.average(exact, weights=np.arange(50))
    )
    pseudo = []
    for x in X.tolist():
        total = 0.0
        for v, k in enumerate(x):
            others = [p[place[(*x[:v], s, *x[v + 1 :])]] for s in range(int(network.model_.arity[v]))]
            total += float(np.log(others[k] / sum(others)))
        pseudo.append(total)
    np.testing.assert_allclose(network.score_samples(X, method="pseudo-likelihood"), pseudo, atol=1e-8)


def test_samples_have_the_network_s_marginals() -> None:
    network = clone(fitted()).set_params(random_state=3).fit(chain().X)
    rows = network.sample(4000)
    assert rows.shape == (4000, 6)
    for name, states in network.marginals().items():
        assert (rows[:, int(name[1:])] == 1).mean() == pytest.approx(states[1], abs=0.04)
    given = network.sample(2000, {"x0": 1})
    assert np.all(given[:, 0] == 1)
    assert (given[:, 1] == 1).mean() == pytest.approx(network.conditional({"x0": 1})["x1"][1], abs=0.05)
    assert network.sample(20).tobytes() == network.sample(20).tobytes()


# ---- tables --------------------------------------------------------------------------------------------------


def test_data_frames_keep_their_names_and_states() -> None:
    from pandas import DataFrame

    X = chain().X
    frame = DataFrame(
        {
            "smoker": np.array(["no", "yes"])[X[:, 0]],
            "cough": X[:, 1].astype(bool),
            "grade": X[:, 2] * 10,
            "share": X[:, 3].astype(float),
        }
    )
    network = MarkovNetwork(n_alphas=12, random_state=0).fit(frame)
    assert network.edges_ == [("smoker", "cough"), ("cough", "grade"), ("grade", "share")]
    assert [states.tolist() for states in network.categories_] == [
        ["no", "yes"],
        [False, True],
        [0, 10],
        [0, 1],
    ]
    assert network.feature_names_in_.tolist() == ["smoker", "cough", "grade", "share"]
    assert network.n_features_in_ == 4
    given = network.conditional({"smoker": "yes", "grade": 10.0})
    assert set(given) == {"cough", "share"}
    assert set(given["cough"]) == {False, True}
    drawn = network.sample(30)
    assert list(drawn.columns) == list(frame.columns)
    assert drawn["cough"].dtype == bool
    assert set(drawn["smoker"]) == {"no", "yes"}
    assert network.score(frame[frame.columns[::-1]]) == network.score(frame)  # found by name
    with pytest.raises(ParsimonError, match="X has no column 'cough'"):
        network.score(frame[["smoker", "grade", "share"]])


def test_lists_and_arrays_of_anything() -> None:
    words = np.array(["b", "a"])[chain().X]
    as_list = MarkovNetwork(300.0).fit(words.tolist())
    assert as_list.edges_ == MarkovNetwork(300.0).fit(words).edges_ == pairs(chain())
    assert as_list.categories_[0].tolist() == ["a", "b"]
    mixed = [[x, "yes" if y else "no", bool(z)] for x, y, z in chain().X[:, :3].tolist()]
    network = MarkovNetwork(300.0).fit(mixed)
    assert network.sample(3).dtype == object
    assert network.edges_ == [("x0", "x1"), ("x1", "x2")]


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (
            [["a", 1], ["b", None]],
            r"column 'x1', row 1 \(the first is 0\): the value is missing; drop the row",
        ),
        ([[1.0, 2], [float("nan"), 2]], "column 'x0', row 1 .*: the value is missing"),
        (
            np.array([[0.5, 1.0]]),
            r"column 'x0', row 0 .*: 0\.5 is no whole number.*discretise the column or drop it",
        ),
        ([[i] for i in range(60)], "column 'x0' has 60 different values, and 50 states are the most"),
        ([[1, 2], [1]], "row 1 of X has 1 cells, but row 0 has 2"),
        ([1, 2, 3], "row 0 of X is 1, not a list of cells"),
        (np.arange(3), "X has 1 dimension; a table has two"),
        ("abc", "X must be a table"),
        ([], "X has no cells"),
        ([[]], "X has no cells"),
        ([[[1]]], "a state is a string, a whole number or a boolean, not list"),
    ],
)
def test_tables_that_are_refused(X: Any, said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        MarkovNetwork(1.0).fit(X)


def test_frames_that_are_refused() -> None:
    import pandas as pd
    from scipy.sparse import csr_matrix

    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1, 2]})
    with pytest.raises(ParsimonError, match=r"column 'a', row 1 .*: the value is missing"):
        MarkovNetwork(1.0).fit(frame)
    with pytest.raises(ParsimonError, match="not Timestamp; convert the column"):
        MarkovNetwork(1.0).fit(pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])}))
    with pytest.raises(ParsimonError, match="two columns are called 'a'"):
        MarkovNetwork(1.0).fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(ParsimonError, match="sparse matrix; give a dense one"):
        MarkovNetwork(1.0).fit(csr_matrix(np.eye(3)))


def test_other_tables_are_compared_with_the_one_learnt() -> None:
    network = fitted()
    with pytest.raises(ParsimonError, match="X has 2 columns, but the network has 6"):
        network.score(chain().X[:, :2])
    wrong = chain().X[:5].copy()
    wrong[3, 2] = 4
    with pytest.raises(ParsimonError, match="row 3 of X: 4 is no state of 'x2', which has 0, 1"):
        network.score(wrong)


# ---- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"alpha": 0}, "alpha is 0; give a number above zero"),
        ({"alpha": "aic"}, "alpha is 'aic'; give a number above zero, or one of bic, ebic, cv"),
        ({"alpha": None}, "alpha is None, which leaves the strength to a penalty object"),
        ({"alpha": float("inf")}, "alpha is inf"),
        ({"penalty": "ridge"}, "there is no penalty 'ridge'; choose from auto, l1, group"),
        ({"loss": "hinge"}, "there is no loss 'hinge' for networks"),
        ({"inference": "mcmc"}, "inference is 'mcmc'; choose from bp, exact"),
        ({"node_share": 0}, "node_share is 0; give a number above zero"),
        ({"alpha_min_ratio": 1}, "alpha_min_ratio is 1; give a number between 0 and 1"),
        ({"n_alphas": 1}, "n_alphas is 1; give a whole number that is 2 or more"),
        ({"cv": 1}, "cv is 1"),
        ({"stability": 1}, "stability is 1"),
        ({"stability": 10, "stability_threshold": 0}, "stability_threshold is 0"),
        ({"threads": 0}, "threads is 0"),
        ({"solver": "magic"}, "there is no solver called 'magic'"),
        ({"solver": "fista", "unit": 5, "alpha": 1.0}, "the solver fista adds no units of features"),
        ({"penalty": L1(1.0), "alpha": "cv", "cv": 500}, "cv is 500, but there are only 100 rows"),
        (
            {"penalty": ElasticNet(1.0, weight=np.ones(3))},
            "the penalty is not one of the 21 features of this table's network",
        ),
        ({"penalty": GroupLasso(1.0)}, "the penalty is not one of the 21 features"),
    ],
)
def test_settings_that_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        MarkovNetwork(**settings).fit(chain().X[:100])


@pytest.mark.parametrize("weights", [[1.0, 2.0], np.full(100, -1.0), np.zeros(100), np.full(100, np.nan)])
def test_weights_that_are_refused(weights: Any) -> None:
    with pytest.raises(ParsimonError, match="sample_weight"):
        MarkovNetwork(1.0).fit(chain().X[:100], sample_weight=weights)


def test_questions_that_are_refused() -> None:
    network = fitted()
    with pytest.raises(ParsimonError, match="the network has no variable 'smoker'; its variables are"):
        network.conditional({"smoker": 1})
    with pytest.raises(ParsimonError, match="3 is no state of 'x0', which has 0, 1"):
        network.conditional({"x0": 3})
    with pytest.raises(ParsimonError, match="n is 0; give how many rows"):
        network.sample(0)
    with pytest.raises(
        ParsimonError, match="there is no score 'aic'; choose from pseudo-likelihood, bethe, exact"
    ):
        network.score(chain().X, method="aic")


def test_a_network_that_is_too_wide_for_exact_scores_says_so() -> None:
    n = 40
    edges = np.array([(u, v) for u in range(n) for v in range(u + 1, n)])
    model = NetworkModel(
        tuple(f"x{v}" for v in range(n)), ((0, 1),) * n, edges, np.full(n + len(edges), 0.01)
    )
    network = MarkovNetwork()
    network._take_model(model)
    X = np.zeros((3, n), int)
    with pytest.raises(ParsimonError, match="use belief propagation"):
        network.score(X, method="exact")
    assert np.isfinite(network.score(X))
    assert np.isfinite(network.score(X, method="bethe"))


def test_penalties_by_hand() -> None:
    ours = MarkovNetwork(20.0, penalty="group", node_share=1.0, tol=1e-8).fit(chain().X)
    by_hand = GroupLasso(20.0, Groups.consecutive(np.arange(22), 21))
    theirs = MarkovNetwork(None, penalty=by_hand, tol=1e-8).fit(chain().X)
    assert theirs.alpha_ == 20.0
    np.testing.assert_allclose(ours.edge_weights_, theirs.edge_weights_, atol=1e-4)


# ---- scikit-learn --------------------------------------------------------------------------------------------


def test_parameters_are_only_stored() -> None:
    network = MarkovNetwork("nonsense", penalty="nonsense", threads=-3)
    assert network.get_params()["alpha"] == "nonsense"
    again = clone(network.set_params(alpha=3.0))
    assert again.get_params() == network.get_params()
    assert not hasattr(again, "model_")
    with pytest.raises(NotFittedError):
        check_is_fitted(again)
    with pytest.raises(NotFittedError, match="call fit first"):
        again.marginals()


def test_grid_search() -> None:
    search = GridSearchCV(MarkovNetwork(), {"alpha": [5.0, 30.0, 1000.0]}, cv=3).fit(chain().X)
    assert search.best_params_["alpha"] in (5.0, 30.0)
    assert search.cv_results_["mean_test_score"][2] < search.best_score_
    assert search.best_estimator_.n_edges_ >= 5


def test_pickles() -> None:
    network = fitted()
    again = pickle.loads(pickle.dumps(network))
    assert again.edges_ == network.edges_
    assert again.score(chain().X) == network.score(chain().X)


def test_callbacks_and_lines(capsys: pytest.CaptureFixture[str]) -> None:
    events: list[Any] = []
    network = MarkovNetwork(5.0, callback=events.append, verbose=1).fit(chain().X)
    assert len(events) == len(network.history_) == network.n_iter_
    assert events[-1].objective == network.objective_
    assert "objective" in capsys.readouterr().err
    assert network.kkt_ is not None
    assert "converged" in network.status_


def test_ctrl_c() -> None:
    """One fit ends with the best weights so far; a choice among many fits is given up."""
    import signal

    def press(event: Any) -> None:
        if event.iteration == 1:
            signal.raise_signal(signal.SIGINT)

    stopped = MarkovNetwork(5.0, callback=press).fit(chain().X)
    assert stopped.status_ == "interrupted: this is the best model so far"
    assert stopped.n_iter_ == 2
    for settings in ({"alpha": "bic"}, {"alpha": "cv"}):
        with pytest.raises(KeyboardInterrupt):
            MarkovNetwork(callback=press, **settings).fit(chain().X)  # type: ignore[arg-type]


# ---- graphs and pictures -------------------------------------------------------------------------------------


def test_the_graph() -> None:
    graph = fitted().graph_
    assert sorted(graph.nodes) == [f"x{v}" for v in range(6)]
    assert {frozenset(edge) for edge in graph.edges} == {frozenset(edge) for edge in fitted().edges_}
    assert graph.edges["x0", "x1"]["weight"] == fitted().edge_weights_[0]
    assert graph.nodes["x3"]["states"] == [0, 1]


def test_without_networkx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ParsimonError, match=r"parsimon\[networks\]"):
        _ = fitted().graph_


def test_drawing(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    path = tmp_path / "network.svg"
    figure = fitted().draw(path)
    assert isinstance(figure, Figure)
    assert path.read_text().startswith("<?xml")
    axes = Figure().add_subplot()
    assert fitted().draw(axes) is axes.figure
    with pytest.raises(ParsimonError, match=r"\.png, \.svg or \.pdf"):
        fitted().draw(tmp_path / "network.txt")


# ---- files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["chain", "potts"])
def test_round_trip(which: str, tmp_path: Path) -> None:
    network = fitted("pseudo-likelihood", "exact", which)
    network.save(tmp_path / "m")
    again = MarkovNetwork.load(tmp_path / "m")
    assert again.edges_ == network.edges_
    assert again.edge_weights_.tobytes() == network.edge_weights_.tobytes()
    assert again.marginals() == network.marginals()
    assert (again.alpha, again.inference, again.score_method_) == (5.0, "exact", "pseudo-likelihood")
    assert dump_model(again.model_) == (tmp_path / "m").read_bytes()
    chosen = MarkovNetwork("bic", n_alphas=4, stability=4, random_state=0).fit(chain().X)
    chosen.save(tmp_path / "n")
    back = MarkovNetwork.load(tmp_path / "n", alpha="bic")
    assert back.path_.alphas.tolist() == chosen.path_.alphas.tolist()
    assert back.model_.strongest() == chosen.model_.strongest()
    assert back.alpha == "bic"


def test_states_of_all_types_come_back(tmp_path: Path) -> None:
    rows = [["é", 1, True], ["", -3, False], ["é", 1, False]] * 5
    network = MarkovNetwork(1.0).fit(rows)
    network.save(tmp_path / "m")
    again = MarkovNetwork.load(tmp_path / "m").model_.categories
    assert again == network.model_.categories == (("", "é"), (-3, 1), (False, True))
    assert [type(state) for states in again for state in states] == [str, str, int, int, bool, bool]


def changed(change: Any) -> bytes:
    """A model file with its header and arrays changed by hand."""
    from safetensors.numpy import load, save

    content = dump_model(fitted("pseudo-likelihood", "exact", "potts").model_)
    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["parsimon"])
    tensors = dict(load(content))
    change(header, tensors)
    return bytes(save(tensors, metadata={"parsimon": json.dumps(header)}))


@pytest.mark.parametrize(
    "change",
    [
        lambda h, t: h.update(names=["a", "a", "b", "c"]),
        lambda h, t: h.update(names=["a", "b"]),
        lambda h, t: h.update(names=[["a"], "b", "c", "d"]),
        lambda h, t: h.update(names=5),
        lambda h, t: h.pop("names"),
        lambda h, t: h.update(categories=[[0, 0, 1]] * 4),
        lambda h, t: h.update(categories=[[0, 1]] * 4),
        lambda h, t: h.update(categories=[[]] * 4),
        lambda h, t: h.update(categories=[[0.5, 1, 2]] * 4),
        lambda h, t: h.update(categories=[[[0], 1, 2]] * 4),
        lambda h, t: h.update(categories=[[None, 1, 2]] * 4),
        lambda h, t: h.update(info=3),
        lambda h, t: t.update(edges=np.array([[0, 9]])),
        lambda h, t: t.update(edges=np.array([[1, 0]])),
        lambda h, t: t.update(edges=np.array([[0, 1], [0, 1]])),
        lambda h, t: t.update(edges=np.array([[-1, 1]])),
        lambda h, t: t.update(edges=np.array([[0.0, 1.0]])),
        lambda h, t: t.update(edges=np.array([0, 1])),
        lambda h, t: t.pop("edges"),
        lambda h, t: t.update(weights=t["weights"][:-1]),
        lambda h, t: t.update(weights=t["weights"] * np.nan),
        lambda h, t: t.update(weights=t["weights"].reshape(1, -1)),
        lambda h, t: t.pop("weights"),
    ],
)
def test_damaged_files_are_refused(change: Any) -> None:
    with pytest.raises(ParsimonError, match="the model is damaged"):
        parse_model(changed(change))


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    from parsimon.document_model import DocumentModel
    from parsimon.model_file import save_model

    save_model(DocumentModel(("a", "b"), ("w",), [[1.0]], [0.0]), tmp_path / "d")
    with pytest.raises(ParsimonError, match="is a document model, but a network model is needed here"):
        MarkovNetwork.load(tmp_path / "d")
