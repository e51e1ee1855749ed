"""`parsimon train`: one frame around the training of every kind of model.

Options come from the kind's own options, data from what it reads; the log, progress, checkpoints, writing, Ctrl-C and
the summary are the same for all.
"""

from __future__ import annotations

import filecmp
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.failures import Interrupted, say
from parsimon.cli.kind import Kind, Plan, all_kinds, is_kind, kind_named, listed
from parsimon.cli.options import (
    CONTEXT,
    Asked,
    SectionedCommand,
    asked,
    encoding_option,
    flags_of,
    option,
    refuse_idle,
    said_of_flags,
)
from parsimon.cli.output import check_writable, show, show_record
from parsimon.cli.tuning import TUNE_PLOT, check_stopping, check_tuning, has_tuning, write_tune_plot
from parsimon.errors import ParsimonError
from parsimon.tasks.kinds import kinds
from parsimon.tasks.options import (
    DTYPES,
    FILES,
    RUNNING,
    DevelopmentOptions,
    options_of,
)

if TYPE_CHECKING:
    from parsimon.report.json_lines import JsonLines
    from parsimon.report.progress import Progress
    from parsimon.solvers.base import Event, Result
    from parsimon.tasks.training import Trained

PATH = click.Path(path_type=Path)


class TrainGroup(click.Group):
    """A command for every kind of model that is registered; none is imported before it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of registration."""
        return [kind.name for kind in kinds()]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command that trains a kind."""
        return command_of(kind_named(name)) if is_kind(name) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A line a kind, without importing any."""
        with formatter.section("Kinds of models"):
            formatter.write_dl([(kind.name, kind.summary) for kind in kinds()])


@click.group("train", cls=TrainGroup, context_settings=CONTEXT, short_help="Train a model.")
def train() -> None:
    """Train a model: 'parsimon train KIND --help' lists the options of a kind."""


ENDING = (
    "Ctrl-C stops early and keeps the best model so far. Progress is saved beside the model every 30 seconds: if the "
    "run is killed, the same command with --resume continues from there."
)


def command_of(kind: Kind[Any]) -> click.Command:
    """The command that trains a kind: its options, and those that all kinds have."""

    def run(**values: Any) -> None:
        carry_out(kind, asked(values))

    decorators: list[Callable[[Any], Any]] = [
        click.argument("train", metavar=kind.source),
        option(
            "-m",
            "--model",
            section=FILES,
            required=kind.needs_model_file,
            type=PATH,
            metavar="FILE",
            help="Where to write the model. The file appears only when it is complete.",
        ),
        *kind.flags,
        *([DEV] if kind.has_development else []),
        LOG,
        DTYPE,
        *flags_of(kind.options),
        *([TUNE_PLOT] if has_tuning(kind) else []),
        encoding_option,
        QUIET,
        JSON,
    ]
    run.__doc__ = f"{cleandoc(kind.help)}\n\n{ENDING}"
    function: Any = run
    for add in reversed(decorators):
        function = add(function)
    as_command = click.command(kind.name, cls=TrainCommand, context_settings=CONTEXT, epilog=kind.examples)
    return as_command(function)


class TrainCommand(SectionedCommand):
    """The command that trains a kind; an option that other kinds have is refused by their names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            able = [
                kind.noun
                for kind in all_kinds()
                if any(
                    error.option_name in (*each.opts, *each.secondary_opts)
                    for each in command_of(kind).params
                )
            ]
            if not able:
                raise
            noun = kind_named(str(self.name)).noun
            raise ParsimonError(
                f"{error.option_name} is for {listed(able)}, not for {noun}; leave it out."
            ) from None


DEV = option(
    "--dev",
    section=FILES,
    metavar="DEV",
    help="Development data: stop when their score no longer improves, and keep the best.",
)
LOG = option(
    "--log", section=FILES, type=PATH, metavar="FILE", help="Write JSON lines about the training to a file."
)
DTYPE = option(
    "--dtype",
    section=FILES,
    type=click.Choice(DTYPES),
    default="float64",
    show_default=True,
    help="How weights are kept in the file: float32, float16 and int8 (one of 256 values) make it smaller.",
)
QUIET = option("-q", "--quiet", section=RUNNING, is_flag=True, help="Print nothing but warnings and errors.")
JSON = option("--json", "as_json", section=RUNNING, is_flag=True, help="Print the summary as a JSON object.")


# --- The whole run -------------------------------------------------------------------------------------------


def carry_out(kind: Kind[Any], job: Asked) -> None:
    """What can be refused before any work has been; then reading, training, writing and the summary."""
    began = time.perf_counter()
    check_files(kind, job)
    check_development(kind, job)
    check_tuning(kind, job)
    plan = kind.plan(job)
    plan.training.check()
    check_stopping(kind, job, plan.training)
    TrainingCommand(kind, job, plan, began, resumes=will_resume(job)).run()


class TrainingCommand:
    """One run of `parsimon train`."""

    def __init__(
        self, kind: Kind[Any], job: Asked, plan: Plan[Any, Any], began: float, *, resumes: bool
    ) -> None:
        self.kind, self.job, self.plan, self.began, self.resumes = kind, job, plan, began, resumes
        self.events: list[Event] = []
        self.model: Path | None = job["model"]

    def run(self) -> None:
        """The whole of it."""
        with ExitStack() as stack:
            log = self._open_log(stack)
            watch = stack.enter_context(self._progress())
            try:
                trained = self._learn(watch, [self.events.append, watch, *([] if log is None else [log])])
                self._write(trained.model, watch)
            except KeyboardInterrupt:
                left = "no model" if self.model is not None else "nothing"
                raise Interrupted(f"interrupted, and {left} was written{self.resume_hint}") from None
            record = self.record(trained, time.perf_counter() - self.began)
            if log is not None:
                log.end(**record)
        self._finish(trained, record, log)

    # ---- stages ------------------------------------------------------------------------------------------------

    def _open_log(self, stack: ExitStack) -> JsonLines | None:
        """The log, with what is about to happen as its first line."""
        from parsimon import __version__
        from parsimon.report.json_lines import JsonLines

        if self.job["log"] is None:
            return None
        log = JsonLines(self.job["log"], append=self.resumes)
        stack.callback(log.close)
        log.start(parsimon=__version__, resumed=self.resumes, **self.asked())
        return log

    def _progress(self) -> Progress:
        from parsimon.report.progress import progress
        from parsimon.report.time_left import TimeLeft

        job, left = self.job, TimeLeft(self.plan.training.time_limit)
        quiet = job["quiet"] or (job["as_json"] and not job["verbose"])
        return progress(sys.stderr, quiet=quiet, verbose=job["verbose"], began=self.began, time_left=left)

    def _learn(self, watch: Progress, callbacks: Sequence[Any]) -> Trained[Any]:
        """Reads and trains."""
        with self.plan.training.limited_memory():
            data, held_out = self._read(watch)
            training = replace(self.plan.training, callback=callbacks, **self._checkpoint_settings())
            trained = training.run(data, dev=held_out, start=self.plan.start, began=self.began, watch=watch)
        return replace(trained, model=self.plan.complete(trained.model))

    def _read(self, watch: Progress) -> tuple[Any, Any]:
        """The data and those to watch the score on, if any."""
        train, dev = self.job["train"], self.job.get("dev")
        watch.phase(f"reading {_shown(train)}")
        data = self.plan.read(train)
        if dev is None:
            return data, None
        watch.phase(f"reading {_shown(dev)}")
        return data, self.plan.development(self.plan.read(dev))

    def _checkpoint_settings(self) -> dict[str, Any]:
        path = checkpoint_file(self.job)
        safe = path is not None and (self.job["checkpoint_every"] > 0 or self.resumes)
        return {"checkpoint": path if safe else None, "resume": self.resumes}

    def _write(self, model: Any, watch: Progress) -> None:
        """Writes the files; if that fails, what was learned may still be in a checkpoint."""
        from parsimon.tasks.model_file import save_model

        try:
            if self.model is not None:
                watch.phase(f"writing {self.model.name}")
                save_model(model, self.model, dtype=self.job["dtype"])
            self.kind.write_more(self.job, model)
            write_tune_plot(self.job, model)
        except ParsimonError as error:
            raise ParsimonError(f"{str(error).rstrip('.')}{self.resume_hint}.") from error

    def _finish(self, trained: Trained[Any], record: dict[str, Any], log: JsonLines | None) -> None:
        """Says what came of it. The checkpoint of an interrupted run stays, for the run can be taken up again."""
        from parsimon.solvers.base import Status

        job, path = self.job, checkpoint_file(self.job)
        interrupted = trained.result.status is Status.INTERRUPTED
        if not interrupted and path is not None and (job["checkpoint_every"] or job["resume"]):
            path.unlink(missing_ok=True)
        if log is not None and log.failure is not None:
            say(f"the log {job['log']} is not complete: {log.failure}")
        if job["as_json"]:
            show_record(record)
        elif not job["quiet"]:
            show(self.text(trained.model, record))
        if interrupted:
            written = "this is the best model so far"
            if self.model is not None:
                written = f"the best model so far was written to {self.model}"
            raise Interrupted(f"interrupted; {written}{self.resume_hint}")

    def _limit(self, emptied: Mapping[str, Any]) -> str:
        """The strength from which on nothing is kept, by its flag."""
        from parsimon.tasks.too_strong import TooStrong

        return said_of_flags(TooStrong(**emptied).limit_text, click.get_current_context().command.params)

    # ---- what is said ------------------------------------------------------------------------------------------

    @property
    def resume_hint(self) -> str:
        """How to go on after a run that did not finish: the end of a sentence, or nothing."""
        path = checkpoint_file(self.job)
        if path is not None and self.job["checkpoint_every"] and path.exists():
            return f"; the same command with --resume goes on from {path}"
        return ""

    def asked(self) -> dict[str, Any]:
        """What was asked for, ready for JSON, with the values that training goes by."""
        training = self.plan.training
        names = options_of(self.kind.options)
        own = {
            k: v for k, v in self.job.values.items() if k not in names and k not in ("train", "dev", "model")
        }
        return {
            "kind": self.kind.name,
            "train": self.job["train"],
            "dev": self.job.get("dev"),
            "model": None if self.model is None else str(self.model),
            "options": {name: _plain(getattr(training, name)) for name in names if name != "callback"},
            "command_line": {name: _plain(value) for name, value in own.items()},
        }

    def record(self, trained: Trained[Any], seconds: float) -> dict[str, Any]:
        """What came of it, ready for JSON: the same for all kinds but for what `size` counts. Files were written."""
        from parsimon.tasks.model_file import jsonable

        result = trained.result
        told = {
            "kind": self.kind.name,
            "model": None if self.model is None else str(self.model),
            "bytes": None if self.model is None else self.model.stat().st_size,
            **result_record(result),
            "too_strong": trained.model.info.get("too_strong"),
            "size": self.kind.size(trained.model),
            **pace_record(
                max(self.events, result.history, key=len), seconds
            ),  # events begin where a run was resumed
            "files": {
                what.removeprefix("the "): str(path)
                for what, path in also_written(self.kind, self.job).items()
            },
        }
        record: dict[str, Any] = jsonable(told)  # a bound that is not known may be infinite
        return record

    def text(self, model: Any, record: Mapping[str, Any]) -> str:
        """The same for people."""
        from parsimon.report.tables import facts, file_size, objective_text
        from parsimon.report.tuning_tables import tuning_facts

        pairs = []
        if record["model"] is not None:
            pairs.append(("model", f"{record['model']} ({file_size(record['bytes'])})"))
        pairs += [*self.kind.size_facts(record["size"]), *self.kind.model_facts(model)]
        if record["too_strong"] is not None:
            pairs.append(("too strong", f"nothing is kept from {self._limit(record['too_strong'])} on"))
        if record["objective"] is not None:
            strength = {"threshold": model.info.get("threshold")}
            pairs.append(("objective", objective_text({**record, **strength})))
        if record["support"]:
            pairs.append(("support", f"{record['support']:,} outputs"))
        if record["dev"] is not None:
            at = f"{100 * record['dev']:.2f}% at iteration {record['dev_iteration']}"
            pairs.append(("dev", f"{self.kind.score_name}{at}"))
        pairs += tuning_facts(model.info)
        pairs.append(("status", record["message"]))
        pairs.append(("time", f"{record['seconds']:.1f} s, {record['iterations']} iterations"))
        return facts(pairs) + self.kind.more_text(self.job, model)


def result_record(result: Result) -> dict[str, Any]:
    """How the solver ended."""
    return {
        "status": result.status.name.lower(),
        "message": result.status.value,
        "objective": result.objective,
        "kkt": result.kkt,
        "gap": result.gap,
        "support": result.support,
    }


def pace_record(history: Sequence[Event], seconds: float) -> dict[str, Any]:
    """The best development score, and how long it took."""
    scores = [(event.dev, event.iteration) for event in history if event.dev is not None]
    best = max(scores, key=lambda score: score[0]) if scores else None
    return {
        "dev": best and best[0],
        "dev_iteration": best and best[1],
        "iterations": len(history),
        "seconds": round(seconds, 3),
    }


def _shown(source: str) -> str:
    return "standard input" if source == "-" else Path(source).name


def _plain(value: Any) -> Any:
    """A value as JSON has it; objects as they print."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Path) else repr(value)


def also_written(kind: Kind[Any], job: Asked) -> dict[str, Path]:
    """Files besides the model, by what they are."""
    plot = job.get("tune_plot")
    return {**kind.also_written(job), **({} if plot is None else {"the plot": plot})}


# --- Before any work -----------------------------------------------------------------------------------------


def checkpoint_file(job: Asked) -> Path | None:
    """Where checkpoints go: beside the model, unless another place was named."""
    named, model = job["checkpoint"], job["model"]
    if named is not None:
        return Path(named)
    return None if model is None else model.with_name(f"{model.name}.ckpt")


def will_resume(job: Asked) -> bool:
    """Whether to go on from a checkpoint; says so when that is not what one might think.

    A run that is killed within its first seconds leaves nothing to resume from, which is no mistake.
    """
    path = checkpoint_file(job)
    if path is None:
        if job["resume"]:
            raise ParsimonError(
                "there is no checkpoint to resume from; name a model with -m, or a --checkpoint."
            )
        return False
    exists = path.exists()
    if job["resume"] and not exists:
        say(f"there is no checkpoint {path}, so training starts from the beginning")
    if exists and job["checkpoint_every"] and not job["resume"]:
        say(f"{path}, from a run that did not finish, will be replaced; --resume would go on from it")
    return bool(exists and job["resume"])


def check_files(kind: Kind[Any], job: Asked) -> None:
    """Refuses what cannot be read, what could not be written at the end, and what would be lost by writing."""
    train, dev = job["train"], job.get("dev")
    if train == dev == "-":
        raise ParsimonError(f"{kind.source} and --dev cannot both be standard input.")
    sources = [source for source in (train, dev) if source is not None]
    for source in sources:
        if source != "-" and not Path(source).exists():
            raise ParsimonError(f"{source} cannot be read: there is no such file or directory.")
    path = checkpoint_file(job) if job["checkpoint_every"] or job["resume"] else None
    written = {
        "the model": job["model"],
        **also_written(kind, job),
        "the checkpoint": path,
        "the log": job["log"],
    }
    targets = {what: target for what, target in written.items() if target is not None}
    for what, target in targets.items():
        if str(target) == "-":
            raise ParsimonError(f"{what} must be a file; it cannot go to standard output.")
        if what != "the log":  # which is opened before anything else
            check_writable(target, what)
    for source in (*sources, *kind.also_read(job)):
        for target in targets.values():
            if Path(source).is_file() and target.exists() and target.samefile(source):
                raise ParsimonError(f"{source} would be overwritten by {target}; name another file.")


def check_development(kind: Kind[Any], job: Asked) -> None:
    """Refuses options about development data that there are not; says so if they are what is learnt from."""
    if not kind.has_development:
        return
    dev = job["dev"]
    if dev is None:
        refuse_idle(job, options_of(DevelopmentOptions), "development data", "--dev")
    elif same_content(job["train"], dev):
        say(
            f"{dev} is what is learnt from, so its score cannot tell when to stop; name other data with --dev, or "
            "leave it out"
        )


def same_content(one: str, other: str) -> bool:
    """Whether two names are of the same file or directory, or of files with the same content."""
    if "-" in (one, other):
        return False
    if Path(one).samefile(other):
        return True
    return Path(one).is_file() and Path(other).is_file() and filecmp.cmp(one, other, shallow=False)
