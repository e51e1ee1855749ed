"""Small right uses of everything in the core. Each is a list of calls: a constructor or function, then methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from parsimon import _core as core

Script = list[tuple[str, list[Any]]]
SCRIPTS: dict[str, Callable[[], Script]] = {}


def script(make: Callable[[], Script]) -> Callable[[], Script]:
    SCRIPTS[make.__name__] = make
    return make


class Rounds(int):
    """How often something is done. Large numbers make no sense to try: they take as long as they say."""


def longs(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def ints(*numbers: int) -> Any:
    return np.array(numbers, np.int32)


def reals(*numbers: float) -> Any:
    return np.array(numbers, np.float64)


def zeros(*shape: int) -> Any:
    return np.zeros(shape)


# --- What others are made of -----------------------------------------------------------------------------------

OFFSETS = (0, 2, 5)  # two sequences or trees of five tokens
GOLD = (0, 1, 2, 0, 1)
N_ARCS = 2 * 3 + 3 * 4


def rows(n: int = 6, width: int = 3) -> core.FeatureRows:
    return core.FeatureRows(n, width)


def chosen_rows() -> core.FeatureRows:
    return core.FeatureRows(4, 3, longs(0, 2, 3, 3, 5), ints(0, 2, 1, 0, 1))


def token_map() -> core.LinearMap:
    return core.LinearMap(longs(0, 2, 3, 3, 5, 6), ints(0, 1, 2, 3, 4, 5), None, rows())


def chosen_map() -> core.LinearMap:
    return core.LinearMap(longs(0, 2, 3, 3, 4, 5), ints(0, 1, 2, 3, 0), reals(1, 2, 3, 4, 5), chosen_rows())


def step_map() -> core.LinearMap:
    return core.LinearMap(longs(0, 1), ints(0), None, rows(1, 9))


def chain() -> core.Chain:
    return core.Chain(longs(*OFFSETS), ints(*[0] * 5), None, 3, 1)


SINGLES = [ints(*[0] * 5), ints(0), longs(0, 2), np.array([0 << 16 | 1, 2 << 16 | 1], np.uint32)]


def tree() -> core.Tree:
    return core.Tree(longs(*OFFSETS), ints(-1, 0, -1, 2, 2), ints(*[0] * 5), None, 3, 1)


def sentences() -> core.ArcSentences:
    return core.ArcSentences(longs(*OFFSETS), [ints(3, 4, 5, 3, 4)], [None])


ARC_TESTS = [longs(0, 1, 3), np.array([[0, 0, 0], [1, 0, 0], [3, 0, 0]], np.int32)]


def dictionary() -> core.ArcDictionary:
    return core.ArcDictionary(*ARC_TESTS, longs(2, 1), ints(3, 4, 5, 1))


def scorer(many: list[bool] | None = None) -> core.ArcScorer:
    return core.ArcScorer(*ARC_TESTS, longs(2, 1), ints(3, 4, 5, 1), reals(1, 2, 3), many or [False], 1)


def posterior() -> core.ChainPosterior:
    kept = core.ChainPosterior()
    chain().marginals(
        zeros(5, 3),
        zeros(1, 3, 3),
        zeros(0),
        zeros(2),
        zeros(5, 3),
        zeros(1, 3, 3),
        zeros(0),
        zeros(0),
        kept,
        1,
    )
    return kept


# --- Strings and columns ---------------------------------------------------------------------------------------


@script
def string_table() -> Script:
    return [
        ("new StringTable", []),
        (".add_all", [["a", "b", "c"]]),
        (".add", ["d"]),
        (".find", ["b"]),
        (".__getitem__", [1]),
        (".get_all", [ints(0, 1)]),
        (".pack", [ints(0, 2)]),
        (".copy", []),
        (".__len__", []),
        ("StringTable.unpack", [np.array([97, 98], np.uint8), longs(0, 1, 2)]),
    ]


@script
def column_reader() -> Script:
    return [
        ("new ColumnReader", [core.StringTable(), "\t", "#", True, True, 0]),
        (".feed", [b"a\tb\nc\td\n\ne\t"]),
        (".feed", [b"f"]),
        (".finish", []),
        (".columns", []),
        (".lengths", []),
        (".lines", []),
        (".n_columns", []),
        (".lines_read", []),
        (".clear", []),
        (".feed", [b"x\ty\n"]),
        (".feed_sequences", [b"x\ty\n\nz\tx\n", 2]),
    ]


@script
def label_lines() -> Script:
    lines = [b"ab\ncd\n", longs(0, 3), longs(2, 5), ints(2), ints(0, 1), ["x", "y"]]
    return [("label_lines", [*lines, 2]), ("count_lines", [b"ab\ncd\n"])]


@script
def collect_items() -> Script:
    return [
        (
            "collect_items",
            [
                [[{"a": 1.0, "b": "x"}, {"c": True, "d": ["y", {"z": 2}]}], ["e", {"f"}]],
                core.StringTable(),
                True,
                1e50,
            ],
        )
    ]


@script
def extractor() -> Script:
    read = [
        np.zeros((2, 5), np.int32),
        np.zeros((2, 1), np.int32),
        np.zeros((2, 1), np.int32),
        longs(*OFFSETS),
        0,
        1,
    ]
    return [
        (
            "new Extractor",
            [np.array([[0, 0, 0], [0, -1, 0], [1, 0, 1]], np.int32), ints(0, 1, 3), ints(0, 1)],
        ),
        (".load", [1, np.array([[1, 2]], np.int32)]),
        (".load", [0, np.array([[1], [2]], np.int32)]),
        (".learn", read),
        (".apply", read),
        (".tuples", [0]),
        (".tuples", [1]),
        (".offsets", []),
        (".n_attributes", []),
    ]


SEEN: list[Any] = [
    np.array([[1, 2, 1, 3, 1], [2, 2, 1, 1, -1]], np.int32),
    np.ones((2, 1), np.int32),
    np.ones((2, 1), np.int32),
    longs(*OFFSETS),
]


def known_templates() -> core.Extractor:
    made = core.Extractor(np.array([[0, 0, 0], [0, -1, 0], [1, 0, 0]], np.int32), ints(0, 1, 3), ints(0, 1))
    made.load(0, np.array([[1], [2]], np.int32))
    made.load(1, np.array([[1, 2], [2, 1]], np.int32))
    return made


def template_weights() -> core.TemplateWeights:
    return core.TemplateWeights(known_templates(), core.FeatureRows(4, 3), np.arange(12.0))


@script
def weights_of_templates() -> Script:
    return [
        ("new TemplateWeights", [known_templates(), core.FeatureRows(4, 3), np.arange(12.0)]),
        (".scores", [*SEEN, zeros(5, 3), 2]),
        (".largest", []),
        (".n_labels", []),
    ]


@script
def label_step() -> Script:
    given = ints(-1, 0, -1, 2, -1)
    return [
        ("new LabelStep", [np.eye(3), zeros(3), zeros(3)]),
        (".labels", [template_weights(), *SEEN, given, ints(0, 0, 0, 0, 0), 2]),
        (".marginals", [template_weights(), *SEEN, None, zeros(5, 3), zeros(2), 2]),
    ]


# --- Maps ------------------------------------------------------------------------------------------------------


@script
def feature_rows() -> Script:
    return [("new FeatureRows", [4, 3, longs(0, 2, 3, 3, 5), ints(0, 2, 1, 0, 1)]), *FEATURE_ROWS]


@script
def all_feature_rows() -> Script:
    return [("new FeatureRows", [4, 3]), *FEATURE_ROWS]


FEATURE_ROWS: Script = [
    (".describe", [longs(0, 1, 4)]),
    (".find", [longs(0, 1, 3), ints(0, 1, 2)]),
    (".n_features", []),
    (".starts", []),
]


@script
def linear_map() -> Script:
    return [
        (
            "new LinearMap",
            [longs(0, 2, 3, 3, 4, 5), ints(0, 1, 2, 3, 0), reals(1, 2, 3, 4, 5), chosen_rows()],
        ),
        (".scores", [np.ones(5), zeros(5, 3), 2]),
        (".pullback", [zeros(5, 3), zeros(5), 2]),
        (".row_sizes", []),
        (".restrict", [longs(0, 1, 4), 1]),
        (".take", [longs(0, 1, 4)]),
        (".pullback", [np.ones((5, 3)), zeros(5), 1, True]),
    ]


@script
def narrow_map() -> Script:
    return [
        ("new LinearMap", [longs(0, 2, 3), ints(0, 1, 1), reals(1, 2, 3), rows(2, 1)]),
        (".scores", [zeros(2), zeros(2, 1), 1]),
        (".pullback", [zeros(2, 1), zeros(2), 1]),
        (".restrict", [longs(1), 1]),
        (".features", []),
    ]


@script
def rows_of_maps() -> Script:
    return [
        ("seen_features", [longs(0, 2, 3), ints(0, 1, 2), ints(0, 1), 3, 2]),
        ("distinct_rows", [longs(0, 2, 3), ints(0, 1, 2), reals(1, 2, 3)]),
        (
            "feature_differences",
            [token_map(), longs(0, 2, 3), ints(0, 1, 2), ints(0, 1, 2), ints(1, 2, 0), 1],
        ),
    ]


@script
def lay_out() -> Script:
    two = core.LinearMap(longs(0, 1, 2), ints(0, 1), None, rows(2, 9))
    return [
        ("lay_out", [two, ints(0, 1, 0, 1, 0), 3, False, 1]),
        ("lay_out", [two.restrict(longs(0, 5, 9), 1), ints(0, 1, 0, 1, 0), 3, False, 1]),
    ]


@script
def screening() -> Script:
    batch = (
        step_map(),
        ints(*[0] * 5),
        chain(),
        [(1.0, posterior(), zeros(5, 3))],
        [(np.ones(5), ints(*GOLD))],
    )
    return [
        ("screen_nodes", [[(token_map(), np.ones((5, 3)), []), (token_map(), zeros(5, 3), [])], 0.1, 2]),
        ("screen_pairs", [[batch, batch], 0.1, 2]),
    ]


# --- Chains and trees ------------------------------------------------------------------------------------------


def oracles(n_singles: int) -> Script:
    score = [zeros(5, 3), zeros(1, 3, 3), zeros(n_singles)]
    out = [zeros(5, 3), zeros(1, 3, 3), zeros(n_singles)]
    return [
        (".marginals", [*score, zeros(2), *out, zeros(2 * 5 * 4), None, 2]),
        (".marginals", [*score, zeros(2), *out, zeros(0), core.ChainPosterior(), 1]),
        (".argmax", [*score, zeros(2), np.zeros(5, np.int32), 1]),
        (".kbest", [*score, zeros(3, 2), np.zeros((3, 5), np.int32), 1]),
        (".sample", [*score, 1, np.zeros((3, 5), np.int32), 1]),
        (".score", [*score, ints(*GOLD), zeros(2), 1]),
        (".add", [ints(*GOLD), 1.0, *out]),
        (".variances", [np.full((5, 3), 1 / 3), *out, 1]),
    ]


@script
def chains() -> Script:
    return [("new Chain", [longs(*OFFSETS), ints(*[0] * 5), reals(1, 2), 3, 1]), *oracles(0)]


@script
def chains_with_singles() -> Script:
    return [("new Chain", [longs(*OFFSETS), ints(*[0] * 5), None, 3, 1, *SINGLES]), *oracles(2)]


SECOND_ORDER = [
    longs(*OFFSETS),
    ints(*[0] * 5),
    reals(1, 2),
    ints(-1, -1, 0, 1, 1),
    ints(0, 1, 1, 0, 1),
    2,
    1,
]


@script
def second_order_chains() -> Script:
    """Five pairs of two tags; eight triples."""
    scores = [zeros(5, 7), zeros(1, 8)]
    return [
        ("new SecondOrderChain", [*SECOND_ORDER, True, True]),
        (".n_triples", []),
        (".marginals", [*scores, zeros(2), zeros(5, 7), zeros(1, 8), 2]),
        (".variances", [zeros(5, 7), zeros(5, 7), zeros(1, 8), 1]),
        (".score", [*scores, ints(0, 1, 1, 0, 1), zeros(2)]),
        (".add", [ints(0, 1, 1, 0, 1), 1.0, zeros(5, 7), zeros(1, 8)]),
        (".argmax", [*scores, zeros(2), ints(*[0] * 5), 1]),
        (".kbest", [*scores, zeros(3, 2), np.zeros((3, 5), np.int32), 1]),
        (".sample", [*scores, 7, np.zeros((2, 5), np.int32), 1]),
    ]


@script
def trees() -> Script:
    kinds = [ints(0, 1, 0, 1, 1), np.ones((2, 3), bool)]
    new = [longs(*OFFSETS), ints(-1, 0, -1, 2, 2), ints(*[0] * 5), None, 3, 1, None, None, None, None, *kinds]
    return [("new Tree", new), (".order", []), *oracles(0)]


# --- Learners --------------------------------------------------------------------------------------------------


@script
def block_descent() -> Script:
    return [
        ("new BlockDescent", [3]),
        (".add", [token_map(), step_map(), ints(*[0] * 5), chain(), ints(*GOLD)]),
        (".make_blocks", []),
        (".start", [longs(0, 1, 20), reals(1, 2, 3)]),
        (".sweep", [longs(0, 1), 0.1, 0.1, 1.0, 2]),
        (".weights", []),
        (".active_blocks", []),
        (".n_blocks", []),
        (".sweep", [longs(1, 1, 0), 0.1, 0.1, 1.0, 1]),
    ]


ONLINE: Script = [
    (".start", [longs(0, 1), reals(1, 2)]),
    (".replace", [reals(3, 4)]),
    (".run", [longs(0, 1), 1, 1.0, True, 1.0]),
    (".run", [longs(1, 0), 0, 0.0, False, 0.5]),
    (".run", [longs(1, 0), 2, 0.0, False, 0.5]),
    (".scale", [reals(0.5, 0.9)]),
    (".pull_rows", [0.1, np.ones(2, bool)]),
    (".pull_weights", [0.1, np.ones(2, bool)]),
    (".drop_rows", [0.1, np.ones(2, bool)]),
    (".drop_weights", [0.1, np.ones(2, bool)]),
    (".norms", [False]),
    (".norms", [True]),
    (".row_norms", [np.ones(2, bool)]),
    (".magnitudes", [np.ones(2, bool)]),
    (".forget_average", []),
    (".run", [longs(0, 1), 1, 1.0, True, 1.0]),
    (".settle", []),
    (".weights", [True]),
    (".state", []),
    (".n_weights", []),
    (".rounds", []),
    (".n_sequences", []),
    (".scale", [reals(0.0, 1.0)]),
]


def batch() -> list[Any]:
    return [token_map(), step_map(), ints(*[0] * 5), chain(), ints(*GOLD)]


NEW_ONLINE: list[Any] = [3, rows(), rows(1, 9), ints(0, 0, 0, 1, 1, 1), ints(1), 2]


@script
def online_chain() -> Script:
    return [("new OnlineChain", NEW_ONLINE), (".add", batch()), *ONLINE]


@script
def restored_online_chain() -> Script:
    learnt = core.OnlineChain(*NEW_ONLINE)
    learnt.add(*batch())
    learnt.run(longs(0, 1), 1, 1.0, True, 1.0)
    return [
        ("new OnlineChain", NEW_ONLINE),
        (".add", batch()),
        (".restore", list(learnt.state())),
        *ONLINE[2:],
    ]


NEW_SUMMED: list[Any] = [3, rows(), rows(1, 9), np.zeros(6, bool), np.zeros(1, bool)]
SUMMED: Script = [
    (".run", [longs(0, 1), 2, 1.0, reals(1, 1), 0.1, 0.1, 0.0]),
    (".run", [longs(0, 1), 1, 1.0, reals(1, 1), 0.1, 0.1, 0.1]),
    (".weights", []),
    (".state", []),
    (".n_weights", []),
]


@script
def summed_chain() -> Script:
    return [
        ("new SummedChain", NEW_SUMMED),
        (".add", batch()),
        (".start", [longs(0, 5, 20), reals(1, 2, 3)]),
        *SUMMED,
    ]


@script
def restored_summed_chain() -> Script:
    learnt = core.SummedChain(*NEW_SUMMED)
    learnt.add(*batch())
    learnt.run(longs(0, 1), 2, 1.0, reals(1, 1), 0.1, 0.1, 0.0)
    return [("new SummedChain", NEW_SUMMED), (".add", batch()), (".restore", list(learnt.state())), *SUMMED]


# --- Dependency trees ------------------------------------------------------------------------------------------


@script
def arc_sentences() -> Script:
    return [
        (
            "new ArcSentences",
            [longs(*OFFSETS), [ints(3, 4, 5, 3, 4), ints(3, 4, 5)], [None, longs(0, 1, 1, 2, 3, 3)]],
        ),
        (".__len__", []),
    ]


def arc_features(n: int) -> Script:
    return [
        (".scores", [sentences(), 0, 2, np.ones(n), zeros(N_ARCS), 2]),
        (".pullback", [sentences(), 0, 2, np.ones(N_ARCS), zeros(n), 2]),
        (".attributes", [sentences(), 0, 2, ints(0, 1, 2, 0, 1), 2]),
        (".restrict", [longs(0, 2)]),
        (".starts", []),
        (".__len__", []),
    ]


@script
def arc_dictionary() -> Script:
    return [("new ArcDictionary", [*ARC_TESTS, longs(2, 1), ints(3, 4, 5, 1)]), *arc_features(3)]


@script
def supported_arcs() -> Script:
    heads = ints(0, 1, 2, 0, 1)
    return [
        ("new ArcDictionary.supported", [*ARC_TESTS, sentences(), heads, 1, 2]),
        *arc_features(6),
        (".values", [sentences(), heads, 1]),
    ]


@script
def arc_scorer() -> Script:
    return [
        ("new ArcScorer", [*ARC_TESTS, longs(2, 1), ints(3, 4, 5, 1), reals(1, 2, 3), [True], 2]),
        (".scores", [sentences(), 0, 2, zeros(N_ARCS), 2]),
    ]


@script
def online_arcs() -> Script:
    return [
        ("new OnlineArcs", [dictionary(), False, False, ints(0, 0, 1), 2]),
        (".add", [sentences(), 0, 2, ints(0, 1, 2, 0, 1), reals(1, 1)]),
        *ONLINE,
    ]


def tree_oracles(n_labels: int = 2) -> Script:
    return [
        (".n_arcs", []),
        (".argmax", [zeros(N_ARCS), zeros(2), np.zeros(5, np.int32), 2]),
        (".marginals", [zeros(N_ARCS), zeros(2), zeros(N_ARCS), 2]),
        (".kbest", [zeros(n_labels * N_ARCS), n_labels, zeros(3, 2), np.zeros((3, 5), np.int32), 2]),
    ]


@script
def spanning_trees() -> Script:
    return [("new Arborescences", [longs(*OFFSETS), False, True]), *tree_oracles()]


@script
def projective_trees() -> Script:
    return [("new Arborescences", [longs(*OFFSETS), True, False]), *tree_oracles()]


# --- Networks, vectors and planes ------------------------------------------------------------------------------


@script
def graph() -> Script:
    score, settings = [zeros(7), np.linspace(0, 1, 12)], (0, 1e-3, Rounds(5), 0.1, True)
    return [
        ("new Graph", [ints(2, 3, 2), np.array([[0, 1], [1, 2]], np.int32), longs(0, 3), longs(0, 2)]),
        (".marginals", [*score, settings, zeros(10), longs(0, 5), zeros(1), zeros(7), zeros(12), 2]),
        (".argmax", [*score, settings, zeros(10), longs(0, 5), np.zeros(3, np.int32), 2]),
        (".sample", [*score, 1, 2, Rounds(3), Rounds(1), ints(-1, -1, -1), np.zeros((4, 3), np.int32), 2]),
        (
            ".conditionals",
            [*score, np.zeros((3, 4), np.int32), np.ones(4), zeros(3), zeros(2, 7), zeros(7), zeros(12), 2],
        ),
    ]


@script
def vectors() -> Script:
    return [
        ("dot", [zeros(3), zeros(3)]),
        ("exponentials", [zeros(3)]),
        ("instruction_set", []),
        (
            "descend",
            [
                zeros(4),
                np.ones(4),
                np.ones(4),
                np.ones((4, 2)),
                np.ones((4, 2)),
                longs(1, 3),
                np.eye(2),
                zeros(4),
                np.ones(4),
                Rounds(2),
                zeros(4),
                zeros(2),
            ],
        ),
        (
            "descend_groups",
            [
                zeros(4),
                np.ones(4),
                np.ones((4, 2)),
                np.eye(2),
                np.eye(2),
                zeros(4),
                np.ones(4),
                longs(0, 2, 3),
                longs(0, 1, 3),
                reals(1, 0),
                1e-3,
                Rounds(2),
                zeros(4),
                2,
            ],
        ),
    ]


@script
def coordinate_descent() -> Script:
    flat = core.LinearMap(longs(0, 2, 3), ints(0, 1, 2), reals(1, 2, 3), rows(3, 1))
    model = [flat, np.ones((2, 1)), zeros(3), np.ones(3), zeros(3), zeros(3)]
    return [
        (
            "descend_coordinates",
            [
                *model,
                longs(0, 1, 2),
                longs(0),
                longs(),
                reals(),
                zeros(3),
                1e-3,
                Rounds(5),
                zeros(3),
                zeros(2, 1),
            ],
        ),
        (
            "descend_coordinates",
            [
                *model,
                longs(0, 1),
                longs(0, 2, 3),
                longs(0, 1, 2),
                reals(1, 1),
                zeros(3),
                1e-3,
                Rounds(5),
                zeros(3),
                zeros(2, 1),
            ],
        ),
    ]


@script
def group_copies() -> Script:
    return [
        ("new GroupCopies", [longs(0, 2, 4), ints(0, 1, 1, 2), reals(1, 1), 3]),
        (".step", [np.ones(3), 1.0, 1.6, zeros(3), zeros(3), 2]),
        (".rescale", [2.0]),
        (".gauge", [1.0, zeros(3), 2]),
        (".norms", [1.0]),
        (".n_groups", []),
        (".n_members", []),
    ]


@script
def planes() -> Script:
    sparse = [(0, longs(0, 2, 3), ints(0, 1, 2), reals(1, -1, 2)), (3, longs(0, 1, 1), ints(0), reals(1))]
    return [
        ("new Planes", [np.ones(6), np.ones(2)]),
        (".weights", []),
        (".add", [longs(0, 1), reals(1, 1), sparse]),
        (".sweep", [longs(0, 1), Rounds(5)]),
        (".add", [longs(0, 0), reals(1, 2), sparse]),
        (".sweep", [longs(0), Rounds(5)]),
        (".support", []),
        (".rescale", [np.full(6, 0.5)]),
        (".dual", []),
        (".prune", [0]),
        (".refresh", []),
        (".n_planes", []),
        (".n_support", []),
    ]
