"""The HOA format for words that end: `.hoa` files with the property `finite-words`, their letters written out.

HOA describes omega-automata, whose words have no end. A file is read as an automaton on finite words only where it says so, by the
property `finite-words`, which other tools ignore; then a word is accepted where it ends in a state of the acceptance set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ...foundation._errors import InputError, LimitError
from ...foundation._files import read_text
from ..automata._acceptor import MAX_STATES, Acceptor, start_index
from ..automata._automaton import Automaton, Track
from ..automata._format import Format
from ..automata._labels import distinct_texts, output_kind
from ._formulas import Formula, bit_text, holds, names_in, parse_formula, valuations
from ._writing import write_verified

FINITE = "finite-words"
_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|/\*.*?\*/)
  | "(?P<text>(?:[^"\\]|\\.)*)"
  | (?P<mark>--(?:BODY|END|ABORT)--)
  | (?P<key>[A-Za-z_][A-Za-z_0-9-]*):
  | (?P<alias>@[A-Za-z_0-9-]+)
  | (?P<word>[A-Za-z_][A-Za-z_0-9-]*)
  | (?P<number>[0-9]+)
  | (?P<sign>[!&|(){}\[\]])
    """,
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS = {"t": True, "f": False}


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


@dataclass
class _Header:
    states: int | None = None
    starts: list[int] = field(default_factory=list)
    propositions: list[str] = field(default_factory=list)
    acceptance: str = ""
    properties: list[str] = field(default_factory=list)
    aliases: dict[str, Formula] = field(default_factory=dict)


def read_hoa(
    path: str | Path, *, track: Track | None = None, start: str | None = None, max_states: int = MAX_STATES
) -> Automaton:
    """Read an automaton on finite words from a `.hoa` file. The letters are the assignments of the propositions, such as `01`.

    Args:
        path: the file.
        track: `state` keeps every reachable state, `output` minimises by outputs; None: `output` where the
            file had to be determinised, otherwise `state`.
        start: the text of the start state, its number; None for the start state in the file.
        max_states: the largest number of states, and of the letters that propositions make.

    Raises:
        InputError: the file is wrong; has no property `finite-words`, so that it is an omega-automaton; or is alternating.
        LimitError: the automaton is larger than `max_states`.
    """
    return parse_hoa(read_text(path), str(path), track=track, start=start, max_states=max_states)


def parse_hoa(
    text: str,
    name: str,
    *,
    track: Track | None = None,
    start: str | None = None,
    max_states: int = MAX_STATES,
) -> Automaton:
    """Read an automaton from a text in the HOA format; the arguments are those of `read_hoa`, with `name` before every error."""
    parser = _Parser(list(_tokens(text, name)), name)
    header = parser.header()
    _require_finite_words(header, name)
    letters = [bit_text(v) for v in valuations(len(header.propositions), name, max_states)]
    if not header.propositions:
        raise InputError(f"{name}: no atomic propositions (AP:), so there is one letter without a name")
    edges, accepting, count = parser.body(header, len(letters))
    if len(edges) * len(letters) > 100 * max_states:
        raise LimitError(
            f"{name}: {len(edges)} labels over {len(letters)} letters are {len(edges) * len(letters):,} cases, the limit is "
            f"{100 * max_states:,}; raise it with `max_states`"
        )
    arcs: list[tuple[int, int, int]] = []
    members: dict[Formula, list[int]] = {}
    for source, label, target in edges:
        if label not in members:
            members[label] = [
                x
                for x, values in enumerate(valuations(len(header.propositions), name, max_states))
                if holds(label, {str(i): value for i, value in enumerate(values)})
            ]
        arcs += [(source, x, target) for x in members[label]]
    states = [str(q) for q in range(max([count, *(q + 1 for q in header.starts)]))]
    first = header.starts if start is None else [start_index(states, start, name)]
    if header.acceptance in ("0 t", "0 f"):
        accepting = list(range(len(states))) if header.acceptance == "0 t" else []
    automaton = Acceptor(states, letters, arcs, first, accepting).automaton(name, track, max_states)
    shown = " ".join(header.propositions)
    note = f"the letters are the {len(letters)} assignments of the propositions {shown}, 1 for true"
    return replace(automaton, name=Path(name).name).with_notes(note)


def _require_finite_words(header: _Header, name: str) -> None:
    if FINITE not in header.properties:
        raise InputError(
            f"{name}: an omega-automaton, on infinite words; if its words are finite, and those are accepted that end in a marked "
            f"state, add the line `properties: {FINITE}` to its header"
        )
    if header.acceptance not in ("1 Inf(0)", "0 t", "0 f"):
        raise InputError(
            f"{name}: the acceptance {header.acceptance!r} has no meaning for finite words; it is `1 Inf(0)`, or `0 t` for all states"
        )


def _tokens(text: str, name: str) -> Iterator[_Token]:
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise InputError(f"{name}: line {line}: {text[at : at + 10]!r} is out of place")
        kind = str(match.lastgroup)
        if kind != "skip":
            yield _Token(kind, match[kind], line)
        line += text.count("\n", at, match.end())
        at = match.end()
    yield _Token("end", "the end of the file", line)


class _Parser:
    def __init__(self, tokens: list[_Token], name: str) -> None:
        self.tokens, self.name, self.at = tokens, name, 0

    def error(self, what: str) -> InputError:
        return InputError(f"{self.name}: line {self.tokens[self.at].line}: {what}")

    def take(self, kind: str, what: str) -> str:
        token = self.tokens[self.at]
        if token.kind != kind:
            raise self.error(f"{what} is needed before {token.text[:20]!r}")
        self.at += 1
        return token.text

    def number(self, what: str) -> int:
        digits = self.take("number", what)
        if len(digits) > 9:
            raise self.error(f"{what} {digits[:20]}... is too large")
        return int(digits)

    def is_next(self, kind: str, text: str | None = None) -> bool:
        token = self.tokens[self.at]
        return token.kind == kind and text in (None, token.text)

    def sign(self, text: str) -> bool:
        taken = self.is_next("sign", text)
        self.at += taken
        return taken

    def header(self) -> _Header:
        header = _Header()
        if self.take("key", "the header `HOA: v1`") != "HOA":
            raise self.error("the first header is `HOA: v1`")
        self.take("word", "the version")
        while not self.is_next("mark", "--BODY--"):
            key = self.take("key", "a header, or --BODY--,")
            if key == "States":
                header.states = self.number("the number of states")
            elif key == "Start":
                header.starts.append(self.number("a state"))
                if self.is_next("sign", "&"):
                    raise self.error(
                        "several states are started at once: an alternating automaton, which is not read"
                    )
            elif key == "AP":
                count = self.number("the number of propositions")
                header.propositions = [
                    self.take("text", "a proposition's name") for _ in range(min(count, 1000))
                ]
            elif key == "Alias":
                alias = self.take("alias", "a name @...")
                header.aliases[alias] = self.formula(header, "key", "mark")
            else:
                words = self.values()
                if key == "Acceptance":
                    header.acceptance = " ".join([words[0], "".join(words[1:])]) if words else ""
                elif key == "properties":
                    header.properties += words
                elif key[0].isupper() and key not in ("HOA",):
                    raise self.error(f"the header {key}: is not known, and it may change the meaning")
        self.at += 1
        return header

    def values(self) -> list[str]:
        words = []
        while self.tokens[self.at].kind not in ("key", "mark", "end"):
            words.append(self.tokens[self.at].text)
            self.at += 1
        return words

    def formula(self, header: _Header, *ends: str) -> Formula:
        """A label, up to a token of one of the kinds, or up to `]`."""
        tokens: list[tuple[str, bool]] = []
        place = f"{self.name}: line {self.tokens[self.at].line}"
        while self.tokens[self.at].kind not in (*ends, "end") and not self.is_next("sign", "]"):
            token = self.tokens[self.at]
            if token.kind == "number" and int(token.text[:9]) >= len(header.propositions):
                raise self.error(f"there is no proposition {token.text[:20]}")
            if token.kind == "alias" and token.text not in header.aliases:
                raise self.error(f"the alias {token.text[:40]} is not defined")
            tokens.append((token.text, token.kind == "number"))
            self.at += 1
        found = parse_formula(tokens, place, _CONSTANTS, header.aliases)
        stray = [x for x in names_in(found) if not x.isdigit()]
        if stray:
            raise InputError(
                f"{place}: {stray[0][:40]!r} in a label is no proposition's number, nor t, f or an alias"
            )
        return found

    def body(self, header: _Header, letters: int) -> tuple[list[tuple[int, Formula, int]], list[int], int]:
        """The edges, the marked states, and the number of states."""
        edges: list[tuple[int, Formula, int]] = []
        accepting: list[int] = []
        count = header.states or 0
        bits = len(header.propositions)
        while not self.is_next("mark", "--END--"):
            if self.take("key", "`State:`, or --END--,") != "State":
                raise self.error("the body has `State:` lines and their edges")
            label = self.label(header)
            state = self.number("a state's number")
            if self.is_next("text"):
                self.at += 1
            if self.marks():
                accepting.append(state)
            count = max(count, state + 1)
            implicit = 0
            while not self.is_next("key") and not self.is_next("mark"):
                own = self.label(header)
                target = self.number("a state's number, or `State:`,")
                if self.is_next("sign", "&"):
                    raise self.error(
                        "an edge leads to several states: an alternating automaton, which is not read"
                    )
                if self.marks():
                    raise self.error("an edge is marked: for finite words mark states instead")
                used = label if own is None else own
                if used is None:
                    # implicit labels count the assignments, the first proposition as the lowest bit
                    if implicit >= letters:
                        raise self.error(f"state {state} has more than {letters} edges without labels")
                    values = [implicit >> i & 1 for i in range(bits)]
                    used = (
                        "and",
                        *(("name", str(i)) if v else ("not", ("name", str(i))) for i, v in enumerate(values)),
                    )
                    implicit += 1
                edges.append((state, used, target))
                count = max(count, target + 1)
        if header.states is not None and count > header.states:
            raise self.error(
                f"a state has the number {count - 1}, and `States: {header.states}` says that there are fewer"
            )
        return edges, accepting, count

    def label(self, header: _Header) -> Formula | None:
        if not self.sign("["):
            return None
        found = self.formula(header, "key", "mark")
        if not self.sign("]"):
            raise self.error("']' is missing behind a label")
        return found

    def marks(self) -> bool:
        """Take the acceptance sets `{0}`; whether there are some."""
        if not self.sign("{"):
            return False
        some = False
        while not self.sign("}"):
            self.number("an acceptance set, or '}',")
            some = True
        return some


def write_hoa(automaton: Automaton, path: str | Path) -> None:
    """Write an acceptor whose letters are all bit strings of one length, a proposition for each bit; states become numbers.

    Args:
        automaton: the automaton.
        path: the file.

    Raises:
        InputError: the letters are others, or the states are not named `0`, `1`, ...
    """
    name = str(path)
    if output_kind(automaton) != "acceptor":
        raise InputError(
            f"{name}: a .hoa file holds accepting states only, not other outputs; write a .json file"
        )
    letters = distinct_texts(automaton.letters, "letter", name)
    bits = len(letters[0]) if letters else 0
    if (
        not bits
        or 2**bits != len(letters)
        or not all(len(x) == bits and set(x) <= {"0", "1"} for x in letters)
    ):
        raise InputError(
            f"{name}: the letters of a .hoa file are assignments of propositions, all bit strings of one length; write a .json file"
        )
    lines = [
        "HOA: v1",
        f"States: {len(automaton.states)}",
        f"Start: {automaton.start}",
        " ".join([f"AP: {bits}", *(f'"p{i}"' for i in range(bits))]),
        "acc-name: Buchi",
        "Acceptance: 1 Inf(0)",
        f"properties: trans-labels explicit-labels state-acc deterministic complete {FINITE}",
        "--BODY--",
    ]
    for q in range(len(automaton.states)):
        lines.append(f"State: {q}" + (" {0}" if automaton.outputs[q] else ""))
        for x, letter in enumerate(letters):
            label = "&".join(f"{'' if bit == '1' else '!'}{i}" for i, bit in enumerate(letter))
            lines.append(f"[{label}] {automaton.transitions[x, q]}")
    text = "\n".join([*lines, "--END--"]) + "\n"
    write_verified(
        automaton, path, text, lambda again: parse_hoa(again, name, max_states=max(MAX_STATES, len(letters)))
    )


FORMAT = Format(
    name="HOA, of finite words",
    extensions=(".hoa",),
    read=read_hoa,
    write=write_hoa,
    example="""HOA: v1
Start: 0
AP: 1 "a"
Acceptance: 1 Inf(0)
properties: finite-words
--BODY--
State: 0 {0}
[0] 1
[!0] 0
State: 1
[0] 0
[!0] 1
--END--
""",
)
