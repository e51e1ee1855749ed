"""Trees of column files on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from every_kind import TREE_TEMPLATES as TEMPLATES
from every_kind import some_trees
from parsimon import TreeLabeler
from parsimon.tasks.model_file import load_model
from refusals import refused


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


def test_bad_trees_can_be_left_out(run: Any, trees: Path, tree_model: Path, tmp_path: Path) -> None:
    """What is left teaches and scores the same as a file without them."""
    bad = tmp_path / "bad.txt"
    bad.write_text(
        "0 cell VALUE\n-1 table ROOT\n\n" + trees.read_text() + "\n\n5 cell VALUE\n-1 table ROOT\n"
    )
    train = (
        "train",
        "tree",
        bad,
        "-m",
        tmp_path / "b.model",
        "-t",
        tmp_path / "trees.tpl",
        "--l1",
        0.1,
        "-q",
    )
    refused(run(*train), "bad.txt, line")
    result = run(*train, "--skip-bad")
    assert result.exit_code == 0
    first, *mistakes = result.stderr.splitlines()
    assert first == f"parsimon: 2 of 32 trees in {bad} are left out:"
    assert len(mistakes) == 2
    assert mistakes[0].startswith(f"  {bad}, line 1: this node is its own ancestor")
    assert "the parent is '5'" in mistakes[1]
    assert np.array_equal(load_model(tmp_path / "b.model").weights, load_model(tree_model).weights)
    scored = run("evaluate", tree_model, bad, "--skip-bad")
    assert scored.stdout == run("evaluate", tree_model, trees).stdout
    assert "2 of 32 trees" in scored.stderr
    bad.write_text("0 cell VALUE\n\n\n1 cell VALUE\n")
    refused(run(*train, "--skip-bad"), f"none of the 2 trees in {bad} can be used: {bad}, line 1: ")


def test_skipping_block_by_block(
    run: Any, trees: Path, tree_model: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("0 cell VALUE\n\n" + trees.read_text() + "\n\n0 cell VALUE\n")
    whole = run("evaluate", tree_model, bad, "--skip-bad")
    monkeypatch.setattr("parsimon.files.BLOCK", 40)
    again = run("evaluate", tree_model, bad, "--skip-bad")
    assert (again.stdout, again.stderr) == (whole.stdout, whole.stderr)
    assert "2 of 32 trees" in again.stderr
