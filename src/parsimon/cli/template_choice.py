"""How templates are chosen before a model is learnt, as flags ask for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.options import number, option, positive, refuse_idle
from parsimon.tasks.options import CHOOSING

if TYPE_CHECKING:
    from parsimon.cli.options import Asked
    from parsimon.selection import Selection
    from parsimon.selection.base import Budgeted

SELECTIONS = ("sparseptron", "group-lasso", "information-gain")
OF_SPARSEPTRON = ("select_epochs", "fall", "haste")
# What a second stage minimises, and how.
REFITS = {
    "crf": ("log", "auto"),
    "mira": ("hinge", "mira"),
    "hinge": ("hinge", "auto"),
    "perceptron": ("perceptron", "sgd"),
}


def budget_of(ctx: click.Context, parameter: click.Parameter, value: str | None) -> int | str | None:
    """A number of templates, or `auto`."""
    if value is None or value == "auto":
        return value
    if not value.isdecimal() or int(value) < 1:
        raise click.BadParameter(
            f"{value!r} is neither a whole number, 1 or more, nor 'auto'.", ctx, parameter
        )
    return int(value)


def selection_flags(budget: int, uncounted: str, refit: str) -> list[Any]:
    """A first stage that chooses templates; `refit` is what the second stage is otherwise."""
    at_least_one = click.IntRange(min=1)
    return [
        option(
            "--select",
            section=CHOOSING,
            type=click.Choice(SELECTIONS),
            help="Select templates first, then train with these only: by a perceptron with a budget, along a path of "
            "group lassos, or by the information gain of each template.",
        ),
        option(
            "--budget",
            section=CHOOSING,
            callback=budget_of,
            metavar="N|auto",
            show_default=str(budget),
            help=f"The largest number of templates that --select keeps{uncounted}. 'auto' tries many on instances that "
            "are held out, and takes the smallest that is about as good as the best.",
        ),
        option(
            "--select-epochs",
            section=CHOOSING,
            type=at_least_one,
            default=5,
            metavar="N",
            help="Passes of the sparseptron over the data.",
        ),
        number(
            "--fall",
            section=CHOOSING,
            default=1.0,
            metavar="EPOCHS",
            help="The sparseptron's budget falls from all templates to --budget over so many passes; 0: at once.",
        ),
        positive(
            "--haste",
            section=CHOOSING,
            default=1.0,
            metavar="POWER",
            help="With more than 1, the budget falls fast at first, so that fewer weights exist at a time.",
        ),
        option(
            "--refit",
            section=CHOOSING,
            type=click.Choice(list(REFITS)),
            show_default=refit,
            help="How the second stage learns; short for --loss and --solver.",
        ),
    ]


def selection_of(job: Asked, default: int) -> Selection | None:
    """What chooses templates, if anything does; `default` is the budget if none was given."""
    if job["select"] is None:
        return None
    from parsimon.selection import GroupLassoPath, HeldOutBudget, InformationGain, Sparseptron

    by_itself = job["budget"] == "auto"
    budget = default if by_itself else job["budget"] or default
    stages: dict[str, Budgeted] = {
        "sparseptron": Sparseptron(
            budget,
            job["select_epochs"],
            fall=job["fall"],
            haste=job["haste"],
            seed=job["random_state"],
        ),
        "group-lasso": GroupLassoPath(budget),
        "information-gain": InformationGain(budget),
    }
    chosen = stages[job["select"]]
    return HeldOutBudget(chosen, seed=job["random_state"]) if by_itself else chosen


def check_selection(job: Asked, names: Iterable[str]) -> None:
    """Refuses options of a first stage that there is not."""
    if job["select"] is None:
        refuse_idle(job, [*names, "keep"], "choosing templates", "--select, as in --select sparseptron")
    if job["select"] != "sparseptron":
        refuse_idle(job, OF_SPARSEPTRON, "choosing templates by a perceptron", "--select sparseptron")
