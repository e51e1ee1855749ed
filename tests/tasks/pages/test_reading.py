"""Pages in directories and values in tables; whatever is wrong with them is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsimon.errors import ParsimonError
from parsimon.tasks.pages.reading import check_values, read_pages, read_values

HEAD = "page,attribute,value\n"


def table(folder: Path, text: str | bytes) -> Path:
    path = folder / "values.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_pages_of_a_directory_by_their_names(tmp_path: Path) -> None:
    for name in ("b.html", "deep/a.HTM", "deep/c.xhtml", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"<p>{name}</p>")
    pages = read_pages(tmp_path)
    assert list(pages) == ["b.html", "deep/a.HTM", "deep/c.xhtml"]
    assert "deep/a.HTM" in pages["deep/a.HTM"].texts
    assert list(read_pages(tmp_path / "notes.txt")) == ["notes.txt"]


def test_pages_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match="there is no such file or directory"):
        read_pages(tmp_path / "nothing")
    with pytest.raises(ParsimonError, match=r"has no pages; their names must end in \.html, \.htm, \.xhtml"):
        read_pages(tmp_path)


@pytest.mark.parametrize("separator", [",", "\t", ";"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_tables(separator: str, ends: str, tmp_path: Path) -> None:
    rows = [
        "Value,page, attribute",
        "6-5,a,height",
        "Jo,a,name",
        "",
        "Joe,a,name",
        "Jo,a,name",
        "Al,b,name",
        "",
    ]
    path = table(tmp_path, ends.join(rows).replace(",", separator))
    assert read_values(path) == {"a": {"height": ["6-5"], "name": ["Jo", "Joe"]}, "b": {"name": ["Al"]}}


def test_encodings(tmp_path: Path) -> None:
    text = HEAD + "a,name,Zoé\n"
    assert read_values(table(tmp_path, "\ufeff" + text)) == {"a": {"name": ["Zoé"]}}
    path = table(tmp_path, text.encode("latin-1"))
    assert read_values(path, encoding="latin-1") == {"a": {"name": ["Zoé"]}}
    with pytest.raises(ParsimonError, match="line 2: the text is not valid utf-8; give the file's encoding"):
        read_values(path)
    with pytest.raises(ParsimonError, match="there is no encoding called 'nothing'"):
        read_values(path, encoding="nothing")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: the columns of the table must be page, attribute and value, but they are none"),
        ("a,b,c\n", "but they are 'a', 'b', 'c'"),
        (HEAD, "has no values; there must be a line for each"),
        (HEAD + "a,b\n", "line 2: there must be 3 cells, page, attribute, value, but there are 2"),
        (HEAD + "a,b,c\na,,c\n", "line 3: the attribute is empty"),
        (HEAD + '"a"x,b,c\n', "line 2: .*check the quotes"),
    ],
)
def test_wrong_tables(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match=said):
        read_values(table(tmp_path, text))


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match="cannot be read: No such file"):
        read_values(tmp_path / "nothing.csv")


def test_a_table_of_other_pages_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>x</p>")
    pages = read_pages(tmp_path)
    check_values(pages, {"a.html": {}}, "site", "values.csv")
    check_values({}, {"b.html": {}}, "site", "values.csv")
    with pytest.raises(ParsimonError, match=r"it speaks of 'b\.html', but pages are called 'a\.html'"):
        check_values(pages, {"b.html": {}}, "site", "values.csv")


def test_files_without_html_are_no_pages(tmp_path: Path) -> None:
    treebank = tmp_path / "file.conllu"
    treebank.write_text("1\tDogs\tdog\tNOUN\t_\t_\t0\troot\t_\t_\n")
    with pytest.raises(
        ParsimonError, match=r"file\.conllu is no web page, as it has no tag of HTML; give a page"
    ):
        read_pages(treebank)
    (tmp_path / "a.html").write_text("<s> 3 < 4\n")
    (tmp_path / "b.html").write_text("")
    with pytest.raises(ParsimonError, match="has no web pages, as no file there has a tag of HTML"):
        read_pages(tmp_path)
    (tmp_path / "c.html").write_text("<P>Text")  # one will do: some pages of a site may be empty
    assert list(read_pages(tmp_path)) == ["a.html", "b.html", "c.html"]
    (tmp_path / "wide").write_bytes("<h1>Jo</h1>".encode("utf-16"))
    assert len(read_pages(tmp_path / "wide")) == 1


def test_many_values_of_one_attribute(tmp_path: Path) -> None:
    lines = [f"p.html,name,{i % 50_000}" for i in range(60_000)]
    path = tmp_path / "values.csv"
    path.write_text("\n".join(["page,attribute,value", *lines]))
    assert len(read_values(path)["p.html"]["name"]) == 50_000
