"""Estimators: the scikit-learn contract around the library's parts. No algorithms live here."""

from parsimon.estimators.sequence_labeler import SequenceLabeler

__all__ = ["SequenceLabeler"]
