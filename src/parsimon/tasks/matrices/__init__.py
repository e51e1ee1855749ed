"""Matrices: classes or numbers of rows, with groups of columns."""
