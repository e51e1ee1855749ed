"""Grafting-Light (Zhu, Lao & Xing 2010): features of sequences, and the structure of letters' images.

Every table and figure is a function; `python experiments/zhu2010.py figure2 --write` runs one and puts it into
docs/results/zhu2010.md beside what the paper says. Every fit is a job (zhu2010_jobs.py) in a process of its own,
`--jobs` of them at a time, and what came of it is kept in the file `--cache`, so a run that was interrupted goes on
where it stopped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from parsimon.report.markdown import table
from program import Outcome, Request, command_line, run_program
from results import PAGES, panels_of, percent, whole
from zhu2010_jobs import JOBS, METHODS, SIDE

PAGE = "zhu2010.md"
REMEMBERED = PAGES.parents[1] / "build" / "zhu2010.jsonl"
SELECTING = tuple(method for method in METHODS if method != "Full-Opt.-L1")
FULL = "Full-Opt.-L1"


@dataclass(frozen=True)
class Plan:
    """How much is run."""

    synthetic: tuple[int, int, int] = (5000, 1000, 100)  # sequences, features, relevant ones
    synthetic_units: tuple[int, ...] = (1, 10, 20, 50, 110)
    sentences: int | None = None
    chunk_units: tuple[int, ...] = (100, 1000)
    chunk_strengths: tuple[float, ...] = (3.0, 6.0)
    all_strengths: tuple[float, ...] = (1.0,)
    letters: str = "acmsig"
    letter_units: tuple[int, ...] = (1, 10, 20, 50)
    rows: int | None = None
    samples: tuple[int, ...] = (100, 400, 1600)
    variables: int = 36
    seeds: int = 2
    edges: tuple[int, ...] = (2_500, 10_000, 40_000, 79_800)
    limit: float = 300.0  # seconds for a fit
    chunk_limit: float = 240.0  # where it is of noun phrases
    letter_limit: float = 40.0  # where it is of an image
    sampling: tuple[
        tuple[str, int], ...
    ] = ()  # what is said of how likelihoods are sampled, if not the default


SMALL = Plan(
    synthetic=(60, 20, 5),
    synthetic_units=(1, 10),
    sentences=40,
    chunk_units=(50,),
    chunk_strengths=(2.0, 4.0),
    all_strengths=(1.0,),
    letters="a",
    letter_units=(10,),
    rows=40,
    samples=(60,),
    variables=9,
    seeds=1,
    edges=(100,),
    limit=5.0,
    chunk_limit=5.0,
    letter_limit=5.0,
    sampling=(("chains", 2),),
)
LAMBDA = 64.0  # on the synthetic set
SCALE = 0.3  # of the generating weights, which the paper does not give
CHUNK_TOL = 1e-4  # of the steepest slope at w = 0, which is that of features that fire on every other token
NEAR = (1e-2, 1e-3)  # how near objectives come to the lowest, relative to it
UNIT = 20  # where it is fixed
SHARE = 0.1  # the strength on images, for each of them
CENTRED_SHARE = 0.2


class Asked(Request[Plan]):
    """What was asked for on the command line."""

    def line(self, job: str, settings: dict[str, Any], told: dict[str, Any]) -> str:
        """All numbers of an outcome."""
        numbers = {name: value for name, value in told.items() if isinstance(value, int | float | str)}
        return f"{settings}: " + ", ".join(f"{name} {shown(value)}" for name, value in numbers.items())


def shown(value: float | str) -> str:
    """A number in few digits."""
    return value if isinstance(value, str) else f"{value:.5g}"


# --- Fixed structure: figures 2 and 3 ----------------------------------------------------------------------

Criterion = tuple[str, str, Callable[[dict[str, Any]], str]]  # title, key, how it is shown


def criteria(score: str, shown_score: Callable[[dict[str, Any]], str]) -> list[Criterion]:
    """The six of the paper, and the objective, which they are all about."""
    return [
        ("processor seconds", "processors", lambda told: f"{told['processors']:.1f}" + late(told)),
        ("objective", "objective", lambda told: f"{told['objective']:,.2f}"),
        ("−log-likelihood", "loss", lambda told: f"{told['loss']:,.1f}"),
        (score, "score", shown_score),
        ("features not zero", "active", lambda told: whole(told["active"])),
        ("features selected", "selected", lambda told: whole(told["selected"])),
        ("gradients", "gradients", lambda told: whole(told["gradients"])),
    ]


def late(told: dict[str, Any]) -> str:
    """A mark where the time was up."""
    return " (stopped)" if told["status"] == "TIME" else ""


def figure2(asked: Asked) -> str:
    """Six criteria against the number of features selected at a time, on made sequences."""
    shown_error = criteria("error, %", lambda told: percent(1 - told["score"]))
    units, limit = asked.plan.synthetic_units, asked.plan.limit
    known = selections(asked, made_sequences(asked.plan), units, LAMBDA, tol=1e-3, limit=limit)
    return criteria_text(asked, "zhu2010-figure2", known, shown_error)


def made_sequences(plan: Plan) -> dict[str, Any]:
    """What they are made of."""
    n, d, relevant = plan.synthetic
    return {
        "name": "synthetic",
        "sequences": n,
        "features": d,
        "relevant": relevant,
        "scale": SCALE,
        "seed": 0,
    }


def figure2_features(asked: Asked) -> str:
    """How many features are not zero when Grafting-Light and full optimisation go on until little can change."""
    keys = [("Grafting-Light", unit) for unit in asked.plan.synthetic_units] + [(FULL, 0)]
    more = {"data": made_sequences(asked.plan), "strength": LAMBDA, "tol": 1e-5, "limit": asked.plan.limit}
    told = asked.outcomes("select", [{"method": method, "unit": unit, **more} for method, unit in keys])
    shown: dict[str, Callable[[dict[str, Any]], str]] = {
        "objective": lambda one: f"{one['objective']:,.4f}" + late(one),
        "features not zero": lambda one: whole(one["active"]),
        "inputs not zero, and label pairs": lambda one: whole(one["attributes"]),
        "gradients": lambda one: whole(one["gradients"]),
    }
    rows = [[name, *("–" if one is None else show(one) for one in told)] for name, show in shown.items()]
    return table(["", *(f"M = {unit}" for _, unit in keys[:-1]), FULL], rows)


def selections(
    asked: Asked, data: dict[str, Any], units: Sequence[int], strength: float, tol: float, limit: float
) -> dict[tuple[str, int], Outcome]:
    """All methods with all units; full optimisation has none."""
    keys = [(FULL, 0), *product(SELECTING, units)]
    more = {"data": data, "strength": strength, "tol": tol, "limit": limit}
    wanted = [{"method": method, "unit": unit, **more} for method, unit in keys]
    return dict(zip(keys, asked.outcomes("select", wanted), strict=True))


def criteria_text(
    asked: Asked, name: str, known: dict[tuple[str, int], Outcome], wanted: list[Criterion]
) -> str:
    """A table with a row for every method and criterion, and a panel for every criterion."""
    units = sorted({unit for _, unit in known if unit})
    rows = []
    for title, _, show in wanted:
        for method in METHODS:
            cells = [known[method, unit if method != FULL else 0] for unit in units]
            rows.append([f"{title}: {method}", *("–" if told is None else show(told) for told in cells)])
    head = ["", *(f"M = {unit}" for unit in units)]

    def draw(axes: Any) -> None:
        panels = panels_of(axes, 2, -(-len(wanted) // 2))
        for panel, (title, key, _) in zip(panels, wanted, strict=False):
            for method in METHODS:
                told = [known[method, unit if method != FULL else 0] for unit in units]
                values = [np.nan if one is None else one[key] for one in told]
                panel.plot(units, values, "--" if method == FULL else "o-", markersize=3, label=method)
            panel.set_title(title.replace("error, %", "accuracy"), fontsize=9)
            panel.tick_params(labelsize=7)
            panel.grid(alpha=0.3)
            if key in ("processors", "gradients", "selected"):
                panel.set_yscale("log")
        for panel in panels[len(wanted) :]:
            panel.axis("off")
        handles, labels = panels[0].get_legend_handles_labels()
        panels[-1].legend(handles, labels, loc="center", fontsize=8)

    return table(head, rows) + asked.figure(name, draw, 11.0, 5.0)


def times_to_objectives(known: dict[tuple[str, int], Outcome]) -> str:
    """Processor seconds until the objective was near the lowest that any method has reached."""
    lowest = min(told["objective"] for told in known.values() if told is not None)
    rows = []
    for (method, unit), told in known.items():
        if told is None:
            continue
        when = [
            next((at for at, value in told["way"] if value <= lowest * (1 + near)), None) for near in NEAR
        ]
        rows.append(
            [
                method if method == FULL else f"{method}, M = {unit}",
                f"{told['objective']:,.1f}{late(told)}",
                *(f"not in {told['processors']:.0f}" if at is None else f"{at:.1f}" for at in when),
            ]
        )
    head = ["", "objective", *(f"seconds to {100 * near:g} %" for near in NEAR)]
    return table(head, rows)


def chunking_strength(asked: Asked) -> float:
    """The strength with the best F1 on every tenth sentence, after learning from the others."""
    data = {"name": "chunking", "sentences": asked.plan.sentences, "development": True}
    more = {
        "data": data,
        "method": "Grafting-Light",
        "unit": 1000,
        "tol": CHUNK_TOL,
        "limit": asked.plan.chunk_limit,
    }
    strengths = asked.plan.chunk_strengths
    told = asked.outcomes("select", [{**more, "strength": strength} for strength in strengths])
    scores = [-1.0 if one is None else one["score"] for one in told]
    return strengths[int(np.argmax(scores))]


def figure3(asked: Asked) -> str:
    """The same on noun phrases, and the CRF with all features."""
    data = {"name": "chunking", "sentences": asked.plan.sentences}
    strength = chunking_strength(asked)
    limit = asked.plan.chunk_limit
    known = selections(asked, data, asked.plan.chunk_units, strength, tol=CHUNK_TOL, limit=limit)
    text = criteria_text(asked, "zhu2010-figure3", known, criteria("F1", lambda told: percent(told["score"])))
    text += f"\n{times_to_objectives(known)}"
    all_of_them = asked.outcomes(
        "everything", [{"data": data, "strength": l2, "limit": 4 * limit} for l2 in asked.plan.all_strengths]
    )
    rows = [
        [f"all features, L2 {l2:g}", whole(told["candidates"]), whole(told["active"]), percent(told["score"])]
        for l2, told in zip(asked.plan.all_strengths, all_of_them, strict=True)
        if told is not None
    ]
    for method, unit in known:
        told = known[method, unit]
        if told is not None:
            share = f"{whole(told['active'])} ({100 * told['active'] / told['candidates']:.3f} %)"
            name = method if method == FULL else f"{method}, M = {unit}"
            rows.append(
                [f"{name}, λ = {strength:g}", whole(told["candidates"]), share, percent(told["score"])]
            )
    return f"{table(['', 'candidates', 'not zero', 'F1'], rows)}\n{text}"


# --- Images of letters: figures 4 and 5 --------------------------------------------------------------------

SPARSE = "Full-Opt.-L1, idle edges left out"
OF_LETTERS = ("Grafting-Light", "Grafting", SPARSE, FULL)


def images(
    asked: Asked, letters: str, units: Sequence[int], *, centred: bool
) -> dict[tuple[str, str, int], Outcome]:
    """Fits by letter, method and unit."""
    keys = [(letter, method, unit) for letter in letters for method in OF_LETTERS for unit in units]
    keys = [key for key in keys if key[1] not in (FULL, SPARSE) or key[2] == units[0]]
    more = {
        "centred": centred,
        "share": CENTRED_SHARE if centred else SHARE,
        "tol": 1e-3,
        "change": 1e-4,
        "limit": asked.plan.letter_limit,
        "rows": asked.plan.rows,
        **dict(asked.plan.sampling),
    }
    wanted = []
    for letter, method, unit in keys:
        full = {FULL: {"complete": True}, SPARSE: {}}.get(method)
        how = {"method": method, "unit": unit} if full is None else {"method": FULL, "unit": UNIT, **full}
        wanted.append({"letter": letter, **how, **more})
    return dict(zip(keys, asked.outcomes("letter", wanted), strict=True))


def letters_text(asked: Asked, name: str, *, centred: bool) -> str:
    """What each letter took and gave, and the average images side by side."""
    letters = asked.plan.letters
    known = images(asked, letters, [UNIT], centred=centred)
    columns: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
        ("processor seconds", lambda told: f"{told['processors']:.2f}" + late(told)),
        ("gradients", lambda told: whole(told["gradients"])),
        ("edges", lambda told: whole(told["edges"])),
        ("Bethe", lambda told: f"{told['bethe']:.4f}"),
        ("sampling", lambda told: f"{told['likelihood']:.4f}"),
        ("conditional", lambda told: f"{told['pseudo']:.4f}"),
    ]
    rows = []
    for letter, method in product(letters, OF_LETTERS):
        told = known[letter, method, UNIT]
        cells = ["–" if told is None else show(told) for _, show in columns]
        rows.append([f"{letter}: {method}", *cells])

    def draw(axes: Any) -> None:
        shown_methods = [method for method in OF_LETTERS if method != SPARSE]
        kinds = ["data", *(f"{method}, {how}" for method in shown_methods for how in ("believed", "sampled"))]
        panels = panels_of(axes, len(letters), len(kinds))
        for panel, (letter, kind) in zip(panels, product(letters, kinds), strict=True):
            method, _, how = kind.partition(", ")
            told = known[letter, OF_LETTERS[0] if kind == "data" else method, UNIT]
            panel.axis("off")
            if letter == letters[0]:
                panel.set_title(f"{method}\n{how}", fontsize=7)
            if told is not None:
                picture = np.array(told["data" if kind == "data" else how]).reshape(SIDE, SIDE)
                panel.imshow(picture, cmap="gray", vmin=0, vmax=1)

    text = table(["", *(title for title, _ in columns)], rows)
    return text + asked.figure(name, draw, 1.2 * 7, 1.2 * len(letters) + 0.5)


def figure4(asked: Asked) -> str:
    """Six letters, in the paper's way."""
    return letters_text(asked, "zhu2010-figure4", centred=False)


def figure4_centred(asked: Asked) -> str:
    """The same with centred edges and a start at independent pixels."""
    return letters_text(asked, "zhu2010-figure4-centred", centred=True)


def figure5(asked: Asked) -> str:
    """The first letter against the number of edges that are selected at a time."""
    letter = asked.plan.letters[0]
    known = images(asked, letter, asked.plan.letter_units, centred=False)
    units = asked.plan.letter_units
    rows = []
    for title, show in (
        ("processor seconds", lambda told: f"{told['processors']:.2f}" + late(told)),
        ("gradients", lambda told: whole(told["gradients"])),
        ("edges", lambda told: whole(told["edges"])),
        ("likelihood by sampling", lambda told: f"{told['likelihood']:.4f}"),
    ):
        for method in OF_LETTERS:
            cells = [known[letter, method, units[0] if method in (FULL, SPARSE) else unit] for unit in units]
            rows.append([f"{title}: {method}", *("–" if told is None else show(told) for told in cells)])
    return table(["", *(f"M = {unit}" for unit in units)], rows)


# --- Recovery and speed -------------------------------------------------------------------------------------

KINDS = ("chain", "grid", "random")


def recovery(asked: Asked) -> str:
    """Precision and recall of edges against the number of samples."""
    plan = asked.plan
    keys = list(product(KINDS, plan.samples, range(plan.seeds)))
    wanted = [
        {"kind": kind, "variables": plan.variables, "samples": n, "coupling": 0.4, "seed": seed}
        for kind, n, seed in keys
    ]
    known = dict(zip(keys, asked.outcomes("recover", wanted), strict=True))
    names = [name for told in known.values() if told is not None for name in told if name != "edges"]
    rows = []
    for kind, name in product(KINDS, dict.fromkeys(names)):
        cells = []
        for n in plan.samples:
            told = [one[name] for s in range(plan.seeds) if (one := known[kind, n, s]) is not None]
            means = [np.mean([one[of] for one in told]) for of in ("precision", "recall")] if told else None
            cells.append("–" if means is None else f"{means[0]:.2f} / {means[1]:.2f}")
        rows.append([f"{kind}: {name}", *cells])
    return table(["precision / recall", *(f"{n:,} samples" for n in plan.samples)], rows)


def sweeps(asked: Asked) -> str:
    """Seconds a sweep of belief propagation, against the number of edges."""
    plan = asked.plan
    rows = []
    for schedule in ("sequential", "flooding"):
        told = [
            asked.outcome("sweeps", {"variables": 400, "edges": edges, "schedule": schedule})
            for edges in plan.edges
        ]
        cells = ["–" if one is None else f"{1000 * one['seconds']:.2f} ms" for one in told]
        each = [
            "–" if one is None else f"{1e9 * one['seconds'] / e:.0f} ns"
            for one, e in zip(told, plan.edges, strict=True)
        ]
        rows += [[f"{schedule}: a sweep", *cells], ["– an edge", *each]]
    return table(["400 binary variables", *(f"{edges:,} edges" for edges in plan.edges)], rows)


PARTS: dict[str, Callable[[Asked], str]] = {
    "figure2": figure2,
    "figure2_features": figure2_features,
    "figure3": figure3,
    "figure4": figure4,
    "figure4_centred": figure4_centred,
    "figure5": figure5,
    "recovery": recovery,
    "sweeps": sweeps,
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
