"""A run of `parsimon train parser`: what is its own in the frame of training."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from parsimon.cli.selecting import selection_of
from parsimon.cli.train_parser import BUDGET, ParserJob
from parsimon.cli.training_checks import check_selection, check_solver, check_training_files
from parsimon.cli.training_run import (
    Callbacks,
    Trained,
    TrainedRun,
    checkpoint_settings,
    everything,
    file_fact,
    file_record,
    pace_facts,
    pace_record,
    read_data,
    result_record,
    will_resume,
)
from parsimon.data.treebank_files import read_treebank
from parsimon.data.treebanks import Treebank
from parsimon.estimators.dependency_parser import as_arc_templates
from parsimon.features.arc_features import ArcFeatures
from parsimon.penalties import ElasticNet, GroupLasso, Penalty
from parsimon.penalties.groupings import ByTemplate
from parsimon.report.progress import Progress
from parsimon.report.tables import facts, objective_text, of
from parsimon.report.time_left import TimeLeft
from parsimon.tasks.parsing.model import ParserModel
from parsimon.tasks.parsing.training import ParserTraining
from parsimon.tasks.sequences.inspect import summary


def run(job: ParserJob) -> None:
    """Everything that can be refused is refused before any work."""
    began = time.perf_counter()
    check_training_files(job, [job.templates, *([] if job.relations is None else [job.relations])])
    space = ArcFeatures(as_arc_templates(job.templates), job.cutoff)
    training = settings(job)
    check_selection(job, ["budget"])
    check_solver(training.solver, job.method[0], training.penalty, job.tol)
    ParserRun(job, space, training, began=began, resumes=will_resume(job)).carry_out()


@dataclass
class ParserRun(TrainedRun[ParserModel]):
    """Treebanks in, a parser out."""

    job: ParserJob
    space: ArcFeatures
    training: ParserTraining

    def time_left(self) -> TimeLeft:
        """The limits that were asked for."""
        return TimeLeft(self.job.max_iter, self.job.time_limit)

    def asked(self) -> dict[str, Any]:
        """Everything, and whether it is the rest of a run."""
        return {**everything(self.job), "resumed": self.resumes}

    def learn(self, watch: Progress, callbacks: Callbacks) -> Trained[ParserModel]:
        """Reads and trains."""
        job = self.job
        treebank, dev = read_data(job, self.read, watch)
        chooses = job.select is not None and not self.resumes
        watch.phase(f"choosing templates: {job.select}" if chooses else "making features")
        training = replace(self.training, callbacks=callbacks, **checkpoint_settings(job, self.resumes))
        return Trained(*training.run(self.space, treebank, dev=dev, began=self.began, tell=watch.phase))

    def read(self, source: str) -> Treebank:
        """A treebank with all heads."""
        return read_treebank(source, format=self.job.format, encoding=self.job.encoding)

    def record(self, learnt: Trained[ParserModel], seconds: float) -> dict[str, Any]:
        """What came of it, ready for JSON."""
        model, result = learnt.model, learnt.result
        counts = summary(model.arcs)
        return {
            **file_record(self.job),
            **result_record(result),
            "features": counts["features"],
            "candidate_features": model.info["candidate_features"],
            "templates": counts["templates"],
            "candidate_templates": model.info["candidate_templates"],
            "relations": 0 if model.relations is None else model.relations.n_labels,
            "single_root": model.single_root,
            "projective": model.projective,
            **pace_record(result.history, seconds),
        }

    def text(self, learnt: Trained[ParserModel], record: Mapping[str, Any]) -> str:
        """The same for people."""
        return facts(
            [
                file_fact(record),
                ("features", of(record["features"], record["candidate_features"])),
                ("templates", f"{record['templates']} of {record['candidate_templates']}"),
                ("relations", f"{record['relations']}" if record["relations"] else "none"),
                ("objective", objective_text(record)),
                *pace_facts(record, "UAS "),
            ]
        )


def settings(job: ParserJob) -> ParserTraining:
    """The options of the command line as those of training."""
    loss, solver = job.method
    return ParserTraining(
        loss=loss,
        penalty=penalty_of(job),
        solver=solver,
        tol=job.tol,
        max_iter=job.max_iter,
        time_limit=job.time_limit,
        selection=selection_of(job, BUDGET),
        projective=job.projective,
        single_root=job.single_root,
        relations=None if job.relations in (None, "none") else as_arc_templates(job.relations),
        patience=job.patience,
        dev_tolerance=job.dev_tolerance,
        prune=job.prune,
        seed=job.seed,
        threads=job.threads,
        memory=job.memory,
    )


def penalty_of(job: ParserJob) -> Penalty:
    """L1, L2 and templates as asked for."""
    if job.group_lasso is None:
        return ElasticNet(l1=job.l1, l2=job.l2)
    return GroupLasso(job.group_lasso, groups=ByTemplate(), l1=job.l1, l2=job.l2)
