"""Primal sparse max-margin Markov networks (Zhu, Xing & Zhang 2009): made sequences and handwritten words.

Every table and figure is a function; `python experiments/zhu2009.py figure2 --write` runs one and puts it into
docs/results/zhu2009.md beside what the paper says. Every fit is part of a job (zhu2009_jobs.py) in a process of its
own, `--jobs` of them at a time, and what came of it is kept in the file `--cache`, so a run that was interrupted goes
on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from jobs import Jobs, several
from parsimon.report.markdown import table
from program import command_line, run_program
from results import PAGES, figure, panels_of, percent, say, whole
from zhu2009_jobs import JOBS, RACERS

PAGE = "zhu2009.md"
REMEMBERED = PAGES.parents[1] / "build" / "zhu2009.jsonl"
SCALE = 1.0  # of the generating weights, which the paper does not give
ANOTHER = 1000  # the seed of the eleventh set, on which constants are chosen

Constants = tuple[float, ...]
Grid = list[Constants]
Errors = dict[
    tuple[str, int], dict[int, float]
]  # by method and number of parts: of every set, the mean over folds
Chosen = dict[tuple[str, int], Constants | None]  # by method and number of parts


def alone(*strengths: float) -> Grid:
    """A constant at a time."""
    return [(strength,) for strength in strengths]


# Constants to choose from, strongest first: of equals the first is taken. The Laplace M3N has two, strength and λ.
GRIDS: dict[str, Grid] = {
    "CRF": [()],
    "L2-CRF": alone(30000, 10000, 3000, 1000, 300, 100, 30, 10),
    "L1-CRF": alone(160, 80, 40, 20, 10, 5, 2.5, 1.25),
    "M3N": alone(30000, 10000, 3000, 1000, 300, 100, 30, 10),
    "LapM3N": list(product((160, 80, 40, 20, 10, 5), (1e4, 1e2))),
    "cutting plane": alone(160, 80, 40, 20, 10, 5, 2.5, 1.25),
}
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
    "L2-CRF": alone(30, 10, 3, 1, 0.3),
    "L1-CRF": alone(10, 3, 1, 0.3),
    "M3N": alone(100, 30, 10, 3),
    "LapM3N, EM": list(product((10, 3, 1), (1e4, 1e2))),
    "EM": alone(10, 3, 1, 0.3),
}
TITLES = {"LapM3N, EM": "LapM3N", "cutting plane": "L1-M3N", "EM": "L1-M3N"}
STRENGTHS = (120.0, 90.0, 70.0, 50.0, 40.0, 20.0)  # ρ = 1/C where learners are compared
OCR_STRENGTHS = (6.0, 3.0, 1.7, 1.0, 0.6, 0.3)
FROM = 1.0  # the least strength at which the cutting plane's linear programs are tried on words
GAPS = (0.1, 0.01, 0.001)


@dataclass(frozen=True)
class Plan:
    """How much is run."""

    sequences: int = 1000
    sets: int = 10
    parts: tuple[int, ...] = (20, 10, 7, 5, 4)  # one of these to learn from
    parts_of_first: int = 10  # where only the first set is looked at
    tuned_on: int = 3  # folds of the eleventh set
    words: tuple[int, ...] = (100, 150, 200, 250)
    folds: int = 10
    folds_of_planes: int = 2  # in figure 6, for the cutting plane
    folds_of_nine: int = 3  # where nine folds are learnt from
    words_of_nine: tuple[int, ...] = (100, 150)
    every: int = 1  # of the constants in a grid
    limit: float = 60.0  # seconds for a fit where constants are chosen
    race: float = 100.0  # and for a solver in the race
    race_words: int | None = None


SMALL = Plan(
    sequences=60,
    sets=2,
    parts=(6, 3),
    parts_of_first=3,
    tuned_on=1,
    words=(6, 8),
    folds=2,
    folds_of_planes=1,
    folds_of_nine=1,
    words_of_nine=(6, 8),
    every=5,
    limit=5.0,
    race=1.0,
    race_words=8,
)


@dataclass(frozen=True)
class Asked:
    """What was asked for on the command line."""

    jobs: Jobs
    parallel: int
    plan: Plan
    scale: float
    nine: bool
    write: bool

    def outcomes(self, job: str, wanted: Sequence[dict[str, Any]]) -> list[dict[str, Any] | None]:
        """What came of jobs, several at a time; None where one failed."""
        return several(lambda settings: self.outcome(job, settings), wanted, self.parallel)

    def outcome(self, job: str, settings: dict[str, Any]) -> dict[str, Any] | None:
        """What came of a job, said as soon as it is known."""
        told = self.jobs.outcome(job, **settings)
        if told is not None:
            say(f"{settings.get('data', settings)} {settings.get('method', job)}: {line_of(told)}")
        return told

    def made(self, seed: int, parts: int) -> dict[str, Any]:
        """A synthetic set, in so many parts."""
        return {"name": "synthetic", "parts": parts, **self.drawn(seed)}

    def drawn(self, seed: int) -> dict[str, Any]:
        """How a synthetic set is made."""
        return {"seed": seed, "scale": self.scale, "sequences": self.plan.sequences}

    def drawn_words(self, words: int) -> dict[str, Any]:
        """So many words of every fold."""
        return {"name": "ocr", "words": words, "nine": self.nine}

    def grid(self, constants: Grid) -> Grid:
        """All of it, or less to try things out."""
        return constants[:: self.plan.every]

    def strengths(self, all_of_them: Sequence[float]) -> list[float]:
        """Likewise."""
        return list(all_of_them[:: self.plan.every])

    def figure(self, name: str, draw: Callable[[Any], None], width: float = 7.0, height: float = 4.2) -> str:
        """A figure of the page; without --write there is none, for it would take the place of the one that is there."""
        return f"\n{figure(name, draw, width, height)}" if self.write else ""


def fits(
    data: dict[str, Any], method: str, grid: Sequence[Any], folds: Iterable[int], **more: Any
) -> dict[str, Any]:
    """The settings of a job."""
    return {"data": data, "method": method, "grid": [list(one) for one in grid], "folds": list(folds), **more}


def line_of(told: dict[str, Any]) -> str:
    """An outcome in a line: of fits, the mean errors by constants."""
    if "fits" not in told:
        return ", ".join(f"{name} {value:.4g}" for name, value in told.items() if isinstance(value, float))
    errors = " ".join(percent(mean_of(of, "error")) for of in told["fits"])
    seconds = sum(fit["seconds"] for of in told["fits"] for fit in of)
    return f"error {errors} % ({sum(map(len, told['fits']))} fits in {seconds:.1f} s)"


def values_of(told: Iterable[dict[str, Any]], of: str) -> list[float]:
    """As far as there are any."""
    return [one[of] for one in told if one.get(of) is not None]


def mean_of(told: Iterable[dict[str, Any]], of: str) -> float | None:
    """The mean, or None if there is nothing to average."""
    values = values_of(told, of)
    return float(np.mean(values)) if values else None


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation, in per cent."""
    return f"{percent(float(np.mean(values)))} ± {percent(float(np.std(values)))}" if len(values) else "–"


def told_constants(constants: Sequence[float] | None) -> str:
    """A strength, or a strength and λ."""
    if constants is None or not constants:
        return "–"
    return f"{constants[0]:g}" if len(constants) == 1 else f"{constants[0]:g} (λ = {constants[1]:g})"


def chosen_by(told: dict[str, Any] | None, grid: Grid) -> Constants | None:
    """The constants with the lowest mean error; the first of equals."""
    if told is None:
        return None
    return grid[int(np.argmin([mean_of(of, "error") for of in told["fits"]]))]


# --- Synthetic sequences ------------------------------------------------------------------------------------


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


# --- Three learners -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learner:
    """A learner of the L1-M3N: what came of it by strength, and the constants that stand for these strengths."""

    title: str
    constants: list[float]
    outcomes: list[dict[str, Any] | None]

    @property
    def fits(self) -> list[list[dict[str, Any]]]:
        """Of every fold, by strength; none where it was not run."""
        return [[] if one is None else one["fits"][0] for one in self.outcomes]

    @property
    def weights(self) -> list[Any]:
        """State weights, averages over folds, by strength; None where it was not run."""
        return [None if one is None else np.array(one["weights"][0])[:-4] for one in self.outcomes]

    def l1_objectives(self, strengths: Sequence[float]) -> list[float | None]:
        """Σ hinge + ρ‖w‖₁, means over folds."""
        return [
            float(np.mean([fit["loss"] + strength * fit["norm"] for fit in of])) if of else None
            for strength, of in zip(strengths, self.fits, strict=True)
        ]


@dataclass(frozen=True)
class Comparison:
    """Data on which learners are compared: at which strengths, on how many folds, how exactly EM is run."""

    data: dict[str, Any]
    strengths: list[float]
    folds: int
    em_tol: float
    planes: Callable[[float], int]  # on how many folds the cutting plane is run, by strength

    def run(
        self, asked: Asked, method: str, constants: Sequence[float], folds: Callable[[float], int]
    ) -> list[dict[str, Any] | None]:
        """What comes of a learner with these constants, which stand for the strengths."""
        tol = {"tol": self.em_tol} if method.startswith("EM") else {}
        which = [k for k, strength in enumerate(self.strengths) if folds(strength)]
        wanted = [
            fits(self.data, method, [(constants[k],)], range(folds(self.strengths[k])), **tol) for k in which
        ]
        told = dict(zip(which, asked.outcomes("fit", wanted), strict=True))
        return [told.get(k) for k in range(len(constants))]

    def learners(self, asked: Asked) -> list[Learner]:
        """Four with the same solutions.

        They go by different constants: ρ = 1/C; the radius of a ball; and K = Σ τ, of which 1/K is the strength of a
        squared L1 norm. EM with ρ comes first, and the norms N of what it finds say which radius (N) and which K
        (N/ρ) have nearly the same solution.
        """

        def everywhere(strength: float) -> int:
            return self.folds

        own = self.strengths
        em = Learner("EM", own, self.run(asked, "EM", own, everywhere))
        radii = [three_digits(max(mean_of(of, "norm") or 0.0, 1e-3)) for of in em.fits]
        squared = [three_digits(rho / radius) for rho, radius in zip(own, radii, strict=True)]
        return [
            Learner("cutting plane", own, self.run(asked, "cutting plane", own, self.planes)),
            em,
            Learner(
                "EM, Σ τ = K", [1 / s for s in squared], self.run(asked, "EM, Σ τ = K", squared, everywhere)
            ),
            Learner("projected subgradient", radii, self.run(asked, "subgradient", radii, everywhere)),
        ]


def three_digits(value: float) -> float:
    """Rounded."""
    return float(f"{value:.3g}")


def on_first_set(asked: Asked) -> Comparison:
    """The first synthetic set."""
    k = asked.plan.parts_of_first
    return Comparison(asked.made(0, k), asked.strengths(STRENGTHS), k, 1e-5, lambda rho: k)


def on_words(asked: Asked) -> Comparison:
    """OCR100."""
    plan = asked.plan

    def planes(rho: float) -> int:
        return plan.folds_of_planes if rho >= FROM else 0

    return Comparison(
        asked.drawn_words(plan.words[0]), asked.strengths(OCR_STRENGTHS), plan.folds, 1e-3, planes
    )


def columns_of(strengths: Sequence[float]) -> list[str]:
    """The head of a table by strengths."""
    return [f"ρ = {rho:g}" for rho in strengths]


def table1(asked: Asked) -> str:
    """Weights that are not zero, and how many of these are irrelevant, against the constant."""
    comparison = on_first_set(asked)
    truth = asked.outcome("truth", asked.drawn(0))
    if truth is None:
        return ""
    relevant = np.array(truth["relevant"])[:-4]
    rows = []
    for learner in comparison.learners(asked):
        rows.append([f"{learner.title}: constant", *(f"{c:.3g}" for c in learner.constants)])
        for title, of in (("total", np.ones(len(relevant), bool)), ("irrelevant", ~relevant)):
            counts = [None if w is None else np.count_nonzero(w[of]) for w in learner.weights]
            rows.append([f"– {title}", *map(whole, counts)])
        rows.append(["– of one fold (all 204)", *(decimal(mean_of(f, "active")) for f in learner.fits)])
        rows.append(["– support outputs", *(decimal(mean_of(f, "support")) for f in learner.fits)])
    return table(["", *columns_of(comparison.strengths)], rows)


def decimal(value: float | None) -> str:
    """A mean of counts."""
    return "–" if value is None else f"{value:,.1f}"


def figure5(asked: Asked) -> str:
    """Error and time of the learners against the constant, first synthetic set."""
    return compared(asked, "zhu2009-figure5", on_first_set(asked))


def figure6(asked: Asked) -> str:
    """The same on OCR100."""
    return compared(asked, "zhu2009-figure6", on_words(asked))


def compared(asked: Asked, name: str, comparison: Comparison) -> str:
    """Errors, times and objectives, as a table and as a figure."""
    strengths, learners = comparison.strengths, comparison.learners(asked)
    rows = []
    for learner in learners:
        own = learner.fits
        rows.append([f"{learner.title}: error, %", *(percent(mean_of(f, "error")) for f in own)])
        rows.append(["– seconds a fold", *(seconds_of(mean_of(f, "processors")) for f in own)])
        rows.append(["– objective", *map(objective_of, learner.l1_objectives(strengths))])
        rows.append(["– weights that are not zero", *(decimal(mean_of(f, "active")) for f in own)])
        rows.append(["– folds", *(str(len(f)) for f in own)])

    def draw(axes: Any) -> None:
        upper, lower = panels_of(axes, 2, 1, sharex=True)
        for learner in learners:
            points = [(1 / rho, f) for rho, f in zip(strengths, learner.fits, strict=True) if f]
            for panel, of, times in ((upper, "error", 100), (lower, "processors", 1)):
                means = [times * (mean_of(f, of) or 0.0) for _, f in points]
                panel.plot([c for c, _ in points], means, "o-", label=learner.title)
        upper.set(xscale="log", ylabel="error, %")
        lower.set(xscale="log", yscale="log", ylabel="processor seconds a fold", xlabel="C = 1/ρ")
        lower.set_xticks([1 / rho for rho in strengths], [f"{1 / rho:.2g}" for rho in strengths])
        lower.minorticks_off()
        upper.legend(fontsize=8)
        for panel in (upper, lower):
            panel.grid(alpha=0.3)

    return table(["", *columns_of(strengths)], rows) + asked.figure(name, draw, 7.0, 6.5)


def seconds_of(value: float | None) -> str:
    """For people."""
    return "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def objective_of(value: float | None) -> str:
    """With two digits after the point."""
    return "–" if value is None else f"{value:,.2f}"


# --- Handwritten words --------------------------------------------------------------------------------------


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


def planes_of_words(asked: Asked, chosen: dict[str, Constants | None]) -> list[dict[str, Any]]:
    """The cutting plane on all folds of the smallest draw, with the constant that was chosen for EM."""
    if chosen["EM"] is None:
        return []
    data = asked.drawn_words(asked.plan.words[0])
    wanted = [fits(data, "cutting plane", [chosen["EM"]], [fold]) for fold in range(asked.plan.folds)]
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


PARTS: dict[str, Callable[[Asked], str]] = {
    "figure2": figure2,
    "figure3": figure3,
    "table1": table1,
    "figure5": figure5,
    "figure4": figure4,
    "figure4_nine_folds": figure4_nine_folds,
    "figure6": figure6,
    "ocr_cutting_plane": ocr_cutting_plane,
    "m3n": m3n,
}


def parser() -> argparse.ArgumentParser:
    p = command_line(__doc__, PARTS, PAGE, REMEMBERED)
    scale = f"standard deviation of the weights that make the synthetic sets (default: {SCALE})"
    p.add_argument("--scale", type=float, default=SCALE, help=scale)
    nine = "learn from the words of nine folds and test on those of one, instead of the other way round"
    p.add_argument("--nine", action="store_true", help=nine)
    limit = f"seconds for every solver in the races (default: {Plan.race:g})"
    p.add_argument("--limit", type=float, metavar="SECONDS", help=limit)
    return p


def main() -> int:
    """Runs what the command line asks for."""
    options = parser().parse_args()
    plan = SMALL if options.small else Plan()
    plan = plan if options.limit is None else replace(plan, race=options.limit)

    def ask(jobs: Jobs, parallel: int) -> Asked:
        return Asked(jobs, parallel, plan, options.scale, options.nine, options.write)

    return run_program(__file__, options, JOBS, PARTS, PAGE, ask)


if __name__ == "__main__":
    sys.exit(main())
