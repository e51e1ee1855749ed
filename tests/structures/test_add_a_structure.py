"""The page on adding a structure: it shows the real protocols, and the structure and design that it adds are right.

That all its code runs is tested with the other pages.
"""

from __future__ import annotations

import inspect
import re
import sys
from functools import cache
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon import ParsimonError
from parsimon.designs.base import Design
from parsimon.structures import FlatParts, Structure

PAGE = (Path(__file__).parents[2] / "docs" / "add_a_structure.md").read_text(encoding="utf-8")


@cache
def classes() -> dict[str, Any]:
    """What the page defines."""
    module = ModuleType("__add_a_structure__")
    sys.modules[module.__name__] = module  # dataclasses look for the module of a class
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for code in blocks:
        if re.search(r"^class (Items|KOfN|ItemDesign)\b", code, re.MULTILINE):
            exec(compile(code, "add_a_structure.md", "exec", dont_inherit=True), vars(module))
    return vars(module)


@pytest.mark.parametrize("protocol", [Structure, Design])
def test_the_page_shows_the_protocols_as_they_are(protocol: type) -> None:
    assert f"```py\n{inspect.getsource(protocol)}```" in PAGE


@pytest.mark.parametrize(("protocol", "name"), [(Structure, "KOfN"), (Design, "ItemDesign")])
def test_nothing_of_a_protocol_is_missing(protocol: type, name: str) -> None:
    asked = {each for each, value in vars(protocol).items() if callable(value) or isinstance(value, property)}
    public = {each for each in asked if not each.startswith("_")}
    assert public
    made = classes()["KOfN"](np.array([2]), np.array([1])) if name == "KOfN" else classes()[name]
    assert [each for each in sorted(public) if not hasattr(made, each)] == []


def outputs_of(n: int, k: int) -> Any:
    return np.array([[int(i in on) for i in range(n)] for on in combinations(range(n), k)], dtype=int)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.floats(0, 1)), min_size=1, max_size=4),
    st.sampled_from([0.0, 1.0, 5.0, 500.0]),
    st.booleans(),
    st.integers(0, 1000),
)
def test_oracles_against_enumeration(
    sizes: list[tuple[int, float]], spread: float, weighted: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    lengths = np.array([n for n, _ in sizes])
    k = np.array([round(share * n) for n, share in sizes])
    weights = random.uniform(0, 2, len(sizes)) if weighted else None
    structure = classes()["KOfN"](lengths, k, weights)
    table = np.array([[0.0, 3.0], [1.5, 0.0]])
    scores = FlatParts(spread * random.uniform(-1, 1, size=(int(lengths.sum()), 2)))
    gold = structure.argmax(FlatParts(random.normal(size=scores.node.shape)))[1]
    given = np.where(random.random(len(gold)) < 0.5, gold, -1)

    best, output = structure.argmax(scores)
    worst, violated = structure.cost_argmax(scores, gold, table)
    log_z, parts = structure.marginals(FlatParts(scores.node.copy()))
    log_given, _ = structure.marginals(structure.constrain(scores, given))
    expected = 0.0
    for i, (n, on) in enumerate(zip(lengths.tolist(), k.tolist(), strict=True)):
        here, weight = slice(*structure.start[i : i + 2]), 1.0 if weights is None else weights[i]
        outputs = outputs_of(n, on)
        values = scores.node[here][np.arange(n), outputs].sum(axis=1)
        costs = table[gold[here], outputs].sum(axis=1)
        p = np.exp(values - np.logaddexp.reduce(values))
        agrees = np.all((outputs == given[here]) | (given[here] < 0), axis=1)
        close = {"rtol": 1e-9, "atol": 1e-9}
        np.testing.assert_allclose(best[i], values.max(), **close)
        assert output[here].sum() == on
        np.testing.assert_allclose(worst[i], np.max(values + costs), **close)
        np.testing.assert_allclose(log_z[i], np.logaddexp.reduce(values), **close)
        np.testing.assert_allclose(log_given[i], np.logaddexp.reduce(values[agrees]), **close)
        np.testing.assert_allclose(parts.node[here, 1], weight * (p @ outputs), **close)
        np.testing.assert_allclose(parts.node[here].sum(axis=1), weight, **close)
        np.testing.assert_allclose(structure.log_outputs()[i], np.log(len(outputs)), **close)
        expected += weight * float(p @ costs)
    gained = structure.score(scores, violated) + structure.cost(gold, violated, table)
    np.testing.assert_allclose(gained, worst, rtol=1e-9, atol=1e-9)
    structure.add_output(parts, gold, -1.0)
    assert structure.expected_cost(parts, gold, table) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_parts_of_a_batch_and_differences_of_outputs() -> None:
    from scipy import sparse

    random = np.random.default_rng(0)
    structure = classes()["KOfN"](np.array([4, 0, 3]), np.array([2, 0, 1]), np.array([1.0, 2.0, 3.0]))
    X = random.normal(size=(7, 5)) * (random.random((7, 5)) < 0.6)
    design = classes()["ItemDesign"](sparse.csr_matrix(X))
    one, two = np.array([1, 1, 0, 0, 0, 0, 1]), np.array([0, 1, 0, 1, 1, 0, 0])
    ((first, start, features, values),) = design.differences(structure, one, two)
    found = sparse.csr_matrix((values, features, start), shape=(3, 5)).toarray()
    np.testing.assert_allclose(found[0], X[0] - X[3])
    assert first == 0
    assert not found[1].any()
    np.testing.assert_allclose(found[2], X[6] - X[4])

    few, where = structure.part(1, 3)
    w = random.normal(size=5)
    assert few.n_instances == 2
    assert where == slice(4, 7)
    np.testing.assert_allclose(
        few.marginals(design.part(where).scores(w))[0], structure.marginals(design.scores(w))[0][1:]
    )


def test_more_items_on_than_there_are() -> None:
    with pytest.raises(ParsimonError, match="instance 1 has 2 items, so 3 of them cannot be on"):
        classes()["KOfN"](np.array([3, 2]), np.array([1, 3]))
