"""The kernels' plans, counted out: every width has a tile, every column a program, every token one chunk and one segment.

What is held to is arithmetic: tiles that divide what they cover, tables of chunks and segments that meet each token once, modes that
exist for the dtype. At the end `prove` is asked about a kernel that runs, the reference on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import torch

from ...kernels.delta import _plan as plans
from ...kernels.delta._plan import forward_shapes, segment_count
from ...kernels.delta._plan_check import KernelCall, find_plan_errors, plan_launches
from ...kernels.scans._segments import Segments, cut, next_length, segment_length
from .proofs import on_kernels

Case = Iterator[tuple[str, str | None]]
DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
WARP_ENTRIES = 2048
"""Of a state that one warp of a recurrent kernel holds: 64 registers of a thread."""
MAP_BYTES = 2**17
"""Of a segment's map that the chain holds in shared memory."""
PACKED = (
    [0, 5, 5, 64, 70, 200],
    [0, 200],
    [0, 1, 2, 200],
    [0, 0, 0, 200],
    [0, 63, 127, 200],
    [0, 199, 200, 200],
)


def cases() -> Case:
    """Widths, plans, recurrent tiles, modes, segments, and where triton is there the tables of chunks and launches; proofs."""
    yield from widths()
    for K, V, dtype in product(plans.KERNEL_WIDTHS, plans.KERNEL_WIDTHS, DTYPES):
        for programs, householders, gated, phases in product(
            (1, 511, 512, 4096), (1, 2, 3, 4), (False, True), (False, True)
        ):
            options: dict[str, Any] = {"householders": householders, "gated": gated, "phases": phases}
            name = f"K {K}, V {V}, {dtype}, {programs} programs, {options}"
            yield name, plan_fault(K, V, dtype, plans.chunk_plan(K, V, dtype, programs, **options), **options)
        rows = plans.chain_rows(K, dtype)
        size = torch.empty(
            (), dtype=torch.float64 if dtype == torch.float64 else torch.float32
        ).element_size()
        fits = K % rows == 0 and rows >= 16 and rows * K * size <= MAP_BYTES
        yield f"rows of the chain for K {K}, {dtype}", None if fits else f"{rows} rows"
    for width, other, programs in product(plans.KERNEL_WIDTHS, plans.KERNEL_WIDTHS, (1, 511, 512, 5000)):
        held = plans.recurrent_width(width, other, programs)
        fits = held > 0 and width % held == 0 and held * other <= WARP_ENTRIES and held >= min(width, 8)
        yield f"recurrent, {width} beside {other}, {programs} programs", None if fits else f"a tile of {held}"
    yield from calls()
    yield from modes()
    yield from segments()
    yield from cuts()
    if find_spec("triton") is not None:
        yield from tables()
    yield from on_kernels()


def widths() -> Case:
    """What a width is filled up to, and powers of two."""
    for width in range(1, 257):
        right = min(w for w in (16, 32, 64, 128, 256) if w >= width)
        found = plans.kernel_width(width)
        yield f"the width of {width}", None if found == right else f"{found}, not {right}"
        power = plans.next_power_of_two(width)
        fits = power & (power - 1) == 0 and width <= power < 2 * width
        yield f"the power of two from {width} on", None if fits else f"{power}"
    for columns, tile in ((32, 64), (48, 32), (0, 16), (64, 0), (16, 32)):
        try:
            blocks = plans.count_blocks(columns, tile)
        except ValueError:
            yield f"{columns} columns by {tile}", None
        else:
            yield f"{columns} columns by {tile}", f"{blocks} programs, which do not cover them"
    for columns, tile in ((32, 16), (48, 16), (256, 64), (16, 16)):
        blocks = plans.count_blocks(columns, tile)
        yield f"{columns} columns by {tile}", None if blocks * tile == columns else f"{blocks} programs"


def plan_fault(
    K: int, V: int, dtype: torch.dtype, plan: plans.Plan, *, householders: int, gated: bool, phases: bool
) -> str | None:
    """What a plan does not cover, or what no kernel could be launched with."""
    tiles = {
        "forward": (plan.forward, V), "saving": (plan.saving, V), "summary": (plan.summary, V + K),
        "backward": (plan.backward, V), "prepare": (plan.prepare, K), "gradients": (plan.gradients, K),
    }  # fmt: skip
    if plan.fused:  # the backward kernel has no blocks of columns, and no kernel but these two is launched
        del tiles["summary"], tiles["prepare"], tiles["gradients"]
        if plan.backward.width != V:
            return f"backward: one program has {plan.backward.width} of {V} columns"
        if phases or max(K, V) > 32:
            return "fused, where phases are needed"
    for name, (tile, columns) in tiles.items():
        width = min(tile.width, columns) if name == "gradients" else tile.width
        if width < 16 or columns % width or width > columns:
            return f"{name}: {columns} columns by {width}"
        if tile.warps not in (1, 2, 4, 8) or not 1 <= tile.stages <= 4:
            return f"{name}: {tile}"
    for name, columns in (("values", V), ("keys", K)):
        width = min(columns, plan.gradient_values)
        if width < 16 or columns % width:
            return f"gradients of {name}: {columns} columns by {width}"
    tokens = plan.rows // householders
    held = plans.token_rows(plan.rows, householders)
    if plan.rows not in (16, 32, 64) or tokens < 1 or held < max(tokens, 16) or held & (held - 1):
        return f"chunks of {plan.rows} rows, {tokens} tokens in {held}"
    short = dtype in (torch.float16, torch.bfloat16)
    if (plan.inverse_precision, plan.precision) != (("fp16", "cast") if short else ("ieee", "ieee")):
        return f"{dtype} in {plan.inverse_precision} and {plan.precision}"
    return None


def calls() -> Case:
    """Every launch of a call fits the card; and a call that would not is told."""
    for K, V, dtype, mode in product(
        plans.KERNEL_WIDTHS, plans.KERNEL_WIDTHS, DTYPES, ("recurrent", "chunk", "scan")
    ):
        for programs, householders, gated, gradients in (
            (1, 1, False, True),
            (4096, 2, True, True),
            (8, 4, True, False),
        ):
            options: dict[str, Any] = {"householders": householders, "gated": gated, "gradients": gradients}
            found = find_plan_errors(KernelCall(K, V, dtype, programs, tokens=2048, mode=mode, **options))
            yield f"K {K}, V {V}, {dtype}, {mode}, {programs} programs, {options}", "; ".join(found) or None
    for mode in ("recurrent", "chunk", "scan"):
        call = KernelCall(128, 64, torch.bfloat16, 8, tokens=2048, mode=mode)
        launches = plan_launches(call)
        most = max(launch.shared for launch in launches)
        for shared, fits in ((most, True), (most - 1, False)):
            found = find_plan_errors(call, shared_memory=shared)
            wrong = f"{len(found)} errors: {found}" if fits != (not found) else None
            yield f"{mode} in {shared} bytes of shared memory", wrong
        found = find_plan_errors(replace(call, sequences_and_heads=0))
        yield f"{mode} of no sequence", None if any("no program" in line for line in found) else f"{found}"
    phases = {"prepare", "advance", "retreat", "gradients"}
    for width, mode, kernels in (
        (16, "recurrent", {"recurrent_forward", "recurrent_backward_values", "recurrent_backward_keys"}),
        (16, "chunk", {"chunk_forward", "chunk_backward"}),
        (16, "scan", {*phases, "chain"}),
        (128, "chunk", phases),
        (128, "scan", {*phases, "chain"}),
    ):
        call = KernelCall(width, width, torch.bfloat16, 8, tokens=2048, mode=mode)
        launched = {x.kernel for x in plan_launches(call)}
        yield f"the kernels of {mode}, width {width}", None if launched == kernels else f"{launched}"


def modes() -> Case:
    """Chunks and segments only for 16 bits, which they are exact enough for; segments only for few long sequences."""
    wide = (torch.float32, torch.float64)
    for dtype, tokens, programs in product(DTYPES, (1, 15, 16, 1000, 16383, 16384, 10**6), (1, 15, 16, 1000)):
        found = plans.choose_mode("auto", dtype, tokens, programs)
        right = "chunk"
        if dtype in wide or tokens < 16:
            right = "recurrent"
        elif tokens >= 16384 and 1024 * programs < tokens:
            right = "scan"
        yield (
            f"auto for {tokens} tokens, {programs} programs, {dtype}",
            None if found == right else f"{found}, not {right}",
        )
        given = [plans.choose_mode(mode, dtype, tokens, programs) for mode in ("recurrent", "chunk", "scan")]
        yield "a mode that is asked for", None if given == ["recurrent", "chunk", "scan"] else f"{given}"


def segments() -> Case:
    """Segments of whole chunks, four at least, that hold all tokens; and not too many."""
    for tokens, heads, chunk in product((1, 100, 16384, 10**6), (1, 7, 64, 5000), (5, 16, 21, 64)):
        each = plans.segment_tokens(tokens, heads, chunk)
        most = max(1, min(256, 2048 // heads))
        fits = each % chunk == 0 and each >= 4 * chunk and -(-tokens // each) <= most
        yield (
            f"segments of {tokens} tokens, {heads} heads, chunks of {chunk}",
            None if fits else f"{each} tokens",
        )


def cuts() -> Case:
    """Cuts of scans: each token in one segment, no segment over a sequence's bound, steps that meet each token once."""
    for tokens, length in product((1, 5, 64, 200), (1, 3, 16, 64, 500)):
        yield f"{tokens} tokens by {length}", find_cut_error(cut(2, tokens, length), [0, tokens])
        for bounds in PACKED if tokens == 200 else ():
            given = torch.tensor(bounds, dtype=torch.int32)
            yield f"{bounds} by {length}", find_cut_error(cut(1, tokens, length, given), bounds)
    for tokens, sequences, width in product((1, 100, 10**6), (1, 64), (1, 256)):
        for device in ("cpu", "cuda"):
            found = segment_length(tokens, sequences, width, torch.device(device))
            fits = found & (found - 1) == 0 and 16 <= found <= 512
            yield f"the length of segments of {tokens} tokens, {device}", None if fits else f"{found}"
    for count in (1, 512, 513, 10**5):
        length = next_length(Segments(1, 1, 1, count))
        fits = length == (count if count <= 512 else 32)
        yield f"{count} segments joined", None if fits else f"{length} at a time"


def find_cut_error(found: Segments, bounds: list[int]) -> str | None:
    """What is wrong with a cut, from where its segments begin and end and from its steps."""
    tokens = bounds[-1]
    if found.starts is None or found.ends is None or found.sequence is None:
        places = [(i, min(i + found.length, tokens)) for i in range(0, tokens, found.length)]
        if len(places) != found.per_row or found.count != 2 * len(places):
            return f"{found.per_row} segments a row for {len(places)}"
    else:
        rows = zip(found.starts.tolist(), found.ends.tolist(), found.sequence.tolist(), strict=True)
        used = [(start, end, s) for start, end, s in rows if s >= 0]
        if any(not bounds[s] <= start <= end <= bounds[s + 1] for start, end, s in used):
            return f"a segment crosses a bound: {used}"
        if {s for *_, s in used} != set(range(len(bounds) - 1)):
            return "a sequence has no segment"
        places = [(start, end) for start, end, _ in used]
    if sorted(t for start, end in places for t in range(start, end)) != list(range(tokens)):
        return f"the segments {places} do not meet each token once"
    if any(end - start > found.length for start, end in places):
        return f"a segment is longer than {found.length}"
    for backwards in (False, True):
        met: list[int] = []
        last: dict[int, int] = {}
        numbers, all_tokens = torch.arange(max(found.count, 1)), torch.arange(tokens)
        for which, at in found.steps(backwards):
            times = all_tokens[at].tolist()
            met += times
            for segment, t in zip(numbers[which].tolist(), times, strict=True):
                if segment in last and t != last[segment] + (-1 if backwards else 1):
                    return f"segment {segment} goes from token {last[segment]} to {t}"
                last[segment] = t
        if sorted(met) != list(range(tokens)):
            return "the steps do not meet each token once"
    return None


def tables() -> Case:
    """Tables of chunks and of `scan`'s segments, the sizes that shapes foretell, and launches."""
    from ...kernels._backends import KernelError
    from ...kernels._launching import check_grid, divide_rows
    from ...kernels.delta._problem import place_chunks
    from ...kernels.delta._triton_scan import segment_bounds

    for rows, householders, heads, bounds in product((16, 64), (1, 3), (1, 3), (None, *PACKED)):
        batch, tokens = (2, 200) if bounds is None else (1, 200)
        cu = None if bounds is None else torch.tensor(bounds, dtype=torch.int32)
        sequences = batch if bounds is None else len(bounds) - 1
        form = SimpleNamespace(
            batch=batch, tokens=tokens, heads=heads, sequences=sequences, householders=householders, packed=cu is not None,
            plan=SimpleNamespace(rows=rows),
        )  # fmt: skip
        problem: Any = SimpleNamespace(form=form, inputs=SimpleNamespace(q=torch.zeros(1)), cu=cu)
        name = f"{bounds or [0, 200, 400]} in chunks of {rows // householders}, {heads} heads"
        chunks = place_chunks(problem, rows // householders)
        ends = bounds or [0, 200, 400]
        needed = [-(-(b - a) // chunks.tokens) for a, b in pairwise(ends)]
        yield f"chunks of {name}", chunk_fault(chunks, needed)
        found, first = segment_bounds(problem)
        each = plans.segment_tokens(batch * tokens, heads, rows // householders)
        count = segment_count(batch, tokens, sequences, heads, rows // householders, cu is not None)
        yield f"segments of {name}", segment_fault(found.tolist(), first.tolist(), ends, each, count)
    for K, V, mode in product((16, 64), (16, 128), ("chunk", "scan", "recurrent")):
        q, v = (
            torch.empty(1, 200, 2, K, dtype=torch.bfloat16),
            torch.empty(1, 400, 2, V, dtype=torch.bfloat16),
        )
        shapes = forward_shapes(q, v, None, 2, mode, True, True)
        said = [tuple(x.shape) for x in shapes[:2]]
        fits = said == [(1, 200, 2, V), (1, 2, K, V)]
        yield f"outputs and final states, K {K}, V {V}, {mode}", None if fits else f"{said}"
    for grid in ((0,), (3, 0), (0, 1, 1), (-1,)):
        try:
            check_grid("a kernel", grid)
        except KernelError:
            yield f"the grid {grid} is refused", None
        else:
            yield f"the grid {grid} is refused", "nothing would run on it, and it is accepted"
    check_grid("a kernel", (1, 2, 3))
    for rows, groups, tall in product((1, 15, 16, 1000, 10**6), (1, 32), (1, 16)):
        programs, share = divide_rows(rows, groups, tall)
        fits = share % tall == 0 and (programs - 1) * share < rows <= programs * share
        yield f"{rows} rows of {groups} weights", None if fits else f"{programs} programs of {share}"


def chunk_fault(chunks: Any, needed: list[int]) -> str | None:
    """Each sequence has as many chunks as its tokens need, and the table has room for them."""
    first, sequence = chunks.places.first_chunk, chunks.places.sequence
    if first is None:
        return None if chunks.count == sum(needed) else f"{chunks.count} chunks, not {sum(needed)}"
    sequences = sequence.tolist()
    counts = [sequences.count(s) for s in range(len(needed))]
    starts = [sum(needed[:s]) for s in range(len(needed) + 1)]
    if counts != needed or first.tolist() != starts or sequences.count(-1) != chunks.count - sum(needed):
        return f"chunks of the sequences: {sequences}, from {first.tolist()}"
    return None


def segment_fault(bounds: list[int], first: list[int], ends: list[int], each: int, count: int) -> str | None:
    """Segments one after the other, none longer than `each`, none over the bound of a sequence."""
    if len(bounds) != count + 1 or bounds[0] != 0 or bounds[-1] != ends[-1]:
        return f"{len(bounds) - 1} segments from {bounds[0]} to {bounds[-1]}, for {count} to {ends[-1]}"
    if any(not 0 <= b - a <= each for a, b in pairwise(bounds)):
        return f"a segment is longer than {each}: {bounds}"
    for s, (start, end) in enumerate(pairwise(ends)):
        mine = bounds[first[s] : first[s + 1] + 1]
        if end > start and (mine[0] != start or bounds[min(first[s + 1], count)] != end):
            return f"sequence {s} has the segments {mine}"
        if first[s + 1] - first[s] != -(-(end - start) // each):
            return f"sequence {s} has {first[s + 1] - first[s]} segments"
    return None
