"""What snapping moved, what it cures, and which automaton the model is, in a report."""

from __future__ import annotations

from ...theory._check import check
from ..comparison._causes import MOST_ALONE
from ..comparison._causes import WORDS as CAUSAL_WORDS
from ..comparison._result import Comparison
from .learned_trained import Trained
from .limits import LearnedLimits
from .parts import Cell, Section, Table


def snap_section(slug: str, title: str, place: Trained, found: Comparison, limits: LearnedLimits) -> Section:
    """Distances, the snapped linear RNN's certificate, the causal check, and the extracted automata."""
    source, snapped = place.source(limits), found.snapped
    parts = []
    if snapped.heads:
        parts.append("The nearest exact representation to each head that carries states, and how far it is.")
    else:
        parts.append(f"Nothing is snapped: {snapped.reason}.")
    if snapped.lrnn is not None:
        verdict = check(snapped.lrnn)
        parts.append(
            f"The snapped heads are an exact linear RNN ({snapped.lrnn.construction}); its certificate is "
            f"{verdict.verdict}: {verdict.reason}."
        )
    elif snapped.heads:
        parts.append(f"They are no exact linear RNN: {snapped.reason}.")
    if found.causal:
        parts.append("Then the snapped heads take the learned ones' places and the rest of the model stays.")
        if found.causal[0].accuracy < 1:
            parts.append(
                "Where that makes the accuracy 1, the heads' inexactness is the reason for the wrong answers."
            )
    notes = [note for note in found.notes if "extraction" in note]
    items = [_moved(found, source)] if snapped.heads else []
    items += [_causal(found, place.source(limits, CAUSAL_WORDS))] if found.causal else []
    items += [_automata(found, source)] if found.extracted else []
    return Section(slug, title, "\n\n".join([" ".join(parts), *notes]), tuple(items))


def _moved(found: Comparison, source: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for s in found.snapped.heads:
        moved = s.to_json()
        rows.append(
            (
                s.head.name, moved["representation"], moved["theorem"], moved["transitions_moved"], moved["entries_moved"],
                moved["beta_moved"], moved["plane_moved"], moved["codes_moved"],
            )
        )  # fmt: skip
    return Table(
        "learned-moved", "What snapping moved",
        "Letters: largest spectral distance on U. β‖k‖²: largest distance of a factor from a reflection (2) or from doing nothing on U (0). Planes: largest angle between "
        "what A - I and the snapped letter move. States: largest distance of a class mean.",
        ("head", "snapped to", "theorem", "letters", "entries", "β‖k‖²", "planes (radians)", "states"), tuple(rows), source,
    )  # fmt: skip


def _causal(found: Comparison, source: str) -> Table:
    rows = tuple((c.replaced, c.accuracy, c.first_failure) for c in found.causal)
    return Table(
        "learned-causal", "Causal check",
        f"{_replaced(found)}; a dash for the first wrong answer means that there was none.",
        ("heads replaced", "accuracy", "first wrong answer"), rows, f"{source}; float64",
    )  # fmt: skip


def _replaced(found: Comparison) -> str:
    count = len(found.snapped.heads)
    alone = "each alone" if count <= MOST_ALONE else f"the first {MOST_ALONE} of {count} alone"
    return (
        "None of the heads is replaced, then its only snapped one"
        if count == 1
        else f"None of the heads is replaced, then {alone}, then all snapped ones"
    )


def _automata(found: Comparison, source: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for e in found.extracted:
        word = None if e.counterexample is None else " ".join(map(str, e.counterexample)) or "ε"
        rows.append((e.method, len(e.automaton.states), e.is_target, e.strength, word, e.confirmed))
    target = found.learned.target.automaton
    return Table(
        "learned-automata", "The automaton it is",
        f"Minimised and compared with {target.name}, which has {len(target.states):,} states; a shortest word on which they "
        "differ, and whether the model answers it wrongly.",
        ("way", "states", "is the target", "how far it is known", "counterexample", "model answers it wrongly"),
        tuple(rows), source,
    )  # fmt: skip
