"""What a model says about its training (`info`): declared once, and checked when a model is written and read.

Nothing in `info` is needed to predict, but reports, pages and estimators show it, and may trust it. All of it may be
missing. A kind of model adds what it records as `INFO` in its `file.py`; what nobody declares may be any plain JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parsimon.forms import (
    Form,
    count,
    flag,
    integer,
    line,
    list_of,
    mapping,
    number,
    optional,
    record,
    text,
    tuple_of,
)

measure, size, setting, about = optional(number), optional(count), optional(line), optional(text)

HISTORY = list_of(
    record(
        {"iteration": count, "objective": number, "active": count},
        {
            "evaluations": count,
            "phase": line,
            "kkt": number,
            "gap": number,
            "dev": number,
            "instantiated": list_of(count),
            "selected": count,
            "support": count,
        },
    )
)
TRIED = record({"budget": count, "mistakes": number, "error": number})
SELECTION = record(
    {"name": line, "templates": list_of(tuple_of(text, number))},
    {"instantiated": size, "history": HISTORY, "features": size, "tried": list_of(TRIED)},
)
STRENGTHS = mapping(number)
TUNING = record(
    {
        "tried": list_of(
            record({"strengths": STRENGTHS, "score": number, "size": number}, {"error": optional(number)})
        ),
        "chosen": STRENGTHS,
        "rule": line,
    },
    {"folds": size},
)
SHARED: Mapping[str, Form] = {
    "loss": setting,
    "penalty": about,
    "l1": measure,
    "l2": measure,
    "threshold": measure,
    "solver": setting,
    "random_state": optional(integer),
    "prune": measure,
    "weights": setting,  # their type in the file
    "status": setting,
    "objective": measure,
    "kkt": measure,
    "gap": measure,
    "iterations": count,
    "history": HISTORY,
    "support": size,
    "tuning": optional(TUNING),
}
SHARED_BY_LABELLERS: Mapping[str, Form] = {
    "candidate_features": size,
    "candidate_attributes": size,
    "candidate_templates": size,
    "sequences": size,
    "sentences": size,
    "tokens": size,
    "selection": optional(SELECTION),
    "penalize_bias": optional(flag),
}


def checked_info(info: Any, own: Mapping[str, Form]) -> dict[str, Any]:
    """The same, or a `ValueError` that says what in it is wrong; `own` are the forms of a kind of model."""
    out: dict[str, Any] = record({}, {**SHARED, **own})(info, "info")
    return out
