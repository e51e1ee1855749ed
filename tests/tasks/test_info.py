"""What models say about their training: right for every kind as trained, and refused with any wrong type."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from damaged_headers import changed
from every_kind import EXAMPLES, Example
from parsimon.cli import program
from parsimon.errors import ParsimonError
from parsimon.tasks.info import SHARED, checked_info
from parsimon.tasks.kinds import get_kind
from parsimon.tasks.model_file import dump_model, load_model, parse_model

WRONG: list[Any] = [-1, 1.5, True, "a\nb\ud800", math.inf, 10**400, [1], {"a": 1}]


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda example: example.kind)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A model of a kind, as the command line trains it."""
    example: Example = request.param
    folder = tmp_path_factory.mktemp(example.kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        example.write(folder)
        result = CliRunner().invoke(program, [*example.arguments("-q", "-j", "1")])
        assert result.exit_code == 0, result.output
        return load_model(Path("a.model"))


def test_all_that_a_training_records_is_declared(model: Any) -> None:
    assert set(model.info) <= set(SHARED) | set(get_kind(model.kind).info)


def test_wrong_types_are_refused_or_nobody_minds(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.model"
    for name in model.info:
        for wrong in WRONG:
            path.write_bytes(changed(model, lambda header, _, n=name, w=wrong: header["info"].update({n: w})))  # type: ignore[misc]
            try:
                load_model(path)
            except ParsimonError as error:
                if not str(error).isprintable():
                    raise AssertionError(name, wrong) from error
                continue
            for options in (["--history"], ["--json"]):
                result = CliRunner().invoke(program, ["inspect", str(path), *options])
                assert result.exit_code == 0, (name, wrong, result.output, result.exception)


def test_nothing_of_it_need_be_there(model: Any, tmp_path: Path) -> None:
    for kept in ([], *([name] for name in model.info)):
        path = tmp_path / "a.model"
        path.write_bytes(dump_model(replace(model, info={name: model.info[name] for name in kept})))
        result = CliRunner().invoke(program, ["inspect", str(path), "--history"])
        assert result.exit_code == 0, (kept, result.output, result.exception)


def test_no_info_at_all_is_damage(model: Any) -> None:
    for wrong in (None, [], "text", 1):
        with pytest.raises(ParsimonError, match=r"is damaged \(info is"):
            parse_model(changed(model, lambda header, _, w=wrong: header.update(info=w)))  # type: ignore[misc]
    with pytest.raises(ParsimonError, match=r"is damaged \('info'\)"):
        parse_model(changed(model, lambda header, _: header.pop("info")))


def test_what_nobody_declared_is_kept_if_it_is_plain(model: Any) -> None:
    own = {"remark": {"by": ["me", 1.5, None]}}
    assert parse_model(dump_model(replace(model, info={**model.info, **own}))).info["remark"] == own["remark"]
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    for wrong in (deep, {"a": "\ud800"}):
        with pytest.raises(ParsimonError, match=r"cannot be written: info\.remark"):
            dump_model(replace(model, info={"remark": wrong}))


def test_numbers_that_are_not_finite_are_left_out_on_writing(model: Any) -> None:
    info = {"objective": math.nan, "kkt": math.inf, "gap": -math.inf}
    assert parse_model(dump_model(replace(model, info=info))).info == dict.fromkeys(info)


def test_wrong_types_are_refused_on_writing(model: Any) -> None:
    with pytest.raises(ParsimonError, match=r"cannot be written: info.status is 1, not a text\.$"):
        dump_model(replace(model, info={"status": 1}))


def test_a_history_has_numbers() -> None:
    event = {"iteration": 1, "objective": 2.5, "active": 3}
    assert checked_info({"history": [event]}, {}) == {"history": [event]}
    for change in (
        {"iteration": -1},
        {"objective": "1"},
        {"active": None},
        {"phase": "a\nb"},
        {"dev": math.nan},
    ):
        with pytest.raises(ValueError, match=r"info.history\[0\]\.\w+ is"):
            checked_info({"history": [{**event, **change}]}, {})
    with pytest.raises(ValueError, match=r"info.history\[0\] lacks active"):
        checked_info({"history": [json.loads('{"iteration": 1, "objective": 2}')]}, {})
