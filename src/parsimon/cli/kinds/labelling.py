"""What labellers of sequences, trees and pages share on the command line: flags, penalties, templates, inspection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from parsimon.cli.kind import Inspected, Kind, ModelPage
from parsimon.cli.options import Asked, number, option, positive, reading_flags, refuse_idle
from parsimon.cli.solver_checks import check_solver
from parsimon.cli.template_choice import REFITS, check_selection, selection_flags, selection_of
from parsimon.errors import ParsimonError, nearest
from parsimon.files import read_text_file
from parsimon.tasks.options import CHOOSING, FILES, LEARNING, READING

if TYPE_CHECKING:
    from parsimon.features.columns import Columns
    from parsimon.features.templates import Boundary, Template, TemplateSet
    from parsimon.penalties import Penalty
    from parsimon.tasks.sequences.model import SequenceModel
    from parsimon.tasks.sequences.training import LabellingTraining

Labeller = TypeVar("Labeller", bound="SequenceModel")
GROUPS = ("template", "attribute", "label")
L1, L2, BUDGET = 0.5, 1e-5, 30
# Solvers that can do with one of both only, or without any.
STRENGTHS = {
    "mira": (0.0, 0.0),
    "sgd": (0.0, 0.0),
    "frank-wolfe": (0.0, 1.0),
    "one-slack": (0.0, 1.0),
    "cutting-plane": (L1, 0.0),
    "em": (L1, 0.0),
    "projected-subgradient": (L1, 0.0),
}
# Strengths that have no place beside a penalty.
OTHER_STRENGTHS = {"kl_norm": {"l2"}, "l1_ball": {"l1", "l2"}, "group_lasso": set[str]()}

TEMPLATES_HELP = "A template file of Wapiti or CRF++, or the name of a preset (see 'parsimon presets')."


def template_flag(default: str | None = "words", **settings: Any) -> Any:
    """Which templates."""
    return option(
        "-t",
        "--templates",
        section=FILES,
        default=default,
        metavar="TEMPLATES",
        **{"help": TEMPLATES_HELP, **settings},
    )


def labelling_flags(*, of_columns: bool = True) -> list[Any]:
    """What the command line has instead of the objects that Python takes, and how column files are read."""
    flags = [
        option("--initial", section=FILES, metavar="MODEL", help="Start from the weights of this model."),
        positive(
            "--kl-norm",
            section=LEARNING,
            metavar="SHARPNESS",
            help="In place of L1 and L2, use the KL norm of Laplace M3Ns: an L1 norm of strength --l1 that is smooth "
            "within about 1/sqrt(SHARPNESS) of zero.",
        ),
        positive(
            "--l1-ball",
            section=LEARNING,
            metavar="RADIUS",
            help="In place of L1 and L2, limit the sum of the absolute weights to RADIUS; for --solver "
            "projected-subgradient or fista.",
        ),
        number(
            "--group-lasso",
            section=CHOOSING,
            metavar="STRENGTH",
            help="Also penalise groups of features, so that whole groups are kept or dropped.",
        ),
        option(
            "--groups",
            section=CHOOSING,
            type=click.Choice(GROUPS),
            default="template",
            help="The groups of --group-lasso: the features of a template, an attribute or a label.",
        ),
        *selection_flags(BUDGET, ", biases and label bigrams not counted", "crf"),
    ]
    return [*flags, *column_flags()] if of_columns else flags


def column_flags() -> list[Any]:
    """How column files are read."""
    return [
        option(
            "--unknown",
            multiple=True,
            metavar="LABEL",
            section=READING,
            help="A label that means 'not known', for partially labelled data (may be repeated).",
        ),
        option(
            "--boundary",
            type=click.Choice(["wapiti", "crf++"]),
            section=READING,
            show_default="what TEMPLATES says, else wapiti",
            help="The values that templates see beyond the ends of a sequence: those of Wapiti or of CRF++.",
        ),
        *reading_flags(),
    ]


class Labelling(Kind[Labeller], Generic[Labeller]):
    """A labeller, whatever its input is."""

    inspects = frozenset({"top", "label", "template", "transitions", "html"})

    def settings(self, job: Asked) -> dict[str, Any]:
        """The options as those of training."""
        loss, solver = self.method(job)
        l1, l2 = self.strengths(job)
        return {
            **self.known(job),
            "loss": loss,
            "solver": solver,
            "l1": l1,
            "l2": l2,
            "penalty": self.penalty(job),
            "selection": selection_of(job, BUDGET),
        }

    def method(self, job: Asked) -> tuple[str, str]:
        """Loss and solver: as given, or else those of --refit."""
        loss, solver = REFITS[job["refit"] or "crf"]
        return (
            job["loss"] if "loss" in job.given else loss,
            job["solver"] if "solver" in job.given else solver,
        )

    def strengths(self, job: Asked) -> tuple[float, float]:
        """l1 and l2: as given, or else the defaults. Some solvers have their own, and group penalties no l1."""
        l1, l2 = STRENGTHS.get(self.method(job)[1], (L1, L2))
        if job["group_lasso"] is not None:
            l1 = 0.0
        return job["l1"] if "l1" in job.given else l1, job["l2"] if "l2" in job.given else l2

    def penalty(self, job: Asked) -> Penalty | None:
        """What takes the place of L1 and L2, if anything does."""
        l1, l2 = self.strengths(job)
        named = [name for name in ("kl_norm", "l1_ball", "group_lasso") if job[name] is not None]
        if len(named) > 1:
            one, other = (f"--{name.replace('_', '-')}" for name in named[:2])
            raise ParsimonError(f"{one} and {other} are two penalties; give one of them.")
        if not named:
            return None
        for name in OTHER_STRENGTHS[named[0]] & job.given:
            raise ParsimonError(
                f"--{named[0].replace('_', '-')} takes the place of --{name}; leave one of them out."
            )
        from parsimon.penalties import ByAttribute, ByLabel, ByTemplate, GroupLasso, KLNorm, L1Ball

        if job["kl_norm"] is not None:
            return KLNorm(job["kl_norm"], strength=l1 / job["kl_norm"] ** 0.5)
        if job["l1_ball"] is not None:
            return L1Ball(job["l1_ball"])
        grouping = {"template": ByTemplate, "attribute": ByAttribute, "label": ByLabel}[job["groups"]]()
        return GroupLasso(job["group_lasso"], groups=grouping, l1=l1, l2=l2)

    def check(self, job: Asked, training: LabellingTraining) -> None:
        """Refuses what does not fit together."""
        check_selection(job, ["refit", "budget"])
        if job["group_lasso"] is None:
            refuse_idle(job, ["groups"], "groups that are kept or dropped", "--group-lasso STRENGTH")
        check_solver(training.solver, str(training.loss), training.chosen_penalty, training.tol)

    def initial(self, job: Asked, training: LabellingTraining) -> Any:
        """The model to start from."""
        from parsimon.tasks.model_file import load_model

        return None if job["initial"] is None else load_model(job["initial"], training.model_class)

    # ---- what was learnt -----------------------------------------------------------------------------------------

    def size(self, model: Labeller) -> dict[str, Any]:
        """Features, attributes and templates, of how many."""
        from parsimon.tasks.sequences.inspect import summary

        counts, growth = summary(model), model.info.get("growth") or {}
        names = ("features", "attributes", "templates")
        return {
            **{name: counts[name] for name in names},
            **{f"candidate_{name}": counts.get(f"candidate_{name}") for name in names},
            "labels": model.n_labels,
            "stages": growth.get("stages"),
        }

    def size_facts(self, size: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The same for people."""
        from parsimon.report.tables import of
        from parsimon.selection.growth import GrownStage

        grown = [GrownStage(**stage) for stage in size["stages"] or ()]
        return [
            ("features", of(size["features"], size["candidate_features"])),
            ("templates", f"{size['templates']} of {size['candidate_templates']}"),
            *((f"stage {n}", str(stage)) for n, stage in enumerate(grown, start=1)),
        ]

    def inspect(self, model: Labeller, job: Asked) -> Inspected:
        """What the model has kept: by template, by label, and its heaviest features."""
        from parsimon.report import tables
        from parsimon.tasks.sequences import inspect as look

        label, template, top = job["label"], template_named(model, job["template"]), job["top"]
        heaviest = look.features(model, top=top, label=label, template=template) if top != 0 else []
        if job["as_json"]:
            return Inspected(self.size(model), details(model, heaviest), "")
        size = Path(job.model).stat().st_size
        sections = [tables.summary_text(job.model, size, look.summary(model))]
        if label is None and template is None:
            sections.append(tables.shares_table("template", look.template_shares(model)))
            sections.append(tables.shares_table("label", look.label_shares(model)))
        if top:
            sections.append(tables.features_table(heaviest))
        if job["transitions"]:
            sections.append(
                tables.transitions_table(model.labels, look.transitions(model), hint="; --json shows all")
            )
        return Inspected({}, {}, "\n".join(sections))

    def page(self, model: Labeller, job: Asked) -> ModelPage:
        """The same for a page."""
        from parsimon.report import tables
        from parsimon.report.model_page import Part, scores_of
        from parsimon.tasks.sequences.inspect import summary

        size = Path(job.model).stat().st_size
        facts = tables.summary_facts(job.model, size, summary(model), scores=False)
        template = template_named(model, job["template"])
        return ModelPage(facts, [Part("", model, scores_of(model.info))], template)


def details(model: SequenceModel, heaviest: Sequence[Any]) -> dict[str, Any]:
    """Everything that is in a model, by name."""
    from parsimon.tasks.sequences import inspect as look

    weights = look.transitions(model)
    return {
        "label_names": list(model.labels),
        "per_template": [asdict(share) for share in look.template_shares(model)],
        "per_label": [asdict(share) for share in look.label_shares(model)],
        "heaviest": [asdict(feature) for feature in heaviest],
        "transitions": [
            {"previous": model.labels[x], "label": model.labels[y], "weight": float(weights[x, y])}
            for x, y in zip(*weights.nonzero(), strict=True)
        ],
    }


def template_named(model: SequenceModel, name: str | None) -> str | None:
    """A template as the model has it, by its name (U05; word[0] or U:word[0]) or as it is written."""
    from parsimon.features.template_features import TemplateFeatures

    if name is None or not isinstance(model.space, TemplateFeatures):
        return name
    templates = list(zip(model.space.templates.names, model.space.templates, strict=True))
    known = set(model.space.template_names())  # of templates that share their attributes, one stands for all
    for short, template in templates:
        if name in (short, short.removeprefix("U:"), template.source):
            return next(
                t.source for _, t in templates if t.skeleton == template.skeleton and t.source in known
            )
    close = nearest(name, (n for short, _ in templates for n in (short, short.removeprefix("U:"))))
    hint = f"did you mean {close!r}?" if close else "'parsimon inspect MODEL' lists its templates."
    raise ParsimonError(f"the model has no template {name!r}; {hint}")


# --- Templates and columns ---------------------------------------------------------------------------------------


def read_templates(job: Asked, source: str, boundary: Boundary | None = None) -> TemplateSet:
    """The templates of a preset or a file."""
    from parsimon.features.presets import get_preset, preset_names
    from parsimon.features.templates import TemplateSet

    boundary = boundary or job.get("boundary")
    if source in preset_names():
        preset = get_preset(source)
        return preset if boundary is None else TemplateSet(preset.templates, boundary)
    if not Path(source).exists():
        raise ParsimonError(
            f"there is no template file {source!r} and no preset of that name; "
            f"presets are {', '.join(preset_names())}."
        )
    return TemplateSet.load(source, encoding=template_encoding(job, source), boundary=boundary)


def template_encoding(job: Asked, source: str) -> str:
    """UTF-8 if that is what the template file is in, or else the encoding of the data."""
    try:
        read_text_file(source).decode("utf-8")
    except (UnicodeDecodeError, OSError):
        return str(job["encoding"])
    return "utf-8"


def check_columns(X: Columns, name: str, templates: Iterable[Template]) -> None:
    """Refuses columns that are fewer than the templates look at."""
    for template in templates:
        for test in template.tests:
            if test.column >= X.n_columns:
                raise ParsimonError(
                    f"{name} has {X.n_columns} column{'s' * (X.n_columns != 1)} besides the label, but "
                    f"template {template.source!r} looks at column {test.column} (they are counted from 0)."
                )
