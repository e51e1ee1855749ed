"""The programs that are compared: how each is made to train on a column file and to label one.

Every peer is one small class; `available` says why it cannot run here, or None. All minimise the same
function,

    F(w) = Σ −log p(y | x; w) + ρ1 ‖w‖₁ + ρ2/2 ‖w‖²,

and all print it, penalties included, after each iteration:

- Wapiti prints `obj` = F (its rho1 and rho2 are ρ1 and ρ2).
- CRFsuite, chaine and underthesea-core print F with c1 = ρ1 and c2 = ρ2/2 (they have no ½ in front of the L2 term).
- CRF++ prints `obj` = F with ρ1 = 1/c and no L2 term, which at ρ2 = 1e-5 makes no difference one could see.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from measure import Failed, Run, run
from parsimon.features.templates import TemplateSet
from template_strings import cannot_expand, write_attributes


@dataclass(frozen=True)
class Task:
    """What is to be learnt, and when to stop."""

    train: Path
    templates: Path
    work: Path  # a folder for models and files in between
    rho1: float
    rho2: float
    threads: int
    tol: float | None  # Parsimon's tolerance, or None for its default
    targets: tuple[float, ...]  # objectives whose times are asked for
    max_iter: int | None  # for those that do not stop by themselves in good time
    limit: float  # seconds for one training


@dataclass(frozen=True)
class Point:
    """How far a training was, and when: seconds since the training file was opened."""

    seconds: float
    objective: float
    active: int


@dataclass(frozen=True)
class Trained:
    """One training."""

    curve: list[Point]
    features: int  # candidates
    model: Path
    model_bytes: int
    seconds: float  # the whole process, model written
    peak_mb: float | None
    ended: str  # why it stopped
    details: dict[str, Any] = field(default_factory=dict)

    def seconds_to(self, objective: float) -> float | None:
        """When the objective was first this low."""
        return next((p.seconds for p in self.curve if p.objective <= objective), None)


@dataclass(frozen=True)
class Labelled:
    """One labelling of a file: seconds by what they include."""

    seconds: dict[str, float]


class Peer(Protocol):
    """A program that is compared."""

    @property
    def name(self) -> str:
        """What the tables call it."""
        ...

    @property
    def pairs(self) -> str:
        """Which attribute-label pairs are features: "all" or "seen" (in the training data)."""
        ...

    @property
    def label_threads(self) -> tuple[int, ...]:
        """With how many threads it can label."""
        ...

    def available(self) -> str | None:
        """Why it cannot run here, or None."""
        ...

    def threads(self, task: Task) -> int:
        """How many threads it trains with."""
        ...

    def train(self, task: Task) -> Trained:
        """Trains and writes a model."""
        ...

    def label(self, model: Path, templates: Path, source: Path, target: Path, threads: int) -> Labelled:
        """Labels a file of columns; the label is the last column of what it writes."""
        ...


def found(program: str, given: str | None = None) -> str | None:
    """Where a program is: as given, beside this Python, or on the PATH."""
    if given is not None:
        return shutil.which(given)
    return shutil.which(program, path=str(Path(sys.executable).parent)) or shutil.which(program)


def fresh(path: Path) -> Path:
    """A path at which there is no file, so that what is found there later is this run's."""
    path.unlink(missing_ok=True)
    return path


FILE_TO_FILE = "file to file"
WHOLE = "with start-up"


@dataclass(frozen=True)
class Parsimon:
    """This project, through its command line."""

    pairs: str = "all"
    most_threads: int | None = None
    program: str | None = None
    label_threads: tuple[int, ...] = (1, 2)

    @property
    def name(self) -> str:
        """A name that tells the variants apart."""
        return f"Parsimon, {self.pairs} pairs" + (", 1 thread" if self.most_threads == 1 else "")

    def available(self) -> str | None:
        """It is, once installed."""
        return None if found("parsimon", self.program) else "there is no program `parsimon`; pip install it"

    def threads(self, task: Task) -> int:
        """As many as the task says, or fewer."""
        return min(task.threads, self.most_threads or task.threads)

    def train(self, task: Task) -> Trained:
        """Trains until the optimality conditions hold to its tolerance."""
        name = f"parsimon-{self.pairs}-{self.threads(task)}"
        model, log = fresh(task.work / f"{name}.model"), fresh(task.work / f"{name}.jsonl")
        command: list[str | Path] = [str(found("parsimon", self.program)), "train", "sequence", task.train]
        command += ["-t", task.templates, "-m", model, "--log", log, "--quiet"]
        command += ["--l1", str(task.rho1), "--l2", str(task.rho2), "--candidates", self.pairs]
        command += ["--n-jobs", str(self.threads(task))]
        command += [] if task.tol is None else ["--tol", str(task.tol)]
        command += [] if task.max_iter is None else ["--max-iter", str(task.max_iter)]
        done = run(command, limit=task.limit)
        curve, end = read_log(log)
        return Trained(
            curve=curve,
            features=end["size"]["candidate_features"],
            model=model,
            model_bytes=model.stat().st_size,
            seconds=done.seconds,
            peak_mb=done.peak_mb,
            ended=end["status"],
            details={"kkt": end["kkt"], "gap": end["gap"]},
        )

    def label(self, model: Path, templates: Path, source: Path, target: Path, threads: int) -> Labelled:
        """From the start of the process to its end."""
        command: list[str | Path] = [str(found("parsimon", self.program)), "predict", model, source]
        return Labelled({WHOLE: run([*command, "-o", target, "--n-jobs", str(threads)]).seconds})


def read_log(log: Path) -> tuple[list[Point], dict[str, Any]]:
    """The curve in a JSON-lines log, and its last event."""
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    steps = [event for event in events if event["event"] == "iteration"]
    if not steps or events[-1]["event"] != "end":
        raise Failed(f"{log.name} does not tell of a training from start to end")
    return [Point(step["seconds"], step["objective"], step["active"]) for step in steps], events[-1]


@dataclass(frozen=True)
class Wapiti:
    """Wapiti's OWL-QN. By its own rule it stops early; `go_on` takes it to the lowest target."""

    go_on: bool = False
    program: str | None = None
    pairs: str = "all"
    label_threads: tuple[int, ...] = (1,)
    progress: ClassVar[re.Pattern[str]] = re.compile(r"\s*\[ *\d+\] obj=([\d.]+) +act=(\d+)")

    @property
    def name(self) -> str:
        """A name that tells the variants apart."""
        return "Wapiti, made to go on" if self.go_on else "Wapiti"

    def available(self) -> str | None:
        """A program `wapiti` is needed."""
        return None if found("wapiti", self.program) else "there is no program `wapiti` (see --wapiti)"

    def threads(self, task: Task) -> int:
        """As many as the task says."""
        return task.threads

    def train(self, task: Task) -> Trained:
        """Trains; `--stopwin 0` and a small `--stopeps` turn off its stops by error and by objective."""
        model = fresh(task.work / f"wapiti{'-on' if self.go_on else ''}.model")
        command = [str(found("wapiti", self.program)), "train", "-a", "l-bfgs", "-c"]
        command += ["-t", str(task.threads)]
        command += ["-1", str(task.rho1), "-2", f"{task.rho2:.10f}", "-p", str(task.templates)]
        if task.max_iter is not None:
            command += ["-i", str(task.max_iter)]
        lowest = min(task.targets, default=float("inf"))
        if self.go_on:
            command += ["--stopwin", "0", "--stopeps", "0.0000001"]

        def enough(line: str) -> bool:
            point = self.progress.match(line)
            return point is not None and float(point[1]) <= lowest

        done = run([*command, task.train, model], limit=task.limit, enough=enough if self.go_on else None)
        features = [line.split()[-1] for _, line in done.lines if line.strip().startswith("nb features")]
        curve = points(done, self.progress, 1, 2)
        ended = "its own rule"
        if task.max_iter is not None and len(curve) >= task.max_iter:
            ended = f"at {task.max_iter} iterations"
        elif done.interrupted:
            ended = "at the lowest target" if curve[-1].objective <= lowest else f"after {task.limit:.0f} s"
        return Trained(
            curve=curve,
            features=int(features[0]),
            model=model,
            model_bytes=model.stat().st_size,
            seconds=done.seconds,
            peak_mb=done.peak_mb,
            ended=ended,
        )

    def label(self, model: Path, templates: Path, source: Path, target: Path, threads: int) -> Labelled:
        """From the start of the process to its end."""
        return Labelled(
            {WHOLE: run([str(found("wapiti", self.program)), "label", "-m", model, source, target]).seconds}
        )


@dataclass(frozen=True)
class CRFpp:
    """CRF++'s OWL-QN (`-a CRF-L1`), which has no L2 term."""

    program: str | None = None
    max_iter: int = 43
    name: str = "CRF++"
    pairs: str = "all"
    label_threads: tuple[int, ...] = (1,)
    progress: ClassVar[re.Pattern[str]] = re.compile(r"iter=\d+ .*act=(\d+) obj=([\d.]+)")

    def available(self) -> str | None:
        """Programs `crf_learn` and `crf_test` are needed."""
        if self._learn() and self._test():
            return None
        return "there are no programs `crf_learn` and `crf_test` (see --crfpp)"

    def _learn(self) -> str | None:
        return found("crf_learn", self.program)

    def _test(self) -> str | None:
        return found("crf_test", self.program and str(Path(self.program).with_name("crf_test")))

    def threads(self, task: Task) -> int:
        """As many as the task says."""
        return task.threads

    def train(self, task: Task) -> Trained:
        """Trains for some iterations: each takes seconds, and its own rule would go on for very long."""
        model = fresh(task.work / "crfpp.model")
        most = min(self.max_iter, task.max_iter or self.max_iter)
        command = [str(self._learn()), "-a", "CRF-L1", "-c", str(1 / task.rho1), "-p", str(task.threads)]
        done = run([*command, "-m", str(most), task.templates, task.train, model], limit=task.limit)
        if not model.exists():
            raise Failed(f"crf_learn wrote no model within {task.limit:.0f} s")
        features = [line.split()[-1] for _, line in done.lines if line.startswith("Number of features")]
        curve = points(done, self.progress, 2, 1)
        return Trained(
            curve=curve,
            features=int(features[0]),
            model=model,
            model_bytes=model.stat().st_size,
            seconds=done.seconds,
            peak_mb=done.peak_mb,
            ended=f"at {most} iterations" if len(curve) > most else "its own rule",
        )

    def label(self, model: Path, templates: Path, source: Path, target: Path, threads: int) -> Labelled:
        """From the start of the process to its end."""
        return Labelled({WHOLE: run([str(self._test()), "-m", model, "-o", target, source]).seconds})


def points(done: Run, progress: re.Pattern[str], objective: int, active: int) -> list[Point]:
    """The curve in the lines of a program that opens its training file as soon as it starts."""
    found = ((seconds, progress.match(line)) for seconds, line in done.lines)
    curve = [Point(seconds, float(m[objective]), int(m[active])) for seconds, m in found if m]
    if not curve:
        raise Failed("it printed no line of progress that could be read")
    return curve


@dataclass(frozen=True)
class PythonCRF:
    """A Python package, given the same features as strings. Seconds are its own `append` and `train`, nothing else."""

    title: str
    library: str  # what is imported
    pairs: str = "seen"
    max_iter: int = 150
    templates: TemplateSet = field(default_factory=lambda: TemplateSet(()))
    label_threads: tuple[int, ...] = (1,)
    worker: ClassVar[Path] = Path(__file__).with_name("crf_worker.py")
    loss: ClassVar[re.Pattern[str]] = re.compile(r"Loss: ([\d.]+)")
    active: ClassVar[re.Pattern[str]] = re.compile(r"Active features: (\d+)")
    total: ClassVar[re.Pattern[str]] = re.compile(r"Sparse features: .* = (\d+) total")

    @property
    def name(self) -> str:
        """A name that tells the variants apart."""
        return f"{self.title}, {self.pairs} pairs"

    def available(self) -> str | None:
        """The package is needed, and templates that it has features for."""
        if importlib.util.find_spec(self.library) is None:
            return f"the package {self.title} is not installed"
        return cannot_expand(self.templates)

    def threads(self, task: Task) -> int:
        """They have one."""
        return 1

    def train(self, task: Task) -> Trained:
        """Trains for some iterations or until it stops by itself."""
        attributes = task.work / "train.attributes"
        model = fresh(task.work / f"{self.library}-{self.pairs}.model")
        write_attributes(self.templates, task.train, attributes)
        most = min(self.max_iter, task.max_iter or self.max_iter)
        strengths = [str(task.rho1), str(task.rho2 / 2)]
        command: list[str | Path] = [sys.executable, self.worker, "train", self.library, attributes, model]
        done = run([*command, *strengths, str(int(self.pairs == "all")), str(most)], limit=task.limit)
        if done.interrupted:
            raise Failed(f"{self.title} did not end within {task.limit:.0f} s")
        said = json.loads(done.lines[-1][1])
        curve = [Point(*point) for point in said["curve"]] or self.printed(done)
        counts = [m for _, line in done.lines if (m := self.total.match(line))]
        return Trained(
            curve=curve,
            features=said["features"] or int(counts[0][1]),
            model=model,
            model_bytes=model.stat().st_size,
            seconds=done.seconds,
            peak_mb=done.peak_mb,
            ended=f"at {most} iterations" if len(curve) >= most else "its own rule",
            details={"said": said["reason"]},
        )

    def printed(self, done: Run) -> list[Point]:
        """The curve in what it printed, each line with the time at which it came."""
        began = next((seconds for seconds, line in done.lines if line == "training begins"), None)
        if began is None:
            raise Failed(f"{self.title} did not say when it began")
        curve: list[Point] = []
        for seconds, line in done.lines:
            if m := self.loss.match(line):
                curve.append(Point(seconds - began, float(m[1]), 0))
            elif curve and (m := self.active.match(line)):
                curve[-1] = Point(curve[-1].seconds, curve[-1].objective, int(m[1]))
        if not curve:
            raise Failed(f"{self.title} printed no line of progress that could be read")
        return curve

    def label(self, model: Path, templates: Path, source: Path, target: Path, threads: int) -> Labelled:
        """Its process, without Python's start; and `tag` by itself."""
        done = run([sys.executable, self.worker, "tag", self.library, model, source, target, templates])
        said = json.loads(done.lines[-1][1])
        return Labelled(
            {
                WHOLE: done.seconds,
                FILE_TO_FILE: said["file_seconds"],
                "tag without features": said["tag_seconds"],
            }
        )


def python_crfs(max_iter: int, templates: TemplateSet) -> list[PythonCRF]:
    """The packages. chaine is made of CRFsuite, so all pairs would say the same again."""
    return [
        PythonCRF("python-crfsuite", "pycrfsuite", "all", max_iter, templates),
        PythonCRF("python-crfsuite", "pycrfsuite", "seen", max_iter, templates),
        PythonCRF("chaine", "chaine", "seen", max_iter, templates),
        PythonCRF("underthesea-core", "underthesea_core", "seen", max_iter, templates),
    ]
