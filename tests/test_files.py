"""Files are read within limits, and written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon import files
from parsimon.errors import ParsimonError
from parsimon.files import bounded_lines, read_page_file, read_text_file, write_atomically, write_file


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_file_and_its_folder_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"before")

    def fail(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="not a regular file"):
        write_atomically(tmp_path, b"")


def test_a_failure_is_explained_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        ParsimonError, match=r"a cannot be written: No such file or directory; nothing was changed\.$"
    ):
        write_file(tmp_path / "nowhere" / "a", b"")
    write_file(tmp_path / "a", b"x")
    assert (tmp_path / "a").read_bytes() == b"x"


@given(st.lists(st.binary(min_size=1, max_size=9).map(lambda b: b.replace(b"x", b"\n")), max_size=8))
def test_lines_are_as_long_as_they_are_however_they_come(blocks: list[bytes]) -> None:
    text = b"".join(blocks)
    lines = text.split(b"\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "LONGEST_LINE", 10)
        if max(map(len, lines)) <= 10:
            assert b"".join(bounded_lines(blocks, "it")) == text
        else:
            number = next(i for i, line in enumerate(lines, start=1) if len(line) > 10)
            with pytest.raises(
                ParsimonError, match=f"^it, line {number}: the line is longer than 10 bytes; is this"
            ):
                list(bounded_lines(blocks, "it"))


def test_a_line_without_an_end_is_not_read_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE", 5_000_000)
    with pytest.raises(ParsimonError, match=r"/dev/zero, line 1: the line is longer than 4.77 MB"):
        read_text_file("/dev/zero")
    path = tmp_path / "a"
    path.write_bytes(b"one\ntwo")
    assert read_text_file(path) == read_page_file(path) == b"one\ntwo"
    monkeypatch.setattr(files, "LARGEST_WHOLE", 5)
    with pytest.raises(ParsimonError, match="a is larger than 5 bytes, which is too much for one page"):
        read_page_file(path)
