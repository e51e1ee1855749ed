"""Text: documents into sentences, tokens and bags of words, and the groups of words that sentences make.

>>> from parsimon.text import BagOfWords, TextReader, unit_groups
>>> corpus = TextReader().read(["It rains. It pours.", "The sun shines!"])
>>> bag = BagOfWords().fit(corpus)
>>> bag.matrix(corpus).shape, unit_groups(corpus, bag, "sentence").n_groups
((2, 6), 3)
"""

from parsimon.text.bag_of_words import BagOfWords, FittedBag
from parsimon.text.corpus import Corpus
from parsimon.text.reader import TextReader
from parsimon.text.sentences import split_lines, split_sentences
from parsimon.text.units import unit_bounds, unit_groups

__all__ = [
    "BagOfWords",
    "Corpus",
    "FittedBag",
    "TextReader",
    "split_lines",
    "split_sentences",
    "unit_bounds",
    "unit_groups",
]
