"""Checks a certificate of kind `equivalent`: a layer in rounding arithmetic equals an automaton on all words.

Standard library only; run it as `python3 -I equivalent.py CERTIFICATE`. The arithmetic is `per_step`, nearest even,
weights and initial state rounded once, or `exact`. There are three proofs.

*Codes* (`dtypes`, beside a whole table certificate): the table proves equality in exact numbers; in the dtypes listed,
which must be all of that kind, every entry of every A(x), B(x) and code is a number of the dtype. Then each product-sum
is a code, which rounding keeps, so by induction the states are the exact ones, bit for bit.

*States* (`states`, `greatest`, beside `model`, the stored numbers): all pairs (state, automaton's state) reached are
listed, breadth first, every product-sum exact and rounded once; after every letter the nearest code (exact distance,
the first of several) names the right answer. Closed under all letters, so for words of any length.

*Regions* (`regions`, `radius`, beside `model`): infinitely many states may be reached. For each pair (code c,
automaton's state) a ball about c, such that each letter x maps the ball about c into that about c′, the code nearest
to A c + B: ‖A c + B - c′‖ + s r + ε ≤ r′, where s ≥ ‖A‖₂ is the least multiple of 2^-12 with s²I - AᵀA positive
semidefinite and ε = uY + mη bounds the rounding of m entries with Y = s(‖c‖ + r) + ‖B‖ (0 for `exact`, and where A
and B only move entries). Each ball stays nearer to its code than half its distance to the codes with other answers.
The radii are the least ones on the grid of multiples of 2^-64, found by iteration from H_0. Norms are Frobenius norms
over all heads, rounded up to the grid.
"""

from __future__ import annotations

import os
import sys
from typing import Any

if not __package__:  # run alone: the files beside this one are found as the package `checker`
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "checker"

from .exact import array, integer, need, record, run_alone, same
from .head import Head
from .horizon import FLOATS
from .regions import regions
from .stored import Model, Vector, fits, right, value
from .table import Machine, check_table, read_machine

MAX_STEPS = 100_000
CODES = {"arithmetic", "dtypes"}
STATES = {"arithmetic", "answers", "states", "greatest"}
REGIONS = {"arithmetic", "answers", "regions", "radius"}


def all_states(model: Model, machine: Machine, answers: str, limit: int) -> tuple[int, Vector]:
    """How many pairs (state, automaton's state) there are, and the greatest state; `Invalid` if an answer is wrong.

    No more than `limit` pairs are followed: the certificate says how many there are.
    """
    seen = {(model.initial, machine.start)}
    order = list(seen)
    named: dict[Vector, int] = {}
    for state, q in order:
        need(len(order) <= limit, f"equivalence.states: there are more than {limit:,}")
        for x in range(model.letters):
            after, p = model.step(state, x), machine.delta[x][q]
            if after not in named:
                named[after] = model.nearest(after)
            said = model.decode[named[after]][x]
            need(
                said == right(machine, answers, x, q, p), f"letter {x} in state {q}: the model answers {said}"
            )
            if (after, p) not in seen:
                seen.add((after, p))
                order.append((after, p))
    return len(order), max(state for state, _ in order)


def exact_dtypes(heads: list[Head]) -> list[str]:
    """The dtypes that have every entry of every A(x), B(x) and code among their numbers."""
    entries = {x for head in heads for code in head.codes for _, _, x in code}
    for head in heads:
        for t in head.transitions:
            entries.update(x for _, _, x in (*head.matrix(t), *t["additive"]))
    return [dtype for dtype in FLOATS if all(fits(x, dtype) for x in entries)]


def check(document: Any) -> str:
    """A line of facts if the certificate is right; else `Invalid` with the reason."""
    need(
        type(document) is dict and document.get("kind") == "equivalent",
        "not a certificate of kind equivalent",
    )
    said = document.get("equivalence")
    if "layers" in document:
        heads, _, facts = check_table(document, "equivalence")
        record(said, CODES, "equivalence")
        need(said["arithmetic"] == "per_step", "equivalence.arithmetic: it must be 'per_step'")
        dtypes = exact_dtypes(heads)
        need(dtypes and same(said["dtypes"], dtypes), f"equivalence.dtypes: they are {dtypes}")
        return f"{facts}; never rounded, so bit for bit, in per_step {', '.join(dtypes)}"
    record(document, {"format", "kind", "labels", "automaton", "model", "equivalence"}, "certificate")
    machine = read_machine(document)
    need(type(said) is dict and set(said) in (STATES, REGIONS), "equivalence: unknown keys")
    arithmetic, answers = said["arithmetic"], said["answers"]
    names = {"exact": None, **{f"per_step:{dtype}": dtype for dtype in FLOATS}}
    need(type(arithmetic) is str and arithmetic in names, "equivalence.arithmetic: unknown")
    need(answers in ("states", "outputs"), "equivalence.answers: it is states or outputs")
    n, kinds = len(document["labels"]["states"]), len(document["labels"]["outputs"])
    model = Model(
        document["model"], len(machine.delta), n if answers == "states" else kinds, names[arithmetic]
    )
    facts = f"{n} states, {model.letters} letters, {arithmetic}"
    if "states" in said:
        limit = integer(said["states"], 1, MAX_STEPS // max(model.letters, 1), "equivalence.states")
        count, greatest = all_states(model, machine, answers, limit)
        integer(said["states"], count, count, "equivalence.states")
        given = [
            value(x, None, "equivalence.greatest") for x in array(said["greatest"], "equivalence.greatest")
        ]
        need(tuple(given) == greatest, "equivalence.greatest: not the greatest state")
        return f"{facts}: {count} states of the model reached, all answers right: equal on all words"
    count, largest = regions(model, machine, answers)
    integer(said["regions"], count, count, "equivalence.regions")
    integer(said["radius"], largest, largest, "equivalence.radius")
    return f"{facts}: {count} regions that the letters keep, all answers right: equal on all words"


if __name__ == "__main__":
    raise SystemExit(run_alone(check, sys.argv[1:]))
