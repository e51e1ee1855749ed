"""Types of the compiled core (see core/bindings/).

Arrays that are only read may be of any integer type; they are converted to the one the core works with. Arrays
that are written to must have exactly the type named here and be contiguous.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Integers: TypeAlias = NDArray[np.integer[Any]]
_Int32: TypeAlias = NDArray[np.int32]
_Int64: TypeAlias = NDArray[np.int64]
_Bytes: TypeAlias = NDArray[np.uint8]
_UInt32: TypeAlias = NDArray[np.uint32]
_Float64: TypeAlias = NDArray[np.float64]
_Bool: TypeAlias = NDArray[np.bool_]

def instruction_set() -> str:
    """The build of the hot loops in use on this processor."""

class StringTable:
    """Every distinct string once, numbered in order of arrival."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, id: int, /) -> str: ...
    def add(self, text: str) -> int: ...
    def find(self, text: str) -> int: ...
    def add_all(self, texts: list[str]) -> _Int32: ...
    def get_all(self, ids: _Integers) -> list[str]: ...
    def copy(self) -> StringTable: ...
    def pack(self, ids: _Integers) -> tuple[_Bytes, _Int64]:
        """The bytes of the given strings, end to end, and where each starts."""

    @staticmethod
    def unpack(bytes: _Bytes, start: _Integers) -> StringTable: ...

class ColumnReader:
    """Text in blocks of bytes → interned columns."""

    def __init__(
        self,
        strings: StringTable,
        separator: str,
        comment: str,
        keep_lines: bool,
        learn: bool = True,
        wanted: int = 0,
    ) -> None: ...
    def feed_sequences(self, block: bytes, threads: int) -> tuple[int, str] | None:
        """Reads a block of whole sequences, on several threads if no strings are learnt."""

    def feed(self, block: bytes) -> tuple[int, str] | None:
        """Reads the whole lines of a block; (line, what is wrong there) when there is a mistake."""

    def finish(self) -> tuple[int, str] | None: ...
    def clear(self) -> None: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def lines_read(self) -> int: ...
    def columns(self) -> _Int32:
        """String ids, columns × tokens."""

    def lengths(self) -> _Int32: ...
    def lines(self) -> tuple[_Int64, _Int64]:
        """Where each token's line starts and ends in the block."""

def count_lines(block: bytes) -> int:
    """How many lines end in a block."""

def label_lines(
    block: bytes,
    start: _Integers,
    end: _Integers,
    lengths: _Integers,
    labels: _Integers,
    names: Sequence[str],
    threads: int = 1,
) -> bytes:
    """The lines of a block with a label appended to each, sequences separated by blank lines."""

def collect_items(
    sequences: Iterable[Iterable[Any]], names: StringTable, learn: bool, largest: float
) -> tuple[_Int64, _Int32, _Float64 | None, _Int32]:
    """Feature dictionaries → compressed sparse rows (start, index, value) of attributes, and lengths."""

class Extractor:
    """Expands templates into attributes."""

    def __init__(self, tests: _Integers, start: _Integers, skeleton: _Integers) -> None: ...
    @property
    def n_attributes(self) -> int: ...
    @property
    def offsets(self) -> _Int64:
        """The first attribute of every skeleton, and how many there are in all."""

    def tuples(self, skeleton: int) -> _Int32: ...
    def load(self, skeleton: int, tuples: _Integers) -> None: ...
    def learn(
        self,
        inputs: _Integers,
        before: _Integers,
        after: _Integers,
        offsets: _Integers,
        skip: int,
        threads: int,
    ) -> _Int32:
        """Attribute numbers, tokens × templates; −1 where there is none."""

    def apply(
        self,
        inputs: _Integers,
        before: _Integers,
        after: _Integers,
        offsets: _Integers,
        skip: int,
        threads: int,
    ) -> tuple[_Int64, _Int32]:
        """The known attributes of every token as compressed sparse rows (start, index)."""

class FeatureRows:
    """The features (columns) of each attribute."""

    def __init__(
        self, n_attributes: int, width: int, start: _Integers | None = None, column: _Integers | None = None
    ) -> None: ...
    @property
    def n_attributes(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    def starts(self) -> _Int64:
        """The first feature of each attribute, and one past the last."""

    def describe(self, features: _Integers) -> tuple[_Int64, _Int32]:
        """Attribute and column of each feature."""

    def find(self, attribute: _Integers, column: _Integers) -> _Int64:
        """The feature of each (attribute, column), −1 where there is none."""

class TemplateWeights:
    """Weights by what templates see; extractor and features must stay as they are."""

    def __init__(self, extractor: Extractor, features: FeatureRows, weights: _Float64) -> None: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def largest(self) -> float:
        """No score is larger."""

    def scores(
        self,
        inputs: _Integers,
        before: _Integers,
        after: _Integers,
        offsets: _Integers,
        out: _Float64,
        threads: int,
    ) -> None:
        """Tokens × labels; overwrites."""

class LabelStep:
    """The score of every pair of labels at every step, and −∞ or 0 for labels at the ends of sequences."""

    def __init__(self, pair: _Float64, first: _Float64, last: _Float64) -> None: ...
    def labels(
        self,
        weights: TemplateWeights,
        inputs: _Integers,
        before: _Integers,
        after: _Integers,
        offsets: _Integers,
        given: _Integers | None,
        labels: _Int32,
        threads: int,
    ) -> bool:
        """The best labels; False if some sequence has none."""

    def marginals(
        self,
        weights: TemplateWeights,
        inputs: _Integers,
        before: _Integers,
        after: _Integers,
        offsets: _Integers,
        given: _Integers | None,
        marginals: _Float64,
        log_z: _Float64,
        threads: int,
    ) -> bool:
        """Marginals of tokens and log Z of sequences; False if some sequence has no labels."""

class LinearMap:
    """The sparse linear map from weights to scores."""

    def __init__(
        self, start: _Integers, index: _Integers, value: _Float64 | None, features: FeatureRows
    ) -> None: ...
    @staticmethod
    def dense(columns: _Float64) -> LinearMap:
        """A matrix without gaps, by columns, which is kept as it is; one column of scores."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_entries(self) -> int: ...
    def row_sizes(self) -> _Int64:
        """How many attributes fire on each row."""

    @property
    def features(self) -> FeatureRows: ...
    def restrict(self, features: _Integers, threads: int = 1) -> LinearMap: ...
    def take(self, rows: _Integers) -> LinearMap: ...
    def scores(self, w: _Float64, out: _Float64, threads: int) -> None: ...
    def pullback(self, mu: _Float64, out: _Float64, threads: int, squared: bool = False) -> None: ...

def seen_features(
    start: _Integers, index: _Integers, column: _Integers, n_attributes: int, width: int
) -> FeatureRows:
    """The columns that each attribute meets (−1 in a row is none)."""

def distinct_rows(
    start: _Integers, index: _Integers, value: _Float64 | None
) -> tuple[_Int64, _Int32, _Float64 | None, _Int32]:
    """The distinct rows (start, index, value), and which one each row is."""

def restrict_maps(maps: Sequence[LinearMap], features: _Integers, threads: int) -> list[LinearMap]:
    """Several maps of the same features restricted to some of them, which they share."""

def lay_out(
    steps: LinearMap, row: _Integers, n_labels: int, whole: bool, threads: int
) -> tuple[_Int32, LinearMap, _Int32, _Int32, _Int64, _UInt32, LinearMap]:
    """Matrix of each step, the map of matrices, row of single pairs of each step, matrix of each row, single pairs, and
    the map of their scores."""

def screen_nodes(
    batches: Sequence[tuple[LinearMap, _Float64, Sequence[tuple[_Float64, _Integers]]]],
    threshold: float,
    threads: int,
) -> tuple[_Int64, _Float64]:
    """Features of labels with a gradient above a threshold, ascending."""

def screen_pairs(
    batches: Sequence[
        tuple[
            LinearMap,
            _Integers,
            Chain,
            Sequence[tuple[float, ChainPosterior, _Float64]],
            Sequence[tuple[_Float64, _Integers]],
        ]
    ],
    threshold: float,
    threads: int,
) -> tuple[_Int64, _Float64]:
    """Features of label pairs with a gradient above a threshold, ascending."""

class ChainPosterior:
    """What forward and backward found."""

    def __init__(self) -> None: ...

class Chain:
    """The dynamic programs of a batch of label sequences."""

    def __init__(
        self,
        offsets: _Integers,
        pair_kind: _Integers,
        weights: _Float64 | None,
        n_labels: int,
        n_kinds: int,
        row: _Integers | None = None,
        row_kind: _Integers | None = None,
        single_start: _Integers | None = None,
        single: _Integers | None = None,
    ) -> None: ...
    def marginals(
        self,
        node: _Float64,
        pair: _Float64,
        single: _Float64,
        log_z: _Float64,
        node_out: _Float64,
        pair_out: _Float64,
        single_out: _Float64,
        scratch: _Float64,
        kept: ChainPosterior | None,
        threads: int,
    ) -> bool:
        """False when some sequence has no possible labelling; likewise below."""

    def variances(
        self,
        marginals: _Float64,
        node_out: _Float64,
        pair_out: _Float64,
        single_out: _Float64,
        threads: int,
    ) -> None: ...
    def score(
        self,
        node: _Float64,
        pair: _Float64,
        single: _Float64,
        labels: _Integers,
        out: _Float64,
        threads: int,
    ) -> None: ...
    def add(
        self, labels: _Integers, times: float, node: _Float64, pair: _Float64, single: _Float64
    ) -> None: ...
    def argmax(
        self,
        node: _Float64,
        pair: _Float64,
        single: _Float64,
        best: _Float64,
        labels: _Int32,
        threads: int,
    ) -> bool: ...
    def kbest(
        self,
        node: _Float64,
        pair: _Float64,
        single: _Float64,
        scores: _Float64,
        labels: _Int32,
        threads: int,
    ) -> None: ...
    def sample(
        self, node: _Float64, pair: _Float64, single: _Float64, seed: int, labels: _Int32, threads: int
    ) -> bool: ...

class SecondOrderChain:
    """The dynamic programs of a batch of second-order tag sequences."""

    def __init__(
        self,
        offsets: _Integers,
        kind: _Integers,
        weights: _Float64 | None,
        before: _Integers,
        tag: _Integers,
        n_tags: int,
        n_kinds: int,
        scores_tags: bool,
        scores_pairs: bool,
    ) -> None: ...
    @property
    def n_triples(self) -> int: ...
    def marginals(
        self,
        node: _Float64,
        triple: _Float64,
        log_z: _Float64,
        node_out: _Float64,
        triple_out: _Float64,
        threads: int,
    ) -> bool:
        """False when some sequence has no possible tagging; likewise below."""

    def variances(
        self, marginals: _Float64, node_out: _Float64, triple_out: _Float64, threads: int
    ) -> None: ...
    def score(self, node: _Float64, triple: _Float64, tags: _Integers, out: _Float64) -> None: ...
    def add(self, tags: _Integers, times: float, node: _Float64, triple: _Float64) -> bool:
        """False when a pair of tags is not there."""

    def argmax(
        self, node: _Float64, triple: _Float64, best: _Float64, tags: _Int32, threads: int
    ) -> bool: ...
    def kbest(
        self, node: _Float64, triple: _Float64, scores: _Float64, tags: _Int32, threads: int
    ) -> None: ...
    def sample(self, node: _Float64, triple: _Float64, seed: int, tags: _Int32, threads: int) -> bool: ...

class Tree(Chain):
    """The same of a batch of trees."""

    def __init__(
        self,
        offsets: _Integers,
        parent: _Integers,
        pair_kind: _Integers,
        weights: _Float64 | None,
        n_labels: int,
        n_kinds: int,
        row: _Integers | None = None,
        row_kind: _Integers | None = None,
        single_start: _Integers | None = None,
        single: _Integers | None = None,
        node_kind: _Integers | None = None,
        allowed: _Bool | None = None,
    ) -> None: ...
    @property
    def order(self) -> _Int32:
        """All nodes, parents before their children."""

class BlockDescent:
    """Block coordinate descent on chains, with weights that exist only if they are not zero."""

    def __init__(self, n_labels: int) -> None: ...
    def add(self, node: LinearMap, steps: LinearMap, row: _Integers, chain: Chain, gold: _Integers) -> None:
        """Sequences to learn from."""

    def make_blocks(self) -> None:
        """Once all sequences are there."""

    @property
    def n_blocks(self) -> int: ...
    def active_blocks(self) -> _Int64:
        """Blocks with a weight that is not zero."""

    def sweep(
        self, blocks: _Integers, l1: float, l2: float, caution: float, threads: int
    ) -> tuple[float, int]:
        """A step for each block, in this order: the largest change of a weight, and how many blocks changed."""

    def weights(self) -> tuple[_Int64, _Float64]:
        """Features and values that are not zero, ascending."""

    def start(self, features: _Integers, values: _Float64) -> None:
        """Weights to begin with."""

class OnlineChain:
    """Rounds of online learning on chains, with weights that exist only once touched."""

    def __init__(
        self,
        n_labels: int,
        node: FeatureRows,
        pair: FeatureRows,
        node_block: _Integers,
        pair_block: _Integers,
        n_blocks: int,
    ) -> None: ...
    def add(self, node: LinearMap, pair: LinearMap, row: _Integers, chain: Chain, gold: _Integers) -> None:
        """Sequences to learn from."""

    @property
    def n_sequences(self) -> int: ...
    @property
    def n_weights(self) -> int:
        """How many weights exist."""

    @property
    def rounds(self) -> int: ...
    def run(
        self, order: _Integers, question: int, cost: float, passive_aggressive: bool, step: float
    ) -> tuple[float, int]:
        """A round for each sequence (question 0 argmax, 1 cost-augmented argmax, 2 marginals): loss, mistakes."""

    def scale(self, factors: _Float64) -> None:
        """Multiplies the weights of each block; times zero they leave the memory."""

    def norms(self, running: bool = False) -> _Float64:
        """The 2-norm of each block, summed anew or (running) as kept along the way."""

    def row_norms(self, blocks: _Bool) -> _Float64:
        """The 2-norms of the rows of attributes in the blocks marked."""

    def magnitudes(self, blocks: _Bool) -> _Float64:
        """The absolute weights in the blocks marked."""

    def pull_rows(self, by: float, blocks: _Bool) -> None:
        """Takes that much from every row's norm, when the row next fires."""

    def pull_weights(self, by: float, blocks: _Bool) -> None:
        """Takes that much from every weight, when it next fires."""

    def drop_rows(self, limit: float, blocks: _Bool) -> None:
        """Drops the rows whose norm is at most that, in the blocks marked."""

    def drop_weights(self, limit: float, blocks: _Bool) -> None:
        """Drops the weights that are at most that in absolute value, in the blocks marked."""

    def forget_average(self) -> None:
        """Averages are over the rounds from here on."""

    def settle(self) -> None:
        """Applies what was put off, and frees weights that are zero."""

    def weights(self, averaged: bool = False) -> tuple[_Int64, _Float64]:
        """Ascending features and their weights, or the averages of these over all rounds."""

    def state(self) -> tuple[_Int64, _Float64, _Float64, _Float64, _Int64]:
        """All that rounds to come depend on: features, values, drifts, blocks and counts, for `restore`."""

    def restore(
        self, features: _Integers, values: _Float64, drifts: _Float64, blocks: _Float64, counts: _Integers
    ) -> None:
        """Goes on from a state as if there had been no break."""

    def replace(self, values: _Float64) -> None:
        """Sets the weights that exist, in the order of `weights`."""

    def start(self, features: _Integers, values: _Float64) -> None:
        """Weights to begin with."""

class ArcSentences:
    """The values of words in columns, by number: −1 is not known, 0 to 2 stand for no word."""

    def __init__(
        self, offsets: _Integers, values: list[_Integers], starts: list[_Integers | None]
    ) -> None: ...
    def only(self, start: _Integers, heads: _Integers) -> ArcSentences:
        """The same sentences, in which each token can have these heads only: ascending, from start[token] on."""
    def __len__(self) -> int: ...

class ArcDictionary:
    """The attributes of arcs that are known, numbered template by template, from the values of their tests."""

    def __init__(self, start: _Integers, tests: _Integers, counts: _Integers, values: _Integers) -> None: ...
    @staticmethod
    def supported(
        start: _Integers,
        tests: _Integers,
        sentences: ArcSentences,
        heads: _Integers,
        cutoff: int,
        threads: int,
    ) -> ArcDictionary:
        """Those that fire on the arcs given often enough."""

    def __len__(self) -> int: ...
    def starts(self) -> _Int64:
        """The first attribute of every template, and one past the last."""

    def restrict(self, features: _Integers) -> ArcDictionary:
        """Of some attributes only, ascending."""

    def values(self, sentences: ArcSentences, heads: _Integers, threads: int) -> _Int32:
        """The values of the tests of all attributes, which must all fire on these arcs."""

    def scores(
        self, sentences: ArcSentences, first: int, last: int, w: _Float64, out: _Float64, threads: int
    ) -> None:
        """Φ w of the arcs of some sentences."""

    def pullback(
        self, sentences: ArcSentences, first: int, last: int, parts: _Float64, out: _Float64, threads: int
    ) -> None:
        """out += Φᵀ parts."""

    def attributes(
        self, sentences: ArcSentences, first: int, last: int, heads: _Integers, threads: int
    ) -> tuple[_Int64, _Int32]:
        """The attributes of one arc into every token (none where the head is −1), as rows."""

class ArcScorer:
    """Scores of arcs under weights that do not change."""

    def __init__(
        self,
        start: _Integers,
        tests: _Integers,
        counts: _Integers,
        values: _Integers,
        w: _Float64,
        many: list[bool],
        threads: int,
    ) -> None: ...
    def scores(self, sentences: ArcSentences, first: int, last: int, out: _Float64, threads: int) -> None:
        """Of the arcs of some sentences; −∞ for those that are not looked at."""

class OnlineArcs:
    """Rounds of online learning on dependency trees, with weights that exist only once touched."""

    def __init__(
        self, dictionary: ArcDictionary, projective: bool, single_root: bool, block: _Integers, n_blocks: int
    ) -> None: ...
    def add(
        self,
        sentences: ArcSentences,
        first: int,
        last: int,
        gold: _Integers,
        weights: _Float64 | None,
    ) -> None:
        """Sentences to learn from."""

    @property
    def n_sequences(self) -> int: ...
    @property
    def n_weights(self) -> int:
        """How many weights exist."""

    @property
    def rounds(self) -> int: ...
    def run(
        self, order: _Integers, question: int, cost: float, passive_aggressive: bool, step: float
    ) -> tuple[float, int]:
        """A round for each sequence (question 0 argmax, 1 cost-augmented argmax, 2 marginals): loss, mistakes."""

    def scale(self, factors: _Float64) -> None:
        """Multiplies the weights of each block; times zero they leave the memory."""

    def norms(self, running: bool = False) -> _Float64:
        """The 2-norm of each block, summed anew or (running) as kept along the way."""

    def row_norms(self, blocks: _Bool) -> _Float64:
        """The 2-norms of the rows of attributes in the blocks marked."""

    def magnitudes(self, blocks: _Bool) -> _Float64:
        """The absolute weights in the blocks marked."""

    def pull_rows(self, by: float, blocks: _Bool) -> None:
        """Takes that much from every row's norm, when the row next fires."""

    def pull_weights(self, by: float, blocks: _Bool) -> None:
        """Takes that much from every weight, when it next fires."""

    def drop_rows(self, limit: float, blocks: _Bool) -> None:
        """Drops the rows whose norm is at most that, in the blocks marked."""

    def drop_weights(self, limit: float, blocks: _Bool) -> None:
        """Drops the weights that are at most that in absolute value, in the blocks marked."""

    def forget_average(self) -> None:
        """Averages are over the rounds from here on."""

    def settle(self) -> None:
        """Applies what was put off, and frees weights that are zero."""

    def weights(self, averaged: bool = False) -> tuple[_Int64, _Float64]:
        """Ascending features and their weights, or the averages of these over all rounds."""

    def state(self) -> tuple[_Int64, _Float64, _Float64, _Float64, _Int64]:
        """All that rounds to come depend on: features, values, drifts, blocks and counts, for `restore`."""

    def restore(
        self, features: _Integers, values: _Float64, drifts: _Float64, blocks: _Float64, counts: _Integers
    ) -> None:
        """Goes on from a state as if there had been no break."""

    def replace(self, values: _Float64) -> None:
        """Sets the weights that exist, in the order of `weights`."""

    def start(self, features: _Integers, values: _Float64) -> None:
        """Weights to begin with."""

class SummedChain:
    """Rounds of online learning on chains, with a cumulative L1 penalty; weights exist only once touched."""

    def __init__(
        self,
        n_labels: int,
        node: FeatureRows,
        pair: FeatureRows,
        node_exempt: _Bool,
        pair_exempt: _Bool,
    ) -> None: ...
    def add(self, node: LinearMap, pair: LinearMap, row: _Integers, chain: Chain, gold: _Integers) -> None:
        """Sequences to learn from."""

    @property
    def n_sequences(self) -> int: ...
    @property
    def n_weights(self) -> int:
        """How many weights exist, zero or not."""

    @property
    def rounds(self) -> int: ...
    def run(
        self,
        order: _Integers,
        question: int,
        cost: float,
        steps: _Float64,
        l1: float,
        l2: float,
        negligible: float,
    ) -> tuple[float, int]:
        """A round for each sequence, with a step for each: loss, mistakes (see `OnlineChain.run`)."""

    def weights(self) -> tuple[_Int64, _Float64]:
        """Ascending features whose weights are not zero, and these."""

    def start(self, features: _Integers, values: _Float64) -> None:
        """Weights to begin with."""

    def state(self) -> tuple[_Int64, _Float64, _Float64, _Int64]:
        """All that rounds to come depend on: features, their sums, the penalty so far, rounds."""

    def restore(self, features: _Integers, sums: _Float64, penalty: _Float64, rounds: _Integers) -> None:
        """Goes on, once all sequences are there, from the state of another learner."""

def descend(
    gradient: _Float64,
    diagonal: _Float64,
    curvature: _Float64,
    columns: _Float64,
    projected: _Float64,
    block: _Integers,
    matrix: _Float64,
    w: _Float64,
    l1: _Float64,
    sweeps: int,
    d: _Float64,
    moment: _Float64,
) -> None:
    """Coordinate descent on a diagonal (with a block) plus low-rank quadratic with an L1 norm."""

def descend_groups(
    gradient: _Float64,
    diagonal: _Float64,
    pairs: _Float64,
    middle: _Float64,
    inverse: _Float64,
    w: _Float64,
    l1: _Float64,
    start: _Integers,
    member: _Integers,
    strength: _Float64,
    tol: float,
    rounds: int,
    d: _Float64,
    threads: int,
) -> int:
    """Block coordinate descent and Newton steps on such a quadratic with the norms of groups; the number of rounds."""

def quadratic_rows(
    pairs: _Float64,
    chosen: _Integers,
    used: int,
    diagonal: _Float64,
    inverse: _Float64,
    least: float,
    threads: int,
) -> tuple[_Float64, _Float64, _Float64]:
    """W, W times the inverse, and the diagonal of D minus their product, of the chosen rows of pairs."""

def tall_times(a: _Float64, z: _Float64, threads: int) -> _Float64:
    """A z, for a matrix with many rows and few columns."""

def tall_transposed_times(a: _Float64, x: _Float64, threads: int) -> _Float64:
    """The transpose of A times x, summed in a fixed order."""

def tall_gram(a: _Float64, weight: _Float64, threads: int) -> _Float64:
    """The transpose of A times its rows weighted, summed in a fixed order."""

def take_pair(
    columns: _Float64, slot: int, s: _Float64, y: _Float64, diagonal: _Float64 | None, threads: int
) -> _Float64:
    """Puts s and y into a slot, and gives the products of s, y and (with a diagonal D) D s with all columns."""

def pseudo_gradient(w: _Float64, gradient: _Float64, l1: _Float64) -> _Float64:
    """The steepest one-sided slope of a smooth function plus an L1 norm."""

class LogLossPass:
    """The log loss of batches of chains or trees, and its derivatives, in one call."""

    def __init__(
        self, batches: list[tuple[LinearMap, LinearMap, LinearMap, Chain, _Integers]], threads: int
    ) -> None: ...
    def evaluate(
        self, w: _Float64, curvature: bool, marginals: bool, threads: int
    ) -> tuple[_Float64, _Float64, _Float64, _Float64 | None, list[_Float64] | None, int]:
        """The loss of each batch, log Z of each sequence, the gradient; the diagonal of the Hessian (nearly) and the
        marginals of labels, if asked for; a batch with a sequence without any output, or −1."""

    def diagonal(self, marginals: Sequence[_Float64], threads: int) -> _Float64:
        """The diagonal of the Hessian, or nearly, from the marginals of labels."""

def descend_coordinates(
    map: LinearMap,
    curvature: _Float64,
    gradient: _Float64,
    l1: _Float64,
    pull: _Float64,
    centre: _Float64,
    active: _Int64,
    start: _Int64,
    member: _Int64,
    strength: _Float64,
    w: _Float64,
    tol: float,
    most: int,
    delta: _Float64,
    margin: _Float64,
) -> int:
    """Sweeps of coordinate descent on a quadratic model of a loss; the number of sweeps."""

class GroupCopies:
    """The copies that groups have of weights they share, and their multipliers, in ADMM."""

    def __init__(self, start: _Int64, member: _Int32, strength: _Float64, n_features: int) -> None: ...
    @property
    def n_groups(self) -> int: ...
    @property
    def n_members(self) -> int: ...
    def step(
        self,
        w: _Float64,
        rho: float,
        relaxation: float,
        copies: _Float64,
        multipliers: _Float64,
        threads: int,
    ) -> tuple[float, float, float, float]:
        """Updates v and u; ‖v − Mw‖², ‖v‖², ‖Mw‖² and Σ λ_g ‖w_g‖. Mᵀv and Mᵀa are written."""

    def rescale(self, factor: float) -> None:
        """Multiplies the scaled multipliers a = u/ρ, because ρ changes."""

    def gauge(self, rho: float, shift: _Float64, threads: int) -> float:
        """max_g ‖u_g + shift_g‖ / λ_g."""

    def norms(self, rho: float) -> _Float64:
        """‖v_g‖ of every group."""

def dot(a: _Float64, b: _Float64) -> float:
    """The inner product, summed in a fixed order."""

def exponentials(x: _Float64) -> None: ...
def feature_differences(
    map: LinearMap, start: _Integers, row: _Integers, plus: _Integers, minus: _Integers, threads: int
) -> tuple[_Integers, _Integers, _Float64]:
    """f(one output) − f(another), from the parts at which they differ: sparse vectors, one an instance."""

def add_outer_products(
    vectors: Sequence[tuple[int, _Integers, _Integers, _Float64]], times: _Float64, out: _Float64
) -> None:
    """Adds Σ times · v vᵀ to a matrix; v is an instance's sparse vectors, counted from a first feature each."""

class Planes:
    """Cutting planes of a max-margin problem, and how much each counts in its dual."""

    def __init__(self, scale: _Float64, mass: _Float64) -> None: ...
    @property
    def n_planes(self) -> int: ...
    @property
    def n_support(self) -> int: ...
    def add(
        self,
        instance: _Integers,
        cost: _Float64,
        vectors: list[tuple[int, _Integers, _Integers, _Float64]],
    ) -> None: ...
    def sweep(self, order: _Integers, most: int) -> float: ...
    def prune(self, idle: int) -> None: ...
    def mark(self) -> None: ...
    def advance(self) -> None: ...
    def rescale(self, scale: _Float64) -> None: ...
    def refresh(self) -> None: ...
    def dual(self) -> float: ...
    def support(self) -> tuple[_Integers, _Float64, _Integers, _Integers, _Float64]: ...
    def weights(self) -> _Float64: ...

class Graph:
    """Discrete variables, and pairs of them that are scored together: instances side by side."""

    def __init__(
        self, arity: _Integers, edges: _Integers, node_start: _Integers, edge_start: _Integers
    ) -> None: ...
    def marginals(
        self,
        node: _Float64,
        edge: _Float64,
        settings: tuple[int, float, int, float, bool],
        messages: _Float64,
        message_at: _Integers,
        log_z: _Float64,
        node_out: _Float64,
        edge_out: _Float64,
        threads: int,
    ) -> tuple[_Int32, _Float64, _Float64]:
        """Sum-product belief propagation: sweeps, the largest change of a message and the damping, by instance.

        Settings are the number of a schedule, the tolerance, the most sweeps, damping, and whether to raise it.
        """

    def argmax(
        self,
        node: _Float64,
        edge: _Float64,
        settings: tuple[int, float, int, float, bool],
        messages: _Float64,
        message_at: _Integers,
        states: _Int32,
        threads: int,
    ) -> tuple[_Int32, _Float64, _Float64]:
        """Max-product belief propagation, and states that fit together."""

    def sample(
        self,
        node: _Float64,
        edge: _Float64,
        seed: int,
        chains: int,
        burn_in: int,
        thin: int,
        start: _Integers,
        states: _Int32,
        threads: int,
    ) -> bool:
        """Gibbs sampling; False if a variable had no possible state."""

    def conditionals(
        self,
        node: _Float64,
        edge: _Float64,
        states: _Integers,
        weights: _Float64,
        value: _Float64,
        moments: _Float64,
        node_out: _Float64,
        edge_out: _Float64,
        threads: int,
    ) -> None:
        """Every variable given all others: minus log-probabilities of rows (variables × rows) and derivatives."""

class Arborescences:
    """The oracles of trees over batches of sentences; False when one has no tree, or scores that are not numbers."""

    def __init__(self, offsets: _Integers, projective: bool, single_root: bool) -> None: ...
    @property
    def n_arcs(self) -> int: ...
    def argmax(self, arc: _Float64, best: _Float64, heads: _Int32, threads: int) -> bool: ...
    def marginals(self, arc: _Float64, log_z: _Float64, out: _Float64, threads: int) -> bool:
        """`out` may be `arc`."""

    def kbest(
        self, part: _Float64, n_labels: int, values: _Float64, choices: _Int32, threads: int
    ) -> bool: ...
