"""What the experiments of Yogatama & Smith (2014) run: strengths tuned on a development set, and what fits cost.

Each is a job: a function with settings that can be written as JSON, and so can what it returns. The tables that are
made of them are in yogatama2014.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from statistics import mean, median
from typing import Any

import numpy as np

from jobs import Job, peak_mb
from parsimon.data import load_amazon, load_movie_reviews, load_news20
from parsimon.data.text.reader import TextReader
from parsimon.features.bag_of_words import BagOfWords
from parsimon.solvers import Validation, Weights
from parsimon.tasks.documents.inspect import heaviest_words
from parsimon.tasks.documents.training import DocumentTask, DocumentTraining, LabelledDocuments
from parsimon.tasks.documents.tuning import Trial, best_trial, grid_search, successive_halving
from parsimon.tasks.matrices.flat import accuracy_on, columns_of

NEWS = ("science", "sports", "religion", "computer")
REVIEWS = ("books", "dvd", "electronics", "kitchen", "movie")
LAMBDAS = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)  # for all strengths (section 5.2)
RHOS = (1e-1, 1.0, 1e1, 1e2, 1e3)
SEN = LAMBDAS[:4]  # for certified optima: stronger ones leave nothing worth having
PATIENCE = 10  # iterations of stopped ADMM that are no better on the development set


@dataclass(frozen=True)
class Documents:
    """Documents and labels to learn from, to choose by, and to test on."""

    train: tuple[list[Any], list[str]]
    dev: tuple[list[Any], list[str]]
    test: tuple[list[Any], list[str]]


def documents_of(name: str, fifth: int = 4) -> Documents:
    """One of the paper's tasks; kitchen stands in for music. Of newsgroups, `fifth` is for development."""
    load: Callable[[Any], Any] = partial(load_amazon, name)
    if name in NEWS:
        load = partial(load_news20, name, fifth=fifth)
    if name == "movie":
        load = load_movie_reviews
    return Documents(*(load(split) for split in ("train", "dev", "test")))


def reader_of(name: str) -> TextReader:
    """Movie reviews come in sentences, tokenised; all others as they were written."""
    return TextReader(tokens="whitespace") if name == "movie" else TextReader()


@dataclass(frozen=True)
class Tuning:
    """A task made ready: matrices of all three parts."""

    training: DocumentTraining
    task: DocumentTask
    dev: Callable[[Weights], float]
    test_matrix: Any
    test_gold: Any

    @classmethod
    def of(cls, name: str, threads: int, fifth: int = 4) -> Tuning:
        """Reads the documents."""
        return cls.made(documents_of(name, fifth), reader_of(name), threads)

    @classmethod
    def made(cls, given: Documents, reader: TextReader, threads: int) -> Tuning:
        """The words are those of the documents to learn from."""
        training = DocumentTraining(penalty="sentence", reader=reader, n_jobs=threads)
        task = training.prepare(*given.train)
        number = {label: i for i, label in enumerate(task.labels)}
        matrices = [task.bag.matrix(reader.read(part[0])) for part in (given.dev, given.test)]
        golds = [np.array([number[label] for label in part[1]]) for part in (given.dev, given.test)]
        return cls(training, task, accuracy_on(matrices[0], golds[0], task.width), matrices[1], golds[1])

    def watch(self) -> Validation:
        """The development set."""
        return Validation(self.dev, every=1, patience=PATIENCE)

    def right(self, weights: Weights) -> str:
        """Which test documents are labelled right, as a string of 0 and 1."""
        w, bias = columns_of(weights.dense(), self.test_matrix.shape[1], self.task.width, bias=True)
        said = (self.test_matrix @ w + bias)[:, 0] > 0
        return "".join("1" if yes else "0" for yes in said == self.test_gold)


Search = Callable[[Tuning], list[Trial]]


def over_grid(grid: Mapping[str, tuple[float, ...]], **settings: Any) -> Search:
    """Every combination."""
    return lambda t: grid_search(replace(t.training, **settings), t.task, t.watch, grid)


def halving(t: Tuning) -> list[Trial]:
    """A search that needs far fewer rounds than the grid."""
    ranges = {"sentence": (SEN[0], SEN[-1]), "l1": (SEN[0], SEN[-1]), "rho": (RHOS[0], RHOS[-1])}
    return successive_halving(replace(t.training, stopping="paper"), t.task, t.watch, ranges)


METHODS: dict[str, Search] = {
    "lasso": over_grid({"l1": LAMBDAS}, penalty="lasso"),
    "ridge": over_grid({"l2": LAMBDAS}, penalty="ridge"),
    "elastic net": over_grid({"l2": LAMBDAS, "l1": LAMBDAS}, penalty="elastic-net"),
    "sentence": over_grid({"sentence": LAMBDAS, "rho": RHOS, "l1": LAMBDAS}, stopping="paper"),
    "no sentences": over_grid({"sentence": (0.0,), "rho": RHOS, "l1": LAMBDAS}, stopping="paper"),
    "certified": over_grid({"sentence": SEN, "l1": SEN}, tol=1e-3, time_limit=30.0),
    "halving": halving,
}


def tune(*, task: str, method: str, threads: int, fifth: int = 4) -> dict[str, Any]:
    """Chooses strengths on the development set, and tests what was chosen."""
    t = Tuning.of(task, threads, fifth)
    began = time.perf_counter()
    trials = METHODS[method](t)
    seconds = time.perf_counter() - began
    best = best_trial(trials)
    right = t.right(best.result.weights)
    return {
        "settings": dict(best.settings),
        "dev": best.score,
        "test": right.count("1") / len(right),
        "right": right,
        "size": best.size / best.result.weights.n_features,
        "iterations": best.iterations,
        "gap": best.result.gap,
        "fits": len(trials),
        "rounds": sum(trial.rounds for trial in trials),
        "seconds": seconds,
        "words": len(t.task.bag.words),
        "groups": t.task.corpus.n_sentences,
    }


FIFTHS = 5


def cross_validate(*, task: str, method: str, threads: int) -> dict[str, Any]:
    """Chooses strengths, and rounds of stopped ADMM, by all fifths of the training messages; then learns from all."""
    tried: dict[str, list[list[tuple[float, int]]]] = {}
    began = time.perf_counter()
    for fifth in range(FIFTHS):
        t = Tuning.of(task, threads, fifth)
        for trial in METHODS[method](t):
            tried.setdefault(json.dumps(trial.settings), []).append(curve(trial))
    ranked = [
        (mean(score for score, _ in fits), -mean(size for _, size in fits), rounds, settings)
        for settings, curves in tried.items()
        for rounds, fits in enumerate(zip(*curves, strict=False), start=1)  # as many as all of them have
    ]
    score, _, rounds, settings = max(ranked, key=lambda one: one[:2])
    given = documents_of(task)
    everything = replace(given, train=(given.train[0] + given.dev[0], given.train[1] + given.dev[1]))
    t = Tuning.made(everything, reader_of(task), threads)
    weights = fit_once(t, method, {"settings": json.loads(settings), "iterations": rounds}).weights
    right = t.right(weights)
    return {
        "settings": json.loads(settings),
        "dev": score,
        "test": right.count("1") / len(right),
        "right": right,
        "size": weights.n_active / weights.n_features,
        "iterations": rounds,
        "fits": sum(map(len, tried.values())),
        "seconds": time.perf_counter() - began,
    }


def curve(trial: Trial) -> list[tuple[float, int]]:
    """Score and size after every round of ADMM; of anything else there is only the end."""
    rounds = [(event.dev, event.active) for event in trial.result.history if event.dev is not None]
    return rounds or [(trial.score, trial.size)]


def time_fits(*, task: str, chosen: dict[str, Any], repeats: int, threads: int) -> dict[str, Any]:
    """Median seconds of a fit of each method with its tuned strengths, and of scikit-learn's lasso; they take turns."""
    from sklearn.linear_model import LogisticRegression

    t = Tuning.of(task, threads)
    X = t.task.bag.matrix(t.task.corpus)

    def liblinear() -> Any:
        strength = 1 / chosen["lasso"]["settings"]["l1"]
        return LogisticRegression(C=strength, l1_ratio=1.0, solver="liblinear").fit(X, t.task.gold)

    functions: dict[str, Callable[[], Any]] = {"scikit-learn's lasso": liblinear}
    for method, told in chosen.items():
        functions[method] = partial(fit_once, t, method, told)
    times: dict[str, list[float]] = {name: [] for name in functions}
    for repeat in range(repeats + 1):
        for name, function in functions.items():
            began = time.perf_counter()
            function()
            if repeat:
                times[name].append(time.perf_counter() - began)
    return {name: median(own) for name, own in times.items()}


def fit_once(t: Tuning, method: str, told: dict[str, Any]) -> Any:
    """One fit with given strengths; stopped ADMM runs as many rounds as the development set chose."""
    settings = dict(told["settings"])
    if method in ("sentence", "no sentences", "halving"):
        settings |= {"stopping": "paper", "max_iter": told["iterations"]}
    elif method == "certified":
        settings |= {"tol": 1e-3}
    else:
        settings |= {"penalty": method.replace(" ", "-")}
    training = replace(t.training, **settings)
    return training.solve(training.again(t.task))


def grow(*, groups: int, rounds: int, threads: int) -> dict[str, Any]:
    """Rounds of ADMM on so many sentences: all documents there are, over and over again."""
    training = DocumentTraining(
        stopping="paper", rho=1.0, sentence=0.1, l1=1.0, max_iter=rounds, tol=1e-12, n_jobs=threads
    )
    texts, labels = everything(groups, training.text_reader)
    began = time.perf_counter()
    task = training.prepare(texts, labels)
    prepared = time.perf_counter() - began
    began = time.perf_counter()
    result = training.solve(task)
    seconds = time.perf_counter() - began
    return {
        "documents": len(texts),
        "groups": task.corpus.n_sentences,
        "tokens": task.corpus.n_tokens,
        "words": len(task.bag.words),
        "prepare": prepared,
        "round": seconds / len(result.history),
        "active": result.weights.n_active,
        "peak_mb": peak_mb(),
    }


def everything(groups: int, reader: TextReader) -> tuple[list[str], list[str]]:
    """Documents with at least so many sentences in all; half of the classes of every task against the other half."""
    texts: list[str] = []
    labels: list[str] = []
    for name in (*NEWS, *REVIEWS):
        given = documents_of(name)
        for part in (given.train, given.dev, given.test):
            first = sorted(set(part[1]))[0]
            texts += ["\n".join(text) if isinstance(text, list) else text for text in part[0]]
            labels += ["first" if label == first else "second" for label in part[1]]
    sizes = np.diff(reader.read(texts).documents)
    order = np.random.default_rng(0).permutation(len(texts))
    chosen: list[int] = []
    total = 0
    while total < groups:
        for i in order:
            chosen.append(int(i))
            total += int(sizes[i])
            if total >= groups:
                break
    return [texts[i] for i in chosen], [labels[i] for i in chosen]


SIX = [(values, name) for values in ("counts", "binary", "tf-idf") for name in ("L1", "L2")]
CS = tuple(10.0 ** (k / 2) for k in range(-5, 7))  # of scikit-learn: 1/λ


def default(*, task: str, threads: int) -> dict[str, Any]:
    """A training without any options, and the best of six logistic regressions of scikit-learn, on the same folds.

    Test documents are looked at once, after both have chosen.
    """
    given, reader = documents_of(task), reader_of(task)
    data = LabelledDocuments([*given.train[0], *given.dev[0]], [*given.train[1], *given.dev[1]])
    training = DocumentTraining(reader=reader, n_jobs=threads)
    began = time.process_time()
    model = training.run(data).model
    seconds = time.process_time() - began
    predicted = model.predict(model.read(given.test[0]))
    right = "".join("1" if a == b else "0" for a, b in zip(predicted, given.test[1], strict=True))
    heavy = sorted(
        (word for label in model.labels for word in heaviest_words(model, label)),
        key=lambda w: -(w.effect or 0.0),
    )
    cuts = training._cuts(data)
    theirs = max(
        (of_scikit_learn(values, name, data, given, reader, cuts) for values, name in SIX), key=_by_folds
    )
    return {
        "right": right,
        "words": len(model.words),
        "candidates": model.info["candidate_words"],
        "heaviest": [each.word for each in heavy[:10]],
        "chosen": model.info["tuning"]["chosen"],
        "seconds": seconds,
        "theirs": theirs,
    }


def _by_folds(told: dict[str, Any]) -> float:
    return float(told["score"])


def of_scikit_learn(
    values: Any, name: str, data: LabelledDocuments, given: Documents, reader: TextReader, cuts: Any
) -> dict[str, Any]:
    """Its logistic regression, tuned by `LogisticRegressionCV`."""
    from sklearn.linear_model import LogisticRegressionCV

    corpus = reader.read(data.documents)
    bag = BagOfWords(values).fit(corpus)
    everything = np.arange(len(corpus))
    settings = {
        "l1_ratios": (1.0 if name == "L1" else 0.0,),
        "solver": "liblinear" if name == "L1" else "lbfgs",
    }
    began = time.process_time()
    fitted = LogisticRegressionCV(
        Cs=CS,
        cv=[(np.setdiff1d(everything, cut), cut) for cut in cuts],
        max_iter=1000,
        random_state=0,
        use_legacy_attributes=True,
        **settings,
    ).fit(bag.matrix(corpus), np.asarray(data.labels))
    seconds = time.process_time() - began
    scores = next(iter(fitted.scores_.values()))
    predicted = fitted.predict(bag.matrix(reader.read(given.test[0])))
    right = "".join("1" if a == b else "0" for a, b in zip(predicted, given.test[1], strict=True))
    return {
        "name": f"{values}, {name}",
        "score": float(np.max(np.mean(scores, axis=0))),
        "right": right,
        "features": int(np.count_nonzero(fitted.coef_)),
        "seconds": seconds,
    }


JOBS: dict[str, Job] = {
    "default": default,
    "tune": tune,
    "cross_validate": cross_validate,
    "time_fits": time_fits,
    "grow": grow,
}
