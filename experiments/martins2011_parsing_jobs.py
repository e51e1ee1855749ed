"""What the parsing experiments of Martins et al. (2011) run: a parser learnt with some choice of templates, and scored.

Each is a job: a function with settings that can be written as JSON, and so can what it returns. The tables and figures
that are made of them are in martins2011_parsing.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jobs import Job, peak_mb
from parsimon.arrays import BoolArray, IntArray
from parsimon.data import load_treebank
from parsimon.data.treebanks import Treebank
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.features.arc_templates import ArcTemplate, ArcTemplates
from parsimon.features.template_order import TemplateOrder
from parsimon.penalties import L1
from parsimon.penalties.groupings import ByOrder, ByTemplate
from parsimon.selection import InformationGain, Selection, Sparseptron
from parsimon.solvers import Decreasing, Online, PassiveAggressive
from parsimon.tasks.parsing.metrics import punctuation
from parsimon.tasks.parsing.model import ParserModel
from parsimon.tasks.parsing.training import ParserTraining

# --- Treebanks ----------------------------------------------------------------------------------------------


def treebanks(
    language: str, sentences: int | None, test_sentences: int | None, tenth: bool = False
) -> tuple[Treebank, Treebank]:
    """Sentences to learn from and to test on; if only some of them, spread over all.

    With `tenth`, every tenth of those to learn from takes the place of those to test on.
    """
    train = spread(load_treebank(language), sentences)
    if not tenth:
        return train, spread(load_treebank(language, "test"), test_sentences)
    aside = np.arange(len(train)) % 10 == 0
    return train[np.flatnonzero(~aside)], train[np.flatnonzero(aside)]


def spread(treebank: Treebank, n: int | None) -> Treebank:
    """So many sentences, at equal distances."""
    if n is None or n >= len(treebank):
        return treebank
    return treebank[np.linspace(0, len(treebank) - 1, n).astype(np.int64)]


# --- Ways of choosing templates -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    """A first stage that keeps `size` templates, or learning in one stage with a penalty of that strength."""

    selection: Callable[[ArcTemplates, float, int, int], Selection] | None = None  # size, epochs, seed
    l1: bool = False


def by_sparseptron(weight: str = "log2", **settings: Any) -> Way:
    """A group for every template."""
    groups = ByTemplate(weight=weight)
    return Way(
        lambda templates, size, epochs, seed: Sparseptron(int(size), epochs, groups, seed=seed, **settings)
    )


def coarse_to_fine(templates: ArcTemplates, size: float, epochs: int, seed: int) -> Selection:
    """A group for every template and all that are finer."""
    return Sparseptron(int(size), epochs, groups=ByOrder(TemplateOrder.from_arcs(templates)), seed=seed)


WAYS = {
    "all templates": Way(),
    "group lasso": by_sparseptron(),
    "coarse to fine": Way(coarse_to_fine),
    "information gain": Way(lambda templates, size, epochs, seed: InformationGain(int(size))),
    "L1": Way(l1=True),
    # Other rules than the default, tried on a tenth of the training sentences.
    "d = 1": by_sparseptron("ones"),
    "d = √log2": by_sparseptron("sqrt-log2"),
    "d = log2^1.5": by_sparseptron("log2^1.5"),
    "budget falls over 2 epochs": by_sparseptron(fall=2.0),
}


def learn(
    *,
    language: str,
    way: str,
    size: float,
    preset: str,
    sentences: int | None,
    test_sentences: int | None,
    epochs: int,
    refit: int,
    most: float,
    seed: int,
    threads: int,
    tenth: bool = False,
) -> dict[str, Any]:
    """Chooses templates in so many epochs, refits by MIRA in so many, and parses the test sentences.

    What is learnt with L1 has the epochs of both stages. `most` is MIRA's C. Seconds are of the processor.
    """
    train, test = treebanks(language, sentences, test_sentences, tenth)
    templates, how = arc_preset(preset), WAYS[way]
    selection = how.selection and how.selection(templates, size, epochs, seed)
    solver = Online(refit, PassiveAggressive(most), seed=seed)
    settings: dict[str, Any] = {"solver": solver, "selection": selection}
    if how.l1:
        settings = {"solver": Online(epochs + refit, Decreasing(0.1), seed=seed), "penalty": L1(size)}
    began = time.process_time()
    training = ParserTraining(relations=None, first_pass=False, random_state=seed, n_jobs=threads, **settings)
    task = training.prepare(ArcFeatures(templates), train)
    chosen_in = time.process_time() - began
    result = training.solve(task)
    seconds = time.process_time() - began
    model = task.model(result, {})
    del task
    heads, tokens_a_second = parsed(model, test, threads)
    return {
        **scores(test, heads),
        "features": len(model.arcs.weights),
        "templates": len(model.space.templates),
        "kinds": kinds(model.space.templates),
        "names": list(model.space.templates.names),
        "choosing": chosen_in,
        "seconds": seconds,
        "tokens_a_second": tokens_a_second,
        "sentences": len(train),
        "tokens": train.n_tokens,
        "test_sentences": len(test),
        "peak_mb": peak_mb(),
    }


def parsed(model: ParserModel, test: Treebank, threads: int, repeats: int = 5) -> tuple[IntArray, float]:
    """Heads, and words a second of processor time: the median of some runs."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        heads = model.decode(test, decoding="mst", threads=threads)
        times.append(time.process_time() - began)
    return heads, test.n_tokens / float(np.median(times))


def scores(test: Treebank, heads: IntArray) -> dict[str, float]:
    """Shares of words with the right head: of all, without punctuation, and without it in sentences with one root."""
    right = heads == test.heads
    word = ~punctuation(test)
    single = np.repeat(test.n_roots == 1, test.lengths)
    return {
        "all": mean(right, np.ones(len(right), bool)),
        "uas": mean(right, word),
        "uas_single": mean(right, word & single),
        "single": float(np.mean(test.n_roots == 1)),
    }


def mean(right: BoolArray, among: BoolArray) -> float:
    """The share that is right."""
    return float(np.mean(right[among])) if among.any() else 0.0


# --- Kinds of templates (table 3) ---------------------------------------------------------------------------

LEXICAL = ("form", "lemma")


def looks(template: ArcTemplate, place: str, *columns: str) -> bool:
    """Whether a template looks at one of these columns at a place."""
    return any((t.place, t.offset) == (place, 0) and str(t.column) in columns for t in template.tests)


def lexical(template: ArcTemplate, place: str) -> bool:
    """Whether it knows the word at one end."""
    return looks(template, place, *LEXICAL)


def tagged(template: ArcTemplate, place: str) -> bool:
    """Whether it knows the part of speech there, but not the word."""
    return looks(template, place, "upos") and not lexical(template, place)


def has(template: ArcTemplate, place: str) -> bool:
    """Whether it has a test of that place."""
    return any(test.place == place for test in template.tests)


# As in the paper; most templates are of several kinds.
KINDS: dict[str, Callable[[ArcTemplate], bool]] = {
    "word → word": lambda t: lexical(t, "h") and lexical(t, "m"),
    "word → POS": lambda t: lexical(t, "h") and tagged(t, "m"),
    "POS → word": lambda t: tagged(t, "h") and lexical(t, "m"),
    "POS → POS": lambda t: tagged(t, "h") and tagged(t, "m"),
    "POS beside": lambda t: any(test.offset for test in t.tests),
    "POS between": lambda t: has(t, "b"),
    "shape": lambda t: looks(t, "h", "shape") or looks(t, "m", "shape"),
    "direction": lambda t: has(t, "dir"),
    "length": lambda t: has(t, "dist"),
}


def kinds(templates: ArcTemplates) -> dict[str, int]:
    """How many there are of each kind."""
    return {name: sum(map(is_one, templates)) for name, is_one in KINDS.items()}


JOBS: dict[str, Job] = {"learn": learn}
