"""Documents as JSON lines and as lines of a label and a text: learnt from, classified and explained."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from fuzz.mutations import TOKENS, change_bytes, change_cells, change_value
from fuzz.target import Target, command, drawn_from, numbers_only

TEXTS: tuple[Any, ...] = (
    "good film", "", ["good", "bad"], [], [["a", "b"]], [[]], None, 3, {"a": 1}, "\ud800", "x" * 3000, "\x00", [None],
    [1], ["a", ["b"]], "It is late. Who knows?", "a\tb", "a\nb",
)  # fmt: skip


class JsonLines(Target):
    name = "jsonl"
    suffix = "jsonl"

    def made(self) -> list[bytes]:
        documents = [
            {"text": "The rocket flew. It is late.", "label": "space"},
            {"text": ["The doctor", "came"], "label": "med"},
        ]
        return ["\n".join(json.dumps({**each, "id": i}) for i, each in enumerate(documents * 2)).encode()]

    def change(self, content: bytes, choose: Random) -> bytes:
        lines = content.split(b"\n")
        at = choose.randrange(len(lines))
        try:
            if choose.random() < 0.3:
                return change_bytes(content, choose)
            lines[at] = json.dumps(change_value(json.loads(lines[at]), choose, TEXTS)).encode()
        except (ValueError, RecursionError):
            return change_bytes(content, choose)
        return b"\n".join(lines)

    def run(self, content: bytes, folder: Path) -> None:
        data = folder / f"data.{self.suffix}"
        data.write_bytes(content)
        choose = drawn_from(content)
        model = self.material / choose.choice(["document.model", "document-ridge.model"])
        numbers_only(
            command(
                *choose.choice(
                    [
                        ("predict", model, data),
                        ("predict", model, data, "--marginals", "--format", "jsonl"),
                        ("evaluate", model, data, "--confusion"),
                        ("explain", model, data, "--limit", 2, "--json"),
                        ("explain", model, data, "--html", folder / "page.html"),
                        (
                            "train",
                            "document",
                            data,
                            "-m",
                            folder / "a.model",
                            "--max-iter",
                            2,
                            "--json",
                            *choose.choice(
                                [
                                    (),
                                    ("--penalty", "lasso"),
                                    ("--values", "tf-idf", "--penalty", "ridge"),
                                    ("--sentences", "lines"),
                                    (
                                        "--tokens",
                                        choose.choice(["whitespace", "(a|b)", "[", "(", "\\w+|.", "(?:)"]),
                                    ),
                                    ("--groups", choose.choice(["window", "paragraph", "document"])),
                                ]
                            ),
                        ),
                    ]
                )
            ),
            content,
        )


class TabbedLines(JsonLines):
    name = "tsv"
    suffix = "tsv"

    def made(self) -> list[bytes]:
        lines = (self.material / "train.tsv").read_bytes().splitlines(keepends=True)
        return [b"".join(lines[:6])]

    def change(self, content: bytes, choose: Random) -> bytes:
        return (
            change_bytes(content, choose)
            if choose.random() < 0.5
            else change_cells(content, choose, b"\t", TOKENS)
        )


TARGETS = [JsonLines, TabbedLines]
