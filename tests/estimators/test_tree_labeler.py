"""TreeLabeler: learns what depends on parents, obeys kinds, and is an estimator like any other."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from parsimon import ParsimonError, SequenceLabeler, TreeLabeler
from parsimon.cli.kinds.column_files import parts
from parsimon.features import TemplateSet
from parsimon.features.columns import ColumnFile
from parsimon.features.tree_columns import tree_columns
from parsimon.penalties import L2, GroupLasso
from parsimon.selection import Sparseptron

TEMPLATES = TemplateSet.parse("U0:%x[0,0]\nU1:%x[0,1]\nB")


def pages(n: int, seed: int = 0) -> tuple[list[Any], list[list[str]]]:
    """Records and advertisements: what text a leaf holds tells nothing, what its parent is does, a little noisily."""
    rng = np.random.default_rng(seed)
    trees, labels = [], []
    for _ in range(n):
        nodes, parent, names = [("inner", "page")], [-1], ["PAGE"]
        for _ in range(rng.integers(1, 4)):
            record = rng.random() < 0.5
            nodes.append(("inner", "box" if rng.random() < 0.3 else "record" if record else "advert"))
            parent.append(0)
            names.append("RECORD" if record else "ADVERT")
            at = len(nodes) - 1
            for _ in range(rng.integers(1, 4)):
                nodes.append(("leaf", str(rng.integers(5))))
                parent.append(at)
                names.append("VALUE" if record else "NOISE")
        trees.append((nodes, parent))
        labels.append(names)
    return trees, labels


def test_labels_of_parents_decide() -> None:
    trees, labels = pages(60)
    test, gold = pages(40, seed=1)
    tree = TreeLabeler(TEMPLATES, l1=0.05).fit(trees, labels)
    flat = SequenceLabeler(TEMPLATES, l1=0.05).fit([nodes for nodes, _ in trees], labels)
    given = flat.predict([nodes for nodes, _ in test])
    hits = np.mean([g == p for a, b in zip(gold, given, strict=True) for g, p in zip(a, b, strict=True)])
    assert tree.score(test, gold) > hits


@pytest.mark.parametrize(
    "setting",
    [
        {"loss": "hinge", "penalty": L2(0.1), "solver": "frank-wolfe"},
        {"loss": "hinge", "l1": 0.1, "l2": 0.0, "solver": "em"},
        {"penalty": GroupLasso(0.5)},
        {"loss": "hinge", "penalty": L2(0.0), "solver": "mira", "max_iter": 10},
        {"solver": "sgd-l1", "max_iter": 20},
        {"selection": Sparseptron(budget=3)},
        {"solver": "owlqn", "candidates": "seen", "cutoff": 2},
        {"l1": 0.2, "debias": 1e-3, "n_jobs": 2},
    ],
)
def test_losses_penalties_and_solvers(setting: dict[str, Any]) -> None:
    trees, labels = pages(25)
    labeler = TreeLabeler(TEMPLATES, **setting).fit(trees, labels)
    assert labeler.score(trees, labels) > 0.8


def test_kinds_of_nodes() -> None:
    trees, labels = pages(25)
    labeler = TreeLabeler(TEMPLATES, kind_column=0, l1=0.05).fit(trees, labels)
    upside_down = [([("leaf", "page"), ("inner", "3"), ("new", "record")], [-1, 0, 0])]
    (found,) = labeler.predict(upside_down)
    assert found[0] in ("VALUE", "NOISE")
    assert found[1] in ("PAGE", "RECORD", "ADVERT")
    (marginals,) = labeler.predict_marginals(upside_down)
    allowed = np.isin(labeler.classes_, ["VALUE", "NOISE"])
    assert (marginals[0, ~allowed] == 0).all()
    assert (marginals[2] > 0).all()  # a new kind may be anything
    assert labeler.score(trees, labels) > TreeLabeler(TEMPLATES, l1=30.0).fit(trees, labels).score(
        trees, labels
    )


def test_saved_and_pickled(tmp_path: Path) -> None:
    trees, labels = pages(12)
    labeler = TreeLabeler(TEMPLATES, kind_column=0, l1=0.1).fit(trees, labels)
    labeler.save(tmp_path / "model")
    loaded = TreeLabeler.load(tmp_path / "model")
    assert loaded.kind_column == 0
    for other in (loaded, pickle.loads(pickle.dumps(labeler))):
        for one, two in zip(other.predict_marginals(trees), labeler.predict_marginals(trees), strict=True):
            np.testing.assert_array_equal(one, two)


def test_k_best_and_given_labels() -> None:
    trees, labels = pages(12)
    labeler = TreeLabeler(TEMPLATES, l1=0.1).fit(trees, labels)
    (best, *others) = labeler.predict_kbest(trees[:1], 4)[0]
    assert best[1] == labeler.predict(trees[:1])[0]
    assert all(best[0] >= other[0] for other in others)
    given = [[None] * len(labels[0])]
    given[0][1] = "NOISE"  # type: ignore[call-overload]
    assert labeler.predict(trees[:1], given=given)[0][1] == "NOISE"


def test_scikit_learn_can_split_trees() -> None:
    trees, labels = pages(20)
    columns = tree_columns(trees)
    labeler = clone(TreeLabeler(TEMPLATES, kind_column=0, l1=0.1))
    y = np.empty(len(labels), object)
    y[:] = labels
    scores = cross_val_score(labeler, columns, y, cv=2)
    assert (scores > 0.6).all()


def test_the_path_starts_where_nothing_is_left() -> None:
    trees, labels = pages(12)
    labeler = TreeLabeler(TEMPLATES, kind_column=0, l2=0.0)
    strongest = labeler.max_strength(trees, labels)
    counts = [
        each.n_features_ for _, each in labeler.path(trees, labels, [strongest * 1.001, strongest * 0.2])
    ]
    assert counts[0] == 0
    assert counts[1] > 0


@pytest.mark.parametrize(
    ("labeler", "X", "match"),
    [
        (TreeLabeler(), [(["a"], [-1])], "needs templates"),
        (TreeLabeler(TEMPLATES), [["a"]], "must be a pair"),
        (TreeLabeler(TEMPLATES, kind_column=5), [([("a", "b")], [-1])], "no column 5 with node kinds"),
        (
            TreeLabeler(TEMPLATES, solver="bcd"),
            [([("a", "b")], [-1])],
            "needs a structure with block coordinate descent",
        ),
    ],
)
def test_mistakes(labeler: TreeLabeler, X: Any, match: str) -> None:
    with pytest.raises(ParsimonError, match=match):
        labeler.fit(X, [["A"]])


def test_the_command_line_does_not_take_trees_for_sequences(tmp_path: Path) -> None:
    trees, labels = pages(5)
    model = TreeLabeler(TEMPLATES, l1=0.1).fit(trees, labels).model_
    with pytest.raises(ParsimonError, match="trees that were not read from a column file"):
        next(parts(model, ColumnFile(tmp_path / "nothing"), 1, labelled=False))


def test_a_single_tree() -> None:
    trees = [([("table",), ("th",), ("td",)], [-1, 0, 0]), ([("list",), ("td",)], [-1, 0])] * 5
    labels = [["X", "NAME", "VALUE"], ["X", "TEXT"]] * 5
    labeler = TreeLabeler(TemplateSet.parse("U0:%x[0,0]\nU1:%x[parent,0]/%x[0,0]\nB"), l1=0.1).fit(
        trees, labels
    )
    assert labeler.predict_single(trees[0]) == labels[0]
    assert labeler.predict_marginals_single(trees[0]).shape == (3, 4)
    with pytest.raises(ParsimonError, match="put a single tree into a list, or use predict_single"):
        labeler.predict(trees[1])
    for wrong in (5, "a tree"):
        with pytest.raises(ParsimonError, match="X must be a list of trees"):
            labeler.predict(wrong)
