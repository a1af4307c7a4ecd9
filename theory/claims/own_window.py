"""own.window: a window over the last letters first, then a chain of sets of the states that it leaves."""

from __future__ import annotations

import numpy as np

from ...constructions.chains._chain import ChainRNN
from ...constructions.chains._sizes import find_windows
from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._chains import draw_automaton, find_defect

CLAIM = Claim(
    "own.window",
    "An automaton in s layers, s the most states that can be left after some number of letters",
    "supported",
    uses=("own.chain",),
    seconds=8,
    formal=(
        "ChainForms.every_window, where words of m letters leave at most s states",
        "Window.criterion, for m from the listing of image sets",
        "WindowLRNN.window_lrnn_tracks, with the states numbered instead of phantoms",
    ),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """If at most s states are left after any m letters, s layers follow the automaton, the first a shift register.

    Statement: Leave out the letters that move no state. Let no image set w(Q) of more than s states come back under further letters,
        and let m - 1 be the length of the longest path among them. Then |w(Q)| ≤ s for every word w of m letters. For s = 1 one layer
        suffices, a shift register of the last m letters. For s ≥ 2 a register of the last m + 1 letters tells the sets R and R'
        of the states that are possible before and after the token, and a chain of s, s - 1, ..., 1 members, states of R and
        phantoms, has the automaton's state at its end: s layers in all, with at most 2s and m + 1 factors.
    Direction: sufficient
    Hypotheses: Each layer reads the token and the states of the layers before it. No letter permutes all states.
    Arithmetic: exact, all numbers are 0, 1 and -1
    Source: ours
    Method: Random automata, each with one of its windows. The stand-alone checker lists the image sets again, and every state of the
        layers that words lead to is stepped by its factors and compared. The same check must find defects where the window is
        one letter shorter, or the sets are one state smaller.
    Example:
        >>> print(verify().line())
        supported by 12 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(12, 60),
        draw=draw_window,
        broken=draw_short_window,
        check=find_defect,
        assumptions=("the induction on the levels in the text of the checker `chain`",),
    )


def draw_window(generator: np.random.Generator) -> ChainRNN:
    """A random automaton with one of the windows found for it, of two to four letters in three cases out of four."""
    least = 1 + bool(generator.integers(4))  # most windows have one letter, which has no order
    while True:
        automaton = draw_automaton(generator, 5)
        windows = [w for w in find_windows(automaton.transitions) if least <= w.length <= 4]
        if windows:
            window = windows[int(generator.integers(len(windows)))]
            return ChainRNN(automaton, tuple(range(window.size, 0, -1)), window.length)


def draw_short_window(generator: np.random.Generator) -> ChainRNN:
    """One whose window is a letter too short, or whose sets are a state too small."""
    while True:
        form = draw_window(generator)
        assert form.window is not None
        if form.window > 1 and generator.integers(2):
            return ChainRNN(form.automaton, form.sizes, form.window - 1)
        if form.levels > 0 and all(
            w.size >= form.sizes[0]
            for w in find_windows(form.automaton.transitions)
            if w.length <= form.window
        ):
            return ChainRNN(form.automaton, form.sizes[1:], form.window)
