"""Does a head carry a representation of the transition group, and which? Errors on its state-separating subspace.

Which representation matrices carry follows from their characters and the character table of the group (Burnside's method).
float64 is enough here: degrees are whole numbers, and the table's own orthogonality says how far it can be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...constructions._conversions import AutomatonLike, as_automaton
from ...constructions.algebra._matrices import identity, product
from ...constructions.algebra.monoids._monoid import TransitionMonoid
from ...constructions.automata._automaton import Indices
from ...foundation._errors import InputError, LimitError
from ...theory.arithmetic._rounding import Floats
from ..learned._learned import LearnedHead

Complexes = NDArray[np.complex128]
MAX_GROUP = 1_000
"""Largest transition group whose multiplication table is written down."""


@dataclass(frozen=True, eq=False)
class TransitionGroup:
    """The transition group of a group automaton: element 0 is the identity.

    Attributes:
        monoid: its elements, as the automaton's transition monoid.
        table: int `[elements, elements]`; `table[i, j]` is "i, then j".
    """

    monoid: TransitionMonoid
    table: Indices

    @classmethod
    def of(cls, automaton: AutomatonLike, max_group: int = MAX_GROUP) -> TransitionGroup:
        """The group of an automaton.

        Args:
            automaton: each of its letters permutes the states; in any form that `as_automaton` accepts.
            max_group: the largest number of elements, at least 1.

        Returns:
            The group with its multiplication table.

        Raises:
            InputError: a letter merges states.
            LimitError: it has more elements than `max_group`.
        """
        automaton = as_automaton(automaton)
        if not automaton.is_permutation:
            raise InputError(f"{automaton.name}: no group automaton, some letter merges states")
        monoid = TransitionMonoid.of(automaton, max_size=1_000_000)
        if monoid.size > max_group:
            raise LimitError(
                f"{automaton.name}: its group has {monoid.size:,} elements, more than {max_group:,}: raise `max_group`"
            )
        everything = np.arange(monoid.size)
        return cls(monoid, np.stack([monoid.product(i, everything) for i in range(monoid.size)]))

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.monoid.size

    def represent_elements(self, A: Floats) -> Floats:
        """The matrix of each element: the product of its shortest word's letters, A(x) A_g for gx.

        Args:
            A: a matrix for each letter, `[letters, n, n]`.

        Returns:
            `[elements, n, n]`.
        """
        made = np.empty((self.size, *A.shape[1:]))
        made[0] = np.eye(A.shape[1])
        parents, last = self.monoid.generated.parents, self.monoid.generated.last_letters
        for g in range(1, self.size):
            made[g] = A[last[g]] @ made[parents[g]]
        return made

    @cached_property
    def inverse(self) -> Indices:
        """The inverse of each element, `[elements]`."""
        return np.asarray(np.argmax(self.table == 0, axis=1), dtype=np.int64)

    @cached_property
    def classes(self) -> Indices:
        """Conjugacy class of each element, numbered in the order of the elements."""
        found = np.full(self.size, -1, dtype=np.int64)
        everything = np.arange(self.size)
        for g in range(self.size):
            if found[g] < 0:
                found[self.table[self.table[everything, g], self.inverse]] = found.max() + 1
        return found

    def power(self, k: int) -> Indices:
        """g^k for every element.

        Args:
            k: the exponent, at least 0.

        Returns:
            The power's number for each element, int `[elements]`.
        """
        result = np.zeros(self.size, dtype=np.int64)
        for _ in range(k):
            result = self.table[result, np.arange(self.size)]
        return result


@dataclass(frozen=True, eq=False)
class Irreducible:
    """An irreducible character over the complex numbers.

    Attributes:
        number: its place in the table, from 1.
        degree: its dimension, at least 1.
        values: complex `[classes]`, by conjugacy class.
        kernel: the number of elements that it sends to the identity, at least 1.
        determinant: largest |det - 1|, 0 for rotations.
    """

    number: int
    degree: int
    values: Complexes
    kernel: int
    determinant: float

    @property
    def text(self) -> str:
        """`χ4: degree 3, faithful, determinant 1`."""
        faithful = "faithful" if self.kernel == 1 else f"kernel of {self.kernel}"
        if self.degree == 1 and self.determinant == 0:
            return f"χ{self.number}: trivial"
        turning = ", determinant 1" if self.determinant == 0 else ""
        real = "" if np.abs(self.values.imag).max() < 1e-6 else ", not real"
        return f"χ{self.number}: degree {self.degree}, {faithful}{turning}{real}"


@dataclass(frozen=True, eq=False)
class CharacterTable:
    """All irreducible characters, by degree, the trivial one first.

    Attributes:
        group: the group whose table it is.
        irreducibles: the characters, as many as conjugacy classes.
        residual: largest error of their orthogonality, below 1e-6.
    """

    group: TransitionGroup
    irreducibles: tuple[Irreducible, ...]
    residual: float

    def multiplicities(self, character: Floats) -> Complexes:
        """⟨χ, χ_i⟩ of a character with each irreducible one.

        Args:
            character: float `[elements]`, its value at each element.

        Returns:
            Complex `[irreducibles]`; whole numbers from 0, up to rounding, for a character of a representation.
        """
        values = np.array([chi.values[self.group.classes] for chi in self.irreducibles])
        result: Complexes = np.asarray(values.conj() @ character / self.group.size, dtype=np.complex128)
        return result


def character_table(group: TransitionGroup, seed: int = 0) -> CharacterTable:
    """The table, from common eigenvectors of the class sums' structure constants under a random combination.

    Args:
        group: a transition group.
        seed: the seed of the random combination, at least 0.

    Returns:
        The characters, sorted.

    Raises:
        ArithmeticError: float64 does not separate the characters (rows are then not orthonormal to 1e-6).

    Source: Burnside's method.

    Examples:
        >>> from mirrormata.models import TransitionGroup
        >>> [chi.degree for chi in character_table(TransitionGroup.of("S3")).irreducibles]
        [1, 1, 2]
    """
    classes, n = group.classes, group.size
    count = int(classes.max()) + 1
    sizes = np.bincount(classes)
    joint = (classes[:, None] * count + classes[None, :]) * count + classes[group.table]
    constants = np.bincount(joint.reshape(-1), minlength=count**3).reshape(count, count, count) / sizes
    weights = np.random.default_rng(seed).standard_normal(count)
    _, vectors = np.linalg.eig(np.tensordot(weights, constants, axes=1))
    omega = vectors / vectors[classes[0]]
    degrees: Floats = np.sqrt(n / (np.abs(omega) ** 2 / sizes[:, None]).sum(axis=0))
    table: Complexes = np.asarray((omega * degrees / sizes[:, None]).T, dtype=np.complex128)
    gram = (table * sizes) @ table.conj().T / n
    residual = max(float(np.abs(gram - np.eye(count)).max()), float(np.abs(degrees - np.rint(degrees)).max()))
    if not residual < 1e-6:
        raise ArithmeticError(
            f"the character table is orthonormal to {residual:.1g} only: try another `seed`"
        )
    representative = [int(np.flatnonzero(classes == c)[0]) for c in range(count)]
    powers = [group.power(k) for k in range(int(_orders(group).max()))]
    rows = []
    for row, degree in zip(table, np.rint(degrees).astype(int).tolist(), strict=True):
        kernel = int(sizes[np.abs(row - degree) < 1e-6].sum())
        dets = [_determinant(row, classes, powers, g, int(o)) for g, o in zip(representative, _orders(group)[representative], strict=True)]  # fmt: skip
        worst = max(abs(d - 1) for d in dets)
        rows.append((degree, row, kernel, 0.0 if worst < 1e-6 else worst))
    rows.sort(key=lambda r: (r[0], r[3] > 0 or r[2] < n, -r[2], tuple(np.round(r[1], 6).view(float))))
    found = tuple(Irreducible(i + 1, *row) for i, row in enumerate(rows))
    return CharacterTable(group, found, residual)


def _orders(group: TransitionGroup) -> Indices:
    return group.monoid.index_and_period[1]


def _determinant(row: Complexes, classes: Indices, powers: list[Indices], g: int, order: int) -> complex:
    """From the eigenvalues' multiplicities: ζ^j occurs (1/m) Σ_k χ(g^k) ζ^{-jk} times."""
    values = np.array([row[classes[powers[k][g]]] for k in range(order)])
    times = np.rint((np.fft.fft(values) / order).real)
    return complex(np.exp(2j * np.pi * (np.arange(order) * times).sum() / order))


@dataclass(frozen=True, eq=False)
class Representation:
    """A head compared with the group, A_g the product of g's shortest word's letters, U the subspace.

    Attributes:
        homomorphism_error: max ‖(A_h A_g - A_gh) U‖₂ over all pairs, g first; at least 0, as all errors here.
        worst: the words of the g and h where it is largest.
        identity_error: max ‖(A_x - I) U‖₂ over letters that change no state, None without any.
        orders: for each letter its order m in the group.
        order_errors: for each letter ‖(A_x^m - I) U‖₂.
        invariance_error: max ‖(I - UUᵀ) A_x U‖₂ over letters.
        exact: the matrices are exact numbers and multiply exactly as the group does, so the errors are 0 by proof and not by
            float64.
        character: the trace of A_g on U, float `[elements]`.
        class_spread: the character's largest distance from its class mean.
        multiplicities: the rounded multiplicities of the irreducible characters.
        residual: the largest distance from these whole numbers.
        table: the characters of the group.
    """

    homomorphism_error: float
    worst: tuple[str, str]
    identity_error: float | None
    orders: tuple[int, ...]
    order_errors: tuple[float, ...]
    invariance_error: float
    exact: bool
    character: Floats
    class_spread: float
    multiplicities: tuple[int, ...]
    residual: float
    table: CharacterTable

    @property
    def is_representation(self) -> bool:
        """Rounded multiplicities account for the whole trace of the identity."""
        return self.residual < 0.5

    @property
    def constituents(self) -> list[str]:
        """`χ4: degree 3, faithful, determinant 1`, with ×m where it occurs more than once."""
        return [
            chi.text + (f" ×{m}" if m != 1 else "")
            for chi, m in zip(self.table.irreducibles, self.multiplicities, strict=True)
            if m
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON.

        Returns:
            The errors, the multiplicities and the constituents.
        """
        return {
            "homomorphism_error": self.homomorphism_error,
            "worst_words": list(self.worst),
            "identity_error": self.identity_error,
            "order_errors": list(self.order_errors),
            "letter_orders": list(self.orders),
            "invariance_error": self.invariance_error,
            "exact": self.exact,
            "class_spread": self.class_spread,
            "multiplicities": list(self.multiplicities),
            "multiplicity_residual": self.residual,
            "character_table_residual": self.table.residual,
            "constituents": self.constituents,
        }


def representation_of(head: LearnedHead, basis: Floats, table: CharacterTable) -> Representation:
    """Compare a head's letters, on a subspace, with the group's.

    Args:
        head: a head with a matrix for each letter of the group's automaton.
        basis: U, orthonormal columns, `[n, r]`.
        table: the characters of the transition group.

    Returns:
        The errors and the irreducible constituents.

    Source: Serre, Linear Representations of Finite Groups, section 2.3.
    """
    group = table.group
    automaton = group.monoid.automaton
    exact = head.exact is not None and _multiplies(head, group)
    made = group.represent_elements(head.A)
    worst, pair = (0.0, (0, 0)) if exact else _homomorphism_error(made, basis, group)
    neutral = [x for x, row in enumerate(automaton.transitions) if (row == np.arange(len(row))).all()]
    orders = [
        int(group.monoid.index_and_period[1][g]) for g in group.monoid.find(automaton.transitions).reshape(-1)
    ]
    moved = [(A @ basis - basis) if basis.size else np.zeros((1, 1)) for A in head.A]
    order_errors = [
        0.0 if exact else _norm(np.linalg.matrix_power(A, m) @ basis - basis)
        for A, m in zip(head.A, orders, strict=True)
    ]
    small = np.einsum("ni,xnm,mj->xij", basis, made, basis)
    character = np.einsum("xii->x", small)
    classes = group.classes
    means = np.bincount(classes, weights=character) / np.bincount(classes)
    found = table.multiplicities(character)
    rounded = np.rint(found.real)
    outside = [_norm(A @ basis - basis @ (basis.T @ A @ basis)) for A in head.A]
    return Representation(
        worst,
        (_word(group, pair[0]), _word(group, pair[1])),
        max((0.0 if exact else _norm(moved[x]) for x in neutral), default=None),
        tuple(orders),
        tuple(order_errors),
        max(outside, default=0.0),
        exact,
        character,
        float(np.abs(character - means[classes]).max()),
        tuple(int(m) for m in rounded),
        float(np.abs(found - rounded).max()),
        table,
    )


def _homomorphism_error(made: Floats, basis: Floats, group: TransitionGroup) -> tuple[float, tuple[int, int]]:
    """The largest spectral norm over pairs; only those whose Schatten 8-norm, never less, could still be larger."""
    worst, pair = 0.0, (0, 0)
    for g in range(group.size):
        D = made @ (made[g] @ basis) - made[group.table[g]] @ basis
        squares = D.swapaxes(1, 2) @ D
        sizes = ((squares @ squares) ** 2).sum(axis=(1, 2)) ** 0.125
        for h in np.argsort(-sizes).tolist():
            if sizes[h] <= worst:
                break
            if (norm := _norm(D[h])) > worst:
                worst, pair = norm, (g, h)
    return worst, pair


def _multiplies(head: LearnedHead, group: TransitionGroup) -> bool:
    """A(x) A_g = A_gx exactly for all letters and elements: then A is a representation."""
    assert head.exact is not None
    parents, last = group.monoid.generated.parents, group.monoid.generated.last_letters
    n = head.dim
    made = [identity(n)] * group.size
    for g in range(1, group.size):
        made[g] = product(head.exact[last[g]], made[parents[g]])
    return all(
        product(A, made[g]) == made[group.monoid.right[g, x]]
        for g in range(group.size)
        for x, A in enumerate(head.exact)
    )


def _norm(M: Floats) -> float:
    return float(np.linalg.norm(M, 2)) if M.size else 0.0


def _word(group: TransitionGroup, g: int) -> str:
    return " ".join(str(x) for x in group.monoid.word(g)) or "ε"
