"""The orders of evaluation that count as correct, and the proof that none of them rounds a word in float32.

An order computes sums of products. Of every sum the ledger finds the unit, the largest power of two that divides all terms,
and the sum of the terms' absolute values. All partial sums, in whichever order the terms are added and however products and
sums are fused, are multiples of the unit and at most that sum; if it has at most 24 bits above the unit, and lies in the
format's range, none is rounded.

    recurrent      token by token; also with beta k' and beta v in place of k and v
    chunk, U and W     X = (I + L)^-1, U = X B V, W = X B K, V' = U - W S, in chunks of 16, 32, 64 and 128 rows
    chunk, P           P = V - K S, E = X' P with X' = (I + L')^-1, V' = B E; outputs and states as before
    scan           segments of 64 tokens as maps S -> M S + C
    rwkv7, chunk   r = X (A V + Z S) or (X A V) + (X Z) S with X = (I - C)^-1, for what z reads of the states

The inverse is found row by row, and by blocks of 1, 2, 4, ... rows that are joined. L = tril(B K K' o D, -1) and
L' = tril(K K' o D, -1) B, with D the products of the gates between two rows. Likewise A = tril(Z K' o D, -1) and
C = tril(Z U' o D, -1), where z reads the state before the decay of its own token.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._exact import FORMATS, Exact, Format, Span, span_of
from ._recurrence import answer_of
from ._word import Word

CHUNKS = (16, 32, 64, 128)
SEGMENT = 64
Integers = NDArray[np.object_]


@dataclass(frozen=True)
class Dyadic:
    """An array of numbers `integers * 2^exponent`.

    Attributes:
        integers: an array of Python's integers.
        exponent: of the common power of two.
    """

    integers: Integers
    exponent: int

    @property
    def T(self) -> Dyadic:  # noqa: N802
        """Transposed."""
        return Dyadic(self.integers.T, self.exponent)

    def __getitem__(self, place: Any) -> Dyadic:
        return Dyadic(self.integers[place], self.exponent)

    def span(self) -> Span:
        """The bits that its numbers need."""
        found = span_of(self.integers.ravel())
        return (
            Span(found.precision, found.low + self.exponent, found.high + self.exponent)
            if found.precision
            else found
        )


def dyadic(numbers: Exact) -> Dyadic:
    """Exact numbers with powers of two below as integers over one of them."""
    below = max((x.denominator for x in numbers.ravel()), default=1)
    integers = np.empty(numbers.shape, dtype=object)
    for place, x in np.ndenumerate(numbers):
        integers[place] = x.numerator * (below // x.denominator)
    return Dyadic(integers, 1 - below.bit_length())


def times(a: Dyadic, b: Dyadic) -> Dyadic:
    """Entry by entry, broadcast."""
    return Dyadic(a.integers * b.integers, a.exponent + b.exponent)


def powers(exponents: Integers) -> Dyadic:
    """2^e for every entry e."""
    least = min((int(e) for e in exponents.ravel()), default=0)
    found = np.empty(exponents.shape, dtype=object)
    for place, e in np.ndenumerate(exponents):
        found[place] = 1 << (int(e) - least)
    return Dyadic(found, least)


@dataclass
class Ledger:
    """What the evaluation of a word computes on the way.

    Attributes:
        format: of sums.
        operands: the bits of everything that enters a product.
        rounded: sums that the format may round, in words.
    """

    format: Format
    operands: Span = field(default_factory=Span)
    rounded: list[str] = field(default_factory=list)

    def multiply(self, name: str, a: Dyadic, b: Dyadic, plus: Dyadic | None = None, sign: int = 1) -> Dyadic:
        """`plus + sign * a @ b`, checked in every order of its terms.

        Args:
            name: of the product, for what is found.
            a: `[n,m]`.
            b: `[m,l]`.
            plus: `[n,l]` or None.
            sign: 1 or -1.
        """
        self.operands = self.operands.join(a.span()).join(b.span())
        exponent = a.exponent + b.exponent
        shape = (a.integers.shape[0], b.integers.shape[1])
        total = np.zeros(shape, dtype=object) + 0
        size, bits = total.copy(), total.copy()
        for i in range(a.integers.shape[1]):
            term = a.integers[:, i, None] * b.integers[None, i, :]
            total = total + sign * term
            size, bits = size + abs(term), bits | abs(term)
        if plus is not None:
            low = min(exponent, plus.exponent)
            total, size, bits = (x * (1 << exponent - low) for x in (total, size, bits))
            added = plus.integers * (1 << plus.exponent - low)
            total, size, bits, exponent = total + added, size + abs(added), bits | abs(added), low
        self._check(name, size, bits, exponent)
        return Dyadic(total, exponent)

    def multiply_entries(self, name: str, a: Dyadic, b: Dyadic) -> Dyadic:
        """Entry by entry, checked."""
        found = times(a, b)
        size = abs(found.integers)
        self._check(name, size, size, found.exponent)
        return found

    def _check(self, name: str, size: Integers, bits: Integers, exponent: int) -> None:
        for m, x in zip(size.ravel(), bits.ravel(), strict=True):
            if not m:
                continue
            last = (x & -x).bit_length() - 1
            # all partial sums are multiples of 2^last and at most m; 2^precision of them is a number of the format too
            above = -(-m >> last)
            span = Span((above - 1).bit_length(), last + exponent, m.bit_length() - 1 + exponent)
            if not self.format.holds(span):
                self.rounded.append(f"{name}: {span.precision} bits from 2^{span.low} to 2^{span.high}")
                return


@dataclass(frozen=True)
class Rows:
    """The rows (micro-steps) of one head of one sequence in one call.

    Attributes:
        q: `[T,K]`.
        k: `[R,K]`.
        v: `[R,V]`.
        beta: `[R,1]`; ones where the operator has none.
        gates: exponents `[T,K]`.
        n_h: rows a token.
    """

    q: Dyadic
    k: Dyadic
    v: Dyadic
    beta: Dyadic
    gates: Integers
    n_h: int


def prove_word(word: Word, sums: str = "fp32") -> Ledger:
    """Evaluate a word in every order, with every intermediate.

    Args:
        word: the word; with gates, they are taken as they are and not through logarithms.
        sums: the format of sums.

    Returns:
        The ledger. Nothing is rounded in any order if its `rounded` is empty.

    Raises:
        AssertionError: two orders have different results, which would be an error in an order.
    """
    ledger = Ledger(FORMATS[sums])
    answer = answer_of(word)
    for rows, first, last in _heads(word, answer.finals):
        final = _recurrent(ledger, word, rows, first)
        assert _equal(final, last)
        for size in CHUNKS:
            if isinstance(rows, _RWKV):
                assert _equal(_rwkv7_chunks(ledger, word, rows, first, size), last), (word.name, size)
                if size >= rows.q.integers.shape[0]:
                    break
                continue
            for form in ("U and W", "P") if word.operator != "scalar_gate" else ("none",):
                assert _equal(_chunks(ledger, word, rows, first, size, form), last), (word.name, size, form)
            if size // word.householders >= rows.q.integers.shape[0]:
                break  # one chunk holds all: longer ones are the same
        if rows.q.integers.shape[0] > SEGMENT and word.operator not in ("scalar_gate", "rwkv7"):
            assert _equal(_scan(ledger, word, rows, first), last)
    return ledger


def formats_of_products(word: Word) -> tuple[str, ...]:
    """The formats that hold everything which enters a product, in every order."""
    operands = prove_word(word).operands
    return tuple(name for name, each in FORMATS.items() if each.holds(operands))


def _equal(a: Dyadic, b: Dyadic) -> bool:
    low = min(a.exponent, b.exponent)
    return bool(np.all(a.integers * (1 << a.exponent - low) == b.integers * (1 << b.exponent - low)))


def _heads(word: Word, finals: Exact) -> Iterator[tuple[Rows, Dyadic, Dyadic]]:
    """Each head of each sequence in each call, with the states before and after it."""
    N, _, H, K, V = word.shape
    n_h = word.householders
    for i, call in enumerate(word.calls):
        start = np.zeros((N, H, K, V), dtype=object) + 0 if word.initial_state is None else word.initial_state
        before = start if call.after < 0 else finals[call.after]
        for n, b, first, end in word.sequences(call):
            for h in range(H):
                tokens, rows = slice(first, end), slice(first * n_h, end * n_h)
                gates = np.zeros((end - first, K), dtype=object) + 0
                if word.gate is not None:
                    given = word.gate[b, tokens, h]
                    gates = gates + (given[:, None] if given.ndim == 1 else given)
                beta = (
                    np.ones((end - first) * n_h, dtype=object) if word.beta is None else word.beta[b, rows, h]
                )
                found = Rows(
                    dyadic(word.q[b, tokens, h]), dyadic(word.k[b, rows, h]), dyadic(word.v[b, rows, h]),
                    dyadic(beta[:, None] + 0), gates, n_h,
                )  # fmt: skip
                if word.u is not None and word.z is not None:
                    found = _RWKV(
                        found.q, found.k, found.v, found.beta, gates, n_h,
                        dyadic(word.u[b, tokens, h]), dyadic(word.z[b, tokens, h]),
                    )  # fmt: skip
                yield found, dyadic(before[n, h]), dyadic(finals[i, n, h])


@dataclass(frozen=True)
class _RWKV(Rows):
    u: Dyadic
    z: Dyadic


def _scale(word: Word) -> Dyadic:
    return dyadic(np.array([[word.scale]], dtype=object))


def _read(ledger: Ledger, word: Word, q: Dyadic, S: Dyadic) -> None:
    """The scale before the sum and behind it."""
    ledger.multiply("outputs", times(q, _scale(word)), S)
    ledger.multiply_entries("outputs by scale", ledger.multiply("outputs", q, S), _scale(word))


def _recurrent(ledger: Ledger, word: Word, rows: Rows, S: Dyadic) -> Dyadic:
    for t in range(rows.q.integers.shape[0]):
        before = S
        S = ledger.multiply_entries("decay", powers(rows.gates[t])[:, None], S)
        for i in range(t * rows.n_h, (t + 1) * rows.n_h):
            k, v, beta = rows.k[i : i + 1], rows.v[i : i + 1], rows.beta[i : i + 1]
            if isinstance(rows, _RWKV):
                read = ledger.multiply("z'S", rows.z[i : i + 1], before)
                S = ledger.multiply("u", rows.u[i : i + 1].T, read, S)
                S = ledger.multiply("write", k.T, v, S)
                continue
            u = v
            if word.operator != "scalar_gate":
                error = ledger.multiply("error", k, S, v, -1)
                u = ledger.multiply_entries("beta error", beta, error)
                scaled = ledger.multiply_entries("beta v", beta, v)
                ledger.multiply("beta error", ledger.multiply_entries("beta k", beta, k), S, scaled, -1)
                ledger.multiply("write of beta k", ledger.multiply_entries("beta k", beta, k).T, error, S)
            S = ledger.multiply("write", k.T, u, S)
        _read(ledger, word, rows.q[t : t + 1], S)
    return S


def _chunks(ledger: Ledger, word: Word, rows: Rows, S: Dyadic, size: int, form: str) -> Dyadic:
    n_h = rows.n_h
    step = max(size // n_h, 1)
    for first in range(0, rows.q.integers.shape[0], step):
        end = min(first + step, rows.q.integers.shape[0])
        tokens, here = slice(first, end), slice(first * n_h, end * n_h)
        G = np.cumsum(rows.gates[tokens], axis=0)  # exponents of products from the chunk's start, [tokens, K]
        of_rows = np.repeat(G, n_h, axis=0)
        k, v, beta, q = rows.k[here], rows.v[here], rows.beta[here], rows.q[tokens]
        if form == "none":
            V = v
        else:
            V = _values(ledger, k, v, beta, of_rows, S, form)
        # outputs: what the state at the start gives, and what the rows up to each token's last give
        attention = _weighted(ledger, "Q K'", q, k, G, of_rows, diagonal=n_h)
        for factor, behind in ((_scale(word), None), (None, _scale(word))):
            left = times(q, powers(G)) if factor is None else times(times(q, powers(G)), factor)
            inner = attention if factor is None else times(attention, factor)
            both = Dyadic(*_side_by_side(left, inner))
            o = ledger.multiply("outputs of a chunk", both, Dyadic(*_stack(S, V)))
            if behind is not None:
                ledger.multiply_entries("outputs by scale", o, behind)
        last = G[-1]
        decayed = ledger.multiply_entries("decay over a chunk", powers(last)[:, None], S)
        S = ledger.multiply("state", times(k, powers(last[None, :] - of_rows)).T, V, decayed)
    return S


def _rwkv7_chunks(ledger: Ledger, word: Word, rows: _RWKV, S: Dyadic, size: int) -> Dyadic:
    for first in range(0, rows.q.integers.shape[0], size):
        here = slice(first, first + size)
        q, k, v, u, z = rows.q[here], rows.k[here], rows.v[here], rows.u[here], rows.z[here]
        G = np.cumsum(rows.gates[here], axis=0)
        before = G - rows.gates[here]  # z reads the state before its token's decay
        A = _weighted(ledger, "Z K'", z, k, before, G, diagonal=0)
        C = _weighted(ledger, "Z U'", z, u, before, G, diagonal=0)
        X = _inverse(ledger, Dyadic(-C.integers, C.exponent))
        Z = times(z, powers(before))
        values = ledger.multiply("A V", A, v)
        read = ledger.multiply("X (A V + Z S)", X, ledger.multiply("A V + Z S", Z, S, values))
        ledger.multiply("reads by substitution", C, read, ledger.multiply("A V + Z S", Z, S, values))
        ledger.multiply("X A V + X Z S", ledger.multiply("X Z", X, Z), S, ledger.multiply("X A V", X, values))
        left = [
            _weighted(ledger, "Q K'", q, k, G, G, diagonal=1),
            _weighted(ledger, "Q U'", q, u, G, G, diagonal=1),
        ]
        both = Dyadic(*_side_by_side(*left))
        inner = Dyadic(*_side_by_side(times(q, powers(G)), both))
        right = Dyadic(*_stack(S, Dyadic(*_stack(v, read))))
        ledger.multiply("outputs of a chunk", times(inner, _scale(word)), right)
        ledger.multiply_entries(
            "outputs by scale", ledger.multiply("outputs of a chunk", inner, right), _scale(word)
        )
        behind = powers(G[-1][None, :] - G)
        decayed = ledger.multiply_entries("decay over a chunk", powers(G[-1])[:, None], S)
        keys = Dyadic(*_side_by_side(times(k, behind).T, times(u, behind).T))
        S = ledger.multiply("state", keys, Dyadic(*_stack(v, read)), decayed)
    return S


def _values(
    ledger: Ledger, k: Dyadic, v: Dyadic, beta: Dyadic, of_rows: Integers, S: Dyadic, form: str
) -> Dyadic:
    """The written values of a chunk's rows, in one of two forms."""
    R = k.integers.shape[0]
    strictly = Dyadic(np.tril(np.ones((R, R), dtype=object), -1) + 0, 0)
    gram = _weighted(ledger, "K K'", k, k, of_rows, of_rows, diagonal=0)
    decayed = times(k, powers(of_rows))
    if form == "U and W":
        L = times(ledger.multiply_entries("beta K K'", beta, gram), strictly)
        plain = of_rows * 0
        _weighted(ledger, "(beta K) K'", times(beta, k), k, plain, plain, diagonal=0)
        X = _inverse(ledger, L)
        right = ledger.multiply_entries("beta V", beta, v)
        keys = ledger.multiply_entries("beta K", beta, decayed)
        U, W = ledger.multiply("U", X, right), ledger.multiply("W", X, keys)
        for name, solution, side in (("U", U, right), ("W", W, keys)):
            ledger.multiply(f"{name} by substitution", L, solution, side, -1)
        return ledger.multiply("U - W S", W, S, U, -1)
    L = times(ledger.multiply_entries("K K' beta", gram, beta.T), strictly)
    X = _inverse(ledger, L)
    P = ledger.multiply("V - K S", decayed, S, v, -1)
    E = ledger.multiply("X P", X, P)
    ledger.multiply("(B X) P", times(beta, X), P)
    return ledger.multiply_entries("B E", beta, E)


def _weighted(
    ledger: Ledger, name: str, a: Dyadic, k: Dyadic, of_a: Integers, of_k: Integers, diagonal: int
) -> Dyadic:
    """`[i,j] = sum over channels c of a_ic 2^(G_ic - G_jc) k_jc` for the rows j that i sees, zero elsewhere.

    Args:
        ledger: where it is checked.
        name: of the product.
        a: queries or keys.
        k: keys.
        of_a: exponents of `a`'s rows.
        of_k: exponents of `k`'s rows.
        diagonal: rows a token where `a` are queries, which see their own token's rows; 0 for keys, which see those before.
    """
    R, n = k.integers.shape[0], a.integers.shape[0]
    pieces = []
    for i in range(n):
        seen = (i + 1) * diagonal if diagonal else i
        exponents = np.where(np.arange(R)[:, None] < seen, of_a[i][None, :] - of_k, 0)
        weighted = times(
            times(k, powers(exponents)),
            Dyadic(
                (np.arange(R)[:, None] < seen) * np.ones((1, 1), dtype=object).astype(int).astype(object), 0
            ),
        )
        pieces.append(ledger.multiply(name, a[i : i + 1], weighted.T))
    low = min((piece.exponent for piece in pieces), default=0)
    return Dyadic(np.concatenate([p.integers * (1 << p.exponent - low) for p in pieces]), low)


def _inverse(ledger: Ledger, L: Dyadic) -> Dyadic:
    """`(I + L)^-1` row by row, and by blocks that are joined; both are checked."""
    R = L.integers.shape[0]
    # a unit triangular matrix of numbers m 2^e, e <= 0, has an inverse whose entries are multiples of 2^(e (R - 1)) at worst
    shift = -L.exponent
    rows = np.zeros((R, R), dtype=object) + 0
    exponents = [0] * R
    found = [Dyadic(rows[:0], 0)] * 0
    for i in range(R):
        row = np.zeros(R, dtype=object) + 0
        row[i] = 1
        total, exponent = row, 0
        for j in range(i):
            x = L.integers[i, j]
            if x:
                e = L.exponent + exponents[j]
                low = min(e, exponent)
                total = total * (1 << exponent - low) - x * found[j].integers * (1 << e - low)
                exponent = low
        bits = 0
        for x in total:
            bits |= abs(int(x))
        spare = min((bits & -bits).bit_length() - 1, max(-exponent, 0)) if shift else 0
        found.append(Dyadic(total // (1 << spare), exponent + spare))
        exponents[i] = exponent + spare
    low = min(exponents, default=0)
    X = Dyadic(np.stack([f.integers * (1 << f.exponent - low) for f in found]), low)
    unit = Dyadic(np.eye(R, dtype=object) + 0, 0)
    ledger.multiply("inverse by rows", L, X, unit, -1)
    size = 1
    while size < R:
        for start in range(0, R, 2 * size):
            a, b = slice(start, start + size), slice(start + size, min(start + 2 * size, R))
            if b.start >= R:
                continue
            half = ledger.multiply("inverse by blocks", L[b, a], X[a, a])
            ledger.multiply("inverse by blocks", X[b, b], half)
        size *= 2
    return X


def _scan(ledger: Ledger, word: Word, rows: Rows, S: Dyadic) -> Dyadic:
    """Segments as maps, each found by the recurrence from zero and from the identity."""
    K, T = rows.k.integers.shape[1], rows.q.integers.shape[0]
    for first in range(0, T, SEGMENT):
        end = min(first + SEGMENT, T)
        here = slice(first * rows.n_h, end * rows.n_h)
        part = Rows(
            rows.q[first:end], rows.k[here], rows.v[here], rows.beta[here], rows.gates[first:end], rows.n_h
        )
        C = _recurrent(ledger, word, part, Dyadic(S.integers * 0, 0))
        nothing = Dyadic(np.zeros((part.v.integers.shape[0], K), dtype=object) + 0, 0)
        silent = Rows(Dyadic(part.q.integers * 0, 0), part.k, nothing, part.beta, part.gates, part.n_h)
        M = _recurrent(ledger, word, silent, Dyadic(np.eye(K, dtype=object) + 0, 0))
        S = ledger.multiply("M S + C", M, S, C)
    return S


def _side_by_side(a: Dyadic, b: Dyadic) -> tuple[Integers, int]:
    low = min(a.exponent, b.exponent)
    return np.concatenate([x.integers * (1 << x.exponent - low) for x in (a, b)], axis=1), low


def _stack(a: Dyadic, b: Dyadic) -> tuple[Integers, int]:
    low = min(a.exponent, b.exponent)
    return np.concatenate([x.integers * (1 << x.exponent - low) for x in (a, b)], axis=0), low
