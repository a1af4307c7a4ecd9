"""mirrormata: automata in, mirrors out.

The names below are loaded on first use, so that `import mirrormata` is fast.
"""

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
