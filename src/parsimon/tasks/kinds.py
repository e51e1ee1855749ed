"""The kinds of models, each registered once: its name, the folder that knows it, and the module of its commands."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from parsimon.errors import ParsimonError


@dataclass(frozen=True)
class Registered:
    """Where a kind of model is at home. Nothing is imported before it is needed."""

    name: str  # what model files and commands call it
    folder: str  # the package with `file`, which takes models apart and puts them together
    command: str  # the module whose `KIND` the command line uses
    summary: str  # what it is, in a few words

    @property
    def file(self) -> Any:
        """`take_apart(model) -> (header, tensors)` and `put_together(header, tensors) -> model`."""
        return import_module(f"{self.folder}.file")


_KINDS: dict[str, Registered] = {}


def register(name: str, folder: str, command: str, summary: str) -> None:
    """Makes a kind of model known: to model files, and to the command line."""
    _KINDS[name] = Registered(name, folder, command, summary)


def kinds() -> list[Registered]:
    """All that are known, in the order in which they were registered."""
    return list(_KINDS.values())


def find_kind(name: str) -> Registered | None:
    """A kind by its name; those that installed packages offer (entry points ``parsimon.kinds``) are known, too."""
    if name not in _KINDS:
        from importlib.metadata import entry_points

        for point in entry_points(group="parsimon.kinds", name=name):
            point.load()()
    return _KINDS.get(name)


def get_kind(name: str) -> Registered:
    """A kind that must be there."""
    found = find_kind(name)
    if found is None:
        raise ParsimonError(f"there is no kind of model called {name!r}; choose from {', '.join(_KINDS)}.")
    return found


for _name, _folder, _summary in (
    ("sequence", "sequences", "A labeller of sequences."),
    ("tree", "trees", "A labeller of trees."),
    ("page", "pages", "A reader of the records on web pages."),
    ("document", "documents", "A document classifier."),
    ("parser", "parsing", "A dependency parser."),
    ("network", "networks", "A Markov network of the columns of a table."),
    ("matrix", "matrices", "A classifier or regressor of rows, with groups of columns."),
):
    register(_name, f"parsimon.tasks.{_folder}", f"parsimon.cli.kinds.{_folder}", _summary)
