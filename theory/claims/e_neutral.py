"""E.neutral: an affine letter that leaves states alone cannot correct an error along their differences."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from ...constructions.construct import construct
from ...constructions.lrnn import LRNN
from ..factors.neutral_letters import Difference, affine_defect, defect, neutral_letters, span
from ..spectra.matrix import ExactMatrix
from ..verifying.claim import QUICK, Claim, Effort
from ..verifying.evidence import exhaustive, proved
from ..verifying.further import further
from ..verifying.subject import Subject
from ..verifying.subject_letters import counted
from ..verifying.verdict import Verdict

CLAIM = Claim(
    "E.neutral", "An affine letter that leaves states alone is the identity between them", "exhaustive"
)
TRACKERS = (
    *("flipflop", "cycle:5", "S3", "S4", "A5", "dihedral:5", "permreset:3", "tomita:4", "even_pairs", "Z2^3"),
    *("Q8", "boxes:2,3", "dyck:2,2"),
)
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
        holds on 34 cases: no violation, as claimed
    """
    models = [
        construct(spec) for spec in TRACKERS + effort.pick((), ("S5", "A4_x_Z5", "boxes:3,2", "dyck1:4"))
    ]
    models += [
        construct(spec, theorem="G.A3") for spec in ONE_HOT + effort.pick((), ("mod_arith:2", "T4[all]"))
    ]
    found = exhaustive(
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
            "error after 100 neutral letters, over the error": (_carried(construct("S4"), 100), Fraction(1)),
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
        return proved(
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
    return proved(
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
    of = counted(letters, "letter that leaves states alone", "letters that leave states alone")
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


def _carried(model: LRNN, times: int) -> Fraction:
    """A small error along the first difference, after so many of the first neutral letter, over the error."""
    letter = neutral_letters(model)[0]
    error: Difference = {place: Fraction(1, 1000) * x for place, x in letter.kept[0].items()}
    carried = dict(error)
    for _ in range(times):
        change = defect(letter.matrix, carried)
        carried = {p: carried.get(p, 0) + change.get(p, 0) for p in sorted({*carried, *change})}
    place = next(iter(error))
    return Fraction(carried[place]) / Fraction(error[place])  # type: ignore[arg-type]
