"""The table of results on the first page, and the tables of the statements of both papers."""

from __future__ import annotations

import json
import re

from mirrormata.tests.project.table_texts import ROOT, measured_results, table
from mirrormata.theory._verdict import status_in_words
from mirrormata.theory.verifying._registry import load_claims

_PLACES = (
    "section",
    "equation",
    "Proposition",
    "Lemma",
    "Theorem",
    "remark after Theorem",
    "proof of Theorem",
    "Appendix",
)
"""Kinds of places in a paper, in the order in which a table lists them."""


def paper_table(paper: str) -> str:
    """The statements of a paper by their places, with the claims that check them and the status of the last run.

    Args:
        paper: the letters that stand for the paper in the sources of claims, such as `DP`.
    """
    statuses = {row["claim"]: row for row in json.loads((ROOT / "docs/claims.json").read_text())["claims"]}
    found: dict[tuple[int, str], list[str]] = {}
    for entry in load_claims():
        match = re.match(rf"{paper}, ((?:{'|'.join(_PLACES)}) [\w.]+(?: \([\wi]+\))?)", entry.text.source)
        if match is None:
            continue
        place = re.sub(r"^(remark after|proof of) ", "", match[1])
        row = statuses[entry.claim.id]
        status = status_in_words(row["status"], row["cases"])
        link = f"[{entry.claim.id}](claims/{entry.claim.file_stem}.md): {entry.claim.title}; {status}"
        kind = next(i for i, name in enumerate(_PLACES) if place.startswith(name))
        found.setdefault((kind, place), []).append(
            link.replace("[-1, 1]", r"\[-1, 1\]").replace("[0, 1]", r"\[0, 1\]")
        )
    rows = [
        (place, "<br>".join(sorted(claims, key=lambda text: ".printed]" in text)))
        for (_, place), claims in sorted(found.items())
    ]
    return table((f"{paper}", "what is checked here, and how far"), rows)


def results_table() -> str:
    """What the first page shows of the committed results, each figure from its document."""
    run = measured_results("constructed_s5_nvidia_h200")
    chains = measured_results("chain_models_nvidia_h200")
    named = measured_results("named_automata")["rows"]
    drawn = measured_results("random_automata")["groups"]
    models = measured_results("fuzz_models")
    trained = measured_results("sweep_word_problems_nvidia_h200")["table"]
    largest = max(drawn, key=lambda group: (group["states"], group["letters"]))
    seconds = [row["default"]["seconds_in_all"] for row in largest["rows"]]
    layers = sorted(row["default"]["layers"] for row in largest["rows"])
    assert all(row["default"]["verdict"] == "valid" for group in drawn for row in group["rows"])
    assert all(row["now"]["verdict"] == "valid" for row in named)
    last = trained[0].index("512")
    learned = [f"{row[0].split(',')[0]} {row[last].split(' ')[0]}" for row in trained[1:4]]
    tokens = run["words"] * run["length"]
    chain_tokens = sum(row["tokens"] for row in chains["rows"])
    wrong = sum(row["errors"] for row in chains["rows"])
    rows = [
        (
            "S_5, constructed, through the layer and the kernel that are trained",
            f"{tokens:,} tokens in {run['precision']} on an {run['card']}, every word right",
        ),
        (
            f"{len({row['spec'] for row in chains['rows']})} automata as chains of up to {max(row['layers'] for row in chains['rows'])} layers, on the same kernels",
            f"{wrong} of {chain_tokens:,} tokens wrong, in float32 and bfloat16, on an {chains['card']}",
        ),
        (
            f"{len(named)} named automata, groups, patterns and protocol models, without options",
            "all constructed, and every certificate accepted by the stand-alone checker",
        ),
        (
            f"random automata of {largest['states']:,} states and {largest['letters']} letters ({len(largest['rows'])} of them)",
            f"{layers[0]} to {layers[-1]} layers; constructed, certified and checked in {max(seconds):.1f} s or less",
        ),
        (
            f"{models['models']:,} random models, judged by `prove` and by an independent oracle",
            f"{models['models_that_differ']} verdicts differ",
        ),
        (
            "trained on words of up to 128 letters, four seeds each: words of 512 letters that are right at every letter, median seed",
            ", ".join(learned),
        ),
    ]  # fmt: skip
    return table(("what was run", "result"), rows)


def audited_families_table() -> str:
    """The public model families that `audit` reads, each by the configuration that its library takes by default."""
    from mirrormata.models import Recurrence, audit
    from mirrormata.models.audit._audit import audited_families
    from mirrormata.tests.project.model_configurations import default_configuration

    rows = []
    for model_type, family in audited_families().items():
        if model_type.endswith("_text"):  # a part of a configuration of the row before
            continue
        found = audit(default_configuration(model_type))
        kinds = list(dict.fromkeys(found.recurrences))
        limits = [f"[{c.claim}](claims/{file_of_claim(c.claim)}.md)" for c in found.conclusions if c.limits]
        attention = sum(
            any(not isinstance(part, Recurrence) and "attention" in part for part in layer)
            for layer in found.layers
        )
        rows.append(
            (
                f"`{model_type}`", family.library, f"{len(found.recurrences)} of {len(found.layers)}", str(attention or ""),
                "; ".join(f"{kind.name}, `{kind.transition}`" for kind in kinds), "; ".join(kind.eigenvalues for kind in kinds),
                ", ".join(limits) or "nothing",
            )
        )  # fmt: skip
    head = (
        "model type",
        "library",
        "recurrent layers",
        "with attention",
        "recurrence",
        "eigenvalues of a token",
        "settled by theorem",
    )
    return table(head, sorted(rows))


def file_of_claim(claim: str) -> str:
    """The page of a claim, without its extension."""
    return next(entry.claim.file_stem for entry in load_claims(()) if entry.claim.id == claim)
