"""`ShownLimits`, `RandomRuns`: how much of a construction a report shows and runs; what is left out is said in it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ...constructions.errors import InputError
from ...constructions.monoid import MAX_MONOID
from ...theory.rounding import float_format


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


def some_of(shown: int, total: int, noun: str) -> str:
    """`12 of 120 letters`, or where nothing is left out `all 6 letters` or `its only letter`."""
    if shown < total:
        return f"{shown:,} of {total:,} {noun}s"
    return f"its only {noun}" if total == 1 else f"all {total:,} {noun}s"
