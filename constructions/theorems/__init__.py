"""Constructions, one file for each theorem."""
