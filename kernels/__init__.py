"""The operators' fast paths and their readable references; loaded on first use, so that importing this is fast."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
