"""Which strengths there are to choose from, for each penalty on words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parsimon.tasks.tuning import Family

RATIOS = {"elastic-net": (1.0, 10.0, 30.0), "count-elastic-net": (1.0, 3.0, 10.0)}  # of l2 to l1
NAMES = {  # of the strengths, that of the path first
    "ridge": ["l2"],
    "lasso": ["l1"],
    "elastic-net": ["l1", "l2"],
    "count-ridge": ["l2"],
    "count-elastic-net": ["l1", "l2"],
    "sentence": ["l1", "sentence"],
}
SENTENCES = (0.1,)  # of the group strength to l1; ADMM takes long, so there is one path
FAR = 1e-4  # a ridge has no largest strength, so its path is longer


def families_of(penalty: str, given: Mapping[str, float]) -> Sequence[Family]:
    """Paths of the strengths that are not given.

    >>> [dict(each.tied) for each in families_of("elastic-net", {})]
    [{'l2': 1.0}, {'l2': 10.0}, {'l2': 30.0}]
    >>> [each.at(2.0) for each in families_of("elastic-net", {"l2": 0.5})]
    [{'l1': 2.0, 'l2': 0.5}]
    """
    names = NAMES[penalty]
    left = [name for name in names if name not in given]
    if not left:
        return []
    main, *others = left
    least = FAR if main == "l2" else 1e-3
    if not others:
        return [Family(main, fixed=given, least=least)]
    if penalty == "sentence":
        return [Family(main, fixed=given, tied={others[0]: ratio}, a_decade=3) for ratio in SENTENCES]
    ratios = RATIOS[penalty]
    return [Family(main, fixed=given, tied={others[0]: ratio}, least=least) for ratio in ratios]
