"""Ready-made features: dictionaries and strings in CRFsuite's manner, and matrices."""

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
        ({"x": "\ud800"}, "sequence 1, token 2: a text has half of a surrogate pair"),
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
    with pytest.raises(ParsimonError, match="lengths add up to 3, but the matrix has 2 rows"):
        SparseSequences(matrix(np.eye(2)), [3])
    with pytest.raises(ParsimonError):
        SparseSequences(matrix(np.eye(2)), [3, -1])
    space = MatrixFeatures()
    space.learn(SparseSequences(matrix(np.eye(2)), [2]))
    with pytest.raises(ParsimonError, match="the matrix has 3 columns, but the model was trained on 2"):
        space.observe(SparseSequences(matrix(np.eye(3)), [3]))


def test_a_matrix_is_not_changed() -> None:
    from scipy.sparse import csr_matrix

    twice = csr_matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    MatrixFeatures().learn(SparseSequences(twice, [1]))
    assert twice.nnz == 2


def test_one_dense_matrix() -> None:
    dense = np.array([[0, 2], [1, 0], [0, 0]], np.uint8)
    X = SparseSequences(dense, [1, 2])
    np.testing.assert_array_equal(dense_rows(MatrixFeatures().learn(X).node, 2), dense)


def test_values_of_a_small_type_are_added_as_numbers() -> None:
    from scipy.sparse import coo_matrix

    twice = coo_matrix((np.array([200, 200], np.uint8), ([0, 0], [0, 0])), shape=(1, 1))
    observations = MatrixFeatures().learn(SparseSequences(twice, [1]))
    np.testing.assert_array_equal(dense_rows(observations.node, 1), [[400]])


def test_columns_of_ones_need_no_values() -> None:
    assert MatrixFeatures().learn([np.eye(2)]).node.value is None
    assert MatrixFeatures().learn([2 * np.eye(2)]).node.value is not None


matrices = st.lists(
    st.integers(0, 4).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([0.0, 1.0, -2.5]), min_size=3, max_size=3), min_size=n, max_size=n
        )
    ),
    min_size=1,
    max_size=5,
)


@given(matrices, st.sampled_from(["dense", "csr", "coo", "mixed"]))
def test_a_matrix_for_every_sequence(sequences: Any, kind: str) -> None:
    from scipy.sparse import coo_array, csr_matrix

    arrays = [np.array(rows, float).reshape(-1, 3) for rows in sequences]
    make = {"dense": np.asarray, "csr": csr_matrix, "coo": coo_array}
    X = [make[kind if kind != "mixed" else ("dense", "csr", "coo")[i % 3]](a) for i, a in enumerate(arrays)]
    space = MatrixFeatures()
    observations = space.learn(X)
    assert observations.lengths.tolist() == [len(rows) for rows in sequences]
    wanted = np.concatenate(arrays)
    np.testing.assert_array_equal(dense_rows(observations.node, 3), wanted)
    seen = space.observe(SparseSequences.from_sequences(X)[::-1])
    assert seen.lengths.tolist() == [len(rows) for rows in sequences[::-1]]
    np.testing.assert_array_equal(dense_rows(seen.node, 3), np.concatenate(arrays[::-1]))


def test_sequences_without_tokens_fit_any_columns() -> None:
    from scipy.sparse import csr_matrix

    X = [np.zeros((0, 7)), np.eye(2), [], (), np.array([]), csr_matrix((0, 3)), np.ones((1, 2))]
    observations = MatrixFeatures().learn(X)
    assert observations.lengths.tolist() == [0, 2, 0, 0, 0, 0, 1]
    space = MatrixFeatures()
    space.learn([np.eye(2)])
    for nothing in ([], [[]], [np.zeros((0, 5))], SparseSequences.from_sequences([])):
        seen = space.observe(nothing)
        assert (seen.n_tokens, len(seen.lengths)) == (0, len(nothing))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            [np.eye(2), np.ones((1, 3))],
            "sequence 1 has 3 columns, but those before it have 2; every token needs the same",
        ),
        ([[], np.ones(3)], r"sequence 1 has the shape \(3,\); it should be tokens × features"),
        ([np.array(1.0)], r"sequence 0 has the shape \(\)"),
        ([np.eye(2), [[1.0, 2.0]]], "sequence 1 is a list; it should be a matrix of numbers"),
        ([np.eye(2), None], "sequence 1 is a NoneType"),
        ([np.array([["a"]])], "sequence 0 is a ndarray; it should be a matrix of numbers"),
        ([np.eye(2) * 1j], "sequence 0 has values of type complex128; they should be real numbers"),
        ([matrix(np.eye(2)), matrix(np.eye(3))], "sequence 1 has 3 columns"),
    ],
)
def test_wrong_sequences(X: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        MatrixFeatures().learn(X)


@pytest.mark.parametrize(
    ("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")], ids=str
)
@pytest.mark.parametrize("make", [np.asarray, matrix], ids=["dense", "sparse"])
def test_values_that_are_not_finite_are_found_with_their_place(make: Any, value: float, name: str) -> None:
    wrong = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, value]])
    X = [make(np.eye(2)), [], make(wrong)]
    with pytest.raises(
        ParsimonError, match=f"sequence 2, token 2: the feature 1 has the value {name}; values must"
    ):
        MatrixFeatures().learn(X)
    with pytest.raises(ParsimonError, match="sequence 2, token 2: the feature height has"):
        MatrixFeatures().learn(SparseSequences.from_sequences(X, names=["width", "height"]))


def test_names_of_columns() -> None:
    X = SparseSequences.from_sequences([np.eye(3), np.ones((1, 3))], names=["a", "b", "c"])
    space = MatrixFeatures()
    space.learn(X)
    assert space.node_names(np.array([2, 0])) == ["c", "a"]
    kept = space.keep(np.array([True, False, True]), np.array([True]))
    for other in (kept, MatrixFeatures.from_state(*kept.state())):
        assert other.node_names(np.arange(2)) == ["a", "c"]
        np.testing.assert_array_equal(dense_rows(other.observe(X[1]).node, 2), [[1, 1]])
        other.observe([np.ones((1, 3))])  # without names, columns go by their places
        other.observe(SparseSequences(np.ones((1, 3)), [1], names=["a", "unused", "c"]))
        with pytest.raises(
            ParsimonError, match="column 2 is called 'b', but the model was trained with 'c' there"
        ):
            other.observe(SparseSequences(np.ones((1, 3)), [1], names=["a", "c", "b"]))
    assert X[:1].names == SparseSequences.concatenate([X[1], X[0]]).names == ("a", "b", "c")
    assert SparseSequences.from_sequences([], names=["a"]).names == ("a",)
    space.learn([np.eye(2)])
    assert space.node_names(np.arange(2)) == ["0", "1"], "learning again forgets"


def test_wrong_names() -> None:
    with pytest.raises(ParsimonError, match="there are 1 names but 2 columns; give one per column"):
        SparseSequences(np.eye(2), [2], names=["a"])
    with pytest.raises(ParsimonError, match="two columns have the name 'a'; every column needs its own"):
        SparseSequences(np.eye(3), [3], names=["b", "a", "a"])
    settings, arrays = MatrixFeatures(True, np.arange(2), 2, ("a", "b")).state()
    with pytest.raises(ParsimonError, match="1 names but 2 columns"):
        MatrixFeatures.from_state({**settings, "names": ["a"]}, arrays)


def test_parts_with_other_columns_cannot_be_put_together() -> None:
    with pytest.raises(ParsimonError, match="sequence 1 has 3 columns"):
        SparseSequences.concatenate([SparseSequences(np.eye(2), [2]), SparseSequences(np.eye(3), [3])])


def test_matrices_are_not_for_features_by_name() -> None:
    with pytest.raises(ParsimonError, match="the model was trained on named features, but X has matrices"):
        ItemFeatures().observe(SparseSequences(np.eye(2), [2]))


# ---- what is no list of sentences, and features without an end ---------------------------------------------------


@pytest.mark.parametrize(
    ("sequence", "kind"),
    [({"w": "a"}, "dict"), ("a b", "str"), ({"a"}, "set"), (b"a", "bytes"), (3, "int"), (None, "NoneType")],
)
def test_a_sentence_in_place_of_sentences_is_refused(sequence: Any, kind: str) -> None:
    with pytest.raises(
        ParsimonError, match=f"^sequence 1 is of type {kind}, but it must be a list of tokens; put a"
    ):
        ItemFeatures().learn([[{}], sequence])


def test_sentences_in_place_of_tokens_are_refused() -> None:
    with pytest.raises(
        ParsimonError, match="sequence 0, token 0: a token's features must be a dict, or a list or set"
    ):
        ItemFeatures().learn([[[{"w": "a"}, {"w": "b"}]]])


def nested(levels: int) -> Any:
    deep: Any = "x"
    for _ in range(levels):
        deep = [deep]
    return deep


def cyclic() -> Any:
    features: dict[str, Any] = {}
    features["a"] = features
    return features


@pytest.mark.parametrize("token", [{"a": nested(100_000)}, cyclic(), {"b": cyclic()}, {"a": nested(60)}])
@pytest.mark.parametrize("learns", [True, False])
def test_features_without_an_end_are_refused(token: Any, learns: bool) -> None:
    space = ItemFeatures()
    space.learn([[{"a": "b"}]])
    message = "sequence 0, token 1: features are nested more than 50 levels deep, or contain themselves"
    with pytest.raises(ParsimonError, match=message):
        (space.learn if learns else space.observe)([[{}, token]])


def test_features_may_be_nested_as_deep_as_anybody_needs() -> None:
    assert learn({"a": nested(40)}) == [[("a" + ":" + "x", 1.0)]]


def test_a_number_may_change_its_dictionary() -> None:
    class Emptying:
        def __float__(self) -> float:
            token.clear()
            return 2.0

    token: dict[str, Any] = {}
    token["a name that is long enough to live on the heap"] = Emptying()
    assert learn(token) == [[("a name that is long enough to live on the heap", 2.0)]]


@pytest.mark.parametrize("value", [1e300, -1.7e308, 2e50])
def test_values_that_cannot_be_computed_with_are_refused(value: float) -> None:
    wanted = (
        r"sequence 0, token 1: the feature 1?x? ?has the value .*; values must lie between -1e\+50 and 1e\+50"
    )
    with pytest.raises(ParsimonError, match=wanted):
        ItemFeatures().learn([[{}, {"x": value}]])
    with pytest.raises(ParsimonError, match=wanted):
        MatrixFeatures().learn([np.array([[0.0, 0.0], [0.0, value]])])
    assert learn({"x": 1e50}) == [[("x", 1e50)]]
