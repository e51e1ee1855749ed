"""The experiment on documents: strengths are chosen without the test, and tables are what the page says they are."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

N = 50


@pytest.fixture
def work(load: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The jobs, with documents that were made and few strengths."""
    jobs = load("yogatama2014_jobs")
    monkeypatch.setattr(jobs, "documents_of", lambda name, fifth=4: jobs.Documents(**messages(fifth)))
    small = {"sentence": (0.01, 0.1), "rho": (1.0,), "l1": (0.1, 1.0)}
    monkeypatch.setitem(jobs.METHODS, "sentence", jobs.over_grid(small, stopping="paper"))
    return jobs


def messages(fifth: int) -> dict[str, tuple[list[str], list[str]]]:
    """Two kinds of messages, each with a word of its own that nobody else has."""
    rng = np.random.default_rng(0)

    def message(kind: int, number: int) -> str:
        told = " ".join(rng.choice([f"word{i}" for i in range(12 * kind, 12 * kind + 20)], 6))
        return f"This is {told}.\nAnd number{number} comes last."

    parts: dict[str, tuple[list[str], list[str]]] = {"train": ([], []), "dev": ([], []), "test": ([], [])}
    for number in range(2 * N):
        kind = number % 2
        part = "test" if number >= N else "dev" if number // 2 % 5 == fifth else "train"
        parts[part][0].append(message(kind, number))
        parts[part][1].append("ab"[kind])
    return parts


def test_strengths_are_those_with_the_best_mean_over_fifths(work: Any) -> None:
    told = work.cross_validate(task="made", method="sentence", threads=1)
    curves: dict[Any, list[Any]] = {}
    for fifth in range(5):
        for trial in work.METHODS["sentence"](work.Tuning.of("made", 1, fifth)):
            curves.setdefault(tuple(trial.settings.items()), []).append(work.curve(trial))
    means = {
        (settings, rounds): np.mean([fit[0] for fit in fits])
        for settings, own in curves.items()
        for rounds, fits in enumerate(zip(*own, strict=False), start=1)
    }
    assert told["fits"] == 20
    assert told["dev"] == pytest.approx(max(means.values()))
    assert means[tuple(told["settings"].items()), told["iterations"]] == pytest.approx(told["dev"])


def test_in_the_end_all_messages_are_learnt_from(work: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    fit_once = work.fit_once

    def watched(t: Any, method: str, told: Any) -> Any:
        seen.append((set(t.task.bag.words), t.task.corpus.n_documents))
        return fit_once(t, method, told)

    monkeypatch.setattr(work, "fit_once", watched)
    told = work.cross_validate(task="made", method="lasso", threads=1)
    ((words, n),) = seen
    assert n == N
    assert {f"number{i}" for i in range(N)} <= words
    assert f"number{N}" not in words
    assert told["test"] > 0.6
    assert len(told["right"]) == N


def test_tables_name_what_is_not_known(load: Callable[[str], Any]) -> None:
    tables = load("yogatama2014")
    one = {"test": 0.5, "size": 0.1, "right": "10", "settings": {"l1": 1.0}, "iterations": 3, "dev": 0.75}

    def tuned(task: str, method: str, *job: str, **more: Any) -> Any:
        return None if (task, method) == ("sports", "lasso") else one

    text = tables.cross_validated(SimpleNamespace(tuned=tuned))
    lines = text.splitlines()
    assert [cell.strip() for cell in lines[3].split("|")[1:4]] == ["sports", "–", "50.00 (10)"]
    assert [cell.strip() for cell in lines[6].split("|")[1:4]] == ["mean, newsgroups", "–", "50.00"]
    assert "93.73" in lines[6]
    assert "| science" in text
    assert "l1 1" in text


def test_the_default_is_compared_on_the_same_folds_and_documents(
    work: Any, load: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn", minversion="1.8", reason="which penalty there is is said in another way")
    monkeypatch.setattr(work, "SIX", [("binary", "L2"), ("counts", "L1")])
    told = work.default(task="made", threads=1)
    assert len(told["right"]) == len(told["theirs"]["right"]) == N
    assert told["theirs"]["name"] in ("binary, L2", "counts, L1")
    assert 0.5 < told["theirs"]["score"] <= 1
    assert 0 < told["words"] < told["candidates"]
    assert 0 < len(told["heaviest"]) <= 10
    outcome = SimpleNamespace(outcome=lambda name, task: told if task == "books" else None)
    text = load("yogatama2014").default(SimpleNamespace(jobs=outcome, tasks=("books", "dvd")))
    lines = text.splitlines()
    assert len(lines) == 4  # a head, a line, books, and the mean
    cells = [cell.strip() for cell in lines[2].split("|")[1:-1]]
    assert cells[:2] == ["books", f"{100 * told['right'].count('1') / N:.2f}"]
    wins = told["right"].count("1") - told["theirs"]["right"].count("1")
    assert cells[6].startswith(f"{100 * wins / N:+.2f} ± ")
