"""The sample of SWDE: its tables, and that values are texts of the pages."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from parsimon.data.registry import is_available
from parsimon.data.web_records import load_web_records
from parsimon.errors import ParsimonError
from parsimon.tasks.pages.labels import label_page
from parsimon.tasks.pages.page import read_page


def packed(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:xz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"sample/{name}")
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return path


PAGES = {
    "nbaplayer/nbaplayer-a(2)/0000.htm": "<p>Jo &amp; Co",
    "nbaplayer/nbaplayer-a(2)/0001.htm": "<p>6-5",
}
NAMES = "\ufeffnbaplayer\ta\tname\n2\t1\t1\t1\n0000\t1\tJo &amp; Co\n0001\t0\t<NULL>\n"


def test_pages_and_values(tmp_path: Path) -> None:
    tables = {
        "groundtruth/nbaplayer-a-name.txt": NAMES,
        "groundtruth/nbaplayer-a-height.txt": "nbaplayer\ta\theight\n2\t1\t2\t2\n0001\t2\t6-5\t1.96 m\n",
    }
    records = load_web_records(packed(tmp_path / "some.tar.xz", PAGES | tables))
    assert [(r.site, r.id, r.values) for r in records] == [
        ("a", "0000", {"name": ("Jo & Co",)}),
        ("a", "0001", {"height": ("6-5", "1.96 m")}),
    ]
    page = read_page(records[0].html)
    assert label_page(page, records[0].values)[-1] == "name"


@pytest.mark.parametrize(
    ("table", "match"),
    [("just a line\n", "line 1: there must be"), ("v\ta\tname\n0\n0000\n", "line 3: there must be")],
)
def test_damaged_tables_are_named(tmp_path: Path, table: str, match: str) -> None:
    with pytest.raises(ParsimonError, match=match):
        load_web_records(packed(tmp_path / "some.tar.xz", PAGES | {"groundtruth/a.txt": table}))


@pytest.mark.skipif(not is_available("swde"), reason="the data set swde is not here")
def test_values_are_texts_of_the_pages() -> None:
    records = load_web_records()
    assert len(records) == 600
    assert len({record.site for record in records}) == 10
    for record in records[::40]:
        labels = label_page(read_page(record.html), record.values)
        assert set(record.values) <= set(labels)
