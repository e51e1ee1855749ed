"""The scikit-learn contract, kept by our own tests since scikit-learn's checks do not know ragged input."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.utils.validation import check_is_fitted

from brute_force import enumerate_batch
from parsimon import SequenceLabeler
from parsimon.errors import ParsimonError
from parsimon.features import Columns, SparseSequences, TemplateSet
from parsimon.label_schemes import constraints, forbid
from parsimon.metrics import get_scorer, span_f1, token_accuracy
from parsimon.model_file import dump_model
from parsimon.penalties import L1
from parsimon.solvers import OWLQN

TEMPLATES = TemplateSet.parse("U\nU0:%x[0,0]\nU1:%x[-1,0]\nB")


def make_data(seed: int = 0, n: int = 24) -> tuple[list[list[str]], list[list[str]]]:
    """Words and IOB2 labels of sequences of different lengths."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels: list[str] = []
        for _ in range(rng.integers(1, 7)):
            inside = labels and labels[-1] != "O"
            labels.append(str(rng.choice(["O", "B-X", "I-X"] if inside else ["O", "B-X"])))
        X.append([f"{label[0].lower()}{rng.integers(4)}" if rng.random() < 0.75 else "z" for label in labels])
        y.append(labels)
    return X, y


WORDS, LABELS = make_data()
DICTS = [[{"w": w, "n": len(w)} for w in s] for s in WORDS]


def fitted(**parameters: Any) -> SequenceLabeler:
    return SequenceLabeler(TEMPLATES, **{"l1": 0.1, "l2": 0.01, **parameters}).fit(WORDS, LABELS)


@pytest.fixture(scope="module")
def labeler() -> SequenceLabeler:
    return fitted()


# ---- the contract ------------------------------------------------------------------------------------------


def test_parameters_are_kept_as_given() -> None:
    labeler = SequenceLabeler("words", l1=0.3, decoding="iob2", penalty=L1(1.0), solver=OWLQN())
    parameters = labeler.get_params()
    assert parameters["l1"] == 0.3
    assert parameters["penalty"] == L1(1.0)
    labeler.set_params(l1=2.0, cutoff=3)
    assert (labeler.l1, labeler.cutoff) == (2.0, 3)
    with pytest.raises(ValueError, match="Invalid parameter"):
        labeler.set_params(c1=1.0)
    assert "l1=2.0" in repr(labeler)


def test_making_one_checks_nothing() -> None:
    SequenceLabeler("no such file", l1=-1.0, loss="cubed", solver="newton", n_jobs=0)


def test_clone(labeler: SequenceLabeler) -> None:
    other = clone(labeler)
    assert other.get_params() == labeler.get_params()
    assert not hasattr(other, "model_")
    assert other.fit(WORDS, LABELS).predict(WORDS) == labeler.predict(WORDS)


def test_fit_returns_itself_and_leaves_its_parameters_alone() -> None:
    labeler = SequenceLabeler(TEMPLATES)
    before = labeler.get_params()
    assert labeler.fit(WORDS, LABELS) is labeler
    assert labeler.get_params() == before


def test_what_fitting_leaves(labeler: SequenceLabeler) -> None:
    check_is_fitted(labeler)
    assert sorted(labeler.classes_) == ["B-X", "I-X", "O"]
    assert labeler.n_features_ == len(labeler.coef_) > 0
    assert labeler.objective_ > 0
    assert labeler.n_iter_ == len(labeler.history_) > 0


@pytest.mark.parametrize("method", ["predict", "predict_marginals", "predict_kbest"])
def test_not_fitted(method: str) -> None:
    labeler = SequenceLabeler(TEMPLATES)
    with pytest.raises(NotFittedError, match="not fitted yet; call fit first"):
        getattr(labeler, method)(WORDS)
    with pytest.raises(NotFittedError):
        check_is_fitted(labeler)


def test_nothing_else_works_before_fitting_either(tmp_path: Path) -> None:
    labeler = SequenceLabeler(TEMPLATES)
    for use in (
        lambda: labeler.score(WORDS, LABELS),
        labeler.sparsify,
        lambda: labeler.save(tmp_path / "model"),
        lambda: labeler.coef_,
    ):
        with pytest.raises(NotFittedError):
            use()


def test_fitting_again_starts_afresh() -> None:
    labeler = SequenceLabeler(TEMPLATES, l1=0.1).fit(WORDS[:5], LABELS[:5])
    labeler.fit(WORDS, LABELS)
    fresh = SequenceLabeler(TEMPLATES, l1=0.1).fit(WORDS, LABELS)
    assert labeler.coef_.tobytes() == fresh.coef_.tobytes()


@pytest.mark.parametrize("templates", [TEMPLATES, None], ids=["templates", "dicts"])
def test_pickle_and_joblib(templates: Any, tmp_path: Path) -> None:
    X = WORDS if templates is not None else DICTS
    labeler = SequenceLabeler(templates, l1=0.1).fit(X, LABELS)
    joblib.dump(labeler, tmp_path / "labeler")
    for other in (pickle.loads(pickle.dumps(labeler)), joblib.load(tmp_path / "labeler")):
        assert other.predict(X) == labeler.predict(X)
        assert other.coef_.tobytes() == labeler.coef_.tobytes()
        assert other.get_params() == labeler.get_params()
        assert other.classes_.tolist() == labeler.classes_.tolist()
    assert pickle.loads(pickle.dumps(SequenceLabeler(templates))).get_params()["templates"] == templates


def test_save_and_load(labeler: SequenceLabeler, tmp_path: Path) -> None:
    labeler.save(tmp_path / "model")
    other = SequenceLabeler.load(tmp_path / "model", decoding="iob2")
    assert other.predict(WORDS) == fitted(decoding="iob2").predict(WORDS)
    assert (other.l1, other.l2, other.decoding) == (0.1, 0.01, "iob2")
    labeler.save(tmp_path / "small", dtype="float32")
    assert (tmp_path / "small").stat().st_size < (tmp_path / "model").stat().st_size


# ---- model selection ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["lists", "columns", "dicts", "sparse", "arrays", "sparse list"])
def test_grid_search(kind: str) -> None:
    X, templates = {
        "lists": (WORDS, TEMPLATES),
        "columns": (Columns.from_sequences(WORDS), TEMPLATES),
        "dicts": (DICTS, None),
        "sparse": (SparseSequences(*sparse_words()), None),
        "arrays": (dense_words(), None),
        "sparse list": (sparse_list(), None),
    }[kind]
    search = GridSearchCV(
        SequenceLabeler(templates, l2=0.01), {"l1": [0.05, 100.0]}, cv=3, error_score="raise"
    )
    search.fit(X, LABELS)
    assert search.best_params_ == {"l1": 0.05}
    assert search.best_score_ > 0.5
    assert [len(s) for s in search.predict(X)] == [len(s) for s in LABELS]


@pytest.mark.parametrize("name", ["span_f1", "token_accuracy"])
def test_cross_validation_with_our_scorers(name: str) -> None:
    labeler = SequenceLabeler(TEMPLATES, l1=0.05)
    scores = cross_val_score(
        labeler, WORDS, LABELS, cv=KFold(3), scoring=get_scorer(name), error_score="raise"
    )
    assert len(scores) == 3
    metric = {"span_f1": span_f1, "token_accuracy": token_accuracy}[name]
    train, test = next(KFold(3).split(WORDS))
    labeler.fit([WORDS[i] for i in train], [LABELS[i] for i in train])
    assert scores[0] == pytest.approx(
        metric([LABELS[i] for i in test], labeler.predict([WORDS[i] for i in test]))
    )


def test_cross_val_predict() -> None:
    predicted = cross_val_predict(SequenceLabeler(TEMPLATES, l1=0.05), WORDS, LABELS, cv=3)
    assert [len(s) for s in predicted] == [len(s) for s in LABELS]
    assert token_accuracy(LABELS, [list(s) for s in predicted]) > 0.7


def test_score(labeler: SequenceLabeler) -> None:
    assert labeler.score(WORDS, LABELS) == pytest.approx(span_f1(LABELS, labeler.predict(WORDS)))
    plain = [["N" if label == "O" else "V" for label in s] for s in LABELS]
    other = SequenceLabeler(TEMPLATES, l1=0.1).fit(WORDS, plain)
    assert other.score(WORDS, plain) == pytest.approx(token_accuracy(plain, other.predict(WORDS)))


# ---- inputs ------------------------------------------------------------------------------------------------


def sparse_words() -> tuple[Any, list[int]]:
    from scipy.sparse import csr_matrix

    vocabulary = {w: i for i, w in enumerate(sorted({w for s in WORDS for w in s}))}
    ids = [vocabulary[w] for s in WORDS for w in s]
    matrix = csr_matrix((np.ones(len(ids)), (np.arange(len(ids)), ids)), shape=(len(ids), len(vocabulary)))
    return matrix, [len(s) for s in WORDS]


def dense_words() -> list[Any]:
    matrix, lengths = sparse_words()
    return np.split(matrix.toarray(), np.cumsum(lengths)[:-1])


def sparse_list() -> list[Any]:
    from scipy.sparse import csr_matrix

    return [csr_matrix(array) for array in dense_words()]


def test_every_kind_of_input_gives_the_same_model() -> None:
    """A word as a column, a dict, a string and a column of a matrix: the same problem each time."""
    pandas = pytest.importorskip("pandas")
    matrix, lengths = sparse_words()
    frame = pandas.DataFrame(
        [{"word": w, "sentence": i} for i, s in enumerate(WORDS) for w in s], columns=["sentence", "word"]
    )
    words = TemplateSet.parse("U:%x[0,0]\nB")
    settings = {"l1": 0.2, "l2": 0.01, "tol": 1e-7}
    fits = {
        "lists": SequenceLabeler(words, **settings).fit(WORDS, LABELS),
        "tuples": SequenceLabeler(words, **settings).fit([[(w,) for w in s] for s in WORDS], LABELS),
        "columns": SequenceLabeler(words, **settings).fit(Columns.from_sequences(WORDS), LABELS),
        "frame": SequenceLabeler(words, **settings).fit(Columns.from_frame(frame, "sentence"), LABELS),
        "dicts": SequenceLabeler(**settings).fit([[{"w": w} for w in s] for s in WORDS], LABELS),
        "strings": SequenceLabeler(**settings).fit([[[f"w={w}"] for w in s] for s in WORDS], LABELS),
        "sparse": SequenceLabeler(**settings).fit(matrix, LABELS, lengths=lengths),
        "sparse sequences": SequenceLabeler(**settings).fit(SparseSequences(matrix, lengths), LABELS),
        "dense": SequenceLabeler(**settings).fit(matrix.toarray(), LABELS, lengths=lengths),
        "arrays": SequenceLabeler(**settings).fit(dense_words(), LABELS),
        "sparse list": SequenceLabeler(**settings).fit(sparse_list(), LABELS),
    }
    for name, labeler in fits.items():
        assert labeler.objective_ == pytest.approx(fits["lists"].objective_, rel=1e-6), name
        assert labeler.n_features_ == fits["lists"].n_features_, name
    assert fits["sparse"].predict(matrix, lengths=lengths) == fits["lists"].predict(WORDS)
    assert fits["sparse"].score(matrix, LABELS, lengths=lengths) == fits["lists"].score(WORDS, LABELS)


def test_templates_by_file_and_by_name(tmp_path: Path) -> None:
    path = tmp_path / "patterns.txt"
    path.write_text(TEMPLATES.dumps())
    for templates in (path, str(path)):
        assert SequenceLabeler(templates, l1=0.1, l2=0.01).fit(WORDS, LABELS).predict(
            WORDS
        ) == fitted().predict(WORDS)
    assert SequenceLabeler("words", l1=0.1).fit(WORDS, LABELS).score(WORDS, LABELS) > 0.8
    with pytest.raises(
        ParsimonError, match="no template file 'wrods' and no preset of that name; presets are"
    ):
        SequenceLabeler("wrods").fit(WORDS, LABELS)


@pytest.mark.parametrize(
    ("X", "templates", "message"),
    [
        ("the dog", None, "X must be a list of sequences"),
        (5, None, "X must be a list of sequences"),
        (Columns.from_sequences(WORDS), None, "columns need templates"),
        ([[1, 2]], None, "a token's features must be a dict"),
        ([["a"], "b"], TEMPLATES, "sequence 1 is one string"),
        ([[("a", "b")], ["c"]], TEMPLATES, "sequence 1, token 0 has 1 columns"),
    ],
)
def test_wrong_inputs(X: Any, templates: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        SequenceLabeler(templates).fit(X, LABELS)


def test_a_matrix_needs_lengths() -> None:
    with pytest.raises(ParsimonError, match="a matrix needs lengths"):
        SequenceLabeler().fit(sparse_words()[0], LABELS)
    with pytest.raises(
        ParsimonError, match=r"a matrix needs lengths.* or give a list with a matrix for every"
    ):
        SequenceLabeler().fit(sparse_words()[0].toarray(), LABELS)
    for X in (dense_words(), WORDS, SparseSequences(*sparse_words())):
        with pytest.raises(ParsimonError, match="lengths are for one matrix of all tokens"):
            SequenceLabeler().fit(X, LABELS, lengths=sparse_words()[1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l1": -1.0}, "penalty strength l1 must be zero or more"),
        ({"l2": float("nan")}, "penalty strength l2 must be zero or more"),
        ({"loss": "cubed"}, "there is no loss called 'cubed'"),
        ({"solver": "newton"}, "there is no solver called 'newton'"),
        ({"solver": "lbfgs"}, "the solver lbfgs needs a smooth penalty"),
        ({"candidates": "few"}, "candidates must be 'all' or 'seen'"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        SequenceLabeler(TEMPLATES, **parameters).fit(WORDS, LABELS)


@pytest.mark.parametrize("templates", [TEMPLATES, None], ids=["templates", "dicts"])
@pytest.mark.parametrize("X", [[], [[]], [[], []]], ids=["no sequence", "an empty one", "two empty ones"])
def test_predicting_nothing(templates: Any, X: Any) -> None:
    labeler = SequenceLabeler(templates, l1=0.1).fit(WORDS if templates else DICTS, LABELS)
    assert labeler.predict(X) == X
    assert [m.shape for m in labeler.predict_marginals(X)] == [(0, 3)] * len(X)
    assert [[labels for _, labels in best] for best in labeler.predict_kbest(X, 2)] == [[[]] for _ in X]


def test_empty_sequences_among_others(labeler: SequenceLabeler) -> None:
    mixed = [[], WORDS[0], [], WORDS[1], []]
    assert labeler.predict(mixed) == [[], *labeler.predict(WORDS[:1]), [], *labeler.predict(WORDS[1:2]), []]
    with_gaps = SequenceLabeler(TEMPLATES, l1=0.1, l2=0.01).fit([[], *WORDS], [[], *LABELS])
    assert with_gaps.objective_ == pytest.approx(labeler.objective_, rel=1e-6)


def test_words_never_seen_are_passed_over(labeler: SequenceLabeler) -> None:
    assert len(labeler.predict([["never", "seen", "before"]])[0]) == 3


def test_a_model_of_nothing_predicts_all_the_same() -> None:
    labeler = fitted(l1=1e6)
    assert labeler.n_features_ == 0
    np.testing.assert_allclose(np.concatenate(labeler.predict_marginals(WORDS)), 1 / 3)
    assert [len(s) for s in labeler.predict(WORDS)] == [len(s) for s in WORDS]


# ---- learning ----------------------------------------------------------------------------------------------


def test_sample_weights_are_repetitions() -> None:
    weights = np.arange(len(WORDS)) % 3
    X = [s for s, k in zip(WORDS, weights, strict=True) for _ in range(k)]
    y = [s for s, k in zip(LABELS, weights, strict=True) for _ in range(k)]
    settings = {"l1": 0.2, "l2": 0.01, "tol": 1e-8}
    weighted = SequenceLabeler(TEMPLATES, **settings).fit(WORDS, LABELS, sample_weight=weights)
    repeated = SequenceLabeler(TEMPLATES, **settings).fit(X, y)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-7)
    assert weighted.predict(WORDS) == repeated.predict(WORDS)
    with pytest.raises(ParsimonError, match="sequence weights must be finite and not negative"):
        SequenceLabeler(TEMPLATES).fit(WORDS, LABELS, sample_weight=-weights)


def test_partial_labels() -> None:
    some = [[label if (i + t) % 3 else None for t, label in enumerate(s)] for i, s in enumerate(LABELS)]
    labeler = SequenceLabeler(TEMPLATES, l1=0.05, l2=0.05).fit(WORDS, some)
    assert sorted(labeler.classes_) == ["B-X", "I-X", "O"]
    assert token_accuracy(LABELS, labeler.predict(WORDS)) > 0.75
    with pytest.raises(ParsimonError, match="the hinge loss needs every label"):
        SequenceLabeler(TEMPLATES, loss="hinge").fit(WORDS, some)
    with pytest.raises(ParsimonError, match="no token has a label"):
        SequenceLabeler(TEMPLATES).fit(WORDS, [[None] * len(s) for s in WORDS])


@pytest.mark.parametrize("templates", [TEMPLATES, None], ids=["templates", "dicts"])
def test_threads_give_identical_bits(templates: Any) -> None:
    X = WORDS if templates is not None else DICTS
    one, two, every = (SequenceLabeler(templates, l1=0.1, n_jobs=n).fit(X, LABELS) for n in (None, 2, -1))
    for other in (two, every):
        assert one.coef_.tobytes() == other.coef_.tobytes()
        assert one.predict(X) == other.predict(X)
        for a, b in zip(one.predict_marginals(X), other.predict_marginals(X), strict=True):
            assert a.tobytes() == b.tobytes()


def test_warm_start() -> None:
    labeler = SequenceLabeler(TEMPLATES, l1=0.1, l2=0.01, warm_start=True).fit(WORDS, LABELS)
    first, objective = labeler.history_[-1]["evaluations"], labeler.objective_
    labeler.fit(WORDS, LABELS)
    assert labeler.history_[-1]["evaluations"] < first
    assert labeler.objective_ == pytest.approx(objective, rel=1e-6)


@pytest.mark.parametrize("solver", ["lbfgs", "owlqn", "working-set"])
def test_warm_start_with_every_solver(solver: str) -> None:
    strengths = {"l1": 0.0, "l2": 0.5} if solver == "lbfgs" else {"l1": 0.3, "l2": 0.01}
    labeler = SequenceLabeler(TEMPLATES, **strengths, solver=solver, warm_start=True, max_iter=300).fit(
        WORDS, LABELS
    )
    first, objective = labeler.history_[-1]["evaluations"], labeler.objective_
    labeler.fit(WORDS, LABELS)
    assert labeler.history_[-1]["evaluations"] < first
    assert labeler.objective_ == pytest.approx(objective, rel=1e-6)


def test_path() -> None:
    labeler = SequenceLabeler(TEMPLATES, l2=0.01, tol=1e-6)
    found = list(labeler.path(WORDS, LABELS, [0.1, 2.0, 0.5]))
    assert [strength for strength, _ in found] == [2.0, 0.5, 0.1]
    for strength, one in found:
        assert one.l1 == strength
        alone = SequenceLabeler(TEMPLATES, l1=strength, l2=0.01, tol=1e-6).fit(WORDS, LABELS)
        assert one.objective_ == pytest.approx(alone.objective_, rel=1e-5)
    assert not hasattr(labeler, "model_")


def test_path_and_max_strength_take_a_matrix() -> None:
    matrix, lengths = sparse_words()
    X = SparseSequences(matrix, lengths)
    strength = SequenceLabeler().max_strength(X, LABELS)
    sizes = [
        one.n_features_
        for _, one in SequenceLabeler(l2=0.0).path(X, LABELS, [1.001 * strength, 0.3 * strength])
    ]
    assert sizes[0] == 0 < sizes[1]


def test_max_strength() -> None:
    strength = SequenceLabeler(TEMPLATES).max_strength(WORDS, LABELS)
    assert fitted(l1=strength * 1.0001).n_features_ == 0
    assert fitted(l1=strength * 0.99).n_features_ > 0


def test_development_set() -> None:
    events: list[Any] = []
    dev_words, dev_labels = make_data(seed=5, n=8)
    labeler = SequenceLabeler(TEMPLATES, l1=0.01, patience=1, callback=events.append)
    labeler.fit(WORDS, LABELS, dev=(dev_words, dev_labels))
    scores = [event.dev for event in events if event.dev is not None]
    assert scores
    assert labeler.score(dev_words, dev_labels) == pytest.approx(max(scores))


def test_limits_and_callbacks() -> None:
    events: list[Any] = []
    labeler = fitted(max_iter=3, callback=events.append, l1=0.01)
    assert len(events) == 4 == labeler.n_iter_
    assert fitted(time_limit=0.0).n_iter_ == 1


def test_sparsify(labeler: SequenceLabeler) -> None:
    other = pickle.loads(pickle.dumps(labeler))
    threshold = float(np.median(np.abs(labeler.coef_)))
    assert other.sparsify(threshold) is other
    assert np.abs(other.coef_).min() > threshold
    assert other.n_features_ == np.count_nonzero(np.abs(labeler.coef_) > threshold)
    assert other.predict(WORDS)
    with pytest.raises(ParsimonError, match="threshold must be zero or more"):
        other.sparsify(-1.0)


def test_transitions_can_be_left_out() -> None:
    labeler = SequenceLabeler(l1=0.1, transitions=False).fit(DICTS, LABELS)
    assert labeler.model_.space.n_pair == 0


# ---- predicting --------------------------------------------------------------------------------------------


def enumerations(labeler: SequenceLabeler, X: Any) -> list[Any]:
    model = labeler.model_
    return [
        outputs
        for _, _, chain, scores in model.scored(model.observe(Columns.from_sequences(X)), 1)
        for _, outputs in enumerate_batch(chain, scores)
    ]


def test_marginals(labeler: SequenceLabeler) -> None:
    for found, outputs in zip(labeler.predict_marginals(WORDS), enumerations(labeler, WORDS), strict=True):
        np.testing.assert_allclose(found, outputs.node_marginals(), atol=1e-10)


def test_k_best(labeler: SequenceLabeler) -> None:
    names = list(labeler.classes_)
    for best, outputs, words in zip(
        labeler.predict_kbest(WORDS, 4), enumerations(labeler, WORDS), WORDS, strict=True
    ):
        log_p = [value for value, _ in best]
        assert len(best) == min(4, 3 ** len(words))
        assert log_p == sorted(log_p, reverse=True)
        assert np.exp(log_p).sum() <= 1 + 1e-10
        for value, labels in best:
            ids = np.array([names.index(label) for label in labels])
            assert value == pytest.approx(outputs.score_of(ids) - outputs.log_z, abs=1e-10)
    assert [best[0][1] for best in labeler.predict_kbest(WORDS, 1)] == labeler.predict(WORDS)
    everything = labeler.predict_kbest([WORDS[0][:2]], 100)[0]
    assert np.exp([value for value, _ in everything]).sum() == pytest.approx(1.0)
    with pytest.raises(ParsimonError, match="k must be at least 1"):
        labeler.predict_kbest(WORDS, 0)


def test_given_labels(labeler: SequenceLabeler) -> None:
    names = list(labeler.classes_)
    given = [[label if t == len(s) // 2 else None for t, label in enumerate(s)] for s in LABELS]
    found = labeler.predict(WORDS, given=given)
    marginals = labeler.predict_marginals(WORDS, given=given)
    for s, outputs, labels, m in zip(given, enumerations(labeler, WORDS), found, marginals, strict=True):
        fixed = np.array([-1 if label is None else names.index(label) for label in s])
        agreeing = outputs.agreeing(fixed)
        assert outputs.score_of(np.array([names.index(v) for v in labels])) == pytest.approx(
            agreeing.best()[0]
        )
        np.testing.assert_allclose(m, agreeing.node_marginals(), atol=1e-10)
    assert labeler.predict(WORDS, given=LABELS) == LABELS
    assert labeler.predict(WORDS, given=[[None] * len(s) for s in WORDS]) == labeler.predict(WORDS)


def test_wrong_given_labels(labeler: SequenceLabeler) -> None:
    with pytest.raises(ParsimonError, match="given labels must have the same lengths"):
        labeler.predict(WORDS, given=LABELS[:-1])
    with pytest.raises(ParsimonError, match="the label 'B-Y' was not seen in training"):
        labeler.predict([["a"]], given=[["B-Y"]])


@pytest.mark.parametrize("decoding", ["iob2", "auto", "transitions", "pairs"])
def test_decoding_constraints(decoding: str) -> None:
    unconstrained = fitted(l1=1.0)
    names = tuple(unconstrained.classes_)
    allowed, chosen = constraints(names, "iob2"), decoding
    if decoding == "pairs":
        chosen = [("B-X", "I-X")]  # type: ignore[assignment]
        allowed = forbid(names, chosen)  # type: ignore[arg-type]
    labeler = fitted(l1=1.0, decoding=allowed if decoding == "transitions" else chosen)
    rng = np.random.default_rng(1)
    X = [
        [f"{rng.choice(['i', 'o', 'b'])}{rng.integers(4)}" for _ in range(rng.integers(1, 6))]
        for _ in range(30)
    ]
    kbest = labeler.predict_kbest(X, 3)
    for labels, outputs, best in zip(labeler.predict(X), enumerations(unconstrained, X), kbest, strict=True):
        possible = outputs.allowed(allowed.start, allowed.end, allowed.pair)
        ids = np.array([names.index(label) for label in labels])
        assert possible.score_of(ids) == pytest.approx(possible.best()[0])
        for value, way in best:
            score = possible.score_of(np.array([names.index(label) for label in way]))
            assert value == pytest.approx(score - possible.log_z, abs=1e-9)
    assert any(a != b for a, b in zip(labeler.predict(X), unconstrained.predict(X), strict=True))


def test_constraints_that_leave_nothing() -> None:
    labeler = fitted(decoding="iob2")
    with pytest.raises(
        ParsimonError, match="sequence 0 has no possible labelling under the given constraints"
    ):
        labeler.predict([["a", "b"]], given=[["O", "I-X"]])


def test_a_sequence_without_a_labelling_is_counted_from_the_start_of_the_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from parsimon import sequence_model

    monkeypatch.setattr(sequence_model, "BATCH", 3)
    labeler = fitted(decoding="iob2")
    with pytest.raises(ParsimonError, match="sequence 3 has no possible labelling"):
        labeler.predict([["a", "b"]] * 5, given=[[None, None]] * 3 + [["O", "I-X"]] + [[None, None]])


def test_batches_change_nothing(labeler: SequenceLabeler, monkeypatch: pytest.MonkeyPatch) -> None:
    from parsimon import sequence_model

    wanted = labeler.predict(WORDS), labeler.predict_kbest(WORDS, 3), labeler.predict_marginals(WORDS)
    monkeypatch.setattr(sequence_model, "BATCH", 10)
    assert labeler.predict(WORDS) == wanted[0]
    for a, b in zip(labeler.predict_kbest(WORDS, 3), wanted[1], strict=True):
        assert [labels for _, labels in a] == [labels for _, labels in b]
    for a, b in zip(labeler.predict_marginals(WORDS), wanted[2], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14)


def test_two_fits_of_one_model_are_one_file() -> None:
    from dataclasses import replace

    first, second = (dump_model(replace(fitted().model_, info={})) for _ in range(2))
    assert first == second


# ---- numbers -----------------------------------------------------------------------------------------------


def gaussians(seed: int = 0, n: int = 40) -> tuple[list[Any], list[list[str]]]:
    """Sequences of different lengths of four real numbers, two of which tell the label."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = rng.integers(3, size=rng.integers(1, 6))
        x = rng.normal(size=(len(labels), 4))
        x[:, 0] += 2.0 * (labels == 1)
        x[:, 2] -= 2.0 * (labels == 2)
        X.append(x)
        y.append([f"class {label}" for label in labels])
    return X, y


def test_real_values_mean_what_they_mean_in_dicts() -> None:
    X, y = gaussians()
    dicts = [[{f"x{i}": float(value) for i, value in enumerate(token)} for token in x] for x in X]
    settings: dict[str, Any] = {"l1": 1.0, "l2": 0.01, "tol": 1e-8}
    numbers, named = SequenceLabeler(**settings).fit(X, y), SequenceLabeler(**settings).fit(dicts, y)
    assert numbers.objective_ == pytest.approx(named.objective_, rel=1e-9)
    for a, b in zip(numbers.predict_marginals(X), named.predict_marginals(dicts), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    assert numbers.score(X, y) > 0.7


@pytest.mark.parametrize(
    ("loss", "solver", "l1"),
    [
        ("log", "auto", 0.5), ("log", "fista", 0.5), ("log", "bcd", 0.5), ("log", "sgd-l1", 0.5), ("log", "sgd", 0.0),
        ("hinge", "auto", 0.5), ("hinge", "mira", 0.0), ("perceptron", "sgd", 0.0),
    ],
)  # fmt: skip
def test_solvers_learn_from_numbers(loss: str, solver: str, l1: float) -> None:
    X, y = gaussians()
    labeler = SequenceLabeler(loss=loss, solver=solver, l1=l1, l2=0.0, max_iter=50)
    assert labeler.fit(X, y).score(X, y) > 0.75


def test_arrays_of_one_length_can_be_one_array() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3, 2))
    y = [["p" if token[0] > 0 else "n" for token in x] for x in X]
    assert SequenceLabeler(l1=0.1).fit(X, y).predict(X) == SequenceLabeler(l1=0.1).fit(list(X), y).predict(X)


@pytest.mark.parametrize("names", [None, ["width", "height", "depth", "weight"]], ids=["numbers", "names"])
def test_a_model_of_numbers_is_saved_and_looked_into(names: Any, tmp_path: Path) -> None:
    from parsimon.inspect import features, template_shares

    X, y = gaussians()
    labeler = SequenceLabeler(l1=4.0).fit(SparseSequences.from_sequences(X, names=names), y)
    labeler.save(tmp_path / "model")
    called = set(names or ["0", "1", "2", "3"])
    for other in (SequenceLabeler.load(tmp_path / "model"), pickle.loads(pickle.dumps(labeler))):
        assert other.predict(X) == labeler.predict(X)
        found = features(other.model_)
        assert [f.weight for f in found] == [f.weight for f in features(labeler.model_)]
        assert {f.attribute for f in found if f.template == "features"} <= called
        assert [share.name for share in template_shares(other.model_)] == ["features", "transition"]
        with pytest.raises(ParsimonError, match="the matrix has 3 columns, but the model was trained on 4"):
            other.predict([np.ones((1, 3))])
    first, third = (names or ["0", "1", "2", "3"])[::2]
    assert {f.attribute for f in features(labeler.model_, top=2, template="features")} == {first, third}


def test_tokens_without_features_and_sequences_without_tokens() -> None:
    X, y = gaussians()
    X[0][0] = 0.0
    X.insert(1, np.zeros((0, 4)))
    y.insert(1, [])
    labeler = SequenceLabeler(l1=0.1).fit(X, y)
    assert [len(labels) for labels in labeler.predict(X)] == [len(x) for x in X]
    nothing = labeler.predict([np.zeros((1, 4)), []])
    assert (len(nothing[0]), nothing[1]) == (1, [])
    (alone,) = labeler.predict_marginals([np.zeros((1, 4))])
    np.testing.assert_allclose(alone, 1 / 3)  # nothing speaks for a label, not even a label before
    for X_empty in ([], [[]], [[], []], [np.zeros((0, 4))]):
        assert labeler.predict(X_empty) == [[] for _ in X_empty]


def test_development_set_path_and_warm_start_take_arrays() -> None:
    X, y = gaussians()
    dev = gaussians(seed=1, n=10)
    labeler = SequenceLabeler(l1=0.5, warm_start=True).fit(X, y, dev=dev)
    before = labeler.objective_
    assert labeler.fit(X, y).objective_ <= before + 1e-9
    strength = SequenceLabeler().max_strength(X, y)
    sizes = [
        one.n_features_ for _, one in SequenceLabeler(l2=0.0).path(X, y, [1.001 * strength, strength / 9])
    ]
    assert sizes[0] == 0 < sizes[1]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            [np.full((1, 2), np.nan)],
            "sequence 0, token 0: the feature 0 has the value NaN; values must be finite",
        ),
        ([np.eye(2), np.ones((1, 3))], "sequence 1 has 3 columns but those before have 2"),
        ([np.ones(2)], r"sequence 0 has the shape \(2,\); it should be tokens × features"),
        ([np.eye(2), [{"w": "a"}]], "sequence 1 is a list; it should be a matrix of numbers"),
        ([[{"w": "a"}], np.eye(2)], "sequence 0 is a list; it should be a matrix of numbers"),
        (np.ones((2, 2, 2, 2)), r"sequence 0 has the shape \(2, 2, 2\)"),
        ([np.eye(2)], "sequence 0 has 2 tokens but 1 labels"),
    ],
)
def test_wrong_numbers(X: Any, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        SequenceLabeler().fit(X, [["a"]] * len(X))


def test_numbers_need_no_templates_and_no_cutoff() -> None:
    X, y = gaussians()
    with pytest.raises(ParsimonError, match="templates look at columns of strings, but X has matrices"):
        SequenceLabeler(TEMPLATES).fit(X, y)
    with pytest.raises(ParsimonError, match="all columns of a matrix are features, so cutoff must be 1"):
        SequenceLabeler(cutoff=2).fit(X, y)


def test_models_of_numbers_and_of_names_do_not_mix() -> None:
    X, y = gaussians()
    numbers, named = SequenceLabeler().fit(X, y), SequenceLabeler().fit(DICTS, LABELS)
    with pytest.raises(ParsimonError, match="sequence 0 is a list; it should be a matrix of numbers"):
        numbers.predict(DICTS)
    with pytest.raises(ParsimonError, match="the model knows features by name, but X has matrices"):
        named.predict(X)


def test_candidates_may_come_later() -> None:
    """`partial_fit` with more templates, columns or keys ends where `fit` with all of them does."""
    rng = np.random.default_rng(3)
    words = [[(str(rng.integers(4)), str(rng.integers(3))) for _ in range(5)] for _ in range(30)]
    y = [[f"{a}{b}" if int(a) > 1 else "O" for a, b in sentence] for sentence in words]
    first, second = TemplateSet.parse("U0:%x[0,0]\nB\n"), TemplateSet.parse("U1:%x[0,1]\nU0:%x[0,0]\n")
    settings = {"l1": 0.3, "l2": 0.0, "tol": 1e-7, "solver": "grafting-light"}
    grown = SequenceLabeler(first, **settings).partial_fit(words, y)
    few = grown.objective_
    grown.partial_fit(words, y, templates=second)
    whole = SequenceLabeler(TemplateSet.parse("U0:%x[0,0]\nB\nU1:%x[0,1]\n"), **settings).fit(words, y)
    assert grown.objective_ < few
    assert grown.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    assert grown.templates_.names == ("U0", "B", "U1")
    assert grown.templates is first, "parameters stay as they were given"

    values = [rng.normal(size=(6, 4)) for _ in range(20)]
    labels = [["yes" if row[0] + row[3] > 0 else "no" for row in matrix] for matrix in values]
    online = SequenceLabeler(**settings).partial_fit([matrix[:, :2] for matrix in values], labels)
    online.partial_fit(values, labels)
    assert online.objective_ == pytest.approx(
        SequenceLabeler(**settings).fit(values, labels).objective_, rel=1e-6
    )
    with pytest.raises(ParsimonError, match="fitted without templates"):
        online.partial_fit(values, labels, templates=first)
