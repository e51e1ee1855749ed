"""Max-margin Markov networks on handwritten words: figure 4, the cutting plane, and a race of M3N solvers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from parsimon.report.markdown import table
from results import percent, whole
from zhu2009_fits import (
    TITLES,
    Constants,
    Grid,
    alone,
    chosen_by,
    decimal,
    fits,
    mean_of,
    objective_of,
    seconds_of,
    spread,
    told_constants,
    values_of,
)
from zhu2009_jobs import RACERS
from zhu2009_plan import Asked

# Constants to choose from, strongest first: of equals the first is taken.
OCR_GRIDS: dict[str, Grid] = {
    "CRF": [()],
    "L2-CRF": alone(30, 10, 3, 1, 0.3, 0.1, 0.03, 0.01),
    "L1-CRF": alone(10, 3, 1, 0.6, 0.3, 0.1, 0.03, 0.01),
    "M3N": alone(100, 30, 10, 3, 1, 0.3, 0.1, 0.03),
    "LapM3N, EM": list(product((30, 10, 3, 1, 0.3), (1e4, 1e2, 1.0))),
    "EM": alone(10, 3, 1.7, 1, 0.6, 0.3, 0.1, 0.03),
}
# With nine folds to learn from, losses are sums over nine times as many words.
NINE_GRIDS: dict[str, Grid] = {
    "CRF": [()],
    "L2-CRF": alone(30, 10, 6, 3, 1.7, 1, 0.3),
    "L1-CRF": alone(10, 3, 1.7, 1, 0.6, 0.3),
    "M3N": alone(100, 30, 17, 10, 6, 3),
    "LapM3N, EM": list(product((10, 3, 1), (1e4, 1e2))),
    "EM": alone(10, 3, 1.7, 1, 0.6),
}
GAPS = (0.1, 0.01, 0.001)
SOONER = (0.01, 0.005)  # gaps at which the cutting plane may stop


def chosen_for_words(
    asked: Asked, methods: Sequence[str] = tuple(OCR_GRIDS), grids: dict[str, Grid] = OCR_GRIDS
) -> dict[str, Constants | None]:
    """For every method, on words of the first fold that are not drawn, after learning from the smallest draw."""
    plan = asked.plan
    data = {**asked.drawn_words(plan.words[0]), "name": "ocr development", "most": plan.words[-1]}
    own = {method: asked.grid(grids[method]) for method in methods}
    wanted = [fits(data, method, grid, [0], limit=plan.limit) for method, grid in own.items()]
    told = zip(own.items(), asked.outcomes("fit", wanted), strict=True)
    return {method: chosen_by(one, grid) for (method, grid), one in told}


def fits_of_words(
    asked: Asked, chosen: dict[str, Constants | None], words: int, methods: Iterable[str]
) -> dict[str, list[dict[str, Any]]]:
    """The fits of all folds, by method."""
    methods = [method for method in methods if chosen[method] is not None]
    data, folds = asked.drawn_words(words), range(asked.plan.folds)
    # Without a penalty there is hardly an optimum; after a while it gets no better.
    limits = {"CRF": {"limit": asked.plan.limit}} if asked.nine else {}
    wanted = [fits(data, method, [chosen[method]], folds, **limits.get(method, {})) for method in methods]
    told = zip(methods, asked.outcomes("fit", wanted), strict=True)
    return {method: one["fits"][0] for method, one in told if one is not None}


def planes_of_words(
    asked: Asked, chosen: dict[str, Constants | None], **settings: Any
) -> list[dict[str, Any]]:
    """The cutting plane on all folds of the smallest draw, with the constant that was chosen for EM."""
    if chosen["EM"] is None:
        return []
    data = asked.drawn_words(asked.plan.words[0])
    wanted = [
        fits(data, "cutting plane", [chosen["EM"]], [fold], **settings) for fold in range(asked.plan.folds)
    ]
    told = asked.outcomes("fit", wanted)
    return [one["fits"][0][0] for one in told if one is not None]


def figure4(asked: Asked) -> str:
    """Error against the number of words drawn from each fold."""
    chosen = chosen_for_words(asked)
    return words_figure(asked, "zhu2009-figure4", chosen, planes_of_words(asked, chosen))


def figure4_nine_folds(asked: Asked) -> str:
    """The same with nine folds to learn from and one to test on."""
    plan = asked.plan
    chosen = chosen_for_words(replace(asked, nine=True), grids=NINE_GRIDS)
    asked = replace(asked, nine=True, plan=replace(plan, folds=plan.folds_of_nine, words=plan.words_of_nine))
    return words_figure(asked, "zhu2009-figure4-nine", chosen, [])


def words_figure(
    asked: Asked, name: str, chosen: dict[str, Constants | None], planes: list[dict[str, Any]]
) -> str:
    """Errors of all methods by number of words, as a table and as a figure."""
    plan = asked.plan
    known = {words: fits_of_words(asked, chosen, words, OCR_GRIDS) for words in plan.words}
    errors = {(m, n): values_of(known[n].get(m, []), "error") for m, n in product(OCR_GRIDS, plan.words)}
    rows = [
        [title_on_words(m), told_constants(chosen[m]), *(spread(errors[m, n]) for n in plan.words)]
        for m in OCR_GRIDS
    ]
    if planes:
        by_planes = [spread(values_of(planes, "error")), *["–"] * (len(plan.words) - 1)]
        rows.append(["L1-M3N, cutting plane", told_constants(chosen["EM"]), *by_planes])
    head = ["error, %", "strength 1/C", *(f"OCR{n}" for n in plan.words)]

    def draw(axes: Any) -> None:
        for method in OCR_GRIDS:
            means, deviations = (
                [100 * f(errors[method, n]) if errors[method, n] else np.nan for n in plan.words]
                for f in (np.mean, np.std)
            )
            axes.errorbar(
                plan.words, means, deviations, fmt="o-", capsize=3, label=TITLES.get(method, method)
            )
        axes.set(xlabel="words of each fold", ylabel="error, %")
        axes.legend()
        axes.grid(alpha=0.3)

    return table(head, rows) + asked.figure(name, draw)


def title_on_words(method: str) -> str:
    """The L1-M3N has two learners here."""
    return "L1-M3N, EM" if method == "EM" else TITLES.get(method, method)


def ocr_cutting_plane(asked: Asked) -> str:
    """The cutting plane that took 20 hours, fold by fold, beside EM with the same constant."""
    chosen, words = chosen_for_words(asked, ["EM"]), asked.plan.words[0]
    planes = planes_of_words(asked, chosen)
    em = fits_of_words(asked, chosen, words, ["EM"]).get("EM", [])
    rows = []
    for fold, (one, other) in enumerate(zip(planes, em, strict=False)):
        cells = [f"fold {fold}", seconds_of(one["seconds"]), str(one["rounds"])]
        cells += [
            objective_of(one["objective"]),
            f"{one['gap'] / one['objective']:.1e}",
            percent(one["error"]),
        ]
        cells += [whole(one["active"]), whole(one["support"])]
        rows.append(
            [*cells, objective_of(other["objective"]), percent(other["error"]), seconds_of(other["seconds"])]
        )
    if rows:
        cells = [
            "all",
            seconds_of(sum(values_of(planes, "seconds"))),
            whole(sum(values_of(planes, "rounds"))),
        ]
        cells += [objective_of(mean_of(planes, "objective")), "–", spread(values_of(planes, "error"))]
        cells += [decimal(mean_of(planes, "active")), decimal(mean_of(planes, "support"))]
        cells += [objective_of(mean_of(em, "objective")), spread(values_of(em, "error"))]
        rows.append([*cells, seconds_of(sum(values_of(em, "seconds")))])
    published = ["published", "20 h (all)", "600 (stopped)", "–", "–", "about 45"]
    rows.append([*published, *["–"] * 5])
    head = [
        "",
        "seconds",
        "rounds",
        "objective",
        "relative gap",
        "error, %",
        "weights",
        "support",
    ]
    text = table([*head, "EM: objective", "error, %", "seconds"], rows)
    text += "\nThe same when it may stop sooner:\n\n"
    sooner = []
    for gap in (*SOONER, None):
        told = planes if gap is None else planes_of_words(asked, chosen, tol=gap)
        cells = [
            "0.1 %" if gap is None else f"{100 * gap:g} %",
            seconds_of(sum(values_of(told, "processors"))),
        ]
        cells += [objective_of(mean_of(told, "objective")), spread(values_of(told, "error"))]
        sooner.append([*cells, decimal(mean_of(told, "active"))])
    text += table(["gap", "processor seconds, all folds", "objective", "error, %", "weights"], sooner)
    return f"ρ = 1/C = {told_constants(chosen['EM'])}, {words} words a fold.\n\n{text}"


def m3n(asked: Asked) -> str:
    """M3N solvers on one whole fold: time to a gap.

    One job, so that nothing else of ours runs at the same time; the constant is that of the M3N on fewer words.
    """
    strength = chosen_for_words(asked, ["M3N"])["M3N"]
    if strength is None:
        return ""
    data = {"name": "ocr", "words": asked.plan.race_words, "nine": False}
    settings = {"data": data, "strength": strength[0], "gaps": list(GAPS), "limit": asked.plan.race}
    told = asked.outcome("race", settings)
    if told is None:
        return ""
    rows = []
    for name in RACERS:
        one = told["solvers"][name]
        cells = [name, *map(reached, one["reached"]), *map(reached, one["certified"])]
        gap = "–" if one["gap"] is None else f"{one['gap'] / one['objective']:.1e}"
        cells += [f"{one['objective']:,.3f}", gap, whole(one["passes"]), seconds_of(one["seconds"])]
        rows.append([*cells, percent(one["error"])])
    within = [f"{100 * gap:g} %" for gap in GAPS]
    head = ["", *(f"within {g}" for g in within), *(f"and knows: {g}" for g in within)]
    text = table([*head, "objective", "own gap", "passes", "seconds", "error, %"], rows)
    about = f"{told['words']:,} words, ½‖w‖² of strength 1/C = {strength[0]:g}, at most {asked.plan.race:g} s each; "
    return f"{about}the best lower bound is {told['floor']:,.3f}.\n\n{text}"


def reached(when: list[float] | None) -> str:
    """Seconds (passes)."""
    return "not reached" if when is None else f"{when[0]:.2f} s ({when[1]:.0f})"
