"""Templates of sequences and trees, and those of arcs, with which something is learnt."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzz.material import inside
from fuzz.mutations import TOKENS, change_bytes
from fuzz.target import Target, command, drawn_from, numbers_only

TESTS = (
    b"%x[0,0]", b"%x[-1,0]", b"%X[1,1]", b"%x[0,99]", b"%x[99999999999,0]", b"%x[0,-1]", b"%x[,]", b"%x[-1..1,0]",
    b'%t[0,0,"^A"]', b'%m[0,0,"..$"]', b'%M[0,0,"\\a+"]', b'%m[0,0,"("]', b'%m[0,0,"\\p*\\u"]', b'%m[0,0,""]',
    b'%f[0,0,"suffix:2"]', b'%f[0,0,"shape"]', b'%f[0,0,"prefix:-1"]', b'%f[0,0,"ngram:3"]', b"%x[@1,0]", b"%x[@-1,0]",
    b"%x[parent,0]", b"%x[parent.first_child,1]", b"%x[next_sibling,1]", b"%x[.,0]", b"%%", b"%", b"%z[0,0]", b"U",
    b"B", b"*", b"S", b"u", b"U1:", b"B2:", b"*3:", b"/", b"|", b"\n", b"\nU:", b"\nB:", b":", b"1..3",
)  # fmt: skip
ARC_TESTS = (
    b"h.form", b"m.form", b"h.upos", b"m-1.upos", b"h+1.form", b"b.upos", b"dir", b"dist", b"+", b"\n", b"h.feats",
    b"m.feats*", b"h.suffix:3", b"m.zzz", b"m+99999.form", b"m-0.form", b"bias", b".", b"h", b"m.lemma", b"m.prefix:2",
)  # fmt: skip


class Templates(Target):
    name = "templates"
    tests = TESTS

    def made(self) -> list[bytes]:
        return [(self.material / name).read_bytes() for name in ("a.tpl", "trees.tpl")]

    def change(self, content: bytes, choose: Random) -> bytes:
        return change_bytes(content, choose, self.tests if choose.random() < 0.8 else TOKENS)

    def run(self, content: bytes, folder: Path) -> None:
        (folder / "changed.tpl").write_bytes(content)
        with inside(self.material):
            learnt = command(
                *self.arguments(content),
                "-t",
                folder / "changed.tpl",
                "-m",
                folder / "a.model",
                "--json",
                "--max-iter",
                1,
            )
        numbers_only(learnt, content)

    def arguments(self, content: bytes) -> tuple[str, ...]:
        if b"parent" in content or b"sibling" in content or b"child" in content:
            return ("train", "tree", "trees.txt")
        more = drawn_from(content).choice(
            [(), ("--order", "2"), ("--solver", "mira"), ("--candidates", "seen")]
        )
        return ("train", "sequence", "dev.txt", *more)


class ArcTemplates(Templates):
    name = "arc-templates"
    tests = ARC_TESTS

    def made(self) -> list[bytes]:
        return [(self.material / "arc.tpl").read_bytes()]

    def arguments(self, content: bytes) -> tuple[str, ...]:
        more = drawn_from(content).choice([(), ("--projective",), ("--relations", "none")])
        return ("train", "parser", "train.conllu", *more)


TARGETS = [Templates, ArcTemplates]
