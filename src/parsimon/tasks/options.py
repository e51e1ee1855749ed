"""Options, each declared once: trainings and estimators have them as fields, the command line makes its flags of them.

A new option is a field of one of the classes here (or in a task's `options.py`) and the line that uses it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from parsimon.errors import ParsimonError
from parsimon.solvers.registry import SOLVERS

if TYPE_CHECKING:
    from parsimon.penalties import Penalty
    from parsimon.selection import Selection
    from parsimon.solvers import Event, Solver

    Callback: TypeAlias = Callable[[Event], Any] | Sequence[Callable[[Event], Any]] | None

# Headings of help pages, in their order.
FILES, LEARNING, CHOOSING, GROWING = "Files", "What to learn", "Which templates to keep", "Growing"
SENTENCES, WORDS = "Which sentences matter", "Words"
STOPPING, SAFETY, RUNNING, READING = "How long", "Safety", "Running", "Reading"
SECTIONS = (FILES, LEARNING, SENTENCES, WORDS, CHOOSING, GROWING, STOPPING, SAFETY, RUNNING, READING)

INTEGER, NUMBER, TEXT, SWITCH, SIZE, FILE = "integer", "number", "text", "switch", "size", "file"


@dataclass(frozen=True)
class Option:
    """What there is to know of an option besides its name and its default."""

    help: str
    section: str
    kind: str = TEXT
    choices: tuple[str, ...] | None = None
    least: float | None = None  # the smallest value
    above: float | None = None  # all values are larger
    most: float | None = None  # the largest value
    metavar: str | None = None
    shown: str | None = None  # the default in words, where the value would not tell
    flags: tuple[str, ...] = ()  # on the command line, if not --its-name
    flag_value: Any = None  # what the flag means where it is named without a value
    from_python_only: bool = False  # an object, for which the command line has flags of its own
    lasting: bool = True  # a run that is resumed must keep it

    def check(self, name: str, value: Any) -> None:
        """Refuses a value that cannot be meant."""
        if value is None or self.kind not in (INTEGER, NUMBER):
            return
        whole = self.kind == INTEGER
        known = isinstance(value, int | float) or hasattr(value, "__float__")
        if (
            not known
            or isinstance(value, bool)
            or not math.isfinite(value)
            or (whole and value != int(value))
        ):
            raise ParsimonError(f"{name} must be {self.wanted}, not {value!r}.")
        if (
            (self.least is not None and value < self.least)
            or (self.above is not None and value <= self.above)
            or (self.most is not None and value > self.most)
        ):
            raise ParsimonError(f"{name} must be {self.wanted}, not {value!r}.")

    @property
    def wanted(self) -> str:
        """What values are right, in words."""
        noun = "a whole number" if self.kind == INTEGER else "a number"
        if self.least is not None and self.most is not None:
            return f"{noun} from {_short(self.least)} to {_short(self.most)}"
        if self.above is not None:
            upper = "" if self.most is None else f" and up to {_short(self.most)}"
            return f"{noun} above {_short(self.above)}{upper}"
        return noun if self.least is None else f"{noun}, {_short(self.least)} or more"


def _short(number: float) -> str:
    return "zero" if number == 0 else f"{number:g}"


def option(default: Any, help: str, section: str, *, positional: bool = False, **more: Any) -> Any:
    """A field with an option's default and description."""
    described = Option(help, section, **more)
    return field(default=default, kw_only=not positional, metadata={"option": described})


def changed(base: type, name: str, default: Any, *, positional: bool = False, **more: Any) -> Any:
    """The field of a base class with another default, and what else is different."""
    known = options_of(base)[name]
    return field(default=default, kw_only=not positional, metadata={"option": replace(known, **more)})


def options_of(kind: type) -> dict[str, Option]:
    """The options that a class has, by name."""
    return {each.name: each.metadata["option"] for each in fields(kind) if "option" in each.metadata}


def values_of(kind: type, source: Any) -> dict[str, Any]:
    """The fields of a class, as far as another object has them."""
    return {
        each.name: getattr(source, each.name)
        for each in fields(kind)
        if each.init and hasattr(source, each.name)
    }


# --- What all kinds of models have ----------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False, repr=False)
class TrainingOptions:
    """Limits, safety and threads: the same for every kind of model."""

    solver: str | Solver = option(
        "auto",
        "The algorithm: 'auto' takes the first that fits the loss and the penalty; 'mira', 'sgd' and 'sgd-l1' learn "
        "online; 'frank-wolfe' and 'one-slack' are for the hinge loss with L2, 'cutting-plane', 'em' and "
        "'projected-subgradient' for the hinge loss with L1.",
        STOPPING,
        choices=("auto", *SOLVERS),
        metavar="NAME",
        lasting=False,
    )
    tol: float | None = option(
        None,
        "Stop when the optimality conditions hold to this fraction of their violation at zero weights.",
        STOPPING,
        kind=NUMBER,
        above=0,
        shown="1e-5",
        lasting=False,
    )
    max_iter: int | None = option(
        None,
        "Stop after N iterations, or epochs of online learning.",
        STOPPING,
        kind=INTEGER,
        least=1,
        metavar="N",
        lasting=False,
    )
    time_limit: float | None = option(
        None,
        "Stop after this time.",
        STOPPING,
        kind=NUMBER,
        above=0,
        metavar="SECONDS",
        lasting=False,
    )
    checkpoint: str | Path | None = option(
        None,
        "The file that keeps what has been learned so far. The command line removes it when the model is written.",
        SAFETY,
        kind=FILE,
        metavar="FILE",
        shown="MODEL.ckpt",
        lasting=False,
    )
    checkpoint_every: float = option(
        30.0,
        "How often to write the checkpoint; 0 for never.",
        SAFETY,
        kind=NUMBER,
        least=0,
        metavar="SECONDS",
        lasting=False,
    )
    resume: bool = option(
        False,
        "Go on from the checkpoint of the same training, which was killed or interrupted.",
        SAFETY,
        kind=SWITCH,
        lasting=False,
    )
    n_jobs: int | None = option(
        None,
        "Threads; -1 for all processors. The result is the same for any number of them.",
        RUNNING,
        kind=INTEGER,
        metavar="N",
        flags=("-j", "--n-jobs"),
        lasting=False,
    )
    memory: int | str | None = option(
        None,
        "Use no more memory than this, for instance 4G; what needs more is refused.",
        RUNNING,
        kind=SIZE,
        metavar="SIZE",
        lasting=False,
    )
    random_state: Any = option(
        0,
        "The seed of everything random: the order of online learning, folds, halves.",
        RUNNING,
        kind=INTEGER,
        metavar="N",
        lasting=False,
    )
    verbose: int = option(
        0,
        "Say every few seconds how training goes, in plain lines on standard error.",
        RUNNING,
        kind=SWITCH,
        flags=("-v", "--verbose"),
        lasting=False,
    )
    callback: Callback = option(
        None,
        "Called with every training event; one function, or several.",
        RUNNING,
        from_python_only=True,
        lasting=False,
    )

    def check(self) -> None:
        """Refuses values that cannot be meant, in one sentence."""
        for name, each in options_of(type(self)).items():
            if name != "random_state":
                each.check(name, getattr(self, name))
            given = getattr(self, name)
            if each.choices is not None and isinstance(given, str) and given not in each.choices:
                raise ParsimonError(f"{name} must be one of {', '.join(each.choices)}, not {given!r}.")
        threads_of(self.n_jobs)

    @property
    def n_threads(self) -> int:
        """How many threads `n_jobs` means."""
        return threads_of(self.n_jobs)

    @property
    def seed(self) -> int:
        """The seed that `random_state` means."""
        given = self.random_state
        if given is None or isinstance(given, int) or hasattr(given, "__index__"):
            return int(given or 0)
        return int(given.randint(2**31 - 1))  # numpy's RandomState, as scikit-learn has it

    @property
    def callbacks(self) -> tuple[Callable[[Event], Any], ...]:
        """What is called with every event."""
        if self.callback is None:
            return ()
        return tuple(self.callback) if isinstance(self.callback, Sequence) else (self.callback,)


@dataclass(kw_only=True, eq=False, repr=False)
class DevelopmentOptions:
    """What development data are for: the kinds of models that predict labels or trees have them."""

    patience: int = option(
        10,
        "Stop when N scores on the development data in a row were no better than the best.",
        STOPPING,
        kind=INTEGER,
        least=1,
        metavar="N",
        lasting=False,
    )
    dev_tolerance: float = option(
        0.0,
        "Of models within this of the best score on the development data (0.002: a fifth of a per cent), keep the "
        "smallest.",
        STOPPING,
        kind=NUMBER,
        least=0,
        lasting=False,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PruningOptions:
    """What is done to the weights in the end."""

    prune: float = option(
        0.0,
        "At the end, drop weights below this share of the root mean square of all that are not zero. Online learners "
        "leave many behind that they have touched once: after 'mira', 1 costs no accuracy.",
        LEARNING,
        kind=NUMBER,
        least=0,
        metavar="SHARE",
        lasting=False,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class SelectionOptions:
    """A first stage, which chooses templates."""

    selection: Selection | None = option(
        None,
        "A first stage that chooses templates, for instance Sparseptron(budget=30). All other options apply to the "
        "second stage.",
        CHOOSING,
        from_python_only=True,
    )
    cutoff: int = option(
        1, "Leave out attributes that occur less than N times.", LEARNING, kind=INTEGER, least=1, metavar="N"
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PenaltyOptions:
    """An elastic net, or a penalty of one's own."""

    l1: float = option(0.0, "L1 strength: the larger, the fewer features.", LEARNING, kind=NUMBER, least=0)
    l2: float = option(0.0, "L2 strength.", LEARNING, kind=NUMBER, least=0)
    penalty: Penalty | None = option(
        None,
        "Takes the place of l1 and l2; for instance GroupLasso(5.0), which drops whole templates.",
        LEARNING,
        from_python_only=True,
    )

    @property
    def chosen_penalty(self) -> Penalty:
        """The penalty, before it knows the features."""
        if self.penalty is not None:
            return self.penalty
        from parsimon.penalties import ElasticNet

        return ElasticNet(l1=self.l1, l2=self.l2)


def threads_of(n_jobs: int | None) -> int:
    """One for ``None``; all processors for −1, all but one for −2, and so on."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or int(n_jobs) == 0:
        raise ParsimonError(
            f"n_jobs must be a whole number and not 0, but it is {n_jobs!r}; use 1 for one thread or -1 for all "
            "processors."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, available_processors() + 1 + int(n_jobs))


def available_processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
