"""Names of columns are told from data."""

from __future__ import annotations

import pytest

from parsimon.data.header_lines import names_columns


@pytest.mark.parametrize("cells", [["label", "text"], ["TEXT ", '"Label"'], ["word", "pos", "ner_tag"]])
def test_names_of_columns(cells):
    assert names_columns(cells)


@pytest.mark.parametrize("cells", [["pos", "text"], ["label", "A fine film."], ["the", "DT", "B-NP"], []])
def test_data(cells):
    assert not names_columns(cells)
