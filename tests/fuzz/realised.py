"""Constructions of every shape beside automata with one thing changed.

In exact arithmetic, and in formats that hold its integers, a construction answers as its own automaton does; so the oracle
compares two automata. Several layers, block delays, chains of sets and kernels come in here.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from typing import Any

from mirrormata.constructions._construct import Request, choose
from mirrormata.constructions._delay import BlockDelay
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._completing import object_array
from mirrormata.constructions.chains._blocks import BlockRNN
from mirrormata.constructions.chains._chain import ChainRNN
from mirrormata.foundation._errors import InputError
from mirrormata.tests.oracle.search import Machine, compare, moore
from mirrormata.theory.proofs._prove import prove

SHAPES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("parity", {}),
    ("S3", {}),
    ("Z2^2", {}),
    ("flipflop", {}),
    ("permreset:3", {}),
    ("mod:6", {"exactness": "integer"}),
    ("mod:4", {"theorem": "own.T2tight"}),
    ("dihedral:4", {"theorem": "DP.T7"}),
    ("tomita:4", {}),
    ("even_pairs", {}),
    ("T3", {}),
    ("dyck1:2", {}),
    ("S3", {"theorem": "DP.T1"}),
    ("Z2^2", {"theorem": "DP.T1"}),
    ("T3", {"theorem": "own.chain"}),
    ("random:states=5,letters=2,seed=3", {"theorem": "own.chain"}),
    ("tomita:4", {"theorem": "own.window"}),
    ("T3", {"theorem": "own.lookback"}),
    ("random:states=6,letters=2,seed=4", {"theorem": "own.window"}),
    ("T3", {"theorem": "own.blocks"}),
    ("even_pairs", {"theorem": "own.blocks", "max_householders": 1}),
    ("T3", {"theorem": "R7", "exactness": "integer"}),
)
DELAYED = (BlockDelay, BlockRNN)
"""Forms that run in float formats alone, from the start."""
RULES = (*DELAYED, ChainRNN)
"""Forms whose letters are computed, and whose states can be too many to search."""
FORMATS = ("fp32", "fp16", "bf16", "fp8_e5m2")
MOST_STATES = 2_000


@functools.cache
def realised(place: int) -> Any:
    name, options = SHAPES[place]
    return choose(automaton_from_spec(name), Request(**options))


def machine_of(automaton: Automaton, names: dict[str, int]) -> Machine:
    return moore(automaton.transitions.tolist(), automaton.start, [names[str(x)] for x in automaton.outputs])


def changed(draw: random.Random, own: Automaton) -> Automaton:
    """States named anew, so that outputs are compared; perhaps another output, transition or start."""
    table, outputs, start = own.transitions.copy(), [str(x) for x in own.outputs], own.start
    n = len(outputs)
    place = draw.choice(("", "", "start", "output", "transition", "begin"))
    if place == "start":
        outputs[start] = "other"
    elif place == "output":
        outputs[draw.randrange(n)] = draw.choice(["other", *outputs])
    elif place == "transition":
        table[draw.randrange(len(table)), draw.randrange(n)] = draw.randrange(n)
    elif place == "begin":
        start = draw.randrange(n)
    states = own.states if not place and draw.random() < 0.6 else tuple(f"q{i}" for i in range(n))
    return Automaton(states, own.letters, table, start, object_array(outputs), "changed").trim()


def realised_differences(draw: random.Random) -> Iterator[str]:
    """A line where `prove` is not what a comparison of the two automata is."""
    place = draw.randrange(len(SHAPES))
    model = realised(place)
    own = model.automaton
    automaton = changed(draw, own)
    names = {
        text: i for i, text in enumerate(dict.fromkeys(str(x) for x in (*own.outputs, *automaton.outputs)))
    }
    first, second = machine_of(own, names), machine_of(automaton, names)
    found = compare(first, second, 10_000)
    formats = [f for f in model.formats if f in FORMATS]
    arithmetic = draw.choice(
        ("exact", *(f"{k}:{f}" for k in ("per_step", "per_op", "kernel:recurrent") for f in formats))
    )
    shown = f"{SHAPES[place]} in {arithmetic}, {automaton.transitions.tolist()}, {list(automaton.outputs)}, {automaton.start}"
    for method in ("auto",) if isinstance(model, DELAYED) else ("auto", "states"):
        try:
            proof = prove(
                model, automaton, arithmetic, method=method, max_states=MOST_STATES, max_trial_letters=0
            )
        except InputError as error:
            allowed = arithmetic.startswith(("per_op", "kernel")) or isinstance(model, DELAYED)
            if not allowed or "\n" in str(error):
                yield f"refused: {shown}: {error}"
            continue
        if proof.verdict == "unknown" and isinstance(model, RULES):
            # its states are many; what was searched must be right
            if found.word is not None and (proof.correct_up_to or 0) >= len(found.word):
                yield f"false length: prove {method} of {shown}: {proof.correct_up_to}, the oracle {found.word}"
        elif proof.verdict != found.verdict:
            yield f"false {proof.verdict}: prove {method} of {shown}, the oracle {found.verdict} {found.word}"
        elif proof.word is not None:
            p, q = first.start, second.start
            wrong = []
            for t, x in enumerate(proof.word, start=1):
                (p, answer), (q, right) = first.step(p, x), second.step(q, x)
                wrong += [t] if answer != right else []
            if wrong != [len(found.word or ())]:
                yield f"length: prove {method} of {shown}: {proof.word}, wrong after {wrong}; shortest {found.word}"
    if draw.random() < 0.3 and len(own.letters) > 1:
        turned = (*automaton.letters[1:], automaton.letters[0])
        other = Automaton(
            automaton.states, turned, automaton.transitions, automaton.start, automaton.outputs, "turned"
        )
        try:
            verdict = prove(model, other, arithmetic).verdict
        except InputError:
            return
        yield f"false {verdict}: prove of {shown} with its letters' names turned round is not refused"
