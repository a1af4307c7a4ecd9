"""own.blocks: any automaton with any number of factors a token, by a chain of sets over blocks of tokens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...constructions._construct import realisations_of
from ...constructions.chains._blocks import BlockRNN
from ...constructions.theorems._construction import Problem
from .._verdict import Verdict
from ..running._blocks import BlockStepper
from ..running._run import track
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import check_random_cases
from ._chains import draw_automaton
from ._parts import defect

CLAIM = Claim(
    "own.blocks",
    "Any automaton with any number k ≥ 1 of factors a token, by chains of sets over blocks",
    "supported",
    uses=("own.chain", "own.window", "own.T2tight", "DP.L3"),
    seconds=8,
)
BLOCKS = 5
"""Blocks of a word that is run; the factors of a block are applied during the next one."""


def verify(effort: Effort = QUICK) -> Verdict:
    """For each k ≥ 1, every automaton is followed by layers of norm at most 1 with at most k factors a token.

    Statement: Let a chain of sets of sizes n = n_1 > n_2 > ... > n_{L+1} = 1 follow the automaton of the blocks of m letters, each of
        which takes at most 2n swaps and projections in a level, and mk ≥ 2n. Then a counter of the tokens modulo d ≥ 2m, a ring
        buffer of the last d letters, and L layers, one a level, follow the automaton itself with at most k factors a token: during a block
        each level applies the factors of the block before, k a token, and read-outs apply those still to come. With k = 1 the counter
        is log2(d) signs, so that there are at most n + log2(8n) layers. Behind a window of W letters that leaves s states, d ≥ 2m + W and
        s - 1 levels suffice.
    Direction: sufficient
    Hypotheses: Each layer reads the token and the states of the layers before it. For the window every letter moves a state.
    Arithmetic: exact, all numbers are integers up to 2
    Source: ours; block delay is DP, Theorem 1, and that any number of factors suffices for regular languages DP, Theorem 2
    Method: Random automata in the forms for one and for more factors a token. The stand-alone checker derives again why the sizes suffice, and
        the layers are run by their factors on random words of several blocks. The same check must find defects where one of the sizes
        that are needed is left out, or the window is a letter shorter.
    Example:
        >>> print(verify().line())
        supported by 12 instances: no violation, as claimed
    """
    return check_random_cases(
        CLAIM,
        effort,
        count=effort.pick(12, 60),
        draw=draw_blocks,
        broken=draw_wrong_blocks,
        check=find_defect,
        assumptions=("the delay lemma in the text of the checker `blocks`",),
    )


def draw_blocks(generator: np.random.Generator) -> BlockRNN:
    """A random automaton of three states or more, in one of its forms."""
    while True:
        automaton = draw_automaton(generator, 5)
        if len(automaton.states) > 2 and not automaton.is_permutation:
            forms = list(realisations_of(Problem(automaton), "own.blocks"))
            form = forms[int(generator.integers(len(forms)))]
            assert isinstance(form, BlockRNN)
            return form


def draw_wrong_blocks(generator: np.random.Generator) -> BlockRNN:
    """One without a size that is needed, or with a window that is a letter too short."""
    while True:
        form = draw_blocks(generator)
        if form.window is not None and form.window > 1 and generator.integers(2):
            return replace(form, window=form.window - 1)
        if form.levels > 1:
            left_out = int(generator.integers(1, form.levels))
            return replace(form, sizes=form.sizes[:left_out] + form.sizes[left_out + 1 :])


def find_defect(form: BlockRNN) -> str | None:
    """What is wrong with a form: more factors than it says, a wrong state on a random word, or what its checker says."""
    words = np.random.default_rng(0).integers(0, len(form.automaton.letters), (2, BLOCKS * form.block + 3))
    report = track(BlockStepper(form, "bf16"), form.automaton, words)
    if report.errors:
        return f"{form!r}: {report.errors} wrong states in {report.tokens} tokens"
    for token in form.transitions_of([form.automaton.letters[x] for x in words[0]]):
        for layer, most in zip(token, form.layer_factors, strict=True):
            if any(len(transition.factors) > most for transition in layer):
                return f"{form!r}: more than {most} factors in a layer"
    return defect(form)
