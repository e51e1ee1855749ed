"""Dependency parsing beside UDPipe 1: tokens a second, training time, memory and attachment scores, in one run.

`python benchmarks/parsing.py` trains Parsimon's default parser on the Danish treebank and, with `ufal.udpipe`
installed, UDPipe's; then both parse the same test sentences in turn, one thread each. Both are given the parts of
speech, lemmas and morphological features of the treebank, and both name relations. Models that `parsimon train parser`
wrote can be named on the command line, and are timed as well. `--json` and `--write` also keep the tables.

UDPipe's parser is a transition-based one with a neural network (Parsito: Straka et al. 2015). Its settings are those
that its authors published for Danish (training/models-ud-1.2/params_parser), without the word vectors that they had
trained elsewhere and without a tagger; `single_root=0` because Danish trees may have several roots. A training with
them takes most of an hour, so its model is kept where `--udpipe-model` says, and used again. It parses with a beam of 5
unless told otherwise; greedily it is much faster, so it is timed both ways.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import signal
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from measure import Failed, Run, middle, run
from parsimon.errors import ParsimonError
from parsimon.report.markdown import replace_blocks, table
from peers import fresh
from run import describe, machine, say, work_folder
from tables import megabytes, seconds, size, times, whole

WORKER = Path(__file__).with_name("parse_worker.py")
EVERYTHING = 10**9  # sentences
QUICK_SENTENCES = 100
UDPIPE = {
    "iterations": "10",
    "transition_system": "swap",
    "transition_oracle": "static_lazy",
    "structured_interval": "8",
    "embedding_upostag": "20",
    "embedding_feats": "20",
    "embedding_xpostag": "0",
    "embedding_form": "50",
    "embedding_lemma": "0",
    "embedding_deprel": "20",
    "learning_rate": "0.01",
    "learning_rate_final": "0.001",
    "l2": "0.3",
    "hidden_layer": "200",
    "batch_size": "10",
    "use_gold_tags": "1",
}


@dataclass
class Training:
    """What training a model took; seconds are of training alone, without reading and writing."""

    seconds: float
    peak_mb: float | None
    sentences: int
    options: str = ""


@dataclass
class Parser:
    """A model that is timed."""

    name: str
    model: Path
    worker: list[str]  # the part of parse_worker.py and what it wants beside files
    training: Training | None = None
    runs: list[dict[str, Any]] = field(default_factory=list)  # what the worker said, and the peak memory
    scores: dict[str, float] = field(default_factory=dict)
    failure: str | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it is a model of Parsimon."""
        return self.worker == ["parsimon"]

    def rate(self, what: str) -> float | None:
        """Median tokens a second: `file` to file, or of `parse` alone."""
        if not self.runs:
            return None
        return float(self.runs[0]["tokens"] / median(run[f"{what}_seconds"] for run in self.runs))


@dataclass(frozen=True)
class Task:
    """The files, and what is in them."""

    work: Path
    facts: dict[str, Any]
    options: argparse.Namespace

    @property
    def train(self) -> Path:
        """All training sentences."""
        return self.work / "train.conll"


def worker(*given: Any, limit: float = 3600.0) -> tuple[dict[str, Any], Run]:
    """Runs a part of parse_worker.py; what it says, and what was measured from outside."""
    done = run([sys.executable, WORKER, *map(str, given)], limit=limit)
    if done.interrupted:
        raise Failed(f"it did not end within {limit:.0f} s")
    return json.loads(done.lines[-1][1]), done


# --- Training -----------------------------------------------------------------------------------------------


def train_ours(task: Task, train: Path, sentences: int) -> tuple[Path, Training]:
    """The default parser, in the process that the command line makes; it says itself how long it took."""
    model = fresh(task.work / f"{train.stem}.model")
    command: list[str | Path] = [sys.executable, "-m", "parsimon", "train", "parser", train, "-m", model]
    command += ["--n-jobs", "1", "--json"]
    command += ["--max-iter", "2"] if task.options.quick else []
    done = run(command, limit=task.options.limit)
    said = json.loads(done.lines[-1][1])
    return model, Training(said["seconds"], done.peak_mb, sentences)


def train_udpipe(task: Task) -> tuple[Path, Training]:
    """UDPipe's parser, or the one that an earlier run has left."""
    options = udpipe_options(task)
    kept = task.options.udpipe_model or task.work / "udpipe.model"
    record = kept.with_name(kept.name + ".json")
    sentences = task.facts["sentences"]
    if kept.exists() and record.exists():
        training = Training(**json.loads(record.read_text(encoding="utf-8")))
        if (training.options, training.sentences) != (options, sentences):
            raise ParsimonError(
                f"{kept} was trained on {training.sentences} sentences with {training.options}, but now it should be "
                f"{sentences} with {options}; name another file."
            )
        say(f"UDPipe: the model {kept}")
        return kept, training
    said, done = worker("udpipe-train", task.train, kept, options, limit=task.options.limit)
    training = Training(said["seconds"], done.peak_mb, sentences, options)
    record.write_text(json.dumps(asdict(training), indent=1), encoding="utf-8")
    return kept, training


def udpipe_options(task: Task) -> str:
    """As its trainer wants them."""
    settings = {**UDPIPE, "single_root": str(int(task.facts["single_root"]))}
    if task.options.quick:
        settings["iterations"] = "1"
    given = [pair for pair in task.options.udpipe_options.split(";") if pair]
    settings |= dict(pair.split("=", 1) for pair in given)
    return ";".join(f"{name}={value}" for name, value in settings.items())


def parsers(task: Task) -> list[Parser]:
    """All that are compared, Parsimon's first."""
    say("Parsimon: training")
    model, training = train_ours(task, task.train, task.facts["sentences"])
    found = [Parser("Parsimon, default templates", model, ["parsimon"], training)]
    found += [Parser(f"Parsimon, {path.stem}", path, ["parsimon"]) for path in task.options.models]
    if importlib.util.find_spec("ufal") is None or importlib.util.find_spec("ufal.udpipe") is None:
        say("UDPipe: skipped, the package ufal.udpipe is not installed")
        return found
    say("UDPipe: training")
    try:
        model, training = train_udpipe(task)
    except Failed as failure:
        say(f"UDPipe: failed, {failure}")
        return found
    found += [Parser(name, model, ["udpipe", beam], training) for name, beam in BEAMS.items()]
    return found


BEAMS = {"UDPipe, beam of 5": "5", "UDPipe, greedy": "1"}


# --- Parsing ------------------------------------------------------------------------------------------------


def parse_in_turn(task: Task, compared: list[Parser]) -> None:
    """All parse the same file, several times; scores are those of the first time."""
    parsed = task.work / "parsed.conll"
    for repeat in range(task.options.repeats):
        for parser in compared:
            if parser.failure is not None:
                continue
            part, *extra = parser.worker
            try:
                said, done = worker(part, parser.model, task.work / "words.conll", fresh(parsed), *extra)
                parser.runs.append({**said, "peak_mb": done.peak_mb})
                if not parser.scores:
                    parser.scores, _ = worker("score", task.work / "test.conll", parsed)
            except Failed as failure:
                parser.failure = str(failure)
            end = parser.failure or f"{whole(parser.rate('file'))} tokens/s"
            say(f"{repeat + 1}/{task.options.repeats} {parser.name}: {end}")


def speed_table(task: Task, compared: list[Parser]) -> str:
    """Tokens a second, and how many times as fast as UDPipe each is."""
    rates = {parser.name: parser.rate("file") for parser in compared}
    peers = [name for name in BEAMS if rates.get(name)]
    rows = []
    for parser in compared:
        if not parser.runs:
            continue
        own = parser.rate("file")
        rows.append(
            [
                parser.name,
                str(parser.runs[0].get("templates", "–")),
                whole(own),
                whole(parser.rate("parse")),
                *(times(own / rates[name]) if own and rates[name] else "–" for name in peers),  # type: ignore[operator]
                megabytes(middle([run["peak_mb"] for run in parser.runs])),
            ]
        )
    tokens = task.facts["test_tokens"] * task.options.copies
    text = f"{tokens:,} tokens ({task.facts['test_sentences']:,} test sentences, {task.options.copies} times over), "
    text += "one thread, from a file to a file with heads and relations, and parsing alone "
    text += f"(medians of {task.options.repeats}):\n\n"
    head = ["", "templates", "tokens/s", "parsing alone", *(f"against {name}" for name in peers)]
    return text + table([*head, "peak memory"], rows)


def quality_table(task: Task, compared: list[Parser]) -> str:
    """What training took, and how good the trees are."""
    ours = compared[0].training
    assert ours is not None
    rows = []
    for parser in compared:
        if not parser.scores:
            continue
        took = parser.training
        rows.append(
            [
                parser.name,
                "–" if took is None else seconds(took.seconds),
                "–" if took is None else times(took.seconds / ours.seconds),
                "–" if took is None else megabytes(took.peak_mb),
                size(parser.model.stat().st_size),
                *(
                    f"{100 * parser.scores[what]:.2f}"
                    for what in ("uas", "las", "uas_without_punctuation", "las_without_punctuation")
                ),
            ]
        )
    text = f"Trained once on {task.facts['sentences']:,} sentences ({task.facts['tokens']:,} tokens), one thread; "
    text += "ratios are to Parsimon's time:\n\n"
    head = ["", "training", "ratio", "peak memory", "model file", "UAS", "LAS", "UAS, no punctuation"]
    return text + table([*head, "LAS, no punctuation"], rows)


# --- Growth -------------------------------------------------------------------------------------------------


def growth(task: Task, all_of_it: Parser) -> list[Parser]:
    """Parsimon's default parser on smaller training files, and on the whole one."""
    grown = []
    for n in task.facts["sizes"]:
        model, training = train_ours(task, task.work / f"train-{n}.conll", n)
        grown.append(Parser(f"{n:,} sentences", model, ["parsimon"], training))
    parse_in_turn(task, grown)
    return [*grown, all_of_it]


def growth_table(grown: list[Parser]) -> str:
    """One row a size."""
    rows = []
    for parser in grown:
        took = parser.training
        if took is None or not parser.runs:
            continue
        features = parser.runs[0]["features"]
        rows.append(
            [
                f"{took.sentences:,}",
                seconds(took.seconds),
                megabytes(took.peak_mb),
                whole(features),
                size(parser.model.stat().st_size),
                whole(parser.rate("file")),
                f"{100 * parser.scores['uas']:.2f}",
            ]
        )
    head = ["sentences", "training", "peak memory", "features", "model file", "tokens/s", "UAS"]
    text = "Parsimon's default parser on fewer sentences, spread evenly over the training data:\n\n"
    return text + table(head, rows)


# --- All of it ----------------------------------------------------------------------------------------------


def measure(options: argparse.Namespace, work: Path) -> None:
    """Trains, parses, prints tables and keeps what was measured."""
    sizes = [int(part) for part in options.sizes.split(",") if part]
    most = QUICK_SENTENCES if options.quick else EVERYTHING
    facts, _ = worker("data", options.treebank, work, options.copies, most, *sizes)
    task = Task(work, facts, options)
    about = machine()
    compared = parsers(task)
    parse_in_turn(task, compared)
    text = describe(about) + "\n" + speed_table(task, compared) + "\n" + quality_table(task, compared)
    grown = growth(task, compared[0]) if facts["sizes"] else []
    if grown:
        text += "\n" + growth_table(grown)
    text += "".join(f"\n{p.name} failed: {p.failure}\n" for p in [*compared, *grown] if p.failure)
    print(text, flush=True)
    if options.json is not None:
        kept = {
            "machine": about,
            "treebank": facts,
            "compared": list(map(asdict, compared)),
            "growth": list(map(asdict, grown)),
        }
        options.json.write_text(json.dumps(kept, indent=1, default=str), encoding="utf-8")
    if options.write is not None:
        for name in replace_blocks(options.write, {"parsing": text}):
            say(f"{options.write} has no markers for {name}")


def argument_parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    p.add_argument("models", nargs="*", type=Path, metavar="MODEL", help="models of Parsimon to time as well")
    p.add_argument("--treebank", default="danish", help="as parsimon.data.load_treebank names it")
    p.add_argument("--repeats", type=int, default=3, help="of parsing; medians are of so many (default: 3)")
    p.add_argument("--copies", type=int, default=4, help="how often the test sentences are repeated")
    p.add_argument("--sizes", default="500,1000,2000", metavar="N,N", help="sentences, for growth")
    p.add_argument("--quick", action="store_true", help="a hundred sentences: does it all run here?")
    p.add_argument("--limit", type=float, default=10_800.0, help="seconds for one training")
    p.add_argument(
        "--udpipe-model", type=Path, metavar="FILE", help="trained if it is not there, and used if it is"
    )
    p.add_argument("--udpipe-options", default="", metavar="A=B;C=D", help="in place of some of its settings")
    p.add_argument("--work", type=Path, help="folder for models and files (default: a temporary one)")
    p.add_argument("--json", type=Path, metavar="FILE", help="write everything measured")
    p.add_argument("--write", type=Path, metavar="PAGE", help="put the tables between the markers `parsing`")
    return p


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is ended too
    options = argument_parser().parse_args()
    if options.quick:
        options.repeats, options.copies, options.sizes = 1, 1, "50"
    try:
        with work_folder(options.work) as work:
            measure(options, work)
    except (ParsimonError, Failed) as error:
        say(f"error: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
