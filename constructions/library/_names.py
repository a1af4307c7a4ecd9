"""`automaton_by_name`, `library`, the table of named automata, and `library_rows`, that table with their sizes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ...foundation._arguments import require_count, require_text
from ...foundation._errors import InputError, LimitError
from ..algebra.groups._finite_group import Product
from ..algebra.monoids._monoid import TransitionMonoid
from ..automata._automaton import Automaton
from . import _languages as arithmetic
from . import _languages as brackets
from . import _languages as languages
from . import _tasks as counters
from . import _tasks as semigroups
from . import _tasks as tasks
from ._groups import is_group_name, word_problem_by_name
from ._parameters import Limits


class LibraryEntry(NamedTuple):
    """A row of the table of names: its pattern, a name that it covers, and what letters and state are."""

    pattern: str
    example: str
    description: str


_Builder = Callable[[str, str, Limits], Automaton]

_ROWS: tuple[tuple[str, str, str, _Builder | None], ...] = (
    ("parity", "parity", "0, 1; number of ones mod 2", counters.parity),
    ("mod:m", "mod:5", "0, 1; number of ones mod m", counters.mod),
    ("Zm", "Z60", "the integers mod m, added", None),
    ("Sn", "S5", "all permutations of n points; their product", None),
    ("An", "A5", "all even permutations of n points; their product", None),
    ("dihedral:m", "dihedral:4", "rotations r0, r1, ... and reflections s0, s1, ...; their product", None),
    ("Q8", "Q8", "the quaternions ±1, ±i, ±j, ±k; their product", None),
    ("V4", "V4", "the identity and the double swaps of 4 points; their product", None),
    ("Fn", "F20", "x to a·x + b mod a prime p, a of order n/p; their product", None),
    (
        "PSL(2,p)",
        "PSL(2,7)",
        "fractional linear maps of p + 1 points, p prime (also PGL); their product",
        None,
    ),
    (
        "SL(n,p)",
        "SL(2,3)",
        "matrices of determinant 1 on non-zero vectors mod p (also GL); their product",
        None,
    ),
    ("G_x_H", "A4_x_Z5", "tuples of elements, any number of factors; their product", None),
    ("Z2^k", "Z2^3", "tuples of k bits (any group for Z2); their sum", None),
    ("G[transpositions]", "S5[transpositions]", "swaps of two points; product", None),
    ("G[involutions]", "A5[involutions]", "elements of order 2; product", None),
    ("G[generators]", "S5[generators]", "cycle and swap (S_n), 5-cycle and (0 1)(2 3) (A_5); product", None),
    ("G[up_to_k]", "S5[up_to_3]", "permutations that move at most k points; product", None),
    (
        "G[in_k_tokens]",
        "S5[in_4_tokens]",
        "an element, then k-1 blanks; product, valid at each k-th token",
        None,
    ),
    ("cycle:m", "cycle:5", "-1, 0, +1; the place on a cycle of m", counters.cycle),
    ("flipflop", "flipflop", "read, 0, 1; the last value written", semigroups.flipflop),
    (
        "permreset:n",
        "permreset:3",
        "all cyclic shifts of n points and n resets; the point",
        semigroups.permreset,
    ),
    (
        "Tn",
        "T3",
        "cycle, swap, collapse of n points: all maps; the point",
        semigroups.full_transformations,
    ),
    ("Tn[all]", "T3[all]", "every map of n points; the point", semigroups.all_transformations),
    ("gridworld:n", "gridworld:5", "left, right on n cells, stopped at the walls; the cell", tasks.gridworld),
    ("tomita:i", "tomita:3", "0, 1; Tomita's language i = 1, ..., 7", languages.tomita),
    ("even_pairs", "even_pairs", "a, b; the first letter is the last", languages.even_pairs),
    ("starladder:w", "starladder:abab", "the letters of w; (w)*", languages.starladder),
    ("dn:n", "dn:2", "a, b; D_0 = the empty word, D_n = (a D_{n-1} b)*", languages.dn),
    ("dyck1:d", "dyck1:4", "( and ) to depth d; all closed", brackets.dyck1),
    ("dyck:k,d", "dyck:2,3", "brackets of k kinds to depth d; all closed", brackets.dyck),
    (
        "mod_arith:m",
        "mod_arith:5",
        "digits, +, -, *, * binding tighter; the value mod m",
        arithmetic.mod_arith,
    ),
    (
        "mod_arith:m,d",
        "mod_arith:2,1",
        "the same with brackets to depth d; the value mod m",
        arithmetic.mod_arith,
    ),
    ("codeswap:n", "codeswap:4", "swap two of n variables; where each value is", tasks.codeswap),
    ("boxes:n,k", "boxes:3,2", "put one of k objects into one of n boxes; where each is", tasks.boxes),
    ("chess", "chess", "moves (source, target); the square of one piece, or captured", tasks.chess),
    (
        "random:states=n,letters=k,seed=s",
        "random:states=5,letters=2,seed=0",
        "uniform transitions, reachable part; the state",
        tasks.random,
    ),
)
_BUILDERS = {
    pattern.partition(":")[0]: build
    for pattern, _, _, build in _ROWS
    if build and not pattern.startswith("Tn")
}
_TRANSFORMATIONS = re.compile(r"T([0-9]+)(\[all\])?")


def library() -> tuple[LibraryEntry, ...]:
    """Every row of the table of names."""
    return tuple(LibraryEntry(*row[:3]) for row in _ROWS)


def automaton_by_name(
    name: str,
    product: Product = "left",
    *,
    max_states: int = Limits.states,
    max_transitions: int = Limits.transitions,
) -> Automaton:
    """Build a named automaton. Each state is its own output; for a language, the output is acceptance.

    Args:
        name: a name from the library, such as `S5`, `mod:7` or `dyck:2,3`.
        product: order of the product in the word problem of a group: `left` (the state y becomes x·y on letter x) or
            `right` (y·x). Other automata do not depend on it.
        max_states: the largest number of states.
        max_transitions: the largest number of transitions, letters times states.

    Raises:
        InputError: the name is unknown (the message lists the nearest names), or a number in it is out of range.
        LimitError: the automaton would be larger than `max_states` or `max_transitions`.
    """
    require_text("name", name, "a name of the library, such as S5")
    limits = Limits(
        require_count("max_states", max_states, 1), require_count("max_transitions", max_transitions, 1)
    )
    if product not in ("left", "right"):
        raise InputError(f"{name}: the product must be 'left' or 'right', not {product!r}")
    maps = _TRANSFORMATIONS.fullmatch(name)
    if maps:
        build = semigroups.all_transformations if maps[2] else semigroups.full_transformations
        return build(name, maps[1], limits)
    head, colon, parameters = name.partition(":")
    builder = _BUILDERS.get(head)
    if builder:
        if colon and not parameters:
            raise InputError(f"{name}: nothing follows the colon; write {_pattern(head)}")
        return builder(name, parameters, limits)
    if is_group_name(name.partition("[")[0]):
        return word_problem_by_name(name, product, limits)
    raise InputError(f"{name!r} is not a name of the library{_nearest(name)}")


def _pattern(head: str) -> str:
    return " or ".join(entry.pattern for entry in library() if entry.pattern.partition(":")[0] == head)


def _nearest(name: str) -> str:
    """The nearest names: the same one in other letters, else by `difflib` on the part before the numbers."""
    plain = re.sub(r"[\s_{}()]", "", name)
    for candidate in dict.fromkeys((name.lower(), plain[:1].upper() + plain[1:], plain.lower())):
        known = candidate.partition(":")[0] in _BUILDERS or _TRANSFORMATIONS.fullmatch(candidate)
        if known or is_group_name(candidate.partition("[")[0]):
            return f"; did you mean {candidate}?"
    notation = re.fullmatch("([CDcd])_?([0-9]+)", name)
    if notation:
        return f"; did you mean {'Z' if notation[1] in 'Cc' else 'dihedral:'}{notation[2]}?"
    stems = {_stem(entry.pattern): entry for entry in reversed(library())}
    for entry in reversed(library()):
        stems.setdefault(_stem(entry.example), entry)
    near = difflib.get_close_matches(_stem(name), list(stems), n=3)
    if near:
        shown = dict.fromkeys(
            e.pattern if e.pattern == e.example else f"{e.pattern} (as in {e.example})"
            for e in (stems[stem] for stem in near)
        )
        return f"; did you mean {' or '.join(shown)}?"
    return f"; the names are {', '.join(entry.pattern for entry in library())}"


def _stem(name: str) -> str:
    return re.split("[:[]", name)[0].lower()


MAX_COUNTED_MONOID = 100_000


def library_rows(max_monoid: int = MAX_COUNTED_MONOID) -> list[dict[str, Any]]:
    """One row per name: `name` (pattern), `example`, `states`, `letters`, `monoid` (None over the limit), `description`.

    Args:
        max_monoid: the largest number of elements of a transition monoid that is counted.
    """
    rows = []
    for entry in library():
        automaton = automaton_by_name(entry.example)
        try:
            monoid: int | None = TransitionMonoid.of(
                automaton, max_size=min(max_monoid, MAX_COUNTED_MONOID)
            ).size
        except LimitError:
            monoid = None
        rows.append(
            {
                "name": entry.pattern,
                "example": entry.example,
                "states": len(automaton.states),
                "letters": len(automaton.letters),
                "monoid": monoid,
                "description": entry.description,
            }
        )
    return rows


def library_text(rows: list[dict[str, Any]]) -> str:
    """The rows as text: an example with its sizes, then the pattern with its letters and state."""
    lines = [f"{'example':<34}{'states':>8}{'letters':>9}{'monoid':>12}"]
    for row in rows:
        monoid = "over limit" if row["monoid"] is None else f"{row['monoid']:,}"
        lines.append(f"{row['example']:<34}{row['states']:>8,}{row['letters']:>9,}{monoid:>12}")
        lines.append(f"    {row['name']}: {row['description']}")
    return "\n".join(lines)
