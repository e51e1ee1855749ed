"""Documents with classes: the splits of the public sets, and files of the user's own."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from parsimon.data import load_amazon, load_movie_reviews, load_news20, read_documents
from parsimon.data.documents import _checksum, _reviews, read_document_set
from parsimon.data.registry import REGISTRY, DataSet, RemoteFile
from parsimon.errors import ParsimonError


def packed(file: str, members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    if file.endswith(".zip"):
        with zipfile.ZipFile(buffer, "w") as zipped:
            for inner, content in members.items():
                zipped.writestr(inner, content)
    else:
        with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
            for inner, content in members.items():
                info = tarfile.TarInfo(inner)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, dict[str, bytes]], Path]:
    """Put a made archive in the place of a real one."""
    monkeypatch.setenv("PARSIMON_DATA", str(tmp_path))

    def make(name: str, members: dict[str, bytes]) -> Path:
        file = next(iter(REGISTRY[name].files))
        content = packed(file, members)
        remote = RemoteFile("https://example.org/x", hashlib.sha256(content).hexdigest())
        monkeypatch.setitem(REGISTRY, name, DataSet(name, {file: remote}, "Made.", "None."))
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_bytes(content)
        return tmp_path / name / file

    return make


# ---- public sets ---------------------------------------------------------------------------------------------


def news(kind: str, group: str, count: int) -> dict[str, bytes]:
    # Not in order, as archives may be.
    return {
        f"20news-bydate-{kind}/{group}/{i:05}": f"From: {group}{i}\n\ncafé".encode("latin-1")
        for i in reversed(range(count))
    }


def test_newsgroups(corpus: Callable[..., Path], tmp_path: Path) -> None:
    members = {
        **news("train", "sci.space", 7),
        **news("train", "sci.med", 11),
        **news("train", "alt.atheism", 3),
        **news("test", "sci.med", 2),
        **news("test", "sci.space", 1),
    }
    path = corpus("news20", members)
    texts, labels = load_news20("science", "train")
    assert Counter(labels) == {"sci.med": 9, "sci.space": 6}
    assert texts[0] == "From: sci.med0\n\ncafé"
    texts, labels = load_news20("science", "dev")
    assert [text.split()[1] for text in texts] == ["sci.med4", "sci.med9", "sci.space4"]
    assert labels == ["sci.med", "sci.med", "sci.space"]
    assert load_news20("science", "test")[1] == ["sci.med", "sci.med", "sci.space"]
    elsewhere = tmp_path / "20news-bydate.tar.gz"
    path.rename(elsewhere)
    assert load_news20("science", "test", path=elsewhere)[1] == ["sci.med", "sci.med", "sci.space"]


def test_film_reviews(corpus: Callable[..., Path]) -> None:
    members = {
        f"movie_reviews/{label}/cv{k}{i:02}_123.txt": f"{label} {k} . \n \nend".encode()
        for label in ("pos", "neg")
        for k in range(10)
        for i in (0, 99)
    }
    corpus("movie_reviews", {**members, "movie_reviews/README": b"no review"})
    assert len(load_movie_reviews()[0]) == 40
    documents, labels = load_movie_reviews("test", fold=9)
    assert documents == [["neg 9 .", "end"]] * 2 + [["pos 9 .", "end"]] * 2
    assert labels == ["neg", "neg", "pos", "pos"]
    assert {document[0][4] for document in load_movie_reviews("dev", fold=9)[0]} == {"0"}
    assert {document[0][4] for document in load_movie_reviews("train", fold=9)[0]} == set("12345678")


def review(title: str, text: str) -> str:
    return (
        f"<review>\n<unique_id>\n1:a&b\n</unique_id>\n<rating>\n5.0\n</rating>\n<title>\n{title}\n</title>\n"
        f"<reviewer>\nx\n</reviewer>\n<review_text>\n{text}\n\n</review_text>\n</review>\n"
    )


def test_amazon(corpus: Callable[..., Path]) -> None:
    # Every review stands twice, as if for two editions, one of them with other blanks.
    good = "".join(
        review(f"Good {i}", f"a < b &quot;{i}&quot;{' ' * j}\n\nBye") for i in range(50) for j in (1, 2)
    )
    bad = "".join(review(f"Bad {i}", "No.") for i in range(100))
    folder = "sorted_data_acl/kitchen_&_housewares"
    corpus("amazon", {f"{folder}/positive.review": good.encode(), f"{folder}/negative.review": bad.encode()})
    parts = {split: load_amazon("kitchen", split) for split in ("train", "dev", "test")}  # type: ignore[arg-type]
    for split, each in (("train", 80), ("dev", 10), ("test", 10)):
        assert parts[split][1] == ["negative"] * each + ["positive"] * each
    texts = [text for part in parts.values() for text in part[0]]
    assert 'Good 0\n\na < b "0" \n\nBye' in texts
    assert len(set(texts)) == 200
    checksums = [{_checksum(text) for text in part[0]} for part in parts.values()]
    assert sum(map(len, checksums)) == len(set.union(*checksums)) == 150


def test_a_damaged_review(corpus: Callable[..., Path]) -> None:
    corpus("amazon", {"sorted_data_acl/books/negative.review": b"<review><title>x</title></review>"})
    with pytest.raises(
        ParsimonError, match=r"negative\.review, review 1 should have a <title> and a <review_text>"
    ):
        load_amazon("books")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load_news20("sci"), "news20 has no task 'sci'; give science, sports, religion, computer"),  # type: ignore[arg-type]
        (lambda: load_news20(split="all"), "news20 has no split 'all'; give train, dev, test"),  # type: ignore[arg-type]
        (lambda: load_movie_reviews("all"), "movie_reviews has no split 'all'"),  # type: ignore[arg-type]
        (lambda: load_movie_reviews(fold=10), "fold is 10; movie_reviews has the folds 0 to 9"),
        (lambda: load_amazon("music"), "amazon has no domain 'music'; give books, dvd, electronics, kitchen"),  # type: ignore[arg-type]
        (lambda: load_amazon(path="nowhere.tar.gz"), r"nowhere\.tar\.gz cannot be read"),
    ],
)
def test_wrong_arguments(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        call()


@pytest.mark.data
@pytest.mark.parametrize(
    ("task", "sizes"),
    [
        ("science", (951, 236, 790)),
        ("sports", (958, 239, 796)),
        ("religion", (864, 215, 717)),
        ("computer", (935, 233, 777)),
    ],
)
def test_the_newsgroups(task: Any, sizes: tuple[int, ...], require_data: Callable[[str], None]) -> None:
    require_data("news20")
    parts = [load_news20(task, split) for split in ("train", "dev", "test")]  # type: ignore[arg-type]
    assert tuple(len(texts) for texts, _ in parts) == sizes
    assert all(len(set(labels)) == 2 for _, labels in parts)
    assert all("\nSubject: " in f"\n{text}" for text in parts[0][0])


@pytest.mark.data
def test_the_film_reviews(require_data: Callable[[str], None]) -> None:
    require_data("movie_reviews")
    for split, size in (("train", 1600), ("dev", 200), ("test", 200)):
        documents, labels = load_movie_reviews(split, fold=3)  # type: ignore[arg-type]
        assert len(documents) == size
        assert Counter(labels) == {"neg": size // 2, "pos": size // 2}


@pytest.mark.data
@pytest.mark.parametrize("domain", ["books", "dvd", "electronics", "kitchen"])
def test_amazons_reviews(domain: Any, require_data: Callable[[str], None]) -> None:
    require_data("amazon")
    seen: list[set[bytes]] = []
    for split, size in (("train", 1600), ("dev", 200), ("test", 200)):
        texts, labels = load_amazon(domain, split)  # type: ignore[arg-type]
        assert Counter(labels) == {"negative": size // 2, "positive": size // 2}
        assert not any("&quot;" in text for text in texts)
        seen.append({_checksum(text) for text in texts})
    assert sum(map(len, seen)) - len(set.union(*seen)) <= 1  # at a border, the two of a pair may be parted


# ---- files of the user's own ---------------------------------------------------------------------------------


def test_a_folder_of_classes(tmp_path: Path) -> None:
    for name, text in {
        "b/2.txt": "two",
        "b/10.txt": "ten",
        "a/x/y": "deep",
        "a/.hidden": "",
        ".git/x": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert read_documents(tmp_path) == (["deep", "ten", "two"], ["a", "b", "b"])
    assert read_documents(tmp_path / "b", format="directory") == (["ten", "two"], None)


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    texts = ["Good.\nYes.", ["One.", "Two."], [["a", "b"], ["c"]], []]
    path.write_text(
        "\n\n".join(json.dumps({"text": text, "label": i, "id": 7}) for i, text in enumerate(texts))
    )
    assert read_documents(path) == (texts, ["0", "1", "2", "3"])
    path.write_text('{"text": "caf\\u00e9"}\n')
    assert read_documents(path) == (["café"], None)
    assert read_documents(path.rename(tmp_path / "x.dat")) == (["café"], None)


def test_tab_separated(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes("\ufeffpos \tGood.\tVery.\r\n\r\nneg\tCafé\u2028bad\r\n".encode())
    assert read_documents(path) == (["Good.\tVery.", "Café\u2028bad"], ["pos", "neg"])
    path.write_text("One text\nanother")
    assert read_documents(path) == (["One text", "another"], None)
    path.write_bytes(b"a\tcaf\xe9")
    assert read_documents(path, encoding="latin-1") == (["café"], ["a"])


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("x.jsonl", b'{"text": "a", "label": "b"}\n{"text', "x.jsonl, line 2 is not JSON"),
        ("x.jsonl", b"[1]", 'x.jsonl, line 1 should be an object whose "text" is a string'),
        ("x.jsonl", b'{"label": "b"}', 'line 1 should be an object whose "text"'),
        ("x.jsonl", b'{"text": ["a", 3]}', 'line 1 should be an object whose "text"'),
        ("x.jsonl", b'{"text": "a", "label": true}', 'line 1 has True as its "label"'),
        ("x.jsonl", b'{"text": "a", "label": "b"}\n\n{"text": "a"}', 'line 3 has no "label", unlike'),
        ("x.jsonl", b'{"text": "a"}\n{"text": "a", "label": "b"}', 'line 2 has a "label", unlike'),
        ("x.tsv", b"a\tb\nc d", "x.tsv, line 2 has no tab, unlike"),
        ("x.tsv", b"a b\nc\td", "x.tsv, line 2 has a tab, unlike"),
        ("x.tsv", b"\tb", "x.tsv, line 1 has nothing before its tab"),
        (
            "x.tsv",
            b"a\tb\nc\t\xe9",
            "x.tsv, line 2: the text is not valid utf-8; give the file's encoding, such as latin-1",
        ),
        ("x.tsv", b" \n", "x.tsv has no documents"),
    ],
)
def test_damaged_files(tmp_path: Path, file: str, content: bytes, message: str) -> None:
    (tmp_path / file).write_bytes(content)
    with pytest.raises(ParsimonError, match=message):
        read_documents(tmp_path / file)


def test_wrong_paths(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match="nowhere does not exist; give a folder"):
        read_documents(tmp_path / "nowhere")
    with pytest.raises(ParsimonError, match="is empty; it should have one folder of text files"):
        read_documents(tmp_path)
    (tmp_path / "a").mkdir()
    with pytest.raises(ParsimonError, match="a has no text files"):
        read_documents(tmp_path)
    (tmp_path / "README").write_text("Hello")
    with pytest.raises(ParsimonError, match="has the file README next to folders"):
        read_documents(tmp_path)
    with pytest.raises(ParsimonError, match="is a folder; give a file"):
        read_documents(tmp_path, format="tsv")
    with pytest.raises(ParsimonError, match="README is not a folder; choose jsonl or tsv"):
        read_documents(tmp_path / "README", format="directory")
    with pytest.raises(ParsimonError, match="format is 'csv'; choose from auto, directory, jsonl, tsv"):
        read_documents(tmp_path, format="csv")  # type: ignore[arg-type]
    with pytest.raises(ParsimonError, match="no encoding called 'latin9x'"):
        read_documents(tmp_path, encoding="latin9x")


def test_other_files_are_one_text(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    text = "A title\n\n\tIndented.\nOne\ttab among lines.\n"
    path.write_text(text)
    assert read_documents(path) == ([text], None)
    assert read_document_set(path).names == ["new.txt"]
    assert read_documents(path, "lines") == (["A title", "\tIndented.", "One\ttab among lines."], None)
    path.write_text("pos\tGood.\nneg\tBad.\n")  # a table by any name
    assert read_documents(path) == (["Good.", "Bad."], ["pos", "neg"])


def test_names_of_documents(tmp_path: Path) -> None:
    for name in ("b/2.txt", "a/x/1.txt"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text(name)
    assert read_document_set(tmp_path / "data").names == ["a/x/1.txt", "b/2.txt"]
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a", "id": "first"}\n{"text": "b"}\n')
    assert read_document_set(path).names == ["first", None]
    path.write_text('{"text": "a"}\n')
    assert read_document_set(path).names is None


@pytest.mark.parametrize("names", ["label\ttext", "Sentiment\tReview", "text\tlabel"])
def test_a_line_of_names_is_no_document(tmp_path: Path, names: str) -> None:
    path = tmp_path / "x.tsv"
    path.write_text(f"{names}\npos\tGood.\nneg\tBad.\n")
    with pytest.raises(ParsimonError, match=r"x\.tsv, line 1 has the names of columns, .*; remove that line"):
        read_documents(path)
    path.write_text(f"{names}\n{names}\nneg\tBad.\n")  # if it comes again, it is data
    assert len(read_documents(path)[0]) == 3


def test_swapped_columns(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    rows = [(f"A text that is number {i}.", ("pos", "neg")[i % 2]) for i in range(300)]
    path.write_text("".join(f"{text}\t{label}\n" for text, label in rows))
    with pytest.raises(
        ParsimonError, match="columns swapped, as there are 300 labels for 300 documents; every line"
    ):
        read_documents(path)
    path.write_text("".join(f"{label}\t{text}\n" for text, label in rows))
    assert len(read_documents(path)[0]) == 300


@pytest.mark.parametrize("text", ["<review>" * 50_000, "<review>" + "<title>" * 50_000 + "</review>"])
def test_reviews_that_never_end(text: str) -> None:
    with suppress(ParsimonError):
        assert not list(_reviews(text, "books"))
