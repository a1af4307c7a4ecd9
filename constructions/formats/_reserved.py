"""Names that the field reserves, in one table for all readers: each is understood, or refused with what it stands for.

A quoted or escaped name is always a letter; a reader that has quotes does not ask here for what is quoted.

Sources: OpenFst and AT&T text (`<eps>`), HFST and foma (`@0@`, `@_IDENTITY_SYMBOL_@`, flag diacritics), pyformlang and
JFLAP (`ɛ`, `λ`), FAdo (`@epsilon`, `&epsilon;`), LaTeX (`\\varepsilon`), Mata (`true`, `false`).
"""

from __future__ import annotations

import re

_EMPTY_SIGNS = ("ε", "ɛ", "ϵ", "λ", "Λ")
_EMPTY_WORDS = ("eps", "epsilon", "varepsilon", "lambda")
EMPTY_MOVES = frozenset(
    (
        *_EMPTY_SIGNS,
        *_EMPTY_WORDS,
        *(f"<{word}>" for word in _EMPTY_WORDS),
        *(f"&{word};" for word in _EMPTY_WORDS),
        *(f"\\{word}" for word in _EMPTY_WORDS),
        *(f"$\\{word}$" for word in _EMPTY_WORDS),
        "@0@",
        "@epsilon",
        "@_epsilon_symbol_@",
    )
)
"""Every spelling of the empty move, in lower case but for the Greek capital."""

_ANY_OTHER = {
    "@_IDENTITY_SYMBOL_@": "any other symbol, which the machine copies (HFST, foma)",
    "@_UNKNOWN_SYMBOL_@": "any other symbol (HFST, foma)",
    "@_DEFAULT_SYMBOL_@": "any other symbol (HFST)",
    "<rho>": "every other symbol (OpenFst)",
    "<phi>": "a failure move (OpenFst)",
    "<sigma>": "every symbol (OpenFst)",
    "<dcare>": "any symbol (Mata)",
}
_DRAWN_OTHER = ("else", "otherwise", "*", "Σ", "\\Sigma", "$\\Sigma$", "&Sigma;", "?")
_FLAG = re.compile(r"@[PNDRCU](\.[^.@\s]+){1,2}@")


def is_empty_move(name: str) -> bool:
    """Whether a name that is not quoted spells the empty move: `ε`, `<eps>`, `@0@` and so on."""
    return name in EMPTY_MOVES or name.lower() in EMPTY_MOVES


def refused_name(name: str, *, drawn: bool = False) -> str | None:
    """What a reserved name stands for, if it is one that no reader can take; None for a letter and for the empty move.

    Args:
        name: the name of a letter, not quoted.
        drawn: also the names that people write on drawn edges, `else`, `*`, `Σ`; these are letters in files of tools.

    Returns:
        The middle of a sentence, such as `stands for any other symbol (HFST, foma): write one transition a letter`.
    """
    if name in _ANY_OTHER:
        return f"stands for {_ANY_OTHER[name]}: write one transition a letter"
    if _FLAG.fullmatch(name):
        return "is a flag diacritic (HFST, foma), a condition on the path: eliminate the flags in that tool first"
    if drawn and name in _DRAWN_OTHER:
        return "may stand for every other letter: write one transition a letter"
    return None


def is_reserved(name: str, *, drawn: bool = False) -> bool:
    """Whether a name means something else than a letter where it is not quoted, so that a writer must quote or refuse it."""
    return is_empty_move(name) or refused_name(name, drawn=drawn) is not None
