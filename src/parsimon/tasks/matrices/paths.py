"""Which strengths there are to choose from for a matrix."""

from __future__ import annotations

from collections.abc import Sequence

from parsimon.tasks.tuning import Family

RATIOS = (0.1, 1.0)  # of l2 to l1 in the elastic nets to choose from
FAR = 1e-4  # how far the path of a ridge goes, as a share of its first strength


def families_of(alpha: float, l1: float, l2: float) -> Sequence[Family]:
    """The strength of groups; without groups, what is not given (zero) of an elastic net.

    If neither l1 nor l2 is given, the lasso, elastic nets and the ridge are among what is tried.

    >>> [(each.main, dict(each.fixed)) for each in families_of(1.0, 0.5, 0.0)]
    [('alpha', {'l1': 0.5, 'l2': 0.0})]
    >>> [(each.main, dict(each.tied)) for each in families_of(0.0, 0.0, 0.0)]
    [('l1', {}), ('l1', {'l2': 0.1}), ('l1', {'l2': 1.0}), ('l2', {})]
    """
    if alpha:
        return [Family("alpha", {"l1": l1, "l2": l2})]
    if l1 and l2:
        return []
    if l1:
        return [Family("l2", {"l1": l1}, least=FAR)]
    if l2:
        return [Family("l1", {"l2": l2})]
    nets = [Family("l1", tied={"l2": ratio}) for ratio in RATIOS]
    return [Family("l1", {"l2": 0.0}), *nets, Family("l2", {"l1": 0.0}, least=FAR)]
