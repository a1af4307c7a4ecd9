"""What a report shows of a trained model's transitions on a text or on random words: `audit_weights` as a section."""

from __future__ import annotations

from ...foundation._errors import MirrormataError
from ..audit._measured import AuditedLayer, WeightsAudit
from ..audit._weights import audit_weights
from ..tasks._kinds import task_from_settings
from ..tasks._language import BOUNDARY, LanguageTask
from ._data import SHARES, Cell, Chart, Item, LearnedLimits, Section, Series, Table
from ._folder import Trained

SLUG, TITLE = "learned-audit", "What the transitions do"
WORDS, LENGTH, STARTS, HORIZON = 4, 256, 128, 128
"""What is measured for a report: fewer tokens than `audit` takes, so that the page is made soon."""
MOST_LAYERS = 12
"""Layers that have lines of their own in charts; the table has all."""


def show_audit(place: Trained, limits: LearnedLimits) -> Section:
    """Signs, rotations and memory of the chosen seed's transitions, beside the control; or why they are not shown."""
    if place.model is None:
        return Section(SLUG, TITLE, "Not shown: there is no model in the folder.")
    try:
        task = task_from_settings(place.contract.settings)
        text = None
        if isinstance(task, LanguageTask):
            letters = task.test_text
            text = letters[letters != BOUNDARY].astype("uint8").tobytes()
        found = audit_weights(
            place.model, text, words=WORDS, length=LENGTH, seed=limits.seed, starts=STARTS, horizon=HORIZON
        )
    except MirrormataError as error:
        return Section(SLUG, TITLE, f"Not shown: {error}.")
    read = found.text if text is None else f"{found.text} of the test"
    source = f"{place.model_name}, {read}; {found.arithmetic}"
    layers = found.layers[:MOST_LAYERS]
    charts = [_chart_products(found, layers, *drawn, source) for drawn in FIGURES]
    items: list[Item] = [_list_layers(found, source), *charts]
    return Section(
        SLUG, TITLE, _say(found), items, [_list_products(found, source), _list_classes(found, source)]
    )


def _say(found: WeightsAudit) -> str:
    few = "" if len(found.layers) <= MOST_LAYERS else f" Charts show the first {MOST_LAYERS} layers."
    first, *_ = found.legend()
    headline = found.headline.partition(": ")[2]
    return f"{headline[:1].upper()}{headline[1:]} {first}{few} `mirrormata audit` measures more of it."


FIGURES = (
    ("negative", "a negative eigenvalue", "Negative eigenvalues of products"),
    ("non_real", "a non-real eigenvalue", "Non-real eigenvalues of products"),
    ("rotating", "a non-real eigenvalue that makes a full turn before it is halved, and is not halved within {lasting:g} tokens",
     "Products that rotate and last"),
)  # fmt: skip
"""Figures of `ProductFacts` that are drawn, what they are shares of, and the titles of their charts."""


def _chart_products(
    found: WeightsAudit, layers: tuple[AuditedLayer, ...], figure: str, what: str, title: str, source: str
) -> Chart:
    """A line for each layer, and one for its control."""
    series = []
    for layer in layers:
        for kind, products in (("", layer.all.products), ("control, ", layer.all.control or ())):
            name, n = f"{kind}layer {layer.number}", [p.tokens for p in products]
            picks = (("layer", str(layer.number)), ("of", "the control" if kind else "the model"))
            ys = [getattr(p, figure) for p in products]
            if products:
                role = 3 if kind else 3 + layer.number
                series.append(Series(name, n, ys, "line", role, (), picks))
    beside = " The control has the signs removed." if len(series) > len(layers) else ""
    return Chart(
        f"learned-audit-{figure.replace('_', '-')}", title,
        f"The share of the products of n consecutive transitions with {what.format(lasting=found.settings.lasting)}.{beside}",
        "tokens of a product", "share of products", series, source, (), log_x=True, y_range=SHARES,
    )  # fmt: skip


def _list_layers(found: WeightsAudit, source: str) -> Table:
    columns, *rows = found.rows()
    return Table(
        "learned-audit-layers", "Layer by layer", "Shares in percent, those of the control in brackets.",
        [" ".join(column.split()) for column in columns], [tuple(row) for row in rows], source,
    )  # fmt: skip


def _list_products(found: WeightsAudit, source: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for layer in found.layers:
        for what, products in (("model", layer.all.products), ("control", layer.all.control or ())):
            rows += [
                (
                    layer.number, what, p.tokens, p.negative, p.negative_lasting, p.non_real, p.rotating,
                    None if p.angle is None else p.angle.median, None if p.modulus is None else p.modulus.median,
                )
                for p in products
            ]  # fmt: skip
    return Table(
        "learned-audit-shares", "Products of n tokens",
        "Shares of products; angle in degrees and modulus of a token, |λ|^(1/n), are medians over the products with a non-real eigenvalue.",
        ("layer", "of", "n", "negative", "negative, lasting", "not real", "rotates", "angle", "modulus"), rows, source,
    )  # fmt: skip


def _list_classes(found: WeightsAudit, source: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for layer in found.layers:
        parts = [*((f"head {h + 1}", p) for h, p in enumerate(layer.heads)), *layer.classes.items()]
        for name, part in parts:
            p = part.products[0] if part.products else None
            rows.append((
                layer.number, name, part.tokens, part.above_one, part.near_reflection, None if p is None else p.negative,
                None if p is None else p.non_real, None if part.strength is None else part.strength.median,
                None if part.gate is None else part.gate.median,
                None if part.effective_rank is None else part.effective_rank.median,
            ))  # fmt: skip
    return Table(
        "learned-audit-parts", "Heads and classes of tokens",
        f"Shares for the first of the numbers of tokens, {found.settings.products[0]}; β‖k‖², gate and rank are medians.",
        ("layer", "part", "tokens", "β‖k‖² > 1", "> 1.9", "negative", "not real", "β‖k‖²", "gate", "effective rank"), rows, source,
    )  # fmt: skip
