"""`draw_chain`: the sets of a chain along a short word, a block of cells for each token, and the window above it.

A block shows the sets after a token: a row for each set, a column for each member of the first. The row below a level is blue where the token permutes the
level and orange where it resets it; there the members that only fill the set up are pale. The same construction gives the
same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from ...constructions.chains._chain import ChainRNN, ChainStates
from ...constructions.chains._rule import members, with_phantoms
from ...constructions.texts._show import check_max_letters, label_text
from ...foundation._errors import LimitError
from ...foundation._text import count_noun
from ._mirrors import picture_format, write_figure

INK, GREY = "#222222", "#666666"
COLOURS = {
    "start": ("#8a8a8a", "#8a8a8a"),
    "permutes": ("#0072b2", "#0072b2"),
    "resets": ("#d55e00", "#f3c6a5"),
}
"""Of a row's cells: members of the image, and those that fill the set up."""
MARGIN, LEFT, GAP, WIDTH = 0.3, 1.5, 0.34, 15.0
"""Inches: border, the column of the rows' names, space between blocks, and the width that the blocks should keep to."""
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
PILL = 0.26
"""Inches: height of a letter's and of a state's box."""
NAMED = 0.17
"""Inches: the size from which cells have names in them."""
LETTER = 0.2
"""Inches: size of a letter in the register."""
REGISTER = 12
"""Most letters of the register that are drawn."""


@dataclass(frozen=True)
class Row:
    """A set after a token: what the token did to it, its members, those of the image, and the set above it."""

    action: str
    members: tuple[int, ...]
    image: frozenset[int]
    above: tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """What is drawn of a token: its letter (None before the first), the register, the sets, and the state."""

    letter: int | None
    register: tuple[int, ...]
    rows: tuple[Row, ...]
    state: int


def draw_chain(
    form: ChainRNN, path: str | Path, max_letters: int, max_dim: int, options: tuple[str, str]
) -> None:
    """Draw a chain of sets along a short word to an `.svg` or `.png` file, whole or not at all.

    Args:
        form: the chain.
        path: the file.
        max_letters: the largest number of tokens drawn, 1 or more; fewer are drawn where the states need the space.
        max_dim: the largest size of a set that is drawn.
        options: what the caller's own user calls `max_letters` and `max_dim`, in words before a number.

    Raises:
        InputError: the extension is another one, or `max_letters` is below 1.
        LimitError: the first set has more than `max_dim` members.
    """
    check_max_letters(max_letters)
    kind = picture_format(path)
    if (size := form.sizes[0]) > max_dim:
        raise LimitError(
            f"{form.automaton.name}: a chain of sets of {size:,} states is not drawn, as that is more than {max_dim}; "
            f"{options[1]} {size} draws it"
        )
    write_figure(lambda: _figure(form, max_letters), path, kind)


def choose_word(form: ChainRNN, length: int) -> list[int]:
    """A word that shows much: each letter is the one used least so far whose next state has been seen least.

    States that no letter leaves, such as a sink, are entered only where every letter leads to one.

    Args:
        form: the chain.
        length: the number of letters.
    """
    transitions, q = form.automaton.transitions, form.automaton.start
    used, seen = np.zeros(len(transitions), dtype=np.int64), np.zeros(transitions.shape[1], dtype=np.int64)
    final = (transitions == np.arange(transitions.shape[1])).all(axis=0)
    word = []
    for _ in range(length):
        seen[q] += 1
        rows = transitions[:, q]
        x = int(np.argmin(used + seen[rows] + 2 * (length + 1) * final[rows]))
        used[x] += 1
        word.append(x)
        q = int(transitions[x, q])
    return word


def list_blocks(form: ChainRNN, word: list[int], before: list[int]) -> list[Block]:
    """The sets before a word and after each of its letters.

    Args:
        form: the chain.
        word: indices of letters.
        before: those that are read first and not shown.
    """
    states, reached = form.start_states(), form.automaton.start
    for x in before:
        states, _, q = form.token_letters(states, np.array([x]))
        reached = int(q[0])
    sets = _sets_of(form, states)
    rows = [Row("start", X, frozenset(X), above) for X, above in zip(sets, [sets[0], *sets], strict=False)]
    blocks = [Block(None, tuple(states.register[0].tolist()), tuple(rows), reached)]
    for x in word:
        row = form.automaton.transitions[x]
        states, done, q = form.token_letters(states, np.array([x]))
        old, sets = sets, _sets_of(form, states)
        rows = [Row("start", sets[0], frozenset(sets[0]), sets[0])]
        for acts, whole, above, X in zip(done, old, sets, sets[1:], strict=False):
            permutes = bool(acts.permutes[0])
            image = frozenset(X) if permutes else frozenset(int(row[m]) for m in whole if m < len(row))
            rows.append(Row("permutes" if permutes else "resets", X, image, above))
        blocks.append(Block(x, tuple(states.register[0].tolist()), tuple(rows), int(q[0])))
    return blocks


def _sets_of(form: ChainRNN, states: ChainStates) -> list[tuple[int, ...]]:
    """X_1, X_2, ... of one word; phantoms are numbered from n on."""
    n = len(form.automaton.states)
    if form.window is None:
        X = np.arange(n)[None]
    else:
        X = with_phantoms(form.window_states(states.register, states.start, form.window), form.sizes[0])
    sets = [X]
    for u in states.indicators:
        sets = [*sets, members(sets[-1], u)]
    return [tuple(X[0].tolist()) for X in sets]


@dataclass(frozen=True)
class Layout:
    """Where the parts of the picture are, in inches from the top left.

    `cell`: size of a cell; `step`: from row to row; `block`: width of a block; `letters`, `register`, `sets`, `states`, `legend`: heights at
    which these begin; `wide`: of the whole.
    """

    cell: float
    step: float
    block: float
    letters: float
    register: float
    sets: float
    states: float
    legend: float
    wide: float

    def left(self, k: int) -> float:
        """Where the k-th block begins."""
        return MARGIN + LEFT + k * (self.block + GAP)


def _figure(form: ChainRNN, max_letters: int) -> Figure:
    automaton = form.automaton
    cell = min(0.25, max(0.09, 3.6 / form.sizes[0]))
    step = cell + (0.05 if cell >= NAMED else 0.02)
    block = max(form.sizes[0] * cell, _register_width(form), 0.6)
    tokens = max(min(max_letters, int((WIDTH - LEFT) / (block + GAP)) - 1), 1)
    wide = max(2 * MARGIN + LEFT + (tokens + 1) * (block + GAP), 8.2)
    skipped = form.rows if form.rows >= tokens else 0  # else a long window is never full
    word = choose_word(form, skipped + tokens)
    blocks = list_blocks(form, word[skipped:], word[:skipped])
    inside = wide - 2 * MARGIN
    title = wrap(f"{label_text(automaton.name)}: {form.construction}", int(inside * 9.5))
    figures = wrap(_list_figures(form), int(inside * 15))
    words = wrap(" ".join(_explain(form, tokens, skipped, numbered=cell >= NAMED)), int(inside * 15.5))
    letters = MARGIN + 0.24 * len(title) + 0.17 * len(figures) + 0.2
    register = letters + PILL + 0.16
    sets = register + (LETTER + 0.2 if form.rows else 0)
    states = sets + step * len(form.sizes) + 0.1
    legend = states + PILL + 0.28
    at = Layout(cell, step, block, letters, register, sets, states, legend, wide)
    tall = legend + 0.3 + 0.17 * len(words) + MARGIN
    figure = Figure(figsize=(wide, tall), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    axes.set_xlim(0, wide)
    axes.set_ylim(tall, 0)
    _write(axes, MARGIN, MARGIN, "\n".join(title), 12, fontweight="bold", linespacing=1.2, va="top")
    under = MARGIN + 0.24 * len(title) + 0.05
    _write(axes, MARGIN, under, "\n".join(figures), 8.5, color="#444444", va="top")
    _name_rows(axes, form, at)
    texts = [f"after {count_noun(skipped, 'letter')}" if skipped else "start"]
    texts += [_cut(label_text(automaton.letters[x]), block) for x in word[skipped:]]
    for k, shown in enumerate(blocks):
        _pill(axes, at.left(k) + block / 2, letters, texts[k], "white" if k else "")
        if k:
            ends = at.left(k - 1) + block / 2, at.left(k) + block / 2
            _arrow(
                axes,
                ends[0] + _pill_width(texts[k - 1]) / 2,
                ends[1] - _pill_width(texts[k]) / 2,
                letters + PILL / 2,
            )
        _draw_block(axes, form, at, at.left(k) + block / 2, shown)
    _legend(axes, legend, form, blocks)
    _write(axes, MARGIN, legend + 0.3, "\n".join(words), 8, linespacing=1.3, va="top")
    return figure


def _name_rows(axes: Axes, form: ChainRNN, at: Layout) -> None:
    """What the rows are, in the column on the left; where they are narrow, of every second or third one."""
    _write(axes, MARGIN, at.letters + PILL / 2, "letter read", 8.5, color=GREY)
    _write(axes, MARGIN, at.states + PILL / 2, "state", 8.5, color=GREY)
    if form.rows:
        _write(axes, MARGIN, at.register + LETTER / 2, "window", 8.5, fontweight="bold")
        _write(axes, MARGIN + 0.62, at.register + LETTER / 2, "newest first", 7, color=GREY)
    every = 1 if at.step > 0.14 else 2
    for i, size in list(enumerate(form.sizes))[::every]:
        y = at.sets + i * at.step + at.cell / 2
        text = count_noun(size, "state")
        if form.window is not None and size > 1:
            text = count_noun(size, "member") if i else f"at most {text}"
        _write(axes, MARGIN, y, "X" + str(i + 1).translate(SUBSCRIPTS), 9 if every == 1 else 6.5)
        _write(axes, MARGIN + 0.32, y, text, 7.5 if every == 1 else 6, color=GREY)


def _draw_block(axes: Axes, form: ChainRNN, at: Layout, middle: float, shown: Block) -> None:
    """The register, the sets and the state after a token."""
    automaton = form.automaton
    letters = _shorten([label_text(x) for x in automaton.letters])
    left = middle - _register_width(form) / 2
    for j, x in enumerate(shown.register[:REGISTER]):
        here = left + j * LETTER
        newest = j == 0 and shown.letter is not None and x == form.like[shown.letter]
        fill = "#dff0e6" if newest else "#f2f2f2" if x >= 0 else "white"
        _box(axes, here, at.register, LETTER, fill, "#8a8a8a" if x >= 0 else "#cfcfcf")
        if x >= 0:
            _centre(axes, here + LETTER / 2, at.register + LETTER / 2, letters[x], 6.5)
    if form.rows > REGISTER:
        _centre(axes, left + REGISTER * LETTER + 0.12, at.register + LETTER / 2, "…", 8, GREY)
    names = _shorten([label_text(q) for q in automaton.states])
    corner = middle - form.sizes[0] * at.cell / 2
    columns = {m: corner + j * at.cell for j, m in enumerate(shown.rows[0].members)}
    for i, row in enumerate(shown.rows):
        _draw_row(axes, columns, at.sets + i * at.step, at.cell, row, names)
    _pill(axes, middle, at.states, _cut(label_text(automaton.states[shown.state]), at.block), INK)


def _draw_row(
    axes: Axes, columns: dict[int, float], y: float, cell: float, row: Row, names: list[str]
) -> None:
    """One set: its members as filled cells, the others of the set above as outlines, phantoms hollow in its colour."""
    strong, pale = COLOURS[row.action]
    for m in row.above:
        x = columns[m]
        if m not in row.members:
            _box(axes, x, y, cell, "white", "#cfcfcf")
            continue
        filled = m in row.image
        if m >= len(names):
            _box(axes, x, y, cell, "white", strong, dashed=True)
            continue
        _box(axes, x, y, cell, strong if filled else pale, strong)
        if cell >= NAMED:
            size = 6.5 if len(names[m]) < 3 else 5
            _centre(axes, x + cell / 2, y + cell / 2, names[m], size, "white" if filled else INK)


def _box(axes: Axes, x: float, y: float, size: float, fill: str, edge: str, *, dashed: bool = False) -> None:
    rim = 0.08 * size
    axes.add_patch(FancyBboxPatch(
        (x + rim, y + rim), size - 2 * rim, size - 2 * rim, boxstyle=f"round,pad=0,rounding_size={0.14 * size}", fc=fill, ec=edge,
        lw=0.8, ls=(0, (2, 1.4)) if dashed else "-"))  # fmt: skip


def _legend(axes: Axes, y: float, form: ChainRNN, blocks: list[Block]) -> None:
    """Coloured cells, each with what it means, of those that are drawn."""
    x, size, n = MARGIN, 0.19, len(form.automaton.states)
    rows = [row for shown in blocks for row in shown.rows]
    actions = {row.action for row in rows}
    filled = any(m < n and m not in row.image for row in rows for m in row.members if row.action == "resets")
    phantoms = any(m >= n for row in rows for m in row.members)
    given = (
        "possible after the last letters"
        if form.window is not None
        else "start, and all states in the first row"
    )
    entries = [("#8a8a8a", "#8a8a8a", False, given)]
    entries += [("#0072b2", "#0072b2", False, "the letter permutes the level")] * ("permutes" in actions)
    entries += [("#d55e00", "#d55e00", False, "it resets the level: the image")] * ("resets" in actions)
    entries += [("#f3c6a5", "#d55e00", False, "the least others, which fill the set up")] * filled
    entries += [("white", "#cfcfcf", False, "left out of the set above")] * (form.levels > 0)
    entries += [("white", "#8a8a8a", True, "phantom")] * phantoms
    for fill, edge, dashed, text in entries:
        wide = size + 0.4 + 0.058 * len(text)
        _box(axes, x, y - size / 2, size, fill, edge, dashed=dashed)
        _write(axes, x + size + 0.06, y, text, 8)
        x += wide


def _explain(form: ChainRNN, tokens: int, skipped: int, *, numbered: bool) -> list[str]:
    """Sentences below the picture; `numbered`: cells have names or numbers in them."""
    which = f"{count_noun(tokens, 'token')} of a word" + f" after its first {skipped}" * bool(skipped)
    parts = [f"Each block shows the sets after the letter above it, for {which}."]
    labels = [label_text(q) for q in form.automaton.states]
    if numbered and _shorten(labels) != labels:
        parts.append("The numbers stand for the states " + _listed(labels) + ".")
    if form.window is not None:
        parts.append(
            "The window tells which states are possible, the first row"
            + (", and phantoms fill it up to the same number of members." if form.levels else ".")
        )
    if form.levels:
        parts.append(
            "Layer by layer the next set is chosen among the one above it; the last one holds the state."
        )
    return parts


def _listed(labels: list[str], most: int = 160) -> str:
    shown, room = 0, most
    while shown < len(labels) and len(labels[shown]) + 2 <= room:
        room -= len(labels[shown]) + 2
        shown += 1
    return ", ".join(labels[:shown]) + f", … ({len(labels):,})" * (shown < len(labels))


def _shorten(labels: list[str]) -> list[str]:
    """The labels if all fit into a cell, else their numbers from 1."""
    return labels if all(len(x) <= 3 for x in labels) else [str(i + 1) for i in range(len(labels))]


def _list_figures(form: ChainRNN) -> str:
    automaton = form.automaton
    parts = [count_noun(len(automaton.states), "state"), count_noun(len(automaton.letters), "letter"), count_noun(form.depth, "layer"),
             f"at most {count_noun(form.householders, 'factor')}", f"dimension {form.dim} at most", f"norm {form.norm}",
             f"bit-exact in {' '.join(form.formats)}", form.theorem]  # fmt: skip
    return " · ".join(parts)


def _cut(text: str, room: float) -> str:
    most = max(int((room + GAP * 0.4 - 0.2) / 0.075), 3)
    return text if len(text) <= most else text[: most - 1] + "…"


def _pill_width(text: str) -> float:
    return max(0.34, 0.075 * len(text) + 0.22)


def _pill(axes: Axes, middle: float, y: float, text: str, fill: str) -> None:
    """A text in a box with round ends; without a fill the text alone."""
    width = _pill_width(text)
    if fill:
        axes.add_patch(
            FancyBboxPatch(
                (middle - width / 2, y),
                width,
                PILL,
                boxstyle=f"round,pad=0,rounding_size={PILL / 2}",
                fc=fill,
                ec=INK,
                lw=0.9,
            )
        )
    _centre(axes, middle, y + PILL / 2, text, 8, {INK: "white", "white": INK}.get(fill, GREY))


def _arrow(axes: Axes, left: float, right: float, y: float) -> None:
    axes.add_patch(
        FancyArrowPatch(
            (left + 0.04, y),
            (right - 0.04, y),
            arrowstyle="-|>",
            mutation_scale=7,
            color="#b5b5b5",
            lw=0.9,
            shrinkA=0,
            shrinkB=0,
        )
    )


def _register_width(form: ChainRNN) -> float:
    return min(form.rows, REGISTER) * LETTER + 0.25 * (form.rows > REGISTER)


def _centre(axes: Axes, x: float, y: float, text: str, size: float, colour: str = INK) -> None:
    axes.text(x, y, text, fontsize=size, ha="center", va="center", color=colour)


def _write(axes: Axes, x: float, y: float, text: str, size: float, **style: Any) -> None:
    axes.text(x, y, text, fontsize=size, **{"va": "center", **style})
