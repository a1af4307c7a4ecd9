"""An automaton of your own: what it is, what is built for it, and what the error says where a theorem does not apply."""

from __future__ import annotations

from mirrormata import Automaton, NotRealisableError, construct, inspect_automaton

# the order of three cups, under two swaps
swaps = {"left": (1, 0, 2), "right": (0, 2, 1)}
orders = ["abc", "acb", "bac", "bca", "cab", "cba"]
cups = Automaton.from_transitions(
    {order: {name: "".join(order[i] for i in places) for name, places in swaps.items()} for order in orders},
    start="abc",
    name="cups",
)
facts = inspect_automaton(cups)
print(f"{facts.name}: {facts.states} states, group of order {facts.group_order}, solvable: {facts.solvable}")
lrnn = construct(cups)
print(f"  {lrnn.construction}: {lrnn.householders} factor, dimension {lrnn.dim}, {lrnn.exactness}")
print(f"  after left, right, left: {cups.after(['left', 'right', 'left'])}")

# partial input is completed with a sink, and said
gate = Automaton.from_transitions(
    {"closed": {"coin": "open"}, "open": {"coin": "open", "push": "closed"}}, start="closed", name="gate"
)
print(f"{gate.name}: {len(gate.states)} states; {gate.notes[0]}")
try:
    construct(gate, theorem="G.T3")
except NotRealisableError as error:
    print(f"  {error}")
lrnn = construct(gate)
print(
    f"  {lrnn.construction}: layers {lrnn.depth}, factors {lrnn.householders}, norm {lrnn.summary()['norm']}"
)
