"""The compiled expansion of arc templates against the same spelt out in Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsimon.designs.feature_table import FeatureTable
from parsimon.features.arc_features import ArcFeatures
from parsimon.features.arc_presets import arc_preset
from parsimon.features.arc_templates import ArcTemplates
from parsimon.features.template_order import TemplateOrder
from parsimon.penalties.groupings import ByOrder, ByTemplate
from parsimon.tasks.parsing.model import index_of_arcs
from toy_treebanks import attributes_of_arc, random_treebank, treebank_of

MIXED = ArcTemplates.parse(
    """
    h.upos+m.upos+dist
    h.form+m.lower+dir
    h.feat+m.feat+dir+dist
    h.upos+h.feat
    m.feat+dist
    m.upos+b.upos
    h.lemma+b.feat+m.form+dir
    b.form+dist
    h-1.upos+h.upos+m+1.upos
    h+2.suffix:1+m-2.shape
    h.xpos+dir+dist
    m.feats+dir
    dist
    dir
    bias
    """
)
templates = st.lists(st.sampled_from(MIXED.templates), min_size=1, max_size=5, unique=True).map(
    lambda chosen: ArcTemplates(tuple(chosen))
)
lengths = st.lists(st.integers(1, 8), min_size=1, max_size=4).map(tuple)


def gold_arcs(treebank):
    offsets = np.concatenate([[0], np.cumsum(treebank.lengths)])
    for i, n in enumerate(treebank.lengths.tolist()):
        for m in range(1, n + 1):
            yield i, int(treebank.heads[offsets[i] + m - 1]), m


def names_by_python(templates, treebank, i, head, modifier):
    return [name for t in templates for name in attributes_of_arc(t, treebank, i, head, modifier)]


def counted(templates, treebank):
    found = {}
    for i, h, m in gold_arcs(treebank):
        for name in names_by_python(templates, treebank, i, h, m):
            found[name] = found.get(name, 0) + 1
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), lengths, templates, st.integers(1, 2))
def test_the_attributes_of_the_trees_are_numbered(seed, lengths, templates, cutoff):
    treebank = random_treebank(seed, lengths)
    space = ArcFeatures(templates, cutoff)
    space.learn(treebank)
    frequent = {name for name, count in counted(templates, treebank).items() if count >= cutoff}
    names = space.node_names(np.arange(space.n_node))
    assert len(names) == len(set(names))
    assert set(names) == frequent
    owner = space.node_templates(np.arange(space.n_node))
    assert np.all(np.diff(owner) >= 0)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), lengths, templates, st.integers(1, 3))
def test_scores_and_gradients_are_those_of_python(seed, lengths, templates, threads):
    treebank = random_treebank(seed, lengths)
    space = ArcFeatures(templates)
    space.learn(treebank)
    other = random_treebank(seed + 1, lengths)
    sentences = space.observe(other)
    number = {name: a for a, name in enumerate(space.node_names(np.arange(space.n_node)))}
    random = np.random.default_rng(seed)
    w = random.normal(size=space.n_node)
    n_arcs = sum(n * (n + 1) for n in lengths)
    parts = random.normal(size=n_arcs)
    expected, gradient, at = np.zeros(n_arcs), np.zeros(space.n_node), 0
    for i, n in enumerate(lengths):
        for m in range(1, n + 1):
            for h in range(n + 1):
                if h != m:
                    for name in names_by_python(templates, other, i, h, m):
                        if name in number:
                            expected[at] += w[number[name]]
                            gradient[number[name]] += parts[at]
                at += 1
    out, found = np.empty(n_arcs), np.zeros(space.n_node)
    space.dictionary.scores(sentences, 0, len(lengths), w, out, threads)
    space.dictionary.pullback(sentences, 0, len(lengths), parts, found, threads)
    np.testing.assert_allclose(out, expected, atol=1e-12)
    np.testing.assert_allclose(found, gradient, atol=1e-12)
    space.scorer(w, threads).scores(sentences, 0, len(lengths), out, threads)
    np.testing.assert_allclose(out, expected, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), lengths, templates)
def test_the_attributes_of_single_arcs(seed, lengths, templates):
    treebank = random_treebank(seed, lengths)
    space = ArcFeatures(templates)
    sentences = space.learn(treebank)
    start, index = space.dictionary.attributes(sentences, 0, len(lengths), treebank.heads, 1)
    names = np.array(space.node_names(np.arange(space.n_node)), dtype=object)
    for k, (i, h, m) in enumerate(gold_arcs(treebank)):
        found = names[index[start[k] : start[k + 1]]]
        assert sorted(found) == sorted(names_by_python(templates, treebank, i, h, m))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), lengths, templates, st.data())
def test_some_attributes_by_themselves(seed, lengths, templates, data):
    treebank = random_treebank(seed, lengths)
    space = ArcFeatures(templates)
    space.learn(treebank)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=space.n_node, max_size=space.n_node)), bool)
    names = space.node_names(np.arange(space.n_node))
    small = space.keep(kept, np.zeros(0, bool))
    assert small.node_names(np.arange(small.n_node)) == [n for n, k in zip(names, kept, strict=True) if k]
    # A space that was written down and read again is the same, and gives the same scores.
    settings_, arrays = small.state()
    again = ArcFeatures.from_state(settings_, arrays) if small.n_node else small
    assert again.node_names(np.arange(again.n_node)) == small.node_names(np.arange(small.n_node))
    w = np.random.default_rng(seed).normal(size=space.n_node) * kept
    n_arcs = sum(n * (n + 1) for n in lengths)
    one, two, three = np.empty(n_arcs), np.empty(n_arcs), np.empty(n_arcs)
    space.dictionary.scores(space.observe(treebank), 0, len(lengths), w, one, 1)
    again.dictionary.scores(again.observe(treebank), 0, len(lengths), w[kept], two, 1)
    restricted = space.dictionary.restrict(np.flatnonzero(kept))
    restricted.scores(space.observe(treebank), 0, len(lengths), w[kept], three, 1)
    np.testing.assert_allclose(two, one, atol=1e-12)
    np.testing.assert_array_equal(three, two)


def test_long_sentences_and_all_684_templates():
    treebank = random_treebank(5, (40, 25))
    templates = arc_preset("martins-parsing")
    space = ArcFeatures(templates)
    sentences = space.learn(treebank)
    found = np.zeros(space.n_node)
    ones = np.zeros(40 * 41 + 25 * 26)
    chosen = [(0, 3, 38), (0, 0, 20), (1, 25, 1), (1, 6, 5)]
    for i, h, m in chosen:
        n = (40, 25)[i]
        ones[(40 * 41 if i else 0) + (m - 1) * (n + 1) + h] = 1
    space.dictionary.pullback(sentences, 0, 2, ones, found, 2)
    number = {name: a for a, name in enumerate(space.node_names(np.arange(space.n_node)))}
    expected = np.zeros(space.n_node)
    for i, h, m in chosen:
        for name in names_by_python(templates, treebank, i, h, m):
            if name in number:
                expected[number[name]] += 1
    np.testing.assert_array_equal(found, expected)
    assert expected.sum() > 500


def test_templates_that_look_at_no_word_are_constant():
    space = ArcFeatures(MIXED)
    space.learn(random_treebank(1))
    names = space.node_names(space.constant()[0])
    assert {name.split("=")[0] for name in names} == {"dist", "dir", "bias"}
    assert space.template_names() == MIXED.names


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda a: a.update(count=a["count"] + 1), "do not match"),
        (lambda a: a.update(columns=a["columns"] + 1000), "does not exist"),
        (lambda a: a.update({"strings.length": a["strings.length"][::-1]}), "begin"),
    ],
)
def test_damaged_states_are_refused(change, what):
    space = ArcFeatures(ArcTemplates.parse("h.upos+m.upos\nm.form"))
    space.learn(random_treebank(1))
    settings_, arrays = space.state()
    change(arrays)
    with pytest.raises(ValueError, match=what):
        ArcFeatures.from_state(settings_, arrays)


def test_the_border_checks_its_arrays():
    space = ArcFeatures(ArcTemplates.parse("h.upos+m.upos"))
    treebank = random_treebank(1, (3, 2))
    sentences = space.learn(treebank)
    dictionary, n = space.dictionary, space.n_node
    with pytest.raises(ValueError, match="one score an arc"):
        dictionary.scores(sentences, 0, 2, np.zeros(n), np.zeros(3), 1)
    with pytest.raises(ValueError, match="one weight a feature"):
        dictionary.scores(sentences, 0, 2, np.zeros(n + 1), np.zeros(18), 1)
    with pytest.raises(ValueError, match="no such sentences"):
        dictionary.scores(sentences, 0, 3, np.zeros(n), np.zeros(18), 1)
    with pytest.raises(ValueError, match="out of range"):
        dictionary.attributes(sentences, 0, 2, np.array([1, 0, 0, 0, 0], np.int32), 1)
    with pytest.raises(ValueError, match="ascend"):
        dictionary.restrict(np.array([1, 0]))


def test_how_often_templates_fire_where_they_do() -> None:
    words = [
        ("a", "a", "D", "_", 4, "x"),
        ("b", "b", "A", "A=1|B=2|C=3", 4, "x"),
        ("c", "c", "A", "A=1", 4, "x"),
        ("d", "d", "N", "_", 0, "root"),
    ]
    space = ArcFeatures(ArcTemplates.parse("h.upos+m.upos\nb.form\nm.feat\nm.feat+b.upos"))
    assert space.firings().tolist() == [1.0, 1.0, 1.0, 1.0]
    space.learn(treebank_of([words]))
    # Between are b c, c, nothing and a b c; feats are 3 and 1; both together 3 · 1 for b, and c has nothing between.
    assert space.firings().tolist() == [1.0, 2.0, 2.0, 3.0]
    features = FeatureTable(space, index_of_arcs(space), ("arc",))
    weight = ByTemplate(weight="ones").groups(features).weight
    assert weight.tolist() == [1.0, 2.0, 2.0, 3.0]
    assert ByTemplate(weight="ones", by_firings=False).groups(features).weight.tolist() == [1.0] * 4
    order = TemplateOrder.from_arcs(space.templates)
    assert ByOrder(order, weight="ones").groups(features).weight.tolist() == [1.0, 2.0, 2.0, 3.0]
    assert ByOrder(order, weight="ones", by_firings=False).groups(features).weight.tolist() == [1.0] * 4
