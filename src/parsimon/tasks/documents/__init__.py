"""Documents: a label for every text."""
