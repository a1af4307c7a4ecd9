"""`ChainModel`: a chain of sets (own.chain, own.window) on the kernels of the trained layers, its factors computed for all tokens.

Layer by layer, as a trained model runs: the sets before and after each token come from the layers above, the rule makes of
them the layer's keys, values and strengths for all tokens at once, and one call of `delta_product` runs the recurrence. What the
layer holds is read off its outputs: a query of 1, 2, 4, ..., 128 on eight entries makes one whole number of eight bits,
which bfloat16 and float16 carry exactly as well. So the states are those of the exact chain in every dtype.

A factor's key is e_i - e_j for a swap and e_i for a projection, its strength is 1, and 0 for a slot that the token leaves
empty; a projection writes the new entry as its value. With gates a reset is the gate 0 and one factor: key the indicator of the new
set, strength 2^-e and value 2^e.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from ..constructions.chains._chain import ChainRNN, write_exponent
from ..foundation._errors import LimitError
from ..kernels import delta_product

BITS = 8
"""Entries that one output tells: whole numbers to 255 are exact in every dtype of the kernels."""
MAX_KEY = 256
"""Largest key dimension of the kernels."""
PART_ENTRIES = 50_000_000
"""Most entries of a layer's keys at once; longer words are run in parts."""


@dataclass(frozen=True)
class _Actions:
    """What tokens do to one level, as `constructions.chains._rule.LevelLetters`, in tensors `[tokens, ...]`."""

    permutes: Tensor
    images: Tensor
    target: Tensor


class ChainModel(nn.Module):
    """A chain of sets as a model: letters in, the automaton's states out, through `delta_product`.

    Args:
        form: the chain.
        dtype: of keys, values and outputs.
        mode: of the kernel, as `delta_product` takes it.
        backend: likewise.

    Raises:
        LimitError: a layer's key dimension is larger than the kernels have.

    Source: the layer is that of arXiv 2502.10297; its weights are `form.theorem`'s.
    """

    transitions: Tensor
    bits: Tensor
    like: Tensor

    def __init__(
        self, form: ChainRNN, *, dtype: torch.dtype = torch.float32, mode: str = "auto", backend: str = "auto"
    ) -> None:
        super().__init__()
        if form.dim > MAX_KEY:
            raise LimitError(
                f"{form.automaton.name}: a layer has the key dimension {form.dim}, and the kernels have {MAX_KEY} at most"
            )
        self.form, self.dtype, self.mode, self.backend = form, dtype, mode, backend
        self.register_buffer("transitions", torch.from_numpy(np.array(form.automaton.transitions)))
        self.register_buffer("bits", torch.from_numpy(np.array(form.bits)))
        self.register_buffer("like", torch.from_numpy(np.array(form.like)))

    def initial_states(self, batch: int) -> list[Tensor]:
        """The state of each layer before the first token, `[batch, heads, dim, value_dim]` each.

        Args:
            batch: the number of words, at least 1.
        """
        form, device = self.form, self.transitions.device
        first = form.start_states()
        columns = []
        if form.window is not None:
            columns.append(torch.zeros(form.rows, form.bits.shape[1]))
        for u, dim in zip(first.indicators, form.level_dims, strict=True):
            column = torch.zeros(dim, 1)
            column[: u.shape[1], 0] = torch.from_numpy(u[0])
            columns.append(column)
        return [c.to(device).expand(batch, -(-len(c) // BITS), *c.shape).float() for c in columns]

    def forward(self, letters: Tensor, states: Sequence[Tensor] | None = None) -> tuple[Tensor, list[Tensor]]:
        """The automaton's state after each token, and the layers' states after the last.

        Args:
            letters: indices of letters, int `[batch, T]`.
            states: of each layer before the first token; None for those at the start.

        Returns:
            Int `[batch, T]`: the index of the state, -1 where a layer's state is no indicator of the right size; and the states.
        """
        held = self.initial_states(len(letters)) if states is None else list(states)
        widest = max(
            (
                f * d * -(-d // BITS)
                for f, d in zip(self.form.layer_factors, self.form.layer_dims, strict=True)
            )
        )
        size = max(PART_ENTRIES // max(widest * len(letters), 1), 1)
        named = []
        for part in torch.split(letters.long(), size, dim=1):
            answers, held = self._run_part(part, held)
            named.append(answers)
        return torch.cat(named, dim=1) if named else letters.new_zeros(letters.shape), held

    def _run_part(self, letters: Tensor, held: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        form, n = self.form, self.transitions.shape[1]
        x = letters.reshape(-1)
        wrong = torch.zeros_like(x, dtype=torch.bool)
        after: list[Tensor] = []
        layers = iter(held)
        if form.window is None:
            old = new = torch.arange(n, device=x.device).expand(len(x), n)
        else:
            first = next(layers)
            rows, last = self._run_layer(first, *self._register_factors(letters))
            after.append(last)
            earlier = self._read_codes(_shift_tokens(first, rows)) if form.look_back else None
            old, new, wrong = self._top_sets(self._read_codes(rows), x, earlier)
            if form.levels == 0:
                return torch.where(wrong, -1, new[:, 0]).view_as(letters), after
        for i, size in enumerate(form.sizes[1:]):
            acts = self._level_actions(x, old, new, size)
            both = form.keeps_old(i)
            first = next(layers)
            entries, last = self._run_layer(first, *self._level_factors(acts, both, letters.shape))
            after.append(last)
            before = _shift_tokens(first, entries).reshape(len(x), -1) if form.look_back else None
            old, new, broken = self._read_level(i, entries.reshape(len(x), -1), acts, old, new, before)
            wrong = wrong | broken
        return torch.where(wrong, -1, new[:, 0]).view_as(letters), after

    def _read_codes(self, rows: Tensor) -> Tensor:
        """The number that each row of the register writes in binary, `[tokens, rows]`."""
        place = torch.arange(self.bits.shape[1], device=rows.device)
        return (rows.reshape(-1, self.form.rows, len(place)) << place).sum(-1)

    def _run_layer(
        self, held: Tensor, keys: Tensor, values: Tensor, beta: Tensor, gates: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The entries after each token, int `[batch, T, dim, value_dim]`, and the states after the last.

        `keys` `[batch, T, slots, dim]`, `values` `[batch, T, slots, value_dim]`, `beta` `[batch, T, slots]`, `gates` `[batch, T]`.
        """
        batch, length, slots, dim = keys.shape
        heads = held.shape[1]
        powers = torch.zeros(heads, dim, device=keys.device, dtype=self.dtype)
        place = torch.arange(dim, device=keys.device)
        powers[place // BITS, place] = 2.0 ** (place % BITS).to(self.dtype)
        k, v, b = (
            y.reshape(batch, length * slots, 1, *y.shape[3:])
            .expand(-1, -1, heads, *y.shape[3:])
            .to(self.dtype)
            .contiguous()
            for y in (keys, values, beta)
        )
        q = powers.expand(batch, length, heads, dim).contiguous()
        a = None if gates is None else gates[..., None].expand(-1, -1, heads).to(self.dtype).contiguous()
        outputs, last = delta_product(
            q, k, v, b, a=a, householders=slots, initial_state=held.contiguous(), output_final_state=True, scale=1.0,
            mode=self.mode, backend=self.backend,
        )  # fmt: skip
        whole = outputs.float().round().long()  # [batch, T, heads, value_dim]
        wrong = (outputs.float() != whole) | (whole < 0) | (whole >= 2**BITS)
        whole = torch.where(wrong, -1, whole)[:, :, place // BITS]
        entries = torch.where(whole < 0, -1, (whole >> (place % BITS)[:, None]) & 1)
        return entries, last

    def _register_factors(self, letters: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Erase the oldest row and write the letter there; then swap it to the front."""
        rows = self.form.rows
        bits = self.bits[letters]
        keys = torch.zeros(rows, rows, device=letters.device)
        keys[0, rows - 1] = 1
        for slot, j in enumerate(reversed(range(rows - 1)), start=1):
            keys[slot, j], keys[slot, j + 1] = 1, -1
        values = torch.zeros(*letters.shape, rows, bits.shape[-1], device=letters.device)
        values[:, :, 0] = bits
        moves = bits.any(-1, keepdim=True).float().expand(-1, -1, rows)
        return keys.expand(*letters.shape, rows, rows), values, moves

    def _level_factors(self, acts: _Actions, both: bool, shape: torch.Size) -> tuple[Tensor, ...]:
        """Keys, values and strengths, and with gates those too, as `_run_layer` takes them."""
        tokens, p = acts.images.shape
        device = acts.images.device
        dim = 2 * p if both else p
        slots = dim if self.form.resets and not self.form.gated else max(dim - 1, 1)
        keys = torch.zeros(tokens, slots, dim, device=device)
        values = torch.zeros(tokens, slots, 1, device=device)
        beta = torch.zeros(tokens, slots, device=device)
        # swaps of the tokens that permute, in two rounds; within a round they do not meet
        partners = torch.stack(_split_permutations(acts.images), dim=1)  # [tokens, 2, p]
        points = torch.arange(p, device=device)
        swapped = (points < partners) & acts.permutes[:, None, None]
        slot = (swapped.reshape(tokens, -1).cumsum(1) - 1).view_as(partners)
        token, _, i = at = swapped.nonzero(as_tuple=True)
        keys[token, slot[at], i] = 1
        keys[token, slot[at], partners[at]] = -1
        beta[token, slot[at]] = 1
        # a reset erases and writes each entry, and then exchanges the halves
        resets = (~acts.permutes).nonzero()[:, 0]
        if self.form.gated:
            # gate 0, and one factor with key z, the new indicator: β·2^e = 1 is written to its members
            target = acts.target[resets].float()
            powers = torch.tensor([2.0 ** write_exponent(max(c, 1)) for c in range(p + 1)], device=device)
            power = powers[target.sum(1).long()]
            keys[resets, 0], values[resets, 0, 0], beta[resets, 0] = target, power, 1 / power
        elif len(resets):
            row, j = resets[:, None], points
            keys[row, j, j + (p if both else 0)] = 1
            values[row, j, 0] = acts.target[resets].float()
            beta[row, j] = 1
            if both:
                keys[row, p + j, j], keys[row, p + j, p + j] = 1, -1
                beta[row, p + j] = 1
        factors = keys.view(*shape, slots, dim), values.view(*shape, slots, 1), beta.view(*shape, slots)
        return (*factors, acts.permutes.float().view(shape)) if self.form.gated else factors

    def _top_sets(self, code: Tensor, x: Tensor, earlier: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """The first level's sets before and after each token, and where the register holds no letters.

        `code` is the register after each token, `earlier` that before it, given with look-back alone.
        """
        form = self.form
        own = (self.bits << torch.arange(self.bits.shape[1], device=x.device)).sum(1)
        letter_of = torch.full((2 ** self.bits.shape[1],), -1, device=x.device)
        moving = own.nonzero()[:, 0]
        letter_of[own[moving]] = self.like[moving]
        broken = (code < 0) | (code >= len(letter_of))
        letters = letter_of[torch.where(broken, 0, code)]
        moves = own[x] > 0
        wrong = (
            broken.any(1) | ((code > 0) & (letters < 0)).any(1) | (moves & (letters[:, 0] != self.like[x]))
        )
        assert form.window is not None
        new = self._window_states(letters[:, : form.window])
        if form.levels == 0:
            state = new.int().argmax(1, keepdim=True)
            return state, state, wrong
        if earlier is not None:
            before = letter_of[earlier.clamp(0, len(letter_of) - 1)]
        else:
            before = torch.where(moves[:, None], letters[:, 1:], letters[:, :-1])
        old = self._window_states(before)
        wrong = wrong | (new.sum(1) > form.sizes[0]) | (old.sum(1) > form.sizes[0])
        return self._fill(old), self._fill(new), wrong

    def _window_states(self, seen: Tensor) -> Tensor:
        n = self.transitions.shape[1]
        points = torch.arange(n, device=seen.device)
        rows = torch.cat([self.transitions, points[None]])  # letter -1 is the identity
        full = (seen >= 0).all(1, keepdim=True)
        images = torch.where(full, points, self.form.automaton.start)
        for letter in seen.T.flip(0):
            images = rows[letter[:, None], images]
        return torch.zeros(len(seen), n, dtype=torch.bool, device=seen.device).scatter_(1, images, True)

    def _fill(self, states: Tensor) -> Tensor:
        """Members in ascending order, states and then phantoms."""
        size, (count, n) = self.form.sizes[0], states.shape
        states = states & (states.cumsum(1) <= size)
        phantoms = torch.arange(size, device=states.device) < (size - states.sum(1, keepdim=True))
        every = torch.arange(n + size, device=states.device).expand(count, -1)
        return every[torch.cat([states, phantoms], dim=1)].view(count, size)

    def _level_actions(self, x: Tensor, old: Tensor, new: Tensor, size: int) -> _Actions:
        """`level_letters` of the rule, in tensors."""
        n, (tokens, p) = self.transitions.shape[1], old.shape
        points = torch.arange(p, device=x.device)
        real = old < n
        place = torch.zeros(tokens, n + p, dtype=torch.long, device=x.device).scatter_(
            1, new, points.expand(tokens, p)
        )
        images = place.gather(1, self.transitions[x[:, None], old.clamp(max=n - 1)])
        hit = torch.zeros(tokens, p + 1, dtype=torch.bool, device=x.device)
        hit = hit.scatter_(1, torch.where(real, images, p), True)[:, :p]
        count = hit.sum(1)
        permutes = count == real.sum(1)
        target = hit | ((~hit).cumsum(1) <= (size - count)[:, None])
        left = hit.int().argsort(dim=1, stable=True)
        number = (points - real.sum(1, keepdim=True)).clamp(min=0)
        images = torch.where(real, images, left.gather(1, number))
        return _Actions(permutes, torch.where(permutes[:, None], images, points), target)

    def _read_level(
        self, level: int, entries: Tensor, acts: _Actions, old: Tensor, new: Tensor, before: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The next level's sets before and after the token, from the layer's entries after it, and with look-back before it."""
        p, size = acts.images.shape[1], self.form.sizes[level + 1]
        wrong = (entries < 0).any(1)
        after = entries[:, :p] == 1
        back = after.gather(1, acts.images)
        if before is not None:
            back = before == 1
        elif self.form.keeps_old(level):
            back = torch.where(acts.permutes[:, None], back, entries[:, p:] == 1)
        elif level == self.form.levels - 1:
            back = after
        for indicator in (back, after):
            wrong = wrong | (indicator.sum(1) != size)
        return _members(old, back, size), _members(new, after, size), wrong


def _shift_tokens(held: Tensor, entries: Tensor) -> Tensor:
    """The entries before each token: those held before the first one, `[batch, heads, dim, value_dim]`, then those after the others.

    `entries` `[batch, T, dim, value_dim]`. The heads hold the same, so the first is taken.
    """
    return torch.cat([held[:, :1].round().to(entries.dtype), entries[:, :-1]], dim=1)


def _members(sets: Tensor, indicator: Tensor, size: int) -> Tensor:
    right = indicator.sum(1, keepdim=True) == size
    chosen = torch.where(right, indicator, torch.arange(indicator.shape[1], device=sets.device) < size)
    return sets[chosen].view(len(sets), size)


def _split_permutations(images: Tensor) -> tuple[Tensor, Tensor]:
    """`split_permutations` of the rule, in tensors: two involutions, the first applied first."""
    tokens, p = images.shape
    points = torch.arange(p, device=images.device).expand(tokens, p)
    least, power = points, images
    for _ in range(max(p - 1, 1).bit_length()):
        least = torch.minimum(least, least.gather(1, power))
        power = power.gather(1, power)
    back = torch.empty_like(images).scatter_(1, images, points)
    step = torch.where(least == points, points, back)
    rank = (least != points).long()
    for _ in range(max(p - 1, 1).bit_length()):
        rank = rank + rank.gather(1, step)
        step = step.gather(1, step)
    order = (least * p + rank).argsort(dim=1)
    position = torch.empty_like(order).scatter_(1, order, points)
    first = position.gather(1, least)
    length = rank.gather(1, back).gather(1, least) + 1
    return order.gather(1, first + (-rank) % length), order.gather(1, first + (1 - rank) % length)
