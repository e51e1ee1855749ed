"""Files are read within limits, and written whole or not at all, where links point and for whom they were for."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon import files
from parsimon.errors import ParsimonError
from parsimon.files import (
    bounded_lines,
    probe,
    read_page_file,
    read_text_file,
    replaced,
    write_all,
    write_atomically,
    write_file,
)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError, OSError])
def test_a_failure_leaves_the_file_and_its_folder_as_they_were(
    failure: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"before")

    def fail(*_: Any) -> None:
        raise failure

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(failure):
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


# ---- permissions and links -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666, 0o755])
def test_permissions_stay(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch()
    path.chmod(mode)
    write_atomically(path, b"secret")
    assert mode_of(path) == mode


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "a") == 0o640


def test_nobody_else_can_read_a_secret_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch()
    path.chmod(0o600)
    with replaced(path) as file:
        assert stat.S_IMODE(os.fstat(file).st_mode) == 0o600


def test_what_a_link_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link, chain = tmp_path / "there" / "a", tmp_path / "link", tmp_path / "chain"
    target.write_bytes(b"before")
    link.symlink_to(Path("there") / "a")
    chain.symlink_to(link)
    write_atomically(chain, b"after")
    assert (chain.is_symlink(), link.is_symlink(), target.is_symlink()) == (True, True, False)
    assert target.read_bytes() == b"after"
    assert list((tmp_path / "there").iterdir()) == [target]


def test_a_link_to_what_is_not_there_yet_makes_it(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_links_that_go_round_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        write_atomically(tmp_path / "a", b"")
    assert (tmp_path / "a").is_symlink()


# ---- what killed writers leave behind ------------------------------------------------------------------------


def test_the_next_writer_removes_what_a_killed_one_left_behind(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from parsimon.files import replaced\n"
        "with replaced(Path(sys.argv[1])) as file: os.write(file, b'half'); os.kill(os.getpid(), 9)"
    )
    path = tmp_path / "a"
    assert subprocess.run([sys.executable, "-c", script, path], check=False).returncode == -9
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".a.")
    assert left.read_bytes() == b"half"
    write_atomically(tmp_path / "b", b"")  # another file
    assert left.exists()
    write_atomically(path, b"whole")
    assert {each.name for each in tmp_path.iterdir()} == {"a", "b"}


def test_what_a_live_writer_writes_stays(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with replaced(path) as file:
        os.write(file, b"slow")
        write_atomically(path, b"quick")
        assert path.read_bytes() == b"quick"
        os.write(file, b" one")
    assert path.read_bytes() == b"slow one"
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_that_was_taken_for_dead_before_it_had_its_lock_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lock, taken = tmp_path / "a", files._lock, []

    def late(file: int, *, wait: bool) -> bool:
        if wait and not taken:
            taken.append(next(tmp_path.iterdir()))
            taken[0].unlink()
        return lock(file, wait=wait)

    monkeypatch.setattr(files, "_lock", late)
    write_atomically(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_only_temporary_files_of_the_same_file_are_removed(tmp_path: Path) -> None:
    others = [
        ".a",
        ".a.tmp",
        ".a.12345678",
        ".a.1234567g.tmp",
        ".b.12345678.tmp",
        ".a.12345678.tmp.bak",
        "a.ckpt",
    ]
    for name in [*others, ".a.12345678.tmp"]:
        (tmp_path / name).touch()
    write_atomically(tmp_path / "a", b"")
    assert {each.name for each in tmp_path.iterdir()} == {"a", *others}


def test_many_writers_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a"
    failures: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for _ in range(20):
                write_atomically(path, b"%d" % number * 1000)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert path.read_bytes() in [b"%d" % number * 1000 for number in range(4)]
    assert list(tmp_path.iterdir()) == [path]


def test_long_names(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    write_atomically(path, b"long")
    assert path.read_bytes() == b"long"
    assert list(tmp_path.iterdir()) == [path]


def test_whether_a_file_could_be_written(tmp_path: Path) -> None:
    probe(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="No such file or directory"):
        probe(tmp_path / "nowhere" / "a")


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
