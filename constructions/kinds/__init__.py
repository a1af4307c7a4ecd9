"""Kinds of realisations: how each is written, read back and shown; one file a kind, found by its name."""
