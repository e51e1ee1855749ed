"""The experiments on very large CRFs: jobs are remembered, data and measurements are what the page says they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsimon.features.columns import Labels
from parsimon.features.template_features import TemplateFeatures
from parsimon.selection.growth import parents_of
from parsimon.tasks.sequences.training import SequenceTraining

ROOT = Path(__file__).parents[2]


@pytest.fixture
def work(load: Callable[[str], Any]) -> Any:
    return load("lavergne2010_jobs")


# --- Jobs ---------------------------------------------------------------------------------------------------

PROGRAM = """
import json, pathlib, sys
_, name, settings = sys.argv[1:]
with open(pathlib.Path(__file__).with_name("ran"), "a") as ran:
    ran.write(name)
print("something else")
print(json.dumps({"doubled": 2 * json.loads(settings)["n"]}))
sys.exit(name == "fails")
"""


@pytest.fixture
def jobs(load: Callable[[str], Any], tmp_path: Path) -> Callable[[], Any]:
    (tmp_path / "program.py").write_text(PROGRAM)
    return lambda: load("jobs").Jobs(tmp_path / "program.py", tmp_path / "kept" / "jobs.jsonl", 1)


def test_a_job_runs_once(jobs: Callable[[], Any], tmp_path: Path) -> None:
    first = jobs()
    assert first.outcome("a", n=2) == first.outcome("a", n=2) == {"doubled": 4}
    assert first.outcome("a", n=3) == {"doubled": 6}
    assert jobs().outcome("a", n=2) == {"doubled": 4}, "another run goes on where the first one stopped"
    assert (tmp_path / "ran").read_text() == "aa"


def test_what_was_not_run_is_only_looked_up(jobs: Callable[[], Any], tmp_path: Path) -> None:
    assert jobs().outcome("a", run=False, n=2) is None
    assert not (tmp_path / "ran").exists()


def test_a_failed_job_is_not_remembered(jobs: Callable[[], Any], tmp_path: Path) -> None:
    assert jobs().outcome("fails", n=2) is None
    assert jobs().outcome("fails", n=2) is None
    assert (tmp_path / "ran").read_text() == "failsfails"


def test_a_line_that_was_cut_off_is_passed_over(jobs: Callable[[], Any], tmp_path: Path) -> None:
    jobs().outcome("a", n=2)
    kept = tmp_path / "kept" / "jobs.jsonl"
    kept.write_text(kept.read_text() + '{"job": "a", "sett')
    jobs().outcome("a", n=3)
    assert jobs().outcome("a", run=False, n=2) == {"doubled": 4}
    assert jobs().outcome("a", run=False, n=3) == {"doubled": 6}


def test_the_process_of_a_job(load: Callable[[str], Any], capsys: pytest.CaptureFixture[str]) -> None:
    code = load("jobs").run_job({"a": lambda n: {"half": n / 2}}, "a", '{"n": 3}')
    assert code == 0
    assert json.loads(capsys.readouterr().out) == {"half": 1.5}


# --- The page -----------------------------------------------------------------------------------------------


def test_the_page_has_a_place_for_every_part(load: Callable[[str], Any]) -> None:
    tables = load("lavergne2010")
    page = (ROOT / "docs" / "results" / tables.PAGE).read_text(encoding="utf-8")
    for part in tables.PARTS:
        assert f"<!-- begin:{part} -->" in page


def test_durations(load: Callable[[str], Any]) -> None:
    tables = load("lavergne2010")
    assert [tables.duration(s) for s in (None, 5.2, 600, 3720)] == ["–", "5 s", "10 min", "1 h 02 min"]


def test_only_what_was_asked_for_is_run(load: Callable[[str], Any]) -> None:
    tables = load("lavergne2010")
    asked: list[tuple[str, str, int, bool]] = []

    class Recorder:
        def outcome(self, job: str, *, run: bool, **settings: Any) -> None:
            asked.append((settings["templates"], settings["solver"], settings["fold"], run))

    every = tables.Asked(Recorder(), 2, None, frozenset(), frozenset(), False)
    assert every.fits("nettalk", "5-grm+", solver="bcd") == []
    some = tables.Asked(Recorder(), 1, None, frozenset({"5-grm"}), frozenset({"bcd"}), False)
    for templates, solver in (("5-grm", "bcd"), ("5-grm+", "bcd"), ("5-grm", "owlqn")):
        some.fits("nettalk", templates, solver=solver)
    assert asked == [
        ("5-grm+", "bcd", 0, True),
        ("5-grm+", "bcd", 1, True),
        ("5-grm", "bcd", 0, True),
        ("5-grm+", "bcd", 0, False),
        ("5-grm", "owlqn", 0, False),
    ]


@pytest.mark.parametrize(
    "part", ["table1", "table2", "table3", "table4", "table5", "growth", "labels", "agreement"]
)
def test_tables_of_nothing(load: Callable[[str], Any], part: str) -> None:
    tables = load("lavergne2010")

    class Nothing:
        def outcome(self, job: str, **settings: Any) -> None: ...

    text = tables.PARTS[part](tables.Asked(Nothing(), 1, None, frozenset(), frozenset(), False))
    assert text.startswith("|")


# --- What is trained ----------------------------------------------------------------------------------------


def test_feature_sets_by_the_papers_names(work: Any) -> None:
    assert len(work.templates_of("5-grm+")) == 9
    assert work.templates_of("3-grm-").names == ("*:letter[-1..1]",)
    without = work.templates_of("3-grm", "node")
    assert without.names == ("U:bias", "U:letter[0]", "U:letter[-1..1]", "B")


def test_stages_go_by_the_one_before(work: Any) -> None:
    first, second, third, fourth = ([frozenset(t.tests) for t in stage] for stage in work.stages())
    (words,), (window,) = third, fourth
    pairs = {tests for tests in second if len(tests) == 2}
    assert len(pairs) == 2
    assert set(parents_of(words, [*first, *second])) == pairs
    assert parents_of(window, [*first, *second, *third]) == [words]


def test_error_goes_by_names(work: Any) -> None:
    gold = Labels.from_sequences([["a", "b"], ["c", "a"]])
    predicted = Labels.from_sequences([["b", "b"], ["d", "a"]])
    assert work.error(gold, predicted) == 0.5


# --- On the dictionary itself -------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("n", [11, 22, 51, 114, 228])
def test_so_many_labels(work: Any, require_data: Callable[[str], None], n: int) -> None:
    require_data("nettalk")
    X, y = work.with_labels(n)
    assert len(y.names) == n
    assert len(y.ids) == X.n_tokens
    whole = work.load_nettalk(prosody=n > 51, marks="phoneme")[1]
    pairs = set(zip(y.ids.tolist(), whole.ids.tolist(), strict=True))
    if n < 51:
        assert len(pairs) == 51, "a phoneme is in one class only"
        assert np.bincount(y.ids).min() > 100, "every class has frequent phonemes"
    elif n == 228:
        assert {joint for _, joint in pairs} == set(range(114))
        assert all(y.names[new][:-1] == whole.names[old] for new, old in pairs)


@pytest.fixture
def small(work: Any, require_data: Callable[[str], None]) -> Any:
    require_data("nettalk")
    given = work.data_of("nettalk", 0, 60)
    training = SequenceTraining(max_iter=15)
    task = training.prepare(TemplateFeatures(work.templates_of("3-grm")), *given.train)
    return given, task, training.solve(task, work.Weights.zeros(task.problem.n_features)).weights.nonzero()


@pytest.mark.data
def test_dense_is_the_same_function(work: Any, small: Any) -> None:
    _, task, weights = small
    chosen = task.problem.restrict(weights.features)
    dense = work.with_matrices(chosen)
    assert all(batch.design.layout.n_singles == 0 for batch in dense.batches)
    loss, gradient = chosen.loss_and_gradient(weights.values)
    other, other_gradient = dense.loss_and_gradient(weights.values)
    assert other == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(other_gradient, gradient, atol=1e-9)


@pytest.mark.data
def test_zeros_are_counted_step_by_step(work: Any, small: Any) -> None:
    given, task, weights = small
    X = given.train[0]
    Y, cut = len(task.labels), task.index.node.n_features
    observed = task.space.observe(X, 1).pair
    lam = np.zeros((task.space.n_pair, Y * Y))
    lam.reshape(-1)[weights.features[weights.features >= cut] - cut] = weights.values[weights.features >= cut]
    first = np.concatenate([[0], np.cumsum(X.lengths)[:-1]])
    zeros = [
        np.mean(lam[observed.index[observed.start[t] : observed.start[t + 1]]].sum(axis=0) == 0)
        for t in np.setdiff1d(np.arange(X.n_tokens), first)
    ]
    dense = work.with_matrices(task.problem.restrict(weights.features))
    assert work.share_of_zeros(dense, weights.values) == pytest.approx(np.mean(zeros))


@pytest.mark.data
def test_fine_tuning_fits_better_with_the_same_features(work: Any, small: Any) -> None:
    _, task, weights = small
    tuned = work.fine_tuned(task, weights, 0.1)
    np.testing.assert_array_equal(tuned.features, weights.features)
    problem = task.problem.restrict(weights.features)
    before, after = (problem.loss_and_gradient(w.values)[0] for w in (weights, tuned))
    assert after < 0.9 * before


@pytest.mark.data
def test_a_fit_from_beginning_to_end(
    load: Callable[[str], Any], require_data: Callable[[str], None], tmp_path: Path
) -> None:
    require_data("nettalk")
    jobs = load("jobs").Jobs(ROOT / "experiments" / "lavergne2010.py", tmp_path / "jobs.jsonl", 1)
    settings = {"data": "prosody", "templates": "1-grm", "fold": 3, "words": 60}
    told = jobs.outcome("fit", **settings)
    assert told is not None
    assert told["candidates"] > told["active"] > 0
    assert 0 < told["phoneme_error"] < told["error"] < 1
    assert told["tuned_error"] < 1
    assert told["peak_mb"] > 20
