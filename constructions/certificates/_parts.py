"""What all kinds of certificates share: numbers, factors, the automaton with its labels, and reading with clear errors.

A number is an integer, a string "p/q" in lowest terms, or a list of coefficients of 1, θ, θ², ... with
θ = 2cos(2π/N), N the head's `field`. In a field of a degree above 40, N a multiple of 4, it is [k] for cos(2πk/N).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from ...foundation._errors import InputError, LimitError
from ...foundation._text import print_name
from ..algebra._cyclotomic import CosineField, CosineSum, Number, real_cyclotomic_field, simplest
from ..algebra._householder import GHFactor
from ..automata._automaton import Automaton, Indices
from ..automata._completing import object_array
from ..automata._labels import distinct_texts, output_texts

MAX_CONDUCTOR = 40_000
"""The largest N of a field that the checkers take."""


def number_json(x: Number) -> Any:
    """A number as JSON."""
    x = simplest(x)
    if isinstance(x, int):
        return x
    if isinstance(x, Fraction):
        return f"{x.numerator}/{x.denominator}"
    if isinstance(x, CosineSum):
        if x.angle is None:
            raise LimitError(
                f"certificates hold cosines alone of the field Q(2cos 2π/{x.field.conductor}), and {x} is none"
            )
        return [x.angle]
    return [number_json(c) for c in x.coefficients]


def factors_json(factors: Iterable[GHFactor]) -> list[Any]:
    """Factors in the order applied: [β, v], and for a copy the row that it reads as a third entry."""
    return [
        [
            number_json(f.beta),
            [[i, number_json(x)] for i, x in f.vector],
            *([] if f.mask is None else [list(f.mask)]),
        ]
        for f in factors
    ]


def number_outputs(automaton: Automaton) -> tuple[Indices, list[str]]:
    """Indices of the outputs, in the shape of `Automaton.outputs`, numbered by first appearance, and their texts.

    `InputError` where two different outputs have the same text.
    """
    texts = output_texts(automaton, automaton.name)
    distinct = list(dict.fromkeys(texts))
    number = {text: i for i, text in enumerate(distinct)}
    indices = np.array([number[text] for text in texts], dtype=np.int64)
    return indices.reshape(automaton.outputs.shape), distinct


def machine_json(automaton: Automaton, construction: str, theorem: str) -> dict[str, Any]:
    """The entries `labels` and `automaton`; `InputError` where two labels have the same text."""
    outputs, names = number_outputs(automaton)
    return {
        "labels": {
            "automaton": automaton.name,
            "construction": construction,
            "theorem": theorem,
            "states": distinct_texts(automaton.states, "state", automaton.name),
            "letters": distinct_texts(automaton.letters, "letter", automaton.name),
            "outputs": names,
        },
        "automaton": {
            "states": len(automaton.states),
            "letters": len(automaton.letters),
            "start": automaton.start,
            "transitions": automaton.transitions.tolist(),
            "outputs": outputs.tolist(),
        },
    }


def read_machine(document: Mapping[str, Any]) -> Automaton:
    """The automaton of a certificate, its labels as strings; points that the start does not reach are kept."""
    labels, table = document["labels"], document["automaton"]
    names = labels["outputs"]
    if table["outputs"] and isinstance(table["outputs"][0], list):
        outputs = np.array([object_array(names[o] for o in row) for row in table["outputs"]], dtype=object)
    else:
        outputs = object_array(names[o] for o in table["outputs"])
    automaton = Automaton(
        tuple(labels["states"]), tuple(labels["letters"]),
        np.array(table["transitions"], dtype=np.int64), table["start"], outputs, print_name(labels["automaton"]),
    )  # fmt: skip
    if len(automaton.reachable()) == len(automaton.states):
        return automaton
    return Automaton(
        automaton.states, automaton.letters, automaton.transitions, automaton.start, outputs,
        automaton.name, keeps_points=True,
    )  # fmt: skip


def number_reader(field: Any) -> Callable[[Any], Number]:
    """Reads numbers of a head with that `field`; `ValueError` for what is none."""

    def number(x: Any) -> Number:
        if isinstance(x, list):
            if not 1 <= field <= MAX_CONDUCTOR:
                raise ValueError("field")
            numbers = real_cyclotomic_field(field)
            if isinstance(numbers, CosineField):
                (k,) = x
                return simplest(numbers.cos(int(k)))
            return simplest(numbers.element([Fraction(c) for c in x]))
        return simplest(Fraction(x))

    return number


def read_factors(items: Sequence[Any], number: Callable[[Any], Number]) -> tuple[GHFactor, ...]:
    """Factors as `factors_json` writes them."""
    return tuple(
        GHFactor(number(beta), tuple((int(i), number(x)) for i, x in v), *(tuple(map(int, m)) for m in mask))
        for beta, v, *mask in items
    )


@contextmanager
def name_document_in_errors(name: str) -> Iterator[None]:
    """Whatever goes wrong in reading a document of the wrong form becomes one `InputError` that names it."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise InputError(f"{name}: the certificate is malformed; `check` gives the reason") from None
