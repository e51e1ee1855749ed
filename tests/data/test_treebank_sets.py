"""The registered treebanks: sizes, round trips, the Danish splits, and unknown names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conll_text import read
from parsimon.data import load_treebank
from parsimon.data.registry import member, texts
from parsimon.data.treebank_sets import TREEBANKS, spread_evenly, without_word_numbers
from parsimon.errors import ParsimonError

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
