"""Structured corruptions of a cascade's certificate: several leaves changed together, as a misreading would have it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import product
from typing import Any

Document = dict[str, Any]
Factor = list[Any]


def heads_of(document: Document) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(layer, head, the head)."""
    for i, layer in enumerate(document["layers"]):
        for h, head in enumerate(layer["heads"]):
            yield i, h, head


def is_reset(transition: dict[str, Any]) -> bool:
    """Whether a transition of a doubled head erases: it then has a projection, β‖v‖² = 1, of one axis."""
    return any(beta == 1 and len(v) == 1 for beta, v in transition["factors"])


def moved(factor: Factor, by: int) -> Factor:
    """The same mirror on other rows."""
    return [factor[0], [[i + by, x] for i, x in factor[1]]]


def on_doubled_resets(document: Document, change: Callable[[list[Factor], int], list[Factor]]) -> Document:
    """Other factors for each reset of each doubled head; `change(factors, half)`."""
    result = deepcopy(document)
    for _, _, head in heads_of(result):
        for t in head["transitions"] if "pairs" in head else []:
            if is_reset(t):
                t["factors"] = change(t["factors"], head["dim"] // 2)
    return result


def erase_then_swap(factors: list[Factor], half: int) -> list[Factor]:
    """S·Π_u: the upper half is erased, not the lower, before the halves are exchanged."""
    return [moved(f, -half) if len(f[1]) == 1 else f for f in factors]


def swap_then_erase_lower(factors: list[Factor], half: int) -> list[Factor]:
    """Π_v·S."""
    return [f for f in factors if len(f[1]) == 2] + [f for f in factors if len(f[1]) == 1]


def swap_then_erase_upper(factors: list[Factor], half: int) -> list[Factor]:
    """Π_u·S, which is right."""
    return [f for f in factors if len(f[1]) == 2] + [moved(f, -half) for f in factors if len(f[1]) == 1]


def without_swaps(factors: list[Factor], half: int) -> list[Factor]:
    """Erases the point before and does not remember the new one."""
    return [f for f in factors if len(f[1]) == 1]


def without_erasing(factors: list[Factor], half: int) -> list[Factor]:
    """Exchanges the halves without erasing."""
    return [f for f in factors if len(f[1]) == 2]


def erase_both(factors: list[Factor], half: int) -> list[Factor]:
    """The point is forgotten."""
    return [moved(f, -by) for f in factors if len(f[1]) == 1 for by in (0, half)]


def without_additive(document: Document) -> Iterator[Document]:
    """Each additive term dropped, one at a time, then all."""
    for i, h, head in heads_of(document):
        for t, transition in enumerate(head["transitions"]):
            if "additive" in transition:
                result = deepcopy(document)
                del result["layers"][i]["heads"][h]["transitions"][t]["additive"]
                yield result
    result = deepcopy(document)
    for _, _, head in heads_of(result):
        for transition in head["transitions"]:
            transition.pop("additive", None)
    yield result


def additive_below(document: Document) -> Document:
    """The new point is written to the lower half."""
    result = deepcopy(document)
    for _, _, head in heads_of(result):
        for t in head["transitions"] if "pairs" in head else []:
            if "additive" in t:
                t["additive"] = [[i + head["dim"] // 2, j, x] for i, j, x in t["additive"]]
    return result


def transposed(document: Document) -> Iterator[Document]:
    """One head's permutations with their factors in the other order, where that makes others of them."""
    for i, h, _ in heads_of(document):
        result = deepcopy(document)
        changed = False
        for t in result["layers"][i]["heads"][h]["transitions"]:
            swaps = t["factors"]
            shared = any(
                {r for r, _ in a[1]} & {r for r, _ in b[1]} and a != b for a, b in product(swaps, swaps)
            )
            if not is_reset(t) and shared:
                t["factors"] = swaps[::-1]
                changed = True
        if changed:
            yield result


def single_states(document: Document) -> Iterator[tuple[bool, Document]]:
    """One doubled head made single, its bound and dimension with it: (whether it is read at a reset, document)."""
    offset = 0
    for i, layer in enumerate(document["layers"]):
        for h, head in enumerate(layer["heads"]):
            column, offset = 1 + offset, offset + 1
            if "pairs" not in head:
                continue
            result = deepcopy(document)
            single = result["layers"][i]["heads"][h]
            half, n = head["dim"] // 2, len(head["codes"])
            single["dim"] = half
            del single["pairs"]
            resets = [is_reset(t) for t in head["transitions"]]
            for t, reset in zip(single["transitions"], resets, strict=True):
                if reset:
                    t["factors"] = [[1, [[r, 1]]] for r in range(half)]
            for row in result["decode"]:
                row[column] //= n
            read = any(h in r and resets[a] for r, a in zip(layer["reads"], head["actions"], strict=True))
            yield read, with_summary(result)


def with_summary(document: Document) -> Document:
    """Layers, heads, dimension and factors recounted, so that they alone are not the reason to refuse."""
    heads = [head for _, _, head in heads_of(document)]
    document["summary"].update(
        dim=max(head["dim"] for head in heads),
        householders=max(len(t["factors"]) for head in heads for t in head["transitions"]),
        layers=len(document["layers"]),
        heads=max(len(layer["heads"]) for layer in document["layers"]),
    )
    return document


def without_reading(document: Document) -> Iterator[Document]:
    """One letter reads nothing: its next letter is always the one that it has at the first points."""
    for i, layer in enumerate(document["layers"]):
        for x, read in enumerate(layer["reads"]):
            if read:
                for y in dict.fromkeys(layer["next"][x]):
                    result = deepcopy(document)
                    result["layers"][i]["reads"][x] = []
                    result["layers"][i]["next"][x] = [y]
                    yield result


def reading_more(document: Document) -> Iterator[Document]:
    """A letter that reads nothing, or another head, reads a head in vain."""
    for i, layer in enumerate(document["layers"]):
        for x, read in enumerate(layer["reads"]):
            for h, head in enumerate(layer["heads"]):
                if h not in read:
                    result = deepcopy(document)
                    n = len(head["codes"])
                    result["layers"][i]["reads"][x] = sorted([*read, h])
                    row = layer["next"][x]
                    result["layers"][i]["next"][x] = (
                        [y for y in row for _ in range(n)] if not read or read[0] < h else row * n
                    )
                    yield result


def exchanged_rows(document: Document) -> Iterator[Document]:
    """Two letters of a layer, or two transitions of a head, exchange what they do."""
    for i, layer in enumerate(document["layers"]):
        for x in range(1, len(layer["next"])):
            if [layer["next"][x], layer["reads"][x]] != [layer["next"][x - 1], layer["reads"][x - 1]]:
                result = deepcopy(document)
                for key in ("next", "reads"):
                    rows = result["layers"][i][key]
                    rows[x - 1], rows[x] = rows[x], rows[x - 1]
                yield result
        for h, head in enumerate(layer["heads"]):
            for t in range(1, len(head["transitions"])):
                result = deepcopy(document)
                rows = result["layers"][i]["heads"][h]["transitions"]
                rows[t - 1], rows[t] = rows[t], rows[t - 1]
                yield result


def shuffled_points(document: Document) -> Iterator[Document]:
    """The first two points of a head exchange their codes, and nothing else."""
    for i, h, head in heads_of(document):
        if len(head["codes"]) > 1:
            result = deepcopy(document)
            codes = result["layers"][i]["heads"][h]["codes"]
            codes[0], codes[1] = codes[1], codes[0]
            yield result


def exchanged_children(document: Document) -> Iterator[Document]:
    """Two children of a node of the covering exchanged."""
    for number, node in enumerate(document.get("covering", [])):
        for p in range(1, len(node[2]) if len(node) == 3 else 0):
            result = deepcopy(document)
            children = result["covering"][number][2]
            children[p - 1], children[p] = children[p], children[p - 1]
            yield result


def without_a_layer(document: Document) -> Iterator[Document]:
    """A layer left out, or two neighbours exchanged."""
    for i in range(len(document["layers"])):
        result = deepcopy(document)
        del result["layers"][i]
        yield with_summary(result)
        if i:
            result = deepcopy(document)
            layers = result["layers"]
            layers[i - 1], layers[i] = layers[i], layers[i - 1]
            yield result


def idle_actions(document: Document) -> Iterator[Document]:
    """A letter of a layer leads one head by the identity, and by another transition where it was the identity."""
    for i, h, head in heads_of(document):
        for x, a in enumerate(head.get("actions", [])):
            for other in range(len(head["transitions"])):
                if other != a and (
                    not head["transitions"][other]["factors"] or not head["transitions"][a]["factors"]
                ):
                    result = deepcopy(document)
                    result["layers"][i]["heads"][h]["actions"][x] = other
                    yield result
