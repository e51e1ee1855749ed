"""Strengths that choose themselves, on the command line: what makes no sense there, and the plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from parsimon.cli.failures import say
from parsimon.cli.kind import Kind
from parsimon.cli.options import Asked, option, refuse_idle
from parsimon.errors import ParsimonError
from parsimon.tasks.options import TUNING, DevelopmentOptions, TuningOptions, options_of

TUNE_PLOT = option(
    "--tune-plot",
    section=TUNING,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw score and size against strength to a .png, .svg or .pdf file (needs matplotlib).",
)


def has_tuning(kind: Kind[Any]) -> bool:
    """Whether strengths of a kind can choose themselves."""
    return issubclass(kind.options, TuningOptions)


def check_tuning(kind: Kind[Any], job: Asked) -> None:
    """Refuses options about a choice of strengths that would make no difference."""
    if not has_tuning(kind):
        return
    if job["tune"] is False:
        refuse_idle(job, ["folds", "tune_rule", "tune_plot"], "strengths that choose themselves", "--tune")
    if job["dev"] is not None and "folds" in job.given:
        raise ParsimonError("--folds is about choosing strengths without --dev; leave one of them out.")
    if job["tune_plot"] is not None:
        from parsimon.report.figure_file import check_ending

        check_ending(job["tune_plot"])


def check_stopping(kind: Kind[Any], job: Asked, training: Any) -> None:
    """Refuses options about when development data stop a fit, where they choose its strengths."""
    if has_tuning(kind) and job["dev"] is not None and training.tunes:
        what = "when --dev stops a fit, and here it chooses strengths"
        refuse_idle(job, options_of(DevelopmentOptions), what, "--no-tune")


def write_tune_plot(job: Asked, model: Any) -> None:
    """The drawing of score and size against strength, if strengths were chosen."""
    if job.get("tune_plot") is None:
        return
    tuning = model.info.get("tuning")
    if not tuning:
        say(f"{job['tune_plot']} was not drawn, because no strengths were chosen")
        return
    from parsimon.report.figure_file import save_figure
    from parsimon.report.tuning_tables import draw_tuning

    save_figure(draw_tuning(tuning), job["tune_plot"])
