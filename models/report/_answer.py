"""The first section of a report: the answer in one sentence, and the findings behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from ...constructions._realisation import Realisation
from ...constructions.texts._show import label_text
from ...foundation._extras import needed_by
from ...foundation._text import count_noun
from ..comparison._causes import describe_limit
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
MOST_NAMED = 8
"""Automata that the sentence about certificates names."""
USUAL = {"conv": 0, "gated": False, "strength": "sigmoid", "output_gate": False}
PROOFS = {
    "equivalent": "proves a model equivalent to the automaton",
    "impossible": "proves that a model must fail",
}


def describe_model(config: Mapping[str, Any]) -> str:
    """`deltaproduct: 1 layer, 2 heads of 16 × 16, 2 factors a token, eigenvalues in [-1, 1]`: the family and its main settings."""
    with needed_by("the description of a trained model"):
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
    if limit := describe_limit(failure, found.learned, None):
        return f"it {limit}"
    if found.causal and found.causal[-1].replaced != "none" and found.causal[-1].accuracy == 1:
        return "it fails because its heads are not exact (with snapped heads every answer is right)"
    if found.heads and not any(h.carries_states for h in found.heads):
        return "it fails because no head's states fall into groups by the automaton's state"
    if (at := found.horizon.spread) is not None:
        return f"it fails because the states of a class spread, and are predicted to meet those of another after {count_noun(at, 'letter')}"
    return "no cause of its failure was found"


def answer_model(place: Trained, found: Comparison | None, reason: str, items: Sequence[Item]) -> Section:
    """The sentence and findings of a training or a model; `reason`: why nothing is compared; `items`: shown beside them."""
    task, family = place.contract.task, str(place.config.get("family", "the model"))
    rows: list[tuple[Cell, ...]] = [
        ("model", describe_model(place.config)), ("task", f"{task}, {place.contract.labels} labels")
    ]  # fmt: skip
    headline = f"{family} on {task}: {reason or 'nothing is measured'}."
    if (result := place.result) is not None:
        failures = [
            (result["first_failure"][place.place] or {"least": None})["least"],
            found and found.trace.observed,
        ]
        wrong = min((x for x in failures if x is not None), default=None)
        why, proof = "" if found is None else explain_failure(found), _say_proof(place, wrong)
        trained = "trained on" if place.settings is not None else "as a model of"
        because = [why] * bool(wrong is not None and why)
        parts = [
            f"{family}, {trained} {task}, is {_say_reach(place, result)}",
            _say_accuracy(result),
            *because,
            proof,
        ]
        headline = f"{'; '.join(parts)}."
        rows += _list_accuracies(place, result)
        rows.append(
            (
                "first wrong answer",
                "none was seen" if wrong is None else f"after {count_noun(wrong, 'letter')}",
            )
        )
        rows += [("why", why or f"not known: {reason}")] if wrong is not None else []
        rows.append(("proof", proof))
    if found is not None and found.heads:
        carrying = [h.head.name for h in found.heads if h.carries_states]
        rows.append(("heads that carry states", ", ".join(carrying) or "none"))
        exact = (
            found.snapped.reason if found.snapped.lrnn is None else f"yes: {found.snapped.lrnn.construction}"
        )
        rows.append(("exact when snapped", exact))
    if found is not None and found.constructed is not None:
        rows.append(("exact construction", found.constructed.name))
    table = Table("findings", "What was found", "", ("finding", "value"), rows, place.test)
    return Section(SLUG, TITLE, headline, (table, *items))


def _say_reach(place: Trained, result: Mapping[str, Any]) -> str:
    longest = result["longest_90"][place.place]
    to = f"right up to {count_noun(longest, 'letter')}" + (
        ", the longest tested" if longest == result["length"] else ""
    )
    return f"{to} with the best of {len(place.seeds)} seeds" if len(place.seeds) > 1 else to


def _say_accuracy(result: Mapping[str, Any]) -> str:
    """Best and median at the greatest length."""
    length, shares = list(result["accuracy"].items())[-1]
    letters = "letter" if length == "1" else "letters"  # a length is a text, which may be a span
    return f"its accuracy at {length} {letters} is {_say_shares(shares)}"


def _say_shares(shares: Sequence[float | None]) -> str:
    known = [x or 0.0 for x in shares]
    text = format_share(max(known))
    return text if len(known) == 1 else f"{text} at best and {format_share(median(known))} in the median"


def _list_accuracies(place: Trained, result: Mapping[str, Any]) -> list[tuple[Cell, ...]]:
    longest = result["longest_90"]
    of_seeds = f" with seed {place.seeds[place.place]}; {median(longest):,.0f} in the median of the seeds"
    to = f"{count_noun(longest[place.place], 'letter')}{of_seeds if len(longest) > 1 else ''}"
    rows: list[tuple[Cell, ...]] = [("90 % right at every position to", to)]
    rows += [(f"accuracy at {length}", _say_shares(shares)) for length, shares in result["accuracy"].items()]
    return [*rows, ("accuracy of guessing", format_share(result["chance"]))]


def _say_proof(place: Trained, wrong: int | None) -> str:
    """What is proved of the model, by certificates of the folder or by a wrong answer."""
    known = [
        c for c in place.folder.certificates if c.verdict == "valid" and str(c.document.get("kind")) in PROOFS
    ]
    if known:
        return "; ".join(f"{c.path.name}, which is valid, {PROOFS[str(c.document['kind'])]}" for c in known)
    if wrong is not None:
        return f"a wrong answer after {count_noun(wrong, 'letter')} refutes it"
    return "no wrong answer was seen, and nothing is proved"


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
        names = list(dict.fromkeys(label_text(found.automaton.name) for found in realised.values()))
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        headline = (
            f"{len(rows)} certificates, {what}{': ' * bool(names)}{', '.join(names[:MOST_NAMED])}{more}."
        )
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
    charts = [item for item in section.items if isinstance(item, Chart) and item.slug == slug]
    return replace(section, items=[item for item in section.items if item not in charts]), charts
