"""Solvers agree on real chunking data, with certificates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon.data import is_available, load_conll2000
from parsimon.features import TemplateFeatures, get_preset
from parsimon.penalties import L1, GroupLasso
from parsimon.penalties.groupings import ByTemplate
from parsimon.tasks.sequences.training import SequenceTraining

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not is_available("conll2000"), reason="CoNLL-2000 is not on this machine"),
]


@pytest.fixture(scope="module")
def some() -> Any:
    X, y = load_conll2000("train")
    return X[:100], y[:100]


def optimum(some: Any, penalty: Any, solver: str, tol: float = 1e-6) -> dict[str, Any]:
    training = SequenceTraining(penalty=penalty, solver=solver, tol=tol, candidates="seen", n_jobs=2)
    return training.fit(TemplateFeatures(get_preset("chunking")), *some).info


@pytest.mark.parametrize(
    ("penalty", "solvers"),
    [
        (L1(2.0), ["working-set", "owlqn", "fista"]),
        (GroupLasso(3.0, ByTemplate(), l2=0.01), ["fista", "block-working-set"]),
        (GroupLasso(2.0, ByTemplate(), l1=0.5, l2=0.01), ["fista", "block-working-set"]),
    ],
    ids=["l1", "group lasso", "sparse group lasso"],
)
def test_solvers_agree(some: Any, penalty: Any, solvers: list[str]) -> None:
    told = {solver: optimum(some, penalty, solver) for solver in solvers}
    lowest = min(info["objective"] for info in told.values())
    for solver, info in told.items():
        assert info["objective"] == pytest.approx(lowest, rel=1e-6), solver
        assert info["status"].startswith("converged"), solver
    assert np.isfinite(told[solvers[0]]["kkt"])
