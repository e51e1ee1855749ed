"""So many labels that they are probably something else: identifiers, measurements, or the text itself."""

from __future__ import annotations

from dataclasses import dataclass

from parsimon.errors import warn


@dataclass(frozen=True)
class Plausible:
    """How many labels are not too many: up to `least`, or up to a share of what has a label."""

    share: float
    least: int


OF_ROWS = Plausible(0.9, 10)  # of documents and rows: nearly each with its own
OF_TOKENS = Plausible(0.1, 50)  # labels of tokens come again and again


def check_label_counts(n_labels: int, n_labelled: int, what: str, plausible: Plausible) -> None:
    """Warns if there are more labels than is plausible for so many documents, rows or tokens (`what` they are)."""
    if n_labels >= plausible.least and n_labels > plausible.share * n_labelled:
        warn(
            f"there are {n_labels:,} labels for {n_labelled:,} {what}, so hardly any comes twice; check that the "
            "labels are where they should be."
        )
