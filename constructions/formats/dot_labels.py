r"""Labels of DOT edges and records: escapes, several letters in one label, `a/1`, `{ name | output }`.

An escaped character is always itself (`\,` is a comma, never a separator), except `\n`, `\l`, `\r`: line ends.
"""

from __future__ import annotations

from collections.abc import Sequence

_LINE_ENDS = "nlr"

Characters = list[tuple[str, bool]]
"""Characters with a flag: escaped, so never a sign."""


def characters(label: str) -> Characters:
    """The characters of a label after its escapes."""
    result: Characters = []
    i = 0
    while i < len(label):
        if label[i] == "\\" and i + 1 < len(label):
            i += 1
            result.append(("\n", False) if label[i] in _LINE_ENDS else (label[i], True))
        else:
            result.append((label[i], False))
        i += 1
    return result


def split(text: Characters, separator: str) -> list[Characters]:
    """The pieces between unescaped separators, without unescaped blanks at their ends."""
    pieces: list[Characters] = [[]]
    for item in text:
        if item == (separator, False):
            pieces.append([])
        else:
            pieces[-1].append(item)
    return [stripped(piece) for piece in pieces]


def stripped(text: Characters) -> Characters:
    """Without unescaped blanks at the ends."""
    first, last = 0, len(text)
    while first < last and _is_blank(text[first]):
        first += 1
    while last > first and _is_blank(text[last - 1]):
        last -= 1
    return text[first:last]


def _is_blank(item: tuple[str, bool]) -> bool:
    return item[0].isspace() and not item[1]


def plain(text: Characters) -> str:
    """The characters alone."""
    return "".join(c for c, _ in text)


def has(text: Characters, sign: str) -> bool:
    """True if the sign occurs unescaped."""
    return (sign, False) in text


def input_and_output(text: Characters) -> tuple[str, str] | None:
    """`a/1` as `(a, 1)`; with several slashes the one with blanks around it; None if that is not clear."""
    pieces = split(text, "/")
    if len(pieces) == 2:
        return plain(pieces[0]), plain(pieces[1])
    spaced = [
        i
        for i in range(1, len(text) - 1)
        if text[i] == ("/", False) and _is_blank(text[i - 1]) and _is_blank(text[i + 1])
    ]
    if len(spaced) != 1:
        return None
    return plain(stripped(text[: spaced[0]])), plain(stripped(text[spaced[0] + 1 :]))


def record_output(label: str) -> str | None:
    """The output in a record label `{ name | output }` or `name|output`; None if it has not two fields."""
    text = stripped(characters(label))
    if text[:1] == [("{", False)] and text[-1:] == [("}", False)]:
        text = text[1:-1]
    fields = split(text, "|")
    return plain(fields[1]) if len(fields) == 2 else None


def escaped(text: str, signs: str) -> str:
    r"""A label's text: backslashes, the given signs, and blanks at the ends escaped."""
    first = len(text) - len(text.lstrip())
    last = len(text.rstrip())
    return "".join(
        f"\\{c}" if c == "\\" or c in signs or (c.isspace() and not first <= i < last) else c
        for i, c in enumerate(text)
    )


def comma_meaning(labels: Sequence[Characters]) -> dict[str, bool | None]:
    """For each label with an unescaped comma: True several letters, False one letter, None not clear.

    It is several letters if every piece is a letter of its own elsewhere; it is one letter if none is and some
    piece has other than one character, so that `e2,e4` and `(0, 1)` stay whole.
    """
    alone = {plain(label) for label in labels if not has(label, ",")}
    meaning: dict[str, bool | None] = {}
    for label in labels:
        if has(label, ","):
            pieces = [plain(piece) for piece in split(label, ",")]
            known = [piece in alone for piece in pieces]
            if all(known):
                meaning[plain(label)] = True
            elif any(known) or all(len(piece) == 1 for piece in pieces):
                meaning[plain(label)] = None
            else:
                meaning[plain(label)] = False
    return meaning
