"""A plan as text: a table of the realisations, then the lower bounds."""

from __future__ import annotations

from ...constructions.texts.printable import console
from .plan import Offer, Plan
from .reached import ReachedBound


def print_plan(made: Plan) -> None:
    """Prints the plan; `*` marks what no other realisation beats."""
    from rich import box
    from rich.table import Table

    shown = console()
    automaton = made.automaton
    shown.print(
        f"{automaton.name}: {len(automaton.states):,} states, {len(automaton.letters):,} letter{'s' * (len(automaton.letters) != 1)}",
        style="bold",
    )
    table = Table(box=box.SIMPLE, pad_edge=False)
    for column in ("", "", "layers", "factors", "heads", "dim", "numbers"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    table.add_column("exact", overflow="fold")
    for number, offer in enumerate(made.offers, start=1):
        table.add_row("*" if offer.pareto else "", str(number), *_cells(offer))
    shown.print(table)
    for number, offer in enumerate(made.offers, start=1):
        optimal = [f"{b.figure} ({b.reason})" for b in offer.bounds if b.optimal and b.figure != "beta"]
        said = f"; optimal under the bound's hypotheses: {', '.join(optimal)}" if optimal else ""
        shown.print(f"{number}. {offer.found.theorem}: {offer.found.construction}{said}")
    shown.print(
        "* no other is at least as good in layers, factors, dimension, exactness and norm, and better in one"
    )
    for note in dict.fromkeys(note for offer in made.offers for note in offer.found.notes):
        shown.print(f"note: {note}")
    for text in made.left_out:
        shown.print(f"left out: {text}")
    for bound in made.bounds:
        shown.print(f"lower bound, {bound.kind}: {bound.text}")
    for text in dict.fromkeys(
        _following(b) for offer in made.offers for b in offer.bounds if b.figure == "layers"
    ):
        shown.print(text)
    if not made.bounds:
        shown.print("lower bound: none is known")


def _following(bound: ReachedBound) -> str:
    """What a bound on factors says of layers, where an offer has fewer factors than one layer needs."""
    return f"it follows: {bound.figure} ≥ {bound.at_least} ({bound.reason}): {bound.why}; hypotheses: {bound.hypotheses}"


def _cells(offer: Offer) -> tuple[str, ...]:
    summary = offer.found.summary()
    factors = summary["householders"]
    return (
        str(summary["layers"]),
        "-" if factors is None else str(factors),
        str(summary["heads"]),
        str(summary["dim"]),
        "" if offer.parameters is None else f"{offer.parameters:,}",
        _exact(offer),
    )


def _exact(offer: Offer) -> str:
    """In which dtypes, or for how long."""
    summary = offer.found.summary()
    norm = "" if summary["norm"] == "at most 1" else f"; norm {summary['norm']}"
    if summary["exactness"] == "integer":
        formats = offer.found.formats
        return ("all dtypes" if len(formats) == 6 else ", ".join(formats) or "no dtype") + norm
    lengths = offer.horizons or {}
    if not lengths:
        return f"algebraic{norm}"
    listed = [f"{dtype} {lengths[dtype]:,}" for dtype in ("bf16", "fp32") if lengths.get(dtype) is not None]
    return f"at least to token {', '.join(listed)}{norm}"
