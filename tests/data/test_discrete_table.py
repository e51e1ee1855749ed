"""Tables that networks are learnt from: names and states are kept, and what is no table is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon import MarkovNetwork
from parsimon.errors import ParsimonError
from toy_networks import chain, fitted, pairs


def test_data_frames_keep_their_names_and_states() -> None:
    from pandas import DataFrame

    X = chain().X
    frame = DataFrame(
        {
            "smoker": np.array(["no", "yes"])[X[:, 0]],
            "cough": X[:, 1].astype(bool),
            "grade": X[:, 2] * 10,
            "share": X[:, 3].astype(float),
        }
    )
    network = MarkovNetwork(n_alphas=12, random_state=0).fit(frame)
    assert network.edges_ == [("smoker", "cough"), ("cough", "grade"), ("grade", "share")]
    assert [states.tolist() for states in network.categories_] == [
        ["no", "yes"],
        [False, True],
        [0, 10],
        [0, 1],
    ]
    assert network.feature_names_in_.tolist() == ["smoker", "cough", "grade", "share"]
    assert network.n_features_in_ == 4
    given = network.conditional({"smoker": "yes", "grade": 10.0})
    assert set(given) == {"cough", "share"}
    assert set(given["cough"]) == {False, True}
    drawn = network.sample(30)
    assert list(drawn.columns) == list(frame.columns)
    assert drawn["cough"].dtype == bool
    assert set(drawn["smoker"]) == {"no", "yes"}
    assert network.score(frame[frame.columns[::-1]]) == network.score(frame)  # found by name
    with pytest.raises(ParsimonError, match="X has no column 'cough'"):
        network.score(frame[["smoker", "grade", "share"]])


def test_lists_and_arrays_of_anything() -> None:
    words = np.array(["b", "a"])[chain().X]
    as_list = MarkovNetwork(300.0).fit(words.tolist())
    assert as_list.edges_ == MarkovNetwork(300.0).fit(words).edges_ == pairs(chain())
    assert as_list.categories_[0].tolist() == ["a", "b"]
    mixed = [[x, "yes" if y else "no", bool(z)] for x, y, z in chain().X[:, :3].tolist()]
    network = MarkovNetwork(300.0).fit(mixed)
    assert network.sample(3).dtype == object
    assert network.edges_ == [("x0", "x1"), ("x1", "x2")]


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (
            [["a", 1], ["b", None]],
            r"column 'x1', row 1 \(counting from 0\): the value is missing; drop the row",
        ),
        ([[1.0, 2], [float("nan"), 2]], "column 'x0', row 1 .*: the value is missing"),
        (
            np.array([[0.5, 1.0]]),
            r"column 'x0', row 0 .*: 0\.5 is not a whole number.*discretise the column or drop it",
        ),
        ([[i] for i in range(60)], "column 'x0' has 60 distinct values, but at most 50 states are allowed"),
        ([[1, 2], [1]], "row 1 of X has 1 cells, but row 0 has 2"),
        ([1, 2, 3], "row 0 of X is 1, not a list of cells"),
        (np.arange(3), "X has 1 dimension; a table has two"),
        ("abc", "X must be a table"),
        ([], "X has no cells"),
        ([[]], "X has no cells"),
        ([[[1]]], "a state is a string, a whole number or a boolean, not list"),
    ],
)
def test_tables_that_are_refused(X: Any, said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        MarkovNetwork(1.0).fit(X)


def test_frames_that_are_refused() -> None:
    import pandas as pd
    from scipy.sparse import csr_matrix

    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1, 2]})
    with pytest.raises(ParsimonError, match=r"column 'a', row 1 .*: the value is missing"):
        MarkovNetwork(1.0).fit(frame)
    with pytest.raises(ParsimonError, match="not Timestamp; convert the column"):
        MarkovNetwork(1.0).fit(pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])}))
    with pytest.raises(ParsimonError, match="two columns are called 'a'"):
        MarkovNetwork(1.0).fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(ParsimonError, match="sparse matrix; give a dense one"):
        MarkovNetwork(1.0).fit(csr_matrix(np.eye(3)))


def test_other_tables_are_compared_with_the_one_learnt() -> None:
    network = fitted()
    with pytest.raises(ParsimonError, match="X has 2 columns, but the network has 6"):
        network.score(chain().X[:, :2])
    wrong = chain().X[:5].copy()
    wrong[3, 2] = 4
    with pytest.raises(ParsimonError, match="row 3 of X: 4 is not a state of 'x2', which has 0, 1"):
        network.score(wrong)
