"""The operators' fast paths and their readable references; loaded on first use, so that importing this is fast."""

from ..foundation._extras import attach_names

__getattr__, __dir__ = attach_names(__name__, __file__)
