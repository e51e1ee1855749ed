"""What a kind of model is to the command line: one object a kind, which the commands ask.

A kind says which options training has (they come from its training's own options) and what `predict`, `evaluate`,
`inspect` and `explain` do with its models. What it does not name among its options is refused by the commands, in one
sentence that says which kinds have it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from parsimon.cli.options import Asked, asked, flags_by_name
from parsimon.errors import ParsimonError
from parsimon.tasks.kinds import find_kind, get_kind, kinds
from parsimon.tasks.options import options_of

if TYPE_CHECKING:
    from parsimon.report.model_page import Part
    from parsimon.tasks.training import Described, Training


Model = TypeVar("Model", bound="Described")
Data = TypeVar("Data")


@dataclass(frozen=True)
class Plan(Generic[Data, Model]):
    """A training that is ready to begin: everything that can be refused before any work has been."""

    training: Training[Data, Model]
    read: Callable[[str], Data]  # data from a file or directory; those to learn from are read first
    development: Callable[[Data], Any] = lambda data: data  # of data that were read, what training takes
    start: Model | None = None  # a model to start from
    complete: Callable[[Model], Model] = lambda model: model  # a model with what it must know of files


@dataclass(frozen=True)
class Inspected:
    """What `inspect` shows."""

    size: Mapping[str, Any]  # numbers: how much of what was kept
    details: Mapping[str, Any]  # lists and tables, for JSON
    text: str


@dataclass(frozen=True)
class Evaluated:
    """What `evaluate` shows."""

    scores: Mapping[str, Any]  # numbers; fractions
    details: Mapping[str, Any]  # by label, by type, …
    text: str

    @classmethod
    def split(cls, record: Mapping[str, Any], text: str) -> Evaluated:
        """Numbers are scores, all else is details."""
        scores = {name: value for name, value in record.items() if isinstance(value, int | float)}
        return cls(scores, {name: value for name, value in record.items() if name not in scores}, text)


@dataclass(frozen=True)
class ModelPage:
    """What a model's page shows."""

    facts: list[tuple[str, str]]
    parts: list[Part] = field(default_factory=list)
    template: str | None = None  # the one that was asked for, as the model has it


class Kind(ABC, Generic[Model]):
    """A kind of model, for the commands."""

    name: ClassVar[str]
    noun: ClassVar[str]  # with its article: "a document model"
    # --- train
    options: ClassVar[type]  # a dataclass of options, which the training has as well
    flags: ClassVar[Sequence[Any]] = ()  # options of the command line alone
    source: ClassVar[str] = "TRAIN"  # what the data are called
    help: ClassVar[str]
    examples: ClassVar[str] = ""
    needs_model_file: ClassVar[bool] = True
    has_development: ClassVar[bool] = True
    score_name: ClassVar[str] = ""  # of development data, with a blank behind it
    # --- names of options of the other commands
    predicts: ClassVar[frozenset[str]] = frozenset()
    evaluates: ClassVar[frozenset[str]] = frozenset()
    inspects: ClassVar[frozenset[str]] = frozenset()
    explains: ClassVar[frozenset[str]] = frozenset()

    # --- train ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def plan(self, job: Asked) -> Plan[Any, Model]:
        """What `train` will do; refuses what cannot work."""

    def known(self, job: Asked) -> dict[str, Any]:
        """The options of its training that the command line has flags for."""
        return {name: job[name] for name in options_of(self.options) if name in job.values}

    @abstractmethod
    def size(self, model: Model) -> dict[str, Any]:
        """How much of what a model has kept, in numbers."""

    @abstractmethod
    def size_facts(self, size: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The same for people."""

    def model_facts(self, model: Model) -> list[tuple[str, str]]:
        """What else a training has found out."""
        return []

    def also_read(self, job: Asked) -> list[str]:
        """Files that training reads besides its data; they must not be overwritten."""
        return []

    def also_written(self, job: Asked) -> dict[str, Path]:
        """Files that training writes besides the model, by what they are."""
        return {}

    def write_more(self, job: Asked, model: Model) -> None:
        """Writes them; most kinds have none."""

    def more_text(self, job: Asked, model: Model) -> str:
        """What the summary of a training says besides."""
        return ""

    # --- use ------------------------------------------------------------------------------------------------------

    def predict(self, model: Model, job: Asked) -> None:
        """Predictions for the input, written to the output."""
        raise ParsimonError(f"{job.model} is {self.noun}, which has no labels to predict.")

    def evaluate(self, model: Model, job: Asked) -> Evaluated:
        """Scores on labelled data."""
        raise ParsimonError(f"{job.model} is {self.noun}, which has no labels to compare.")

    @abstractmethod
    def inspect(self, model: Model, job: Asked) -> Inspected:
        """What is in a model."""

    def page(self, model: Model, job: Asked) -> ModelPage:
        """The same for a page."""
        raise NotImplementedError

    def explain(self, model: Model, job: Asked) -> None:
        """Why a model predicts what it does."""
        raise ParsimonError(
            f"{job.model} is {self.noun}; explain is for {listed([k.noun for k in all_kinds() if k.explains])}."
        )

    def check_options(
        self, job: Asked, command: str, everywhere: frozenset[str], flags: Mapping[str, str]
    ) -> None:
        """Refuses options that were given and that this kind does not have."""
        has: Callable[[Kind[Any]], frozenset[str]] = lambda kind: getattr(kind, f"{command}s")  # noqa: E731
        for name in sorted(job.given - everywhere - has(self)):
            able = [kind.noun for kind in all_kinds() if name in has(kind)]
            raise ParsimonError(
                f"{job.model} is {self.noun}, and {flags[name]} is for {listed(able)}; leave it out."
            )


def kind_named(name: str) -> Kind[Any]:
    """The kind with a name."""
    kind: Kind[Any] = import_module(get_kind(name).command).KIND
    return kind


def asked_of_model(
    values: Mapping[str, Any], command: str, everywhere: frozenset[str]
) -> tuple[Kind[Any], Any, Asked]:
    """What a command was asked for, with its model and the model's kind, which must have the options given.

    `everywhere` are the options that all kinds have.
    """
    from parsimon.tasks.model_file import load_model

    job = asked(values)
    model = load_model(job.model)
    kind = kind_named(model.kind)
    kind.check_options(job, command, everywhere, flags_by_name())
    return kind, model, job


def all_kinds() -> list[Kind[Any]]:
    """All kinds that are known."""
    return [kind_named(each.name) for each in kinds()]


def is_kind(name: str) -> bool:
    """Whether there is a kind with this name."""
    return find_kind(name) is not None


def listed(nouns: Sequence[str]) -> str:
    """One or the other."""
    *most, last = nouns or ["no kind of model"]
    return f"{', '.join(most)} or {last}" if most else last
