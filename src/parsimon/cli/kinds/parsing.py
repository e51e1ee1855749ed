"""Parsers on the command line: treebanks in CoNLL-U or CoNLL-X."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.kind import Evaluated, Inspected, Kind, ModelPage, Plan
from parsimon.cli.options import Asked, is_minimum_risk, number, option, skip_bad_option
from parsimon.cli.output import output, recoded
from parsimon.cli.solver_checks import check_solver
from parsimon.cli.template_choice import REFITS, check_selection, selection_flags, selection_of
from parsimon.errors import ParsimonError
from parsimon.tasks.options import CHOOSING, FILES, READING, threads_of
from parsimon.tasks.parsing.options import ParserOptions

if TYPE_CHECKING:
    from parsimon.arrays import Array
    from parsimon.data.treebanks import Treebank
    from parsimon.penalties import Penalty
    from parsimon.tasks.parsing.model import ParserModel
    from parsimon.tasks.parsing.training import Parsed

BUDGET = 200
DIGITS = 4  # of a probability


class Parsers(Kind["ParserModel"]):
    """Dependency parsers."""

    name = "parser"
    noun = "a parser"
    options = ParserOptions
    score_name = "UAS "
    flags = (
        option(
            "-t",
            "--templates",
            section=FILES,
            default="mcdonald",
            metavar="TEMPLATES",
            help="A file of arc templates, or the name of a preset (see 'parsimon presets').",
        ),
        option(
            "--relations",
            section=FILES,
            default="relations",
            metavar="TEMPLATES",
            help="The templates for relations; 'none' leaves relations out.",
        ),
        number(
            "--group-lasso",
            section=CHOOSING,
            metavar="STRENGTH",
            help="Also penalise templates, so that whole templates are kept or dropped.",
        ),
        *selection_flags(BUDGET, "; those of direction and length alone are not counted", "mira"),
        option(
            "--format",
            section=READING,
            type=click.Choice(["conllu", "conllx"]),
            show_default="detected from the data",
            help="The format of treebanks.",
        ),
        skip_bad_option,
    )
    predicts = frozenset({"marginals", "kbest", "decoding", "given_labels"})
    evaluates = frozenset({"decoding", "skip_bad"})
    inspects = frozenset({"label", "template", "html"})
    help = """Train a dependency parser on TRAIN, a treebank in CoNLL-U or CoNLL-X format.

    Trees are scored arc by arc. Templates make the features of an arc from its head, its modifier and the words around
    and between them. Parts of speech, lemmas and morphological features are those of the file.
    """
    examples = """
\b
Examples:
  parsimon train parser train.conllu -m english.model --dev dev.conllu
  parsimon train parser train.conllu -m english.model --dev dev.conllu --resume
  parsimon train parser train.conll -m danish.model -t martins-parsing --select sparseptron --budget 200
  parsimon train parser train.conllu -m crf.model --loss log --solver lbfgs --l2 1 --max-iter 100
  parsimon train parser train.conllu -m small.model --loss log --solver auto --group-lasso 20 --l2 0.1
  parsimon predict english.model new.conllu > parsed.conllu
"""

    # ---- train -------------------------------------------------------------------------------------------------

    def also_read(self, job: Asked) -> list[str]:
        """Templates."""
        return [job["templates"], job["relations"]]

    def plan(self, job: Asked) -> Plan[Parsed, ParserModel]:
        """Templates, and how treebanks are read."""
        from parsimon.data.treebank_files import read_treebank
        from parsimon.features.arc_features import ArcFeatures
        from parsimon.features.arc_presets import as_arc_templates
        from parsimon.tasks.parsing.training import Parsed, ParserTraining

        loss, solver = method(job)
        relations = None if job["relations"] == "none" else as_arc_templates(job["relations"])
        settings = {**self.known(job), "loss": loss, "solver": solver, "relations": relations}
        training = ParserTraining(**settings, penalty=penalty_of(job), selection=selection_of(job, BUDGET))
        check_selection(job, ["budget"])
        check_solver(training.solver, loss, training.chosen_penalty, training.tol)
        space = ArcFeatures(as_arc_templates(job["templates"]), training.cutoff)

        def read(source: str) -> Parsed:
            skip = job["skip_bad"]
            treebank = read_treebank(
                source,
                format=job["format"],
                encoding=job["encoding"],
                single_root=skip and training.single_root is True,  # training says of these what to do
                skip_bad=skip,
            )
            return Parsed(space, treebank)

        return Plan(training, read, lambda data: data.treebank)

    def size(self, model: ParserModel) -> dict[str, Any]:
        """Features and templates of arcs, of how many, and relations."""
        from parsimon.tasks.sequences.inspect import summary

        counts = summary(model.arcs)
        return {
            "features": counts["features"],
            "candidate_features": model.info.get("candidate_features"),
            "templates": counts["templates"],
            "candidate_templates": model.info.get("candidate_templates"),
            "relations": 0 if model.relations is None else model.relations.n_labels,
            "single_root": model.single_root,
            "projective": model.projective,
        }

    def size_facts(self, size: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The same for people."""
        from parsimon.report.tables import of

        return [
            ("features", of(size["features"], size["candidate_features"])),
            ("templates", f"{size['templates']} of {size['candidate_templates']}"),
            ("relations", f"{size['relations']}" if size["relations"] else "none"),
        ]

    # ---- use ---------------------------------------------------------------------------------------------------

    def predict(self, model: ParserModel, job: Asked) -> None:
        """The treebank that was read, with other heads and relations."""
        from parsimon.data.treebank_files import TreebankFile

        file = TreebankFile(job["input"], encoding=job["encoding"], missing_heads=True)
        is_minimum_risk(job.model, job["decoding"], "mst")
        settings: dict[str, Any] = {"given_heads": job["given_labels"], "threads": threads_of(job["n_jobs"])}
        encode = recoded(file.file.encoding)
        with output(job["output"]) as write:
            for treebank in file:
                if treebank.format == "conllx" and (job["marginals"] or job["kbest"]):
                    raise ParsimonError(
                        f"{treebank.name} is in CoNLL-X format, which has no place for probabilities; "
                        "leave out --marginals and --kbest, or convert it to CoNLL-U."
                    )
                if job["kbest"] is not None:
                    write(encode(b"".join(ranked(model, treebank, job))))
                    continue
                parsed = model.parse(treebank, decoding=job["decoding"] or "mst", **settings)
                content = parsed.to_utf8()
                if job["marginals"]:
                    marginals, _ = model.marginals(treebank, **settings)
                    content = with_probabilities(parsed, marginals)
                write(encode(content))

    def evaluate(self, model: ParserModel, job: Asked) -> Evaluated:
        """Attachment scores, with and without punctuation."""
        from parsimon.data.treebank_files import read_treebank
        from parsimon.report.parser_tables import parser_scores_text
        from parsimon.tasks.parsing.metrics import compare_treebanks

        is_minimum_risk(job.model, job["decoding"], "mst")
        gold = read_treebank(job["test"], encoding=job["encoding"], skip_bad=job["skip_bad"])
        parsed = model.parse(gold, decoding=job["decoding"] or "mst", threads=threads_of(job["n_jobs"]))
        scores = compare_treebanks(gold, parsed)
        numbers = {"uas": scores.uas, "las": scores.las, "words": scores.all_words.words}
        return Evaluated(numbers, scores.to_dict(), parser_scores_text(scores))

    def inspect(self, model: ParserModel, job: Asked) -> Inspected:
        """Sizes, templates and the heaviest features of arcs; `label` names a relation whose features are wanted."""
        from parsimon.report import tables
        from parsimon.tasks.sequences import inspect as look

        label, template, top = job["label"], job["template"], job["top"]
        part = model.arcs if label is None else relations_of(model, job.model)
        heaviest = look.features(part, top=top, label=label, template=template) if top != 0 else []
        shares = sorted(look.template_shares(part), key=lambda share: -share.total)
        if job["as_json"]:
            details = {
                "label_names": [] if model.relations is None else list(model.relations.labels),
                "per_template": [asdict(share) for share in shares],
                "heaviest": [asdict(feature) for feature in heaviest],
            }
            return Inspected(self.size(model), details, "")
        sections = [tables.facts(summary_facts(model, job.model, self.size(model)))]
        if template is None:
            sections.append(tables.shares_table("template", shares))
        if top:
            sections.append(tables.features_table(heaviest))
        return Inspected({}, {}, "\n".join(sections))

    def page(self, model: ParserModel, job: Asked) -> ModelPage:
        """The same for a page: arcs, then relations."""
        from parsimon.report.model_page import Part, scores_of

        arcs = Part("arcs", model.arcs, scores_of(model.info))
        parts = [arcs]
        if job["label"] is not None:
            parts = [Part("relations", relations_of(model, job.model))]
        elif model.relations is not None and job["template"] is None:
            parts.append(Part("relations", model.relations))
        return ModelPage(summary_facts(model, job.model, self.size(model)), parts, job["template"])


KIND = Parsers()


def method(job: Asked) -> tuple[str, str]:
    """Loss and solver: as given, or else those of --refit."""
    loss, solver = REFITS[job["refit"] or "mira"]
    if "loss" in job.given and job["loss"] != loss and "solver" not in job.given:
        solver = "auto"
    return job["loss"] if "loss" in job.given else loss, job["solver"] if "solver" in job.given else solver


def penalty_of(job: Asked) -> Penalty | None:
    """What takes the place of L1 and L2, if templates are penalised as wholes."""
    if job["group_lasso"] is None:
        return None
    from parsimon.penalties import ByTemplate, GroupLasso

    return GroupLasso(job["group_lasso"], groups=ByTemplate(), l1=job["l1"], l2=job["l2"])


def relations_of(model: ParserModel, name: str) -> Any:
    """What names relations, which must be there."""
    if model.relations is None:
        raise ParsimonError(f"{name} was trained without relations; leave out --label.")
    return model.relations


def with_probabilities(parsed: Treebank, marginals: list[Array]) -> bytes:
    """The treebank in UTF-8, with the probability of every head in the last column, as ArcProb=0.9876."""
    import numpy as np

    heads = np.split(parsed.heads, np.cumsum(parsed.lengths)[:-1])
    values = iter(
        float(table[word, head])
        for table, sentence in zip(marginals, heads, strict=True)
        for word, head in enumerate(sentence.tolist())
    )
    lines = []
    for line in parsed.to_utf8().decode().split("\n"):
        if line.partition("\t")[0].isdigit():
            rest, _, misc = line.rstrip("\r").rpartition("\t")
            attribute = f"ArcProb={next(values):.{DIGITS}f}"
            line = f"{rest}\t{attribute if misc == '_' else f'{misc}|{attribute}'}"
        lines.append(line)
    return "\n".join(lines).encode()


def ranked(model: ParserModel, treebank: Treebank, job: Asked) -> Iterator[bytes]:
    """The k best trees of each sentence, best first, each after comments with its rank and probability."""
    import numpy as np

    k: int = job["kbest"]
    values, heads = model.kbest(
        treebank, k, given_heads=job["given_labels"], threads=threads_of(job["n_jobs"])
    )
    ends = np.cumsum(treebank.lengths)
    for i, (end, n) in enumerate(zip(ends.tolist(), treebank.lengths.tolist(), strict=True)):
        one = treebank[i]
        for rank in range(k):
            if values[rank, i] == -np.inf:
                break
            tree = heads[rank, end - n : end]
            comments = f"# rank = {rank + 1}\n# probability = {np.exp(values[rank, i]):.{DIGITS}f}\n"
            yield comments.encode()
            text = one.with_heads(
                tree, model.name_relations(one, tree, threads=threads_of(job["n_jobs"]))
            ).to_utf8()
            yield text.rstrip(b"\n") + b"\n\n"


def summary_facts(model: ParserModel, name: str, size: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a parser is, and how it was trained."""
    from parsimon.report.tables import ending_facts, file_size, of, selection_facts

    training = model.info
    pairs = [
        ("model", f"{name} ({file_size(Path(name).stat().st_size)})"),
        *((what, of(size[what], size[f"candidate_{what}"])) for what in ("features", "templates")),
        ("relations", "none" if model.relations is None else ", ".join(model.relations.labels)),
        (
            "trees",
            f"{'projective' if model.projective else 'arcs may cross'}, "
            f"{'one root' if model.single_root else 'several roots possible'}",
        ),
    ]
    if model.first_pass is not None:
        pairs.append(
            ("first pass", f"leaves arcs within {model.first_pass.margin:.4g} of the best into a word")
        )
    if training.get("tokens") and training.get("sentences"):
        pairs.append(("trained on", f"{training['tokens']:,} words in {training['sentences']:,} sentences"))
    if training.get("loss") and training.get("solver"):
        pairs.append(("by", f"{training['loss']} loss, {training['solver']}"))
    if training.get("selection"):
        chosen = training["selection"]
        pairs.append(("templates by", f"{chosen['name']}, {len(chosen['templates'])} with a score"))
        pairs += selection_facts(chosen)
    return [*pairs, *ending_facts(training)]
