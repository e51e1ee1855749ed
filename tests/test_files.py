"""Files are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsimon.errors import ParsimonError
from parsimon.files import write_atomically, write_file


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
