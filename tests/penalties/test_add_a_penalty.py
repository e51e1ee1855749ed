"""The page on adding a penalty: it shows the real protocol, and the penalty that it adds is right.

That all its code runs is tested with the other pages.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parsimon.penalties import Penalty
from parsimon.penalties.groups import Groups

PAGE = (Path(__file__).parents[2] / "docs" / "add_a_penalty.md").read_text(encoding="utf-8")
LISTS = [[0, 2, 5], [1, 3]]  # 4 is in no group
GROUPS = Groups.from_lists(LISTS, 6)


def exclusive_lasso(strength: float) -> Any:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    (code,) = (block for block in blocks if "class ExclusiveLasso" in block)
    exec(compile(code, "add_a_penalty.md", "exec", dont_inherit=True), namespace)
    return namespace["ExclusiveLasso"](strength, GROUPS)


def test_the_page_shows_the_protocol_as_it_is() -> None:
    assert f"```py\n{inspect.getsource(Penalty)}```" in PAGE


def test_the_new_penalty_takes_about_forty_lines() -> None:
    (code,) = re.findall(
        r"^@dataclass\(frozen=True\)\nclass ExclusiveLasso.*?(?=^```)", PAGE, re.MULTILINE | re.DOTALL
    )
    assert len([line for line in code.splitlines() if line.strip()]) <= 40


vectors = arrays(np.float64, 6, elements=st.one_of(st.just(0.0), st.floats(-5, 5)))


@given(vectors, st.sampled_from([0.1, 1.0, 5.0]), st.sampled_from([0.1, 1.0]))
def test_prox_of_the_new_penalty_is_optimal(v: Any, strength: float, step: float) -> None:
    penalty = exclusive_lasso(strength)
    u = penalty.prox(v, step)
    np.testing.assert_allclose(
        penalty.violation(u, (u - v) / step), 0.0, atol=1e-10 * (1 + np.abs(v).max() / step)
    )
    assert u[4] == v[4]


def test_prox_of_the_new_penalty_against_cvxpy() -> None:
    cp = pytest.importorskip("cvxpy")
    v = np.array([3.0, -1.0, 0.2, 0.5, 0.7, -2.0])
    u = cp.Variable(6)
    value = sum(cp.square(cp.norm1(u[members])) for members in LISTS) / 2
    cp.Problem(cp.Minimize(0.5 * cp.sum_squares(u - v) + 0.3 * value)).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(exclusive_lasso(0.6).prox(v, 0.5), u.value, atol=1e-4)
    assert exclusive_lasso(0.6).value(v) == pytest.approx(0.6 * (5.2**2 + 1.5**2) / 2)
