"""Packages that import their public names on first use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from parsimon.lazy import exports


def test_names_come_from_their_modules_on_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "lazy_example"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "inner.py").write_text("value = 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    names, get, listing = exports(
        "lazy_example", {"inner": ("value",), "parsimon.errors": ("ParsimonError",)}
    )
    assert names == listing() == ["ParsimonError", "value"]
    assert "lazy_example.inner" not in sys.modules
    assert get("value") == 7
    assert get("ParsimonError").__module__ == "parsimon.errors"
    with pytest.raises(AttributeError, match="module 'lazy_example' has no attribute 'other'"):
        get("other")
    for name in ("lazy_example", "lazy_example.inner"):
        sys.modules.pop(name, None)
