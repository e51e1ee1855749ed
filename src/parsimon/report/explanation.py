"""Explained documents in a terminal: sentences shaded by their contribution to the label, heavy words in bold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from parsimon.characters.printable import one_line, printable

if TYPE_CHECKING:
    from parsimon.tasks.documents.explain import ExplainedDocument, ExplainedSentence

# From weak to strong. Dark text on light colours is readable on any terminal background.
TOWARDS = ("#dcf5dc", "#b4e6b4", "#82d282", "#4bbe4b")
AGAINST = ("#fae1dc", "#f5beb4", "#f09687", "#e66e5f")
MIN_LOG_ODDS = 1e-3  # smaller log-odds get no colour (and no number in Tables 3 and 4 of the paper)
HEAVY = 0.25  # words with at least this share of the largest contribution in a document are bold
SHOWN_LABELS = 4


def print_explanations(
    documents: Iterable[ExplainedDocument],
    console: Any = None,
    names: Sequence[str] | None = None,
) -> None:
    """Print explained documents on a rich console, by default standard output; `names` are what they are called.

    Colours are left out if that is not a terminal or if NO_COLOR is set.
    """
    from rich.console import Console

    console = console or Console(highlight=False, soft_wrap=False)
    for number, document in enumerate(documents, start=1):
        name = "" if names is None else names[number - 1]
        console.print(heading(document, number, name), highlight=False)
        console.print(sentence_table(document), highlight=False)
        console.print()


def explanation_text(documents: Iterable[ExplainedDocument], names: Sequence[str] | None = None) -> str:
    """The text that `print_explanations` prints on standard output, with colours if that is a terminal."""
    from rich.console import Console

    console = Console()
    with console.capture() as captured:
        print_explanations(documents, console, names)
    text = captured.get()
    return text if console.is_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def heading(document: ExplainedDocument, number: int, name: str = "") -> Any:
    """For instance ``document 1, new.txt: good 98.2%, bad 1.8%``."""
    from rich.text import Text

    ranked = sorted(document.probabilities.items(), key=lambda item: -item[1])
    text = Text(f"document {number}{name and f', {name}'}: ", style="bold")
    for rank, (label, probability) in enumerate(ranked[:SHOWN_LABELS]):
        text.append(", " if rank else "", style="not bold")
        style = "bold" if label == document.predicted else "not bold"
        text.append(f"{one_line(label)} {100 * probability:.1f}%", style=style)
    if len(ranked) > SHOWN_LABELS:
        text.append(f", and {len(ranked) - SHOWN_LABELS} more", style="not bold dim")
    if document.label != document.predicted:
        text.append(f"; about {one_line(document.label)}", style="not bold")
    return text


def sentence_table(document: ExplainedDocument) -> Any:
    """Sentences with their numbers and log-odds."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False, pad_edge=False)
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    largest = largest_log_odds(document)
    heavy = heavy_contribution(document)
    for number, sentence in enumerate(document.sentences, start=1):
        shown = abs(sentence.log_odds) >= MIN_LOG_ODDS
        odds = Text(f"{sentence.log_odds:+.3f}" if shown else "·")
        table.add_row(str(number), odds, sentence_line(sentence, largest, heavy))
    return table


def sentence_line(sentence: ExplainedSentence, largest: float, heavy: float) -> Any:
    """A shaded sentence with heavy words in bold, struck through if training found it irrelevant."""
    from rich.text import Text

    style = shade(sentence.log_odds, largest)
    if sentence.relevant is False:
        style = f"{style} strike" if style else "dim strike"
    line = Text(style=style)
    for piece, token in sentence.pieces():
        bold = token is not None and abs(token.contribution) >= heavy
        line.append(printable(" ".join(piece.split("\n"))), style="bold" if bold else "")
    return line


def shade(log_odds: float, largest: float) -> str:
    """The style of a sentence: green if it speaks for the label, red if it speaks against it."""
    if abs(log_odds) < MIN_LOG_ODDS:
        return ""
    colours = TOWARDS if log_odds > 0 else AGAINST
    return f"black on {colours[min(int(len(colours) * abs(log_odds) / largest), len(colours) - 1)]}"


def largest_log_odds(document: ExplainedDocument) -> float:
    """The largest log-odds of a sentence, to which shades are relative; never zero."""
    return max((abs(s.log_odds) for s in document.sentences), default=0.0) or 1.0


def heavy_contribution(document: ExplainedDocument) -> float:
    """The smallest contribution of a heavy word; never zero."""
    contributions = (abs(t.contribution) for s in document.sentences for t in s.tokens)
    return HEAVY * max(contributions, default=0.0) or float("inf")
