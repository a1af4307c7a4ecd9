"""mirrormata: automata in, mirrors out.

The names below are loaded on first use, so that `import mirrormata` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .constructions.automaton import Automaton as Automaton

_LAZY = {
    "Automaton": ".constructions.automaton",
}

__all__ = ["Automaton", "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name], __name__), name)
