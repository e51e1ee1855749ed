"""Templates that enter first along a path of group lassos."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsimon import SequenceLabeler
from parsimon.penalties import GroupLasso
from parsimon.penalties.groupings import ByTemplate
from toy_templates import GOOD, TEMPLATES


def test_group_lasso_drops_templates_along_a_path(data: Any) -> None:
    X, y = data
    penalty = GroupLasso(1.0, ByTemplate(weight="sqrt"))
    maker = SequenceLabeler(TEMPLATES, penalty=penalty, tol=1e-5)
    strongest = maker.max_strength(X, list(y))
    alive = []
    for strength, labeler in maker.path(X, list(y), [strongest * f for f in (1.001, 0.5, 0.02)]):
        assert labeler.penalty.strength == strength
        alive.append({t for t in names_in_use(labeler.model_) if t not in ("U", "B")})
    assert alive[0] == set()
    assert GOOD in alive[1]
    assert len(alive[2]) >= len(alive[1])


def names_in_use(model: Any) -> set[str]:
    names = model.space.template_names()
    used = {*model.space.node_templates(np.arange(model.space.n_node)).tolist()}
    used |= {*model.space.pair_templates(np.arange(model.space.n_pair)).tolist()}
    return {names[m] for m in used}
