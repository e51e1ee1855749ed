"""A small treebank and a parser of it."""

from __future__ import annotations

import io
from typing import Any

from parsimon.data import read_treebank
from parsimon.data.treebanks import Treebank
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.tasks.parsing.training import ParserTraining

ROWS = [("Dogs", "NOUN", 2, "nsubj"), ("bark", "VERB", 0, "root"), ("loudly", "ADV", 2, "advmod")]


def treebank(n: int = 4) -> Treebank:
    sentence = "".join(
        f"{i}\t{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"
        for i, (word, tag, head, relation) in enumerate(ROWS, start=1)
    )
    return read_treebank(io.BytesIO(((sentence + "\n") * n).encode()))


def learnt(**settings: Any) -> Any:
    return ParserTraining(max_iter=4, **settings).fit(ArcFeatures(arc_preset("mcdonald")), treebank())
