"""Self-contained HTML pages."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from typing import Any

from parsimon.errors import ParsimonError


def rendered(template: str, **values: Any) -> str:
    """Render a template of this package with some values; text in the values is escaped."""
    try:
        jinja2 = import_module("jinja2")
    except ImportError as error:
        raise ParsimonError("the page needs jinja2, which is not installed; pip install jinja2.") from error
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_source), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    page: str = environment.get_template(template).render(**values)
    return page


def _source(template: str) -> str:
    return files("parsimon.report").joinpath("templates", template).read_text(encoding="utf-8")


def signed(number: float, digits: int) -> str:
    """A number with a sign, using a true minus.

    >>> signed(-0.25, 1)
    '−0.2'
    """
    return f"{number:+.{digits}f}".replace("-", "−")
