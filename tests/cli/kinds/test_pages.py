"""Web pages on the command line: directories and tables of values in, records out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from every_kind import write_pages, write_values
from parsimon.tasks.pages.reading import read_values
from refusals import refused


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


def test_a_treebank_is_no_page(run: Any, page_model: Path, tmp_path: Path, shell: Any) -> None:
    treebank = tmp_path / "file.conllu"
    treebank.write_text("1\tDogs\tdog\tNOUN\t_\t_\t0\troot\t_\t_\n")
    refused(run("predict", page_model, treebank), "file.conllu is no web page, as it has no tag of HTML")
    done = shell("predict", page_model, input=treebank.read_bytes())
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"parsimon: standard input is no web page")
