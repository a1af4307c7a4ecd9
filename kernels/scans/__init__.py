"""Scans of diagonal and of diagonal-plus-rank-one transitions: segments, plain torch, Triton kernels."""
