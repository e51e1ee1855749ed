"""A page as a tree: the texts as leaves in reading order, and the elements that hold several of them together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parsimon.characters.encodings import check_bom, encoding_name
from parsimon.errors import ParsimonError

TEXT = "#text"  # the tag of leaves
REMEMBERED = 6  # elements around a node
_NOT_SHOWN = frozenset({"script", "style", "noscript", "template"})
_SPACE = re.compile(r"[\s\u00a0\u200b]+")


@dataclass(frozen=True)
class Page:
    """Nodes in reading order, each with its parent's number (−1 for roots).

    >>> from parsimon.tasks.pages.page import read_page
    >>> page = read_page("<div class=card><h2>Jo</h2><p>Height <b>6-5</b></p></div>")
    >>> page.tags, page.parents
    (('div', '#text', 'p', '#text', '#text'), (-1, 0, 0, 2, 2))
    >>> page.texts[-1], page.paths[-1]
    ('6-5', ('html', 'body', 'div', 'p', 'b'))
    """

    tags: tuple[str, ...]
    parents: tuple[int, ...]
    texts: tuple[str, ...]  # of leaves, white space made single blanks; "" for elements
    paths: tuple[
        tuple[str, ...], ...
    ]  # tags of the nearest elements around a node, itself included; nearest last
    classes: tuple[tuple[str, ...], ...]  # id and class of these

    def __len__(self) -> int:
        return len(self.tags)

    @property
    def leaves(self) -> tuple[int, ...]:
        """The numbers of texts."""
        return tuple(t for t, tag in enumerate(self.tags) if tag == TEXT)


def read_page(html: str | bytes, *, encoding: str | None = None, compact: bool = True) -> Page:
    """Reads HTML as browsers do: whatever is wrong with it, there is a tree.

    Without `encoding`, bytes are UTF-8 if they can be, else what the page says. Scripts, styles, comments and elements
    without any text are left out; if `compact`, so are elements with a single child, which say nothing about what
    belongs together: the child takes their place, and `paths` and `classes` still tell of them.
    """
    page = _collected(_as_text(html, encoding))
    return _without(page, _single(page)) if compact else page


def clean(text: str | None) -> str:
    """White space as single blanks, none at the ends."""
    return _SPACE.sub(" ", text).strip() if text else ""


def _as_text(html: str | bytes, encoding: str | None) -> str | bytes:
    """Text where the encoding is known; bytes where the parser is to look for what the page says."""
    if isinstance(html, str):
        return html
    known = None if encoding is None else encoding_name(encoding)
    if known is not None:
        check_bom(html, known, "the page")
    try:
        return html.decode(known or "utf-8", "strict" if known is None else "replace")
    except UnicodeError:
        return html


def _collected(html: str | bytes) -> Page:
    try:
        from lxml import etree
    except ImportError:
        raise ParsimonError(
            "reading HTML needs lxml; install it with: pip install 'parsimon[html]'."
        ) from None
    known = isinstance(html, str)
    data = html.encode("utf-8", "replace") if isinstance(html, str) else html
    if not data.strip():
        return Page((), (), (), (), ())
    nodes = _Nodes()
    parser = etree.HTMLParser(target=nodes, encoding="utf-8" if known else None, recover=True, huge_tree=True)
    try:
        parser.feed(data.replace(b"\0", b" "))
        return parser.close()  # type: ignore[no-any-return]
    except UnicodeDecodeError:  # before 2.14, libxml2 may take bytes of no known encoding for UTF-8
        if known:
            raise
        return _collected(data.decode("latin-1"))


class _Nodes:
    """Takes what a parser meets, one thing after the other; so it does not matter how deep a page is."""

    def __init__(self) -> None:
        self._tags: list[str] = []
        self._parents: list[int] = []
        self._texts: list[str] = []
        self._classes: list[str] = []
        self._open: list[int] = []  # elements that are not closed yet
        self._hidden = 0
        self._shown: list[str] = []  # pieces of the text that is being read

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        self._end_text()
        self._hidden += tag in _NOT_SHOWN
        self._open.append(
            self._add(tag, "", clean(f"{attributes.get('id', '')} {attributes.get('class', '')}"))
        )

    def end(self, tag: str) -> None:
        """The element that began last and is still open ends."""
        self._end_text()
        self._hidden -= tag in _NOT_SHOWN
        self._open.pop()

    def data(self, text: str) -> None:
        """A piece of text."""
        if not self._hidden:
            self._shown.append(text)

    def comment(self, text: str) -> None:
        """What is on either side of a comment are two texts."""
        self._end_text()

    def pi(self, target: str, data: str | None = None) -> None:
        """Likewise."""
        self._end_text()

    def close(self) -> Page:
        """The end of the page."""
        self._end_text()
        return _without(self._everything(), _empty(self._parents, self._texts))

    def _everything(self) -> Page:
        """Every node, with what is around it."""
        paths: list[tuple[str, ...]] = []
        classes: list[tuple[str, ...]] = []
        for tag, parent, own in zip(
            self._tags, self._parents, self._classes, strict=True
        ):  # parents come first
            above = (paths[parent], classes[parent]) if parent >= 0 else ((), ())
            paths.append(above[0] if tag == TEXT else (*above[0], tag)[-REMEMBERED:])
            classes.append(above[1] if tag == TEXT else (*above[1], own)[-REMEMBERED:])
        return Page(tuple(self._tags), tuple(self._parents), tuple(self._texts), tuple(paths), tuple(classes))

    def _end_text(self) -> None:
        text = clean("".join(self._shown))
        self._shown.clear()
        if text:
            self._add(TEXT, text, "")

    def _add(self, tag: str, text: str, classes: str) -> int:
        self._tags.append(tag)
        self._parents.append(self._open[-1] if self._open else -1)
        self._texts.append(text)
        self._classes.append(classes)
        return len(self._tags) - 1


def _empty(parents: Sequence[int], texts: Sequence[str]) -> list[bool]:
    """Which nodes have no text inside."""
    empty = [not text for text in texts]
    for t in range(len(parents) - 1, -1, -1):  # children come after their parents
        if not empty[t] and parents[t] >= 0:
            empty[parents[t]] = False
    return empty


def _single(page: Page) -> list[bool]:
    """Which elements have a single child."""
    children = [0] * len(page)
    for parent in page.parents:
        if parent >= 0:
            children[parent] += 1
    return [n == 1 for n in children]


def _without(page: Page, dropped: Sequence[bool]) -> Page:
    """Some nodes left out; what hangs on them hangs on the next above instead."""
    number: list[int] = []  # of each node, or of the one above it that is kept
    kept = [t for t, drop in enumerate(dropped) if not drop]
    new = 0
    for parent, drop in zip(page.parents, dropped, strict=True):
        if drop:
            number.append(number[parent] if parent >= 0 else -1)
        else:
            number.append(new)
            new += 1
    parents = (page.parents[t] for t in kept)
    return Page(
        tuple(page.tags[t] for t in kept),
        tuple(number[parent] if parent >= 0 else -1 for parent in parents),
        tuple(page.texts[t] for t in kept),
        tuple(page.paths[t] for t in kept),
        tuple(page.classes[t] for t in kept),
    )
