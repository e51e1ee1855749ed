"""python-crfsuite in a process of its own, so that its memory is its own. Prints one JSON object.

crfsuite_worker.py train ATTRIBUTES MODEL C1 C2 ALL_PAIRS MAX_ITERATIONS
crfsuite_worker.py tag MODEL INPUT OUTPUT TEMPLATES
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pycrfsuite  # type: ignore[import-untyped]

clock = time.perf_counter


class Watched(pycrfsuite.BaseTrainer):  # type: ignore[misc]
    """A trainer that notes when its log says what: CRFsuite reports in text only."""

    began = 0.0

    def message(self, message: str) -> None:
        """Called with every piece of the log."""
        if found := re.match(r"Number of features: (\d+)", message):
            self.features = int(found[1])
        elif found := re.match(r"Loss: ([\d.]+)", message):
            self.curve.append([clock() - self.began, float(found[1]), 0])
        elif found := re.match(r"Active features: (\d+)", message):
            self.curve[-1][2] = int(found[1])
        elif message.startswith("L-BFGS terminated"):
            self.reason = message.removeprefix("L-BFGS terminated with ").strip()


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
    source: Path, model: Path, c1: float, c2: float, all_pairs: bool, max_iterations: int
) -> dict[str, Any]:
    """Trains; seconds are those of `append` and `train` together, without reading or making features."""
    trainer = Watched()
    trainer.features, trainer.curve, trainer.reason = 0, [], ""
    trainer.select("lbfgs", "crf1d")
    settings = {
        "c1": c1,
        "c2": c2,
        "feature.possible_states": int(all_pairs),
        "feature.possible_transitions": int(all_pairs),
        "max_iterations": max_iterations,
    }
    for name, value in settings.items():
        trainer.set(name, value)
    appending = 0.0
    for tokens, labels in attribute_file(source):
        now = clock()
        trainer.append(tokens, labels)
        appending += clock() - now
    trainer.began = clock() - appending
    trainer.train(str(model), -1)
    return {
        "features": trainer.features,
        "curve": trainer.curve,
        "reason": trainer.reason,
        "append_seconds": appending,
    }


def tag(model: Path, source: Path, target: Path, template_file: Path) -> dict[str, Any]:
    """Labels a column file; times the whole from file to file, and `tag` by itself."""
    from parsimon.features.templates import TemplateSet
    from template_strings import expander, sentences

    expand = expander(TemplateSet.load(template_file))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    tagging = 0.0
    began = clock()
    with target.open("w", encoding="utf-8") as file:
        for sentence in sentences(source):
            attributes = expand(sentence)
            now = clock()
            labels = tagger.tag(attributes)
            tagging += clock() - now
            for token, label in zip(sentence, labels, strict=True):
                file.write("\t".join((*token, label)) + "\n")
            file.write("\n")
    return {"tag_seconds": tagging, "file_seconds": clock() - began}


if __name__ == "__main__":
    if sys.argv[1] == "train":
        source, model, c1, c2, pairs, most = sys.argv[2:]
        print(json.dumps(train(Path(source), Path(model), float(c1), float(c2), pairs == "1", int(most))))
    else:
        print(json.dumps(tag(*map(Path, sys.argv[2:]))))
