"""Reading treebank files: formats, sources, random trees, and errors with their line and sentence."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conll_text import UD, X, read, trees, word
from parsimon.data import TreebankFile, read_treebank
from parsimon.data import treebank_files as module
from parsimon.errors import ParsimonError, ParsimonWarning


def test_words_are_read_and_other_rows_are_not() -> None:
    treebank = read(UD)
    assert treebank.format == "conllu"
    assert (len(treebank), treebank.n_tokens, treebank.lengths.tolist()) == (2, 7, [5, 2])
    assert treebank.values("form") == ["Vamos", "nos", "a", "el", "mar", "New York", "!"]
    assert treebank.values("id") == ["1", "2", "3", "4", "5", "1", "2"]
    assert treebank.heads.tolist() == [0, 1, 5, 5, 1, 0, 1]
    assert treebank.heads.dtype == np.int32
    assert list(treebank.relations) == [["root", "obj", "case", "det", "obl"], ["root", "punct"]]
    assert treebank.values("feats")[0] == "Mood=Imp|Person=1"
    assert treebank.values("deps")[4] == "1:obl"
    assert treebank.values("misc")[0] == "Note=a b"
    assert treebank.n_roots.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (word(1), "conllu"),  # universal tags alone
        (word(1).replace("NOUN", "NN"), "conllx"),
        (word(1).replace("NOUN", "_"), "conllx"),
        ("# x\n" + word(1).replace("NOUN", "_"), "conllu"),
        ("\ufeff# x\n" + word(1).replace("NOUN", "NN"), "conllu"),
        ("1-1\tw" + "\t_" * 8 + "\n" + word(1).replace("NOUN", "NN"), "conllu"),
    ],
)
def test_the_format_is_recognised(text: str, format: str) -> None:
    assert read(text).format == format
    assert read(text, format="conllu").format == "conllu"


def test_an_interned_table_can_be_shared() -> None:
    one = read(UD)
    two = read(UD, strings=one.strings)
    assert two.strings is one.strings
    assert np.array_equal(one.columns.ids, two.columns.ids)


def test_paths_gzip_and_standard_streams(tmp_path: Path) -> None:
    plain, packed, out = tmp_path / "a.conllu", tmp_path / "a.conllu.gz", tmp_path / "b.conllu"
    plain.write_bytes(UD.encode())
    packed.write_bytes(gzip.compress(UD.encode()))
    read_treebank(packed).write(out)
    assert out.read_bytes() == UD.encode()
    stream = io.BytesIO()
    read_treebank(str(plain)).write(stream)
    assert stream.getvalue() == UD.encode()
    script = "from parsimon.data import read_treebank; read_treebank('-').write('-')"
    piped = subprocess.run([sys.executable, "-c", script], input=UD.encode(), capture_output=True, check=True)
    assert piped.stdout == UD.encode()
    with pytest.raises(ParsimonError, match=r"nowhere.b\.conllu cannot be written: No such file"):
        read_treebank(plain).write(tmp_path / "nowhere" / "b.conllu")


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-9], lambda b: b[:30] + b"\xff\xff\xff" + b[33:], lambda b: b[5:]]
)
def test_damaged_gzip(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(damage(gzip.compress(UD.encode())))
    with pytest.raises(ParsimonError, match=r"a\.gz cannot be read"):
        read_treebank(path)


@given(trees(), st.data())
def test_random_trees(sentences: list[list[int]], data: st.DataObject) -> None:
    form = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(
        lambda text: text.strip(" ") == text
    )
    text = "".join(
        "".join(word(i, head, data.draw(form)) for i, head in enumerate(heads, 1)) + "\n"
        for heads in sentences
    )
    treebank = read(text)
    flat = [head for heads in sentences for head in heads]
    assert treebank.heads.tolist() == flat
    assert treebank.n_roots.tolist() == [heads.count(0) for heads in sentences]
    assert treebank.to_bytes() == text.encode()
    unparsed = treebank.with_heads(np.full(len(flat), -1))
    assert set(unparsed.values("head")) == set(unparsed.values("deprel")) == {"_"}
    assert unparsed.with_heads(treebank.heads, treebank.relations).to_bytes() == text.encode()


TREE = word(1) + word(2, 1) + "\n"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (TREE + word(1)[:-3], 4, "there are 9 columns, but CoNLL-U and CoNLL-X have ten columns, separated by tabs"),
        (word(1).rstrip("\n") + "\t_\n", 1, "there are 11 columns, but"),
        ("1 w _ NOUN _ _ 0 dep _ _\n" + TREE, 1, "there is 1 column, but"),
        (TREE + "# x\n" + word(1, form=""), 5, "column 2 is empty"),
        (TREE + word(1).replace("\tw\t", "\t\udce9\t"), 4, "column 2 is not valid UTF-8; if the file has another"),
        (TREE + "# \udce9\n" + word(1), 4, "a comment is not valid UTF-8; if the file has another"),
        (TREE + word(1) + word(3), 5, "the id is 3 but should be 2, because the words of a sentence are numbered"),
        (TREE + word(2), 4, "the id is 2 but should be 1"),
        (TREE + word(0), 4, "the id is 0 but should be 1"),
        (TREE + word(1) + word(1), 5, "the id is 1 but should be 2"),
        (TREE + word("x"), 4, "the id 'x' should be a number, or in CoNLL-U a range such as 1-2"),
        (TREE + word("01"), 4, "the id '01' should be a number"),
        (TREE + word("1-2") + word(1), 4, "the range 1-2 should start with the next word, 1, and end no later"),
        (TREE + word(1) + word("1-2") + word(2), 5, "the range 1-2 should start with the next word, 2"),
        (TREE + word("2-1") + word(1) + word(2), 4, "the range 2-1 should start"),
        (TREE + word("1.1") + word(1), 4, "the empty node 1.1 should have the number of the preceding word, as in 0.1"),
        (TREE + word("0.1"), 4, "the sentence has no words, only the id 0.1"),
        (TREE + word(1, "x"), 4, "the head 'x' is not a word number; it should be 0 to 1"),
        (TREE + word(1, -1), 4, "the head '-1' is not a word number"),
        (TREE + word(1, "²"), 4, "the head '²' is not a word number"),
        (TREE + word(1, 2), 4, "the head is 2, but the sentence has 1 word"),
        (TREE + word(1, "9" * 5000), 4, "the head is 9{20}…, but the sentence has 1 word"),
        (TREE + word(1) + word(2, 2), 5, "the word is its own head"),
        (TREE + word(1) + word(2, "_"), 5, "the word has no head; it should be 0 to 2"),
        (TREE + word(1, 3) + word(2) + word(3, 4) + word(4, 3), 4, "the heads form a cycle, 3 → 4 → 3, and never"),
    ],
)  # fmt: skip
def test_mistakes_are_refused_with_their_place(
    text: str, place: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bad.conllu"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    where = rf"bad\.conllu, line {place}, sentence {1 if place < 4 else 2}: "
    with pytest.raises(ParsimonError, match=where + message) as refusal:
        read_treebank(path)
    assert str(refusal.value).endswith(".")
    monkeypatch.setattr("parsimon.files.BLOCK", 20)  # the place is the same when the file comes in blocks
    with pytest.raises(ParsimonError, match=where + message):
        list(TreebankFile(path))


def test_several_roots_are_allowed_unless_refused() -> None:
    text = TREE + "# x\n" + word(1, 2) + word(2) + word(3) + "\n"
    assert read(text).n_roots.tolist() == [1, 2]
    assert read(TREE, single_root=True).n_roots.tolist() == [1]
    with pytest.raises(ParsimonError, match="line 7, sentence 2: the words 2 and 3 both have the head 0"):
        read(text, single_root=True)


def test_missing_heads_are_allowed_for_prediction() -> None:
    treebank = read(TREE + word(1, "_") + word(2, 1), missing_heads=True)
    assert treebank.heads.tolist() == [0, 1, -1, 1]
    with pytest.raises(ParsimonError, match="cycle, 1 → 2 → 1"):
        read(word(1, 2) + word(2, 1) + word(3, "_"), missing_heads=True)


def test_other_rows_are_refused_in_conllx() -> None:
    with pytest.raises(
        ParsimonError, match="line 3, sentence 1: the id '1-2' should be a number, or in CoNLL-U"
    ):
        read(UD, format="conllx")


@pytest.mark.parametrize("text", ["", "\n", "\n\n\n", "# only a comment\n", "# a\n\n# b", "\ufeff\n"])
def test_files_without_words(text: str) -> None:
    with pytest.raises(ParsimonError, match="the input has no words; CoNLL-U and CoNLL-X have ten columns"):
        read(text)
    with pytest.raises(ParsimonError, match="the input has no words"):
        list(TreebankFile(io.BytesIO(text.encode())))


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match="there is no treebank format 'conll09'; give conllu or conllx"):
        read(X, format="conll09")
    with pytest.raises(ParsimonError, match="there is no encoding called 'utf-9'"):
        read(X, encoding="utf-9")
    with pytest.raises(ParsimonError, match=r"none\.conllu cannot be read: No such file"):
        read_treebank(tmp_path / "none.conllu")


def test_bad_sentences_can_be_left_out() -> None:
    good, other = "# a\n" + word(1) + word(2, head=1) + "\n", "\n" + word(1, form="x") + "\n"
    bad = [
        "# b\n" + word(1, head=1) + "\n",
        "1\tx\n\n",
        word(2) + "\n",
        word(1, form="\x00")[:9] + "\n \n",
        "b\xff\n\n",
    ]
    for wrong in bad:
        content = good.encode() + wrong.encode("latin-1") + other.encode() + b"# the end\n"
        with pytest.raises(ParsimonError):
            read(content)
        with pytest.warns(
            ParsimonWarning, match=r"1 of 3 sentences in the input is left out:\n  .*sentence 2"
        ):
            treebank = read(content, skip_bad=True)
        assert treebank.values("form") == ["w", "w", "x"]
        assert treebank.to_bytes() == (good + other).encode()
    assert read(good + other, skip_bad=True).to_bytes() == (good + other).encode()
    with pytest.raises(ParsimonError, match="none of the 1 sentences"):
        read(bad[0], skip_bad=True)


def test_a_sentence_or_comments_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsimon.files.BLOCK", 64)
    monkeypatch.setattr("parsimon.features.columns.LARGEST_WHOLE", 500)
    monkeypatch.setattr(module, "LONGEST_LINE", 500)
    endless = word(1, 0) + "\n" + "".join(word(i, i - 1) for i in range(1, 200))
    with pytest.raises(
        ParsimonError, match=r"line 3: the sentence that starts here is larger than 500 bytes; there"
    ):
        list(TreebankFile(io.BytesIO(endless.encode())))
    with pytest.raises(
        ParsimonError, match=r"the input has 5\d\d bytes without a word; CoNLL-U and CoNLL-X have ten"
    ):
        list(TreebankFile(io.BytesIO(b"# nothing\n\n" * 1000)))
