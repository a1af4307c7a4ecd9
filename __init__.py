"""mirrormata: automata in, mirrors out.

The names below are loaded on first use, so that `import mirrormata` is fast.
"""

from .foundation._extras import attach_names

__version__ = "0.2.0"

__getattr__, __dir__ = attach_names(__name__, __file__)
