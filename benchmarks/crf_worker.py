"""A Python package for CRFs in a process of its own, so that its memory is its own. Prints one JSON object.

crf_worker.py train LIBRARY ATTRIBUTES MODEL C1 C2 ALL_PAIRS MAX_ITERATIONS
crf_worker.py tag LIBRARY MODEL INPUT OUTPUT TEMPLATES
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Protocol

clock = time.perf_counter
BEGIN = "training begins"  # said where the parent's clock is to start, for those whose log goes to standard output


class Library(Protocol):
    """How a package trains and labels. Its objective is Σ −log p + c1 ‖w‖₁ + c2 ‖w‖² for all of them."""

    prints: ClassVar[bool]  # its log goes to standard output, where the parent reads it

    def __init__(self, c1: float, c2: float, all_pairs: bool, max_iterations: int) -> None: ...

    def append(self, tokens: list[list[str]], labels: list[str]) -> None:
        """A training sentence."""
        ...

    def train(self, model: Path) -> dict[str, Any]:
        """What it said: features, curve (seconds, objective, active), reason."""
        ...

    @staticmethod
    def tagger(model: Path) -> Callable[[Sequence[Sequence[str]]], list[str]]:
        """A function from attributes to labels."""
        ...


class Pycrfsuite:
    """python-crfsuite."""

    prints: ClassVar[bool] = False

    def __init__(self, c1: float, c2: float, all_pairs: bool, max_iterations: int) -> None:
        import pycrfsuite  # type: ignore[import-not-found]

        told = self.told = {"features": 0, "curve": [], "reason": ""}
        self.clock = Clock()

        class Watched(pycrfsuite.BaseTrainer):  # type: ignore[misc]
            """A trainer that notes when its log says what: CRFsuite reports in text only."""

            def message(_, message: str) -> None:
                """Called with every piece of the log."""
                if found := re.match(r"Number of features: (\d+)", message):
                    told["features"] = int(found[1])
                elif found := re.match(r"Loss: ([\d.]+)", message):
                    told["curve"].append([self.clock.now(), float(found[1]), 0])
                elif found := re.match(r"Active features: (\d+)", message):
                    told["curve"][-1][2] = int(found[1])
                elif message.startswith("L-BFGS terminated"):
                    told["reason"] = message.removeprefix("L-BFGS terminated with ").strip()

        self.trainer = Watched()
        self.trainer.select("lbfgs", "crf1d")
        settings = {
            "c1": c1,
            "c2": c2,
            "feature.possible_states": int(all_pairs),
            "feature.possible_transitions": int(all_pairs),
            "max_iterations": max_iterations,
        }
        for name, value in settings.items():
            self.trainer.set(name, value)

    def append(self, tokens: list[list[str]], labels: list[str]) -> None:
        """A training sentence."""
        with self.clock:
            self.trainer.append(tokens, labels)

    def train(self, model: Path) -> dict[str, Any]:
        """Trains, and tells what it said."""
        with self.clock:
            self.trainer.train(str(model), -1)
        return self.told

    @staticmethod
    def tagger(model: Path) -> Callable[[Sequence[Sequence[str]]], list[str]]:
        """Its function from attributes to labels."""
        import pycrfsuite

        tagger = pycrfsuite.Tagger()
        tagger.open(str(model))
        return tagger.tag  # type: ignore[no-any-return]


class Chaine:
    """chaine, which takes its features as dicts."""

    prints: ClassVar[bool] = False

    def __init__(self, c1: float, c2: float, all_pairs: bool, max_iterations: int) -> None:
        from chaine._core.crf import Trainer  # type: ignore[import-not-found]

        told = self.told = {"features": 0, "curve": [], "reason": ""}
        self.clock = Clock()
        self.seen: set[tuple[str, ...]] = set()
        self.all_pairs = all_pairs

        class Watched(Trainer):  # type: ignore[misc]
            """A trainer that notes when its log says what; it does not say how many features there are."""

            def _log(_, message: str) -> None:
                if found := re.search(r"training loss: ([\d.]+)", message):
                    told["curve"].append([self.clock.now(), float(found[1]), 0])

        every = {"all_possible_states": all_pairs, "all_possible_transitions": all_pairs}
        self.trainer = Watched("lbfgs", c1=c1, c2=c2, max_iterations=max_iterations, **every)

    def append(self, tokens: list[list[str]], labels: list[str]) -> None:
        """A training sentence."""
        given = [dict.fromkeys(attributes, True) for attributes in tokens]
        with self.clock:
            self.trainer.append(given, labels)
        for attributes, label in zip(tokens, labels, strict=True):
            self.seen.update((attribute, label) for attribute in attributes)
        self.seen.update(("", *pair) for pair in pairwise(labels))

    def train(self, model: Path) -> dict[str, Any]:
        """Trains, and tells what it said."""
        from chaine.crf import Model  # type: ignore[import-not-found]

        with self.clock:
            self.trainer.train(str(model))
        trained = Model(str(model))
        self.told["curve"][-1][2] = len(trained.states) + len(trained.transitions)
        self.told["features"] = 0 if self.all_pairs else len(self.seen)
        return self.told

    @staticmethod
    def tagger(model: Path) -> Callable[[Sequence[Sequence[str]]], list[str]]:
        """Its function from attributes to labels."""
        from chaine.crf import Model

        predict = Model(str(model)).predict_single
        return lambda sentence: predict([dict.fromkeys(attributes, True) for attributes in sentence])


class Underthesea:
    """underthesea-core. Its state features are those seen, its transitions all; its log goes to standard output."""

    prints: ClassVar[bool] = True

    def __init__(self, c1: float, c2: float, all_pairs: bool, max_iterations: int) -> None:
        import underthesea_core  # type: ignore[import-not-found]

        self.clock = Clock()
        self.X: list[list[list[str]]] = []
        self.y: list[list[str]] = []
        self.trainer = underthesea_core.CRFTrainer(
            l1_penalty=c1, l2_penalty=c2, max_iterations=max_iterations, verbose=1
        )

    def append(self, tokens: list[list[str]], labels: list[str]) -> None:
        """A training sentence."""
        self.X.append(tokens)
        self.y.append(labels)

    def train(self, model: Path) -> dict[str, Any]:
        """Trains, and tells what it said."""
        print(BEGIN, flush=True)
        with self.clock:
            trained = self.trainer.train(self.X, self.y)
        trained.save(str(model))
        return {"features": 0, "curve": [], "reason": ""}

    @staticmethod
    def tagger(model: Path) -> Callable[[Sequence[Sequence[str]]], list[str]]:
        """Its function from attributes to labels."""
        import underthesea_core

        tagger = underthesea_core.CRFTagger()
        tagger.load(str(model))
        return lambda sentence: tagger.tag([list(attributes) for attributes in sentence])


class Clock:
    """Counts what is done within `with`."""

    def __init__(self) -> None:
        self.total = self.began = 0.0

    def __enter__(self) -> None:
        self.began = clock()

    def __exit__(self, *_: object) -> None:
        self.total = self.now()

    def now(self) -> float:
        """Seconds so far, within it."""
        return self.total + clock() - self.began


LIBRARIES: dict[str, type[Library]] = {
    "pycrfsuite": Pycrfsuite,
    "chaine": Chaine,
    "underthesea_core": Underthesea,
}


def attribute_file(path: Path) -> Iterator[tuple[list[list[str]], list[str]]]:
    """Sentences from lines of `label TAB attribute TAB ...`."""
    tokens: list[list[str]] = []
    labels: list[str] = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            label, *attributes = line.rstrip("\n").split("\t")
            if attributes:
                tokens.append(attributes)
                labels.append(label)
            elif tokens:
                yield tokens, labels
                tokens, labels = [], []


def train(
    name: str, source: Path, model: Path, c1: float, c2: float, all_pairs: bool, max_iterations: int
) -> dict[str, Any]:
    """Trains; seconds are those of its own `append` and `train`, without reading or making features."""
    library = LIBRARIES[name](c1, c2, all_pairs, max_iterations)
    for tokens, labels in attribute_file(source):
        library.append(tokens, labels)
    return library.train(model)


def tag(name: str, model: Path, source: Path, target: Path, template_file: Path) -> dict[str, Any]:
    """Labels a column file; times the whole from file to file, and `tag` by itself."""
    from parsimon.features.templates import TemplateSet
    from template_strings import expander, sentences

    expand = expander(TemplateSet.load(template_file))
    tagger = LIBRARIES[name].tagger(model)
    tagging = 0.0
    began = clock()
    with target.open("w", encoding="utf-8") as file:
        for sentence in sentences(source):
            attributes = expand(sentence)
            now = clock()
            labels = tagger(attributes)
            tagging += clock() - now
            for token, label in zip(sentence, labels, strict=True):
                file.write("\t".join((*token, label)) + "\n")
            file.write("\n")
    return {"tag_seconds": tagging, "file_seconds": clock() - began}


if __name__ == "__main__":
    command, name, *rest = sys.argv[1:]
    if command == "train":
        source, model, c1, c2, pairs, most = rest
        told = train(name, Path(source), Path(model), float(c1), float(c2), pairs == "1", int(most))
    else:
        model, source, target, templates = map(Path, rest)
        told = tag(name, model, source, target, templates)
    print(json.dumps(told))
