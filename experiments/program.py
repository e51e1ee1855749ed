"""What the programs of experiments understand on the command line, and how they run."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jobs import Job, Jobs, run_job, run_parts
from results import say


def command_line(
    description: str | None, parts: Mapping[str, Any], page: str, remembered: Path
) -> argparse.ArgumentParser:
    """The options that all have whose jobs run several at a time. The description is the first paragraph."""
    p = argparse.ArgumentParser(description=(description or "").split("\n\n")[0])
    p.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)} (default: all)")
    p.add_argument("--write", action="store_true", help=f"put the results into docs/results/{page}")
    p.add_argument("--small", action="store_true", help="little data and few settings: to try it out")
    p.add_argument("--jobs", type=int, default=2, metavar="N", help="processes at a time (default: 2)")
    p.add_argument("--threads", type=int, default=1, help="in each of them (default: 1)")
    where = f"where finished fits are remembered (default: build/{remembered.name})"
    p.add_argument("--cache", type=Path, metavar="FILE", default=remembered, help=where)
    p.add_argument("--job", nargs=2, help=argparse.SUPPRESS)
    return p


def run_program(
    file: str,
    options: argparse.Namespace,
    jobs: Mapping[str, Job],
    parts: Mapping[str, Callable[[Any], str]],
    page: str,
    ask: Callable[[Jobs, int], Any],
) -> int:
    """Runs the parts named, prints them, and with --write puts them into the page; or what a job's process does.

    `ask` makes what parts are given of the jobs and of how many may run at a time.
    """
    if options.job:
        return run_job(dict(jobs), *options.job)
    if options.write and options.small:
        say("--small is for trying things out, and --write for results; leave one of them out")
        return 2
    kept = Jobs(Path(file).resolve(), options.cache, options.threads)
    asked = ask(kept, max(1, options.jobs))
    return run_parts(parts, options.parts, asked, page if options.write else None, kept)
