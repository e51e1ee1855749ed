"""Options of documents: they name what other modules have, without loading them."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

from parsimon.features.bag_of_words import Values
from parsimon.penalties import ElasticNet
from parsimon.penalties.groups import RULES
from parsimon.solvers.admm import Stopping
from parsimon.tasks.documents.options import GROUP_WEIGHTS, UNITS, VALUES, DocumentOptions
from parsimon.tasks.documents.training import DocumentTraining
from parsimon.tasks.documents.units import Unit
from parsimon.tasks.options import SECTIONS, options_of


def test_choices_are_those_that_there_are() -> None:
    assert get_args(Unit) == UNITS
    assert get_args(Values) == VALUES
    assert set(GROUP_WEIGHTS) == set(RULES)
    assert options_of(DocumentOptions)["stopping"].choices == get_args(Stopping)


def test_defaults() -> None:
    training = DocumentTraining()
    assert (training.penalty, training.patience, training.seed, training.n_threads) == ("auto", 20, 0, 1)
    assert (training.penalty_name, training.values_name) == ("count-elastic-net", "binary")
    for about in ({"sentence": 0.1}, {"groups": "document"}, {"groups": [["a"]]}, {"rho": 1.0}):
        other = DocumentTraining(**about)
        assert (other.penalty_name, other.values_name) == ("sentence", "counts")
    assert DocumentTraining(penalty=ElasticNet(1.0)).penalty_name is None
    assert DocumentTraining(stopping="paper").iterations == 100
    assert {each.section for each in options_of(DocumentTraining).values()} <= set(SECTIONS)


def test_they_are_light() -> None:
    code = "import sys, parsimon.tasks.documents.options; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
