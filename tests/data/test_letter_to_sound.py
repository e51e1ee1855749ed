"""NETtalk's dictionary: reading it, joint labels, and marks moved from letters to phonemes."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from parsimon.data import load_nettalk, phonemes
from parsimon.data.letter_to_sound import Pronunciation, marks_on_phonemes, read_nettalk
from parsimon.errors import ParsimonError

SAMPLE = """\
#   The NetTalk Corpus
# fields: word <TAB> phonemes <TAB> stress <TAB> code
abbey\t@b-i-\t1<>0<\t0
notion\tnoS-xn\t>1>0<<\t0

bow\tbo-\t>1<\t0\x20
bow\tbW-\t>1<\t0
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    (tmp_path / "nettalk.data").write_text(SAMPLE)
    return tmp_path / "nettalk.data"


def test_letters_and_phonemes(sample: Path) -> None:
    X, y = load_nettalk(path=sample)
    assert (len(X), X.n_columns, X.n_tokens) == (4, 1, 17)
    assert X.sequence(0) == [("a",), ("b",), ("b",), ("e",), ("y",)]
    assert list(y) == [list(p) for p in ("@b-i-", "noS-xn", "bo-", "bW-")]


def test_joint_labels_with_the_marks_of_letters(sample: Path) -> None:
    _, y = load_nettalk(prosody=True, path=sample)
    assert y[1] == ["n>", "o1", "S>", "-0", "x<", "n<"]


def test_joint_labels_with_the_marks_of_phonemes(sample: Path) -> None:
    _, y = load_nettalk(prosody=True, marks="phoneme", path=sample)
    assert y[1] == ["n>", "o1", "S>", "->", "x0", "n<"]
    assert y[0] == ["@1", "b<", "->", "i0", "-<"]


@pytest.mark.parametrize("marks", ["letter", "phoneme"])
def test_joint_labels_give_the_phonemes_back(sample: Path, marks: str) -> None:
    _, y = load_nettalk(path=sample)
    _, joint = load_nettalk(prosody=True, marks=marks, path=sample)  # type: ignore[arg-type]
    assert list(phonemes(joint)) == list(y)
    assert phonemes(joint).names == y.names
    assert list(phonemes(list(joint))) == list(y), "from predictions, which are lists of strings"


def test_unknown_labels_stay_unknown() -> None:
    found = phonemes([["b>", None], ["b<", "i1"]])
    assert list(found) == [["b", None], ["b", "i"]]
    assert found.names == ("b", "i")


@pytest.mark.parametrize(
    ("phoneme_string", "marks", "moved"),
    [
        ("a-rdvark", "1<<<>2<<", "1<<<>2<<"),  # aardvark: nothing to move
        ("xb-rivieS-xn", "0<>>2>01>0<<", "0<>>2>01>>0<"),  # abbreviation: from the silent i to the o
        ("xk-we-nt", "0>>1<<<<", "0>>>1<<<"),  # acquaint: from the consonant u to the a
        ("ebL-", "1>>0", "1>0<"),  # able: from the silent e to the L before it
        ("blu-", ">>>1", ">>1<"),  # blew
        ("bIsm-RC-", ">>>>1<<<", ">0>>>1<<"),  # besmirch: one stress for two nuclei
        ("@k-yrxsi", "1<>0>0>0", "1<>>>0>0"),  # accuracy: four stresses for three nuclei
        ("fId-L-", ">1<>>>", ">1<>0>"),  # fiddle: the second syllable has no stress
        ("wn-", "1<<", "<<<"),  # one: no nucleus at all
    ],
)
def test_marks_on_phonemes(phoneme_string: str, marks: str, moved: str) -> None:
    assert marks_on_phonemes(phoneme_string, marks) == moved


def test_gzipped_and_with_another_head(tmp_path: Path, sample: Path) -> None:
    packed = tmp_path / "nettalk.data.gz"
    packed.write_bytes(gzip.compress(SAMPLE.encode()))
    assert read_nettalk(packed) == read_nettalk(sample)
    headed = tmp_path / "headed.data"
    headed.write_text("The NetTalk Corpus\n\n\t\tCopyright (C) 1988\n\nabbey\t@b-i-\t1<>0<\t0\n")
    assert read_nettalk(headed) == [Pronunciation("abbey", "@b-i-", "1<>0<")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abbey\t@b-i-\t1<>0<\t0\nabbot\t@b-x\t1<>0<\t0\n", r"nettalk\.data, line 2: 'abbot"),
        ("abbey\t@b-i-\t1<>0<\t0\nabbot\n", "line 2: 'abbot' should be a word"),
        ("abbey\t@b-i-\t1<>0\t0\n", "line 1: .* a mark"),
        ("# nothing\n", "has no entries"),
    ],
)
def test_damaged_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "nettalk.data").write_text(text)
    with pytest.raises(ParsimonError, match=message):
        read_nettalk(tmp_path / "nettalk.data")


def test_files_that_are_not_there_or_cut_off(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match="nowhere cannot be read"):
        load_nettalk(path=tmp_path / "nowhere")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(SAMPLE.encode())[:-20])
    with pytest.raises(ParsimonError, match=r"cut\.gz cannot be read"):
        load_nettalk(path=tmp_path / "cut.gz")


def test_wrong_marks() -> None:
    with pytest.raises(ParsimonError, match="marks is 'syllable'; give letter or phoneme"):
        load_nettalk(marks="syllable")  # type: ignore[arg-type]


@pytest.mark.data
def test_the_dictionary(require_data: Callable[[str], None]) -> None:
    require_data("nettalk")
    X, y = load_nettalk()
    assert (len(X), X.n_tokens, len(y.names)) == (20008, 146943, 51)
    assert X.sequence(0) == [(letter,) for letter in "aardvark"]
    assert "".join(str(label) for label in y[0]) == "a-rdvark"
    assert len({"".join(letter for (letter,) in X.sequence(i)) for i in range(len(X))}) == 19802


@pytest.mark.data
@pytest.mark.parametrize(("marks", "labels"), [("letter", 163), ("phoneme", 114)])
def test_the_dictionary_with_prosody(marks: str, labels: int, require_data: Callable[[str], None]) -> None:
    require_data("nettalk")
    _, y = load_nettalk()
    _, joint = load_nettalk(prosody=True, marks=marks)  # type: ignore[arg-type]
    assert len(joint.names) == labels
    found = phonemes(joint)
    assert found.names == y.names
    assert np.array_equal(found.ids, y.ids)


@pytest.mark.data
def test_stress_is_on_vowels_only_once_it_is_moved(require_data: Callable[[str], None]) -> None:
    require_data("nettalk")
    _, joint = load_nettalk(prosody=True, marks="phoneme")
    stressed = {name[0] for name in joint.names if name[1] in "012"}
    assert stressed == set("+@AEIOUWY^aceiouxLMNR")
    assert not stressed & {name[0] for name in joint.names if name[1] in "<>"}
