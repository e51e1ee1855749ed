"""The first of two stages: which templates or features there are to learn with (Martins et al. 2011, §4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from parsimon.arrays import IntArray
from parsimon.errors import ParsimonError
from parsimon.selection import Candidates, Selected, Selection
from parsimon.solvers import SOLVERS, Solver
from parsimon.solvers.base import thin_history
from parsimon.solvers.settings import epochs_of
from parsimon.tasks.training import Run


def keeps_features(selection: Selection | None, keep: str, solver: str | Solver) -> bool:
    """Whether the second stage learns with the features, not the templates, that the first one has left.

    `keep` is "features", "templates" or "auto": features for online learners, whose weights begin as those of the first
    stage did. What has an optimum may find it among all features of a template.
    """
    if selection is None or keep == "templates":
        return False
    if keep == "auto":
        made = SOLVERS[solver]() if isinstance(solver, str) and solver in SOLVERS else solver
        return selection.weighs_features and not isinstance(made, str) and epochs_of(made) is not None
    if not selection.weighs_features:
        raise ParsimonError(
            f"the selection {selection.name} ranks templates and has no weights that features could be chosen by; "
            "use keep='templates'."
        )
    return True


def select(
    selection: Selection, candidates: Callable[[], Candidates], run: Run, names: Sequence[str]
) -> Selected:
    """The first stage, unless a checkpoint has its result. `names` are the names of all templates."""
    run.phase(f"choosing templates: {selection.name}")
    selected = run.once(
        "selection",
        lambda: selection.select(candidates(), run.monitor()),
        Selected.to_dict,
        Selected.from_dict,
    )
    if selected.names != list(names):
        raise ParsimonError("the checkpoint is damaged: it has a selection of other templates.")
    return selected


def kept_features(selected: Selected, n_features: int) -> IntArray:
    """The features that a selection has left, of so many."""
    if selected.features is None or (len(selected.features) and selected.features[-1] >= n_features):
        raise ParsimonError("the checkpoint is damaged: it has a selection of other features.")
    return selected.features


def described_selection(selection: Selection, selected: Selected, features: int | None) -> dict[str, Any]:
    """What a model records about the selection: of its templates or, if the second stage keeps to them, features."""
    return {
        "name": selection.name,
        "templates": [[name, round(score, 6)] for name, score in selected.order if score > 0],
        "features": features,
        "tried": [asdict(each) for each in selected.tried],
        "instantiated": max((n for event in selected.history for n in event.instantiated), default=None),
        "history": thin_history(selected.history),
    }
