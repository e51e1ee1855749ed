"""Options are declared once: trainings, estimators, docstrings and the command line have the same."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import parsimon.estimators as estimators
from parsimon.cli.options import ALL_PROCESSORS, flags_of
from parsimon.errors import ParsimonError
from parsimon.estimators.estimator import Estimator
from parsimon.penalties import L1, ElasticNet
from parsimon.tasks.kinds import get_kind
from parsimon.tasks.options import (
    FILE,
    INTEGER,
    NUMBER,
    SECTIONS,
    SIZE,
    SWITCH,
    TEXT,
    DevelopmentOptions,
    Option,
    PenaltyOptions,
    PruningOptions,
    TrainingOptions,
    available_processors,
    changed,
    option,
    options_of,
    threads_of,
    values_of,
)

NAMES = ("sequence", "tree", "document", "parser", "network", "matrix")
ESTIMATORS = {
    "sequence": ["SequenceLabeler"],
    "tree": ["TreeLabeler"],
    "document": ["DocumentClassifier"],
    "parser": ["DependencyParser"],
    "network": ["MarkovNetwork"],
    "matrix": ["OverlappingGroupLassoClassifier", "OverlappingGroupLassoRegressor"],
}
every = pytest.mark.parametrize("name", NAMES)
# An estimator takes what suits its scikit-learn users: these defaults are its own, each for a reason in its docstring.
OWN_DEFAULTS = {("tree", "dev_metric"), ("matrix", "loss")}


def training_of(name: str) -> type[Any]:
    return estimators_of(name)[0].training_class


def estimators_of(name: str) -> list[type[Estimator]]:
    return [getattr(estimators, each) for each in ESTIMATORS[name]]


def flags(name: str) -> dict[str, click.Option]:
    kind = import_module(get_kind(name).command).KIND

    def command() -> None: ...

    for add in flags_of(kind.options):
        command = add(command)
    return {each.name: each for each in command.__click_params__}  # type: ignore[attr-defined]


def defaults(kind: type[Any]) -> dict[str, Any]:
    return {each.name: each.default for each in fields(kind) if "option" in each.metadata}


# ---- declared once -----------------------------------------------------------------------------------------


@every
def test_every_option_of_a_training_is_a_parameter_of_its_estimators(name: str) -> None:
    training = training_of(name)
    for estimator in estimators_of(name):
        there = estimator().get_params(deep=False)
        for each, default in defaults(training).items():
            if (name, each) == ("matrix", "penalty"):
                continue  # takes the place of alpha and groups, which are what these estimators are about
            assert each in there, f"{estimator.__name__} has no {each}"
            if (name, each) not in OWN_DEFAULTS:
                assert there[each] == default, each
            here, known = options_of(estimator)[each], options_of(training)[each]
            assert (here.section, here.kind, here.least, here.most, here.above, here.lasting) == (
                known.section,
                known.kind,
                known.least,
                known.most,
                known.above,
                known.lasting,
            )
            assert set(here.choices or ()) <= set(known.choices or ())


@every
def test_a_training_of_an_estimator_has_its_parameters(name: str) -> None:
    for estimator in estimators_of(name):
        changed_by = {"max_iter": 7, "n_jobs": 2, "solver": "fista", "time_limit": 3.0}
        training = estimator(**changed_by)._training()
        for each, value in changed_by.items():
            assert getattr(training, each) == value


@every
def test_every_option_is_a_flag_with_the_same_default(name: str) -> None:
    kind = import_module(get_kind(name).command).KIND
    options, there = options_of(kind.options), flags(name)
    assert set(there) == {each for each, what in options.items() if not what.from_python_only}
    for each, flag in there.items():
        described, default = options[each], defaults(kind.options)[each]
        assert flag.help == described.help
        if each == "n_jobs":
            assert flag.default == ALL_PROCESSORS
        elif described.kind == SWITCH and default is None:
            assert flag.default is None
        elif default is None:
            assert flag.default is None or "UNSET" in repr(flag.default)
        else:
            assert flag.default == default
        dashed = f"--{each.replace('_', '-')}"
        assert described.flags or dashed in flag.opts
        if described.choices is not None:
            assert isinstance(flag.type, click.Choice)
            assert tuple(flag.type.choices) == described.choices


@every
def test_options_of_commands_are_those_of_the_training(name: str) -> None:
    kind = import_module(get_kind(name).command).KIND
    assert issubclass(training_of(name), kind.options)


@every
def test_every_option_is_described_in_one_way(name: str) -> None:
    training = training_of(name)
    default = defaults(training)
    for each, described in options_of(training).items():
        assert described.help.endswith("."), each
        assert "\n" not in described.help
        assert described.help[0].isupper() or described.help[0] == "'", each
        assert described.section in SECTIONS
        assert described.kind in (TEXT, INTEGER, NUMBER, SWITCH, SIZE, FILE)
        assert default[each] is not MISSING, each
        if isinstance(default[each], str) and described.choices is not None:
            assert default[each] in described.choices, each
        described.check(each, default[each])


@every
def test_docstrings_of_estimators_have_every_parameter(name: str) -> None:
    for estimator in estimators_of(name):
        text = " ".join(str(estimator.__doc__).split())
        for each in estimator().get_params(deep=False):
            assert f" {each} : " in text
        for described in options_of(estimator).values():
            assert " ".join(described.help.split()) in text


@every
def test_options_load_nothing_heavy(name: str) -> None:
    code = f"import sys, {get_kind(name).folder}.options; sys.exit(bool({{'numpy', 'sklearn'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---- checks ------------------------------------------------------------------------------------------------

WRONG = {
    INTEGER: [
        "3",
        2.5,
        3.0,
        np.float64(3.0),
        math.nan,
        math.inf,
        True,
        [],
        np.array([1, 2]),
        np.float64(0.5),
        1j,
    ],
    NUMBER: ["3", math.nan, math.inf, -math.inf, False, [1.0], np.array([1.0, 2.0]), 1j],
    SWITCH: ["yes", 1.5, [], ()],
    SIZE: ["much", "", "-1G", 0, -1, 1.5, True, []],
    FILE: [3, True, [], b"run"],
}


@every
def test_wrong_values_are_refused_in_one_sentence(name: str) -> None:
    training = training_of(name)
    for each, described in options_of(training).items():
        wrong = list(WRONG.get(described.kind, []))
        wrong += [] if described.least is None else [described.least - 1]
        wrong += [] if described.above is None else [described.above]
        wrong += [] if described.most is None else [described.most + 1]
        wrong += [] if described.choices is None else ["none of these", ""]
        if each == "random_state":
            wrong = ["seed", 1.5, -1, True, np.random.default_rng(0)]
        for value in wrong:
            with pytest.raises(ParsimonError) as error:
                training(**{each: value}).check()
            text = str(error.value).replace(repr(value), "")
            assert "\n" not in text
            assert text.endswith(".")
            assert text.count(". ") == 0
            assert each in text or "is not a size" in text


@every
def test_right_values_of_all_types_are_taken(name: str) -> None:
    training = training_of(name)
    for each, described in options_of(training).items():
        low = 1 if described.least is None else described.least
        low = low if described.above is None else described.above + 0.5
        right = {
            INTEGER: [int(low), np.int32(low)],
            NUMBER: [low, np.float32(low)],
            SWITCH: [True, False, 1, 0, np.bool_(True)],
            SIZE: ["4G", "100 MB", 1 << 40, np.int64(1 << 40)],
            FILE: ["run", Path("run")],
        }.get(described.kind, list(described.choices or ()))
        if each in ("stopping", "group_weight", "groups"):
            continue  # go with other options only
        for value in right:
            training(**{each: value}).check()


@pytest.mark.parametrize(
    ("described", "wanted"),
    [
        (Option("", "", INTEGER), "a whole number"),
        (Option("", "", NUMBER), "a number"),
        (Option("", "", INTEGER, least=2), "a whole number, 2 or more"),
        (Option("", "", NUMBER, least=0), "a number, zero or more"),
        (Option("", "", NUMBER, above=0), "a number above zero"),
        (Option("", "", NUMBER, above=0, most=1), "a number above zero and up to 1"),
        (Option("", "", INTEGER, least=1, most=2), "a whole number from 1 to 2"),
        (Option("", "", SWITCH), "True or False"),
        (Option("", "", FILE), "the path of a file"),
        (Option("", "", SIZE), "a number of bytes above zero, or a size such as 500M or 4G"),
    ],
)
def test_what_is_wanted_in_words(described: Option, wanted: str) -> None:
    assert described.wanted == wanted
    with pytest.raises(ParsimonError, match=f"^it must be {wanted}, not "):
        described.check("it", b"?")


def test_nothing_is_always_allowed_and_texts_are_not_looked_at() -> None:
    for kind in (TEXT, INTEGER, NUMBER, SWITCH, SIZE, FILE):
        Option("", "", kind).check("it", None)
    Option("", "", TEXT).check("it", object())


def test_an_object_where_only_names_will_do() -> None:
    @dataclass(kw_only=True)
    class Colours(TrainingOptions):
        name: str = option("red", "A colour.", "Files", choices=("red", "blue"))
        thing: str | L1 = option("red", "A colour or a penalty.", "Files", choices=("red", "blue"))

    Colours(name="blue", thing=L1(1.0)).check()
    for wrong in (5, L1(1.0), "green"):
        with pytest.raises(ParsimonError, match="name must be one of red, blue, not"):
            Colours(name=wrong).check()  # type: ignore[arg-type]


# ---- fields ------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Base(TrainingOptions):
    size: int = option(3, "The size.", "Files", kind=INTEGER, least=1, lasting=False)
    plain: str = "no option"


@dataclass
class Derived(Base):
    size: int = changed(Base, "size", 5, positional=True, help="Another size.", most=9)


def test_an_option_can_be_changed_in_some_ways_and_not_in_others() -> None:
    was, now = options_of(Base)["size"], options_of(Derived)["size"]
    assert (Base().size, Derived().size, Derived(7).size) == (3, 5, 7)
    assert (now.help, now.most, now.least, now.section, now.lasting) == (
        "Another size.",
        9,
        1,
        "Files",
        False,
    )
    assert (was.help, was.most) == ("The size.", None)
    assert "plain" not in options_of(Base)
    with pytest.raises(TypeError):
        Base(7)  # type: ignore[misc]
    with pytest.raises(KeyError):
        changed(Base, "colour", 1)


def test_values_go_from_one_object_to_another() -> None:
    assert values_of(Base, Derived(7, tol=0.5)) == {**values_of(Base, Derived()), "size": 7, "tol": 0.5}
    assert "patience" not in values_of(DevelopmentOptions, Base())
    assert Base(**values_of(Base, Derived(7))).size == 7


def test_values_that_a_class_has_fixed_count_as_well() -> None:
    from parsimon.estimators import OverlappingGroupLassoClassifierCV
    from parsimon.tasks.matrices.training import MatrixTraining

    search = OverlappingGroupLassoClassifierCV(l1=0.5)
    assert "alpha" not in search.get_params()
    assert values_of(MatrixTraining, search)["alpha"] == 1.0


# ---- what options mean -------------------------------------------------------------------------------------


def test_threads() -> None:
    all_of_them = available_processors()
    assert [threads_of(n) for n in (None, 1, 3, -1, -all_of_them - 5)] == [1, 1, 3, all_of_them, 1]
    assert threads_of(np.int64(2)) == 2
    assert TrainingOptions(n_jobs=-2).n_threads == max(1, all_of_them - 1)
    for wrong in (0, 1.5, "2", True):
        with pytest.raises(ParsimonError, match="n_jobs must be a whole number and not 0"):
            threads_of(wrong)  # type: ignore[arg-type]


def test_seeds() -> None:
    assert [TrainingOptions(random_state=given).seed for given in (None, 0, 7, np.int32(5))] == [0, 0, 7, 5]
    drawn = TrainingOptions(random_state=np.random.RandomState(3)).seed
    assert drawn == np.random.RandomState(3).randint(2**31 - 1)
    with pytest.raises(ParsimonError, match="random_state must be a whole number, zero or more, or a numpy"):
        TrainingOptions(random_state=np.random.default_rng(0)).seed  # type: ignore[arg-type] # noqa: B018


def test_callbacks() -> None:
    assert TrainingOptions().callbacks == ()
    assert TrainingOptions(callback=print).callbacks == (print,)
    assert TrainingOptions(callback=[print, len]).callbacks == (print, len)
    for wrong in (3, "print", [print, 3]):
        with pytest.raises(ParsimonError, match="callback must be a function or a list of functions, not"):
            TrainingOptions(callback=wrong).check()  # type: ignore[arg-type]


def test_penalties() -> None:
    assert PenaltyOptions(l1=0.5, l2=0.25).chosen_penalty == ElasticNet(0.5, 0.25)
    assert PenaltyOptions(l1=0.5, penalty=L1(2.0)).chosen_penalty == L1(2.0)
    assert PruningOptions().prune == 0.0


# ---- values that no option can have, for every estimator -----------------------------------------------------

WRONG_NUMBERS = (
    -1,
    math.nan,
    math.inf,
    -math.inf,
    "x",
    1.5,
    None,
    True,
    10**400,
    10**5000,
    1e300,
    [1],
    np.float32(1.5),
)


def all_estimators() -> list[type[Any]]:
    return [kind for name in estimators.__all__ if issubclass(kind := getattr(estimators, name), Estimator)]


def refusal_of(options: Any) -> str:
    """Why options are refused; an empty text if they are not."""
    try:
        options.check()
    except ParsimonError as error:
        return str(error)
    return ""


def is_declared(described: Option, annotation: str, value: Any) -> bool:
    """Whether the declaration of a number or switch allows a value, worked out apart from `Option.check`."""
    if value is None:
        return "None" in annotation
    if isinstance(value, np.float32):
        value = float(value)
    if described.kind == SWITCH:
        return value is True
    if isinstance(value, bool | str | list) or not -1e50 <= float(min(value, 1e99)) <= 1e50:  # also NaN
        return False
    if described.kind in (INTEGER, SIZE) and not isinstance(value, int):
        return False
    if described.kind == SIZE:
        return value > 0
    bounds = (
        described.least is None or value >= described.least,
        described.above is None or value > described.above,
        described.most is None or value <= described.most,
    )
    return all(bounds)


@pytest.mark.parametrize("estimator", all_estimators(), ids=lambda kind: kind.__name__)
def test_numbers_are_accepted_by_the_declared_range_or_refused_in_one_sentence(estimator: type[Any]) -> None:
    annotations = {each.name: str(each.type) for each in fields(estimator)}
    for name, described in options_of(estimator).items():
        if described.kind not in (INTEGER, NUMBER, SWITCH, SIZE):
            continue
        for value in WRONG_NUMBERS:
            said = refusal_of(estimator(**{name: value}))
            assert "\n" not in said
            assert not said or said.endswith(".")
            if name in ("n_jobs", "random_state", "alpha_min_ratio"):  # checked by their own rules, below
                continue
            assert (not said) == is_declared(described, annotations[name], value), (name, said)
            assert not said or name in said or (name == "memory" and "is not a size" in said)


@pytest.mark.parametrize("value", [1.5, "x", 0, 10**9, 10**400, math.nan, True, [1]])
def test_impossible_numbers_of_threads(value: Any) -> None:
    for estimator in all_estimators():
        with pytest.raises(ParsimonError, match="n_jobs"):
            estimator(n_jobs=value).check()


@pytest.mark.parametrize("name", ["solver", "penalty", "loss", "selection", "growth", "reader"])
@pytest.mark.parametrize("value", [-1, math.nan, "no such name", True, [1], ElasticNet, None])
def test_options_that_are_objects_refuse_others(name: str, value: Any) -> None:
    for estimator in all_estimators():
        if name not in options_of(estimator):
            continue
        optional = "None" in {each.name: str(each.type) for each in fields(estimator)}[name]
        if value is None and optional:
            estimator(**{name: value}).check()
            continue
        with pytest.raises(ParsimonError, match=f"{name} must be") as error:
            estimator(**{name: value}).check()
        assert "\n" not in str(error.value)


def test_long_values_are_cut_short_in_messages() -> None:
    with pytest.raises(ParsimonError) as error:
        TrainingOptions(tol=list(range(1000))).check()  # type: ignore[arg-type]
    assert len(str(error.value)) < 150
    with pytest.raises(ParsimonError, match="not such a long number"):
        TrainingOptions(tol=10**5000).check()
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ParsimonError, match="not something so deep"):
        TrainingOptions(tol=deep).check()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("annotation", "kind", "metavar"),
    [
        (int, INTEGER, "N"),
        (int | None, INTEGER, "N"),
        ("int | None", INTEGER, "N"),
        ("float", NUMBER, None),
        ("bool | None", SWITCH, None),
        ("str", TEXT, None),
        ("float | str | None", TEXT, None),
    ],
)
def test_an_annotation_says_what_an_option_takes(annotation: Any, kind: str, metavar: str | None) -> None:
    made = dataclasses.make_dataclass("Made", [("it", annotation, option(None, "It.", "Files"))])
    assert (options_of(made)["it"].kind, options_of(made)["it"].metavar) == (kind, metavar)
    sized = dataclasses.make_dataclass(
        "Sized", [("it", annotation, option(None, "It.", "Files", kind=SIZE, metavar="S"))]
    )
    assert (options_of(sized)["it"].kind, options_of(sized)["it"].metavar) == (SIZE, "S")


@pytest.mark.parametrize(("section", "lasting"), [("How long", False), ("Files", True), ("Running", False)])
def test_options_about_how_a_training_runs_may_change_when_it_is_resumed(section: str, lasting: bool) -> None:
    made = dataclasses.make_dataclass(
        "Made",
        [("it", str, option("", "It.", section)), ("other", str, option("", "It.", section, lasting=True))],
    )
    assert (options_of(made)["it"].lasting, options_of(made)["other"].lasting) == (lasting, True)
