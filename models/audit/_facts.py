"""What was measured of the transitions of some heads at some tokens: shares, spreads, products over several tokens, memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite, log
from typing import Any

import numpy as np

from ...constructions.automata._automaton import Indices
from ...theory.arithmetic._rounding import Floats
from ._steps import Complexes

TOLERANCE = 1e-4
"""An eigenvalue is real where its imaginary part is at most this, and negative where it is real and below minus this."""
NEAR_REFLECTION = 1.9
"""From this β‖k‖² on a factor is called near a reflection."""
BOUNDS = (0.5, float(np.exp(-1)))
"""Bounds of the norm of a product by which memory is measured: 1/2 and 1/e."""


@dataclass(frozen=True)
class Spread:
    """Order statistics of some numbers; inf where a number has no bound, such as the half-life of what does not shrink.

    Attributes:
        count: how many numbers there are, at least 1.
        least: the smallest.
        lower: the lower quartile: of the sorted numbers x_0, ..., x_(count - 1) the one at ⌊(count - 1) / 4⌋.
        median: the one at ⌊(count - 1) / 2⌋.
        upper: the one at ⌊3 (count - 1) / 4⌋.
        largest: the largest.
    """

    count: int
    least: float
    lower: float
    median: float
    upper: float
    largest: float

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON.

        Returns:
            The fields by name; null for inf.
        """
        return {k: v if isfinite(v) else None for k, v in asdict(self).items()}


def spread_of(values: Any) -> Spread | None:
    """The spread of numbers of any shape, those that are not a number left out; None if there are none."""
    flat = np.asarray(values, dtype=np.float64).reshape(-1)
    flat = np.sort(flat[~np.isnan(flat)])
    if not flat.size:
        return None
    places = [0, (flat.size - 1) // 4, (flat.size - 1) // 2, 3 * (flat.size - 1) // 4, flat.size - 1]
    return Spread(flat.size, *(float(flat[i]) for i in places))


@dataclass(frozen=True)
class ProductFacts:
    """Products of the transitions of n consecutive tokens, one for each first token and head.

    Of the real eigenvalues the one farthest below 0 stands for a product. Of the others it is the one that turns farthest before it is
    halved, so that an eigenvalue near 1, which hardly turns, does not hide one that rotates.

    Attributes:
        tokens: n.
        count: how many products there are.
        negative: the share of those with a real eigenvalue below -`TOLERANCE`.
        non_real: the share of those with an eigenvalue whose imaginary part is above `TOLERANCE`.
        negative_lasting: the share of those whose negative eigenvalue λ has a half-life of at least `lasting` tokens, if each n
            further tokens shrink by |λ| too.
        rotating: the share of those whose non-real eigenvalue has such a half-life and turns round at least once within it.
        negative_modulus: |λ|^(1/n) of the negative eigenvalues, a token's part.
        modulus: |λ|^(1/n) of the non-real eigenvalues.
        angle: the angle of the non-real eigenvalues in degrees, above 0 and below 180.
        turns: full turns of the non-real eigenvalues within their half-lives, if each n further tokens turn and shrink by λ too.
        half_life: tokens until a non-real eigenvalue's part is halved, log(1/2) / log(|λ|^(1/n)); inf where it does not shrink.
    """

    tokens: int
    count: int
    negative: float
    non_real: float
    negative_lasting: float
    rotating: float
    negative_modulus: Spread | None
    modulus: Spread | None
    angle: Spread | None
    turns: Spread | None
    half_life: Spread | None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON.

        Returns:
            The fields by name.
        """
        return {k: v.to_json() if isinstance(v, Spread) else v for k, v in vars(self).items()}


@dataclass(frozen=True)
class AuditedPart:
    """What was measured of a layer, of one of its heads, or of the tokens of one class in all heads of a layer.

    Shares are of pairs of a token and a head.

    Attributes:
        tokens: the number of tokens.
        heads: the number of heads.
        above_one: the share with a factor of β‖k‖² > 1, which has a negative eigenvalue; None where there are no factors.
        near_reflection: the share with a factor of β‖k‖² > `NEAR_REFLECTION`; None where there are no factors.
        strength: β‖k‖² of all factors.
        gate: what multiplies the state before the factors; of diagonal transitions their entries; None for other matrices.
        between_keys: the angle in degrees, from 0 to 90, between the lines of the last key of a token and of the first key of the next.
        within_keys: the same between consecutive keys of one token; None with a single factor.
        products: products over n tokens, by n; of a class of tokens, those whose first token is in the class.
        control: the same with every β‖k‖² clipped to at most 1, and every gate or entry of a diagonal to at least 0; None for other matrices.
        memory: tokens until the spectral norm of the product of all transitions from a token on is below 1/2 and 1/e; inf where
            it is not within the horizon.
        effective_rank: exp of the entropy of the singular values of a state, divided by their sum; None of a class of tokens.
    """

    tokens: int
    heads: int
    above_one: float | None
    near_reflection: float | None
    strength: Spread | None
    gate: Spread | None
    between_keys: Spread | None
    within_keys: Spread | None
    products: tuple[ProductFacts, ...]
    control: tuple[ProductFacts, ...] | None
    memory: tuple[Spread | None, Spread | None]
    effective_rank: Spread | None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON.

        Returns:
            The fields by name; spreads as objects.
        """
        plain = {k: v.to_json() if isinstance(v, Spread) else v for k, v in vars(self).items()}
        half, e = (None if s is None else s.to_json() for s in self.memory)
        return {
            **plain,
            "products": [p.to_json() for p in self.products],
            "control": None if self.control is None else [p.to_json() for p in self.control],
            "memory": {"1/2": half, "1/e": e},
        }


@dataclass(frozen=True, eq=False)
class Eigen:
    """Of each product, `[products, heads]`: the eigenvalue farthest below 0, and the non-real one that turns farthest; 0 for none."""

    least: Floats
    turning: Complexes

    @classmethod
    def of(cls, eigenvalues: Complexes, tokens: int) -> Eigen:
        """From all eigenvalues of products of so many tokens, `[products, heads, any]`."""
        real = np.abs(eigenvalues.imag) <= TOLERANCE
        least = np.where(real & (eigenvalues.real < -TOLERANCE), eigenvalues.real, 0.0).min(axis=-1)
        turning = np.where(real, 0, eigenvalues)
        farthest = np.where(real, -1.0, turn_counts(turning, tokens)).argmax(axis=-1)[..., None]
        return cls(least, np.take_along_axis(turning, farthest, axis=-1)[..., 0])


@dataclass(frozen=True, eq=False)
class Raw:
    """All that was measured of one layer, as arrays whose first axis is tokens or places and whose last is heads.

    Attributes:
        classes: the class of each token, int `[tokens]`.
        strength: β‖k‖², `[tokens, n_h, heads]`, or None.
        gate: `[tokens, any, heads]`, or None.
        between: angles, `[tokens, heads]`, not a number after the last token of a window; or None.
        within: `[tokens, n_h - 1, heads]`, or None.
        eigen: by n, the class of the first token of each product, `[products]`, and its eigenvalues.
        control: the same with signs removed, or None.
        memory_classes: the class of the first token, `[places]`.
        memory: `[2, places, heads]`, inf beyond the horizon.
        ranks: effective ranks, `[states, heads]`.
    """

    classes: Indices
    strength: Floats | None
    gate: Floats | None
    between: Floats | None
    within: Floats | None
    eigen: Mapping[int, tuple[Indices, Eigen]]
    control: Mapping[int, tuple[Indices, Eigen]] | None
    memory_classes: Indices
    memory: Floats
    ranks: Floats

    def part(self, lasting: float, head: int | None = None, kind: int | None = None) -> AuditedPart:
        """The figures of one head, or of all; of the tokens of one class, or of all.

        Args:
            lasting: tokens of a half-life from which on an eigenvalue lasts, above 0.
            head: the number of a head, from 0; None for all.
            kind: the number of a class; None for all.

        Returns:
            The figures.
        """
        heads = self.ranks.shape[1]
        chosen = slice(None) if head is None else slice(head, head + 1)

        def own(values: Any, classes: Indices) -> Any:
            if values is None:
                return None
            return values[..., chosen] if kind is None else values[classes == kind][..., chosen]

        def products(found: Mapping[int, tuple[Indices, Eigen]]) -> tuple[ProductFacts, ...]:
            facts = (
                product_facts(n, own(eigen.least, classes), own(eigen.turning, classes), lasting)
                for n, (classes, eigen) in found.items()
            )
            return tuple(fact for fact in facts if fact is not None)

        strength = own(self.strength, self.classes)
        memory = [own(values, self.memory_classes) for values in self.memory]
        most = None if strength is None or not strength.size else strength.max(axis=1)
        return AuditedPart(
            tokens=len(self.classes) if kind is None else int((self.classes == kind).sum()),
            heads=heads if head is None else 1,
            above_one=None if most is None else float((most > 1).mean()),
            near_reflection=None if most is None else float((most > NEAR_REFLECTION).mean()),
            strength=None if strength is None else spread_of(strength),
            gate=None if self.gate is None else spread_of(own(self.gate, self.classes)),
            between_keys=None if self.between is None else spread_of(own(self.between, self.classes)),
            within_keys=None if self.within is None else spread_of(own(self.within, self.classes)),
            products=products(self.eigen),
            control=None if self.control is None else products(self.control),
            memory=(spread_of(memory[0]), spread_of(memory[1])),
            effective_rank=spread_of(self.ranks[:, chosen]) if kind is None else None,
        )


def product_facts(tokens: int, least: Floats, turning: Complexes, lasting: float) -> ProductFacts | None:
    """The figures of some products of so many tokens; None of none."""
    if not least.size:
        return None
    below, turns = least[least < 0], turning[turning != 0]
    moduli = np.abs(turns) ** (1 / tokens)
    halves, counts = half_lives(moduli), turn_counts(turns, tokens)
    kept = np.abs(below) ** (1 / tokens)
    return ProductFacts(
        tokens=tokens,
        count=least.size,
        negative=below.size / least.size,
        non_real=turns.size / least.size,
        negative_lasting=int((half_lives(kept) >= lasting).sum()) / least.size,
        rotating=int(((halves >= lasting) & (counts >= 1)).sum()) / least.size,
        negative_modulus=spread_of(kept),
        modulus=spread_of(moduli),
        angle=spread_of(np.abs(np.degrees(np.angle(turns)))),
        turns=spread_of(counts),
        half_life=spread_of(halves),
    )


ROUNDING = 1e-6
"""A modulus of a token this near to 1, some roundings of float32, counts as 1: a half-life of 693,147 tokens or more is rounding."""


def half_lives(moduli: Floats) -> Floats:
    """log(1/2) / log(modulus) for each; inf where a modulus is at least 1 - `ROUNDING`."""
    with np.errstate(divide="ignore"):
        return np.where(moduli < 1 - ROUNDING, log(0.5) / np.log(np.minimum(moduli, 1 - ROUNDING)), np.inf)


def turn_counts(eigenvalues: Complexes, tokens: int) -> Floats:
    """Full turns until the modulus is halved, angle / 2π times the half-life in products; inf where it does not shrink, 0 of 0.

    Args:
        eigenvalues: of products of so many tokens each.
        tokens: how many.
    """
    angles = np.abs(np.angle(eigenvalues)) / (2 * np.pi)
    with np.errstate(invalid="ignore"):
        counts = angles * half_lives(np.abs(eigenvalues) ** (1 / tokens)) / tokens
    return np.where(angles == 0, 0.0, counts)


def effective_ranks(states: Floats) -> Floats:
    """exp(-Σ p_i log p_i) for the singular values σ_i of each matrix, p_i = σ_i / Σ σ; 0 of a zero matrix.

    Args:
        states: `[..., K, V]`.

    Returns:
        Float `[...]`, from 0 to the smaller of K and V.

    Source: Roy and Vetterli, *The effective rank*, EUSIPCO 2007.
    """
    sizes = np.linalg.svd(states, compute_uv=False)
    total = sizes.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = sizes / total
        entropy = -np.where(p > 0, p * np.log(p), 0.0).sum(axis=-1)
    return np.where(total[..., 0] > 0, np.exp(entropy), 0.0)
