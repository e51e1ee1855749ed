"""How good extracted records are: F1 of each attribute, their average, and whole records that are right.

As Zhu, Xing & Zhang (2009, §5.4) score web records: average F1 over attributes, and the share of records of which every
attribute is right ("block instance accuracy").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from parsimon.errors import ParsimonError

Record = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class RecordScores:
    """Fractions, not per cent."""

    f1: dict[str, float]  # by attribute
    accuracy: float  # whole records

    @property
    def average_f1(self) -> float:
        """Over attributes, each counting as much as any other."""
        return sum(self.f1.values()) / len(self.f1) if self.f1 else 0.0


def score_records(gold: Sequence[Record], predicted: Sequence[Record]) -> RecordScores:
    """Compares records value by value; order and repetition make no difference, nor do attributes without values.

    >>> from parsimon.tasks.pages.metrics import score_records
    >>> gold = [{"name": ["Jo"], "height": ["6-5"]}, {"name": ["Al"]}]
    >>> scores = score_records(gold, [{"name": ["Jo"], "height": ["6-6"]}, {"name": ["Al"], "height": []}])
    >>> scores.f1, scores.average_f1, scores.accuracy
    ({'name': 1.0, 'height': 0.0}, 0.5, 0.5)
    """
    if len(gold) != len(predicted):
        raise ParsimonError(f"there are {len(gold)} records but predictions for {len(predicted)}.")
    attributes = dict.fromkeys(
        name for record in (*gold, *predicted) for name, found in record.items() if found
    )
    both = list(zip(map(_values, gold), map(_values, predicted), strict=True))
    none: frozenset[str] = frozenset()
    f1 = {name: _f1((g.get(name, none), p.get(name, none)) for g, p in both) for name in attributes}
    right = sum(g == p for g, p in both)
    return RecordScores(f1, right / len(both) if both else 0.0)


def _values(record: Record) -> dict[str, frozenset[str]]:
    return {name: frozenset(values) for name, values in record.items() if values}


def _f1(pairs: Iterable[tuple[frozenset[str], frozenset[str]]]) -> float:
    """2 · hits / (wanted + given), summed over records."""
    hits = total = 0
    for wanted, given in pairs:
        hits += len(wanted & given)
        total += len(wanted) + len(given)
    return 2 * hits / total if total else 0.0
