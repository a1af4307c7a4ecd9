"""G.S32.printed: δ(m_1, m_2) = m_2·m_1 does not compute the product m_1·m_2···m_t."""

from __future__ import annotations

from .._verdict import Verdict
from ..verifying._claim import QUICK, Claim, Effort
from ..verifying._evidence import refute_by_witness
from .g_s32 import GROUPS, wrong_word

CLAIM = Claim(
    "G.S32.printed",
    "δ(m_1, m_2) = m_2·m_1 for the product m_1·m_2···m_t",
    "refuted",
    uses=("G.S32",),
    repair="δ(y, m) = y·m, or the product is read from the right, m_t···m_1; the difference shows in every group that "
    "is not abelian.",
    formal=("Permutations.printed_word_problem",),
)


def verify(effort: Effort = QUICK) -> Verdict:
    """The word problem's automaton multiplies the new letter on the left and computes the product as it is written.

    Statement: With δ(m_1, m_2) = m_2·m_1, started at the identity, the state after m_1 m_2 … m_t is m_1·m_2···m_t.
    Direction: sufficient
    Hypotheses: Any group.
    Arithmetic: exact
    Source: G, section 3.2
    Method: A shortest word of S_3 on which the two differ; the same is looked for in other groups.
    Example:
        >>> print(verify().line())
        refuted: computed 4 of 4 groups wrong, claimed 0 groups wrong
    """
    found = [wrong_word((name, "left")) for name in GROUPS]
    return refute_by_witness(
        CLAIM,
        found[0],
        lambda witness: wrong_word((witness["group"], "left")) == witness,
        computed=f"{sum(word is not None for word in found)} of {len(GROUPS)} groups wrong",
        claimed="0 groups wrong",
        evidence={"groups": list(GROUPS)},
    )
