"""Long experiments in pieces: every job runs in a process of its own, and what came of it is remembered.

A process of its own makes peak memory that of the job and nothing else. The file in which finished jobs are kept has a
line of JSON for each, so a run that was interrupted goes on where it stopped; delete it when the code has changed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parsimon.errors import ParsimonError
from parsimon.report.markdown import replace_blocks
from results import PAGES, say

Job = Callable[..., dict[str, Any]]


@dataclass(frozen=True)
class Jobs:
    """Runs jobs of a program that understands `--job NAME SETTINGS`, unless they have been run before."""

    program: Path
    remembered: Path
    threads: int
    _known: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.remembered.exists():
            for line in self.remembered.read_text(encoding="utf-8").splitlines():
                try:
                    kept = json.loads(line)
                except json.JSONDecodeError:  # cut off when the machine was
                    continue
                self._known[_key(kept["job"], kept["settings"])] = kept["outcome"]

    def outcome(self, job: str, *, run: bool = True, **settings: Any) -> dict[str, Any] | None:
        """What came of a job, now or before; None if it failed, or was not run and may not be now."""
        settings = {"threads": self.threads, **settings}
        key = _key(job, settings)
        if key not in self._known and run and (outcome := self._run(job, settings)) is not None:
            self._known[key] = outcome
            self._remember({"job": job, "settings": settings, "outcome": outcome})
        return self._known.get(key)

    def _run(self, job: str, settings: dict[str, Any]) -> dict[str, Any] | None:
        command = [sys.executable, str(self.program), "--job", job, json.dumps(settings)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            say(f"{job} {json.dumps(settings)}: failed with code {done.returncode}")
            return None
        outcome: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return outcome

    def _remember(self, kept: dict[str, Any]) -> None:
        self.remembered.parent.mkdir(parents=True, exist_ok=True)
        cut_off = self.remembered.exists() and not self.remembered.read_bytes().endswith(b"\n")
        with self.remembered.open("a", encoding="utf-8") as file:
            file.write(("\n" if cut_off else "") + json.dumps(kept) + "\n")


def several(run: Callable[[Any], Any], wanted: Sequence[Any], parallel: int) -> list[Any]:
    """What comes of each, so many at a time; Ctrl-C begins no more of them."""
    pool = ThreadPoolExecutor(parallel)
    try:
        return list(pool.map(run, wanted))
    finally:
        pool.shutdown(cancel_futures=True)


def _key(job: str, settings: dict[str, Any]) -> str:
    return json.dumps([job, settings], sort_keys=True)


def run_job(jobs: dict[str, Job], name: str, settings: str) -> int:
    """What the process of a job does: prints its outcome as a line of JSON."""
    try:
        outcome = jobs[name](**json.loads(settings))
    except ParsimonError as error:
        say(f"error: {error}")
        return 2
    except KeyboardInterrupt:
        return 130
    print(json.dumps(outcome), flush=True)
    return 0


def peak_mb() -> float:
    """The most memory that this process has had, in MB.

    `ru_maxrss` does as well, but is never less than what the process that started this one had by then.
    """
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_parts(
    parts: Mapping[str, Callable[[Any], str]], chosen: Sequence[str], asked: Any, page: str | None, jobs: Jobs
) -> int:
    """Runs the parts chosen (all, if none are), prints them, and puts them into the page of results that is named."""
    unknown = [part for part in chosen if part not in parts]
    if unknown:
        say(f"there is no part {unknown[0]!r}; choose from {', '.join(parts)}")
        return 2
    try:
        for name in chosen or parts:
            say(f"== {name}")
            text = parts[name](asked)
            print(f"\n{text}", flush=True)
            if page is not None:
                replace_blocks(PAGES / page, {name: text})
    except KeyboardInterrupt:
        say(
            f"interrupted; what was finished is in {jobs.remembered}, and the same command goes on from there"
        )
        return 130
    return 0
