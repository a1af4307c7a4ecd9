"""Eigenvalues and norms of exact matrices, decided without floats."""
