"""Trees: a label for every node."""
