"""Features: turning columns, dictionaries or matrices into numbered attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsimon.lazy import exports

if TYPE_CHECKING:
    from parsimon.features.bag_of_words import BagOfWords as BagOfWords
    from parsimon.features.bag_of_words import FittedBag as FittedBag
    from parsimon.features.columns import Columns as Columns
    from parsimon.features.columns import Labels as Labels
    from parsimon.features.columns import read_columns as read_columns
    from parsimon.features.columns import read_labelled as read_labelled
    from parsimon.features.item_features import ItemFeatures as ItemFeatures
    from parsimon.features.item_features import MatrixFeatures as MatrixFeatures
    from parsimon.features.item_features import SparseSequences as SparseSequences
    from parsimon.features.ngram_templates import bias as bias
    from parsimon.features.ngram_templates import conjunction as conjunction
    from parsimon.features.ngram_templates import label_bigram as label_bigram
    from parsimon.features.ngram_templates import ngrams as ngrams
    from parsimon.features.observations import Observations as Observations
    from parsimon.features.observations import Rows as Rows
    from parsimon.features.presets import get_preset as get_preset
    from parsimon.features.presets import preset_names as preset_names
    from parsimon.features.template_features import TemplateFeatures as TemplateFeatures
    from parsimon.features.template_order import TemplateOrder as TemplateOrder
    from parsimon.features.templates import Template as Template
    from parsimon.features.templates import TemplateSet as TemplateSet
    from parsimon.features.templates import Test as Test
    from parsimon.features.transforms import Transform as Transform

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "bag_of_words": ("BagOfWords", "FittedBag"),
        "columns": ("Columns", "Labels", "read_columns", "read_labelled"),
        "item_features": ("ItemFeatures", "MatrixFeatures", "SparseSequences"),
        "ngram_templates": ("bias", "conjunction", "label_bigram", "ngrams"),
        "observations": ("Observations", "Rows"),
        "presets": ("get_preset", "preset_names"),
        "template_features": ("TemplateFeatures",),
        "template_order": ("TemplateOrder",),
        "templates": ("Template", "TemplateSet", "Test"),
        "transforms": ("Transform",),
    },
)
