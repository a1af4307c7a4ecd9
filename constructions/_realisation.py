"""`Realisation`: what `construct` returns, whichever construction made it.

An `LRNN` lists what every letter does in every layer (kind `table`); a `BlockDelay` computes the letters of its last
layer by a rule (kind `delay`), a `ChainRNN` those of all layers (kind `chain`), a `BlockRNN` those of blocks of tokens (kind `blocks`). All have the same figures, certificate, texts and transitions, and whoever gets one
need not ask which it is: what a higher package does with a kind is registered there, once for each kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ..foundation._arguments import require_path
from ..foundation._errors import InputError, LimitError
from ..foundation._registry import find_records
from ..foundation._text import count_noun
from ._document import certificate_text, read_document, write_certificate
from .algebra._cyclotomic import Number, sign
from .algebra._householder import GHFactor
from .automata._automaton import Automaton, Indices

Sparse: TypeAlias = tuple[tuple[int, int, Number], ...]
"""The non-zero entries `(row, column, value)` of a matrix, in lexicographic order of (row, column)."""

INTEGER_RANGES = {
    "fp64": 2**53,
    "fp32": 2**24,
    "fp16": 2**11,
    "bf16": 2**8,
    "fp8_e4m3": 2**4,
    "fp8_e5m2": 2**3,
}
"""For each dtype the largest n such that all integers from -n to n are exact in it."""


@dataclass(frozen=True)
class Transition:
    """The effect of a letter on a head: H ← C_k···C_1 (gate·H) + additive.

    Attributes:
        factors: C_1, ..., C_k in the order in which they are applied.
        gate: a scalar in [-1, 1].
        additive: B, as a sparse matrix.
        matrix: a sparse A instead of factors, for maps that are not products of GH factors (the norm may exceed
            1).
    """

    factors: tuple[GHFactor, ...] = ()
    gate: Number = 1
    additive: Sparse = ()
    matrix: Sparse | None = None


@dataclass(frozen=True)
class Figures:
    """The sizes of a realisation, and the numbers in which it is exact.

    Attributes:
        layers: number of layers.
        householders: the largest number of factors of a letter in one head; None where a letter is not a product of GH factors.
        heads: the largest number of heads in a layer.
        dim: largest key dimension of a head.
        work: the sum over layers of factors × key dimension, over all heads, for the most expensive letter of the layer;
            None if a letter is not a product of GH factors.
        exactness: `integer`, `algebraic` for numbers of a number field, or `rounded` if the state is rounded at each token and still
            right in `formats`.
        integer_bound: largest absolute value of any weight, state, product or partial sum; None unless integer.
        formats: dtypes in which the recurrence is bit-exact at any length; if `rounded`, those in which the read-out is right.
        norm: what is known about the norms of the letters: `at most 1`, `at most √2 a factor` or `unbounded`.
        hypotheses: the features that a model must have to be this realisation (layers that read those above, eigenvalues below
            0, gates, additive terms, a larger norm, the numbers), as short texts.
        theorem: the theorem that is the source of the construction.
        construction: a one-line description of the construction.
    """

    layers: int
    householders: int | None
    heads: int
    dim: int
    work: int | None
    exactness: str
    integer_bound: int | None
    formats: tuple[str, ...]
    norm: str
    hypotheses: tuple[str, ...]
    theorem: str
    construction: str


class Realisation(ABC):
    """An exact linear RNN that realises `automaton` by one or more layers of products of GH factors.

    `kind` says how its letters are given (`table`, or a rule such as `delay`) and is also the kind of its certificate. `theorem` is the source of
    the construction, `construction` a one-line description, and `notes` are sentences about alternatives and bounds.
    """

    kind: ClassVar[str]

    if TYPE_CHECKING:  # fields in one class, computed in another

        @property
        def automaton(self) -> Automaton: ...
        @property
        def theorem(self) -> str: ...
        @property
        def construction(self) -> str: ...
        @property
        def notes(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def depth(self) -> int:
        """The number of layers."""

    @property
    @abstractmethod
    def householders(self) -> int | None:
        """Largest number of factors of a letter in one head; None where a letter is not a product of GH factors."""

    @property
    @abstractmethod
    def heads(self) -> int:
        """Largest number of heads in a layer."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """Largest key dimension of a head."""

    @property
    def value_dim(self) -> int:
        """Largest value dimension of a head: the columns of its state."""
        columns = (j for t in self.used_transitions for _, j, _ in t.additive)
        return 1 + max(columns, default=0)

    @property
    @abstractmethod
    def work(self) -> int | None:
        """The sum over layers of factors × key dimension for the most expensive letter; None without factors."""

    @property
    @abstractmethod
    def exactness(self) -> str:
        """`integer` if all stored numbers and all states consist of integers, else `algebraic`, or `rounded` (own.decay)."""

    @property
    @abstractmethod
    def integer_bound(self) -> int | None:
        """Largest absolute value of any weight, state, product or partial sum; None unless `integer`."""

    @property
    def norm(self) -> str:
        """What is known about the norms of the letters: `at most 1`, `at most √2 a factor` or `unbounded`."""
        return "at most 1"

    @property
    def contracts(self) -> bool:
        """Whether all letters are products of factors with β‖v‖² in [0, 2] and gates in [0, 1]."""
        return self.norm == "at most 1"

    @property
    def largest_beta(self) -> Number:
        """The largest β‖v‖² of a factor; 0 if there is no factor."""
        return 2

    @property
    @abstractmethod
    def layer_factors(self) -> tuple[int, ...] | None:
        """Largest number of factors of a letter in a head, layer by layer; None where a letter is not a product of factors."""

    @property
    def letter_factors(self) -> tuple[int, ...] | None:
        """For one layer, the largest number of factors of each letter in a head; None for several layers or without factors."""
        return None

    @property
    def parameters(self) -> int | None:
        """The number of parameters that describe all letters: β and key of each factor, and added entries; None if not counted."""
        return None

    @property
    def state_size(self) -> int | None:
        """Number of entries of the state, if one layer has exactly one joint state for each automaton state; otherwise None."""
        return None

    @property
    def formats(self) -> tuple[str, ...]:
        """The dtypes in which the recurrence is bit-exact at any length."""
        bound = self.integer_bound
        return () if bound is None else tuple(d for d, reach in INTEGER_RANGES.items() if bound <= reach)

    @cached_property
    def figures(self) -> Figures:
        """All figures as one record."""
        return Figures(
            self.depth, self.householders, self.heads, self.dim, self.work, self.exactness, self.integer_bound,
            self.formats, self.norm, self.hypotheses, self.theorem, self.construction,
        )  # fmt: skip

    @property
    @abstractmethod
    def used_transitions(self) -> Iterable[Transition]:
        """Transitions that include every form in use: factors, gates, additive terms and matrices."""

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """The features that a model must have to be this realisation, as short texts."""
        return list_hypotheses(self)

    def summary(self) -> dict[str, object]:
        """The figures that `construct` prints and a certificate holds, as plain values for JSON."""
        return {
            "layers": self.depth,
            "householders": self.householders,
            "heads": self.heads,
            "dim": self.dim,
            "exactness": self.exactness,
            "integer_bound": self.integer_bound,
            "formats": list(self.formats),
            "norm": self.norm,
        }

    @abstractmethod
    def transitions(self, letter: Hashable) -> tuple[tuple[tuple[Transition, ...], ...], ...]:
        """The distinct transitions that a letter can cause in each head of each layer.

        Args:
            letter: label of a letter of the automaton.

        Returns:
            `transitions(letter)[i][h]`: the transitions of head h of layer i. In the first layer of a table there is one.
            Otherwise the one that is applied depends on the states of the layers above, and in a block delay on the phase.

        Raises:
            InputError: the automaton has no such letter.
        """

    def for_letters(self, automaton: Automaton, kinds: Indices) -> Realisation | None:
        """The same realisation for an automaton with further letters, each of which acts like one of this automaton.

        Args:
            automaton: the automaton with all letters and the same states.
            kinds: for each of its letters the index of the letter here that acts alike, int array `[letters]`.

        Returns:
            The realisation of the automaton; None for a kind of realisation that is made anew instead.
        """
        return None

    def certificate(self, *, max_group: int = 5_000) -> dict[str, Any]:
        """Make the certificate of this kind, a JSON object with exact numbers and without horizons.

        `mirrormata.full_certificate` adds a certified length for each dtype in which numbers are rounded.

        Args:
            max_group: the largest order of a group whose elements a certificate of kind `delay` lists.

        Raises:
            InputError: two labels have the same text, or a Mealy machine's output cannot be told from the state after.
            LimitError: a number field or a group is larger than the limit.
        """
        return all_kinds()[self.kind].write(self, max_group)

    @cached_property
    def certificate_bytes(self) -> int | None:
        """The size of `certificate()` as a file, in bytes; None where none can be written."""
        try:
            return len(certificate_text(self.certificate()).encode())
        except (InputError, LimitError):
            return None

    def save(self, path: str | Path, *, max_group: int = 5_000) -> None:
        """Write `certificate()` to a `.json` file, whole or not at all.

        Args:
            path: the file.
            max_group: as for `certificate`.
        """
        write_certificate(self.certificate(max_group=max_group), path)

    def show(self, *, max_letters: int = 30) -> str:
        """The construction as plain text, with exact numbers.

        Args:
            max_letters: the largest number of letters of a head that are written out, 1 or more.

        Raises:
            InputError: `max_letters` is below 1.
        """
        return all_kinds()[self.kind].show(self, max_letters)

    def latex(self, *, max_letters: int | None = None) -> str:
        """The construction as a LaTeX document.

        Args:
            max_letters: the largest number of letters of a head that are written out, 1 or more; None for all.

        Raises:
            InputError: `max_letters` is below 1, or this kind has no list of letters.
        """
        record = all_kinds()[self.kind]
        if record.latex is None:
            raise self.no_table("LaTeX writes the letters of a table out")
        return record.latex(self, max_letters)

    @property
    def table_theorem(self) -> str:
        """The construction that gives a table of GH factors of its automaton, for refusals that name a fix."""
        return "G.T3" if self.automaton.is_permutation else "G.T4"

    def no_table(self, why: str) -> InputError:
        """Make the error for operations that need a list of the matrices of all letters, which this kind does not have.

        Args:
            why: the reason or advice with which the message ends.
        """
        noun = all_kinds()[self.kind].noun
        return InputError(f"{self.automaton.name}: {noun} is a rule, not a table: {why}")

    def __repr__(self) -> str:
        """One line: the kind, the automaton, the figures."""
        parts = [
            count_noun(self.depth, "layer"),
            "no factors" if self.householders is None else count_noun(self.householders, "factor"),
            count_noun(self.heads, "head"),
            f"dimension {self.dim}",
            self.exactness,
        ]
        name = str(self.automaton.name)
        name = name if name.isprintable() else repr(name)
        return f"<{type(self).__name__} of {name} by {self.theorem}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """The figures as a table, for notebooks."""
        rows = {"construction": self.construction, "theorem": self.theorem, **self.summary()}
        cells = "".join(f"<tr><th>{escape(k)}</th><td>{escape(str(v))}</td></tr>" for k, v in rows.items())
        return f"<table>{cells}</table>"


def list_hypotheses(found: Realisation) -> tuple[str, ...]:
    """What a model needs so that it can be a realisation: read off its factors, gates, additive terms and numbers."""
    used = tuple(found.used_transitions)
    factors = {factor for t in used for factor in t.factors}
    gates = {t.gate for t in used if t.gate != 1}
    texts = []
    if found.depth > 1:
        texts.append(
            f"{found.depth} layers; each after the first reads the token and the states of the layers before it"
        )
    if found.householders is None:
        texts.append("letters as full matrices, which are no products of factors")
    elif factors:
        largest = found.largest_beta
        if sign(largest - 1) <= 0:  # the factor's eigenvalue is 1 - β‖v‖²
            texts.append("β‖v‖² up to 1: no factor has an eigenvalue below 0")
        elif sign(largest - 2) < 0:
            texts.append("β‖v‖² above 1: factors with an eigenvalue below 0")
        else:
            texts.append("β‖v‖² up to 2: factors with the eigenvalue -1")
    if any(factor.mask is not None for factor in factors):
        texts.append("factors with a mask, I - β v (v⊙a)ᵀ")
    if gates:
        signs = "some of them below 0" if any(sign(gate) < 0 for gate in gates) else "from 0 to 1"
        texts.append("the gate 0 alone" if gates == {0} else f"gates other than 1, {signs}")
    if any(t.additive for t in used):
        texts.append("additive terms")
    if found.norm != "at most 1":
        texts.append(f"norm of a letter: {found.norm}")
    bound = found.integer_bound
    if bound is None:
        texts.append("exact arithmetic: every float format rounds its numbers")
    else:
        reached = ", ".join(found.formats) or "none of the float formats"
        texts.append(f"a number format that has all integers up to {bound}: {reached}")
    return tuple(texts)


OBJECTIVES = {
    "layers": "fewest layers",
    "factors": "fewest factors of a letter in a head",
    "dim": "smallest key dimension",
    "work": "least work: factors × key dimension of each layer's most expensive letter, summed",
    "size": "smallest certificate",
}
"""What `construct` can be asked to minimise, in words."""


def rank(found: Realisation, objective: str | None) -> tuple[int, ...]:
    """What is compared under an objective, the least first: its own figure, and then as without an objective (`weigh`).

    Args:
        found: the realisation.
        objective: one of `OBJECTIVES`; None for the default rule.
    """
    if objective is None:
        return weigh(found)
    name = {"factors": "householders", "layers": "depth", "size": "certificate_bytes"}.get(
        objective, objective
    )
    figure: int | None = getattr(found, name)
    return (10**18 if figure is None else figure, *weigh(found))


def weigh(found: Realisation) -> tuple[int, ...]:
    """What is compared without an objective: for a group automaton `cost` alone, else layers × work first.

    Few layers are worth more work, but not where they are paid for with too many factors.

    Args:
        found: the realisation.
    """
    if found.automaton.is_permutation:
        return cost(found)
    return (found.depth * (10**12 if found.work is None else found.work), *cost(found))


def cost(found: Realisation) -> tuple[int, int, bool, int, int]:
    """Fewest layers, then factors, then integer, then the smaller dimension, then fewer heads."""
    factors = found.householders
    return (
        found.depth,
        10**9 if factors is None else factors,
        found.exactness != "integer",
        found.dim,
        found.heads,
    )


Show: TypeAlias = Callable[[Any, int], str]


@dataclass(frozen=True)
class Kind:
    """How realisations of a kind are written, read back and shown; one file of `kinds/` holds one, as `KIND`.

    Args:
        kind: name of the kind, which its certificates have too.
        noun: the kind in a sentence: `a linear RNN`, `a block delay`.
        write: the certificate of a realisation; the number is the largest group whose elements are listed.
        read: the realisation that a document describes, and what errors call the document. It proves nothing.
        show: plain text of a realisation with at most so many letters of a head.
        latex: the same in LaTeX; None where there is none.
        reads: further kinds of documents that hold the same tables and are read alike.
    """

    kind: str
    noun: str
    write: Callable[[Any, int], dict[str, Any]]
    read: Callable[[Mapping[str, Any], str], Realisation]
    show: Show
    latex: Callable[[Any, int | None], str] | None = None
    reads: tuple[str, ...] = ()


@cache
def all_kinds() -> dict[str, Kind]:
    """The kinds of realisations by their names, found by the files of `kinds/`."""
    return {record.kind: record for record in find_records(f"{__package__}.kinds", "KIND", Kind)}


def realisation_from_certificate(
    document: Mapping[str, Any] | str | PathLike[str], name: str | None = None
) -> Realisation:
    """Read the realisation from a certificate, with labels as strings. The certificate is not checked; use `check`.

    Args:
        document: the JSON object, or the path of its file.
        name: the name to use in error messages; None for the path, or `certificate`.

    Raises:
        InputError: the file cannot be read, or the document has the wrong form or is of a kind that contains no realisation.
    """
    if not isinstance(document, Mapping):
        path = require_path("document", document, "a certificate or the path of one")
        name = name or path
        document = read_document(path)
    name = name or "certificate"
    kind = document.get("kind")
    for record in all_kinds().values():
        if kind == record.kind or kind in record.reads:
            return record.read(document, name)
    raise InputError(f"{name}: a certificate of kind {kind} holds no construction")
