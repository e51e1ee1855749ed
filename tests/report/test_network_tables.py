"""Markov networks as tables: the summary and the strongest edges."""

from __future__ import annotations

from typing import Any

from parsimon.report.network_tables import ENDS, edges_table, summary_text
from parsimon.tasks.networks.model import Edge, PathEnd


def test_only_edges_between_binary_variables_have_a_sign() -> None:
    edges = [Edge("a", "b", -1.5, True), Edge("b", "size", 0.25, False)]
    assert edges_table(edges).splitlines() == [
        "strength  variable  and",
        " -1.5000  a         b",
        "  0.2500  b         size",
    ]


def test_stability_is_shown_if_it_was_measured_and_the_rest_is_counted() -> None:
    edges = [Edge("a", "b", 1.0, True, 0.9), Edge("a", "c", 0.5, True, 0.75), Edge("b", "c", 0.1, True, 0.5)]
    lines = edges_table(edges, top=1).splitlines()
    assert lines == [
        "strength  stability  variable  and",
        " +1.0000        90%  a         b",
        "and 2 more",
    ]


def test_a_network_without_edges() -> None:
    assert edges_table([]) == "no edges: the variables are independent\n"


def test_the_summary_has_what_is_known() -> None:
    training: dict[str, Any] = {
        "rows": 1200,
        "dropped": 3,
        "alpha": 0.125,
        "chosen_by": "bic",
        "objective": 12.5,
        "kkt": 1e-4,
        "score": -3.25,
        "score_method": "exact",
        "status": "converged",
    }
    record = {"variables": 10, "edges": 9, "candidate_edges": 45, "training": training}
    record["stability"] = {"threshold": 0.8, "halves": 50}
    assert [line.split(maxsplit=1) for line in summary_text(record).splitlines()] == [
        ["variables", "10"],
        ["edges", "9 of 45 (20.0%)"],
        ["learnt", "from  1,200 rows (3 with missing values left out)"],
        ["strength", "0.125, by bic"],
        ["kept", "if in   80% of 50 halves of the rows"],
        ["score", "-3.2500 per row, log-likelihood, on the training rows"],
        ["objective", "12.5000 (KKT residual 0.0001)"],
        ["status", "converged"],
    ]
    path = {"criterion": "-BIC", "strengths": 30, "end": "patience", "cut_off": False}
    assert "30 strengths, until graphs got no better\n" in summary_text({**record, "path": path})
    path |= {"end": "weakest strength", "cut_off": True}
    assert "down to the weakest, which is the best; weaker ones may be better" in summary_text(
        {**record, "path": path}
    )
    prepared = summary_text({**record, "left_out": ["id"], "bins": {name: [0.5] for name in "abcdefgh"}})
    assert "left out     id\n" in prepared
    assert "in bins      a, b, c, d, e, f and 2 more\n" in prepared
    saved = summary_text({**record, "stability": None, "training": {}, "model": "n.parsimon", "bytes": 2000})
    assert saved.splitlines()[0] == "model      n.parsimon (2 kB)"
    assert len(saved.splitlines()) == 3


def test_every_end_of_a_path_has_words() -> None:
    assert set(ENDS) == {end.value for end in PathEnd}
