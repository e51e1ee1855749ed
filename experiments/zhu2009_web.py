"""Records of web pages (Zhu, Xing & Zhang 2009, §5.4): six methods on trees, and on texts in reading order.

Every table and figure is a function; `python experiments/zhu2009_web.py figure7 --write` runs one and puts it into
docs/results/zhu2009_web.md beside what the paper says. All methods on one draw of pages are a job (zhu2009_web_jobs.py)
in a process of its own, `--jobs` of them at a time, and what came of it is kept in the file `--cache`, so a run that
was interrupted goes on where it stopped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from parsimon.report.markdown import table
from program import Request, command_line, run_program
from results import PAGES, percent, whole
from zhu2009_web_jobs import JOBS, METHODS

PAGE = "zhu2009_web.md"
REMEMBERED = PAGES.parents[1] / "build" / "zhu2009_web.jsonl"
STRUCTURES = ("tree", "flat")
TITLES = {"tree": "tree", "flat": "texts in reading order"}
ANOTHER = 1000  # the draw on which strengths are chosen

# Strengths to choose from, strongest first: of equals the first is taken.
GRIDS: dict[str, list[float]] = {
    "CRF": [1e-6],
    "L2-CRF": [1.0, 0.1, 0.01],
    "L1-CRF": [1.0, 0.3, 0.1],
    "M3N": [30.0, 10.0, 3.0],
    "LapM3N": [1.0, 0.3, 0.1],
    "L1-M3N": [1.0, 0.3, 0.1],
}
Told = dict[str, Any]
Key = tuple[str, Any, int]  # structure, share or number of sites, draw


@dataclass(frozen=True)
class Plan:
    """How much is run."""

    shares: tuple[float, ...] = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
    draws: int = 10
    chosen_at: float = 0.2  # the share at which strengths are chosen
    sites: tuple[int, ...] = (3, 6, 9)
    site_draws: int = 5
    seconds: float = 4.0  # of processor time for a fit
    limit: int | None = None  # pages of a site
    every: int = 1  # of the strengths in a grid


SMALL = Plan(shares=(0.2, 0.5), draws=2, sites=(5,), site_draws=1, seconds=1.0, limit=12, every=3)


class Asked(Request[Plan]):
    """What was asked for on the command line."""

    def tested(self, keys: Sequence[Key], chosen: dict[str, dict[str, float]]) -> dict[Key, Told]:
        """What came of all methods with the strengths chosen, by structure, share (or sites) and draw."""
        wanted = [
            {
                "structure": structure,
                "part": {"sites" if isinstance(of, int) else "share": of, "draw": draw},
                "on": "test",
                "grid": {method: [strength] for method, strength in chosen[structure].items()},
            }
            for structure, of, draw in keys
        ]
        told = zip(keys, self.run(wanted), strict=True)
        return {key: one for key, one in told if one is not None}

    def run(self, wanted: Sequence[dict[str, Any]]) -> list[Told | None]:
        """Outcomes of fits, several at a time; None where one failed."""
        limits = {"seconds": self.plan.seconds, "limit": self.plan.limit}
        return self.outcomes("fit", [{**settings, **limits} for settings in wanted])

    def line(self, job: str, settings: dict[str, Any], told: Told) -> str:
        """F1 of all methods."""
        scores = ", ".join(
            f"{method} {' '.join(percent(one['f1']) for one in fits)}"
            for method, fits in told["fits"].items()
        )
        seconds = sum(one["seconds"] for fits in told["fits"].values() for one in fits)
        return f"{settings['structure']} {settings['part']}: {scores} ({seconds:.0f} s)"

    def prepared(self) -> Told:
        """How large the pages are; once that is known, they are kept where jobs find them."""
        told = self.jobs.outcome("prepare", limit=self.plan.limit)
        if told is None:
            raise SystemExit(2)
        return told


# --- Strengths ----------------------------------------------------------------------------------------------


def choices(asked: Asked) -> list[Told | None]:
    """Fits with all strengths on a draw of its own, scored on what it left of the pool."""
    asked.prepared()
    grid = {method: strengths[:: asked.plan.every] for method, strengths in GRIDS.items()}
    part = {"share": asked.plan.chosen_at, "draw": ANOTHER}
    return asked.run([{"structure": s, "part": part, "on": "rest", "grid": grid} for s in STRUCTURES])


def chosen_strengths(asked: Asked) -> dict[str, dict[str, float]]:
    """For every structure and method the strength with the highest average F1; the first of equals."""
    chosen = {}
    for structure, told in zip(STRUCTURES, choices(asked), strict=True):
        if told is None:
            raise SystemExit(2)
        chosen[structure] = {
            method: GRIDS[method][:: asked.plan.every][int(np.argmax([one["f1"] for one in fits]))]
            for method, fits in told["fits"].items()
        }
    return chosen


def strengths(asked: Asked) -> str:
    """Average F1 by strength, on the draw on which strengths are chosen."""
    rows = []
    for structure, told in zip(STRUCTURES, choices(asked), strict=True):
        for method, fits in (told or {"fits": {}})["fits"].items():
            cells = [
                f"{strength:g}: {percent(one['f1'])}"
                for strength, one in zip(GRIDS[method][:: asked.plan.every], fits, strict=True)
            ]
            rows.append([TITLES[structure], method, " · ".join(cells)])
    return table(["", "", "strength: average F1, %"], rows)


# --- Figure 7 -----------------------------------------------------------------------------------------------


def fits_of(told: dict[Key, Told], structure: str, of: Any, method: str) -> list[Told]:
    """One fit a draw."""
    return [one["fits"][method][0] for (s, share, _), one in told.items() if (s, share) == (structure, of)]


def mean(fits: Sequence[Told], name: str) -> float:
    """NaN if there are none."""
    return float(np.mean([fit[name] for fit in fits])) if fits else float("nan")


def spread(fits: Sequence[Told], name: str) -> str:
    """Mean ± standard deviation, in per cent."""
    if not fits:
        return "–"
    return f"{percent(mean(fits, name))} ± {percent(float(np.std([fit[name] for fit in fits])))}"


def shares(asked: Asked) -> dict[Key, Told]:
    """All draws at all shares; draw by draw, so that what was finished when time was up is all of some draws."""
    chosen = chosen_strengths(asked)
    keys = [(s, share, d) for d, share, s in product(range(asked.plan.draws), asked.plan.shares, STRUCTURES)]
    return asked.tested(keys, chosen)


def figure7(asked: Asked) -> str:
    """Average F1 and whole records that are right against the share of training pages."""
    told, plan = shares(asked), asked.plan
    head = ["", "", *(f"{100 * share:g} %" for share in plan.shares)]
    text = ""
    for name, title in (("f1", "Average F1, %"), ("accuracy", "Whole records right, %")):
        rows = [
            [TITLES[s], m, *(spread(fits_of(told, s, share, m), name) for share in plan.shares)]
            for s, m in product(STRUCTURES, METHODS)
        ]
        text += f"{title}, mean ± standard deviation over {plan.draws} draws:\n\n{table(head, rows)}\n"

    def draw(axes: Any) -> None:
        fig = axes.figure
        axes.remove()
        panels = fig.subplots(2, 2, sharex=True, sharey="row")
        for (row, (name, label)), (column, structure) in product(
            enumerate([("f1", "average F1, %"), ("accuracy", "whole records right, %")]),
            enumerate(STRUCTURES),
        ):
            panel = panels[row][column]
            for method in METHODS:
                means = [100 * mean(fits_of(told, structure, share, method), name) for share in plan.shares]
                panel.plot([100 * share for share in plan.shares], means, "o-", markersize=3, label=method)
            panel.grid(alpha=0.3)
            if row == 0:
                panel.set_title(TITLES[structure])
            if column == 0:
                panel.set_ylabel(label)
            if row == 1:
                panel.set_xlabel("training pages, % of the pool")
        panels[1][1].legend(fontsize=8)

    return text + asked.figure("zhu2009-web-figure7", draw, 9.0, 7.0)


def sparsity(asked: Asked) -> str:
    """Features with a weight, and seconds a fit, at the smallest and the largest share."""
    told, plan = shares(asked), asked.plan
    ends = (plan.shares[0], plan.shares[-1])
    rows = []
    for structure, method in product(STRUCTURES, METHODS):
        cells: list[str] = []
        for share in ends:
            fits = fits_of(told, structure, share, method)
            some = [one["features"] for (s, of, _), one in told.items() if (s, of) == (structure, share)]
            active = mean(fits, "active")
            cells += [
                f"{whole(active)} ({100 * active / np.mean(some):.2f} %)",
                f"{mean(fits, 'seconds'):.1f}",
            ]
        late = sum(
            fit["status"] == "TIME"
            for share in plan.shares
            for fit in fits_of(told, structure, share, method)
        )
        rows.append([TITLES[structure], method, *cells, str(late)])
    head = ["", "", *(f"{what} at {100 * share:g} %" for share in ends for what in ("not zero", "seconds"))]
    return table([*head, "fits that the time limit ended"], rows)


def attributes(asked: Asked) -> str:
    """F1 by attribute at the share at which strengths were chosen."""
    told, plan = shares(asked), asked.plan
    share = plan.chosen_at if plan.chosen_at in plan.shares else plan.shares[-1]
    names = sorted(
        {name for one in told.values() for fits in one["fits"].values() for name in fits[0]["by_attribute"]}
    )
    rows = []
    for structure, method in product(STRUCTURES, METHODS):
        fits = fits_of(told, structure, share, method)
        by_name = [
            np.mean([fit["by_attribute"].get(name, 0.0) for fit in fits]) if fits else None for name in names
        ]
        rows.append([TITLES[structure], method, *(percent(None if f is None else float(f)) for f in by_name)])
    return table(["F1, %", "", *names], rows)


def sites(asked: Asked) -> str:
    """Learnt from all pages in the pool of some sites, tested on the others."""
    plan = asked.plan
    chosen = chosen_strengths(asked)
    keys = [(s, n, d) for d, n, s in product(range(plan.site_draws), plan.sites, STRUCTURES)]
    told = asked.tested(keys, chosen)
    head = ["", "", *(f"{n} sites, {what}" for n in plan.sites for what in ("F1", "records"))]
    rows = [
        [
            TITLES[s],
            m,
            *(spread(fits_of(told, s, n, m), name) for n in plan.sites for name in ("f1", "accuracy")),
        ]
        for s, m in product(STRUCTURES, METHODS)
    ]
    return f"{plan.site_draws} draws of sites, in per cent:\n\n{table(head, rows)}"


def pages(asked: Asked) -> str:
    """How large the trees are."""
    told = asked.prepared()
    return (
        f"{told['pages']} pages of {told['sites']} sites; {whole(told['before'])} nodes a page in HTML (those with "
        f"text inside), {whole(told['nodes'])} in the compact tree, {whole(told['texts'])} of them texts.\n"
    )


PARTS: dict[str, Callable[[Asked], str]] = {
    "pages": pages,
    "strengths": strengths,
    "figure7": figure7,
    "sparsity": sparsity,
    "attributes": attributes,
    "sites": sites,
}


def main() -> int:
    """Runs what the command line asks for."""
    p = command_line(__doc__, PARTS, PAGE, REMEMBERED)
    p.add_argument("--draws", type=int, metavar="N", help=f"of pages (default: {Plan.draws})")
    options = p.parse_args()
    plan = SMALL if options.small else Plan()
    if options.draws is not None:
        plan = replace(plan, draws=options.draws, site_draws=min(options.draws, plan.site_draws))
    return run_program(
        __file__, options, JOBS, PARTS, PAGE, lambda jobs, n: Asked(jobs, n, plan, options.write)
    )


if __name__ == "__main__":
    sys.exit(main())
