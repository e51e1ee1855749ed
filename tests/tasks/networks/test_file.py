"""Files of networks: what is written comes back, and what is damaged is refused."""

from __future__ import annotations

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
    assert back.path_.alphas.tolist() == chosen.path_.alphas.tolist()
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


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    from parsimon.tasks.documents.model import DocumentModel
    from parsimon.tasks.model_file import save_model

    save_model(DocumentModel(("a", "b"), ("w",), [[1.0]], [0.0]), tmp_path / "d")
    with pytest.raises(ParsimonError, match="is a document model, but a network model is needed here"):
        MarkovNetwork.load(tmp_path / "d")
