"""Turning documents into a `Corpus`: splitting them into sentences and tokens, and numbering the words."""

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
    """Turns documents into a `Corpus`.

    A document is a text, a list of sentences, or a list of lists of tokens. `sentences` is the way to split a text
    into sentences: "rules", "lines" (one sentence per line), "sentencex" (if it is installed; "sentencex:de" for
    another language), or a function that returns the offsets of sentences. `tokens` is the way to find tokens:
    "words", "whitespace", a regular expression, or a function from a sentence to its tokens. `lowercase` applies after
    tokenisation.

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
        """Read documents into a corpus. With `words` as a fixed vocabulary, other tokens are left out.

        Documents are read one at a time, so an iterator is fine.

        >>> corpus = TextReader().read(["A dog ran."], words=["cat", "dog"])
        >>> corpus.tokens.tolist(), corpus.words
        ([1], ('cat', 'dog'))
        """
        if isinstance(documents, str | bytes):
            raise ParsimonError("documents is a single string; give a list of documents.")
        builder = _CorpusBuilder(self, words)
        for i, document in enumerate(documents):
            builder.add(document, i)
        return builder.corpus()

    def settings(self) -> dict[str, Any]:
        """The settings to store in a model file; functions cannot be stored.

        >>> TextReader(sentences="lines").settings()
        {'sentences': 'lines', 'tokens': 'words', 'lowercase': True}
        """
        for name in ("sentences", "tokens"):
            if callable(getattr(self, name)):
                raise ParsimonError(
                    f"a reader that finds {name} with a function cannot be saved; name a built-in method, or split "
                    f"the documents into {name} beforehand."
                )
        return {"sentences": self.sentences, "tokens": self.tokens, "lowercase": self.lowercase}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> TextReader:
        """The reader with the settings that `settings` returned.

        >>> TextReader.from_settings({"sentences": "lines", "tokens": "words", "lowercase": True})
        TextReader(sentences='lines', tokens='words', lowercase=True)
        """
        kinds = {"sentences": str, "tokens": str, "lowercase": bool}
        for name, kind in kinds.items():
            if not isinstance(settings.get(name), kind):
                raise ParsimonError(
                    f"the settings of the text reader have {settings.get(name)!r} for {name}, which should be a "
                    f"{kind.__name__}; save the model again."
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
    """Word numbers by token as written: a token is lowercased only the first time it is seen."""

    def __init__(self, words: Sequence[str] | None, lowercase: bool) -> None:
        super().__init__()
        self.words = {word: number for number, word in enumerate(words or ())}
        if len(self.words) < len(words or ()):
            twice = next(word for i, word in enumerate(words or ()) if self.words[word] != i)
            raise ParsimonError(f"words has {twice!r} twice; give every word only once.")
        self.closed = words is not None
        self.lowercase = lowercase

    def __missing__(self, token: str) -> int:
        if not isinstance(token, str):
            raise TypeError
        word = token.lower() if self.lowercase else token
        number = self.words.get(word, -1) if self.closed else self.words.setdefault(word, len(self.words))
        self[token] = number
        return number


# A blank line, possibly inside a quotation.
_BLANK_LINE = re.compile(r"\n[>|\s]*\n")


class _CorpusBuilder:
    """A corpus under construction. Its numbers are in compact arrays, not lists, because there may be millions."""

    def __init__(self, reader: TextReader, words: Sequence[str] | None) -> None:
        self.split = reader._splitter()
        self.tokenise = tokeniser(reader.tokens)
        self.numbers = _Numbers(words, reader.lowercase)
        self.tokens = array("i")
        self.sentences, self.paragraphs, self.documents = array("q", [0]), array("q", [0]), array("q", [0])
        self.texts: list[str] = []
        self.spans = array("q")
        self.tokenised: bool | None = None  # whether documents are lists of tokens, once that is known

    def add(self, document: Any, index: int) -> None:
        """Read a document."""
        if isinstance(document, str):
            self._expect(False, index)
            self._add_text(document, self._checked_spans(document, index), index)
        elif not isinstance(document, Iterable) or isinstance(document, bytes | Mapping):
            raise ParsimonError(
                f"document {index} is a {type(document).__name__}; it should be a text, a list of sentences, or a "
                "list of lists of tokens."
            )
        else:
            sentences = list(document)
            kinds = {isinstance(sentence, str) for sentence in sentences}
            if len(kinds) == 2:
                raise ParsimonError(
                    f"document {index} has both strings and lists as sentences; give all sentences in the same form."
                )
            if kinds:
                self._expect(False in kinds, index)
            if self.tokenised:
                self._add_tokens(sentences, index)
            else:
                self._add_sentences(sentences, index)
        self.documents.append(len(self.sentences) - 1)

    def _expect(self, tokenised: bool, index: int) -> None:
        """Check that either all documents are texts or all are lists of tokens."""
        if self.tokenised is None:
            if tokenised:  # the documents so far were empty lists
                self.texts.clear()
            self.tokenised = tokenised
        elif self.tokenised != tokenised:
            kind, others = ("tokens", "text") if tokenised else ("text", "tokens")
            raise ParsimonError(
                f"document {index} consists of {kind}, but those before it of {others}; give all documents in the "
                "same form."
            )

    def _checked_spans(self, text: str, index: int) -> list[Span]:
        spans, at = list(self.split(text)), 0
        for begin, end in spans:
            if not at <= begin <= end <= len(text):
                raise ParsimonError(
                    f"document {index} was split into sentences such as {begin} to {end}; sentences must be in order, "
                    f"must not overlap, and must lie within the document's {len(text)} characters."
                )
            at = end
        return spans

    def _add_text(self, text: str, spans: list[Span], index: int) -> None:
        tokenise, blank, last = self.tokenise, _BLANK_LINE.search, 0
        for number, (begin, end) in enumerate(spans):
            if number and begin - last > 1 and blank(text, last, begin):
                self.paragraphs.append(len(self.sentences) - 1)
            self._add_sentence(tokenise(text, begin, end), index)
            last = end
        if spans:
            self.paragraphs.append(len(self.sentences) - 1)
        self.spans.extend(chain.from_iterable(spans))
        self.texts.append(text)

    def _add_sentences(self, sentences: list[str], index: int) -> None:
        """Add a list of sentences as a single paragraph, whose text has one sentence per line."""
        begin = 0
        for sentence in sentences:
            self._add_sentence(self.tokenise(sentence, 0, len(sentence)), index)
            self.spans.extend((begin, begin + len(sentence)))
            begin += len(sentence) + 1
        if sentences:
            self.paragraphs.append(len(self.sentences) - 1)
        self.texts.append("\n".join(sentences))

    def _add_tokens(self, sentences: list[Iterable[str]], index: int) -> None:
        for sentence in sentences:
            self._add_sentence(sentence, index)
        if sentences:
            self.paragraphs.append(len(self.sentences) - 1)

    def _add_sentence(self, tokens: Iterable[str], index: int) -> None:
        try:
            numbers = map(self.numbers.__getitem__, tokens)
            self.tokens.fromlist([n for n in numbers if n >= 0] if self.numbers.closed else list(numbers))
        except TypeError as error:
            raise ParsimonError(
                f"document {index}, sentence {len(self.sentences) - 1 - self.documents[-1]} has a token that is not "
                "a string; a document should be a text, a list of sentences, or a list of lists of strings."
            ) from error
        self.sentences.append(len(self.tokens))

    def corpus(self) -> Corpus:
        """The finished corpus."""
        sentences, paragraphs, documents = (
            np.frombuffer(bounds, np.int64) for bounds in (self.sentences, self.paragraphs, self.documents)
        )
        tokens = np.frombuffer(self.tokens, np.int32) if self.tokens else np.zeros(0, np.int32)
        words = tuple(self.numbers.words)
        if self.tokenised:
            return Corpus(words, tokens, sentences, paragraphs, documents)
        spans = np.array(self.spans, np.int64).reshape(-1, 2)
        return Corpus(words, tokens, sentences, paragraphs, documents, self.texts, spans)
