"""Markdown tables, and replacing the marked blocks of a page."""

from __future__ import annotations

from pathlib import Path

from parsimon.report.markdown import replace_blocks, table


def test_a_table_is_padded_and_numbers_are_on_the_right() -> None:
    assert table(["what", "n"], [["words", "1,200"], ["a", "7"]]) == (
        "| what  |     n |\n| ----- | ----: |\n| words | 1,200 |\n| a     |     7 |\n"
    )


def test_a_table_without_rows_is_its_head() -> None:
    assert table(["what", "n"], []) == "| what |  n |\n| ---- | -: |\n"


def test_blocks_are_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# é\n<!-- begin:a -->\nold\nlines\n<!-- end:a -->\ntext\n<!-- begin:b -->\n<!-- end:b -->\n"
    )
    assert replace_blocks(page, {"a": r"new \1 line", "c": "nowhere"}) == ["c"]
    assert page.read_text(encoding="utf-8") == (
        "# é\n<!-- begin:a -->\n\nnew \\1 line\n<!-- end:a -->\ntext\n<!-- begin:b -->\n<!-- end:b -->\n"
    )
    before = page.read_text(encoding="utf-8")
    assert replace_blocks(page, {"a": r"new \1 line"}) == []
    assert page.read_text(encoding="utf-8") == before
