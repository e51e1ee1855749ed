"""Web pages: from HTML, broken or not, to trees of elements and texts with columns and labels."""

from parsimon.html.page import Page, read_page
from parsimon.html.page_columns import PAGE_TEMPLATES, TEXT_TEMPLATES, page_tree, text_sequence
from parsimon.html.page_files import read_pages, read_values
from parsimon.html.page_labels import INSIDE, OUTSIDE, label_page, record_of
from parsimon.html.record_scores import RecordScores, score_records

__all__ = [
    "INSIDE",
    "OUTSIDE",
    "PAGE_TEMPLATES",
    "TEXT_TEMPLATES",
    "Page",
    "RecordScores",
    "label_page",
    "page_tree",
    "read_page",
    "read_pages",
    "read_values",
    "record_of",
    "score_records",
    "text_sequence",
]
