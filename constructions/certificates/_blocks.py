"""`BlockRNN` to a certificate of kind `blocks` and back; what each entry means: `theory/checker/blocks.py`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from .._document import FORMAT
from ..chains._blocks import BlockRNN
from ._counter import counter_json, read_counter
from ._parts import machine_json, name_document_in_errors, read_machine


def blocks_certificate(form: BlockRNN, max_group: int = 5_000) -> dict[str, Any]:
    """The certificate of kind `blocks`, as a JSON object: the automaton, the counter, the sizes and the window, and no table.

    `max_group` is of other kinds. Raises `InputError` where two labels have the same text, and `LimitError` for a number field beyond
    the checkers' limit.
    """
    return {
        "format": FORMAT,
        "kind": "blocks",
        **machine_json(form.automaton, form.construction, form.theorem),
        "block": form.block,
        "counter": counter_json(form.counter),
        "window": form.window,
        "sizes": list(form.sizes),
        "padding": "least",
        "steps": "swaps and copies" if form.copies else "swaps and projections",
        "summary": form.summary(),
    }


def blocks_from_certificate(document: Mapping[str, Any], name: str = "certificate") -> BlockRNN:
    """The chain over blocks that a certificate describes; labels become strings.

    Raises `InputError` for a document of the wrong form. It is not checked: the checker gives the proof.
    """
    with name_document_in_errors(name):
        automaton = read_machine(document)
        sizes = tuple(int(size) for size in document["sizes"])
        window, counter = document["window"], read_counter(document["counter"])
        n = len(automaton.states)
        falls = all(a > b for a, b in itertools.pairwise(sizes))
        if not sizes or not falls or sizes[-1] != 1 or sizes[0] > n or (window is None and sizes[0] != n):
            raise ValueError("sizes")
        form = BlockRNN(
            automaton,
            sizes,
            counter,
            None if window is None else int(window),
            document["steps"] == "swaps and copies",
        )
        if form.block < 1 or form.block != document["block"]:
            raise ValueError("block")
        return form
