"""Structured sparsity in structured prediction (Martins, Smith, Aguiar & Figueiredo 2011): chunking and entities.

Every table and figure is a function; `python experiments/martins2011.py table1 --write` runs one and puts it into
docs/results/martins2011.md beside what the paper published. Choices were made on a held-out tenth of the training
data (`explore`), never on the test data. Dependency parsing is in martins2011_parsing.py.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np

from parsimon.data import load_conll2000, load_conll2002
from parsimon.features.columns import Columns, Labels
from parsimon.features.presets import get_preset
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.template_order import TemplateOrder
from parsimon.features.templates import TemplateSet
from parsimon.inspect import pruned
from parsimon.metrics import SpanCounter
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso
from parsimon.penalties.groupings import ByAttribute, ByOrder, ByTemplate
from parsimon.report.markdown import table
from parsimon.selection import Candidates, GroupLassoPath, InformationGain, Selected, Selection, Sparseptron
from parsimon.solvers import Decreasing, Monitor, Online, PassiveAggressive
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import SequenceTraining
from results import figure, main, percent, say, whole

BUDGETS = (10, 20, 30, 40, 50)
PUBLISHED_CHUNKING = {
    "MIRA": (93.10, 5_300_396),
    10: (92.99, 71_075),
    20: (93.28, 158_844),
    30: (93.59, 389_065),
    40: (93.42, 662_018),
    50: (93.40, 891_378),
}
C = 0.02  # MIRA's largest step, chosen on the held-out tenth
PRUNE = 1.0  # after MIRA, weights below this share of the root mean square of all are dropped; likewise
EPOCHS = 10


@dataclass(frozen=True)
class Data:
    """Something to learn from, to try on, and to test on."""

    train: tuple[Columns, Labels]
    test: tuple[Columns, Labels]
    dev: tuple[Columns, Labels] | None = None


@cache
def chunking() -> Data:
    """CoNLL-2000."""
    return Data(load_conll2000("train"), load_conll2000("test"))


@cache
def held_out(tenth: int = 0) -> Data:
    """A tenth of CoNLL-2000's training data in place of a test set; all choices are made on it."""
    X, y = load_conll2000("train")
    aside = np.arange(len(X)) % 10 == tenth
    return Data((X[~aside], y[~aside]), (X[aside], y[aside]))


@cache
def entities(language: Any) -> Data:
    """CoNLL-2002."""
    return Data(*(load_conll2002(language, split) for split in ("train", "testb", "testa")))


@cache
def on_dev(language: Any) -> Data:
    """CoNLL-2002 with its development set in place of the test set; choices are made on it."""
    whole_set = entities(language)
    assert whole_set.dev is not None
    return Data(whole_set.train, whole_set.dev)


@dataclass(frozen=True)
class Outcome:
    """A model, scored."""

    model: SequenceModel
    f1: float
    dev: float | None
    features: int
    templates: int
    seconds: float
    peak: int | None  # weights that existed at most while templates were chosen
    pruned_f1: float  # the same after pruning
    pruned_dev: float | None
    pruned_features: int


def mira(
    epochs: int = EPOCHS, most: float = C, burn_in: float = 1 / 3, seed: int = 0, **settings: Any
) -> dict[str, Any]:
    """Max-loss 1-best MIRA without a penalty, as the paper refits."""
    return {
        "loss": "hinge",
        "solver": Online(epochs, PassiveAggressive(most), burn_in=burn_in, seed=seed),
        "penalty": L2(0.0),
        **settings,
    }


def lean(budget: int, **settings: Any) -> Sparseptron:
    """A sparseptron whose budget falls in the first fifth of an epoch: few weights exist at a time."""
    return Sparseptron(budget, **{"fall": 0.2, **settings})


def hasty(budget: int, **settings: Any) -> Sparseptron:
    """One that prefers small templates and drops most of them early, so that the others can be tried for longer."""
    steeper = ByTemplate(weight="log2^1.5")
    return Sparseptron(budget, **{"groups": steeper, "fall": 1.5, "haste": 3.0, **settings})


def crf(l1: float = 0.5, l2: float = 0.1, debias: float | None = 0.5, **settings: Any) -> dict[str, Any]:
    """An elastic-net CRF, debiased; strengths were chosen on the held-out tenth."""
    return {"loss": "log", "penalty": ElasticNet(l1, l2), "debias": debias, "tol": 1e-4, **settings}


def learn(data: Data, templates: TemplateSet, threads: int, **settings: Any) -> Outcome:
    """Trains, and scores on the test data (and the development data)."""
    began = time.perf_counter()
    training = SequenceTraining(n_jobs=threads, **settings)
    model = training.fit(TemplateFeatures(templates), *data.train)
    took = time.perf_counter() - began
    used = np.unique(model.space.node_templates(np.arange(model.space.n_node)))
    small = pruned(model, PRUNE * float(np.sqrt(np.mean(model.weights**2))))
    return Outcome(
        model,
        f1_of(model, data.test, threads),
        None if data.dev is None else f1_of(model, data.dev, threads),
        len(model.weights),
        len(used),
        took,
        (model.info["selection"] or {}).get("instantiated"),
        f1_of(small, data.test, threads),
        None if data.dev is None else f1_of(small, data.dev, threads),
        len(small.weights),
    )


def f1_of(model: SequenceModel, data: tuple[Columns, Labels], threads: int) -> float:
    """Span F1."""
    X, y = data
    names = [*model.labels, *(name for name in y.names if name not in model.labels)]
    predicted = model.predict_columns(X, threads).renumbered(names)
    return SpanCounter(names).count(y.renumbered(names).ids, predicted.ids, y.lengths).f1


# --- Choices ------------------------------------------------------------------------------------------------


def explore(threads: int) -> str:
    """The selection rule, tried on the held-out tenth with budgets of 30 and 10 templates and a MIRA refit."""
    data, templates = held_out(), get_preset("martins-chunking")
    rows = []

    def add(name: str, settings: Callable[[int], dict[str, Any]], seeds: tuple[int, ...] = (0, 1, 2)) -> None:
        each = [learn(data, templates, threads, **settings(seed)) for seed in seeds]
        told = [percent(float(np.mean([o.f1 for o in each]))), " ".join(percent(o.f1) for o in each)]
        told += [
            whole(np.mean([o.features for o in each])),
            percent(float(np.mean([o.pruned_f1 for o in each]))),
        ]
        told += [whole(np.mean([o.pruned_features for o in each]))]
        peaks = [o.peak for o in each if o.peak]
        rows.append([name, *told, whole(max(peaks)) if peaks else "–"])
        say(" ".join(rows[-1]))

    for most in (0.006, 0.02):
        for burn_in in (0.0, 1 / 3):
            name = f"MIRA on all templates, C = {most:g}, " + (
                "last 2/3 averaged" if burn_in else "all averaged"
            )
            add(name, lambda seed, m=most, b=burn_in: mira(15, m, burn_in=b, seed=seed))
    ones, root, steeper = (
        {"groups": ByTemplate(weight=weight)} for weight in ("ones", "sqrt-log2", "log2^1.5")
    )
    at_once: dict[str, Any] = {"every": 1000, "fall": 0.0}
    hasty_at_first = {"fall": 1.5, **steeper}
    rules: list[tuple[str, dict[str, Any]]] = [
        ("d = log2, K = 1,000, survivors shrunk (as published)", {"shrink": True, **at_once}),
        ("d = 1, K = 1,000, survivors shrunk", {"shrink": True, **ones, **at_once}),
        ("d = log2, K = 1,000", at_once),
        ("d = √log2, K = 1,000", {**root, **at_once}),
        ("d = log2, K = 50, budget falls over ⅕ epoch", {"fall": 0.2}),
        ("d = log2, K = 50, budget falls over an epoch (the default)", {}),
        ("d = log2^1.5, K = 50, budget falls over half an epoch", {"fall": 0.5, **steeper}),
        ("d = log2^1.5, K = 50, budget falls over an epoch", steeper),
        ("d = log2^1.5, K = 50, budget falls over 1½ epochs, haste 2", {"haste": 2.0, **hasty_at_first}),
        ("d = log2^1.5, K = 50, budget falls over 1½ epochs, haste 3", {"haste": 3.0, **hasty_at_first}),
    ]
    for budget in (30, 10):
        for name, rule in rules:
            add(
                f"B = {budget}, {name}",
                lambda seed, b=budget, r=rule: mira(selection=Sparseptron(b, seed=seed, **r)),
            )
    for l1, l2, debias in ((0.5, 1e-5, None), (0.5, 1e-5, 0.5), (0.5, 0.1, 0.5), (0.3, 0.1, None)):
        for fall in (0.2, 1.0):
            name = f"B = 30, budget falls over {fall:g} epoch, CRF l1 = {l1:g}, l2 = {l2:g}"
            name += "" if debias is None else f", debiased {debias:g}"
            settings = partial(crf, l1, l2, debias)
            add(name, lambda seed, c=settings, f=fall: c(selection=Sparseptron(30, fall=f, seed=seed)), (0,))
    name = "B = 30, d = log2^1.5, over 1½ epochs, haste 3, CRF l1 = 0.5, l2 = 0.1, debiased 0.5"
    add(name, lambda seed: crf(selection=hasty(30, seed=seed)), (0, 1))
    head = ["", "F1, held out", "by seed", "features", "F1, pruned", "features", "weights at the peak"]
    return table(head, rows)


def explore_wide(threads: int) -> str:
    """Whether words together with parts of speech help a CRF, and how strong its penalties should be: three tenths."""
    rows = []

    def add(preset: str, l1: float, l2: float) -> None:
        settings = crf(l1, l2, selection=Sparseptron(30))
        each = [learn(held_out(k), get_preset(preset), threads, **settings) for k in range(3)]
        cells = [percent(float(np.mean([o.f1 for o in each]))), " ".join(percent(o.f1) for o in each)]
        rows.append(
            [f"{preset}, l1 = {l1:g}, l2 = {l2:g}", *cells, whole(np.mean([o.features for o in each]))]
        )
        say(" ".join(rows[-1]))

    add("martins-chunking", 0.5, 0.1)
    for l1, l2 in ((0.5, 0.1), (0.45, 0.15)):
        add("chunking-wide", l1, l2)
    return table(["", "F1, held out", "by tenth", "features"], rows)


def keep(threads: int) -> str:
    """Whether the second stage should keep features or templates: tenths of the chunking data, dev sets of entities."""
    chunks, names = get_preset("martins-chunking"), get_preset("martins-ner")
    tenths = [held_out(k) for k in range(3)]
    sets: list[tuple[str, list[Data], TemplateSet, tuple[int, ...], dict[str, Any]]] = [
        ("chunking", tenths, chunks, (10, 20, 30), mira()),
        ("Spanish", [on_dev("esp")], names, (100, 200), mira()),
        ("Dutch", [on_dev("ned")], names, (100, 200), mira()),
        ("chunking", tenths, chunks, (20,), crf()),
        ("Spanish", [on_dev("esp")], names, (100,), crf(candidates="seen")),
    ]
    rows = []
    for name, parts, templates, budgets, settings in sets:
        for budget in budgets:
            both = {
                what: [
                    learn(data, templates, threads, **settings, selection=Sparseptron(budget), keep=what)
                    for data in parts
                ]
                for what in ("features", "templates")
            }
            f1 = {what: 100 * np.array([each.f1 for each in found]) for what, found in both.items()}
            gain = f1["features"] - f1["templates"]
            error = f" ± {gain.std(ddof=1) / len(gain) ** 0.5:.2f}" if len(gain) > 1 else ""
            cells = [f"{gain.mean():+.2f}{error}"]
            for what, found in both.items():
                cells += [f"{f1[what].mean():.2f}", whole(np.mean([each.features for each in found]))]
            rows.append([f"{name}, B = {budget}, {'MIRA' if settings['loss'] == 'hinge' else 'CRF'}", *cells])
            say(" ".join(rows[-1]))
    head = ["", "features − templates", "features kept: F1", "features", "templates kept: F1", "features"]
    return table(head, rows)


# --- Table 1 and figure 2: chunking -------------------------------------------------------------------------


def table1(threads: int) -> str:
    """MIRA on all templates and on those that the sparseptron leaves; other ways of choosing them."""
    data, templates = chunking(), get_preset("martins-chunking")
    rows = []

    def add(name: str, published: Any, **settings: Any) -> Outcome:
        outcome = learn(data, templates, threads, **settings)
        told = PUBLISHED_CHUNKING.get(published)
        rows.append(
            [
                name,
                percent(outcome.f1),
                whole(outcome.features),
                percent(outcome.pruned_f1),
                whole(outcome.pruned_features),
                str(outcome.templates),
                whole(outcome.peak),
                f"{outcome.seconds:.1f} s",
                f"{told[0]:.2f}" if told else "–",
                whole(told[1]) if told else "–",
            ]
        )
        say(" ".join(rows[-1]))
        return outcome

    add("MIRA on all, 15 epochs", "MIRA", **mira(15))
    for budget in BUDGETS:
        add(f"sparseptron B = {budget}, MIRA", budget, **mira(), selection=hasty(budget))
    add("budget falls over ⅕ epoch, B = 30, MIRA", 30, **mira(), selection=lean(30))
    add("budget falls over an epoch, B = 30, MIRA", 30, **mira(), selection=Sparseptron(30))
    for name, selection in other_choices(templates):
        add(f"{name}, MIRA", None, **mira(), selection=selection)
    for strength in (0.5, 1.0, 2.0):
        solver = Online(15, Decreasing(0.1))
        add(f"L1 {strength:g}, online hinge", None, loss="hinge", solver=solver, penalty=L1(strength))
    for strength in (2.0, 10.0, 50.0):
        penalty = GroupLasso(strength, ByTemplate(), l1=0.1)
        solver = Online(15, Decreasing(0.1))
        add(
            f"sparse group lasso {strength:g}, 0.1, online hinge",
            None,
            loss="hinge",
            solver=solver,
            penalty=penalty,
        )
    head = ["", "F1", "features", "F1, pruned", "features", "templates", "weights at the peak", "training"]
    head += ["published F1", "features"]
    return table(head, rows)


def other_choices(templates: TemplateSet) -> Iterator[tuple[str, Selection]]:
    """Groups other than templates, and a filter."""
    order = TemplateOrder.from_symbols(templates)
    yield "coarse to fine B = 30", lean(30, groups=ByOrder(order))
    yield "attributes as groups, B = 100,000", lean(100_000, groups=ByAttribute())
    yield "information gain, 30", InformationGain(30)


def seeds(threads: int) -> str:
    """The default rule with five orders of the sentences; the second stage keeps the features of the first (`keep`)."""
    data, templates = chunking(), get_preset("martins-chunking")
    rows = []
    for budget in (10, 20):
        found = []
        for seed in range(5):
            selection = Sparseptron(budget, seed=seed)
            found.append(learn(data, templates, threads, **mira(selection=selection, seed=seed)))
            say(f"B = {budget}, seed {seed}: {percent(found[-1].f1)}")
        scores = np.array([outcome.f1 for outcome in found])
        peak = max(highest(outcome.model) for outcome in found)
        rows.append(
            [
                f"B = {budget}",
                f"{percent(scores.mean())} ± {100 * scores.std(ddof=1) / len(scores) ** 0.5:.2f}",
                " ".join(percent(score) for score in scores),
                whole(np.mean([outcome.features for outcome in found])),
                percent(float(np.mean([outcome.pruned_f1 for outcome in found]))),
                whole(np.mean([outcome.pruned_features for outcome in found])),
                f"{whole(peak)} ({100 * peak / PUBLISHED_CHUNKING['MIRA'][1]:.1f} %)",
            ]
        )
    head = ["", "F1 ± standard error over seeds", "by seed", "features", "F1, pruned", "features"]
    return table([*head, "most weights at a time, of MIRA's 5,300,396"], rows)


def highest(model: SequenceModel) -> int:
    """How many weights existed at most, over both stages."""
    stages = [model.info["selection"]["history"], model.info["history"]]
    return max(n for stage in stages for event in stage for n in event.get("instantiated", ()))


def figure2(threads: int) -> str:
    """How many weights exist, epoch by epoch."""
    data, templates = chunking(), get_preset("martins-chunking")
    both = learn(data, templates, threads, **mira(), selection=hasty(30))
    alone = learn(data, templates, threads, **mira(15))
    first = _counts(both.model.info["selection"]["history"], 0)
    second = _counts(both.model.info["history"], 5)
    all_of_them = _counts(alone.model.info["history"], 0)

    def draw(axes: Any) -> None:
        axes.plot(*all_of_them, label="MIRA, all templates")
        axes.plot(*np.concatenate([first, second], axis=1), label="sparseptron (5 epochs), then MIRA, B = 30")
        axes.set(xlabel="epoch", ylabel="weights that exist", ylim=(0, None), xlim=(0, 15))
        axes.legend()
        axes.grid(alpha=0.3)

    most, peak = max(all_of_them[1]), max(first[1])
    text = f"At most {whole(peak)} weights exist while templates are chosen: {100 * peak / most:.1f} % of "
    return f"{text}MIRA's {whole(most)} (published: below 7.5 %).\n\n" + figure("martins2011-figure2", draw)


def _counts(history: list[dict[str, Any]], epoch: int) -> Any:
    """Epochs, as fractions, and the number of weights."""
    points = []
    for number, event in enumerate(history):
        counts = event["instantiated"]
        points += [(epoch + number + (i + 1) / len(counts), n) for i, n in enumerate(counts)]
    return np.array(points).T


# --- Table 2 and 3: entities --------------------------------------------------------------------------------

PUBLISHED_ENTITIES = {
    "esp": {"MIRA": (70.38, 74.09, 8_598_246), 100: (71.79, 73.62, 83_036), 200: (72.08, 75.05, 354_872),
            300: (71.48, 73.3, 600_646), "L1": (71.7, 74.03, 1_555_683)},
    "ned": {"MIRA": (69.15, 71.54, 5_727_004), 100: (69.48, 72.83, 128_320), 200: (71.03, 73.33, 447_193),
            300: (71.2, 72.59, 889_660), "L1": (70.43, 71.89, 953_668)},
}  # fmt: skip
LANGUAGES = {"esp": "Spanish", "ned": "Dutch"}


def table2(language: str, threads: int) -> str:
    """Named entities: dev and test F1 and the number of features."""
    data, templates = entities(language), get_preset("martins-ner")
    published: dict[Any, Any] = PUBLISHED_ENTITIES[language]
    rows = []

    def add(name: str, told: Any, **settings: Any) -> None:
        outcome = learn(data, templates, threads, **settings)
        known = published.get(told)
        rows.append(
            [
                name,
                percent(outcome.dev),
                percent(outcome.f1),
                whole(outcome.features),
                percent(outcome.pruned_dev),
                percent(outcome.pruned_f1),
                whole(outcome.pruned_features),
                f"{outcome.seconds:.0f} s",
                f"{known[0]:.2f} / {known[1]:.2f}" if known else "–",
                whole(known[2]) if known else "–",
            ]
        )
        say(f"{language} " + " ".join(rows[-1]))

    add("MIRA on all, 15 epochs", "MIRA", **mira(15))
    for budget in (100, 200, 300):
        add(f"sparseptron B = {budget}, MIRA", budget, **mira(), selection=lean(budget))
    for budget in (100, 200):
        choice = Sparseptron(budget)
        add(
            f"sparseptron B = {budget}, CRF",
            None,
            **crf(),
            selection=choice,
            candidates="seen",
        )
    for strength in (0.1, 0.5, 1.0):
        solver = Online(15, Decreasing(0.1))
        add(f"L1 {strength:g}, online hinge", "L1", loss="hinge", solver=solver, penalty=L1(strength))
    head = [
        "",
        "dev",
        "test",
        "features",
        "pruned: dev",
        "test",
        "features",
        "training",
        "published dev / test",
    ]
    return table([*head, "features"], rows)


def table3(threads: int) -> str:
    """Which kinds of templates are kept."""
    kept: dict[str, Counter[str]] = {}
    sets = {"chunking": (chunking(), "martins-chunking", 30)}
    sets |= {LANGUAGES[code]: (entities(code), "martins-ner", 200) for code in LANGUAGES}
    for name, (data, preset, budget) in sets.items():
        training = SequenceTraining(n_jobs=threads, selection=lean(budget), **mira(1))
        task = training.prepare(TemplateFeatures(get_preset(preset)), *data.train)
        kept[name] = Counter(kind_of(template) for template in task.space.template_names())
        say(f"{name}: {dict(kept[name])}")
    kinds = sorted({kind for counts in kept.values() for kind in counts})
    rows = [[kind, *(str(kept[name][kind]) for name in kept)] for kind in kinds]
    return table(["", *kept], rows)


def kind_of(template: str) -> str:
    """What a template looks at: `pos 3-gram` for U:pos[-1..1]=…"""
    name = template.partition("=")[0].removeprefix("U:")
    if template.startswith("B"):
        return "label bigram"
    if "&" in name:
        return "conjunctions"
    what, _, place = name.partition("[")
    ends = place.rstrip("]").split("..")
    return f"{what} {int(ends[-1]) - int(ends[0]) + 1}-grams"


# --- Speed, and what the paper did not have -----------------------------------------------------------------


def speed(threads: int) -> str:
    """Time, memory, and how much quicker a model with fewer templates labels."""
    data, templates = chunking(), get_preset("martins-chunking")
    rows = []
    for name, settings in (
        ("sparseptron B = 30, MIRA", mira(selection=hasty(30))),
        ("MIRA on all, 15 epochs", mira(15)),
    ):
        outcome = learn(data, templates, threads, **settings)
        times = []
        for _ in range(5):
            began = time.perf_counter()
            outcome.model.predict_columns(data.test[0], 1)
            times.append(time.perf_counter() - began)
        rate = data.test[0].n_tokens / float(np.median(times))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append([name, f"{outcome.seconds:.1f} s", f"{peak:,.0f} MB", whole(rate)])
        say(" ".join(rows[-1]))
    return table(
        ["", "5 + 10 or 15 epochs, extraction included", "peak memory so far", "tokens/s, 1 thread"], rows
    )


@dataclass(frozen=True)
class First:
    """The best templates of a choice that was made already."""

    choice: Selected
    budget: int
    name: ClassVar[str] = "given"
    weighs_features: ClassVar[bool] = False

    def select(self, candidates: Candidates, monitor: Monitor) -> Selected:
        """Keeps them, and what the choice always keeps."""
        always = self.choice.kept & (self.choice.score == 0)
        best = np.argsort(-self.choice.score, kind="stable")[: self.budget]
        kept = always | np.isin(np.arange(len(always)), best[self.choice.score[best] > 0])
        return replace(self.choice, kept=kept)


def path_of_crf(data: Data, templates: TemplateSet, threads: int, budget: int) -> Selected:
    """Templates in the order in which a group-lasso CRF lets them in."""
    training = SequenceTraining(
        n_jobs=threads, selection=GroupLassoPath(budget, ratio=0.6), candidates="seen"
    )
    chosen = training.prepare(TemplateFeatures(templates), *data.train).selected
    assert chosen is not None
    say("\n".join(f"{strength:10.2f}  {name}" for name, strength in chosen.order[:budget]))
    return chosen


def beyond(threads: int) -> str:
    """Templates chosen by the sparseptron or by a group-lasso CRF, refitted as elastic-net CRFs."""
    data, templates, wide = chunking(), get_preset("martins-chunking"), get_preset("chunking-wide")
    path = cache(lambda: path_of_crf(data, templates, threads, 30))
    choices: dict[str, tuple[TemplateSet, Callable[[int], Selection]]] = {
        "sparseptron": (templates, Sparseptron),
        "sparseptron, words with POS too": (wide, Sparseptron),
        "group-lasso CRF": (templates, lambda budget: First(path(), budget)),
    }
    rows, curves = [], {}
    for name, (candidates, make) in choices.items():
        points = []
        for budget in (5, 10, 20, 30):
            outcome = learn(data, candidates, threads, **crf(), selection=make(budget))
            told = [
                percent(outcome.f1),
                whole(outcome.features),
                str(outcome.templates),
                f"{outcome.seconds:.0f} s",
            ]
            rows.append([f"{name}, B = {budget}, CRF", *told])
            say(" ".join(rows[-1]))
            points.append((outcome.templates, outcome.features, 100 * outcome.f1))
        curves[name] = np.array(points)
    outcome = learn(data, templates, threads, **crf(), candidates="seen")
    rows.append(["all templates, CRF, seen pairs", percent(outcome.f1), whole(outcome.features)])
    rows[-1] += [str(outcome.templates), f"{outcome.seconds:.0f} s"]
    say(" ".join(rows[-1]))

    def draw(axes: Any, column: int, label: str) -> None:
        for name, points in curves.items():
            axes.plot(points[:, column], points[:, 2], "o-", label=name)
        axes.axhline(100 * outcome.f1, color="grey", linestyle=":", label="all templates")
        axes.set(xlabel=label, ylabel="test F1")
        axes.legend()
        axes.grid(alpha=0.3)

    drawn = figure("martins2011-path-templates", lambda axes: draw(axes, 0, "templates"))
    drawn += "\n" + figure("martins2011-path-features", lambda axes: draw(axes, 1, "features"))
    return table(["", "F1", "features", "templates", "training"], rows) + "\n" + drawn


PARTS = {
    "explore": explore,
    "explore_wide": explore_wide,
    "keep": keep,
    "table1": table1,
    "seeds": seeds,
    "figure2": figure2,
    "spanish": partial(table2, "esp"),
    "dutch": partial(table2, "ned"),
    "table3": table3,
    "speed": speed,
    "beyond": beyond,
}

if __name__ == "__main__":
    sys.exit(main(PARTS, "martins2011.md", __doc__ or ""))
