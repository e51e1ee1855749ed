"""The registry of kinds of models: the name, the package and the command line module of each."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from parsimon.errors import ParsimonError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from parsimon.forms import Form

    Header: TypeAlias = dict[str, Any]  # plain JSON
    Tensors: TypeAlias = dict[str, NDArray[Any]]  # arrays of a model file, by name


class ModelFile(Protocol):
    """The module `file` of a kind, which converts its models."""

    def take_apart(self, model: Any) -> tuple[Header, Tensors]:
        """The header of a model file, and all arrays except the weights."""
        ...

    def put_together(self, header: Header, tensors: Tensors) -> Any:
        """The model from its header and arrays; an error if they are invalid."""
        ...


@dataclass(frozen=True)
class Registered:
    """Where a kind of model is implemented. Modules are imported on first use."""

    name: str  # its name in model files and commands
    folder: str  # the package whose module `file` converts models to files and back
    command: str  # the module with `KIND`, for the command line
    summary: str  # a description in a few words

    @property
    def file(self) -> ModelFile:
        """The conversion of its models to files and back."""
        module: Any = import_module(f"{self.folder}.file")
        converter: ModelFile = module
        return converter

    @property
    def info(self) -> Mapping[str, Form]:
        """What its models record about their training, besides what all do: `INFO` of its `file`, if it has one."""
        forms: Mapping[str, Form] = getattr(self.file, "INFO", {})
        return forms


_KINDS: dict[str, Registered] = {}


def register(name: str, folder: str, command: str, summary: str) -> None:
    """Registers a kind of model for model files and for the command line."""
    _KINDS[name] = Registered(name, folder, command, summary)


def kinds() -> list[Registered]:
    """All registered kinds, in the order of registration."""
    return list(_KINDS.values())


def find_kind(name: str) -> Registered | None:
    """A kind by its name, or None. Installed packages can register kinds as entry points ``parsimon.kinds``."""
    if name not in _KINDS:
        from importlib.metadata import entry_points

        for point in entry_points(group="parsimon.kinds", name=name):
            point.load()()
    return _KINDS.get(name)


def get_kind(name: str) -> Registered:
    """A kind by its name; an error if there is none."""
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
