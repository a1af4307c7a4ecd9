"""Mutations of the kernels' plans: tiles, tables of chunks and segments, modes, and launches."""

from __future__ import annotations

from .record import Mutation

PLAN, SCANS = "kernels.delta._plan:", "kernels.scans._segments:"
MUTATIONS = [
    Mutation(
        PLAN + "kernel_width",
        "if w >= width)",
        "if w > width // 2)",
        "columns are cut off to fit a narrower kernel",
    ),
    Mutation(PLAN + "next_power_of_two", "(0, number - 1)", "(0, number)", "a power of two is doubled"),
    Mutation(PLAN + "token_rows", "max(16, ", "max(8, ", "a tile of tokens is smaller than a product needs"),
    Mutation(
        PLAN + "token_rows",
        "rows // householders)",
        "rows // (2 * householders))",
        "half of a chunk's tokens have a row",
    ),
    Mutation(
        PLAN + "chunk_plan",
        "wide <= 32 and not phases",
        "wide <= 32",
        "the mode scan gets a plan without phases",
    ),
    Mutation(
        PLAN + "chunk_plan",
        "wide <= 32 and not phases",
        "min(K, V) <= 32 and not phases",
        "wide keys beside narrow values get the fused kernel",
    ),
    Mutation(
        PLAN + "chunk_plan",
        "saving = Tile(min(V, 64) if few else V,",
        "saving = Tile(64 if few else V,",
        "tiles wider than the values make an empty grid",
    ),
    Mutation(
        PLAN + "chunk_plan",
        "backward = Tile(min(V, 32 if few else 64), 4, 2)",
        "backward = Tile(32 if few else 64, 4, 2)",
        "gated backward tiles wider than the values make an empty grid",
    ),
    Mutation(
        PLAN + "chunk_plan",
        "summary = narrow_tile(forward, V + K)\n    return",
        "summary = forward\n    return",
        "the last columns of a segment's map are never computed",
    ),
    Mutation(
        PLAN + "chunk_plan",
        "summary = narrow_tile(forward, V + K)\n        tiles",
        "summary = replace(forward, width=min(64, V + K))\n        tiles",
        "the last columns of a wide segment's map are never computed",
    ),
    Mutation(
        PLAN + "chunk_plan",
        "width = Tile(min(V, 32), 4), min(K, V, 64)",
        "width = Tile(min(V, 32), 4), min(K + V, 64)",
        "gradients of narrow values beside wide keys have tiles that are too wide",
        equivalent_because="the launch takes the smaller of this width and the columns",
    ),
    Mutation(
        PLAN + "chunk_plan",
        '("fp16", "cast") if short',
        '("ieee", "ieee") if short',
        "16-bit products are asked for in 32 bits",
    ),
    Mutation(
        PLAN + "narrow_tile",
        "gcd(tile.width, columns)",
        "min(tile.width, columns)",
        "tiles need not divide their columns",
    ),
    Mutation(PLAN + "count_blocks", "or columns % width", "", "columns that are left over are no error"),
    Mutation(
        PLAN + "chain_rows",
        "K if K <= 128",
        "K if K <= 256",
        "the map of a segment does not fit into shared memory",
    ),
    Mutation(
        PLAN + "recurrent_width",
        "16 if other <= 128",
        "32 if other <= 256",
        "a warp holds more of the state than it has registers",
    ),
    Mutation(
        PLAN + "choose_mode",
        '"scan" if dtype in (torch.float16, torch.bfloat16) else "recurrent"',
        '"scan"',
        "32-bit problems are scanned",
    ),
    Mutation(PLAN + "choose_mode", "tokens < 16", "tokens < 17", "sixteen tokens are not a chunk"),
    Mutation(
        PLAN + "choose_mode",
        "sequences_and_heads * 1024 < tokens",
        "sequences_and_heads < tokens",
        "many short sequences are scanned",
    ),
    Mutation(
        PLAN + "segment_tokens",
        "max(4, -(-tokens // (wanted * chunk_tokens)))",
        "max(4, tokens // (wanted * chunk_tokens))",
        "there are more segments than are wanted",
    ),
    Mutation(
        PLAN + "segment_tokens",
        "return chunks * chunk_tokens",
        "return chunks * chunk_tokens + 1",
        "segments end within a chunk",
    ),
    Mutation(
        "kernels.delta._plan:segment_count",
        "B * T // each + N if packed",
        "B * T // each + 1 if packed",
        "the table of segments has no room for every sequence's last one",
    ),
    Mutation(
        "kernels.delta._triton_scan:segment_bounds",
        "right=True) - 1",
        "right=False) - 1",
        "a sequence's first segment is counted to the one before",
    ),
    Mutation(
        "kernels.delta._triton_scan:segment_bounds",
        "cu[1:] - cu[:-1] + (each - 1)",
        "cu[1:] - cu[:-1]",
        "the last segment of a sequence is left out",
    ),
    Mutation(
        "kernels.delta._problem:place_chunks",
        "(tokens - 1)",
        "tokens",
        "sequences of whole chunks get one too many",
    ),
    Mutation(
        "kernels.delta._problem:place_chunks",
        "index < start[-1]",
        "index <= start[-1]",
        "the first unused chunk counts as used",
    ),
    Mutation(
        SCANS + "cut",
        "+ length - 1) // length)",
        ") // length)",
        "the last tokens of packed sequences are in no segment",
    ),
    Mutation(
        SCANS + "cut",
        "torch.minimum(starts + length, cu[home + 1])",
        "starts + length",
        "a segment runs into the next sequence",
    ),
    Mutation(
        SCANS + "Segments.steps",
        "self.ends[which] - 1 - i",
        "self.ends[which] - i - (i > 0)",
        "the last token of a segment is passed on the way back",
    ),
    Mutation(
        SCANS + "next_length",
        "count <= SERIAL",
        "count < SERIAL",
        "a table that could be joined in one is cut again",
    ),
    Mutation("kernels._launching:check_grid", "min(grid) <= 0", "min(grid) < 0", "an empty grid is launched"),
    Mutation(
        "kernels._launching:divide_rows",
        "-(-rows // share), share",
        "rows // share, share",
        "the last rows are added up by no program",
    ),
    Mutation(
        "kernels.delta._plan_check:find_plan_errors",
        "launch.shared > shared_memory",
        "launch.shared > shared_memory + 1",
        "a byte too much of shared memory is no error",
    ),
    Mutation(
        "kernels.delta._plan_check:find_plan_errors",
        "min(launch.grid) < 1",
        "min(launch.grid) < 0",
        "a call without a program is no error",
    ),
    Mutation(
        "kernels.delta._plan_check:plan_launches",
        'phases=call.mode == "scan"',
        "phases=False",
        "the list of launches takes the plan of chunks for scan",
    ),
]
