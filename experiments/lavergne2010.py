"""Practical very large scale CRFs (Lavergne, Cappé & Yvon 2010): letter-to-sound and part-of-speech tagging.

Every table is a function; `python experiments/lavergne2010.py table1 --write` runs one and puts it into
docs/results/lavergne2010.md beside what the paper published. Every fit is a job (lavergne2010_jobs.py) in a process of
its own, and what came of it is kept in the file `--cache`, so a run that was interrupted goes on where it stopped.
`--sets` and `--solvers` say what may be run; of the rest the tables show what is remembered.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from jobs import Jobs, run_job, run_parts
from lavergne2010_jobs import JOBS, NETTALK, OURS, TAGGED
from lavergne2010_orders import ORDERS, STRENGTHS, TENTHS, bootstrap, f1
from parsimon.report.markdown import table
from results import PAGES, figure, percent, say, whole

PAGE = "lavergne2010.md"
REMEMBERED = PAGES.parents[1] / "build" / "lavergne2010.jsonl"
SOLVERS = {OURS: "Parsimon's default", "owlqn": "OWL-QN", "sgd-l1": "SGD-L1", "bcd": "BCD"}
RIDGES = (0.01, 0.1, 1.0)  # L2 strengths where there is no L1: the first fold's development set chooses


@dataclass(frozen=True)
class Asked:
    """What was asked for on the command line."""

    jobs: Jobs
    folds: int
    words: int | None
    sets: frozenset[str]  # empty for all; likewise
    solvers: frozenset[str]
    write: bool

    def figure(self, name: str, draw: Callable[[Any], None]) -> str:
        """A figure of the page; without --write there is none, for it would take the place of the one that is there."""
        return f"\n{figure(name, draw)}" if self.write else ""

    def outcome(self, job: str, title: str, *, told: Callable[[Any], str], **settings: Any) -> Any:
        """What came of a job, said as soon as it is known; None if there is nothing."""
        solver, templates = settings.get("solver", OURS), settings.get("templates")
        run = (not self.solvers or solver in self.solvers) and (
            not self.sets or templates is None or templates in self.sets
        )
        outcome = self.jobs.outcome(job, run=run, words=self.words, **settings)
        if outcome is not None:
            say(f"{title}: {told(outcome)}")
        return outcome

    def fits(self, data: str, templates: str, **settings: Any) -> list[dict[str, Any]]:
        """The fits of all folds, as far as there are any."""
        out = []
        for fold in range(self.folds if data in NETTALK else 1):
            of = {"data": data, "templates": templates, "solver": OURS, **settings, "fold": fold}
            title = ", ".join(str(value) for value in of.values())
            out.append(self.outcome("fit", title, told=line_of, **of))
        return [one for one in out if one is not None]


def line_of(told: dict[str, Any]) -> str:
    """A fit in a line."""
    features = f"{told['active']:,} of {told['candidates']:,} features"
    cost = f"{told['passes']} passes, {told['seconds']:.0f} s, {told['peak_mb']:,.0f} MB"
    return f"error {percent(told['error'])} % (dev {percent(told['dev_error'])}), {features}, {cost}"


def brief(told: Any) -> str:
    """Anything that was measured, in a line."""
    if isinstance(told, dict):
        return ", ".join(f"{name} {brief(value)}" for name, value in told.items())
    if isinstance(told, list | tuple):
        return "/".join(map(brief, told))
    return f"{told:.4g}" if isinstance(told, float) else str(told)


def average(fits: Sequence[dict[str, Any]], of: str) -> float | None:
    """The mean over folds, or None if there is nothing to average."""
    values = [one[of] for one in fits if one.get(of) is not None]
    return mean(values) if values else None


def duration(seconds: float | None) -> str:
    """For people."""
    if seconds is None:
        return "–"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def megabytes(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f} MB"


def both(first: float | None, second: float | None) -> str:
    """Joint labels / phonemes."""
    return "–" if first is None else f"{percent(first)} / {percent(second)}"


PUBLISHED_PAIRS = {
    "3-grm": ("10.74 (14.3M)", "14.59 (0.3M)"),
    "5-grm": ("8.48 (132.5M)", "11.54 (2.5M)"),
    "suzuki-pos": ("2.91 (436.7M)", "3.47 (70.2M)"),
}


def table1(asked: Asked) -> str:
    """With and without features that test a label pair and the observation together."""
    rows = []
    for name, published in PUBLISHED_PAIRS.items():
        if name == "suzuki-pos":
            title, pairs = "POS, Penn sample", asked.fits("penn", "suzuki-pos+")
            without = asked.fits("penn", "suzuki-pos")
        else:
            title, pairs = name, asked.fits("nettalk", name)
            without = asked.fits("nettalk", name, kind="node")
        cells = [title]
        for fits in (pairs, without):
            cells += [percent(average(fits, "error")), whole(average(fits, "candidates"))]
            cells += [whole(average(fits, "active"))]
        rows.append([*cells, str(min(len(pairs), len(without))), *published])
    head = ["", "error, with label pairs", "candidates", "active", "error, without", "candidates", "active"]
    return table([*head, "folds", "published: with", "without"], rows)


# Zeros in M, minutes dense and sparse.
PUBLISHED_SPARSE = {"1-grm": (44.6, 57, 41), "3-grm-": (99.6, 44, 16), "3-grm": (19.9, 58, 48)}


def table2(asked: Asked) -> str:
    """Sparse against dense forward–backward: one evaluation on the features of a trained model, the first fold."""
    rows = []
    for name in ("1-grm", "3-grm-", "3-grm", "5-grm", "5-grm+"):
        told = asked.outcome("layouts", name, told=brief, templates=name, fold=0)
        if told is None:
            continue
        dense, chosen = told["dense"], told["chosen"]
        cells = [name, f"{100 * told['zeros']:.1f} %", whole(told["active"])]
        for place in (0, 1):
            cells += [milliseconds(dense[place]), milliseconds(chosen[place])]
            cells += [f"{dense[place] / chosen[place]:.2f}×"]
        known = PUBLISHED_SPARSE.get(name)
        cells += [f"{known[0]} %", f"{known[1] / known[2]:.2f}×"] if known else ["–", "–"]
        rows.append(cells)
    head = ["", "zeros in M", "active", "wall, dense", "sparse", "ratio", "processors, dense", "sparse"]
    return table([*head, "ratio", "published: zeros", "ratio"], rows)


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.1f} ms"


PUBLISHED_REGULARISERS = {
    "1-grm": (17.81, 17.86, 17.79),
    "3-grm": (10.62, 10.74, 10.70),
    "5-grm": (8.50, 8.45, 8.48),
}


def table3(asked: Asked) -> str:
    """Three regularisers. L2 by L-BFGS on all weights, but not for 5-grm."""
    rows = []
    for name, published in PUBLISHED_REGULARISERS.items():
        ridge, ridges = None, []
        if name != "5-grm":
            ridge = chosen_ridge(asked, "1-grm")
            ridges = asked.fits("nettalk", name, solver="lbfgs", l1=0.0, l2=ridge)
        each = [ridges, asked.fits("nettalk", name, l2=0.0), asked.fits("nettalk", name)]
        cells = [name, "–" if ridge is None else f"{ridge:g}"]
        for fits in each:
            cells += [percent(average(fits, "error")), whole(average(fits, "active"))]
        cells += ["/".join(str(len(fits)) for fits in each)]
        rows.append([*cells, " / ".join(f"{value:.2f}" for value in published)])
    head = ["", "ρ2 of L2", "L2", "active", "L1", "active", "elastic net", "active", "folds"]
    return table([*head, "published L2 / L1 / elastic net"], rows)


def chosen_ridge(asked: Asked, name: str) -> float:
    """The L2 strength that is best on the first fold's development set."""
    only = replace(asked, folds=1)
    tried = {l2: only.fits("nettalk", name, solver="lbfgs", l1=0.0, l2=l2) for l2 in RIDGES}
    known = {l2: fits[0]["dev_error"] for l2, fits in tried.items() if fits}
    return min(known, key=lambda l2: known[l2], default=RIDGES[1])


# Iterations, active features, error, time.
PUBLISHED_SOLVERS = {
    ("owlqn", "1-grm"): (63.4, 4_684, 17.79, "11 min"),
    ("owlqn", "7-grm"): (140.2, 38_214, 8.12, "1 h 02 min"),
    ("owlqn", "5-grm+"): (141.0, 43_429, 7.89, "1 h 37 min"),
    ("sgd-l1", "1-grm"): (21.4, 3_540, 18.21, "9 min"),
    ("sgd-l1", "5-grm+"): (28.5, 34_319, 8.01, "45 min"),
    ("bcd", "1-grm"): (28.2, 5_017, 18.27, "27 min"),
    ("bcd", "7-grm"): (9.2, 3_692, 8.21, "1 h 22 min"),
    ("bcd", "5-grm+"): (8.7, 47_675, 7.91, "2 h 18 min"),
}


def table4(asked: Asked) -> str:
    """Nettalk: solvers side by side."""
    rows = []
    for solver, title in SOLVERS.items():
        for name in ("1-grm", "7-grm", "5-grm+"):
            fits = asked.fits("nettalk", name, solver=solver)
            known = PUBLISHED_SOLVERS.get((solver, name))
            cells = [f"{title}, {name}", mean_of(fits, "passes"), whole(average(fits, "active"))]
            cells += [percent(average(fits, "error")), percent(average(fits, "tuned_error"))]
            cells += [duration(average(fits, "cpu_seconds")), duration(average(fits, "seconds"))]
            cells += [megabytes(average(fits, "peak_mb")), str(len(fits))]
            cells += [f"{known[0]}", whole(known[1]), f"{known[2]:.2f}", known[3]] if known else ["–"] * 4
            rows.append(cells)
    head = ["", "passes", "active", "error", "fine-tuned", "processors", "wall", "peak memory", "folds"]
    return table([*head, "published: iterations", "active", "error", "processors"], rows)


def mean_of(fits: Sequence[dict[str, Any]], of: str) -> str:
    value = average(fits, of)
    return "–" if value is None else f"{value:.1f}"


PUBLISHED_PROSODY = {
    ("sgd-l1", "5-grm"): "14.71 / 8.11, 55 min",
    ("sgd-l1", "5-grm+"): "13.91 / 7.51, 2 h 45 min",
    ("bcd", "5-grm"): "14.57 / 8.06, 2 h 46 min",
    ("bcd", "7-grm"): "14.12 / 7.86, 3 h 02 min",
    ("bcd", "5-grm+"): "13.85 / 7.47, 7 h 14 min",
    ("bcd", "5-grm++"): "13.69 / 7.36, 16 h 03 min",
}


def table5(asked: Asked) -> str:
    """Nettalk with prosody: errors of joint labels and of phonemes."""
    rows = []
    wanted = [(OURS, name) for name in ("5-grm", "7-grm", "5-grm+", "5-grm++")] + list(PUBLISHED_PROSODY)
    cases = [("prosody", solver, name, PUBLISHED_PROSODY.get((solver, name), "–")) for solver, name in wanted]
    cases.append(("prosody, marks on letters", OURS, "5-grm+", "–"))
    for data, solver, name, published in cases:
        fits = asked.fits(data, name, solver=solver)
        cells = [f"{SOLVERS[solver]}, {name}{data.removeprefix('prosody')}"]
        for first, second in (("error", "phoneme_error"), ("tuned_error", "tuned_phoneme_error")):
            cells += [both(average(fits, first), average(fits, second))]
        cells += [whole(average(fits, "candidates")), whole(average(fits, "active")), mean_of(fits, "passes")]
        cells += [duration(average(fits, "cpu_seconds")), duration(average(fits, "seconds"))]
        rows.append([*cells, megabytes(average(fits, "peak_mb")), str(len(fits)), published])
    head = ["", "joint / phoneme", "fine-tuned", "candidates", "active", "passes", "processors", "wall"]
    return table([*head, "peak memory", "folds", "published, processors"], rows)


# After how many iterations of the stage before a stage begins. The paper's: one, then at four, then at six in all.
SCHEDULES = {"bcd": [1, 3, 2], OURS: [20, 20, 20]}


def growing(asked: Asked) -> str:
    """Part-of-speech tagging with tests that join in where the shorter tests within them are active."""
    rows, stage_rows = [], []
    cases: list[tuple[str, str, list[int] | None]] = [("penn", OURS, None)]
    cases += [(data, solver, after) for data in TAGGED for solver, after in SCHEDULES.items()]
    for data, solver, after in cases:
        how = "all at once" if after is None else "stages after " + ", ".join(map(str, after))
        title = f"{data.capitalize()}, {SOLVERS[solver]}, {how}"
        told = asked.outcome("grow", title, told=line_of, data=data, solver=solver, after=after)
        if told is None:
            continue
        cells = [title, percent(told["dev_error"]), percent(told["error"]), whole(told["candidates"])]
        cells += [whole(told["active"]), str(told["passes"]), duration(told["cpu_seconds"])]
        rows.append([*cells, duration(told["seconds"]), megabytes(told["peak_mb"])])
        for number, stage in enumerate((told["growth"] or {"stages": []})["stages"], start=1):
            counts = ("attributes", "possible_attributes", "features", "candidate_features")
            stage_rows.append([f"{title}: {number}", *(whole(stage[of]) for of in counts)])
            stage_rows[-1].append(f"{stage['objective']:,.1f}")
    head = ["", "dev error", "test error", "candidates, last stage", "active", "passes", "processors"]
    text = table([*head, "wall", "peak memory"], rows) + "\nStage by stage:\n\n"
    head = ["", "attributes that came in", "of", "active features", "of", "objective"]
    return text + table(head, stage_rows)


# ρ1 and ρ2, of which each fold's development set chooses.
WEAKER = ((0.2, 0.1), (0.1, 0.1), (0.05, 0.1))
KINDS = ("error", "risk_error", "tuned_error", "tuned_risk_error")


def weaker(asked: Asked) -> str:
    """7-grm with weaker penalties, and with labels of minimum risk."""
    rows, known = [], []
    for l1, l2 in WEAKER:
        known.append(asked.fits("nettalk", "7-grm", l1=l1, l2=l2, dev_tolerance=0.0))
        rows.append([f"ρ1 = {l1:g}, ρ2 = {l2:g}", *weaker_cells(known[-1])])
    folds = min(map(len, known), default=0)
    best = [min((fits[k] for fits in known), key=lambda one: one["risk_dev_error"]) for k in range(folds)]
    rows.append(["whichever is best on a fold's development set", *weaker_cells(best)])
    head = [
        "",
        "dev, minimum risk",
        "active",
        "error",
        "minimum risk",
        "fine-tuned",
        "fine-tuned, minimum risk",
    ]
    return table([*head, "processors", "folds"], rows)


def weaker_cells(fits: Sequence[dict[str, Any]]) -> list[str]:
    """Means over folds."""
    cells = [percent(average(fits, "risk_dev_error")), whole(average(fits, "active"))]
    cells += [percent(average(fits, of)) for of in KINDS]
    return [*cells, duration(average(fits, "cpu_seconds")), str(len(fits))]


# --- What the paper has no table of -------------------------------------------------------------------------

LABELS = (11, 22, 51, 114, 228)


def labels(asked: Asked) -> str:
    """Cost against the number of labels."""
    known = {}
    for n in LABELS:
        told = asked.outcome("by_labels", f"{n} labels", told=brief, n=n, templates="3-grm", fold=0)
        if told is not None:
            known[n] = told
    rows = []
    for n, told in known.items():
        cells = [str(n), whole(told["candidates"]), whole(told["active"])]
        cells += [milliseconds(told[of][1]) if of in told else "–" for of in ("chosen", "dense", "look")]
        rows.append([*cells, milliseconds(told["iteration"]), megabytes(told["peak_mb"])])
    head = ["labels", "candidates", "active", "an evaluation", "the same, dense", "a look at all candidates"]
    text = table([*head, "an iteration, on average", "peak memory"], rows)

    def draw(axes: Any) -> None:
        kinds = (
            ("chosen", "an evaluation"),
            ("dense", "the same, dense"),
            ("look", "a look at all candidates"),
        )
        for of, name in kinds:
            points = {n: told[of][1] for n, told in known.items() if of in told}
            axes.loglog(list(points), list(points.values()), "o-", label=name)
        axes.set_xticks(list(known), labels=[str(n) for n in known])
        axes.minorticks_off()
        guides(axes, known)
        axes.set(xlabel="labels", ylabel="seconds of processors")
        axes.legend()
        axes.grid(alpha=0.3)

    return text + (asked.figure("lavergne2010-labels", draw) if known else "")


def guides(axes: Any, known: dict[int, Any]) -> None:
    """Lines that grow with the number of labels, and with its square."""
    n = np.array(list(known), float)
    least = min(told["chosen"][1] for told in known.values())
    for power, style in ((1, ":"), (2, "--")):
        axes.plot(n, least * (n / n[0]) ** power, color="grey", linestyle=style, label=f"∝ labels^{power}")


CANDIDATES = ("3-grm", "3-grm+", "3-grm++", "5-grm", "5-grm+", "5-grm++", "7-grm", "7-grm+", "7-grm++")


def candidates(asked: Asked) -> str:
    """Cost against the number of candidates, with the same active features."""
    rows, points = [], []
    for name in CANDIDATES:
        told = asked.outcome("by_candidates", name, told=brief, templates=name, fold=0)
        if told is None:
            continue
        points.append((told["candidates"], told["chosen"][1], told["look"][1]))
        rows.append([name, whole(told["candidates"]), whole(told["active"]), milliseconds(told["chosen"][1])])
        rows[-1].append(milliseconds(told["look"][1]))
    text = table(["", "candidates", "active", "an evaluation", "a look at all candidates"], rows)

    def draw(axes: Any) -> None:
        n, evaluation, look = np.array(sorted(points)).T
        axes.loglog(n, evaluation, "o-", label="an evaluation, the same features active")
        axes.loglog(n, look, "o-", label="a look at all candidates")
        axes.set(xlabel="candidate features", ylabel="seconds of processors")
        axes.legend()
        axes.grid(alpha=0.3)

    return text + (asked.figure("lavergne2010-candidates", draw) if points else "")


def agreement(asked: Asked) -> str:
    """Do all solvers reach the same objective?"""
    known = {}
    for solver in SOLVERS:
        settings = {"solver": solver, "templates": "3-grm", "fold": 0}
        told = asked.outcome("agree", SOLVERS[solver], told=brief, **settings)
        if told is not None:
            known[solver] = told
    lowest = min((told["tuned"]["objective"] for told in known.values()), default=0.0)
    rows = []
    for solver, told in known.items():
        cells = [SOLVERS[solver], str(told["passes"]), duration(told["seconds"])]
        for of in ("own", "tuned"):
            end = told[of]
            cells += [str(told["more_passes"])] if of == "tuned" else []
            cells += [f"{end['objective']:,.2f}", f"{end['objective'] / lowest - 1:.1e}", f"{end['kkt']:.1e}"]
            cells += [whole(end["active"])]
        rows.append(cells)
    head = [
        "",
        "passes",
        "wall",
        "objective",
        "above the lowest",
        "KKT residual",
        "active",
        "fine-tuning: passes",
    ]
    return table([*head, "objective", "above the lowest", "KKT residual", "active"], rows)


def orders(asked: Asked) -> str:
    """Chunking with one tag before and with two."""
    rows, first = [], None
    for kind in ORDERS:
        held = [
            asked.outcome("held_out", f"{kind}, tenth {n}", told=brief, kind=kind, tenth=n) for n in TENTHS
        ]
        if any(one is None for one in held):
            continue
        scores = {l1: mean(one["f1"][str(l1)] for one in held) for l1 in STRENGTHS}
        l1 = max(scores, key=lambda each: scores[each])
        told = asked.outcome(
            "tested", f"{kind}, ρ1 = {l1:g}", told=lambda one: percent(one["f1"]), kind=kind, l1=l1
        )
        if told is None:
            continue
        counts = np.array(told["spans"])
        first = counts if first is None else first
        error, of_difference = bootstrap(counts, first)
        difference = 100 * (told["f1"] - f1(first))
        cells = [kind, f"{l1:g}", percent(scores[l1]), f"{percent(told['f1'])} ± {100 * error:.2f}"]
        cells += ["–" if counts is first else f"{difference:+.2f} ± {100 * of_difference:.2f}"]
        cells += [whole(told["candidates"]), whole(told["active"]), duration(told["cpu_seconds"])]
        rows.append([*cells, duration(told["seconds"]), f"{told['tokens_a_second']:,.0f}"])
    head = ["", "ρ1", "F1, held-out tenths", "F1, test", "against order 1", "candidates", "active"]
    return table([*head, "processors", "wall", "tokens a second, decoding"], rows)


PARTS: dict[str, Callable[[Asked], str]] = {
    "table1": table1,
    "table2": table2,
    "table3": table3,
    "table4": table4,
    "table5": table5,
    "weaker": weaker,
    "growth": growing,
    "labels": labels,
    "candidates": candidates,
    "agreement": agreement,
    "orders": orders,
}


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    p.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    p.add_argument("--write", action="store_true", help=f"put the results into docs/results/{PAGE}")
    p.add_argument("--threads", type=int, default=2, help="for what can use several (default: 2)")
    p.add_argument("--folds", type=int, default=10, help="how many of the ten folds to run (default: 10)")
    p.add_argument("--sets", default="", help="run only these, separated by commas, as in 3-grm,5-grm+")
    p.add_argument("--solvers", default="", help=f"run only these, of {', '.join(SOLVERS)}, lbfgs")
    p.add_argument(
        "--words", type=int, metavar="N", help="only the first N words or sentences: to try it out"
    )
    remembered = "where finished fits are remembered (default: build/lavergne2010.jsonl)"
    p.add_argument("--cache", type=Path, metavar="FILE", default=REMEMBERED, help=remembered)
    p.add_argument("--job", nargs=2, help=argparse.SUPPRESS)
    return p


def main() -> int:
    """Runs the parts named, prints them, and with --write puts them into the page of results."""
    options = parser().parse_args()
    if options.job:
        return run_job(JOBS, *options.job)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the job under way is ended too
    if options.write and options.words is not None:
        say("--words is for trying things out, and --write for results; leave one of them out")
        return 2
    sets, solvers = (frozenset(text.split(",")) - {""} for text in (options.sets, options.solvers))
    jobs = Jobs(Path(__file__).resolve(), options.cache, options.threads)
    asked = Asked(jobs, options.folds, options.words, sets, solvers, options.write)
    return run_parts(PARTS, options.parts, asked, PAGE if options.write else None, jobs)


if __name__ == "__main__":
    sys.exit(main())
