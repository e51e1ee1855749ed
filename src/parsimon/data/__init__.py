"""Data sets: a corpus of standard-library source code, and public data sets that are downloaded on first use.

>>> from parsimon.data import load_python_code
>>> train, test = load_python_code(4).split()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parsimon.data.documents import load_amazon, load_movie_reviews, load_news20, read_documents
    from parsimon.data.letter_to_sound import load_nettalk, phonemes
    from parsimon.data.ocr_letters import OCRWords, load_ocr_letters
    from parsimon.data.python_code import CodeCorpus, load_python_code
    from parsimon.data.python_labels import label_python
    from parsimon.data.registry import (
        REGISTRY,
        DataSet,
        archive,
        is_available,
        load_conll2000,
        load_conll2002,
        member,
    )
    from parsimon.data.splits import Fold, folds
    from parsimon.data.synthetic_networks import SyntheticNetwork, make_network
    from parsimon.data.synthetic_sequences import SyntheticSequences, make_sequences
    from parsimon.data.tagged_text import load_brown, load_treebank_pos
    from parsimon.data.treebank_files import TreebankFile, read_treebank
    from parsimon.data.treebank_sets import load_treebank
    from parsimon.data.treebanks import Treebank
    from parsimon.data.web_records import WebRecord, load_web_records

__all__ = [
    "REGISTRY",
    "CodeCorpus",
    "DataSet",
    "Fold",
    "OCRWords",
    "SyntheticNetwork",
    "SyntheticSequences",
    "Treebank",
    "TreebankFile",
    "WebRecord",
    "archive",
    "folds",
    "is_available",
    "label_python",
    "load_amazon",
    "load_brown",
    "load_conll2000",
    "load_conll2002",
    "load_movie_reviews",
    "load_nettalk",
    "load_news20",
    "load_ocr_letters",
    "load_python_code",
    "load_treebank",
    "load_treebank_pos",
    "load_web_records",
    "make_network",
    "make_sequences",
    "member",
    "phonemes",
    "read_documents",
    "read_treebank",
]

_HOME = {
    "CodeCorpus": "python_code",
    "Fold": "splits",
    "SyntheticNetwork": "synthetic_networks",
    "SyntheticSequences": "synthetic_sequences",
    "OCRWords": "ocr_letters",
    "Treebank": "treebanks",
    "TreebankFile": "treebank_files",
    "WebRecord": "web_records",
    "folds": "splits",
    "label_python": "python_labels",
    "load_amazon": "documents",
    "load_brown": "tagged_text",
    "load_movie_reviews": "documents",
    "load_nettalk": "letter_to_sound",
    "load_news20": "documents",
    "load_ocr_letters": "ocr_letters",
    "load_python_code": "python_code",
    "load_treebank": "treebank_sets",
    "load_treebank_pos": "tagged_text",
    "load_web_records": "web_records",
    "make_network": "synthetic_networks",
    "make_sequences": "synthetic_sequences",
    "phonemes": "letter_to_sound",
    "read_documents": "documents",
    "read_treebank": "treebank_files",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME.get(name, 'registry')}"), name)


def __dir__() -> list[str]:
    return __all__
