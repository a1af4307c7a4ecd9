"""One measurement of `peers.py`, in a process of its own: a task as JSON on standard input, a JSON line for each result that is done.

    python benchmarks/peers_probe.py < TASK.json

It runs in any Python that has the tool: only its own branch imports it. A task has `tool`, and either `pattern` with `characters`
(a pattern to its minimal DFA) or `maps` (a transformation semigroup to its skeleton, cascade and chains). A call is timed when it is
made first, and again: the mean of as many calls as take a fifth of a second together. Times are processor seconds of one thread.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import metadata
from time import process_time
from typing import Any

MOST_CALLS, ENOUGH, LONG = 100, 0.2, 5.0
"""Most further calls, the seconds that suffice for them together, and the seconds of a first call that is not repeated."""


def time_calls(call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What a call returns, and its seconds: `first`, and `again`, the mean of further calls (of a long call, the first alone)."""
    begun = process_time()
    found = call()
    first = again = process_time() - begun
    if first < LONG:
        calls, taken = 0, 0.0
        while calls < MOST_CALLS and taken < ENOUGH:
            begun = process_time()
            call()
            taken += process_time() - begun
            calls += 1
        again = taken / calls
    return found, {"first": first, "again": again}


def say(**result: Any) -> None:
    """A result, at once: a later part may not end."""
    print(json.dumps(result), flush=True)


# ---------------------------------------------------------------- a pattern to its minimal DFA

Tool = tuple[Callable[[], Any], Callable[[Any], dict[str, Any]]]
"""A function that builds the minimal DFA, which is timed, and one that turns it into `numbered` rows."""


def numbered(rows: dict[Any, dict[str, Any]], start: Any, accepting: Any) -> dict[str, Any]:
    """A partial DFA with any states as one with the states 0, 1, ... in JSON."""
    number = {state: i for i, state in enumerate(rows)}
    return {
        "rows": [{x: number[target] for x, target in row.items()} for row in rows.values()],
        "start": number[start],
        "accepting": sorted(number[state] for state in accepting),
    }


def by_mirrormata(pattern: str, characters: str) -> Tool:
    """`from_regex` of this package."""
    from mirrormata.constructions import from_regex

    def rows(found: Any) -> dict[str, Any]:
        table = found.transitions
        states = range(len(found.states))
        return numbered(
            {q: {x: int(table[i, q]) for i, x in enumerate(found.letters)} for q in states},
            found.start,
            [q for q in states if found.outputs[q]],
        )

    return lambda: from_regex(pattern, characters), rows


def by_automata_lib(pattern: str, characters: str) -> Tool:
    """Its `NFA.from_regex`, then `DFA.from_nfa`, which minimises."""
    from automata.fa.dfa import DFA
    from automata.fa.nfa import NFA

    letters = set(characters)

    def rows(found: Any) -> dict[str, Any]:
        moves = {q: dict(found.transitions.get(q, {})) for q in found.states}
        return numbered(moves, found.initial_state, found.final_states)

    return (
        lambda: DFA.from_nfa(NFA.from_regex(pattern, input_symbols=letters), minify=True, retain_names=False),
        rows,
    )


def by_pyformlang(pattern: str, characters: str) -> Tool:
    """Its `PythonRegex`, made deterministic and minimised."""
    from pyformlang.regular_expression import PythonRegex

    sys.setrecursionlimit(20_000)  # its reader takes a call for each character
    said = False

    def build() -> Any:
        nonlocal said
        begun = process_time()
        found = PythonRegex(pattern).to_epsilon_nfa().to_deterministic()
        if not said:  # before the minimising, which may not end
            say(part="before minimising", states=len(found.states), seconds=process_time() - begun)
            said = True
        return found.minimize()

    def rows(found: Any) -> dict[str, Any]:
        moves: dict[Any, dict[str, Any]] = {q: {} for q in found.states}
        for source, row in found.to_dict().items():
            for symbol, target in row.items():
                if symbol.value in characters:  # a class [^...] has all characters that it knows
                    moves[source][symbol.value] = target
        return numbered(moves, found.start_state, found.final_states)

    return build, rows


def by_greenery(pattern: str, characters: str) -> Tool:
    """Its `parse`, then `to_fsm` and `reduce`."""
    import greenery

    def rows(found: Any) -> dict[str, Any]:
        # its letters are classes of characters
        meaning = {x: next(c for c in found.alphabet if c.accepts(x)) for x in characters}
        moves = {q: {x: row[c] for x, c in meaning.items() if c in row} for q, row in found.map.items()}
        return numbered(moves, found.initial, found.finals)

    return lambda: greenery.parse(pattern).to_fsm().reduce(), rows


def by_fado(pattern: str, characters: str) -> Tool:
    """Its `toNFA` (partial derivatives), `toDFA` and `minimal`, from an expression that is built for it."""
    import re._parser as parser  # type: ignore[import-not-found]

    from FAdo.reex import str2regexp

    given: dict[str, str] = {}
    try:
        str2regexp(pattern)
    except Exception as error:
        given["refused_as_written"] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        given["given"] = "objects of its classes, made of the tree of Python's parser"
    say(part="input", **given)

    def build() -> Any:
        expression = fado_expression(parser.parse(pattern), characters)
        expression.setSigma(set(characters))
        return expression.toNFA().toDFA().minimal()

    def rows(found: Any) -> dict[str, Any]:
        moves = {q: dict(found.delta.get(q, {})) for q in range(len(found.States))}
        return numbered(moves, found.Initial, found.Final)

    return build, rows


def fado_expression(tree: Any, characters: str) -> Any:
    """A parsed pattern as an expression of FAdo, whose text knows letters and digits alone; a set is a balanced union of its members."""
    from FAdo.reex import CAtom, CConcat, CDisj, CEpsilon, COption, CStar

    def union(parts: list[Any]) -> Any:
        half = len(parts) // 2
        return parts[0] if len(parts) == 1 else CDisj(union(parts[:half]), union(parts[half:]))

    def members(op: str, value: Any) -> set[str]:
        if op == "LITERAL":
            return {chr(value)}
        if op == "NOT_LITERAL":
            return set(characters) - {chr(value)}
        if op == "RANGE":
            return {chr(code) for code in range(value[0], value[1] + 1)}
        parts = [(str(o), v) for o, v in value]
        found = set().union(*(members(o, v) for o, v in parts if o != "NEGATE"))
        return set(characters) - found if parts[0][0] == "NEGATE" else found

    def one(op: str, value: Any) -> Any:
        if op == "SUBPATTERN":
            return fado_expression(value[-1], characters)
        if op == "BRANCH":
            return union([fado_expression(branch, characters) for branch in value[1]])
        if op == "MAX_REPEAT":
            least, most, inner = value[0], str(value[1]), fado_expression(value[2], characters)
            if (least, most) == (0, "1"):
                return COption(inner)
            if most != "MAXREPEAT" or least > 1:
                raise ValueError(f"a repetition {{{least},{most}}} has no form here")
            return CStar(inner) if least == 0 else CConcat(inner, CStar(inner))
        return union([CAtom(x) for x in sorted(members(op, value))])

    found = None
    for op, value in tree:
        part = one(str(op), value)
        found = part if found is None else CConcat(found, part)
    return CEpsilon() if found is None else found


PATTERN_TOOLS = {
    "mirrormata": by_mirrormata,
    "automata-lib": by_automata_lib,
    "pyformlang": by_pyformlang,
    "FAdo": by_fado,
    "greenery": by_greenery,
}
"""By the name under which pip knows each."""


def measure_pattern(tool: str, pattern: str, characters: str) -> None:
    """The minimal DFA of a pattern, how long it took, and what the tool said where it refused."""
    try:
        build, rows = PATTERN_TOOLS[tool](pattern, characters)
    except ImportError:
        say(part="missing", because=f"{tool} is not installed")
        return
    try:
        found, seconds = time_calls(build)
    except Exception as error:
        say(part="refused", because=f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}")
        return
    say(part="automaton", automaton=rows(found), seconds=seconds, version=metadata.version(tool))


# ---------------------------------------------------------------- a transformation semigroup


def measure_semigroup(maps: list[list[int]]) -> None:
    """The skeleton and the cascade of the semigroup that some maps generate, and the layers of own.window and own.chain."""
    import numpy as np

    from mirrormata import Automaton
    from mirrormata.constructions._construct import realisations_of
    from mirrormata.constructions.cascades._cascade import cascade
    from mirrormata.constructions.cascades._holonomy import holonomy_of_maps
    from mirrormata.constructions.theorems._construction import Problem
    from mirrormata.foundation._errors import LimitError, NotRealisableError

    table = np.array(maps, dtype=np.int64)
    n = table.shape[1]
    automaton = Automaton(
        tuple(range(n)), tuple(f"x{i}" for i in range(len(table))), table, 0, np.arange(n).astype(object)
    )

    for theorem in ("own.window", "own.chain"):

        def realise(theorem: str = theorem) -> Any:
            return min(realisations_of(Problem(automaton), theorem), key=lambda made: made.depth)

        try:
            found, seconds = time_calls(realise)
        except (NotRealisableError, LimitError) as error:
            say(part=theorem, refused=str(error).splitlines()[0][:200])
            continue
        say(part=theorem, layers=found.depth, seconds=seconds)

    skeleton, seconds = time_calls(lambda: holonomy_of_maps(table))
    say(
        part="skeleton",
        seconds=seconds,
        levels=skeleton.levels,
        sets=len(skeleton.sets),
        components=[
            [[skeleton.classes[c].degree, skeleton.classes[c].order] for c in level]
            for level in skeleton.by_depth()
        ],
    )
    found, seconds = time_calls(lambda: cascade(automaton))
    say(part="cascade", seconds=seconds, levels=len(found.levels), joint_states=str(found.joint_states))


def main() -> None:
    """Read the task and do it."""
    task = json.load(sys.stdin)
    if "pattern" in task:
        measure_pattern(task["tool"], task["pattern"], task["characters"])
    else:
        measure_semigroup(task["maps"])


if __name__ == "__main__":
    main()
