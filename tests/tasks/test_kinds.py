"""The registry of kinds of models: each has a name, a home, commands, options, a training and a model."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import parsimon.tasks
from parsimon.cli.kind import Kind
from parsimon.errors import ParsimonError
from parsimon.tasks import kinds as module
from parsimon.tasks.kinds import Registered, find_kind, get_kind, kinds, register
from parsimon.tasks.options import TrainingOptions
from parsimon.tasks.training import Training

NAMES = ["sequence", "tree", "page", "document", "parser", "network", "matrix"]
every = pytest.mark.parametrize("name", NAMES)


def defined_in(place: ModuleType, base: type) -> list[type]:
    """The classes that a module defines itself and that inherit this one."""
    mine = (
        each for each in vars(place).values() if isinstance(each, type) and each.__module__ == place.__name__
    )
    return [each for each in mine if issubclass(each, base)]


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KINDS", dict(module._KINDS))


def test_all_folders_are_registered() -> None:
    assert [each.name for each in kinds()][: len(NAMES)] == NAMES
    root = Path(str(parsimon.tasks.__file__)).parent
    folders = {each.parent.name for each in root.glob("*/file.py")}
    assert {each.folder.removeprefix("parsimon.tasks.") for each in map(get_kind, NAMES)} == folders


@every
def test_a_kind_has_all_that_a_kind_has(name: str) -> None:
    kind = get_kind(name)
    assert kind.name == name
    assert kind.summary.endswith(".")
    assert callable(kind.file.take_apart)
    assert callable(kind.file.put_together)
    options = defined_in(import_module(f"{kind.folder}.options"), TrainingOptions)
    trainings = defined_in(import_module(f"{kind.folder}.training"), Training)
    own = [each for each in trainings if getattr(each, "kind", None) == name]
    assert len(own) == 1
    assert any(issubclass(own[0], each) for each in options)
    models = [
        each
        for each in vars(import_module(f"{kind.folder}.model")).values()
        if isinstance(each, type) and vars(each).get("kind") == name
    ]
    assert len(models) == 1
    command: Any = import_module(kind.command).KIND
    assert isinstance(command, Kind)
    assert command.name == name


def test_a_kind_can_be_added() -> None:
    register("new", "parsimon.tasks.documents", "parsimon.cli.kinds.documents", "A new one.")
    new = get_kind("new")
    assert new == Registered("new", "parsimon.tasks.documents", "parsimon.cli.kinds.documents", "A new one.")
    assert kinds()[-1] is new
    assert new.file is import_module("parsimon.tasks.documents.file")


def test_a_kind_can_be_replaced_in_its_place() -> None:
    register("tree", "parsimon.tasks.pages", "parsimon.cli.kinds.pages", "Another.")
    assert [each.name for each in kinds()] == NAMES
    assert get_kind("tree").summary == "Another."


def test_names_that_are_not_there() -> None:
    assert find_kind("nothing") is None
    with pytest.raises(
        ParsimonError, match="there is no kind of model called 'nothing'; choose from sequence, tree"
    ):
        get_kind("nothing")


def test_kinds_of_installed_packages_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        def load(self) -> Any:
            return lambda: register("theirs", "their.folder", "their.command", "Theirs.")

    asked: list[dict[str, str]] = []

    def entry_points(**which: str) -> list[Point]:
        asked.append(which)
        return [Point()] if which["name"] == "theirs" else []

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    assert get_kind("theirs").folder == "their.folder"
    assert find_kind("another") is None
    assert asked == [
        {"group": "parsimon.kinds", "name": "theirs"},
        {"group": "parsimon.kinds", "name": "another"},
    ]
    get_kind("theirs")
    get_kind("sequence")
    assert len(asked) == 2


def test_the_registry_is_light() -> None:
    code = "import sys, parsimon.tasks.kinds as k; k.kinds(); sys.exit(bool({'numpy', 'click'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@every
def test_a_kind_declares_what_its_models_say_of_their_training(name: str) -> None:
    assert get_kind(name).info
    assert all(callable(form) for form in get_kind(name).info.values())
