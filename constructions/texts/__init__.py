"""Constructions as text: plain and as LaTeX."""
