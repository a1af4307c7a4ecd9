"""own.no-parity: Mamba-2, Gated DeltaNet, KDA and Gated DeltaNet-2 with β and gates below 1 do no parity in model cast."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ...constructions._spec import automaton_from_spec
from .._check import check
from .._verdict import Verdict
from ..arithmetic._arithmetic import Cast, parse_arithmetic
from ..impossibility._certificate import certify_cast_impossibility
from ..impossibility._orbits import AffineHead
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from .own_row_gates import transition

CLAIM = Claim(
    "own.no-parity",
    "No parity for Mamba-2, Gated DeltaNet, KDA and Gated DeltaNet-2 with β and gates up to 1",
    "supported",
    uses=("G.T1", "own.row-gates"),
    arithmetic="cast",
    seconds=22,
)
FAMILIES = ("mamba2", "gated_deltanet", "kda", "gated_deltanet2")
FORMATS = ("cast:bf16", "cast:fp8_e4m3", "cast:fp16")


class Letters(NamedTuple):
    """A layer of a family by what its letter 1 has; its letter 0 changes nothing."""

    family: str
    arithmetic: str
    key: tuple[Fraction, Fraction]
    gate: tuple[Fraction, Fraction]
    decay: tuple[Fraction, Fraction]
    value: int
    start: tuple[int, int]


def verify(effort: Effort = QUICK) -> Verdict:
    """Layers of these families with eigenvalues in [0, 1] reach one state by 1^k and 1^(k+1).

    Statement: In model cast no stack of finitely many layers recognises (11)*, nor (1^m)* for any m ≥ 2, if each layer is one of: Mamba or
        Mamba-2 with decays in (0, 1); Gated DeltaNet or KDA with keys of length at most 1 and β and decays in [0, 1]; Gated DeltaNet-2 with gates and decays
        in [0, 1]. With β, or the gates of erasure, up to 2, one layer does parity.
    Direction: necessary
    Hypotheses: As in G.T1; ‖k‖ ≤ 1, and β, b, w in [0, 1].
    Arithmetic: cast
    Source: own: G, Theorem 1, with the eigenvalues of own.row-gates; those of Mamba-2 are its decays
    Method: The eigenvalues are in [0, 1] by own.row-gates (a shorter key is one of length 1 with smaller gates), so G.T1 applies. Beside it,
        random layers of two rows of each family in three formats: two words 1^i and 1^(i+1) with one state are written into a certificate, which the
        stand-alone checker replays. With gates of 2 and decays of 1 the letter is a reflection, and no such words may be found.
    Example:
        >>> print(verify().line())
        supported by 12 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(12, 240),
        draw=lambda generator: draw_letters(generator, Fraction(1)),
        broken=lambda generator: draw_letters(generator, Fraction(2)),
        check=without_confused_words,
        broken_count=effort.pick(4, 40),
        tight=lambda letters: Fraction(1) in letters.gate,
        evidence={"families": list(FAMILIES), "arithmetics": list(FORMATS)},
    )


def draw_letters(generator: np.random.Generator, largest: Fraction) -> Letters:
    """A random layer; `largest` 2: a reflection without decay, of a family with a key."""

    def quarters(low: int, high: int) -> tuple[Fraction, Fraction]:
        first, second = generator.integers(low, high + 1, size=2).tolist()
        return Fraction(first, 4), Fraction(second, 4)

    reflects = largest == 2
    family = FAMILIES[int(generator.integers(int(reflects), len(FAMILIES)))]
    # a key of length 1 for a reflection, else a shorter one whose powers have few digits
    key = (Fraction(3, 5), Fraction(4, 5)) if reflects else (Fraction(1, 2), Fraction(3, 4))
    key = key if generator.integers(2) else (key[1], -key[0])
    gate, decay = quarters(0, 4), quarters(1, 3)
    if family != "gated_deltanet2":
        gate = (gate[0], gate[0])
    if family in ("mamba2", "gated_deltanet"):
        decay = (decay[0], decay[0])
    if family == "mamba2":
        gate = (Fraction(0), Fraction(0))
    if reflects:
        gate, decay = (largest, largest), (Fraction(1), Fraction(1))
    start = tuple(generator.integers(1, 9, size=2).tolist())
    value = 0 if reflects else int(generator.integers(-4, 5))
    return Letters(family, FORMATS[generator.integers(3)], key, gate, decay, value, start)


def head_of(letters: Letters) -> AffineHead:
    """The layer: letter 1 decays, erases along its key and writes its value there."""
    one = transition(letters.key, letters.gate, letters.decay)
    identity = [[Fraction(int(i == j)) for j in range(2)] for i in range(2)]
    added = [[[Fraction(0)]] * 2, [[letters.value * k] for k in letters.key]]
    start = np.array([[float(x)] for x in letters.start])
    return AffineHead(np.array([identity, one], dtype=object), np.array(added, dtype=object), start)


def without_confused_words(letters: Letters) -> Any:
    """The layer, where no two powers of 1 of different parity reach one state, or the checker refuses the certificate."""
    arithmetic = parse_arithmetic(letters.arithmetic)
    assert isinstance(arithmetic, Cast)
    document = certify_cast_impossibility(
        [head_of(letters)], arithmetic, automaton_from_spec("parity"), max_length=1000
    )
    if document is not None and check(document).verdict == "valid":
        return None
    return {**{k: str(v) for k, v in letters._asdict().items()}, "certificate": document is not None}
