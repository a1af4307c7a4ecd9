"""Automata: the type, its labels, and its conversions from and to other libraries."""
