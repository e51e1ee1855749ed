"""What a labeller has learnt, in numbers and names: the public names of `parsimon.tasks.sequences.inspect`."""

from parsimon.tasks.sequences.inspect import (
    Feature,
    Share,
    features,
    heaviest_by_label,
    label_shares,
    pruned,
    summary,
    template_shares,
    transitions,
)

__all__ = [
    "Feature",
    "Share",
    "features",
    "heaviest_by_label",
    "label_shares",
    "pruned",
    "summary",
    "template_shares",
    "transitions",
]
