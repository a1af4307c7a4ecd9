"""`WeightsAudit`: what was measured of a model's transitions, as a short table, as tables in detail, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isinf
from typing import Any, Literal, TypeAlias

from ...foundation._text import count_noun, html_table, one_line
from ._facts import NEAR_REFLECTION, TOLERANCE, AuditedPart, ProductFacts, Spread

Kind: TypeAlias = Literal["factors", "diagonal", "matrix"]
MOST_HEADS = 64
"""Heads of a layer that tables list; JSON has all."""


@dataclass(frozen=True)
class AuditSettings:
    """How products, memory and what lasts were measured.

    Attributes:
        products: the numbers n of tokens of products.
        left_out: numbers of tokens that were asked for and are more than half a window.
        starts: at about how many tokens products begin.
        horizon: the largest number of tokens of a product whose norm was looked at.
        lasting: the half-life in tokens from which on an eigenvalue counts as lasting.
    """

    products: tuple[int, ...]
    left_out: tuple[int, ...]
    starts: int
    horizon: int
    lasting: float


@dataclass(frozen=True, eq=False)
class AuditedLayer:
    """What was measured of one layer.

    Attributes:
        number: its number, from 1.
        kind: whether transitions are products of `factors`, `diagonal`, or any `matrix`.
        factors: the number of generalized Householder factors of a token; 0 where there are none.
        dim: the dimension of a head.
        all: all heads together, over all tokens.
        heads: each head by itself.
        classes: the tokens of each class that occurs, in all heads.
    """

    number: int
    kind: Kind
    factors: int
    dim: int
    all: AuditedPart
    heads: tuple[AuditedPart, ...]
    classes: Mapping[str, AuditedPart]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values for JSON.

        Returns:
            The fields by name.
        """
        return {
            "layer": self.number,
            "kind": self.kind,
            "factors": self.factors,
            "dim": self.dim,
            "all": self.all.to_json(),
            "heads": [head.to_json() for head in self.heads],
            "classes": {name: part.to_json() for name, part in self.classes.items()},
        }


@dataclass(frozen=True, eq=False, repr=False)
class WeightsAudit:
    """What was measured of a model's transitions on a text.

    Attributes:
        model: the model's name.
        arithmetic: in which the model and the figures were computed, in words.
        text: what it read, in words.
        tokens: the number of tokens that it read.
        classes: the number of tokens of each class that occurs.
        settings: how products and memory were measured.
        layers: the layers, from below.
    """

    model: str
    arithmetic: str
    text: str
    tokens: int
    classes: Mapping[str, int]
    settings: AuditSettings
    layers: tuple[AuditedLayer, ...]

    @property
    def headline(self) -> str:
        """What counts, in a sentence or two."""
        first = [layer.all.products[0] for layer in self.layers]
        last = [layer.all.products[-1] for layer in self.layers]
        n, most = first[0].tokens, last[0].tokens
        what = "the transitions of a token" if n == 1 else f"the products of {count_noun(n, 'token')}"
        several = ", by layer," if len(self.layers) > 1 else ""
        text = (
            f"{self.model}: {_span([p.negative for p in first])} of {what}{several} have a negative eigenvalue, "
            f"{_span([p.non_real for p in first])} a non-real one"
        )
        if most > n:
            text += (
                f"; of the products of {count_noun(most, 'token')} {_span([p.non_real for p in last])} have a non-real one, and in "
                f"{_span([p.rotating for p in last])} it rotates and lasts"
            )
        return f"{text}."

    def rows(self) -> list[list[str]]:
        """A table with one line for each layer; the first row has the headings. Shares are in percent, those of the control in brackets."""
        first, last = self.settings.products[0], self.settings.products[-1]
        rows = [
            [
                "layer", f"% with\nβ‖k‖²\n> 1, {NEAR_REFLECTION:g}", f"% with\nλ < 0,\n{count_noun(first, 'token')}", f"% not\nreal,\n{count_noun(first, 'token')}",
                f"% not\nreal,\n{count_noun(last, 'token')}", f"% that\nrotate,\n{count_noun(last, 'token')}", "memory,\ntokens", "rank of\na state",
            ]
        ]  # fmt: skip
        for layer in self.layers:
            part = layer.all
            control: tuple[ProductFacts | None, ...] = part.control or (None,) * len(part.products)
            p, q = part.products[0], part.products[-1]
            rows.append(
                [
                    str(layer.number),
                    "-" if part.above_one is None else f"{_percent(part.above_one)}, {_share(part.near_reflection)}",
                    _beside(p, control[0], "negative"),
                    _beside(p, control[0], "non_real"),
                    _beside(q, control[-1], "non_real"),
                    _beside(q, control[-1], "rotating"),
                    self._memory(part.memory[0]),
                    "-" if part.effective_rank is None else f"{part.effective_rank.median:.1f}/{layer.dim}",
                ]
            )  # fmt: skip
        return rows

    def legend(self) -> list[str]:
        """What the columns of `rows` are, in sentences, with thresholds, and the arithmetic."""
        s = self.settings
        first, last = s.products[0], s.products[-1]
        matrix = (
            "the matrix by which a token multiplies the state"
            if first == 1
            else f"the product of the matrices of {first} tokens in a row"
        )
        longer = "" if first == last else f", or the product of those of {last} tokens in a row,"
        return [
            f"Percentages are of {self.tokens:,} tokens in all heads; of products of several tokens, of those that begin at about "
            f"{min(s.starts, self.tokens):,} of them. In brackets the control: the same with every β‖k‖² at most 1 and no negative gate.",
            f"λ < 0, not real: {matrix}{longer} has an eigenvalue λ that is real and below -{TOLERANCE:g}, or whose imaginary part is above "
            f"{TOLERANCE:g}.",
            f"β‖k‖² > 1, {NEAR_REFLECTION:g}: a factor I - β k kᵀ of the token has a negative eigenvalue 1 - β‖k‖², and one near the -1 of a "
            "reflection. A dash: there are no factors.",
            f"rotate: a non-real eigenvalue makes a full turn before it is halved, and is not halved within {s.lasting:g} tokens.",
            "memory: median of the tokens until the norm of the product of all transitions is below 1/2. rank: median effective rank of a "
            "head's state, of so many dimensions.",
            f"Arithmetic: {self.arithmetic}.",
        ]

    def details_legend(self) -> list[str]:
        """What the columns of `tables` are beyond those of `rows`, in sentences."""
        return [
            "Products of n tokens: n is the number of tokens in a row whose matrices are multiplied. lasting: a negative eigenvalue that is not "
            f"halved within {self.settings.lasting:g} tokens. modulus: that of one token, |λ|^(1/n), of the negative eigenvalues and of those that are not real. "
            "angle and half-life, in tokens: of those that are not real.",
            "Heads are numbered LAYER.HEAD; products and memory of a class of tokens begin at its tokens. Moduli, angles, half-lives, β‖k‖², "
            "gates and ranks are medians. gate: what multiplies the state beside the factors. angle of keys: between the lines of "
            "consecutive keys, within a token and from a token to the next. tokens to norm 1/2 and 1/e: until the norm of the product of all "
            "transitions is below. A dash: nothing was measured.",
        ]

    def notes(self) -> list[str]:
        """What was left out, and why."""
        s, found = self.settings, []
        if s.left_out:
            found.append(
                f"products of {', '.join(map(str, s.left_out))} tokens are left out, which are more than half a word"
            )
        if any(layer.kind == "matrix" for layer in self.layers):
            found.append(
                "there is no control for transitions that are neither factors nor diagonal: it is not known which part makes signs"
            )
        return found

    def tables(self) -> list[tuple[str, list[list[str]]]]:
        """Titles and tables in detail, their headings first: products, heads and classes of each layer."""
        tables = []
        for layer in self.layers:
            name = f"layer {layer.number}"
            tables.append((f"{name}: products of n tokens, all heads", self._products(layer.all)))
            heads = [(f"{layer.number}.{h + 1}", p) for h, p in enumerate(layer.heads[:MOST_HEADS])]
            for what, parts, more in (
                ("head", heads, len(layer.heads) - len(heads)),
                ("class", list(layer.classes.items()), 0),
            ):
                title = "heads" if what == "head" else "classes of tokens"
                tables.append((f"{name}: {title}, eigenvalues", self._signs(what, parts, more)))
                tables.append((f"{name}: {title}, keys and memory", self._lengths(what, parts, more)))
        return tables

    def _products(self, part: AuditedPart) -> list[list[str]]:
        rows = [
            [
                "n",
                "% with\nλ < 0",
                "% that\nlast",
                "modulus\nof λ < 0",
                "% not\nreal",
                "% that\nrotate",
                "angle",
                "modulus of\nnot real",
                "half-\nlife",
            ]
        ]
        control: tuple[ProductFacts | None, ...] = part.control or (None,) * len(part.products)
        for p, c in zip(part.products, control, strict=True):
            rows.append(
                [
                    str(p.tokens), _beside(p, c, "negative"), _beside(p, c, "negative_lasting"), _median(p.negative_modulus, ".4g"),
                    _beside(p, c, "non_real"), _beside(p, c, "rotating"), _median(p.angle, ".0f", "°"), _median(p.modulus, ".4g"),
                    _median(p.half_life, ".3g"),
                ]
            )  # fmt: skip
        return rows

    def _signs(self, what: str, parts: list[tuple[str, AuditedPart]], more: int) -> list[list[str]]:
        last = self.settings.products[-1]
        first = self.settings.products[0]
        rows = [
            [
                what, "β‖k‖²", "% with\nβ‖k‖²\n> 1", f"% with\nβ‖k‖²\n> {NEAR_REFLECTION:g}", "gate", f"% with\nλ < 0,\n{count_noun(first, 'token')}",
                f"% not\nreal,\n{count_noun(first, 'token')}", f"% not\nreal,\n{count_noun(last, 'token')}", f"% that\nrotate,\n{count_noun(last, 'token')}",
            ]
        ]  # fmt: skip
        for name, part in parts:
            by_n = {p.tokens: p for p in part.products}
            p, q = by_n.get(first), by_n.get(last)
            rows.append(
                [
                    name, _median(part.strength, ".3g"), _share(part.above_one), _share(part.near_reflection), _median(part.gate, ".3g"),
                    _share(_figure(p, "negative")), _share(_figure(p, "non_real")), _share(_figure(q, "non_real")),
                    _share(_figure(q, "rotating")),
                ]
            )  # fmt: skip
        return rows + _more(more, rows)

    def _lengths(self, what: str, parts: list[tuple[str, AuditedPart]], more: int) -> list[list[str]]:
        rows = [
            [
                what,
                "tokens",
                "angle of\nkeys within",
                "angle of\nkeys between",
                "tokens to\nnorm 1/2",
                "tokens to\nnorm 1/e",
                "rank of\na state",
            ]
        ]
        for name, part in parts:
            rows.append(
                [
                    name, f"{part.tokens:,}", _median(part.within_keys, ".0f", "°"), _median(part.between_keys, ".0f", "°"),
                    self._memory(part.memory[0]), self._memory(part.memory[1]), _median(part.effective_rank, ".1f"),
                ]
            )  # fmt: skip
        return rows + _more(more, rows)

    def _memory(self, spread: Spread | None) -> str:
        if spread is None:
            return "-"
        return f"> {self.settings.horizon:,}" if isinf(spread.median) else f"{spread.median:,.0f}"

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain values for JSON.

        Returns:
            The fields by name; in spreads null stands for what has no bound, such as the half-life of what does not shrink.
        """
        return {
            "model": self.model,
            "arithmetic": self.arithmetic,
            "text": self.text,
            "tokens": self.tokens,
            "classes": dict(self.classes),
            "settings": {
                **asdict(self.settings),
                "tolerance": TOLERANCE,
                "near_reflection": NEAR_REFLECTION,
            },
            "layers": [layer.to_json() for layer in self.layers],
        }

    def __repr__(self) -> str:
        return one_line(
            self, f"{self.model}, {count_noun(len(self.layers), 'layer')}, {self.tokens:,} tokens"
        )

    def _repr_html_(self) -> str:
        first, *rest = self.rows()
        return html_table(self.headline, rest, first)


def _percent(share: float) -> str:
    """`12`, never 0 for more than none or 100 for less than all."""
    if share in (0, 1):
        return f"{100 * share:.0f}"
    if share < 0.001 or share > 0.999:
        return "<0.1" if share < 0.5 else ">99.9"
    return f"{100 * share:.0f}" if 0.1 <= share <= 0.99 else f"{100 * share:.1f}"


def _share(share: float | None) -> str:
    return "-" if share is None else _percent(share)


def _figure(part: ProductFacts | None, figure: str) -> float | None:
    return None if part is None else float(getattr(part, figure))


def _beside(part: ProductFacts, control: ProductFacts | None, figure: str) -> str:
    """A share, and in brackets that of the control."""
    share, beside = float(getattr(part, figure)), _figure(control, figure)
    return _share(share) if beside is None else f"{_percent(share)} ({_percent(beside)})"


def _span(shares: list[float]) -> str:
    """The least and the greatest share."""
    low, high = _percent(min(shares)), _percent(max(shares))
    return f"{low} %" if low == high else f"{low} to {high} %"


def _median(spread: Spread | None, form: str, unit: str = "") -> str:
    if spread is None:
        return "-"
    return "no end" if isinf(spread.median) else f"{spread.median:{form}}{unit}"


def _more(more: int, rows: list[list[str]]) -> list[list[str]]:
    """A row for heads that are not listed."""
    return [[f"and {more:,} more, which the JSON has", *[""] * (len(rows[0]) - 1)]] if more else []
