"""Python objects given to the estimators: feature dictionaries, documents, treebanks and matrices."""

from __future__ import annotations

import copy
import io
import json
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import parsimon
from fuzz.mutations import VALUES, change_bytes, change_value
from fuzz.target import Target
from parsimon.data import read_treebank
from parsimon.errors import ParsimonError


def cycle() -> Any:
    """A list and a dictionary that have each other."""
    around: list[Any] = []
    around.append({"a": around})
    return around


def deep() -> Any:
    """Deeper than any stack."""
    inner: Any = "x"
    for _ in range(100_000):
        inner = [inner]
    return inner


class Shrinking:
    """A number that empties what it is in when it is asked for its value."""

    def __init__(self) -> None:
        self.inside: dict[str, Any] = {}

    def __float__(self) -> float:
        self.inside.clear()
        return 1.0


def shrinking() -> Any:
    number = Shrinking()
    number.inside.update({"a": number, "b": "c", "d": 1.0})
    return number.inside


# Strings that stand for what JSON has not.
STRANGE: dict[str, Any] = {
    "<cycle>": cycle,
    "<deep>": deep,
    "<shrinking>": shrinking,
    "<set>": lambda: {"a", "b"},
    "<bytes>": lambda: b"a",
    "<object>": object,
    "<tuple>": lambda: ("a", 1),
    "<array>": lambda: np.arange(3),
    "<fractions>": lambda: np.ones((2, 3)),
    "<scalar>": lambda: np.float32(1.5),
    "<generator>": lambda: iter(["a"]),
    "<complex>": lambda: 1j,
}

TOKENS = [[{"w": "the", "n": 1.5, "up": True}, {"w": "dog", "more": ["x", "y"]}], [{"w": "runs"}]]
TEXTS = ["The rocket flew. It is late.", "The doctor came.", "An orbit.", "A drug."]
NUMBERS = [[0.5, 1.0], [1.5, -1.0], [0.1, 2.0], [-1.0, 0.0]]
EXAMPLES: list[dict[str, Any]] = [
    {"estimator": "SequenceLabeler", "X": TOKENS, "y": [["D", "N"], ["V"]], "options": {"max_iter": 2}},
    {
        "estimator": "SequenceLabeler",
        "X": [["a", "b"], ["c"]],
        "y": [["D", "N"], ["V"]],
        "options": {"max_iter": 2},
    },
    {"estimator": "DocumentClassifier", "X": TEXTS, "y": ["s", "m", "s", "m"], "options": {"max_iter": 2}},
    {"estimator": "MarkovNetwork", "X": [[0, 1], [1, 0], [1, 1], [0, 0], [1, 1]], "y": None, "options": {}},
    {
        "estimator": "OverlappingGroupLassoClassifier",
        "X": NUMBERS,
        "y": ["a", "b", "a", "b"],
        "options": {"groups": [[0], [0, 1]], "max_iter": 2},
    },
    {
        "estimator": "TreeLabeler",
        "X": [[TOKENS[0], [-1, 0]], [TOKENS[1], [-1]]],
        "y": [["D", "N"], ["V"]],
        "options": {"max_iter": 2},
    },
    {"estimator": "DependencyParser", "X": [["Dogs", "bark"], [2, 0]], "y": None, "options": {"max_iter": 1}},
]


class Objects(Target):
    name = "objects"

    def made(self) -> list[bytes]:
        return [json.dumps(example).encode() for example in EXAMPLES]

    def change(self, content: bytes, choose: Random) -> bytes:
        try:
            given = json.loads(content)
            part = choose.choice(["X", "X", "X", "y", "options", "weights"])
            given[part] = change_value(given.get(part), choose, [*VALUES, *STRANGE, *STRANGE])
        except (ValueError, TypeError, AttributeError, RecursionError):
            return change_bytes(content, choose)
        return json.dumps(given).encode()

    def run(self, content: bytes, folder: Path) -> None:
        try:
            given = json.loads(content)
            name, options, weights = (
                given["estimator"],
                made_of(given["options"]),
                made_of(given.get("weights")),
            )
            estimator, original = (
                getattr(parsimon, name),
                next(each for each in EXAMPLES if each["estimator"] == name),
            )
            model = estimator(**{"time_limit": 2.0, **options})  # max_iter may be large
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, StopIteration):
            return  # no call at all
        X, y = data_of(name, given.get("X")), made_of(given.get("y"))
        with refusals_of_sklearn():
            try:
                model.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
            except Exception as error:
                if not isinstance(error, ParsimonError) and not of_sklearn(error):
                    raise
                model = estimator(**original["options"]).fit(data_of(name, original["X"]), original["y"])
            if hasattr(model, "predict"):  # networks have none
                model.predict(X)


@contextmanager
def refusals_of_sklearn() -> Iterator[None]:
    """Matrices and weights are checked by scikit-learn, which has exceptions of its own for them."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ParsimonError(str(error)) if of_sklearn(error) else error from error


def of_sklearn(error: Exception) -> bool:
    """Whether an exception comes from a check of scikit-learn."""
    return "sklearn" in Path(traceback.extract_tb(error.__traceback__)[-1].filename).parts


def data_of(name: str, value: Any) -> Any:
    """What an estimator takes: parsers take treebanks, of words and their heads; the others take the value itself."""
    made = made_of(value)
    if name != "DependencyParser":
        return made
    try:
        words, heads = made
        rows = [
            f"{i}\t{word}\t_\tN\t_\t_\t{head}\tx\t_\t_\n"
            for i, (word, head) in enumerate(zip(words, heads, strict=True), 1)
        ]
        return read_treebank(io.BytesIO("".join(rows).encode()), format="conllu")
    except (ValueError, TypeError, RecursionError):
        return made


def made_of(value: Any) -> Any:
    """The same with strange objects in the place of their names."""
    if isinstance(value, str) and value in STRANGE:
        return STRANGE[value]()
    if isinstance(value, list):
        return [made_of(each) for each in value]
    if isinstance(value, dict):
        return {key: made_of(each) for key, each in value.items()}
    return copy.copy(value)


TARGETS = [Objects]
