"""Kills trainings and saves with SIGKILL at random moments, and checks after each kill that nothing is lost.

    PYTHONPATH=tests:tests/cli python tests/kills.py --kills 200 --seed 0

After a kill during training, the old model is as it was, the checkpoint can be read and is no less far than before the
run was resumed, and all lines of the log but perhaps the last are whole. After a kill while files are replaced in a
loop, each is one of those that were written. The next writer leaves no temporary file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from every_kind import EXAMPLES, Example
from parsimon import solvers
from parsimon.cli import program
from parsimon.cli.kind import all_kinds
from parsimon.tasks import checkpoint as checkpoints
from parsimon.tasks.kinds import kinds
from parsimon.tasks.model_file import load_model, save_model

PATIENCE = 120.0  # seconds within which a training must have its first checkpoint
SAVES_OF = ("sequence", "document")


class Kills:
    """Kills, counted by what they hit."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.lost: list[str] = []

    def check(self, what: str, right: bool, told: str) -> None:
        """Notes what is wrong after a kill."""
        if not right:
            self.lost.append(f"{what}: {told}")

    def kill(self, what: str, work: Callable[[], Any], ready: Callable[[], bool], longest: float) -> None:
        """Starts work in a process of its own, and kills it some time after it is ready."""
        sys.stdout.flush()
        child = os.fork()
        if not child:
            _alone(work)
        deadline, over = time.monotonic() + PATIENCE, False
        while not ready() and not over and time.monotonic() < deadline:
            time.sleep(0.002)
            over = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        time.sleep(self.random.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self.check(what, code == -signal.SIGKILL, f"ended by itself with {code}")
        self.counts[what] += 1


def _alone(work: Callable[[], Any]) -> None:
    """Does the work of a child, which says nothing and does not come back."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    code = 1
    try:
        work()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        os._exit(code)


def progress(path: Path) -> tuple[int, int] | None:
    """How far a checkpoint is: fits and things found out, and iterations; None if there is none."""
    if not path.exists():
        return None
    with checkpoints._reading(path) as (_, header):
        pass
    found = checkpoints.Checkpoint.load(path, header["mark"])
    fits = len(found.finished) + len(found.values)
    return fits, sum(len(each.history) for each in found.running.values())


def training(kills: Kills, example: Example, folder: Path, n: int) -> None:
    """Kills a training that does not end, resumed again and again."""
    what = f"train {example.kind}"
    folder.mkdir(parents=True)
    os.chdir(folder)
    example.write(folder)
    model, kept, log = folder / "a.model", folder / "a.model.ckpt", folder / "log.jsonl"
    model.write_bytes(b"the model before")
    for _ in range(n):
        before, stamp = progress(kept), kept.stat().st_mtime_ns if kept.exists() else 0

        def ready(stamp: int = stamp) -> bool:
            return kept.exists() and kept.stat().st_mtime_ns != stamp

        arguments = example.forever("--resume", "-q", "-j", "1")
        kills.kill(what, lambda arguments=arguments: program.main(arguments), ready, 0.15)  # type: ignore[misc]
        try:
            after = progress(kept)
        except ValueError as error:
            kills.check(what, False, str(error))
        else:
            far = after is not None and (before is None or after >= before)
            kills.check(what, far, f"the checkpoint was at {before}, and is at {after}")
        kills.check(what, model.read_bytes() == b"the model before", "the model has changed")
        *lines, _ = log.read_bytes().split(b"\n")
        kills.check(what, whole(lines) >= len(lines) - n, "lines of the log are broken")


def whole(lines: list[bytes]) -> int:
    """How many lines are JSON; a run that is killed may leave one that is not."""
    count = 0
    for line in lines:
        try:
            json.loads(line)
            count += 1
        except ValueError:
            pass
    return count


def saving(kills: Kills, example: Example, folder: Path, n: int) -> None:
    """Kills a process that replaces a model, and a checkpoint, by others all the time."""
    what = f"save {example.kind}"
    folder.mkdir(parents=True)
    os.chdir(folder)
    example.write(folder)
    strengths = ("0.05", "0.5")
    for which, l1 in enumerate(strengths):
        arguments = [
            "train",
            example.kind,
            *example.train,
            "-m",
            f"{which}.model",
            "--l1",
            l1,
            "-q",
            "-j",
            "1",
        ]
        program_in_a_child(arguments)
    models = [load_model(folder / f"{which}.model") for which in (0, 1)]
    states = [checkpoints.Checkpoint("mark", float(which), {"a": {"b": [which] * 999}}) for which in (0, 1)]
    model, kept = folder / "m", folder / "c"
    known: dict[Path, set[bytes]] = {model: set(), kept: set()}
    for which in (0, 1):
        save_model(models[which], model)
        states[which].save(kept)
        for path, contents in known.items():
            contents.add(path.read_bytes())

    def work() -> None:
        while True:
            for which in (0, 1):
                save_model(models[which], model)
                states[which].save(kept)

    for _ in range(n):
        kills.kill(what, work, lambda: True, 0.05)
        for path, contents in known.items():
            kills.check(what, path.read_bytes() in contents, f"{path.name} is half of a file, or another")
    save_model(models[0], model)
    states[0].save(kept)
    left = [each.name for each in folder.iterdir() if each.name.startswith(".")]
    kills.check(what, not left, f"temporary files were left: {left}")


def program_in_a_child(arguments: list[str]) -> None:
    """A command whose threads and settings do not stay in this process."""
    child = os.fork()
    if not child:
        _alone(lambda: program.main(arguments))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, arguments


def load_everything() -> None:
    """Imports what trainings import, so that not every child has to."""
    for name in (
        *(
            "parsimon.estimators",
            "parsimon.report.progress",
            "parsimon.report.json_lines",
            "lxml.html",
            "rich",
        ),
        *(f"{kind.folder}.training" for kind in kinds()),
        *(f"parsimon.solvers.{path.stem}" for path in Path(solvers.__file__).parent.glob("[a-z]*.py")),
    ):
        import_module(name)
    all_kinds()


def run(n: int, seed: int, place: Path) -> Kills:
    """So many kills, over trainings of every kind and over saves."""
    load_everything()
    kills, here = Kills(seed), Path.cwd()
    examples = [each for each in EXAMPLES if each.kind in SAVES_OF]
    jobs: list[Callable[[int], None]] = [
        *(lambda n, e=e: training(kills, e, place / f"train-{e.kind}", n) for e in EXAMPLES),  # type: ignore[misc]
        *(lambda n, e=e: saving(kills, e, place / f"save-{e.kind}", n) for e in examples),  # type: ignore[misc]
    ]
    try:
        for number, job in enumerate(jobs):
            share = n // len(jobs) + (number < n % len(jobs))
            if share:
                job(share)
                print(
                    f"{sum(kills.counts.values())} kills, {len(kills.lost)} lost", file=sys.stderr, flush=True
                )
    finally:
        os.chdir(here)
    return kills


def main() -> None:
    """Kills, and says what was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        kills = run(asked.kills, asked.seed, Path(place))
    print(json.dumps({"kills": sum(kills.counts.values()), "lost": kills.lost, **kills.counts}))
    sys.exit(bool(kills.lost))


if __name__ == "__main__":
    main()
