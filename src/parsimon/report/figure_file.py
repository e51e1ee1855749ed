"""Pictures as files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from parsimon.errors import ParsimonError
from parsimon.files import write_atomically

ENDINGS = (".png", ".svg", ".pdf")


def check_ending(path: Path) -> None:
    """Refuses, before any work, a file whose name is none of a picture."""
    if path.suffix.lower() not in ENDINGS:
        raise ParsimonError(f"cannot draw to {path}: name a file that ends in .png, .svg or .pdf.")


def save_figure(figure: Any, path: Path) -> None:
    """Writes a figure in the format that the file's name ends in, whole or not at all."""
    buffer = io.BytesIO()
    try:
        figure.savefig(buffer, format=path.suffix[1:] or "png", dpi=150)
        write_atomically(path, buffer.getvalue())
    except ValueError as error:
        raise ParsimonError(
            f"cannot draw to {path}, name a file that ends in .png, .pdf or .svg: {error}"
        ) from None
    except OSError as error:
        raise ParsimonError(f"cannot write {path}: {error.strerror}") from error
