"""Torch layers, tasks, training and comparison."""
