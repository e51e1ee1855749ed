"""Reports for users and programs: progress during training, tables of results, pages, drawings and logs."""
