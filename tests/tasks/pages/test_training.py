"""Training of readers of web pages, from pages with records to records of other pages."""

from __future__ import annotations

import numpy as np
import pytest

from parsimon.errors import ParsimonError
from parsimon.features import Labels
from parsimon.tasks.pages.columns import LEAF
from parsimon.tasks.pages.labels import NONE, record_of
from parsimon.tasks.pages.model import PageModel
from parsimon.tasks.pages.options import KIND_COLUMN
from parsimon.tasks.pages.training import PageTraining
from toy_pages import SPACE, columns_of, labels_of, model, page


def test_records_of_other_pages_are_found() -> None:
    fitted = model()
    assert isinstance(fitted, PageModel)
    for n in range(20, 30):
        made, record = page(n)
        ids = fitted.predict_columns(fitted.limited(columns_of([made]))).ids
        assert record_of(made, [fitted.tags[i] for i in ids]) == record


def test_kinds_of_nodes_are_known_without_asking() -> None:
    fitted = model()
    assert fitted.node_kinds is not None
    assert fitted.node_kinds.column == KIND_COLUMN
    X = columns_of([page(1)[0]])
    limited = fitted.limited(X).links
    assert limited is not None
    assert limited.allowed is not None
    leaves = np.array(X.strings.get_all(X.ids[KIND_COLUMN])) == LEAF
    ids = fitted.predict_columns(fitted.limited(X)).ids
    assert {fitted.tags[i] for i in ids[leaves]} <= {NONE, "name", "height"}


def test_every_node_needs_a_label() -> None:
    made, record = page(1)
    labels = labels_of(made, record)[:-1]
    with pytest.raises(ParsimonError, match="there are 6 nodes but 5 labels"):
        PageTraining().fit(SPACE, columns_of([made]), Labels.from_sequences([labels]))
