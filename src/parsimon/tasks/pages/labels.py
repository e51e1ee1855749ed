"""Labels of a page's nodes from the values of its record, and the record from labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parsimon.tasks.pages.page import TEXT, Page, clean

NONE = "none"  # a text that is no value
INSIDE, OUTSIDE = "record", "rest"  # elements that hold a value among what they hold together, and others


def label_page(page: Page, values: Mapping[str, Sequence[str]]) -> list[str]:
    """The attribute of every text that is one of its values, and for elements whether such a text is their child.

    Elements further up are `OUTSIDE`: if they were not, a value could only be found where everything around it, up to
    the top of the page, is known to be part of a record. A text that is a value of several attributes has the first.

    >>> from parsimon.tasks.pages.labels import label_page
    >>> from parsimon.tasks.pages.page import read_page
    >>> page = read_page("<body><p>Ads</p><p>Height: <b>6-5</b></p>")
    >>> label_page(page, {"height": ["6-5"]})
    ['rest', 'none', 'record', 'none', 'height']
    """
    attribute: dict[str, str] = {}
    for name, texts in values.items():
        for text in texts:
            attribute.setdefault(clean(text), name)
    nodes = zip(page.tags, page.texts, strict=True)
    labels = [attribute.get(text, NONE) if tag == TEXT else OUTSIDE for tag, text in nodes]
    for t, parent in enumerate(page.parents):
        if parent >= 0 and page.tags[t] == TEXT and labels[t] != NONE:
            labels[parent] = INSIDE
    return labels


def record_of(page: Page, labels: Sequence[str]) -> dict[str, list[str]]:
    """The texts that have an attribute for a label, each once, in reading order.

    >>> from parsimon.tasks.pages.page import read_page
    >>> from parsimon.tasks.pages.labels import record_of
    >>> record_of(read_page("<p>Height: <b>6-5</b>"), ["record", "none", "height"])
    {'height': ['6-5']}
    """
    record: dict[str, list[str]] = {}
    for text, tag, label in zip(page.texts, page.tags, labels, strict=True):
        if tag == TEXT and label != NONE and text not in record.setdefault(label, []):
            record[label].append(text)
    return record
