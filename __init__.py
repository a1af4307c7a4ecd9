"""mirrormata: automata in, mirrors out.

The names below are loaded on first use, so that `import mirrormata` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .constructions.automaton import Automaton as Automaton
    from .constructions.certificate import write_certificate as write_certificate
    from .constructions.construct import construct as construct
    from .constructions.errors import InputError as InputError
    from .constructions.errors import LimitError as LimitError
    from .constructions.errors import MirrormataError as MirrormataError
    from .constructions.errors import NotRealisableError as NotRealisableError
    from .constructions.inspection import inspect_automaton as inspect_automaton
    from .constructions.lrnn import LRNN as LRNN
    from .constructions.spec import automaton_from_spec as automaton_from_spec
    from .models.comparison.compare import compare as compare
    from .models.training.train import train as train
    from .theory.check import check as check
    from .theory.horizon import full_certificate as full_certificate
    from .theory.planning.plan import plan as plan
    from .theory.proofs.prove import prove as prove
    from .theory.running.run import run as run
    from .theory.running.words import random_words as random_words

_HOME = {
    "Automaton": ".constructions.automaton",
    "InputError": ".constructions.errors",
    "LRNN": ".constructions.lrnn",
    "LimitError": ".constructions.errors",
    "MirrormataError": ".constructions.errors",
    "NotRealisableError": ".constructions.errors",
    "automaton_from_spec": ".constructions.spec",
    "check": ".theory.check",
    "compare": ".models.comparison.compare",
    "construct": ".constructions.construct",
    "full_certificate": ".theory.horizon",
    "inspect_automaton": ".constructions.inspection",
    "plan": ".theory.planning.plan",
    "prove": ".theory.proofs.prove",
    "random_words": ".theory.running.words",
    "run": ".theory.running.run",
    "train": ".models.training.train",
    "write_certificate": ".constructions.certificate",
}

__all__ = [*_HOME, "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
