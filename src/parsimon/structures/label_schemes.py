"""How spans are written as one label a token: IOB1, IOB2 and IOBES.

A label such as ``B-NP`` is a *tag* (``B``) and a *type* (``NP``). The schemes differ in the tags of a span:

=========  =================================================================================
``iob1``   ``I`` everywhere, ``B`` only where a span follows directly on another of its type
``iob2``   ``B`` for the first token of every span, ``I`` for the rest
``iobes``  ``S`` for a span of one token, else ``B`` first, ``E`` last and ``I`` between
=========  =================================================================================

This module reads spans (:func:`spans`), rewrites them in another scheme (:func:`convert`) and says which
label may follow which (:func:`constraints`), so that a decoder never writes an impossible sequence.

Reading follows the ``conlleval`` script of the CoNLL shared tasks, which gives *every* sequence a meaning,
valid or not. It is completed in one place: the script predates IOBES, has no rule for ``S`` and does not see
that a ``B`` after an ``E`` of the same type opens a new span. Here it does, so the spans of a text do not
depend on the scheme they are written in. Sequences without ``S``, and without ``B`` right after ``E``, are
read exactly as the script reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from parsimon.errors import ParsimonError

Scheme = Literal["iob1", "iob2", "iobes"]
SCHEMES: tuple[str, ...] = get_args(Scheme)

OUTSIDE = "O"


def _tag_pairs(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((pair[0], pair[1]) for pair in text.split())


# (previous tag, tag) between which a span starts, whatever the types: first conlleval's startOfChunk, then
# the completion for IOBES. The second table is the same for endOfChunk.
_STARTS = _tag_pairs("BB IB OB OI OE EE EI") | _tag_pairs("EB OS BS IS ES SS SB SI SE")
_ENDS = _tag_pairs("BB BO IB IO EE EI EO") | _tag_pairs("EB BS IS ES SB SI SE SS SO")
# Tags of the bracket representations (Tjong Kim Sang & Veenstra 1999): each is a span of one token.
_BRACKETS = frozenset("[]")
# Tags that no change of type can open or close; "." is what the bracket representations write outside.
_NEUTRAL = frozenset((OUTSIDE, "."))

# The tags the rules above speak of; to the rules, all others are alike.
KNOWN_TAGS = frozenset("BIES[].") | {OUTSIDE}


def split_label(label: str) -> tuple[str, str]:
    """Tag and type of a label, cut at its first hyphen; a label without one is a tag with an empty type.

    >>> split_label("B-NP-1"), split_label("O")
    (('B', 'NP-1'), ('O', ''))
    """
    tag, _, kind = label.partition("-")
    return tag, kind


def join_label(tag: str, kind: str) -> str:
    """The label of a tag and a type: the inverse of :func:`split_label`.

    >>> join_label("B", "NP"), join_label("B", "")
    ('B-NP', 'B')
    """
    return f"{tag}-{kind}" if kind else tag


def starts_span(previous: str, tag: str, same_type: bool) -> bool:
    """Whether a span starts at a token with this tag, given the tag before it (``O`` before the first)."""
    return (previous, tag) in _STARTS or tag in _BRACKETS or (tag not in _NEUTRAL and not same_type)


def ends_span(previous: str, tag: str, same_type: bool) -> bool:
    """Whether a span ends just before a token with this tag, given the tag before it."""
    return (previous, tag) in _ENDS or previous in _BRACKETS or (previous not in _NEUTRAL and not same_type)


def spans(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """The spans of a label sequence as ``(type, start, end)``, read as ``conlleval`` does; *end* is past it.

    Every sequence can be read, also one that is not valid in any scheme.

    >>> spans(["B-NP", "I-NP", "O", "I-VP", "I-NP"])
    [('NP', 0, 2), ('VP', 3, 4), ('NP', 4, 5)]
    """
    found: list[tuple[str, int, int]] = []
    open_since: int | None = None
    previous, previous_type = OUTSIDE, ""
    for position, label in enumerate([*tags, OUTSIDE]):
        tag, kind = split_label(label)
        starts = starts_span(previous, tag, kind == previous_type)
        ends = starts or tag == OUTSIDE or ends_span(previous, tag, kind == previous_type)
        if open_since is not None and ends:
            found.append((previous_type, open_since, position))
            open_since = None
        if starts:
            open_since = position
        previous, previous_type = tag, kind
    return found


@dataclass(frozen=True, eq=False)
class Transitions:
    """Which labels may start a sequence, end it, and follow one another; ``True`` is allowed.

    Two of them combine with ``&``: what remains is what both allow.
    """

    start: NDArray[np.bool_]  # [Y]
    end: NDArray[np.bool_]  # [Y]
    pair: NDArray[np.bool_]  # [Y][Y], previous by next

    def __post_init__(self) -> None:
        size = len(self.start)
        if self.start.shape != (size,) or self.end.shape != (size,) or self.pair.shape != (size, size):
            raise ParsimonError(
                f"the shapes of start {self.start.shape}, end {self.end.shape} and pair {self.pair.shape} "
                "do not agree; for Y labels they are (Y,), (Y,) and (Y, Y)"
            )

    def __and__(self, other: Transitions) -> Transitions:
        if not isinstance(other, Transitions):
            return NotImplemented
        if len(self.start) != len(other.start):
            raise ParsimonError(
                f"transitions over {len(self.start)} labels cannot be combined with transitions "
                f"over {len(other.start)}; build both from the same list of labels"
            )
        return Transitions(self.start & other.start, self.end & other.end, self.pair & other.pair)

    def first_violation(self, ids: Sequence[int] | NDArray[np.integer]) -> int | None:
        """The first position in a sequence of label ids that is not allowed, or None if all of it is.

        A last label that may not end the sequence is reported as the position after it.
        """
        path = np.asarray(ids, dtype=np.intp)
        if not path.size:
            return None
        allowed = np.concatenate([self.start[path[:1]], self.pair[path[:-1], path[1:]], self.end[path[-1:]]])
        return None if allowed.all() else int(np.argmin(allowed))


def constraints(labels: Sequence[str], scheme: str = "auto") -> Transitions:
    """The transitions that a scheme allows among *labels*; ``"auto"`` asks :func:`detect_scheme` which it is.

    >>> allowed = constraints(["O", "B-NP", "I-NP"], "iob2")
    >>> allowed.start.tolist()                                  # I-NP cannot come first ...
    [True, True, False]
    >>> allowed.pair[0].tolist()                                # ... nor after O
    [True, True, False]
    """
    if scheme == "auto":
        detected = detect_scheme(labels)
        if detected is None:
            raise ParsimonError(
                "the scheme of the labels cannot be told from their names; "
                f"name it with scheme={_one_of(SCHEMES)} if they mark spans at all"
            )
        scheme = detected
    _check_scheme(scheme, "scheme")
    for label in labels:
        if not _belongs(label, scheme):
            raise ParsimonError(
                f"label {label!r} is not of the {scheme} scheme, whose labels are {OUTSIDE} or "
                f"{_one_of(_SPAN_TAGS[scheme])} followed by a hyphen and a type"
            )
    return _allowed(labels, scheme)


_SPAN_TAGS = {"iob1": "BI", "iob2": "BI", "iobes": "BIES"}


def _belongs(label: str, scheme: str) -> bool:
    return label == OUTSIDE or split_label(label)[0] in tuple(_SPAN_TAGS[scheme])


def _allowed(labels: Sequence[str], scheme: str) -> Transitions:
    parts = [split_label(label) for label in labels]
    tag = np.array([t for t, _ in parts], dtype=np.str_)
    kind = np.array([k for _, k in parts], dtype=np.str_)
    same = kind[:, None] == kind[None, :]  # [previous][next]

    if scheme == "iobes":
        # A span is open after B and I, and then only I or E of its type may come; else only O, B or S.
        opened, inner = np.isin(tag, ["B", "I"]), np.isin(tag, ["I", "E"])
        return Transitions(~inner, ~opened, np.where(opened[:, None], inner & same, ~inner))

    # In IOB2 an I, in IOB1 a B, must follow on a span of its own type; every other step is allowed.
    bound = tag == ("I" if scheme == "iob2" else "B")
    in_span = tag != OUTSIDE
    return Transitions(~bound, np.ones(len(labels), dtype=np.bool_), ~bound | (in_span[:, None] & same))


def detect_scheme(labels: Iterable[str]) -> str | None:
    """The scheme of a label inventory, or None when no scheme explains it or nothing in it marks a span.

    A scheme explains an inventory when each label can occur in some valid sequence: ``I-NP`` without ``B-NP``
    cannot be IOB2, ``B-NP`` without ``I-NP`` cannot be IOB1. Where both explain it, the answer is ``"iob2"``;
    text in IOB1 that happens to use every ``B`` looks the same, so name the scheme when you know it.

    >>> detect_scheme(["O", "B-NP", "I-NP"]), detect_scheme(["O", "I-NP"]), detect_scheme(["NOUN", "VERB"])
    ('iob2', 'iob1', None)
    """
    inventory = sorted(set(labels))
    if not any(label != OUTSIDE for label in inventory):
        return None
    for scheme in ("iob2", "iob1", "iobes"):
        if all(_belongs(label, scheme) for label in inventory) and _all_usable(_allowed(inventory, scheme)):
            return scheme
    return None


def _all_usable(allowed: Transitions) -> bool:
    """Whether each label lies on a path from some start to some end."""
    return _reachable(allowed.start, allowed.pair) and _reachable(allowed.end, allowed.pair.T)


def _reachable(seeds: NDArray[np.bool_], pair: NDArray[np.bool_]) -> bool:
    reached = seeds
    while True:
        grown: NDArray[np.bool_] = reached | pair[reached].any(axis=0)
        if np.array_equal(grown, reached):
            return bool(reached.all())
        reached = grown


def forbid(labels: Sequence[str], pairs: Iterable[tuple[str, str]]) -> Transitions:
    """Transitions that allow everything but the given ``(previous, next)`` pairs of labels.

    >>> both = constraints(["O", "B-X", "I-X"], "iob2") & forbid(["O", "B-X", "I-X"], [("B-X", "B-X")])
    >>> both.pair[1].tolist()
    [True, False, True]
    """
    index = {label: number for number, label in enumerate(labels)}
    pair = np.ones((len(labels), len(labels)), dtype=np.bool_)
    for previous, following in pairs:
        for name in (previous, following):
            if name not in index:
                raise ParsimonError(
                    f"label {name!r} in the forbidden pair ({previous!r}, {following!r}) is not one of the "
                    f"{len(labels)} labels; use names from the label inventory"
                )
        pair[index[previous], index[following]] = False
    every = np.ones(len(labels), dtype=np.bool_)
    return Transitions(every, every.copy(), pair)


def convert(tags: Sequence[str], source: str | None, target: str) -> list[str]:
    """The same spans written in another scheme.

    *tags* must be valid in *source*; with ``source=None`` nothing is checked and they are read as
    :func:`spans` reads them, which also repairs sequences that a model or an annotator got wrong.

    >>> convert(["I-NP", "B-NP", "I-NP", "O"], "iob1", "iobes")
    ['S-NP', 'B-NP', 'E-NP', 'O']
    """
    _check_scheme(target, "target")
    if source is not None:
        _check_scheme(source, "source")
        _check_valid(tags, source)
    written = [OUTSIDE] * len(tags)
    previous: tuple[str, int] | None = None  # type and end of the span before
    for kind, start, end in spans(tags):
        follows_its_like = previous == (kind, start)
        written[start:end] = [
            join_label(tag, kind) for tag in _span_tags(end - start, target, follows_its_like)
        ]
        previous = (kind, end)
    return written


def _span_tags(length: int, scheme: str, follows_its_like: bool) -> list[str]:
    if scheme == "iobes":
        return ["S"] if length == 1 else ["B", *["I"] * (length - 2), "E"]
    first = "B" if scheme == "iob2" or follows_its_like else "I"
    return [first, *["I"] * (length - 1)]


def _check_valid(tags: Sequence[str], scheme: str) -> None:
    inventory = sorted(set(tags))
    index = {label: number for number, label in enumerate(inventory)}
    wrong = constraints(inventory, scheme).first_violation([index[tag] for tag in tags])
    if wrong is None:
        return
    if wrong == len(tags):
        what = f"{tags[-1]!r} cannot end a sequence"
    elif wrong == 0:
        what = f"{tags[0]!r} cannot start a sequence"
    else:
        what = f"{tags[wrong]!r} at position {wrong} cannot follow {tags[wrong - 1]!r}"
    raise ParsimonError(f"the tags are not valid {scheme}: {what}; pass source=None to read them leniently")


def _check_scheme(scheme: str, argument: str) -> None:
    if scheme not in SCHEMES:
        raise ParsimonError(f"{argument}={scheme!r} is not a known scheme; use {_one_of(SCHEMES)}")


def _one_of(names: Iterable[str]) -> str:
    *most, last = [repr(name) for name in names]
    return f"{', '.join(most)} or {last}" if most else last
