"""What every experiment does with its results: numbers, figures, and the marked blocks of a page in docs/results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parsimon.report.markdown import replace_blocks

PAGES = Path(__file__).resolve().parents[1] / "docs" / "results"
TRIED = PAGES.parents[1] / "build" / "results"  # figures of runs that write no page


pictures = PAGES


def percent(fraction: float | None) -> str:
    """As papers print scores."""
    return "–" if fraction is None else f"{100 * fraction:.2f}"


def whole(value: float | None) -> str:
    """A count."""
    return "–" if value is None else f"{value:,.0f}"


def say(text: str) -> None:
    """Progress goes to standard error, results to standard output."""
    print(text, file=sys.stderr, flush=True)


def main(parts: dict[str, Callable[..., str]], page: str, description: str) -> int:
    """Runs the parts named on the command line, prints them, and with --write puts them into the page of results."""
    parser = argparse.ArgumentParser(description=description.split("\n\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)} (default: all)")
    parser.add_argument("--write", action="store_true", help=f"put the results into docs/results/{page}")
    parser.add_argument("--threads", type=int, default=2, help="for what can use several (default: 2)")
    options = parser.parse_args()
    draw_for_pages(options.write)
    unknown = [part for part in options.parts if part not in parts]
    if unknown:
        say(f"there is no part {unknown[0]!r}; choose from {', '.join(parts)}")
        return 2
    for name, run in parts.items():
        if options.parts and name not in options.parts:
            continue
        say(f"== {name}")
        text = run(options.threads)
        print(f"\n{text}", flush=True)
        if options.write:
            replace_blocks(PAGES / page, {name: text})
    return 0


def draw_for_pages(write: bool) -> None:
    """Whether figures are those of a page from now on, or only to be looked at."""
    global pictures
    pictures = PAGES if write else TRIED


def figure(name: str, draw: Callable[[Any], None], width: float = 7.0, height: float = 4.2) -> str:
    """Draws NAME.png, for a page or to be looked at, and gives the Markdown that shows it."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(figsize=(width, height), layout="constrained")
    draw(axes)
    pictures.mkdir(parents=True, exist_ok=True)
    fig.savefig(pictures / f"{name}.png", dpi=130)
    plt.close(fig)
    return f"![{name}]({name}.png)\n"


def panels_of(axes: Any, rows: int, columns: int, **settings: Any) -> list[Any]:
    """Several axes in place of one."""
    figure_of = axes.figure
    axes.remove()
    return [
        panel for row in figure_of.subplots(rows, columns, **{**settings, "squeeze": False}) for panel in row
    ]
