"""Numbers about a network."""

from __future__ import annotations

import json

from parsimon import MarkovNetwork
from parsimon.tasks.networks.inspect import summary
from toy_networks import chain, fitted


def test_the_summary() -> None:
    model = fitted("log", "exact").model_
    told = summary(model)
    assert (told["kind"], told["variables"], told["edges"]) == ("network", 6, len(model.edges))
    assert told["candidate_edges"] == 15
    assert told["stability"] is None
    assert told["path"] is None
    training = told["training"]
    assert (training["alpha"], training["loss"], training["score_method"]) == (5.0, "log", "exact")
    assert training["rows"] == 1500
    assert "history" not in training


def test_the_summary_of_stable_edges() -> None:
    model = MarkovNetwork(20.0, stability=3).fit(chain().X[:200]).model_
    told = json.loads(json.dumps(summary(model)))
    assert told["stability"] == {"halves": 3, "wanted": 3, "threshold": 0.75}


def test_the_summary_of_a_path() -> None:
    model = MarkovNetwork("ebic", n_alphas=4, alpha_min_ratio=0.3).fit(chain().X).model_
    assert summary(model)["path"] == {
        "criterion": "-pseudo-EBIC, gamma 0.5",
        "strengths": 4,
        "end": "weakest strength",
        "cut_off": True,
    }
