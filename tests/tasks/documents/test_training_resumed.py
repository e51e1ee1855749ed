"""Training of document classifiers that is killed, interrupted or limited, and goes on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.penalties import OverlappingGroupLasso
from parsimon.solvers import Status
from parsimon.tasks.documents.training import DocumentTraining
from parsimon.tasks.model_file import dump_model

TEXTS = [
    "A fine film. We liked it. There was a dog.",
    "Dull. We left early. There was a cat.",
    "Fine work! We saw it again.",
    "So dull, so long. A dog slept.",
    "It was great. We liked the dog.",
    "A poor, dull story. We left.",
] * 4
LABELS = ["good", "bad"] * 12
DEV = (["A great dog.", "We left the dull film.", "Fine."], ["good", "bad", "good"])


class Killed(Exception):
    pass


def killed(training: DocumentTraining, after: int, **more: Any) -> None:
    """A run that is killed after so many rounds."""

    def kill(event: Any) -> None:
        if event.iteration == after:
            raise Killed

    with pytest.raises(Killed):
        replace(training, callback=kill, checkpoint_every=1e-9).fit(TEXTS, LABELS, **more)


@pytest.mark.parametrize("dev", [None, DEV], ids=["plain", "dev"])
@pytest.mark.parametrize("after", [1, 6])
def test_the_papers_way_starts_again_and_ends_at_the_same_bits(dev: Any, after: int, tmp_path: Path) -> None:
    training = DocumentTraining(stopping="paper", rho=0.5, l1=0.01, max_iter=12)
    whole = training.fit(TEXTS, LABELS, dev=dev)
    safe = replace(training, checkpoint=tmp_path / "run")
    killed(safe, after, dev=dev)
    assert dump_model(replace(safe, resume=True).fit(TEXTS, LABELS, dev=dev)) == dump_model(whole)


@pytest.mark.parametrize(
    "settings", [{"penalty": "lasso", "l1": 0.3}, {"sentence": 0.1, "l1": 0.05}], ids=str
)
def test_resuming_ends_at_the_same_optimum(settings: dict[str, Any], tmp_path: Path) -> None:
    training = DocumentTraining(**settings, tol=1e-7, checkpoint=tmp_path / "run")
    whole = training.fit(TEXTS, LABELS)
    killed(training, 3)
    seen: list[Any] = []
    resumed = replace(training, resume=True, callback=seen.append).fit(TEXTS, LABELS)
    assert seen[0].iteration == 3  # the checkpoint is of the round before
    assert resumed.info["objective"] == pytest.approx(whole.info["objective"], rel=1e-6)
    assert resumed.words == whole.words
    np.testing.assert_allclose(resumed.weights, whole.weights, atol=1e-2)


def test_what_was_done_is_not_done_again(tmp_path: Path) -> None:
    training = DocumentTraining(penalty="sentence", tune=False, checkpoint=tmp_path / "run")
    whole = training.fit(TEXTS, LABELS)
    seen: list[Any] = []
    again = replace(training, resume=True, callback=seen.append).fit(TEXTS, LABELS)
    assert not seen
    assert dump_model(again) == dump_model(whole)


def test_a_checkpoint_of_other_documents_or_settings_is_refused(tmp_path: Path) -> None:
    training = DocumentTraining(penalty="sentence", tune=False, checkpoint=tmp_path / "run")
    training.fit(TEXTS, LABELS)
    again = replace(training, resume=True)
    for other, texts, labels in (
        (again, TEXTS[:-1], LABELS[:-1]),
        (again, TEXTS, LABELS[::-1]),
        (replace(again, sentence=0.5), TEXTS, LABELS),
        (replace(again, groups="document"), TEXTS, LABELS),
        (replace(again, min_count=2), TEXTS, LABELS),
    ):
        with pytest.raises(ParsimonError, match="belongs to other data, templates or settings"):
            other.fit(texts, labels)
    assert replace(again, patience=3, tol=1e-3).fit(TEXTS, LABELS).info["objective"] > 0


def test_ctrl_c_gives_the_best_so_far() -> None:
    def interrupt(event: Any) -> None:
        if event.iteration == 2:
            os.kill(os.getpid(), signal.SIGINT)

    for settings in ({"penalty": "lasso", "l1": 0.1}, {"sentence": 0.01}):
        training = DocumentTraining(**settings, tol=1e-12, callback=interrupt)
        model = training.fit(TEXTS, LABELS)
        assert model.info["status"] == Status.INTERRUPTED.value
        assert model.info["iterations"] in (3, 4)
        assert model.words


def test_a_limit_of_time() -> None:
    model = DocumentTraining(sentence=0.01, time_limit=1e-9, tol=1e-12).fit(TEXTS, LABELS)
    assert model.info["status"] == Status.TIME.value
    assert model.info["iterations"] == 1


IN_A_FRESH_PROCESS = """
from parsimon.errors import ParsimonError
from parsimon.memory import memory_in_use
from parsimon.tasks.documents.training import DocumentTraining

few = ["A fine film.", "A dull film."] * 4
many = [" ".join(f"w{(i * 7919 + k) % 50_000}" for k in range(100)) for i in range(5_000)]
assert DocumentTraining(memory=memory_in_use() + (1 << 30)).fit(few, ["good", "bad"] * 4).words
try:
    DocumentTraining(memory=memory_in_use() + (4 << 20)).fit(many, ["good", "bad"] * 2_500)
except ParsimonError as error:
    print(error)
"""


def test_a_choice_of_strengths_that_is_killed_goes_on(tmp_path: Path) -> None:
    whole = DocumentTraining(folds=2).fit(TEXTS, LABELS)
    seen: list[Any] = []

    def kill(event: Any) -> None:
        seen.append(event)
        if len(seen) == 60:
            raise Killed

    safe = DocumentTraining(folds=2, checkpoint=tmp_path / "run", checkpoint_every=1e-9)
    with pytest.raises(Killed):
        replace(safe, callback=kill).fit(TEXTS, LABELS)
    left: list[Any] = []
    again = replace(safe, resume=True, callback=left.append).fit(TEXTS, LABELS)
    assert again.info["tuning"] == whole.info["tuning"]
    assert again.words == whole.words
    every: list[Any] = []
    replace(safe, checkpoint=None, callback=every.append).fit(TEXTS, LABELS)
    assert len(left) < len(every) - 40


def test_a_limit_of_memory() -> None:
    """In a process of its own: one that has run other tests has freed memory, which does not count again."""
    done = subprocess.run([sys.executable, "-c", IN_A_FRESH_PROCESS], capture_output=True, text=True)
    assert re.match(r"training needs more than .* of memory", done.stdout), done


def test_other_solvers_and_threads() -> None:
    groups = [["fine", "great"], ["dull", "poor", "great"], ["dog", "cat"]]
    settings: Any = {"penalty": OverlappingGroupLasso(0.3, l2=0.5), "groups": groups, "tol": 1e-8}
    admm = DocumentTraining(**settings).fit(TEXTS, LABELS)
    fista = DocumentTraining(**settings, solver="fista", max_iter=5000).fit(TEXTS, LABELS)
    assert fista.info["solver"] == "fista"
    assert fista.info["objective"] == pytest.approx(admm.info["objective"], rel=1e-6)
    assert admm.info["groups"] == "word list"
    threads = DocumentTraining(**settings, n_jobs=3).fit(TEXTS, LABELS)
    assert dump_model(threads) == dump_model(admm)


def test_it_starts_from_a_model() -> None:
    training = DocumentTraining(penalty="lasso", l1=0.3, tol=1e-6)
    first = training.fit(TEXTS, LABELS)
    again = training.fit(TEXTS, LABELS, start=first)
    assert again.info["iterations"] < first.info["iterations"]
    other = training.fit(TEXTS, ["x", "y"] * 12, start=first)  # of other labels
    assert other.info["iterations"] == first.info["iterations"]
