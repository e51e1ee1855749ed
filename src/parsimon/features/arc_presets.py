"""Built-in sets of arc templates.

`mcdonald` is the default: the templates of McDonald et al. (2005, table 1), extended with lemmas, morphological
features, suffixes, and words next to and between the ends of the arc. Most are conjoined with the direction and length
of the arc.

`relations` is the set with which a parser labels the relation between a word and its head, once the head is known.

`first-pass` is the set with which a parser rules out most arcs before the features of the others are looked up.

`martins-parsing` is the set of Martins et al. (2011, section 5), who made "684 feature templates for each candidate
arc by conjoining the words, shapes, lemmas, and POS of the head and the modifier, as well as the contextual POS, and
the distance and direction of attachment". The paper does not list them; this is a reconstruction with the same number.
It has 171 conjunctions, each on its own, with the direction, with the length, and with both (171 · 4 = 684):

| conjunctions | number |
|---|---|
| head × modifier, each nothing or word, lemma, POS, shape, word and POS, lemma and POS, shape and POS | 8 · 8 |
| the POS of either end, of both or of neither, × the POS of some of the four adjacent words | 4 · 15 |
| a POS in between × head × modifier, each nothing or the word, lemma, POS or shape | 5 · 5 |
| the POS of either end, of both or of neither, × the POS of one of the four words two positions away | 4 · 4 |
| the POS of both × two words on the same side of one of them | 4 |
| the POS of both × the two words on either side of one of them | 2 |

Templates that test only the modifier never get a weight: every word has exactly one incoming arc in any tree, so they
contribute the same to all trees. The set includes them because all symbols are combined freely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

from parsimon.errors import ParsimonError
from parsimon.features.arc_templates import ArcTemplates

__all__ = ["arc_preset", "arc_preset_names", "as_arc_templates"]

ARC = ("", "dir", "dist", "dir+dist")
ADJACENT = ("h-1.upos", "h+1.upos", "m-1.upos", "m+1.upos")


def arc_preset(name: str) -> ArcTemplates:
    """The preset with a name.

    >>> from parsimon.features.arc_presets import arc_preset
    >>> len(arc_preset("martins-parsing")), arc_preset("mcdonald").names[:2]
    (684, ['h.form+h.upos', 'h.form+h.upos+dir+dist'])
    """
    if name not in PRESETS:
        raise ParsimonError(f"there is no arc template preset {name!r}; presets are {', '.join(PRESETS)}.")
    return PRESETS[name]()


def arc_preset_names() -> list[str]:
    """The names of all presets."""
    return list(PRESETS)


def as_arc_templates(templates: Any) -> ArcTemplates:
    """Templates by the name of a preset, from a file, or as they are."""
    if isinstance(templates, ArcTemplates):
        return templates
    if not isinstance(templates, str | Path):
        raise ParsimonError(
            f"templates must be the name of a preset, the path of a file, or ArcTemplates, not {templates!r}."
        )
    if str(templates) in PRESETS:
        return arc_preset(str(templates))
    if not Path(templates).exists():
        raise ParsimonError(
            f"there is no file {str(templates)!r} of arc templates and no preset of that name; "
            f"presets are {', '.join(PRESETS)}."
        )
    return ArcTemplates.load(templates)


def _templates(conjunctions: Iterable[Iterable[str]], arcs: Iterable[str]) -> ArcTemplates:
    """Every conjunction of tests, combined with each of the given tests of the arc itself."""
    arcs = list(arcs)
    lines = []
    for tests in conjunctions:
        named = [test for test in tests if test]
        lines += ["+".join([*named, *([arc] if arc else [])]) or "bias" for arc in arcs]
    return ArcTemplates.parse("\n".join(lines))


def _joined(*sets: ArcTemplates) -> ArcTemplates:
    return ArcTemplates(tuple(template for each in sets for template in each))


def martins_parsing() -> ArcTemplates:
    """A reconstruction of the 684 templates of Martins et al. (2011)."""

    def end(place: str, symbols: str) -> list[str]:
        column = {"w": "form", "l": "lemma", "p": "upos", "s": "shape"}
        return [f"{place}.{column[symbol]}" for symbol in symbols]

    contents = ("", "w", "l", "p", "s", "wp", "lp", "sp")
    pos = [(*end("h", head), *end("m", modifier)) for head in ("", "p") for modifier in ("", "p")]
    both = ("h.upos", "m.upos")
    conjunctions: list[tuple[str, ...]] = []
    conjunctions += [(*end("h", head), *end("m", modifier)) for head in contents for modifier in contents]
    conjunctions += [
        (*ends, *some) for ends in pos for n in range(1, 5) for some in combinations(ADJACENT, n)
    ]
    conjunctions += [
        (*end("h", head), *end("m", modifier), "b.upos") for head in contents[:5] for modifier in contents[:5]
    ]
    conjunctions += [(*ends, f"{place}.upos") for ends in pos for place in ("h-2", "h+2", "m-2", "m+2")]
    conjunctions += [
        (*both, f"{place}{side}1.upos", f"{place}{side}2.upos") for place in "hm" for side in "-+"
    ]
    conjunctions += [(*both, *(f"{place}{offset:+d}.upos" for offset in (-2, -1, 1, 2))) for place in "hm"]
    return _templates(conjunctions, ARC)


def mcdonald() -> ArcTemplates:
    """The default set: McDonald et al. (2005) with morphology."""
    twice = ("", "dir+dist")
    unigrams = [
        ("h.form", "h.upos"),
        ("h.form",),
        ("h.upos",),
        ("m.form", "m.upos"),
        ("m.form",),
        ("m.upos",),
    ]
    bigrams = [
        ("h.form", "h.upos", "m.form", "m.upos"),
        ("h.upos", "m.form", "m.upos"),
        ("h.form", "m.form", "m.upos"),
        ("h.form", "h.upos", "m.upos"),
        ("h.form", "h.upos", "m.form"),
        ("h.form", "m.form"),
        ("h.upos", "m.upos"),
        ("h.lemma", "m.lemma"),
        ("h.upos", "m.lemma"),
        ("h.lemma", "m.upos"),
        ("h.xpos", "m.xpos"),
    ]
    around = [
        ("h.upos", "h+1.upos", "m-1.upos", "m.upos"),
        ("h-1.upos", "h.upos", "m-1.upos", "m.upos"),
        ("h.upos", "h+1.upos", "m.upos", "m+1.upos"),
        ("h-1.upos", "h.upos", "m.upos", "m+1.upos"),
        ("h.upos", "m-1.upos", "m.upos"),
        ("h.upos", "m.upos", "m+1.upos"),
        ("h-1.upos", "h.upos", "m.upos"),
        ("h.upos", "h+1.upos", "m.upos"),
    ]
    between = [("h.upos", "b.upos", "m.upos"), ("b.upos", "m.upos"), ("h.upos", "b.upos")]
    morphology = [
        ("h.upos", "h.feats", "m.upos", "m.feats"),
        ("h.upos", "m.upos", "m.feats"),
        ("h.upos", "h.feats", "m.upos"),
        ("h.lemma", "m.upos", "m.feats"),
        ("h.upos", "h.feat", "m.upos", "m.feat"),
        ("h.upos", "h.feat", "m.upos"),
        ("h.upos", "m.upos", "m.feat"),
    ]
    words_near = [
        ("h.upos", "m-1.form", "m.upos"),
        ("h.upos", "m.upos", "m+1.form"),
        ("h-1.form", "h.upos", "m.upos"),
        ("h.upos", "h+1.form", "m.upos"),
        ("h.lemma", "m-1.upos", "m.upos"),
        ("h.lemma", "m.upos", "m+1.upos"),
        ("h.lemma", "h+1.upos", "m.upos"),
        ("h.lemma", "b.upos", "m.upos"),
        ("h.upos", "b.upos", "m.lemma"),
        ("h.upos", "b.lemma", "m.upos"),
    ]
    spelling = [("h.upos", "m.suffix:3"), ("h.suffix:3", "m.upos"), ("h.upos", "m.upos", "m.shape")]
    return _joined(
        _templates([*unigrams, *bigrams, *around], twice),
        _templates(between, ("dir", "dir+dist")),
        _templates(morphology, ("", "dir")),
        _templates(words_near, ("dir",)),
        _templates([*spelling, ("h.upos", "m-1.lemma", "m.upos")], ("dir+dist",)),
        _templates([()], ("bias", "dir+dist")),
    )


def relations() -> ArcTemplates:
    """Templates for labelling the relation between a word and its known head."""
    ends = [
        ("h.form",), ("h.upos",), ("m.form",), ("m.upos",), ("m.lower",), ("m.suffix:3",), ("h.lemma",), ("m.lemma",),
        ("m.upos", "m.feats"), ("h.upos", "h.feats"), ("m.upos", "m.feat"), ("h.upos", "m.feat"),
    ]  # fmt: skip
    both = [
        ("h.form", "m.form"), ("h.upos", "m.upos"), ("h.upos", "m.form"), ("h.form", "m.upos"), ("h.lemma", "m.lemma"),
        ("h.upos", "m.lemma"), ("h.lemma", "m.upos"), ("h.upos", "m.upos", "m.feats"), ("h.upos", "h.feats", "m.upos"),
        ("h.lemma", "m.upos", "m.feats"), ("h.xpos", "m.xpos"), ("h.upos", "m.suffix:3"),
    ]  # fmt: skip
    around = [
        ("m-1.upos", "m.upos"), ("m.upos", "m+1.upos"), ("m-1.upos", "m.upos", "m+1.upos"), ("m-1.form", "m.upos"),
        ("m.upos", "m+1.form"), ("h.upos", "m-1.upos", "m.upos"), ("h.upos", "m.upos", "m+1.upos"),
        ("h-1.upos", "h.upos", "m.upos"), ("h.upos", "h+1.upos", "m.upos"), ("h.upos", "b.upos", "m.upos"),
        ("h.form", "m-1.form"), ("h.upos", "m-1.form", "m.upos"),
    ]  # fmt: skip
    return _joined(
        _templates([*ends, *both, *around], ("dir",)),
        _templates([("h.upos", "m.upos"), ("m.form",), ("m.upos",)], ("dir+dist",)),
        _templates([()], ("bias", "dir+dist")),
    )


def first_pass() -> ArcTemplates:
    """Templates for the first pass of a parser, which scores all arcs: quick to look up."""
    ends = [
        ("h.upos",), ("m.upos",), ("h.form",), ("m.form",), ("h-1.upos", "h.upos", "h+1.upos"),
        ("m-1.upos", "m.upos", "m+1.upos"),
    ]  # fmt: skip
    both = [
        ("h.upos", "m.upos"), ("h-1.upos", "h.upos", "m.upos"), ("h.upos", "h+1.upos", "m.upos"),
        ("h.upos", "m-1.upos", "m.upos"), ("h.upos", "m.upos", "m+1.upos"),
    ]  # fmt: skip
    words = [("h.upos", "m.form"), ("h.form", "m.upos")]
    return _joined(
        _templates([*ends, *both], ("dir+dist",)),
        _templates(words, ("dir",)),
        _templates([()], ("bias", "dir+dist")),
    )


PRESETS: dict[str, Callable[[], ArcTemplates]] = {
    "mcdonald": mcdonald,
    "martins-parsing": martins_parsing,
    "relations": relations,
    "first-pass": first_pass,
}
