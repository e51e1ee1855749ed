"""Naming the relations of words to their heads."""

from __future__ import annotations

import io

import numpy as np
import pytest

from parsimon.data import read_treebank
from parsimon.data.treebanks import Treebank
from parsimon.errors import ParsimonError
from parsimon.features.arc_presets import arc_preset
from parsimon.tasks.parsing.relations import RelationTask, relation_names
from toy_parser import treebank


def test_a_label_for_every_relation() -> None:
    bank = treebank(2)
    assert relation_names(bank) == ("nsubj", "root", "advmod")
    task = RelationTask.of(arc_preset("relations"), bank)
    assert task is not None
    assert task.problem.n_instances == bank.n_tokens
    loss, _ = task.problem.loss_and_gradient(np.zeros(task.problem.n_features))
    assert loss == bank.n_tokens  # at zero weights every word violates its margin by one


def without(names: dict[int, str]) -> Treebank:
    """The treebank with other relations."""
    text = treebank(1).to_bytes().decode()
    for number, name in names.items():
        lines = text.split("\n")
        cells = lines[number].split("\t")
        cells[7] = name
        lines[number] = "\t".join(cells)
        text = "\n".join(lines)
    return read_treebank(io.BytesIO(text.encode()))


def test_no_names_and_some_names() -> None:
    nameless = without({0: "_", 1: "_", 2: "_"})
    assert relation_names(nameless) == ()
    assert RelationTask.of(arc_preset("relations"), nameless) is None
    with pytest.raises(ParsimonError, match="relation"):
        relation_names(without({1: "_"}))
