"""Markov networks on the command line: tables in, a network out, and perhaps a drawing and a list of edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from parsimon.cli.kind import Evaluated, Inspected, Kind, Plan
from parsimon.cli.options import Asked, cell_separator_option, option, refuse_idle
from parsimon.errors import ParsimonError
from parsimon.tasks.networks.options import NetworkOptions
from parsimon.tasks.options import FILES, READING, RUNNING

if TYPE_CHECKING:
    from parsimon.data.csv_tables import CsvTable
    from parsimon.data.discrete_table import DiscreteTable
    from parsimon.tasks.networks.model import NetworkModel
    from parsimon.tasks.networks.training import Counted, NetworkTraining

MORE = "; --top shows more, --json shows all"
OF_PATHS = ("n_alphas", "alpha_min_ratio", "patience")
PATH = click.Path(path_type=Path)


class Networks(Kind["NetworkModel"]):
    """Markov networks."""

    name = "network"
    noun = "a Markov network"
    options = NetworkOptions
    source = "TABLE"
    needs_model_file = False
    has_development = False
    flags = (
        option(
            "--draw",
            section=FILES,
            type=PATH,
            metavar="FILE",
            help="Draw the network: a .png, .svg or .pdf file.",
        ),
        option(
            "--edges", section=FILES, type=PATH, metavar="FILE", help="Write the edges, separated by tabs."
        ),
        cell_separator_option,
        option(
            "--header/--no-header",
            section=READING,
            default=True,
            help="The first line has the column names.",
        ),
        option(
            "--drop",
            section=READING,
            multiple=True,
            metavar="COLUMN",
            help="A column to leave out (may be repeated).",
        ),
        option(
            "--top",
            section=RUNNING,
            type=click.IntRange(min=0),
            default=10,
            metavar="N",
            help="The number of edges to print.",
        ),
    )
    inspects = frozenset({"label"})
    help = """Learn which columns of TABLE depend on each other: a sparse Markov network.

    TABLE has one row per line, with commas, tabs or semicolons between cells, and column names in the first line. Its
    columns are discrete: names, classes, yes and no, small whole numbers; --bins cuts measurements into bins. Two
    columns have an edge if they depend on each other given all the others; weak dependencies are left out by an L1
    penalty (binary columns) or a group lasso with a group for every edge.
    """
    examples = """
\b
Examples:
  parsimon train network survey.csv
  parsimon train network survey.csv -m survey.model --draw survey.png
  parsimon train network survey.csv --search penalty
  parsimon train network survey.csv --alpha cv --edges survey.tsv
  parsimon train network survey.csv --drop id --bins 4 --missing state
  parsimon train network survey.csv --stability 50 --draw survey.svg
  parsimon sample survey.model -n 1000 > made.csv
"""

    # ---- train -------------------------------------------------------------------------------------------------

    def also_written(self, job: Asked) -> dict[str, Path]:
        """A drawing and a list of edges."""
        files = {"the drawing": job["draw"], "the edges": job["edges"]}
        return {what: path for what, path in files.items() if path is not None}

    def plan(self, job: Asked) -> Plan[Counted, NetworkModel]:
        """The options as those of training, and how tables are read."""
        from parsimon.data.csv_tables import SEPARATORS, read_table
        from parsimon.report.figure_file import check_ending
        from parsimon.tasks.networks.training import Counted, NetworkTraining

        if job["draw"] is not None:
            check_ending(job["draw"])
        training = NetworkTraining(**self.known(job))
        check_strength(job, training)

        def read(source: str) -> Counted:
            csv = read_table(
                source,
                separator=SEPARATORS.get(job["separator"]),
                header=job["header"],
                missing=training.missing,
                encoding=job["encoding"],
                drop=training.drop,
                bins=training.bins,
            )
            return Counted(discrete(csv, source, training))

        return Plan(training, read)

    def write_more(self, job: Asked, model: NetworkModel) -> None:
        """The drawing and the list of edges."""
        from parsimon.files import write_file

        if job["edges"] is not None:
            write_file(job["edges"], edges_file(model).encode())
        if job["draw"] is not None:
            from parsimon.report.figure_file import save_figure
            from parsimon.report.network_drawing import draw_model

            save_figure(draw_model(model, seed=job["random_state"]), job["draw"])

    def size(self, model: NetworkModel) -> dict[str, Any]:
        """Variables, and edges of how many."""
        return {
            "variables": len(model.names),
            "edges": len(model.edges),
            "candidate_edges": model.info.get("candidate_edges"),
        }

    def size_facts(self, size: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The same for people."""
        from parsimon.report.tables import of

        return [
            ("variables", f"{size['variables']:,}"),
            ("edges", of(size["edges"], size["candidate_edges"])),
        ]

    def model_facts(self, model: NetworkModel) -> list[tuple[str, str]]:
        """Rows, strength, stability and score."""
        from parsimon.report.network_tables import learning_facts
        from parsimon.tasks.networks.inspect import summary

        return learning_facts(summary(model))

    def more_text(self, job: Asked, model: NetworkModel) -> str:
        """The strongest edges."""
        from parsimon.report.network_tables import edges_table

        return "\n" + edges_table(model.strongest(), job["top"], MORE) if job["top"] else ""

    # ---- use ---------------------------------------------------------------------------------------------------

    def predict(self, model: NetworkModel, job: Asked) -> None:
        """Refused: a network has no labels."""
        raise ParsimonError(
            f"{job.model} is a Markov network, which has no label to predict; 'parsimon sample {job.model}' draws rows "
            "from it, and MarkovNetwork.load(...).conditional(...) gives the probabilities of some columns given "
            "others."
        )

    def evaluate(self, model: NetworkModel, job: Asked) -> Evaluated:
        """Refused: a network has no labels."""
        raise ParsimonError(
            f"{job.model} is a Markov network, which has no labels to compare; MarkovNetwork.load(...).score(...) "
            "gives the log-likelihood of other rows."
        )

    def inspect(self, model: NetworkModel, job: Asked) -> Inspected:
        """Sizes, and the strongest edges; `label` names a variable whose edges are shown."""
        from parsimon.report.network_tables import edges_table, summary_text
        from parsimon.tasks.networks.inspect import summary

        edges, top = model.strongest(variable=job["label"]), job["top"]
        if job["as_json"]:
            states = zip(model.names, model.categories, strict=True)
            details = {
                "states": {name: list(each) for name, each in states},
                "bins": {name: list(edges) for name, edges in model.bins.items()},
                "left_out": list(model.left_out),
                "strongest": [asdict(edge) for edge in edges[:top]],
                "path": None if model.path is None else model.path.to_dict(),
            }
            return Inspected(self.size(model), details, "")
        file = {"model": job.model, "bytes": Path(job.model).stat().st_size}
        sections = [summary_text({**file, **summary(model)})]
        if top != 0:
            sections.append(edges_table(edges, top, MORE))
        return Inspected({}, {}, "\n".join(sections))


KIND = Networks()


def check_strength(job: Asked, training: NetworkTraining) -> None:
    """Refuses options about a choice of the strength that is not made, or not in this way."""
    chosen = training.strength if isinstance(training.strength, str) else None
    if chosen is None:
        refuse_idle(job, OF_PATHS, "choosing a strength", "--alpha bic, ebic or cv")
    if training.chosen_search == "greedy":
        refuse_idle(job, OF_PATHS, "a path of strengths", "--search penalty")
    for name, criterion in (("gamma", "ebic"), ("cv", "cv")):
        if chosen != criterion:
            refuse_idle(job, [name], f"choosing a strength by {criterion}", f"--alpha {criterion}")
    if job["stability"] is None:
        refuse_idle(job, ["stability_threshold"], "stability selection", "--stability N")


def discrete(csv: CsvTable, source: str, training: NetworkTraining) -> DiscreteTable:
    """The cells as states, each column's by its name."""
    from parsimon.data.discrete_table import DiscreteTable

    try:
        table = DiscreteTable.learn(
            csv.rows,
            names=csv.names,
            max_states=training.max_states,
            bins=training.bins,
            missing=training.missing,
        )
    except ParsimonError as error:
        name = "standard input" if source == "-" else source
        raise ParsimonError(f"{name}: {error}") from None
    return replace(table, left_out=tuple(training.drop), dropped=csv.dropped)


def edges_file(model: NetworkModel) -> str:
    """One edge a line, the strongest first."""
    stable = model.stability is not None
    lines = ["\t".join(("first", "second", "strength", *(("stability",) if stable else ())))]
    for edge in model.strongest():
        cells = [
            edge.first,
            edge.second,
            f"{edge.strength:.6g}",
            *([f"{edge.stability:.4g}"] if stable else []),
        ]
        lines.append("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in cells))
    return "\n".join(lines) + "\n"
