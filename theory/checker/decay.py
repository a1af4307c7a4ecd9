"""Checks a certificate of kind `decay`: one number that decays and is rounded equals an automaton on all words.

Standard library only; run it as `python3 -I decay.py CERTIFICATE`. The certificate has the automaton, a base b, a digit d for
each letter (null for a letter that does nothing) and float formats. What is meant, and what the checker does:

1. A token is h ← Q(h/b + d), from h = 0. Q is one rounding to the nearest number of the format, ties to the number whose last bit is 0. This is
   one factor 1 - β with β = 1 - 1/b, in dimension 1, and an added term; letters that move no state leave h as it is.
2. The form is canonical: letters with the same map share a digit; the i-th of k different maps that move a state, in the order of the
   letters, has the digit 2i + 1 - K, with K the least even number ≥ k; b is the least power of 2 above K.
3. For each format the checker lists the pairs (h, q) that words lead to, from (0, start), q by the automaton's transitions. If no h occurs
   with two states, the list is a read-out that is right after every word: by induction on the word, as the pairs are
   closed under letters. The formats in the summary are all formats of up to 24 bits where this is so, digits are no larger than
   2^precision - 1, and at most 50,000 numbers are reached. Nothing is listed in the certificate.
4. All numbers are normal and finite: |h| < 2K, and after a letter |h| ≥ 1/(2K), which is verified for each number.

The float of precision p next to x ≠ 0: with 2^e ≤ |x| < 2^(e+1) the multiple of 2^(e - p + 1) next to x. Numbers are integers over a common
power of 2, which is checked for each.
"""

from __future__ import annotations

import os
import sys
from typing import Any

if not __package__:  # run alone: the files beside this one are found as the package `checker`
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "checker"

from ._exact import array, need, record, same, show_value
from ._labels import count_noun, require_kind
from ._program import run_alone
from .table import Machine, read_machine

KEYS = {"format", "kind", "labels", "automaton", "base", "digits", "summary"}
# precision in bits; exponents of the least normal number and of a bound on the numbers that do not overflow
FORMATS = {
    "fp32": (24, -126, 127),
    "fp16": (11, -14, 15),
    "bf16": (8, -126, 127),
    "fp8_e4m3": (4, -6, 8),
    "fp8_e5m2": (3, -14, 15),
}
MAX_NUMBERS = 50_000


def digits_of(letters: list[list[int]], n: int) -> tuple[int, list[int | None]]:
    """K and the digit of each letter, by claim 2."""
    idle = list(range(n))
    maps: list[list[int]] = []
    for row in letters:
        if row != idle and row not in maps:
            maps.append(row)
    need(maps, "automaton.transitions: no letter moves a state")
    even = 2 * ((len(maps) + 1) // 2)
    return even, [None if row == idle else 2 * maps.index(row) + 1 - even for row in letters]


def nearest(x: int, precision: int) -> int:
    """The multiple of 2^(e - precision + 1) next to x, where 2^e ≤ |x| < 2^(e + 1); of two the one with an even multiple."""
    drop = abs(x).bit_length() - precision
    if drop <= 0:
        return x
    quotient, rest = divmod(abs(x), 1 << drop)
    half = 1 << (drop - 1)
    # ties to even
    quotient += rest > half or (rest == half and quotient % 2 == 1)
    return (quotient << drop) * (1 if x > 0 else -1)


def list_numbers(machine: Machine, digits: list[int | None], even: int, base: int, name: str) -> int | None:
    """How many numbers a format reaches, by claim 3; None if the format is none of those that can be listed."""
    precision, least, largest = FORMATS[name]
    if even > 2**precision or 2 * even > 2**largest or 2 * even > 2**-least:
        return None
    shift = base.bit_length() - 1
    # numbers are integers over 2^scale; h/b + d is one over 2^(scale + shift)
    scale = precision + 2 * shift
    moves = [
        (d << (scale + shift), row) for d, row in zip(digits, machine.delta, strict=True) if d is not None
    ]
    states = {0: machine.start}
    todo = [0]
    while todo:
        h = todo.pop()
        for d, row in moves:
            x = nearest(h + d, precision)
            after, rest = divmod(x, 1 << shift)
            # claim 4, and that the common denominator holds the number
            need(rest == 0 and 1 << scale <= abs(after) * 2 * even, f"{name}: a number near 0")
            need(abs(after) < 2 * even << scale, f"{name}: a number of 2K or more")
            state = row[states[h]]
            if after not in states:
                states[after] = state
                todo.append(after)
                if len(states) > MAX_NUMBERS:
                    return None
            elif states[after] != state:
                return None
    return len(states)


def check(document: Any) -> str:
    """A line of facts if the certificate is right; else `Invalid` with the reason."""
    require_kind(document, "decay")
    record(document, KEYS, "certificate")
    machine = read_machine(document)
    n = document["automaton"]["states"]
    need(
        not machine.outputs or type(machine.outputs[0]) is not list,
        "automaton.outputs: they belong to states",
    )
    even, digits = digits_of(machine.delta, n)
    base = 1 << even.bit_length()
    need(same(document["base"], base), f"base: it is {base}")
    given = array(document["digits"], "digits", len(digits))
    for x, (said, digit) in enumerate(zip(given, digits, strict=True)):
        need(same(said, digit), f"digits[{x}]: it is {show_value(digit)}")
    reached = {name: list_numbers(machine, digits, even, base, name) for name in FORMATS}
    formats = [name for name, count in reached.items() if count is not None]
    need(formats, "summary.formats: in no format is the read-out right")
    summary = {
        "layers": 1,
        "householders": 1,
        "heads": 1,
        "dim": 1,
        "exactness": "rounded",
        "integer_bound": None,
        "formats": formats,
        "norm": "at most 1",
    }
    record(document["summary"], set(summary), "summary")
    for key, value in summary.items():
        need(same(document["summary"][key], value), f"summary.{key}: it is {show_value(value)}")
    counts = ", ".join(f"{count_noun(reached[name] or 0, 'number')} in {name}" for name in formats)
    return f"{count_noun(n, 'state')}, {count_noun(len(digits), 'letter')}, {counts}: equal on all words"


if __name__ == "__main__":
    raise SystemExit(run_alone(check, sys.argv[1:]))
