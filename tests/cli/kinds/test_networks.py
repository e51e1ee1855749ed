"""Markov networks on the command line: tables in, edges out."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loaded import loaded_by
from parsimon import MarkovNetwork
from parsimon.data import make_network
from parsimon.data.csv_tables import read_table
from parsimon.tasks.model_file import load_model
from refusals import refused

NAMES = ["smoker", "cough", "asthma", "region"]


def write_csv(path: Path, rows: Any, names: Any = NAMES, separator: str = ",") -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        if names:
            writer.writerow(names)
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def rows() -> list[list[str]]:
    """A chain of three binary columns, and one that has nothing to do with them."""
    X = make_network("chain", 3, 300, coupling=0.8, mixed_signs=False).X
    region = np.random.default_rng(0).choice(["north", "south", "west"], len(X))
    words = np.array(["no", "yes"])[X]
    return [[*words[i].tolist(), str(region[i])] for i in range(len(X))]


@pytest.fixture
def table(tmp_path: Path, rows: list[list[str]]) -> Path:
    return write_csv(tmp_path / "survey.csv", rows)


@pytest.fixture
def model(run: Any, table: Path, tmp_path: Path) -> Path:
    path = tmp_path / "survey.model"
    result = run("train", "network", table, "-m", path, "-q", "--n-jobs", 1, "--search", "penalty")
    assert result.exit_code == 0, result.output
    assert result.output == ""
    return path


def test_what_is_printed(run: Any, table: Path) -> None:
    result = run("train", "network", table)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["variables", "4"]
    assert lines[1].split(None, 1) == ["edges", "2 of 6 (33.3%)"]
    assert any(line.startswith("learnt from  300 rows") for line in lines)
    assert any(line.startswith("found as") and line.endswith("by ebic") for line in lines)
    path = run("train", "network", table, "--search", "penalty").stdout.splitlines()
    assert any(line.startswith("strength") and line.endswith("by ebic") for line in path)
    assert any("log pseudo-likelihood, on the training rows" in line for line in lines)
    assert any(line.split()[1:] == ["smoker", "cough"] and line.strip().startswith("+") for line in lines)


def test_all_files(run: Any, table: Path, tmp_path: Path) -> None:
    paths = {name: tmp_path / name for name in ("m.model", "n.png", "e.tsv", "l.jsonl")}
    result = run(
        "train",
        "network",
        table,
        "-m",
        paths["m.model"],
        "--draw",
        paths["n.png"],
        "--edges",
        paths["e.tsv"],
        "--log",
        paths["l.jsonl"],
        "--json",
    )
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["size"] == {"variables": 4, "edges": 2, "candidate_edges": 6}
    assert record["files"] == {"drawing": str(paths["n.png"]), "edges": str(paths["e.tsv"])}
    inspected = json.loads(run("inspect", paths["m.model"], "--json").stdout)
    assert {(e["first"], e["second"]) for e in inspected["details"]["strongest"]} == {
        ("smoker", "cough"),
        ("cough", "asthma"),
    }
    assert inspected["training"]["score"] < 0
    assert paths["n.png"].read_bytes().startswith(b"\x89PNG")
    lines = paths["e.tsv"].read_text().splitlines()
    assert lines[0] == "first\tsecond\tstrength"
    assert len(lines) == 3
    log = [json.loads(line) for line in paths["l.jsonl"].read_text().splitlines()]
    assert [log[0]["event"], log[-1]["event"]] == ["start", "end"]
    assert log[-1]["size"]["edges"] == 2
    assert sum(event["event"] == "iteration" for event in log) > 2
    assert len(load_model(paths["m.model"]).edges) == 2


def test_the_model_is_that_of_the_estimator(model: Path, rows: list[list[str]]) -> None:
    from pandas import DataFrame

    ours = MarkovNetwork.load(model)
    theirs = MarkovNetwork(random_state=0, search="penalty").fit(DataFrame(rows, columns=NAMES))
    assert ours.edges_ == theirs.edges_
    np.testing.assert_array_equal(ours.edge_weights_, theirs.edge_weights_)


def learnt(run: Any, table: Path, *more: object) -> dict[str, Any]:
    """What is in the model that some options give."""
    model = table.with_name("learnt.model")
    result = run("train", "network", table, "-m", model, *more)
    assert result.exit_code == 0, result.output
    return json.loads(run("inspect", model, "--json").stdout)


@pytest.mark.parametrize("alpha", ["bic", "cv", "20"])
def test_strengths(run: Any, table: Path, alpha: str) -> None:
    record = learnt(run, table, "--alpha", alpha)
    assert {("smoker", "cough"), ("cough", "asthma")} <= {
        (e["first"], e["second"]) for e in record["details"]["strongest"]
    }
    assert record["training"]["chosen_by"] == (None if alpha == "20" else alpha)
    text = run("inspect", table.with_name("learnt.model")).stdout
    assert ("strength     20" in text) == (alpha == "20")


def test_greedy_neighbourhoods(run: Any, table: Path) -> None:
    record = learnt(run, table, "--search", "greedy")
    found = {(e["first"], e["second"]) for e in record["details"]["strongest"]}
    assert found == {("smoker", "cough"), ("cough", "asthma")}
    assert record["training"]["search"] == "greedy"
    assert "greedy neighbourhoods, by ebic" in run("inspect", table.with_name("learnt.model")).stdout


def test_stability(run: Any, table: Path, tmp_path: Path) -> None:
    edges = tmp_path / "edges.tsv"
    result = run("train", "network", table, "--stability", 10, "--edges", edges)
    assert result.exit_code == 0, result.output
    assert "75% of 10 halves of the rows" in result.stdout
    lines = edges.read_text().splitlines()
    assert lines[0].endswith("stability")
    assert all(float(line.split("\t")[3]) >= 0.75 for line in lines[1:])
    assert len(lines) >= 3


@pytest.mark.parametrize(
    ("loss", "inference", "score"),
    [("log", "bp", "log-likelihood by the Bethe approximation"), ("log", "exact", "log-likelihood,")],
)
def test_likelihoods(run: Any, table: Path, loss: str, inference: str, score: str) -> None:
    result = run("train", "network", table, "--loss", loss, "--inference", inference)
    assert result.exit_code == 0, result.output
    assert score in result.stdout
    assert "edges        2 of 6" in result.stdout


def test_a_separator_can_be_named(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b;c\nx,1;y\nx,2;z\n" * 1)
    assert read_table(path, separator=";").names == ("a,b", "c")
    assert run("train", "network", path, "--separator", "comma", "--alpha", 1).exit_code == 0


def test_standard_input(shell: Any, table: Path) -> None:
    done = shell("train", "network", "-", "--json", input=table.read_bytes())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["size"]["edges"] == 2


def test_no_header(run: Any, tmp_path: Path, rows: list[list[str]]) -> None:
    path = write_csv(tmp_path / "t.csv", rows, names=None)
    record = learnt(run, path, "--no-header")
    assert record["training"]["rows"] == 300
    assert {e["first"] for e in record["details"]["strongest"]} == {"x1", "x2"}


def test_rows_with_missing_values_can_be_dropped(run: Any, tmp_path: Path, rows: list[list[str]]) -> None:
    path = write_csv(tmp_path / "t.csv", [["", "yes", "no", "west"], *rows, ["no", "?", "NA", "west"]])
    refused(
        run("train", "network", path), "t.csv, line 2: the value of 'smoker' is missing", "--missing drop"
    )
    result = run("train", "network", path, "--missing", "drop")
    assert "300 rows (2 with missing values left out)" in result.stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "t.csv is empty"),
        (b"\n  \n", "t.csv is empty"),
        (b"a,b\n", "t.csv has a line of names but no rows"),
        (b"a,b\n1,2\n1\n", "t.csv, line 3: 1 cell, but line 1 has 2"),
        (b"a,b\n1,2\n1,2,3\n", "t.csv, line 3: 3 cells, but line 1 has 2"),
        (b"a,a\n1,2\n", "t.csv, line 1: two columns are called 'a'"),
        (b"a,\n1,2\n", "t.csv, line 1: column 2 has no name"),
        (b'a,b\n"1,2\n', "t.csv, line 2: unexpected end of data; check the quotes"),
        (b"a,b\n1,\xff\n", "t.csv, line 2: the text is not valid utf-8"),
        (
            b"a,b\n" + b"".join(b"%d.5,1\n" % i for i in range(20)),
            "the column 'a' has 20 distinct numbers such as 0.5",
        ),
        (b"a,b\n" + b"".join(b"w%d,1\n" % i for i in range(60)), "column 'a' has 60 distinct values"),
        (b"a,b\nNA,1\n", "t.csv, line 2: the value of 'a' is missing"),
    ],
)
def test_tables_that_are_refused(run: Any, tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    refused(run("train", "network", path), said)


def test_files_that_cannot_be_written_are_refused_first(run: Any, table: Path, tmp_path: Path) -> None:
    refused(run("train", "network", table, "-m", tmp_path / "no" / "m"), "there is no directory")
    refused(run("train", "network", table, "-m", "-"), "must be a file")
    refused(run("train", "network", table, "-m", table), "would be overwritten")
    refused(run("train", "network", table, "--edges", table), "would be overwritten")
    refused(run("train", "network", table, "--draw", tmp_path / "n.doc"), ".png, .svg or .pdf")
    refused(run("train", "network", tmp_path / "none.csv"), "none.csv cannot be read")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["survey.csv"]


def test_options_that_are_refused(run: Any, table: Path) -> None:
    for alpha in ("0", "-1", "nan", "aic"):
        result = run("train", "network", table, "--alpha", alpha)
        assert result.exit_code == 2
        assert "must be a number above zero, or one of bic, ebic, cv" in result.stderr
    refused(run("train", "network", table, "--solver", "magic"), "'magic' is not one of")
    refused(run("train", "network", table, "--max-states", 2), "column 'region' has 3 distinct values")


def test_inspect(run: Any, model: Path) -> None:
    text = run("inspect", model, "--history").stdout
    assert "edges        2 of 6" in text
    assert "smoker" in text
    assert "iteration" in text
    record = json.loads(run("inspect", model, "--json").stdout)
    assert record["kind"] == "network"
    assert record["details"]["states"]["region"] == ["north", "south", "west"]
    assert len(record["details"]["strongest"]) == 2
    assert 5 < len(record["details"]["path"]["alphas"]) == len(record["details"]["path"]["scores"]) <= 30
    of_one = json.loads(run("inspect", model, "--label", "smoker", "--json").stdout)
    assert [(e["first"], e["second"]) for e in of_one["details"]["strongest"]] == [("smoker", "cough")]
    refused(run("inspect", model, "--label", "smokers"), "did you mean 'smoker'?")
    refused(run("inspect", model, "--transitions"), "is a Markov network")
    refused(run("inspect", model, "--html", "a.html"), "is a Markov network, and --html")


def test_commands_for_labels_are_refused(run: Any, model: Path, table: Path) -> None:
    refused(run("predict", model, table), "no label to predict", "parsimon sample")
    refused(run("evaluate", model, table), "no labels to compare")
    refused(run("explain", model, table), "is a Markov network; explain is for a document model")


def test_neither_scikit_learn_nor_rich_is_imported(table: Path) -> None:
    heavy = {"sklearn", "scipy", "rich", "pandas", "pooch", "matplotlib", "networkx"}
    assert loaded_by(["train", "network", str(table), "--alpha", "20"]) & heavy == set()


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--cv", 3], "--cv is about choosing a strength by cv; add --alpha cv"),
        (["--alpha", "bic", "--gamma", 1], "--gamma is about choosing a strength by ebic; add --alpha ebic"),
        (["--alpha", 3, "--patience", 3], "--patience is about choosing a strength; add --alpha bic"),
        (["--search", "greedy", "--n-alphas", 3], "--n-alphas is about a path of strengths"),
        (["--alpha", 3, "--n-alphas", 3], "--n-alphas is about choosing a strength"),
        (
            ["--stability-threshold", 0.5],
            "--stability-threshold is about stability selection; add --stability N",
        ),
    ],
)
def test_options_that_would_do_nothing_are_refused(run, table, flags, sentence):
    refused(run("train", "network", table, *flags), sentence)


def test_columns_dropped_numbers_in_bins_and_missing_values(run: Any, shell: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    age = random.normal(40, 12, 400)
    cells = [
        [i, f"{a:.2f}", "" if i % 9 == 0 else f"{2 * a + e:.1f}", s]
        for i, (a, e, s) in enumerate(
            zip(age.tolist(), random.normal(size=400), random.choice(["f", "m"], 400), strict=True)
        )
    ]
    path = write_csv(tmp_path / "t.csv", cells, names=["id", "age", "income", "sex"])
    refused(run("train", "network", path), "the value of 'income' is missing", "--missing state")
    refused(run("train", "network", path, "--missing", "state"), "--bins 4", "--drop age")
    refused(run("train", "network", path, "--drop", "ag"), "no column 'ag' to drop; did you mean 'age'?")
    flags = ("--drop", "id", "--bins", 3, "--missing", "state")
    record = learnt(run, path, *flags)
    assert [(e["first"], e["second"]) for e in record["details"]["strongest"]] == [("age", "income")]
    assert record["details"]["left_out"] == ["id"]
    assert len(record["details"]["bins"]["age"]) == 2
    assert record["details"]["states"]["income"][-1] == "missing"
    text = run("inspect", tmp_path / "learnt.model").stdout
    assert "left out     id" in text
    assert "in bins      age, income" in text
    drawn = run("sample", tmp_path / "learnt.model", "-n", 5, "--given", "age=70.5").stdout.splitlines()
    assert drawn[0] == "age,income,sex"
    assert all(line.startswith("> ") for line in drawn[1:])
    few = learnt(run, path, *flags[:4], "--missing", "drop")
    assert few["training"]["dropped"] == 45
    assert few["training"]["rows"] == 355
