"""Max-margin Markov networks on made sequences: figures 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from parsimon.report.markdown import table
from results import panels_of, whole
from zhu2009_fits import TITLES, Constants, Grid, alone, chosen_by, fits, spread, told_constants, values_of
from zhu2009_plan import Asked

ANOTHER = 1000  # the seed of the eleventh set, on which constants are chosen

# By method and number of parts: of every set, the mean over folds; and the constants that were chosen.
Errors = dict[tuple[str, int], dict[int, float]]
Chosen = dict[tuple[str, int], Constants | None]

# Constants to choose from, strongest first: of equals the first is taken. The Laplace M3N has two, strength and λ.
GRIDS: dict[str, Grid] = {
    "CRF": [()],
    "L2-CRF": alone(30000, 10000, 3000, 1000, 300, 100, 30, 10),
    "L1-CRF": alone(160, 80, 40, 20, 10, 5, 2.5, 1.25),
    "M3N": alone(30000, 10000, 3000, 1000, 300, 100, 30, 10),
    "LapM3N": list(product((160, 80, 40, 20, 10, 5), (1e4, 1e2))),
    "cutting plane": alone(160, 80, 40, 20, 10, 5, 2.5, 1.25),
}


def chosen_constants(asked: Asked, parts: Sequence[int]) -> Chosen:
    """For every method and number of parts, on folds of an eleventh set."""
    keys = [(method, k) for k in parts for method in GRIDS]
    folds, limit = asked.plan.tuned_on, asked.plan.limit
    wanted = [
        fits(asked.made(ANOTHER, k), method, asked.grid(GRIDS[method]), range(min(folds, k)), limit=limit)
        for method, k in keys
    ]
    told = asked.outcomes("fit", wanted)
    return {key: chosen_by(one, asked.grid(GRIDS[key[0]])) for key, one in zip(keys, told, strict=True)}


def fits_of_sets(
    asked: Asked, chosen: Chosen, sets: int, parts: Sequence[int]
) -> dict[tuple[str, int, int], dict[str, Any]]:
    """Outcomes of all methods with the constants chosen for them, by method, number of parts and set."""
    keys = [key for key in product(GRIDS, parts, range(sets)) if chosen[key[:2]] is not None]
    wanted = [fits(asked.made(seed, k), method, [chosen[method, k]], range(k)) for method, k, seed in keys]
    told = zip(keys, asked.outcomes("fit", wanted), strict=True)
    return {key: one for key, one in told if one is not None}


def figure2(asked: Asked) -> str:
    """Error against the size of the training set, on ten sets."""
    plan = asked.plan
    chosen = chosen_constants(asked, plan.parts)
    known = fits_of_sets(asked, chosen, plan.sets, plan.parts)
    errors: Errors = {key: {} for key in product(GRIDS, plan.parts)}
    for (method, k, seed), told in known.items():
        errors[method, k][seed] = float(np.mean(values_of(told["fits"][0], "error")))
    truths = asked.outcomes("truth", [asked.drawn(seed) for seed in range(plan.sets)])
    own = spread(values_of([one for one in truths if one is not None], "error"))
    head = ["error, %", *(f"{plan.sequences // k} sequences" for k in plan.parts)]
    rows = [[TITLES.get(m, m), *(spread(list(errors[m, k].values())) for k in plan.parts)] for m in GRIDS]
    text = table(head, [*rows, ["the generating CRF (published: about 50)", *[own] * len(plan.parts)]])
    text += f"\nConstants, chosen on another set:\n\n{constants_table(head, chosen, plan.parts)}"
    text += f"\nSets (of {plan.sets}) in which the first has the lower error:\n\n{wins_table(head, errors, plan.parts)}"

    def draw(axes: Any) -> None:
        sizes = [plan.sequences / k for k in plan.parts]
        for method in GRIDS:
            means = [
                100 * np.mean(list(errors[method, k].values())) if errors[method, k] else np.nan
                for k in plan.parts
            ]
            axes.plot(sizes, means, "o-", label=TITLES.get(method, method))
        axes.set(xlabel="training sequences", ylabel="error, %")
        axes.legend()
        axes.grid(alpha=0.3)

    return text + asked.figure("zhu2009-figure2", draw)


def constants_table(head: Sequence[str], chosen: Chosen, parts: Sequence[int]) -> str:
    """What was chosen."""
    methods = [method for method, grid in GRIDS.items() if len(grid) > 1]
    rows = [[TITLES.get(m, m), *(told_constants(chosen[m, k]) for k in parts)] for m in methods]
    return table(["strength 1/C", *head[1:]], rows)


def wins_table(head: Sequence[str], errors: Errors, parts: Sequence[int]) -> str:
    """Sets differ more than methods do, so methods are compared set by set."""
    rows = []
    for ours, theirs in product(("cutting plane", "LapM3N"), ("CRF", "L2-CRF", "L1-CRF", "M3N")):
        wins = []
        for k in parts:
            both = errors[ours, k].keys() & errors[theirs, k].keys()
            better = [errors[ours, k][seed] < errors[theirs, k][seed] for seed in both]
            wins.append(str(sum(better)) if better else "–")
        rows.append([f"{TITLES.get(ours, ours)} against {theirs}", *wins])
    return table(["", *head[1:]], rows)


def figure3(asked: Asked) -> str:
    """Average weights over the folds of the first set, and those of the CRF that it was drawn from."""
    k = asked.plan.parts_of_first
    known = fits_of_sets(asked, chosen_constants(asked, [k]), 1, [k])
    truth = asked.outcome("truth", asked.drawn(0))
    if truth is None:
        return ""
    relevant, n_state = np.array(truth["relevant"]), len(truth["relevant"]) - 4
    weights = {"the generating CRF": np.array(truth["weights"])}
    for (method, _, _), told in known.items():
        weights[TITLES.get(method, method)] = np.array(told["weights"][0])
    rows = []
    for name, w in weights.items():
        state, noise = w[:n_state], w[:n_state][~relevant[:n_state]]
        share = np.abs(noise).sum() / max(np.abs(state).sum(), 1e-300)
        cells = [whole(np.count_nonzero(state)), whole(np.count_nonzero(noise)), f"{100 * share:.1f} %"]
        rows.append([name, *cells, f"{np.abs(state).max():.3f}"])
    head = ["average weights", "not zero", "irrelevant", "share of all weight", "largest"]

    def draw(axes: Any) -> None:
        panels = panels_of(axes, len(weights), 1, sharex=True)
        for panel, (name, w) in zip(panels, weights.items(), strict=True):
            panel.vlines(np.arange(n_state), 0, w[:n_state], linewidth=1)
            panel.axvspan(-0.5, np.flatnonzero(relevant[:n_state])[-1] + 0.5, color="grey", alpha=0.15)
            panel.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=8)
            panel.tick_params(labelsize=7)
        panels[-1].set_xlabel("state features, the relevant ones on grey")

    return table(head, rows) + asked.figure("zhu2009-figure3", draw, 8.0, 9.0)
