"""Treebanks: round trips to the byte, what is read, other heads, slices, refusals, the loaders and their splits."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsimon.data import Treebank, TreebankFile, load_treebank, read_treebank
from parsimon.data.registry import member, texts
from parsimon.data.tree_checks import check_heads
from parsimon.data.treebank_sets import TREEBANKS, spread_evenly, without_word_numbers
from parsimon.errors import ParsimonError
from parsimon.features import columns as column_module
from parsimon.features.columns import Labels

UD = """\
# newdoc
# text = Vámonos al mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\t_\tMood=Imp|Person=1\t0\troot\t0:root\tNote=a b
2\tnos\tyo\tPRON\t_\t_\t1\tobj\t1:obj\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\ta\ta\tADP\t_\t_\t5\tcase\t5:case\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t5:det\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t1:obl\t_
5.1\tvamos\tir\tVERB\t_\t_\t_\t_\t1:conj\t_

# text = New York !
# a\tcomment\twith\ttabs
0.1\tit\tit\tPRON\t_\t_\t_\t_\t1:dep\t_
1\tNew York\tNew York\tPROPN\tNNP\t_\t0\troot\t_\t_
2\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_

"""

X = """\
1\tTo\tto\tAC\tAC---U=--\tcase=unmarked\t2\tsubj\t2\tsubj
2\ttror\ttro\tVA\tVADR\t_\t0\tROOT\t_\t_

1\tJa\tja\tI\tI\t_\t0\tROOT\t_\t_
2\t.\t.\tXP\tXP\t_\t0\tpnct\t_\t_

"""


def read(text: str | bytes, **options: Any) -> Treebank:
    return read_treebank(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


def word(number: int | str, head: int | str = 0, form: str = "w", relation: str = "dep") -> str:
    return f"{number}\t{form}\t_\tNOUN\t_\t_\t{head}\t{relation}\t_\t_\n"


# -- what is read ------------------------------------------------------------------------------------------


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
        monkeypatch.setattr(column_module, "BLOCK", size)
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


@st.composite
def trees(draw: st.DrawFn) -> list[list[int]]:
    """Heads of some sentences: random trees, with one root or several."""
    sentences = []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 9))
        order = draw(st.permutations(range(1, n + 1)))
        heads = [0] * n
        for i, modifier in enumerate(order):  # a word's head comes before it in the order
            heads[modifier - 1] = draw(st.sampled_from([0, *order[:i]]))
        sentences.append(heads)
    return sentences


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


@given(trees(), st.randoms(use_true_random=False))
def test_cycles_are_found_where_they_are(sentences: list[list[int]], random: Any) -> None:
    heads = random.choice(sentences)
    word_number = random.randrange(1, len(heads) + 1)
    heads[word_number - 1] = random.randrange(len(heads) + 1)

    def reaches_root(i: int) -> bool:
        for _ in heads:
            i = heads[i - 1] if i else 0
        return i == 0

    right = all(map(reaches_root, range(1, len(heads) + 1)))
    flat = np.array([head for one in sentences for head in one])
    lengths = np.array([len(one) for one in sentences])
    with nullcontext() if right else pytest.raises(ParsimonError, match=r"cycle|its own head"):
        check_heads(flat, lengths, where=str)


# -- other heads, and slices -------------------------------------------------------------------------------


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
        assert a[:6] + a[8:] == b[:6] + b[8:]
    assert new[14].split("\t")[6:8] == ["_", "f"]
    assert treebank.to_bytes() == UD.encode()  # as it was
    again = read(parsed.to_bytes(), missing_heads=True)
    assert again.heads.tolist() == heads.tolist()


def test_relations_as_labels() -> None:
    treebank = read(X)
    labels = Labels(np.array([1, 0, -1, 1], np.int32), treebank.lengths, ["root", "dep"])
    parsed = treebank.with_heads(treebank.heads, labels)
    assert parsed.values("deprel") == ["dep", "root", "_", "dep"]
    assert parsed.values("pdeprel") == treebank.values("pdeprel")


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


# -- refusals ----------------------------------------------------------------------------------------------

TREE = word(1) + word(2, 1) + "\n"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (TREE + word(1)[:-3], 4, "there are 9 columns, but CoNLL-U and CoNLL-X have ten columns, separated by tabs"),
        (word(1).rstrip("\n") + "\t_\n", 1, "there are 11 columns, but"),
        ("1 w _ NOUN _ _ 0 dep _ _\n" + TREE, 1, "there is 1 column, but"),
        (TREE + "# x\n" + word(1, form=""), 5, "column 2 is empty"),
        (TREE + word(1).replace("\tw\t", "\t\udce9\t"), 4, "column 2 is not valid UTF-8; if the file has another"),
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
    monkeypatch.setattr(column_module, "BLOCK", 20)  # the place is the same when the file comes in blocks
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


# -- the treebanks by name ---------------------------------------------------------------------------------

SIZES = {
    ("danish", "train"): (5316, 94188), ("danish", "test"): (322, 6007),
    ("spanish", "train"): (2949, 75822), ("spanish", "test"): (563, 19206),
    ("basque", "train"): (2595, 40032), ("basque", "test"): (580, 10096),
    ("english", "train"): (12544, 204577), ("english", "dev"): (2001, 25147), ("english", "test"): (2077, 25094),
    ("hungarian", "train"): (910, 20166), ("hungarian", "dev"): (441, 11418), ("hungarian", "test"): (449, 10448),
    ("portuguese", "train"): (7018, 171776), ("portuguese", "dev"): (1172, 28447),
    ("portuguese", "test"): (1167, 27604),
    ("slovenian", "train"): (2078, 19473), ("slovenian", "test"): (1110, 10015),
    ("turkish", "train"): (3435, 37522), ("turkish", "dev"): (1100, 10542), ("turkish", "test"): (1100, 10032),
}  # fmt: skip


@pytest.mark.data
@pytest.mark.parametrize(("name", "split"), SIZES)
def test_real_treebanks(name: str, split: Any, require_data: Callable[[str], None]) -> None:
    files = TREEBANKS[name]
    require_data(files.data_set)
    treebank = load_treebank(name, split)
    assert (len(treebank), treebank.n_tokens) == SIZES[name, split]
    assert treebank.format == files.format == read(treebank.to_bytes(), encoding=files.encoding).format
    if name != "danish":
        path = member(files.data_set, files.path.format(split=split), files.archive)
        assert treebank.to_bytes() == path.read_bytes()
    assert (treebank.n_roots == 1).all() == (name not in ("danish", "basque"))


@pytest.mark.data
def test_the_danish_release_comes_back_and_its_splits_share_nothing(
    require_data: Callable[[str], None],
) -> None:
    require_data("danish_ddt")
    whole = "".join(texts("danish_ddt", "*-da.conll").values())
    assert read(whole).to_bytes() == whole.encode()
    train, test = load_treebank("danish"), load_treebank("danish", "test")
    assert not any("id=" in value for value in set(train.values("feats")))
    lengths = read(whole).lengths
    is_test = spread_evenly(322, len(lengths))
    assert np.array_equal(test.lengths, lengths[is_test])
    assert np.array_equal(train.lengths, lengths[~is_test])
    assert (test.to_bytes() + train.to_bytes()).count(b"\n\n") == 5638


def test_unknown_treebanks_and_splits() -> None:
    with pytest.raises(
        ParsimonError, match="there is no treebank 'latin'; give one of basque, danish, english"
    ):
        load_treebank("latin")
    with pytest.raises(ParsimonError, match="the treebank slovenian has no split 'dev'; give train or test"):
        load_treebank("slovenian", "dev")


@given(st.integers(0, 60), st.integers(1, 60))
def test_some_are_spread_evenly(some: int, n: int) -> None:
    some = min(some, n)
    chosen = np.flatnonzero(spread_evenly(some, n))
    assert len(chosen) == some
    gaps = np.diff(np.concatenate([[-1], chosen]))
    assert not some or gaps.max() - gaps.min() <= 1


def test_word_numbers_are_left_out_only_among_features() -> None:
    row = "1\tid=3\tx\tid=4y\tAC\tcase=gen|id=43|x=1\t0\tROOT\t_\t_\n"
    assert without_word_numbers(row.replace("|x=1", "")).split("\t")[5] == "case=gen"
    assert without_word_numbers(row) == row.replace("\tid=3\t", "\t_\t")
