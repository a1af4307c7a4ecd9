"""Certificates, runs, arithmetics, proofs, impossibility, spectra, claims and pictures; loaded on first use, so without torch."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
