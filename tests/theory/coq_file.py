"""A Coq file written by `export coq`, read again and run without Coq: whether its theorem is true of the numbers in it."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

CERTIFICATE = "(* -------- The certificate. -------- *)"
Vectors: TypeAlias = tuple[tuple[int, ...], ...]
Hidden: TypeAlias = tuple[tuple[Vectors, ...], ...]


def places_of_numbers(text: str) -> list[tuple[int, int]]:
    """Where the numbers of the certificate and of the theorem stand, those of comments left out."""
    start = text.index(CERTIFICATE)
    bare = re.sub(r"\(\*.*?\*\)", lambda found: " " * len(found[0]), text[start:], flags=re.S)
    found = re.finditer(r"-?\b\d+", bare[: bare.index("Proof.")])
    return [(start + number.start(), start + number.end()) for number in found]


def alterations(text: str) -> list[str]:
    """The file with each of its numbers in turn one greater, and one less (where that would be below 0, two greater)."""
    result = []
    for start, end in places_of_numbers(text):
        old = int(text[start:end])
        for new in (old + 1, old - 1 if old else old + 2):
            shown = f"({new})" if new < 0 else str(new)
            result.append(text[:start] + shown + text[end:])
    return result


def is_true(text: str) -> bool:
    """Whether the theorem of a file holds: from the first hidden state on all words are followed, until nothing new is reached."""
    delta, rnn, rows, table = (
        _defined(text, name) for name in ("transitions", "rnn", "hidden_states", "instance")
    )
    letters, start = table[1], table[2]
    said_letters, said_start = re.search(r"\(fun a => a < (\d+)\)", text), re.search(r"word (\d+)%nat", text)
    assert said_letters
    assert said_start
    if (letters, start) != (int(said_letters[1]), int(said_start[1])) or not rows:
        return False
    decode: dict[Hidden, int] = {}
    for q, hidden in rows:
        decode.setdefault(_frozen(hidden), q)
    begin = _frozen(rows[0][1])
    seen, todo = {(begin, start)}, [(begin, start)]
    if decode[begin] != start:
        return False
    for hidden, q in todo:
        for a in range(letters):
            q2 = delta[a][q] if a < len(delta) and q < len(delta[a]) else 0
            found = _step(rnn, hidden, a)
            if found is None or decode.get(found[0]) != q2 or (len(rnn) > 1 and found[1] != q2):
                return False
            if (found[0], q2) not in seen:
                seen.add((found[0], q2))
                todo.append((found[0], q2))
    return True


def _step(rnn: list[Any], state: Hidden, letter: int) -> tuple[Hidden, int] | None:
    """The hidden states after a letter and what the last layer says; None where an entry is missing."""
    after = []
    for (_, heads, read_out), old in zip(rnn, state, strict=True):
        if any(letter >= len(head) for head in heads):
            return None
        new = tuple(_act(head[letter], columns) for head, columns in zip(heads, old, strict=True))
        after.append(new)
        if read_out:
            if letter >= len(read_out) or any(h >= len(new) for h in read_out[letter][0]):
                return None
            read, table = read_out[letter]
            seen = tuple(new[h] for h in read)
            said = [z for told, z in table if _frozen(told) == seen]
            if not said:
                return None
            letter = said[0]
    return tuple(after), letter


def _act(action: Any, columns: Vectors) -> Vectors:
    (kind, *linear), added = action
    result = []
    for i, column in enumerate(columns):
        if kind == "Matrix":
            h = [sum(x * y for x, y in zip(row, column, strict=True)) for row in linear[0]]
        else:
            gate, factors = linear
            h = [gate * x for x in column]
            for name, *given in factors:
                beta, key, reading = (given[0], given[1], given[1]) if name == "Householder" else (1, *given)
                scale = beta * sum(x * y for x, y in zip(reading, h, strict=True))
                h = [y - scale * x for x, y in zip(key, h, strict=True)]
        plus = added[i] if added else [0] * len(h)
        result.append(tuple(x + y for x, y in zip(h, plus, strict=True)))
    return tuple(result)


def _frozen(lists: Any) -> Any:
    return tuple(map(_frozen, lists)) if isinstance(lists, list | tuple) else lists


def _defined(text: str, name: str) -> Any:
    """The value of a definition: numbers, names, lists, pairs as tuples, and constructors with their arguments as lists."""
    found = re.search(
        rf"^Definition {name} : .*? := (.*?)\.$", re.sub(r"\(\*.*?\*\)", " ", text, flags=re.S), re.M | re.S
    )
    assert found, name
    tokens = re.findall(r"-?\d+|\w+|[\[\];(),]", re.sub(r"%\w+", "", found[1]))
    value, rest = _applied(tokens)
    assert not rest, rest
    return value


def _applied(tokens: list[str]) -> tuple[Any, list[str]]:
    """A constructor with its arguments as a list, or a single value."""
    parts = []
    while tokens and tokens[0] not in "];),":
        part, tokens = _single(tokens)
        parts.append(part)
    return (parts if len(parts) > 1 else parts[0]), tokens


def _single(tokens: list[str]) -> tuple[Any, list[str]]:
    first, tokens = tokens[0], tokens[1:]
    if first not in "[(":
        return (int(first) if first.lstrip("-").isdigit() else first), tokens
    items = []
    while tokens[0] not in "])":
        item, tokens = _applied(tokens)
        items.append(item)
        if tokens[0] in ";,":
            tokens = tokens[1:]
    return (items if first == "[" else items[0] if len(items) == 1 else tuple(items)), tokens[1:]
