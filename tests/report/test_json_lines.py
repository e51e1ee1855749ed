"""The training log."""

from __future__ import annotations

import json
import math

import pytest

from parsimon.errors import ParsimonError
from parsimon.report.json_lines import JsonLines
from parsimon.solvers.base import Event


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_lines_are_there_at_once(tmp_path):
    log = JsonLines(tmp_path / "log")
    log.start(l1=0.5)
    assert read(tmp_path / "log") == [{"event": "start", "l1": 0.5}]
    log(Event(3, 1.5, 12.0, 7, 4, kkt=0.1))
    (_, line) = read(tmp_path / "log")
    assert (line["event"], line["iteration"], line["kkt"], line["dev"]) == ("iteration", 3, 0.1, None)
    log.end(status="converged")
    log.close()
    assert read(tmp_path / "log")[-1] == {"event": "end", "status": "converged"}


def test_infinity_is_null_as_json_has_none(tmp_path):
    log = JsonLines(tmp_path / "log")
    log(Event(0, 0.0, math.inf, 0, 1, gap=math.inf))
    log.close()
    assert "Infinity" not in (tmp_path / "log").read_text()
    (line,) = read(tmp_path / "log")
    assert (line["objective"], line["gap"]) == (None, None)


def test_a_log_is_begun_anew_or_continued(tmp_path):
    path = tmp_path / "log"
    for append, lines in ((False, 1), (True, 2), (False, 1)):
        log = JsonLines(path, append=append)
        log.start()
        log.close()
        assert len(read(path)) == lines


def test_a_line_that_was_broken_off_does_not_spoil_the_next(tmp_path):
    (tmp_path / "log").write_text('{"event": "start"}\n{"event": "itera')
    log = JsonLines(tmp_path / "log", append=True)
    log.start(resumed=True)
    log.close()
    first, broken, last = (tmp_path / "log").read_text().splitlines()
    assert broken == '{"event": "itera'
    assert json.loads(first)["event"] == json.loads(last)["event"] == "start"


def test_a_full_disk_is_refused_at_the_start(tmp_path):
    log = JsonLines("/dev/full")
    with pytest.raises(ParsimonError, match="/dev/full cannot be written: No space left"):
        log.start()
    with pytest.raises(ParsimonError, match="cannot be written"):
        JsonLines(tmp_path / "no" / "log")


def test_a_disk_that_fills_up_later_ends_the_log_only(tmp_path):
    log = JsonLines("/dev/full")
    log(Event(0, 0.0, 1.0, 0, 1))
    log.end()
    log.close()
    assert log.failure == "No space left on device"
