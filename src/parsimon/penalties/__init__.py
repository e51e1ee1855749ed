"""Penalties Ω(w): value, proximal operator, distance from optimality, dual norm. They never see data."""

from parsimon.penalties.base import BasePenalty, Penalty, never_dropped
from parsimon.penalties.elastic_net import L1, L2, ElasticNet
from parsimon.penalties.group_lasso import ElasticNetGroups, GroupLasso, SparseGroupLasso
from parsimon.penalties.kl_norm import KLNorm
from parsimon.penalties.l1_ball import L1Ball
from parsimon.penalties.overlapping import OverlappingGroupLasso, TreeLasso
from parsimon.penalties.pulled import Pulled
from parsimon.penalties.sentence_lasso import SentenceLasso
from parsimon.penalties.squared_l1 import SquaredL1

__all__ = [
    "L1",
    "L2",
    "BasePenalty",
    "ElasticNet",
    "ElasticNetGroups",
    "GroupLasso",
    "KLNorm",
    "L1Ball",
    "OverlappingGroupLasso",
    "Penalty",
    "Pulled",
    "SentenceLasso",
    "SparseGroupLasso",
    "SquaredL1",
    "TreeLasso",
    "never_dropped",
]
