"""Sequences: a label for every token."""
