"""What the programs of experiments understand on the command line, what their parts are given, and how they run."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from jobs import Job, Jobs, run_job, run_parts, several
from results import figure, say

Outcome = dict[str, Any] | None
Plan = TypeVar("Plan")


@dataclass(frozen=True)
class Request(Generic[Plan]):
    """What was asked for on the command line of a program whose jobs run several at a time."""

    jobs: Jobs
    parallel: int
    plan: Plan  # how much is run
    write: bool

    def outcomes(self, job: str, wanted: Sequence[dict[str, Any]]) -> list[Outcome]:
        """What came of jobs, several at a time; None where one failed."""
        return several(lambda settings: self.outcome(job, settings), wanted, self.parallel)

    def outcome(self, job: str, settings: dict[str, Any]) -> Outcome:
        """What came of a job, said as soon as it is known."""
        told = self.jobs.outcome(job, **settings)
        if told is not None:
            say(self.line(job, settings, told))
        return told

    def line(self, job: str, settings: dict[str, Any], told: dict[str, Any]) -> str:
        """An outcome in a line."""
        raise NotImplementedError

    def figure(self, name: str, draw: Callable[[Any], None], width: float = 7.0, height: float = 4.2) -> str:
        """A figure of the page; without --write there is none, for it would take the place of the one that is there."""
        return f"\n{figure(name, draw, width, height)}" if self.write else ""


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
