"""Documents as features: words, and the sentences, paragraphs or windows that group them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from parsimon.data.text.corpus import Corpus
from parsimon.errors import ParsimonError
from parsimon.features.bag_of_words import FittedBag
from parsimon.penalties.groups import Groups
from parsimon.tasks.documents.units import Unit, unit_groups


@dataclass(frozen=True, eq=False)
class DocumentFeatures:
    """The training documents and which of their words are features: what groupings of words look at."""

    corpus: Corpus
    bag: FittedBag
    _made: dict[Any, Groups] = field(default_factory=dict, repr=False)  # groups that were asked for before

    @property
    def n_features(self) -> int:
        """How many words are features."""
        return len(self.bag.words)


@dataclass(frozen=True)
class ByUnit:
    """One group for every sentence, paragraph, document, or window of so many tokens, of the training documents.

    >>> from parsimon.tasks.documents.features import ByUnit, DocumentFeatures
    >>> from parsimon.features.bag_of_words import BagOfWords
    >>> from parsimon.data.text import TextReader
    >>> corpus = TextReader().read(["It works. It really works."])
    >>> groups = ByUnit("sentence").groups(DocumentFeatures(corpus, BagOfWords().fit(corpus)))
    >>> groups.n_groups, groups.sizes.tolist()
    (2, [2, 3])
    """

    unit: Unit = "sentence"
    window: int = 20
    weight: str = "ones"

    def groups(self, features: Any) -> Groups:
        """The groups."""
        if not isinstance(features, DocumentFeatures):
            raise ParsimonError(f"groups by {self.unit} need documents, not sequences or matrices.")
        if self not in features._made:
            made = unit_groups(features.corpus, features.bag, self.unit, self.window, self.weight)
            features._made[self] = made
        return features._made[self]
