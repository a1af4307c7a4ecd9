"""How realisations of each kind become a model: one file a kind, found by `models/_kinds.py`."""
