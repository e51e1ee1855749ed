"""Growing feature sets: who comes in, what is carried over, how it ends, and what cannot work."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon import SequenceLabeler
from parsimon.errors import ParsimonError
from parsimon.features import Columns, ItemFeatures, Labels, TemplateFeatures, TemplateSet, get_preset, ngrams
from parsimon.features.templates import Template, Test
from parsimon.inspect import features
from parsimon.penalties import L1, L2, ElasticNet, GroupLasso
from parsimon.penalties.groupings import ByAttribute
from parsimon.selection import InformationGain
from parsimon.selection.growth import Growing, Growth, Stage, admitted, parents_of
from parsimon.solvers import Event, Online, PassiveAggressive, Result, Status, Weights
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.sequences.training import Labelled, SequenceTraining

WORDS = TemplateSet.parse("U\nU1:%x[-1,0]\nU2:%x[0,0]\nU3:%x[1,0]\nB")
BIGRAMS = TemplateSet.parse("U4:%x[-1,0]/%x[0,0]\nU5:%x[0,0]/%x[1,0]")
TRIGRAMS = TemplateSet.parse("*6:%x[-1,0]/%x[0,0]/%x[1,0]")
GROWTH = Growth([Stage(BIGRAMS, after=6), Stage(TRIGRAMS, after=8)])


def make_data(seed: int = 0, n: int = 60) -> tuple[Columns, Labels]:
    """The label depends on the word, and now and then on the word before; some words are too rare to matter."""
    rng = np.random.default_rng(seed)
    words, labels = [], []
    for _ in range(n):
        w = rng.integers(8, size=rng.integers(2, 8))
        words.append([f"w{k}" if rng.random() < 0.9 else f"r{rng.integers(15)}" for k in w])
        y = [(k // 3 + (j == 7)) % 3 for j, k in zip([0, *w[:-1]], w, strict=True)]
        labels.append([f"L{k if rng.random() < 0.9 else rng.integers(3)}" for k in y])
    return Columns.from_sequences(words), Labels.from_sequences(labels)


@pytest.fixture(scope="module")
def data() -> tuple[Columns, Labels]:
    return make_data()


def space(templates: TemplateSet = WORDS, cutoff: int = 1) -> TemplateFeatures:
    return TemplateFeatures(templates, cutoff)


def trained(training: SequenceTraining, data: Any) -> tuple[Any, Result]:
    """The model, and how its solver ended."""
    found = training.run(Labelled(space(), *data))
    return found.model, found.result


def attributes(model: Any) -> set[str]:
    return {feature.attribute for feature in features(model)}


# --- Who comes in -------------------------------------------------------------------------------------------


def looks_of(text: str) -> frozenset[Test]:
    return frozenset(Template.parse(text).tests)


@pytest.mark.parametrize(
    ("shorter", "parents"),
    [
        (["U:%x[0,0]"], ["U:%x[0,0]"]),
        (["U:%x[0,0]", "U:%x[1,0]"], ["U:%x[0,0]", "U:%x[1,0]"]),
        (["U:%x[0,0]", "U:%x[0,0]/%x[1,0]"], ["U:%x[0,0]/%x[1,0]"]),
        (["U:%x[0,0]", "U:%x[-1,0]", "U:%x[0,0]/%x[1,0]"], ["U:%x[-1,0]", "U:%x[0,0]/%x[1,0]"]),
        (["U:%x[1,0]/%x[0,0]"], ["U:%x[0,0]/%x[1,0]"]),
        (["U:%x[0,1]", "U:%X[0,0]", "U:%x[@1,0]", "U:%x[2,0]/%x[0,0]"], []),
        (["U", "B"], []),
        (["U:%x[-1,0]/%x[0,0]/%x[1,0]", "U:%x[0,0]"], ["U:%x[-1,0]/%x[0,0]/%x[1,0]"]),
    ],
)
def test_parents(shorter: list[str], parents: list[str]) -> None:
    found = parents_of(looks_of("U:%x[-1,0]/%x[0,0]/%x[1,0]"), map(looks_of, shorter))
    assert set(found) == set(map(looks_of, parents))


TESTS = [Test(-1, 0), Test(0, 0), Test(1, 0), Test(0, 1), Test(1, 1, absolute=True)]


@st.composite
def schedules(draw: st.DrawFn) -> list[list[Template]]:
    """Three stages of templates; within a stage some may share their attributes."""
    out = []
    for stage in range(3):
        templates = []
        for i in range(draw(st.integers(1, 3))):
            kind = draw(st.sampled_from(["node", "edge", "both"]))
            tests = draw(st.lists(st.sampled_from(TESTS), min_size=0 if stage == 0 else 1, unique=True))
            name = draw(st.sampled_from([f"{stage}{i}", f"{stage}s"]))
            pieces: list[str | Test] = [{"node": "U", "edge": "B", "both": "*"}[kind] + name]
            for test in tests:
                pieces += ["/", test]
            templates.append(Template(kind, tuple(pieces)))
        out.append(templates)
    return out


def brute_force(
    schedule: list[list[Template]],
    names: tuple[set[str], set[str]],
    active: tuple[set[str], set[str]],
    rule: str,
) -> tuple[set[str], set[str]]:
    """The definition, word for word, on the names of attributes: an id and what its tests saw."""
    allowed = set(active[0]), set(active[1])
    for k, templates in enumerate(schedule):
        earlier = [t for stage in schedule[:k] for t in stage]
        for template in templates:
            mine = set(template.tests)
            within = [t for t in earlier if t.tests and set(t.tests) <= mine]
            largest = [t for t in within if not any(set(t.tests) < set(o.tests) for o in within)]
            for part, other_kind in enumerate(("edge", "node")):
                if template.kind == other_kind:
                    continue
                for name in names[part]:
                    head, *values = name.split("/")
                    if head != template.pieces[0].rstrip("/") or len(values) != len(template.tests):
                        continue
                    saw = dict(zip(template.tests, values, strict=True))
                    verdicts = {}
                    for parent in largest:
                        contained = parent.render([saw[test] for test in parent.tests])
                        alive = (parent.kind != "edge" and contained in active[0]) or (
                            parent.kind != "node" and contained in active[1]
                        )
                        tests = frozenset(parent.tests)
                        verdicts[tests] = verdicts.get(tests, False) or alive
                    if not verdicts or (all if rule == "all" else any)(verdicts.values()):
                        allowed[part].add(name)
    return allowed


@given(
    schedules(),
    st.lists(
        st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), min_size=1), min_size=1, max_size=4
    ),
    st.randoms(use_true_random=False),
    st.sampled_from(["all", "any"]),
)
def test_who_comes_in_by_enumeration(
    schedule: list[list[Template]], sequences: list[Any], random: Any, rule: Any
) -> None:
    templates = TemplateSet(tuple(t for stage in schedule for t in stage))
    made = space(templates)
    made.number(Columns.from_sequences(sequences))
    stage = {t.skeleton: k for k, templates in enumerate(schedule) for t in templates}
    active = tuple(
        np.array([random.random() < 0.5 for _ in range(n)], bool) for n in (made.n_node, made.n_pair)
    )
    got = admitted(made, stage, active, rule)
    names = made.node_names(np.arange(made.n_node)), made.pair_names(np.arange(made.n_pair))

    def chosen(marks: Any) -> tuple[set[str], set[str]]:
        parts = [
            {n for n, m in zip(each, mark, strict=True) if m} for each, mark in zip(names, marks, strict=True)
        ]
        return parts[0], parts[1]

    everything = set(names[0]), set(names[1])
    assert [len(part) for part in everything] == [made.n_node, made.n_pair]
    assert chosen(got) == brute_force(schedule, everything, chosen(active), rule)


def pretend(growing: Growing, index: Any, features: Any) -> None:
    """A stage that ended with a weight of 1 for some features."""
    weights = Weights(np.ones(len(features)), np.array(features, np.int64), index.n_features)
    growing.leave(index, Result(weights, Status.CONVERGED, 0.0, history=[Event(0, 0.0, 0.0, 0, 0)]))


def test_what_was_left_out_has_another_chance_and_what_is_active_stays() -> None:
    X = Columns.from_sequences([["a", "b"], ["b", "a"], ["a", "a"]])
    y = Labels.from_sequences([["N", "V"], ["V", "N"], ["N", "N"]])
    words = TemplateSet.parse("U1:%x[0,0]\nU2:%x[1,0]")
    pairs = TemplateSet.parse("U3:%x[0,0]/%x[1,0]")
    growing = Growing(Growth([Stage(pairs), Stage(TemplateSet.parse("U4:%x[0,0]/%x[2,0]"))]), space(words))
    training = SequenceTraining()

    def stage(k: int, active: list[tuple[str, int]]) -> list[str]:
        part, observations = growing.enter(k, X, 1)
        names = part.node_names(np.arange(part.n_node))
        task = training._task_of(part, observations, Labelled(part, X, y))
        attribute = np.array([names.index(name) for name, _ in active], np.int64)
        numbers = task.index.node.find(attribute, np.array([label for _, label in active], np.int32))
        assert task.problem.n_features == 2 * len(names)
        pretend(growing, task.index, sorted(numbers.tolist()))
        return [name for name in names if name.startswith("U3")]

    assert stage(0, [("U1:a", 0), ("U2:b", 1)]) == []
    # Of a/b, b/a, a/a and those at the ends, only a/b has both parts active. U1:a is given up, U2:a comes in.
    assert stage(1, [("U3:a/b", 0), ("U1:b", 0), ("U2:a", 1)]) == ["U3:a/b"]
    # Now b/a has both; a/b has none any more, but is active itself.
    assert stage(2, []) == ["U3:a/b", "U3:b/a"]


def test_a_test_without_its_part_never_appears() -> None:
    """Two words tell the label together and nothing by themselves, so that neither gets a weight."""
    rng = np.random.default_rng(0)
    words = [[f"a{a}", f"b{b}"] for a, b in rng.permutation([(0, 0), (0, 1), (1, 0), (1, 1)] * 30)]
    labels = [["O", "same" if a[1] == b[1] else "other"] for a, b in words]
    X, y = Columns.from_sequences(words), Labels.from_sequences(labels)
    first = TemplateSet.parse("U1:%x[-1,0]\nU2:%x[0,0]\nB")
    pair = TemplateSet.parse("U3:%x[-1,0]/%x[0,0]")
    training = SequenceTraining(penalty=L1(5.0))
    together = training.fit(space(first + pair), X, y)
    assert "U3:a0/b0" in attributes(together)

    alone = attributes(training.fit(space(first), X, y))
    assert "U1:a0" not in alone
    grown = replace(training, growth=Growth([Stage(pair, after=None)])).fit(space(first), X, y)
    assert attributes(grown) == alone
    assert grown.info["growth"]["stages"][1]["attributes"] == grown.info["growth"]["stages"][0]["attributes"]


@pytest.mark.parametrize("rule", ["all", "any"])
def test_only_what_contains_active_tests_is_in_the_model(data: Any, rule: Any) -> None:
    training = SequenceTraining(penalty=L1(1.5))
    active = attributes(training.fit(space(), *data))
    grown = replace(training, growth=Growth([Stage(BIGRAMS, after=None)], rule)).fit(space(), *data)

    def alive(name: str) -> list[bool]:
        head, _, values = name.partition(":")
        left, right = ("U1", "U2") if head == "U4" else ("U2", "U3")
        first, second = values.split("/")
        return [f"{left}:{first}" in active, f"{right}:{second}" in active]

    longer = [name for name in attributes(grown) if name[:2] in ("U4", "U5")]
    assert longer
    assert all((all if rule == "all" else any)(alive(name)) for name in longer)
    made = training.prepare(space(WORDS + BIGRAMS), *data).space
    names = [n for n in made.node_names(np.arange(made.n_node)) if n[:2] in ("U4", "U5")]
    may = sum((all if rule == "all" else any)(alive(name)) for name in names)
    stages = grown.info["growth"]["stages"]
    assert 0 < may < len(names)
    assert stages[1]["attributes"] == stages[0]["attributes"] + may
    assert stages[1]["possible_attributes"] == stages[0]["attributes"] + len(names)


def test_label_pairs_come_in_where_the_test_is_active_with_single_labels(data: Any) -> None:
    training = SequenceTraining(penalty=L1(3.0))
    active = attributes(training.fit(space(), *data))
    pairs = TemplateSet.parse("B7:%x[0,0]")
    task = Growing(Growth([Stage(pairs, after=None)]), space())
    part, observations = task.enter(0, data[0], 1)
    first = training._task_of(part, observations, Labelled(part, *data))
    task.leave(first.index, training.solve(first, Weights.zeros(first.problem.n_features)))
    part, _ = task.enter(1, data[0], 1)
    names = set(part.pair_names(np.arange(part.n_pair)))
    assert names == {"B", *(f"B7:{name[3:]}" for name in active if name.startswith("U2:"))}
    every = space(pairs)
    every.learn(data[0])
    assert 1 < len(names) < 1 + every.n_pair


def test_rare_attributes_are_left_out(data: Any) -> None:
    training = SequenceTraining(penalty=L2(0.1), growth=GROWTH)
    stages = training.fit(space(cutoff=3), *data).info["growth"]["stages"]
    direct = space(WORDS + BIGRAMS + TRIGRAMS, cutoff=3)
    direct.learn(data[0])
    assert stages[2]["possible_attributes"] == direct.n_node + direct.n_pair
    assert stages[2]["attributes"] == stages[2]["possible_attributes"]  # nothing rare is active, all else is


# --- What is carried over -----------------------------------------------------------------------------------


@pytest.mark.parametrize("candidates", ["all", "seen"])
@pytest.mark.parametrize(
    ("penalty", "solver"),
    [
        (ElasticNet(0.5, 1e-3), "auto"),
        (ElasticNet(0.5, 1e-3), "owlqn"),
        (ElasticNet(0.5, 1e-3), "fista"),
        (L2(0.1), "lbfgs"),
        (GroupLasso(0.5, ByAttribute(weight="ones"), l2=1e-3), "auto"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_stage_begins_where_the_one_before_ended(
    data: Any, penalty: Any, solver: str, candidates: str
) -> None:
    events: list[Event] = []
    training = SequenceTraining(
        penalty=penalty,
        solver=solver,
        candidates=candidates,
        growth=GROWTH,
        callback=events.append,
        tol=1e-4,
    )
    model = training.fit(space(cutoff=2), *data)
    assert [event.iteration for event in events] == list(range(len(events)))
    stages = model.info["growth"]["stages"]
    assert len(stages) == 3
    for before, after in pairwise(stages):
        last, first = events[before["until"]], events[before["until"] + 1]
        assert last.active > 0
        assert first.objective == pytest.approx(last.objective, rel=1e-12)
        assert first.active == last.active == before["features"]
        assert before["objective"] == last.objective
        assert after["objective"] < before["objective"]
    assert stages[2]["until"] == len(events) - 1
    assert stages[2]["features"] == len(model.weights)
    assert model.info["candidate_features"] == stages[2]["candidate_features"]
    assert (stages[0]["until"], stages[1]["until"]) == (6, 6 + 1 + 8)


def test_weights_are_carried_over_one_by_one(data: Any) -> None:
    training = SequenceTraining(penalty=L1(1.0), candidates="seen")
    growing = Growing(Growth([Stage(BIGRAMS), Stage(TRIGRAMS)]), space(cutoff=2))
    weights: dict[Any, float] = {}
    for stage in range(3):
        part, observations = growing.enter(stage, data[0], 1)
        task = training._task_of(part, observations, Labelled(part, *data))
        start = growing.carried(task.index)
        model = task.model(Result(start, Status.CONVERGED, 0.0), {})
        assert {(f.attribute, f.previous, f.label): f.weight for f in features(model)} == weights
        result = training.solve(task, start)
        growing.leave(task.index, result)
        weights = {(f.attribute, f.previous, f.label): f.weight for f in features(task.model(result, {}))}
        assert weights


def test_where_every_part_is_active_growing_changes_nothing(data: Any) -> None:
    """A smooth penalty leaves no weight at zero, so everything comes in, and the optimum is unique."""
    training = SequenceTraining(penalty=L2(0.5), tol=1e-9)
    direct = training.fit(space(WORDS + BIGRAMS + TRIGRAMS), *data)
    grown = replace(training, growth=GROWTH).fit(space(), *data)
    stage = grown.info["growth"]["stages"][2]
    assert stage["attributes"] == stage["possible_attributes"] == direct.info["candidate_attributes"]
    assert grown.info["objective"] == pytest.approx(direct.info["objective"], rel=1e-9)
    theirs = {(f.attribute, f.previous, f.label): f.weight for f in features(direct)}
    for f in features(grown):
        assert f.weight == pytest.approx(theirs[f.attribute, f.previous, f.label], abs=1e-4)


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "hinge", "solver": Online(3, PassiveAggressive(0.1)), "penalty": L2(0.0)},
        {"loss": "perceptron", "solver": "sgd", "penalty": L1(0.01)},
        {"loss": "hinge", "solver": "smoothing", "penalty": ElasticNet(0.5, 1e-2), "tol": 0.1},
        {"penalty": GroupLasso(0.5, l2=1e-2), "tol": 1e-3},
        {"penalty": ElasticNet(0.5, 1e-3), "debias": 0.5, "penalize_bias": False},
        {"penalty": ElasticNet(0.5, 1e-3), "prune": 0.5},
    ],
    ids=["mira", "perceptron", "smoothing", "groups", "debias", "prune"],
)
def test_with_other_losses_penalties_and_solvers(data: Any, settings: Any) -> None:
    growth = Growth([Stage(BIGRAMS, after=2), Stage(TRIGRAMS, after=3)])
    model = SequenceTraining(growth=growth, max_iter=20, **settings).fit(space(), *data)
    X, y = data
    assert np.mean(model.predict_columns(X).ids == y.ids) > 0.8
    assert any(name.startswith("U4") for name in attributes(model))
    assert len(model.info["growth"]["stages"]) == 3


def test_epochs_of_an_online_learner_are_its_iterations(data: Any) -> None:
    growth = Growth([Stage(BIGRAMS, after=2), Stage(TRIGRAMS, after=3)])
    model = SequenceTraining(loss="perceptron", solver="sgd", penalty=L2(0.0), growth=growth, max_iter=4).fit(
        space(), *data
    )
    assert [stage["until"] for stage in model.info["growth"]["stages"]] == [1, 4, 8]


def test_warm_start_is_that_of_the_first_stage(data: Any) -> None:
    training = SequenceTraining(penalty=L1(1.0), growth=GROWTH)
    begun: list[Event] = []
    first = SequenceTraining(penalty=L1(1.0)).fit(space(), *data)
    replace(training, callback=begun.append).fit(space(), *data, start=first)
    assert begun[0].objective == pytest.approx(first.info["objective"], rel=1e-12)


def test_threads_change_nothing(data: Any) -> None:
    training = SequenceTraining(penalty=L1(1.0), growth=GROWTH)
    one, two = (dump_model(replace(training, n_jobs=n).fit(space(), *data)) for n in (1, 2))
    assert one == two


def test_templates_that_are_there_already_are_not_taken_twice(data: Any) -> None:
    training = SequenceTraining(penalty=L1(1.0))
    repeated = replace(training, growth=Growth([Stage(WORDS + BIGRAMS, after=6)])).fit(space(), *data)
    plain = replace(training, growth=Growth([Stage(BIGRAMS, after=6)])).fit(space(), *data)
    assert dump_model(repeated) == dump_model(plain)


def test_a_model_remembers_how_it_grew(data: Any) -> None:
    model = SequenceTraining(penalty=L1(1.0), growth=GROWTH).fit(space(), *data)
    assert [stage["templates"] for stage in model.info["growth"]["stages"]] == [5, 7, 8]
    assert model.info["growth"]["parents"] == "all"
    again = parse_model(dump_model(model))
    assert again.info["growth"] == model.info["growth"]
    assert again.space.templates == WORDS + BIGRAMS + TRIGRAMS
    assert SequenceTraining().fit(space(), *data).info["growth"] is None


# --- How it ends --------------------------------------------------------------------------------------------


def test_development_data_are_the_last_stages(data: Any) -> None:
    events: list[Event] = []
    training = SequenceTraining(penalty=L1(0.5), growth=GROWTH, callback=events.append, patience=2)
    model = training.fit(space(), *data, dev=make_data(1, 20))
    ends = [stage["until"] for stage in model.info["growth"]["stages"]]
    scored = [event.iteration for event in events if event.dev is not None]
    assert scored
    assert min(scored) == ends[1] + 1


def interrupt_at(iteration: int) -> Any:
    def interrupt(event: Event) -> None:
        if event.iteration == iteration:
            os.kill(os.getpid(), signal.SIGINT)

    return interrupt


@pytest.mark.parametrize(("iteration", "stages"), [(3, 1), (9, 2), (18, 3)])
def test_ctrl_c_keeps_the_best_so_far(data: Any, iteration: int, stages: int) -> None:
    training = SequenceTraining(
        penalty=L1(0.5), growth=GROWTH, callback=interrupt_at(iteration), prune=0.1, debias=0.1
    )
    model, result = trained(training, data)
    assert result.status is Status.INTERRUPTED
    assert "interrupted" in model.info["status"]
    assert len(model.info["growth"]["stages"]) == stages
    assert len(model.weights)
    assert model.info["history"][-1]["iteration"] == iteration
    assert len(model.space.templates) == [5, 7, 8][stages - 1]


def test_ctrl_c_between_stages_keeps_the_model_of_the_last(
    data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter = Growing.enter

    def interrupted(self: Growing, stage: int, *given: Any) -> Any:
        if stage == wanted:
            raise KeyboardInterrupt
        return enter(self, stage, *given)

    monkeypatch.setattr(Growing, "enter", interrupted)
    training = SequenceTraining(penalty=L1(0.5), growth=GROWTH)
    wanted = 1
    model, result = trained(training, data)
    assert result.status is Status.INTERRUPTED
    assert "interrupted" in model.info["status"]
    assert len(model.info["growth"]["stages"]) == 1
    assert len(model.weights) == model.info["growth"]["stages"][0]["features"] > 0
    wanted = 0
    with pytest.raises(KeyboardInterrupt):
        training.fit(space(), *data)


def test_the_time_limit_counts_all_stages(data: Any) -> None:
    training = SequenceTraining(penalty=L1(0.5), growth=GROWTH, time_limit=1e-9, prune=0.5)
    model, result = trained(training, data)
    assert result.status is Status.TIME
    assert len(model.info["growth"]["stages"]) == 1


def test_a_run_that_was_stopped_goes_on_in_the_stage_where_it_was(data: Any, tmp_path: Path) -> None:
    training = SequenceTraining(penalty=L1(0.5), growth=GROWTH, checkpoint=tmp_path / "ckpt", tol=1e-6)
    whole = replace(training, checkpoint=None).fit(space(), *data)
    replace(training, callback=interrupt_at(3)).fit(space(), *data)
    replace(training, callback=interrupt_at(20), resume=True).fit(space(), *data)
    events: list[Event] = []
    model = replace(training, callback=events.append, resume=True).fit(space(), *data)
    assert events[0].iteration == 21  # what was done is not done again
    assert model.info["objective"] == pytest.approx(whole.info["objective"], rel=1e-6)
    assert "converged" in model.info["status"]


def test_epochs_of_the_last_stage_resume_to_the_same_bits(data: Any, tmp_path: Path) -> None:
    solver = Online(6, PassiveAggressive(0.1))
    growth = Growth([Stage(BIGRAMS, after=4), Stage(TRIGRAMS, after=4)])
    training = SequenceTraining(loss="hinge", penalty=L2(0.0), solver=solver, growth=growth)
    whole = training.fit(space(), *data)
    safe = replace(training, checkpoint=tmp_path / "ckpt")
    last = max(event["iteration"] for event in whole.info["history"])
    replace(safe, callback=interrupt_at(last - 2)).fit(space(), *data)
    events: list[Event] = []
    resumed = replace(safe, callback=events.append, resume=True).fit(space(), *data)
    assert [event.iteration for event in events[-2:]] == [last - 1, last]
    assert dump_model(resumed) == dump_model(whole)


# --- Asking for it ------------------------------------------------------------------------------------------


def test_in_the_estimator(data: Any, tmp_path: Path) -> None:
    from sklearn.base import clone

    (tmp_path / "bigrams.tpl").write_text(BIGRAMS.dumps())
    growth = Growth(
        [Stage(tmp_path / "bigrams.tpl", after=4), Stage(str(tmp_path / "bigrams.tpl"), after=None)]
    )
    X, y = data
    with pytest.raises(ParsimonError, match="stage 3 has no template that is not in an earlier one"):
        SequenceLabeler(WORDS, growth=growth, l1=1.0).fit(X, list(y))
    labeler = SequenceLabeler(WORDS, growth=Growth([*growth.stages[:1], Stage("words")]), l1=1.0)
    assert clone(labeler).growth == labeler.growth
    labeler.fit(X, list(y))
    assert labeler.score(X, list(y)) > 0.8
    assert len(labeler.model_.space.templates) == 7 + len(get_preset("words")) - 1  # both have B


@pytest.mark.parametrize("after", [0, -1, 2.5])
def test_a_stage_joins_in_after_some_iterations(after: Any) -> None:
    with pytest.raises(
        ParsimonError, match=f"after 1 or more iterations of the stage before, not after {after}"
    ):
        Stage(BIGRAMS, after=after)


def test_what_cannot_work_is_refused(data: Any) -> None:
    with pytest.raises(ParsimonError, match="at least one stage"):
        Growth([])
    with pytest.raises(ParsimonError, match="parents must be 'all' or 'any', not 'some'"):
        Growth([Stage(BIGRAMS)], parents="some")  # type: ignore[arg-type]
    with pytest.raises(ParsimonError, match="selected or grown, but not both"):
        SequenceTraining(selection=InformationGain(1), growth=GROWTH).fit(space(), *data)
    X = [[{"w": "a"}, {"w": "b"}]]
    with pytest.raises(ParsimonError, match="can only grow where there are templates"):
        SequenceTraining(growth=GROWTH).fit(ItemFeatures(), X, Labels.from_sequences([["A", "B"]]))
    with pytest.raises(ParsimonError, match="no preset with that name"):
        SequenceTraining(growth=Growth([Stage("nowhere.tpl")])).fit(space(), *data)
    with pytest.raises(
        ParsimonError, match="'U2:%x\\[2,0\\]' of stage 2 would share its attributes with 'U2:%x"
    ):
        Growth([Stage(TemplateSet.parse("U2:%x[2,0]"))]).schedule(WORDS)
    with pytest.raises(ParsimonError, match="boundary"):
        Growth([Stage(TemplateSet(BIGRAMS.templates, "crf++"))]).schedule(WORDS)
    with pytest.raises(ParsimonError, match="the templates refer to column 3"):
        SequenceTraining(growth=Growth([Stage(ngrams(3, n=2), after=1)])).fit(space(), *data)


def test_there_is_no_path_through_problems_that_grow(data: Any) -> None:
    training = SequenceTraining(penalty=L1(1.0), growth=GROWTH)
    with pytest.raises(ParsimonError, match="is not one problem"):
        list(training.path(space(), *data, [1.0]))
    with pytest.raises(ParsimonError, match="is not one problem"):
        training.max_strength(space(), *data)
