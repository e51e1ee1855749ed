"""MarkovNetwork: what it finds, what it refuses, and the scikit-learn contract."""

from __future__ import annotations

import pickle
import sys
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
from parsimon.data.discrete_table import DiscreteTable
from parsimon.errors import ParsimonError
from parsimon.penalties import L1, ElasticNet, GroupLasso
from parsimon.penalties.groups import Groups
from parsimon.solvers import Weights
from parsimon.tasks.networks.model import NetworkModel
from parsimon.tasks.networks.training import NetworkTraining
from toy_networks import chain, fitted, pairs, potts

# ---- what it finds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ["bic", "ebic"])
def test_a_chain_is_found(alpha: str) -> None:
    network = MarkovNetwork(alpha, n_alphas=12, n_jobs=2).fit(chain().X)
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
    result = training.minimise(problem, training.independent(problem, task))
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
    assert len(NetworkTraining(alpha=top * 1.01).fit(table).edges) == 0
    assert len(NetworkTraining(alpha=top * 0.98).fit(table).edges) in (1, 2)


def test_same_bits_for_any_number_of_threads() -> None:
    for settings in (
        {"alpha": 10.0},
        {"alpha": "cv", "n_alphas": 3, "cv": 2},
        {"alpha": 10.0, "loss": "log"},
    ):
        one, three = (
            MarkovNetwork(n_jobs=threads, random_state=0, **settings).fit(potts().X)  # type: ignore[arg-type]
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


# ---- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"alpha": 0}, "alpha must be a number above zero, or one of bic, ebic, cv, not 0"),
        ({"alpha": "aic"}, "alpha must be a number above zero, or one of bic, ebic, cv, not 'aic'"),
        ({"alpha": None}, "alpha is None, which leaves the strength to a penalty object"),
        ({"alpha": float("inf")}, "alpha must be a number above zero, .* not inf"),
        ({"alpha": True}, "alpha must be a number above zero, .* not True"),
        ({"penalty": "ridge"}, "penalty must be one of auto, l1, group, not 'ridge'"),
        ({"loss": "hinge"}, "loss must be one of pseudo-likelihood, log, not 'hinge'"),
        ({"inference": "mcmc"}, "inference must be one of bp, exact, not 'mcmc'"),
        ({"node_share": 0}, "node_share must be a number above zero, not 0"),
        ({"gamma": -1}, "gamma must be a number, zero or more, not -1"),
        ({"alpha_min_ratio": 1}, "alpha_min_ratio must be a number above zero and below 1, not 1"),
        ({"alpha_min_ratio": 0}, "alpha_min_ratio must be a number above zero, not 0"),
        ({"n_alphas": 1}, "n_alphas must be a whole number, 2 or more, not 1"),
        ({"patience": 0}, "patience must be a whole number, 1 or more, not 0"),
        ({"cv": 1}, "cv must be a whole number, 2 or more, not 1"),
        ({"stability": 1}, "stability must be a whole number, 2 or more, not 1"),
        (
            {"stability": 10, "stability_threshold": 2},
            "stability_threshold must be a number above zero and up to 1, not 2",
        ),
        ({"max_states": 1}, "max_states must be a whole number, 2 or more, not 1"),
        ({"unit": 0}, "unit must be a whole number, 1 or more, not 0"),
        ({"n_jobs": 0}, "n_jobs must be a whole number and not 0"),
        ({"resume": True}, "there is no checkpoint to resume from; name one"),
        ({"solver": "magic"}, "solver must be one of auto, lbfgs, .*, not 'magic'"),
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
    with pytest.raises(ParsimonError, match="3 is not a state of 'x0', which has 0, 1"):
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
    network._take(model)
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
    network = MarkovNetwork("nonsense", penalty="nonsense", n_jobs=-3)
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
    """A fit ends with the best weights so far, and a choice among many with the best network so far."""
    import signal

    def press(event: Any) -> None:
        if event.iteration == 1:
            signal.raise_signal(signal.SIGINT)

    stopped = MarkovNetwork(5.0, callback=press).fit(chain().X)
    assert stopped.status_ == "interrupted: this is the best model so far"
    assert stopped.n_iter_ == 2
    for settings in ({"alpha": "bic", "search": "penalty"}, {"alpha": "cv"}):
        network = MarkovNetwork(callback=press, **settings).fit(chain().X)  # type: ignore[arg-type]
        assert network.status_ == stopped.status_
        path = network.model_.path
        assert path is not None
        assert not path.complete
        assert len(path.alphas) == 1


def test_what_is_random_follows_from_the_seed() -> None:
    X, settings = chain().X[:200], {"alpha": 10.0, "stability": 3}
    one = MarkovNetwork(random_state=7, **settings).fit(X)
    assert one.stability_ == MarkovNetwork(random_state=7, **settings).fit(X).stability_
    training = NetworkTraining(random_state=7, **settings)
    assert training.fit(DiscreteTable.learn(X)).weights.tobytes() == one.model_.weights.tobytes()
    drawn = np.random.RandomState(7).randint(2**31 - 1)
    of_state = MarkovNetwork(random_state=np.random.RandomState(7), **settings).fit(X)
    assert of_state.model_.info["random_state"] == drawn


def test_parameters_are_explained() -> None:
    text = MarkovNetwork.__doc__
    assert text is not None
    for name in MarkovNetwork().get_params():
        assert f"\n{name} : " in text


def test_a_strength_may_be_text_as_a_command_has_it() -> None:
    assert MarkovNetwork("20").fit(chain().X).alpha_ == 20.0


def test_more_states_than_allowed_are_refused() -> None:
    from parsimon.data.discrete_table import MAX_STATES

    assert MarkovNetwork().max_states == MAX_STATES
    with pytest.raises(ParsimonError, match="has 3 distinct values, but at most 2 states are allowed"):
        MarkovNetwork(max_states=2).fit(potts().X)


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


def test_whole_numbers_of_any_size_are_states() -> None:
    huge = 10**30
    rows = [[0, 1], [1, 0], [huge, 1], [0, 0], [1, 1]]
    network = MarkovNetwork().fit(rows)
    assert network.categories_[0].tolist() == [0, 1, huge]
    assert network.conditional({"x0": huge})["x1"].keys() == {0, 1}
    assert MarkovNetwork().fit([[0, 1], [2**63 - 1, 0]]).categories_[0].dtype == np.int64


def test_dropped_columns_bins_and_missing_values(tmp_path: Path) -> None:
    from pandas import DataFrame

    random = np.random.default_rng(1)
    age = random.normal(40, 12, 500)
    frame = DataFrame({"id": range(500), "age": age, "income": 2 * age + random.normal(size=500)})
    frame.loc[::7, "income"] = np.nan
    network = MarkovNetwork(drop=["id"], bins=3, missing="state", n_alphas=6).fit(frame)
    assert network.edges_ == [("age", "income")]
    assert set(network.bins_) == {"age", "income"}
    assert network.categories_[1][-1] == "missing"
    network.save(tmp_path / "m")
    again = MarkovNetwork.load(tmp_path / "m")
    assert again.bins_["age"].tolist() == network.bins_["age"].tolist()
    assert again.score(frame) == network.score(frame) == network.score(frame.drop(columns="id"))
    old = network.conditional({"age": 75})
    assert old == network.conditional({"age": network.categories_[0][-1]})
    assert old["income"][network.categories_[1][2]] > 0.6
    with pytest.raises(ParsimonError, match="'old' is not a state of 'age'"):
        network.conditional({"age": "old"})


def test_weights_of_rows_with_missing_values_are_left_out_too() -> None:
    X = chain().X.astype(float)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    holes = X.copy()
    holes[::5, 2] = np.nan
    network = MarkovNetwork(20.0, missing="drop").fit(holes, sample_weight=weights)
    kept = np.arange(len(X)) % 5 != 0
    same = MarkovNetwork(20.0).fit(X[kept], sample_weight=weights[kept])
    assert network.edge_weights_.tobytes() == same.edge_weights_.tobytes()
    assert network.model_.info["dropped"] == len(X) - kept.sum()


def test_drop_is_a_list_of_names() -> None:
    with pytest.raises(ParsimonError, match="drop must be a list of names of columns, not 'x0'"):
        MarkovNetwork(drop="x0").fit(chain().X)
