"""Public model families, one file for each kind of recurrence; each holds `FAMILIES`."""
