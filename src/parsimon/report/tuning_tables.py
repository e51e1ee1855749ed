"""How strengths were chosen: as facts, as a table, and as a drawing of score and size against strength."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from parsimon.errors import ParsimonError
from parsimon.report.tables import percent, table

LISTED = 12  # strengths in a table: the chosen one, and those next to it


def tuning_facts(training: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was chosen, and by what."""
    tuning = training.get("tuning")
    if not tuning:
        return []
    best = chosen_of(tuning)
    error = "" if best.get("error") is None else f" (± {percent(best['error'])})"
    by = (
        "development data"
        if not tuning.get("folds")
        else f"{tuning['folds']} fold{'s' * (tuning['folds'] != 1)}"
    )
    rule = "" if tuning["rule"] == "best" else ", the smallest within one standard error"
    return [
        (
            "strengths",
            f"{strengths_text(tuning['chosen'])}: of {len(tuning['tried'])} tried on {by}{rule}, "
            f"score {score_text(best['score'])}{error}",
        )
    ]


def tuning_table(training: Mapping[str, Any]) -> str:
    """The strengths around the chosen one, on its path: scores with their standard errors, and sizes."""
    tuning = training.get("tuning")
    if not tuning:
        return ""
    path = path_of(tuning)
    at = path.index(chosen_of(tuning))
    first = max(0, min(at - LISTED // 2, len(path) - LISTED))
    rows = [
        (
            "*" if each is path[at] else "",
            strengths_text(each["strengths"]),
            score_text(each["score"]),
            "" if each.get("error") is None else score_text(each["error"]),
            f"{each['size']:,.0f}",
        )
        for each in path[first : first + LISTED]
    ]
    return table(("", "strengths", "score", "±", "weights"), rows, "<<>>>")


def chosen_of(tuning: Mapping[str, Any]) -> Mapping[str, Any]:
    """The strengths that were chosen, with their score."""
    found: Mapping[str, Any] = next(
        (each for each in tuning["tried"] if each["strengths"] == tuning["chosen"]), tuning["tried"][0]
    )
    return found


def path_of(tuning: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All that was tried on the path of the chosen strengths: a path ends where its first strength rises."""
    paths: list[list[Mapping[str, Any]]] = []
    for each in tuning["tried"]:
        last = paths[-1][-1] if paths else None
        if last is None or [*last["strengths"]] != [*each["strengths"]] or main_of(each) >= main_of(last):
            paths.append([])
        paths[-1].append(each)
    best = chosen_of(tuning)
    return next(path for path in paths if any(each is best for each in path))


def main_of(tried: Mapping[str, Any]) -> float:
    """The strength that falls along a path."""
    return float(next(iter(tried["strengths"].values())))


def strengths_text(strengths: Mapping[str, float]) -> str:
    """For instance ``l1 0.5, l2 5``."""
    return ", ".join(f"{name} {value:g}" for name, value in strengths.items())


def score_text(score: float) -> str:
    """Shares in per cent; errors of numbers as they are."""
    return percent(score) if 0 <= score <= 1 else f"{score:.4g}"


def draw_tuning(tuning: Mapping[str, Any]) -> Any:
    """Score and size against strength, on the path of the chosen one, as a matplotlib figure."""
    try:
        figures = import_module("matplotlib.figure")
    except ImportError as error:
        raise ParsimonError(
            "drawing strengths needs matplotlib, which is not installed; pip install 'parsimon[plots]'."
        ) from error
    path, best = path_of(tuning), chosen_of(tuning)
    strengths = [main_of(each) for each in path]
    figure = figures.Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    errors = [each.get("error") or 0.0 for each in path]
    axes.errorbar(strengths, [each["score"] for each in path], errors, fmt="o-", capsize=3)
    axes.axvline(main_of(best), linestyle=":", color="grey")
    name = next(iter(best["strengths"]))
    axes.set(xscale="log", xlabel=name, ylabel="score (line)", title=strengths_text(best["strengths"]))
    axes.invert_xaxis()
    sizes = axes.twinx()
    sizes.plot(strengths, [max(each["size"], 1.0) for each in path], "s--", color="tab:orange")
    sizes.set(yscale="log", ylabel="weights (dashed)")
    return figure
