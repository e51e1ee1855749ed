"""The experiments on max-margin Markov networks: splits, constants, fits and tables are what the page says they are."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsimon.solvers import Event, Result, Status, Weights

ROOT = Path(__file__).parents[2]
FEW = {"name": "synthetic", "seed": 0, "scale": 1.0, "sequences": 30, "parts": 3}


@pytest.fixture
def work(load: Callable[[str], Any]) -> Any:
    return load("zhu2009_jobs")


@pytest.fixture
def tables(load: Callable[[str], Any]) -> Any:
    return load("zhu2009")


@pytest.fixture
def synthetic(load: Callable[[str], Any]) -> Any:
    return load("zhu2009_synthetic")


# --- What is learnt from, and what it is tested on ----------------------------------------------------------


def test_one_part_is_learnt_from(work: Any) -> None:
    splits = [work.split_of(FEW, fold) for fold in range(3)]
    _, X, _ = work.made_set(0, 1.0, 30)
    whole = X.matrix.toarray()
    assert [len(s.train[0]) for s in splits] == [10, 10, 10]
    trained = np.concatenate([s.train[0].matrix.toarray() for s in splits])
    np.testing.assert_array_equal(trained, whole)
    both = np.concatenate([splits[1].train[0].matrix.toarray(), splits[1].test[0].matrix.toarray()])
    assert {row.tobytes() for row in both} == {row.tobytes() for row in whole}


@pytest.mark.data
def test_words_to_choose_by_are_in_no_draw(work: Any, require_data: Callable[[str], None]) -> None:
    require_data("ocr_letters")
    given = work.split_of({"name": "ocr development", "words": 20, "nine": False, "most": 50}, 0)
    fold = work.letters().select_folds(0)
    assert len(given.train[0]) == 20
    assert len(given.test[0]) == len(fold) - 50
    drawn = work.letters().draw(50).select_folds(0)
    together = sorted(map(tuple, [*given.test[1], *drawn.y]))
    assert together == sorted(map(tuple, fold.y))


@pytest.mark.data
def test_one_fold_or_nine(work: Any, require_data: Callable[[str], None]) -> None:
    require_data("ocr_letters")
    one, nine = (work.split_of({"name": "ocr", "words": 5, "nine": nine}, 3) for nine in (False, True))
    assert [len(one.train[0]), len(one.test[0])] == [5, 45]
    assert list(nine.train[1]) == list(one.test[1])
    assert list(nine.test[1]) == list(one.train[1])


# --- Fits ---------------------------------------------------------------------------------------------------


def test_learners_of_the_l1_m3n_agree(work: Any) -> None:
    rho = 5.0
    found = {}
    for method in ("cutting plane", "EM"):
        told = work.fit(data=FEW, method=method, grid=[[rho]], folds=[0], threads=1, tol=1e-4)
        found[method] = told["fits"][0][0]
        assert found[method]["objective"] == pytest.approx(
            found[method]["loss"] + rho * found[method]["norm"], rel=1e-9
        )
    assert found["EM"]["objective"] == pytest.approx(found["cutting plane"]["objective"], rel=0.01)
    assert found["cutting plane"]["gap"] <= 1e-4 * found["cutting plane"]["objective"]
    assert found["cutting plane"]["support"] > 0
    norm = found["cutting plane"]["norm"]
    squared = work.fit(data=FEW, method="EM, Σ τ = K", grid=[[rho / norm]], folds=[0], threads=1, tol=1e-4)
    own = squared["fits"][0][0]
    assert own["loss"] + rho * own["norm"] == pytest.approx(found["cutting plane"]["objective"], rel=0.02)


def test_weights_are_averages_over_folds(work: Any) -> None:
    grid = [[3.0], [1e6]]
    apart = [work.fit(data=FEW, method="L1-CRF", grid=grid, folds=[k], threads=1) for k in (0, 1)]
    both = work.fit(data=FEW, method="L1-CRF", grid=grid, folds=[0, 1], threads=1)
    mean = np.mean([one["weights"][0] for one in apart], axis=0)
    np.testing.assert_allclose(both["weights"][0], mean, rtol=1e-4, atol=1e-12)
    assert 0 < np.count_nonzero(both["weights"][0]) < 204
    assert np.count_nonzero(both["weights"][1]) == 0, "a strength that leaves nothing"
    assert [len(of) for of in both["fits"]] == [2, 2]


@pytest.mark.parametrize("seed", range(4))
def test_the_generating_crf(work: Any, seed: int) -> None:
    told = work.truth(seed=seed, scale=3.0, sequences=40, threads=1)
    made, _, _ = work.made_set(seed, 3.0, 40)
    assert told["error"] < 0.1, "hardly anything is left to chance, so labels must be in the right order"
    expected = np.concatenate([made.state.ravel(), made.transition.ravel()])
    np.testing.assert_allclose(told["weights"], expected, rtol=1e-5)
    assert sum(told["relevant"][:-4]) == 60


def test_what_was_cut_short_is_not_a_result(work: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        work.finished(Result(Weights.zeros(3), Status.INTERRUPTED, 1.0))


def test_rounding_keeps_what_is_small(work: Any) -> None:
    assert work.rounded([0.0, 1.23456789e-20]) == [0.0, 1.23457e-20]


def test_when_a_gap_was_reached(work: Any) -> None:
    gaps = (None, 5.0, 0.9, 0.01)
    history = [Event(k, float(k), 10.0, 0, 2 * k, gap=gap) for k, gap in enumerate(gaps)]
    assert work.first(history, lambda e: e.gap, 0.1) == [2.0, 4]
    assert work.first(history, lambda e: e.gap, 1e-4) is None


@pytest.mark.data
def test_a_race(work: Any, require_data: Callable[[str], None]) -> None:
    require_data("ocr_letters")
    data = {"name": "ocr", "words": 4, "nine": False}
    told = work.race(data=data, strength=10.0, gaps=[0.1, 0.01], limit=2.0, threads=1)
    assert told["words"] == 4
    one = told["solvers"]["frank-wolfe"]
    assert one["objective"] - one["gap"] <= told["floor"] + 1e-9 <= one["objective"] + 2e-9
    assert one["certified"][0][0] <= one["certified"][1][0]
    assert told["solvers"]["subgradient"]["certified"] == [None, None], "it has no gap of its own"


# --- Tables and figures -------------------------------------------------------------------------------------


class Here:
    """Jobs that are run in this process, once each."""

    def __init__(self, jobs: dict[str, Any]) -> None:
        self.jobs, self.known = jobs, {}

    def outcome(self, job: str, **settings: Any) -> Any:
        key = json.dumps([job, settings])
        if key not in self.known:
            self.known[key] = json.loads(json.dumps(self.jobs[job](threads=1, **settings)))
        return self.known[key]


class Nothing:
    def outcome(self, job: str, **settings: Any) -> None: ...


def little(tables: Any) -> Any:
    return tables.Plan(
        sequences=24,
        sets=2,
        parts=(2,),
        parts_of_first=2,
        tuned_on=1,
        words=(3, 4),
        folds=2,
        folds_of_planes=1,
        every=4,
        limit=2.0,
        race=0.3,
        race_words=3,
    )


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def test_synthetic_tables(tables: Any) -> None:
    jobs = Here(tables.JOBS)
    asked = tables.Asked(jobs, 1, little(tables), False)
    text = tables.PARTS["figure2"](asked)
    rows = {cells(line)[0]: cells(line) for line in text.splitlines() if line.startswith("|")}
    assert {"CRF", "L2-CRF", "L1-CRF", "M3N", "LapM3N", "L1-M3N"} <= rows.keys()
    assert "±" in rows["the generating CRF (published: about 50)"][1]
    before = len(jobs.known)
    weights = {cells(line)[0]: cells(line) for line in tables.PARTS["figure3"](asked).splitlines()}
    assert len(jobs.known) == before, "figure 3 is made of fits that figure 2 has run"
    assert weights["the generating CRF"][1:3] == ["60", "0"]
    assert weights["M3N"][1:3] == ["200", "140"]

    counts = tables.PARTS["table1"](asked).splitlines()
    before = len(jobs.known)
    assert tables.PARTS["figure5"](asked).startswith("|")
    assert len(jobs.known) == before, "figure 5 is made of the fits of table 1"
    names = [cells(line)[0] for line in counts]
    assert [name for name in names if name.endswith("constant")] == [
        "cutting plane: constant",
        "EM: constant",
        "EM, Σ τ = K: constant",
        "projected subgradient: constant",
    ]
    irrelevant = [cells(line) for line in counts if cells(line)[0] == "– irrelevant"]
    total = [cells(line) for line in counts if cells(line)[0] == "– total"]
    assert all(int(a) <= int(b) for a, b in zip(irrelevant[0][1:], total[0][1:], strict=True))


@pytest.mark.data
def test_tables_of_words(tables: Any, work: Any, require_data: Callable[[str], None]) -> None:
    require_data("ocr_letters")
    asked = tables.Asked(Here(tables.JOBS), 1, little(tables), False)
    text = tables.PARTS["figure4"](asked)
    assert "OCR3" in text
    assert "OCR4" in text
    planes = tables.PARTS["ocr_cutting_plane"](asked)
    assert "fold 1" in planes
    assert "20 h" in planes
    raced = tables.PARTS["m3n"](asked)
    assert all(name in raced for name in work.RACERS)


@pytest.mark.parametrize(
    ("part", "begins"),
    [
        ("figure2", "|"),
        ("figure3", ""),
        ("table1", ""),
        ("figure5", "|"),
        ("figure4", "|"),
        ("figure6", "|"),
        ("ocr_cutting_plane", "ρ"),
        ("m3n", ""),
    ],
)
def test_tables_of_nothing(tables: Any, part: str, begins: str) -> None:
    asked = tables.Asked(Nothing(), 2, tables.Plan(), False)
    assert tables.PARTS[part](asked)[:1] == begins


def test_the_page_has_a_place_for_every_part(tables: Any) -> None:
    page = (ROOT / "docs" / "results" / tables.PAGE).read_text(encoding="utf-8")
    for part in tables.PARTS:
        assert f"<!-- begin:{part} -->" in page
        assert f"<!-- end:{part} -->" in page


def test_of_equals_the_strongest_is_chosen(load: Callable[[str], Any]) -> None:
    chosen_by = load("zhu2009_fits").chosen_by
    grid = [(3.0,), (2.0,), (1.0,)]
    told = {"fits": [[{"error": 0.3}], [{"error": 0.2}], [{"error": 0.2}]]}
    assert chosen_by(told, grid) == (2.0,)
    assert chosen_by(None, grid) is None


def test_grids_begin_with_the_strongest(synthetic: Any, load: Callable[[str], Any]) -> None:
    for grid in (*synthetic.GRIDS.values(), *load("zhu2009_words").OCR_GRIDS.values()):
        assert grid == sorted(grid, reverse=True)


def test_constants_are_chosen_on_another_set(tables: Any, synthetic: Any) -> None:
    seeds: list[tuple[int, bool]] = []

    class Recorder:
        def outcome(self, job: str, **settings: Any) -> Any:
            seeds.append((settings["data"]["seed"], "limit" in settings))
            return {"fits": [[{"error": 0.1, "seconds": 0.0}] for _ in settings["grid"]], "weights": [None]}

    asked = tables.Asked(Recorder(), 1, little(tables), False)
    synthetic.fits_of_sets(asked, synthetic.chosen_constants(asked, [2]), 2, [2])
    assert {seed for seed, chosen in seeds if chosen} == {synthetic.ANOTHER}
    assert {seed for seed, chosen in seeds if not chosen} == {0, 1}


def test_sets_are_compared_one_by_one(synthetic: Any) -> None:
    errors = {(method, 5): {0: 0.2, 1: 0.4} for method in synthetic.GRIDS}
    errors["cutting plane", 5] = {0: 0.1, 1: 0.5, 2: 0.0}
    text = synthetic.wins_table(["", "200 sequences"], errors, [5])
    rows = {cells(line)[0]: cells(line)[1] for line in text.splitlines()}
    assert rows["L1-M3N against M3N"] == "1", "not the set that only one of them has"
    assert rows["LapM3N against M3N"] == "0"


# --- The program --------------------------------------------------------------------------------------------


def test_a_job_in_a_process_of_its_own(load: Callable[[str], Any], tmp_path: Path) -> None:
    jobs = load("jobs").Jobs(ROOT / "experiments" / "zhu2009.py", tmp_path / "jobs.jsonl", 1)
    told = jobs.outcome("fit", data=FEW, method="M3N", grid=[[100.0]], folds=[2])
    assert told is not None
    assert told["fits"][0][0]["active"] == 204
    assert 0 < told["fits"][0][0]["error"] < 0.5


@pytest.mark.parametrize("arguments", [["figure9"], ["figure2", "--small", "--write"]])
def test_mistakes_are_told(
    tables: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["zhu2009.py", *arguments])
    assert tables.main() == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
