"""Penalties Ω(w): value, proximal operator, distance from optimality, dual norm. They never see data."""

from parsimon.penalties.base import Penalty
from parsimon.penalties.elastic_net import L1, L2, ElasticNet

__all__ = ["L1", "L2", "ElasticNet", "Penalty"]
