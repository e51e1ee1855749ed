"""Which strengths there are to choose from, for each penalty on words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parsimon.tasks.tuning import Family

RATIOS = (1.0, 10.0, 30.0)  # of l2 to l1 in an elastic net
SENTENCES = (0.1, 1.0)  # of the group strength to l1
FAR = 1e-4  # a ridge has no largest strength, so its path is longer


def families_of(penalty: str, given: Mapping[str, float]) -> Sequence[Family]:
    """Paths of the strengths that are not given.

    >>> [dict(each.tied) for each in families_of("elastic-net", {})]
    [{'l2': 1.0}, {'l2': 10.0}, {'l2': 30.0}]
    >>> families_of("elastic-net", {"l2": 0.5})
    [Family(main='l1', fixed={'l2': 0.5}, tied={}, least=0.001)]
    """
    names = {"lasso": ["l1"], "elastic-net": ["l1", "l2"], "sentence": ["l1", "sentence"]}.get(penalty, ["l2"])
    left = [name for name in names if name not in given]
    if not left:
        return []
    main, *others = left
    least = FAR if main == "l2" else 1e-3
    if not others:
        return [Family(main, fixed=given, least=least)]
    ratios = RATIOS if others == ["l2"] else SENTENCES
    return [Family(main, fixed=given, tied={others[0]: ratio}, least=least) for ratio in ratios]
