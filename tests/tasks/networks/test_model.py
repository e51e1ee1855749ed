"""What a network says of probabilities, against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

from parsimon import MarkovNetwork
from parsimon.tasks.networks.model import NetworkModel
from toy_networks import chain, fitted, potts


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


@pytest.mark.parametrize("which", ["chain", "potts"])
@pytest.mark.parametrize("inference", ["bp", "exact"])
def test_marginals_and_conditionals_are_those_of_enumeration(which: str, inference: str) -> None:
    """Also by belief propagation where the graph is a tree."""
    network = MarkovNetwork(inference=inference)
    network._take(fitted("pseudo-likelihood", "exact", which).model_)
    if inference == "bp":
        whole = network.model_
        tree = np.flatnonzero(whole.edges[:, 1] == whole.edges[:, 0] + 1)
        weights = [whole.weights[: whole.bounds[len(whole.names)]]]
        weights += [whole.weights[whole.features_of_edge(e)] for e in tree]
        network._take(NetworkModel(whole.names, whole.categories, whole.edges[tree], np.concatenate(weights)))
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
