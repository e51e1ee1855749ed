"""From documents to a `Corpus`: splitting into sentences and tokens, and numbering the words."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from parsimon.data.text.corpus import Corpus
from parsimon.data.text.sentences import Span, Splitter, named_splitter
from parsimon.data.text.tokens import tokeniser
from parsimon.errors import ParsimonError

__all__ = ["TextReader"]


@dataclass(frozen=True)
class TextReader:
    """How documents become a `Corpus`.

    A document is a text, a list of sentences, or a list of lists of tokens. `sentences` says how texts are split:
    by "rules", by "lines" (one sentence a line), by "sentencex" (if that is installed; "sentencex:de" for another
    language), or by a function that gives the offsets of sentences. `tokens` says what a token is: "words",
    "whitespace", a regular expression, or a function from a sentence to its tokens. Tokens are found first and then
    made lower case.

    >>> TextReader(tokens=r"\\w+|[!?]").read([["Go on!", "He won't."]]).words
    ('go', 'on', '!', 'he', 'won', 't')
    """

    sentences: str | Callable[[str], Iterable[Span]] = "rules"
    tokens: str | Callable[[str], Iterable[str]] = "words"
    lowercase: bool = True

    def __post_init__(self) -> None:
        self._splitter()
        tokeniser(self.tokens)

    def read(self, documents: Iterable[Any], words: Sequence[str] | None = None) -> Corpus:
        """The documents as a corpus. With `words`, these are the vocabulary, and other tokens are left out.

        Documents are read one at a time, so an iterator will do.

        >>> corpus = TextReader().read(["A dog ran."], words=["cat", "dog"])
        >>> corpus.tokens.tolist(), corpus.words
        ([1], ('cat', 'dog'))
        """
        if isinstance(documents, str | bytes):
            raise ParsimonError("documents is a single string; give a list of documents.")
        growing = _GrowingCorpus(self, words)
        for place, document in enumerate(documents):
            growing.add(document, place)
        return growing.corpus()

    def settings(self) -> dict[str, Any]:
        """The settings as a model file has them; functions cannot be saved.

        >>> TextReader(sentences="lines").settings()
        {'sentences': 'lines', 'tokens': 'words', 'lowercase': True}
        """
        for name in ("sentences", "tokens"):
            if callable(getattr(self, name)):
                raise ParsimonError(
                    f"a reader whose {name} are found by a function cannot be saved; name a built-in way, or split "
                    f"the documents into {name} beforehand."
                )
        return {"sentences": self.sentences, "tokens": self.tokens, "lowercase": self.lowercase}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> TextReader:
        """The reader with settings that `settings` gave.

        >>> TextReader.from_settings({"sentences": "lines", "tokens": "words", "lowercase": True})
        TextReader(sentences='lines', tokens='words', lowercase=True)
        """
        kinds = {"sentences": str, "tokens": str, "lowercase": bool}
        for name, kind in kinds.items():
            if not isinstance(settings.get(name), kind):
                raise ParsimonError(
                    f"the settings of the text reader have {settings.get(name)!r} for {name}, which should be a "
                    f"{kind.__name__}; save the model anew."
                )
        if unknown := sorted(set(settings) - set(kinds)):
            raise ParsimonError(
                f"the settings of the text reader have {', '.join(unknown)}, which this version does not know; "
                "use a newer Parsimon."
            )
        return cls(**settings)

    def _splitter(self) -> Splitter:
        return named_splitter(self.sentences) if isinstance(self.sentences, str) else self.sentences


class _Numbers(dict[str, int]):
    """Numbers of words by token as it is written: a token is made lower case only when it is first seen."""

    def __init__(self, words: Sequence[str] | None, lowercase: bool) -> None:
        super().__init__()
        self.words = {word: number for number, word in enumerate(words or ())}
        if len(self.words) < len(words or ()):
            twice = next(word for place, word in enumerate(words or ()) if self.words[word] != place)
            raise ParsimonError(f"words has {twice!r} twice; give every word once.")
        self.closed = words is not None
        self.lowercase = lowercase

    def __missing__(self, token: str) -> int:
        if not isinstance(token, str):
            raise TypeError
        word = token.lower() if self.lowercase else token
        number = self.words.get(word, -1) if self.closed else self.words.setdefault(word, len(self.words))
        self[token] = number
        return number


# A blank line, perhaps within a quotation.
_BLANK_LINE = re.compile(r"\n[>|\s]*\n")


class _GrowingCorpus:
    """A corpus while it is read. Millions of numbers are in compact arrays, never in lists."""

    def __init__(self, reader: TextReader, words: Sequence[str] | None) -> None:
        self.split = reader._splitter()
        self.tokenise = tokeniser(reader.tokens)
        self.numbers = _Numbers(words, reader.lowercase)
        self.tokens = array("i")
        self.sentences, self.paragraphs, self.documents = array("q", [0]), array("q", [0]), array("q", [0])
        self.texts: list[str] = []
        self.spans = array("q")
        self.of_tokens: bool | None = None  # whether documents are lists of tokens, once that is known

    def add(self, document: Any, place: int) -> None:
        """Read a document."""
        if isinstance(document, str):
            self._expect(False, place)
            self._add_text(document, self._checked_spans(document, place), place)
        elif not isinstance(document, Iterable) or isinstance(document, bytes | Mapping):
            raise ParsimonError(
                f"document {place} is a {type(document).__name__}; it should be a text, a list of sentences, or a "
                "list of lists of tokens."
            )
        else:
            sentences = list(document)
            kinds = {isinstance(sentence, str) for sentence in sentences}
            if len(kinds) == 2:
                raise ParsimonError(
                    f"document {place} has both strings and lists as sentences; give all of them in one form."
                )
            if kinds:
                self._expect(False in kinds, place)
            if self.of_tokens:
                self._add_tokens(sentences, place)
            else:
                self._add_sentences(sentences, place)
        self.documents.append(len(self.sentences) - 1)

    def _expect(self, of_tokens: bool, place: int) -> None:
        """Make sure that all documents are texts or all are tokens."""
        if self.of_tokens is None:
            if of_tokens:  # those so far were empty lists
                self.texts.clear()
            self.of_tokens = of_tokens
        elif self.of_tokens != of_tokens:
            kind, others = ("tokens", "text") if of_tokens else ("text", "tokens")
            raise ParsimonError(
                f"document {place} is made of {kind}, but those before it of {others}; give all of them in one form."
            )

    def _checked_spans(self, text: str, place: int) -> list[Span]:
        spans, at = list(self.split(text)), 0
        for begin, end in spans:
            if not at <= begin <= end <= len(text):
                raise ParsimonError(
                    f"document {place} was split into sentences such as {begin} to {end}; they must be in order, "
                    f"must not overlap, and must lie within its {len(text)} characters."
                )
            at = end
        return spans

    def _add_text(self, text: str, spans: list[Span], place: int) -> None:
        tokenise, blank, last = self.tokenise, _BLANK_LINE.search, 0
        for number, (begin, end) in enumerate(spans):
            if number and begin - last > 1 and blank(text, last, begin):
                self.paragraphs.append(len(self.sentences) - 1)
            self._add_sentence(tokenise(text, begin, end), place)
            last = end
        if spans:
            self.paragraphs.append(len(self.sentences) - 1)
        self.spans.extend(chain.from_iterable(spans))
        self.texts.append(text)

    def _add_sentences(self, sentences: list[str], place: int) -> None:
        """Sentences that were given as such are one paragraph; line by line they make the text."""
        begin = 0
        for sentence in sentences:
            self._add_sentence(self.tokenise(sentence, 0, len(sentence)), place)
            self.spans.extend((begin, begin + len(sentence)))
            begin += len(sentence) + 1
        if sentences:
            self.paragraphs.append(len(self.sentences) - 1)
        self.texts.append("\n".join(sentences))

    def _add_tokens(self, sentences: list[Iterable[str]], place: int) -> None:
        for sentence in sentences:
            self._add_sentence(sentence, place)
        if sentences:
            self.paragraphs.append(len(self.sentences) - 1)

    def _add_sentence(self, tokens: Iterable[str], place: int) -> None:
        try:
            numbers = map(self.numbers.__getitem__, tokens)
            self.tokens.fromlist([n for n in numbers if n >= 0] if self.numbers.closed else list(numbers))
        except TypeError as error:
            raise ParsimonError(
                f"document {place}, sentence {len(self.sentences) - 1 - self.documents[-1]} has a token that is not "
                "a string; a document should be a text, a list of sentences, or a list of lists of strings."
            ) from error
        self.sentences.append(len(self.tokens))

    def corpus(self) -> Corpus:
        """What was read."""
        sentences, paragraphs, documents = (
            np.frombuffer(bounds, np.int64) for bounds in (self.sentences, self.paragraphs, self.documents)
        )
        tokens = np.frombuffer(self.tokens, np.int32) if self.tokens else np.zeros(0, np.int32)
        words = tuple(self.numbers.words)
        if self.of_tokens:
            return Corpus(words, tokens, sentences, paragraphs, documents)
        spans = np.array(self.spans, np.int64).reshape(-1, 2)
        return Corpus(words, tokens, sentences, paragraphs, documents, self.texts, spans)
