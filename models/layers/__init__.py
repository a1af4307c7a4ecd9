"""Layers of every family on the kernels, and the baselines."""
