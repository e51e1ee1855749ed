"""Characters side by side with Vaporetto: where words begin in text whose spaces have been taken away.

Both use one model. Parsimon learns it (a label for every character, from n-grams of the characters around it, without
label pairs, as Vaporetto has none), and its weights are written in Vaporetto's format, rounded to whole numbers. So
both look up the same n-grams and add up the same weights; how often they decide alike is part of the table.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from measure import Failed, run
from parsimon.report.markdown import table
from parsimon.tasks.sequences.model import SequenceModel
from peers import Parsimon, found
from tables import seconds, times, whole
from template_strings import sentences

WINDOW, LONGEST = 3, 3  # characters on either side of a place between two, and in an n-gram
TRAIN = 3000  # sentences
BITS = 15  # of the largest weight
MAGIC = b"VaporettoTokenizer 0.5.0\n"
WORKER = Path(__file__).with_name("vaporetto_worker.py")


def templates() -> str:
    """All n-grams in the window, in the common language of templates; the text of an n-gram is its characters."""
    lines = []
    for length in range(1, LONGEST + 1):
        for first in range(-WINDOW, WINDOW - length + 1):
            looks = "".join(f"%x[{first + i},0]" for i in range(length))
            lines.append(f"U{length}.{first + WINDOW}:{looks}\n")
    return "".join(lines)


def lines_of(source: Path, most: int | None = None) -> Iterator[list[str]]:
    """The words of each sentence."""
    for sentence in islice(sentences(source), most):
        yield [token[0] for token in sentence]


def write_columns(lines: Iterator[list[str]], target: Path, *, labelled: bool) -> int:
    """A character a line, with its label if they are wanted. How many there are."""
    n = 0
    with target.open("w", encoding="utf-8") as file:
        for words in lines:
            for word in words:
                for i, character in enumerate(word):
                    file.write(f"{character}\t{'I' if i else 'B'}\n" if labelled else f"{character}\n")
                    n += 1
            file.write("\n")
    return n


# --- Vaporetto's format -------------------------------------------------------------------------------------


def number(value: int) -> bytes:
    """A number of bincode's: one byte, or a mark and two or four."""
    if value < 251:
        return bytes([value])
    return (
        bytes([251]) + value.to_bytes(2, "little")
        if value < 1 << 16
        else bytes([252]) + value.to_bytes(4, "little")
    )


def signed(value: int) -> bytes:
    """The same of numbers that may be below zero."""
    return number(2 * value if value >= 0 else -2 * value - 1)


def ngram_weights(model: SequenceModel) -> dict[str, list[float]]:
    """Of every n-gram, its weight at every place: how much more it speaks for the beginning of a word than against it.

    What looks beyond the text's ends is left out, as Vaporetto does not look there.
    """
    sign = np.array([1.0 if label == "B" else -1.0 for label in model.labels])
    attribute, label = model.index.node.describe(np.arange(model.index.node.n_features, dtype=np.int64))
    out: dict[str, list[float]] = {}
    names = model.space.node_names(np.arange(model.space.n_node))
    cut = model.index.node.n_features
    for a, y, w in zip(attribute.tolist(), label.tolist(), model.weights[:cut].tolist(), strict=True):
        shape, _, text = names[a].partition(":")
        length, place = map(int, shape[1:].split("."))
        if len(text) == length:
            weights = out.setdefault(text, [0.0] * (2 * WINDOW - length + 1))
            weights[2 * WINDOW - length - place] += sign[y] * w
    return out


def vaporetto_model(weights: dict[str, list[float]]) -> bytes:
    """N-grams of characters with their weights; nothing of types of characters, dictionaries or tags, and no bias."""
    largest = max((abs(w) for each in weights.values() for w in each), default=1.0)
    scale = ((1 << BITS) - 1) / largest
    out = [MAGIC, number(len(weights))]
    for text, each in sorted(weights.items()):
        raw = text.encode()
        out += [number(len(raw)), raw, number(len(each)), *(signed(round(w * scale)) for w in each)]
    out += [number(0), number(0), signed(0), bytes([WINDOW, WINDOW]), number(0)]
    return b"".join(out)


# --- Measuring ----------------------------------------------------------------------------------------------


@dataclass
class Segmented:
    """One program with one number of threads."""

    name: str
    threads: int
    whole: list[float] = field(default_factory=list)
    start_up: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)  # without reading and writing, if it says
    begins: list[bool] = field(default_factory=list)  # where words begin, character by character

    def rate(self, characters: int) -> float | None:
        """Characters a second, without start-up."""
        net = median(w - s for w, s in zip(self.whole, self.start_up, strict=True)) if self.whole else 0.0
        return characters / net if net > 0 else None


def measure(
    peer: Parsimon, train: Path, test: Path, work: Path, copies: int, repeats: int, say: Callable[[str], None]
) -> dict[str, Any] | None:
    """Trains one model and segments the test text, repeated, with both programs in turn."""
    if importlib.util.find_spec("vaporetto") is None or peer.available():
        say(f"skipped, {peer.available() or 'the package vaporetto is not installed'}")
        return None
    files = {name: work / f"characters.{name}" for name in ("train", "tpl", "model", "vaporetto", "out")}
    write_columns(lines_of(train, TRAIN), files["train"], labelled=True)
    files["tpl"].write_text(templates(), encoding="utf-8")
    program = str(found("parsimon", peer.program))
    command: list[str | Path] = [program, "train", "sequence", files["train"], "-t", files["tpl"]]
    run([*command, "-m", files["model"], "--quiet", "--l1", "1", "--tol", "1e-2", "--checkpoint-every", "0"])
    from parsimon.tasks.model_file import load_model

    weights = ngram_weights(load_model(files["model"]))
    files["vaporetto"].write_bytes(vaporetto_model(weights))
    text = [words for _ in range(copies) for words in lines_of(test)]
    sizes = {"all": text, "one": text[:1]}
    for size, lines in sizes.items():
        write_columns(iter(lines), work / f"characters.{size}.columns", labelled=False)
        joined = "".join("".join(words) + "\n" for words in lines)
        (work / f"characters.{size}.txt").write_text(joined, encoding="utf-8")
    ways = [Segmented("Parsimon", n) for n in peer.label_threads] + [Segmented("Vaporetto", 1)]
    for repeat in range(repeats):
        for way in ways:
            for size in ("one", "all"):
                taken, alone = _segment(way, program, files, work, size)
                (way.whole if size == "all" else way.start_up).append(taken)
                if size == "all" and alone is not None:
                    way.alone.append(alone)
            way.begins = _begins(way, files["out"])
            say(f"{repeat + 1}/{repeats} {way.name}, threads: {way.threads}: done")
    gold = [i == 0 for words in text for word in words for i in range(len(word))]
    return {"ways": ways, "gold": gold, "characters": len(gold), "ngrams": len(weights)}


def _segment(
    way: Segmented, program: str, files: dict[str, Path], work: Path, size: str
) -> tuple[float, float | None]:
    if way.name == "Parsimon":
        command: list[str | Path] = [program, "predict", files["model"], work / f"characters.{size}.columns"]
        return run([*command, "-o", files["out"], "--n-jobs", str(way.threads)]).seconds, None
    text = work / f"characters.{size}.txt"
    done = run([sys.executable, WORKER, files["vaporetto"], text, files["out"]])
    if not done.lines:
        raise Failed("vaporetto said nothing")
    return done.seconds, json.loads(done.lines[-1][1])["tokenize_seconds"]


def _begins(way: Segmented, out: Path) -> list[bool]:
    if way.name == "Parsimon":
        return [token[-1] == "B" for sentence in sentences(out) for token in sentence]
    with out.open(encoding="utf-8") as file:
        return [i == 0 for line in file for word in line.split() for i in range(len(word))]


def report(told: dict[str, Any] | None) -> str:
    """Rates and ratios, how often the programs agree, and how often they are right."""
    if told is None:
        return "Not measured.\n"
    ways, gold = told["ways"], np.array(told["gold"])
    rates = {(way.name, way.threads): way.rate(told["characters"]) for way in ways}
    theirs, rows = np.array(ways[-1].begins), []
    for way in ways:
        own = rates[way.name, way.threads]
        ratios = [times(ours / own if (ours := rates["Parsimon", n]) and own else None) for n in (1, 2)]
        rows.append([way.name, str(way.threads), whole(own), seconds(median(way.start_up)), *ratios])
        rows[-1] += [f"{100 * np.mean(np.array(way.begins) == each):.2f} %" for each in (theirs, gold)]
        if way.alone:
            alone = told["characters"] / median(way.alone)
            ratios = [times(ours / alone if (ours := rates["Parsimon", n]) else None) for n in (1, 2)]
            rows.append([f"{way.name}: without files", str(way.threads), whole(alone), "", *ratios, "", ""])
    text = (
        f"Where words begin in {told['characters']:,} characters of text without spaces, by one model of "
        f"{told['ngrams']:,} n-grams, from a file to a file (medians of {len(ways[0].whole)}); the ratios say how many "
        "times as fast Parsimon is:\n\n"
    )
    head = ["", "threads", "characters/s", "start-up", "Parsimon, 1 thread", "Parsimon, 2 threads"]
    return text + table([*head, "decides as Vaporetto", "right"], rows)


def as_json(told: dict[str, Any] | None) -> dict[str, Any]:
    """Everything measured."""
    if told is None:
        return {}
    ways = [
        {
            "name": way.name,
            "threads": way.threads,
            "whole": way.whole,
            "start_up": way.start_up,
            "alone": way.alone,
        }
        for way in told["ways"]
    ]
    return {"characters": told["characters"], "ngrams": told["ngrams"], "ways": ways}
