"""Very large CRFs beside Wapiti: letter-to-sound with 51 labels and features of label pairs.

`python benchmarks/very_large.py --wapiti PATH` trains on nine tenths of Nettalk's dictionary (18,007 words), with
OWL-QN as far as Wapiti gets, and for some epochs of SGD-L1 and sweeps of BCD, and prints tables; `--json` and `--write`
also keep them.

Both minimise the same function (see peers.py). Wapiti prints it after every iteration of OWL-QN, but not with its other
algorithms; then it is computed of the weights that it dumps, in a process of its own. Without development data Wapiti
labels all training data after every iteration; it is given one word, so that its time is training. The first epoch or
sweep of Parsimon counts from opening the file; Wapiti counts it from where training begins.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from measure import Failed, Run, middle, run
from parsimon.errors import ParsimonError
from parsimon.features.presets import get_preset
from parsimon.report.markdown import replace_blocks, table
from peers import Point, found, fresh, points, read_log
from run import describe, machine, say, work_folder
from tables import megabytes, seconds, times, whole

SETS = {"3-grm": "nettalk-3grm", "5-grm": "nettalk-5grm"}
ALGORITHMS = {"owlqn": "l-bfgs", "sgd-l1": "sgd-l1", "bcd": "bcd"}  # ours, and what Wapiti calls it
STEP = re.compile(r"\s*\[ *\d+\] obj=([\d.]+|NA) +act=(\d+) .*time=([\d.]+)s/")


@dataclass(frozen=True)
class Task:
    """A training, the same for both programs."""

    name: str  # the feature set
    algorithm: str
    train: Path
    dev: Path
    templates: Path
    work: Path
    rounds: int  # iterations, epochs or sweeps
    options: argparse.Namespace


@dataclass
class Trained:
    """One training by one program."""

    program: str
    curve: list[Point]  # seconds since the file was opened; the objective is only known with OWL-QN
    round_seconds: list[float]  # what iterations, epochs or sweeps took
    features: int
    seconds: float  # the whole process, model written
    peak_mb: float | None
    objective: float | None = None
    kkt: float | None = None
    active: int | None = None

    def seconds_to(self, objective: float) -> float | None:
        """When the objective was first this low."""
        return next((point.seconds for point in self.curve if point.objective <= objective), None)


@dataclass
class Record:
    """All runs of a task."""

    task: Task
    wapiti: list[Trained] = field(default_factory=list)
    ours: dict[str, list[Trained]] = field(default_factory=dict)  # by solver


# --- Data ---------------------------------------------------------------------------------------------------


def write_data(work: Path, words: int | None) -> tuple[Path, Path]:
    """All words but every tenth, and one word. A phoneme is preceded by p: Wapiti writes # where there is no label."""
    from parsimon.data import load_nettalk

    X, y = load_nettalk()
    chosen = [i for i in range(len(X)) if i % 10][:words]
    train, dev = work / "nettalk.train", work / "nettalk.dev"
    for path, which in ((train, chosen), (dev, [0])):
        with path.open("w", encoding="utf-8") as file:
            for i in which:
                letters = (letter for (letter,) in X.sequence(i))
                rows = (f"{letter} p{label}\n" for letter, label in zip(letters, y[i], strict=True))
                file.write("".join(rows) + "\n")
    return train, dev


def write_templates(work: Path, name: str, given: Path | None) -> Path:
    """A template file in the language that both programs read."""
    if given is not None:
        return given
    path = work / f"{SETS[name]}.tpl"
    path.write_text(get_preset(SETS[name]).dumps(), encoding="utf-8")
    return path


# --- Training -----------------------------------------------------------------------------------------------


def train_wapiti(task: Task) -> Trained:
    """Until its rounds or the time are over."""
    options, model = task.options, fresh(task.work / f"wapiti-{task.algorithm}.model")
    program = str(found("wapiti", options.wapiti))
    command = [program, "train", "-a", ALGORITHMS[task.algorithm], "-c", "-t", str(options.threads)]
    command += ["-1", str(options.rho1), "-2", f"{options.rho2:.10f}", "-p", str(task.templates)]
    command += ["-i", str(task.rounds), "--stopwin", "0", "--stopeps", "0.0000001"]
    command += ["--histsz", str(options.history)] if task.algorithm == "owlqn" else []
    command += [] if options.label_training else ["-d", str(task.dev)]
    done = run([*command, task.train, model], limit=options.limit)
    steps = [match for _, line in done.lines if (match := STEP.match(line))]
    if not steps:
        raise Failed(f"wapiti finished no iteration within {options.limit:.0f} s")
    trained = Trained(
        "Wapiti",
        points(done, STEP, 1, 2) if task.algorithm == "owlqn" else [],
        [float(match[3]) for match in steps],
        features_of(done),
        done.seconds,
        done.peak_mb,
    )
    dump = fresh(task.work / "wapiti.dump")
    run([program, "dump", "-p", "12", model, dump])
    return with_value(trained, task, "wapiti", dump)


def features_of(done: Run) -> int:
    """How many candidates Wapiti counts: pairs of labels also for tests that are only made of first tokens."""
    return next(int(line.split()[-1]) for _, line in done.lines if line.strip().startswith("nb features"))


def train_ours(task: Task, solver: str) -> Trained:
    """To its tolerance, or for as many rounds."""
    options, name = task.options, f"parsimon-{solver}"
    model, log = fresh(task.work / f"{name}.model"), fresh(task.work / f"{name}.jsonl")
    command = [str(found("parsimon", options.parsimon)), "train", "sequence", str(task.train)]
    command += ["-t", str(task.templates), "-m", str(model), "--log", str(log), "--quiet", "--solver", solver]
    command += ["--l1", str(options.rho1), "--l2", str(options.rho2), "--n-jobs", str(options.threads)]
    if task.algorithm == "owlqn":
        command += ["--tol", str(options.tol)]
    else:
        command += ["--max-iter", str(task.rounds)]
    done = run(command, limit=options.limit)
    curve, end = read_log(log)
    between = [b.seconds - a.seconds for a, b in zip([None, *curve], curve, strict=False) if a is not None]
    if task.algorithm != "owlqn":  # the first epoch is told of when it is over
        between.insert(0, curve[0].seconds)
    trained = Trained(
        f"Parsimon, {solver}", curve, between, end["size"]["candidate_features"], done.seconds, done.peak_mb
    )
    return with_value(trained, task, "parsimon", model)


def with_value(trained: Trained, task: Task, kind: str, weights: Path) -> Trained:
    """With the objective of the weights that were written, computed in another process to keep this one small."""
    given = [kind, str(weights), str(task.train), str(task.templates)]
    options = task.options
    command = [
        sys.executable,
        __file__,
        "--rho1",
        str(options.rho1),
        "--rho2",
        str(options.rho2),
        "--value",
        *given,
    ]
    told = json.loads(run(command).lines[-1][1])
    trained.objective, trained.kkt, trained.active = told["objective"], told["kkt"], told["active"]
    return trained


def value(kind: str, weights: Path, train: Path, templates: Path, rho1: float, rho2: float) -> dict[str, Any]:
    """Objective, largest violation of the optimality conditions and active features of somebody's weights."""
    from parsimon.features.columns import read_labelled
    from parsimon.features.template_features import TemplateFeatures
    from parsimon.features.templates import TemplateSet
    from parsimon.penalties import ElasticNet
    from parsimon.solvers.working_set import look_at_all
    from parsimon.tasks.model_file import load_model
    from parsimon.tasks.sequences.training import SequenceTraining

    space = TemplateFeatures(TemplateSet.load(templates))
    task = SequenceTraining(penalty=ElasticNet(rho1, rho2)).prepare(space, *read_labelled(train))
    if kind == "parsimon":
        w = task.weights_of(load_model(weights)).nonzero()
    else:
        with weights.open(encoding="utf-8") as lines:
            w = dumped(task, lines)
    view = look_at_all(task.problem, w, 1.0)
    return {"objective": view.objective, "kkt": view.largest, "active": w.n_active}


def dumped(task: Any, lines: Iterable[str]) -> Any:
    """The weights in Wapiti's dump, whose lines are test, previous label (# for none), label and weight."""
    import numpy as np

    from parsimon.solvers import Weights

    space, index, label = task.space, task.index, {name: i for i, name in enumerate(task.labels)}
    node = {name: i for i, name in enumerate(space.node_names(np.arange(space.n_node)))}
    pair = {name: i for i, name in enumerate(space.pair_names(np.arange(space.n_pair)))}
    found: tuple[list[Any], list[Any]] = ([], [])
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if len(fields) != 4:
            continue
        test, previous, current, weight = fields
        test = test[0].upper() + test[1:]  # u and b, whatever the template said
        if previous == "#":
            found[0].append((node[test], label[current], float(weight)))
        else:
            found[1].append((pair[test], label[previous] * len(label) + label[current], float(weight)))
    features, values = [], []
    for rows, first, those in zip((index.node, index.pair), (0, index.node.n_features), found, strict=True):
        attribute, column, w = np.array(those).reshape(-1, 3).T
        features.append(rows.find(attribute.astype(np.int64), column.astype(np.int32)) + first)
        values.append(w)
    order = np.argsort(np.concatenate(features))
    both = np.concatenate(features)[order], np.concatenate(values)[order]
    return Weights(both[1], both[0], task.problem.n_features).nonzero()


def compare(task: Task, repeats: int) -> Record:
    """Both programs in turn, so that whatever slows the machine slows them both."""
    record = Record(task)
    solvers = ("working-set", "owlqn") if task.algorithm == "owlqn" else (task.algorithm,)
    for repeat in range(repeats):
        title = f"{repeat + 1}/{repeats} {task.name}, {task.algorithm}"
        record.wapiti += attempt(title, lambda: train_wapiti(task))
        for solver in solvers:
            runs = record.ours.setdefault(solver, [])
            runs += attempt(title, lambda solver=solver: train_ours(task, solver))
    return record


def attempt(title: str, training: Any) -> list[Trained]:
    """A training in a list; none if it failed, which is said."""
    try:
        done: Trained = training()
    except Failed as failure:
        say(f"{title}: failed, {failure}")
        return []
    text = f"{done.objective:,.1f} after {seconds(done.seconds)}, {len(done.round_seconds)} rounds of "
    text += f"{seconds(median(done.round_seconds))}, {megabytes(done.peak_mb)}, {done.active:,} active"
    say(f"{title}, {done.program}: {text}")
    return [done]


# --- Tables -------------------------------------------------------------------------------------------------


def same_objective(records: Sequence[Record]) -> str:
    """When each was where Wapiti's OWL-QN was after some iterations, and at its end."""
    rows = []
    for record in records:
        if record.task.algorithm != "owlqn" or not record.wapiti:
            continue
        length = min(len(one.curve) for one in record.wapiti)
        marks = sorted({n for n in (10, 25, 50, 100) if n < length} | {length})
        for n in marks:
            objective = median(one.curve[n - 1].objective for one in record.wapiti)
            theirs = median(one.curve[n - 1].seconds for one in record.wapiti)
            cells = [f"{record.task.name}, Wapiti after {n} iterations", f"{objective:,.1f}", seconds(theirs)]
            for solver in ("working-set", "owlqn"):
                ours = middle([one.seconds_to(objective) for one in record.ours.get(solver, [])] or [None])
                cells += [seconds(ours), times(theirs / ours if ours else None)]
            rows.append(cells)
    head = ["", "objective", "Wapiti", "Parsimon", "ratio", "Parsimon, OWL-QN", "ratio"]
    text = "Time since the training file was opened to the same objective:\n\n" + table(head, rows) + "\n"
    return text if rows else ""


def rounds_table(records: Sequence[Record]) -> str:
    """Iterations, epochs and sweeps: what they take, and where one is after them."""
    rows = []
    for record in records:
        theirs = median(t for one in record.wapiti for t in one.round_seconds) if record.wapiti else None
        for runs in (record.wapiti, *record.ours.values()):
            if not runs:
                continue
            each = median(t for one in runs for t in one.round_seconds)
            cells = [f"{record.task.name}, {record.task.algorithm}: {runs[0].program}"]
            cells += [whole(runs[0].features), str(len(runs[0].round_seconds)), seconds(each)]
            cells += [times(theirs / each if theirs and runs is not record.wapiti else None)]
            cells += [
                seconds(median(one.seconds for one in runs)),
                megabytes(middle([r.peak_mb for r in runs])),
            ]
            last = runs[-1]
            rows.append([*cells, f"{last.objective:,.1f}", f"{last.kkt:.2g}", whole(last.active)])
    head = ["", "candidates", "rounds", "a round", "ratio", "whole process", "peak memory"]
    return table([*head, "objective then", "KKT residual", "active"], rows)


def report(records: Sequence[Record], options: argparse.Namespace, here: str) -> str:
    """All tables."""
    text = f"ρ1 = {options.rho1:g}, ρ2 = {options.rho2:g}, {options.threads} threads for what can use them, "
    text += f"OWL-QN's history in Wapiti {options.history}; medians of {options.repeats}. "
    text += (
        f"{here}\n{same_objective(records)}A round is an iteration, an epoch of SGD-L1 or a sweep of BCD:\n\n"
    )
    return text + rounds_table(records)


def as_json(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Everything measured, curves included."""
    return [
        {
            "set": record.task.name,
            "algorithm": record.task.algorithm,
            "wapiti": [asdict(one) for one in record.wapiti],
            "parsimon": {solver: [asdict(one) for one in runs] for solver, runs in record.ours.items()},
        }
        for record in records
    ]


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    p.add_argument("--wapiti", metavar="PATH", help="the program (default: on the PATH)")
    p.add_argument(
        "--parsimon", metavar="PATH", help="the program (default: beside this Python, or on the PATH)"
    )
    for name in SETS:
        flag = f"--templates-{name}"
        p.add_argument(
            flag, type=Path, metavar="FILE", help=f"template file (default: the preset {SETS[name]})"
        )
    p.add_argument("--sets", default=",".join(SETS), help=f"separated by commas (default: {','.join(SETS)})")
    known = ",".join(ALGORITHMS)
    p.add_argument("--algorithms", default=known, help=f"separated by commas (default: {known})")
    p.add_argument("--iterations", type=int, default=100, help="of Wapiti's OWL-QN at most (default: 100)")
    p.add_argument("--epochs", type=int, default=1, help="of SGD-L1 (default: 1)")
    p.add_argument("--sweeps", type=int, default=1, help="of BCD (default: 1)")
    p.add_argument(
        "--history", type=int, default=5, help="of Wapiti's OWL-QN; 5-grm needs less memory with 2"
    )
    p.add_argument(
        "--label-training", action="store_true", help="let Wapiti label all training data each time"
    )
    p.add_argument("--tol", type=float, default=1e-3, help="Parsimon's tolerance with OWL-QN (default: 1e-3)")
    p.add_argument("--rho1", type=float, default=0.5, help="L1 strength (default: 0.5)")
    p.add_argument("--rho2", type=float, default=1e-5, help="L2 strength (default: 1e-5)")
    p.add_argument("--threads", type=int, default=2, help="for what can use several (default: 2)")
    p.add_argument("--repeats", type=int, default=1, help="medians are of so many (default: 1)")
    p.add_argument("--limit", type=float, default=1800.0, help="seconds for one training (default: 1800)")
    p.add_argument("--words", type=int, metavar="N", help="only N words: to try it out")
    p.add_argument(
        "--work", type=Path, help="folder for models and files in between (default: a temporary one)"
    )
    p.add_argument("--json", type=Path, metavar="FILE", help="write everything measured, curves included")
    p.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help="put the tables between markers of a page, such as `wapiti-3-grm`",
    )
    p.add_argument("--value", nargs=4, help=argparse.SUPPRESS)
    return p


def tasks(options: argparse.Namespace, work: Path) -> Iterable[Task]:
    """Everything that was asked for, the quick sets first."""
    train, dev = write_data(work, options.words)
    rounds = {"owlqn": options.iterations, "sgd-l1": options.epochs, "bcd": options.sweeps}
    for name in options.sets.split(","):
        given = getattr(options, f"templates_{name.replace('-', '_')}")
        templates = write_templates(work, name, given)
        for algorithm in options.algorithms.split(","):
            yield Task(name, algorithm, train, dev, templates, work, rounds[algorithm], options)


def measure(options: argparse.Namespace, work: Path) -> None:
    """Runs all tasks; what is known so far is kept after each of them."""
    records: list[Record] = []
    here = describe(machine())
    for task in tasks(options, work):
        say(f"== {task.name}, {task.algorithm}")
        records.append(compare(task, options.repeats))
        if options.json is not None:
            options.json.write_text(json.dumps(as_json(records), indent=1), encoding="utf-8")
        if options.write is not None:
            block = f"wapiti-{options.sets.replace(',', '-')}"
            replace_blocks(options.write, {block: report(records, options, here)})
    print(f"\n{report(records, options, here)}", flush=True)


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is ended too
    options = parser().parse_args()
    try:
        if options.value:
            kind, *given = options.value
            weights, train, templates = map(Path, given)
            told = value(kind, weights, train, templates, options.rho1, options.rho2)
            print(json.dumps(told), flush=True)
            return 0
        for given, known in ((options.sets, SETS), (options.algorithms, ALGORITHMS)):
            unknown = [name for name in given.split(",") if name not in known]
            if unknown:
                say(f"there is no {unknown[0]!r}; choose from {', '.join(known)}")
                return 2
        if not found("wapiti", options.wapiti):
            say("there is no program `wapiti`; say where it is with --wapiti PATH")
            return 2
        with work_folder(options.work) as work:
            measure(options, work)
    except ParsimonError as error:
        say(f"error: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
