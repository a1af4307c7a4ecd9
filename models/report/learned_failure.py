"""Whether and why a model fails, in a report: eigenvalues in [0, 1], and two words that it provably confuses."""

from __future__ import annotations

import shlex

import numpy as np

from ...theory._check import check
from ...theory.running._words import random_words
from ..comparison._causes import Failure, why_it_fails
from ..comparison._learning import Answering
from ..comparison._result import Comparison
from .learned_trained import Trained
from .limits import LearnedLimits
from .parts import Cell, Section, Table

MOST_SHOWN = 60
"""Letters of a word that are written out."""
CLAIM = (
    "No read-out of the state and the last letter makes this layer follow the automaton in this arithmetic."
)


def failure_section(
    slug: str, title: str, place: Trained, found: Comparison, limits: LearnedLimits
) -> Section:
    """The certificate, where one is found on the powers of a letter; else what was looked for."""
    if found.trace.observed is None:
        words = f"{found.horizon.length:,} letters of {found.trace.sampling.words:,} random words"
        return Section(slug, title, f"No wrong answer was seen in {words}.", ())
    failure = impossibility_of(found, limits)
    text = f"The first wrong answer came at token {found.trace.observed:,}. "
    if failure.in_zero_one:
        text += (
            "Every eigenvalue of every letter is real and in [0, 1], decided on the exact values of the floats. In the "
            "arithmetic `cast` no such layers recognise parity, or counting mod any m (G.T1); in an arithmetic that rounds "
            "every step only a certificate says so. "
        )
    elif failure.in_zero_one is False:
        text += "Not all eigenvalues are in [0, 1], so these alone are no reason. "
    wrong = _wrong_word(found, place.source(limits))
    if failure.certificate is None:
        return Section(
            slug,
            title,
            f"{text}No certificate was found: {failure.reason}. {_again(place, 'searches further')}",
            (wrong,),
        )
    text += f"There is a certificate that the layer must fail. {_again(place, 'writes it')}"
    return Section(slug, title, text, (_table(failure, place), wrong))


def _wrong_word(found: Comparison, source: str) -> Table:
    """The shortest of the random words whose last answer is wrong, given to the model once more."""
    target, trace = found.learned.target, found.trace
    assert trace.observed is not None
    s = trace.sampling
    every = random_words(target.automaton, s.words, s.length, s.seed)
    word = np.asarray(
        every[np.flatnonzero(trace.first_failure == trace.observed)[:1], : trace.observed], dtype=np.int64
    )
    asked = Answering(found.learned)
    given, right = int(asked.answers(word)[0, -1]), int(asked.right(word)[0, -1])
    names = (*target.names, "none")
    letters = [found.learned.letters[x] for x in word[0]]
    shown = " ".join(letters[:MOST_SHOWN]) + (
        f" ... ({len(letters):,} letters)" if len(letters) > MOST_SHOWN else ""
    )
    rows = (("word", shown), ("the model's answer", names[given]), ("right", names[right]))
    return Table(
        "learned-wrong-word", "A word that it gets wrong", "The shortest among the prefixes of the random words.",
        ("entry", "value"), rows, source,
    )  # fmt: skip


def impossibility_of(found: Comparison, limits: LearnedLimits) -> Failure:
    """Looked for on the powers of the first letters that change a state, in `limits.arithmetic`."""
    automaton = found.learned.target.automaton
    moving = [
        x for x, row in enumerate(automaton.transitions) if (row != np.arange(len(row))).any()
    ]  # fmt: skip
    below = found.failure.in_zero_one
    loops = [(x,) for x in moving[: limits.loops]]
    if not loops:
        return Failure(below, None, "no letter was tried")
    products = sum(head.dim * head.H0.size for head in found.learned.heads)
    steps = max(1, min(limits.steps, limits.work // max(products, 1)))
    return why_it_fails(found.learned, below, limits.arithmetic, max_steps=steps, loops=loops)


def _again(place: Trained, what: str) -> str:
    spec = place.contract.settings.get("spec", place.contract.task)
    folder = "." if place.settings is None else f"seed-{place.seed}"
    command = shlex.join(["mirrormata", "compare", folder, str(spec), "-o", "impossible.json"])
    return (
        f"In this folder `{command}` {what}, and `mirrormata check impossible.json` checks what is written."
    )


def _table(failure: Failure, place: Trained) -> Table:
    document = failure.certificate
    assert document is not None
    words, letters = document["words"], document["labels"]["letters"]
    prefix, loop, suffix = (
        " ".join(letters[x] for x in words[part]) or "ε" for part in ("prefix", "loop", "suffix")
    )
    result = check(document)
    rows: list[tuple[Cell, ...]] = [
        ("statement", CLAIM),
        ("arithmetic", document["arithmetic"]),
        ("first word", f"u v^{words['i']:,} z"),
        ("second word", f"u v^{words['j']:,} z"),
        ("u", prefix),
        ("v", loop),
        ("z", suffix),
        ("states after u v^i and u v^j", "equal, bit for bit"),
        ("the automaton's outputs", "different"),
        ("checker", f"{result.verdict}: {result.reason}"),
    ]
    return Table(
        "learned-impossible", "Certificate of impossibility",
        "The heads' numbers are rounded once to the values of the arithmetic; the checker runs both words in exact numbers.",
        ("entry", "value"), tuple(rows), f"weights of {document['labels']['model']}",
    )  # fmt: skip
