"""Small data for every kind of model, and how the commands are given them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from toy_treebanks import grammar

TREE_TEMPLATES = "U:own=%x[0,1]\nU:above=%x[parent,1]/%x[0,1]\nU:next=%x[next_sibling,1]\nB\n"


@dataclass(frozen=True)
class Example:
    """A kind, its data, and options that make training small or endless."""

    kind: str
    write: Callable[[Path], None]
    train: tuple[str, ...]  # what comes after 'parsimon train KIND', paths within the folder
    test: tuple[str, ...]  # what comes after 'parsimon evaluate MODEL'
    endless: tuple[str, ...]  # training that will not end by itself
    quick: tuple[str, ...] = ()

    def arguments(self, *more: object) -> list[str]:
        """Of `parsimon train`."""
        return ["train", self.kind, *self.train, "-m", "a.model", *self.quick, *map(str, more)]

    def forever(self, *more: object) -> list[str]:
        """Of a training that has to be stopped, and keeps what it has all the time."""
        safe = ("--checkpoint-every", "0.01", "--log", "log.jsonl")
        return ["train", self.kind, *self.train, "-m", "a.model", *self.endless, *safe, *map(str, more)]


# --- Data ----------------------------------------------------------------------------------------------------


def write_sequences(folder: Path) -> None:
    """Words that tell their labels, nearly."""
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(40):
        for _ in range(int(rng.integers(2, 7))):
            word = int(rng.integers(12))
            label = "ab"[word % 2] if rng.random() < 0.9 else "c"
            lines.append(f"w{word} {label}\n")
        lines.append("\n")
    (folder / "train.txt").write_text("".join(lines))
    (folder / "a.tpl").write_text("U:%x[0,0]\nU:%x[-1,0]\nB\n")


def some_trees(n: int, seed: int) -> str:
    """Cells of tables are values, cells of lists are text; the parent need not come first."""
    rng, lines = np.random.default_rng(seed), []
    for _ in range(n):
        root, label = [("table", "VALUE"), ("list", "TEXT")][rng.integers(2)]
        children = int(rng.integers(1, 4))
        lines += [f"{children} cell {label}"] * children + [f"-1 {root} ROOT", ""]
    return "\n".join(lines)


def write_trees(folder: Path) -> None:
    """Trees and templates for them."""
    (folder / "trees.txt").write_text(some_trees(30, 0))
    (folder / "trees.tpl").write_text(TREE_TEMPLATES)


def write_pages(folder: Path, n: int, seed: int) -> list[tuple[str, str, str]]:
    """Pages about players, and the values that are on them."""
    rng, rows = np.random.default_rng(seed), []
    (folder / "more").mkdir(parents=True)
    for i in range(n):
        page = f"{'more/' * (i % 2)}{i}.html"
        values = {
            "height": f"{rng.integers(5, 8)}-{rng.integers(0, 12)}",
            "weight": f"{rng.integers(160, 300)}",
        }
        cells = [f"<tr><th>{name.title()}</th><td>{value}</td></tr>" for name, value in values.items()]
        rng.shuffle(cells)
        ads = "".join(f"<p>{rng.integers(160, 300)}</p>" for _ in range(3))
        (folder / page).write_text(f"<body><div class=ads>{ads}</div><table>{''.join(cells)}</table>")
        rows += [(page, name, value) for name, value in values.items()]
    return rows


def write_values(path: Path, rows: list[tuple[str, str, str]], separator: str = ",") -> Path:
    """The table of values."""
    path.write_text("".join(separator.join(row) + "\n" for row in [("page", "attribute", "value"), *rows]))
    return path


def write_records(folder: Path) -> None:
    """Pages with their table."""
    write_values(folder / "values.csv", write_pages(folder / "pages", 12, 0))


def write_documents(folder: Path) -> None:
    """Sentences that tell and sentences that do not."""
    rng = np.random.default_rng(0)
    things = {"space": ["The rocket flew.", "An orbit."], "med": ["The doctor came.", "A drug."]}
    lines = []
    for i in range(40):
        label = ("space", "med")[i % 2]
        texts = [*rng.choice(things[label], 1), *rng.choice(["It is late.", "Who knows?", "We agree."], 2)]
        lines.append(f"{label}\t{' '.join(texts)}\n")
    (folder / "train.tsv").write_text("".join(lines))


def write_treebank(folder: Path) -> None:
    """Sentences of a small grammar."""
    grammar(30, seed=1).write(folder / "train.conllu")


def write_survey(folder: Path) -> None:
    """A chain of three columns, and one that has nothing to do with them."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(200):
        row = [rng.random() < 0.5]
        for _ in range(2):
            row.append(row[-1] if rng.random() < 0.8 else not row[-1])
        rows.append(",".join("yes" if x else "no" for x in row) + f",{'nsw'[rng.integers(3)]}\n")
    (folder / "survey.csv").write_text("smoker,cough,asthma,region\n" + "".join(rows))


def write_numbers(folder: Path) -> None:
    """Measurements of which two say who is ill, and how much it costs."""
    rng = np.random.default_rng(0)
    lines = ["x1,x2,x3,x4,x5,x6,outcome\n"]
    for _ in range(80):
        x = rng.standard_normal(6)
        ill = 2 * x[0] - 2 * x[1] + 0.3 * rng.standard_normal() > 0
        lines.append(",".join(f"{v:.4f}" for v in x) + f",{'ill' if ill else 'well'}\n")
    (folder / "patients.csv").write_text("".join(lines))
    (folder / "groups.tsv").write_text(
        "first\tx1\nfirst\tx2\nfirst\tx3\nsecond\tx3\nsecond\tx4\nsecond\tx5\nsecond\tx6\n"
    )


LEARN_ONLINE = ("--loss", "hinge", "--solver", "mira", "--max-iter", "100000000")
EXAMPLES = [
    Example("sequence", write_sequences, ("train.txt", "-t", "a.tpl"), ("train.txt",), LEARN_ONLINE),
    Example("tree", write_trees, ("trees.txt", "-t", "trees.tpl"), ("trees.txt",), LEARN_ONLINE),
    Example(
        "page",
        write_records,
        ("pages", "--values", "values.csv"),
        ("pages", "--values", "values.csv"),
        LEARN_ONLINE,
    ),
    Example(
        "document",
        write_documents,
        ("train.tsv",),
        ("train.tsv",),
        (
            "--l1",
            "0.01",
            "--stopping",
            "paper",
            "--rho",
            "1e-6",
            "--tol",
            "1e-300",
            "--max-iter",
            "100000000",
        ),
        ("--l1", "0.05"),
    ),
    Example(
        "parser",
        write_treebank,
        ("train.conllu",),
        ("train.conllu",),
        ("--max-iter", "100000000"),
        ("--max-iter", "4"),
    ),
    Example("network", write_survey, ("survey.csv",), (), ("--alpha", "cv", "--stability", "1000000")),
    Example(
        "matrix",
        write_numbers,
        ("patients.csv", "--alpha", "0.5", "--group-file", "groups.tsv"),
        ("patients.csv",),
        ("--solver", "projected-subgradient", "--tol", "1e-300", "--max-iter", "100000000"),
    ),
]
