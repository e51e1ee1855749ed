"""The kinds of models for the command line, one file each; a file's `KIND` is what the commands ask."""
