"""The compiled core checks what it is given where it is given it, and not again inside: every refusal once.

`make fuzz TARGETS=core` looks for calls that get past these checks; what it has found is here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuzz.targets.core_scripts import (
    ARC_TESTS,
    GOLD,
    NEW_ONLINE,
    NEW_SUMMED,
    SECOND_ORDER,
    SEEN,
    batch,
    chain,
    ints,
    known_templates,
    longs,
    posterior,
    reals,
    rows,
    scorer,
    sentences,
    step_map,
    template_weights,
    token_map,
    tree,
    zeros,
)
from parsimon import _core as core

HUGE = 2**62
TESTS = np.array([[0, 0, 0], [0, -1, 0], [1, 0, 0]], np.int32)
SENTENCE = [
    np.zeros((2, 5), np.int32),
    np.zeros((2, 1), np.int32),
    np.zeros((2, 1), np.int32),
    longs(0, 2, 5),
]


def online() -> core.OnlineChain:
    learner = core.OnlineChain(*NEW_ONLINE)
    learner.add(*batch())
    return learner


def summed() -> core.SummedChain:
    learner = core.SummedChain(*NEW_SUMMED)
    learner.add(*batch())
    return learner


def loss_pass(gold: Any = None) -> core.LogLossPass:
    labels = ints(*GOLD) if gold is None else gold
    return core.LogLossPass([(token_map(), step_map(), step_map(), chain(), labels)], 1)


def descent(*, blocks: bool = True) -> core.BlockDescent:
    made = core.BlockDescent(3)
    made.add(*batch())
    if blocks:
        made.make_blocks()
    return made


def with_state(part: int, at: int, number: float) -> list[Any]:
    """A state of an online learner with another number: in its features, values, drifts, blocks or counts."""
    learner = online()
    learner.run(longs(0, 1), 1, 1.0, True, 1.0)
    state: list[Any] = list(learner.state())
    state[part] = with_number(state[part], at, number)
    return state


def with_number(array: Any, at: int, number: float) -> Any:
    array = np.array(array)
    array[at] = number
    return array


def descend(**changed: Any) -> None:
    """Coordinate descent on three weights, with something wrong."""
    given: dict[str, Any] = {name: zeros(3) for name in ("gradient", "diagonal", "curvature", "w", "l1", "d")}
    given |= {"columns": zeros(3, 4), "projected": zeros(3, 4), "moment": zeros(4), "sweeps": 1}
    core.descend(**(given | changed))


def descend_groups(**changed: Any) -> int:
    given: dict[str, Any] = {
        **{name: np.ones(4) for name in ("gradient", "diagonal", "l1")},
        **{"pairs": zeros(4, 2), "middle": np.eye(2), "inverse": np.eye(2), "w": zeros(4), "d": zeros(4)},
        **{"start": longs(0, 2, 3), "member": longs(0, 1, 3), "strength": reals(1, 0)},
        **{"tol": 0.1, "rounds": 2, "threads": 1, **changed},
    }
    return core.descend_groups(**given)


def copies(**changed: Any) -> core.GroupCopies:
    given = {
        "start": longs(0, 2, 4),
        "member": ints(0, 1, 1, 2),
        "strength": reals(1, 1),
        "n_features": 3,
        **changed,
    }
    return core.GroupCopies(**given)


def planes() -> core.Planes:
    return core.Planes(np.ones(6), np.ones(2))


def graph(arity: Any = None) -> core.Graph:
    edges = np.array([[0, 1], [1, 2]], np.int32)
    return core.Graph(ints(2, 3, 2) if arity is None else arity, edges, longs(0, 3), longs(0, 2))


def extractor(tests: Any = TESTS, start: Any = None, skeleton: Any = None) -> core.Extractor:
    return core.Extractor(
        tests, ints(0, 1, 3) if start is None else start, ints(0, 1) if skeleton is None else skeleton
    )


def singles(*given: Any) -> core.Chain:
    return core.Chain(longs(0, 2, 5), ints(0, 0, 0, 0, 0), None, 3, 1, *given)


def pair(x: int, y: int) -> int:
    return x << 16 | y


def screened(**changed: Any) -> Any:
    given = {
        "map": step_map(),
        "row": ints(0, 0, 0, 0, 0),
        "chain": chain(),
        "terms": [(1.0, posterior(), zeros(5, 3))],
        "outputs": [(np.ones(5), ints(*GOLD))],
        **changed,
    }
    return tuple(given.values())


def template_scores(**changed: Any) -> None:
    given = {
        "extractor": known_templates(),
        "features": core.FeatureRows(4, 3),
        "w": np.arange(12.0),
        **changed,
    }
    weights = core.TemplateWeights(given["extractor"], given["features"], given["w"])
    if "after" in changed:
        given["extractor"].learn(*SEEN, 0, 1)
    weights.scores(*SEEN, changed.get("out", zeros(5, 3)), 1)


def label_step(pair: Any = None, first: Any = None, **changed: Any) -> None:
    n = 3 if pair is None else len(pair)
    step = core.LabelStep(np.eye(3) if pair is None else pair, zeros(n) if first is None else first, zeros(n))
    labels, marginals = changed.get("labels", ints(*[0] * 5)), changed.get("out", zeros(5, 3))
    given = changed.get("given")
    step.labels(template_weights(), *SEEN, given, labels, 1)
    step.marginals(template_weights(), *SEEN, given, marginals, zeros(2), 1)


def strange(tuples: list[list[int]], test: int = 0) -> core.Extractor:
    made = core.Extractor(
        np.array([[test, 0, 0]] * len(tuples[0]), np.int32), ints(0, len(tuples[0])), ints(0)
    )
    made.load(0, np.array(tuples, np.int32))
    return made


ONE = {"features": core.FeatureRows(1, 3), "w": np.arange(3.0)}
LABELLING: list[tuple[str, Callable[[], Any]]] = [
    ("there must be a row for every attribute", lambda: template_scores(features=core.FeatureRows(3, 3))),
    ("there must be one weight a feature", lambda: template_scores(w=np.arange(11.0))),
    ("a weight is not finite", lambda: template_scores(w=np.full(12, np.nan))),
    ("the extractor has other attributes by now", lambda: template_scores(after=True)),
    ("scores must be tokens × labels", lambda: template_scores(out=zeros(5, 2))),
    (
        "the number of a string is out of range",
        lambda: template_scores(extractor=strange([[2**30, 1]]), **ONE),
    ),
    ("the input of a test is out of range", lambda: template_scores(extractor=strange([[1]], 10**6), **ONE)),
    (
        "there must be fewer than 65,536 labels",
        lambda: core.TemplateWeights(strange([[1]]), core.FeatureRows(1, 10**5), zeros(10**5)),
    ),
    ("pair scores must be labels × labels", lambda: label_step(first=zeros(2))),
    ("a score is not a number", lambda: label_step(pair=np.full((3, 3), np.nan))),
    ("a score is not a number", lambda: label_step(first=np.full(3, np.inf))),
    ("weights and steps must have the same labels", lambda: label_step(np.eye(2))),
    ("outputs must have the shape of the scores", lambda: label_step(labels=ints(0))),
    ("outputs must have the shape of the scores", lambda: label_step(out=zeros(5, 2))),
    ("there must be one label a token", lambda: label_step(given=ints(0))),
    ("a label is out of range", lambda: label_step(given=ints(0, 0, 0, 3, 0))),
    ("a length is negative", lambda: core.label_lines(b"a\n", longs(0), longs(1), ints(-1), ints(0), ["x"])),
]


def second_order(**changed: Any) -> core.SecondOrderChain:
    names = (
        "offsets",
        "kind",
        "weights",
        "before",
        "tag",
        "n_tags",
        "n_kinds",
        "scores_tags",
        "scores_pairs",
    )
    return core.SecondOrderChain(
        *{**dict(zip(names, [*SECOND_ORDER, True, True], strict=True)), **changed}.values()
    )


REFUSED: list[tuple[str, Callable[[], Any]]] = [
    # Second-order chains
    ("there must be two tags a pair, and some pair", lambda: second_order(before=ints(-1), tag=ints(0, 1))),
    ("there must be two tags a pair, and some pair", lambda: second_order(before=ints(), tag=ints())),
    ("pairs of tags must ascend", lambda: second_order(before=ints(-1, -1), tag=ints(1, 0))),
    ("pairs of tags must ascend", lambda: second_order(before=ints(0, 0), tag=ints(1, 1))),
    ("a tag is out of range", lambda: second_order(before=ints(-2, 0), tag=ints(1, 0))),
    ("a tag is out of range", lambda: second_order(before=ints(-1, 2), tag=ints(1, 0))),
    ("a tag is out of range", lambda: second_order(before=ints(-1, 0), tag=ints(2, 0))),
    ("there must be at least one tag and fewer than 65,536", lambda: second_order(n_tags=0)),
    ("the number of tables of triples is out of range", lambda: second_order(n_kinds=0)),
    ("a step's table is out of range", lambda: second_order(kind=ints(0, 1, 0, 0, 0))),
    ("there must be one weight a sequence", lambda: second_order(weights=reals(1))),
    ("a sequence's weight is not finite", lambda: second_order(weights=reals(1, np.inf))),
    (
        "node scores must be tokens × columns",
        lambda: second_order().score(zeros(5, 6), zeros(1, 8), ints(*[1] * 5), zeros(2)),
    ),
    (
        "scores of triples must be tables × triples",
        lambda: second_order().score(zeros(5, 7), zeros(1, 7), ints(*[1] * 5), zeros(2)),
    ),
    (
        "there must be one tag a token",
        lambda: second_order().score(zeros(5, 7), zeros(1, 8), ints(1), zeros(2)),
    ),
    (
        "a tag is out of range",
        lambda: second_order().add(ints(0, 1, 2, 0, 1), 1.0, zeros(5, 7), zeros(1, 8)),
    ),
    # Templates
    ("starts must ascend from 0 to the number of tests", lambda: extractor(start=ints(0, 1, 300))),
    ("starts must ascend from 0 to the number of tests", lambda: extractor(start=ints(0, 5, 3))),
    (
        "a skeleton's number must be below the number of templates",
        lambda: extractor(skeleton=ints(0, 2**31 - 1)),
    ),
    ("a skeleton's number must be below the number of templates", lambda: extractor(skeleton=ints(0, -1))),
    ("templates of one skeleton must have the same number of tests", lambda: extractor(skeleton=ints(0, 0))),
    ("the input of a test is out of range", lambda: extractor(with_number(TESTS, 0, -1))),
    (
        "a template looks at an input that is not there",
        lambda: extractor(with_number(TESTS, 0, 7)).learn(*SENTENCE, 0, 1),
    ),
    *LABELLING,
    ("the number of tokens to skip must not be negative", lambda: extractor().apply(*SENTENCE, -1, 1)),
    # Maps
    ("the number of attributes must be from 0 to 2^31 - 1", lambda: core.FeatureRows(HUGE, 3)),
    ("the number of attributes must be from 0 to 2^31 - 1", lambda: core.FeatureRows(-1, 3)),
    ("a map must have from 1 to 2^31 - 1 columns", lambda: core.FeatureRows(3, HUGE)),
    ("columns need their starts, and starts their columns", lambda: core.FeatureRows(1, 3, longs(0, 1))),
    ("columns need their starts, and starts their columns", lambda: core.FeatureRows(1, 3, None, ints(0))),
    ("the columns of an attribute must ascend", lambda: core.FeatureRows(1, 3, longs(0, 2), ints(1, 1))),
    (
        "the number of attributes must be from 0 to 2^31 - 1",
        lambda: core.seen_features(longs(0), ints(), ints(), -1, 3),
    ),
    (
        "a map must have from 1 to 2^31 - 1 columns",
        lambda: core.seen_features(longs(0), ints(), ints(), 1, HUGE),
    ),
    ("features must be of pairs of labels", lambda: core.lay_out(step_map(), ints(0), -3, False, 1)),
    ("features must be of pairs of labels", lambda: core.lay_out(step_map(), ints(0), HUGE, False, 1)),
    # Screening
    ("a batch is a map and marginals", lambda: core.screen_nodes([(None, zeros(5, 3), [])], 0.1, 1)),  # type: ignore[list-item]
    (
        "the maps of all batches must have the same features",
        lambda: core.screen_nodes([(token_map(), zeros(5, 3), []), (step_map(), zeros(1, 9), [])], 0.1, 1),
    ),
    ("a batch is a map of steps and a chain", lambda: core.screen_pairs([screened(map=None)], 0.1, 1)),
    ("a batch is a map of steps and a chain", lambda: core.screen_pairs([screened(chain=None)], 0.1, 1)),
    ("features must be of pairs of labels", lambda: core.screen_pairs([screened(map=token_map())], 0.1, 1)),
    (
        "a posterior must be of the chain",
        lambda: core.screen_pairs([screened(terms=[(1.0, core.ChainPosterior(), zeros(5, 3))])], 0.1, 1),
    ),
    (
        "a posterior must be of the chain",
        lambda: core.screen_pairs(
            [screened(chain=core.Chain(longs(0, 2, 5), ints(*[0] * 5), None, 3, 2))], 0.1, 1
        ),
    ),
    (
        "one label and one number a token",
        lambda: core.screen_nodes([(token_map(), zeros(5, 3), [(zeros(4), ints(*GOLD))])], 0.1, 1),
    ),
    (
        "a label is out of range",
        lambda: core.screen_nodes([(token_map(), zeros(5, 3), [(zeros(5), ints(0, 0, 3, 0, 0))])], 0.1, 1),
    ),
    (
        "the maps must have the same features",
        lambda: core.restrict_maps([token_map(), step_map()], longs(0), 1),
    ),
    (
        "features must be ascending and within the map",
        lambda: core.restrict_maps([token_map()], longs(1, 0), 1),
    ),
    # Passes over batches, and quadratic models
    (
        "the map of tokens must have a row a token and a column a label",
        lambda: core.LogLossPass([(step_map(), step_map(), step_map(), chain(), ints(*GOLD))], 1),
    ),
    (
        "the map of label pairs must have a row a matrix and a column a pair",
        lambda: core.LogLossPass([(token_map(), token_map(), step_map(), chain(), ints(*GOLD))], 1),
    ),
    ("a label is out of range", lambda: loss_pass(ints(0, 0, -1, 0, 0))),
    ("there must be one weight a feature", lambda: loss_pass().evaluate(zeros(1), False, False, 1)),
    ("there must be marginals of every batch", lambda: loss_pass().diagonal([], 1)),
    ("marginals must be tokens × labels", lambda: loss_pass().diagonal([zeros(4, 3)], 1)),
    ("no such feature", lambda: core.quadratic_rows(zeros(3, 4), longs(3), 2, zeros(1), zeros(4, 4), 0.1, 1)),
    (
        "the inverse must be square, of a size that 4 divides",
        lambda: core.quadratic_rows(zeros(3, 4), longs(1), 2, zeros(1), zeros(2, 2), 0.1, 1),
    ),
    (
        "the columns in use are pairs of those there are",
        lambda: core.quadratic_rows(zeros(3, 4), longs(1), 6, zeros(1), zeros(8, 8), 0.1, 1),
    ),
    (
        "one number a chosen feature",
        lambda: core.quadratic_rows(zeros(3, 4), longs(1), 2, zeros(2), zeros(4, 4), 0.1, 1),
    ),
    ("one number a column", lambda: core.tall_times(zeros(3, 4), zeros(3), 1)),
    ("one number a row", lambda: core.tall_transposed_times(zeros(3, 4), zeros(4), 1)),
    ("one number a row", lambda: core.tall_gram(zeros(3, 4), zeros(4), 1)),
    ("no such slot", lambda: core.take_pair(zeros(3, 4), 2, zeros(3), zeros(3), None, 1)),
    ("one number a row", lambda: core.take_pair(zeros(3, 4), 1, zeros(3), zeros(2), None, 1)),
    ("one number a weight", lambda: core.pseudo_gradient(zeros(3), zeros(2), zeros(3))),
    # Chains and trees
    (
        "the number of matrices of pair scores is out of range",
        lambda: core.Chain(longs(0, 1), ints(0), None, 3, HUGE),
    ),
    ("a sequence's weight is not finite", lambda: core.Chain(longs(0, 1), ints(0), reals(np.nan), 3, 1)),
    ("rows of single pairs need their starts and their pairs", lambda: singles(ints(0, 0, 0, 0, 0), ints(0))),
    (
        "single pairs must ascend",
        lambda: singles(ints(0, 0, 0, 0, 0), ints(0), longs(0, 2), np.array([pair(1, 1)] * 2, np.uint32)),
    ),
    (
        "a row's matrix is out of range",
        lambda: singles(ints(0, 0, 0, 0, 0), ints(0, 9), longs(0, 0, 1), np.array([pair(1, 1)], np.uint32)),
    ),
    (
        "kinds of nodes and what they allow go together",
        lambda: core.Tree(longs(0, 1), ints(-1), ints(0), None, 3, 1, node_kind=ints(0)),
    ),
    # Block coordinate descent
    ("there must be at least one label and fewer than 65,536", lambda: core.BlockDescent(0)),
    ("there must be at least one label and fewer than 65,536", lambda: core.BlockDescent(-3)),
    ("the chain must have the learner's labels", lambda: core.BlockDescent(4).add(*batch())),
    (
        "the maps must be of the chain's labels and of its pairs of labels",
        lambda: core.BlockDescent(3).add(token_map(), token_map(), *batch()[2:]),
    ),
    (
        "all batches must have the same features",
        lambda: descent(blocks=False).add(
            core.LinearMap(longs(*[0] * 6), ints(), None, rows(7)), *batch()[1:]
        ),
    ),
    ("there are no sequences to make blocks of", lambda: core.BlockDescent(3).make_blocks()),
    ("blocks are made once", lambda: descent().make_blocks()),
    ("sequences are added before blocks are made", lambda: descent().add(*batch())),
    ("blocks must be made first", lambda: descent(blocks=False).weights()),
    ("blocks must be made first", lambda: descent(blocks=False).start(longs(0), reals(1))),
    ("a weight is not finite", lambda: descent().start(longs(0), reals(np.nan))),
    ("strengths must not be negative", lambda: descent().sweep(longs(0), np.nan, 0.1, 1.0, 1)),
    # Online learners
    (
        "the chain must have the learner's labels",
        lambda: core.OnlineChain(2, rows(6, 2), rows(1, 4), *NEW_ONLINE[3:]).add(*batch()),
    ),
    (
        "the maps must be of the chain's labels and of its pairs of labels",
        lambda: core.SummedChain(*NEW_SUMMED).add(token_map(), token_map(), *batch()[2:]),
    ),
    ("a weight is not finite", lambda: online().start(longs(0), reals(np.inf))),
    ("the cost is not finite", lambda: online().run(longs(0), 1, np.nan, True, 1.0)),
    ("the step is not finite", lambda: online().run(longs(0), 1, 1.0, True, np.nan)),
    ("a pull is towards zero", lambda: online().pull_rows(np.inf, np.ones(2, bool))),
    ("a pull is towards zero", lambda: online().pull_weights(np.inf, np.ones(2, bool))),
    ("a limit of what is dropped must be zero or more", lambda: online().drop_rows(np.nan, np.ones(2, bool))),
    (
        "a limit of what is dropped must be zero or more",
        lambda: online().drop_weights(-1.0, np.ones(2, bool)),
    ),
    ("a number of the state is not finite", lambda: online().restore(*with_state(1, 0, np.nan))),
    ("a number of the state is not finite", lambda: online().restore(*with_state(3, 0, np.inf))),
    ("the number of rounds is out of range", lambda: online().restore(*with_state(4, -4, -1))),
    ("the number of rounds is out of range", lambda: online().restore(*with_state(4, -4, HUGE))),
    ("the rounds of the average are out of range", lambda: online().restore(*with_state(4, -3, 9))),
    ("the state of a block is out of range", lambda: online().restore(*with_state(3, 0, 0.0))),
    ("the state of a block is out of range", lambda: online().restore(*with_state(4, 0, -(2**63)))),
    (
        "a number of the state is not finite",
        lambda: summed().restore(longs(0), reals(np.nan), reals(0, 1), longs(1)),
    ),
    (
        "the number of rounds is out of range",
        lambda: summed().restore(longs(0), reals(1), reals(0, 1), longs(-1)),
    ),
    ("strengths must not be negative", lambda: summed().run(longs(0), 2, 1.0, reals(1), np.inf, 0.1, 0.0)),
    # Arcs and trees
    (
        "no such test",
        lambda: core.ArcDictionary(longs(0, 1), np.array([[0, -(2**31), 0]], np.int32), longs(0), ints()),
    ),
    (
        "a template without tests has one attribute at most",
        lambda: core.ArcDictionary(longs(0, 0), np.zeros((0, 3), np.int32), longs(2**31 - 1), ints()),
    ),
    (
        "a template looks at a column that is not there",
        lambda: core.ArcScorer(*ARC_TESTS, longs(2, 1), ints(3, 4, 5, 1), reals(1, 2, 3), [], 1),
    ),
    (
        "one weight a feature",
        lambda: core.ArcScorer(*ARC_TESTS, longs(2, 1), ints(3, 4, 5, 1), reals(1, 2), [False], 1),
    ),
    (
        "a template looks at a column that is not there",
        lambda: scorer([False, False]).scores(sentences(), 0, 2, zeros(18), 1),
    ),
    ("there are no such sentences", lambda: scorer().scores(sentences(), 1, 3, zeros(18), 1)),
    ("one score an arc", lambda: scorer().scores(sentences(), 0, 2, zeros(17), 1)),
    (
        "the cut-off must be at least 1",
        lambda: core.ArcDictionary.supported(*ARC_TESTS, sentences(), ints(0, 1, 2, 0, 1), 0, 1),
    ),
    (
        "there must be one score a part",
        lambda: core.Arborescences(longs(0, 1), False, False).kbest(
            zeros(2), 2**31 - 1, zeros(1, 1), np.zeros((1, 1), np.int32), 1
        ),
    ),
    # Networks
    ("there are too many pairs of states", lambda: graph(ints(*[2**31 - 1] * 3))),
    (
        "a message's place is out of range",
        lambda: graph().argmax(
            zeros(7),
            zeros(12),
            (0, 1e-3, 5, 0.0, False),
            zeros(10),
            longs(0, 2**63 - 1),
            np.zeros(3, np.int32),
            1,
        ),
    ),
    # Groups and planes
    ("the number of features must be from 0 to 2^31 - 1", lambda: copies(n_features=HUGE)),
    ("the strength of a group must be above zero", lambda: copies(strength=reals(1, np.inf))),
    ("the factor must be above zero", lambda: copies().rescale(0.0)),
    ("rho must be above zero", lambda: copies().norms(0.0)),
    ("one number a weight", lambda: descend_groups(l1=zeros(3))),
    ("the block has a square matrix", lambda: descend(block=longs(1), matrix=zeros(2, 2))),
    ("the block's weights must be ascending", lambda: descend(block=longs(2, 1), matrix=zeros(2, 2))),
    ("the block's weights must be ascending", lambda: descend(block=longs(1, 3), matrix=zeros(2, 2))),
    ("the matrix must be square", lambda: core.add_outer_products([], reals(1), zeros(2, 3))),
    (
        "there must be a vector an instance, with a value a feature",
        lambda: core.add_outer_products([(0, longs(0, 1), ints(0), reals(1))], reals(1, 1), zeros(2, 2)),
    ),
    (
        "no such feature",
        lambda: core.add_outer_products([(1, longs(0, 1), ints(1), reals(1))], reals(1), zeros(2, 2)),
    ),
    (
        "matrices must be rank × rank, and the rank two for every pair",
        lambda: descend_groups(middle=zeros(3, 3)),
    ),
    ("there must be one strength a group", lambda: descend_groups(strength=reals(1))),
    ("a member is out of range", lambda: descend_groups(member=longs(0, 1, 4))),
    ("rho must be above zero", lambda: copies().step(zeros(3), np.inf, 1.0, zeros(3), zeros(3), 1)),
    (
        "a feature is out of range",
        lambda: planes().add(longs(0), reals(1), [(2**63 - 1, longs(0, 1), ints(5), reals(1))]),
    ),
    (
        "a feature's value is not finite",
        lambda: planes().add(longs(0), reals(1), [(0, longs(0, 1), ints(5), reals(np.nan))]),
    ),
    (
        "the features of a vector must ascend",
        lambda: planes().add(longs(0), reals(1), [(0, longs(0, 2), ints(1, 1), reals(1, 1))]),
    ),
    (
        "a cost is not finite",
        lambda: planes().add(longs(0), reals(np.nan), [(0, longs(0, 1), ints(5), reals(1))]),
    ),
]


@pytest.mark.parametrize(("message", "call"), REFUSED, ids=[f"{i}" for i in range(len(REFUSED))])
def test_what_makes_no_sense_is_refused(message: str, call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize("number", [2**32 + 1, 2**31, -(2**31) - 1, 2**63])
def test_integers_that_do_not_fit_are_not_cut_off(number: int) -> None:
    assert core.FeatureRows(4, 3).find(np.array([0]), np.array([1])).tolist() == [1]
    with pytest.raises(TypeError):
        core.FeatureRows(4, 3).find(np.array([0]), np.array([number]))


def test_fractions_are_no_integers() -> None:
    with pytest.raises(TypeError):
        core.FeatureRows(4, 3).find(np.array([0]), np.array([0.5]))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64, bool])
def test_any_type_of_integers_will_do(dtype: Any) -> None:
    assert core.FeatureRows(4, 3).find(np.array([1]), np.array([1], dtype)).tolist() == [4]


def test_strided_arrays_will_do() -> None:
    assert core.FeatureRows(4, 3).find(np.arange(4)[::2], np.arange(4, dtype=np.int32)[::2]).tolist() == [
        0,
        8,
    ]


@pytest.mark.parametrize("threads", [-(2**63), -1, 0, 1, 7, 2**31, 2**62])
def test_any_number_of_threads_gives_the_same(threads: int) -> None:
    """No result depends on it, so what makes no sense is brought to what does."""
    out = zeros(5, 3)
    token_map().scores(np.arange(18.0), out, threads)
    once = zeros(5, 3)
    token_map().scores(np.arange(18.0), once, 1)
    assert out.tobytes() == once.tobytes()
    trees = core.Arborescences(longs(0, 2, 5), False, True)
    assert trees.argmax(zeros(trees.n_arcs), zeros(2), np.zeros(5, np.int32), threads)
    found = core.ArcDictionary.supported(*ARC_TESTS, sentences(), ints(0, 1, 2, 0, 1), 1, threads)
    assert found.starts().tolist() == [0, 3, 6]


def test_bytes_that_are_no_truth_values_count_as_true() -> None:
    two = np.full(2, 2, np.uint8).view(bool)
    learner = online()
    learner.run(longs(0, 1), 1, 1.0, True, 1.0)
    assert learner.row_norms(two).tolist() == learner.row_norms(np.ones(2, bool)).tolist()
    core.SummedChain(3, rows(), rows(1, 9), np.full(6, 2, np.uint8).view(bool), np.zeros(1, bool))
    allowed = np.full((1, 3), 2, np.uint8).view(bool)
    barred = core.Tree(longs(0, 1), ints(-1), ints(0), None, 3, 1, node_kind=ints(0), allowed=allowed)
    assert barred.argmax(zeros(1, 3), zeros(1, 3, 3), zeros(0), zeros(1), np.zeros(1, np.int32), 1)


def test_nothing_to_screen_gives_no_features() -> None:
    for found in (core.screen_nodes([], 0.1, 1), core.screen_pairs([], 0.1, 1)):
        assert [len(part) for part in found] == [0, 0]


def test_more_chains_than_draws_are_as_many_as_draws() -> None:
    draws = [np.zeros((4, 3), np.int32), np.zeros((4, 3), np.int32)]
    for chains, states in zip((4, HUGE), draws, strict=True):
        assert graph().sample(zeros(7), zeros(12), 1, chains, 3, 1, ints(-1, -1, -1), states, 1)
    assert draws[0].tolist() == draws[1].tolist()


def test_a_tree_says_its_order() -> None:
    assert tree().order.tolist() == [0, 1, 2, 3, 4]


def test_texts_must_be_strings() -> None:
    with pytest.raises(TypeError, match="texts must be strings"):
        core.StringTable().add_all(["a", 3])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="half of a surrogate pair"):
        core.StringTable().add_all(["\ud800"])
