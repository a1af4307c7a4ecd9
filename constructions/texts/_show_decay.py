"""`show` of a decaying number."""

from __future__ import annotations

from ...foundation._text import count_noun
from ..automata._labels import label_text
from ..decays._decay import DecayRNN
from ._show import CONVENTION, check_max_letters


def show_decay(form: DecayRNN, *, max_letters: int = 30) -> str:
    """A decaying number as plain text: figures, and what its letters do.

    `max_letters`: letters that are written out; a last line says how many more there are. `InputError` where it is below 1.
    """
    check_max_letters(max_letters)
    automaton, letters = form.automaton, form.automaton.letters
    lines = [
        f"{label_text(automaton.name)}: {form.construction} ({form.theorem})",
        f"{count_noun(len(automaton.states), 'state')}, {count_noun(len(letters), 'letter')}; 1 layer, 1 head, 1 factor, dimension 1; "
        f"rounded once a token, right at any length in {' '.join(form.formats)}",
        CONVENTION,
        *(f"note: {note}" for note in form.notes),
        "",
        "H_0 = 0; the state is read off by the list of numbers that words lead to",
    ]
    for label, digit in zip(letters[:max_letters], form.digits, strict=False):
        step = (
            "no factor, A = 1"
            if digit is None
            else f"H ← H/{form.base} {'-' if digit < 0 else '+'} {abs(digit)}"
        )
        lines.append(f"  letter {label_text(label)}: {step}")
    if len(letters) > max_letters:
        more = count_noun(len(letters) - max_letters, "more letter")
        lines.append(f"... {more}: `max_letters` {len(letters)} shows all")
    return "\n".join(lines) + "\n"
