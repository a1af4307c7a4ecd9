"""The two orders of a group's word problem: y becomes x·y or y·x. They differ, and inversion translates."""

from __future__ import annotations

from mirrormata import automaton_from_spec, construct

left = automaton_from_spec("S3", product="left")
right = automaton_from_spec("S3", product="right")
word = [(1, 0, 2), (1, 2, 0), (0, 2, 1)]
print(f"left product:  {left.after(word)}")
print(f"right product: {right.after(word)}")


def inverse(g: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes g."""
    return tuple(g.index(i) for i in range(len(g)))


translated = inverse(left.after([inverse(x) for x in word]))  # type: ignore[arg-type]
print(f"right, from the left one by inverses: {translated}")

for automaton in (left, right):
    lrnn = construct(automaton)
    codes = [{i: v for i, _, v in code} for code in lrnn.layers[0].heads[0].codes]
    print(f"{automaton.name}: {lrnn.construction}, {lrnn.householders} factors, H_0 = {codes[0]}")
