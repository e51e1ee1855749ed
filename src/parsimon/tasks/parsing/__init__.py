"""Parsing: dependency trees of sentences."""
