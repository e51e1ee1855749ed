"""The commands, one file each. What they do for a kind of model they ask its `Kind`."""
