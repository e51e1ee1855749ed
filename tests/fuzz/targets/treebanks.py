"""Treebanks in CoNLL-U and CoNLL-X: learnt from, parsed and measured."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzz.material import inside
from fuzz.mutations import TOKENS, change_bytes, change_cells
from fuzz.target import Target, command, drawn_from, numbers_only

CELLS = (
    b"_", b"", b"0", b"1", b"2", b"3", b"-1", b"1-2", b"1.1", b"2.1", b"1099511627776", b"A=1|B=2", b"|", b"=", b"A=",
    b"root", b"0:root", b"1:x|2:y", b"a b", b"# text", *TOKENS,
)  # fmt: skip
SENTENCE = b"""# sent_id = 1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\tx\tA=1|B=2\t3\taux\t_\t_
2\tn't\tnot\tPART\tx\t_\t3\tadvmod\t_\t_
2.1\tempty\t_\t_\t_\t_\t_\t_\t3:x\t_
3\tgo\tgo\tVERB\tx\t_\t0\troot\t0:root\tSpaceAfter=No

"""
CONLL_X = b"1\tgo\tgo\tV\tVB\t_\t0\tROOT\t_\t_\n2\thome\thome\tN\tNN\tx|y\t1\tOBJ\t1\tOBJ\n\n"


class Treebanks(Target):
    name = "treebanks"

    def made(self) -> list[bytes]:
        whole = (self.material / "train.conllu").read_bytes()
        return [whole[: whole.index(b"\n\n", 300) + 2], SENTENCE, CONLL_X]

    def change(self, content: bytes, choose: Random) -> bytes:
        return (
            change_bytes(content, choose)
            if choose.random() < 0.3
            else change_cells(content, choose, b"\t", CELLS)
        )

    def run(self, content: bytes, folder: Path) -> None:
        choose = drawn_from(content)
        data = folder / choose.choice(["data.conllu", "data.conllx", "data.conll"])
        data.write_bytes(content)
        model = choose.choice(["parser.model", "parser-projective.model"])
        with inside(self.material):
            numbers_only(
                command(
                    *choose.choice(
                        [
                            ("predict", model, data),
                            ("predict", model, data, "--marginals"),
                            ("predict", model, data, "--decoding", "minimum-risk"),
                            ("predict", model, data, "--given-labels"),
                            ("evaluate", model, data),
                            (
                                "train",
                                "parser",
                                data,
                                "-t",
                                "arc.tpl",
                                "-m",
                                folder / "a.model",
                                "--max-iter",
                                1,
                                "--json",
                                *choose.choice(
                                    [
                                        (),
                                        ("--projective",),
                                        ("--loss", "log"),
                                        ("--single-root",),
                                        ("--many-roots",),
                                        ("--dev", data),
                                    ]
                                ),
                            ),
                        ]
                    )
                ),
                content,
            )


TARGETS = [Treebanks]
