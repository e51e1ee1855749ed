"""Tasks: what each kind of model is, in one folder each. No algorithms live here."""
