"""Files are written whole or not at all."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsimon.errors import ParsimonError
from parsimon.files import write_all, write_atomically, write_file


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


class Reluctant(io.RawIOBase):
    """Takes at most three bytes at a time, as long as `takes` allows."""

    def __init__(self, takes: Callable[[int], int | None]) -> None:
        self.content, self.takes = b"", takes

    def writable(self) -> bool:
        return True

    def write(self, content: Any, /) -> int | None:
        taken = self.takes(len(self.content))
        self.content += bytes(content[: taken or 0])
        return taken


def test_streams_that_take_a_part_at_a_time_get_all_of_it() -> None:
    stream: Any = Reluctant(lambda so_far: 3 if so_far < 9 else 1)
    write_all(stream, b"one two three")
    assert stream.content == b"one two three"


def test_a_stream_that_takes_nothing_is_no_success() -> None:
    def full(so_far: int) -> int:
        if so_far >= 6:
            raise OSError(28, "No space left on device")
        return 3

    with pytest.raises(OSError, match="No space"):
        write_all(Reluctant(full), b"one two three")  # type: ignore[arg-type]
    with pytest.raises(BlockingIOError):
        write_all(Reluctant(lambda _: None), b"one two three")  # type: ignore[arg-type]


def test_streams_that_do_not_count_are_believed() -> None:
    class Silent:
        content = b""

        def write(self, content: Any) -> None:
            self.content += bytes(content)

    stream: Any = Silent()
    write_all(stream, b"one two three")
    assert stream.content == b"one two three"
