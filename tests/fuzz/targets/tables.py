"""CSV tables of states and of numbers: learnt from, completed and predicted."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzz.material import inside
from fuzz.mutations import TOKENS, change_bytes, change_cells
from fuzz.target import Target, command, drawn_from, numbers_only

CELLS = (
    b"0", b"1", b"a", b"yes", b"no", b"", b"?", b"NA", b"1.5", b"-1", b"1e400", b"1e308", b"nan", b'"x"',
    b'"a,b"', b'"', b"true", b"x\ty", b"smoker", b"x1", b"ill", *TOKENS,
)  # fmt: skip


class Tables(Target):
    name = "csv"

    def made(self) -> list[bytes]:
        return [
            b"".join((self.material / name).read_bytes().splitlines(keepends=True)[:30])
            for name in ("survey.csv", "patients.csv")
        ]

    def change(self, content: bytes, choose: Random) -> bytes:
        return (
            change_bytes(content, choose)
            if choose.random() < 0.4
            else change_cells(content, choose, b",", CELLS)
        )

    def run(self, content: bytes, folder: Path) -> None:
        data, new = folder / "data.csv", ("-m", folder / "a.model", "--json")
        data.write_bytes(content)
        choose = drawn_from(content)
        with inside(self.material):
            if b"x1" in content:
                arguments = choose.choice(
                    [
                        ("predict", "matrix.model", data),
                        ("evaluate", "matrix.model", data),
                        (
                            "train",
                            "matrix",
                            data,
                            "--alpha",
                            "0.5",
                            "--group-file",
                            "groups.tsv",
                            "--max-iter",
                            3,
                            *new,
                        ),
                    ]
                )
            else:
                how = choose.choice(
                    [
                        ("--alpha", "0.1"),
                        ("--no-header",),
                        ("--missing", "drop"),
                        ("--inference", "exact", "--alpha", "0.1"),
                        ("--separator", choose.choice(["comma", "tab", "semicolon"])),
                        ("--loss", "log", "--alpha", "0.1"),
                    ]
                )
                arguments = ("train", "network", data, *new, *how)
            numbers_only(command(*arguments), content)


TARGETS = [Tables]
