"""Structured sparsity in structured prediction (Martins, Smith, Aguiar & Figueiredo 2011): dependency parsing.

Every table and figure is a function; `python experiments/martins2011_parsing.py danish --write` runs one and puts it
into docs/results/martins2011_parsing.md beside what the paper published. Every parser is a job
(martins2011_parsing_jobs.py) in a process of its own, `--jobs` of them at a time, and what came of it is kept in the
file `--cache`, so a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from martins2011_parsing_jobs import JOBS, KINDS, kinds
from parsimon.features.arc_presets import arc_preset
from parsimon.report.markdown import table
from parsimon.solvers import PassiveAggressive
from program import Request, command_line, run_program
from results import PAGES, panels_of, percent, whole

PAGE = "martins2011_parsing.md"
REMEMBERED = PAGES.parents[1] / "build" / "martins2011_parsing.jsonl"
PRESET = "martins-parsing"
C = 0.01  # MIRA's largest step; on a tenth of the Danish training sentences 0.005 and 0.02 do as well
DEFAULT, DEFAULT_C = "mcdonald", PassiveAggressive().most  # of `parsimon train parser`
MEASURED = (
    "all",
    "uas",
    "uas_single",
    "features",
    "templates",
    "choosing",
    "seconds",
    "peak_mb",
    "tokens_a_second",
)
CHOOSING = ("group lasso", "coarse to fine", "information gain")
RULES = ("d = 1", "d = √log2", "d = log2^1.5", "budget falls over 2 epochs")
Key = tuple[str, str, float, int]  # language, way, size, seed


@dataclass(frozen=True)
class Plan:
    """How much is run."""

    languages: tuple[str, ...] = (
        "danish",
        "spanish",
        "basque",
        "slovenian",
        "turkish",
        "hungarian",
        "english",
    )
    budgets: tuple[int, ...] = (200, 300, 400)
    strengths: tuple[float, ...] = (0.3, 1.0, 3.0)  # of L1
    seeds: int = 2
    sentences: int | None = 300  # to learn from, of each treebank
    test_sentences: int | None = 250
    epochs: int = 3  # to choose templates
    refit: int = 5
    danish_sentences: int | None = None
    danish_epochs: tuple[int, int] = (5, 10)
    danish_seeds: int = 3


SMALL = Plan(
    languages=("hungarian",),
    budgets=(100,),
    strengths=(1.0,),
    seeds=1,
    sentences=12,
    test_sentences=6,
    epochs=1,
    refit=1,
    danish_sentences=12,
    danish_epochs=(1, 1),
    danish_seeds=1,
)


class Asked(Request[Plan]):
    """What was asked for on the command line."""

    def line(self, job: str, settings: dict[str, Any], told: dict[str, Any]) -> str:
        """A parser in a line."""
        return (
            f"{settings['language']}, {settings['way']} {settings['size']:g}, seed {settings['seed']}: "
            f"UAS {percent(told['uas'])}, {whole(told['features'])} features of {told['templates']} templates, "
            f"{told['seconds']:.0f} s, {whole(told['tokens_a_second'])} words/s, {told['peak_mb']:,.0f} MB"
        )


# --- Danish, all of it --------------------------------------------------------------------------------------


def danish(asked: Asked) -> str:
    """All 684 templates, those that a budget leaves, and the default preset: accuracy, time, memory and speed."""
    budget, seeds = asked.plan.budgets[0], asked.plan.danish_seeds
    return parsers_of_danish(
        asked,
        {
            "684 templates, MIRA": ("all templates", 0, PRESET, C, seeds),
            f"group lasso, B = {budget}, then MIRA": ("group lasso", budget, PRESET, C, seeds),
            f"coarse to fine, B = {budget}, then MIRA": ("coarse to fine", budget, PRESET, C, seeds),
            f"{len(arc_preset(DEFAULT))} templates (the default), MIRA": (
                "all templates",
                0,
                DEFAULT,
                DEFAULT_C,
                seeds,
            ),
        },
    )


def danish_tenth(asked: Asked) -> str:
    """The same on a tenth of the training sentences, with other weights of groups and a longer trial."""
    budget, seeds = asked.plan.budgets[0], asked.plan.danish_seeds
    learnt = {
        "684 templates": ("all templates", 0, PRESET, C, seeds),
        "d = log2, budget falls over an epoch (the default)": ("group lasso", budget, PRESET, C, seeds),
    }
    learnt |= {rule: (rule, budget, PRESET, C, 1) for rule in RULES}
    return parsers_of_danish(asked, learnt, tenth=True)


def parsers_of_danish(
    asked: Asked, learnt: dict[str, tuple[str, float, str, float, int]], **settings: Any
) -> str:
    """A row a parser: its way of choosing and how many templates that may keep, the preset, MIRA's C, and seeds."""
    plan = asked.plan
    epochs, refit = plan.danish_epochs
    more: dict[str, Any] = {
        "language": "danish",
        "sentences": plan.danish_sentences,
        "test_sentences": plan.danish_sentences,
        "epochs": epochs,
        "refit": refit,
        **settings,
    }
    keys = [(seed, name) for name in learnt for seed in range(learnt[name][-1])]
    wanted = []
    for seed, name in keys:
        way, size, preset, most, _ = learnt[name]
        wanted.append({"way": way, "size": size, "preset": preset, "most": most, "seed": seed, **more})
    told = dict(zip(keys, asked.outcomes("learn", wanted), strict=True))
    rows = []
    for name in learnt:
        found = [one for (_, who), one in told.items() if who == name and one is not None]
        if found:
            value = {what: float(np.mean([one[what] for one in found])) for what in MEASURED}
            uas = [percent(one["uas"]) for one in found]
            rows.append(
                [
                    name,
                    percent(value["all"]),
                    f"{percent(value['uas'])} ({', '.join(uas)})",
                    percent(value["uas_single"]),
                    whole(value["features"]),
                    whole(value["templates"]),
                    f"{value['choosing']:.0f} + {value['seconds'] - value['choosing']:.0f}",
                    whole(value["peak_mb"]),
                    whole(value["tokens_a_second"]),
                ]
            )
    head = ["", "UAS, all words", "without punctuation", "sentences with one root", "features", "templates"]
    return table([*head, "seconds: choosing + refit", "peak, MB", "words/s"], rows)


# --- Figure 3: UAS against the number of features -----------------------------------------------------------


def runs(asked: Asked) -> dict[Key, dict[str, Any]]:
    """Every way with every budget (or strength) and seed, treebank by treebank."""
    plan = asked.plan
    keys: list[Key] = []
    for language in plan.languages:
        keys += [
            (language, way, float(b), seed)
            for b, way, seed in product(plan.budgets, CHOOSING, range(plan.seeds))
            if seed == 0 or way != "information gain"  # which has no seed
        ]
        keys += [(language, "L1", strength, 0) for strength in plan.strengths]
        keys.append((language, "all templates", 0.0, 0))
    more = {
        "preset": PRESET,
        "sentences": plan.sentences,
        "test_sentences": plan.test_sentences,
        "epochs": plan.epochs,
        "refit": plan.refit,
        "most": C,
    }
    wanted = [
        {"language": language, "way": way, "size": size, "seed": seed, **more}
        for language, way, size, seed in keys
    ]
    return {
        key: told for key, told in zip(keys, asked.outcomes("learn", wanted), strict=True) if told is not None
    }


def average(told: dict[Key, dict[str, Any]], language: str, way: str, size: float | None, what: str) -> float:
    """Over seeds, and over sizes if none is given; NaN if there is nothing."""
    found = [
        one[what]
        for (lang, w, s, _), one in told.items()
        if (lang, w) == (language, way) and size in (s, None)
    ]
    return float(np.mean(found)) if found else float("nan")


def figure3(asked: Asked) -> str:
    """UAS without punctuation against the number of features, for every way of choosing."""
    told, plan = runs(asked), asked.plan
    sizes = {way: (plan.strengths if way == "L1" else plan.budgets) for way in (*CHOOSING, "L1")}
    rows = []
    for language in plan.languages:
        for way, of in sizes.items():
            cells = [
                f"{percent(average(told, language, way, size, 'uas'))} "
                f"({average(told, language, way, size, 'features') / 1e3:,.0f}k)"
                for size in of
            ]
            rows.append([f"{language}: {way}", *cells, percent(average(told, language, way, None, "uas"))])
        everything = told.get((language, "all templates", 0.0, 0))
        if everything is not None:
            share = f"{percent(everything['uas'])} ({everything['features'] / 1e3:,.0f}k)"
            rows.append([f"{language}: all 684 templates", share, *[""] * (len(plan.budgets) - 1), ""])
    names = [f"B = {b} or λ = {s:g}" for b, s in zip(plan.budgets, plan.strengths, strict=True)]

    def draw(axes: Any) -> None:
        columns = min(4, len(plan.languages))
        panels = panels_of(axes, -(-len(plan.languages) // columns), columns)
        for panel, language in zip(panels, plan.languages, strict=False):
            for way, of in sizes.items():
                x, y = (
                    [average(told, language, way, size, what) for size in of] for what in ("features", "uas")
                )
                panel.plot(np.array(x) / 1e6, 100 * np.array(y), "o-", markersize=3, label=way)
            everything = told.get((language, "all templates", 0.0, 0))
            if everything is not None:
                panel.axhline(100 * everything["uas"], color="grey", linestyle=":", label="all templates")
            panel.set_title(language, fontsize=9)
            panel.tick_params(labelsize=7)
            panel.grid(alpha=0.3)
            panel.set_xlabel("million features", fontsize=7)
        for panel in panels[len(plan.languages) :]:
            panel.axis("off")
        handles, labels = panels[0].get_legend_handles_labels()
        panels[-1].legend(handles, labels, loc="center", fontsize=8)

    text = table(["UAS, % (features)", *names, "mean"], rows)
    return f"{text}\n{verdict(told, plan)}" + asked.figure("martins2011-parsing-figure3", draw, 11.0, 5.0)


def verdict(told: dict[Key, dict[str, Any]], plan: Plan) -> str:
    """On how many treebanks groups do as well as the filter, averaged over budgets and seeds."""

    def ahead(way: str) -> list[str]:
        return [
            language
            for language in plan.languages
            if average(told, language, way, None, "uas")
            >= average(told, language, "information gain", None, "uas")
        ]

    lines = [
        f"Averaged over budgets and seeds, {way} is at least as good as information gain on {len(ahead(way))} of "
        f"{len(plan.languages)} treebanks ({', '.join(ahead(way)) or 'none'})."
        for way in CHOOSING[:2]
    ]
    return "\n".join(lines) + "\n"


# --- Table 3: what is kept ----------------------------------------------------------------------------------


def table3(asked: Asked) -> str:
    """Of every kind of templates, the share that the smallest budget keeps."""
    told, plan = runs(asked), asked.plan
    budget = float(plan.budgets[0])
    candidates = kinds(arc_preset(PRESET))
    rows = []
    for kind in KINDS:
        cells = []
        for language in plan.languages:
            one = told.get((language, "group lasso", budget, 0))
            cells.append("–" if one is None else f"{100 * one['kinds'][kind] / candidates[kind]:.0f}")
        rows.append([kind, str(candidates[kind]), *cells])
    return table([f"kept of B = {budget:g}, %", "of", *plan.languages], rows)


PARTS: dict[str, Callable[[Asked], str]] = {
    "danish": danish,
    "danish_tenth": danish_tenth,
    "figure3": figure3,
    "table3": table3,
}


def main() -> int:
    """Runs what the command line asks for."""
    options = command_line(__doc__, PARTS, PAGE, REMEMBERED).parse_args()
    plan = SMALL if options.small else Plan()
    return run_program(
        __file__, options, JOBS, PARTS, PAGE, lambda jobs, n: Asked(jobs, n, plan, options.write)
    )


if __name__ == "__main__":
    sys.exit(main())
