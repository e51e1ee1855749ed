"""Penalties Ω(w): value, proximal operator, distance from optimality, dual norm. They never see data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsimon.lazy import exports

if TYPE_CHECKING:
    from parsimon.penalties.base import BasePenalty as BasePenalty
    from parsimon.penalties.base import Penalty as Penalty
    from parsimon.penalties.base import never_dropped as never_dropped
    from parsimon.penalties.elastic_net import L1 as L1
    from parsimon.penalties.elastic_net import L2 as L2
    from parsimon.penalties.elastic_net import ElasticNet as ElasticNet
    from parsimon.penalties.group_lasso import ElasticNetGroups as ElasticNetGroups
    from parsimon.penalties.group_lasso import GroupLasso as GroupLasso
    from parsimon.penalties.group_lasso import SparseGroupLasso as SparseGroupLasso
    from parsimon.penalties.groupings import ByAttribute as ByAttribute
    from parsimon.penalties.groupings import ByLabel as ByLabel
    from parsimon.penalties.groupings import ByOrder as ByOrder
    from parsimon.penalties.groupings import ByTemplate as ByTemplate
    from parsimon.penalties.groupings import ByTree as ByTree
    from parsimon.penalties.groupings import Grouping as Grouping
    from parsimon.penalties.groups import Groups as Groups
    from parsimon.penalties.kl_norm import KLNorm as KLNorm
    from parsimon.penalties.l1_ball import L1Ball as L1Ball
    from parsimon.penalties.overlapping import OverlappingGroupLasso as OverlappingGroupLasso
    from parsimon.penalties.overlapping import TreeLasso as TreeLasso
    from parsimon.penalties.pulled import Pulled as Pulled
    from parsimon.penalties.sentence_lasso import SentenceLasso as SentenceLasso
    from parsimon.penalties.squared_l1 import SquaredL1 as SquaredL1

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "base": ("BasePenalty", "Penalty", "never_dropped"),
        "elastic_net": ("L1", "L2", "ElasticNet"),
        "group_lasso": ("ElasticNetGroups", "GroupLasso", "SparseGroupLasso"),
        "groupings": ("ByAttribute", "ByLabel", "ByOrder", "ByTemplate", "ByTree", "Grouping"),
        "groups": ("Groups",),
        "kl_norm": ("KLNorm",),
        "l1_ball": ("L1Ball",),
        "overlapping": ("OverlappingGroupLasso", "TreeLasso"),
        "pulled": ("Pulled",),
        "sentence_lasso": ("SentenceLasso",),
        "squared_l1": ("SquaredL1",),
    },
)
