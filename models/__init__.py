"""Layers and models that can be trained, tasks, training, comparison, checkpoints and reports; loaded on first use."""

from ..foundation._extras import attach_names

__getattr__, __dir__ = attach_names(__name__, __file__)
