"""Recurrences that count only because numbers are rounded: witnesses, searches and rates."""
