"""Parsimon."""
