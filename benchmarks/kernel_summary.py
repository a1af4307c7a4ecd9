"""Where the kernels are ahead of their peers and where they are behind, from the committed results.  Needs neither torch nor a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mirrormata.benchmarks.kernel_peers_table import PASSES, ROWS, SHAPES, find, place

Row = dict[str, Any]
MEASURES = {"graph": "ms, graph", "eager": "ms, eager", "MiB": "MiB"}
SCAN_PEERS = {
    "fla causal_conv1d": "short_convolution",
    "fla chunk_hgrn": "diagonal_scan",
    "fla fused_recurrent_hgrn": "diagonal_scan",
    "fla chunk_dplr_delta_rule": "rank_one_scan",
}
"""The peers of the other operators, and the operator that each is measured beside."""
SCAN_MEASURES = {
    "forward": ("forward", "ms"),
    "both": ("forward and backward", "ms"),
    "peak": ("forward and backward", "GB"),
}


@dataclass(frozen=True)
class Pair:
    """One figure of a peer beside ours; smaller is better for all of them."""

    operator: str
    shape: str
    gates: str
    passes: str
    who: str
    measure: str
    peer: float
    ours: float


def figure(found: Row | None, measure: str) -> float | None:
    """Median milliseconds, or MiB; None where it was not measured."""
    value = None if found is None else found.get(measure)
    return None if value is None else float(value[0] if isinstance(value, list) else value)


def delta_pairs(document: Row) -> Iterator[Pair]:
    """All figures of `kernel_peers` that a peer and we both have, shape by shape."""
    peers = list(dict.fromkeys(row["who"] for row in document["rows"] if row["who"] != "ours"))
    for shape, gated in sorted(ROWS, key=lambda row: (place(row[0]), row[1])):
        for passes, words in PASSES.items():
            ours = find(document, shape, gated, "ours", passes)
            for measure in MEASURES:
                for who in peers:
                    mine, its = (
                        figure(ours, measure),
                        figure(find(document, shape, gated, who, passes), measure),
                    )
                    if mine is not None and its is not None:
                        yield Pair(
                            "delta_product", shape, "yes" if gated else "no", words, who, measure, its, mine
                        )


def scan_pairs(document: Row) -> Iterator[Pair]:
    """All figures of the other operators beside FLA's, with the sizes of tiles and the mode that are the defaults."""
    rows = [
        row
        for row in document["shapes"]
        if not row["sizes"] and "error" not in row and not row.get("options")
    ]
    found = {row["operator"]: row for row in rows}
    for who, operator in SCAN_PEERS.items():
        for measure, (passes, unit) in SCAN_MEASURES.items():
            if who in found and operator in found:
                its, mine = float(found[who][measure]), float(found[operator][measure])
                yield Pair(
                    operator, ", ".join(map(str, found[operator]["shape"])), "", passes, who, unit, its, mine
                )


def behind_rows(peers: Row, scans: Row) -> list[list[str]]:
    """A row for everything in which a peer is faster or smaller; peers of one measure are in one row."""
    groups: dict[tuple[str, ...], list[Pair]] = {}
    for pair in (*delta_pairs(peers), *scan_pairs(scans)):
        if pair.peer < pair.ours:
            key = pair.operator, pair.shape, pair.gates, pair.passes, pair.measure
            groups.setdefault(key, []).append(pair)
    return [
        [
            f"`{operator}`",
            f"`{shape}`" if shape in SHAPES else shape,
            gates,
            passes,
            MEASURES.get(measure, measure),
            shown(pairs[0].ours, measure),
            ", ".join(f"{pair.who} {shown(pair.peer, measure)}" for pair in pairs),
            f"{min(pair.peer for pair in pairs) / pairs[0].ours:.2f}",
        ]
        for (operator, shape, gates, passes, measure), pairs in groups.items()
    ]


def shown(value: float, measure: str) -> str:
    """A figure as the tables show it."""
    return (
        f"{value:,.0f}" if measure == "MiB" else f"{value:.2f}" if measure in ("ms", "GB") else f"{value:.3f}"
    )


def summary_rows(peers: Row, scans: Row) -> list[list[str]]:
    """A row for each operator, peer and kind of passes: in how many shapes ours is ahead, and the ratios from least to most."""
    groups: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for pair in (*delta_pairs(peers), *scan_pairs(scans)):
        kind = "memory" if pair.measure in ("MiB", "GB") else "eager" if pair.measure == "eager" else "time"
        group = groups.setdefault((pair.operator, pair.who, pair.passes), {})
        group.setdefault(kind, []).append(pair.peer / pair.ours)
    rows = []
    for (operator, who, passes), ratios in groups.items():
        cells = [
            (f"{min(x):.2f} to {max(x):.2f}" if len(x) > 1 else f"{x[0]:.2f}")
            + f" ({sum(y > 1 for y in x)} of {len(x)})"
            if (x := ratios.get(kind))
            else ""
            for kind in ("time", "eager", "memory")
        ]
        rows.append([f"`{operator}`", who, passes, *cells])
    return rows
