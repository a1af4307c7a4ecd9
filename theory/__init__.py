"""Certificates, runs, arithmetics, proofs, impossibility, spectra, claims and pictures; loaded on first use, so without torch."""

from ..foundation._extras import attach_names

__getattr__, __dir__ = attach_names(__name__, __file__)
