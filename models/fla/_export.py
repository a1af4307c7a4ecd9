"""An exact LRNN of one layer as a checkpoint of FLA's `DeltaNet` (n_h = 1) or `GatedDeltaProduct` language model.

The layers (`flash-linear-attention` 0.6: `fla/layers/delta_net.py`, `gated_deltaproduct.py`) compute, without short
convolution, output gate and forget gate, x the normed embedding of the token:
k = SiLU(W_k x)/‖·‖, v = SiLU(W_v x), β = 2σ(W_b x), S ← (I - β k kᵀ) S + β k vᵀ, o = RMSNorm(qᵀS/√K), W_o o
is added to the stream, an MLP and a last RMSNorm follow, and S is 0 in the beginning.

Embeddings are one-hot. D, the width, is a power of 4, so that RMSNorm makes of 8√D e_x just √D e_x. β is 2 because σ(128)
is 1, and 1 because σ(0) is 1/2. The forget gate exp(-softplus(±128)) is 0 or 1. A token BOS, of β = 1, writes the initial state. Head i reads row i. What is
written is so small that the output norm's ε decides: it multiplies by 1/√ε, alike for all rows. The last norm is one
factor for all logits. The MLP is 0. The logit of a class is linear in the rows; its constant comes from the embedding,
which has the same entry for every token. (theory: into real layers)

A construction's head takes a `Place` among the layer's heads; letters and BOS write there; `horizon_of` says how long float32
tells its states apart. Its unit keys are such that SiLU and the L2 norm compute them exactly: mirrors as ±1/2, written columns as
integers over a power of 2.

A key e_i - e_j has the length √2, which no binary format holds. So a coordinate i that takes part in swaps is stored
twice, as u_i = e_{2i} + e_{2i+1}: the mirror (u_i - u_j)/2 has the length 1 and entries ±1/2, and exchanges u_i and u_j.
A column to be written gets further coordinates that complete the sum of its squares to a power of 4; nothing reads them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from ...constructions._head import Head
from ...constructions._lrnn import LRNN
from ...constructions._realisation import Transition
from ...constructions.algebra._householder import GHFactor
from ...constructions.automata._labels import label_text
from ...foundation._errors import InputError, LimitError
from ...theory._realisations import RealisationLike, realisation_of, table_from
from ...theory.arithmetic._rounding import Floats, float_format, round_array, round_number
from ...theory.running._weights import dense_codes
from ._model import FlaModel
from ._sizes import ratio_of
from ._task import FlaTask

SCALE = 32
"""SiLU(x) = x in float32 from x = 32, and 1e-6 is nothing beside the squares: keys without a sign are scaled by it."""
LEAST = -0.25
"""The least of SiLU's images, for entries of different sizes: a little above its minimum."""
LARGEST = 256
"""Whole numbers to this one are exact in bf16."""
_FORMATS = (torch.bfloat16, torch.float16)


def silu_preimage(y: float) -> float:
    """The x with x·σ(x) = y, by bisection in float64; y >= -.278, and x beyond SiLU's minimum at -1.278."""
    low, high = (-1.278, 0.0) if y < 0 else (0.0, y + 2)
    while True:
        middle = (low + high) / 2
        if middle in {low, high}:
            return middle
        if middle / (1 + np.exp(-middle)) < y:
            low = middle
        else:
            high = middle


@cache
def silu_pair() -> tuple[float, float]:
    """x > 0 > z with SiLU(x) = -SiLU(z) in float32 to its last bits, and exactly in bf16 and fp16 after rounding x and z.

    SiLU is nowhere below -.2785. Among the z of 8 bits near that minimum, the one whose images lie furthest from where
    a rounding changes, so that an exponential with an error of some last bits does no harm.
    """
    best, found = 0.0, None
    for step in range(128, 225):
        z = -step / 128
        x = silu_preimage(float(z / -(1 + np.exp(-z))))
        margins = []
        for dtype in _FORMATS:
            images = [float(F.silu(torch.tensor(y, dtype=dtype).double())) for y in (x, z)]
            rounded = [abs(float(torch.tensor(y, dtype=dtype))) for y in images]
            ulp = 2.0 ** (-2 - (7 if dtype == torch.bfloat16 else 10))
            equal = rounded[0] == rounded[1]
            margins += [(0.5 - abs(abs(y) - r) / ulp) * equal for y, r in zip(images, rounded, strict=True)]
        if min(margins) > best:
            best, found = min(margins), (x, z)
    assert found is not None
    return found


def key_input(key: Floats) -> Floats:
    """What is projected so that SiLU and the norm give ±key/‖key‖: `[K]` to `[K]`.

    Keys of one size get just that in bf16 and fp16; others what SiLU makes of float32 numbers, the sign chosen so that the
    negative entries, which SiLU keeps small, are the smaller ones.
    """
    if (key >= 0).all():
        return np.array([y if y == 0 or y >= SCALE else silu_preimage(y) for y in (key * SCALE).tolist()])
    if len(set(np.abs(key[key != 0]))) == 1:
        x, z = silu_pair()
        return np.where(key > 0, x, np.where(key < 0, z, 0.0))
    key = key if key.max() >= -key.min() else -key
    return np.array([silu_preimage(y) if y else 0.0 for y in (key * LEAST / key.min()).tolist()])


def key_length(key: Floats) -> float:
    """‖·‖² of what SiLU makes of `key_input`, beside which the norm's ε stands."""
    x = key_input(key)
    with np.errstate(over="ignore"):
        return float(((x / (1 + np.exp(-x))) ** 2).sum())


def complete_squares(column: Floats, where: int, name: str) -> Floats:
    """The integers `[n]` >= 0 with as many further ones as make the sum of squares a power of 4.

    `where`: the coordinate of the first of those. `InputError` for entries beyond `LARGEST`.
    """
    total, power = round(float(column @ column)), 1
    while power < total:
        power *= 4
    further = four_squares(power - total)
    if max(*column, *further, 0) > LARGEST:
        raise InputError(f"{name}: its initial state has entries beyond {LARGEST}, which bf16 does not hold")
    return np.concatenate([column, np.zeros(where - len(column)), np.array(further, dtype=np.float64)])


def four_squares(n: int) -> tuple[int, ...]:
    """Positive integers, at most four, whose squares add up to n (Lagrange); the fewest."""
    for count in range(5):
        if (found := _squares(n, count, int(n**0.5) + 1)) is not None:
            return found
    raise AssertionError(n)


def _squares(n: int, count: int, largest: int) -> tuple[int, ...] | None:
    if count == 0:
        return () if n == 0 else None
    for first in range(min(largest, int(n**0.5) + 1), 0, -1):
        if first * first <= n and (rest := _squares(n - first * first, count - 1, first)) is not None:
            return (first, *rest)
    return None


EPS = 1e-6
"""The ε of FLA's norms, as their configurations have it."""


@dataclass(frozen=True, eq=False)
class Write:
    """One factor of a token: the key `[<= K]` (not normed), β‖k‖² (above 0, at most 2), and the row `[value_dim]` that it writes.

    The key of length 1 writes `row` times the key's length, so a factor of strength 1 on a state of 0 gives key·rowᵀ.
    """

    key: Floats
    strength: float
    row: Floats


@dataclass(frozen=True, eq=False)
class Place:
    """A head of the construction within the heads of the layer: as many of them as it has rows, from `first`.

    Each coordinate is stored `copies` times. `letters`: the factors of each transition, in order; `gates`: of each
    transition, 0 or 1. `start`: what BOS writes. `exact`: all unit keys and strengths are numbers of bf16 and fp16.
    `size`: the coordinates in use.
    """

    head: Head
    first: int
    copies: int
    letters: tuple[tuple[Write, ...], ...]
    gates: tuple[int, ...]
    start: tuple[Write, ...]
    exact: bool
    size: int

    @property
    def factors(self) -> int:
        """Factors that the layer must have."""
        return max(len(writes) for writes in (*self.letters, self.start))


def place_of(head: Head, start: int, first: int, name: str, instead: str) -> Place:
    """The place of a head that begins in the code `start`; `InputError` for what has no exact form in FLA's layer.

    `instead`: advice with which the refusal of letters that are no products of GH factors ends.
    """
    factors = [f for t in head.transitions for f in t.factors]
    if head.householders is None or any(f.mask is not None for f in factors):
        raise InputError(
            f"{name}: a letter is not a product of GH factors, which FLA's layers are made of; {instead}"
        )
    if wrong := [str(t.gate) for t in head.transitions if t.gate not in (0, 1)]:
        raise InputError(
            f"{name}: a letter has the gate {wrong[0]}; FLA's forget gate is exact only where it is 0 or 1"
        )
    if any(not 0 <= strength_of(f) <= 2 for f in factors):
        raise InputError(f"{name}: a factor has β‖v‖² outside [0, 2], where 2σ does not reach")
    exact = all(is_exact(f) for f in factors)
    copies = 2 if exact and any(len(f.vector) == 2 for f in factors if f.beta != 0) else 1
    initial = dense_codes(head, "fp64")[start]
    if (initial != np.round(initial)).any():
        raise InputError(f"{name}: its initial state is no matrix of whole numbers, as BOS writes them")
    written = _start(np.repeat(initial, copies, 0), name)
    return Place(
        head, first, copies,
        tuple(_letter(t, head, copies, name) for t in head.transitions),
        tuple(int(t.gate == 1) for t in head.transitions),
        written, exact, max(head.dim * copies, *(len(w.key) for w in written)),
    )  # fmt: skip


def strength_of(factor: GHFactor) -> float:
    """β‖v‖², exactly, then rounded."""
    return round_number(factor.beta * factor.norm_squared, "fp64")


def is_exact(factor: GHFactor) -> bool:
    """Whether β‖v‖² is 0, 1 or 2 and v is ±e_i or ±e_i ± e_j: then the mirror has an exact form."""
    plain = len(factor.vector) in {1, 2} and all(x in {1, -1} for _, x in factor.vector)
    return factor.beta == 0 or (plain and factor.beta * len(factor.vector) in {1, 2})


def _start(initial: Floats, name: str) -> tuple[Write, ...]:
    """Column by column where these are orthogonal and without signs, else row by row, each key completed."""
    gram = initial.T @ initial
    if (initial >= 0).all() and (gram == np.diag(np.diag(gram))).all():
        parts = list(zip(initial.T, np.eye(initial.shape[1]), strict=True))
    else:
        parts = [(e, row) for e, row in zip(np.eye(len(initial)), initial, strict=True) if row.any()]
    writes, size = [], len(initial)
    for key, row in parts:
        writes.append(Write(complete_squares(key, size, name), 1, row))
        size = max(size, len(writes[-1].key))
    return tuple(writes)


def _letter(transition: Transition, head: Head, copies: int, name: str) -> tuple[Write, ...]:
    """The factors on the stored copies, and what each of them must write so that B is added.

    The mirror along e_i, stored twice, is the product of the two mirrors along its copies, and so is the projection.
    """
    n = head.dim * copies
    keys: list[Floats] = []
    strengths: list[float] = []
    for factor in transition.factors:
        strength = strength_of(factor)
        if strength == 0:
            continue
        key = np.zeros(head.dim)
        for i, value in factor.vector:
            key[i] = round_number(value, "fp64")
        if not is_exact(factor):
            key /= np.linalg.norm(key)
        single = len(factor.vector) == 1 and copies == 2
        stored = np.repeat(key, copies)
        keys += [stored * (np.arange(n) == i) for i in np.flatnonzero(stored)] if single else [stored]
        strengths += [strength] * (2 if single else 1)
    B = np.zeros((head.dim, head.value_dim))
    for i, j, value in transition.additive:
        B[i, j] = round_number(value, "fp64")
    B = np.repeat(B, copies, 0)
    if transition.gate == 0 and B.any():
        keys = [e for e, row in zip(np.eye(n), B, strict=True) if row.any()]
        strengths = [1.0] * len(keys)
    rows = np.zeros((len(keys), head.value_dim))
    if B.any():
        rows = _rows(keys, strengths, B, name)
    return tuple(Write(*parts) for parts in zip(keys, strengths, rows, strict=True))


def _rows(keys: list[Floats], strengths: list[float], B: Floats, name: str) -> Floats:
    """W with Σ_j s_j (C_m ... C_{j+1}) (k_j/‖k_j‖²) W_jᵀ = B; C_j the factors, k_jW_jᵀ what one writes on nothing."""
    after, directions = np.eye(len(B)), []
    for key, strength in reversed(list(zip(keys, strengths, strict=True))):
        directions.append(strength * after @ key)
        after = after @ (np.eye(len(B)) - strength * np.outer(key, key) / (key @ key))
    span = np.array(directions[::-1]).T.reshape(len(B), len(keys))
    rows = np.round(256 * np.linalg.lstsq(span, B, rcond=None)[0]) / 256
    if (span @ rows != B).any() or (np.abs(rows) > LARGEST).any():
        raise InputError(
            f"{name}: a letter adds to the state what none of its own factors can write, and FLA's layer has no other "
            "additive path"
        )
    return rows


def horizon_of(places: list[Place], factors: int, roundoff: float) -> int | None:
    """Tokens until the errors of all factors, 2(1 - ‖k‖²) and 16 roundoffs each, may add up to half the margin.

    The other half is for the read-out. An estimate on the safe side, not a certificate. `roundoff`: of keys, 2^-24 in float32.
    None where no head has two codes, which nothing confuses.
    """
    least = []
    for p in places:
        length = min((key_length(w.key) for writes in p.letters for w in writes), default=float(SCALE**2))
        error = 2 * EPS / (length + EPS) + 16 * roundoff
        codes = dense_codes(p.head, "fp64").reshape(len(p.head.codes), -1)
        nearest = [np.linalg.norm(codes[:i] - codes[i], axis=1).min() for i in range(1, len(codes))]
        if nearest:
            size = np.linalg.norm(codes, axis=1).max()
            least.append(float(min(nearest)) / 4 / (error * size * factors))
    return int(min(least)) if least else None


MAX_ENTRIES = 50_000_000
"""Largest number of weights in one array of a checkpoint."""
ROUNDOFF = {"fp32": 2.0**-24, "bf16": 2.0**-9, "fp16": 2.0**-12}
"""The relative error of a rounding to each dtype."""
SATURATED = 128.0
"""σ(±128) is 1 and 0 in float32, so in float16 and bfloat16."""
STATE_BITS = 20
"""Bits of the entries of all codes: float32 has 24, which leaves 4 to the sums within a factor."""


@dataclass(frozen=True, eq=False)
class FlaCheckpoint:
    """A construction as a checkpoint of FLA; the model answers every token with that of a state.

    Attributes:
        config: for `config.json`.
        tensors: float32 arrays by FLA's names.
        task: the meaning of the tokens.
        horizons: for each dtype the number of tokens that are safe, an estimate; None for any number, since there is one code, or
            since normed keys that are rounded to the dtype are exact, so are the values that are written and the float32 state,
            and the read-out of every code is right; 0: one is read wrongly. Keys that are normed in float32 are shorter than 1 by FLA's ε: in
            fp32, and in `GatedDeltaProduct`'s recurrent kernel, where the horizon of fp32 is that of every exact dtype.
        left_out: the files beside the checkpoint that a model was imported from, such as those of a tokenizer; they are not written.
    """

    config: dict[str, Any]
    tensors: dict[str, Floats]
    task: FlaTask
    horizons: dict[str, int | None]
    left_out: tuple[str, ...] = ()


def fla_checkpoint(lrnn: RealisationLike, *, max_entries: int = MAX_ENTRIES) -> FlaCheckpoint:
    """Export a construction; what the checkpoint computes is exact in bf16 and fp16 where its keys are ±e_i or ±e_i ± e_j: see
    `horizons`.

    Args:
        lrnn: a construction of one layer, its certificate, or the path of one.
        max_entries: the largest number of weights in one array.

    Returns:
        The checkpoint; `save_fla` writes it.

    Raises:
        InputError: it has no form there: several layers, gates other than 0 and 1, additive terms that no factor of their
            letter can write, β‖v‖² outside [0, 2], or an initial state that is not of whole numbers.
        LimitError: an array has more than `max_entries` weights.

    Examples:
        >>> from mirrormata import construct
        >>> fla_checkpoint(construct("parity")).config["model_type"]
        'delta_net'
    """
    lrnn = realisation_of(lrnn, "lrnn")
    if lrnn.automaton.is_permutation:
        instead = "construct it with `theorem` G.T3"
    else:
        instead = (
            "construct it with `max_layers` 1, and where that is refused, `export model` takes several layers"
        )
    lrnn = table_from(lrnn, "lrnn", instead)
    name = lrnn.automaton.name
    if lrnn.is_layered:
        raise InputError(
            f"{name}: {lrnn.depth} layers: only one is exported to FLA, whose next layer would need a table of codes "
            f"for its MLP; {instead}"
        )
    places: list[Place] = []
    starts = lrnn.decode[0, 1:].tolist()
    for head, start in zip(lrnn.layers[0].heads, starts, strict=True):
        first = places[-1].first + places[-1].head.dim if places else 0
        places.append(place_of(head, start, first, name, instead))
    letters, heads = len(lrnn.automaton.letters), sum(p.head.dim for p in places)
    factors = max(1, *(p.factors for p in places))
    gated = any(0 in p.gates for p in places)
    K = max(16, 2 ** math.ceil(math.log2(max(p.size for p in places))))
    V = max(16, 2 ** math.ceil(math.log2(max(p.head.value_dim for p in places))))
    outputs = sum(p.head.dim * p.head.value_dim for p in places)
    D = 4 ** ((letters + outputs).bit_length() + 1 >> 1)  # the least power of 4 from letters + 1 + outputs on
    vocabulary = letters + 1 + len(lrnn.decode)
    largest = max(D * factors * heads * max(K, V), D * vocabulary)
    if largest > max_entries:
        raise LimitError(
            f"{name}: an array of the checkpoint has {largest:,} weights, more than {max_entries:,}: raise `max_entries`"
        )
    tensors = _mixer(places, letters, factors, heads, K, V, D, gated)
    tensors |= _around(lrnn, places, letters, D, vocabulary)
    tokens: dict[int, list[int]] = {}  # a state has a token for each of its codes
    for i, q in enumerate(lrnn.decode[:, 0].tolist()):
        tokens.setdefault(q, []).append(letters + 1 + i)
    task = FlaTask(
        {label_text(x): i for i, x in enumerate(lrnn.automaton.letters)},
        {
            label_text(lrnn.automaton.states[q]): codes[0] if len(codes) == 1 else codes
            for q, codes in tokens.items()
        },
        letters,
    )
    config = _config(letters, factors, heads, K, V, D, vocabulary, gated)
    tensors = {k: v.astype(np.float32) for k, v in tensors.items()}
    horizons: dict[str, int | None] = {}
    for dtype, roundoff in ROUNDOFF.items():
        model = FlaModel(config, tensors, dtype=dtype)
        if not _reads(model, places, lrnn, letters):
            horizons[dtype] = 0
        elif dtype != "fp32" and all(p.exact and _writes_exactly(p, _unit(p, K, V), dtype) for p in places):
            horizons[dtype] = None
        else:
            horizons[dtype] = horizon_of(places, factors, roundoff)
    return FlaCheckpoint(config, tensors, task, horizons)


def _writes_exactly(place: Place, unit: float, dtype: str) -> bool:
    """Whether the values that letters and BOS write are numbers of the dtype, and the float32 state holds all codes."""
    writes = [w for token in (*place.letters, place.start) for w in token]
    values = np.concatenate([np.zeros(1), *(_values(w, unit) for w in writes)])
    fmt = float_format(dtype)
    x = round_array(np.array([silu_preimage(y) for y in values.tolist()]), fmt)
    codes = dense_codes(place.head, "fp64")
    scaled = codes * 2.0 ** (STATE_BITS - math.frexp(float(np.abs(codes).max()))[1])
    return bool(
        (round_array(x / (1 + np.exp(-x)), fmt) == values).all() and (scaled == np.round(scaled)).all()
    )


def _reads(model: FlaModel, places: list[Place], lrnn: LRNN, letters: int, piece: int = 256) -> bool:
    """Whether the model answers rightly where its state is a code; all letters have the same part in the answer."""
    _, heads, K, V = model.heads_of(model.initial(1))[0].shape
    for first in range(0, len(lrnn.decode), piece):
        rows = lrnn.decode[first : first + piece]
        H = np.zeros((len(rows), heads, K, V))
        for h, p in enumerate(places):
            code = np.repeat(dense_codes(p.head, "fp64")[rows[:, 1 + h]], p.copies, 1) * _unit(p, K, V)
            H[:, p.first : p.first + p.head.dim, : code.shape[1], : code.shape[2]] = code[:, None]
        answers = model.read(H, np.zeros(len(rows), dtype=np.int64))
        if (answers != letters + 1 + first + np.arange(len(rows))).any():
            return False
    return True


def _values(write: Write, unit: float) -> Floats:
    """What W_v makes of a token after SiLU, `[value_dim]`."""
    values: Floats = write.row * unit * np.linalg.norm(write.key)
    return values


def _unit(place: Place, K: int, V: int) -> float:
    """What stands for 1 in the state: a power of 2 so small that the output norm is linear to 0.2 %."""
    most = np.linalg.norm(dense_codes(place.head, "fp64"), axis=2).max()
    return float(2.0 ** math.floor(math.log2(EPS**0.5 / 16 * (V * K) ** 0.5 / max(most, 1e-9))))


def _logit(strength: float) -> float:
    """z with 2σ(z) = strength."""
    return SATURATED if abs(strength - 2) < 1e-12 else math.log(strength / (2 - strength))


def _mixer(
    places: list[Place], letters: int, factors: int, heads: int, K: int, V: int, D: int, gated: bool
) -> dict[str, Floats]:
    """The layer's projections; a projection's column x is what it makes of token x, over √D."""
    q, k = np.zeros((heads, K, D)), np.zeros((factors, heads, K, D))
    v, z = np.zeros((factors, heads, V, D)), np.full((factors, heads, D), -SATURATED)
    a, o = np.full((heads, D), -SATURATED), np.zeros((D, heads, V))
    bos, coordinate = letters, letters + 1
    for p in places:
        rows, unit = slice(p.first, p.first + p.head.dim), _unit(p, K, V)
        tokens = [(x, p.letters[t]) for x, t in enumerate(p.head.action_of(np.arange(letters)).tolist())]
        for x, writes in [*tokens, (bos, p.start)]:
            for j, write in enumerate(writes):
                value = [silu_preimage(y) for y in _values(write, unit).tolist()]
                k[j, rows, : len(write.key), x] = key_input(write.key)
                v[j, rows, : len(value), x] = value
                z[j, rows, x] = _logit(write.strength)
        for x, t in enumerate(p.head.action_of(np.arange(letters)).tolist()):
            a[rows, x] = -SATURATED if p.gates[t] else SATURATED
        for i in range(p.head.dim):
            q[p.first + i, i * p.copies, : letters + 1] = SCALE
            for j in range(p.head.value_dim):
                o[coordinate + i * p.head.value_dim + j, p.first + i, j] = (K * EPS) ** 0.5 / unit
        coordinate += p.head.dim * p.head.value_dim
    prefix = "model.layers.0.attn."
    gate = {"a_proj.weight": a / D**0.5, "A_log": np.zeros(heads), "dt_bias": np.zeros(heads)}
    return {
        prefix + "q_proj.weight": q.reshape(-1, D) / D**0.5,
        prefix + "k_proj.weight": k.reshape(-1, D) / D**0.5,
        prefix + "v_proj.weight": v.reshape(-1, D) / D**0.5,
        prefix + "b_proj.weight": z.reshape(-1, D) / D**0.5,
        prefix + "o_norm.weight": np.ones(V),
        prefix + "o_proj.weight": o.reshape(D, -1),
    } | ({prefix + name: value for name, value in gate.items()} if gated else {})


MLP_WIDTH = 16
"""Hidden width of the MLP, whose weights are all 0."""


def _around(lrnn: LRNN, places: list[Place], letters: int, D: int, vocabulary: int) -> dict[str, Floats]:
    """Embedding, norms, MLP and the logits: of class c, (c - m)·h - (‖c‖² - ‖m‖²)/2, m the mean of the codes c."""
    embedding = np.zeros((vocabulary, D))
    entry = 8 * D**0.5
    embedding[range(letters + 1), range(letters + 1)] = entry
    codes = np.concatenate([
        dense_codes(p.head, "fp64")[lrnn.decode[:, 1 + h]].reshape(len(lrnn.decode), -1) for h, p in enumerate(places)
    ], 1)  # fmt: skip
    mean = codes.mean(0)
    logits = np.zeros((vocabulary, D))
    logits[: letters + 1, : letters + 1] = -2 * (codes * codes).sum(1).max() / entry
    logits[letters + 1 :, letters + 1 : letters + 1 + codes.shape[1]] = codes - mean
    constants = -((codes * codes).sum(1) - mean @ mean) / 2
    logits[letters + 1 :, : letters + 1] = constants[:, None] / entry
    block = "model.layers.0."
    return {
        "model.embeddings.weight": embedding,
        block + "attn_norm.weight": np.ones(D),
        block + "mlp_norm.weight": np.ones(D),
        block + "mlp.gate_proj.weight": np.zeros((MLP_WIDTH, D)),
        block + "mlp.up_proj.weight": np.zeros((MLP_WIDTH, D)),
        block + "mlp.down_proj.weight": np.zeros((D, MLP_WIDTH)),
        "model.norm.weight": np.ones(D),
        "lm_head.weight": logits,
    }


def _config(
    letters: int, factors: int, heads: int, K: int, V: int, D: int, vocabulary: int, gated: bool
) -> dict[str, Any]:
    config: dict[str, Any] = {
        "dtype": "float32", "attn_mode": "chunk", "hidden_size": D, "num_heads": heads,
        "num_hidden_layers": 1, "intermediate_size": MLP_WIDTH, "hidden_act": "swish", "norm_eps": EPS,
        "use_short_conv": False, "allow_neg_eigval": True, "vocab_size": vocabulary, "tie_word_embeddings": False,
        "bos_token_id": letters, "eos_token_id": None, "pad_token_id": None,
    }  # fmt: skip
    if factors == 1 and not gated:
        return config | {
            "architectures": ["DeltaNetForCausalLM"], "model_type": "delta_net", "expand_k": ratio_of(heads * K, D),
            "expand_v": ratio_of(heads * V, D), "use_gate": False, "use_beta": True, "qk_norm": "l2", "qk_activation": "silu",
        }  # fmt: skip
    return config | {
        "architectures": ["GatedDeltaProductForCausalLM"], "model_type": "gated_deltaproduct", "head_dim": K,
        "expand_v": ratio_of(V, K), "use_output_gate": False, "use_forget_gate": gated, "num_householder": factors,
    }  # fmt: skip
