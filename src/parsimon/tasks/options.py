"""Options, each declared once. Trainings and estimators inherit them as fields; the command line makes flags of them.

To add an option, add a field to one of the classes here or in the `options.py` of a task, and use it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from parsimon.errors import ParsimonError
from parsimon.magnitudes import LARGEST
from parsimon.memory import LARGEST_SIZE, parse_size
from parsimon.solvers.registry import SOLVERS

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from numpy.random import RandomState

    from parsimon.penalties import Penalty
    from parsimon.selection import Selection
    from parsimon.solvers import Event, Solver

    Callback: TypeAlias = Callable[[Event], object] | Sequence[Callable[[Event], object]] | None

# The headings of help pages, in order.
FILES, LEARNING, CHOOSING, GROWING = "Files", "What to learn", "Which templates to keep", "Growing"
SENTENCES, WORDS, TUNING = "Which sentences matter", "Words", "How strong"
STOPPING, SAFETY, RUNNING, READING = "How long", "Safety", "Running", "Reading"
SECTIONS = (FILES, LEARNING, TUNING, SENTENCES, WORDS, CHOOSING, GROWING, STOPPING, SAFETY, RUNNING, READING)

MOST_THREADS = 1024
DTYPES = ("float64", "float32", "float16", "int8")  # of weights in a model file
# What options that may be objects must have, whatever their classes.
ABILITIES = {
    "solver": "iterate",
    "penalty": "bind",
    "loss": "bind",
    "selection": "select",
    "growth": "schedule",
    "reader": "read",
}

INTEGER, NUMBER, TEXT, SWITCH, SIZE, FILE = "integer", "number", "text", "switch", "size", "file"
KINDS = {
    "int": INTEGER,
    "float": NUMBER,
    "bool": SWITCH,
}  # by the annotation of an option; all others are texts


@dataclass(frozen=True)
class Option:
    """The description of an option, apart from its name and its default."""

    help: str
    section: str
    kind: str = ""  # what the annotation says, if nothing else is said
    choices: tuple[str, ...] | None = None
    least: float | None = None  # the smallest valid value
    above: float | None = None  # an exclusive lower bound
    most: float | None = None  # the largest valid value
    metavar: str | None = None
    shown: str | None = None  # the default in words, where its value would not explain it
    flags: tuple[str, ...] = ()  # on the command line, if not --its-name
    flag_value: Any = None  # the value if the flag is given without one
    from_python_only: bool = False  # the command line has no flag for it, or several of its own
    lasting: bool = True  # a resumed run must have the same value

    def typed(self, annotation: str) -> Option:
        """The same with the kind that the annotation of the field says; whole numbers are called N."""
        kind = self.kind or KINDS.get(annotation.removesuffix(" | None"), TEXT)
        metavar = "N" if kind == INTEGER and self.metavar is None else self.metavar
        return replace(self, kind=kind, metavar=metavar)

    def check(self, name: str, value: object) -> None:
        """Refuses an invalid value in one sentence."""
        if value is None:
            return
        right = True
        if self.kind in (INTEGER, NUMBER):
            number = Integral if self.kind == INTEGER else Real
            right = (
                not isinstance(value, bool) and isinstance(value, number) and self._allows(_as_float(value))
            )
            if right and abs(_as_float(value)) > LARGEST:
                raise ParsimonError(
                    f"{name} must be {self.wanted}, and {LARGEST:g} at most, not {excerpt(value)}."
                )
        elif self.kind == SWITCH:
            right = type(value).__name__ in ("bool", "bool_") or (
                isinstance(value, Integral) and 0 <= int(value) <= (self.most or 1)
            )
        elif self.kind == FILE:
            right = isinstance(value, str | Path)
        elif self.kind == SIZE and isinstance(value, str):
            parse_size(value)  # refuses the value by itself
        elif self.kind == SIZE:
            right = (
                not isinstance(value, bool) and isinstance(value, Integral) and 0 < int(value) < LARGEST_SIZE
            )
        if not right:
            raise ParsimonError(f"{name} must be {self.wanted}, not {excerpt(value)}.")

    def _allows(self, value: float) -> bool:
        return (
            math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
        )

    @property
    def wanted(self) -> str:
        """The valid values, in words."""
        if self.kind in (SWITCH, FILE, SIZE):
            return {
                SWITCH: "True or False",
                FILE: "the path of a file",
                SIZE: "a number of bytes above zero, or a size such as 500M or 4G",
            }[self.kind]
        noun = "a whole number" if self.kind == INTEGER else "a number"
        if self.least is not None and self.most is not None:
            return f"{noun} from {_short(self.least)} to {_short(self.most)}"
        if self.above is not None:
            upper = "" if self.most is None else f" and up to {_short(self.most)}"
            return f"{noun} above {_short(self.above)}{upper}"
        return noun if self.least is None else f"{noun}, {_short(self.least)} or more"


def excerpt(value: object) -> str:
    """A wrong value, short enough for a sentence in one line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # a whole number with thousands of digits
        return "such a long number"
    except RecursionError:
        return "something so deep"
    return text if len(text) <= 60 else f"{text[:60]}…"


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of more than 300 digits
        return math.inf


def _short(number: float) -> str:
    return "zero" if number == 0 else f"{number:g}"


def option(default: Any, help: str, section: str, *, positional: bool = False, **more: Any) -> Any:
    """A dataclass field that is an option. If it is about how a training runs, a resumed run may have another value."""
    described = Option(help, section, **{"lasting": section not in (STOPPING, SAFETY, RUNNING), **more})
    return field(default=default, kw_only=not positional, metadata={"option": described})


def changed(base: type, name: str, default: Any, *, positional: bool = False, **more: Any) -> Any:
    """An option of a base class with another default, and other details as given."""
    known = options_of(base)[name]
    return field(default=default, kw_only=not positional, metadata={"option": replace(known, **more)})


def options_of(kind: type) -> dict[str, Option]:
    """The options of a class, by name."""
    return {
        each.name: each.metadata["option"].typed(getattr(each.type, "__name__", str(each.type)))
        for each in fields(kind)
        if "option" in each.metadata
    }


def values_of(kind: type, source: DataclassInstance) -> dict[str, Any]:
    """The values of all fields of a class that another object has as fields or class variables."""
    known = source.__dataclass_fields__
    return {
        each.name: getattr(source, each.name) for each in fields(kind) if each.init and each.name in known
    }


# --- Options of all kinds of models ---------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False, repr=False)
class TrainingOptions:
    """Limits, checkpoints and threads."""

    solver: str | Solver = option(
        "auto",
        "The optimisation algorithm. 'auto' takes the first that suits the loss and the penalty. 'mira', 'sgd' and "
        "'sgd-l1' learn online. 'frank-wolfe' and 'one-slack' are for the hinge loss with L2; 'cutting-plane', 'em' "
        "and 'projected-subgradient' are for the hinge loss with L1.",
        STOPPING,
        choices=("auto", *SOLVERS),
        metavar="NAME",
    )
    tol: float | None = option(
        None,
        "Stop when the objective is within this share of the optimum, and no feature violates its optimality condition "
        "by more than 100 times this share of the strength.",
        STOPPING,
        above=0,
        shown="the solver's, mostly 1e-4",
    )
    max_iter: int | None = option(
        None, "Stop after N iterations, or N epochs of online learning.", STOPPING, least=1
    )
    time_limit: float | None = option(
        None, "Stop after this time and keep the best model so far.", STOPPING, above=0, metavar="SECONDS"
    )
    checkpoint: str | Path | None = option(
        None,
        "The file in which to save progress, to resume from. The command line deletes it after writing the model.",
        SAFETY,
        kind=FILE,
        metavar="FILE",
        shown="MODEL.ckpt",
    )
    checkpoint_every: float = option(
        30.0, "The time between two checkpoints; 0 for none during a fit.", SAFETY, least=0, metavar="SECONDS"
    )
    resume: bool = option(
        False, "Resume the same training from its checkpoint, after it was killed or interrupted.", SAFETY
    )
    n_jobs: int | None = option(
        None,
        "Number of threads; -1 for all processors. The result does not depend on it.",
        RUNNING,
        flags=("-j", "--n-jobs"),
    )
    memory: int | str | None = option(
        None,
        "Memory limit, for instance 4G. A training that needs more ends with an error.",
        RUNNING,
        kind=SIZE,
        metavar="SIZE",
    )
    random_state: int | RandomState | None = option(
        0,
        "The seed of all random choices: the order of instances in online learning, folds, random halves.",
        RUNNING,
        kind=INTEGER,
        metavar="N",
    )
    verbose: int = option(
        0,
        "Print progress to standard error every few seconds.",
        RUNNING,
        kind=SWITCH,
        most=100,
        flags=("-v", "--verbose"),
    )
    callback: Callback = option(
        None,
        "A function that is called with every training event, or a list of functions.",
        RUNNING,
        from_python_only=True,
    )

    def check(self) -> None:
        """Refuses invalid values in one sentence."""
        annotations = {each.name: each.type for each in fields(self)}
        for name, each in options_of(type(self)).items():
            given = getattr(self, name)
            optional = "None" in str(annotations[name])
            if given is None and not optional and each.kind != TEXT:
                raise ParsimonError(f"{name} must be {each.wanted}, not None.")
            if name != "random_state":
                each.check(name, given)
            if each.choices is not None and (given is not None or not optional):
                names_only = annotations[name] in ("str", "str | None")  # and no objects
                if given not in each.choices if isinstance(given, str) else names_only:
                    raise ParsimonError(
                        f"{name} must be one of {', '.join(each.choices)}, not {excerpt(given)}."
                    )
            if given is not None or not optional:
                _check_object(name, given, each)
        if not all(map(callable, self.callbacks)):
            raise ParsimonError(
                f"callback must be a function or a list of functions, not {excerpt(self.callback)}."
            )
        threads_of(self.n_jobs)
        _check_random_state(self.random_state)

    @property
    def limit_is_method(self) -> bool:
        """Whether a limit of iterations is part of the method, so that reaching it is a proper end."""
        return False

    @property
    def n_threads(self) -> int:
        """The number of threads that `n_jobs` stands for."""
        return threads_of(self.n_jobs)

    @property
    def seed(self) -> int:
        """The seed that `random_state` stands for; from a `RandomState`, a new one every time."""
        given = self.random_state
        _check_random_state(given)
        if given is None or isinstance(given, Integral):
            return int(given or 0)
        assert not isinstance(given, int)
        return int(given.randint(2**31 - 1))

    @property
    def callbacks(self) -> tuple[Callable[[Event], object], ...]:
        """The functions to call with every event."""
        if self.callback is None:
            return ()
        return tuple(self.callback) if isinstance(self.callback, Sequence) else (self.callback,)


@dataclass(kw_only=True, eq=False, repr=False)
class DevelopmentOptions:
    """Early stopping on development data."""

    patience: int = option(
        10, "Stop after N scores in a row on the development data without improvement.", STOPPING, least=1
    )
    dev_tolerance: float = option(
        0.0,
        "Keep the smallest model whose score on the development data is within this distance of the best score. Scores "
        "are fractions, so 0.002 is a fifth of a per cent.",
        STOPPING,
        least=0,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class TuningOptions:
    """How strengths choose themselves."""

    tune: bool | None = option(
        None,
        "Choose the strengths that are not given: along a path of them, by the score on the development data, or by "
        "folds of the training data if there are no others.",
        TUNING,
        flags=("--tune/--no-tune",),
        shown="only for documents, if no strength is given",
    )
    folds: int = option(
        5, "The number of folds that choose the strengths if there are no development data.", TUNING, least=2
    )
    tune_rule: str = option(
        "best",
        "Which strengths to choose: those with the 'best' score, of equals the smallest model; or of all within one "
        "standard error of it ('one-standard-error') those with the smallest model.",
        TUNING,
        choices=("best", "one-standard-error"),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PruningOptions:
    """Pruning after training."""

    prune: float = option(
        0.0,
        "After training, drop weights smaller than this share of the root mean square of the non-zero weights. Online "
        "learners leave many small weights behind: after 'mira', a share of 1 made chunkers five times smaller at the "
        "same F1, but cost a Danish parser 0.4 points of UAS.",
        LEARNING,
        least=0,
        metavar="SHARE",
        lasting=False,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SelectionOptions:
    """A first stage that selects templates or features."""

    selection: Selection | None = option(
        None,
        "A first stage that selects templates, for instance Sparseptron(budget=30). All other options apply to the "
        "second stage.",
        CHOOSING,
        from_python_only=True,
    )
    keep: str = option(
        "auto",
        "What a selection leaves to the second stage: the 'features' that have a weight when the first stage ends, as "
        "published, or all features of the 'templates' that it has chosen. 'auto' keeps features for online learners, "
        "if the selection has weights at all, and templates for all others.",
        CHOOSING,
        choices=("auto", "features", "templates"),
    )
    cutoff: int = option(1, "Leave out attributes that occur fewer than N times.", LEARNING, least=1)


@dataclass(kw_only=True, eq=False, repr=False)
class PenaltyOptions:
    """An elastic net, or any other penalty."""

    l1: float = option(0.0, "L1 strength: the larger, the fewer features.", LEARNING, least=0)
    l2: float = option(0.0, "L2 strength.", LEARNING, least=0)
    penalty: Penalty | None = option(
        None,
        "A penalty to use in place of l1 and l2, for instance GroupLasso(5.0), which drops whole templates.",
        LEARNING,
        from_python_only=True,
    )

    @property
    def chosen_penalty(self) -> Penalty:
        """The penalty, before it is bound to the features."""
        if self.penalty is not None:
            return self.penalty
        from parsimon.penalties import ElasticNet

        return ElasticNet(l1=self.l1, l2=self.l2)


def threads_of(n_jobs: int | None) -> int:
    """The number of threads: 1 for ``None``; for −1 all processors, for −2 all but one, and so on."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, SupportsIndex) or int(n_jobs) == 0:
        raise ParsimonError(
            f"n_jobs must be a whole number and not 0, but it is {n_jobs!r}; use 1 for one thread or -1 for all "
            "processors."
        )
    if int(n_jobs) > MOST_THREADS:
        raise ParsimonError(
            f"n_jobs is {n_jobs}; give {MOST_THREADS} threads at most, or -1 for all processors."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, available_processors() + 1 + int(n_jobs))


def _check_object(name: str, given: object, described: Option) -> None:
    """Refuses what is neither a name nor an object that does the work, such as a class in place of an instance."""
    if name not in ABILITIES or (isinstance(given, str) and described.choices is not None):
        return
    if isinstance(given, type) or not hasattr(given, ABILITIES[name]):
        names = "" if described.choices is None else f"one of {', '.join(described.choices)}, or "
        raise ParsimonError(
            f"{name} must be {names}an object that has {ABILITIES[name]!r}, not {excerpt(given)}."
        )


def _check_random_state(given: object) -> None:
    """Refuses anything that gives no seed. A `RandomState` is not imported, as numpy is too heavy for a help page."""
    if given is None or type(given).__name__ == "RandomState":
        return
    if isinstance(given, bool) or not isinstance(given, Integral) or int(given) < 0:
        raise ParsimonError(
            f"random_state must be a whole number, zero or more, or a numpy RandomState, not {given!r}."
        )


def available_processors() -> int:
    """The number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
