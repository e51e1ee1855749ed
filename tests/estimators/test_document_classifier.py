"""The document classifier: scikit-learn's contract on matrices, and what it adds for texts."""

from __future__ import annotations

import os
import pickle
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from parsimon.data.text import TextReader
from parsimon.errors import ParsimonError
from parsimon.estimators import DocumentClassifier
from parsimon.estimators.document_classifier import are_documents
from parsimon.penalties import GroupLasso, OverlappingGroupLasso, SentenceLasso
from parsimon.penalties.groups import Groups
from parsimon.tasks.documents.model import DocumentModel
from parsimon.tasks.documents.options import STRENGTHS
from parsimon.tasks.documents.training import DocumentTraining
from parsimon.tasks.matrices.model import MatrixModel
from parsimon.tasks.options import options_of

TOPICS = {
    "food": ["soup", "bread", "salt", "spoon", "bake"],
    "space": ["moon", "orbit", "launch", "star", "rocket"],
    "sport": ["ball", "goal", "team", "score", "match"],
}
PLAIN = ["we", "saw", "it", "there", "then", "again", "so", "the", "a", "and"]


def make_texts(labels: tuple[str, ...], n: int = 24, seed: int = 0) -> tuple[list[list[list[str]]], Any]:
    """Documents of tokens; in each, about one sentence in two has words of its topic."""
    rng = np.random.default_rng(seed)
    documents, y = [], np.array([labels[i % len(labels)] for i in range(n)])
    for label in y:
        document = []
        for _ in range(rng.integers(3, 6)):
            words = rng.choice(PLAIN, 4).tolist()
            if rng.random() < 0.5:
                words[1] = str(rng.choice(TOPICS[str(label)]))
            document.append(words)
        documents.append(document)
    return documents, y


def written(documents: list[list[list[str]]]) -> list[str]:
    """The same as text."""
    return ["  ".join(" ".join(sentence).capitalize() + "." for sentence in each) for each in documents]


TOKENS, Y = make_texts(("food", "space"))
TEXTS = written(TOKENS)
TOKENS3, Y3 = make_texts(("food", "space", "sport"), 30)
MATRIX = CountVectorizer(token_pattern=r"\S+").fit_transform(
    [" ".join(w for sentence in each for w in sentence) for each in TOKENS3]
)
N, D = MATRIX.shape
GROUPS = [list(range(a, min(a + 6, D))) for a in range(0, D, 3)]


@pytest.fixture(scope="module")
def classifier() -> DocumentClassifier:
    return DocumentClassifier(sentence=0.1, l1=0.05, tol=1e-6).fit(TEXTS, Y)


# ---- the contract ------------------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        DocumentClassifier("elastic-net", l1=0.5, l2=1.0, tol=1e-11, max_iter=100),
        DocumentClassifier("lasso", l1=0.5, loss="hinge"),
    ],
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_making_one_checks_nothing() -> None:
    DocumentClassifier("none", l1=-1.0, stopping="never", values="many", n_jobs=0, dev_share=3.0)


def test_parameters_are_those_of_document_training() -> None:
    assert set(options_of(DocumentTraining)) <= set(DocumentClassifier().get_params())
    text = str(DocumentClassifier.__doc__)
    assert all(f"\n{name} : " in text for name in DocumentClassifier().get_params())


def test_clone_and_pickle(classifier: DocumentClassifier) -> None:
    other = clone(classifier)
    assert not hasattr(other, "coef_")
    assert other.fit(TEXTS, Y).coef_.tobytes() == classifier.coef_.tobytes()
    again = pickle.loads(pickle.dumps(classifier))
    assert np.array_equal(again.predict_proba(TEXTS), classifier.predict_proba(TEXTS))


def test_not_fitted(tmp_path: Path) -> None:
    for use in (
        lambda c: c.predict(TEXTS),
        lambda c: c.predict_proba(TEXTS),
        lambda c: c.decision_function(MATRIX),
        lambda c: c.explain(TEXTS),
        lambda c: c.save(tmp_path / "model"),
    ):
        with pytest.raises(NotFittedError, match="not fitted yet; call fit first"):
            use(DocumentClassifier())


def test_grid_search_pipeline_and_cross_validation() -> None:
    search = GridSearchCV(DocumentClassifier("lasso"), {"l1": [0.1, 100.0]}, cv=2).fit(TEXTS, Y)
    assert search.best_params_ == {"l1": 0.1}
    upper = FunctionTransformer(lambda texts: [text.upper() for text in texts])
    steps = make_pipeline(upper, DocumentClassifier("ridge"))
    assert steps.fit(TEXTS, Y).score(TEXTS, Y) > 0.9
    assert cross_val_score(DocumentClassifier("ridge"), TOKENS, Y, cv=2).shape == (2,)


# ---- texts -------------------------------------------------------------------------------------------------


def test_what_fitting_leaves(classifier: DocumentClassifier) -> None:
    assert classifier.classes_.tolist() == ["food", "space"]
    assert classifier.coef_.shape == (1, classifier.n_features_in_)
    assert len(classifier.vocabulary_) == classifier.n_features_in_
    assert classifier.coef_[0, classifier.vocabulary_["moon"]] > 0
    assert classifier.coef_[0, classifier.vocabulary_["soup"]] < 0
    assert isinstance(classifier.model_, DocumentModel)
    assert 0 <= classifier.gap_ <= 1e-6 * classifier.objective_
    assert classifier.n_iter_ == len(classifier.history_) > 0
    assert classifier.score(TEXTS, Y) > 0.9


def test_texts_sentences_and_tokens_are_the_same() -> None:
    sentences = [[" ".join(sentence) for sentence in document] for document in TOKENS]
    forms: list[Any] = [TEXTS, sentences, TOKENS, np.array(TEXTS), tuple(TEXTS)]
    fits = [DocumentClassifier("sentence", tune=False).fit(form, Y) for form in forms]
    assert len({fitted.coef_.tobytes() for fitted in fits}) == 1
    for fitted, form in zip(fits, forms, strict=True):
        np.testing.assert_array_equal(fitted.decision_function(form), fits[0].decision_function(TEXTS))


@pytest.mark.parametrize("values", ["counts", "binary", "tf-idf"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_like_training_itself(values: str, n_classes: int) -> None:
    documents, y = (TOKENS, Y) if n_classes == 2 else (TOKENS3, Y3)
    fitted = DocumentClassifier(values=values, sentence=0.05).fit(documents, y)
    model = DocumentTraining(values=values, sentence=0.05).fit(documents, y.tolist())
    corpus = model.read(documents)
    np.testing.assert_array_equal(fitted.predict_proba(documents), model.probabilities(corpus))
    assert fitted.predict(documents).tolist() == model.predict(corpus)
    assert fitted.objective_ == model.info["objective"]


def test_classes_keep_their_type_and_order() -> None:
    y = np.where(Y == "food", 10, 2)  # as strings, the other way round
    fitted = DocumentClassifier("lasso").fit(TEXTS, y)
    assert fitted.classes_.tolist() == [2, 10]
    assert fitted.predict(TEXTS).dtype == y.dtype
    assert fitted.score(TEXTS, y) > 0.9
    assert fitted.model_.labels == ("2", "10")
    assert fitted.explain(TEXTS[:1], 10)[0].label == 10
    assert set(fitted.explain(TEXTS[:1])[0].probabilities) == {2, 10}


@pytest.mark.parametrize("unit", ["sentence", "paragraph", "document", "window"])
def test_units(unit: str) -> None:
    fitted = DocumentClassifier(groups=unit, sentence=0.1, window=4).fit(TEXTS, Y)
    n = fitted.model_.info["groups_in_all"]
    assert fitted.relevance_.shape == (n,)
    if unit == "sentence":
        assert n == sum(map(len, TOKENS))
    if unit in ("document", "paragraph"):
        assert n == len(TEXTS)


def test_relevance_and_explanations(classifier: DocumentClassifier) -> None:
    assert classifier.relevance_.shape == (sum(map(len, TOKENS)),)
    assert 0 < np.count_nonzero(classifier.relevance_) < len(classifier.relevance_)
    explained = classifier.explain(TEXTS, training=True)
    copies = [sentence.copies for document in explained for sentence in document.sentences]
    np.testing.assert_array_equal(copies, classifier.relevance_)
    assert all(s.copies is None for s in classifier.explain(TEXTS[:2])[0].sentences)
    assert [each.predicted for each in explained] == classifier.predict(TEXTS).tolist()
    assert classifier.explain(TEXTS[:2], ["space", "food"])[0].label == "space"


def test_groups_of_words() -> None:
    groups = [TOPICS["food"], TOPICS["space"], ["nowhere"]]
    fitted = DocumentClassifier(SentenceLasso(0.5, l1=0.01), groups=groups).fit(TEXTS, Y)
    assert fitted.relevance_.shape == (3,)
    assert np.all(fitted.relevance_[:2] > 0)
    with pytest.raises(ParsimonError, match=r"group 1 of words is \[3\]; give a list of words"):
        DocumentClassifier(groups=[["moon"], [3]]).fit(TEXTS, Y)


def test_reader_and_cut_offs() -> None:
    fitted = DocumentClassifier("ridge", min_documents=3, max_words=12, reader=TextReader(lowercase=False))
    fitted.fit(TEXTS, Y)
    assert len(fitted.vocabulary_) == 12
    assert any(word[0].isupper() for word in fitted.vocabulary_)


def test_saving(classifier: DocumentClassifier, tmp_path: Path) -> None:
    classifier.save(tmp_path / "model")
    loaded = DocumentClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), classifier.predict_proba(TEXTS))
    assert loaded.predict(TEXTS).tolist() == classifier.predict(TEXTS).tolist()
    assert loaded.objective_ == classifier.objective_


# ---- stopping, weights, starts -----------------------------------------------------------------------------


def test_a_development_set_stops_the_papers_way() -> None:
    documents, y = make_texts(("food", "space"), 20, seed=1)
    fitted = DocumentClassifier(stopping="paper", rho=1.0).fit(TOKENS, Y, dev=(documents, y))
    scores = [event["dev"] for event in fitted.history_]
    assert fitted.score(documents, y) == pytest.approx(max(scores), abs=1e-6)
    plain = DocumentClassifier(stopping="paper", rho=1.0, max_iter=4).fit(TOKENS, Y)
    assert plain.n_iter_ == 5


@pytest.mark.parametrize("data", [TOKENS3, MATRIX.toarray(), MATRIX])
def test_a_share_is_kept_aside(data: Any) -> None:
    penalty = "sentence" if isinstance(data, list) else "elastic-net"
    one, two, other = (
        DocumentClassifier(penalty, dev_share=0.3, random_state=seed, tune=False).fit(data, Y3)
        for seed in (0, 0, 1)
    )
    assert len(one.held_out_) == 9
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.held_out_.tolist() != other.held_out_.tolist()
    assert all("dev" in event for event in one.history_)


@pytest.mark.parametrize(("penalty", "data"), [("sentence", TOKENS3), ("ridge", MATRIX)])
def test_sample_weights_are_repetitions(penalty: str, data: Any) -> None:
    times = np.random.default_rng(0).integers(1, 3, len(Y3))
    numbers = np.repeat(np.arange(len(Y3)), times)
    repeated = [data[i] for i in numbers] if isinstance(data, list) else data[numbers]
    parameters: Any = {"penalty": penalty, "groups": [["moon", "ball", "soup"]], "tol": 1e-8, "l2": 0.1}
    weighed = DocumentClassifier(**parameters).fit(data, Y3, sample_weight=times)
    other = DocumentClassifier(**parameters).fit(repeated, Y3[numbers])
    assert weighed.objective_ == pytest.approx(other.objective_, rel=1e-7)
    np.testing.assert_allclose(weighed.predict_proba(data), other.predict_proba(data), atol=1e-3)


def test_class_weights() -> None:
    heavy = DocumentClassifier("ridge", class_weight={"food": 50.0}).fit(TEXTS, Y)
    assert np.mean(heavy.decision_function(TEXTS)) < np.mean(
        DocumentClassifier("ridge").fit(TEXTS, Y).decision_function(TEXTS)
    )


@pytest.mark.parametrize("penalty", ["sentence", "elastic-net"])
def test_warm_starts_end_where_cold_ones_do(penalty: str) -> None:
    cold = DocumentClassifier(penalty, l1=0.1, tol=1e-7).fit(TEXTS, Y)
    warm = DocumentClassifier(penalty, l1=0.3, tol=1e-7, warm_start=True).fit(TEXTS[:-3], Y[:-3])
    warm.set_params(l1=0.1).fit(TEXTS, Y)  # more words than before
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-6)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=5e-3)
    warm.fit(TOKENS3, Y3)  # other classes
    assert warm.coef_.shape[0] == 3


@pytest.mark.parametrize(("penalty", "data"), [("sentence", TOKENS3), ("lasso", MATRIX)])
def test_threads_do_not_change_bits(penalty: str, data: Any) -> None:
    one, three = (DocumentClassifier(penalty, n_jobs=jobs).fit(data, Y3) for jobs in (1, 3))
    assert one.coef_.tobytes() == three.coef_.tobytes()


def test_strengths_choose_themselves() -> None:
    fitted = DocumentClassifier(folds=3).fit(TEXTS, Y)
    tuning = fitted.model_.info["tuning"]
    assert (tuning["folds"], fitted.model_.values, fitted.model_.info["penalty"]) == (
        3,
        "binary",
        "count-elastic-net",
    )
    assert fitted.score(TEXTS, Y) > 0.9
    assert len(fitted.vocabulary_) == fitted.coef_.shape[1] == fitted.model_.info["candidate_words"]
    for penalty in ("ridge", "lasso", "elastic-net"):
        columns = DocumentClassifier(penalty, folds=2).fit(MATRIX, Y3)
        chosen = columns.model_.info["tuning"]["chosen"]
        given = DocumentClassifier(penalty, tune=False, **chosen).fit(MATRIX, Y3)
        np.testing.assert_allclose(columns.coef_, given.coef_, atol=1e-6)
    by_dev = DocumentClassifier("lasso").fit(TEXTS, Y, dev=(TEXTS[:10], Y[:10]))
    assert by_dev.model_.info["tuning"]["folds"] is None
    loaded = GridSearchCV(DocumentClassifier(folds=2), {"tune_rule": ["best", "one-standard-error"]}, cv=2)
    assert loaded.fit(TEXTS, Y).best_estimator_.model_.info["tuning"]["folds"] == 2


def test_callback() -> None:
    seen: list[Any] = []
    fitted = DocumentClassifier("lasso", l1=1.0, callback=seen.append).fit(TEXTS, Y)
    assert [event.iteration for event in seen] == [event["iteration"] for event in fitted.history_]


# ---- matrices ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [MATRIX, MATRIX.toarray(), sparse.coo_array(MATRIX)])
def test_matrices_like_logistic_regression(data: Any) -> None:
    fitted = DocumentClassifier("ridge", l2=0.5, tol=1e-8).fit(data, Y3)
    other = LogisticRegression(C=2.0, tol=1e-9, max_iter=1000).fit(MATRIX, Y3)
    np.testing.assert_allclose(fitted.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(fitted.predict_proba(data), other.predict_proba(MATRIX), atol=1e-5)
    assert fitted.gap_ < 1e-4 * fitted.objective_


def test_groups_of_columns_in_all_forms() -> None:
    labels = np.arange(D) // 4
    lists = [np.flatnonzero(labels == m).tolist() for m in range(labels[-1] + 1)]
    forms: list[Any] = [labels, lists, Groups.from_lists(lists, D, weight="ones")]
    fits = [DocumentClassifier(sentence=0.5, groups=form).fit(MATRIX, Y3) for form in forms]
    fits.append(DocumentClassifier(SentenceLasso(0.5, forms[2], l1=0.1)).fit(MATRIX, Y3))
    assert len({fitted.coef_.tobytes() for fitted in fits}) == 1
    assert fits[0].relevance_.shape == (len(lists),)


def test_group_penalties_on_matrices() -> None:
    overlapping = OverlappingGroupLasso(0.5, Groups.from_lists(GROUPS, D, weight="ones"), l1=0.1)
    one = DocumentClassifier(overlapping, tol=1e-7).fit(MATRIX, Y3)
    other = DocumentClassifier(sentence=0.5, groups=GROUPS, tol=1e-7).fit(MATRIX, Y3)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)


def test_cvxpy() -> None:
    cp = pytest.importorskip("cvxpy")
    fitted = DocumentClassifier(sentence=0.5, l1=0.1, l2=0.2, groups=GROUPS, tol=1e-8).fit(MATRIX, Y3)
    w, b = cp.Variable((D, 3)), cp.Variable((1, 3))
    scores = MATRIX.toarray() @ w + np.ones((N, 1)) @ b
    gold = np.eye(3)[np.unique(Y3, return_inverse=True)[1]]
    loss = cp.sum(cp.log_sum_exp(scores, axis=1)) - cp.sum(cp.multiply(gold, scores))
    omega = 0.5 * sum(cp.norm(cp.vec(w[group], order="C")) for group in GROUPS)
    net = 0.1 * cp.sum(cp.abs(w)) + 0.1 * cp.sum_squares(w)
    expected = cp.Problem(cp.Minimize(loss + omega + net)).solve(solver=cp.CLARABEL)
    assert fitted.objective_ == pytest.approx(expected, rel=1e-5)
    assert 0 <= fitted.gap_ < 1e-6 * expected


def test_hinge_has_no_probabilities() -> None:
    fitted = DocumentClassifier("lasso", l1=0.5, loss="hinge").fit(TEXTS, Y)
    assert fitted.score(TEXTS, Y) > 0.9
    assert not hasattr(fitted, "predict_proba")
    assert hasattr(DocumentClassifier(), "predict_proba")


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (["a text", "another"], True),
        ([["a sentence", "another"], []], True),
        ([[], [["a", "token"]]], True),
        (np.array(["a text"], object), True),
        ([[1.0, 2.0]], False),
        ([np.array([1.0, 2.0])], False),
        (np.zeros((2, 2)), False),
        (np.zeros(2), False),
        (sparse.csr_matrix((2, 2)), False),
        ([], False),
        (3, False),
    ],
)
def test_documents_are_told_from_matrices(X: Any, expected: bool) -> None:
    assert are_documents(X) is expected


@pytest.mark.parametrize(
    ("parameters", "X", "said"),
    [
        (
            {"penalty": "none"},
            TEXTS,
            f"penalty must be one of {', '.join(('auto', *STRENGTHS))}, not 'none'",
        ),
        (
            {"penalty": "sentence", "tune": True, "groups": GROUPS},
            MATRIX,
            "tune=True is for the penalties ridge, lasso",
        ),
        ({"penalty": "count-ridge"}, MATRIX, "the penalty count-ridge counts words, so it needs texts"),
        ({}, MATRIX, "a matrix has no groups by sentence; give groups as lists of columns"),
        ({"penalty": GroupLasso(1.0)}, MATRIX, "a matrix has no groups by sentence"),
        ({"groups": [[0, D]]}, MATRIX, f"group 0 has column {D}, but columns of X go from 0 to {D - 1}"),
        (
            {"groups": "chapter"},
            TEXTS,
            "groups must be one of sentence, paragraph, document, window, not 'chapter'",
        ),
        ({"penalty": "lasso", "stopping": "paper"}, TEXTS, "the paper's stopping is ADMM's"),
        ({"stopping": "never"}, TEXTS, "stopping must be one of certified, paper, not 'never'"),
        ({"rho": -1.0}, TEXTS, "rho must be a number above zero, not -1.0"),
        ({"dev_share": 1.5}, TEXTS, "dev_share is 1.5; give a share"),
        ({"n_jobs": 0}, TEXTS, "n_jobs must be a whole number and not 0"),
        ({"penalty": "lasso"}, "one text", "X is a single string; give a list of documents"),
        ({"penalty": "lasso"}, TextReader().read(TEXTS), "X is a Corpus; give the documents"),
    ],
)
def test_mistakes(parameters: dict[str, Any], X: Any, said: str) -> None:
    with pytest.raises(ParsimonError, match=said) as caught:
        DocumentClassifier(**parameters).fit(X, Y3 if X is MATRIX else Y)
    assert str(caught.value).endswith(".")
    assert ". " not in str(caught.value)


def test_mistakes_after_fitting(classifier: DocumentClassifier) -> None:
    on_matrix = DocumentClassifier("ridge").fit(MATRIX, Y3)
    with pytest.raises(ParsimonError, match="fitted to a matrix, but X has documents; give the same form"):
        on_matrix.predict(TEXTS)
    with pytest.raises(ParsimonError, match="fitted to documents, but X has a matrix; give the same form"):
        classifier.predict(np.zeros((1, classifier.n_features_in_)))
    with pytest.raises(ParsimonError, match="only documents can be explained"):
        on_matrix.explain(TEXTS)
    with pytest.raises(ParsimonError, match="relevant sentences only if these are the groups"):
        DocumentClassifier("ridge").fit(TEXTS, Y).explain(TEXTS, training=True)
    with pytest.raises(ParsimonError, match="dev_share and dev are both given"):
        DocumentClassifier(dev_share=0.5).fit(TEXTS, Y, dev=(TEXTS, Y))
    with pytest.raises(ParsimonError, match="y has only one class"):
        DocumentClassifier().fit(TEXTS, ["a"] * len(TEXTS))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        DocumentClassifier().fit(TEXTS, Y[:3])


# ---- runs and files ----------------------------------------------------------------------------------------


class Killed(Exception):
    pass


def kill_at(iteration: int) -> Any:
    def kill(event: Any) -> None:
        if event.iteration == iteration:
            raise Killed

    return kill


@pytest.mark.parametrize("penalty", ["ridge", "sentence"])
def test_a_classifier_of_a_matrix_is_saved_like_any_other(penalty: str, tmp_path: Path) -> None:
    parameters: Any = {} if penalty == "ridge" else {"groups": GROUPS}
    fitted = DocumentClassifier(penalty, **parameters).fit(MATRIX, Y3)
    assert isinstance(fitted.model_, MatrixModel)
    fitted.save(tmp_path / "m")
    loaded = DocumentClassifier.load(tmp_path / "m")
    for other in (loaded, pickle.loads(pickle.dumps(fitted))):
        assert np.array_equal(other.predict_proba(MATRIX), fitted.predict_proba(MATRIX))
        assert other.predict(MATRIX).tolist() == fitted.predict(MATRIX).tolist()
        assert np.array_equal(other.coef_, fitted.coef_)
        assert other.gap_ == fitted.gap_
    assert (fitted.model_.groups is None) == (penalty == "ridge")
    with pytest.raises(ParsimonError, match="fitted to a matrix, but X has documents"):
        loaded.predict(TEXTS)


def test_what_pickles_keep_of_texts(classifier: DocumentClassifier) -> None:
    again = pickle.loads(pickle.dumps(classifier))
    assert again.coef_.tobytes() == classifier.coef_.tobytes()
    assert again.intercept_.tobytes() == classifier.intercept_.tobytes()
    assert again.vocabulary_ == classifier.vocabulary_
    np.testing.assert_array_equal(again.relevance_, classifier.relevance_)
    assert again.explain(TEXTS, training=True) == classifier.explain(TEXTS, training=True)


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    from parsimon import SequenceLabeler

    SequenceLabeler(l1=0.1).fit([[{"w": "a"}, {"w": "b"}]] * 3, [["A", "B"]] * 3).save(tmp_path / "m")
    with pytest.raises(ParsimonError, match="sequence model, but a document or matrix model is needed here"):
        DocumentClassifier.load(tmp_path / "m")


def test_a_loaded_classifier_has_the_loss_of_its_training(tmp_path: Path) -> None:
    DocumentClassifier("lasso", l1=0.5, loss="hinge").fit(TEXTS, Y).save(tmp_path / "m")
    assert not hasattr(DocumentClassifier.load(tmp_path / "m"), "predict_proba")


def test_positional_parameters() -> None:
    assert DocumentClassifier("lasso").penalty == "lasso"
    with pytest.raises(TypeError):
        DocumentClassifier("lasso", 1.0)  # type: ignore[misc]


@pytest.mark.parametrize(("parameters", "data"), [({}, TOKENS3), ({"groups": GROUPS}, MATRIX)])
@pytest.mark.parametrize("stopping", ["certified", "paper"])
def test_killed_and_resumed(stopping: str, parameters: dict[str, Any], data: Any, tmp_path: Path) -> None:
    settings: Any = {"stopping": stopping, "tol": 1e-6, "rho": 1.0, **parameters}
    whole = DocumentClassifier(**settings).fit(data, Y3)
    safe: Any = {"checkpoint": tmp_path / "run", "checkpoint_every": 1e-9}
    with pytest.raises(Killed):
        DocumentClassifier(**settings, **safe, callback=kill_at(5)).fit(data, Y3)
    resumed = DocumentClassifier(**settings, **safe, resume=True).fit(data, Y3)
    if stopping == "paper":
        assert resumed.coef_.tobytes() == whole.coef_.tobytes()
    else:
        assert resumed.objective_ == pytest.approx(whole.objective_, rel=1e-5)
    np.testing.assert_array_equal(resumed.relevance_ > 0, whole.relevance_ > 0)
    with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
        DocumentClassifier(**settings, **safe, resume=True, class_weight="balanced").fit(data[1:], Y3[1:])


@pytest.mark.parametrize(("penalty", "data"), [("sentence", TOKENS3), ("lasso", MATRIX)])
def test_ctrl_c_and_limits_of_time(penalty: str, data: Any) -> None:
    def interrupt(event: Any) -> None:
        if event.iteration == 1:
            os.kill(os.getpid(), signal.SIGINT)

    fitted = DocumentClassifier(penalty, tol=1e-14, callback=interrupt, tune=False).fit(data, Y3)
    assert "interrupted" in fitted.status_
    assert fitted.n_iter_ in (2, 3)
    assert fitted.predict(data).shape == (30,)
    assert "time limit" in DocumentClassifier(penalty, tol=1e-14, time_limit=1e-9).fit(data, Y3).status_


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    for data in (TOKENS3, MATRIX):
        DocumentClassifier("lasso").fit(data, Y3)
        assert not capsys.readouterr().err
        DocumentClassifier("lasso", verbose=1).fit(data, Y3)
        assert "objective" in capsys.readouterr().err


def test_long_histories_are_counted_in_full() -> None:
    fitted = DocumentClassifier(stopping="paper", rho=1.0, tol=1e-30, max_iter=450).fit(TEXTS, Y)
    assert fitted.n_iter_ == 451 > len(fitted.history_)


def test_lists_that_are_nested_without_end() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ParsimonError, match="X has lists nested more than 20 deep; give a list of documents"):
        DocumentClassifier().fit([endless, endless], ["a", "b"])
