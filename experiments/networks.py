"""Markov networks beside hill climbing: which edges of four published Bayesian networks are found in samples of them.

    python experiments/networks.py --write         # into docs/results/networks.md; takes some minutes

Needs pgmpy (`pip install pgmpy`), which has the tables of asia, child, insurance and alarm, and hill climbing with the
BIC. What is to be found is the moral graph: two columns depend on each other, given all others, if one is a parent of
the other or both are parents of a third. The graph that hill climbing finds is made moral in the same way. Both see the
same rows. Settings are the defaults of both; nothing was chosen on these samples.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import numpy as np

from parsimon import MarkovNetwork
from parsimon.report.markdown import replace_blocks, table
from results import PAGES, say

NETWORKS = ("asia", "child", "insurance", "alarm")
Edges = set[frozenset[str]]
METHODS: dict[str, Callable[[Any], Edges]] = {}


def moral(arcs: Iterable[tuple[str, str]]) -> Edges:
    """The edges of a Bayesian network's moral graph.

    >>> sorted(sorted(edge) for edge in moral([("a", "c"), ("b", "c")]))
    [['a', 'b'], ['a', 'c'], ['b', 'c']]
    """
    arcs = list(arcs)
    parents: dict[str, list[str]] = {}
    for parent, child in arcs:
        parents.setdefault(child, []).append(parent)
    married = (pair for both in parents.values() for pair in combinations(both, 2))
    return {frozenset(edge) for edge in (*arcs, *married)}


def f1(found: Edges, wanted: Edges) -> float:
    """The harmonic mean of precision and recall of edges."""
    return 2 * len(found & wanted) / max(len(found) + len(wanted), 1)


def method(name: str) -> Callable[[Callable[[Any], Edges]], Callable[[Any], Edges]]:
    """Adds a way of finding edges."""

    def add(find: Callable[[Any], Edges]) -> Callable[[Any], Edges]:
        METHODS[name] = find
        return find

    return add


@method("greedy neighbourhoods")
def greedy(rows: Any) -> Edges:
    """`search="greedy"`, all else as it is."""
    return {frozenset(edge) for edge in MarkovNetwork(search="greedy").fit(rows).edges_}


@method("path of penalties")
def path(rows: Any) -> Edges:
    """`search="penalty"`, all else as it is."""
    return {frozenset(edge) for edge in MarkovNetwork(search="penalty").fit(rows).edges_}


@method("hill climbing (pgmpy)")
def hill_climbing(rows: Any) -> Edges:
    """Hill climbing with the BIC of discrete columns."""
    from pgmpy.estimators import HillClimbSearch

    found = HillClimbSearch(rows).estimate(scoring_method="bic-d", show_progress=False)
    return moral(found.edges())


def sampled(name: str, n: int, seed: int) -> tuple[Any, Edges]:
    """Rows drawn from a network, and its moral graph."""
    from pgmpy.utils import get_example_model

    network = get_example_model(name)
    rows = network.simulate(n, seed=seed, show_progress=False).astype(str)
    return rows[sorted(rows.columns)], moral(network.edges())


def measured(
    networks: Iterable[str], methods: Iterable[str], n: int, seeds: int
) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """F1 and processor seconds of every method on every sample."""
    out: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for name in networks:
        for seed in range(seeds):
            rows, wanted = sampled(name, n, seed)
            for what in methods:
                began = time.process_time()
                found = METHODS[what](rows)
                took = time.process_time() - began
                out.setdefault((name, what), []).append((f1(found, wanted), took))
                say(f"{name}, sample {seed}, {what}: F1 {f1(found, wanted):.3f}, {took:.1f} s")
    return out


def tables(found: dict[tuple[str, str], list[tuple[float, float]]], methods: list[str]) -> str:
    """F1 and seconds by network, with the mean over networks and its standard error over samples."""
    rows, networks = [], list(dict.fromkeys(name for name, _ in found))
    for what in methods:
        scores = np.array([[score for score, _ in found[name, what]] for name in networks])
        seconds = np.array([[took for _, took in found[name, what]] for name in networks])
        means = scores.mean(axis=0)  # of every sample, over networks
        error = f" ± {means.std(ddof=1) / len(means) ** 0.5:.3f}" if len(means) > 1 else ""
        cells = [f"{one.mean():.3f}, {took.mean():.1f} s" for one, took in zip(scores, seconds, strict=True)]
        rows.append([what, *cells, f"{means.mean():.3f}{error}", f"{seconds.sum(axis=0).mean():.1f} s"])
    return table(["", *networks, "mean F1", "all four"], rows)


def main() -> int:
    """Samples, finds edges, and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(NETWORKS)} (default: all)"
    )
    parser.add_argument("--rows", type=int, default=5000, help="of a sample (default: 5000)")
    parser.add_argument("--seeds", type=int, default=5, help="samples of each network (default: 5)")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--write", action="store_true", help="put the table into docs/results/networks.md")
    options = parser.parse_args()
    found = measured(options.networks or NETWORKS, options.methods, options.rows, options.seeds)
    text = tables(found, options.methods)
    print(text)
    if options.write:
        replace_blocks(PAGES / "networks.md", {"networks": text})
    return 0


if __name__ == "__main__":
    sys.exit(main())
