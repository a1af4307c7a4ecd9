"""The permutations of five points as one layer of at most four mirrors a token, bit-exact in every dtype."""

from __future__ import annotations

from mirrormata import check, construct, random_words, run

lrnn = construct("S5")
print(
    f"{lrnn.construction}: {lrnn.householders} factors, dimension {lrnn.dim}, integers to {lrnn.integer_bound}"
)

head = lrnn.layers[0].heads[0]
letter = lrnn.automaton.letter_index((1, 2, 3, 4, 0))
for factor in head.transitions[letter].factors:
    print(f"  I - {factor.beta} v vᵀ with v = {dict(factor.vector)}")

print(check(lrnn).reason)
for dtype in lrnn.formats:
    report = run(lrnn, random_words(lrnn, 16, 10_000, seed=0), dtype=dtype)
    print(f"  {dtype}: {report.errors} errors in {report.tokens:,} tokens")
