"""Selection: which templates or features a model is learnt with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsimon.lazy import exports

if TYPE_CHECKING:
    from parsimon.selection.base import Candidates as Candidates
    from parsimon.selection.base import Selected as Selected
    from parsimon.selection.base import Selection as Selection
    from parsimon.selection.base import template_norms as template_norms
    from parsimon.selection.group_lasso_path import GroupLassoPath as GroupLassoPath
    from parsimon.selection.growth import Growth as Growth
    from parsimon.selection.growth import Stage as Stage
    from parsimon.selection.held_out_budget import HeldOutBudget as HeldOutBudget
    from parsimon.selection.information_gain import InformationGain as InformationGain
    from parsimon.selection.information_gain import rank_templates as rank_templates
    from parsimon.selection.sparseptron import Sparseptron as Sparseptron

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "base": ("Candidates", "Selected", "Selection", "template_norms"),
        "group_lasso_path": ("GroupLassoPath",),
        "growth": ("Growth", "Stage"),
        "held_out_budget": ("HeldOutBudget",),
        "information_gain": ("InformationGain", "rank_templates"),
        "sparseptron": ("Sparseptron",),
    },
)
