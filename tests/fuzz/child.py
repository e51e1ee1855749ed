"""One target, attacked in a process of its own: `python -m fuzz.child TARGET OUT --seed … --first … --seconds …`.

The input in use is always in OUT/TARGET.current and how many there were in OUT/TARGET.count, so that whoever started
this process knows what it died of. Wrong answers are written to OUT/findings, one of each sort. An input that takes too
long ends the process, with the stack on standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import hashlib
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from types import FunctionType

from fuzz.all_targets import all_targets
from fuzz.target import Target

TOO_SLOW = "Timeout ("  # what faulthandler writes
WAITING = 15.0  # an input may take so many times its processor time, for a machine may have much else to do


class Attack:
    """Gives inputs to a target and keeps those with a wrong answer."""

    def __init__(self, target: Target, out: Path, limit: float) -> None:
        self.target, self.out, self.limit = target, out, limit
        self.current, self.counter = out / f"{target.name}.current", out / f"{target.name}.count"
        self.seen: set[str] = set()
        self.folder = Path(tempfile.mkdtemp(prefix="fuzz-"))

    def give(self, content: bytes, number: int) -> None:
        self.current.write_bytes(content)
        self.counter.write_text(str(number + 1))
        if self.limit:
            signal.setitimer(signal.ITIMER_PROF, self.limit)
            faulthandler.dump_traceback_later(WAITING * self.limit, exit=True)
        found = self.target.finding(content, self.folder)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        faulthandler.cancel_dump_traceback_later()
        if found is not None:
            keep(self.out, self.target.name, content, found, self.seen)


def keep(out: Path, name: str, content: bytes, report: str, seen: set[str]) -> None:
    """Writes the first input of a sort, and what was wrong."""
    sort = report.splitlines()[0]
    if sort in seen:
        return
    seen.add(sort)
    folder = out / "findings"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-{hashlib.sha256(sort.encode()).hexdigest()[:8]}"
    if not file.exists():
        file.write_bytes(content)
        file.with_suffix(".txt").write_text(report)
        print(f"FINDING {name}: {sort} ({file})", flush=True)


def plainly(attack: Attack, seed: int, first: int, seconds: float, most: int) -> None:
    """Mutations of the corpus, one after the other."""
    until, number = time.monotonic() + seconds, first
    while time.monotonic() < until and number < most:
        attack.give(attack.target.input(seed, number), number)
        number += 1


def guided(attack: Attack, seed: int, first: int, seconds: float, most: int) -> None:
    """The same mutations, in the hands of Atheris: inputs that reach new lines of Python are mutated further."""
    import atheris

    for content in attack.target.inputs():  # so that all modules are there
        attack.target.finding(content, attack.folder)
    for function in [each for each in gc.get_objects() if isinstance(each, FunctionType)]:
        if (function.__module__ or "").startswith("parsimon"):
            atheris.instrument_func(function)
    number = first

    def use(content: bytes) -> None:
        nonlocal number
        attack.give(content, number)
        number += 1

    def mutate(content: bytes, most_bytes: int, random_seed: int) -> bytes:
        return attack.target.change(content, Random(random_seed))[:most_bytes]

    corpus = Path(tempfile.mkdtemp(prefix="corpus-"))
    for i, content in enumerate(attack.target.inputs()):
        (corpus / str(i)).write_bytes(content)
    options = [
        f"-seed={seed + first + 1}",
        f"-max_total_time={max(int(seconds), 1)}",
        "-max_len=1000000",
        "-rss_limit_mb=0",
        "-timeout=100000",
        f"-artifact_prefix={attack.folder}/",  # where it writes what it takes for slow
    ]
    runs = [f"-runs={most - first}"] if most < 1 << 60 else []
    atheris.Setup([sys.argv[0], *options, *runs, str(corpus)], use, custom_mutator=mutate)
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--inputs", type=int, default=1 << 62)
    parser.add_argument("--memory", type=float, default=4.0, help="GiB of address space; 0 for no limit")
    parser.add_argument(
        "--limit", type=float, default=20.0, help="seconds of the processor for one input; 0 for none"
    )
    parser.add_argument("--guided", action="store_true")
    given = parser.parse_args()
    import other_core  # noqa: F401 (another build of the core, if one is named)

    attack = Attack(all_targets()[given.target](given.out / "material"), given.out, given.limit)
    if given.memory:
        resource.setrlimit(resource.RLIMIT_AS, (int(given.memory * 2**30),) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # the stack, and then the end
    with contextlib.suppress(KeyboardInterrupt):
        (guided if given.guided else plainly)(attack, given.seed, given.first, given.seconds, given.inputs)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
