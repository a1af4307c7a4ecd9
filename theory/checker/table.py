"""Checks a certificate of kind `table`: a linear RNN equals an automaton on all words, by exact arithmetic.

Standard library only; run it as `python3 -I table.py CERTIFICATE`. What it proves, for every letter x: each code H
of a head goes to the code A(x) H + B(x); the joint codes reached from the initial one lie over the automaton's
states as its transitions say. By induction this holds for words of any length. Factors are applied in their order
and from the left. Several layers: `_layers.py`, and for cascades `_covering.py`. The summary is recomputed and one
canonical form is demanded of every entry. It does not say which factors make a letter: `householders` counts those given.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from math import gcd
from typing import Any, TypeAlias

if not __package__:  # run alone: the files beside this one are found as the package `checker`
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    __package__ = "checker"

from ._budget import Budget
from ._covering import check_covering
from ._exact import Invalid, array, integer, need, record, same, show_value, sign
from ._head import Head
from ._labels import canonical, count_noun, read_labels, require_kind
from ._layers import Wired, check_joint, decode_rows
from ._program import run_alone

FORMATS = {"fp64": 2**53, "fp32": 2**24, "fp16": 2**11, "bf16": 2**8, "fp8_e4m3": 2**4, "fp8_e5m2": 2**3}
Images: TypeAlias = list[list[list[int]]]
KEYS = {"format", "kind", "labels", "automaton", "layers", "decode", "outputs", "summary"}


@dataclass
class Machine:
    """The automaton of a certificate: `delta[letter][state]`, and outputs by state or by letter and state."""

    delta: list[list[int]]
    start: int
    outputs: list[Any]

    def outputs_after(self, landings: list[list[int]], count: int, states: list[int]) -> list[Any]:
        """The outputs to be read off: of each code, or on each letter at the code it leads to (null for none).

        `landings[x][i]`: where letter x leads from the i-th place, of `count`; `states[i]`: the state there.
        """
        if not self.outputs or type(self.outputs[0]) is not list:
            return [self.outputs[q] for q in states]
        table: list[list[Any]] = [[None] * count for _ in self.delta]
        # a Mealy output belongs to a letter and the state before;
        # codes that a letter takes to one code must share it
        for row, given, landing in zip(table, self.outputs, landings, strict=True):
            for q, after in zip(states, landing, strict=True):
                need(row[after] in (None, given[q]), "a Mealy output is lost where two codes meet")
                row[after] = given[q]
        return table


def read_machine(document: Any) -> Machine:
    """The automaton and its labels, checked for form."""
    need(document["format"] == "mirrormata-certificate/1", "unknown format")
    labels = read_labels(
        document["labels"], {"automaton", "construction", "theorem"}, {"states", "letters", "outputs"}
    )
    n, k = len(labels["states"]), len(labels["letters"])
    automaton = record(
        document["automaton"], {"states", "letters", "start", "transitions", "outputs"}, "automaton"
    )
    integer(automaton["states"], max(n, 1), n, "automaton.states")
    integer(automaton["letters"], k, k, "automaton.letters")
    start = integer(automaton["start"], 0, n - 1, "automaton.start")
    delta = array(automaton["transitions"], "automaton.transitions", k)
    for row in delta:
        for q in array(row, "automaton.transitions", n):
            integer(q, 0, n - 1, "automaton.transitions")
    given = array(automaton["outputs"], "automaton.outputs")
    mealy = bool(given) and type(given[0]) is list
    array(given, "automaton.outputs", k if mealy else n)
    flat = [o for row in given for o in array(row, "automaton.outputs", n)] if mealy else given
    kinds, named = canonical(flat, "automaton.outputs"), len(labels["outputs"])
    need(kinds == named, f"automaton.outputs: {kinds} outputs for {named} labels")
    return Machine(delta, start, given)


def check_table(document: Any, *extra: str) -> tuple[list[Head], Images, str]:
    """The heads, the code each transition makes of each code, and a line of facts; `Invalid` if the table is wrong.

    `extra`: further keys of the certificate.
    """
    layers_given = array(document.get("layers"), "layers")
    need(layers_given, "layers: empty")
    layered = len(layers_given) > 1
    cascade = layered and "covering" in document
    record(document, KEYS.union(extra, ["covering"] * cascade), "certificate")
    machine, budget = read_machine(document), Budget(document)
    # without letters no row tells the number of states
    n, k = len(machine.delta[0]) if machine.delta else document["automaton"]["states"], len(machine.delta)
    if layered:
        wired = Wired(document["layers"], k, n, budget, cascade)
        layers, images = wired.layers, [image for layer in wired.images for image in layer]
        if cascade:
            facts = check_covering(
                document["covering"], document["decode"], wired, machine.delta, machine.start, n
            )
        else:
            facts = check_joint(document["decode"], wired, machine.delta, machine.start, n)
        # layered certificates give outputs by the automaton's states themselves, so the places are the states
        wanted = machine.outputs_after(machine.delta, n, list(range(n)))
    else:
        raw = record(document["layers"][0], {"heads"}, "layers[0]")["heads"]
        need(array(raw, "layers[0].heads"), "layers[0].heads: empty")
        layers = [[Head(h, k, f"layers[0].heads[{i}]", budget=budget) for i, h in enumerate(raw)]]
        images = [head.images() for head in layers[0]]
        rows, landings = check_decode(document["decode"], layers[0], images, machine.delta, machine.start, n)
        wanted = machine.outputs_after(landings, len(rows), [row[0] for row in rows])
        facts = count_noun(len(rows), "code")
    need(same(document["outputs"], wanted), "outputs: not those of the automaton's states")
    heads = [head for layer in layers for head in layer]
    check_summary(document["summary"], layers, heads)
    return heads, images, f"{count_noun(n, 'state')}, {count_noun(k, 'letter')}, {facts}: equal on all words"


def check_summary(data: Any, layers: list[list[Head]], heads: list[Head]) -> None:
    """Every figure of the summary, recomputed."""
    integral = all(head.integer for head in heads)
    # every integer met, of weights, codes and partial sums, is at most the bound
    bound = max(head.bound for head in heads) if integral else None
    # all letters are gates and factors, whose norms the checker knows; of a matrix it knows none
    gh = all("matrix" not in t for head in heads for t in head.transitions)
    summary = {
        "layers": len(layers),
        "householders": max((len(t["factors"]) for h in heads for t in h.transitions), default=0)
        if gh
        else None,
        "heads": max(len(layer) for layer in layers),
        "dim": max(head.dim for head in heads),
        "exactness": "integer" if integral else "algebraic",
        "integer_bound": bound,
        "formats": [f for f, reach in FORMATS.items() if bound is not None and bound <= reach],
        "norm": "unbounded"
        if not gh
        else "at most √2 a factor"
        if any(h.copies for h in heads)
        else "at most 1",
    }
    record(data, set(summary), "summary")
    for key, value in summary.items():
        need(same(data[key], value), f"summary.{key}: it is {show_value(value)}")


def check_decode(
    data: Any, heads: list[Head], images: Images, delta: list[list[int]], start: int, n: int
) -> tuple[list[list[int]], list[list[int]]]:
    """The joint codes, breadth first from the start; each lies over one state, and all states have codes.

    After the codes reached from the start come, if states are left, those reached from the least state left, and
    so on: the recurrence is then right from each of these. Besides the rows, `landings[x][r]`: the row that letter x leads to
    from row r.
    """
    rows = decode_rows(data, heads, start, n)
    states = [row[0] for row in rows]
    place = {tuple(row[1:]): r for r, row in enumerate(rows)}
    need(len(place) == len(rows), "decode: two codes are equal")
    columns = [[row[h + 1] for row in rows] for h in range(len(heads))]
    # where each letter leads from each row, head by head and then all heads together
    landings: list[list[Any]] = []
    for x in range(len(delta)):
        after = [map(image[x].__getitem__, column) for image, column in zip(images, columns, strict=True)]
        landings.append(list(map(place.get, zip(*after, strict=True))))
    covered, uncovered = set[int](), 0
    # invariant: the first `met` rows are those met so far, breadth first, and every letter has been followed from those before `done`
    met = 0
    for done, state in enumerate(states):
        if done == met:  # a new seed
            # the start's code comes first, then one over the least state that no code lies over yet
            while uncovered in covered:  # states are covered for good, so the least one only grows
                uncovered += 1
            least = start if not covered else uncovered
            need(state == least, f"decode[{done}]: not the seed that is due")
            check_seed(done, tuple(rows[done][1:]), heads, images, bool(covered))
            met += 1
        covered.add(state)
        for x, row in enumerate(delta):
            # the claim for each letter: the joint code after x lies over the state after x
            r = landings[x][done]
            if r is None:
                raise Invalid(f"decode: a code reached by letter {x} is missing")
            if states[r] != row[state]:
                raise Invalid(f"letter {x} takes decode[{done}] to state {states[r]}, not {row[state]}")
            if r >= met:
                need(r == met, f"decode[{r}]: the code reached here is another one")
                met += 1
    need(len(covered) == n, "decode: a state has no code")
    # in each head codes are numbered in the order in which the rows first name them
    for h, head in enumerate(heads):
        new = -1
        for row in rows:
            need(row[h + 1] <= new + 1, f"decode: codes of head {h} are not numbered as they appear")
            new = max(new, row[h + 1])
        need(new + 1 == len(head.codes), f"{head.where}: a code is never reached")
    return rows, landings


def check_seed(done: int, seed: tuple[int, ...], heads: list[Head], images: Images, further: bool) -> None:
    """A joint code with which a search begins, in the one form that it can have."""
    # H and -H do equally well, so each head's seed starts with a positive number
    parts = [head.codes[c] for head, c in zip(heads, seed, strict=True) if head.codes[c]]
    need(all(sign(part[0][2]) > 0 for part in parts), f"decode[{done}]: the seed starts negative")
    for head, image, c in zip(heads, images, seed, strict=True):
        whole = [x for _, _, x in head.codes[c] if type(x) is int]
        # whether some letter leads to this code from another one, which then fixes its scale
        written = any(after == c != p for row in image for p, after in enumerate(row))
        # otherwise its scale follows from nothing else
        free = not written and len(whole) == len(head.codes[c]) > 0
        need(not free or gcd(*whole) == 1, f"decode[{done}]: a seed that is not primitive")
    # a code that letters reach needs no seed, and one head can tell the states that are left
    need(not further or len(parts) == 1, f"decode[{done}]: a further seed is zero in all heads but one")


def check(document: Any) -> str:
    """A line of facts if the certificate is right; else `Invalid` with the reason."""
    require_kind(document, "table")
    return check_table(document)[2]


if __name__ == "__main__":
    raise SystemExit(run_alone(check, sys.argv[1:]))
