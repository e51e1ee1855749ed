"""Web pages: the records on them."""
