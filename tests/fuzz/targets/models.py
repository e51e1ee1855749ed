"""Model files of all kinds: read, looked into and used."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from fuzz.mutations import change_safetensors
from fuzz.target import Target, command, drawn_from, numbers_only

DATA = {
    "sequence": "dev.txt",
    "tree": "trees.txt",
    "page": "pages",
    "document": "train.tsv",
    "parser": "train.conllu",
    "network": "survey.csv",
    "matrix": "patients.csv",
}


class Models(Target):
    name = "models"

    def made(self) -> list[bytes]:
        return [
            path.read_bytes() for path in sorted(self.material.glob("*.model")) if path.name != "unused.model"
        ]

    def change(self, content: bytes, choose: Random) -> bytes:
        return change_safetensors(content, choose, "parsimon")

    def run(self, content: bytes, folder: Path) -> None:
        model = folder / "changed.model"
        model.write_bytes(content)
        choose = drawn_from(content)
        data = self.material / DATA.get(kind_of(content), choose.choice(sorted(DATA.values())))
        values = ("--values", self.material / "values.csv") if data.name == "pages" else ()
        page = ("--html", folder / "page.html")
        for arguments in (
            ("predict", model, data),
            choose.choice(
                [
                    ("predict", model, data, "--marginals"),
                    ("predict", model, data, "--decoding", "minimum-risk"),
                    ("predict", model, data, "--kbest", 2),
                    ("evaluate", model, data, *values),
                    ("explain", model, data, "--limit", 2),
                    ("explain", model, data, "--limit", 2, *page),
                    ("sample", model, "-n", 3),
                ]
            ),
            choose.choice(
                [
                    ("inspect", model, "--history"),
                    ("inspect", model, "--transitions"),
                    ("inspect", model, "--json"),
                    ("inspect", model, *page),
                ]
            ),
        ):
            numbers_only(command(*arguments))


def kind_of(content: bytes) -> str:
    """What a model says it is."""
    length = int.from_bytes(content[:8], "little")
    try:
        return str(json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["parsimon"])["kind"])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return ""


TARGETS = [Models]
