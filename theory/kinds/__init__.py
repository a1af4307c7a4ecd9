"""Kinds of realisations: how each is stepped, run, certified in floats, drawn and proved; one file a kind."""
