"""What a run found, and how it is counted together from parts of the run."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ...foundation._text import count_noun, html_table, refuse_truth


@dataclass(frozen=True)
class RunReport:
    """The outcome of a run.

    Attributes:
        tokens: number of tokens of all sequences together.
        sequences: number of words.
        errors: number of tokens after which the state is wrong. For an integer LRNN in a format that contains its integers,
            a state is wrong if it differs in any bit from the right code; for any other, if the nearest code decodes to
            a state other than the automaton's.
        first_error: 1-based position of the earliest wrong token in any sequence; None if there is none.
        first_error_sequence: the sequence of that token.
        dtype: the name of the dtype.
        order: the order in which the tokens were processed.
        backend: the library that computed it.
        seconds: the time that the run took.
        norm_range: the smallest and largest Frobenius norm of a state, over all heads together.
        margin: the smallest value during the run of half of (distance to the nearest code of a wrong state - distance to the
            nearest code of the right one); None if there is only one state or it was too costly to compute. The initial
            state does not count.
    """

    tokens: int
    sequences: int
    errors: int
    first_error: int | None
    first_error_sequence: int | None
    dtype: str
    order: str
    backend: str
    seconds: float
    norm_range: tuple[float, float] | None
    margin: float | None

    def __bool__(self) -> NoReturn:
        raise refuse_truth(self, "errors")

    @property
    def tokens_per_second(self) -> float:
        """The number of tokens of all sequences per second of wall-clock time, including the time to make random words."""
        return self.tokens / self.seconds if self.seconds > 0 else 0.0

    def to_json(self) -> dict[str, object]:
        """Plain values for JSON; infinite and undefined figures are null."""
        norms = None if self.norm_range is None else [_finite(x) for x in self.norm_range]
        return {
            "tokens": self.tokens,
            "sequences": self.sequences,
            "errors": self.errors,
            "first_error": self.first_error,
            "first_error_sequence": self.first_error_sequence,
            "dtype": self.dtype,
            "order": self.order,
            "backend": self.backend,
            "seconds": self.seconds,
            "tokens_per_second": self.tokens_per_second,
            "norm_range": norms,
            "margin": None if self.margin is None else _finite(self.margin),
        }

    def rows(self) -> list[tuple[str, str]]:
        """The rows of a readable table, as `(label, text)` pairs."""
        rows = [
            ("tokens", f"{self.tokens:,} in {count_noun(self.sequences, 'sequence')}"),
            ("errors", f"{self.errors:,}"),
            ("arithmetic", f"{self.dtype}, {self.order}, {self.backend}"),
        ]
        if self.first_error is not None:
            rows.append(
                ("first error", f"token {self.first_error:,} of sequence {self.first_error_sequence}")
            )
        if self.norm_range is not None:
            rows.append(("norms", f"{self.norm_range[0]:.6g} to {self.norm_range[1]:.6g}"))
        if self.margin is not None:
            rows.append(("least margin", f"{self.margin:.6g}"))
        return [*rows, ("seconds", f"{self.seconds:.3g}")]

    def _repr_html_(self) -> str:
        return html_table("Run", self.rows())


def _finite(x: float) -> float | None:
    return x if isfinite(x) else None


class Tally:
    """Errors, norms and margins of a run, added part by part in order of time."""

    def __init__(self) -> None:
        self.errors = 0
        self.first: tuple[int, int] | None = None
        self.least_norm, self.largest_norm = np.inf, -np.inf
        self.margin = np.inf

    def add_errors(self, wrong: NDArray[np.bool_], done: int) -> None:
        """`wrong`: `[T, sequences]` for the tokens that follow the first `done` of each sequence."""
        count = int(np.count_nonzero(wrong))
        if count and self.first is None:
            # in the order of time, then of sequences
            t, s = divmod(int(wrong.reshape(-1).argmax()), wrong.shape[1])
            self.first = (done + t + 1, s)
        self.errors += count

    def add_norms(self, norms: NDArray[np.float64]) -> None:
        """Frobenius norms of some states."""
        if norms.size:
            self.least_norm = float(np.fmin(self.least_norm, np.fmin.reduce(norms.reshape(-1))))
            self.largest_norm = float(np.fmax(self.largest_norm, np.fmax.reduce(norms.reshape(-1))))

    def report(self, sequences: int, length: int, *, dtype: str, order: str, seconds: float) -> RunReport:
        """The report of a whole run of `sequences` words of `length` tokens each."""
        position, sequence = self.first or (None, None)
        # without a state the largest norm is still -∞
        seen = self.largest_norm >= 0
        return RunReport(
            tokens=sequences * length,
            sequences=sequences,
            errors=self.errors,
            first_error=position,
            first_error_sequence=sequence,
            dtype=dtype,
            order=order,
            backend="numpy",
            seconds=seconds,
            norm_range=(self.least_norm, self.largest_norm) if seen else None,
            margin=None if self.margin == np.inf else self.margin,
        )
