"""What a refusal looks like."""

from __future__ import annotations

from typing import Any


def refused(result: Any, *said: str) -> None:
    """One sentence, perhaps with a hint at a help page; exit code 2 and no traceback."""
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    sentence, *hints = result.stderr.splitlines()
    assert sentence.startswith("parsimon: "), result.stderr
    assert all(line.startswith("Try '") for line in hints), result.stderr
    for words in said:
        assert words in result.stderr
