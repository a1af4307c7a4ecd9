"""`DecayRNN` to a certificate of kind `decay` and back; what each entry means: `theory/checker/decay.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._document import FORMAT
from ..decays._decay import DecayRNN
from ._parts import machine_json, name_document_in_errors, read_machine


def decay_certificate(form: DecayRNN, max_group: int = 5_000) -> dict[str, Any]:
    """The certificate of kind `decay`, as a JSON object: the automaton, the base, the digits and the formats, and no list of numbers.

    `max_group` is of other kinds. Raises `InputError` where two labels have the same text.
    """
    return {
        "format": FORMAT,
        "kind": "decay",
        **machine_json(form.automaton, form.construction, form.theorem),
        "base": form.base,
        "digits": list(form.digits),
        "summary": form.summary(),
    }


def decay_from_certificate(document: Mapping[str, Any], name: str = "certificate") -> DecayRNN:
    """The decaying number that a certificate describes; labels become strings.

    Raises `InputError` for a document of the wrong form. It is not checked: the checker gives the proof.
    """
    with name_document_in_errors(name):
        automaton = read_machine(document)
        form = DecayRNN(automaton)
        if max(form.kinds, default=-1) < 0:
            raise ValueError("automaton.transitions")
        if document["base"] != form.base or document["digits"] != list(form.digits):
            raise ValueError("digits")
        return form
