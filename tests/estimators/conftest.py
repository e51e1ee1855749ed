"""What tests of sequence labellers share."""

from __future__ import annotations

import pytest

from labelled_words import fitted
from parsimon import SequenceLabeler


@pytest.fixture(scope="module")
def labeler() -> SequenceLabeler:
    return fitted()
