"""What `SequenceLabeler` predicts, against enumeration of all labellings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from brute_force import enumerate_batch
from labelled_words import LABELS, WORDS, fitted
from parsimon import SequenceLabeler
from parsimon.errors import ParsimonError
from parsimon.features import Columns
from parsimon.structures.label_schemes import constraints, forbid


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
    labeler = fitted(l1=1.0, scheme=allowed if decoding == "transitions" else chosen)
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
    labeler = fitted(scheme="iob2")
    with pytest.raises(
        ParsimonError, match="sequence 0 has no possible labelling under the given constraints"
    ):
        labeler.predict([["a", "b"]], given=[["O", "I-X"]])


def test_a_sequence_without_a_labelling_is_counted_from_the_start_of_the_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from parsimon.tasks.sequences import model as sequence_model

    monkeypatch.setattr(sequence_model, "BATCH", 3)
    labeler = fitted(scheme="iob2")
    with pytest.raises(ParsimonError, match="sequence 3 has no possible labelling"):
        labeler.predict([["a", "b"]] * 5, given=[[None, None]] * 3 + [["O", "I-X"]] + [[None, None]])


def test_batches_change_nothing(labeler: SequenceLabeler, monkeypatch: pytest.MonkeyPatch) -> None:
    from parsimon.tasks.sequences import model as sequence_model

    wanted = labeler.predict(WORDS), labeler.predict_kbest(WORDS, 3), labeler.predict_marginals(WORDS)
    monkeypatch.setattr(sequence_model, "BATCH", 10)
    assert labeler.predict(WORDS) == wanted[0]
    for a, b in zip(labeler.predict_kbest(WORDS, 3), wanted[1], strict=True):
        assert [labels for _, labels in a] == [labels for _, labels in b]
    for a, b in zip(labeler.predict_marginals(WORDS), wanted[2], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14)


def test_a_single_sequence(labeler: SequenceLabeler) -> None:
    for x in WORDS[:3]:
        assert labeler.predict_single(x) == labeler.predict([x])[0]
        np.testing.assert_array_equal(labeler.predict_marginals_single(x), labeler.predict_marginals([x])[0])
    other = str(labeler.classes_[-1])
    assert labeler.predict_single(WORDS[0], given=[other, *[None] * (len(WORDS[0]) - 1)])[0] == other


def test_a_single_sequence_in_place_of_many_is_refused() -> None:
    X = [[{"w": "the"}, {"w": "dog"}], [{"w": "a"}, {"w": "cat"}]] * 5
    labeler = SequenceLabeler(l1=0.1).fit(X, [["D", "N"]] * 10)
    with pytest.raises(
        ParsimonError, match=r"sequence 0 is of type dict.*put a single sentence into a list, or use"
    ):
        labeler.predict(X[0])
    with pytest.raises(ParsimonError, match="sequence 0, token 0: a token's features must be a dict"):
        labeler.predict_single(X)
    assert labeler.predict_single(X[0]) == ["D", "N"]
