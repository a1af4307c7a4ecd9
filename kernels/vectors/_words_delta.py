"""Words of the delta rule: structure, betas, and what must not be rounded."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from ._exact import Number, exact_array
from ._word import Word
from ._words_plain import Token, idle, make_word, random_tokens, small, swap, write

FROM_11_BITS = ("fp16", "tf32", "fp32", "fp64")
FROM_24_BITS = ("fp32", "fp64")


def integers() -> list[Word]:
    """Swaps, overwrites and idle tokens of small integers, without a tail of one token; and one swap again and again."""
    words = []
    for T, K, V in ((8, 4, 3), (24, 4, 4), (64, 4, 3), (96, 16, 5), (128, 4, 4), (200, 4, 3)):
        tokens = random_tokens(Random(f"integers {T}"), T, K, V)
        words.append(make_word("integers", f"T={T} K={K} V={V}", [tokens], K=K, V=V))
    again = [write(0, 1), write(1, 2), *[swap(0, 1)] * 62]
    words.append(make_word("integers", "one swap 62 times", [again]))
    again = [write(0, 1), write(1, 2), *[swap(0, 1)] * 126]
    words.append(make_word("integers", "one swap 126 times", [again]))
    return words


def tails() -> list[Word]:
    """Lengths around chunks of 16, 32, 64 and 128: the last token overwrites what the first ones wrote."""
    words = []
    for T in (15, 17, 31, 33, 63, 65, 127, 129):
        tokens = [write(0, 1), write(1, 2), *idle(T - 3), write(1, -1)]
        words.append(make_word("tails", f"T={T}", [tokens]))
    return words


def beta_above_one() -> list[Word]:
    """Betas of 3/2 and 2, each once on what was written."""
    half = Token({0: 1}, 0, Fraction(3, 2))
    flip = Token({1: 1}, 1, 2)
    return [
        make_word("beta-above-one", "beta=2", [[write(0, 1), write(1, 3), flip, *idle(3)]]),
        make_word("beta-above-one", "beta=3:2", [[write(0, 4), write(1, 3), half, *idle(3)]]),
    ]


def beta_fine() -> list[Word]:
    """Betas of 1 - 2^-m on what was written, of which 2^-m is left; and on an empty row."""
    words = []
    for m, products in ((9, FROM_11_BITS), (12, FROM_24_BITS), (20, FROM_24_BITS)):
        beta, only = 1 - Fraction(1, 2**m), {0: 1}
        row = [
            write(0, [1, -1, 2], q={}),
            write(1, 3, q={}),
            Token({0: 1}, 0, beta, q=only),
            *idle(4, q=only),
        ]
        words.append(make_word("beta-fine", f"beta=1-2^-{m}", [row], products=products))
        empty = [Token({0: 1}, [1, -1, 1], beta, q={}), write(1, [1, -1, 1], q={}), *idle(4, q={1: 1})]
        words.append(make_word("beta-fine", f"beta=1-2^-{m}, empty row", [empty], products=products))
    return words


def state_fine() -> list[Word]:
    """Keys (2^-m, 1) make a state entry 1 + 2^-m - 2^-2m, which then stays, within a chunk and beyond.

    Queries read its difference to an entry of 1, so that outputs have few bits.
    """
    words, ones = [], [1, -1, 1]
    for m, products in ((4, FROM_11_BITS), (6, FROM_24_BITS), (8, FROM_24_BITS)):
        for T in (8, 72, *((136,) if m == 6 else ())):
            fine = Token({0: Fraction(1, 2**m), 1: 1}, ones, 1, q={0: 1, 2: -1})
            tokens = [write(0, ones, q={}), write(2, ones, q={}), fine, *idle(T - 3, q={0: 1, 2: -1})]
            words.append(make_word("state-fine", f"m={m} T={T}", [tokens], products=products))
    return words


def added_state_fine() -> list[Word]:
    """The same where writes only add: a state entry of 1 + 2^-m."""
    words, ones, read = [], [1, -1, 1], {0: 1, 2: -1}
    for m, products in ((9, FROM_11_BITS), (12, FROM_24_BITS), (16, FROM_24_BITS)):
        for T in (8, 72):
            more = Token({0: Fraction(1, 2**m)}, ones, 1, q=read)
            tokens = [write(0, ones, q={}), write(2, ones, q={}), more, *idle(T - 3, q=read)]
            words.append(make_word("state-fine", f"1+2^-{m} T={T}", [tokens], products=products))
    return words


def ranges() -> list[Word]:
    """Powers of two beyond the largest number of fp16, in the state, in the outputs, and in the terms of an output."""
    high, all_of_8_bits = [2**15, -(2**15), 0], ("bf16", "tf32", "fp32", "fp64")
    small_query = {0: Fraction(1, 2**10)}
    state = [Token({0: 4}, high, 1, q=small_query), *idle(5, q=small_query)]
    output = [write(0, [2**10, 1, 0], q={0: 2**7}), *idle(5, q={0: 2**7})]
    row = [2**15, 2**14, 0]
    terms = [
        *(write(i, row if i < 2 else [-x for x in row], q={}) for i in range(4)),
        *idle(4, q=dict.fromkeys(range(4), 4)),
    ]
    return [
        make_word("range", "state", [state], products=all_of_8_bits),
        make_word("range", "output", [output]),
        make_word("range", "terms of an output", [terms]),
    ]


def outputs_fine() -> list[Word]:
    """Outputs of 9 to 21 bits from states and queries of one or two."""
    words = []
    for m in (8, 12, 20):
        query = {0: 1, 1: Fraction(1, 2**m)}
        tokens = [write(0, [1, -1, 1], q={}), write(1, [1, 1, -1], q={}), *idle(4, q=query)]
        words.append(make_word("outputs-fine", f"q=(1, 2^-{m})", [tokens]))
    return words


def inputs_fine() -> list[Word]:
    """A query, a key and a value of 10 and 13 bits: outputs are what 1 does not hold of each, or nothing."""
    ones, difference = [1, -1, 1], {0: 1, 1: -1}
    words = []
    for m, products in ((9, FROM_11_BITS), (12, FROM_24_BITS)):
        fine = 1 + Fraction(1, 2**m)
        tokens = {
            "query": [write(0, ones, q={}), write(1, ones, q={}), *idle(3, q={0: fine, 1: -1})],
            "key": [Token({0: fine, 1: 1}, ones, 1, q=difference), *[Token(q=difference)] * 4],
            "value": [
                write(0, [fine, -fine, 1], q={}),
                Token({0: 1, 1: 1}, ones, 1, q={1: 1}),
                *idle(3, q={1: 1}),
            ],
        }
        words += [
            make_word("inputs-fine", f"{name} 1+2^-{m}", [found], products=products)
            for name, found in tokens.items()
        ]
    return words


def added_inputs_fine() -> list[Word]:
    """The same where writes only add: the value is read beside one of 1."""
    ones, difference = [1, -1, 1], {0: 1, 1: -1}
    words = [word for word in inputs_fine() if not word.name.startswith("value")]
    for m, products in ((9, FROM_11_BITS), (12, FROM_24_BITS)):
        fine = 1 + Fraction(1, 2**m)
        tokens = [write(0, [fine, -fine, 1], q={}), write(1, ones, q={}), *idle(3, q=difference)]
        words.append(make_word("inputs-fine", f"value 1+2^-{m}", [tokens], products=products))
    return words


def coefficients() -> list[Word]:
    """Products of keys, and entries of the inverse (I + L)^-1, of 9 to 12 bits; states and written values have one."""
    keys: dict[str, list[dict[int, Number]]] = {
        "k'k=257": [{0: 16, 1: 1}] * 2,
        "k'k=2049": [{0: 32, 1: 32, 2: 1}] * 2,
        "inverse 257": [{0: 1}, {0: 16, 1: 1}, {0: -1, 1: 32}],
    }
    values: dict[str, tuple[Number, ...]] = {
        "k'k=257": (1, 256),
        "k'k=2049": (1, 2048),
        "inverse 257": (1, 16, 0),
    }
    words = []
    for name, found in keys.items():
        tokens = [
            Token(dict(key), [v, -v, 0], 1, q={0: 1, 2: 1})
            for key, v in zip(found, values[name], strict=True)
        ]
        products = FROM_24_BITS if "2049" in name else FROM_11_BITS
        words.append(
            make_word("coefficients", name, [[*tokens, *idle(3, q={0: 1, 2: 1})]], products=products)
        )
    return words


def initial_state() -> list[Word]:
    """Initial states that are not symmetric, and one whose entries have 21 bits."""
    random = Random("initial")
    words = []
    for K, V in ((4, 4), (4, 3), (16, 3)):
        start = exact_array([random.choice((-3, -2, -1, 1, 2, 3)) for _ in range(K * V)]).reshape(1, 1, K, V)
        tokens = [swap(0, 1), write(2, small(random, V)), *idle(3)]
        words.append(make_word("initial-state", f"K={K} V={V}", [tokens], K=K, V=V, initial=start))
    fine, query = 1 + Fraction(1, 2**20), {0: 1, 3: -1}
    start = exact_array([[fine, -fine, 1], [2, 3, 4], [0, 1, -1], [fine, -fine, 0]]).reshape(1, 1, 4, 3)
    tokens = [*idle(2, q=query), swap(1, 2, q=query), *idle(2, q=query)]
    words.append(make_word("initial-state", "21 bits", [tokens], initial=start, products=FROM_24_BITS))
    return words
