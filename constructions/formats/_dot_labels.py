r"""Labels of DOT edges and records: escapes, several letters in one label, `a/1`, `{ name | output }`, HTML-like text.

An escaped character is always itself (`\,` is a comma, never a separator), except `\n`, `\l`, `\r`: line ends. A name with an
escaped character is never a reserved one: `\ε` is a letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import unescape
from typing import NamedTuple

from ...foundation._errors import InputError
from ._reserved import is_reserved

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


def split_label(text: Characters, separator: str) -> list[Characters]:
    """The pieces between unescaped separators, without unescaped blanks at their ends."""
    pieces: list[Characters] = [[]]
    for item in text:
        if item == (separator, False):
            pieces.append([])
        else:
            pieces[-1].append(item)
    return [strip_blanks(piece) for piece in pieces]


def strip_blanks(text: Characters) -> Characters:
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


def input_and_output(text: Characters) -> tuple[Characters, Characters] | None:
    """`a/1` as `(a, 1)`; with several slashes the one with blanks around it; None if that is not clear."""
    pieces = split_label(text, "/")
    if len(pieces) == 2:
        return pieces[0], pieces[1]
    spaced = [
        i
        for i in range(1, len(text) - 1)
        if text[i] == ("/", False) and _is_blank(text[i - 1]) and _is_blank(text[i + 1])
    ]
    if len(spaced) != 1:
        return None
    return strip_blanks(text[: spaced[0]]), strip_blanks(text[spaced[0] + 1 :])


def record_output(label: str) -> str | None:
    """The output in a record label `{ name | output }` or `name|output`; None if it has not two fields."""
    text = strip_blanks(characters(label))
    if text[:1] == [("{", False)] and text[-1:] == [("}", False)]:
        text = text[1:-1]
    fields = split_label(text, "|")
    return plain(fields[1]) if len(fields) == 2 else None


def escape_label(text: str, signs: str) -> str:
    r"""A label's text: backslashes, the given signs, and blanks at the ends escaped."""
    first = len(text) - len(text.lstrip())
    last = len(text.rstrip())
    return "".join(
        f"\\{c}" if c == "\\" or c in signs or (c.isspace() and not first <= i < last) else c
        for i, c in enumerate(text)
    )


def escape_letter(text: str, signs: str) -> str:
    r"""A letter's text as `escape_label` writes it, its first character escaped too where the name is reserved: `\ε`."""
    escaped = escape_label(text, signs)
    ranges = (_RANGE, _BARE_RANGE, _INTERVAL)
    special = is_reserved(text, drawn=True) or any(kind.fullmatch(text) for kind in ranges)
    return protect(text, escaped) if special and "\\" not in escaped else escaped


def protect(text: str, escaped: str | None = None) -> str:
    r"""A name with one character escaped, so that it is a letter whatever it spells: `\ε`, `e\psilon`.

    It is not the first of several, since `\epsilon` is LaTeX for the empty move, and none of n, l, r, since `\l` ends a line.
    """
    body = text if escaped is None else escaped
    first = 1 if len(body) > 1 else 0
    at = next((i for i in range(first, len(body)) if body[i] not in _LINE_ENDS), 0)
    return f"{body[:at]}\\{body[at:]}"


_TAG = re.compile(r"</?([A-Za-z]+)(?:\s[^<>]*)?/?>")


def html_text(markup: str) -> str:
    """What graphviz shows of an HTML-like label: `<br/>` and each row of a table end a line, other tags are left out, entities are read."""
    text = _TAG.sub(lambda tag: "\n" if tag[1].lower() in ("br", "tr") else "", markup)
    return unescape(text)


_RANGE = re.compile(
    r"\[(?:[0-9A-Za-z]-[0-9A-Za-z]|[0-9A-Za-z_])*[0-9A-Za-z]-[0-9A-Za-z](?:[0-9A-Za-z]-[0-9A-Za-z]|[0-9A-Za-z_])*\]"
)
_BARE_RANGE = re.compile(r"([0-9])-([0-9])|([a-z])-([a-z])|([A-Z])-([A-Z])")
_NEGATED = re.compile(r"\[\^[^\[\]]+\]")
_INTERVAL = re.compile(r"\[[0-9]+,\s*[0-9]+\]")
SEPARATORS = (",", "|", ";")


def range_letters(text: str) -> list[str] | None:
    """The characters of `[a-z0-9_]`, in their order; None if it is no such range, or one that runs backwards."""
    if not _RANGE.fullmatch(text):
        return None
    found: dict[str, None] = {}
    body, i = text[1:-1], 0
    while i < len(body):
        if body[i + 1 : i + 2] == "-":
            first, last = body[i], body[i + 2]
            same = any(f(first) and f(last) for f in (str.isdigit, str.islower, str.isupper))
            if not same or first > last:
                return None
            found |= dict.fromkeys(chr(c) for c in range(ord(first), ord(last) + 1))
            i += 3
        else:
            found[body[i]] = None
            i += 1
    return list(found)


class Separated(NamedTuple):
    """What a label means: its letters, and a note where they were told apart by an assumption."""

    letters: list[Characters]
    note: str | None = None


def require_split(value: str | None) -> None:
    """Refuse an option `split` that is neither one sign nor `none`."""
    if value is not None and value != "none" and len(value) != 1:
        raise InputError(
            f"`split` {value!r}: it is the one sign between the letters of a label, such as a comma, or none"
        )


def separate(
    labels: Sequence[Characters], split_at: str | None
) -> dict[tuple[tuple[str, bool], ...], Separated | str]:
    """For each label, as a tuple of its characters: its letters, or a question that only the user can answer.

    A label is several letters where every piece between `,`, `|` or `;` is a letter of its own elsewhere, and also where
    single characters stand between a sign and a blank, as in `a, b` and `0 | 1`, which is noted. It is one letter where no
    piece is a letter and some piece has other than one character, so that `e2,e4` and `(0, 1)` stay whole; `go, stop`, with a blank
    behind the sign and no bracket, is asked about.

    Args:
        labels: every label.
        split_at: the answer to the question: the sign between letters, or `none` where each label is one letter.
    """
    alone = {plain(label) for label in labels if not any(has(label, sign) for sign in SEPARATORS)}
    found: dict[tuple[tuple[str, bool], ...], Separated | str] = {}
    for label in labels:
        if tuple(label) not in found:
            found[tuple(label)] = _meaning(label, plain(label), alone, split_at)
    if split_at is None:
        _ask_about_shared_pieces(labels, found)
    return found


def _ask_about_shared_pieces(
    labels: Sequence[Characters], found: dict[tuple[tuple[str, bool], ...], Separated | str]
) -> None:
    """A label `go,stop` that was left whole is asked about where `stop,wait` has one of its pieces at another place, else noted."""
    places: dict[str, set[int]] = {}
    lists: dict[tuple[tuple[str, bool], ...], list[str]] = {}
    for label in labels:
        whole, key = found[tuple(label)], tuple(label)
        sign = next((sign for sign in SEPARATORS if has(label, sign)), None)
        if sign is None or key in lists or isinstance(whole, str) or whole.letters != [label]:
            continue
        if any(bracket in plain(label) for bracket in "()[]{}<>"):
            continue
        lists[key] = [plain(piece) for piece in split_label(label, sign)]
        for i, piece in enumerate(lists[key]):
            places.setdefault(piece, set()).add(i)
    for key, pieces in lists.items():
        sign = next(sign for sign in SEPARATORS if (sign, False) in key)
        text = "".join(c for c, _ in key)
        if any(len(places[piece]) > 1 for piece in pieces):
            found[key] = _question(text, sign)
        else:
            found[key] = Separated(
                [list(key)],
                f"the label {text[:60]!r} is read as one letter; `split` {_quoted(sign)} makes it {len(pieces)}",
            )


def _question(text: str, sign: str) -> str:
    return f"is {text!r} one letter or several? Answer with `split` {_quoted(sign)} for several, or `split` none for one letter"


def _meaning(label: Characters, text: str, alone: set[str], split_at: str | None) -> Separated | str:
    escaped = any(mark for _, mark in label)
    if split_at == "none":
        return Separated([label])
    if split_at is not None:
        pieces = [piece for piece in split_label(label, split_at) if piece]
        return Separated(pieces or [label])
    if not escaped and _INTERVAL.fullmatch(text):
        return (
            f"is {text!r} an interval of symbols, as Mata draws it, or one letter? `split` none keeps each label as one letter; "
            "for intervals, save the automaton as @NFA-explicit in Mata"
        )
    if not escaped and (letters := range_letters(text)) is not None:
        return Separated(
            [[(x, True)] for x in letters], f"the label {text!r} stands for {len(letters)} letters"
        )
    if not escaped and _NEGATED.fullmatch(text):
        return f"does {text!r} stand for all other letters? List them, or `split` none for one letter of this name"
    if not escaped and (bare := _BARE_RANGE.fullmatch(text)):
        first, last = (part for part in bare.groups() if part is not None)
        if first < last:
            return f"is {text!r} one letter or a range? Write [{text}] for the range, or `split` none for one letter"
    for sign in SEPARATORS:
        if not has(label, sign):
            continue
        pieces = split_label(label, sign)
        texts = [plain(piece) for piece in pieces]
        known = [piece in alone for piece in texts]
        if all(known):
            return Separated(pieces)
        single = all(len(piece) == 1 for piece in texts)
        if single and _is_spaced(label, sign):
            return Separated(pieces, f"the label {text!r} is read as {len(pieces)} letters between {sign!r}")
        if any(known) or single:
            return _question(text, sign)
        if _is_list(label, sign):
            return _question(text, sign)
    return Separated([label])


def _is_list(label: Characters, sign: str) -> bool:
    """Whether several letters may stand between signs and blanks, as in `go, stop`: no bracket, and no blank within a piece."""
    if not _is_spaced(label, sign) or any(bracket in plain(label) for bracket in "()[]{}<>"):
        return False
    return all(piece and not any(map(_is_blank, piece)) for piece in split_label(label, sign))


def _quoted(sign: str) -> str:
    return sign if sign == "," else f"'{sign}'"


def _is_spaced(label: Characters, sign: str) -> bool:
    """Whether a blank follows each unescaped sign, and where the sign is a bar, one stands before it too."""
    for i, item in enumerate(label):
        if item == (sign, False):
            after = i + 1 < len(label) and _is_blank(label[i + 1])
            before = sign != "|" or (i > 0 and _is_blank(label[i - 1]))
            if not (after and before):
                return False
    return True


def notes_of(found: Iterable[Separated], shown: int = 5) -> list[str]:
    """The assumptions that were made, without repetition, at most a few of them."""
    notes = list(dict.fromkeys(entry.note for entry in found if entry.note))
    return notes[:shown] + (
        [f"and {len(notes) - shown} more labels of that kind"] if len(notes) > shown else []
    )
