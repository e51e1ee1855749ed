"""Saving figures."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from parsimon.errors import ParsimonError
from parsimon.files import write_atomically

ENDINGS = (".png", ".svg", ".pdf")


def check_ending(path: Path) -> None:
    """Raise an error, before any work is done, if a file name does not have the ending of an image format."""
    if path.suffix.lower() not in ENDINGS:
        raise ParsimonError(f"cannot draw to {path}; give a file name that ends in .png, .svg or .pdf.")


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure atomically, in the format given by the ending of the file name."""
    buffer = io.BytesIO()
    try:
        figure.savefig(buffer, format=path.suffix[1:] or "png", dpi=150)
        write_atomically(path, buffer.getvalue())
    except ValueError as error:
        raise ParsimonError(
            f"cannot draw to {path} ({error}); give a file name that ends in .png, .svg or .pdf."
        ) from None
    except OSError as error:
        raise ParsimonError(f"{path} cannot be written: {error.strerror or error}.") from error
