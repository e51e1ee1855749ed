"""Damaged models of every kind, given to every command: it works, or refuses in one sentence.

PYTHONPATH=tests:tests/cli python -m fuzz.model_files --seconds 60 --seed 1
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from every_kind import EXAMPLES
from fuzz.file_damage import Damage, arrays_of, metadata, packed
from fuzz.outcome import Tally, attempt

KEY = "parsimon"
OF = {example.kind: example for example in EXAMPLES}
PLAIN: dict[str, tuple[str, ...]] = {
    "sequence": ("--l1", "0.1"),
    "tree": ("--l1", "0.1"),
    "page": ("--l1", "0.1"),
}

# Every kind of model: the kind that is trained, with options.
MODELS: dict[str, tuple[str, tuple[str, ...]]] = {
    **{kind: (kind, (*OF[kind].quick, *PLAIN.get(kind, ()))) for kind in OF},
    "second order": ("sequence", ("--l1", "0.1", "--order", "2")),
    "selection": ("sequence", ("--l1", "0.1", "--select", "information-gain", "--budget", "1")),
    "growth": ("sequence", ("--l1", "0.1", "--grow", "more.tpl:2")),
    "development": ("sequence", ("--l1", "0.1", "--dev", "train.txt")),
    "sentences": ("document", ("--l1", "0.01", "--sentence-strength", "0.1")),
    "tf-idf": ("document", ("--penalty", "lasso", "--l1", "0.05", "--values", "tf-idf")),
    "stability": ("network", ("--alpha", "5", "--stability", "3")),
    "path": ("network", ("--alpha", "ebic", "--n-alphas", "4")),
}
INPUT = {
    "sequence": "train.txt",
    "tree": "trees.txt",
    "page": "pages",
    "document": "train.tsv",
    "parser": "train.conllu",
    "network": "survey.csv",
    "matrix": "patients.csv",
}
ANYWHERE = (("inspect", "M"), ("inspect", "M", "--history"), ("inspect", "M", "--json"))
LABELLERS = (
    ("inspect", "M", "--html", "page.html"),
    ("predict", "M", "I"),
    ("predict", "M", "I", "--marginals"),
    ("predict", "M", "I", "--kbest", "2"),
    ("evaluate", "M", "T"),
    ("inspect", "M", "--transitions"),
)
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "sequence": (
        *ANYWHERE,
        *LABELLERS,
        ("predict", "M", "I", "--decoding", "minimum-risk"),
        ("evaluate", "M", "T", "--json"),
    ),
    "tree": (*ANYWHERE, *LABELLERS),
    "page": (*ANYWHERE, LABELLERS[0], LABELLERS[1], ("evaluate", "M", "T")),
    "document": (
        *ANYWHERE,
        ("predict", "M", "I", "--marginals"),
        ("evaluate", "M", "T"),
        ("explain", "M", "I"),
        ("explain", "M", "I", "--html", "page.html"),
        ("explain", "M", "I", "--json"),
        ("evaluate", "M", "T", "--json"),
    ),
    "parser": (
        *ANYWHERE,
        LABELLERS[0],
        LABELLERS[1],
        ("predict", "M", "I", "--decoding", "minimum-risk"),
        ("evaluate", "M", "T"),
    ),
    "network": (*ANYWHERE, ("sample", "M", "-n", "5"), ("evaluate", "M", "I"), ("predict", "M", "I")),
    "matrix": (*ANYWHERE, ("predict", "M", "I"), ("evaluate", "M", "T"), ("evaluate", "M", "T", "--json")),
}


@dataclass(frozen=True)
class Seed:
    """A model, and commands that read it."""

    name: str
    content: bytes
    path: Path
    commands: list[list[str]]


def seed_of(name: str, folder: Path) -> Seed:
    """Trains a model."""
    kind, options = MODELS[name]
    folder.mkdir(parents=True)
    OF[kind].write(folder)
    (folder / "more.tpl").write_text("U9:%x[-1,0]/%x[0,0]\n")

    def placed(word: str) -> str:
        there = folder / word.partition(":")[0]
        return str(there) + word[len(word.partition(":")[0]) :] if there.exists() else word

    path = folder / "a.model"
    word, told = attempt(
        ["train", kind, *map(placed, (*OF[kind].train, *options)), "-m", str(path), "-j", "1", "-q"]
    )
    assert word == "worked", (name, told)
    test = [placed(each) for each in OF[kind].test]
    own = {"M": [str(path)], "I": [placed(INPUT[kind])], "T": test, "page.html": [str(folder / "page.html")]}
    commands = [[each for part in command for each in own.get(part, [part])] for command in COMMANDS[kind]]
    return Seed(name, path.read_bytes(), path, commands)


def damaged(content: bytes, damage: Damage) -> bytes:
    """A model with damage, mostly in its header."""
    way = damage.random.random()
    if way < 0.1:
        return damage.bytes(content)
    header, arrays = json.loads(metadata(content)[KEY]), arrays_of(content)
    if way < 0.75:
        header = damage.header(header)
    if way > 0.7:
        arrays = damage.arrays(arrays)
    return packed(arrays, {KEY: json.dumps(header)})


def run(
    seeds: list[Seed], damage: Damage, tally: Tally, *, commands: int = 3, keep: Path | None = None
) -> None:
    """One damaged model of every kind, given to some of its commands."""
    for seed in seeds:
        content = damaged(seed.content, damage)
        seed.path.write_bytes(content)
        for command in damage.random.sample(seed.commands, min(commands, len(seed.commands))):
            word, told = attempt(command)
            if tally.add(seed.name, word, f"{' '.join(command)}\n{told}") and keep is not None:
                keep.mkdir(exist_ok=True)
                (keep / f"{seed.name}-{len(list(keep.iterdir()))}.model").write_bytes(content)


def main() -> None:
    """Runs for so many seconds, and says what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for models that were handled badly")
    parser.add_argument("--only", nargs="*", choices=list(MODELS))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        seeds = [seed_of(name, Path(place) / name) for name in asked.only or MODELS]
        tally, damage, end = Tally(), Damage(asked.seed), time.monotonic() + asked.seconds
        while time.monotonic() < end:
            run(seeds, damage, tally, keep=asked.keep)
    print(tally.table())
    for name, example in tally.bad.items():
        print(f"--- {name}\n{example}")
    os._exit(1 if tally.bad else 0)


if __name__ == "__main__":
    main()
