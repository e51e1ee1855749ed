"""Damaged checkpoints of every kind of training: resuming works, or is refused in one sentence.

PYTHONPATH=tests:tests/cli python -m fuzz.checkpoint_files --seconds 60 --seed 1
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from every_kind import EXAMPLES
from fuzz.file_damage import Damage, arrays_of, metadata, packed
from fuzz.outcome import Tally, attempt
from parsimon.tasks import checkpoint as module

KEY = "parsimon-checkpoint"
OF = {example.kind: example for example in EXAMPLES}
ONLINE = ("--loss", "hinge", "--l1", "0", "--l2", "0", "--solver", "mira", "--max-iter", "6")

# Every kind of training: the kind of model, and options.
TRAININGS: dict[str, tuple[str, tuple[str, ...]]] = {
    "log": ("sequence", ("--l1", "0.1")),
    "lbfgs": ("sequence", ("--l1", "0", "--solver", "lbfgs")),
    "dev": ("sequence", ("--l1", "0.1", "--dev", "train.txt")),
    "mira": ("sequence", ONLINE),
    "sgd-l1": ("sequence", ("--solver", "sgd-l1", "--max-iter", "6")),
    "bcd": ("sequence", ("--solver", "bcd", "--l1", "0.1")),
    "groups": ("sequence", ("--group-lasso", "0.1")),
    "selection": ("sequence", ("--select", "sparseptron", "--budget", "1", *ONLINE)),
    "growth": ("sequence", ("--l1", "0.1", "--grow", "more.tpl:2")),
    "debias": ("sequence", ("--l1", "0.5", "--debias", "0.1")),
    "tree": ("tree", ("--l1", "0.1")),
    "page": ("page", ("--l1", "0.1")),
    "document": ("document", ("--penalty", "lasso", "--l1", "0.05")),
    "admm": ("document", ("--l1", "0.01", "--sentence-strength", "0.1")),
    "parser": ("parser", ("--max-iter", "4")),
    "network": ("network", ("--alpha", "5")),
    "criterion": ("network", ("--alpha", "ebic", "--n-alphas", "4")),
    "folds": ("network", ("--alpha", "cv", "--cv", "2", "--n-alphas", "4")),
    "stability": ("network", ("--alpha", "5", "--stability", "3")),
    "matrix": ("matrix", ()),
}


@dataclass(frozen=True)
class Seed:
    """A training that is resumed, and checkpoints that it wrote along its way."""

    name: str
    arguments: list[str]
    checkpoint: Path
    contents: list[bytes]


def seed_of(name: str, folder: Path) -> Seed:
    """Trains, and keeps the checkpoints that are written."""
    kind, options = TRAININGS[name]
    folder.mkdir(parents=True)
    OF[kind].write(folder)
    (folder / "more.tpl").write_text("U9:%x[-1,0]/%x[0,0]\n")
    where = [str(folder / each) if (folder / each).exists() else each for each in (*OF[kind].train, *options)]
    where = [str(folder / each.split(":")[0]) + ":2" if each == "more.tpl:2" else each for each in where]
    model = folder / "a.model"
    arguments = ["train", kind, *where, "-m", str(model), "-j", "1", "--json"]
    with captured() as contents:
        word, told = attempt([*arguments, "--checkpoint-every", "0.000001"])
    assert word == "worked", (name, told)
    assert contents, name
    n = len(contents)
    chosen = [contents[i] for i in sorted({0, n // 4, n // 2, 3 * n // 4, n - 1})]
    return Seed(name, [*arguments, "--resume"], folder / "a.model.ckpt", chosen)


@contextmanager
def captured() -> Iterator[list[bytes]]:
    """The contents of all checkpoints that are written within."""
    written: list[bytes] = []
    before: Callable[..., None] = module.write_file

    def write(path: Path, content: bytes) -> None:
        written.append(bytes(content))
        before(path, content)

    module.write_file = write  # type: ignore[attr-defined]
    try:
        yield written
    finally:
        module.write_file = before  # type: ignore[attr-defined]


def damaged(content: bytes, damage: Damage) -> bytes:
    """A checkpoint with damage; mostly with the right digest, as someone would make it who means harm."""
    if damage.random.random() < 0.1:
        return damage.bytes(content)
    signed = json.loads(metadata(content)[KEY])
    header, arrays = json.loads(signed["header"]), arrays_of(content)
    if damage.random.random() < 0.6 or not arrays:
        header = damage.header(header)
    else:
        arrays = damage.arrays(arrays)
    return written(header, arrays)


def written(header: Any, arrays: dict[str, Any]) -> bytes:
    """A checkpoint with a right digest."""
    text = json.dumps(header)
    return packed(arrays, {KEY: json.dumps({"digest": module._digest(text, arrays), "header": text})})


def run(seeds: list[Seed], damage: Damage, tally: Tally, keep: Path | None = None) -> None:
    """One damaged checkpoint of every training."""
    for seed in seeds:
        content = damaged(damage.random.choice(seed.contents), damage)
        seed.checkpoint.write_bytes(content)
        word, told = attempt(seed.arguments)
        if tally.add(seed.name, word, told) and keep is not None:
            keep.mkdir(exist_ok=True)
            (keep / f"{seed.name}-{len(list(keep.iterdir()))}.ckpt").write_bytes(content)


def main() -> None:
    """Runs for so many seconds, and says what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for checkpoints that were handled badly")
    parser.add_argument("--only", nargs="*", choices=list(TRAININGS))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        seeds = [seed_of(name, Path(place) / name) for name in asked.only or TRAININGS]
        tally, damage, end = Tally(), Damage(asked.seed), time.monotonic() + asked.seconds
        while time.monotonic() < end:
            run(seeds, damage, tally, asked.keep)
    print(tally.table())
    for name, example in tally.bad.items():
        print(f"--- {name}\n{example}")
    os._exit(1 if tally.bad else 0)


if __name__ == "__main__":
    main()
