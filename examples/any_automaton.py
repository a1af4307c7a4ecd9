"""Any automaton: a cascade of several layers, its certificate, a bf16 run, and the printed wiring refuted by a word."""

from __future__ import annotations

from mirrormata import automaton_from_spec, check, construct, plan, random_words, run
from mirrormata.theory import refute_printed

# no 000 anywhere: aperiodic, but its letters merge states, so no group and no single layer here
automaton = automaton_from_spec("tomita:4")
lrnn = construct(automaton, theorem="G.T4")
print(f"{automaton.name}: {lrnn.depth} layers, {lrnn.householders} factors, dimension {lrnn.dim}")
print(f"  {check(lrnn).reason}")
print(
    f"  bf16, 160,000 tokens: {run(lrnn, random_words(lrnn, 16, 10_000, seed=0), dtype='bf16').errors} errors"
)

# later layers must read the states before the token; with those after it, as printed, this word goes wrong
refuted = refute_printed(automaton).to_json()
print(
    f"  wired as printed: after {' '.join(refuted['word'])} it says {refuted['named']}, right is {refuted['right']}"
)

# what is on offer for S_5, and what is known from below
made = plan(automaton_from_spec("S5"))
for offer in made.offers:
    if offer.pareto:
        facts = offer.found.summary()
        print(f"S5: layers {facts['layers']}, factors {facts['householders']}, {facts['exactness']}")
best = max(bound.at_least for bound in made.bounds if bound.figure == "householders")
print(f"S5: one layer needs at least {best} factors")
