"""What the experiment on web records (Zhu, Xing & Zhang 2009, §5.4) runs: fits of all methods on some pages.

Each is a job: a function with settings that can be written as JSON, and so can what it returns. Pages are read once and
kept in a file; the methods of a job share its features. Tables and figures are in zhu2009_web.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from endings import ProcessorTime
from jobs import Job
from parsimon._core import StringTable
from parsimon.arrays import IntArray
from parsimon.data import load_web_records
from parsimon.features.columns import Columns, Labels, offsets_of
from parsimon.features.links import Links
from parsimon.features.node_kinds import NodeKinds
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.tree_columns import tree_columns
from parsimon.losses import get_loss
from parsimon.penalties import L1, L2, KLNorm, Penalty
from parsimon.solvers import LBFGS, FrankWolfe, Smoothing, Solver, Status, Weights, WorkingSet
from parsimon.tasks.pages.columns import KIND, LEAF, PAGE_TEMPLATES, TEXT_TEMPLATES, page_tree
from parsimon.tasks.pages.labels import NONE, label_page
from parsimon.tasks.pages.metrics import score_records
from parsimon.tasks.pages.page import clean, read_page
from parsimon.tasks.sequences.training import SequenceTask, SequenceTraining, make_batches
from results import PAGES

KEPT = PAGES.parents[1] / "build" / "zhu2009_web"
POOL = 20  # of a site's 60 pages, from which training pages are drawn; the others are for testing
CUTOFF = 2  # attributes that occur only once are left out
Record = dict[str, list[str]]

# --- Data ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pages:
    """All pages as trees, with labels, and the texts at their leaves."""

    X: Columns
    y: Labels
    leaf: Any  # of each node, whether it is one
    texts: list[list[str]]  # by page
    records: list[Record]
    sites: list[str]

    def flat(self) -> tuple[Columns, Labels]:
        """Texts in reading order."""
        ids = np.ascontiguousarray(self.X.ids[:, self.leaf])
        lengths = np.array([len(texts) for texts in self.texts], np.int32)
        names = [name for name in self.y.names if name in self.attributes or name == NONE]
        y = Labels(self.y.ids[self.leaf], lengths, self.y.names).renumbered(names)
        return Columns(ids, lengths, self.X.strings), y

    def trees(self) -> tuple[Columns, Labels]:
        """Leaves may only have attributes for labels, elements only what they can be."""
        return NodeKinds.learn(self.X, KIND, self.y).limit(self.X), self.y

    @property
    def attributes(self) -> set[str]:
        """Of all records."""
        return {name for record in self.records for name in record}


def prepare(*, threads: int, limit: int | None) -> dict[str, Any]:
    """Reads all pages (or the first of every site) and keeps their trees; says how large they are."""
    began = time.perf_counter()
    found = [record for record in load_web_records() if limit is None or int(record.id) < limit]
    pages = [read_page(record.html) for record in found]
    full = sum(len(read_page(record.html, compact=False)) for record in found[:: len(found) // 20])
    X = tree_columns([page_tree(page) for page in pages])
    y = Labels.from_sequences(
        [label_page(page, record.values) for page, record in zip(pages, found, strict=True)]
    )
    assert X.links is not None
    text, start = X.strings.pack(np.arange(len(X.strings), dtype=np.int32))
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    np.savez(
        kept("npz", limit),
        ids=X.ids,
        lengths=X.lengths,
        parent=X.links.parent,
        y=y.ids,
        text=text,
        start=start,
    )
    told: dict[str, Any] = {
        "labels": list(y.names),
        "texts": [[page.texts[t] for t in page.leaves] for page in pages],
        "records": [
            {name: [clean(v) for v in values] for name, values in record.values.items()} for record in found
        ],
        "sites": [record.site for record in found],
    }
    kept("json", limit).write_text(json.dumps(told))
    leaves = sum(map(len, told["texts"]))
    return {
        "pages": len(pages),
        "sites": len(set(told["sites"])),
        "nodes": X.n_tokens / len(pages),
        "texts": leaves / len(pages),
        "before": full / len(found[:: len(found) // 20]),
        "seconds": time.perf_counter() - began,
    }


def kept(ending: str, limit: int | None) -> Path:
    """The file of all pages, or of some."""
    return KEPT.with_name(f"{KEPT.name}{'' if limit is None else f'-{limit}'}.{ending}")


def load(limit: int | None) -> Pages:
    """What `prepare` has kept."""
    arrays, told = np.load(kept("npz", limit)), json.loads(kept("json", limit).read_text())
    strings = StringTable.unpack(arrays["text"], arrays["start"])
    X = Columns(arrays["ids"], arrays["lengths"], strings, Links.from_parents(arrays["parent"]))
    y = Labels(arrays["y"], arrays["lengths"], told["labels"])
    leaf = X.ids[KIND] == strings.find(LEAF)
    return Pages(X, y, leaf, told["texts"], told["records"], told["sites"])


def pool_and_test(pages: Pages) -> tuple[IntArray, IntArray]:
    """Pages to draw from and to test on, the same for all draws: as in the paper, one third of each site and two."""
    rng, pool, test = np.random.default_rng(0), [], []
    for site in sorted(set(pages.sites)):
        own = rng.permutation([i for i, name in enumerate(pages.sites) if name == site])
        cut = min(POOL, len(own) // 3)
        pool.append(own[:cut])
        test.append(own[cut:])
    return np.sort(np.concatenate(pool)), np.sort(np.concatenate(test))


def drawn(pages: Pages, share: float, draw: int) -> tuple[IntArray, IntArray, IntArray]:
    """Pages to learn from, a share of the pool; what is left of the pool, to choose constants by; and test pages."""
    pool, test = pool_and_test(pages)
    order = np.random.default_rng([1, draw]).permutation(pool)
    cut = round(share * len(pool))
    return np.sort(order[:cut]), np.sort(order[cut:]), test


def drawn_sites(pages: Pages, sites: int, draw: int) -> tuple[IntArray, IntArray, IntArray]:
    """All pages in the pool of some sites, and the test pages of the others."""
    pool, test = pool_and_test(pages)
    chosen = np.random.default_rng([2, draw]).permutation(sorted(set(pages.sites)))[:sites]
    known = np.isin(pages.sites, chosen)
    return pool[known[pool]], pool[~known[pool]], test[~known[test]]


# --- Methods ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """A loss, a penalty that is made of a strength, and a solver."""

    loss: str
    penalty: Callable[[float], Penalty]
    solver: Solver


SHARPNESS = 1e4  # λ of the Laplace M3N: its norm is an L1 norm rounded off within 1/√λ of zero
# Objectives are Σ loss + Ω, so that ½‖w‖² + C Σξ of the paper is L2(1/C) and ‖w‖₁ + C Σξ is L1(1/C).
METHODS = {
    "CRF": Method("log", L2, LBFGS(tol=1e-5)),  # with next to no penalty
    "L2-CRF": Method("log", L2, LBFGS(tol=1e-5)),
    "L1-CRF": Method("log", L1, WorkingSet(tol=1e-5)),
    "M3N": Method("hinge", L2, FrankWolfe(tol=3e-2)),
    "LapM3N": Method(
        "hinge", lambda s: KLNorm(SHARPNESS, s / SHARPNESS**0.5), Smoothing(tol=3e-2, factor=0.1, steps=30)
    ),
    "L1-M3N": Method("hinge", L1, Smoothing(tol=3e-2, factor=0.1, steps=30)),
}


def fit(
    *,
    structure: str,
    part: dict[str, Any],
    on: str,
    grid: dict[str, Sequence[float]],
    seconds: float,
    threads: int,
    limit: int | None,
) -> dict[str, Any]:
    """Learns with all methods and strengths of a grid from a part of the pages, and scores records on others.

    `part` is a share and a draw, or a number of sites and a draw; `on` is "test", or "rest" for what is left of the
    pool. `seconds` are a limit for every fit, of processor time.
    """
    pages = load(limit)
    train, rest, test = (drawn_sites if "sites" in part else drawn)(pages, **part)
    scored = test if on == "test" else rest
    X, y = pages.trees() if structure == "tree" else pages.flat()
    templates = PAGE_TEMPLATES if structure == "tree" else TEXT_TEMPLATES
    training = SequenceTraining(n_jobs=threads)
    space = TemplateFeatures(templates, cutoff=CUTOFF)
    task = training.prepare(space, X[train], y[train])  # type: ignore[call-overload]
    decode = decoder(task, space, X[scored], threads)  # type: ignore[call-overload]
    fits: dict[str, list[dict[str, Any]]] = {}
    for name, strengths in grid.items():
        how = METHODS[name]
        fits[name] = []
        for strength in strengths:
            problem = replace(
                task.problem, loss=get_loss(how.loss).bind(task.labels), penalty=how.penalty(strength)
            )
            own = replace(training, solver=ProcessorTime(how.solver, seconds))
            began = time.process_time()
            result = own.solve(replace(task, problem=problem), Weights.zeros(problem.n_features))
            if result.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            told = {
                "seconds": time.process_time() - began,
                "status": result.status.name,
                "gap": None if result.gap is None else result.gap / max(abs(result.objective), 1e-300),
                "active": result.weights.n_active,
            }
            records = found(pages, scored, decode(result.weights), task.labels, structure)
            scores = score_records([pages.records[i] for i in scored], records)
            told |= {"f1": scores.average_f1, "accuracy": scores.accuracy, "by_attribute": scores.f1}
            fits[name].append(told)
    return {"fits": fits, "features": task.problem.n_features, "pages": len(train), "nodes": task.n_tokens}


def decoder(
    task: SequenceTask, space: TemplateFeatures, X: Columns, threads: int
) -> Callable[[Weights], IntArray]:
    """The best labels under any weights; what is seen is looked up once."""
    seen = space.observe(X, threads)
    batches = list(make_batches(seen, np.zeros(seen.n_tokens, np.int32), task.index, threads))

    def decode(weights: Weights) -> IntArray:
        alive = weights.nonzero()
        assert alive.features is not None
        labels = []
        for batch in batches:
            small = batch.restrict(alive.features)
            labels.append(small.structure.argmax(small.design.scores(alive.values))[1])
        return np.concatenate(labels)

    return decode


def found(
    pages: Pages, chosen: IntArray, labels: IntArray, names: Sequence[str], structure: str
) -> list[Record]:
    """The records that labels of some pages' nodes (or texts) stand for."""
    at = offsets_of(pages.X.lengths)
    if structure == "tree":
        labels = labels[np.concatenate([pages.leaf[at[i] : at[i + 1]] for i in chosen])]
    records, begin = [], 0
    for i in chosen:
        texts, record = pages.texts[i], dict[str, list[str]]()
        own = labels[begin : begin + len(texts)]
        for t in np.flatnonzero([names[label] != NONE for label in own]):
            record.setdefault(names[own[t]], []).append(texts[t])
        records.append(record)
        begin += len(texts)
    return records


JOBS: dict[str, Job] = {"prepare": prepare, "fit": fit}
