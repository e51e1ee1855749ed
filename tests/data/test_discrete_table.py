"""Tables that networks are learnt from: names and states are kept, and what is no table is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parsimon import MarkovNetwork
from parsimon.data.discrete_table import DiscreteTable, encode
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
            r"column 'x1', row 1 \(counting from 0\): the value is missing; fill it in",
        ),
        ([[1.0, 2], [float("nan"), 2]], "column 'x0', row 1 .*: the value is missing"),
        (
            np.array([[0.5, 1.0]]),
            r"column 'x0', row 0 .*: 0\.5 is not a whole number.*bins=4.*or drop it",
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


# ---- columns to drop, bins, missing values -------------------------------------------------------------------------


def frame() -> Any:
    from pandas import DataFrame

    return DataFrame(
        {
            "id": range(6),
            "size": [1.5, 2.5, None, 4.5, 5.5, 6.5],
            "sort": ["a", None, "b", "a", "b", "a"],
            "grade": [1, 2, 1, 2, 1, 2],
        }
    )


def test_missing_values_as_states() -> None:
    table = DiscreteTable.learn(frame(), drop=["id"], bins=2, missing="state")
    assert table.names == ("size", "sort", "grade")
    assert table.left_out == ("id",)
    assert table.bins == {"size": (4.5,)}
    assert table.categories == (("<= 4.5", "> 4.5", "missing"), ("a", "b", "missing"), (1, 2))
    assert table.codes[:, 0].tolist() == [0, 0, 2, 0, 1, 1]
    assert table.codes[:, 1].tolist() == [0, 2, 1, 0, 1, 0]
    assert table.dropped == 0


def test_rows_with_missing_values_are_left_out() -> None:
    table = DiscreteTable.learn(frame(), drop=["id"], bins=2, missing="drop")
    assert table.rows is not None
    assert (table.rows.tolist(), table.dropped, len(table)) == ([0, 3, 4, 5], 2, 4)
    assert table.bins == {"size": (4.5,)}
    whole = DiscreteTable.learn(frame(), drop=["size", "sort"], missing="drop")
    assert (len(whole), whole.dropped) == (6, 0)  # missing values of columns that are dropped do not count


def test_new_rows_get_the_same_bins() -> None:
    table = DiscreteTable.learn(frame(), drop=["id"], bins=2, missing="state")
    new = frame()[["grade", "sort", "size"]].assign(size=[-9, 4.5, 4.6, 1e9, None, 0])
    codes = encode(new, table.names, table.categories, bins=table.bins)
    assert codes[:, 0].tolist() == [0, 0, 1, 1, 2, 0]
    assert codes[:, 1].tolist() == [0, 2, 1, 0, 1, 0]
    names = new.assign(size=["<= 4.5", "> 4.5", "missing"] * 2)
    assert encode(names, table.names, table.categories, bins=table.bins)[:, 0].tolist() == [0, 1, 2] * 2
    for wrong in ("tall", float("inf"), [1]):
        with pytest.raises(ParsimonError, match=r"row 1 of X: .* is not a state of 'size'"):
            encode(new.assign(size=[1, wrong, 1, 1, 1, 1]), table.names, table.categories, bins=table.bins)


def test_arrays_may_have_the_columns_that_were_left_out() -> None:
    X = np.array([[0, 1, 7], [1, 0, 8], [1, 1, 9]])
    table = DiscreteTable.learn(X, drop=["x1"])
    assert table.names == ("x0", "x2")
    for given in (X, X[:, [0, 2]]):
        codes = encode(given, table.names, table.categories, left_out=table.left_out)
        assert codes.tolist() == table.codes.tolist()
    with pytest.raises(ParsimonError, match="X has 4 columns, but the network has 2"):
        encode(np.zeros((2, 4)), table.names, table.categories, left_out=table.left_out)


def test_a_state_may_be_called_missing_where_nothing_is() -> None:
    rows = [["missing"], ["there"], ["zero"]]
    table = DiscreteTable.learn(rows, missing="state")
    assert table.categories == (("missing", "there", "zero"),)
    assert encode([["missing"], ["zero"]], table.names, table.categories).tolist() == [[0], [2]]
    with pytest.raises(ParsimonError, match="column 'x0' has missing values and the state 'missing'"):
        DiscreteTable.learn([*rows, [None]], missing="state")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"drop": ["siz"]}, "there is no column 'siz' to drop; did you mean 'size'"),
        ({"drop": ["id", "size", "sort", "grade"]}, "all columns are dropped"),
        ({"bins": 2}, "column 'size', row 2 .*the value is missing; .*missing='drop'"),
        ({"missing": "drop"}, r"column 'size', row 0 .*: 1.5 is not a whole number, .*bins=4"),
        ({"drop": ["size"], "max_states": 5, "missing": "state"}, "column 'id' has 6 distinct values"),
    ],
)
def test_tables_that_need_other_options(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        DiscreteTable.learn(frame(), **options)
    with pytest.raises(ParsimonError, match="every row of X has a missing value"):
        DiscreteTable.learn([[1, None], [None, 2]], missing="drop")
