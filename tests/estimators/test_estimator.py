"""What all estimators promise: limits, Ctrl-C, checkpoints, progress, copies, files, and threads that change no bit."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from changed_models import changed, tensor
from labelled_words import LABELS, TEMPLATES, WORDS
from memory_in_use import memory_in_use
from parsimon import (
    DependencyParser,
    DocumentClassifier,
    MarkovNetwork,
    OverlappingGroupLassoClassifier,
    OverlappingGroupLassoClassifierCV,
    OverlappingGroupLassoRegressor,
    OverlappingGroupLassoRegressorCV,
    SequenceLabeler,
    TreeLabeler,
)
from parsimon.errors import ParsimonError
from parsimon.estimators.estimator import Estimator, documented
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.options import TrainingOptions, options_of
from toy_networks import chain
from toy_treebanks import grammar


class Killed(Exception):
    pass


@dataclass(frozen=True)
class Case:
    """An estimator with data that it learns from in more than three iterations."""

    estimator: type[Estimator]
    data: Callable[[], tuple[Any, ...]]
    settings: dict[str, Any] = field(default_factory=dict)
    same_bits: bool = False  # after it was killed and resumed
    predict: str = "predict"

    def make(self, **more: Any) -> Any:
        return self.estimator(**{**self.settings, **more})

    def fit(self, **more: Any) -> Any:
        return self.make(**more).fit(*self.data())

    def predicted(self, estimator: Any) -> Any:
        out = estimator.marginals() if self.predict == "marginals" else estimator.predict(self.data()[0])
        return out.to_bytes() if hasattr(out, "to_bytes") else np.array(out, dtype=object).tolist()


def trees() -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    X = [
        (
            [(str(random.integers(4)),) for _ in range(n)],
            [-1, *(int(random.integers(i)) for i in range(1, n))],
        )
        for n in random.integers(2, 7, 30)
    ]
    return X, [["AB"[(int(word) + (random.random() < 0.2)) % 2] for (word,) in nodes] for nodes, _ in X]


def documents() -> tuple[Any, ...]:
    texts = [
        "A fine film. We liked it. There was a dog.",
        "Dull. We left early. There was a cat.",
        "Fine work! We saw it again.",
        "So dull, so long. A dog slept.",
        "It was great. We liked the dog.",
        "A poor, dull story. We left.",
    ]
    return texts * 3, ["good", "bad"] * 9


def rows(kind: str = "classes") -> tuple[Any, ...]:
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 8))
    y = X[:, 0] - X[:, 1] + 0.5 * random.normal(size=60)
    return X, y if kind == "numbers" else np.where(y > 0, "yes", "no")


GROUPS = [[0, 1, 2], [2, 3, 4], [4, 5, 6, 7]]

CASES = {
    "sequences": Case(
        SequenceLabeler, lambda: (WORDS, LABELS), {"templates": TEMPLATES, "l1": 0.1, "tol": 1e-6}
    ),
    "sequences online": Case(
        SequenceLabeler,
        lambda: (WORDS, LABELS),
        {"templates": TEMPLATES, "loss": "hinge", "l1": 0.0, "l2": 0.0, "solver": "mira", "max_iter": 6},
        same_bits=True,
    ),
    "trees": Case(TreeLabeler, trees, {"templates": "U:%x[0,0]\nB", "l1": 0.05, "l2": 0.01, "tol": 1e-6}),
    "parser": Case(DependencyParser, lambda: (grammar(30),), {"max_iter": 6}, same_bits=True),
    "documents": Case(DocumentClassifier, documents, {"sentence": 0.1, "l1": 0.05, "tol": 1e-6}),
    "documents on a matrix": Case(DocumentClassifier, rows, {"penalty": "lasso", "l1": 0.5, "tol": 1e-6}),
    "network": Case(
        MarkovNetwork, lambda: (chain().X[:200],), {"alpha": 4.0, "tol": 1e-6}, True, "marginals"
    ),
    "classes": Case(OverlappingGroupLassoClassifier, rows, {"groups": GROUPS, "tol": 1e-6}),
    "numbers": Case(OverlappingGroupLassoRegressor, lambda: rows("numbers"), {"groups": GROUPS, "tol": 1e-6}),
}
CHOOSING = {
    "classes, chosen": Case(
        OverlappingGroupLassoClassifierCV, rows, {"groups": GROUPS, "n_alphas": 3, "cv": 2, "tol": 1e-6}
    ),
    "numbers, chosen": Case(
        OverlappingGroupLassoRegressorCV,
        lambda: rows("numbers"),
        {"groups": GROUPS, "n_alphas": 3, "cv": 2, "tol": 1e-6},
    ),
}
every_kind = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
every_kind_and_choice = pytest.mark.parametrize(
    "case", [*CASES.values(), *CHOOSING.values()], ids=[*CASES, *CHOOSING]
)


@pytest.fixture(autouse=True)
def templates(monkeypatch: pytest.MonkeyPatch) -> None:
    from parsimon.features import TemplateSet

    monkeypatch.setitem(CASES["trees"].settings, "templates", TemplateSet.parse("U:%x[0,0]\nB"))


def kill_at(iteration: int) -> Callable[[Any], None]:
    def kill(event: Any) -> None:
        if event.iteration == iteration:
            raise Killed

    return kill


def press_ctrl_c(event: Any) -> None:
    """A signal from another thread in the third iteration."""
    if event.iteration == 2:
        thread = threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGINT))
        thread.start()
        thread.join()


# ---- limits ------------------------------------------------------------------------------------------------


@every_kind
def test_the_time_limit_ends_a_fit_with_what_there_is(case: Case) -> None:
    events: list[Any] = []
    fitted = case.fit(time_limit=1e-9, callback=events.append)
    assert fitted.status_ == "stopped at the time limit"
    assert len(events) == 1
    case.predicted(fitted)


@every_kind_and_choice
def test_the_first_ctrl_c_leaves_a_fitted_estimator(case: Case) -> None:
    events: list[Any] = []
    fitted = case.fit(callback=[press_ctrl_c, events.append])
    assert fitted.status_ == "interrupted: this is the best model so far"
    assert events[-1].iteration in (2, 3)
    case.predicted(fitted)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("alpha", ["bic", "cv"])
def test_ctrl_c_on_the_path_of_a_network_leaves_the_best_so_far(alpha: str, tmp_path: Path) -> None:
    network = CASES["network"].make(alpha=alpha, callback=press_ctrl_c, checkpoint=tmp_path / "run")
    network.fit(*CASES["network"].data())
    assert network.status_ == "interrupted: this is the best model so far"
    assert not network.model_.path.complete
    assert (tmp_path / "run").exists()


@every_kind_and_choice
def test_too_little_memory_is_refused_in_one_sentence(case: Case) -> None:
    def fill(event: Any) -> None:
        np.ones(1 << 28)

    with pytest.raises(ParsimonError) as error:
        case.fit(memory=memory_in_use() + (256 << 20), callback=fill)
    assert str(error.value).startswith("training needs more than")
    assert "\n" not in str(error.value)
    case.fit(memory="100G")


# ---- checkpoints -------------------------------------------------------------------------------------------


@every_kind_and_choice
@pytest.mark.parametrize("iteration", [0, 3])
def test_killed_and_resumed_it_comes_to_the_same(case: Case, iteration: int, tmp_path: Path) -> None:
    whole = case.fit()
    safe: Any = {"checkpoint": tmp_path / "run", "checkpoint_every": 1e-9}
    with pytest.raises(Killed):
        case.fit(**safe, callback=kill_at(iteration))
    if iteration == 0 and not (tmp_path / "run").exists():
        return  # killed before anything was there to keep
    resumed = case.fit(**safe, resume=True)
    assert resumed.status_ == whole.status_
    if case.same_bits:
        assert dump_model(resumed.model_) == dump_model(whole.model_)
    else:
        assert resumed.objective_ == pytest.approx(whole.objective_, rel=1e-6)
        if case.estimator in (OverlappingGroupLassoRegressor, OverlappingGroupLassoRegressorCV):
            np.testing.assert_allclose(case.predicted(resumed), case.predicted(whole), atol=1e-2)
        else:
            assert case.predicted(resumed) == case.predicted(whole)
    again = case.fit(**safe, resume=True, callback=kill_at(0))  # everything is finished, so nothing happens
    assert dump_model(again.model_) == dump_model(resumed.model_)


@every_kind
def test_a_checkpoint_of_other_data_is_refused(case: Case, tmp_path: Path) -> None:
    case.fit(checkpoint=tmp_path / "run")
    X, *y = case.data()
    half = len(X) // 2
    with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
        case.make(checkpoint=tmp_path / "run", resume=True).fit(
            grammar(29) if case.estimator is DependencyParser else X[:half], *(each[:half] for each in y)
        )


# ---- progress and threads ----------------------------------------------------------------------------------


@every_kind_and_choice
def test_progress_is_printed_only_if_asked_for(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.fit()
    assert capsys.readouterr().err == ""
    case.fit(verbose=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "objective" in err


@every_kind
def test_threads_change_no_bit(case: Case) -> None:
    assert dump_model(case.fit(n_jobs=1).model_) == dump_model(case.fit(n_jobs=2).model_)


@every_kind
def test_the_same_seed_gives_the_same_bits(case: Case) -> None:
    one, other = (case.fit(random_state=np.random.RandomState(3)) for _ in range(2))
    assert dump_model(one.model_) == dump_model(other.model_)
    assert one.model_.info["random_state"] == np.random.RandomState(3).randint(2**31 - 1)


# ---- the scikit-learn contract -----------------------------------------------------------------------------


@every_kind_and_choice
def test_parameters_and_copies(case: Case) -> None:
    estimator = case.make()
    parameters = estimator.get_params(deep=False)
    assert set(options_of(case.estimator)) <= set(parameters)
    for name, value in case.settings.items():
        assert parameters[name] is value
    other = clone(estimator)
    assert repr(other.get_params()) == repr(estimator.get_params())
    assert other.set_params(n_jobs=2, time_limit=3.0) is other
    assert (other.n_jobs, other.time_limit, estimator.n_jobs) == (2, 3.0, None)
    unfitted = pickle.loads(pickle.dumps(estimator))
    assert repr(unfitted) == repr(estimator)
    with pytest.raises(
        NotFittedError, match=f"this {case.estimator.__name__} is not fitted yet; call fit first"
    ):
        unfitted.save("nowhere")


@every_kind_and_choice
def test_files_and_pickles_keep_everything(case: Case, tmp_path: Path) -> None:
    fitted = case.fit()
    fitted.save(tmp_path / "model")
    for other in (case.estimator.load(tmp_path / "model"), pickle.loads(pickle.dumps(fitted))):
        assert case.predicted(other) == case.predicted(fitted)
        assert dump_model(other.model_) == dump_model(fitted.model_)
        assert (other.objective_, other.status_, other.kkt_) == (
            fitted.objective_,
            fitted.status_,
            fitted.kkt_,
        )
        assert np.array_equal(other.model_.weights, fitted.model_.weights)
    assert case.estimator.load(tmp_path / "model", n_jobs=2).n_jobs == 2
    fitted.save(tmp_path / "small", dtype="float32")
    assert (tmp_path / "small").stat().st_size < (tmp_path / "model").stat().st_size


def arrays_of_numbers(content: bytes) -> list[str]:
    from safetensors.numpy import load

    return [name for name, values in load(content).items() if values.dtype.kind == "f" and values.size]


@every_kind
@pytest.mark.parametrize("number", [np.nan, -np.inf, 1e308, -1e101])
def test_a_model_that_nothing_can_be_predicted_with_is_neither_kept_nor_read(
    case: Case, number: float, tmp_path: Path
) -> None:
    fitted = case.fit()
    fitted.save(tmp_path / "model")
    good = (tmp_path / "model").read_bytes()

    def spoil(values: Any) -> Any:
        values = values.copy()
        values.reshape(-1)[-1] = number
        return values

    names = arrays_of_numbers(good)
    assert any(name.endswith("weights") for name in names)  # large ones are compressed
    for name in names:  # biases, idf, … as well
        with pytest.raises(ParsimonError, match=f"damaged .a number in {name} is .*; values must") as error:
            parse_model(changed(good, tensor(name, spoil)), "model")
        assert "\n" not in str(error.value)
    fitted.model_.weights.setflags(write=True)
    fitted.model_.weights[...] = spoil(fitted.model_.weights)
    with pytest.raises(ParsimonError, match=r"the model cannot be kept: a number in .* is .*; values must"):
        fitted.save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == good


@every_kind
def test_a_model_of_another_kind_is_refused(case: Case, tmp_path: Path) -> None:
    kind = "network" if case.estimator is not MarkovNetwork else "sequences"
    CASES[kind].fit().save(tmp_path / "model")
    with pytest.raises(ParsimonError, match="model is needed here"):
        case.estimator.load(tmp_path / "model")


@every_kind_and_choice
def test_wrong_parameters_are_refused_by_fit_alone(case: Case) -> None:
    for name, value in (
        ("solver", "none of them"),
        ("n_jobs", 0),
        ("time_limit", -1.0),
        ("memory", "a lot"),
        ("random_state", "seed"),
        ("callback", "print"),
        ("resume", True),
    ):
        estimator = case.make(**{name: value})
        with pytest.raises(ParsimonError) as error:
            estimator.fit(*case.data())
        assert "\n" not in str(error.value)
        assert str(error.value).endswith(".")


@every_kind_and_choice
def test_fitting_leaves_parameters_alone(case: Case) -> None:
    estimator = case.make()
    before = repr(estimator.get_params(deep=False))
    assert estimator.fit(*case.data()) is estimator
    assert repr(estimator.get_params(deep=False)) == before


# ---- docstrings --------------------------------------------------------------------------------------------


@every_kind_and_choice
def test_every_parameter_is_described(case: Case) -> None:
    text = str(case.estimator.__doc__)
    for name, option in options_of(case.estimator).items():
        assert f"\n{name} : " in text
        assert " ".join(option.help.split()) in " ".join(text.split())
    assert text.count("\nParameters\n----------\n") == 1


def test_parameters_come_before_attributes_and_examples() -> None:
    for kind in (OverlappingGroupLassoRegressor, DependencyParser, MarkovNetwork):
        text = str(kind.__doc__)
        places = [text.find(f"\n{name}\n-") for name in ("Parameters", "Attributes", "Examples")]
        there = [place for place in places if place >= 0]
        assert there == sorted(there)
        assert places[0] >= 0


def test_a_docstring_without_other_sections_ends_with_the_parameters() -> None:
    @documented
    @dataclass
    class Small(TrainingOptions):
        """Small."""

    text = str(Small.__doc__)
    assert text.startswith("Small.")
    assert "\ntol : float or None\n    Stop when" in text


# ---- labels of any type --------------------------------------------------------------------------------------


class Colour(Enum):
    RED = 1
    BLUE = 2


LABELLERS = ["sequences", "sequences online", "trees", "documents", "documents on a matrix", "classes"]
LABEL_PAIRS = {
    "whole numbers": (4, 3),
    "numbers of numpy": (np.int64(4), np.int64(3)),
    "truth values": (True, False),
    "numbers": (2.0, 1.0),
    "texts": ("4", "3"),
}


def relabelled(case: Case, labels: tuple[Any, Any]) -> Any:
    """Two labels in place of those of the data, which are numbered in turn."""
    _, y = case.data()
    known: dict[Any, Any] = {}
    if isinstance(y[0], list):
        return [[known.setdefault(each, labels[len(known) % 2]) for each in sequence] for sequence in y]
    return [known.setdefault(each, labels[len(known) % 2]) for each in y]


def flat(predicted: Any) -> list[Any]:
    return [each for part in predicted for each in (part if isinstance(part, list) else [part])]


@pytest.mark.parametrize("labels", LABEL_PAIRS.values(), ids=LABEL_PAIRS)
@pytest.mark.parametrize("name", LABELLERS)
def test_labels_come_back_as_they_were_given(name: str, labels: tuple[Any, Any], tmp_path: Path) -> None:
    case = CASES[name]
    X, y = case.data()[0], relabelled(case, labels)
    fitted = case.make().fit(X, y)
    fitted.save(tmp_path / "model")
    for other in (fitted, pickle.loads(pickle.dumps(fitted)), case.estimator.load(tmp_path / "model")):
        predicted = flat(other.predict(X))
        assert set(predicted) <= set(labels)
        assert np.mean([a == b for a, b in zip(predicted, flat(y), strict=True)]) > 0.6
        kind = type(labels[0])
        assert all(
            type(each) in (kind, np.asarray(labels[0]).dtype.type, type(np.asarray(labels[0]).item()))
            for each in [*predicted, *other.classes_]
        )
        assert set(other.classes_) == set(labels)
        assert other.score(X, y) > 0.6


@pytest.mark.parametrize("order", [1, 2])
def test_labels_may_be_any_objects_while_they_are_in_memory(order: int, tmp_path: Path) -> None:
    case = CASES["sequences"]
    X, y = case.data()[0], relabelled(case, (Colour.RED, Colour.BLUE))
    y = [[each if order == 2 or t else None for t, each in enumerate(sequence)] for sequence in y]
    fitted = case.make(order=order).fit(X, y)
    copied = pickle.loads(pickle.dumps(fitted))
    for other in (fitted, copied, copied.sparsify(), pickle.loads(pickle.dumps(copied))):
        assert set(flat(other.predict(X))) == {Colour.RED, Colour.BLUE}
        at = list(other.classes_).index(Colour.RED)
        np.testing.assert_allclose(
            other.predict_marginals(X)[0][:, at],
            fitted.predict_marginals(X)[0][:, list(fitted.classes_).index(Colour.RED)],
        )
    fitted.save(tmp_path / "model")
    loaded = SequenceLabeler.load(tmp_path / "model")
    assert set(loaded.classes_) == {"Colour.RED", "Colour.BLUE"}  # a file has no code in it
    assert [str(each) for each in flat(fitted.predict(X))] == flat(loaded.predict(X))


def test_labels_of_any_type_can_be_given_and_forbidden() -> None:
    X, y = [[{"w": "a"}, {"w": "b"}], [{"w": "b"}, {"w": "a"}]] * 5, [[1, 2], [2, 1]] * 5
    labeler = SequenceLabeler(l1=0.1).fit(X, y)
    for one in (2, np.int8(2), 2.0, "2"):  # by value, or by name
        assert labeler.predict_single(X[0], given=[one, None]) == [2, 2]
    with pytest.raises(
        ParsimonError, match="sequence 0, token 0: the label 3 was not seen in training; known labels"
    ):
        labeler.predict_single(X[0], given=[3, None])
    assert labeler.set_params(scheme=[(1, 2)]).predict(X[:1]) in ([[1, 1]], [[2, 2]])
    assert [labels for _, labels in labeler.predict_kbest(X[:1], 2)[0]] != []


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (float("nan"), "missing|NaN"),
        ("a\nb", "has a line break"),
        ("a\0", "has a line break"),
        ("\ud800", "cannot be written as text|surrogates"),
        ([], "the label is a list|inhomogeneous|Unknown label"),
    ],
)
@pytest.mark.parametrize("name", LABELLERS)
def test_labels_that_cannot_be_any_are_refused(name: str, label: Any, said: str) -> None:
    case = CASES[name]
    X, y = case.data()
    y = [[label, *y[0][1:]], *y[1:]] if isinstance(y[0], list) else [label, *y[1:]]
    with pytest.raises(ValueError, match=said) as error:
        case.make().fit(X, y)
    assert "\n" not in str(error.value)


# ---- data that no estimator can take -------------------------------------------------------------------------

WRONG_X = {
    "None": None,
    "a number": 0,
    "a text": "abc",
    "a dict": {"a": 1},
    "a list of None": [None],
    "NaN": float("nan"),
    "a generator": (each for each in ()),
}
WRONG_WEIGHTS = {
    "NaN": [np.nan],
    "negative": [-1.0],
    "infinite": [np.inf],
    "texts": ["a"],
    "none at all": [],
    "nested": [[1.0]],
    "zeros": [0.0],
    "a dict": {},
    "too large": [10**400],
}


def refused_in_one_line(act: Callable[[], object]) -> str:
    with pytest.raises(ValueError, match=r"\S") as error:  # a ParsimonError, or scikit-learn's own
        act()
    assert "\n" not in str(error.value)
    return str(error.value)


@every_kind_and_choice
def test_what_is_no_data_is_refused(case: Case) -> None:
    _, *y = case.data()
    for wrong in (*WRONG_X.values(), []):
        refused_in_one_line(lambda wrong=wrong: case.make().fit(wrong, *y))
    if case.predict != "marginals":
        fitted = case.fit()
        for wrong in WRONG_X.values():
            refused_in_one_line(lambda wrong=wrong: fitted.predict(wrong))


@every_kind_and_choice
def test_outputs_that_do_not_fit_are_refused(case: Case) -> None:
    X, *outputs = case.data()
    if not outputs:
        return
    y = list(outputs[0])
    nan = [float("nan")] * len(y)
    for wrong in (None, [], y[:-1], [*y, y[0]], 0, "abc", {}, nan, [None] * len(y)):
        refused_in_one_line(lambda wrong=wrong: case.make().fit(X, wrong))
        if isinstance(wrong, list) and wrong != nan and None not in wrong:
            refused_in_one_line(lambda wrong=wrong: case.fit().score(X, wrong))
    for dev in (0, (X,), (None, None), (X, y[:-1]), "ab"):
        refused_in_one_line(lambda dev=dev: case.make().fit(X, y, dev=dev))


@every_kind_and_choice
@pytest.mark.parametrize("weight", WRONG_WEIGHTS.values(), ids=WRONG_WEIGHTS)
def test_weights_of_samples_that_are_none(case: Case, weight: Any) -> None:
    data = case.data()
    given = weight * len(data[0]) if isinstance(weight, list) else weight
    refused_in_one_line(lambda: case.make().fit(*data, sample_weight=given))


@every_kind_and_choice
def test_nothing_is_predicted_before_there_is_a_model(case: Case) -> None:
    X = case.data()[0]
    if case.predict == "marginals":
        asked = [case.make().marginals, case.make().most_likely, lambda: case.make().score_samples(X)]
    else:
        asked = [lambda: case.make().predict(X), lambda: case.make().score(*case.data())]
    for ask in asked:
        with pytest.raises(NotFittedError, match="is not fitted yet; call fit first"):
            ask()


@pytest.mark.parametrize("name", ["documents on a matrix", "classes", "numbers"])
def test_the_wrong_number_of_columns(name: str) -> None:
    fitted, X = CASES[name].fit(), CASES[name].data()[0]
    for wrong in (X[:, :3], X[0], X[:, :, None], np.full_like(X, np.nan), np.hstack([X, X])):
        refused_in_one_line(lambda wrong=wrong: fitted.predict(wrong))
    assert "values must lie between" in refused_in_one_line(lambda: fitted.predict(np.full_like(X, 1e300)))


# ---- fits that end early -------------------------------------------------------------------------------------


@every_kind
def test_a_fit_that_ends_at_a_limit_warns_at_the_line_of_its_user(case: Case) -> None:
    online = "solver" in case.settings or case.estimator is DependencyParser
    limits: list[tuple[dict[str, Any], str]] = [({"time_limit": 1e-9}, "at its time limit of 1e-09 s")]
    if not online:
        limits.append(({"max_iter": 1}, "after 1 iterations"))
    for limit, said in limits:
        name = next(iter(limit))
        wanted = f"{case.estimator.__name__} is not at its optimum {said}.*; increase {name} or tol"
        with pytest.warns(ConvergenceWarning, match=wanted) as caught:
            case.fit(**limit)
        assert [Path(each.filename).name for each in caught] == [Path(__file__).name]


@every_kind_and_choice
def test_a_fit_that_comes_to_its_end_does_not_warn(case: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        fitted = case.fit()
        CASES["documents"].make(stopping="paper", max_iter=2).fit(
            *documents()
        )  # so many rounds are the method
        pickle.loads(pickle.dumps(fitted))


def test_a_choice_of_the_strength_that_is_cut_short_warns() -> None:
    with pytest.warns(ConvergenceWarning, match="at its time limit"):
        CHOOSING["classes, chosen"].fit(time_limit=1e-9)


JOINING = """
import sys
from parsimon import SequenceLabeler, TreeLabeler
assert "sklearn" not in sys.modules
class Mine(SequenceLabeler):
    pass
one = Mine(l1=2.0)
class Later(Mine):
    pass
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import get_tags
for kind in (SequenceLabeler, TreeLabeler, Mine, Later):
    assert issubclass(kind, BaseEstimator)
    assert {"set_fit_request", "set_score_request"} <= set(dir(kind)), kind
assert clone(one).get_params()["l1"] == 2.0
assert get_tags(one).estimator_type is None
"""


def test_the_first_one_makes_all_of_them_estimators_of_scikit_learn() -> None:
    subprocess.run([sys.executable, "-c", JOINING], check=True)
