"""`LearnedLimits`, `ShownLimits`, `RandomRuns`: how much a report compares, shows and runs; what is left out is said in it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from ...constructions.algebra.monoids._monoid import MAX_MONOID
from ...foundation._errors import InputError
from ...theory.arithmetic._rounding import float_format

SHARES = (-0.03, 1.03)
"""A y axis of shares, with room for lines at 0 and 1."""


@dataclass(frozen=True)
class LearnedLimits:
    """Each can be raised; what is left out by one is said in the report.

    `words`, `length`, `fit`, `seed`: of the random words of the comparison, see `Sampling`. `test_words`, `test_length`:
    of the test of a model folder, which has no `result.json`. `letters`: drawn in the spectra. `heads`: drawn where none
    carries states. `points`, `states`: drawn of the clusters. `numbers`: kept of all states of all heads; for larger ones
    fewer words are taken. `entries`: of a state, above which no automaton is made of clusters. `max_letters`, `max_group`,
    `max_dim`: of what is compared.
    `arithmetic`, `loops`, `steps`, `work`: of the search for an impossibility, on the powers of so many letters, of at most
    so many letters and products of numbers each; the checker does them one by one in exact numbers. `dtype`: of the rounding
    horizon.
    """

    words: int = 128
    length: int = 512
    fit: int = 64
    seed: int = 0
    test_words: int = 64
    test_length: int = 512
    letters: int = 12
    heads: int = 4
    points: int = 400
    states: int = 24
    numbers: int = 30_000_000
    entries: int = 512
    max_letters: int = 200
    max_group: int = 200
    max_dim: int = 8
    arithmetic: str = "per_step:bf16"
    loops: int = 3
    steps: int = 2_000
    work: int = 1_000_000
    dtype: str = "fp32"

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, int) and value < 1 and name not in ("seed", "loops"):
                raise InputError(f"limits: {name} is {value}, at least 1 is needed")


def fitted(limits: LearnedLimits, entries: int) -> LearnedLimits:
    """With so many words that states of so many entries are at most `numbers` numbers, and one word at least."""
    kept = limits.fit + limits.length.bit_length()
    words = max(1, limits.numbers // (kept * max(entries, 1)))
    return replace(limits, words=min(limits.words, words))


@dataclass(frozen=True)
class ShownLimits:
    """Each is 1 or more.

    `letters`: drawn, and with points of their own, of each head. `heads`: with points of their own. `states`, `arrows`:
    of a drawn automaton. `dimension`: of a head drawn as wires. `rows`: of a table. `spectra`: different matrices of a
    head whose eigenvalues are enclosed. `matrices`: different ones of all heads together, up to which claims are
    asked about the model and not only about its automaton. `points`: of a curve. `codes`: of a head, up to which
    horizons are computed. `monoid`: elements of the transition monoid that are listed. `head_steps`: tokens of a word
    times heads that are run in each dtype.
    """

    letters: int = 12
    heads: int = 12
    states: int = 64
    arrows: int = 150
    dimension: int = 40
    rows: int = 120
    spectra: int = 200
    matrices: int = 300
    points: int = 200
    codes: int = 2_000
    monoid: int = MAX_MONOID
    head_steps: int = 12_000

    def __post_init__(self) -> None:
        wrong = [f.name for f in fields(self) if getattr(self, f.name) < 1]
        if wrong:
            raise InputError(f"limits of a report: {', '.join(wrong)}: each is 1 or more")


@dataclass(frozen=True)
class RandomRuns:
    """`words` uniform random words of `length` letters from `seed`, run in each of `dtypes` (float formats)."""

    words: int = 8
    length: int = 2_000
    seed: int = 0
    dtypes: tuple[str, ...] = ("fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2")

    def __post_init__(self) -> None:
        if min(self.words, self.length) < 1 or self.seed < 0:
            raise InputError(
                f"runs of a report: words {self.words}, length {self.length}, seed {self.seed}: at least one word of "
                "one letter, and a seed of 0 or more"
            )
        names = tuple(dict.fromkeys(float_format(dtype).name for dtype in self.dtypes))
        if not names:
            raise InputError("runs of a report: dtypes: give one format at least, such as bf16")
        object.__setattr__(self, "dtypes", names)

    @property
    def text(self) -> str:
        """`8 random words of 2,000 letters, seed 0`."""
        return (
            f"{self.words:,} random word{'s' * (self.words > 1)} of {self.length:,} letter{'s' * (self.length > 1)}, "
            f"seed {self.seed}"
        )


def spread_out(count: int, most: int) -> list[int]:
    """At most `most` of the numbers below `count`, evenly, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return [0] if most == 1 else [round(i * (count - 1) / (most - 1)) for i in range(most)]


def some_of(shown: int, total: int, noun: str, plural: str = "") -> str:
    """`12 of 120 letters`, or where nothing is left out `all 6 letters` or `its only letter`; `plural`: where it is no `s`."""
    nouns = plural or f"{noun}s"
    if shown < total:
        return f"{shown:,} of {total:,} {nouns}"
    return f"its only {noun}" if total == 1 else f"all {total:,} {nouns}"


def percent(share: float) -> str:
    """`31.05 %`: never 100 % for less than all, nor 0 % for more than none."""
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    return f"{min(max(100 * share, 0.01), 99.99):.2f} %"
