"""Tagged corpora: reading trees and lines of words with tags, the tags of the Brown corpus, the splits."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from parsimon.data import load_brown, load_treebank_pos
from parsimon.data.registry import REGISTRY, DataSet, RemoteFile
from parsimon.data.tagged_text import brown_base_tag, tagged_lines, tagged_trees
from parsimon.errors import ParsimonError

TREES = """
( (S
    (NP-SBJ (NNP Pierre) (NNP Vinken) )
    (VP (MD will)
      (VP (VB join)
        (NP (-NONE- *T*-1) )))
    (. .) ))
( (NP (-LRB- -LRB-) (CD 1\\/2)
  (-RRB- -RRB-)))
"""


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, dict[str, str]], None]:
    """Put a made archive in the place of a real one."""
    monkeypatch.setenv("PARSIMON_DATA", str(tmp_path))

    def make(name: str, file: str, members: dict[str, str]) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as zipped:
            for inner, text in members.items():
                zipped.writestr(inner, text)
        remote = RemoteFile("https://example.org/x.zip", hashlib.sha256(buffer.getvalue()).hexdigest())
        monkeypatch.setitem(REGISTRY, name, DataSet(name, {file: remote}, "Made.", "None."))
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_bytes(buffer.getvalue())

    return make


def test_leaves_of_trees_without_empty_elements() -> None:
    assert list(tagged_trees(TREES)) == [
        [("Pierre", "NNP"), ("Vinken", "NNP"), ("will", "MD"), ("join", "VB"), (".", ".")],
        [("-LRB-", "-LRB-"), ("1\\/2", "CD"), ("-RRB-", "-RRB-")],
    ]


def test_a_tree_of_empty_elements_is_no_sentence() -> None:
    assert list(tagged_trees("( (S (-NONE- *)))( (NN rain))")) == [[("rain", "NN")]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("( (S (NN rain))", "wsj: opening bracket without a match"),
        ("( (NN rain)) )", "wsj: closing bracket without a match"),
    ],
)
def test_damaged_trees(text: str, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        list(tagged_trees(text, "wsj"))


def test_lines_of_words_and_tags() -> None:
    text = "\n\n\tThe/at jury/nn said/vbd ./.\n\n\n1/2/cd //nn \n"
    assert list(tagged_lines(text)) == [
        [("The", "at"), ("jury", "nn"), ("said", "vbd"), (".", ".")],
        [("1/2", "cd"), ("/", "nn")],
    ]


@pytest.mark.parametrize("token", ["The", "/at", "The/"])
def test_damaged_lines(token: str) -> None:
    with pytest.raises(ParsimonError, match=f"ca01, line 2: '{token}' should be a word"):
        list(tagged_lines(f"It/pps\njury/nn {token}", "ca01"))


@pytest.mark.parametrize(
    ("tag", "base"),
    [
        ("nn", "nn"),
        ("np-tl", "np"),
        ("nn-tl-hl", "nn"),
        ("nns$-tl-hl", "nns$"),
        ("pp$$", "pp$$"),
        ("fw-in+at-tl", "in"),
        ("fw-in+at-t", "in"),
        ("wdt+ber+pp", "wdt"),
        ("ppss+bez*", "ppss"),
        ("md*", "md"),
        ("do*-hl", "do"),
        ("*", "*"),
        ("*-hl", "*"),
        ("fw-*-tl", "*"),
        ("--", "--"),
        ("---hl", "--"),
        (".-hl", "."),
        ("nil", "nil"),
    ],
)
def test_base_tags(tag: str, base: str) -> None:
    assert brown_base_tag(tag) == base


def test_the_treebank_is_parted_by_order(corpus: Callable[..., None]) -> None:
    trees = {f"treebank/combined/wsj_{i:04}.mrg": f"( (NN w{i})) ( (NN v{i}))" for i in range(1, 11)}
    corpus("treebank_pos", "treebank.zip", {**trees, "treebank/README": "no tree"})
    words = [f"{letter}{i}" for i in range(1, 11) for letter in "wv"]
    for split, part in (
        ("train", slice(16)),
        ("dev", slice(16, 18)),
        ("test", slice(18, 20)),
        ("all", slice(20)),
    ):
        X, y = load_treebank_pos(split)  # type: ignore[arg-type]
        assert [X.sequence(i) for i in range(len(X))] == [[(word,)] for word in words[part]]
        assert y.names == ("NN",)


def test_brown_is_parted_by_texts_of_a_category(corpus: Callable[..., None]) -> None:
    texts = {f"brown/ca{i:02}": f"a{i}/nn" for i in range(1, 17)}
    texts |= {f"brown/cm{i:02}": f"m{i}/md*" for i in range(1, 7)}
    corpus("brown", "brown.zip", {**texts, "brown/CONTENTS": "no text", "brown/cats.txt": "ca01 news"})
    found = {}
    for split in ("train", "dev", "test", "all"):
        X, _ = load_brown(split)
        found[split] = {X.sequence(i)[0][0] for i in range(len(X))}
    assert found["dev"] == {"a5", "a15", "m5"}
    assert found["test"] == {"a6", "a16", "m6"}
    assert found["train"] == found["all"] - found["dev"] - found["test"]
    assert len(found["all"]) == 22
    assert load_brown("all")[1].names == ("nn", "md")
    assert load_brown("all", tags="original")[1].names == ("nn", "md*")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load_brown("valid"), "brown has no split 'valid'; give train, dev, test or all"),  # type: ignore[arg-type]
        (lambda: load_treebank_pos("testa"), "treebank_pos has no split 'testa'"),  # type: ignore[arg-type]
        (lambda: load_brown(tags="plain"), "tags is 'plain'; give base or original"),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        call()


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "sentences", "tokens", "labels"),
    [("train", 3131, 75385, 45), ("dev", 391, 9527, 40), ("test", 392, 9172, 40), ("all", 3914, 94084, 45)],
)
def test_the_treebank_sample(
    split: str, sentences: int, tokens: int, labels: int, require_data: Callable[[str], None]
) -> None:
    require_data("treebank_pos")
    X, y = load_treebank_pos(split)  # type: ignore[arg-type]
    assert (len(X), X.n_columns, X.n_tokens, len(y.names)) == (sentences, 1, tokens, labels)
    assert "-NONE-" not in y.names
    if split == "train":
        assert X.sequence(0)[:2] == [("Pierre",), ("Vinken",)]
        assert y[0][:3] == ["NNP", "NNP", ","]


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "tags", "sentences", "tokens", "labels"),
    [
        ("train", "base", 45580, 921915, 91),
        ("dev", "base", 5914, 120857, 86),
        ("test", "base", 5846, 118420, 90),
        ("all", "original", 57340, 1161192, 472),
    ],
)
def test_the_brown_corpus(
    split: str, tags: str, sentences: int, tokens: int, labels: int, require_data: Callable[[str], None]
) -> None:
    require_data("brown")
    X, y = load_brown(split, tags)  # type: ignore[arg-type]
    assert (len(X), X.n_columns, X.n_tokens, len(y.names)) == (sentences, 1, tokens, labels)
