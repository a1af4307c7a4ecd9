"""Words about how a function is called: packed, call after call, with no tokens, with several heads, with a scale."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from ._word import Call, Word
from ._words_plain import Token, idle, make_word, random_state, random_tokens, small, swap, write


def packed() -> list[Word]:
    """Sequences of different lengths in one row, with initial states and without, one of them empty."""
    words = []
    for name, lengths, with_states in (
        ("7, 1, 16", (7, 1, 16), False),
        ("1, 63, 64, 70", (1, 63, 64, 70), True),
        ("5, 0, 33", (5, 0, 33), True),
    ):
        random = Random(name)
        tokens = [t for n in lengths for t in random_tokens(random, n, 4, 3, filled=False)]
        bounds = tuple(sum(lengths[:i]) for i in range(len(lengths) + 1))
        start = random_state(random, len(lengths), 1, 4, 3) if with_states else None
        words.append(make_word("packed", name, [tokens], initial=start, cu_seqlens=bounds))
    return words


def decode() -> list[Word]:
    """A prefill in one call or by chunks, then single tokens, each call with the final state of the one before."""
    words = []
    for name, cuts in (
        ("5, then 1 at a time", (5, 6, 7, 8, 9)),
        ("64, then 1 at a time", (64, 65, 66, 67)),
        ("64, 64 and 3", (64, 128, 131)),
        ("1 at a time", (1, 2, 3, 4, 5, 6)),
    ):
        tokens = random_tokens(Random(name), cuts[-1], 4, 3)
        starts = (0, *cuts[:-1])
        calls = tuple(Call(a, b, i - 1) for i, (a, b) in enumerate(zip(starts, cuts, strict=True)))
        words.append(make_word("decode", name, [tokens], calls=calls))
    return words


def prefix() -> list[Word]:
    """Two continuations of one prefix: the state behind it is used twice, and so is the word's initial state."""
    random = Random("prefix")
    tokens = [write(i, small(random, 3)) for i in range(4)]
    first, second = [swap(0, 1), swap(1, 2), write(3, 1)], [swap(2, 3), write(0, 2)]
    calls = (Call(0, 4), Call(4, 7, 0), Call(7, 9, 0))
    start = random_state(random, 1, 1, 4, 3)
    return [
        make_word("prefix", "after 4 tokens", [[*tokens, *first, *second]], calls=calls),
        make_word(
            "prefix",
            "of an initial state",
            [[*first, *second]],
            calls=(Call(0, 3), Call(3, 5)),
            initial=start,
        ),
    ]


def no_tokens() -> list[Word]:
    """T = 0: the final state is the initial one, or zero without one."""
    start = random_state(Random("no tokens"), 2, 1, 4, 3)
    return [
        make_word("no-tokens", "initial state", [[], []], batch=2, initial=start),
        make_word("no-tokens", "from zero", [[]]),
    ]


def heads() -> list[Word]:
    """Rows of a batch and heads that differ in everything, beta included."""
    words = []
    for T, B, H in ((6, 2, 3), (3, 3, 2)):
        random = Random(f"heads {T}")
        tokens = []
        for _ in range(B * H):
            betas: list[int | Fraction] = [random.choice((0, Fraction(1, 2), 1)) for _ in range(T)]
            tokens.append([Token({random.randrange(4): 1}, small(random, 3), beta) for beta in betas])
        words.append(make_word("heads", f"B={B} H={H} T={T}", tokens, batch=B))
    return words


def scales() -> list[Word]:
    """Scales of the outputs other than K^-1/2, which all other words have."""
    tokens = [write(0, 1), write(1, 2), swap(0, 1), *idle(2)]
    return [
        make_word("scale", f"scale={s}".replace("/", ":"), [tokens], scale=s) for s in (1, Fraction(1, 4))
    ]
