"""What is seen at the nodes of a page, as columns for templates."""

from __future__ import annotations

import re

from parsimon.features.templates import TemplateSet
from parsimon.html.page import TEXT, Page

LEAF, INNER = "leaf", "inner"
_LONGEST = 40  # characters of a text that is told apart from others

# kind, tag, path, class, text, first word, last word, length, depth, place among siblings, text before, text after
KIND, TAG, PATH, CLASS, WORDS, FIRST, LAST, LENGTH, DEPTH, PLACE, BEFORE, AFTER = range(12)

PAGE_TEMPLATES = TemplateSet.parse(
    f"""
U:bias
U:kind=%x[0,{KIND}]
U:tag=%x[0,{TAG}]
U:path=%x[0,{PATH}]
U:class=%x[0,{CLASS}]
U:class-above=%x[parent,{CLASS}]
U:class-two-above=%x[parent.parent,{CLASS}]
U:path-class=%x[0,{PATH}]/%x[parent,{CLASS}]
U:text=%x[0,{WORDS}]
U:shape=%f[0,{WORDS},"shape"]
U:class-of-characters=%f[0,{WORDS},"charclass"]
U:first=%x[0,{FIRST}]
U:last=%x[0,{LAST}]
U:length=%x[0,{LENGTH}]
U:depth=%x[0,{DEPTH}]
U:place=%x[0,{PLACE}]
U:place-path=%x[0,{PLACE}]/%x[0,{PATH}]
U:before=%x[0,{BEFORE}]
U:after=%x[0,{AFTER}]
U:before-shape=%x[0,{BEFORE}]/%f[0,{WORDS},"shape"]
U:previous-sibling=%x[previous_sibling,{TAG}]/%x[previous_sibling,{CLASS}]
U:next-sibling=%x[next_sibling,{TAG}]/%x[next_sibling,{CLASS}]
U:first-child=%x[first_child,{TAG}]/%x[first_child,{CLASS}]
U:first-child-text=%x[first_child,{WORDS}]
B:bias
B:tag=%x[0,{TAG}]
"""
)


def page_tree(page: Page) -> tuple[list[tuple[str, ...]], list[int]]:
    """The nodes of a page with their columns, and parents, as `TreeLabeler` takes them.

    >>> from parsimon.html import page_tree, read_page
    >>> nodes, parents = page_tree(read_page("<p class=b12>Height: <b>6-5</b></p>"))
    >>> nodes[-1]
    ('leaf', 'b', 'body/p/b', '', '6-5', '6-5', '6-5', '1', '4', '0', 'height:', '')
    """
    depth, path, place, children = _places(page)
    before, after = _neighbours(page)
    nodes: list[tuple[str, ...]] = []
    for t, tag in enumerate(page.tags):
        leaf = tag == TEXT
        text = page.texts[t].lower()
        words = text.split(" ")
        nodes.append(
            (
                LEAF if leaf else INNER,
                page.tags[page.parents[t]] if leaf and page.parents[t] >= 0 else tag,
                path[t],
                _undigited(page.classes[t]),
                text[:_LONGEST],
                words[0][:_LONGEST],
                words[-1][:_LONGEST],
                _rough(len(words) if leaf else children[t]),
                _rough(depth[t]),
                _rough(place[t]),
                before[t],
                after[t],
            )
        )
    return nodes, list(page.parents)


def text_sequence(page: Page) -> list[tuple[str, ...]]:
    """The texts of a page in reading order, for a labeller of sequences; with what the element around each is.

    Its columns are those of a tree with the class of the element around a text in place of its own, which has none.
    """
    nodes, parents = page_tree(page)
    out = []
    for t in page.leaves:
        around = nodes[parents[t]][CLASS] if parents[t] >= 0 else ""
        out.append((*nodes[t][:CLASS], around, *nodes[t][CLASS + 1 :]))
    return out


def _places(page: Page) -> tuple[list[int], list[str], list[int], list[int]]:
    """Depth, the tags of the three nearest elements, the place among siblings, and the number of children."""
    depth: list[int] = []
    path: list[str] = []
    place: list[int] = []
    children = [0] * len(page)
    for t, parent in enumerate(page.parents):  # parents come first
        tags = path[parent].split("/") if parent >= 0 else []
        path.append("/".join(tags if page.tags[t] == TEXT else [*tags, page.tags[t]][-3:]))
        depth.append(depth[parent] + 1 if parent >= 0 else 0)
        place.append(children[parent] if parent >= 0 else 0)
        if parent >= 0:
            children[parent] += 1
    return depth, path, place, children


def _neighbours(page: Page) -> tuple[list[str], list[str]]:
    """The texts before and after each text in reading order; for elements, those at their beginning."""
    before, after = [""] * len(page), [""] * len(page)
    last = ""
    for t, text in enumerate(page.texts):
        before[t] = last
        last = text.lower()[-_LONGEST:] if text else last
    last = ""
    for t in range(len(page) - 1, -1, -1):
        after[t] = last
        last = page.texts[t].lower()[:_LONGEST] if page.texts[t] else last
    return before, after


def _undigited(text: str) -> str:
    """Numbers in names of classes tell pages apart, not places in them."""
    return re.sub(r"\d+", "0", text.lower()).replace(" ", ".")


def _rough(n: int) -> str:
    """Small numbers as they are, larger ones by powers of two."""
    return str(n) if n < 5 else f"{1 << (n.bit_length() - 1)}+"
