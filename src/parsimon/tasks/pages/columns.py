"""What is seen at the nodes of a page, as columns for templates."""

from __future__ import annotations

import re
from collections import Counter

from parsimon.features.templates import TemplateSet
from parsimon.tasks.pages.page import TEXT, Page

LEAF, INNER = "leaf", "inner"
_LONGEST = 40  # characters of a text; longer ones with the same start are treated as equal

COLUMNS = (
    "kind",  # leaf or inner
    "tag",  # of the nearest element
    "path",  # tags of the three nearest elements
    "class",  # of the nearest element, without numbers
    "above",  # of the next one
    "two_above",
    "text",  # of elements: the first one inside
    "first",  # word
    "last",  # word
    "length",  # words; of elements: children
    "depth",
    "place",  # among siblings
    "before",  # the text before in reading order
    "two_before",
    "after",
    "title",  # how many of the text's words the title of the page has
    "times",  # how often the page has this text
)
(
    KIND,
    TAG,
    PATH,
    CLASS,
    ABOVE,
    TWO_ABOVE,
    WORDS,
    FIRST,
    LAST,
    LENGTH,
    DEPTH,
    PLACE,
    BEFORE,
    TWO_BEFORE,
    AFTER,
    TITLE,
    TIMES,
) = range(len(COLUMNS))

_OF_ONE = f"""
U:bias
U:tag=%x[0,{TAG}]
U:path=%x[0,{PATH}]
U:class=%x[0,{CLASS}]
U:class-above=%x[0,{ABOVE}]
U:class-two-above=%x[0,{TWO_ABOVE}]
U:path-classes=%x[0,{PATH}]/%x[0,{CLASS}]/%x[0,{ABOVE}]
U:text=%x[0,{WORDS}]
U:shape=%f[0,{WORDS},"shape"]
U:class-of-characters=%f[0,{WORDS},"charclass"]
U:first=%x[0,{FIRST}]
U:last=%x[0,{LAST}]
U:length=%x[0,{LENGTH}]
U:depth=%x[0,{DEPTH}]
U:place=%x[0,{PLACE}]
U:place-path=%x[0,{PLACE}]/%x[0,{PATH}]/%x[0,{CLASS}]/%x[0,{ABOVE}]
U:before=%x[0,{BEFORE}]
U:two-before=%x[0,{TWO_BEFORE}]
U:after=%x[0,{AFTER}]
U:before-shape=%x[0,{BEFORE}]/%f[0,{WORDS},"shape"]
U:title=%x[0,{TITLE}]
U:title-length=%x[0,{TITLE}]/%x[0,{LENGTH}]/%x[0,{TAG}]
U:times=%x[0,{TIMES}]
"""
_OF_TREES = f"""
U:previous-sibling=%x[previous_sibling,{TAG}]/%x[previous_sibling,{CLASS}]
U:previous-sibling-text=%x[previous_sibling,{WORDS}]
U:next-sibling=%x[next_sibling,{TAG}]/%x[next_sibling,{CLASS}]
U:first-child=%x[first_child,{TAG}]/%x[first_child,{CLASS}]
U:uncle-text=%x[parent.previous_sibling,{WORDS}]
U:parent-text=%x[parent,{WORDS}]/%x[0,{PLACE}]
"""
TEXT_TEMPLATES = TemplateSet.parse(f"{_OF_ONE}B:bias\n")
"""For texts in reading order, as `text_sequence` gives them."""
PAGE_TEMPLATES = TemplateSet.parse(f"{_OF_ONE}{_OF_TREES}B:bias\n")
"""For trees, as `page_tree` gives them."""


def page_tree(page: Page) -> tuple[list[tuple[str, ...]], list[int]]:
    """The nodes of a page with their columns (`COLUMNS`), and parents, as `TreeLabeler` takes them.

    >>> from parsimon.tasks.pages.columns import page_tree
    >>> from parsimon.tasks.pages.page import read_page
    >>> nodes, parents = page_tree(read_page("<p class=b12>Height: <b>6-5</b></p>"))
    >>> nodes[-1][:8], parents
    (('leaf', 'b', 'body/p/b', '', 'b0', '', '6-5', '6-5'), [-1, 0, 0])
    """
    depth, place, children = _places(page)
    before, two_before, after = _neighbours(page)
    inside = _first_texts(page)
    title = _title(page)
    times = Counter(page.texts)
    nodes: list[tuple[str, ...]] = []
    for t, tag in enumerate(page.tags):
        leaf = tag == TEXT
        text = inside[t].lower()
        words = text.split(" ")
        path, classes = page.paths[t], ("", "", "", *page.classes[t])
        nodes.append(
            (
                LEAF if leaf else INNER,
                path[-1] if path else "",
                "/".join(path[-3:]),
                _undigited(classes[-1]),
                _undigited(classes[-2]),
                _undigited(classes[-3]),
                text[:_LONGEST],
                words[0][:_LONGEST],
                words[-1][:_LONGEST],
                _rough(len(words) if leaf else children[t]),
                _rough(depth[t]),
                _rough(place[t]),
                before[t],
                two_before[t],
                after[t],
                _share(words, title) if leaf else "",
                _rough(times[page.texts[t]]) if leaf else "",
            )
        )
    return nodes, list(page.parents)


def text_sequence(page: Page) -> list[tuple[str, ...]]:
    """The texts of a page in reading order with the columns they have in a tree, for a labeller of sequences."""
    nodes, _ = page_tree(page)
    return [nodes[t] for t in page.leaves]


def _places(page: Page) -> tuple[list[int], list[int], list[int]]:
    """Depth, the place among siblings, and the number of children."""
    depth: list[int] = []
    place: list[int] = []
    children = [0] * len(page)
    for parent in page.parents:  # parents come first
        depth.append(depth[parent] + 1 if parent >= 0 else 0)
        place.append(children[parent] if parent >= 0 else 0)
        if parent >= 0:
            children[parent] += 1
    return depth, place, children


def _neighbours(page: Page) -> tuple[list[str], list[str], list[str]]:
    """The text before each node in reading order, the one before that, and the text after its beginning."""
    before, two_before, after = ([""] * len(page) for _ in range(3))
    last = second = ""
    for t, text in enumerate(page.texts):
        before[t], two_before[t] = last, second
        if text:
            last, second = text.lower()[-_LONGEST:], last
    last = ""
    for t in range(len(page) - 1, -1, -1):
        after[t] = last
        last = page.texts[t].lower()[:_LONGEST] if page.texts[t] else last
    return before, two_before, after


def _first_texts(page: Page) -> list[str]:
    """A leaf's text; of an element the first one inside."""
    first = list(page.texts)
    for t in range(len(page) - 1, 0, -1):  # of several children the first is the last to be seen
        if page.parents[t] >= 0:
            first[page.parents[t]] = first[t]
    return first


def _title(page: Page) -> frozenset[str]:
    """The words of the page's title."""
    texts = (
        text for text, path in zip(page.texts, page.paths, strict=True) if text and path[-1:] == ("title",)
    )
    return frozenset(re.findall(r"\w+", next(texts, "").lower()))


def _share(words: list[str], title: frozenset[str]) -> str:
    """Whether a title has all words, some or none; those of one letter are not looked at."""
    known = [word for word in re.findall(r"\w+", " ".join(words[:20])) if len(word) > 1]
    hits = sum(word in title for word in known)
    return "none" if not hits else "all" if hits == len(known) else "some"


def _undigited(text: str) -> str:
    """Numbers in names of classes tell pages apart, not places in them."""
    return re.sub(r"\d+", "0", text.lower()).replace(" ", ".")


def _rough(n: int) -> str:
    """Small numbers as they are, larger ones by powers of two."""
    return str(n) if n < 5 else f"{1 << (n.bit_length() - 1)}+"
