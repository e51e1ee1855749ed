"""Features: from columns, dictionaries or matrices to numbered attributes."""

from parsimon.features.columns import Columns, Labels, read_columns, read_labelled
from parsimon.features.item_features import ItemFeatures, MatrixFeatures, SparseSequences
from parsimon.features.ngrams import bias, conjunction, label_bigram, ngrams
from parsimon.features.observations import Observations, Rows
from parsimon.features.presets import get_preset, preset_names
from parsimon.features.template_features import TemplateFeatures
from parsimon.features.templates import Template, TemplateSet, Test
from parsimon.features.transforms import Transform

__all__ = [
    "Columns",
    "ItemFeatures",
    "Labels",
    "MatrixFeatures",
    "Observations",
    "Rows",
    "SparseSequences",
    "Template",
    "TemplateFeatures",
    "TemplateSet",
    "Test",
    "Transform",
    "bias",
    "conjunction",
    "get_preset",
    "label_bigram",
    "ngrams",
    "preset_names",
    "read_columns",
    "read_labelled",
]
