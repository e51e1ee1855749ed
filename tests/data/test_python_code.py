"""The corpus of standard-library code: how it is sampled, split and written."""

from __future__ import annotations

import sysconfig
import tokenize
from pathlib import Path

import pytest

import parsimon.data
from parsimon.data import CodeCorpus, label_python, load_python_code, python_code
from parsimon.data.python_labels import LABELS
from parsimon.errors import ParsimonError


@pytest.fixture(scope="module")
def corpus() -> CodeCorpus:
    return load_python_code(12)


def test_sequences_are_aligned_and_printable(corpus: CodeCorpus) -> None:
    assert len(corpus) == len(corpus.X) == len(corpus.y) == len(corpus.files) > 500
    for tokens, labels in zip(corpus.X, corpus.y, strict=True):
        assert 0 < len(tokens) == len(labels)
        for text, kind in tokens:
            assert kind in ("NAME", "OP", "NUMBER", "STRING", "COMMENT")
            assert text
            assert not any(character.isspace() for character in text)


def test_labels_are_known_and_most_occur(corpus: CodeCorpus) -> None:
    assert set(corpus.labels) <= set(LABELS)
    assert len(corpus.labels) > 35


def test_the_label_depends_on_more_than_the_token(corpus: CodeCorpus) -> None:
    seen: dict[tuple[str, str], set[str]] = {}
    for tokens, labels in zip(corpus.X, corpus.y, strict=True):
        for token, label in zip(tokens, labels, strict=True):
            seen.setdefault(token, set()).add(label)
    ambiguous = sum(len(seen[token]) > 1 for tokens in corpus.X for token in tokens)
    assert ambiguous > corpus.n_tokens / 2


def test_a_seed_gives_one_sample(corpus: CodeCorpus) -> None:
    assert load_python_code(12) == corpus
    assert set(load_python_code(12, seed=1).files) != set(corpus.files)


def test_it_has_as_many_modules_as_asked_for(corpus: CodeCorpus) -> None:
    assert len(set(corpus.files)) == 12
    assert corpus.files == sorted(
        corpus.files, key=list(dict.fromkeys(corpus.files)).index
    )  # no module twice
    assert load_python_code(4, max_tokens=None).files == [
        name for name in corpus.files if name in list(dict.fromkeys(corpus.files))[:4]
    ]


def test_max_tokens_cuts_after_a_whole_line(corpus: CodeCorpus) -> None:
    small = load_python_code(12, max_tokens=1000)
    assert small.n_tokens <= 1000 < small.n_tokens + len(corpus.X[len(small)])
    assert corpus.X[: len(small)] == small.X


def test_modules_are_the_librarys_own(corpus: CodeCorpus) -> None:
    root = Path(sysconfig.get_path("stdlib"))
    for name in set(corpus.files):
        path = root.joinpath(*name.split(".")).with_suffix(".py")
        assert path.is_file()
        assert not {"test", "idlelib", "site-packages"} & set(path.relative_to(root).parts)


def test_every_file_of_a_sample_can_be_labelled() -> None:
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(python_code._module_files(root))[::20]:
        with tokenize.open(path) as file:
            label_python(file.read(), path.name)


def test_unreadable_files_and_tables_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filler = "# " + "x" * 600 + "\n"
    (tmp_path / "package").mkdir()
    (tmp_path / "test").mkdir()
    sources = {
        "package/good.py": "a = 1\n",
        "table.py": f"t = [{'1, ' * 300}]\nb = 2\n",
        "broken.py": "def f(:\n",
        "comments.py": "",
        "test/tested.py": "c = 3\n",
        "_sysconfigdata_x.py": "d = 4\n",
    }
    for name, source in sources.items():
        (tmp_path / name).write_text(filler + source)
    (tmp_path / "latin.py").write_bytes(filler.encode() + b"e = '\xe9'\n")
    (tmp_path / "tiny.py").write_text("f = 5\n")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    found = load_python_code(2)
    assert {name: tokens[0][0] for name, tokens in zip(found.files, found.X, strict=True)} == {
        "package.good": "a",
        "table": "b",
    }


def test_a_python_without_sources_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(ParsimonError, match="no Python source in"):
        load_python_code()


def test_split_is_by_module(corpus: CodeCorpus) -> None:
    train, test = corpus.split(0.25, seed=3)
    assert len(set(train.files)) == 9
    assert len(set(test.files)) == 3
    assert not set(train.files) & set(test.files)
    assert train.n_tokens + test.n_tokens == corpus.n_tokens
    assert corpus.split(0.25, seed=3) == (train, test)
    assert set(corpus.split(0.25, seed=4)[1].files) != set(test.files)
    pairs = list(zip(corpus.X, corpus.y, corpus.files, strict=True))
    assert all(line in pairs for line in list(zip(test.X, test.y, test.files, strict=True))[:20])


def test_both_sides_of_a_split_have_a_module(corpus: CodeCorpus) -> None:
    assert len(set(corpus.split(0.001)[1].files)) == 1
    assert len(set(corpus.split(0.999)[0].files)) == 1


def test_repr_is_short(corpus: CodeCorpus) -> None:
    assert repr(corpus).startswith("CodeCorpus(12 modules, ")
    assert len(repr(corpus)) < 100


def test_written_columns_read_back(corpus: CodeCorpus, tmp_path: Path) -> None:
    corpus.write(tmp_path / "code.txt")
    blocks = (tmp_path / "code.txt").read_text(encoding="utf-8").removesuffix("\n\n").split("\n\n")
    rows = [[line.split("\t") for line in block.split("\n")] for block in blocks]
    assert [[(row[0], row[1]) for row in block] for block in rows] == corpus.X
    assert [[row[2] for row in block] for block in rows] == corpus.y
    assert [path.name for path in tmp_path.iterdir()] == ["code.txt"]


def test_writing_where_one_cannot(corpus: CodeCorpus, tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match=r"cannot write .*nowhere"):
        corpus.write(tmp_path / "nowhere" / "code.txt")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load_python_code(0), "n_modules is 0"),
        (lambda: load_python_code(max_tokens=0), "max_tokens is 0"),
        (lambda: load_python_code(3, max_tokens=50).split(0.0), "test_size is 0.0"),
        (lambda: load_python_code(3, max_tokens=50).split(1.5), "test_size is 1.5"),
        (lambda: load_python_code(1).split(), r"a corpus of 1 module\(s\) cannot be split"),
    ],
)
def test_wrong_arguments(call: object, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        call()  # type: ignore[operator]


def test_the_package_gives_all_that_it_lists() -> None:
    assert [name for name in parsimon.data.__all__ if not hasattr(parsimon.data, name)] == []
    assert dir(parsimon.data) == sorted(parsimon.data.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = parsimon.data.nothing
