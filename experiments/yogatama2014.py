"""Making the most of bag of words: sentence regularization (Yogatama & Smith 2014), on the tasks there is data for.

Every table is a function; `python experiments/yogatama2014.py table2 --write` runs one and puts it into
docs/results/yogatama2014.md beside what the paper published. Every search is a job (yogatama2014_jobs.py) in a process
of its own, and what came of it is kept in build/yogatama2014.jsonl, so a run that was interrupted goes on where it
stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from jobs import Jobs, run_job, run_parts
from parsimon.report.explanation_page import explanation_page
from parsimon.report.markdown import table
from parsimon.tasks.documents.explain import explain
from parsimon.tasks.documents.training import DocumentTraining
from results import PAGES, figure, percent, say, whole
from yogatama2014_jobs import JOBS, NEWS, REVIEWS, documents_of, reader_of

PAGE = "yogatama2014.md"
REMEMBERED = PAGES.parents[1] / "build" / "yogatama2014.jsonl"
TITLES = {
    "lasso": "lasso",
    "ridge": "ridge",
    "elastic net": "elastic net",
    "sentence": "sentences, stopped",
    "no sentences": "the same, λ_sen = 0",
    "certified": "sentences, certified",
}
ROTATED = ("lasso", "ridge", "elastic net", "sentence", "no sentences")
PUBLISHED = {  # accuracy and size in per cent: lasso, ridge, elastic net, sentence
    "science": ((90.63, 1), (91.90, 100), (91.65, 34), (96.20, 12)),
    "sports": ((91.08, 2), (93.34, 100), (93.71, 15), (95.10, 3)),
    "religion": ((90.52, 0.3), (92.47, 100), (92.47, 48), (92.75, 94)),
    "computer": ((85.84, 2), (86.74, 100), (87.13, 24), (90.86, 10)),
    "books": ((76.50, None), (80.50, 100), (81.50, None), (84.00, None)),
    "dvd": ((78.50, None), (73.50, 100), (79.00, None), (81.50, None)),
    "electronics": ((81.50, None), (86.00, 100), (86.00, None), (84.00, None)),
    "movie": ((76.00, None), (87.50, 100), (89.00, None), (88.00, None)),
}


@dataclass(frozen=True)
class Asked:
    """What was asked for on the command line."""

    jobs: Jobs
    tasks: tuple[str, ...]
    write: bool

    def tuned(self, task: str, method: str, job: str = "tune", **more: Any) -> dict[str, Any] | None:
        """What came of a search, said as soon as it is known."""
        told = self.jobs.outcome(job, task=task, method=method, **more)
        if told is not None:
            say(
                f"{task}, {method}{more or ''}: test {percent(told['test'])} (dev {percent(told['dev'])}), "
                f"{100 * told['size']:.1f} % of words, {told['settings']}, {told['iterations']} iterations; "
                f"{told['fits']} fits in {told['seconds']:.0f} s"
            )
        return told

    def figure(self, name: str, draw: Callable[[Any], None]) -> str:
        """A figure of the page, with --write."""
        return f"\n{figure(name, draw)}" if self.write else ""


def table2(asked: Asked) -> str:
    """Accuracies and model sizes, tuned on the development set."""
    rows, known = [], {}
    for task in asked.tasks:
        told = {method: asked.tuned(task, method) for method in TITLES}
        known[task] = {method: one for method, one in told.items() if one is not None}
        cells = [task]
        for method in TITLES:
            one = told[method]
            cells.append("–" if one is None else f"{percent(one['test'])} ({100 * one['size']:.0f})")
        rows.append([*cells, published(task)])
    for name, some in (("mean, newsgroups", NEWS), ("mean, reviews", REVIEWS)):
        rows.append([name, *(average(known, some, method) for method in TITLES), published_mean(some)])
    head = ["accuracy (size)", *TITLES.values(), "published: lasso, ridge, elastic net, sentence"]
    return table(head, rows) + "\n" + tests_of(known)


def published(task: str) -> str:
    """The paper's four accuracies."""
    return " · ".join(f"{accuracy:.2f}" for accuracy, _ in PUBLISHED[task]) if task in PUBLISHED else "–"


def average(known: dict[str, Any], tasks: Sequence[str], method: str) -> str:
    """The mean accuracy over tasks, if all are known."""
    values = [known[task][method]["test"] for task in tasks if method in known.get(task, {})]
    return percent(mean(values)) if len(values) == len(tasks) else "–"


def published_mean(tasks: Sequence[str]) -> str:
    """Of the tasks that the paper has too."""
    rows = [PUBLISHED[task] for task in tasks if task in PUBLISHED]
    return " · ".join(f"{mean(row[k][0] for row in rows):.2f}" for k in range(4))


def tests_of(known: dict[str, Any]) -> str:
    """Binomial tests over all test documents that one of two methods gets right and the other does not."""
    from scipy.stats import binomtest

    rows = []
    for method in ("lasso", "ridge", "elastic net", "no sentences"):
        pairs = [
            (one["sentence"], one[method]) for one in known.values() if {"sentence", method} <= one.keys()
        ]
        ours, theirs = ("".join(pair[k]["right"] for pair in pairs) for k in (0, 1))
        wins = sum(a > b for a, b in zip(ours, theirs, strict=True))
        losses = sum(a < b for a, b in zip(ours, theirs, strict=True))
        p = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
        rows.append([TITLES[method], whole(len(ours)), whole(wins), whole(losses), f"{p:.2g}"])
    text = "Documents that stopped sentences get right and another method gets wrong, and the other way round:\n\n"
    return text + table(["against", "documents", "right", "wrong", "p (binomial test)"], rows)


def rotation(asked: Asked) -> str:
    """Each fifth of the training messages in turn for development: how much of a figure is the choice of strengths."""
    rows, means = [], {method: [] for method in ROTATED}
    for task in NEWS:
        cells = [task]
        for method in ROTATED:
            told = [asked.tuned(task, method, **({} if k == 4 else {"fifth": k})) for k in range(5)]
            values = [100 * one["test"] for one in told if one is not None]
            means[method].append(values)
            cells.append(f"{np.mean(values):.2f} ± {np.std(values):.2f}" if values else "–")
        rows.append([*cells, published(task)])
    cells = ["mean, newsgroups"]
    for values in means.values():
        cells.append(f"{np.mean([np.mean(each) for each in values]):.2f}" if all(values) else "–")
    rows.append([*cells, published_mean(NEWS)])
    titles = [TITLES[method] for method in ROTATED]
    return table(["accuracy", *titles, "published: lasso, ridge, elastic net, sentence"], rows)


def cross_validated(asked: Asked) -> str:
    """Strengths chosen by all fifths of the training messages together, and a model of all of them."""
    rows, known, chosen = [], {}, []
    for task in NEWS:
        told = {method: asked.tuned(task, method, "cross_validate") for method in ROTATED}
        known[task] = {method: one for method, one in told.items() if one is not None}
        cells = [f"{percent(one['test'])} ({100 * one['size']:.0f})" if one else "–" for one in told.values()]
        rows.append([task, *cells, published(task)])
        for method in ("sentence", "no sentences"):
            one = told[method]
            if one is not None:
                named = ", ".join(f"{name} {value:g}" for name, value in one["settings"].items())
                chosen.append([task, TITLES[method], named, whole(one["iterations"]), percent(one["dev"])])
    means = [average(known, NEWS, method) for method in ROTATED]
    rows.append(["mean, newsgroups", *means, published_mean(NEWS)])
    titles = [TITLES[method] for method in ROTATED]
    first = table(["accuracy (size)", *titles, "published: lasso, ridge, elastic net, sentence"], rows)
    second = table(["", "", "chosen", "rounds", "accuracy on fifths"], chosen)
    return f"{first}\n{second}\n{tests_of(known)}"


def settings(asked: Asked) -> str:
    """What was chosen."""
    rows = []
    for task in asked.tasks:
        for method, title in TITLES.items():
            told = asked.tuned(task, method)
            if told is None:
                continue
            chosen = ", ".join(f"{name} {value:g}" for name, value in told["settings"].items())
            gap = "–" if told["gap"] is None else f"{told['gap']:.2g}"
            cells = [task, title, chosen, whole(told["iterations"]), percent(told["dev"]), gap]
            rows.append([*cells, whole(told["fits"]), f"{told['seconds']:.0f} s"])
    head = ["", "", "chosen", "iterations", "dev", "duality gap", "fits", "all of them took"]
    return table(head, rows)


def search(asked: Asked) -> str:
    """The grid against successive halving."""
    rows = []
    for task in asked.tasks:
        for method, title in (("sentence", "grid"), ("halving", "successive halving")):
            told = asked.tuned(task, method)
            if told is None:
                continue
            cells = [task, title, whole(told["fits"]), whole(told["rounds"]), f"{told['seconds']:.0f} s"]
            rows.append([*cells, percent(told["dev"]), percent(told["test"]), f"{100 * told['size']:.0f}"])
    return table(["", "", "settings", "rounds of ADMM", "time", "dev", "test", "size"], rows)


def times(asked: Asked) -> str:
    """One fit of each method on sports, with the strengths that were chosen."""
    chosen = {method: asked.tuned("sports", method) for method in TITLES}
    given = {
        m: {"settings": t["settings"], "iterations": t["iterations"]}
        for m, t in chosen.items()
        if t is not None
    }
    told = asked.jobs.outcome("time_fits", task="sports", chosen=given, repeats=5)
    if told is None:
        return ""
    base = told["scikit-learn's lasso"]
    rows = [
        [TITLES.get(name, name), f"{1e3 * value:.0f} ms", f"{value / base:.1f}×"]
        for name, value in told.items()
    ]
    published_times = {"lasso": "27 s", "ridge": "18 s", "elastic net": "10 s", "sentences, stopped": "33 s"}
    rows = [[*row, published_times.get(row[0], "–")] for row in rows]
    return table(["sports", "one fit", "ratio", "published"], rows)


SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 2_500_000)


def growth(asked: Asked) -> str:
    """Time and memory from ten thousand groups to millions."""
    rows, points = [], []
    for groups in SIZES:
        told = asked.jobs.outcome("grow", groups=groups, rounds=10)
        if told is None:
            continue
        say(f"{groups}: {told}")
        points.append((told["tokens"], told["round"], told["prepare"], told["peak_mb"]))
        cells = [whole(told["groups"]), whole(told["documents"]), whole(told["tokens"]), whole(told["words"])]
        cells += [f"{told['prepare']:.1f} s", f"{told['round']:.2f} s", f"{told['peak_mb']:,.0f} MB"]
        rows.append([*cells, f"{1e6 * told['round'] / told['tokens']:.2f} µs"])
    head = [
        "groups",
        "documents",
        "tokens",
        "words",
        "reading and preparing",
        "a round",
        "peak memory",
        "a round, a token",
    ]

    def draw(axes: Any) -> None:
        tokens, rounds, prepare, peak = np.array(points).T
        axes.loglog(tokens, rounds, "o-", label="a round, seconds")
        axes.loglog(tokens, prepare, "o-", label="reading and preparing, seconds")
        axes.loglog(tokens, peak / 1024, "o-", label="peak memory, GB")
        axes.set(xlabel="tokens")
        axes.legend()
        axes.grid(alpha=0.3)

    return table(head, rows) + (asked.figure("yogatama2014-growth", draw) if points else "")


def pages(asked: Asked) -> str:
    """One training document of each task with its sentences shaded: tables 3 and 4 as pages."""
    lines = []
    for task in asked.tasks:
        told = asked.tuned(task, "certified")  # stopped early, copies do not yet tell much
        if told is None:
            continue
        given = documents_of(task)
        training = replace(DocumentTraining(reader=reader_of(task), tol=1e-3), **told["settings"])
        ready = training.prepare(*given.train)
        result = training.solve(ready)
        model = training.model_of(ready, result)
        number = worth_showing(ready.corpus.documents, result.relevance)
        first, last = ready.corpus.documents[number : number + 2]
        assert result.relevance is not None
        shown = explain(
            model, ready.corpus[[number]], given.train[1][number], copies=result.relevance[first:last]
        )
        title = f"{task}: which sentences matter"
        name = f"yogatama2014-{task}.html"
        if asked.write:
            page = explanation_page(
                shown, title=title, names=[f"training document {number}"], gold=[given.train[1][number]]
            )
            (REMEMBERED.parent / name).write_text(page, encoding="utf-8")
        kept = int(np.sum(result.relevance > 0))
        lines.append(
            f"- {task} (build/{name}): {kept:,} of {len(result.relevance):,} training sentences matter\n"
        )
    return "".join(lines)


def worth_showing(documents: Any, relevance: Any) -> int:
    """The first document of 8 to 25 sentences of which some matter and some do not; else the first of that length."""
    sizes = np.diff(documents)
    fitting = np.flatnonzero((sizes >= 8) & (sizes <= 25))
    for number in fitting:
        own = relevance[documents[number] : documents[number + 1]] > 0
        if 0.2 <= np.mean(own) <= 0.8:
            return int(number)
    return int(fitting[0])


def default(asked: Asked) -> str:
    """What a training without any options gives, and the best of six of scikit-learn."""
    rows, differences = [], []
    for task in asked.tasks:
        told = asked.jobs.outcome("default", task=task)
        if told is None:
            continue
        ours, theirs = (np.array(list(each["right"]), int) for each in (told, told["theirs"]))
        difference, error = (
            100 * np.mean(ours - theirs),
            100 * np.std(ours - theirs, ddof=1) / len(ours) ** 0.5,
        )
        differences.append((difference, error, 100 * np.mean(ours), 100 * np.mean(theirs), told["words"]))
        chosen = ", ".join(f"{name} {value:g}" for name, value in told["chosen"].items())
        say(
            f"{task}: {chosen} in {told['seconds']:.1f} s, scikit-learn's best {told['theirs']['seconds']:.1f} s"
        )
        cells = [task, f"{100 * np.mean(ours):.2f}", f"{told['words']:,} of {told['candidates']:,}"]
        cells += [f"{told['seconds']:.1f} s", f"{100 * np.mean(theirs):.2f} ({told['theirs']['name']})"]
        cells += [
            whole(told["theirs"]["features"]),
            f"{difference:+.2f} ± {error:.2f}",
            " ".join(told["heaviest"]),
        ]
        rows.append(cells)
    if not rows:
        return ""
    means = np.mean(differences, axis=0)
    error = np.sqrt(np.sum(np.square([each[1] for each in differences]))) / len(differences)
    cells = ["mean", f"{means[2]:.2f}", whole(round(means[4])), "", f"{means[3]:.2f}", ""]
    rows.append([*cells, f"{means[0]:+.2f} ± {error:.2f}", ""])
    head = [
        "no options",
        "accuracy",
        "words",
        "processor time",
        "scikit-learn's best of six",
        "features",
        "difference",
        "the ten words that do most",
    ]
    return table(head, rows)


PARTS: dict[str, Callable[[Asked], str]] = {
    "default": default,
    "table2": table2,
    "rotation": rotation,
    "cross_validated": cross_validated,
    "settings": settings,
    "search": search,
    "times": times,
    "growth": growth,
    "pages": pages,
}


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    p.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    p.add_argument("--write", action="store_true", help=f"put the results into docs/results/{PAGE}")
    p.add_argument("--tasks", default=",".join((*NEWS, *REVIEWS)), help="separated by commas (default: all)")
    p.add_argument("--threads", type=int, default=1, help="for what can use several (default: 1)")
    p.add_argument("--cache", type=Path, default=REMEMBERED, help="where outcomes are kept")
    p.add_argument("--job", nargs=2, metavar=("NAME", "SETTINGS"), help=argparse.SUPPRESS)
    return p


def main() -> int:
    """Runs the parts named, prints them, and with --write puts them into the page of results."""
    options = parser().parse_args()
    if options.job:
        return run_job(JOBS, *options.job)
    jobs = Jobs(Path(__file__).resolve(), options.cache, options.threads)
    asked = Asked(jobs, tuple(options.tasks.split(",")), options.write)
    return run_parts(PARTS, options.parts, asked, PAGE if options.write else None, jobs)


if __name__ == "__main__":
    sys.exit(main())
