"""Networks: which columns of a table depend on each other."""
