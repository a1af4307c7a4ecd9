"""The named automata."""
