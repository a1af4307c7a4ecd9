"""Arithmetic models: which numbers a run may hold, and rounding once to them."""
