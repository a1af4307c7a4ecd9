"""E.neutral: an affine letter that leaves states alone cannot correct an error along their differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...constructions._construct import construct
from ...constructions._lrnn import LRNN
from ...constructions._realisation import Sparse
from ...constructions.algebra._cyclotomic import Number, simplest
from ...constructions.algebra._matrices import rank
from ...constructions.texts._show import distinct_transitions
from .._verdict import Verdict
from ..arithmetic._arithmetic import fractions
from ..spectra._matrix import ExactMatrix
from ..spectra._model import lrnn_heads
from ..verifying._claim import QUICK, Claim, Effort, Subject
from ..verifying._evidence import check_all_cases, decide_values
from ._parts import construct_table, further
from ._subject_letters import count_letters

# E.neutral: a letter that leaves states where they are is the identity on the span of their differences.
#
# If A p + b = p and A p' + b = p' then A(p - p') = p - p'. So an error along a difference of such states is never corrected
# by an affine letter: it is carried on, exactly. `neutral_letters` finds what each letter of a construction leaves alone.


Difference: TypeAlias = dict[tuple[int, int], Number]
"""The entries of a state's shape that are not 0, by (row, column)."""


@dataclass(frozen=True)
class NeutralLetter:
    """A letter of a head with matrix A that leaves `fixed` of its `codes` where they are.

    `kept`: differences of these from their first; `others`: differences of the codes that move, from the same one.
    """

    head: str
    letter: str
    matrix: ExactMatrix
    codes: int
    fixed: int
    kept: tuple[Difference, ...]
    others: tuple[Difference, ...]


def neutral_letters(lrnn: LRNN) -> list[NeutralLetter]:
    """All letters of all heads that leave two codes or more where they are; each different transition once."""
    found = []
    for head, (name, matrices, labels) in zip(lrnn.all_heads, lrnn_heads(lrnn), strict=True):
        seen = set()
        moves = [head.code_transitions[t].tolist() for t, own in distinct_transitions(head) for _ in own]
        for row, A, label in zip(moves, matrices, labels, strict=True):
            fixed = [c for c, after in enumerate(row) if c == after]
            if len(fixed) < 2 or (A, tuple(row)) in seen:
                continue
            seen.add((A, tuple(row)))
            first = head.codes[fixed[0]]
            kept = tuple(difference(head.codes[c], first) for c in fixed[1:])
            others = tuple(difference(head.codes[c], first) for c, after in enumerate(row) if c != after)
            found.append(NeutralLetter(name, label, A, len(row), len(fixed), kept, others))
    return found


def span(differences: Sequence[Difference]) -> int:
    """The dimension that the columns of the differences span."""
    columns = sorted({(k, j) for k, d in enumerate(differences) for _, j in d})
    height = 1 + max((i for d in differences for i, _ in d), default=0)
    return (
        rank([[differences[k].get((i, j), 0) for i in range(height)] for k, j in columns]) if columns else 0
    )


def difference(code: Sparse, other: Sparse) -> Difference:
    """code - other, the entries that are not 0 by (row, column)."""
    entries: dict[tuple[int, int], Number] = {(i, j): x for i, j, x in code}
    for i, j, x in other:
        entries[i, j] = simplest(entries.get((i, j), 0) - x)
    return {place: x for place, x in entries.items() if x != 0}


def defect(A: ExactMatrix, d: Difference) -> Difference:
    """(A - I) d, the entries that are not 0."""
    columns = sorted({j for _, j in d})
    result: dict[tuple[int, int], Number] = {}
    for i, row in enumerate(A.rows):
        for j in columns:
            total: Number = -d.get((i, j), 0)
            for k, a in row:
                total = total + a * d.get((k, j), 0)
            if (value := simplest(total)) != 0:
                result[i, j] = value
    return result


def affine_defect(A: Any, B: Any, codes: Any) -> tuple[int, float, float]:
    """Of one letter of a model of matrices: how many codes stay exactly, ‖(A - I) d‖/‖d‖ over their differences, and over all.

    `A` `[n, n]`, `B` `[n, d]`, `codes` `[codes, n, d]`: floats, taken as the rationals they are. The largest quotient over
    differences from the first code; 0 where there are none.
    """
    exact = [fractions(M) for M in (A, B, codes)]
    after = np.array([exact[0] @ c + exact[1] for c in exact[2]], dtype=object)
    stays = np.array([bool((a == c).all()) for a, c in zip(after, exact[2], strict=True)])
    kept = exact[2][stays]

    def largest(group: Any) -> float:
        worst = 0.0
        for c in group[1:]:
            d = c - group[0]
            size = sum(x * x for x in d.ravel())
            moved = exact[0] @ d - d
            if size:
                worst = max(worst, float(sum(x * x for x in moved.ravel()) / size) ** 0.5)
        return worst

    return int(stays.sum()), largest(kept), largest(exact[2])


CLAIM = Claim(
    "E.neutral",
    "An affine letter that leaves states alone is the identity between them",
    "exhaustive",
    formal=("Affine.neutral_letter",),
)
GROUPS = ("cycle:5", "S3", "S4", "A5", "dihedral:5", "Z2^3", "Q8")
OTHERS = ("flipflop", "permreset:3", "tomita:4", "even_pairs", "boxes:2,3", "dyck:2,2")
ONE_HOT = ("T3", "T4", "gridworld:4", "tomita:3", "tomita:7", "dyck1:2", "starladder:abab", "T3[all]")


class Letter(NamedTuple):
    """A of a letter in a head, and differences of states from one that the letter leaves alone."""

    name: str
    matrix: ExactMatrix
    differences: tuple[Difference, ...]


def verify(effort: Effort = QUICK) -> Verdict:
    """If h ← A h + b leaves the states p and p' where they are then A (p - p') = p - p'.

    Statement: Let an affine letter map each of some state vectors to itself. Then A is the identity on the span of their
        differences. So an error in that span is carried on unchanged, however often the letter is read: an exact affine
        tracker corrects nothing there.
    Direction: necessary
    Hypotheses: The update is affine, with A and b of the letter alone; each of the states is kept exactly.
    Arithmetic: exact
    Source: E
    Method: Every letter of many constructions, and of trackers with one-hot states, that leaves two states or more: its
        matrix times the differences, in exact numbers. Differences to a state that the letter moves are outside the
        hypothesis, and the same check must find that A is not the identity there. An error is carried through a hundred
        letters.
    Example:
        >>> print(verify().line())
        holds on 37 cases: no violation, as claimed
    """
    models = [construct(spec) for spec in GROUPS + effort.pick((), ("S5", "A4_x_Z5"))]
    models += [construct_table(spec, "G.T4") for spec in OTHERS + effort.pick((), ("boxes:3,2", "dyck1:4"))]
    models += [
        construct_table(spec, "G.A3") for spec in ONE_HOT + effort.pick((), ("mod_arith:2", "T4[all]"))
    ]
    found = check_all_cases(
        CLAIM,
        cases=_letters(models, moved=False),
        check=_not_identity,
        of="letters of constructions that leave two states or more where they are",
        broken=_letters(models, moved=True),
        evidence={"models": [model.automaton.name for model in models]},
    )
    return further(
        found,
        {
            "span of the states of S_4's identity": (_spans(construct("S4")), [3]),
            "error after 100 neutral letters, over the error": (
                _carry_error(construct("S4"), 100),
                Fraction(1),
            ),
        },
    )


def applies(subject: Subject) -> Verdict | None:
    """For each letter that leaves codes alone whether it is the identity between them, and so corrects nothing."""
    if subject.lrnn is not None:
        letters = neutral_letters(subject.lrnn)
        wrong = [x.letter for x in letters if any(defect(x.matrix, d) for d in x.kept)]
        shown: Any = [
            {"head": x.head, "letter": x.letter, "states": x.fixed, "span": span(x.kept)} for x in letters
        ]
        return decide_values(
            CLAIM,
            computed=len(wrong),
            claimed=0,
            evidence={"says": _says(len(letters), len(wrong)), "neutral_letters": shown},
        )
    if subject.npz is None:
        return None
    npz, shown, wrong = subject.npz, [], []
    for x, (A, B) in enumerate(zip(npz.A, npz.B, strict=True)):
        stays, kept, every = affine_defect(A, B, npz.codes)
        shown.append(
            {"letter": x, "codes_kept": stays, "defect_between_them": kept, "defect_between_all": every}
        )
        if kept:
            wrong.append(str(x))
    return decide_values(
        CLAIM,
        computed=len(wrong),
        claimed=0,
        evidence={"says": _says(len(shown), len(wrong)), "letters": shown},
    )


def _says(letters: int, wrong: int) -> str:
    if not letters:
        return "no letter leaves states alone"
    if not wrong:
        said = (
            "the letter that leaves states alone acts"
            if letters == 1
            else f"all {letters} letters that leave states alone act"
        )
        corrects = "it corrects" if letters == 1 else "they correct"
        return f"{said} as the identity on the differences of these states, so {corrects} no error along them"
    of = count_letters(letters, "letter that leaves states alone", "letters that leave states alone")
    return f"of {of}, {wrong} change differences of such states"


def _letters(models: list[LRNN], moved: bool) -> Iterator[Letter]:
    for model in models:
        for x in neutral_letters(model):
            if differences := x.others if moved else x.kept:
                yield Letter(f"{model.automaton.name}, {x.head}, {x.letter}", x.matrix, differences)


def _not_identity(case: Letter) -> Any:
    wrong = next((d for d in case.differences if defect(case.matrix, d)), None)
    return wrong and {"letter": case.name, "difference": {str(k): v for k, v in wrong.items()}}


def _spans(model: LRNN) -> list[int]:
    return [span(x.kept) for x in neutral_letters(model)]


def _carry_error(model: LRNN, times: int) -> Fraction:
    """A small error along the first difference, after so many of the first neutral letter, over the error."""
    letter = neutral_letters(model)[0]
    error: Difference = {place: Fraction(1, 1000) * x for place, x in letter.kept[0].items()}
    carried = dict(error)
    for _ in range(times):
        change = defect(letter.matrix, carried)
        carried = {p: carried.get(p, 0) + change.get(p, 0) for p in sorted({*carried, *change})}
    place = next(iter(error))
    return Fraction(carried[place]) / Fraction(error[place])  # type: ignore[arg-type]
