"""Sections for the tests of pages and papers: every kind of series, hostile labels, gaps, marks, filters, pictures."""

from __future__ import annotations

from math import cos, exp, inf, pi, sin
from pathlib import Path

from mirrormata import construct
from mirrormata.models.report._data import Chart, Mark, Picture, Section, Series, Table
from mirrormata.theory.pictures._mirrors import draw_mirrors

HOSTILE = """<script>alert("1")</script> & 'a' </table> %{x} <b>"""
"""A label as a user could write it; it must be shown, never read."""


def accuracy() -> Chart:
    """Lines with gaps over a logarithmic axis, marked on both axes."""
    lengths = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)
    lines = (
        Series("constructed", lengths, (1.0,) * 9, "line", 0),
        Series("learned, seed 0", lengths, (1.0, 1.0, 1.0, 1.0, 0.98, 0.83, None, 0.31, 0.25), "line", 1),
        Series("snapped", lengths, (1.0,) * 8 + (None,), "steps", 2),
    )
    marks = (
        Mark("x", 64, "training length 64"), Mark("x", 120, "predicted horizon 120"), Mark("y", 1 / 24, "chance"),
    )  # fmt: skip
    text = "Accuracy falls behind the training length, as the predicted horizon says."
    return Chart(
        "accuracy", "Accuracy against length", text, "length (letters)", "accuracy", lines, "result.json, seeds 0",
        marks, log_x=True,
    )  # fmt: skip


def spectrum() -> Chart:
    """Points on the unit disc, with hover texts and two filters."""
    series = []
    for head in (1, 2):
        for k, letter in enumerate(("(0 1)", "(0 1 2)", HOSTILE)):
            angles = [2 * pi * j / (k + 2) for j in range(k + 2)]
            picked = (("head", f"head {head}"), ("letter", letter))
            for role, name, size in ((0, "constructed", 1.0), (1, "learned", 0.97 - 0.02 * head)):
                x = tuple(size * cos(a) for a in angles)
                y = tuple(size * sin(a) for a in angles)
                hover = tuple(f"angle {a / pi:.3f} π" for a in angles)
                series.append(Series(name, x, y, "points", role, hover, picked))
    text = "Eigenvalues of each letter's transition. Learned ones lie just inside the circle."
    return Chart(
        "spectrum",
        "Eigenvalues",
        text,
        "real part",
        "imaginary part",
        tuple(series),
        "model.safetensors",
        circle=True,
    )


def clusters() -> Chart:
    """Twenty-four groups, each with its own look."""
    series = []
    for q in range(24):
        x = tuple(cos(q) * (1 + q % 5) + 0.1 * sin(7 * j + q) for j in range(25))
        y = tuple(sin(q) * (1 + q % 5) + 0.1 * cos(5 * j + q) for j in range(25))
        series.append(Series(f"state {q}", x, y, "points", 4 + q))
    return Chart("clusters", "State clusters", "States fall into 24 clusters.", "first component (41 %)",
                 "second component (33 %)", tuple(series), "256 words, seed 0")  # fmt: skip


def betas() -> Chart:
    """Bars over names, one of them hostile; with an infinite value."""
    names = ("(0 1)", "(0 1 2)", HOSTILE, "1")
    bars = (
        Series("constructed", names, (2.0, 2.0, 2.0, 0.0), "bars", 0),
        Series(HOSTILE, names, (1.98, 1.93, inf, None), "bars", 1, ("a", HOSTILE, "b", "c")),
    )
    return Chart(
        "betas",
        f"β by letter {HOSTILE}",
        f"β {HOSTILE}",
        "letter",
        "β",
        bars,
        HOSTILE,
        (Mark("y", 2.0, HOSTILE),),
    )


def norms() -> Chart:
    """Long lines on two logarithmic axes, without symbols."""
    steps = tuple(range(1, 401))
    return Chart(
        "norms", "Loss", "The loss falls.", "step", "loss (nats)",
        tuple(Series(f"seed {s}", steps, tuple(2.0 * exp(-t / (40 + 30 * s)) + 0.001 for t in steps), "line", 4 + s) for s in range(4)),
        "metrics.jsonl", log_y=True,
    )  # fmt: skip


def letters() -> Table:
    """All kinds of cells."""
    rows = (
        (HOSTILE, 2, 1.9375, True),
        ("(0 1 2)", 1_000_000, 1e-9, False),
        ('quoted "x", y', -3, None, None),
    )
    return Table(
        "letters", "Letters", "What each letter does.", ("letter", "factors", "β", "exact"), rows, "s3.json"
    )


def pictures(folder: Path) -> tuple[Picture, Picture]:
    """The same drawing twice, so that ids would clash."""
    draw_mirrors(construct("S3"), folder / "s3.svg")
    svg = (folder / "s3.svg").read_text(encoding="utf-8")
    return tuple(  # type: ignore[return-value]
        Picture(
            f"mirrors-{k}", f"Letters as mirrors {k}", "Each letter as one or two mirrors.", svg, "s3.json"
        )
        for k in (1, 2)
    )


def sections(folder: Path) -> tuple[Section, ...]:
    """All of them."""
    return (
        Section(
            "summary", "Summary", f"A training of `S3`.\n\nIts labels are hostile: {HOSTILE}", (letters(),)
        ),
        Section("lengths", "Lengths", "How long it is right.", (accuracy(), norms())),
        Section("algebra", "Eigenvalues and states", "What it learned.", (spectrum(), clusters(), betas())),
        Section("pictures", "Pictures", "What it should have learned.", pictures(folder)),
    )
