"""`make demo`: the whole way once, on the permutation group S_5, in ten readable lines and one picture."""

from __future__ import annotations

import time
from pathlib import Path

from mirrormata import (
    automaton_from_spec,
    check,
    construct,
    full_certificate,
    random_words,
    run,
    write_certificate,
)
from mirrormata.theory import certify_parity_impossibility, draw_mirrors


def main(folder: str = "demo") -> None:
    """Construct, certify, check, run and draw; files go into the folder."""
    out = Path(folder)
    out.mkdir(exist_ok=True)
    begun = time.perf_counter()
    automaton = automaton_from_spec("S5")
    print(
        f" 1  Automaton S_5: {len(automaton.states)} states, {len(automaton.letters)} letters; state = running product."
    )
    lrnn = construct(automaton)
    print(
        f" 2  Linear RNN: {lrnn.construction}; {lrnn.depth} layer, {lrnn.heads} head, dimension {lrnn.dim}."
    )
    print(f" 3  Each letter is at most {lrnn.householders} reflections I - β v vᵀ with v = e_i - e_j, β = 1.")
    print(
        f" 4  {lrnn.exactness.capitalize()} up to {lrnn.integer_bound}, so bit-exact in {', '.join(lrnn.formats)}."
    )
    write_certificate(full_certificate(lrnn), out / "s5.json")
    result = check(out / "s5.json")
    print(f" 5  Certificate demo/s5.json is {result.verdict}: {result.reason}.")
    wide = run(lrnn, random_words(lrnn, 9, 100_000, seed=1), dtype="bf16")
    print(
        f" 6  bf16, {wide.tokens:,} random tokens in {wide.sequences} sequences: {wide.errors} errors, bit for bit."
    )
    single = run(lrnn, random_words(lrnn, 1, 100_000, seed=2), dtype="bf16", sequential=True)
    total, errors = wide.tokens + single.tokens, wide.errors + single.errors
    print(
        f" 7  bf16, {single.tokens:,} more one after another: {single.errors} errors. {total:,} tokens, {errors} errors."
    )
    rotation = construct("mod:60")
    rough = run(rotation, random_words(rotation, 16, 1_000, seed=3), dtype="bf16")
    limits = full_certificate(rotation)["horizon"]["lengths"]
    print(
        f" 8  Z_60 as a rotation: certified for {limits['bf16']} tokens in bf16, {limits['fp32']:,} in fp32; "
        f"the first error in bf16 is at {rough.first_error}."
    )
    impossible = certify_parity_impossibility()
    write_certificate(impossible, out / "parity-impossible.json")
    refused, words = check(out / "parity-impossible.json"), impossible["words"]
    print(
        f" 9  Positive eigenvalues cannot do parity: 1^{words['i']} and 1^{words['j']} reach one state of a DeltaNet layer in "
        f"bf16; demo/parity-impossible.json is {refused.verdict}."
    )
    draw_mirrors(lrnn, out / "s5.png")
    print(f"10  Picture of the mirrors: demo/s5.png. Took {time.perf_counter() - begun:.1f} s.")
    if (result.verdict, refused.verdict) != ("valid", "valid") or errors:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
