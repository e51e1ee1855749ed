"""What is refused before any training: files that could not be written or would be lost, options that do not fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from parsimon.cli.output import check_writable
from parsimon.cli.training_options import TemplateJob, TrainingJob
from parsimon.errors import ParsimonError
from parsimon.losses import get_loss
from parsimon.penalties import GroupLasso, Penalty
from parsimon.penalties.groups import Groups
from parsimon.problem import Problem
from parsimon.solvers import Solver, choose_solver


def check_training_files(job: TrainingJob, also_read: Iterable[str] = ()) -> None:
    """Refuses what could not be written at the end, and what would be lost by writing."""
    if str(job.model) == "-":
        raise ParsimonError("the model must be a file; it cannot go to standard output.")
    if job.train == job.dev == "-":
        raise ParsimonError("TRAIN and --dev cannot both be standard input.")
    sources = [source for source in (job.train, job.dev) if source is not None]
    for source in sources:
        if source != "-" and not Path(source).exists():
            raise ParsimonError(f"{source} cannot be read: there is no such file or directory.")
    check_writable(job.model, "the model")
    written = [job.model]
    if job.kept_in is not None:
        check_writable(job.kept_in, "the checkpoint")
        written.append(job.kept_in)
    if job.log is not None:
        written.append(job.log)
    for source in (*sources, *also_read):
        for target in written:
            if Path(source).is_file() and target.exists() and target.samefile(source):
                raise ParsimonError(f"{source} would be overwritten by {target}; name another file.")


def check_selection(job: TemplateJob, names: Iterable[str]) -> None:
    """Refuses options of a first stage that there is not."""
    if job.select is None:
        for name in names:
            if getattr(job, name) is not None:
                raise ParsimonError(
                    f"--{name} is about choosing templates; add --select, as in --select sparseptron."
                )


def check_solver(solver: str | Solver, loss: str, penalty: Penalty, tol: float | None) -> Solver:
    """Refuses a solver that cannot do what was asked, or gives it."""
    if isinstance(penalty, GroupLasso):  # on no feature at all: enough to see which solvers can deal with it
        penalty = replace(penalty, groups=Groups.from_lists([], 0))
    return choose_solver(solver, Problem((), get_loss(loss), penalty, 0), tol)
