"""Checks a certificate of kind `equivalent`: a layer in rounding arithmetic equals an automaton on all words.

Standard library only; run it as `python3 -I equivalent.py CERTIFICATE`. The arithmetic is named as in `arithmetic.py`:
`per_step` rounds each entry of A(x) H + B(x) once, `per_op` each product and each sum, in the stated order. Weights and
initial state are values of the arithmetic. There are three proofs.

*Codes* (`per_step`, `per_op`, beside a whole table certificate): the table proves equality in exact numbers. In the dtypes
listed in `per_step`, which must be all of that kind, every entry of every A(x), B(x) and code is a number of the dtype;
then each product-sum is a code, which rounding keeps, in every mode. In those of `per_op`, all of that kind, these entries
are integers, and all integers up to the greatest possible Σ |a||h| + |b| are numbers of the dtype: so are all products and
partial sums, in any order, and rounding keeps them. By induction the states are the exact ones, bit for bit.

*States* (`states`, `greatest`, beside `model`, the stored numbers): all pairs (state, automaton's state) reached are
listed, breadth first, every step as the arithmetic computes it; after every letter the nearest code (exact distance,
the first of several) names the right answer. Closed under all letters, so for words of any length.

*Regions* (`regions`, `radius`, beside `model`): infinitely many states may be reached. `exact`, or `per_step` of a float
format. For each pair (code c, automaton's state) a ball about c, such that each letter x maps the ball about c into that
about c′, the code nearest to A c + B: ‖A c + B - c′‖ + s r + ε ≤ r′, where s ≥ ‖A‖₂ is the least multiple of 2^-12 with
s²I - AᵀA positive semidefinite and ε = uY + mη bounds the rounding of m entries with Y = s(‖c‖ + r) + ‖B‖ (0 for
`exact`, and where A and B only move entries); u and η are twice as large where the mode is not to nearest. Each ball
stays nearer to its code than half its distance to the codes with other answers. The radii are the least ones on the
grid of multiples of 2^-64, found by iteration from H_0. Norms are Frobenius norms over all heads, rounded up to the grid.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

if not __package__:  # run alone: the files beside this one are found as the package `checker`
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "checker"

from ._arithmetic import Arithmetic
from ._budget import TOO_MUCH, Budget
from ._exact import array, integer, need, record, same
from ._head import Head
from ._labels import count_noun, require_kind
from ._program import run_alone
from ._regions import regions
from ._stored import Model, Vector, right, value
from .horizon import FLOATS
from .table import FORMATS as REACH
from .table import Machine, check_table, read_machine

MAX_STEPS = 100_000
MAX_WORK = 1_000_000_000  # products for all steps, and for all distances to codes
MAX_UNITS = 3_000_000_000  # units of work (`_budget.py`), about a minute in all
MAX_BITS = 10_000  # of a state's number
MAX_KEPT = 8_000_000  # numbers of all different states together, about a gigabyte
CODES = {"per_step", "per_op"}
STATES = {"arithmetic", "answers", "states", "greatest"}
REGIONS = {"arithmetic", "answers", "regions", "radius"}


def _bits(number: Fraction) -> int:
    """Bits of numerator and denominator together."""
    return number.numerator.bit_length() + number.denominator.bit_length()


def all_states(model: Model, machine: Machine, answers: str, limit: int) -> tuple[int, Vector]:
    """How many pairs (state, automaton's state) there are, and the greatest state; `Invalid` if an answer is wrong.

    No more than `limit` pairs are followed: the certificate says how many there are.
    """
    entries = len(model.initial)
    # products of one pair: those of a step by each letter, and those of the distances to all codes
    products = sum(len(terms) for row in model.rows for terms, _ in row) + model.letters * entries * len(
        model.codes
    )
    need(limit * products <= MAX_WORK, f"equivalence.states: more than {MAX_WORK:,} products are needed")
    # all states found, each with its number, under which it stands in the pairs; codes by the numbers of their states
    found, numbers = [model.initial], {model.initial: 0}
    named: dict[int, int] = {}
    order = [(0, machine.start)]
    seen = set(order)
    # breadth first: all pairs before this one have had all letters and right answers
    for state, q in order:
        need(len(order) <= limit, f"equivalence.states: there are more than {limit:,}")
        for x in range(model.letters):
            after, p = model.step(found[state], x), machine.delta[x][q]
            k = numbers.setdefault(after, len(found))
            if k == len(found):
                found.append(after)
                need(len(found) * entries <= MAX_KEPT, f"{TOO_MUCH} {MAX_KEPT:,} numbers of states to keep")
            # the nearest code does not depend on the automaton's state, so each state is compared once
            if k not in named:
                bits = max((_bits(h) for h in after), default=0)
                need(bits <= MAX_BITS, f"letter {x}: a number of the state has more than {MAX_BITS:,} bits")
                named[k] = model.nearest(after)
            said = model.decode[named[k]][x]
            need(
                said == right(machine, answers, x, q, p), f"letter {x} in state {q}: the model answers {said}"
            )
            if (k, p) not in seen:
                seen.add((k, p))
                order.append((k, p))
    return len(order), max(found)


def exact_dtypes(heads: list[Head]) -> list[str]:
    """The dtypes that have every entry of every A(x), B(x) and code among their numbers."""
    # an entry left out is zero, which every dtype has
    entries = {x for head in heads for code in head.codes for _, _, x in code}
    for head in heads:
        for t in head.transitions:
            entries.update(x for _, _, x in (*head.matrix(t), *t["additive"]))
    return [dtype for dtype in FLOATS if fitting(entries, dtype)]


def fitting(entries: Iterable[Any], dtype: str) -> bool:
    """Are all of them numbers of the dtype?"""
    # fp8_e4m3 saturates already, and its name does not say so
    to_dtype = Arithmetic(f"per_step:{dtype}:sat" if dtype != "fp8_e4m3" else f"per_step:{dtype}").round
    return all(isinstance(x, int | Fraction) and to_dtype(Fraction(x)) == x for x in entries)


def bound_entries(head: Head) -> int | None:
    """The greatest possible Σ |a||h| + |b| of an entry of A(x) C + B(x); None where not all is integer."""
    if not head.integer:
        return None
    # sizes[k, j] = max |h_kj| over all codes
    sizes: dict[tuple[int, int], Any] = {}
    for code in head.codes:
        grow(sizes, code)
    # the codes and weights themselves are numbers of the dtype too
    most = max(sizes.values(), default=0)
    for t in head.transitions:
        entries: Any = head.matrix(t)
        sums: dict[tuple[int, int], Any] = {}
        # Σ_k |a_ik| max|h_kj| + |b_ij| bounds every partial sum, in whatever order the terms are added
        for i, k, a in entries:
            for j in range(head.value_dim):
                sums[i, j] = sums.get((i, j), 0) + abs(a) * sizes.get((k, j), 0)
        for i, j, b in t["additive"]:
            sums[i, j] = sums.get((i, j), 0) + abs(b)
        most = max([most, *sums.values(), *(abs(a) for _, _, a in entries)])
    return int(most)


def grow(sizes: dict[tuple[int, int], Any], entries: Any) -> None:
    """The greatest absolute value of each entry."""
    for i, j, x in entries:
        sizes[i, j] = max(sizes.get((i, j), 0), abs(x))


def integer_dtypes(heads: list[Head]) -> list[str]:
    """The dtypes in which no operation is rounded, whatever their order."""
    most = [bound_entries(head) for head in heads]
    return [d for d, reach in REACH.items() if all(m is not None and m <= reach for m in most)]


def check(document: Any) -> str:
    """A line of facts if the certificate is right; else `Invalid` with the reason."""
    require_kind(document, "equivalent")
    said = document.get("equivalence")
    if "layers" in document:
        heads, _, facts = check_table(document, "equivalence")
        # a layer with a table is proved by codes, one without by its states or regions
        record(said, CODES, "equivalence")
        found = {"per_step": exact_dtypes(heads), "per_op": integer_dtypes(heads)}
        need(found["per_step"], "equivalence: no dtype has all numbers")
        for kind, dtypes in found.items():
            need(same(said[kind], dtypes), f"equivalence.{kind}: they are {dtypes}")
        names = [f"{kind} {', '.join(dtypes)}" for kind, dtypes in found.items() if dtypes]
        return f"{facts}; never rounded, so bit for bit, in {' and '.join(names)}"
    record(document, {"format", "kind", "labels", "automaton", "model", "equivalence"}, "certificate")
    machine = read_machine(document)
    need(type(said) is dict and set(said) in (STATES, REGIONS), "equivalence: unknown keys")
    arithmetic, answers = Arithmetic(said["arithmetic"]), said["answers"]
    need(answers in ("states", "outputs"), "equivalence.answers: it is states or outputs")
    n, outputs = len(document["labels"]["states"]), len(document["labels"]["outputs"])
    count = n if answers == "states" else outputs
    budget = Budget(document, MAX_UNITS)
    model = Model(document["model"], len(machine.delta), count, arithmetic, budget)
    facts = f"{count_noun(n, 'state')}, {count_noun(model.letters, 'letter')}, {arithmetic.name}"
    if "states" in said:
        limit = integer(said["states"], 1, MAX_STEPS // max(model.letters, 1), "equivalence.states")
        count, greatest = all_states(model, machine, answers, limit)
        integer(said["states"], count, count, "equivalence.states")
        given = [
            value(x, None, "equivalence.greatest") for x in array(said["greatest"], "equivalence.greatest")
        ]
        # the greatest state, in the order of tuples, pins the list of states besides its number
        need(tuple(given) == greatest, "equivalence.greatest: not the greatest state")
        return f"{facts}: {count_noun(count, 'state')} of the model reached, all answers right: equal on all words"
    count, largest = regions(model, machine, answers)
    integer(said["regions"], count, count, "equivalence.regions")
    integer(said["radius"], largest, largest, "equivalence.radius")
    return (
        f"{facts}: {count_noun(count, 'region')} that the letters keep, all answers right: equal on all words"
    )


if __name__ == "__main__":
    raise SystemExit(run_alone(check, sys.argv[1:]))
