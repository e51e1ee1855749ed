"""The OCR words: reading them, their folds, and drawing some."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from parsimon import SequenceLabeler
from parsimon.data import OCRWords, load_ocr_letters
from parsimon.errors import ParsimonError

WORDS = [("no", 0), ("yes", 1), ("o", 0), ("eye", 1), ("son", 0)]


def line(
    key: int, letter: str = "a", following: int = -1, word: int = 1, position: int = 1, fold: int = 0
) -> str:
    """A letter; its id is that of the pixel that is black, so that letters can be told apart."""
    pixels = ["1" if pixel == key % 128 else "0" for pixel in range(128)]
    return "\t".join([str(key), letter, str(following), str(word), str(position), str(fold), *pixels])


def lines() -> list[str]:
    out = []
    for number, (word, fold) in enumerate(WORDS, start=1):
        for position, letter in enumerate(word, start=1):
            key = len(out) + 1
            out.append(line(key, letter, key + 1 if position < len(word) else -1, number, position, fold))
    return out


@pytest.fixture
def write(tmp_path: Path) -> Callable[[list[str]], Path]:
    def write(some: list[str]) -> Path:
        (tmp_path / "letter.data").write_text("\n".join(some) + "\n")
        return tmp_path / "letter.data"

    return write


@pytest.fixture
def words(write: Callable[[list[str]], Path]) -> OCRWords:
    return load_ocr_letters(write(lines()))


def spelled(words: OCRWords) -> list[str]:
    return ["".join(str(letter) for letter in word) for word in words.y]


def black(words: OCRWords) -> list[int]:
    """The pixel that is black in every letter."""
    matrix = words.X.matrix
    assert (matrix.data == 1).all()
    assert (np.diff(matrix.indptr) == 1).all()
    return [int(pixel) for pixel in matrix.indices]


def test_words_pixels_and_folds(words: OCRWords) -> None:
    assert len(words) == 5
    assert spelled(words) == ["no", "yes", "o", "eye", "son"]
    assert words.X.lengths.tolist() == [2, 3, 1, 3, 3]
    assert words.X.matrix.shape == (12, 128)
    assert black(words) == list(range(1, 13))
    assert words.fold.tolist() == [0, 1, 0, 1, 0]


def test_letters_in_any_order_are_put_together(write: Callable[[list[str]], Path], words: OCRWords) -> None:
    """What follows what is told by ids alone, as in the file's description."""
    order = [4, 0, 2, 1, 3, *range(5, 12)]
    other = load_ocr_letters(write([lines()[i] for i in order]))
    assert spelled(other) == ["no", "yes", "o", "eye", "son"]
    assert black(other) == black(words)
    turned = load_ocr_letters(write(lines()[::-1]))
    assert spelled(turned) == ["son", "eye", "o", "yes", "no"], "in order of the first letters"


def test_gzipped_and_with_what_editors_leave(tmp_path: Path, words: OCRWords) -> None:
    for ending in ("\n", "\t\n", "\r\n", "\n\n"):
        (tmp_path / "other").write_bytes(gzip.compress("".join(one + ending for one in lines()).encode()))
        assert spelled(load_ocr_letters(tmp_path / "other")) == spelled(words)


def test_folds(words: OCRWords) -> None:
    assert spelled(words.select_folds(1)) == ["yes", "eye"]
    assert black(words.select_folds(1)) == [3, 4, 5, 7, 8, 9]
    assert spelled(words.select_folds(1, 0)) == spelled(words)
    assert words.select_folds(0).fold.tolist() == [0, 0, 0]
    assert words.select_folds(0).y.names == words.y.names, "all have the same labels"
    with pytest.raises(ParsimonError, match="there is no fold 2; the folds are 0, 1"):
        words.select_folds(0, 2)


def test_drawing(words: OCRWords) -> None:
    drawn = words.draw(2, seed=1)
    assert sorted(drawn.fold.tolist()) == [0, 0, 1, 1]
    assert len(set(spelled(drawn))) == 4, "no word is drawn twice"
    assert spelled(drawn) == spelled(words.draw(2, seed=1))
    assert {tuple(spelled(words.draw(2, seed=seed))) for seed in range(20)} > {tuple(spelled(drawn))}
    assert set(spelled(words.draw(1, seed=1))) < set(spelled(drawn))
    for fold in (0, 1):
        assert spelled(drawn.select_folds(fold)) == spelled(words.select_folds(fold).draw(2, seed=1))


@pytest.mark.parametrize("n", [0, -1, 3])
def test_drawing_too_many(words: OCRWords, n: int) -> None:
    with pytest.raises(ParsimonError, match=rf"{n} words cannot be drawn from fold [01], which has \d"):
        words.draw(n)


def test_learning_from_them(words: OCRWords) -> None:
    labeler = SequenceLabeler(l1=0.01).fit(words.X, words.y)
    assert labeler.predict(words.X) == [list(word) for word, _ in WORDS]


@pytest.mark.parametrize(
    ("some", "message"),
    [
        ([line(1), line(2)[:-2]], r"letter\.data, line 2: .* 128 pixels \(0 or 1\), separated by tabs"),
        ([line(1), "", line(2) + "\t1"], "line 3"),
        ([line(1)[:-1] + "2"], "line 1"),
        ([line(1).replace("\t", " ")], "line 1"),
        ([line(1, "A")], "line 1: .* a letter from a to z"),
        ([line(1, fold=-1)], "line 1"),
        ([line(1, following=-2)], "line 1"),
        (["nothing of the kind"], "line 1: 'nothing of the kind'… should be"),
        ([line(1), line(2), line(1)], "line 3: line 1 also has the id 1; every letter needs its own"),
        ([line(1), line(2, following=7)], "line 2: the next letter, 7, is not in the file"),
        (
            [line(1, following=3), line(2, following=3), line(3)],
            "line 2: the next letter, 3, also follows line 1",
        ),
        ([line(1, following=2), line(2, fold=4)], "line 1: the fold is 0, but that of the next letter is 4"),
        ([line(1), line(2, following=3), line(3, following=2)], "line 2: this letter's word has no end"),
        ([line(1, following=1)], "line 1: this letter's word has no end"),
        ([""], "has no letters"),
    ],
)
def test_damaged_files(write: Callable[[list[str]], Path], some: list[str], message: str) -> None:
    with pytest.raises(ParsimonError, match=message) as caught:
        load_ocr_letters(write(some))
    assert len(str(caught.value)) < 400, "a line is not shown whole"


def test_files_that_are_not_there_or_broken(tmp_path: Path) -> None:
    with pytest.raises(ParsimonError, match="nowhere cannot be read"):
        load_ocr_letters(tmp_path / "nowhere")
    whole = gzip.compress("\n".join(lines()).encode())
    for content in (whole[:-20], whole[:10] + b"\xff" * 20, whole[:2]):
        (tmp_path / "broken.gz").write_bytes(content)
        with pytest.raises(ParsimonError, match=r"broken\.gz cannot be read"):
            load_ocr_letters(tmp_path / "broken.gz")


@pytest.mark.data
def test_the_data_set(require_data: Callable[[str], None]) -> None:
    require_data("ocr_letters")
    words = load_ocr_letters()
    assert len(words) == 6877
    assert words.X.matrix.shape == (52152, 128)
    assert sorted(words.y.names) == list("abcdefghijklmnopqrstuvwxyz")
    assert np.array_equal(words.X.lengths, words.y.lengths)
    assert np.bincount(words.fold).tolist() == [626, 704, 684, 698, 693, 651, 739, 717, 690, 675]
    assert spelled(words.select_folds(0))[0] == "ommanding"
    sample = words.draw(100)
    assert np.bincount(sample.fold).tolist() == [100] * 10
    train, test = sample.select_folds(0), sample.select_folds(*range(1, 10))
    labeler = SequenceLabeler(l1=1.0, tol=1e-2).fit(train.X, train.y)
    assert labeler.score(test.X, test.y) > 0.5
