"""Reports for people and programs: progress while training, tables of results, logs."""
