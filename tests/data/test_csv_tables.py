"""Reading text tables: separators, headers, encodings, missing values, and what is refused."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from parsimon.data.csv_tables import MAX_FRACTIONAL_STATES, CsvTable, read_table
from parsimon.errors import ParsimonError


def read(tmp_path: Path, content: str | bytes, **options: Any) -> CsvTable:
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, **options)


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_the_separator_is_found(separator: str, tmp_path: Path) -> None:
    content = "sky, wet\ncloudy, yes\n\n clear , no\n".replace(",", separator)
    assert read(tmp_path, content) == CsvTable(("sky", "wet"), [["cloudy", "yes"], ["clear", "no"]])


def test_of_several_separators_the_consistent_one_is_taken_unless_one_is_given(tmp_path: Path) -> None:
    content = "a,b;c\n1;x\n2;y\n3;z\n"
    assert read(tmp_path, content).names == ("a,b", "c")
    assert read(tmp_path, 'a,b\n"1;2",3\n', separator=",").rows == [["1;2", "3"]]


def test_quoted_cells_a_byte_order_mark_and_other_encodings(tmp_path: Path) -> None:
    assert read(tmp_path, '\ufeffa,b\n"x, y","say ""hi"""\n').rows == [["x, y", 'say "hi"']]
    assert read(tmp_path, "naïve,b\nä,x\n".encode("latin-1"), encoding="latin-1").names == ("naïve", "b")


def test_without_a_header_columns_have_numbers(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\nc,d\n", header=False) == CsvTable(("x1", "x2"), [["a", "b"], ["c", "d"]])


def test_rows_with_missing_values_are_refused_or_dropped(tmp_path: Path) -> None:
    content = "a,b\n1,x\n?,y\n2,NA\n3,z\n"
    with pytest.raises(ParsimonError, match="line 3: the value of 'a' is missing"):
        read(tmp_path, content)
    assert read(tmp_path, content, missing="drop") == CsvTable(("a", "b"), [["1", "x"], ["3", "z"]], 2)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
    assert read_table("-").rows == [["1", "2"]]


def test_measurements_are_refused_but_whole_numbers_and_few_fractions_are_states(tmp_path: Path) -> None:
    def column(values: list[str]) -> str:
        return "a,b\n" + "".join(f"{value},x\n" for value in values)

    halves = [str(i / 2) for i in range(MAX_FRACTIONAL_STATES + 1)]
    with pytest.raises(ParsimonError, match=r"the column 'a' has 11 distinct numbers such as 0\.5"):
        read(tmp_path, column(halves))
    assert len(read(tmp_path, column(halves[:-1])).rows) == MAX_FRACTIONAL_STATES
    assert len(read(tmp_path, column([str(i) for i in range(40)])).rows) == 40
    assert len(read(tmp_path, column([*halves, "inf"])).rows) == 12  # not a finite number, so a name


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {}, "t.csv is empty; it should have a line of column names"),
        ("a,b\n", {}, "t.csv has a line of names but no rows"),
        ("a,b\n?,x\n", {"missing": "drop"}, "t.csv has no row without a missing value"),
        ("a,b\n1\n", {}, "line 2: 1 cell, but line 1 has 2"),
        ("a,b\n1,2,3\n", {}, "line 2: 3 cells, but line 1 has 2"),
        ("a,\n1,2\n", {}, "line 1: column 2 has no name"),
        ("a,a\n1,2\n", {}, "line 1: two columns are called 'a'"),
        ('a,b\n"1,2\n', {}, "check the quotes"),
        (b"a,b\n1,\xff\n", {}, "line 2: the text is not valid utf-8"),
        ("a,b\n1,2\n", {"encoding": "utf-9"}, "there is no encoding called 'utf-9'; try utf-8 or latin-1"),
    ],
)
def test_mistakes(content: str | bytes, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match=re.escape(message)):
        read(tmp_path, content, **options)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match="cannot be read: No such file"):
        read_table(tmp_path / "none.csv")


def test_crlf_after_a_byte_order_mark(tmp_path: Path) -> None:
    table = read(tmp_path, "\ufeffa,b\r\n1,2\r\n".encode())
    assert (table.names, table.rows) == (("a", "b"), [["1", "2"]])


def test_quoted_cells_may_have_anything(tmp_path: Path) -> None:
    table = read(tmp_path, '"a, b",c\n"x\ny",1\n"say ""hi""",2\n')
    assert table.names == ("a, b", "c")
    assert table.rows == [["x\ny", "1"], ['say "hi"', "2"]]


def test_measurements_are_read_where_columns_need_not_be_discrete(tmp_path: Path) -> None:
    content = "a,b\n" + "".join(f"{i / 7},x\n" for i in range(40))
    with pytest.raises(ParsimonError, match="the column 'a' has 40 distinct numbers"):
        read(tmp_path, content)
    assert len(read(tmp_path, content, discrete=False).rows) == 40


@pytest.mark.parametrize("first", ["0.5,-1.2,ill", "1,0,ill", "1e-3,b,c", "-1,2,3"])
def test_a_table_without_names(tmp_path: Path, first: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{first}\n1,2,well\n")
    with pytest.raises(
        ParsimonError, match=r"line 1: there is the number .* where the name of a column should be"
    ):
        read_table(path, discrete=False)
    with pytest.raises(ParsimonError, match="or read the table with header=False"):
        read_table(path)
    assert read_table(path, header=False, discrete=False).names == ("x1", "x2", "x3")


def test_numbers_that_count_columns_are_names(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("0,1,10,label\n5,3,2,a\n")
    assert read_table(path, discrete=False).names == ("0", "1", "10", "label")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b;c,d\n1,2;3,4\n5,6;7,8\n", ("a", "b;c", "d")),
        ("a;b;c,d\n1;2;3\n5;6;7,0\n", ("a", "b", "c,d")),
        ('"a;b",c\n1,2\n', ("a;b", "c")),
    ],
)
def test_of_several_separators_the_one_that_makes_a_table(
    tmp_path: Path, text: str, names: tuple[str, ...]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    assert read_table(path).names == names


@pytest.mark.parametrize("rest", ['\n"' * 60_000, "'" * 60_000, ',"' * 60_000])
def test_quotes_do_not_make_detection_slow(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"a,b;c\n{rest}")
    with pytest.raises(ParsimonError, match=r"line \d+: |no rows"):
        read_table(path)


def test_many_columns(tmp_path: Path) -> None:
    names = [f"c{j}" for j in range(50_000)]
    path = tmp_path / "table.csv"
    path.write_text(f"{','.join(names)}\n{','.join('1' for _ in names)}\n")
    assert len(read_table(path).names) == len(names)


def test_columns_can_be_left_out_before_anything_is_missing(tmp_path: Path) -> None:
    content = "a,b,c\n1,,x\n2,3,?\n"
    assert read(tmp_path, content, drop=["b"], missing="drop") == CsvTable(("a", "c"), [["1", "x"]], 1)
    assert read(tmp_path, content, drop=["b"], missing="state").rows == [["1", "x"], ["2", None]]
    with pytest.raises(ParsimonError, match="there is no column 'd' to drop"):
        read(tmp_path, content, drop=["d"])
    with pytest.raises(ParsimonError, match=r"line 3: 2 cells, but line 1 has 3"):
        read(tmp_path, "a,b,c\n1,2,3\n1,2\n", drop=["b"])


def test_only_columns_that_are_cut_become_numbers(tmp_path: Path) -> None:
    content = "few,many,word\n1,1,a\n2,?,b\n1,3.5,c\n2,4,d\n"
    assert read(tmp_path, content, bins=2, missing="state").rows == [
        ["1", 1.0, "a"],
        ["2", None, "b"],
        ["1", 3.5, "c"],
        ["2", 4.0, "d"],
    ]
