"""Files of parsers: two models in one."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from damaged_headers import changed, refused, survives_any_header
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.parsing.model import ParserModel
from parsimon.tasks.parsing.training import ParserTraining
from toy_treebanks import grammar


@cache
def model(relations: bool = True, projective: bool = False) -> ParserModel:
    training = ParserTraining(max_iter=2, relations="relations" if relations else None, projective=projective)
    return training.fit(ArcFeatures(arc_preset("mcdonald"), 1), grammar(12))


@pytest.mark.parametrize("relations", [True, False])
@pytest.mark.parametrize("projective", [True, False])
def test_there_and_back(relations: bool, projective: bool) -> None:
    there = model(relations, projective)
    back = parse_model(dump_model(there))
    assert dump_model(back) == dump_model(there)
    assert (back.projective, back.single_root) == (projective, there.single_root)
    assert (back.relations is None) == (not relations)
    test = grammar(5, seed=1)
    assert back.parse(test).to_bytes() == there.parse(test).to_bytes()


def test_wrong_headers_and_missing_arrays() -> None:
    survives_any_header(model())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda h, t: h["arcs"].update(labels=["a", "b"]), "damaged"),
        (lambda h, t: h.update(projective=1), "what trees there are is not said"),
        (lambda h, t: h.update(single_root=None), "what trees there are is not said"),
        (lambda h, t: t.update(weights=t["weights"] * np.inf), "damaged"),
        (lambda h, t: t.update({"relations.weights": t["relations.weights"][1:]}), "damaged"),
    ],
)
def test_parts_that_do_not_fit(change: Any, said: str) -> None:
    assert said in refused(model(), change)


def test_files_of_format_2_are_read() -> None:
    """They have attributes row by row, and neither a first pass nor packed arrays."""

    def older(header: dict[str, Any], tensors: dict[str, Any]) -> None:
        header["format"] = 2
        del header["first_pass"]
        for part, space in (("arcs", there.space), ("relations", there.relations.space)):  # type: ignore[union-attr]
            del tensors[f"{part}.space.columns"]
            tensors[f"{part}.space.values"] = np.asarray(space.values)  # type: ignore[union-attr]

    there = model()
    back = parse_model(changed(there, older))
    assert dump_model(back) == dump_model(there)
