"""Standard input as it comes."""

from __future__ import annotations

import subprocess
import sys


def test_a_pipe_is_answered_before_it_is_closed(trained):
    command = [sys.executable, "-m", "parsimon.cli", "predict", str(trained)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    for _ in range(3):
        process.stdin.write(b"The DT\ndog NN\n\n")
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(3)] == [b"The DT\tB-NP\n", b"dog NN\tI-NP\n", b"\n"]
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    process.stdout.close()
