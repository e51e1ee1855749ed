"""The registry of data sets: finding, verifying, downloading and extracting archives."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from parsimon.data import registry
from parsimon.data.registry import REGISTRY, DataSet, RemoteFile, archive, is_available, member, texts
from parsimon.errors import ParsimonError

CONTENT = b"He PRP B-NP\n\n" * 100
NOWHERE = "http://127.0.0.1:9/words.zip"  # the discard port, where nobody listens


def packed(file: str, inner: str = "words/train.txt", content: bytes = CONTENT) -> bytes:
    """An archive with one file."""
    buffer = io.BytesIO()
    if file.endswith(".zip"):
        with zipfile.ZipFile(buffer, "w") as zipped:
            zipped.writestr(inner, content)
    elif ".tar" in file:
        with tarfile.open(fileobj=buffer, mode="w:xz") as tar:
            info = tarfile.TarInfo(inner)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    else:
        buffer.write(gzip.compress(content))
    return buffer.getvalue()


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The two places that are looked at: data and cache."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    monkeypatch.setenv("PARSIMON_DATA", str(data))
    monkeypatch.setenv("PARSIMON_CACHE", str(cache))
    monkeypatch.setenv("NO_PROXY", "*")
    return data, cache


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[..., bytes]:
    """Enter a made data set `words` of one archive into the registry; gives the archive's bytes."""

    def enter(file: str = "words.zip", url: str = NOWHERE, **inside: Any) -> bytes:
        archived = packed(file, **inside)
        remote = RemoteFile(url, hashlib.sha256(archived).hexdigest())
        monkeypatch.setitem(REGISTRY, "words", DataSet("words", {file: remote}, "Words.", "None."))
        return archived

    return enter


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A web server on this machine: its address, and the folder that it shows."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()
        thread.join()


def test_importing_it_does_not_import_pooch() -> None:
    script = "import sys, parsimon.data.registry; sys.exit('pooch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_entry_is_complete(name: str) -> None:
    entry = REGISTRY[name]
    assert entry.name == name
    assert entry.files
    assert entry.description.endswith(".")
    assert entry.terms.endswith(".")
    for file, remote in entry.files.items():
        assert remote.url.startswith("https://")
        assert remote.manual_step or remote.url.endswith(f"/{file}")
        assert re.fullmatch("[0-9a-f]{64}", remote.sha256)


def test_the_given_folder_comes_before_the_cache(
    folders: tuple[Path, Path], register: Callable[..., bytes]
) -> None:
    content = register()
    assert not is_available("words")
    cached = put(folders[1] / "words" / "words.zip", content)
    assert is_available("words")
    assert archive("words") == cached
    given = put(folders[0] / "words" / "words.zip", content)
    assert archive("words") == given


def test_without_a_given_folder_the_cache_serves(
    folders: tuple[Path, Path], register: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PARSIMON_DATA")
    cached = put(folders[1] / "words" / "words.zip", register())
    assert archive("words") == cached


def test_the_cache_is_the_users_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARSIMON_CACHE", raising=False)
    assert "parsimon" in registry.cache_folder().parts


def test_a_given_archive_with_another_checksum_is_refused(
    folders: tuple[Path, Path], register: Callable[..., bytes]
) -> None:
    given = put(folders[0] / "words" / "words.zip", register() + b"!")
    with pytest.raises(ParsimonError, match=f"{re.escape(str(given))} is damaged or a different version"):
        archive("words")


def test_download_into_the_cache(
    folders: tuple[Path, Path], register: Callable[..., bytes], served: tuple[str, Path]
) -> None:
    address, shown = served
    content = register(url=f"{address}/words.zip")
    put(shown / "words.zip", content)
    put(folders[1] / "words" / "words.zip", content[:-1])  # a damaged one is replaced
    assert archive("words") == folders[1] / "words" / "words.zip"
    assert archive("words").read_bytes() == content


def test_a_download_with_another_checksum_is_refused(
    folders: tuple[Path, Path], register: Callable[..., bytes], served: tuple[str, Path]
) -> None:
    address, shown = served
    put(shown / "words.zip", register(url=f"{address}/words.zip") + b"!")
    with pytest.raises(ParsimonError, match=r"download from .* failed .*hash"):
        archive("words")
    assert not is_available("words")


def test_offline_the_error_says_where_it_looked_and_what_to_do(
    folders: tuple[Path, Path], register: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    register()
    with pytest.raises(ParsimonError) as caught:
        archive("words")
    message = str(caught.value)
    for part in (f"{folders[0]}/words", str(folders[1] / "words"), NOWHERE, "set PARSIMON_DATA"):
        assert part in message
    assert "\n" not in message
    monkeypatch.delenv("PARSIMON_DATA")
    with pytest.raises(ParsimonError, match=r"\$PARSIMON_DATA \(not set\)"):
        archive("words")


def test_a_file_that_cannot_be_downloaded_as_it_is(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = packed("words.txt.gz")
    remote = RemoteFile(
        NOWHERE, hashlib.sha256(content).hexdigest(), manual_step="give its path to load_words"
    )
    monkeypatch.setitem(REGISTRY, "words", DataSet("words", {"words.txt.gz": remote}, "Words.", "None."))
    with pytest.raises(ParsimonError) as caught:
        archive("words")
    assert str(caught.value).endswith(
        f"{NOWHERE} has it in another form; download that and give its path to load_words."
    )
    put(folders[0] / "words" / "words.txt.gz", content[:-1])
    with pytest.raises(ParsimonError, match=f"download {NOWHERE} and give its path to load_words"):
        archive("words")
    put(folders[0] / "words" / "words.txt.gz", content)
    assert archive("words").read_bytes() == content


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("words.zip", "train.txt"),
        ("words.zip", "words/train.txt"),
        ("words.tar.xz", "train.txt"),
        ("train.txt.gz", "train.txt"),
    ],
)
def test_member_of_every_kind_of_archive(
    folders: tuple[Path, Path], register: Callable[..., bytes], file: str, path: str
) -> None:
    put(folders[0] / "words" / file, register(file))
    extracted = member("words", path)
    assert extracted.read_bytes() == CONTENT
    assert extracted.name == "train.txt"
    assert folders[1] in extracted.parents
    assert [entry.name for entry in extracted.parent.iterdir()] == ["train.txt"]


def test_an_extracted_file_is_used_again_unless_its_size_is_wrong(
    folders: tuple[Path, Path], register: Callable[..., bytes]
) -> None:
    put(folders[0] / "words" / "words.zip", register())
    extracted = member("words", "train.txt")
    first = extracted.stat().st_ino, extracted.stat().st_mtime_ns
    assert member("words", "train.txt") == extracted
    assert (extracted.stat().st_ino, extracted.stat().st_mtime_ns) == first
    extracted.write_bytes(CONTENT[:-1])
    assert member("words", "train.txt").read_bytes() == CONTENT


def test_another_version_of_an_archive_is_extracted_elsewhere(
    folders: tuple[Path, Path], register: Callable[..., bytes]
) -> None:
    put(folders[0] / "words" / "words.zip", register())
    old = member("words", "train.txt")
    put(folders[0] / "words" / "words.zip", register(content=CONTENT[::-1]))  # of the same size
    assert member("words", "train.txt") != old
    assert member("words", "train.txt").read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize("inner", ["/etc/train.txt", "../../train.txt"])
def test_a_member_outside_of_its_archive_is_refused(
    folders: tuple[Path, Path], register: Callable[..., bytes], inner: str
) -> None:
    put(folders[0] / "words" / "words.tar.xz", register("words.tar.xz", inner=inner))
    with pytest.raises(ParsimonError, match="leads outside the archive"):
        member("words", "train.txt")


def test_a_missing_member_and_an_ambiguous_one(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        zipped.writestr("a/train.txt", CONTENT)
        zipped.writestr("b/train.txt", CONTENT)
    remote = RemoteFile(NOWHERE, hashlib.sha256(buffer.getvalue()).hexdigest())
    monkeypatch.setitem(REGISTRY, "words", DataSet("words", {"words.zip": remote}, "Words.", "None."))
    put(folders[0] / "words" / "words.zip", buffer.getvalue())
    with pytest.raises(
        ParsimonError, match=r"has no file 'dev\.txt'; give one of a/train\.txt, b/train\.txt"
    ):
        member("words", "dev.txt")
    with pytest.raises(ParsimonError, match=r"has several files 'train\.txt'"):
        member("words", "train.txt")
    assert member("words", "b/train.txt").read_bytes() == CONTENT


@pytest.mark.parametrize("file", ["words.zip", "words.tar.xz", "train.txt.gz"])
def test_texts_of_every_kind_of_archive(
    folders: tuple[Path, Path], register: Callable[..., bytes], file: str
) -> None:
    put(folders[0] / "words" / file, register(file))
    (path,) = texts("words", "*train.txt")
    assert path.endswith("train.txt")
    assert texts("words", "*train.txt")[path] == CONTENT.decode()
    assert not folders[1].exists(), "nothing is extracted"
    with pytest.raises(ParsimonError, match=r"has no file that matches '\*\.mrg'"):
        texts("words", "*.mrg")


def test_texts_are_in_order(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        for inner in ("words/b.txt", "words/a.txt", "words/README"):
            zipped.writestr(inner, inner)
    remote = RemoteFile(NOWHERE, hashlib.sha256(buffer.getvalue()).hexdigest())
    monkeypatch.setitem(REGISTRY, "words", DataSet("words", {"words.zip": remote}, "Words.", "None."))
    put(folders[0] / "words" / "words.zip", buffer.getvalue())
    assert list(texts("words", "*.txt").items()) == [(p, p) for p in ("words/a.txt", "words/b.txt")]


def test_a_cache_that_cannot_be_written(
    folders: tuple[Path, Path], register: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folders[0] / "words" / "words.zip", register())
    monkeypatch.setenv("PARSIMON_CACHE", str(put(folders[1], b"a file, not a folder")))
    with pytest.raises(ParsimonError, match=r"cannot write .*set PARSIMON_CACHE to a writable folder"):
        member("words", "train.txt")


def test_a_set_of_several_archives_needs_the_files_name(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = packed("a.zip")
    remote = RemoteFile(NOWHERE, hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(REGISTRY, "two", DataSet("two", {"a.zip": remote, "b.zip": remote}, "Two.", "None."))
    put(folders[0] / "two" / "a.zip", content)
    assert not is_available("two")
    put(folders[0] / "two" / "b.zip", content)
    assert is_available("two")
    with pytest.raises(ParsimonError, match=r"give one of a\.zip, b\.zip"):
        archive("two")
    assert archive("two", "b.zip").name == "b.zip"
    assert member("two", "train.txt", "a.zip").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: archive("conll1999"), "no data set 'conll1999'; give one of .*conll2000"),
        (lambda: is_available("conll1999"), "no data set 'conll1999'"),
        (lambda: archive("conll2000", "other.zip"), "conll2000 has no archive 'other.zip'"),
        (lambda: registry.load_conll2000("dev"), "conll2000 has no split 'dev'; give train or test"),  # type: ignore[arg-type]
        (lambda: registry.load_conll2002("deu"), "conll2002 has no language 'deu'"),  # type: ignore[arg-type]
        (lambda: registry.load_conll2002("esp", "test"), "conll2002 has no split 'test'"),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        call()


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_the_real_archives_are_the_registered_ones(name: str, require_data: Callable[[str], None]) -> None:
    require_data(name)
    for file in REGISTRY[name].files:
        assert archive(name, file).name == file


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "sentences", "tokens", "first"),
    [("train", 8936, 211727, ("Confidence", "NN")), ("test", 2012, 47377, ("Rockwell", "NNP"))],
)
def test_conll2000(
    split: str, sentences: int, tokens: int, first: tuple[str, str], require_data: Callable[[str], None]
) -> None:
    require_data("conll2000")
    X, y = registry.load_conll2000(split)  # type: ignore[arg-type]
    assert (len(X), len(y), X.n_tokens, X.n_columns) == (sentences, sentences, tokens, 2)
    assert X.sequence(0)[0] == first
    assert y[0][0] == "B-NP"


@pytest.mark.data
@pytest.mark.parametrize(
    ("language", "split", "sentences", "tokens"),
    [
        ("esp", "train", 8323, 264715),
        ("esp", "testa", 1915, 52923),
        ("esp", "testb", 1517, 51533),
        ("ned", "train", 15806, 202644),
        ("ned", "testa", 2895, 37687),
        ("ned", "testb", 5195, 68875),
    ],
)
def test_conll2002(
    language: str, split: str, sentences: int, tokens: int, require_data: Callable[[str], None]
) -> None:
    require_data("conll2002")
    X, y = registry.load_conll2002(language, split)  # type: ignore[arg-type]
    assert (len(X), len(y), X.n_tokens, X.n_columns) == (sentences, sentences, tokens, 2)
    assert len(y.names) == 9
    assert not any("-DOCSTART-" in token for i in range(20) for token in X.sequence(i))


@pytest.mark.data
def test_spanish_is_decoded(require_data: Callable[[str], None]) -> None:
    require_data("conll2002")
    X, _ = registry.load_conll2002("esp", "testb")
    assert ("Coruña", "NC") in X.sequence(0)
