"""Treebanks: round trips to the byte, columns, new heads and relations, and slices."""

from __future__ import annotations

import io

import numpy as np
import pytest

from conll_text import UD, X, read, word
from parsimon.data import TreebankFile
from parsimon.errors import ParsimonError
from parsimon.features.columns import Labels


def test_conllx_names_its_columns_otherwise() -> None:
    treebank = read(X)
    assert treebank.format == "conllx"
    assert treebank.values("cpostag") == treebank.values("upos") == ["AC", "VA", "I", "XP"]
    assert treebank.values("POSTAG") == ["AC---U=--", "VADR", "I", "XP"]
    assert treebank.values("phead")[:2] == ["2", "_"]
    assert treebank.values("pdeprel")[:2] == ["subj", "_"]
    assert treebank.n_roots.tolist() == [1, 2]
    with pytest.raises(ParsimonError, match="a treebank has no column 'tag'; give one of id, form"):
        treebank.ids("tag")


# -- round trips -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        UD,
        X,
        UD.rstrip("\n"),
        UD.rstrip("\n") + "\n",
        UD + "\n\n# the end",
        UD + "# the end\n",
        "\n\n" + UD.replace("\n\n", "\n\n\n"),
        UD.replace("\n\n", "\n \t\n"),
        UD.replace("\n", "\r\n"),
        "\ufeff" + UD,
        UD.replace("\n\n#", "\n# after the words\n\n#"),
    ],
)
def test_unchanged_files_are_written_to_the_byte(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    treebank = read(text)
    assert treebank.to_bytes() == text.encode()
    assert treebank.with_heads(treebank.heads, treebank.relations).to_bytes() == text.encode()
    for size in (1, 7, 100, 400):
        monkeypatch.setattr("parsimon.files.BLOCK", size)
        parts = list(TreebankFile(io.BytesIO(text.encode())))
        assert b"".join(part.to_bytes() for part in parts) == text.encode()
        assert sum(len(part) for part in parts) == len(treebank)


def test_other_encodings_come_back() -> None:
    content = word(1, form="mañana").encode("latin-1")
    treebank = read(content, encoding="latin-1")
    assert treebank.values("form") == ["mañana"]
    assert treebank.to_bytes() == content
    with pytest.raises(ParsimonError, match="cannot be written in its encoding iso8859-1, which has no 'š'"):
        treebank.with_heads(np.array([0]), ["š"]).to_bytes()


# -- other heads, and slices -------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_was_said_of_other_heads_goes_with_them(end: str) -> None:
    """By sentence: those that keep their trees keep their graphs as well."""
    kept = word(1, deps="0:root|2:x") + word(2, head=1, deps="1:dep") + "\n"
    text = (kept + word(1, deps="0:root") + word(2, head=1, deps="1:dep")).replace("\n", end)
    treebank = read(text, format="conllu")
    again = treebank.with_heads(np.array([0, 1, 2, 0]), treebank.relations)
    assert again.values("deps") == ["0:root|2:x", "1:dep", "_", "_"]
    assert again.to_bytes().startswith(kept.replace("\n", end).encode())
    assert [line.split(b"\t")[8] for line in again.to_bytes().splitlines() if line] == [
        b"0:root|2:x",
        b"1:dep",
        b"_",
        b"_",
    ]
    assert read(again.to_bytes(), format="conllu").heads.tolist() == [0, 1, 2, 0]
    other = treebank.with_heads(treebank.heads, ["root", "new", *treebank.values("deprel")[2:]])
    assert other.values("deps") == ["_", "_", "0:root", "1:dep"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_projective_heads_go_too(end: str) -> None:
    text = X.replace("\n", end)
    treebank = read(text)
    assert treebank.format == "conllx"
    assert treebank.to_bytes() == text.encode()
    changed = treebank.with_heads(np.array([0, 1, 0, 1]), ["a"] * 4)
    assert set(changed.values("phead") + changed.values("pdeprel")) == {"_"}
    lines = [line for line in changed.to_bytes().decode().split(end) if line]
    assert [line.split("\t")[8:] for line in lines] == [["_", "_"]] * 4
    assert changed.to_bytes().count(end.encode()) == text.count(end)


def test_predictions_change_heads_and_relations_and_nothing_else() -> None:
    treebank = read(UD)
    heads = np.array([2, 0, 2, 3, 4, -1, 1])
    parsed = treebank.with_heads(heads, list("abcdefg"))
    assert parsed.heads.tolist() == heads.tolist()
    assert list(parsed.relations) == [list("abcde"), list("fg")]
    old, new = UD.split("\n"), parsed.to_bytes().decode().split("\n")
    changed = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    assert changed == [3, 4, 6, 7, 8, 14, 15]
    for i in changed:
        a, b = old[i].split("\t"), new[i].split("\t")
        assert a[:6] + a[9:] == b[:6] + b[9:]
        assert b[8] == "_"  # the graph was about another tree
    assert new[14].split("\t")[6:8] == ["_", "f"]
    assert treebank.to_bytes() == UD.encode()  # as it was
    again = read(parsed.to_bytes(), missing_heads=True)
    assert again.heads.tolist() == heads.tolist()


def test_relations_as_labels() -> None:
    treebank = read(X)
    labels = Labels(np.array([1, 0, -1, 1], np.int32), treebank.lengths, ["root", "dep"])
    parsed = treebank.with_heads(treebank.heads, labels)
    assert parsed.values("deprel") == ["dep", "root", "_", "dep"]


@pytest.mark.parametrize(
    ("heads", "relations", "message"),
    [
        (
            [0, 1],
            None,
            "heads has the shape .2,. and the type int64, but the input needs 4 integers, one per word",
        ),
        ([0.0, 1, 0, 1], None, "the type float64, but"),
        ([2, 1, 0, 1], None, "the input, sentence 1, word 1: the heads form a cycle, 1 → 2 → 1"),
        ([2, 0, 3, 0], None, "the input, sentence 2, word 1: the head is 3, but the sentence has 2 words"),
        ([2, 0, 0, 2**32 + 1], None, "the head is 4294967297, but the sentence has 2 words"),
        ([2, 0, 0, -2], None, "the input, sentence 2, word 2: the head '-2' is not a word number"),
        ([2, 0, 0, 1], ["a"], "there are 1 relations, but the input has 4 words"),
        ([2, 0, 0, 1], ["a", "b", "c", "d\t"], r"'d\\t' cannot be a relation"),
        ([2, 0, 0, 1], ["a", "b", "c", ""], "'' cannot be a relation"),
    ],
)
def test_heads_that_do_not_fit(heads: list[int], relations: list[str] | None, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        read(X).with_heads(np.array(heads), relations)


def test_sentences_can_be_picked() -> None:
    treebank = read("\ufeff" + UD + UD)
    first, second = (
        UD.encode()[: UD.encode().index(b"\n\n") + 2],
        UD.encode()[UD.encode().index(b"\n\n") + 2 :],
    )
    assert treebank[0].to_bytes() == first
    assert treebank[-1].to_bytes() == second
    assert treebank[1:3].to_bytes() == second + first
    assert treebank[np.array([True, False, True, False])].to_bytes() == first + first  # type: ignore[call-overload]
    picked = treebank[[3, 0]]  # type: ignore[call-overload]
    assert picked.heads.tolist() == [0, 1, 0, 1, 5, 5, 1]
    assert picked.lengths.tolist() == [2, 5]
    assert picked[1].to_bytes() == first
    assert picked.with_heads(np.array([0, 1, 0, 1, 1, 1, 1])).to_bytes().count(b"\t1\t_\t") == 5
    assert [part.n_tokens for part in treebank] == [5, 2, 5, 2]


@pytest.mark.parametrize("ending", ["", "\n", "\n\n", "\r\n", "\n \n"])
def test_the_last_sentence_stays_apart_when_another_follows(ending: str) -> None:
    picked = read(word(1, form="a") + "\n" + word(1, form="b").rstrip("\n") + ending)[[1, 0, 1]]  # type: ignore[call-overload]
    again = read(picked.to_bytes())
    assert again.values("form") == picked.values("form") == ["b", "a", "b"]
    assert again.lengths.tolist() == [1, 1, 1]
    assert picked[2].values("form") == ["b"]
