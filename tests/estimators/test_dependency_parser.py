"""DependencyParser: learning a toy grammar, prediction in all its forms, model files, the scikit-learn contract."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from parsimon import DependencyParser, ParsimonError, ParsimonWarning, load_model
from parsimon.data import read_treebank
from parsimon.features.arc_presets import arc_preset
from parsimon.features.arc_templates import ArcTemplates
from parsimon.features.template_order import TemplateOrder
from parsimon.penalties import GroupLasso
from parsimon.penalties.groupings import ByOrder
from parsimon.selection import GroupLassoPath, InformationGain, Sparseptron
from parsimon.structures import Arborescence, ArcParts, is_projective
from parsimon.tasks.model_file import dump_model, parse_model
from parsimon.tasks.parsing.metrics import compare_treebanks
from parsimon.tasks.sequences.model import SequenceModel
from toy_treebanks import grammar, random_treebank

TRAIN, TEST = grammar(60, seed=1), grammar(30, seed=2)


@pytest.fixture(scope="module")
def parser():
    return DependencyParser(max_iter=5).fit(TRAIN)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss": "perceptron", "solver": "sgd"},
        {"loss": "log", "solver": "sgd"},
        {"loss": "log", "solver": "lbfgs", "l2": 0.1, "max_iter": 50},
        {"loss": "log", "solver": "auto", "l1": 0.05, "max_iter": 100},
        {"loss": "log", "solver": "auto", "penalty": GroupLasso(0.5, l2=0.05), "max_iter": 100},
        {"projective": True},
        {"projective": True, "loss": "log", "solver": "lbfgs", "l2": 0.1, "max_iter": 50},
        {"single_root": False},
        {"decoding": "minimum-risk"},
        {"selection": Sparseptron(budget=5)},
        {"selection": InformationGain(budget=20)},
        {"selection": GroupLassoPath(budget=8), "loss": "log", "solver": "lbfgs", "l2": 0.1},
    ],
    ids=str,
)
def test_a_toy_grammar_is_learnt_completely(settings):
    parser = DependencyParser(**{"max_iter": 10, **settings}).fit(TRAIN)
    assert parser.score(TEST) == 1.0
    assert compare_treebanks(TEST, parser.predict(TEST)).las == 1.0
    selection = settings.get("selection")
    if selection is not None:
        assert len([t for t in parser.templates_ if t.tests_words]) <= selection.budget


def test_predictions_do_not_look_at_the_heads_of_the_input(parser):
    blank = TEST.with_heads(np.full(TEST.n_tokens, -1), ["_"] * TEST.n_tokens)
    parsed = parser.predict(blank)
    assert parsed.heads.tolist() == TEST.heads.tolist()
    assert parsed.values("deprel") == TEST.values("deprel")
    assert next(heads.tolist() for heads in parser.predict_heads(blank)) == TEST[0].heads.tolist()


def test_heads_that_are_given_stay(parser):
    given = np.where(np.arange(TEST.n_tokens) % 3 == 0, TEST.heads, -1)
    wrong = int(TEST.lengths[0])  # the last word of the first sentence, on the first one
    given[:wrong] = -1
    given[wrong - 1] = 1
    parsed = parser.predict(TEST.with_heads(given, ["_"] * TEST.n_tokens), given_heads=True)
    known = given >= 0
    assert parsed.heads[known].tolist() == given[known].tolist()
    assert parser.predict(TEST).heads[wrong - 1] != 1
    rest = ~known
    rest[:wrong] = False
    assert parsed.heads[rest].tolist() == TEST.heads[rest].tolist()


def test_heads_that_cannot_be_given(parser):
    twice = np.full(TEST.n_tokens, -1)
    twice[int(TEST.lengths[0]) :][:2] = 0
    with pytest.raises(ParsimonError, match="sentence 2 is given with several words at the root"):
        parser.predict(TEST.with_heads(twice, ["_"] * TEST.n_tokens), given_heads=True)


def test_trees_that_cross_are_lifted_for_a_projective_parser():
    treebank = random_treebank(3, (5, 6, 7, 4), single_root=True)
    settings = {"projective": True, "loss": "log", "solver": "lbfgs", "l2": 0.1, "max_iter": 100}
    with pytest.warns(ParsimonWarning, match="4 trees of .* have arcs that cross"):
        parser = DependencyParser(**settings).fit(treebank)
    assert parser.model_.info["objective"] > 0  # −log of a probability, and a penalty
    parsed = parser.predict(treebank)
    assert all(is_projective(heads) for heads in np.split(parsed.heads, np.cumsum(treebank.lengths)[:-1]))


def test_marginals_are_those_of_the_scores(parser):
    marginals = parser.predict_marginals(TEST)
    assert [table.shape for table in marginals] == [(n, n + 1) for n in TEST.lengths.tolist()]
    for _, _, trees, scores in parser.model_.scored(TEST[:3]):
        _, parts = trees.marginals(ArcParts(scores.arc.copy()))
        np.testing.assert_allclose(np.concatenate([t.ravel() for t in marginals[:3]]), parts.arc, atol=1e-12)
    for table in marginals:
        np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-9)


def test_the_k_best_trees(parser):
    best = parser.predict_kbest(TEST, 3)
    assert len(best) == len(TEST)
    for i, trees in enumerate(best):
        values = [value for value, _ in trees]
        assert values == sorted(values, reverse=True)
        assert np.exp(values).sum() <= 1 + 1e-9
        assert trees[0][1].tolist() == parser.predict_heads(TEST[i])[0].tolist()


def test_minimum_risk_is_the_best_tree_of_the_marginals(parser):
    treebank = random_treebank(9, (5, 6, 4), single_root=True)
    risky = DependencyParser(max_iter=1, decoding="minimum-risk").fit(treebank)
    expected = []
    for table in risky.predict_marginals(TEST):
        trees = Arborescence([len(table)], single_root=True)
        expected.append(trees.argmax(ArcParts(table.ravel().copy()))[1].tolist())
    assert [heads.tolist() for heads in risky.predict_heads(TEST)] == expected


def test_a_model_file_gives_the_same_parser_again(parser, tmp_path):
    path = tmp_path / "toy.model"
    parser.save(path)
    again = DependencyParser.load(path)
    for one, two in zip(parser.predict_marginals(TEST), again.predict_marginals(TEST), strict=True):
        np.testing.assert_array_equal(one, two)
    assert again.predict(TEST).to_bytes() == parser.predict(TEST).to_bytes()
    assert dump_model(again.model_) == path.read_bytes()
    assert again.templates_ == parser.templates_
    with pytest.raises(ParsimonError, match="is a parser model, but a sequence model is needed"):
        load_model(path, SequenceModel)


def test_a_parser_without_relations(tmp_path):
    parser = DependencyParser(max_iter=3, relations=None).fit(TRAIN)
    parser.save(tmp_path / "m")
    again = DependencyParser.load(tmp_path / "m")
    assert again.model_.relations is None
    assert set(again.predict(TEST).values("deprel")) == {"_"}
    no_names = TRAIN.with_heads(TRAIN.heads, None)
    assert DependencyParser(max_iter=3).fit(no_names).model_.relations is None


def test_damaged_models_are_refused(parser):
    content = dump_model(parser.model_)
    for cut in (10, 200, len(content) // 2, len(content) - 1):
        with pytest.raises(ParsimonError):
            parse_model(content[:cut])
    random = np.random.default_rng(0)
    for _ in range(100):
        place = int(random.integers(8, len(content)))
        broken = (
            content[:place] + bytes([content[place] ^ (1 << int(random.integers(8)))]) + content[place + 1 :]
        )
        try:
            parse_model(broken).decode(TEST[:2])
        except ParsimonError:
            continue


def test_the_scikit_learn_contract(parser):
    copy = clone(DependencyParser(l2=0.5, projective=True))
    assert copy.l2 == 0.5
    assert copy.projective
    assert copy.get_params()["templates"] == "mcdonald"
    with pytest.raises(NotFittedError):
        copy.predict(TEST)
    again = pickle.loads(pickle.dumps(parser))
    assert again.predict(TEST).to_bytes() == parser.predict(TEST).to_bytes()
    assert parser.n_features_ == len(parser.coef_) > 0
    assert parser.n_iter_ == 5


def test_parameters_are_described_once():
    described = DependencyParser.__doc__
    for name in DependencyParser().get_params():
        assert described.count(f"\n{name} : ") == 1
    assert repr(DependencyParser("martins-parsing", l2=0.5)) == (
        "DependencyParser(l2=0.5, templates='martins-parsing')"
    )


def test_a_fit_that_was_killed_goes_on(tmp_path):
    def kill(event):
        if event.iteration == 2:
            raise RuntimeError("killed")

    settings = {"max_iter": 5, "checkpoint": tmp_path / "run", "checkpoint_every": 1e-9}
    with pytest.raises(RuntimeError, match="killed"):
        DependencyParser(**settings, callback=kill).fit(TRAIN)
    seen = []
    resumed = DependencyParser(**settings, resume=True, callback=seen.append).fit(TRAIN)
    assert [event.iteration for event in seen] == [2, 3, 4]
    assert dump_model(resumed.model_) == dump_model(DependencyParser(max_iter=5).fit(TRAIN).model_)


def test_progress_is_said_on_standard_error(capsys):
    DependencyParser(max_iter=2, verbose=1).fit(TRAIN)
    assert "objective" in capsys.readouterr().err


def test_a_time_limit_leaves_a_whole_parser():
    parser = DependencyParser(max_iter=50, time_limit=1e-9).fit(TRAIN)
    assert parser.status_ == "stopped at the time limit"
    assert parser.n_iter_ == 1
    assert compare_treebanks(TEST, parser.predict(TEST)).las > 0.5


def test_the_same_seed_and_any_threads_give_the_same_model():
    models = [
        dump_model(DependencyParser(max_iter=3, n_jobs=n, random_state=seed, loss=loss, solver=solver, l2=l2)
                   .fit(TRAIN).model_)
        for loss, solver, l2 in (("hinge", "mira", 0.0), ("log", "lbfgs", 1.0))
        for n, seed in ((1, 0), (2, 0), (1, 1))
    ]  # fmt: skip
    assert models[0] == models[1] != models[2]
    assert models[3] == models[4]


def test_heads_may_be_given_apart():
    blank = TRAIN.with_heads(np.full(TRAIN.n_tokens, -1), TRAIN.relations)
    heads = np.split(TRAIN.heads, np.cumsum(TRAIN.lengths)[:-1])
    parser = DependencyParser(max_iter=5).fit(blank, heads)
    assert parser.score(TEST) == 1.0
    assert (
        parser.score(
            TEST.with_heads(np.full(TEST.n_tokens, -1)), np.split(TEST.heads, np.cumsum(TEST.lengths)[:-1])
        )
        == 1
    )


def test_a_development_set_stops_early():
    parser = DependencyParser(max_iter=30, patience=2).fit(TRAIN, dev=TEST)
    assert parser.n_iter_ < 10
    assert any(event.get("dev") == 1.0 for event in parser.history_)


def test_sentences_may_weigh():
    good, bad = grammar(20, seed=5), random_treebank(3, (5,) * 20, single_root=True)
    both = read_treebank(io.BytesIO(good.to_bytes() + bad.to_bytes()), format="conllu")
    weights = np.repeat([1.0, 0.0], 20)
    parser = DependencyParser(max_iter=5).fit(both, sample_weight=weights)
    assert parser.score(TEST) == 1.0


@pytest.mark.parametrize(
    ("settings", "X", "what"),
    [
        ({"templates": "nothing"}, TRAIN, "no preset of that name; presets are mcdonald"),
        ({"decoding": "best"}, TRAIN, "decoding must be one of mst, minimum-risk"),
        ({"solver": "sgd-l1"}, TRAIN, "sgd-l1 needs sequences"),
        ({"l1": -1.0}, TRAIN, "l1 must be a number, zero or more, not -1.0"),
        ({"loss": "squared"}, TRAIN, "loss must be one of log, hinge, perceptron, not 'squared'"),
        ({"relations": "nothing"}, TRAIN, "no preset of that name; presets are mcdonald"),
        ({"relation_epochs": 0}, TRAIN, "relation_epochs must be a whole number, 1 or more, not 0"),
        ({"prune": -1}, TRAIN, "prune must be a number, zero or more, not -1"),
        ({"max_iter": 2.5}, TRAIN, "max_iter must be a whole number, 1 or more, not 2.5"),
        ({"time_limit": 0}, TRAIN, "time_limit must be a number above zero, not 0"),
        ({"patience": 0}, TRAIN, "patience must be a whole number, 1 or more, not 0"),
        ({"resume": True}, TRAIN, "there is no checkpoint to resume from; name one"),
        ({"memory": "much"}, TRAIN, "'much' is not a size"),
        ({"n_jobs": 0}, TRAIN, "n_jobs"),
        ({}, [["a", "b"]], "a parser learns from a Treebank, not from list"),
        ({}, TRAIN.with_heads(np.full(TRAIN.n_tokens, -1)), "sentence 1: a word has no head"),
        ({"single_root": True}, random_treebank(1, (3, 9, 9)), "roots; do not ask for a single root"),
        ({"templates": ArcTemplates.parse("bias"), "selection": InformationGain(3)}, TRAIN, "there are no templates"),
    ],
)  # fmt: skip
def test_mistakes_are_refused_in_a_sentence(settings, X, what):
    with pytest.raises(ParsimonError) as error:
        DependencyParser(**settings).fit(X)
    assert what in str(error.value)
    assert "\n" not in str(error.value)


def test_templates_are_selected_from_coarse_to_fine():
    # The toy grammar has no morphology, so templates that look for it have no features.
    templates = ArcTemplates(tuple(t for t in arc_preset("mcdonald") if "feat" not in t.name))
    order = TemplateOrder.from_arcs(templates)
    selection = Sparseptron(budget=30, groups=ByOrder(order))
    parser = DependencyParser(templates, selection=selection, max_iter=5).fit(TRAIN)
    assert parser.score(TEST) == 1.0
    chosen = [order.names.index(name) for name, _ in parser.model_.info["selection"]["templates"]]
    assert len(chosen) > 5
    for b in chosen:  # what comes before a template that is kept is kept too
        for a in order.above(b):
            places = {test.place for test in ArcTemplates.parse(order.names[a])[0].tests}
            # but for what is never penalised, and what says the same of all arcs into a word: it tells no trees apart
            assert a in chosen or places <= {"dir", "dist"} or places == {"m"}


@pytest.mark.parametrize("y", [3, [1, 2], [["a"], "b"], [[[1], [2, 3]]]], ids=str)
def test_heads_that_are_none_are_refused(y):
    with pytest.raises(ParsimonError, match="heads"):
        DependencyParser(max_iter=1).fit(TRAIN, y)
