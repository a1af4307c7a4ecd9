"""`ChainRNN` to a certificate of kind `chain` and back; what each entry means: `theory/checker/chain.py`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from .._document import FORMAT
from ..chains._chain import ChainRNN
from ._parts import machine_json, name_document_in_errors, read_machine


def chain_certificate(form: ChainRNN, max_group: int = 5_000) -> dict[str, Any]:
    """The certificate of kind `chain`, as a JSON object: the automaton, the sizes and the window, and no table.

    `max_group` is of other kinds. Raises `InputError` where two labels have the same text.
    """
    return {
        "format": FORMAT,
        "kind": "chain",
        **machine_json(form.automaton, form.construction, form.theorem),
        "window": form.window,
        "sizes": list(form.sizes),
        "padding": "least",
        "look_back": form.look_back,
        "gates": form.gated,
        "summary": form.summary(),
    }


def chain_from_certificate(document: Mapping[str, Any], name: str = "certificate") -> ChainRNN:
    """The chain that a certificate describes; labels become strings.

    Raises `InputError` for a document of the wrong form. It is not checked: the checker gives the proof.
    """
    with name_document_in_errors(name):
        automaton = read_machine(document)
        sizes = tuple(int(size) for size in document["sizes"])
        window = document["window"]
        n = len(automaton.states)
        falls = all(a > b for a, b in itertools.pairwise(sizes))
        if not sizes or not falls or sizes[-1] != 1 or sizes[0] > n or (window is None and sizes[0] != n):
            raise ValueError("sizes")
        look_back, gated = document["look_back"], document["gates"]
        if not (isinstance(look_back, bool) and isinstance(gated, bool)) or gated > look_back:
            raise ValueError("look_back, gates")
        m = None if window is None else int(window)
        return ChainRNN(automaton, sizes, m, look_back=look_back, gated=gated)
