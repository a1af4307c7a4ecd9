"""The shapes of `kernel_peers`, what is wanted there, and its tables from the committed results.  Needs neither torch nor a GPU."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

Row = dict[str, Any]
SHAPES = {
    "lm": (4, 4096, 16, 128, 1),
    "lm_8192": (4, 8192, 16, 128, 1),
    "lm_nh2": (4, 4096, 16, 128, 2),
    "lm_nh3": (4, 4096, 8, 128, 3),
    "st128_nh4": (256, 128, 8, 128, 4),
    "one_sequence": (1, 8192, 16, 64, 1),
    "st32": (1024, 128, 4, 32, 1),
    "st32_nh4": (1024, 128, 4, 32, 4),
    "wide": (2, 4096, 4, 256, 1),
}
"""B, T, H, K = V, n_h."""
ROWS = (
    ("lm", True),
    ("lm", False),
    ("lm_nh2", True),
    ("lm_8192", True),
    ("lm_8192", False),
    ("st128_nh4", True),
    ("lm_nh3", False),
    ("lm_nh3", True),
    ("one_sequence", False),
    ("st32", False),
    ("st32_nh4", False),
    ("lm_nh2", False),
    ("wide", True),
    ("wide", False),
    ("one_sequence", True),
    ("st128_nh4", False),
)
"""Shape, and whether there are gates; the most wanted first."""
ORDER = (
    *("st32", "st32_nh4", "st128_nh4", "lm", "lm_8192", "lm_nh2", "lm_nh3"),
    *("one_sequence", "k64_v128", "short_nh2", "wide"),
)
"""In which order tables have the shapes, those of other benchmarks too."""
ALIKE = {
    "FlashInfer": ("FlashInfer", "FlashInfer split"),
    "FlashQLA": ("FlashQLA",),
    "FLA": ("FLA",),
}
"""The faster of them is the peer that a target is about."""
PASSES = {"forward": "forward", "both": "forward and backward"}


@dataclass(frozen=True)
class Target:
    """The peer's time by ours at least, `by` graphs or eagerly; or ours at most so many times its MiB, milliseconds, or the floor."""

    shape: str
    gated: bool
    passes: str
    what: str
    wanted: float
    against: str = ""
    by: str = "graph"


def place(shape: str) -> int:
    """Where tables have the shape; what has no place comes last."""
    return ORDER.index(shape) if shape in ORDER else len(ORDER)


WANTED = (
    *(
        target
        for shape in ("lm", "lm_8192")
        for target in (
            Target(shape, True, "forward", "ratio", 1.1, "FlashInfer"),
            Target(shape, True, "both", "ratio", 1.2, "FlashQLA"),
            Target(shape, False, "forward", "ratio", 1.1, "FlashInfer"),
            Target(shape, False, "both", "ratio", 1.3, "FlashQLA"),
        )
    ),
    Target("lm_nh2", True, "forward", "ratio", 1.2, "FlashInfer"),
    Target("lm_nh2", True, "both", "ratio", 2.0, "FLA"),
    Target("st128_nh4", True, "forward", "ratio", 1.2, "FlashInfer"),
    Target("lm_nh3", False, "both", "ratio", 1.6, "FLA"),
    Target("lm_nh3", True, "both", "ratio", 1.6, "FLA"),
    Target("one_sequence", False, "forward", "ratio", 1.5, "FLA"),
    Target("st32", False, "forward", "ratio", 9.5, "FLA"),
    Target("st32_nh4", False, "forward", "ratio", 9.5, "FLA"),
    Target("st32", False, "both", "ratio", 6.0, "FLA", "eager"),
    Target("lm", True, "both", "memory", 1.1, "FlashQLA"),
    Target("lm", False, "both", "memory", 1.1, "FlashQLA"),
    Target("wide", False, "forward", "milliseconds", 1.0),
    Target("wide", True, "both", "milliseconds", 3.0),
    Target("lm", False, "forward", "floor", 2.0),
)
TARGETS = tuple(sorted(WANTED, key=lambda target: (place(target.shape), target.gated)))
"""Of the kernels, by shapes; `floor`: the time that a copy of the inputs and outputs would take."""


def row_key(row: Row) -> tuple[str, bool, str]:
    """What there is one row of."""
    return row["shape"], row["gate"], row["who"]


def find(document: Row, shape: str, gated: bool, who: str, passes: str) -> Row | None:
    """What was measured; None if it was not, or was refused."""
    for row in document["rows"]:
        if row_key(row) == (shape, gated, who):
            found: Row | None = row.get(passes)
            return found if found and "refused" not in found else None
    return None


def reached(document: Row, target: Target) -> float | None:
    """What a target's number is; None if not measured."""
    ours = find(document, target.shape, target.gated, "ours", target.passes)
    if not ours or not ours.get(target.by):
        return None
    if target.what == "milliseconds":
        return float(ours[target.by][0])
    if target.what == "floor":
        B, T, H, D, n_h = SHAPES[target.shape]
        least = 2 * B * T * H * (2 * D + 2 * D * n_h + n_h)  # q, o, k, v, beta in 16 bits
        return float(ours[target.by][0] / (least / document["copy bytes a second"] * 1e3))
    peers = [find(document, target.shape, target.gated, who, target.passes) for who in ALIKE[target.against]]
    if target.what == "memory":
        sizes = [peer["MiB"] for peer in peers if peer]
        return ours["MiB"] / min(sizes) if sizes else None
    times = [peer[target.by][0] for peer in peers if peer and peer.get(target.by)]
    return min(times) / ours[target.by][0] if times else None


def judged(document: Row) -> list[list[str]]:
    """A row for each target, by shapes: gate, passes, what is wanted, what was measured, and whether that is enough."""
    rows = []
    for target in TARGETS:
        number = reached(document, target)
        least = target.what == "ratio"
        wanted = {
            "ratio": f"≥ {target.wanted:g} times {target.against}"
            + (" (eager)" if target.by == "eager" else ""),
            "memory": f"≤ {target.wanted:g} times {target.against}'s memory",
            "milliseconds": f"≤ {target.wanted:g} ms",
            "floor": f"≤ {target.wanted:g} times the floor",
        }[target.what]
        verdict = "not measured"
        if number is not None:
            verdict = "met" if (number >= target.wanted) == least or number == target.wanted else "missed"
        rows.append(
            [
                f"`{target.shape}`",
                "yes" if target.gated else "no",
                PASSES[target.passes],
                wanted,
                "" if number is None else f"{number:.2f}{by_graphs(document, target)}",
                verdict,
            ]
        )
    return rows


def by_graphs(document: Row, target: Target) -> str:
    """Beside a figure of eager calls, which hosts decide, what it is by graphs."""
    found = None if target.by == "graph" else reached(document, replace(target, by="graph"))
    return "" if found is None else f" ({found:.2f} by graphs)"


def table_rows(document: Row) -> list[list[str]]:
    """A row for each shape, gate, kind of passes and peer: both times, their ratios to ours, memory and error."""
    rows = []
    for shape, gated in sorted(ROWS, key=lambda row: (place(row[0]), row[1])):
        for passes, words in PASSES.items():
            ours = find(document, shape, gated, "ours", passes)
            for row in document["rows"]:
                found = find(document, shape, gated, row["who"], passes)
                if (row["shape"], row["gate"]) != (shape, gated) or not found:
                    continue
                cells = []
                for by in ("graph", "eager"):
                    time = found[by]
                    cells.append("" if not time else f"{time[0]:.3f}")
                    both = time and ours and ours[by] and row["who"] != "ours"
                    cells.append(f"{time[0] / ours[by][0]:.2f}" if both and ours else "")
                sizes = ", ".join(map(str, SHAPES[shape]))
                size_and_error = f"{found['MiB']:,}", f"{found['error']:.1e}"
                gate = "yes" if gated else "no"
                rows.append([f"`{shape}`", sizes, gate, words, row["who"], *cells, *size_and_error])
    return rows


def refusals(document: Row) -> list[list[str]]:
    """A row for each peer and reason why there is no time: where."""
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for row in document["rows"]:
        where = f"`{row['shape']}`" + (" with gates" if row["gate"] else "")
        for passes, words in (("all", "both"), ("both", "backward")):
            found = row if passes == "all" else row.get(passes, {})
            if "refused" in found:
                reasons.setdefault((row["who"], words, found["refused"]), []).append(where)
    return [
        [who, words, f"`{why.replace('|', '/').replace('`', '')}`", ", ".join(where)]
        for (who, words, why), where in reasons.items()
    ]
