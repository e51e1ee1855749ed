"""Files of networks: what is written comes back, and what is damaged is refused."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from changed_models import changed
from parsimon import MarkovNetwork
from parsimon.errors import ParsimonError
from parsimon.tasks.model_file import dump_model, parse_model
from toy_networks import chain, fitted


@pytest.mark.parametrize("which", ["chain", "potts"])
def test_round_trip(which: str, tmp_path: Path) -> None:
    network = fitted("pseudo-likelihood", "exact", which)
    network.save(tmp_path / "m")
    again = MarkovNetwork.load(tmp_path / "m")
    assert again.edges_ == network.edges_
    assert again.edge_weights_.tobytes() == network.edge_weights_.tobytes()
    assert again.marginals() == network.marginals()
    assert (again.alpha, again.inference, again.score_method_) == (5.0, "exact", "pseudo-likelihood")
    assert dump_model(again.model_) == (tmp_path / "m").read_bytes()
    chosen = MarkovNetwork("bic", n_alphas=4, stability=4, random_state=0).fit(chain().X)
    chosen.save(tmp_path / "n")
    back = MarkovNetwork.load(tmp_path / "n", alpha="bic")
    assert back.path_.to_dict() == chosen.path_.to_dict()
    assert back.stability_ == chosen.stability_
    assert (back.model_.stability.halves, back.model_.stability.wanted) == (4, 4)
    assert back.model_.strongest() == chosen.model_.strongest()
    assert back.alpha == "bic"


def test_states_of_all_types_come_back(tmp_path: Path) -> None:
    rows = [["é", 1, True], ["", -3, False], ["é", 1, False]] * 5
    network = MarkovNetwork(1.0).fit(rows)
    network.save(tmp_path / "m")
    again = MarkovNetwork.load(tmp_path / "m").model_.categories
    assert again == network.model_.categories == (("", "é"), (-3, 1), (False, True))
    assert [type(state) for states in again for state in states] == [str, str, int, int, bool, bool]


@pytest.mark.parametrize(
    "change",
    [
        lambda h, t: h.update(names=["a", "a", "b", "c"]),
        lambda h, t: h.update(names=["a", "b"]),
        lambda h, t: h.update(names=[["a"], "b", "c", "d"]),
        lambda h, t: h.update(names=5),
        lambda h, t: h.pop("names"),
        lambda h, t: h.update(categories=[[0, 0, 1]] * 4),
        lambda h, t: h.update(categories=[[0, 1]] * 4),
        lambda h, t: h.update(categories=[[]] * 4),
        lambda h, t: h.update(categories=[[0.5, 1, 2]] * 4),
        lambda h, t: h.update(categories=[[[0], 1, 2]] * 4),
        lambda h, t: h.update(categories=[[None, 1, 2]] * 4),
        lambda h, t: h.update(info=3),
        lambda h, t: t.update(edges=np.array([[0, 9]])),
        lambda h, t: t.update(edges=np.array([[1, 0]])),
        lambda h, t: t.update(edges=np.array([[0, 1], [0, 1]])),
        lambda h, t: t.update(edges=np.array([[-1, 1]])),
        lambda h, t: t.update(edges=np.array([[0.0, 1.0]])),
        lambda h, t: t.update(edges=np.array([0, 1])),
        lambda h, t: t.pop("edges"),
        lambda h, t: t.update(weights=t["weights"][:-1]),
        lambda h, t: t.update(weights=t["weights"] * np.nan),
        lambda h, t: t.update(weights=t["weights"].reshape(1, -1)),
        lambda h, t: t.pop("weights"),
    ],
)
def test_damaged_files_are_refused(change: Any) -> None:
    with pytest.raises(ParsimonError, match="the model is damaged"):
        parse_model(changed(dump_model(fitted("pseudo-likelihood", "exact", "potts").model_), change))


@cache
def chosen_file() -> bytes:
    return dump_model(MarkovNetwork("bic", n_alphas=4, stability=4).fit(chain().X[:200]).model_)


@pytest.mark.parametrize(
    "change",
    [
        lambda h, t: h.pop("alpha"),
        lambda h, t: h.update(alpha=-1.0),
        lambda h, t: h.update(alpha="bic"),
        lambda h, t: h.update(alpha=True),
        lambda h, t: h.update(loss="hinge"),
        lambda h, t: h.update(loss=[]),
        lambda h, t: h.update(inference="mcmc"),
        lambda h, t: h.pop("path"),
        lambda h, t: h.update(path=3),
        lambda h, t: h["path"].pop("scores"),
        lambda h, t: h["path"].update(scores=[1.0]),
        lambda h, t: h["path"].update(alphas=["a"] * 4),
        lambda h, t: h["path"].update(best=4),
        lambda h, t: h["path"].update(best=-1),
        lambda h, t: h["path"].update(end="yes"),
        lambda h, t: h.update(stability=[]),
        lambda h, t: h["stability"].update(halves=5),
        lambda h, t: h["stability"].update(halves=0),
        lambda h, t: h["stability"].update(wanted="4"),
        lambda h, t: h["stability"].update(threshold=2.0),
        lambda h, t: h["stability"].update(threshold="high"),
        lambda h, t: t.pop("stability.pairs"),
        lambda h, t: t.pop("stability.frequencies"),
        lambda h, t: t.update({"stability.frequencies": t["stability.frequencies"][1:]}),
        lambda h, t: t.update({"stability.frequencies": t["stability.frequencies"] * np.nan}),
        lambda h, t: t.update({"stability.pairs": t["stability.pairs"] + np.uint8(9)}),
    ],
)
def test_damaged_facts_are_refused(change: Any) -> None:
    parse_model(changed(chosen_file(), lambda h, t: None))
    with pytest.raises(ParsimonError, match="the model is damaged"):
        parse_model(changed(chosen_file(), change))


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    from parsimon.tasks.documents.model import DocumentModel
    from parsimon.tasks.model_file import save_model

    save_model(DocumentModel(("a", "b"), ("w",), [[1.0]], [0.0]), tmp_path / "d")
    with pytest.raises(ParsimonError, match="is a document model, but a network model is needed here"):
        MarkovNetwork.load(tmp_path / "d")


@cache
def binned_file() -> bytes:
    X = np.random.default_rng(0).normal(size=(60, 3))
    return dump_model(MarkovNetwork(5.0, bins=3, drop=["x1"]).fit(X).model_)


@pytest.mark.parametrize(
    "change",
    [
        lambda h, t: h.pop("bins"),
        lambda h, t: h.update(bins=[]),
        lambda h, t: h["bins"].update(x1=[1.0, 2.0]),
        lambda h, t: h["bins"].update(x0=[1.0]),
        lambda h, t: h["bins"].update(x0=[2.0, 1.0]),
        lambda h, t: h["bins"].update(x0=["1", "2"]),
        lambda h, t: h.pop("left_out"),
        lambda h, t: h.update(left_out="x1"),
        lambda h, t: h.update(left_out=[1]),
    ],
)
def test_damaged_bins_are_refused(change: Any) -> None:
    parse_model(changed(binned_file(), lambda h, t: None))
    with pytest.raises(ParsimonError, match="the model is damaged"):
        parse_model(changed(binned_file(), change))
