"""The wiring: candidates, biases, weights, development sets, debiasing, paths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.features import Columns, ItemFeatures, Labels, TemplateFeatures, TemplateSet
from parsimon.inspect import features
from parsimon.penalties import L1, L2, ElasticNet, L1Ball
from parsimon.solvers import Status, Weights
from parsimon.tasks.model_file import dump_model
from parsimon.tasks.sequences.training import SequenceTask, SequenceTraining, make_batches
from toy_sequences import make_data, space


@pytest.fixture
def data() -> tuple[Columns, Labels]:
    return make_data()


def weights_by_name(model: Any) -> dict[tuple[Any, ...], float]:
    return {(f.attribute, f.previous, f.label): f.weight for f in features(model)}


def test_candidates(data: Any) -> None:
    X, y = data
    every = SequenceTraining(candidates="all").prepare(space(), X, y)
    seen = SequenceTraining(candidates="seen").prepare(space(), X, y)
    assert every.problem.n_features == 3 * every.space.n_node + 9 * every.space.n_pair
    assert 0 < seen.problem.n_features < every.problem.n_features
    with pytest.raises(ParsimonError, match="candidates must be one of all, seen, not 'some'"):
        SequenceTraining(candidates="some").prepare(space(), X, y)


def test_batches_change_nothing(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from parsimon.tasks.sequences import training as sequence_training

    X, y = data
    whole = SequenceTraining().fit(space(), X, y)
    monkeypatch.setattr(sequence_training, "BATCH", 30)
    task = SequenceTraining().prepare(space(), X, y)
    assert len(task.problem.batches) > 5
    parts = SequenceTraining().fit(space(), X, y)
    assert parts.info["objective"] == pytest.approx(whole.info["objective"], rel=1e-6)


def test_biases_are_penalised_or_not(data: Any) -> None:
    X, y = data
    with_bias = SequenceTraining(penalty=L1(2.0), tol=1e-7)
    without = replace(with_bias, penalize_bias=False)
    task = without.prepare(space(), X, y)
    free = task.features.bias_features()
    assert len(free) == 3 + 9  # U with three labels, B with nine pairs
    assert isinstance(task.problem.penalty, ElasticNet)
    assert task.problem.penalty.weight is not None
    assert np.flatnonzero(task.problem.penalty.weight == 0).tolist() == sorted(free.tolist())
    result = without.solve(task, Weights.zeros(task.problem.n_features))
    _, gradient = task.problem.loss_and_gradient(result.weights.dense())
    np.testing.assert_allclose(gradient[free], 0.0, atol=1e-4)
    assert result.objective <= with_bias.fit(space(), X, y).info["objective"]


def test_a_penalty_that_cannot_leave_biases_out_says_so(data: Any) -> None:
    with pytest.raises(ParsimonError, match="L1Ball cannot leave features out"):
        SequenceTraining(penalty=L1Ball(1.0), penalize_bias=False).prepare(space(), *data)


def test_sequence_weights(data: Any) -> None:
    X, y = data
    weights = np.ones(len(X))
    weights[::3] = 2.0
    weights[1::3] = 0.0
    chosen = [i for i in range(len(X)) for _ in range(int(weights[i]))]
    training = SequenceTraining(tol=1e-8)
    weighted = training.fit(space(), X, y, weights=weights)
    # The same attributes, so that the two problems have the same features.
    repeated = training.fit(space(), X[chosen], y[chosen])  # type: ignore[index]
    assert weighted.info["objective"] == pytest.approx(repeated.info["objective"], rel=1e-7)


@pytest.mark.parametrize("wrong", [np.ones(3), np.full(30, -1.0), np.full(30, np.nan), np.full(30, np.inf)])
def test_wrong_sequence_weights(data: Any, wrong: Any) -> None:
    with pytest.raises(
        ParsimonError, match="sequence weights must be finite and not negative, one for every sequence"
    ):
        SequenceTraining().fit(space(), *data, weights=wrong)


def test_labels_must_fit(data: Any) -> None:
    X, y = data
    with pytest.raises(ParsimonError, match="there are 30 sequences but labels for 29"):
        SequenceTraining().fit(space(), X, y[:-1])
    with pytest.raises(ParsimonError, match=r"sequence 1 has 1 tokens? but 2 labels"):
        SequenceTraining().fit(
            space(), Columns.from_sequences([["a"], ["b"]]), Labels.from_sequences([["X"], ["X", "Y"]])
        )
    with pytest.raises(ParsimonError, match="no token has a label"):
        SequenceTraining().fit(space(), Columns.from_sequences([["a"]]), Labels.from_sequences([[None]]))
    with pytest.raises(ParsimonError):
        SequenceTraining().fit(space(), Columns.from_sequences([]), Labels.from_sequences([]))


def test_partially_labelled_sequences(data: Any) -> None:
    X, y = data
    labels = [[label if (i + t) % 3 else None for t, label in enumerate(s)] for i, s in enumerate(y)]
    model = SequenceTraining(penalty=ElasticNet(l1=0.1, l2=0.1)).fit(
        space(), X, Labels.from_sequences(labels, y.names)
    )
    found = model.decode(model.observe(X))
    assert np.mean(found == y.ids) > 0.85


def test_a_model_keeps_what_is_not_zero_and_scores_the_same(data: Any) -> None:
    X, y = data
    training = SequenceTraining(penalty=L1(0.7))
    task = training.prepare(space(), X, y)
    result = training.solve(task, Weights.zeros(task.problem.n_features))
    model = task.model(result, {})
    assert len(model.weights) == result.weights.n_active
    assert (model.weights != 0).all()
    assert model.space.n_node < task.space.n_node
    loss, _ = task.problem.loss_and_gradient(result.weights.dense())
    assert -model.log_likelihood(model.observe(X), y) == pytest.approx(loss, rel=1e-10)


def test_weights_travel_by_name(data: Any) -> None:
    """A model's weights put into another problem's numbering, and back."""
    X, y = data
    model = SequenceTraining().fit(space(), X, y)
    backwards = np.arange(len(X))[::-1]
    other = SequenceTraining().prepare(space(), X[backwards], Labels.from_sequences(y[backwards], None))  # type: ignore[index]
    moved = other.weights_of(model)
    again = other.model(_result(moved), {})
    assert weights_by_name(again) == weights_by_name(model)


def test_unknown_features_do_not_travel(data: Any) -> None:
    X, y = data
    model = SequenceTraining().fit(space(), X, y)
    narrow = TemplateFeatures(TemplateSet.parse("U0:%x[0,0]\nB"))
    other = SequenceTraining().prepare(narrow, X, y)
    moved = other.model(_result(other.weights_of(model)), {})
    wanted = {k: v for k, v in weights_by_name(model).items() if k[0].startswith("U0:") or k[0] == "B"}
    assert weights_by_name(moved) == wanted


def _result(weights: Weights) -> Any:
    from parsimon.solvers import Result

    return Result(weights, Status.CONVERGED, 0.0)


def test_a_warm_start_saves_work(data: Any) -> None:
    X, y = data
    training = SequenceTraining(penalty=ElasticNet(l1=0.3, l2=0.01))
    cold = training.fit(space(), X, y)
    warm = training.fit(space(), X, y, start=cold)
    assert warm.info["objective"] <= cold.info["objective"] * (1 + 1e-6)
    assert warm.info["history"][-1]["evaluations"] < cold.info["history"][-1]["evaluations"]


def test_path(data: Any) -> None:
    X, y = data
    training = SequenceTraining(penalty=ElasticNet(l1=1.0, l2=0.01), tol=1e-6)
    strengths = [0.2, 5.0, 1.0]
    found = list(training.path(space(), X, y, strengths))
    assert [strength for strength, _ in found] == [5.0, 1.0, 0.2]
    sizes = [len(model.weights) for _, model in found]
    assert sizes == sorted(sizes)
    for strength, model in found:
        alone = replace(training, penalty=ElasticNet(l1=strength, l2=0.01)).fit(space(), X, y)
        assert model.info["objective"] == pytest.approx(alone.info["objective"], rel=1e-5)
        assert model.info["l1"] == strength


@pytest.mark.parametrize("penalize_bias", [True, False])
def test_the_largest_strength(data: Any, penalize_bias: bool) -> None:
    X, y = data
    training = SequenceTraining(penalty=L1(1.0), penalize_bias=penalize_bias, tol=1e-7)
    strength = training.max_strength(space(), X, y)
    above = replace(training, penalty=L1(strength * 1.001)).fit(space(), X, y)
    below = replace(training, penalty=L1(strength * 0.98)).fit(space(), X, y)
    biases = {"U", "B"}
    assert {f.attribute for f in features(above)} <= (set() if penalize_bias else biases)
    assert {f.attribute for f in features(below)} - (set() if penalize_bias else biases)


def test_pruning_drops_small_weights(data: Any) -> None:
    plain = SequenceTraining(penalty=L2(1.0), tol=1e-6)
    whole = weights_by_name(plain.fit(space(), *data))
    small = weights_by_name(replace(plain, prune=0.5).fit(space(), *data))
    least = 0.5 * np.sqrt(np.mean(np.square(list(whole.values()))))
    assert small == {name: w for name, w in whole.items() if abs(w) >= least}
    assert 0 < len(small) < len(whole)


def test_debiasing_refits_the_survivors(data: Any) -> None:
    X, y = data
    plain = SequenceTraining(penalty=L1(1.5), tol=1e-6)
    first, second = plain.fit(space(), X, y), replace(plain, debias=0.01).fit(space(), X, y)
    assert set(weights_by_name(second)) == set(weights_by_name(first))
    assert np.abs(second.weights).sum() > 1.2 * np.abs(first.weights).sum()
    observations = first.observe(X)
    assert second.log_likelihood(observations, y) > first.log_likelihood(observations, y)


def test_debiasing_when_nothing_survives(data: Any) -> None:
    model = SequenceTraining(penalty=L1(1e6), debias=0.1).fit(space(), *data)
    assert len(model.weights) == 0
    assert len(model.decode(model.observe(data[0]))) == data[0].n_tokens


# ---- development sets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["auto", "accuracy", "f1"])
def test_development_scores_are_those_of_the_model(data: Any, metric: str) -> None:
    from parsimon.metrics import span_f1, token_accuracy

    X, _ = data
    y = Labels.from_sequences([[{"L0": "O", "L1": "B-X", "L2": "I-X"}[v] for v in s] for s in data[1]])
    dev_X, dev_raw = make_data(seed=9, n=10)
    dev_y = Labels.from_sequences([[{"L0": "O", "L1": "B-X", "L2": "I-X"}[v] for v in s] for s in dev_raw])
    training = SequenceTraining(penalty=ElasticNet(l1=0.3, l2=0.01))
    task = training.prepare(space(), X, y)
    result = training.solve(task, Weights.zeros(task.problem.n_features))
    score = replace(task, metric=metric).development_score((dev_X, dev_y))(result.weights)
    model = task.model(result, {})
    predicted = list(model.as_labels(model.decode(model.observe(dev_X)), dev_X.lengths))
    wanted = token_accuracy if metric == "accuracy" else span_f1
    assert score == pytest.approx(wanted(list(dev_y), predicted))


def test_a_development_set_may_have_other_labels(data: Any) -> None:
    X, y = data
    dev = Columns.from_sequences([["a0", "q"]]), Labels.from_sequences([["L0", "NEW"]])
    model = SequenceTraining(dev_metric="accuracy").fit(space(), X, y, dev=dev)
    scores = [event["dev"] for event in model.info["history"] if "dev" in event]
    assert scores
    assert max(scores) <= 0.5


def test_tokens_without_a_label_do_not_count_in_development(data: Any) -> None:
    X, y = data
    task = SequenceTraining(dev_metric="accuracy").prepare(space(), X, y)
    model_w = SequenceTraining().solve(task, Weights.zeros(task.problem.n_features)).weights
    ids = y.ids.copy()
    every = task.development_score((X, y))(model_w)
    model = task.model(_result(model_w), {})
    right = model.decode(model.observe(X)) == ids
    half = np.arange(len(ids)) % 2 == 0
    partial = Labels(np.where(half, ids, -1).astype(np.int32), y.lengths, y.names)
    assert every == pytest.approx(right.mean())
    assert task.development_score((X, partial))(model_w) == pytest.approx(right[half].mean())


def test_wrong_development_settings(data: Any) -> None:
    with pytest.raises(ParsimonError, match="dev_metric must be one of auto, f1, accuracy, not 'bleu'"):
        SequenceTraining(dev_metric="bleu").fit(space(), *data, dev=data)


# ---- the same bits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_threads_give_identical_models(data: Any, loss: str) -> None:
    X, y = data
    models = [
        SequenceTraining(loss=loss, n_jobs=threads, max_iter=40).fit(space(), X, y) for threads in (1, 2)
    ]
    files = [dump_model(replace(model, info={})) for model in models]
    assert files[0] == files[1]


@pytest.mark.parametrize("loss", ["log", "hinge", "perceptron"])
@pytest.mark.parametrize("penalty", [L1(0.05), L2(0.05)], ids=["l1", "l2"])
def test_every_loss_learns(data: Any, loss: str, penalty: Any) -> None:
    X, y = data
    model = SequenceTraining(loss=loss, penalty=penalty, max_iter=300).fit(space(), X, y)
    assert np.mean(model.decode(model.observe(X)) == y.ids) > 0.85


def test_what_a_model_remembers(data: Any) -> None:
    X, y = data
    task: SequenceTask = SequenceTraining().prepare(space(), X, y)
    info = SequenceTraining(penalty=ElasticNet(l1=0.25, l2=0.5), candidates="seen").fit(space(), X, y).info
    assert (info["loss"], info["l1"], info["l2"], info["candidates"]) == ("log", 0.25, 0.5, "seen")
    assert (info["sequences"], info["tokens"], info["candidate_templates"]) == (30, X.n_tokens, 5)
    assert info["candidate_attributes"] == task.space.n_node + task.space.n_pair
    assert info["status"] == Status.CONVERGED.value


def test_batches_hold_whole_sequences(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from parsimon.tasks.sequences import training as sequence_training

    monkeypatch.setattr(sequence_training, "BATCH", 9)
    X, y = data
    task = SequenceTraining().prepare(space(), X, y)
    observations = task.space.observe(X, 1)
    batches = list(make_batches(observations, y.ids, task.index, 1))
    assert np.concatenate([np.diff(b.structure.offsets) for b in batches]).tolist() == X.lengths.tolist()  # type: ignore[attr-defined]
    np.testing.assert_array_equal(np.concatenate([b.gold for b in batches]), y.ids)


def test_item_features_and_no_transitions() -> None:
    X = [[{"w": w} for w in "ab"], [{"w": w} for w in "ba"]] * 3
    y = Labels.from_sequences([["A", "B"], ["B", "A"]] * 3)
    model = SequenceTraining(penalty=L2(0.1)).fit(ItemFeatures(transitions=False), X, y)
    assert model.space.n_pair == 0
    np.testing.assert_array_equal(model.decode(model.observe(X)), y.ids)


# ---- l1 that chooses itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["columns", "dicts"])
def test_l1_chooses_itself(data: Any, form: str) -> None:
    X, y = data
    own: Any = space()
    if form == "dicts":
        X, own = [[{"w": token[0]} for token in X.sequence(i)] for i in range(len(X))], ItemFeatures()
    training = SequenceTraining(tune=True, folds=3, l2=0.01)
    model = training.fit(own, X, y)
    tuning = model.info["tuning"]
    assert model.info["l1"] == tuning["chosen"]["l1"]
    assert model.info["l2"] == tuning["chosen"]["l2"] == 0.01
    assert 0.3 < max(each["score"] for each in tuning["tried"]) <= 1
    again = replace(training, tune=None, l1=model.info["l1"]).fit(replace(own), X, y)
    np.testing.assert_array_equal(again.weights, model.weights)
    assert training.fit(replace(own), X, y).info["tuning"] == tuning  # the folds have left no trace


def test_development_sequences_choose(data: Any) -> None:
    X, y = data
    model = SequenceTraining(tune=True).fit(space(), X[:20], y[:20], dev=(X[20:], y[20:]))
    assert model.info["tuning"]["folds"] is None
    assert not any("dev" in event for event in model.info["history"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"l1": 0.7}, "tune=True chooses l1, so l1=0.7 would make no difference"),
        ({"penalty": L1(1.0)}, "tune=True chooses l1, and a penalty object takes its place"),
    ],
)
def test_l1_that_was_given_is_not_chosen(data: Any, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ParsimonError, match=said):
        SequenceTraining(**settings, tune=True).fit(space(), *data)
