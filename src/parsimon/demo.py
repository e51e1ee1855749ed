"""What `make demo` shows: a sparse CRF that learns to read Python code, beside a dense one.

The data is the source of Python's own standard library, so nothing is downloaded. Every token is labelled
with its role in the syntax tree (see `parsimon.data.python_labels`). The templates are more than anybody
needs; which of their features to keep is for learning to say. Files held out from training tell how it went.
"""

from __future__ import annotations

import ast
import io
import sys
import sysconfig
import time
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from parsimon.arrays import BoolArray
from parsimon.data.python_code import CodeCorpus, load_python_code
from parsimon.data.python_labels import label_python
from parsimon.errors import ParsimonError
from parsimon.features import Columns, Labels, TemplateFeatures, get_preset
from parsimon.penalties import ElasticNet
from parsimon.report.progress import progress
from parsimon.report.tables import file_size
from parsimon.report.time_left import TimeLeft
from parsimon.solvers import Status
from parsimon.tasks.model_file import dump_model, save_model
from parsimon.tasks.sequences.inspect import features, template_shares
from parsimon.tasks.sequences.model import SequenceModel
from parsimon.tasks.sequences.training import Labelled, SequenceTraining

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Sizes and limits that keep the whole demonstration under a minute on two cores. The strengths were chosen on
# development files taken from the training part (`train.split(seed=1)` and `seed=2`), not on the held-out files.
MODULES = 24
MAX_TOKENS = 45_000
THREADS = 2
PRESET = "python-code"
SPARSE = SequenceTraining(penalty=ElasticNet(l1=0.5, l2=0.1), tol=1e-3, time_limit=22.0, n_jobs=THREADS)
# Every attribute with every label would be millions of weights, all of them kept; so the dense model only
# gets the pairs that occur.
DENSE = SequenceTraining(
    penalty=ElasticNet(l2=0.3),
    solver="lbfgs",
    candidates="seen",
    tol=1e-3,
    time_limit=18.0,
    n_jobs=THREADS,
)
FOLDER = Path("demo")

# Colours for groups of labels; what is in none of them is a sign, and dim.
GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "definition": ("bold green", ("function-def", "method-def", "class-def")),
    "parameter": ("bold yellow", ("parameter", "keyword-argument")),
    "variable bound": ("bold magenta", ("local-store", "global-store", "attribute-store", "loop-variable")),
    "variable read": ("magenta", ("local", "global")),
    "attribute": ("cyan", ("attribute",)),
    "call": ("bold blue", ("call", "method-call")),
    "module": ("bold cyan", ("module", "import-name")),
    "type": ("yellow", ("annotation", "base-class", "exception", "decorator")),
    "literal": ("green", ("literal", "string", "format-string", "key", "docstring")),
    "keyword": ("bold", ("keyword", "expression-keyword")),
}
STYLE = {label: style for style, labels in GROUPS.values() for label in labels}


@dataclass(frozen=True)
class Outcome:
    """A row of the comparison."""

    name: str
    right: BoolArray  # which held-out tokens
    seconds: float | None = None
    model: SequenceModel | None = None


def main() -> int:
    """Trains both models, compares them, and keeps the small one."""
    from rich.console import Console

    console = Console(highlight=False)
    try:
        demonstrate(console)
    except ParsimonError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def demonstrate(console: Console) -> None:
    """The whole programme."""
    corpus = load_python_code(MODULES, max_tokens=MAX_TOKENS)
    train, test = corpus.split()
    console.print(
        "[bold]What is each token of a Python source?[/bold] A function being defined or being called, "
        "a parameter, an attribute, the colon of a slice or of a block: "
        f"{len(corpus.labels)} labels, learnt from the standard library's own source. "
        f"Training: {train.n_tokens:,} tokens of {len(set(train.files))} files; "
        f"held out: {test.n_tokens:,} tokens of {len(set(test.files))} other files.\n"
    )
    sparse = trained("sparse CRF", SPARSE, train, test)
    dense = trained("dense CRF (L2)", DENSE, train, test)
    compare(console, [by_text_alone(train, test), dense, sparse], test)
    assert sparse.model is not None
    show_templates(console, sparse.model)
    show_features(console, sparse.model)
    show_snippet(console, sparse.model, test)
    keep(console, sparse.model, test)


def trained(name: str, training: SequenceTraining, train: CodeCorpus, test: CodeCorpus) -> Outcome:
    """Trains a model, with a bar in a terminal, and labels the held-out files with it."""
    began = time.perf_counter()
    left = TimeLeft(training.time_limit)
    bar = progress(sys.stderr, quiet=False, verbose=not sys.stderr.isatty(), began=began, time_left=left)
    with bar:
        bar.phase(name)
        space = TemplateFeatures(get_preset(PRESET))
        X, y = Columns.from_sequences(train.X), Labels.from_sequences(train.y)
        model = replace(training, callback=bar).run(Labelled(space, X, y), watch=bar).model
    seconds = time.perf_counter() - began
    predicted = model.predict_columns(Columns.from_sequences(test.X), THREADS)
    return Outcome(name, right(predicted, test), seconds, model)


def right(predicted: Labels, test: CodeCorpus) -> BoolArray:
    """Which tokens got their label."""
    pairs = zip(predicted, test.y, strict=True)
    return np.array([p == g for line, gold in pairs for p, g in zip(line, gold, strict=True)], bool)


def by_text_alone(train: CodeCorpus, test: CodeCorpus) -> Outcome:
    """What one gets without any context: the commonest label of the same text, or else of the same type."""
    seen: defaultdict[object, Counter[str]] = defaultdict(Counter)
    for tokens, labels in zip(train.X, train.y, strict=True):
        for (text, kind), label in zip(tokens, labels, strict=True):
            seen[text, kind][label] += 1
            seen[kind][label] += 1
    guess = {key: counts.most_common(1)[0][0] for key, counts in seen.items()}
    lines = [[guess.get((text, kind), guess.get(kind, "")) for text, kind in tokens] for tokens in test.X]
    return Outcome("by text alone", right(Labels.from_sequences(lines), test))


def compare(console: Console, outcomes: list[Outcome], test: CodeCorpus) -> None:
    """Accuracy, size and time side by side."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    names = np.array([kind == "NAME" for line in test.X for _, kind in line])
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("held-out files", no_wrap=True)
    for heading in ("right", "names", "features", "of", "templates", "file", "time"):
        table.add_column(heading, justify="right", no_wrap=True)
    for outcome in outcomes:
        row = [outcome.name, percent(outcome.right), percent(outcome.right[names])]
        if outcome.model is not None:
            shares = template_shares(outcome.model)
            row += [
                f"{len(outcome.model.weights):,}",
                f"{outcome.model.info['candidate_features']:,}",
                f"{sum(share.features > 0 for share in shares)}/{len(shares)}",
                file_size(len(dump_model(outcome.model))),
                f"{outcome.seconds:.0f} s",
            ]
        table.add_row(*row)
    console.print(table)
    large, small = (len(o.model.weights) for o in outcomes if o.model is not None)
    console.print(
        f"The sparse model has {large / max(small, 1):.0f} times fewer weights than the dense one. "
        "(right: the share of all tokens, names: of names and keywords. The dense model may only use attributes "
        "with labels they occur with, the sparse one with any.)\n"
    )
    for outcome in outcomes:
        if outcome.model is not None and outcome.model.info["status"] != Status.CONVERGED.value:
            console.print(
                f"Note: {outcome.name} {outcome.model.info['status']}; more time would change it.\n"
            )


def percent(right: BoolArray) -> str:
    """A share of tokens."""
    return f"{100 * float(np.mean(right)):.2f}%"


def show_templates(console: Console, model: SequenceModel) -> None:
    """Which templates are gone, and how few carry most of the model."""
    shares = sorted(template_shares(model), key=lambda share: -share.features)
    gone = [short(share.name) for share in shares if not share.features]
    if gone:
        what, which = f"Templates dropped entirely ({len(gone)} of {len(shares)}):", ", ".join(gone)
    else:
        what = "No template was dropped entirely; those with the fewest features left:"
        which = ", ".join(f"{short(share.name)} ({share.features})" for share in shares[-5:])
    half = int(np.searchsorted(np.cumsum([share.features for share in shares]), len(model.weights) / 2)) + 1
    first = ", ".join(short(share.name) for share in shares[:3])
    console.print(
        f"{what} {which}.", f"Half of all features are of {half} templates, first {first}.\n", markup=False
    )


def short(template: str) -> str:
    """A template's name, without what it looks at."""
    return template.split("=")[0].removeprefix("U:")


def show_features(console: Console, model: SequenceModel, top: int = 10) -> None:
    """The heaviest weights with their names."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console.print("[bold]The most telling features:[/bold]")
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("weight", justify="right")
    table.add_column("label")
    table.add_column("what is seen")
    for f in features(model, top=top):
        label = f.label if f.previous is None else f"{f.previous} → {f.label}"
        table.add_row(f"{f.weight:+.2f}", Text(label, STYLE.get(f.label, "")), Text(f.attribute))
    console.print(table)


def show_snippet(console: Console, model: SequenceModel, test: CodeCorpus) -> None:
    """A function of a held-out file in the colours of its labels; in plain text, with the roles of names."""
    snippet = max(snippets(test), key=lambda snippet: len(set(snippet.gold)), default=None)
    if snippet is None:
        return
    labels = model.predict_columns(Columns.from_sequences(snippet.lines), THREADS)
    predicted = [str(label) for line in labels for label in line]
    console.print(
        f"[bold]A function of a held-out file[/bold] ({snippet.where}) as the sparse model reads it:\n"
    )
    for number, row in enumerate(snippet.rows, snippet.first_row):
        mine = [(p, y) for p, y in zip(snippet.places, predicted, strict=True) if p.row == number]
        console.print(painted(row, mine))
        roles = ", ".join(f"{p.text}: {y}" for p, y in mine if p.text.isidentifier() and y != "keyword")
        if roles and not console.color_system:
            console.print(f"        # {roles}", soft_wrap=True)
    if console.color_system:
        console.print("\n ", " · ".join(f"[{style}]{name}[/]" for name, (style, _) in GROUPS.items()))
    wrong = [(p, y, g) for p, y, g in zip(snippet.places, predicted, snippet.gold, strict=True) if y != g]
    console.print(f"\n{len(predicted) - len(wrong)} of its {len(predicted)} tokens are right.", end=" ")
    mistakes = [f"{p.text!r} in line {p.row} is {g}, not {y}" for p, y, g in wrong[:5]]
    console.print(f"Not so: {'; '.join(mistakes)}.\n" if mistakes else "\n", markup=False)


def painted(row: str, tokens: list[tuple[Place, str]]) -> Text:
    """A line of source, each token in the colour of its label."""
    from rich.text import Text

    text = Text(row)
    for place, label in tokens:
        text.stylize(STYLE.get(label, "dim"), place.start, place.end)
    return text


@dataclass(frozen=True)
class Place:
    """Where a token stands: its row in the file, and its columns there."""

    text: str
    row: int
    start: int
    end: int


@dataclass(frozen=True)
class Snippet:
    """A few lines of a source, with where each of their tokens stands and what it is."""

    where: str
    first_row: int
    rows: list[str]
    lines: list[list[tuple[str, str]]]
    places: list[Place]
    gold: list[str]


def snippets(test: CodeCorpus) -> Iterator[Snippet]:
    """The functions of held-out files that are neither too long nor too short to show."""
    for module in sorted(set(test.files)):
        path = Path(sysconfig.get_path("stdlib"), *module.split(".")).with_suffix(".py")
        with tokenize.open(path) as file:
            source = file.read()
        X, y = label_python(source, module)
        places = list(logical_lines(source))
        if [len(line) for line in places] != [len(line) for line in X]:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and 6 <= (node.end_lineno or 0) - node.lineno <= 11:
                rows = range(node.lineno, (node.end_lineno or 0) + 1)
                chosen = [i for i, line in enumerate(places) if line[0].row in rows]
                yield Snippet(
                    f"{node.name} in {module}",
                    node.lineno,
                    source.split("\n")[rows.start - 1 : rows.stop - 1],
                    [X[i] for i in chosen],
                    [place for i in chosen for place in places[i]],
                    [label for i in chosen for label in y[i]],
                )


def logical_lines(source: str) -> Iterator[list[Place]]:
    """The tokens that `label_python` labels, each where it stands; an f-string counts as one."""
    line: list[Place] = []
    nesting, opening = 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind, start = tokenize.tok_name[token.type], token.start
        if kind.endswith("STRING_START"):  # since Python 3.12
            opening = opening if nesting else start
            nesting += 1
        elif kind.endswith("STRING_END"):
            nesting -= 1
            kind, start = "STRING", opening
        if nesting:
            continue
        if kind == "NEWLINE" and line:
            yield line
            line = []
        elif kind in ("NAME", "OP", "NUMBER", "STRING") or (kind == "COMMENT" and line):
            end = token.end[1] if token.end[0] == start[0] else sys.maxsize
            line.append(Place(token.string, start[0], start[1], end))


def keep(console: Console, model: SequenceModel, test: CodeCorpus) -> None:
    """Writes the model and the held-out data, and says what to try next."""
    FOLDER.mkdir(exist_ok=True)
    path, data = FOLDER / f"{PRESET}.parsimon", FOLDER / "held-out.tsv"
    save_model(model, path)
    test.write(data)
    command = Path(sys.executable).with_name("parsimon")
    if command.is_relative_to(Path.cwd()):
        command = command.relative_to(Path.cwd())
    console.print(f"The model is {path} ({file_size(path.stat().st_size)}). What to try next:")
    for arguments in (
        f"inspect {path} --top 20",
        f"inspect {path} --html {FOLDER / 'learnt.html'}",
        f"evaluate {path} {data}",
    ):
        console.print(f"    {command} {arguments}", soft_wrap=True)


if __name__ == "__main__":
    raise SystemExit(main())
