"""The data that all ways of choosing templates are tested on."""

from __future__ import annotations

import pytest

from parsimon.features import Columns, Labels
from toy_templates import make_data


@pytest.fixture(scope="module")
def data() -> tuple[Columns, Labels]:
    return make_data()
