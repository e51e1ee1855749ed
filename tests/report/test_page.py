"""HTML pages from templates: values are escaped, and numbers have a sign."""

from __future__ import annotations

import sys

import pytest

from pages import Page
from parsimon.errors import ParsimonError
from parsimon.report.page import rendered, signed


def test_values_are_escaped() -> None:
    text = rendered("model.html", title="<b>&", facts=[("a", "<i>")], parts=[], curves=[])
    page = Page(text)
    assert "<b>&" not in text
    assert [content for tag, _, content in page.found if tag == "title"] == ["<b>&"]
    assert "<i>" in [content for tag, _, content in page.found if tag == "td"]


def test_a_page_refers_to_no_other_file() -> None:
    text = rendered(
        "explanation.html", title="T", documents=[], training=False, least="0.001", shades=["0.1"]
    )
    assert "http" not in text
    assert "src=" not in text
    assert "There are no documents." in text


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [(0.5, 1, "+0.5"), (-0.25, 2, "−0.25"), (0.0, 1, "+0.0"), (12.345, 0, "+12")],
)
def test_signed_numbers(number: float, digits: int, text: str) -> None:
    assert signed(number, digits) == text


def test_without_jinja2_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ParsimonError, match="pip install jinja2"):
        rendered("page.html", title="T")
