"""Model files of all kinds: read, looked into and used."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from fuzz.material import TRAININGS, inside
from fuzz.mutations import change_safetensors
from fuzz.target import Target, command, drawn_from, numbers_only

LOOKS = ("inspect M", "inspect M --history", "inspect M --json")
PAGE = "inspect M --html PAGE"
LABELLERS = (
    PAGE,
    "predict M DATA",
    "predict M DATA --marginals",
    "predict M DATA --kbest 2",
    "evaluate M DATA",
    "evaluate M DATA --json",
    "inspect M --transitions",
)

# What is done with a model of each kind: its data, and commands.
USES: dict[str, tuple[str, tuple[str, ...]]] = {
    "sequence": ("dev.txt", (*LABELLERS, "predict M DATA --decoding minimum-risk")),
    "tree": ("trees.txt", LABELLERS),
    "page": ("pages", (PAGE, "predict M DATA", "evaluate M DATA --values values.csv")),
    "document": (
        "train.tsv",
        (
            "predict M DATA",
            "predict M DATA --marginals",
            "evaluate M DATA",
            "evaluate M DATA --json",
            "explain M DATA --limit 2",
            "explain M DATA --limit 2 --json",
            "explain M DATA --limit 2 --html PAGE",
        ),
    ),
    "parser": (
        "dev.conllu",
        (
            PAGE,
            "predict M DATA",
            "predict M DATA --marginals",
            "predict M DATA --decoding minimum-risk",
            "evaluate M DATA",
        ),
    ),
    "network": ("", ("sample M -n 5", "sample M -n 5 --given cough=yes")),
    "matrix": ("patients.csv", ("predict M DATA", "evaluate M DATA", "evaluate M DATA --json")),
}


class Models(Target):
    name = "models"

    def made(self) -> list[bytes]:
        return [(self.material / f"{name}.model").read_bytes() for name in TRAININGS]

    def change(self, content: bytes, choose: Random) -> bytes:
        return change_safetensors(content, choose, "parsimon")

    def run(self, content: bytes, folder: Path) -> None:
        (folder / "changed.model").write_bytes(content)
        choose = drawn_from(content)
        kind = kind_of(content)
        with inside(self.material):
            for each in choose.sample(
                commands_of(kind if kind in USES else choose.choice(sorted(USES)), folder), 3
            ):
                numbers_only(command(*each))


def commands_of(kind: str, folder: Path) -> list[list[object]]:
    """What can be done with a model of that kind, which is in the folder."""
    data, commands = USES[kind]
    words = {"M": folder / "changed.model", "DATA": data, "PAGE": folder / "page.html"}
    return [[words.get(word, word) for word in each.split()] for each in (*LOOKS, *commands)]


def kind_of(content: bytes) -> str:
    """What a model says it is."""
    length = int.from_bytes(content[:8], "little")
    try:
        return str(json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["parsimon"])["kind"])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return ""


TARGETS = [Models]
