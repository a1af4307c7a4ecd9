"""The papers' model `cast`: matrices multiplied exactly, only what is read off is cast to finitely many values.

H_k = cast(Σ_j cast(A(x_k)···A(x_{j+1}) B(x_j)) + cast(A(x_k)···A(x_1) H_0)) (arXiv 2411.12537; the sum in the bracket is
exact). `cast` is to the nearest value, ties toward -∞, saturating. The entries of A^k y are sequences
a_k = Σ c_i C(k, m_i) λ_i^{k-m_i} (G.L1). `find_settled_value` decides, exactly, whether from some k on cast(a_k) stays for ever.

Layers of dimension 2 are followed on a word u v^∞ and decided for ever: A(x) = S T(x) S⁻¹, T(x) upper triangular, S one
integer matrix a layer. `find_settled_value` proves from which index on each cast sequence stays, all states up to there are
computed, and beyond it the sum of the cast terms grows by a fixed amount per period, so that the state repeats or
saturates.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, lcm, ldexp
from typing import Any, TypeAlias

import numpy as np

from ..arithmetic._arithmetic import Cast, fractions
from ..arithmetic._rounding import FloatFormat, Floats
from ..arithmetic._value_sets import FiniteSet, Grid

Term: TypeAlias = tuple[Fraction, int, Fraction]
"""(c, m, λ): c C(k, m) λ^{k-m}."""
Vector: TypeAlias = tuple[Fraction, ...]
Matrix: TypeAlias = tuple[tuple[Fraction, ...], ...]
MAX_INDEX = 3_000
"""Up to here a sequence is followed; beyond, it counts as not settled (eigenvalues too near to each other or to 1)."""


def cast_states(A: Any, B: Any, start: Any, arithmetic: Cast) -> Iterator[Floats]:
    """Yield the states H_0, H_1, ... on the powers of one letter.

    Args:
        A: the letter's matrix `[n, n]`, exact numbers or float64.
        B: what it adds, `[n, d]`.
        start: H_0, `[n, d]`.
        arithmetic: the model `cast`.
    """
    A, added, first = fractions(A), fractions(B), fractions(start)
    total = np.zeros_like(first)
    yield arithmetic.round(first)
    while True:
        total = total + fractions(arithmetic.round(added))
        added, first = A @ added, A @ first
        yield arithmetic.round(total + fractions(arithmetic.round(first)))


def largest(arithmetic: Cast) -> Fraction:
    """The largest absolute value of the set."""
    values = arithmetic.values
    if isinstance(values, FloatFormat):
        return values.max_finite
    if isinstance(values, Grid):
        return max(abs(values.low), abs(values.high)) * values.quantum
    return max(abs(values.exact[0]), abs(values.exact[-1])) if isinstance(values, FiniteSet) else Fraction(0)


def value_at(terms: Sequence[Term], k: int) -> Fraction:
    """a_k."""
    return sum((c * comb(k, m) * x ** (k - m) for c, m, x in terms if k >= m), Fraction(0))


def find_settled_value(terms: Sequence[Term], k: int, arithmetic: Cast) -> float | None:
    """The value that cast(a_k), cast(a_{k+2}), ... all have, if it can be proved from index k on; else None.

    On indices of one parity each λ may be replaced by |λ|. Sizes t_i = |c_i| C(k, m_i) |λ_i|^{k-m_i} change by the factor
    |λ_i| (k+1)/(k+1-m_i), so quotients of two fall once they fall. Either the dominant term outgrows the values and
    the others; or the terms besides the constant L shrink, and L + their sum stays on one side of every midpoint.
    """
    if any(k <= m for _, m, _ in terms):
        return None
    joined: dict[tuple[Fraction, int], Fraction] = {}
    for c, m, x in terms:
        if x:
            key = (abs(x), m)
            joined[key] = joined.get(key, Fraction(0)) + (-c if x < 0 and (k - m) % 2 else c)
    limit = joined.pop((Fraction(1), 0), Fraction(0))
    sizes = sorted(((x, m, c * comb(k, m) * x ** (k - m)) for (x, m), c in joined.items() if c), reverse=True)
    if not sizes:
        return _cast(arithmetic, limit)
    x, m, lead = sizes[0]
    rest = sum((abs(t) for _, _, t in sizes[1:]), Fraction(0))
    falls = all(y * (k + 1 - m) <= x * (k + 1 - n) for y, n, _ in sizes[1:])
    if x > 1 or (x == 1 and m):
        if falls and abs(lead) - rest - abs(limit) > 2 * largest(arithmetic):
            return _cast(arithmetic, 4 * largest(arithmetic) * (1 if lead > 0 else -1))
        return None
    if any(y * (k + 1) > k + 1 - n for y, n, _ in sizes):
        return None
    reach = abs(lead) + rest
    low, middle, high = (_cast(arithmetic, limit + d) for d in (-reach, Fraction(0), reach))
    if low == high:
        return low
    if falls and abs(lead) > rest:  # the sign stays
        if lead < 0:
            return low if low == middle else None
        return high if high == middle or Fraction(middle) + Fraction(high) == 2 * limit else None
    return None


def find_settled_values(
    terms: Sequence[Term], arithmetic: Cast, first: int = 8
) -> tuple[int, float, float] | None:
    """An index k, and what cast(a) is for ever on the even and on the odd indices from k on; None beyond `MAX_INDEX`."""
    k = first
    while k <= MAX_INDEX:
        found = {p % 2: find_settled_value(terms, p, arithmetic) for p in (k, k + 1)}
        if found[0] is not None and found[1] is not None:
            return k, found[0], found[1]
        k = k * 3 // 2
    return None


def cast_sequence(terms: Sequence[Term], length: int, arithmetic: Cast) -> Floats:
    """cast(a_0), ..., cast(a_{length-1}); for values of at most 50 bits."""
    q, common = lcm(*(x.denominator for _, _, x in terms)), lcm(*(c.denominator for c, _, _ in terms))
    parts = [(int(c * common) * q**m, m, int(x * q)) for c, m, x in terms]
    powers, odd, scale = [1] * len(parts), np.zeros(length), common
    for k in range(length):
        total = 0
        for i, (c, m, x) in enumerate(parts):
            if k >= m:
                total += c * comb(k, m) * powers[i] if m else c * powers[i]
                powers[i] *= x
        odd[k] = odd_float(total, scale)
        scale *= q
    return arithmetic.round(odd)


def odd_float(numerator: int, denominator: int) -> float:
    """The quotient rounded to odd in 53 bits: later roundings to fewer bits are those of the exact quotient."""
    if not numerator:
        return 0.0
    size = abs(numerator)
    shift = 54 - size.bit_length() + denominator.bit_length()
    quotient, left = divmod(size << shift, denominator) if shift > 0 else divmod(size, denominator << -shift)
    extra = quotient.bit_length() - 53
    left |= quotient & ((1 << extra) - 1)
    quotient >>= extra
    exponent = extra - shift
    if exponent > 900 or exponent < -1000:  # beyond every value; or far below half of the least
        return (
            2.0**900 * (1 if numerator > 0 else -1)
            if exponent > 0
            else 2.0**-1000 * (1 if numerator > 0 else -1)
        )
    result = ldexp(quotient | (left != 0), exponent)
    return result if numerator > 0 else -result


def _cast(arithmetic: Cast, x: Fraction) -> float:
    return float(arithmetic.round(np.array(odd_float(x.numerator, x.denominator)))) + 0.0


SCALE = 2**140
"""All values of the formats used here are multiples of 1/SCALE."""


@dataclass(frozen=True)
class TriangularLayer:
    """Letters x: A(x) = S T(x) S⁻¹, B(x), and H_0; `decode`: thresholds of the two rows, four letters out."""

    S: Matrix
    inverse: Matrix
    T: tuple[Matrix, ...]
    B: tuple[Vector, ...]
    start: Vector
    decode: tuple[float, float]

    @property
    def has_zero(self) -> bool:
        """True if an eigenvalue of some letter is on the edge of [0, ∞)."""
        return any(T[0][0] == 0 or T[1][1] == 0 for T in self.T)

    def to_json(self) -> dict[str, Any]:
        """The numbers, as text."""
        return {
            "S": [[str(x) for x in row] for row in self.S],
            "T": [[[str(x) for x in row] for row in T] for T in self.T],
            "B": [[str(x) for x in b] for b in self.B],
            "start": [str(x) for x in self.start],
            "decode": list(self.decode),
        }


@dataclass(frozen=True)
class Followed:
    """`states [k, 2]` from the end of the prefix; `ends`: one period of what they become; `start`: length of the prefix.

    `settles`: the index from which they are that, `slow`: only after the states computed, by saturation.
    """

    before: Floats
    states: Floats
    ends: list[tuple[float, ...]]
    settles: int
    saturates: bool
    slow: bool


def follow(
    layer: TriangularLayer, prefix: Sequence[int], cycle: Sequence[int], model: Cast
) -> Followed | None:
    """States on the letters prefix · cycle^∞, decided for ever; None where some sequence settles beyond the limit."""
    P, K = len(cycle), len(prefix)
    apart = [_apply(layer.inverse, layer.start)]
    before = [_totals([[model.round(np.array([float(x)]))[0] for x in layer.start]])] if K else []
    for x in prefix:
        apart = [_apply(layer.T[x], y) for y in apart]
        apart.append(_apply(layer.inverse, layer.B[x]))
        casts = [[odd_float(v.numerator, v.denominator) for v in _apply(layer.S, y)] for y in apart]
        before.append(_totals(model.round(np.array(casts)).tolist()))
    old = [_entries(layer, y, [cycle[(s) % P] for s in range(P)]) for y in apart]
    new = [
        _entries(layer, _apply(layer.inverse, layer.B[cycle[s]]), [cycle[(s + 1 + r) % P] for r in range(P)])
        for s in range(P)
    ]
    bounds = [
        find_settled_values(terms, model) for sequence in old + new for pair in sequence for terms in pair
    ]
    certain = 0
    for bound in bounds:
        if bound is None:
            return None
        certain = max(certain, bound[0])
    certain += certain % 2
    length = (certain + 6) * P
    old_values = [_interleave_entries(sequence, length, model) for sequence in old]
    new_values = [_interleave_entries(sequence, length, model) for sequence in new]
    totals = np.zeros((length, 2), dtype=object)
    for entry in range(2):
        run = [0] * P  # Σ over the terms B read at the places of one residue, by the residue of the next lag
        for k in range(length):
            totals[k, entry] = sum(values[entry][k] for values in old_values) + _sum_running_lags(
                run, new_values, entry, k, P
            )
    odd = [[odd_float(int(t), SCALE) for t in row] for row in totals]
    states = model.round(np.array(odd)) + 0.0
    window, base = 2 * P, certain * P
    ends, slow, grows = [], False, False
    for k in range(base, base + window):
        value = []
        for entry in range(2):
            growth = int(totals[k + window, entry]) - int(totals[k, entry])
            end = float(states[k, entry])
            if growth:
                end = float(model.round(2.0**800 if growth > 0 else -(2.0**800)))
                grows = True
                slow = slow or states[k + window, entry] != end
            value.append(end)
        ends.append(tuple(value))
    expected = np.array([ends[(k - base) % window] for k in range(length)])
    settles = after_last((states != expected).any(axis=1))
    period = next(p for p in range(1, window + 1) if window % p == 0 and ends == ends[:p] * (window // p))
    if not slow and (states[base + window :] != expected[base + window :]).any():
        raise AssertionError("a state changed after it was proved to stay")
    turned = [ends[(k - base) % window] for k in range(period)]  # one period, from the end of the prefix
    early = np.array([[odd_float(int(t), SCALE) for t in row] for row in before]).reshape(-1, 2)
    return Followed(model.round(early) + 0.0, states, turned, K + settles, grows, slow)


def random_layer(draw: random.Random, letters: int, negative: bool) -> TriangularLayer:
    """Eigenvalues as drawn by `eigenvalue`; S of determinant 1."""
    a, b = draw.randint(-2, 2), draw.randint(-2, 2)
    S = _matrix([[1 + a * b, a], [b, 1]])
    inverse = _matrix([[1, -a], [-b, 1 + a * b]])
    T = []
    for _ in range(letters):
        p, s = eigenvalue(draw, negative), eigenvalue(draw, negative)
        T.append(_matrix([[p, Fraction(draw.randint(-4, 4), 2)], [0, s]]))
    small = (Fraction(n, 4) for n in iter(lambda: draw.randint(-9, 9), None))
    B = tuple(
        (next(small), next(small)) if draw.random() < 0.6 else (Fraction(0),) * 2 for _ in range(letters)
    )
    start = (next(small), next(small))
    return TriangularLayer(
        S, inverse, tuple(T), B, start, (draw.choice([-1.0, 0.0, 0.5]), draw.choice([0.0, 1.0]))
    )


def eigenvalue(draw: random.Random, negative: bool) -> Fraction:
    """One of 0, 1, and fractions in (0, 4); half of them negative if allowed."""
    size = draw.choice(
        [Fraction(0), Fraction(1), Fraction(1), Fraction(draw.randint(1, 12), draw.choice([3, 4, 8, 16]))]
    )
    return -size if negative and draw.random() < 0.5 else size


def next_letters(followed: Followed, thresholds: tuple[float, float]) -> tuple[list[int], list[int]]:
    """The next layer's letters: prefix, and one period."""

    def letter(state: Sequence[float]) -> int:
        return int(state[0] > thresholds[0]) + 2 * int(state[1] > thresholds[1])

    # the state after the k-th letter is read with it; H_0 is not read
    early, late = followed.before[1:].tolist(), followed.states.tolist()
    late = late[1:]
    given = [letter(s) for s in ([*early, *late])]
    period = len(followed.ends)
    ends = [letter(s) for s in followed.ends]
    # `states[0]` is the state at the end of the prefix, of phase 0
    phase = [ends[(k + 1 - len(early)) % period] for k in range(len(given))]
    last = after_last(np.array(given) != np.array(phase))
    cycle = [ends[(last + 1 - len(early) + r) % period] for r in range(period)]
    shortest = next(p for p in range(1, period + 1) if period % p == 0 and cycle == cycle[:p] * (period // p))
    return given[:last], cycle[:shortest]


def _entries(layer: TriangularLayer, y: Vector, letters: Sequence[int]) -> list[list[list[Term]]]:
    """For each r < P the two entries of S T(l_r)···T(l_1) M^m y as terms in m, M = T(l_P)···T(l_1)."""
    M = _matrix([[1, 0], [0, 1]])
    partial = []
    for x in letters:
        partial.append(M)
        M = _product(layer.T[x], M)
    (p, r), (_, s) = M
    u, w = y
    if p == s:
        upper: list[Term] = [(u, 0, p), (r * w, 1, p)]
    else:
        upper = [(u + r * w / (p - s), 0, p), (-r * w / (p - s), 0, s)]
    lower: list[Term] = [(w, 0, s)]
    result = []
    for C in partial:
        map_ = _product(layer.S, C)
        pair = []
        for row in map_:
            terms = [(row[0] * c, m, x) for c, m, x in upper] + [(row[1] * c, m, x) for c, m, x in lower]
            pair.append([t for t in terms if t[0]])
        result.append(pair)
    return result


def _interleave_entries(sequence: list[list[list[Term]]], length: int, model: Cast) -> list[list[int]]:
    """The two entries, cast, at all lags below `length`, in units of 1/SCALE."""
    P = len(sequence)
    result = []
    for entry in range(2):
        values = np.empty(length)
        for r, pair in enumerate(sequence):
            values[r::P] = cast_sequence(pair[entry], -(-(length - r) // P), model)
        result.append([int(v) for v in (values * float(SCALE)).tolist()])
    return result


def _sum_running_lags(run: list[int], new_values: list[list[list[int]]], entry: int, k: int, P: int) -> int:
    """Σ over the k letters of the cycle read so far; `run[a]`: the sum of lags ≡ a that a total of phase a has."""
    if k == 0:
        return 0
    # total(k) = Σ_{l<k} new[(k-1-l) mod P][l] = total(k - P) + the P terms of the largest lags
    total = run[k % P]
    for lag in range(max(k - P, 0), k):
        total += new_values[(k - 1 - lag) % P][entry][lag]
    run[k % P] = total
    return total


def _totals(casts: Sequence[Sequence[float]]) -> list[int]:
    return [sum(int(row[entry] * float(SCALE)) for row in casts) for entry in range(2)]


def _matrix(rows: Sequence[Sequence[Any]]) -> Matrix:
    return tuple(tuple(Fraction(x) for x in row) for row in rows)


def _apply(A: Matrix, y: Vector) -> Vector:
    return tuple(row[0] * y[0] + row[1] * y[1] for row in A)


def _product(A: Matrix, B: Matrix) -> Matrix:
    return tuple(tuple(row[0] * B[0][j] + row[1] * B[1][j] for j in range(2)) for row in A)


def after_last(wrong: Any) -> int:
    """One more than the last index at which it is true."""
    places = np.flatnonzero(wrong)
    return int(places[-1]) + 1 if len(places) else 0
