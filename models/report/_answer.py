"""The first section of a report: the answer in one sentence, and the findings behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ...constructions._realisation import Realisation
from ...constructions.texts._show import label_text
from ...foundation._text import count_noun
from ..comparison._result import Comparison
from ._data import Cell, Chart, Item, Section, Table, format_share
from ._folder import ReportFolder, Trained

SLUG, TITLE = "summary", "Findings"
OPTIONS = {
    "conv": "convolution of {}",
    "gated": "gated",
    "strength": "strength {}",
    "output_gate": "output gate",
}
"""Entries of a model that its description names where they differ from `USUAL`."""
USUAL = {"conv": 0, "gated": False, "strength": "sigmoid", "output_gate": False}
PROOFS = {
    "equivalent": "proves a model equivalent to the automaton",
    "impossible": "proves that a model must fail",
}


def describe_model(config: Mapping[str, Any]) -> str:
    """`deltaproduct: 1 layer, 2 heads of 16 × 16, 2 factors a token, eigenvalues in [-1, 1]`: the family and its main settings."""
    from .._families import load_families

    name = str(config.get("family", "a model"))
    family = load_families().get(name)
    options = family.options if family is not None else ()
    parts = [count_noun(config.get("layers", 1), "layer"), f"width {config.get('width')}"]
    if "heads" in options:
        size = f" of {config.get('head_dim')} × {config.get('value_dim')}" if "head_dim" in options else ""
        parts.append(count_noun(config.get("heads", 1), "head") + size)
    if "householders" in options:
        parts.append(f"{count_noun(config.get('householders', 1), 'Householder factor')} a token")
    if "range" in options:
        parts.append(f"range [{', '.join(map(str, config.get('range', ())))}]")
    parts += [
        text.format(config[key])
        for key, text in OPTIONS.items()
        if key in options and config.get(key, USUAL[key]) != USUAL[key]
    ]
    return f"{name}: {', '.join(parts)}"


def explain_failure(found: Comparison) -> str:
    """Why answers are wrong, as far as the comparison knows; empty where none was seen to be wrong."""
    failure = found.failure
    if found.trace.observed is None:
        return ""
    if failure.certificate is not None:
        return f"a certificate proves that no read-out of its states can be right in {failure.certificate['arithmetic']}"
    if failure.in_zero_one:
        return "every eigenvalue of every letter is in [0, 1]"
    if found.causal and found.causal[-1].replaced != "none" and found.causal[-1].accuracy == 1:
        return "its heads are not exact (with snapped heads every answer is right)"
    if found.heads and not any(h.carries_states for h in found.heads):
        return "no head keeps the automaton's states apart at every length"
    if (at := found.horizon.spread) is not None:
        return f"states of one class drift apart and are predicted to meet those of another at about {at:,} letters"
    return "no cause was found"


def answer_model(place: Trained, found: Comparison | None, reason: str, items: Sequence[Item]) -> Section:
    """The sentence and findings of a training or a model; `reason`: why nothing is compared; `items`: shown beside them."""
    task, result = place.contract.task, place.result
    family = str(place.config.get("family", "the model"))
    rows: list[tuple[Cell, ...]] = [
        ("model", describe_model(place.config)),
        ("task", f"{task}, {place.contract.labels} labels"),
    ]
    if result is None:
        what = f"{family} on {task}: {reason or 'nothing is measured'}."
        return _make_section(what, rows, items, place)
    longest, last = result["longest_90"], list(result["accuracy"])[-1]
    values = [x or 0.0 for x in result["accuracy"][last]]
    best, several = place.place, len(place.seeds) > 1
    failures = [(result["first_failure"][best] or {"least": None})["least"], found and found.trace.observed]
    wrong = min((x for x in failures if x is not None), default=None)
    why = "" if found is None else explain_failure(found)
    proof = _say_proof(place, wrong)
    up_to = f"{longest[best]:,} letters" if longest[best] != 1 else "1 letter"
    to = f"{up_to}, the longest that was tested," if longest[best] == result["length"] else up_to
    made = (
        f"trained on {task} (words of at most {place.train_length:,} letters)"
        if place.settings is not None
        else f"a model of {task}"
    )
    of_seeds = f" with the best of {count_noun(len(place.seeds), 'seed')}" if several else ""
    at_best = format_share(max(values))
    reached = f"{at_best} at best and {format_share(median(values))} in the median" if several else at_best
    headline = f"{family}, {made}, is right up to {to}{of_seeds}; its accuracy at {last} letters is {reached}"
    headline += f"; the reason for failure: {why}" if why and wrong is not None else ""
    rows.append(("right up to", f"{up_to}: at least 90 % of the answers at every position" + (
        f" (seed {place.seeds[best]}); the median of the seeds is {median(longest):,.0f}" if several else ""
    )))  # fmt: skip
    for length, shares in result["accuracy"].items():
        known = [x or 0.0 for x in shares]
        text = format_share(max(known)) + (
            f" at best, {format_share(median(known))} in the median" if several else ""
        )
        rows.append((f"accuracy at {length}", f"{text}; guessing {format_share(result['chance'])}"))
    rows.append(
        ("first wrong answer", "none was seen" if wrong is None else f"after {count_noun(wrong, 'letter')}")
    )
    if wrong is not None:
        rows.append(("why", why or f"not known: {reason}"))
    rows.append(("proof", proof[0].upper() + proof[1:]))
    if found is not None and found.heads:
        carrying = [h.head.name for h in found.heads if h.carries_states]
        rows.append(("heads with states", ", ".join(carrying) or "none"))
        exact = (
            found.snapped.reason if found.snapped.lrnn is None else f"yes: {found.snapped.lrnn.construction}"
        )
        rows.append(("exact when snapped", exact))
    if found is not None and found.constructed is not None:
        rows.append(("exact construction", found.constructed.name))
    return _make_section(f"{headline}; {proof}.", rows, items, place)


def _make_section(
    headline: str, rows: Sequence[tuple[Cell, ...]], items: Sequence[Item], place: Trained
) -> Section:
    table = Table("findings", "What was found", "", ("finding", "value"), rows, place.test)
    return Section(SLUG, TITLE, headline, (table, *items))


def _say_proof(place: Trained, wrong: int | None) -> str:
    """What is proved of the model, by certificates of the folder or by a wrong answer."""
    known = [
        c for c in place.folder.certificates if c.verdict == "valid" and str(c.document.get("kind")) in PROOFS
    ]
    if known:
        return "; ".join(f"{c.path.name}, which is valid, {PROOFS[str(c.document['kind'])]}" for c in known)
    if wrong is not None:
        return f"a wrong answer after {count_noun(wrong, 'letter')} refutes that it computes {place.contract.task}"
    return "no wrong answer was seen, which proves nothing: `mirrormata prove` decides it"


def answer_certificates(place: ReportFolder, shown: Sequence[tuple[Path | None, Realisation]]) -> Section:
    """The sentence about the certificates of a folder, and a row for each of them."""
    realised = {path: found for path, found in shown if path is not None}
    rows: list[tuple[Cell, ...]] = []
    for c in place.certificates:
        found = realised.get(c.path)
        figures: tuple[Cell, ...] = (None,) * 8
        if found is not None:
            f = found.figures
            figures = (
                label_text(found.automaton.name), f.theorem, f.layers, f.heads, f.dim, f.householders, f.norm,
                ", ".join(f.formats) or "none",
            )  # fmt: skip
        rows.append((c.path.name, str(c.document.get("kind")), c.verdict, *figures))
    valid = sum(c.verdict == "valid" for c in place.certificates)
    columns = (
        "certificate", "kind", "checker", "automaton", "theorem", "layers", "heads", "dimension", "factors a letter", "norm",
        "exact at any length in",
    )  # fmt: skip
    table = Table("findings", "What was found", "", columns, rows, "the checkers, run now on each file")
    if len(place.certificates) == 1:
        headline = _say_certificate(place, next(iter(realised.values()), None))
    else:
        what = "all of them valid" if valid == len(rows) else f"{valid} of them valid"
        headline = f"{len(rows)} certificates for {place.name}, {what}, as the checkers find them now."
    return Section(SLUG, TITLE, headline, (table,))


def _say_certificate(place: ReportFolder, found: Realisation | None) -> str:
    (c,) = place.certificates
    if found is None:
        return f"The checker finds {c.path.name}, of kind {c.document.get('kind')}, {c.verdict}: {c.reason}."
    f = found.figures
    factors = (
        "" if f.householders is None else f" with at most {count_noun(f.householders, 'factor')} a letter"
    )
    exact = (
        f"exact at any length in {', '.join(f.formats)}"
        if f.formats
        else "not exact in any float format for ever"
    )
    return (
        f"{label_text(found.automaton.name)} is followed by a linear RNN of {count_noun(f.layers, 'layer')} and "
        f"{count_noun(f.heads, 'head')}{factors} ({f.construction}, {f.theorem}), which is {exact}; the checker finds its certificate "
        f"{c.verdict}."
    )


def take_chart(section: Section, slug: str) -> tuple[Section, list[Chart]]:
    """The section without the chart, and the chart, where there is one."""
    from dataclasses import replace

    charts = [item for item in section.items if isinstance(item, Chart) and item.slug == slug]
    return replace(section, items=[item for item in section.items if item not in charts]), charts
