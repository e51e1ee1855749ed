"""Matrices on the command line: tables of numbers in, classes or numbers out, with groups of columns."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from every_kind import write_numbers
from parsimon import OverlappingGroupLassoClassifier
from parsimon.tasks.model_file import load_model
from refusals import refused


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_numbers(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "patients.csv"


def trained(run: Any, *more: object, table: str = "patients.csv") -> Any:
    result = run("train", "matrix", table, "-m", "a.model", *more)
    assert result.exit_code == 0, result.output
    return result


def numbers(path: Path) -> tuple[np.ndarray, list[str]]:
    rows = list(csv.reader(path.open()))[1:]
    return np.array([[float(x) for x in row[:-1]] for row in rows]), [row[-1] for row in rows]


def regression(path: Path) -> Path:
    """A table whose last column is a number."""
    X, _ = numbers(path)
    lines = [",".join(f"{x:.4f}" for x in (*row, 3 * row[0] - row[4] + 2)) + "\n" for row in X]
    prices = path.with_name("prices.csv")
    prices.write_text("x1,x2,x3,x4,x5,x6,price\n" + "".join(lines))
    return prices


def test_classes_are_learnt_predicted_and_scored(run: Any, table: Path) -> None:
    text = trained(run, "--alpha", "0", "--l1", "2").stdout
    assert "columns" in text
    assert "groups" not in text
    _, gold = numbers(table)
    lines = run("predict", "a.model", table).stdout.splitlines()
    assert np.mean([line == y for line, y in zip(lines, gold, strict=True)]) > 0.9
    odds = run("predict", "a.model", table, "--marginals", "-o", "out.tsv")
    assert odds.output == ""
    label, ill, well = Path("out.tsv").read_text().splitlines()[0].split("\t")
    assert label == lines[0]
    assert float(ill.removeprefix("ill=")) + float(well.removeprefix("well=")) == pytest.approx(1, abs=2e-4)
    record = json.loads(run("evaluate", "a.model", table, "--json").stdout)
    assert record["scores"]["rows"] == 80
    assert record["scores"]["accuracy"] == record["scores"]["correct"] / 80 > 0.9
    assert record["details"]["scored"] == "rows"
    assert record["details"]["per_label"].keys() == {"ill", "well"}
    assert run("evaluate", "a.model", table).stdout.startswith("processed 80 rows\naccuracy: ")


def test_the_model_is_that_of_the_estimator(run: Any, table: Path) -> None:
    trained(run, "--alpha", "1", "--group-file", "groups.tsv")
    X, y = numbers(table)
    groups = [[0, 1, 2], [2, 3, 4, 5]]
    estimator = OverlappingGroupLassoClassifier(alpha=1, groups=groups).fit(X, y)
    model = load_model("a.model")
    assert model.names == ("x1", "x2", "x3", "x4", "x5", "x6")
    np.testing.assert_array_equal(model.predict(X), estimator.predict(X))
    np.testing.assert_allclose(model.probabilities(X), estimator.predict_proba(X))


def test_groups_are_kept_or_dropped_as_wholes(run: Any) -> None:
    text = trained(run, "--alpha", "6", "--group-file", "groups.tsv").stdout
    assert "groups     1 of 2 (50.0%)" in text
    record = json.loads(run("inspect", "a.model", "--json").stdout)
    assert record["size"]["candidate_groups"] == 2
    assert [norm["columns"] for norm in record["details"]["per_group"]] == [3]
    assert {each["column"] for each in record["details"]["heaviest"]} <= {"x1", "x2"}


def test_regression(run: Any, table: Path) -> None:
    prices = regression(table)
    trained(run, "--loss", "squared", "--alpha", "0", "--l1", "0.1", table="prices.csv")
    record = json.loads(run("evaluate", "a.model", prices, "--json").stdout)
    assert record["scores"].keys() == {"rows", "mean_squared_error", "r2"}
    assert record["scores"]["r2"] > 0.99
    assert record["details"] == {}
    assert "R²: 1.0000" in run("evaluate", "a.model", prices).stdout
    predicted = [float(line) for line in run("predict", "a.model", prices).stdout.splitlines()]
    wanted = [float(row[-1]) for row in list(csv.reader(prices.open()))[1:]]
    assert np.corrcoef(predicted, wanted)[0, 1] > 0.99
    refused(run("predict", "a.model", prices, "--marginals"), "predicts numbers", "leave out --marginals")
    refused(run("inspect", "a.model", "--label", "cheap"), "it predicts numbers")
    heaviest = run("inspect", "a.model", "--top", 1).stdout.splitlines()[-1]
    assert heaviest.split()[1] == "x1"


def test_any_column_may_be_the_target_and_columns_are_found_by_name(run: Any, table: Path) -> None:
    rows = list(csv.reader(table.open()))
    turned = [[row[-1], *row[:-1]] for row in rows]
    Path("turned.csv").write_text("".join(";".join(row) + "\n" for row in turned))
    trained(run, "--target", "outcome", "--separator", "semicolon", "--l1", "1", table="turned.csv")
    by_name = run("predict", "a.model", table).stdout
    assert by_name == run("predict", "a.model", "turned.csv").stdout
    trained(run, "--l1", "1")
    assert run("predict", "a.model", table).stdout == by_name


def test_development_tables(run: Any) -> None:
    result = run(
        *(
            "train",
            "matrix",
            "patients.csv",
            "-m",
            "a.model",
            "--dev",
            "patients.csv",
            "--l1",
            "0.5",
            "--json",
        )
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["dev"] > 0.9
    Path("other.csv").write_text("x1,outcome\n1,ill\n")
    result = run("train", "matrix", "patients.csv", "-m", "a.model", "--dev", "other.csv")
    refused(result, "other.csv has other columns than patients.csv; both need the same")


def test_a_look_inside(run: Any) -> None:
    trained(run, "--alpha", "0.5", "--group-file", "groups.tsv")
    facts, groups, columns = run("inspect", "a.model").stdout.split("\n\n")
    assert "columns    6 of 6 (100.0%)" in facts
    assert [line.split()[:2] for line in groups.splitlines()[1:]] == [["first", "3"], ["second", "4"]]
    weights = [abs(float(line.split()[0])) for line in columns.splitlines()[1:]]
    assert weights == sorted(weights, reverse=True)
    ill, well = (
        run("inspect", "a.model", "--label", label, "--top", 1).stdout.splitlines()[-1]
        for label in ("ill", "well")
    )
    assert float(ill.split()[0]) == -float(well.split()[0]) > 0
    refused(run("inspect", "a.model", "--label", "healthy"), "healthy")
    refused(run("inspect", "a.model", "--transitions"), "a.model is a matrix model, and --transitions is for")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "t.csv is empty"),
        ("a,b\n", "t.csv has a line of names but no rows; there is nothing to learn from"),
        ("a,b\n1\n", "t.csv, line 2: 1 cell, but line 1 has 2"),
        ("a,b\nmuch,x\n", "t.csv, row 1: 'much' in column 'a' is no finite number"),
        ("a,b\n1,x\ninf,y\n", "t.csv, row 2: 'inf' in column 'a' is no finite number"),
        ("a,b\n1,x\n,y\n", "t.csv, line 3: the value of 'a' is missing"),
        ("a,a\n1,x\n", "two columns are called 'a'"),
    ],
)
def test_bad_tables(run: Any, content: str, said: str) -> None:
    Path("t.csv").write_text(content)
    refused(run("train", "matrix", "t.csv", "-m", "a.model"), said)
    assert not Path("a.model").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "g.tsv has no groups; it should have lines 'group TAB column'"),
        ("first x1\n", "g.tsv, line 1: 'first x1' should be a group, a tab and the name of a column"),
        ("first\tx1\n\nfirst\tx9\n", "g.tsv, line 3"),
    ],
)
def test_bad_groups(run: Any, content: str, said: str) -> None:
    Path("g.tsv").write_text(content)
    refused(run("train", "matrix", "patients.csv", "-m", "a.model", "--group-file", "g.tsv"), said)


def test_mistakes_about_columns(run: Any) -> None:
    base = ("train", "matrix", "patients.csv", "-m", "a.model")
    refused(run(*base, "--target", "outcom"), "patients.csv has no column 'outcom'; its columns are x1, x2")
    refused(run(*base, "--loss", "squared"), "'ill' in column 'outcome' is no finite number")
    refused(run(*base, "--group-file", "none.tsv"), "none.tsv")
    refused(
        run("train", "matrix", "patients.csv", "-m", "groups.tsv", "--group-file", "groups.tsv"),
        "overwritten",
    )
    trained(run, "--l1", "0.1")
    Path("few.csv").write_text("x1,x2\n1,2\n")
    refused(
        run("predict", "a.model", "few.csv"), "few.csv has no column 'x3', which the model was trained with"
    )
    refused(run("evaluate", "a.model", "none.csv"), "none.csv cannot be read")
    Path("bare.csv").write_text("x1,x2,x3,x4,x5,x6\n1,2,3,4,5,6\n")
    assert run("predict", "a.model", "bare.csv").exit_code == 0
    refused(
        run("evaluate", "a.model", "bare.csv"),
        "should have one column besides those of the model, the target",
    )


def test_options_that_would_do_nothing_are_refused(run, table):
    train = ("train", "matrix", table, "-m", "a.model")
    refused(run(*train, "--group-weight", "ones"), "--group-weight is about groups of several columns")
    refused(
        run(*train, "--alpha", 0, "--group-file", "groups.tsv"),
        "--group-file is about the penalty on groups; add an --alpha above zero",
    )


def test_a_table_without_names_is_refused(run, table):
    table.write_text("".join(table.read_text().splitlines(keepends=True)[1:]))
    result = run("train", "matrix", table, "-m", "a.model")
    refused(result, "where the name of a column should be; add a line of names.")
    assert "header" not in result.stderr  # which matrices do not have as an option
