"""Attacks the program with damaged input for some minutes: `make fuzz MINUTES=5 SEED=1 TARGETS=models,core`.

Every target runs in a process of its own, with limits on memory and on the time of one input. A crash, an exception
that is not meant for users, an input that takes too long or too much memory is a finding; its input and what happened
are written to the folder of findings. The exit code is 1 if there were any.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from fuzz.all_targets import all_targets
from fuzz.child import TOO_SLOW, keep
from fuzz.material import make

# What the address sanitiser ends a process with where the core alone would raise MemoryError.
TOO_LARGE = ("allocator is out of memory", "allocation-size-too-big", "exceeds maximum supported size")


def attack(name: str, out: Path, given: argparse.Namespace, seconds: float) -> int:
    """Attacks one target for that long, starting again after a crash. Returns the number of inputs."""
    until, first = time.monotonic() + seconds, 0
    seen: set[str] = set()
    current, counter, log = (out / f"{name}.{each}" for each in ("current", "count", "log"))
    counter.unlink(missing_ok=True)
    while time.monotonic() < until and first < given.inputs:
        command = [
            sys.executable,
            "-m",
            "fuzz.child",
            name,
            str(out),
            f"--first={first}",
            f"--seed={given.seed}",
            f"--seconds={until - time.monotonic()}",
            f"--inputs={given.inputs}",
            f"--memory={given.memory}",
            *(["--guided"] if given.guided else []),
        ]
        with log.open("w") as err:
            child = subprocess.Popen(command, stderr=err)
            try:
                child.wait(until - time.monotonic() + 60)
            except subprocess.TimeoutExpired:  # it has not even begun, on a machine with much else to do
                child.kill()
                child.wait()
                return int(counter.read_text()) if counter.exists() else first
        done = int(counter.read_text()) if counter.exists() else 0
        if child.returncode == 0:
            return done
        said = log.read_text(errors="replace")
        if not any(each in said for each in TOO_LARGE):
            keep(out, name, current.read_bytes() if done else b"", explained(child.returncode, said), seen)
        if done == first:  # not even one input: starting again would end in the same way
            return done
        first = done
    return first


def explained(code: int, log: str) -> str:
    """Why a process ended: the first line says what and where."""
    where = next((line.strip() for line in log.splitlines() if line.strip().startswith("File ")), "")
    sanitizer = next(
        (line for line in log.splitlines() if "ERROR: " in line or "runtime error: " in line), ""
    )
    sanitizer = re.sub(r"==\d+==|0x[0-9a-f]+", "", sanitizer)  # what differs from run to run
    what = (
        "too slow" if TOO_SLOW in log or code == -signal.SIGPROF else sanitizer or f"crash with code {code}"
    )
    return f"{what} {where}\n{log}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("--minutes", type=float, default=5.0, help="for all targets together")
    parser.add_argument("--inputs", type=int, default=1 << 62, help="at most so many a target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--targets", default="", help="names with commas between; all if empty")
    parser.add_argument("--memory", type=float, default=4.0, help="GiB a process; 0 for no limit")
    parser.add_argument(
        "--guided", action=argparse.BooleanOptionalAction, default=find_spec("atheris") is not None
    )
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"))
    given = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    given.out.mkdir(parents=True, exist_ok=True)
    out = given.out.resolve()
    shutil.rmtree(out / "material", ignore_errors=True)  # that of another version, perhaps
    make(out / "material")
    names = [name for name in given.targets.split(",") if name] or list(all_targets())
    if unknown := set(names) - set(all_targets()):
        sys.exit(f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(all_targets())}")
    before = set((out / "findings").glob("*.txt"))
    total = 0
    for name in names:
        began = time.monotonic()
        count = attack(name, out, given, given.minutes * 60 / len(names))
        print(f"{name:15} {count:9,} inputs in {time.monotonic() - began:.0f} s", flush=True)
        total += count
    new = set((out / "findings").glob("*.txt")) - before
    print(f"{'all':15} {total:9,} inputs, {len(new)} findings")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
