"""Matrices on the command line: tables of numbers with a class, or a number, in one of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsimon.characters.encodings import decoded
from parsimon.cli.kind import Evaluated, Inspected, Kind, Plan
from parsimon.cli.options import Asked, cell_separator_option, option, refuse_idle
from parsimon.cli.output import output
from parsimon.errors import ParsimonError
from parsimon.files import read_text_file
from parsimon.tasks.matrices.options import MatrixOptions
from parsimon.tasks.options import FILES

if TYPE_CHECKING:
    from parsimon.arrays import Array
    from parsimon.penalties import Groups
    from parsimon.tasks.matrices.model import MatrixModel
    from parsimon.tasks.matrices.training import Rows

DIGITS = 4  # of a probability


class Matrices(Kind["MatrixModel"]):
    """Classifiers and regressors of the rows of a matrix."""

    name = "matrix"
    noun = "a matrix model"
    options = MatrixOptions
    source = "TABLE"
    flags = (
        option(
            "--target",
            section=FILES,
            metavar="COLUMN",
            show_default="the last column",
            help="The column to predict: classes, or numbers if --loss is squared.",
        ),
        option(
            "--group-file",
            section=FILES,
            metavar="FILE",
            help="Groups of columns: lines 'group TAB column'; a column may be in several groups.",
        ),
        cell_separator_option,
    )
    predicts = frozenset({"marginals"})
    inspects = frozenset({"label"})
    help = """Train a sparse linear classifier or regressor of the rows of TABLE.

    TABLE has column names in the first line, and numbers in all columns but the target. It minimises
    loss + alpha Σ d_g ‖w_g‖ + l1 Σ|w| + l2/2 Σw², so whole groups of columns are kept or dropped.
    """
    examples = """
\b
Examples:
  parsimon train matrix patients.csv -m patients.model --target outcome --group-file genes.tsv --alpha 2
  parsimon train matrix prices.csv -m prices.model --loss squared --target price --alpha 0 --l1 1
  parsimon predict patients.model new.csv
"""

    # ---- train -------------------------------------------------------------------------------------------------

    def also_read(self, job: Asked) -> list[str]:
        """The groups."""
        return [] if job["group_file"] is None else [job["group_file"]]

    def plan(self, job: Asked) -> Plan[Rows, MatrixModel]:
        """The options as those of training, and how tables are read."""
        from parsimon.tasks.matrices.training import MatrixTraining

        if job["group_file"] is None:
            refuse_idle(job, ["group_weight"], "groups of several columns", "--group-file FILE")
        if job["alpha"] == 0:
            refuse_idle(job, ["group_file"], "the penalty on groups", "an --alpha above zero")
        training = MatrixTraining(**self.known(job))
        reader = Tables(job, training)
        return Plan(
            training,
            reader.read,
            lambda data: (data.X, data.y),
            complete=lambda model: replace(model, names=reader.names),
        )

    def size(self, model: MatrixModel) -> dict[str, Any]:
        """Columns and groups, of how many."""
        from parsimon.tasks.matrices.inspect import active_groups

        groups = model.groups
        return {
            "columns": len(model.columns),
            "candidate_columns": model.n_columns,
            "groups": None if groups is None else int(active_groups(groups, model.coef).sum()),
            "candidate_groups": None if groups is None else groups.n_groups,
            "classes": None if model.classes is None else len(model.classes),
        }

    def size_facts(self, size: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The same for people."""
        from parsimon.report.tables import of

        pairs = [("columns", of(size["columns"], size["candidate_columns"]))]
        if size["candidate_groups"] is not None:
            pairs.append(("groups", of(size["groups"], size["candidate_groups"])))
        return pairs

    # ---- use ---------------------------------------------------------------------------------------------------

    def predict(self, model: MatrixModel, job: Asked) -> None:
        """A line a row: its class or number; with --marginals, the probability of every class."""
        X, _ = columns_of(read(job["input"], job["encoding"], None), model, job["input"])
        predicted = model.predict(X)
        if job["marginals"] and model.classes is None:
            raise ParsimonError(
                f"{job.model} predicts numbers, which have no probabilities; leave out --marginals."
            )
        with output(job["output"]) as write:
            rows = model.probabilities(X).tolist() if job["marginals"] else [[] for _ in predicted]
            for label, probabilities in zip(predicted.tolist(), rows, strict=True):
                scored = zip(model.classes or (), probabilities, strict=False)
                cells = [f"{label:.6g}" if model.classes is None else str(label)]
                cells += [f"{name}={p:.{DIGITS}f}" for name, p in scored]
                write(("\t".join(cells) + "\n").encode())

    def evaluate(self, model: MatrixModel, job: Asked) -> Evaluated:
        """Accuracy and scores by class; of numbers the mean squared error and R²."""
        from parsimon.report import document_tables as tables
        from parsimon.tasks.sequences.metrics import evaluate as compare

        table = read(job["test"], job["encoding"], None)
        X, rest = columns_of(table, model, job["test"])
        if len(rest) != 1:
            raise ParsimonError(
                f"{job['test']} should have one column besides those of the model, the target, but it has {len(rest)}."
            )
        cells = [row[table.names.index(rest[0])] for row in table.rows]
        if model.classes is None:
            return regression(numbers(cells, rest[0], job["test"]), model.predict(X))
        predicted = [str(label) for label in model.predict(X).tolist()]
        evaluation = compare([[y] for y in cells], [[y] for y in predicted])
        return Evaluated.split(
            tables.evaluation_record(evaluation, rows="rows"), tables.evaluation_text(evaluation, rows="rows")
        )

    def inspect(self, model: MatrixModel, job: Asked) -> Inspected:
        """Sizes, groups by their norms, and the heaviest columns; `label` names a class."""
        from parsimon.report import tables
        from parsimon.tasks.matrices import inspect as look

        top = job["top"]
        heaviest = look.heaviest_columns(model, job["label"], top)
        norms = look.group_norms(model)
        if job["as_json"]:
            columns = [{"column": model.name_of(each.column), "weight": each.weight} for each in heaviest]
            details = {
                "label_names": None if model.classes is None else list(model.classes),
                "per_group": [asdict(norm) for norm in norms],
                "heaviest": columns,
            }
            return Inspected(self.size(model), details, "")
        file = ("model", f"{job.model} ({tables.file_size(Path(job.model).stat().st_size)})")
        sections = [
            tables.facts([file, *self.size_facts(self.size(model)), *tables.ending_facts(model.info)])
        ]
        if norms:
            rows = [(norm.name, f"{norm.columns}", f"{norm.norm:.4f}") for norm in norms[:top]]
            sections.append(tables.table(("group", "columns", "norm of weights"), rows, "<>>"))
        if top:
            weights = [(f"{each.weight:+.4f}", model.name_of(each.column)) for each in heaviest]
            sections.append(tables.table(("weight", "column"), weights, "><"))
        return Inspected({}, {}, "\n".join(sections))


KIND = Matrices()


def regression(y: Array, predicted: Array) -> Evaluated:
    """How near numbers are."""
    import numpy as np

    error, spread = float(np.mean((y - predicted) ** 2)), float(np.var(y))
    scores = {"rows": len(y), "mean_squared_error": error, "r2": 1 - error / spread if spread else 0.0}
    text = f"compared {len(y)} rows\nmean squared error: {error:.6g}; R²: {scores['r2']:.4f}\n"
    return Evaluated(scores, {}, text)


# --- Tables --------------------------------------------------------------------------------------------------


@dataclass
class Tables:
    """Tables to learn from, and groups of their columns."""

    job: Asked
    training: Any
    names: tuple[str, ...] = ()  # of the columns without the target, of the table that was read first

    def read(self, source: str) -> Rows:
        """The columns but the target as numbers; groups by their names."""
        from parsimon.tasks.matrices.training import Rows

        table = read(source, self.job["encoding"], self.job["separator"])
        target = self.job["target"] or table.names[-1]
        if target not in table.names:
            raise ParsimonError(
                f"{source} has no column {target!r}; its columns are {', '.join(table.names)}."
            )
        names = tuple(name for name in table.names if name != target)
        if self.names and names != self.names:
            raise ParsimonError(f"{source} has other columns than {self.job['train']}; both need the same.")
        if not self.names:
            self.names = names
            if self.job["group_file"] is not None:
                self.training.groups = read_groups(self.job, names)
        cells = [row[table.names.index(target)] for row in table.rows]
        y = numbers(cells, target, source) if self.training.loss == "squared" else cells
        return Rows(matrix(table, names, source), y)


def read(source: str, encoding: str, separator: str | None) -> Any:
    """A table of cells."""
    from parsimon.data.csv_tables import SEPARATORS, read_table

    return read_table(source, separator=SEPARATORS.get(separator or ""), encoding=encoding, discrete=False)


def columns_of(table: Any, model: MatrixModel, source: str) -> tuple[Array, list[str]]:
    """The columns that a model knows, and the names of the others."""
    if model.names is None:
        raise ParsimonError(
            "this model was trained on a matrix whose columns have no names; use it from Python."
        )
    missing = [name for name in model.names if name not in table.names]
    if missing:
        raise ParsimonError(f"{source} has no column {missing[0]!r}, which the model was trained with.")
    return matrix(table, model.names, source), [name for name in table.names if name not in model.names]


def matrix(table: Any, names: Sequence[str], source: str) -> Array:
    """Some columns as numbers."""
    import numpy as np

    places = [table.names.index(name) for name in names]
    columns = [numbers([row[j] for row in table.rows], table.names[j], source) for j in places]
    return np.stack(columns, axis=1) if columns else np.zeros((len(table.rows), 0))


def numbers(cells: Sequence[str], column: str, source: str) -> Array:
    """Cells as numbers; refused if one is none."""
    import numpy as np

    out = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            out[i] = float(cell)
        except ValueError:
            out[i] = np.nan
        if not np.isfinite(out[i]):
            raise ParsimonError(f"{source}, row {i + 1}: {cell!r} in column {column!r} is no finite number.")
    return out


def read_groups(job: Asked, names: Sequence[str]) -> Groups:
    """Groups of columns from lines 'group TAB column', in the order in which they come."""
    from parsimon.penalties import Groups

    source, encoding = job["group_file"], job["encoding"]
    place = {name: j for j, name in enumerate(names)}
    groups: dict[str, list[int]] = {}
    text = decoded(read_text_file(source), encoding, source)
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        group, tab, column = line.partition("\t")
        if not tab or column not in place:
            wanted = "a group, a tab and the name of a column"
            raise ParsimonError(f"{source}, line {number}: {line!r} should be {wanted}.")
        groups.setdefault(group, []).append(place[column])
    if not groups:
        raise ParsimonError(f"{source} has no groups; it should have lines 'group TAB column'.")
    return Groups.from_lists(list(groups.values()), len(names), list(groups), job["group_weight"])
