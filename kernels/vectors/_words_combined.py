"""Words that combine what other words hold one by one: numbers of many bits, gates, initial states, calls, heads, widths.

An implementation has paths of its own for packed sequences, single tokens, rows of a batch, or gates that are given. What it
rounds in one of them is seen only where a number of many bits takes that path. Each word is a `Cell`: the sequences, the calls
and the widths, and whether there are gates and an initial state. The tokens of each head come from `_story`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from ._exact import Exact, Number, zeros
from ._translations import as_rwkv7, as_scalar_gate, with_unit_gates
from ._word import Call, Word
from ._words_gates import ALL, EXPONENTIATED
from ._words_plain import Token, make_word, random_state, small, swap, write

FROM_24_BITS = ("fp32", "fp64")
FINE = Fraction(1, 2**13)
"""What an entry of a fine initial state is away from an integer: 14 bits."""
STEP = Fraction(1, 2**6)
"""An entry of a key that makes a state entry 1 + 2^-6 - 2^-12, of 13 bits."""
READ: Mapping[int, Number] = {0: 1, 2: -1}
"""The query that reads what a fine entry of row 0 is away from row 2."""


@dataclass(frozen=True)
class Cell:
    """How a word is called.

    Attributes:
        name: of the word.
        lengths: of its sequences: one, T, for all rows of the batch; several are packed.
        cuts: where calls end, each with the final state of the one before; empty: one call.
        batch: B.
        heads: H.
        K: width of the keys.
        V: width of the values.
        start: whether there is an initial state.
        gates: `none`; `one`, gates of 1; `some`, gates of 1/2 and 1/4 that differ between heads; `channels`, likewise by channels.
        scale: None for K^-1/2.
        fine: whether states have 13 or 14 bits; otherwise all numbers are small integers and halves.
    """

    name: str
    lengths: tuple[int, ...]
    cuts: tuple[int, ...] = ()
    batch: int = 1
    heads: int = 1
    K: int = 4
    V: int = 3
    start: bool = False
    gates: str = "none"
    scale: Number | None = None
    fine: bool = True


def _build(family: str, cell: Cell, *, additive: bool = False) -> Word:
    """The word of a cell, of the delta rule as far as its gates allow."""
    random = Random(f"{family} {cell.name}")
    heads = [
        [token for n in cell.lengths for token in _story(random, n, cell, additive=additive)]
        for _ in range(cell.batch * cell.heads)
    ]
    N = cell.batch if len(cell.lengths) == 1 else len(cell.lengths)
    bounds = tuple(sum(cell.lengths[:i]) for i in range(len(cell.lengths) + 1))
    calls = tuple(Call(a, b, i - 1) for i, (a, b) in enumerate(zip((0, *cell.cuts), cell.cuts, strict=False)))
    default = Fraction(1, 4 if cell.K == 16 else 2)
    gated = cell.gates in ("some", "channels")
    states = fine_state if cell.fine else random_state
    word = make_word(
        family, cell.name, heads, batch=cell.batch, K=cell.K, V=cell.V,
        operator={"some": "gated_delta_rule", "channels": "kda"}.get(cell.gates, "delta_rule"),
        initial=states(random, N, cell.heads, cell.K, cell.V) if cell.start else None,
        cu_seqlens=bounds if len(cell.lengths) > 1 else None, calls=calls or (Call(0, -1),),
        scale=default if cell.scale is None else cell.scale, products=FROM_24_BITS if cell.fine else ALL,
        bound=EXPONENTIATED if gated else Fraction(0),
    )  # fmt: skip
    return with_unit_gates(word) if cell.gates == "one" else word


def _story(random: Random, T: int, cell: Cell, *, additive: bool) -> list[Token]:
    """The tokens of one sequence of one head: a fine entry is made unless the state begins with one, then stays while others change.

    Args:
        random: where choices come from.
        T: how many.
        cell: the word's cell.
        additive: whether writes only add, so that a fine entry is made by adding to it.
    """
    signs: list[Number] = [random.choice((-1, 1)) for _ in range(cell.V)]
    if not cell.fine:
        fine = write(1, small(random, cell.V), q=READ)
    else:
        fine = Token({0: FINE} if additive else {0: STEP, 1: 1}, signs, 1, q=READ)
    first = [] if cell.start else [write(0, signs, q={}), write(2, signs, q={}), fine]
    tokens = first[:T]
    for t in range(len(tokens), T):
        tokens.append(_change(random, t, cell.V))
    return _gated(random, tokens, cell)


def _change(random: Random, t: int, V: int) -> Token:
    """A token that leaves rows 0 and 2 as they are, and idles, overwrites, swaps or half overwrites among the others; halves are few."""
    query = READ if t % 2 else {0: 1, 1: 1, 3: -1}
    kind = random.choice(("idle", "write", "swap", "half" if t < 8 else "idle"))
    if kind == "write":
        return write(1, small(random, V), q=query)
    if kind == "swap":
        return swap(1, 3, q=query)
    if kind == "half":
        return Token({3: 1}, small(random, V), Fraction(1, 2), q=query)
    return Token({0: 1}, q=query)


def _gated(random: Random, tokens: list[Token], cell: Cell) -> list[Token]:
    """The tokens with gates: two of 1/2 and 1/4 in each sequence, at places that differ between heads."""
    if cell.gates not in ("some", "channels"):
        return tokens
    places = dict(zip(random.sample(range(len(tokens)), min(2, len(tokens))), (-1, -2), strict=False))
    found = []
    for t, token in enumerate(tokens):
        e = places.get(t, 0)
        channels = tuple(random.choice((0, e)) for _ in range(cell.K))
        found.append(replace(token, e=channels if cell.gates == "channels" else e))
    return found


def fine_state(random: Random, N: int, H: int, K: int, V: int) -> Exact:
    """Initial states of small integers, with rows 0 and 2 of the same signs, those of row 0 with 14 bits."""
    found = zeros(N, H, K, V)
    for n in range(N):
        for h in range(H):
            for j in range(V):
                sign = random.choice((-1, 1))
                for i in range(K):
                    found[n, h, i, j] = random.choice((-3, -2, 2, 3))
                found[n, h, 0, j], found[n, h, 2, j] = sign * (1 + FINE), sign
    return found


def _words(family: str, cells: Sequence[Cell], *, scalar: bool = True) -> list[Word]:
    """The words of cells for the delta rule and those that it is a special case of; and for `rwkv7` and `scalar_gate`."""
    found = []
    for cell in cells:
        word = _build(family, cell)
        found.append(word)
        if cell.gates != "one":
            found.append(as_rwkv7(word))
        if scalar and cell.gates not in ("one", "channels"):
            found.append(as_scalar_gate(_build(family, cell, additive=True)))
    return found


def _variants(*cells: Cell) -> list[Cell]:
    """Cells without gates, with gates of 1, with gates and with gates by channels."""
    shown = {"none": "", "one": ", gates of 1", "some": ", gates", "channels": ", gates by channels"}
    return [replace(cell, gates=gates, name=cell.name + shown[gates]) for cell in cells for gates in shown]


def fine_packed() -> list[Word]:
    """Packed sequences of one token and more, with states of 13 and 14 bits and without gates, with them, and with heads."""
    cells = _variants(Cell("7, 1, 12", (7, 1, 12), start=True))
    cells += [Cell("9, 0, 5", (9, 0, 5)), Cell("4, 66", (4, 66), gates="some")]
    cells += [Cell("1, 6, H=4", (1, 6), heads=4, start=True, gates="some")]
    return _words("fine-packed", cells)


def fine_decode() -> list[Word]:
    """Single tokens a call, with states of 13 and 14 bits, gates, and several heads and rows."""
    cells = _variants(Cell("1 at a time", (6,), (1, 2, 3, 4, 5, 6), start=True))
    cells += [Cell("4, then 1 at a time", (8,), (4, 5, 6, 7, 8), gates="some")]
    cells += [
        Cell("4, then 1 at a time, B=2 H=3", (7,), (4, 5, 6, 7), batch=2, heads=3, start=True, gates="some")
    ]
    return _words("fine-decode", cells)


def fine_heads() -> list[Word]:
    """Rows of a batch and heads that each have a state of 13 or 14 bits, gates and an initial state of their own."""
    cells = _variants(Cell("B=4 H=2 T=7", (7,), batch=4, heads=2, start=True))
    cells += [Cell("B=2 H=5 T=8", (8,), batch=2, heads=5), Cell("B=5 H=1 T=6", (6,), batch=5, gates="some")]
    return _words("fine-heads", cells)


def fine_long() -> list[Word]:
    """More than 64 tokens in one call, from an initial state of 14 bits that stays to the end."""
    cells = [
        Cell("T=66 H=2", (66,), heads=2, start=True),
        Cell("T=75, gates", (75,), start=True, gates="some"),
        Cell("T=132, gates", (132,), start=True, gates="some"),
    ]
    return _words("fine-long", cells)


def fine_widths() -> list[Word]:
    """Values wider than keys, and wider than tiles of 16 and 32."""
    cells = [
        Cell("K=4 V=6", (8,), V=6, start=True),
        Cell("K=16 V=18, gates", (6,), K=16, V=18, start=True, gates="some"),
        Cell("K=4 V=35", (5,), V=35),
    ]
    return _words("fine-widths", cells)


def fine_scales() -> list[Word]:
    """Scales other than K^-1/2 with gates, packed, in single tokens, and with heads."""
    cells = [
        Cell("gates, scale=2", (9,), start=True, gates="some", scale=2),
        Cell("gates of 1, scale=1:8", (6,), gates="one", scale=Fraction(1, 8)),
        Cell("packed, scale=1", (5, 1, 4), start=True, scale=1),
        Cell("1 at a time, scale=1:4", (4,), (1, 2, 3, 4), start=True, gates="some", scale=Fraction(1, 4)),
        Cell("B=2 H=2 T=7, scale=1", (7,), batch=2, heads=2, scale=1),
    ]
    return _words("fine-scales", cells)


def gated_calls() -> list[Word]:
    """Gates where sequences are packed, in single tokens, for heads and rows, and behind a cached prefix, of small numbers."""
    cells = [
        Cell("packed 5, 1, 0, 9", (5, 1, 0, 9), start=True),
        Cell("packed 3, 65", (3, 65)),
        Cell("1 at a time", (6,), (1, 2, 3, 4, 5, 6), start=True),
        Cell("64, then 1 at a time", (67,), (64, 65, 66, 67)),
        Cell("B=4 H=1 T=5", (5,), batch=4, start=True),
        Cell("B=2 H=4 T=6", (6,), batch=2, heads=4),
    ]
    cells = [replace(cell, gates="some", fine=False) for cell in cells]
    channels = (replace(cells[i], name=f"{cells[i].name}, by channels", gates="channels") for i in (0, 2, 5))
    return _words("gated-calls", [*cells, *channels])


def fine_steps() -> list[Word]:
    """Two to five micro-steps a token whose betas differ, up to 12 bits, with initial states, packed, by tokens, heads and gates."""
    fine = 1 - Fraction(1, 2**12)
    found = []
    for name, n_h, lengths, cuts, batch, heads, start, gated in (
        ("n_h=2 T=5", 2, (5,), (), 1, 1, True, False),
        ("n_h=3 T=4 B=2 H=3", 3, (4,), (), 2, 3, True, False),
        ("n_h=4 T=5, gates", 4, (5,), (), 1, 1, True, True),
        ("n_h=5 T=3", 5, (3,), (), 1, 2, False, False),
        ("n_h=2 packed 4, 1, 0, 34", 2, (4, 1, 0, 34), (), 1, 1, True, False),
        ("n_h=3 1 at a time, gates", 3, (5,), (1, 2, 3, 4, 5), 1, 2, True, True),
    ):
        random = Random(f"fine steps {name}")
        tokens = [
            [token for n in lengths for token in _steps(random, n, n_h, fine, gated=gated)]
            for _ in range(batch * heads)
        ]
        N = batch if len(lengths) == 1 else len(lengths)
        calls = tuple(Call(a, b, i - 1) for i, (a, b) in enumerate(zip((0, *cuts), cuts, strict=False)))
        found.append(
            make_word(
                "fine-steps", name, tokens, operator="delta_product", batch=batch, calls=calls or (Call(0, -1),),
                initial=random_state(random, N, heads, 4, 3) if start else None, products=FROM_24_BITS,
                cu_seqlens=tuple(sum(lengths[:i]) for i in range(len(lengths) + 1)) if len(lengths) > 1 else None,
                bound=EXPONENTIATED if gated else Fraction(0),
            )
        )  # fmt: skip
    return found


def _steps(random: Random, T: int, n_h: int, fine: Number, *, gated: bool) -> list[Token]:
    """Tokens of micro-steps: writes and swaps with betas of 0, 1 and 2, and three with betas of 3/2, 1/2 and of many bits."""
    special = {(0, n_h - 1): fine, (1, 0): Fraction(3, 2), (1, n_h - 1): Fraction(1, 2)}
    tokens = []
    for t in range(T):
        steps = [_step(random, i, special.get((t, i))) for i in range(n_h)]
        (k, v, beta), *more = steps
        tokens.append(Token(k, v, beta, -1 if gated and t in (1, 3) else 0, more=tuple(more)))
    return tokens


def _step(random: Random, i: int, beta: Number | None) -> tuple[Mapping[int, Number], list[Number], Number]:
    """Key, value and beta of a micro-step: a write with a given beta to a row of its own, or a swap or a write of a random one."""
    if beta is not None:
        return {i % 4: 1}, small(random, 3), beta
    a, b = random.sample(range(4), 2)
    kind = random.choice(("swap", "write", "idle", "reflect"))
    if kind == "swap":
        return {a: 1, b: -1}, [0, 0, 0], 1
    if kind == "reflect":
        return {a: 1}, [0, 1, -1], 2
    return {a: 1}, small(random, 3), 1 if kind == "write" else 0


def unit_gates(words: Sequence[Word]) -> list[Word]:
    """Words of the delta rule with gates of 1 given, which must change nothing.

    Args:
        words: the words.
    """
    return [
        replace(with_unit_gates(word), family="unit-gates", name=f"{word.family}, {word.name}")
        for word in words
    ]
