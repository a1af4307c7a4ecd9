"""The field's linear recurrences: each one's transition, its eigenvalue class decided on exact samples, and its family here."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ...theory.spectra._eigenvalues import eigenvalue_report

Rows: TypeAlias = list[list[Fraction]]
Draw: TypeAlias = Callable[[random.Random], Rows]


@dataclass(frozen=True)
class Recurrence:
    """A recurrence H ← A H + B as its paper has it (the linear core where the whole is not linear).

    Attributes:
        name: as the field says it. transition: A, in plain mathematics. parameters: their ranges, as trained by default.
        family: of `ModelConfig` that trains it here, with its switches; "" where the kernels do not cover it.
        real: all eigenvalues are real. smallest: lower end of their range (real parts), "-∞" where nothing bounds them.
        reason: why. source: arXiv number. draw: A exactly, for random rational parameters in their ranges.
    """

    name: str
    transition: str
    parameters: str
    family: str
    real: bool
    smallest: str
    reason: str
    source: str
    draw: Draw


@dataclass(frozen=True)
class Survey:
    """What was decided on exact samples: matrices with the property asked for, as witnesses; None where none occurred."""

    samples: int
    non_real: Rows | None
    negative: Rows | None
    outside: Rows | None

    @property
    def eigenvalue_class(self) -> str:
        """The class that the samples show."""
        disc = "" if self.outside is None else ", not within the unit disc"
        if self.non_real is not None:
            return f"non-real{disc}"
        return f"{'real, negative too' if self.negative is not None else 'real, not negative'}{disc}"


def survey(recurrence: Recurrence, samples: int = 200, seed: int = 0) -> Survey:
    """Decide the spectra of random exact instances; an undecided one counts as nothing found."""
    generator = random.Random(f"{recurrence.name} {seed}")
    non_real = negative = outside = None
    for _ in range(samples):
        A = recurrence.draw(generator)
        spectrum = eigenvalue_report(A)
        non_real = non_real or (A if spectrum.is_real is False else None)
        negative = negative or (A if spectrum.has_negative is True else None)
        outside = outside or (A if spectrum.within_disc is False else None)
    return Survey(samples, non_real, negative, outside)


def _unit(g: random.Random, n: int = 3) -> list[Fraction]:
    """A unit vector with rational entries: the image of a random axis under a rational reflection."""
    v = [Fraction(g.randint(-5, 5)) for _ in range(n)]
    size = sum(x * x for x in v)
    if size == 0:
        return _unit(g, n)
    axis = g.randrange(n)
    return [int(i == axis) - 2 * v[axis] * x / size for i, x in enumerate(v)]


def _between(g: random.Random, low: Fraction | int, high: Fraction | int) -> Fraction:
    """A rational strictly between two numbers."""
    return low + (high - low) * Fraction(g.randint(1, 63), 64)


def _diagonal(values: list[Fraction]) -> Rows:
    return [[x if i == j else Fraction(0) for j in range(len(values))] for i, x in enumerate(values)]


def _minus_outer(A: Rows, c: Fraction | int, u: list[Fraction], z: list[Fraction]) -> Rows:
    """A - c u zᵀ."""
    return [[x - c * u[i] * z[j] for j, x in enumerate(row)] for i, row in enumerate(A)]


def _times(A: Rows, B: Rows) -> Rows:
    return [
        [sum((x * row[j] for x, row in zip(a, B, strict=True)), Fraction(0)) for j in range(len(B[0]))]
        for a in A
    ]


_ONE = _diagonal([Fraction(1)] * 3)


def _decays(g: random.Random) -> Rows:
    return _diagonal([_between(g, 0, 1) for _ in range(3)])


def _scalar(g: random.Random) -> Rows:
    return _diagonal([_between(g, 0, 1)] * 3)


def _delta(high: int) -> Draw:
    def draw(g: random.Random) -> Rows:
        k = _unit(g)
        return _minus_outer(_ONE, _between(g, 0, high), k, k)

    return draw


def _gated_delta(g: random.Random) -> Rows:
    gate = _between(g, 0, 1)
    return [[gate * x for x in row] for row in _delta(1)(g)]


def _ttt(g: random.Random) -> Rows:
    k = [4 * x for x in _unit(g)]
    return _minus_outer(_ONE, _between(g, 0, 1), k, k)


def _rwkv7(g: random.Random) -> Rows:
    w = _diagonal([_between(g, Fraction(5453, 10_000), 1) for _ in range(3)])
    k, a = _unit(g), [_between(g, 0, 1) for _ in range(3)]
    return _minus_outer(w, 1, [x * y for x, y in zip(a, k, strict=True)], k)


def _titans(g: random.Random) -> Rows:
    """On (M, S): S ← η S - θ k kᵀ M, then M ← (1 - α) M + S."""
    alpha, eta, theta, k = _between(g, 0, 1), _between(g, 0, 1), _between(g, 0, 1), _unit(g, 2)
    zero = [[Fraction(0)] * 2 for _ in range(2)]
    gradient = _minus_outer(zero, theta, k, k)
    above = [[(1 - alpha) * int(i == j) + gradient[i][j] for j in range(2)] for i in range(2)]
    momentum = _diagonal([eta] * 2)
    return [above[i] + momentum[i] for i in range(2)] + [gradient[i] + momentum[i] for i in range(2)]


def _product(factors: int) -> Draw:
    def draw(g: random.Random) -> Rows:
        A = _ONE
        for _ in range(factors):
            A = _times(_delta(2)(g), A)
        return A

    return draw


def _complex_kda(g: random.Random) -> Rows:
    w = [_between(g, -1, 1) for _ in range(3)]
    return _times(_delta(2)(g), _diagonal(w))


def _row_gated(gate: int, *, same: bool) -> Draw:
    """(I - k (b ⊙ k)ᵀ) diag(w), with gates b up to `gate`, or with one for all rows."""

    def draw(g: random.Random) -> Rows:
        k, b = _unit(g), [_between(g, 0, gate) for _ in range(3)]
        if same:
            b = [b[0]] * 3
        erased = _minus_outer(_ONE, 1, k, [x * y for x, y in zip(b, k, strict=True)])
        return _times(erased, _decays(g))

    return draw


def _permuted(g: random.Random) -> Rows:
    """P diag(d): a one in each column of P."""
    chosen = [g.randrange(3) for _ in range(3)]
    d = [_between(g, -1, 1) for _ in range(3)]
    return [[d[j] if chosen[j] == i else Fraction(0) for j in range(3)] for i in range(3)]


RECURRENCES = (
    Recurrence(
        "Mamba", "diag(exp(-Δ a))", "Δ > 0, a > 0", "mamba, range [0,1]", True, "0",
        "a diagonal matrix has its entries as eigenvalues, here in (0, 1)", "2312.00752", _decays,
    ),
    Recurrence(
        "Mamba-2", "exp(-Δ a) I", "Δ > 0, a > 0", "mamba2, range [0,1]", True, "0",
        "a multiple of the identity, here by a number in (0, 1)", "2405.21060", _scalar,
    ),
    Recurrence(
        "GLA", "diag(α)", "α in (0, 1)", "gla, range [0,1]", True, "0",
        "a diagonal matrix has its entries as eigenvalues, here in (0, 1)", "2312.06635", _decays,
    ),
    Recurrence(
        "mLSTM", "f I", "f in (0, 1)", "mlstm", True, "0",
        "a multiple of the identity; with exponential gates the normaliser's scale is taken out", "2405.04517", _scalar,
    ),
    Recurrence(
        "DeltaNet", "I - β k kᵀ", "β in (0, 1), ‖k‖ = 1", "deltaproduct, householders 1, range [0,1]", True, "0",
        "symmetric, with eigenvalues 1 and 1 - β", "2406.06484", _delta(1),
    ),
    Recurrence(
        "Gated DeltaNet", "α (I - β k kᵀ)", "α, β in (0, 1), ‖k‖ = 1",
        "gated_deltanet, range [0,1]", True, "0",
        "symmetric, with eigenvalues α and α (1 - β)", "2412.06464", _gated_delta,
    ),
    Recurrence(
        "KDA", "(I - β k kᵀ) diag(w)", "β in (0, 1), w in (0, 1), ‖k‖ = 1", "kda, range [0,1]", True, "0",
        "similar to diag(w) - yyᵀ with y = √(β w) ⊙ k, which is positive (own.row-gates)", "2510.26692", _row_gated(1, same=True),
    ),
    Recurrence(
        "Gated DeltaNet-2", "(I - k (b ⊙ k)ᵀ) diag(w)", "b in (0, 1), w in (0, 1), ‖k‖ = 1", "gated_deltanet2, range [0,1]", True, "0",
        "similar to diag(w) - yyᵀ with y = √(b ⊙ w) ⊙ k, which is positive; products of tokens may grow (own.row-gates)",
        "2605.22791", _row_gated(1, same=False),
    ),
    Recurrence(
        "TTT-linear", "I - η k kᵀ", "η in (0, 1), k free", "", True, "-∞",
        "a gradient step of the inner loss; 1 - η‖k‖² has no lower end unless keys are normalised", "2407.04620", _ttt,
    ),
    Recurrence(
        "RWKV-7", "diag(w) - (a ⊙ κ) κᵀ", "w in (exp(-e^-1/2), 1), a in (0, 1), ‖κ‖ = 1", "rwkv7, range [0,1]",
        True, "exp(-e^-1/2) - 1",
        "diag(√a)^-1 A diag(√a) is symmetric, diag(w) minus a positive part of norm below 1", "2503.14456", _rwkv7,
    ),
    Recurrence(
        "Titans (linear core)", "[[(1-α) I - θ k kᵀ, η I], [-θ k kᵀ, η I]] on (memory, momentum)",
        "α, η, θ in (0, 1), ‖k‖ = 1", "", False, "",
        "momentum makes it of second order: along k the 2 × 2 matrix can rotate", "2501.00663", _titans,
    ),
    Recurrence(
        "DeltaProduct", "C_n···C_1 with C_j = I - β_j k_j k_jᵀ", "β_j in (0, 2), ‖k_j‖ = 1, n ≥ 2",
        "deltaproduct, householders n, range [-1,1]", False, "-1",
        "two reflections make a rotation by twice the angle of their keys (DP.P1)", "2502.10297", _product(2),
    ),
    Recurrence(
        "DeltaNet [-1,1]", "I - β k kᵀ", "β in (0, 2), ‖k‖ = 1", "deltaproduct, householders 1, range [-1,1]",
        True, "-1", "symmetric, with eigenvalues 1 and 1 - β", "2411.12537", _delta(2),
    ),
    Recurrence(
        "KDA [-1,1]", "(I - β k kᵀ) diag(w)", "β in (0, 2), w in (0, 1), ‖k‖ = 1", "kda, range [-1,1]", True, "-1",
        "similar to a symmetric matrix; at most one eigenvalue is negative (own.row-gates)", "2510.26692", _row_gated(2, same=True),
    ),
    Recurrence(
        "Gated DeltaNet-2 [-1,1]", "(I - k (b ⊙ k)ᵀ) diag(w)", "b in (0, 2), w in (0, 1), ‖k‖ = 1", "gated_deltanet2, range [-1,1]", True, "-1",
        "similar to a symmetric matrix; at most one eigenvalue is negative (own.row-gates)", "2605.22791", _row_gated(2, same=False),
    ),
    Recurrence(
        "PD-SSM, real", "P diag(d)", "P with a one in each column, d in (-1, 1)", "pd_ssm, range [-1,1]", False, "-1",
        "a circle of m columns has the m-th roots of the product of its entries of d; columns outside circles have 0", "2509.22284", _permuted,
    ),
    Recurrence(
        "Complex KDA", "(I - β k kᵀ) diag(w)", "β in (0, 2), w in (-1, 1), ‖k‖ = 1", "complex_kda, range [-1,1]",
        False, "-1", "a reflection times diag(±1) is a reflection or a rotation (CK.1)", "2609.24797", _complex_kda,
    ),
)  # fmt: skip
"""In the order of the documentation's table."""
