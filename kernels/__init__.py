"""Triton kernels and their plain references."""
