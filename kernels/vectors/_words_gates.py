"""Words with gates, which are powers of two; and words of the operators that are not the delta rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random

from ._exact import Number, zeros
from ._word import Word
from ._words_plain import Token, idle, make_word, random_state, small, swap, write

EXPONENTIATED = Fraction(1, 2**14)
"""The bound where gates come as logarithms: at most 16 factors of 2 in a word, so that errors of float32 stay below 2^-15."""
ALL = ("bf16", "fp16", "tf32", "fp32", "fp64")
FROM_11_BITS = ("fp16", "tf32", "fp32", "fp64")
STRONG = Fraction(1, 2**10)
"""The bound where logarithms add up to more than 100."""


def gates() -> list[Word]:
    """Gates of 1/2 to 1/8 before, between and on tokens that write, at the start, and across chunks; and gates down to 2^-10.

    What a gate of 2^-10 leaves of a state is far beyond the bound of the word, for the state was at least a third of its largest number.
    """
    words = []
    for T, places in ((6, (0, 2, 4)), (20, (3, 9, 16, 19)), (66, (1, 30, 63, 64)), (130, (5, 64, 100, 128))):
        random = Random(f"gates {T}")
        reads: list[dict[int, Number]] = [{t % 3: 1} for t in range(T)]
        tokens = [write(i, [8 * x for x in small(random, 3)], q=reads[i]) for i in range(3)]
        tokens += [Token({0: 1}, q=reads[t]) for t in range(3, T)]
        for i, (place, e) in enumerate(zip(places, (-1, -2, -1, -3), strict=False)):
            beta = Fraction(1, 2) if i == 2 else 1
            tokens[place] = Token({i % 3: 1}, small(random, 3), beta, e, reads[place])
        tokens[T - 2] = swap(0, 1, e=-1, q=reads[T - 2])
        words.append(make_word("gates", f"T={T}", [tokens], operator="gated_delta_rule", bound=EXPONENTIATED))
    start = random_state(Random("gated start"), 1, 1, 4, 3) * 16
    read: dict[int, Number] = {1: 1}
    tokens = [idle(1, e=-2, q=read)[0], swap(0, 1, e=-1, q=read), *idle(2, q=read), write(1, 3, e=-1, q=read)]
    words.append(make_word("gates", "initial state", [tokens], operator="gated_delta_rule", initial=start,
        bound=EXPONENTIATED))  # fmt: skip
    for name, exponents in (("2^-10", (-10,)), ("2^-5 and 2^-7", (-5, -7))):
        tokens = [write(0, [8, -16, 24], q={}), write(1, [3, 1, -2], q={})]
        for e in exponents:
            tokens += [idle(1, e=e, q={0: 1})[0], write(2, 1, q={0: 1}), *idle(2, q={0: 1})]
        words.append(make_word("gates", f"a gate of {name}" if len(exponents) == 1 else f"gates of {name}", [tokens],
            operator="gated_delta_rule", bound=EXPONENTIATED, products=ALL if len(exponents) == 1 else FROM_11_BITS))  # fmt: skip
    return words


def strong_gates() -> list[Word]:
    """Gates of 1/4 at every token of a chunk: the reciprocal of their product is beyond the largest float32."""
    words = []
    for T in (80, 160):
        tokens = [Token({t % 4: 1}, [1, -2, 3], 1, -2, {t % 3: 1}) for t in range(T)]
        words.append(make_word("strong-gates", f"T={T}", [tokens], operator="gated_delta_rule", bound=STRONG,
            bound_linear=STRONG, products=("fp32", "fp64")))  # fmt: skip
    return words


def delta_product() -> list[Word]:
    """Two and three micro-steps a token, which do not commute, with gates once a token and without."""
    words = []
    for n_h, T, gated in ((2, 5, False), (3, 7, False), (2, 33, False), (2, 6, True), (3, 22, True)):
        random = Random(f"product {n_h} {T} {gated}")
        tokens = []
        for t in range(T):
            steps: list[tuple[Mapping[int, Number], Number | list[Number], Number]] = []
            for i in range(n_h):
                a, b = random.sample(range(4), 2)
                swaps = t > 2 and i < n_h - 1
                steps.append(
                    ({a: 1, b: -1}, 0, 1) if swaps else ({a: 1}, [4 * x for x in small(random, 3)], 1)
                )
            e = -1 if gated and t % 3 == 1 and t < 16 else 0
            tokens.append(Token(steps[0][0], steps[0][1], steps[0][2], e, more=tuple(steps[1:])))
        name = f"n_h={n_h} T={T}{' gated' if gated else ''}"
        words.append(make_word("delta-product", name, [tokens], operator="delta_product",
            bound=EXPONENTIATED if gated else Fraction(0)))  # fmt: skip
    return words


def channel_gates() -> list[Word]:
    """Gates that differ between the channels of the keys."""
    words = []
    patterns: Sequence[Sequence[int]] = ((0, -1, -2, 0), (-1, 0, 0, -2), (0, 0, -1, 0), (-2, -1, 0, 0))
    for T, V in ((6, 3), (9, 4), (64, 3), (70, 4)):
        random = Random(f"channels {T}")
        tokens = [write(i, [4 * x for x in small(random, V)], e=(0, 0, 0, 0)) for i in range(4)]
        tokens += idle(T - 4, e=(0, 0, 0, 0))
        for i, place in enumerate((1, 4, T // 2, T - 1)):
            kind = swap(i % 3, 3) if i % 2 else write(i % 3, small(random, V))
            tokens[place] = Token(kind.k, kind.v, kind.beta, patterns[i])
        words.append(
            make_word("channel-gates", f"T={T} V={V}", [tokens], operator="kda", V=V, bound=EXPONENTIATED)
        )
    return words


def rwkv7() -> list[Word]:
    """Transitions diag(a) + u z' and writes k v': removal of a row, replacement, and gates by channels."""
    words = []
    for T, V, gated in ((5, 3, False), (17, 4, True), (64, 3, True)):
        random = Random(f"rwkv7 {T}")
        tokens = []
        for t in range(T):
            e = tuple(random.choice((0, 0, -1)) if gated and t % 8 == 4 else 0 for _ in range(4))
            tokens.append(
                Token({t % 4: 1}, [4 * x for x in small(random, V)], 0, e if gated else (0, 0, 0, 0))
            )
        word = make_word("rwkv7", f"T={T} V={V}{' gated' if gated else ''}", [tokens], operator="rwkv7", V=V,
            bound=EXPONENTIATED, initial=random_state(random, 1, 1, 4, V) * 4,
            products=("fp32", "fp64") if T == 64 else ALL)  # fmt: skip
        u, z = zeros(1, T, 1, 4), zeros(1, T, 1, 4)
        for t in range(T):
            i, j = random.sample(range(4), 2)
            # removes row i and puts it in place of row j; with a gate the removed row is the decayed one's source
            z[0, t, 0, i] = 1 if t % 3 else Fraction(1, 2)
            u[0, t, 0, i] = -1
            u[0, t, 0, j] = random.choice((0, Fraction(1, 2)))
        words.append(_with(word, u, z))
    return words


def _with(word: Word, u: object, z: object) -> Word:
    given = {name: getattr(word, name) for name in Word.__dataclass_fields__}
    return Word(**{**given, "u": u, "z": z})


def scalar_gate() -> list[Word]:
    """Gates and writes without an error term."""
    words = []
    for T, K, V in ((5, 4, 3), (17, 4, 4), (64, 16, 5), (65, 4, 3)):
        random = Random(f"scalar {T}")
        tokens = []
        for t in range(T):
            key: dict[int, Number] = {i: random.randint(-1, 1) for i in range(K)}
            tokens.append(
                Token(key, [2 * x for x in small(random, V)], 0, -1 if t % 8 == 3 and t < 50 else 0)
            )
        start = random_state(random, 1, 1, K, V) * 8
        words.append(make_word("scalar-gate", f"T={T} K={K} V={V}", [tokens], operator="scalar_gate", K=K, V=V,
            initial=start, bound=EXPONENTIATED, products=FROM_11_BITS if T > 60 else ALL))  # fmt: skip
    return words
