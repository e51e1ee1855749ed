"""What all estimators share: parameters, files, pickles and progress."""

from __future__ import annotations

import re
import sys
import textwrap
import time
import warnings
from dataclasses import fields
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from parsimon.arrays import Array
from parsimon.errors import ParsimonError
from parsimon.report.progress import ProgressLines
from parsimon.report.time_left import TimeLeft
from parsimon.solvers import Status
from parsimon.tasks.model_file import dump_model, load_model, parse_model, save_model
from parsimon.tasks.options import SECTIONS, Option, TrainingOptions, values_of
from parsimon.tasks.training import Trained, Training

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator as Base
else:

    class Base:
        """In the place of scikit-learn's `BaseEstimator` until there is an estimator: importing it takes a second."""


Class = TypeVar("Class", bound=type)
WIDTH = 100
PACKAGE = str(Path(__file__).parents[1])


class Estimator(Base):
    """An estimator that is fitted once it has a `model_`.

    It is a dataclass whose fields are its parameters. Most of them are inherited from the options of its training. A
    pickle contains the model file, which has no code in it. From the first one that is made on, all are estimators of
    scikit-learn.
    """

    training_class: ClassVar[type[Training[Any, Any]]]
    model_class: ClassVar[type[Any]]

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """An estimator of scikit-learn."""
        if Base in Estimator.__bases__:
            _join_scikit_learn()
        made: Self = super().__new__(cls)
        return made

    # ---- training ------------------------------------------------------------------------------------------------

    def _training(self, **more: Any) -> Any:
        """The training with the parameters of the estimator; `more` replaces some of them."""
        options = self._options
        options.check()
        return self.training_class(**{**values_of(self.training_class, options), **more})

    @property
    def _options(self) -> TrainingOptions:
        assert isinstance(self, TrainingOptions)
        return self

    def _watched_training(self) -> tuple[Any, ProgressLines | None]:
        """The training and, if `verbose` is set, the object that prints its progress."""
        if not self._options.verbose:
            return self._training(), None
        left = TimeLeft(self._options.time_limit)
        watch = ProgressLines(sys.stderr, began=time.perf_counter(), time_left=left)
        return self._training(callback=(*self._options.callbacks, watch)), watch

    def _fit(self, data: Any, *, dev: Any = None, start: Any = None) -> Trained[Any]:
        training, watch = self._watched_training()
        trained: Trained[Any] = training.run(data, dev=dev, start=start, watch=watch)
        self._learnt(trained.model)
        return trained

    def _learnt(self, model: Any) -> None:
        """Takes the model of a fit that has ended, and warns if it might have become a better one."""
        self._take(model)
        options, why = self._options, None
        if self.status_ == Status.ITERATIONS.value and not options.limit_is_method:
            why, what = f"after {options.max_iter} iterations", "max_iter"
        elif self.status_ == Status.TIME.value:
            why, what = f"at its time limit of {options.time_limit:g} s", "time_limit"
        if why is not None:
            from sklearn.exceptions import ConvergenceWarning

            gap = model.info.get("gap")
            far = "" if gap is None else f": the objective may be {gap:.2g} above it"
            warnings.warn(
                f"{type(self).__name__} is not at its optimum {why}{far}; increase {what} or tol.",
                ConvergenceWarning,
                stacklevel=_level_of_user(),
            )

    def _take(self, model: Any) -> None:
        """Sets the fitted model and the attributes that follow from it. Subclasses set more."""
        self.model_ = model
        self.objective_ = model.info.get("objective")
        self.status_ = model.info.get("status")
        self.kkt_ = model.info.get("kkt")
        self.history_ = model.info.get("history", [])
        self.n_iter_ = model.info.get(
            "iterations", len(self.history_)
        )  # the history is thinned out if it is long

    # ---- the fitted model ----------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def _fitted(self) -> Any:
        if "model_" not in vars(self):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first.")
        return self.model_

    @property
    def coef_(self) -> Array:
        """The weights that are not zero."""
        weights: Array = self._fitted().weights
        return weights

    # ---- files ---------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, dtype: str = "float64") -> None:
        """Writes the model file that `load` and the command line read."""
        save_model(self._fitted(), path, dtype=dtype)

    @classmethod
    def load(cls, path: str | Path, **parameters: Any) -> Self:
        """A fitted estimator from a model file. `parameters` are parameters of the constructor."""
        model = load_model(path, cls.model_class)
        estimator = cls(**{**cls._settings_of(model), **parameters})
        estimator._take(model)
        return estimator

    @classmethod
    def _settings_of(cls, model: Any) -> dict[str, Any]:
        """The parameters that follow from a model."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = dump_model(state["model_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = state.get("model_")
        if isinstance(model, bytes):
            state = {**state, "model_": parse_model(model, kind=self.model_class)}
        super().__setstate__(state)


def _join_scikit_learn() -> None:
    """Makes `BaseEstimator` the base of all estimators, with what it does for each of its subclasses."""
    from sklearn.base import BaseEstimator

    Estimator.__bases__ = (BaseEstimator,)
    classes: list[Any] = Estimator.__subclasses__()
    for each in classes:
        super(Estimator, each).__init_subclass__()
        classes += each.__subclasses__()


def check_pair(dev: Any) -> None:
    """Refuses development data that are not a pair."""
    if dev is not None and not (
        isinstance(dev, tuple | list) and len(dev) == 2 and all(each is not None for each in dev)
    ):
        raise ParsimonError("dev must be a pair (X, y) of development data.")


def _level_of_user() -> int:
    """The stack level of the first caller outside of this package, whose line a warning is about."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


# --- Parameters in docstrings -----------------------------------------------------------------------------------


def documented(estimator: Class) -> Class:
    """Adds a section `Parameters` with the descriptions of all options to the docstring of a class."""
    lines = ["Parameters", "----------"]
    options = [(each, each.metadata["option"]) for each in fields(estimator) if "option" in each.metadata]
    for each, described in sorted(options, key=lambda pair: SECTIONS.index(pair[1].section)):
        lines.append(f"{each.name} : {_type_text(str(each.type), described)}")
        lines += textwrap.wrap(
            described.help, WIDTH - 8, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
        )
    section = "\n".join(lines) + "\n\n"
    text = cleandoc(estimator.__doc__ or "") + "\n"  # Python 3.13 takes the indentation away by itself
    place = re.search(r"^(Attributes|Examples)\n-+\n", text, re.MULTILINE)
    before, after = (text, "") if place is None else (text[: place.start()], text[place.start() :])
    estimator.__doc__ = f"{before.rstrip()}\n\n{section}{after}"
    return estimator


def _type_text(annotation: str, described: Option) -> str:
    """The type of a parameter in words: its choices, if there are any, and other types of its annotation."""
    if described.choices is None:
        return annotation.replace(" | ", " or ")
    others = [part for part in annotation.split(" | ") if part != "str"]
    return " or ".join(["{" + ", ".join(f'"{choice}"' for choice in described.choices) + "}", *others])
