"""A run of `parsimon train document`: what is its own in the frame of training."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsimon.cli.documents import read
from parsimon.cli.train_document import OF_SENTENCES, STRENGTHS, TRAINING, DocumentJob
from parsimon.cli.training_checks import check_training_files
from parsimon.cli.training_run import (
    Callbacks,
    TrainingRun,
    file_fact,
    file_record,
    pace_facts,
    pace_record,
    read_data,
)
from parsimon.errors import ParsimonError
from parsimon.report.progress import Progress
from parsimon.report.tables import facts, objective_text, of
from parsimon.report.time_left import TimeLeft
from parsimon.tasks.documents.model import DocumentModel
from parsimon.tasks.documents.training import DocumentTraining


def run(job: DocumentJob) -> None:
    """Everything that can be refused is refused before any work."""
    began = time.perf_counter()
    check_training_files(job)
    check_options(job)
    DocumentRun(job, DocumentTraining(**job.settings), began=began).carry_out()


def check_options(job: DocumentJob) -> None:
    """Refuses options that the penalty knows nothing of: they would make no difference."""
    penalty = job.penalty or "sentence"
    for name in ("l1", "l2", "sentence"):
        if getattr(job, name) is not None and name not in STRENGTHS[penalty]:
            option = "--sentence-strength" if name == "sentence" else f"--{name}"
            able = " or ".join(p for p, strengths in STRENGTHS.items() if name in strengths)
            raise ParsimonError(
                f"--penalty {penalty} has no {option}; leave it out, or use --penalty {able}."
            )
    for name in OF_SENTENCES:
        if getattr(job, name) is not None and penalty != "sentence":
            option = f"--{name.replace('_', '-')}"
            raise ParsimonError(f"{option} is about --penalty sentence; leave it out, or use that penalty.")
    if job.window is not None and job.groups != "window":
        raise ParsimonError("--window is about --groups window; leave it out, or add that.")


@dataclass
class DocumentRun(TrainingRun[DocumentModel]):
    """Documents in, a classifier out."""

    job: DocumentJob
    training: DocumentTraining

    def time_left(self) -> TimeLeft:
        """The limits that were asked for."""
        return TimeLeft(self.job.max_iter, self.job.time_limit)

    def asked(self) -> dict[str, Any]:
        """What training and reading go by."""
        names = ("train", "dev", *TRAINING, "sentences", "tokens", "lowercase")
        return {"model": str(self.job.model), **{name: getattr(self.job, name) for name in names}}

    def learn(self, watch: Progress, callbacks: Callbacks) -> DocumentModel:
        """Reads and trains."""
        encoding = self.job.encoding
        train, dev = read_data(self.job, lambda source: read(source, encoding, labelled=True), watch)
        watch.phase("training")
        return self.training.fit(*train, dev=dev, callbacks=callbacks)

    def write(self, learnt: DocumentModel, watch: Progress) -> None:
        """Writes the model."""
        self.write_model(learnt, watch)

    def info(self, learnt: DocumentModel) -> Mapping[str, Any]:
        """What the model remembers."""
        return learnt.info

    def record(self, learnt: DocumentModel, seconds: float) -> dict[str, Any]:
        """What came of it, ready for JSON."""
        info = learnt.info
        return {
            **file_record(self.job),
            "message": info.get("status"),
            "objective": info.get("objective"),
            "kkt": info.get("kkt"),
            "gap": info.get("gap"),
            "words": len(learnt.words),
            "candidate_words": info.get("candidate_words"),
            "groups": info.get("groups"),
            "relevant_groups": info.get("relevant_groups"),
            "groups_in_all": info.get("groups_in_all"),
            "documents": info.get("documents"),
            "labels": learnt.n_labels,
            **pace_record(self.events, seconds),
        }

    def text(self, learnt: DocumentModel, record: Mapping[str, Any]) -> str:
        """The same for people."""
        pairs = [file_fact(record), ("words", of(record["words"], record["candidate_words"]))]
        if record["relevant_groups"] is not None:
            told = of(record["relevant_groups"], record["groups_in_all"])
            pairs.append((f"{record['groups']}s", f"{told} found relevant"))
        if record["objective"] is not None:
            pairs.append(("objective", objective_text(record)))
        return facts([*pairs, *pace_facts(record)])
