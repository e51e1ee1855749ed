"""Pages, read back."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br"}


class Page(HTMLParser):
    """Elements with their attributes and texts; tags must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.texts: list[list[str]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))
            self.texts.append([])

    def handle_endtag(self, tag: str) -> None:
        name, attributes = self.open.pop()
        assert name == tag
        text = "".join(self.texts.pop())
        if self.texts:
            self.texts[-1].append(text)
        self.found.append((name, attributes, text))

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1].append(data)

    def of(self, name: str) -> list[tuple[dict[str, str | None], str]]:
        """Elements that have a class."""
        return [(a, text) for _, a, text in self.found if name in (a.get("class") or "").split()]
