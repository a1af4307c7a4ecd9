"""`LearnedLimits`: how many words, letters, states and steps the sections of a learned model take."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...constructions.errors import InputError


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
    steps: int = 800
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


def spread_out(count: int, most: int) -> list[int]:
    """At most `most` of the numbers below `count`, evenly, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return [0] if most == 1 else [round(i * (count - 1) / (most - 1)) for i in range(most)]


def shown_of(shown: int, count: int, what: str) -> str:
    """`All 6 letters`, or `12 of 24 letters`."""
    return f"All {count:,} {what}" if shown == count else f"{shown:,} of {count:,} {what}"
