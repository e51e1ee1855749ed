"""Options of matrices: they name what other modules have, without loading them."""

from __future__ import annotations

import subprocess
import sys

from parsimon.penalties.groups import RULES
from parsimon.tasks.kinds import get_kind
from parsimon.tasks.matrices.options import GROUP_WEIGHTS
from parsimon.tasks.matrices.training import MatrixTraining


def test_defaults_and_choices() -> None:
    training = MatrixTraining()
    assert (training.tol, training.max_iter, training.alpha, training.loss) == (1e-5, 5000, 1.0, "log")
    assert set(GROUP_WEIGHTS) == set(RULES)


def test_the_kind_is_registered() -> None:
    assert get_kind("matrix").folder == "parsimon.tasks.matrices"
    assert get_kind("matrix").command == "parsimon.cli.kinds.matrices"
    assert get_kind("matrix").file.take_apart


def test_they_are_light() -> None:
    code = "import sys, parsimon.tasks.matrices.options; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
