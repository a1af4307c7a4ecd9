"""Weights of a constructed LRNN as files: `.npz` (one head, with its decoding) and `.safetensors` (all layers and heads).

How to run several layers from the arrays alone, token by token, x a letter of the automaton, layer by layer from the
first: each head h goes by its transition t = actions[x], H ← matrices[t] H + additive[t]; the nearest of its `codes`
is its new code c, and p_h = point_before[t, c] the point at which it was before the token. The next layer's letter is
next_letter[x, column], the column counted from the points of the heads reads[x] = [h, h', ...] (-1: no more):
column ← column·points + p for each, from column 0, where a head has points = point_of.max() + 1. On the last layer it
is the automaton's state. In a layer where only the new codes of several heads together tell the next letter
(`codes_tell_together` in the metadata), p_h is the new code c itself, and the same steps are right.

Every float64 entry is the exact number rounded once; `integer` tells that nothing was rounded because all numbers
are integers. Nothing is pickled: labels are JSON texts. Files are written whole or not at all.
"""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..constructions._head import Head
from ..constructions.automata._automaton import Automaton, Indices
from ..constructions.automata._labels import label_text
from ..constructions.certificates._parts import number_outputs
from ..foundation._errors import InputError, LimitError
from ..foundation._files import path_of, shown_path, write_bytes
from ..foundation._text import count_noun
from ._npz_file import NPZ_FORMAT
from ._realisations import RealisationLike, table_from
from .arithmetic._rounding import Floats, float_format
from .running._weights import MAX_ENTRIES, Rounding, dense_codes, head_weights

SAFETENSORS_FORMAT = "mirrormata-weights/1"


def export_npz(lrnn: RealisationLike, path: str | Path, *, max_entries: int = MAX_ENTRIES) -> None:
    """Write an LRNN of one layer and one head as an `.npz` file that can be read without pickle.

    The file has the arrays `A` `[letters, n, n]`, `B` `[letters, n, d]`, `H0` `[n, d]`, `codes` `[codes, n, d]` and `decode` `[codes,
    letters]`, the index of the output if the code is reached by the letter (see `decode_table`). It also has
    `format` (a text); `states` `[codes]`, the automaton's state of each code; `integer`; the factors in
    the order in which they are applied, padded with zeros: `factor_count` `[letters]`, `beta` `[letters, n_h]`, `vector`
    `[letters, n_h, n]`, and `gate` `[letters]` (absent if a letter is not a product of factors), and `mask`
    if a factor has one, see `export_safetensors`; and `letter_labels`, `state_labels` and `output_labels`,
    each the text of a JSON array of strings, outputs numbered by first appearance in `decode`.

    Args:
        lrnn: a realisation of one layer and one head, its certificate, or the path of one.
        path: the `.npz` file.
        max_entries: the largest number of entries that are written.

    Raises:
        InputError: the realisation has several layers or heads, or the file has another extension.
        LimitError: an array has more than `max_entries` entries.
    """
    _require_suffix(path, ".npz")
    lrnn = table_from(lrnn, "lrnn")
    name = lrnn.automaton.name
    if lrnn.is_layered or lrnn.heads != 1:
        heads = f"up to {count_noun(lrnn.heads, 'head')}"
        if lrnn.is_layered:
            heads = f"{count_noun(len(lrnn.all_heads), 'head')} in all"
        raise InputError(
            f"{name}: the .npz format holds one layer with one head, this LRNN has {count_noun(lrnn.depth, 'layer')} "
            f"with {heads}: export it as .safetensors"
        )
    head = lrnn.layers[0].heads[0]
    arrays = head_arrays(head, name, max_entries)
    codes = arrays.pop("codes")
    states = np.empty(len(head.codes), dtype=np.int64)
    states[lrnn.decode[:, 1]] = lrnn.decode[:, 0]
    decode, outputs = decode_table(lrnn.automaton, states)
    content: dict[str, NDArray[Any]] = {
        "format": np.array(NPZ_FORMAT),
        "A": arrays.pop("matrices"),
        "B": arrays.pop("additive", np.zeros((len(decode[0]), head.dim, head.value_dim))),
        "H0": codes[lrnn.decode[0, 1]],
        "codes": codes,
        "decode": decode,
        "states": states,
        "integer": np.array(lrnn.exactness == "integer"),
        **{"vector" if key == "vectors" else key: array for key, array in arrays.items()},
        "letter_labels": _json_array([label_text(x) for x in lrnn.automaton.letters]),
        "state_labels": _json_array([label_text(q) for q in lrnn.automaton.states]),
        "output_labels": _json_array(outputs),
    }
    stream = BytesIO()
    np.savez(stream, allow_pickle=False, **content)
    write_bytes(path, stream.getvalue())


def _require_suffix(path: str | Path, suffix: str) -> None:
    """`InputError` for a file that would not be read again, since its extension is another."""
    if path_of(path).suffix != suffix:
        raise InputError(f"{shown_path(path)}: the arrays are written to a {suffix} file; rename it")


def export_safetensors(lrnn: RealisationLike, path: str | Path, *, max_entries: int = MAX_ENTRIES) -> None:
    """Write all layers and heads of an LRNN as a `.safetensors` file.

    Each head, under `layers.i.heads.j.`: `matrices` `[letters, n, n]`, `initial` `[n, d]`, `codes` `[codes, n, d]`,
    and, where its letters are products of factors, `beta` `[letters, n_h]`, `vectors` `[letters, n_h, n]`,
    `factor_count` and `gate` `[letters]`, and where a factor has a mask a, I - β v (v⊙a)ᵀ, `mask` `[letters, n_h, n]`
    of zeros and ones (all ones for a factor without); `additive` `[letters, n, d]` where something is added. The
    factors act in their order after the gate. `decode` `[rows, 1 + heads of all layers]`: the automaton's state and
    the code of each head; row 0 is the start, and with a covering (cascades) there is one row for each state.
    `outputs` `[states]` or, for a Mealy machine, `[letters, states]` by the state before: index of the output.

    With several layers, each head has `[transitions, ...]` in place of `[letters, ...]`, with `actions`
    `[letters of the layer]`, the transition of each letter, `point_of` `[codes]`, and `point_before`
    `[transitions, codes]` (-1 where the transition does not lead to the code, -2 where the code does not tell; the code itself in
    layers that the metadata lists as `codes_tell_together`); each layer, under `layers.i.`, has `reads` `[letters, k]` and
    `next_letter` `[letters, width]`, see above.

    The metadata has one entry `mirrormata`, a JSON object with the labels, the start, the figures of
    `construct`, and of several layers the number of letters of each (`layer_letters`) and the layers, from 0, whose next letter is
    read from new codes (`codes_tell_together`).

    Args:
        lrnn: a realisation given by a table, as `construct` returns it, its certificate, or the path of one.
        path: the `.safetensors` file.
        max_entries: the largest number of entries that are written.

    Raises:
        InputError: the realisation is not a table, or the file has another extension.
        LimitError: an array has more than `max_entries` entries.
    """
    from safetensors.numpy import save

    _require_suffix(path, ".safetensors")
    lrnn = table_from(lrnn, "lrnn")
    automaton = lrnn.automaton
    tensors: dict[str, NDArray[Any]] = {}
    several = lrnn.is_layered
    for i, layer in enumerate(lrnn.layers):
        numbers, following = layer.read_out_tables if several else ((), None)
        for j, head in enumerate(layer.heads):
            arrays = head_arrays(head, automaton.name, max_entries)
            arrays["initial"] = arrays["codes"][int(lrnn.decode[0, 1 + lrnn.columns[i].start + j])]
            if several:
                if (entries := head.code_transitions.size) > max_entries:
                    raise LimitError(
                        f"{automaton.name}: the points before the token have {entries:,} entries, more than "
                        f"{max_entries:,}: raise `max_entries`"
                    )
                arrays["actions"] = head.action_of(np.arange(head.letters))
                arrays["point_of"] = head.point_of
                arrays["point_before"] = numbers[j]
            tensors.update({f"layers.{i}.heads.{j}.{key}": array for key, array in arrays.items()})
        if layer.reads is not None and following is not None:
            tensors[f"layers.{i}.reads"], tensors[f"layers.{i}.next_letter"] = layer.reads, following
    tensors["decode"] = lrnn.decode
    tensors["outputs"], outputs = number_outputs(automaton)
    about = {
        "format": SAFETENSORS_FORMAT,
        "automaton": automaton.name,
        "letters": [label_text(x) for x in automaton.letters],
        "states": [label_text(q) for q in automaton.states],
        "outputs": outputs,
        "start": automaton.start,
        "theorem": lrnn.theorem,
        "construction": lrnn.construction,
        "summary": lrnn.summary(),
    }
    if several:
        about["layer_letters"] = [layer.heads[0].letters for layer in lrnn.layers]
        about["codes_tell_together"] = [i for i, layer in enumerate(lrnn.layers) if layer.after is not None]
    contiguous = {key: np.ascontiguousarray(array) for key, array in tensors.items()}
    # one entry only: the order of several would change from run to run
    metadata = {"mirrormata": json.dumps(about, ensure_ascii=False)}
    write_bytes(path, save(contiguous, metadata))


def head_arrays(head: Head, name: str, max_entries: int) -> dict[str, NDArray[Any]]:
    """A head's arrays by name, see `export_safetensors`; without `initial`."""
    arrays: dict[str, NDArray[Any]] = {}
    try:
        weights = head_weights(head, "fp64")
        arrays["matrices"] = weights.dense(max_entries)
        arrays["codes"] = dense_codes(head, "fp64", max_entries)
    except LimitError as error:
        raise LimitError(f"{name}: {error}") from None
    if weights.additive is not None:
        arrays["additive"] = weights.additive
    if head.householders is None:
        return arrays
    letters, most = len(head.transitions), head.householders
    if letters * most * head.dim > max_entries:
        raise LimitError(
            f"{name}: the factors' vectors have {letters * most * head.dim:,} entries, more than {max_entries:,}: "
            "raise `max_entries`"
        )
    rounding = Rounding(float_format("fp64"))
    beta: Floats = np.zeros((letters, most))
    vectors: Floats = np.zeros((letters, most, head.dim))
    for x, transition in enumerate(head.transitions):
        for k, factor in enumerate(transition.factors):
            beta[x, k] = rounding(factor.beta)
            for i, value in factor.vector:
                vectors[x, k, i] = rounding(value)
    arrays["beta"], arrays["vectors"] = beta, vectors
    if any(factor.mask is not None for t in head.transitions for factor in t.factors):
        arrays["mask"] = np.ones_like(vectors)
        for x, transition in enumerate(head.transitions):
            for k, factor in enumerate(transition.factors):
                if factor.mask is not None:
                    arrays["mask"][x, k] = np.isin(np.arange(head.dim), factor.mask)
    arrays["factor_count"] = np.array([len(t.factors) for t in head.transitions], dtype=np.int64)
    arrays["gate"] = np.array([rounding(t.gate) for t in head.transitions])
    return arrays


def decode_table(automaton: Automaton, states: Indices) -> tuple[Indices, list[str]]:
    """Index of the output for each of the given states reached by each letter `[len(states), letters]`, and texts.

    For a Mealy machine the output belongs to the state before: -1 where the letter does not lead to the state, and
    `InputError` where it leads there from states with different outputs.
    """
    outputs, texts = number_outputs(automaton)
    letters = len(automaton.letters)
    if not automaton.is_mealy:
        return np.repeat(outputs[states][:, None], letters, axis=1), texts
    after = np.full((len(automaton.states), letters), -1, dtype=np.int64)
    for x, image in enumerate(automaton.transitions.tolist()):
        for p, q in enumerate(image):
            output = int(outputs[x, p])
            if after[q, x] not in (-1, output):
                raise InputError(
                    f"{automaton.name}: letter {automaton.letters[x]!r} into state {automaton.states[q]!r} has the "
                    f"outputs {texts[after[q, x]]!r} and {texts[output]!r}, by the state before: a read-out of the "
                    "state after it cannot tell; make it a Moore machine"
                )
            after[q, x] = output
    return after[states], texts


def _json_array(texts: list[str]) -> NDArray[np.str_]:
    return np.array(json.dumps(texts, ensure_ascii=False))
