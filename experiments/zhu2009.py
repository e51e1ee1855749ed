"""Primal sparse max-margin Markov networks (Zhu, Xing & Zhang 2009): made sequences and handwritten words.

Every table and figure is a function; `python experiments/zhu2009.py figure2 --write` runs one and puts it into
docs/results/zhu2009.md beside what the paper says. Every fit is part of a job (zhu2009_jobs.py) in a process of its
own, `--jobs` of them at a time, and what came of it is kept in the file `--cache`, so a run that was interrupted goes
on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace

from jobs import Jobs
from program import command_line, run_program
from results import PAGES
from zhu2009_jobs import JOBS
from zhu2009_learners import figure5, figure6, table1
from zhu2009_plan import SCALE, SMALL, Asked, Plan
from zhu2009_synthetic import figure2, figure3
from zhu2009_words import figure4, figure4_nine_folds, m3n, ocr_cutting_plane

PAGE = "zhu2009.md"
REMEMBERED = PAGES.parents[1] / "build" / "zhu2009.jsonl"

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
        return Asked(jobs, parallel, plan, options.write, options.scale, options.nine)

    return run_program(__file__, options, JOBS, PARTS, PAGE, ask)


if __name__ == "__main__":
    sys.exit(main())
