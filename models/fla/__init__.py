"""Checkpoints of flash-linear-attention: written, read and run."""
