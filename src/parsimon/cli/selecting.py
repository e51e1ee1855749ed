"""The first stage of training, as options ask for it."""

from __future__ import annotations

from parsimon.cli.training_options import TemplateJob
from parsimon.selection.base import Selection
from parsimon.selection.group_lasso_path import GroupLassoPath
from parsimon.selection.information_gain import InformationGain
from parsimon.selection.sparseptron import Sparseptron


def selection_of(job: TemplateJob, default: int) -> Selection | None:
    """What chooses templates, if anything does; `default` is the budget if none was named."""
    if job.select is None:
        return None
    budget = job.budget or default
    stages: dict[str, Selection] = {
        "sparseptron": Sparseptron(budget, job.select_epochs, seed=job.seed),
        "group-lasso": GroupLassoPath(budget),
        "information-gain": InformationGain(budget),
    }
    return stages[job.select]
