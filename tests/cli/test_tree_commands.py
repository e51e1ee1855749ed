"""`parsimon train tree`, and what the other commands do with trees of a column file and with web pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsimon import TreeLabeler
from parsimon.tasks.model_file import load_model
from parsimon.tasks.pages.reading import read_values

TEMPLATES = "U:own=%x[0,1]\nU:above=%x[parent,1]/%x[0,1]\nU:next=%x[next_sibling,1]\nB\n"


def refused(result: Any, *said: str) -> None:
    assert result.exit_code == 2, result.output
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert "Traceback" not in result.output
    for text in said:
        assert text in result.stderr


# --- Column files -------------------------------------------------------------------------------------------


def some_trees(n: int, seed: int) -> str:
    """Cells of tables are values, cells of lists are text; the parent need not come first."""
    rng, lines = np.random.default_rng(seed), []
    for _ in range(n):
        root, label = [("table", "VALUE"), ("list", "TEXT")][rng.integers(2)]
        children = int(rng.integers(1, 4))
        lines += [f"{children} cell {label}"] * children + [f"-1 {root} ROOT", ""]
    return "\n".join(lines)


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    (tmp_path / "trees.tpl").write_text(TEMPLATES)
    (tmp_path / "test.txt").write_text(some_trees(20, 1))
    path = tmp_path / "trees.txt"
    path.write_text(some_trees(30, 0))
    return path


@pytest.fixture
def tree_model(run: Any, trees: Path, tmp_path: Path) -> Path:
    path = tmp_path / "trees.model"
    result = run("train", "tree", trees, "-m", path, "-t", tmp_path / "trees.tpl", "--l1", 0.1, "-q")
    assert result.exit_code == 0, result.output
    assert result.output == ""
    return path


def test_trees_are_labelled_and_scored(run: Any, tree_model: Path, tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text("-1 table\n0 cell\n0 cell\n\n1 cell\n-1 list\n")
    result = run("predict", tree_model, tmp_path / "new.txt")
    assert result.exit_code == 0, result.output
    assert result.stdout == "-1 table\tROOT\n0 cell\tVALUE\n0 cell\tVALUE\n\n1 cell\tTEXT\n-1 list\tROOT\n\n"
    result = run("evaluate", tree_model, tmp_path / "test.txt", "--json")
    assert json.loads(result.stdout)["scores"]["accuracy"] == 1.0
    text = run("evaluate", tree_model, tmp_path / "test.txt").stdout
    assert "tokens in" in text
    assert "trees without an error: 100.00%" in text
    assert "sequences" not in text


def test_the_model_is_that_of_the_estimator(run: Any, trees: Path, tree_model: Path, tmp_path: Path) -> None:
    blocks = [block.split("\n") for block in trees.read_text().strip().split("\n\n")]
    rows = [[line.split(" ") for line in block] for block in blocks]
    X = [([tuple(row[:2]) for row in tree], [int(row[0]) for row in tree]) for tree in rows]
    y = [[row[2] for row in tree] for tree in rows]
    labeler = TreeLabeler(tmp_path / "trees.tpl", l1=0.1).fit(X, y)
    model = load_model(tree_model)
    assert np.array_equal(model.weights, labeler.coef_)
    assert TreeLabeler.load(tree_model).predict(X) == labeler.predict(X)


def test_further_outputs_of_trees(run: Any, tree_model: Path, tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text("-1 table ROOT\n0 cell ?\n\n-1 list ?\n0 cell VALUE\n")
    given = run("predict", tree_model, tmp_path / "new.txt", "--given-labels")
    assert given.stdout.splitlines()[-2] == "0 cell VALUE\tVALUE"
    (tmp_path / "new.txt").write_text("-1 table\n0 cell\n")
    best = run("predict", tree_model, tmp_path / "new.txt", "--kbest", 2, "--marginals")
    lines = best.stdout.splitlines()
    assert lines[0].startswith("# 1 0.")
    assert lines[2].startswith("0 cell\tVALUE\t0.")
    assert lines[4].startswith("# 2 0.")


def test_kinds_of_nodes_limit_labels(run: Any, trees: Path, tmp_path: Path) -> None:
    (tmp_path / "kinds.tpl").write_text("U\nB\n")  # nothing is known of a node but its kind
    options = ("-t", tmp_path / "kinds.tpl", "--kind-column", 1, "--parent-column", 0, "-q")
    assert run("train", "tree", trees, "-m", tmp_path / "k.model", *options).exit_code == 0
    (tmp_path / "new.txt").write_text("-1 list\n0 cell\n0 table\n")
    labels = [
        line.split("\t")[1]
        for line in run("predict", tmp_path / "k.model", tmp_path / "new.txt").stdout.split("\n")[:3]
    ]
    assert labels[0] == labels[2] == "ROOT"
    assert labels[1] in ("VALUE", "TEXT")


def test_trees_have_their_sequences_options(run: Any, trees: Path, tmp_path: Path) -> None:
    """Development data, a log, another loss and solver; what trees do not have is refused."""
    common = ("-m", tmp_path / "m.model", "-t", tmp_path / "trees.tpl")
    result = run("train", "tree", trees, *common, "--dev", tmp_path / "test.txt", "--json")
    assert json.loads(result.stdout)["dev"] == 1.0
    result = run(
        "train",
        "tree",
        trees,
        *common,
        "--loss",
        "hinge",
        "--l1",
        0,
        "--l2",
        1,
        "--solver",
        "frank-wolfe",
        "-q",
    )
    assert result.exit_code == 0, result.output
    refused(run("train", "tree", trees, *common, "--solver", "bcd"), "bcd")
    assert run("train", "tree", trees, *common, "--order", 2).exit_code == 2


@pytest.mark.parametrize("siblings", ["instead", "also"])
def test_labels_depend_on_siblings(run: Any, tmp_path: Path, siblings: str) -> None:
    """Names and values take turns, which nothing but the label before tells."""
    cells = "".join(f"0 cell {label}\n" for label in ("NAME", "VALUE") * 3)
    (tmp_path / "turns.txt").write_text(f"-1 table ROOT\n{cells}\n" * 5)
    (tmp_path / "turns.tpl").write_text("U:%x[0,1]\nB\n")
    model = tmp_path / "turns.model"
    options = ("-m", model, "-t", tmp_path / "turns.tpl", "--siblings", siblings, "--l1", 0.05, "-q")
    assert run("train", "tree", tmp_path / "turns.txt", *options).exit_code == 0
    (tmp_path / "new.txt").write_text("-1 table\n" + "0 cell\n" * 4)
    found = run("predict", model, tmp_path / "new.txt", "--marginals").stdout.split()
    assert [word for word in found if word.isupper()] == ["ROOT", *["NAME", "VALUE"] * 2]
    told = run("evaluate", model, tmp_path / "turns.txt", "--json")
    assert json.loads(told.stdout)["scores"]["accuracy"] == 1.0
    assert TreeLabeler.load(model).siblings == siblings
    assert run("inspect", model, "--transitions").exit_code == 0


def test_mistakes_about_siblings(run: Any, trees: Path, tmp_path: Path) -> None:
    common = ("-m", tmp_path / "x.model", "-t", tmp_path / "trees.tpl")
    assert run("train", "tree", trees, *common, "--siblings", "none").exit_code == 2
    (tmp_path / "trees.tpl").write_text(TEMPLATES + "S\n")
    refused(run("train", "tree", trees, *common), "template 'S' is for the labels of siblings")
    refused(run("train", "sequence", trees, *common), "template 'S' is for the labels of siblings")


def test_inspecting_a_tree_model(run: Any, tree_model: Path) -> None:
    result = run("inspect", tree_model, "--transitions", "--top", 5)
    assert result.exit_code == 0, result.output
    assert "U:above" in result.stdout
    told = json.loads(run("inspect", tree_model, "--json").stdout)
    assert sorted(told["details"]["label_names"]) == ["ROOT", "TEXT", "VALUE"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "-1 a X\n0 b Y\n\nx c Z\n",
            ["trees.txt, line 4: the parent is 'x'", "column 0", "from 0 to 0, or -1"],
        ),
        ("-1 a X\n2 b Y\n", ["trees.txt, line 2: the parent is '2'", "from 0 to 1, or -1 for a root"]),
        ("-1 a X\n\n1 b Y\n0 b Y\n", ["trees.txt, line 3: this node is its own ancestor"]),
        ("-1 a X\n0 b\n", ["trees.txt, line 2"]),
        ("\n\n", ["trees.txt has no nodes"]),
    ],
)
def test_mistakes_in_trees_are_told_with_their_lines(
    run: Any, trees: Path, tmp_path: Path, tree_model: Path, text: str, said: list[str]
) -> None:
    trees.write_text(text)
    refused(run("train", "tree", trees, "-m", tmp_path / "x.model", "-t", tmp_path / "trees.tpl"), *said)
    if "no nodes" not in said[0]:
        refused(run("evaluate", tree_model, trees), *said)


def test_mistakes_about_what_to_read(run: Any, trees: Path, tmp_path: Path, tree_model: Path) -> None:
    common = ("-m", tmp_path / "x.model", "-t", tmp_path / "trees.tpl")
    refused(run("train", "tree", trees, "-m", tmp_path / "x.model"), "name a template file with -t")
    refused(
        run("train", "tree", trees, *common, "--parent-column", 3), "line 1", "no column 3", "--parent-column"
    )
    refused(run("train", "tree", trees, *common, "--kind-column", 2), "no column 2 with kinds")
    assert run("train", "tree", trees, *common, "--values", "v.csv").exit_code == 2
    refused(run("train", "tree", tmp_path, *common), "is a directory", "parsimon train page")
    refused(run("train", "tree", tmp_path / "none.txt", *common), "none.txt cannot be read")
    refused(run("evaluate", tree_model, trees, "--values", "v.csv"), "--values is for a model of web pages")
    (tmp_path / "far.tpl").write_text("U:%x[0,7]\n")
    refused(run("train", "tree", trees, "-m", tmp_path / "x.model", "-t", tmp_path / "far.tpl"), "column 7")
    labeler = TreeLabeler(tmp_path / "trees.tpl").fit([([("-1", "a")], [-1])] * 2, [["X"], ["Y"]])
    labeler.save(tmp_path / "python.model")
    refused(run("predict", tmp_path / "python.model", trees), "use it from Python")


# --- Web pages ----------------------------------------------------------------------------------------------


def write_pages(folder: Path, n: int, seed: int) -> list[tuple[str, str, str]]:
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
    path.write_text("".join(separator.join(row) + "\n" for row in [("page", "attribute", "value"), *rows]))
    return path


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    write_values(tmp_path / "values.csv", write_pages(tmp_path / "pages", 16, 0))
    write_values(tmp_path / "test.tsv", write_pages(tmp_path / "test", 8, 1), "\t")
    return tmp_path / "pages"


@pytest.fixture
def page_model(run: Any, pages: Path, tmp_path: Path) -> Path:
    path = tmp_path / "records.model"
    result = run("train", "page", pages, "--values", tmp_path / "values.csv", "-m", path, "--l1", 0.1, "-q")
    assert result.exit_code == 0, result.output
    assert result.output == ""
    return path


def test_records_of_pages(run: Any, page_model: Path, tmp_path: Path) -> None:
    out = tmp_path / "records.tsv"
    assert run("predict", page_model, tmp_path / "test", "-o", out).exit_code == 0
    found, wanted = read_values(out), read_values(tmp_path / "test.tsv")
    assert found == wanted  # what predict writes, --values reads
    result = run("evaluate", page_model, tmp_path / "test", "--values", tmp_path / "test.tsv")
    assert result.stdout.startswith("processed 8 pages\naverage F1: 100.00%; whole records right: 100.00%\n")
    assert "height     100.00%" in result.stdout
    told = json.loads(
        run("evaluate", page_model, tmp_path / "test", "--values", tmp_path / "test.tsv", "--json").stdout
    )
    assert told["scores"] == {"average_f1": 1.0, "record_accuracy": 1.0, "pages": 8}
    assert told["details"] == {"per_attribute": {"height": 1.0, "weight": 1.0}}


def test_records_that_are_not_right_are_counted(run: Any, page_model: Path, tmp_path: Path) -> None:
    rows = [line.split("\t") for line in (tmp_path / "test.tsv").read_text().splitlines()[1:]]
    rows[0][2] = "something else"
    table = write_values(tmp_path / "wrong.csv", [(a, b, c) for a, b, c in rows])
    result = run("evaluate", page_model, tmp_path / "test", "--values", table)
    assert "whole records right:  87.50%" in result.stdout
    assert "1 values are no text of their page, such as 'something else' of 0.html" in result.stderr


def test_one_page_and_json_lines(run: Any, page_model: Path, tmp_path: Path) -> None:
    page = tmp_path / "test" / "0.html"
    told = json.loads(run("predict", page_model, page, "--format", "jsonl").stdout)
    assert told == {"page": "0.html", "record": read_values(tmp_path / "test.tsv")["0.html"]}
    with_odds = run("predict", page_model, page, "--marginals").stdout.splitlines()
    assert with_odds[0] == "page\tattribute\tvalue\tprobability"
    assert all(0 < float(line.split("\t")[3]) <= 1 for line in with_odds[1:])


def test_siblings_on_pages(run: Any, pages: Path, tmp_path: Path) -> None:
    options = ("--values", tmp_path / "values.csv", "-m", tmp_path / "s.model", "--l1", 0.1, "-q")
    assert run("train", "page", pages, *options, "--siblings", "also").exit_code == 0
    result = run("evaluate", tmp_path / "s.model", tmp_path / "test", "--values", tmp_path / "test.tsv")
    assert result.stdout.startswith("processed 8 pages\naverage F1: 100.00%; whole records right: 100.00%\n")


def test_inspecting_a_model_of_pages(run: Any, page_model: Path) -> None:
    result = run("inspect", page_model, "--label", "height")
    assert result.exit_code == 0, result.output
    assert "height" in result.stdout


def test_pages_without_values_are_left_out_and_mentioned(run: Any, pages: Path, tmp_path: Path) -> None:
    lines = (tmp_path / "values.csv").read_text().splitlines()
    (tmp_path / "some.csv").write_text("\n".join(line for line in lines if not line.startswith("0.html")))
    result = run("train", "page", pages, "--values", tmp_path / "some.csv", "-m", tmp_path / "m.model", "-q")
    assert result.exit_code == 0
    assert "1 of the 16 pages" in result.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "",
            ["t.csv, line 1: the columns of the table must be page, attribute and value, but they are none"],
        ),
        ("page,attribute\n", ["line 1", "'page', 'attribute'"]),
        (
            "page,attribute,value\n0.html,height\n",
            ["t.csv, line 2: there must be 3 cells", "but there are 2"],
        ),
        (
            "page,attribute,value\n\n0.html,,6-5\n",
            ["t.csv, line 3: the attribute is empty", "leave out the line"],
        ),
        ("page,attribute,value\n", ["t.csv has no values"]),
        ("page,attribute,value\nno.html,height,6\n", ["'no.html'", "'0.html'", "named as in the directory"]),
        ('page,attribute,value\n0.html,height,"6\n', ["t.csv, line 2", "check the quotes"]),
    ],
)
def test_mistakes_in_tables_of_values(
    run: Any, pages: Path, tmp_path: Path, text: str, said: list[str]
) -> None:
    (tmp_path / "t.csv").write_text(text)
    refused(run("train", "page", pages, "--values", tmp_path / "t.csv", "-m", tmp_path / "m.model"), *said)
    assert not (tmp_path / "m.model").exists()


def test_mistakes_about_pages(run: Any, pages: Path, page_model: Path, tmp_path: Path) -> None:
    model = ("-m", tmp_path / "m.model")
    values = ("--values", tmp_path / "values.csv")
    assert "Missing option '--values'" in run("train", "page", pages, *model).stderr
    refused(run("train", "page", pages, *model, "--values", tmp_path / "no.csv"), "no.csv cannot be read")
    assert run("train", "page", pages, *model, *values, "--parent-column", 1).exit_code == 2
    (tmp_path / "empty").mkdir()
    refused(run("train", "page", tmp_path / "empty", *model, *values), "empty has no pages", ".html")
    refused(run("evaluate", page_model, pages), "--values TABLE")
    refused(run("evaluate", page_model, pages, *values, "--confusion"), "--confusion is for")
    refused(run("predict", page_model, pages, "--kbest", 2), "--kbest is for")
    refused(run("predict", page_model, tmp_path / "nowhere"), "nowhere cannot be read")
