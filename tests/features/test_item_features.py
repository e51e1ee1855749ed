"""Ready-made features: dictionaries and strings in CRFsuite's manner, and sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.errors import ParsimonError
from parsimon.features.item_features import ItemFeatures, MatrixFeatures, SparseSequences
from parsimon.features.observations import Rows


def named(space: ItemFeatures, rows: Rows) -> list[list[tuple[str, float]]]:
    names = space.node_names(np.arange(space.n_node))
    value = np.ones(len(rows.index)) if rows.value is None else rows.value
    return [
        [(names[rows.index[i]], float(value[i])) for i in range(rows.start[r], rows.start[r + 1])]
        for r in range(len(rows))
    ]


def learn(*tokens: Any) -> list[list[tuple[str, float]]]:
    space = ItemFeatures()
    return named(space, space.learn([list(tokens)]).node)


@pytest.mark.parametrize(
    ("token", "wanted"),
    [
        ({"word": "the", "bias": 1.0}, [("word:the", 1.0), ("bias", 1.0)]),
        ({"length": 3, "ratio": -0.5}, [("length", 3.0), ("ratio", -0.5)]),
        ({"title": True, "digit": False}, [("title", 1.0)]),
        ({"zero": 0.0, "one": 1}, [("one", 1.0)]),
        ({"number": np.float32(2.5), "count": np.int64(2)}, [("number", 2.5), ("count", 2.0)]),
        (["word=the", "bias"], [("word=the", 1.0), ("bias", 1.0)]),
        (("a", "b"), [("a", 1.0), ("b", 1.0)]),
        ({"only"}, [("only", 1.0)]),
        ({"w": ["a", "b"]}, [("w:a", 1.0), ("w:b", 1.0)]),
        ({"w": {"x": 2.0, "y": "z"}}, [("w:x", 2.0), ("w:y:z", 1.0)]),
        ({"w": {"v": {"u": "t"}}, "s": "r"}, [("w:v:u:t", 1.0), ("s:r", 1.0)]),
        ({"é": "日本"}, [("é:日本", 1.0)]),
        ({"": ""}, [(":", 1.0)]),
        ({}, []),
        ([], []),
    ],
)
def test_what_a_token_means(token: Any, wanted: list[tuple[str, float]]) -> None:
    assert learn(token) == [wanted]


def test_it_means_what_it_means_to_crfsuite(tmp_path: Any) -> None:
    """The same attributes as python-crfsuite makes of the same dictionaries."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    tokens = [
        {"w": "a", "n": 0.5, "t": True, "l": ["x", "y"], "d": {"k": "v", "m": 2}}, {"w": "b:c", "s": {"q"}},
    ]  # fmt: skip
    trainer = pycrfsuite.Trainer(
        "lbfgs", {"c2": 0.1, "max_iterations": 5, "feature.possible_states": True}, verbose=False
    )
    trainer.append(tokens, ["A", "B"])
    trainer.train(str(tmp_path / "model"))
    with pycrfsuite.Tagger().open(str(tmp_path / "model")) as tagger:
        theirs = set(tagger.info().attributes)
    assert {name for row in learn(*tokens) for name, _ in row} == theirs


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ({"x": float("nan")}, "sequence 1, token 2: the feature x has the value NaN; values must be finite"),
        ({"x": float("inf")}, "sequence 1, token 2: the feature x has the value infinity"),
        ({"p": {"x": float("nan")}}, "the feature p:x has the value NaN"),
        ({"x": None}, "a feature's value must be a number, a string, a bool, or a dict, list or set"),
        ({1: "x"}, "feature names must be strings"),
        (3, "a token's features must be a dict, or a list or set of strings"),
        (None, "a token's features must be a dict"),
        ([1], "a token's features must be a dict"),
        ({"x": "\ud800"}, ""),
    ],
)
def test_mistakes(token: Any, message: str) -> None:
    with pytest.raises(ParsimonError) as error:
        ItemFeatures().learn([[{}], ["a", "b", token]])
    assert message in str(error.value)


@pytest.mark.parametrize("token", [{"x": None}, {1: "x"}, 3])
def test_mistakes_of_type_are_found_with_their_place(token: Any) -> None:
    with pytest.raises(ParsimonError, match="sequence 1, token 2"):
        ItemFeatures().learn([[{}], ["a", "b", token]])


@pytest.mark.parametrize("X", [3, None, [3], [None]])
def test_what_is_not_a_list_of_sequences(X: Any) -> None:
    with pytest.raises(ParsimonError):
        ItemFeatures().learn(X)


items = st.dictionaries(
    st.sampled_from("abc"),
    st.one_of(st.sampled_from(["x", "y"]), st.floats(-2, 2), st.booleans()),
    max_size=3,
)
data = st.lists(st.lists(items, max_size=4), min_size=1, max_size=4)


@given(data, data)
def test_unseen_attributes_are_passed_over(learnt: Any, seen: Any) -> None:
    space = ItemFeatures()
    space.learn(learnt)
    known = set(space.node_names(np.arange(space.n_node)))
    found = named(space, space.observe(seen).node)
    everything = ItemFeatures()
    wanted = named(everything, everything.learn(seen).node)
    assert found == [[(name, value) for name, value in row if name in known] for row in wanted]


@given(data, st.integers(1, 4))
def test_cut_off(sequences: Any, cutoff: int) -> None:
    everything, space = ItemFeatures(), ItemFeatures(cutoff=cutoff)
    rows = named(everything, everything.learn(sequences).node)
    count: dict[str, int] = {}
    for name, _ in (pair for row in rows for pair in row):
        count[name] = count.get(name, 0) + 1
    found = named(space, space.learn(sequences).node)
    assert found == [[(name, value) for name, value in row if count[name] >= cutoff] for row in rows]
    assert named(space, space.observe(sequences).node) == found


@given(data, st.integers(0, 1000))
def test_keeping_some_and_saving_them(sequences: Any, seed: int) -> None:
    space = ItemFeatures()
    learnt = space.learn(sequences).node
    chosen = np.random.default_rng(seed).random(space.n_node) < 0.5
    for pair in (np.array([True]), np.array([False])):
        kept = space.keep(chosen, pair)
        again = ItemFeatures.from_state(*kept.state())
        for other in (kept, again):
            assert other.n_pair == int(pair[0])
            assert named(other, other.observe(sequences).node) == named(kept, learnt.keep(chosen))


def test_every_step_has_the_label_bigram() -> None:
    space = ItemFeatures()
    observations = space.learn([["a", "b"], [], ["c"]])
    assert observations.lengths.tolist() == [2, 0, 1]
    assert np.diff(observations.pair.start).tolist() == [1, 1, 1]
    assert space.pair_names(np.array([0])) == ["transition"]
    node, pair = space.constant()
    assert (node.tolist(), pair.tolist()) == ([], [0])
    assert ItemFeatures(transitions=False).learn([["a"]]).pair.index.tolist() == []


def test_values_that_are_all_one_need_no_memory() -> None:
    assert ItemFeatures().learn([[{"a": 1.0, "b": "c"}]]).node.value is None
    assert ItemFeatures().learn([[{"a": 2.0}]]).node.value is not None


def test_learning_again_forgets() -> None:
    space = ItemFeatures()
    space.learn([["a"]])
    space.learn([["b"]])
    assert space.node_names(np.arange(space.n_node)) == ["b"]


# ---- matrices ----------------------------------------------------------------------------------------------


def matrix(dense: Any) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(np.asarray(dense, float))


def dense_rows(rows: Rows, width: int) -> Any:
    out = np.zeros((len(rows), width))
    for r in range(len(rows)):
        for i in range(rows.start[r], rows.start[r + 1]):
            out[r, rows.index[i]] += 1.0 if rows.value is None else rows.value[i]
    return out


def test_a_matrix_with_lengths() -> None:
    dense = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, -1.0], [0.5, 3.0, 0.0]])
    space = MatrixFeatures()
    observations = space.learn(SparseSequences(matrix(dense), [2, 1]))
    np.testing.assert_array_equal(dense_rows(observations.node, 3), dense)
    assert observations.lengths.tolist() == [2, 1]
    kept = space.keep(np.array([True, False, True]), np.array([True]))
    for other in (kept, MatrixFeatures.from_state(*kept.state())):
        seen = other.observe(SparseSequences(matrix(dense), [3]))
        np.testing.assert_array_equal(dense_rows(seen.node, 2), dense[:, [0, 2]])
        assert other.node_names(np.arange(2)) == ["0", "2"]


def test_entries_that_are_there_twice_are_added() -> None:
    from scipy.sparse import coo_matrix

    twice = coo_matrix(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    observations = MatrixFeatures().learn(SparseSequences(twice, [2]))
    np.testing.assert_array_equal(dense_rows(observations.node, 2), [[0, 3], [4, 0]])


def test_picking_sequences_of_a_matrix() -> None:
    X = SparseSequences(matrix(np.arange(8).reshape(4, 2)), [1, 0, 3])
    assert len(X) == 3
    np.testing.assert_array_equal(X[2].matrix.toarray(), [[2, 3], [4, 5], [6, 7]])
    assert X[np.array([2, 0])].lengths.tolist() == [3, 1]


def test_wrong_matrices() -> None:
    with pytest.raises(ParsimonError, match="lengths add up to 3 but the matrix has 2 rows"):
        SparseSequences(matrix(np.eye(2)), [3])
    with pytest.raises(ParsimonError):
        SparseSequences(matrix(np.eye(2)), [3, -1])
    with pytest.raises(ParsimonError, match="not finite"):
        MatrixFeatures().learn(SparseSequences(matrix([[np.nan]]), [1]))
    space = MatrixFeatures()
    space.learn(SparseSequences(matrix(np.eye(2)), [2]))
    with pytest.raises(ParsimonError, match="the matrix has 3 columns, but the model was trained on 2"):
        space.observe(SparseSequences(matrix(np.eye(3)), [3]))


def test_a_matrix_is_not_changed() -> None:
    from scipy.sparse import csr_matrix

    twice = csr_matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    MatrixFeatures().learn(SparseSequences(twice, [1]))
    assert twice.nnz == 2
