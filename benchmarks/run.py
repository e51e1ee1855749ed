"""Parsimon side by side with its peers, in one run: `python benchmarks/run.py` (or `make bench`).

Prints tables; `--json`, `--markdown` and `--write` also keep them. See benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Any

import growth
import labelling
import segmentation
import startup
import training
from parsimon.data import member
from parsimon.errors import ParsimonError
from parsimon.features.presets import get_preset
from parsimon.features.templates import TemplateSet
from parsimon.report.markdown import replace_blocks
from peers import CRFpp, Parsimon, Peer, Task, Wapiti, python_crfs
from template_strings import sentences

PACKAGES = ("parsimon", "python-crfsuite", "chaine", "underthesea-core", "vaporetto", "ufal.udpipe", "numpy")
PARTS = ("training", "labelling", "segmentation", "growth", "startup")
TARGETS = "12580,12000,11700,11400"
QUICK_SENTENCES = 300
QUICK_TARGETS = "2500,1500,1200"


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    p.add_argument(
        "parts", nargs="*", metavar="PART", help=f"what to measure: {', '.join(PARTS)} (default: all)"
    )
    p.add_argument("--repeats", type=int, default=3, help="medians are of so many (default: 3)")
    p.add_argument(
        "--peers", default="", help="only peers whose name has one of these words, separated by commas"
    )
    p.add_argument("--skip", default="", help="no peers whose name has one of these words")
    p.add_argument(
        "--quick", action="store_true", help=f"{QUICK_SENTENCES} sentences, few iterations: to try it out"
    )
    p.add_argument("--templates", type=Path, help="template file (default: the preset `chunking`)")
    p.add_argument("--train", type=Path, help="labelled column file to train on (default: CoNLL-2000)")
    p.add_argument("--test", type=Path, help="labelled column file to label (default: CoNLL-2000)")
    p.add_argument("--rho1", type=float, default=0.5, help="L1 strength (default: 0.5)")
    p.add_argument("--rho2", type=float, default=1e-5, help="L2 strength (default: 1e-5)")
    p.add_argument("--threads", type=int, default=2, help="for those that can use several (default: 2)")
    p.add_argument("--tol", type=float, help="Parsimon's tolerance (default: its own)")
    p.add_argument("--targets", help=f"objectives to time, separated by commas (default: {TARGETS})")
    p.add_argument(
        "--once-above",
        type=float,
        default=45.0,
        metavar="SECONDS",
        help="trainings that take longer are not repeated (default: 45)",
    )
    p.add_argument("--copies", type=int, default=20, help="how often the test file is repeated for labelling")
    p.add_argument("--limit", type=float, default=900.0, help="seconds for one training (default: 900)")
    p.add_argument(
        "--growth-iterations", type=int, default=120, metavar="N", help="of every size (default: 120)"
    )
    p.add_argument(
        "--crfsuite-iterations",
        type=int,
        default=150,
        metavar="N",
        help="of python-crfsuite, chaine and underthesea-core (default: 150)",
    )
    p.add_argument("--crfpp-iterations", type=int, default=43, metavar="N", help="(default: 43)")
    p.add_argument(
        "--parsimon", metavar="PATH", help="the program (default: beside this Python, or on the PATH)"
    )
    p.add_argument("--wapiti", metavar="PATH", help="the program (default: on the PATH)")
    p.add_argument("--crfpp", metavar="PATH", help="the program crf_learn, with crf_test beside it")
    p.add_argument(
        "--work", type=Path, help="folder for models and files in between (default: a temporary one)"
    )
    p.add_argument("--json", type=Path, metavar="FILE", help="write everything measured, curves included")
    p.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables")
    p.add_argument("--write", type=Path, metavar="PAGE", help="put the tables between the markers of a page")
    return p


def peers_of(options: argparse.Namespace, templates: TemplateSet) -> list[Peer]:
    """All peers, Parsimon first, or those that were asked for."""
    peers: list[Peer] = [
        Parsimon("all", None, options.parsimon),
        Parsimon("seen", None, options.parsimon),
        Parsimon("all", 1, options.parsimon),
        Parsimon("seen", 1, options.parsimon),
        Wapiti(False, options.wapiti),
        Wapiti(True, options.wapiti),
        *python_crfs(options.crfsuite_iterations, templates),
        CRFpp(options.crfpp, options.crfpp_iterations),
    ]
    words, without = (
        [word.strip().lower() for word in text.split(",") if word.strip()]
        for text in (options.peers, options.skip)
    )
    named = [peer for peer in peers if not words or any(word in peer.name.lower() for word in words)]
    return [peer for peer in named if not any(word in peer.name.lower() for word in without)]


def labelling_peers(peers: list[Peer]) -> list[Peer]:
    """Each only once: how Parsimon was trained has no bearing on how fast it labels."""
    return [peer for peer in peers if not isinstance(peer, Parsimon) or peer.name == Parsimon("all").name]


def task_of(options: argparse.Namespace, work: Path) -> tuple[Task, Path]:
    """The task, and the test file."""
    train = options.train or member("conll2000", "train.txt")
    test = options.test or member("conll2000", "test.txt")
    if options.quick:
        train, test = (
            _head(path, work / f"quick-{name}.txt") for path, name in ((train, "train"), (test, "test"))
        )
    templates = options.templates
    if templates is None:
        templates = work / "chunking.tpl"
        templates.write_text(get_preset("chunking").dumps(), encoding="utf-8")
    targets = options.targets or (QUICK_TARGETS if options.quick else TARGETS)
    task = Task(
        train=train,
        templates=templates,
        work=work,
        rho1=options.rho1,
        rho2=options.rho2,
        threads=options.threads,
        tol=options.tol,
        targets=tuple(sorted(map(float, targets.split(",")), reverse=True)),
        max_iter=60 if options.quick else None,
        limit=options.limit,
    )
    return task, test


def _head(source: Path, target: Path) -> Path:
    chosen = islice(sentences(source), QUICK_SENTENCES)
    text = "".join("".join(" ".join(token) + "\n" for token in sentence) + "\n" for sentence in chosen)
    target.write_text(text, encoding="utf-8")
    return target


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    cpu = platform.processor()
    if Path("/proc/cpuinfo").exists():
        models = [
            line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
        ]
        cpu = models[0].partition(":")[2].strip() if models else cpu
    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": packages,
        "date": time.strftime("%Y-%m-%d"),
    }


@contextmanager
def work_folder(given: Path | None) -> Iterator[Path]:
    """The folder that was given, or a temporary one."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="parsimon-bench-") as folder:
        yield Path(folder)


def say(text: str) -> None:
    """Progress goes to standard error, results to standard output."""
    print(text, file=sys.stderr, flush=True)


def measure(options: argparse.Namespace, parts: list[str], work: Path) -> None:
    """Runs the parts, prints their tables and keeps what was measured."""
    task, test = task_of(options, work)
    peers = peers_of(options, TemplateSet.load(task.templates))
    tables: dict[str, str] = {}
    results: dict[str, Any] = {
        "machine": machine(),
        "settings": {k: _plain(v) for k, v in vars(options).items()},
    }
    models: dict[str, Path] = {}
    for part in parts:
        say(f"== {part}")
        if part == "training":
            records = training.compare(peers, task, test, options.repeats, options.once_above, say)
            models.update({r.peer.name: r.runs[-1].model for r in records if r.runs})
            tables[part], results[part] = training.report(records, task), training.as_json(records)
        elif part == "labelling":
            chosen = labelling_peers(peers)
            tokens, rates = labelling.compare(
                chosen, task, test, options.copies, options.repeats, models, say
            )
            tables[part], results[part] = labelling.report(tokens, rates), labelling.as_json(tokens, rates)
        elif part == "segmentation":
            ours = Parsimon("all", None, options.parsimon)
            told = segmentation.measure(ours, task.train, test, work, options.copies, options.repeats, say)
            tables[part], results[part] = segmentation.report(told), segmentation.as_json(told)
        elif part == "growth":
            fixed = replace(task, max_iter=task.max_iter or options.growth_iterations)
            ours = Parsimon("all", None, options.parsimon)
            grown = growth.measure(ours, fixed, options.repeats, options.once_above, say)
            tables[part], results[part] = growth.report(grown), growth.as_json(grown)
        else:
            results[part] = startup.measure(options.parsimon, max(options.repeats, 3))
            tables[part] = startup.report(results[part])
        print(f"\n## {part.capitalize()}\n\n{tables[part]}", flush=True)
        keep(options, tables, results)  # after each part, so that a long run is not lost to a late failure


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def describe(found: dict[str, Any]) -> str:
    """The machine in a sentence."""
    packages = ", ".join(f"{name} {number}" for name, number in found["packages"].items())
    return (
        f"Measured on {found['date']}: {found['cpu']}, {found['cores']} cores, {found['system']}, "
        f"Python {found['python']}, {packages}; load when started {found['load']}.\n"
    )


def keep(options: argparse.Namespace, tables: dict[str, str], results: dict[str, Any]) -> None:
    """Writes what was asked for."""
    tables = {"machine": describe(results["machine"]), **tables}
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if options.markdown is not None:
        text = "\n".join(f"## {name.capitalize()}\n\n{content}" for name, content in tables.items())
        options.markdown.write_text(f"# Benchmarks\n\n{text}", encoding="utf-8")
    if options.write is not None:
        for name in replace_blocks(options.write, tables):
            say(f"{options.write} has no markers for {name}")


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is ended too
    options = parser().parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        say(f"there is no part {unknown[0]!r}; choose from {', '.join(PARTS)}")
        return 2
    parts = [part for part in PARTS if not options.parts or part in options.parts]
    try:
        with work_folder(options.work) as work:
            measure(options, parts, work)
    except ParsimonError as error:
        say(f"error: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
