"""Three documents in the forms that are read, and a model of two labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from parsimon.tasks.documents.model import DocumentModel
from parsimon.tasks.model_file import save_model

TEXTS = ["A fine film. The end.", "Dull, dull, dull!", "Fine, but dull. Dull."]
GOLD = ["good", "bad", "good"]


def save_reviews(folder: Path) -> Path:
    """A model of good and bad, in a file."""
    info = {
        "loss": "log",
        "penalty": "sentence",
        "l1": 0.5,
        "documents": 40,
        "candidate_words": 300,
        "objective": 12.5,
        "kkt": 0.01,
        "status": "converged",
        "history": [{"iteration": 0, "objective": 20.0, "active": 0, "evaluations": 1}],
    }
    words, weights = ("fine", "dull", "end"), np.array([[2.0], [-1.5], [0.25]])
    path = folder / "reviews.model"
    save_model(DocumentModel(("bad", "good"), words, weights, np.array([0.1]), info=info), path)
    return path


def written(folder: Path, form: str, labels: list[str] | None = GOLD) -> Path:
    """The texts in one of the forms that are read; in a directory their order is good, bad, good, too."""
    lines = [
        {"text": text, **({} if labels is None else {"label": labels[i]})} for i, text in enumerate(TEXTS)
    ]
    if form == "directory":
        for i, line in enumerate(lines):
            place = folder / "data" / {"good": "good", "bad": "bad"}[line["label"]]
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{i}.txt").write_text(line["text"])
        return folder / "data"
    path = folder / f"data.{form}"
    if form == "jsonl":
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    else:
        path.write_text("".join(f"{line['label']}\t{line['text']}\n" for line in lines))
    return path
