"""A chain of sets over blocks as plain text."""

from __future__ import annotations

from ...foundation._text import count_noun
from ..chains._blocks import BlockRNN
from ._show import CONVENTION, check_max_letters, label_text, name_factors


def show_blocks(form: BlockRNN, *, max_letters: int = 30) -> str:
    """A chain of sets over blocks: figures, its layers, and what blocks of one letter make the levels do at the start.

    `max_letters`: letters of which that is written out; a last line says how many more there are. `InputError` where it is below 1.
    """
    check_max_letters(max_letters)
    automaton, letters = form.automaton, form.automaton.letters
    bound = "" if form.integer_bound is None else f" with bound {form.integer_bound}"
    exact_in = f"bit-exact in {' '.join(form.formats)}" if form.formats else "rounded in every float format"
    counting = len(form.counter.layers)
    first = "layer 1" if counting == 1 else f"layers 1 to {counting}"
    bits = form.chain.bits.shape[1]
    lines = [
        f"{label_text(automaton.name)}: {form.construction} ({form.theorem})",
        f"{count_noun(len(automaton.states), 'state')}, {count_noun(len(letters), 'letter')}; "
        f"{count_noun(form.depth, 'layer')}, {count_noun(form.heads, 'head')}, at most {count_noun(form.householders, 'factor')}, "
        f"dimension {form.dim}; {form.exactness}{bound}, {exact_in}",
        CONVENTION,
        *(f"note: {note}" for note in form.notes),
        "",
        f"{first}: the {form.counter.name} of the tokens modulo {form.period}",
        f"layer {counting + 1}: the last {form.period} letters, a row of {count_noun(bits, 'bit')} each: erase the row of t mod "
        f"{form.period}, write the number of the letter's map, from 1, in binary",
    ]
    for i, (size, below) in enumerate(zip(form.sizes[:-1], form.sizes[1:], strict=True)):
        title = f"layer {counting + 2 + i}"
        if form.copies:
            lines.append(
                f"{title}: the state, one-hot, {count_noun(form.group(i, 1)[1], 'factor')} a token; a copy has the mask e_j: "
                "I - v (v⊙e_j)ᵀ"
            )
            continue
        kept = "; a second half keeps the indicator before the last reset" if form.keeps_old(i) else ""
        lines.append(
            f"{title}: which {below} of {size} members of the set above, dimension {form.level_dims[i]}, "
            f"{count_noun(form.group(i, 1)[1], 'factor')} a token{kept}"
        )
    if not form.levels:
        return "\n".join(lines) + "\n"
    lines += ["", f"after a first block of {form.block} times one letter, token by token of the next block"]
    for label in letters[:max_letters]:
        tokens = list(form.transitions_of([label] * (2 * form.block)))[form.block :]
        for i in range(form.levels):
            steps = "; ".join(name_factors(token[counting + 1 + i][0]) for token in tokens)
            lines.append(f"  letter {label_text(label)}, layer {counting + 2 + i}: {steps}")
    if len(letters) > max_letters:
        more = count_noun(len(letters) - max_letters, "more letter")
        lines.append(f"... {more}: `max_letters` {len(letters)} shows all")
    return "\n".join(lines) + "\n"
