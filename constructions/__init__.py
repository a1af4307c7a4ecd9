"""Automata and their algebra, exact numbers, and every construction of a linear RNN; loaded on first use."""

from ..foundation._extras import attach_names

__getattr__, __dir__ = attach_names(__name__, __file__)
