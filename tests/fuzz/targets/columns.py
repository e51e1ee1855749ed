"""Column files of sequences and trees: learnt from, labelled and measured."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzz.material import inside
from fuzz.mutations import TOKENS, change_bytes, change_cells
from fuzz.target import Target, command, drawn_from, numbers_only

ENCODINGS = ("latin-1", "utf-16", "utf-7", "utf-8-sig", "idna", "rot13", "hex", "punycode")


class Columns(Target):
    name = "columns"
    kind, models, templates = "sequence", ("sequence", "sequence-order-2", "sequence-mira"), "a.tpl"
    cells: tuple[bytes, ...] = (b"a", b"b", b"w1", b"", b"B-x", b"I-", b"O", b"E-y", b"1", *TOKENS)

    def made(self) -> list[bytes]:
        return [(self.material / "dev.txt").read_bytes(), b"one\tN B-NP\ntwo\tN I-NP\r\n\r\nthree\tV O\n"]

    def change(self, content: bytes, choose: Random) -> bytes:
        if choose.random() < 0.4:
            return change_bytes(content, choose)
        return change_cells(content, choose, b"\t" if b"\t" in content else b" ", self.cells)

    def run(self, content: bytes, folder: Path) -> None:
        data, model = folder / "data.txt", folder / "a.model"
        data.write_bytes(content)
        choose = drawn_from(content)
        trained = f"{choose.choice(self.models)}.model"
        read = choose.choice(
            [
                (),
                (),
                (),
                ("--separator", "tab"),
                ("--separator", "space"),
                ("--comment", "#"),
                ("--encoding", choose.choice(ENCODINGS)),
            ]
        )
        with inside(self.material):
            numbers_only(
                command(
                    *choose.choice(
                        [
                            ("predict", trained, data),
                            ("predict", trained, data, "--given-labels"),
                            ("predict", trained, data, "--marginals", "--kbest", choose.choice([1, 3, 1000])),
                            ("evaluate", trained, data, "--scheme", "auto"),
                            ("evaluate", trained, data, "--confusion"),
                            (
                                "train",
                                self.kind,
                                data,
                                "-t",
                                self.templates,
                                "-m",
                                model,
                                "--max-iter",
                                1,
                                "--json",
                                *self.how(choose),
                            ),
                        ]
                    ),
                    *read,
                ),
                content,
            )

    def how(self, choose: Random) -> tuple[str, ...]:
        return choose.choice(
            [
                (),
                ("--order", "2"),
                ("--solver", "mira"),
                ("--solver", "bcd"),
                ("--solver", "sgd-l1"),
                ("--dev", "dev.txt"),
                ("--loss", "hinge"),
                ("--candidates", "seen"),
                ("--unknown", "O"),
            ]
        )


class TreeColumns(Columns):
    name = "tree-columns"
    kind, models, templates = "tree", ("tree", "tree-siblings"), "trees.tpl"
    cells = (b"-1", b"0", b"1", b"2", b"3", b"1099511627776", b"table", b"cell", b"VALUE", b"?", *TOKENS)

    def made(self) -> list[bytes]:
        whole = (self.material / "trees.txt").read_bytes()
        return [
            whole[: whole.index(b"\n\n", 60) + 2],
            b"-1 table ROOT\n0 cell VALUE\n1 cell VALUE\n\n-1 list ROOT\n",
        ]

    def how(self, choose: Random) -> tuple[str, ...]:
        return choose.choice(
            [
                (),
                ("--siblings", "also"),
                ("--siblings", "instead"),
                ("--parent-column", "1"),
                ("--parent-column", "99"),
                ("--kind-column", "1"),
                ("--solver", "mira"),
            ]
        )


TARGETS = [Columns, TreeColumns]
