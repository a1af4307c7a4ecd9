"""Certificates as data: what is written, and how it is read back."""
