"""Certificates of kind `blocks`, true and false: chains of sets over blocks of tokens, for the automata of `_chains.py`.

A false one has sizes that suffice for single letters and not for words, a ring buffer that is too short for its window, a counter that does
not count, another block, or steps of another norm.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._check import check
from . import _chains as chains
from ._chains import Document, Letters

WORDS: Letters = [[1, 1, 1, 1], [1, 3, 2, 1]]
"""Of the chains that single letters lead to, none has a set of three of which two are left; of those that words lead to, one has."""
HALVES: Letters = [[1, 0, 3, 2], [0, 0, 2, 2], [2, 3, 0, 1]]
"""Two of four states or all: words of such letters as well."""


def cases() -> Iterator[tuple[str, str | None]]:
    """All of them."""
    for name, document in true_blocks():
        found = check(document)
        yield name, None if found.verdict == "valid" else f"it is true, and is refused: {found.reason}"
    for name, document in false_blocks():
        found = check(document)
        yield name, f"it is false, and is accepted: {found.reason}" if found.verdict == "valid" else None


def ripple(bits: int) -> list[dict[str, Any]]:
    """Signs that count modulo 2^bits: each flips where all lower ones become +1."""
    flip, period = {"factors": [[2, [[0, 1]]]]}, 2**bits
    layers = []
    for i in range(bits):
        transitions = [{"factors": []}, flip] if i else [flip]
        head = {
            "field": 1, "dim": 1, "value_dim": 1, "transitions": transitions, "codes": [[[0, 0, 1]], [[0, 0, -1]]],
        }  # fmt: skip
        reads = [int(phase % 2**i == 0) if i else 0 for phase in range(period)]
        layers.append({"reads": reads, "heads": [head]})
    return layers


def blocks(
    letters: Letters,
    sizes: list[int],
    bits: int,
    block: int,
    window: int | None = None,
    copies: bool = False,
    **summary: Any,
) -> Document:
    """A certificate with a ripple counter modulo 2^bits, and the summary that follows; `summary`: other entries of it."""
    document = chains.chain(letters, sizes, window)
    del document["look_back"], document["gates"]
    merges = any(len(set(row)) < len(row) for row in letters)
    resets = merges and not copies
    dims = [size * (1 + (resets and i < len(sizes) - 2)) for i, size in enumerate(sizes[:-1])]
    costs = [dim if resets else dim - 1 for dim in dims]
    most = max([-(-cost // block) for cost in costs], default=0)
    figures: dict[str, Any] = {
        "layers": bits + 1 + len(dims),
        "householders": max([1, *(min(most, cost) for cost in costs)]),
        "dim": max([2**bits, *dims]),
        "integer_bound": 2,
        "norm": "at most √2 a factor" if copies and merges else "at most 1",
    }
    return {
        **document,
        "kind": "blocks",
        "block": block,
        "counter": ripple(bits),
        "steps": "swaps and copies" if copies else "swaps and projections",
        "summary": {**document["summary"], **figures, **summary},
    }


def true_blocks() -> Iterator[tuple[str, Document]]:
    """Sizes that fall by one, larger falls, windows, and copies."""
    for bits in (1, 2, 4):
        for name, letters in (("count", chains.COUNT), ("turn", chains.TURN), ("still", chains.STILL)):
            sizes = list(range(len(letters[0]), 0, -1))
            yield f"{name} over blocks, 2^{bits} phases", blocks(letters, sizes, bits, 2 ** (bits - 1))
            yield (
                f"{name} by copies, 2^{bits} phases",
                blocks(letters, [sizes[0], 1], bits, 2 ** (bits - 1), copies=True),
            )
    yield "a window of two letters in eight, blocks of two", blocks(chains.COUNT, [2, 1], 3, 2, 2)
    yield "a window of six letters in eight, blocks of one", blocks(chains.AROUND, [2, 1], 3, 1, 6)
    yield "a window that tells the state", blocks(chains.COUNT, [1], 3, 2, 3)
    yield "permutations and resets", blocks(chains.RESET, [3, 1], 2, 2)
    yield "halves", blocks(HALVES, [4, 2, 1], 2, 2)
    yield "a permutation group", blocks([[1, 2, 3, 0], [1, 0, 2, 3]], [4, 1], 2, 2)
    yield "a permutation group, one swap a token", blocks([[1, 2, 0], [1, 0, 2]], [3, 1], 2, 2)
    yield "a permutation group by copies", blocks([[1, 2, 3, 0], [1, 0, 2, 3]], [4, 1], 2, 2, copies=True)
    yield "words that merge, sizes that fall by one", blocks(WORDS, [4, 3, 2, 1], 4, 8)


def false_blocks() -> Iterator[tuple[str, Document]]:
    """What the checker of chains refuses as well, and what is about words, blocks, the counter and copies."""
    yield "sizes that suffice for letters, not for words", blocks(WORDS, [4, 3, 1], 4, 8)
    yield "an image of two states in a set of one", blocks(HALVES, [4, 1], 2, 2)
    yield "a letter that merges two of four states", blocks(chains.MERGE, [4, 2, 1], 2, 2)
    yield "sizes that end with two", blocks(chains.COUNT, [4, 3, 2], 2, 2)
    yield "a set that is not that of all states", blocks(chains.COUNT, [3, 2, 1], 2, 2)
    yield "copies in two levels", blocks(chains.COUNT, [4, 2, 1], 2, 2, copies=True)
    yield "copies behind a window", blocks(chains.COUNT, [2, 1], 3, 2, 2, copies=True)
    yield "copies of norm 1", blocks(chains.COUNT, [4, 1], 2, 2, copies=True, norm="at most 1")
    for length in (1, 3, 4):
        yield f"two states after {length} letters", blocks(chains.COUNT, [2, 1], 4, 4, length)
    yield "a letter that moves no state, behind a window", blocks(chains.STILL, [2, 1], 3, 2, 1)
    yield "two states that come back behind a window", blocks(chains.TURN, [2, 1], 3, 2, 1)
    yield "a window with a size left out", blocks(chains.COUNT, [3, 1], 3, 2, 1)
    for block in (1, 3, 4):
        yield (
            f"blocks of {block} tokens in a ring buffer of four",
            blocks(chains.COUNT, [4, 3, 2, 1], 2, block),
        )
    yield "no room for the window in the ring buffer", blocks(chains.AROUND, [2, 1], 2, 1, 6)
    yield "no room for two blocks behind the window", blocks(chains.COUNT, [2, 1], 3, 4, 2)
    right = blocks(chains.COUNT, [4, 3, 2, 1], 2, 2)
    shorter = {**right["summary"], "layers": 5}
    yield "a counter of two phases for four", {**right, "counter": right["counter"][:1], "summary": shorter}
    yield "a counter whose second sign flips at each token", {
        **right, "counter": [right["counter"][0], {**right["counter"][1], "reads": [1, 1, 1, 1]}],
    }  # fmt: skip
    others: dict[str, Any] = {"layers": 5, "householders": 5, "heads": 2, "dim": 9, "integer_bound": 1}
    for key, value in others.items():
        yield f"another summary.{key} over blocks", blocks(chains.COUNT, [4, 3, 2, 1], 2, 2, **{key: value})
    yield "one factor less than permutations need", blocks([[1, 2, 0]], [3, 1], 1, 1, householders=1)
