"""Files of readers of pages: those of trees, with kinds of nodes."""

from __future__ import annotations

import numpy as np

from damaged_headers import refused, survives_any_header
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.pages.model import PageModel
from toy_pages import columns_of, model, page


def test_there_and_back() -> None:
    back = parse_model(dump_model(model()))
    assert isinstance(back, PageModel)
    assert dump_model(back) == dump_model(model())
    X = columns_of([page(n)[0] for n in range(30, 35)])
    assert np.array_equal(
        back.predict_columns(back.limited(X)).ids, model().predict_columns(model().limited(X)).ids
    )


def test_wrong_headers_and_missing_arrays() -> None:
    survives_any_header(model())


def test_a_reader_knows_kinds_of_nodes() -> None:
    assert "must know kinds of nodes" in refused(model(), lambda h, t: h.update(node_kinds=None))
