"""The tables of the pages that come from measured results."""

from __future__ import annotations

import json
from typing import Any

from mirrormata.benchmarks.chain_choices import HEAD as CHOICES_HEAD
from mirrormata.benchmarks.chain_choices import table_rows as choices_rows
from mirrormata.benchmarks.exchange import HEAD as EXCHANGE_HEAD
from mirrormata.benchmarks.exchange import table_rows as exchange_rows
from mirrormata.benchmarks.hopper import table_rows as hopper_rows
from mirrormata.benchmarks.kernel_counters import table_rows as counter_rows
from mirrormata.benchmarks.kernel_peers_table import judged, refusals
from mirrormata.benchmarks.kernel_peers_table import table_rows as kernel_peers_rows
from mirrormata.benchmarks.kernel_summary import behind_rows, summary_rows
from mirrormata.benchmarks.kernel_tables import ERRORS, error_rows, further_rows, results, time_rows
from mirrormata.benchmarks.layer_kernels import table_rows as layer_rows
from mirrormata.benchmarks.named_automata import HEAD as NAMED_HEAD
from mirrormata.benchmarks.named_automata import table_rows as named_rows
from mirrormata.benchmarks.peers_patterns import HEAD as PEERS_PATTERNS_HEAD
from mirrormata.benchmarks.peers_patterns import table_rows as peers_patterns_rows
from mirrormata.benchmarks.peers_semigroups import HEAD as PEERS_SEMIGROUPS_HEAD
from mirrormata.benchmarks.peers_semigroups import table_rows as peers_semigroups_rows
from mirrormata.benchmarks.random_automata import HEAD as RANDOM_HEAD
from mirrormata.benchmarks.random_automata import table_rows as random_rows
from mirrormata.benchmarks.state_size_bounds import table_rows as state_size_rows
from mirrormata.tests.mutations.run import read_results
from mirrormata.tests.mutations.run import table as of_results
from mirrormata.tests.project.table_texts import ROOT, measured_results, table


def kernel_times_table() -> str:
    """Times of `delta_product` and its peer, from the committed results."""
    head = ["shape", "B, T, H, D, n_h", "passes", "ours, ms", "FLA, ms", "FLA / ours"]
    head += ["ours by graph, ms", "FLA by graph, ms", "host, ms", "bytes, ms", "operations, ms"]
    return table(head, time_rows(results()), range(3, 11))


def kernel_further_table() -> str:
    """The same for other dtypes, gates and one long sequence."""
    head = ("what", "shape", "B, T, H, D, n_h", "passes", "ours, ms", "FLA, ms", "FLA / ours")
    return table(head, further_rows(results()), range(4, 7))


def kernel_counters_table() -> str:
    """Hardware counters of every kernel of the phases and fused chunks."""
    head = (
        "shape",
        "passes",
        "kernel",
        "ms",
        "MB",
        "bandwidth",
        "warps",
        "issue",
        "registers",
        "longest waits",
    )
    return table(head, counter_rows(measured_results("kernel_counters_nvidia_h200")), range(3, 9))


def scan_counters_table() -> str:
    """Hardware counters of the scans' kernels, in the order in which they run."""
    head = ("operator", "kernel", "ms", "MB", "bandwidth", "warps", "issue", "registers", "longest waits")
    rows = [
        [operator, *figures]
        for operator, _, *figures in counter_rows(measured_results("scan_counters_nvidia_h200"))
    ]
    return table(head, rows, range(2, 8))


def hopper_table() -> str:
    """Both passes of `delta_product` on Hopper: that chip's kernels and the others."""
    head = ["shape", "B, T, H, K, V, n_h", "gate", "passes", "Hopper, ms", "others, ms", "others / Hopper"]
    head += ["Hopper, MiB", "others, MiB", "Hopper, error", "others, error"]
    return table(head, hopper_rows(measured_results("hopper_nvidia_h200")), range(4, 11))


def kernel_peers_table() -> str:
    """Times of `delta_product` and of its strongest peers, by graphs and eagerly."""
    head = [
        "shape",
        "B, T, H, K = V, n_h",
        "gates",
        "passes",
        "who",
        "graph, ms",
        "graph / ours",
        "eager, ms",
        "eager / ours",
    ]
    head += ["MiB", "error"]
    return table(head, kernel_peers_rows(measured_results("kernel_peers_nvidia_h200")), range(5, 11))


def kernel_refusals_table() -> str:
    """What peers do not run, with their reasons."""
    head = ("who", "passes", "reason", "where")
    return table(head, refusals(measured_results("kernel_peers_nvidia_h200")))


def kernel_targets_table() -> str:
    """What was wanted beside the peers, and what was measured."""
    head = ("shape", "gates", "passes", "wanted", "measured", "verdict")
    return table(head, judged(measured_results("kernel_peers_nvidia_h200")), (4,))


def kernel_summary_table() -> str:
    """Ratios to every peer, from least to most."""
    head = ("operator", "beside", "passes", "time / ours", "eager time / ours", "memory / ours")
    return table(head, summary_rows(*_with_peers()), range(3, 6))


def kernel_behind_table() -> str:
    """Everything in which a peer is faster or smaller."""
    head = ("operator", "shape", "gates", "passes", "what", "ours", "peers", "least / ours")
    return table(head, behind_rows(*_with_peers()), (5, 7))


def _with_peers() -> tuple[dict[str, Any], dict[str, Any]]:
    return measured_results("kernel_peers_nvidia_h200"), measured_results("scan_shapes_nvidia_h200")


def layer_kernels_table() -> str:
    """Times and errors of the layers' own kernels and of plain torch."""
    head = ("operator", "shape", "Triton, ms", "torch, ms", "torch / Triton", "error", "torch's error")
    return table(head, layer_rows(measured_results("layer_kernels_nvidia_h200")), range(2, 7))


def kernel_errors_table() -> str:
    """Errors of `delta_product` and its peer against float64, by β, length and dtype."""
    return table(("β", "T", "dtype", *ERRORS), error_rows(results()), range(1, 8))


def throughput_table() -> str:
    """Tokens a second in training, ours and the peer's, from the committed results."""
    found = measured_results("training_throughput_nvidia_h200")
    rows = []
    for name, size in found["sizes"].items():
        for row in size["rows"]:
            middle, slowest, fastest = (f"{x / 1e6:.2f}" for x in row["tokens_per_second"])
            against = f"{row['against_peer']:.2f}"
            rows.append(
                [
                    f"`{name}`",
                    row["model"],
                    f"{middle} ({slowest} to {fastest})",
                    f"{row['milliseconds_a_step']:.2f}",
                    against,
                ]
            )
    head = ("size", "model", "million tokens a second", "milliseconds a step", "against FLA")
    return table(head, rows, (2, 3, 4))


def fla_checkpoints_table() -> str:
    """Exported checkpoints run by FLA and by our kernels: accuracy to each length, and the first wrong token."""
    found = measured_results("fla_checkpoints_nvidia_h200")
    rows = []
    for run in found["runs"]:
        accuracy = [f"{run['accuracy'][str(T)]:.2%}" for T in found["lengths"]]
        bound = run["bound"] if isinstance(run["bound"], str) else f"about {run['bound']:,}"
        rows.append([run["task"], run["by"], run["dtype"], bound, *accuracy, run["first_error"] or "none"])
    head = (
        "task",
        "run by",
        "dtype",
        "right up to, foreseen",
        *(f"{T:,}" for T in found["lengths"]),
        "first wrong token",
    )
    return table(head, rows, range(4, 10))


def state_size_table() -> str:
    """The shares of random automata of which the bounds for one vector a state speak."""
    found = json.loads((ROOT / "benchmarks/results/state_size_bounds.json").read_text(encoding="utf-8"))
    head = ("states", "letters", "n - 1 words", "n - 2 words", "fewer", "two layers (own.LMI)")
    return table(head, state_size_rows(found), range(6))


def named_automata_table() -> str:
    """What `construct` makes of named automata, groups, patterns and protocol models, at version 0.1 and now."""
    found = json.loads((ROOT / "benchmarks/results/named_automata.json").read_text(encoding="utf-8"))
    return table(NAMED_HEAD, named_rows(found), (4, 5))


def exchange_table() -> str:
    """How many random automata other tools and the package read of each other, from the committed results."""
    found = json.loads((ROOT / "benchmarks/results/exchange.json").read_text(encoding="utf-8"))
    return table(EXCHANGE_HEAD, exchange_rows(found["rows"]), range(3, len(EXCHANGE_HEAD)))


def random_automata_table() -> str:
    """Layers, factors, work, certificate and seconds of random automata, and the layers of the other constructions."""
    found = json.loads((ROOT / "benchmarks/results/random_automata.json").read_text(encoding="utf-8"))
    return table(RANDOM_HEAD, random_rows(found), range(len(RANDOM_HEAD)))


def chain_choices_table() -> str:
    """What each choice within a chain of sets gains over own.chain."""
    return table(CHOICES_HEAD, choices_rows(measured_results("chain_choices")), range(1, len(CHOICES_HEAD)))


def peers_patterns_table() -> str:
    """Patterns to minimal DFAs, here and by other libraries."""
    found = measured_results("peers")
    return table(
        PEERS_PATTERNS_HEAD, peers_patterns_rows(found["patterns"]), range(1, len(PEERS_PATTERNS_HEAD))
    )


def peers_semigroups_table() -> str:
    """Skeletons and cascades of semigroups, here and by SgpDec, with the layers of chains."""
    found = measured_results("peers")
    return table(
        PEERS_SEMIGROUPS_HEAD,
        peers_semigroups_rows(found["semigroups"]),
        range(1, len(PEERS_SEMIGROUPS_HEAD)),
    )


def peers_versions() -> str:
    """What was compared, and what it ran on, in a sentence."""
    found = measured_results("peers")
    named = [f"{name} {version}" for name, version in found["versions"].items()]
    return f"\nVersions: {', '.join(named)}. Processor: {found['processor']}.\n\n"


def mutations_table() -> str:
    """By area, what the last run of `make mutate` noticed."""
    return f"\n{of_results(read_results())}\n\n"


def kernel_fuzz_table() -> str:
    """Every operator's random shapes on a GPU: how many, how many wrong, and the largest relative errors by dtype."""
    rows = []
    for path in sorted((ROOT / "benchmarks/results/fuzz_kernels_nvidia_h200").glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        worst = found["largest_errors"]
        errors = [
            " / ".join(
                (f"{worst[key]:.0e}" if worst[key] else "0") if (key := f"{dtype} {kind}") in worst else "-"
                for kind in ("output", "gradient")
            )
            for dtype in ("bfloat16", "float16", "float32", "float64")
        ]
        rows.append((f"`{found['operator']}`", f"{found['shapes']:,}", found["wrong"], *errors))
    return table(("operator", "shapes", "wrong", "bf16", "fp16", "fp32", "fp64"), rows, range(1, 7))


def model_fuzz_table() -> str:
    """The committed run of `make fuzz`: models by how they are drawn, and what the oracle says of them."""
    found = measured_results("fuzz_models")
    verdicts = ("equivalent", "counterexample", "unknown", "compared")
    rows = [
        (kind, *(f"{counts.get(verdict, 0):,}" for verdict in verdicts))
        for kind, counts in found["kinds"].items()
    ]
    total = f"{found['models']:,} models, seed {found['seed']}: {found['models_that_differ']} differ, {found['exceptions']} exceptions"
    return f"\n{total}.\n" + table(("models", *verdicts), rows, range(1, 5))


def _scans_before() -> dict[tuple[str, tuple[int, ...]], tuple[float | None, float]]:
    """Forward, and forward with backward, of version 0.1 in milliseconds, by operator and shape."""
    scans, layers = measured_results("scans_nvidia_h200"), measured_results("layer_kernels_nvidia_h200")
    found: dict[tuple[str, tuple[int, ...]], tuple[float | None, float]] = {}
    for part, operator, sizes in (
        ("times_diagonal", "diagonal_scan", "BTD"),
        ("times_rank_one", "rank_one_scan", "BTHK"),
    ):
        for row in scans[part]:
            if row["dtype"] == "bfloat16":
                times = (row["ours"]["forward"][0], row["ours"]["forward_backward"][0])
                found[operator, tuple(row[size] for size in sizes)] = times
    for row in layers["rows"]:
        found[row["operator"], tuple(row["shape"])] = (None, row["triton"]["milliseconds"][0])
    return found


OPERATORS = ("selective_scan", "rank_one_scan", "short_convolution", "diagonal_scan")


def scan_shapes_table() -> str:
    """The scans and the convolution at large shapes, and the peers that ran; sizes other than the default ones are left out."""
    rows, before = [], _scans_before()
    for row in measured_results("scan_shapes_nvidia_h200")["shapes"]:
        if row["sizes"] or "error" in row or "segment" in row.get("options", {}):
            continue
        name, mode = row["operator"], row.get("options", {}).get("mode")
        old = before.get((name, tuple(row["shape"]))) if mode is None else None
        errors = row.get("errors")
        rows.append(
            (
                f"`{name}`" if name in OPERATORS else name, ", ".join(map(str, row["shape"])), mode or ("auto" if name in OPERATORS else ""),
                f"{row['forward']:.2f}", "" if old is None or old[0] is None else f"{old[0]:.2f}",
                f"{row['both']:.2f}", "" if old is None else f"{old[1]:.2f}", f"{row['peak']:.1f}",
                "" if not errors else f"{max(errors):.1e}",
            )
        )  # fmt: skip
    head = (
        "operator",
        "shape",
        "mode",
        "forward, ms",
        "before, ms",
        "both, ms",
        "both before, ms",
        "GB",
        "error",
    )
    return table(head, rows, range(3, 9))
