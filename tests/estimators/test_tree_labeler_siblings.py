"""TreeLabeler where labels depend on those of siblings, instead of the parent's or also."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from parsimon import ParsimonError, SequenceLabeler, TreeLabeler
from parsimon.data.parents import previous_siblings
from parsimon.features import TemplateSet
from parsimon.features.columns import Columns, Labels
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.tree_columns import tree_columns
from parsimon.inspect import pruned
from parsimon.penalties import L2, GroupLasso
from parsimon.selection import InformationGain
from parsimon.structures import SiblingTree
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.sequences.training import SequenceTraining

TEMPLATES = TemplateSet.parse("U\nU:%x[0,0]\nB")
SETTINGS = [None, "instead", "also"]


def boxes(n: int, seed: int = 0, noise: float = 0.0) -> tuple[list[Any], list[list[str]]]:
    """In boxes of one kind children are x, y, x, …, in others x, z, x, …; nothing can be seen but what a box is.

    So parents tell who takes turns, and siblings whose turn it is. A share of the labels of children is noise.
    """
    rng = np.random.default_rng(seed)
    trees, labels = [], []
    for _ in range(n):
        nodes, parent, names = [("page",)], [-1], ["PAGE"]
        for _ in range(rng.integers(1, 4)):
            kind, other = [("A", "y"), ("B", "z")][rng.integers(2)]
            at = len(nodes)
            nodes.append((kind.lower(),))
            parent.append(0)
            names.append(kind)
            for i in range(rng.integers(2, 6)):
                nodes.append(("?",))
                parent.append(at)
                names.append("x" if i % 2 == 0 else other)
                if rng.random() < noise:
                    names[-1] = "xyz"[rng.integers(3)]
        trees.append((nodes, parent))
        labels.append(names)
    return trees, labels


@pytest.mark.parametrize("noise", [0.0, 0.1])  # with some, no pair of labels is impossible
def test_parent_and_sibling_together_know_most(noise: float) -> None:
    train, test = boxes(60, noise=noise), boxes(40, seed=1)
    score = {
        siblings: TreeLabeler(TEMPLATES, siblings=siblings, l1=0.05).fit(*train).score(*test)
        for siblings in SETTINGS
    }
    assert score["also"] == 1.0
    assert score[None] < 0.9  # which box, but not whose turn it is
    assert score["instead"] < 0.95  # whose turn it is, but after x no longer which box


@pytest.mark.parametrize("siblings", SETTINGS)
@pytest.mark.parametrize("kind_column", [None, 0])
def test_there_and_back(siblings: str | None, kind_column: int | None, tmp_path: Path) -> None:
    trees, labels = boxes(20)
    labeler = TreeLabeler(TEMPLATES, siblings=siblings, kind_column=kind_column, l1=0.05).fit(trees, labels)
    labeler.save(tmp_path / "model")
    loaded = TreeLabeler.load(tmp_path / "model")
    assert (loaded.siblings, loaded.kind_column) == (siblings, kind_column)
    again = clone(labeler)
    assert again.get_params()["siblings"] == siblings
    for other in (loaded, pickle.loads(pickle.dumps(labeler)), again.fit(trees, labels)):
        for one, two in zip(other.predict_marginals(trees), labeler.predict_marginals(trees), strict=True):
            np.testing.assert_array_equal(one, two)
        assert other.predict(trees) == labeler.predict(trees)
        assert other.predict_kbest(trees[:3], 3) == labeler.predict_kbest(trees[:3], 3)
    assert loaded.fit(trees, labels).predict(trees) == labeler.predict(trees)
    small = pruned(labeler.model_, 0.1)
    assert small.below is labeler.model_.below
    assert dump_model(parse_model(dump_model(labeler.model_))) == dump_model(labeler.model_)


def test_marginals_are_those_of_single_labels() -> None:
    """And all that is said fits together: the best labelling is the first of the k best, odds add up to one."""
    trees, labels = boxes(20)
    labeler = TreeLabeler(TEMPLATES, siblings="also", l1=0.05).fit(trees, labels)
    assert set(labeler.classes_) == {"PAGE", "A", "B", "x", "y", "z"}
    small = [([("page",), ("a",), ("?",), ("?",)], [-1, 0, 1, 1])]
    (marginals,) = labeler.predict_marginals(small)
    assert marginals.shape == (4, 6)
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0)
    every = labeler.predict_kbest(small, 10_000)[0]
    assert every[0][1] == labeler.predict(small)[0]
    assert sum(np.exp(p) for p, _ in every) == pytest.approx(1.0)
    expected = np.zeros_like(marginals)
    names = labeler.classes_.tolist()
    for p, labelling in every:
        expected[np.arange(4), [names.index(label) for label in labelling]] += np.exp(p)
    np.testing.assert_allclose(marginals, expected, atol=1e-10)


def random_trees(n: int, seed: int) -> list[Any]:
    rng, trees = np.random.default_rng(seed), []
    for _ in range(n):
        size = int(rng.integers(1, 12))
        parent = [-1, *(int(rng.integers(-1, t)) for t in range(1, size))]
        trees.append(([(str(rng.choice(["page", "a", "b", "?", "new"])),) for _ in range(size)], parent))
    return trees


@pytest.mark.parametrize("kind_column", [None, 0])
def test_only_what_was_seen_is_possible_and_every_tree_is(kind_column: int | None) -> None:
    """Trees as never seen in training: roots are children, leaves are parents, kinds are new."""
    train = boxes(20)
    labeler = TreeLabeler(TEMPLATES, siblings="also", kind_column=kind_column, l1=0.5).fit(*train)
    trees, below = random_trees(60, 0), labeler.model_.below
    assert below is not None
    names = labeler.classes_.tolist()
    for (_, parent), found in zip(trees, labeler.predict(trees), strict=True):
        for above, label in zip(parent, found, strict=True):
            y = names.index(label)
            assert below.start[y] if above < 0 else below.pair[names.index(found[above]), y]
    seen = {(names[above], names[label]) for above, label in np.argwhere(below.pair)}
    assert {("PAGE", "A"), ("A", "x"), ("A", "y"), ("B", "z")} <= seen
    assert not {("A", "z"), ("A", "PAGE"), ("PAGE", "x")} & seen or kind_column is not None
    strange = [["z"] * len(parent) for _, parent in trees]
    labeler.set_params(dev_metric="accuracy").fit(*train, dev=(trees, strange))
    with pytest.raises(ParsimonError, match="tree 0 has no possible labelling"):
        labeler.predict([([("page",), ("a",)], [-1, 0])], given=[["A", "PAGE"]])


def test_with_only_children_nothing_changes() -> None:
    """If nobody has a sibling, all three settings are one; where all pairs of labels are there, to the last digit."""
    rng = np.random.default_rng(0)
    trees = [([(str(rng.integers(4)),) for _ in range(6)], list(range(-1, 5))) for _ in range(40)]
    labels = [["ab"[int(word) % 2] if rng.random() < 0.8 else "a" for (word,) in nodes] for nodes, _ in trees]
    one, *others = [
        TreeLabeler(TEMPLATES, siblings=siblings, penalty=L2(0.1), solver="lbfgs", tol=1e-9).fit(
            trees, labels
        )
        for siblings in SETTINGS
    ]
    for other in others:
        assert other.objective_ == pytest.approx(one.objective_, rel=1e-9)
        assert other.predict(trees) == one.predict(trees)
        np.testing.assert_allclose(
            np.concatenate(other.predict_marginals(trees)),
            np.concatenate(one.predict_marginals(trees)),
            atol=1e-5,
        )


@pytest.mark.parametrize("siblings", ["instead", "also"])
@pytest.mark.parametrize(
    "setting",
    [
        {"loss": "hinge", "penalty": L2(0.1), "solver": "frank-wolfe"},
        {"loss": "hinge", "penalty": L2(0.1), "solver": "one-slack"},
        {"loss": "hinge", "l1": 0.1, "l2": 0.0, "solver": "em", "max_iter": 5},
        {"loss": "hinge", "l1": 0.1, "solver": "smoothing"},
        {"loss": "perceptron", "l1": 0.01, "solver": "subgradient", "max_iter": 100},
        {"penalty": GroupLasso(0.5)},
        {"selection": InformationGain(budget=4)},
        {"solver": "owlqn", "candidates": "seen", "cutoff": 2},
        {"solver": "grafting-light"},
        {"l1": 0.2, "debias": 1e-3, "n_jobs": 2},
    ],
)
def test_losses_penalties_and_solvers(siblings: str, setting: dict[str, Any]) -> None:
    trees, labels = boxes(15, noise=0.1)
    labeler = TreeLabeler(TEMPLATES, siblings=siblings, **setting).fit(trees, labels)
    assert labeler.score(trees, labels) > 0.7


def test_solvers_agree() -> None:
    trees, labels = boxes(12)
    fits = [
        TreeLabeler(TEMPLATES, siblings="also", l1=0.3, l2=0.1, solver=solver, tol=1e-8).fit(trees, labels)
        for solver in ("working-set", "owlqn", "fista", "grafting")
    ]
    for fit in fits[1:]:
        assert fit.objective_ == pytest.approx(fits[0].objective_, rel=1e-5)


def prepared(siblings: str, **settings: Any) -> Any:
    trees, labels = boxes(4)
    templates = TemplateSet.parse("U:%x[0,0]\nB\nB:%x[0,0]\nS\nS:%x[previous_sibling,0]")
    space = TemplateFeatures(templates, siblings=siblings)
    training = SequenceTraining(penalty=L2(0.1), **settings)
    return training.prepare(space, tree_columns(trees), Labels.from_sequences(labels))


@pytest.mark.parametrize("siblings", ["instead", "also"])
@pytest.mark.parametrize("candidates", ["all", "seen"])
def test_the_gradient_by_finite_differences(siblings: str, candidates: str) -> None:
    problem = prepared(siblings, candidates=candidates).problem
    rng = np.random.default_rng(0)
    w = rng.normal(size=problem.n_features)
    _, gradient = problem.loss_and_gradient(w)
    for k in rng.permutation(len(w))[:30]:
        step = 1e-6 * (np.arange(len(w)) == k)
        slope = (problem.loss_and_gradient(w + step)[0] - problem.loss_and_gradient(w - step)[0]) / 2e-6
        assert gradient[k] == pytest.approx(slope, abs=1e-6)


def test_differences_of_outputs_are_those_of_their_features() -> None:
    (batch,) = prepared("also").problem.batches
    rng = np.random.default_rng(0)
    assert isinstance(batch.structure, SiblingTree)
    some = np.sort(rng.choice(batch.design.n_features, 150, replace=False))
    for each in (batch, batch.part(1, 3), batch.restrict(some), batch.restrict(some).part(0, 2)):
        output = each.structure.sample(each.design.scores(np.zeros(each.design.n_features)))[0]
        parts = each.structure.indicators(each.gold)
        parts.subtract(each.structure.indicators(output))
        wanted, found = np.zeros(each.design.n_features), np.zeros(each.design.n_features)
        each.design.pullback(parts, wanted)
        for first, _, features, values in each.design.differences(each.structure, each.gold, output):
            np.add.at(found, first + features, values)
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_a_part_of_a_batch_scores_the_same() -> None:
    (batch,) = prepared("also").problem.batches
    w = np.random.default_rng(0).normal(size=batch.design.n_features)
    log_z = batch.structure.marginals(batch.design.scores(w))[0]
    part = batch.part(1, 3)
    np.testing.assert_allclose(part.structure.marginals(part.design.scores(w))[0], log_z[1:3])


def test_templates_about_siblings() -> None:
    """Without any, those about parents are copied; with some, only they count. Weights are the siblings' own."""
    trees, labels = boxes(12)
    labeler = TreeLabeler(TEMPLATES, siblings="instead", l1=0.01).fit(trees, labels)
    assert labeler.templates_.names == ("U", "U:%x[0,0]", "B", "S")
    space = labeler.model_.space
    assert space.pair_names(np.arange(space.n_pair)) == ["B", "S"]
    own = TemplateSet.parse("U:%x[0,0]\nS:%x[0,0]\nB")
    labeler = TreeLabeler(own, siblings="also", l1=0.01, cutoff=3).fit(*boxes(12, noise=0.2))
    names = labeler.model_.space.pair_names(np.arange(labeler.model_.space.n_pair))
    assert names[0] == "B"
    assert "S" not in names
    assert "S:?" in names
    more = TreeLabeler(TEMPLATES, siblings="also", l1=0.05).fit(trees, labels)
    more.partial_fit(trees, labels, templates=TemplateSet.parse("B:%x[0,0]"))
    assert more.templates_.names == ("U", "U:%x[0,0]", "B", "S", "B:%x[0,0]", "S:%x[0,0]")


def test_steps_come_from_siblings() -> None:
    space = TemplateFeatures(TemplateSet.parse("U\nB\nS"), siblings="instead")
    X = tree_columns([([("a",)] * 4, [-1, 0, 0, 2])])
    seen = space.learn(X)
    assert seen.before.tolist() == [-1, 0, 1, 2]
    assert np.split(seen.pair.index, seen.pair.start[1:-1]) == [[0], [0], [1], [0]]
    also = TemplateFeatures(TemplateSet.parse("U\nB\nS"), siblings="also").learn(X)
    rows, before = also.steps
    assert before.tolist() == [-1, -1, 0, -1, 0, 1, 2, -1]
    assert rows.index.tolist() == [0, 1] * 4
    assert np.diff(rows.start).tolist() == [1] * 8
    assert previous_siblings(X.links.parent).tolist() == before[1::2].tolist()  # type: ignore[union-attr]


def test_missing_labels_may_be_any() -> None:
    trees, labels = boxes(15)
    some = [[label if (t + i) % 5 else None for t, label in enumerate(ys)] for i, ys in enumerate(labels)]
    labeler = TreeLabeler(TEMPLATES, siblings="also", l1=0.05).fit(trees, some)
    assert labeler.score(trees, labels) > 0.9


def test_nothing_but_single_nodes_and_empty_trees() -> None:
    trees: list[Any] = [([("a",)], [-1]), ([], []), ([("b",)], [-1])]
    labeler = TreeLabeler(TEMPLATES, siblings="also", l1=0.01).fit(trees * 3, [["x"], [], ["y"]] * 3)
    assert labeler.predict(trees) == [["x"], [], ["y"]]
    assert len(labeler.predict([([("a",), ("b",), ("b",)], [-1, 0, 0])])[0]) == 3
    assert labeler.predict([]) == []


def test_a_large_tree() -> None:
    """10,000 nodes, 5,000 of them one below the other, and each of those with a leaf."""
    labeler = TreeLabeler(TEMPLATES, siblings="also", l1=0.05).fit(*boxes(20, noise=0.2))
    parent = [-1] + [t - 2 if t % 2 == 0 else t - 1 for t in range(1, 10_000)]
    tree = [([("a",)] * 10_000, parent)]
    (marginals,) = labeler.predict_marginals(tree)
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0)
    assert len(labeler.predict(tree)[0]) == 10_000


@pytest.mark.parametrize(
    ("labeler", "message"),
    [
        (TreeLabeler(TEMPLATES, siblings="both"), "siblings must be None, 'instead' or 'also', not 'both'"),
        (TreeLabeler(TemplateSet.parse("U\nS")), "template 'S' is for the labels of siblings"),
        (TreeLabeler(TEMPLATES, siblings="also", solver="mira", loss="hinge"), "an online learner"),
        (TreeLabeler(TEMPLATES, siblings="also", solver="bcd"), "block coordinate descent"),
    ],
)
def test_what_cannot_work_is_refused(labeler: TreeLabeler, message: str) -> None:
    with pytest.raises(ParsimonError, match=message):
        labeler.fit(*boxes(3))


def test_sequences_have_no_siblings() -> None:
    with pytest.raises(ParsimonError, match="template 'S' is for the labels of siblings"):
        SequenceLabeler(TemplateSet.parse("U:%x[0,0]\nS")).fit([["a"]], [["x"]])
    space = TemplateFeatures(TEMPLATES.with_siblings(), siblings="also")
    with pytest.raises(ParsimonError, match="has sequences, not trees"):
        space.learn(Columns.from_sequences([["a"]]))
