"""What a report shows of a training or a model: how it learned, how far it is right, and beside its construction why."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...foundation._errors import MirrormataError
from ...foundation._text import count_noun
from ...theory._check import check
from ...theory.running._words import random_words
from .._model_file import load_model
from ..comparison._causes import MOST_ALONE, Failure, why_it_fails
from ..comparison._causes import WORDS as CAUSAL_WORDS
from ..comparison._compare import compare
from ..comparison._extraction import Method
from ..comparison._learning import Answering
from ..comparison._result import Comparison, Tolerances
from ..comparison._sources import learned_of
from ..comparison._states import Sampling
from ._answer import answer_model, take_chart
from ._audited import show_audit
from ._compared import PREDICTED, show_clusters, show_heads, show_margins, show_spectra
from ._data import SHARES, Cell, Chart, LearnedLimits, Mark, Section, Series, Table, plain_cell
from ._folder import ReportFolder, Trained, open_folder, open_trained

MOST_SHOWN = 60
"""Letters of a word that are written out."""
CLAIM = (
    "No read-out of the state and the last letter makes this layer follow the automaton in this arithmetic."
)


def show_model(
    folder: str | Path | ReportFolder, *, seed: int | None = None, limits: LearnedLimits | None = None
) -> tuple[Section, ...]:
    """The answer, accuracy against length, one seed's model beside the construction of its automaton; training, settings.

    A section that does not apply says why in a sentence and has no items.

    Args:
        folder: what `train` wrote, or a model folder.
        seed: which model is compared, by default the one that is right longest.
        limits: how much is compared and shown.

    Raises:
        InputError: for a folder that is neither, for a seed that is not there, and for a broken file.
    """
    asked = limits or LearnedLimits()
    place = open_trained(folder if isinstance(folder, ReportFolder) else open_folder(folder), asked, seed)
    limits = asked.reduce_words(place.entries)
    found, reason = compare_model(place, limits)
    lengths = show_lengths(place, found)
    if found is not None and limits.words < asked.words:
        fewer = f"{place.name_words(limits)} instead of {asked.words:,}, as a state of all heads has {place.entries:,} numbers"
        lengths = replace(lengths, text=f"{lengths.text}\n\nThe sections below are measured on {fewer}.")
    if found is not None and found.trace.observed is not None:
        found = replace(found, failure=search_impossibility(found, limits))
    if found is not None and not found.heads:
        family = place.config.get("family", "the model")
        reason = f"{family} has no linear heads, so only its answers are compared"
    lengths, first = take_chart(lengths, "learned-accuracy-length")
    sections = [answer_model(place, found, reason, first), lengths]
    for slug, title, show in COMPARED:
        if found is not None and (found.heads or show is show_failure):
            sections.append(Section(slug, title, *show(place, found, limits)))
        else:
            sections.append(Section(slug, title, f"Not shown: {reason}."))
    return (*sections, show_audit(place, limits), show_training(place), show_task(place))


def compare_model(place: Trained, limits: LearnedLimits) -> tuple[Comparison | None, str]:
    """The chosen seed's model beside the construction of its task's automaton, or why there is none."""
    if place.model is None:
        if place.result is None:
            return None, "the training is not finished, so it has written no model yet"
        return None, "the model of the seed that is right longest is not in the folder"
    automaton = place.folder.automaton
    if automaton is None:
        return None, f"the task {place.contract.task} has no automaton"
    if (letters := len(automaton.letters)) > limits.max_letters:
        return None, f"{letters:,} letters are more than the {limits.max_letters:,} that a report compares"
    load_model(place.model)  # what is wrong with its files is an error, not a reason
    ways: tuple[Method, ...] = ("exact", "clusters") if place.entries <= limits.entries else ("exact",)
    try:
        learned = learned_of(place.model, automaton)
        return compare(
            replace(learned, name=place.model_name),
            sampling=Sampling(limits.words, limits.length, limits.fit, limits.seed),
            tolerances=Tolerances(max_dim=limits.max_dim, max_group=limits.max_group),
            dtype=limits.dtype,
            extract=ways,
        ), ""
    except MirrormataError as error:
        return None, str(error)


def show_task(place: Trained) -> Section:
    """The contract, and the settings of model and training as they stand in the file."""
    contract = Table(
        "learned-contract", "Task", "Everything that must agree before two results are compared.", ("entry", "value"),
        place.contract.rows(), "task.json",
    )  # fmt: skip
    parts = {part: dict((place.settings or {}).get(part, {})) for part in ("model", "train", "eval", "task")}
    parts["model"] |= place.config
    settings = Table(
        "learned-settings", "Settings", "All entries of the model and, where known, of the training, the test and the task.", ("entry", "value"),
        [(f"{part}.{key}", plain_cell(value)) for part, entries in parts.items() for key, value in sorted(entries.items())],
        "config.json" if place.settings is None else "settings.json",
    )  # fmt: skip
    text = "What the model was to learn, and with which settings."
    return Section("learned-task", "Task and settings", text, (), (contract, settings))


def show_training(place: Trained) -> Section:
    """Loss and accuracy of every seed, and the learning rate, at the logged steps."""
    slug, title = "learned-training", "Training"
    if place.settings is None:
        return Section(slug, title, "Not shown: the folder of a model does not record how it was trained.")
    lines = [line for line in place.metrics if "loss" in line]
    if not lines:
        return Section(slug, title, "Not shown: the training has logged no step yet.")
    steps, settings = [line["step"] for line in lines], place.settings["train"]

    def is_number(x: Any) -> bool:  # NaN, which a training that broke down writes, is no point
        return isinstance(x, int | float) and abs(x) < float("inf")

    def chart(entry: str, title: str, label: str, text: str) -> Chart:
        series = [
            Series(
                f"seed {seed}", steps, [float(y) if is_number(y := line[entry][i]) else None for line in lines], "line", 4 + i,
                filters=(("seed", str(seed)),),
            )
            for i, seed in enumerate(place.seeds)
        ]  # fmt: skip
        return Chart(
            f"learned-{entry}", title, f"A line for each seed. {text}", "step", label, series, "metrics.jsonl",
            y_range=SHARES if entry == "accuracy" else None, log_y=entry == "loss" and spans_decades(series),
        )  # fmt: skip

    last = ", ".join(f"{x:.4g}" if is_number(x) else "none" for x in lines[-1]["loss"])
    rate = Series("learning rate", steps, [line["lr"] for line in lines], "line")
    charts = [
        chart("loss", "Loss by step", "loss in nats", f"At the last logged step {last} nats."),
        chart(
            "accuracy", "Accuracy by step", "accuracy on the batch",
            f"The share of all labels of a batch; guessing would give {place.contract.chance:.3g}.",
        ),
    ]  # fmt: skip
    schedule = Chart(
        "learned-lr", "Learning rate", f"The largest is {max(line['lr'] for line in lines):.3g}.", "step", "learning rate",
        (rate,), "metrics.jsonl",
    )  # fmt: skip
    text = (
        f"{count_noun(len(place.seeds), 'seed')} side by side, {settings['batch']:,} words of each in a step. Each logged step is one "
        "batch, so the curves have the noise of a batch."
    )
    if place.result is None:
        text += f" It has not ended: {steps[-1]:,} of {settings['steps']:,} steps are logged."
    return Section(slug, title, text, charts, (schedule,))


def spans_decades(series: Sequence[Series]) -> bool:
    """Whether all values are positive and the largest is more than ten times the least, so that a logarithm shows more."""
    values = [y for s in series for y in s.y if y is not None]
    return bool(values) and min(values) > 0 and max(values) > 10 * min(values)


def show_lengths(place: Trained, found: Comparison | None) -> Section:
    """Accuracy against length of all seeds; `found` adds the horizons of the seed that is compared."""
    slug, title, result = "learned-lengths", "Accuracy against length", place.result
    if result is None:
        why = "the training is not finished"
        if place.settings is None:
            why = "its task has no automaton to test it on"
        return Section(slug, title, f"Not shown: {why}.")
    marks = _mark_lengths(place, result, found)

    def chart(entry: str, title: str, label: str, text: str) -> Chart:
        curve = result["curve"]
        series = [
            Series(f"seed {seed}", curve["positions"], ys, "line", 4 + i, filters=(("seed", str(seed)),))
            for i, (seed, ys) in enumerate(zip(place.seeds, curve[entry], strict=True))
        ]
        bits = entry == "bits"
        return Chart(
            f"learned-{entry}-length", title, f"{text} A line for each seed.", "letters read", label, series, place.test,
            () if bits else marks, log_x=True, y_range=None if bits else SHARES,
        )  # fmt: skip

    items: list[Chart | Table] = [
        chart(
            "accuracy", "Accuracy at a position", "accuracy",
            f"Trained on words of at most {count_noun(place.train_length, 'letter')}; guessing would give {result['chance']:.3g}.",
        ),
        chart(
            "exact", "Words right so far", "words without a wrong answer",
            "The share of words whose every answer up to a position is right.",
        ),
    ]  # fmt: skip
    if "bits" in result["curve"]:
        items.append(chart("bits", "Bits a label", "bits", "Measured since the position before."))
    longest = result["longest_90"][place.place]
    text = [
        "All prefixes of the test words are test words too, so one run measures all lengths.",
        *[f"Seed {place.seeds[place.place]} is looked at below."] * (len(place.seeds) > 1),
        f"At least 90 % of its answers are right at every position tested, up to {count_noun(longest, 'letter')}."
        if longest == result["length"]
        else f"At least 90 % of its answers are right at every position up to {count_noun(longest, 'letter')}.",
    ]
    return Section(slug, title, " ".join(text), (*items, _list_lengths(place, result)))


def _mark_lengths(place: Trained, result: dict[str, Any], found: Comparison | None) -> list[Mark]:
    """Those within the test's length; of the horizons those that are known."""
    failure = result["first_failure"][place.place] or {"least": None}
    wanted: list[tuple[float | None, str]] = [(place.train_length, "training length")]
    wanted += [(failure["least"], f"first wrong, seed {place.seeds[place.place]}")]
    if found is not None:
        h = found.horizon
        wanted += [
            (h.spread, PREDICTED), (h.drift, "right to here (drift)"),
            (h.beta, "right to here (β alone)"), (h.rounding, f"right to here ({h.dtype})"),
        ]  # fmt: skip
    return [Mark("x", at, label) for at, label in wanted if at is not None and 1 <= at <= result["length"]]


def _list_lengths(place: Trained, result: dict[str, Any]) -> Table:
    lengths, rows = list(result["accuracy"]), list[tuple[Cell, ...]]()
    for i, seed in enumerate(place.seeds):
        failure = result["first_failure"][i] or {"least": None, "median": None}
        shares = [result[entry][length][i] for entry in ("accuracy", "exact") for length in lengths]
        rows.append((seed, *shares, result["longest_90"][i], failure["least"], failure["median"]))
    columns = (
        "seed", *(f"accuracy at {x}" for x in lengths), *(f"words right to {x}" for x in lengths),
        "longest length ≥ 90 %", "first wrong", "median first wrong",
    )  # fmt: skip
    return Table(
        "learned-lengths-table", "Lengths reached",
        "First wrong: letters read when the first wrong answer of any word came. The median is over the words that fail.",
        columns, rows, place.test,
    )  # fmt: skip


def show_snap(
    place: Trained, found: Comparison, limits: LearnedLimits
) -> tuple[str, list[Table], list[Table]]:
    """What snapping moved, the snapped linear RNN's certificate, the causal check, and the extracted automata."""
    source, snapped, target = place.name_source(limits), found.snapped, found.learned.target.automaton
    parts = ["The nearest exact representation to each head that carries states, and how far away it is."]
    if not snapped.heads:
        parts = [f"Nothing is snapped: {snapped.reason}."]
    if snapped.lrnn is not None:
        verdict = check(snapped.lrnn)
        parts.append(
            f"The snapped heads are an exact linear RNN ({snapped.lrnn.construction}); its certificate is "
            f"{verdict.verdict}: {verdict.reason}."
        )
    elif snapped.heads:
        parts.append(f"They are no exact linear RNN: {snapped.reason}.")
    if found.causal:
        parts.append("Then the snapped heads replace the learned ones, and the rest of the model stays.")
        if found.causal[0].accuracy < 1:
            parts.append("Where that makes the accuracy 1, the wrong answers come from inexact heads.")
    items, folded = list[Table](), list[Table]()
    if snapped.heads:
        moved = [(s.head.name, s.to_json()) for s in snapped.heads]
        entries = (
            "representation", "theorem", "transitions_moved", "entries_moved", "beta_moved", "plane_moved", "codes_moved",
        )  # fmt: skip
        folded.append(Table(
            "learned-moved", "What snapping moved",
            "Letters: largest spectral distance on U. β‖k‖²: largest distance of a factor from a reflection (2) or from doing "
            "nothing on U (0). Planes: largest angle between what A - I and the snapped letter move. States: largest distance "
            "of a class mean.",
            ("head", "snapped to", "theorem", "letters", "entries", "β‖k‖²", "planes (radians)", "states"),
            [(name, *(values[entry] for entry in entries)) for name, values in moved], source,
        ))  # fmt: skip
    if found.causal:
        count = len(snapped.heads)
        each = "each alone" if count <= MOST_ALONE else f"the first {MOST_ALONE} of {count} alone"
        order = "then its only snapped one" if count == 1 else f"then {each}, then all snapped ones"
        items.append(Table(
            "learned-causal", "Causal check",
            f"First none of the heads is replaced, {order}. A dash for the first wrong answer means that there was none.",
            ("heads replaced", "accuracy", "first wrong answer"), [(c.replaced, c.accuracy, c.first_failure) for c in found.causal],
            f"{place.name_source(limits, CAUSAL_WORDS)}; float64",
        ))  # fmt: skip
    if found.extracted:
        shortest = [e.counterexample for e in found.extracted]
        words = [None if word is None else " ".join(map(str, word)) or "ε" for word in shortest]
        items.append(Table(
            "learned-automata", "The automaton it is",
            f"Minimised and compared with {target.name}, which has {len(target.states):,} states. The counterexample is a shortest "
            "word on which they differ.",
            ("way", "states", "is the target", "how far it is known", "counterexample", "model answers it wrongly"),
            [
                (e.method, len(e.automaton.states), e.is_target, e.strength, word, e.confirmed)
                for e, word in zip(found.extracted, words, strict=True)
            ], source,
        ))  # fmt: skip
    notes = [note for note in found.notes if "extraction" in note]
    return "\n\n".join([" ".join(parts), *notes]), items, folded


def show_failure(place: Trained, found: Comparison, limits: LearnedLimits) -> tuple[str, list[Table]]:
    """Whether and why the model fails: a certificate, where one is found on the powers of a letter."""
    if found.trace.observed is None:
        words = f"{count_noun(found.horizon.length, 'letter')} of {found.trace.sampling.words:,} random words"
        return f"No wrong answer was seen in {words}.", []
    failure = found.failure
    text = f"The first wrong answer came at token {found.trace.observed:,}. "
    if failure.in_zero_one:
        text += (
            "Every eigenvalue of every letter is real and in [0, 1], decided on the exact values of the floats. In the "
            "arithmetic `cast` no such layers recognise parity, or count modulo any m (G.T1); in an arithmetic that rounds "
            "every step only a certificate can prove that. "
        )
    elif failure.in_zero_one is False:
        text += "Not all eigenvalues are in [0, 1], so the eigenvalues alone are no reason to fail. "
    spec = place.contract.settings.get("spec", place.contract.task)
    folder = "." if place.settings is None else f"seed-{place.seed}"
    command = shlex.join(["mirrormata", "compare", folder, str(spec), "-o", "impossible.json"])
    does = "searches further" if failure.certificate is None else "writes it"
    again = (
        f"In this folder `{command}` {does}, and `mirrormata check impossible.json` checks what is written."
    )
    wrong = _list_wrong_word(found, place.name_source(limits))
    if failure.certificate is None:
        return f"{text}No certificate was found: {failure.reason}. {again}", [wrong]
    proof = _list_certificate(failure.certificate)
    return f"{text}A certificate proves that the layer must fail. {again}", [proof, wrong]


def _list_wrong_word(found: Comparison, source: str) -> Table:
    """The shortest of the random words whose last answer is wrong, given to the model once more."""
    target, trace, s = found.learned.target, found.trace, found.trace.sampling
    every = random_words(target.automaton, s.words, s.length, s.seed)
    first = np.flatnonzero(trace.first_failure == trace.observed)[:1]
    word = np.asarray(every[first, : trace.observed], dtype=np.int64)
    asked, names = Answering(found.learned), (*target.names, "none")
    letters = [found.learned.letters[x] for x in word[0]]
    more = f" ... ({len(letters):,} letters)" if len(letters) > MOST_SHOWN else ""
    rows = (
        ("word", " ".join(letters[:MOST_SHOWN]) + more), ("the model's answer", names[int(asked.answers(word)[0, -1])]),
        ("right", names[int(asked.right(word)[0, -1])]),
    )  # fmt: skip
    return Table(
        "learned-wrong-word", "A word that it gets wrong", "The shortest among the prefixes of the random words.",
        ("entry", "value"), rows, source,
    )  # fmt: skip


def search_impossibility(found: Comparison, limits: LearnedLimits) -> Failure:
    """Search on the powers of the first letters that change a state, in `limits.arithmetic`."""
    maps = found.learned.target.automaton.transitions
    moving = [x for x, row in enumerate(maps) if (row != np.arange(len(row))).any()]
    loops = [(x,) for x in moving[: limits.loops]]
    if not loops:
        return Failure(found.failure.in_zero_one, None, "no letter was tried")
    products = sum(head.dim * head.H0.size for head in found.learned.heads)
    steps = max(1, min(limits.steps, limits.work // max(products, 1)))
    below = found.failure.in_zero_one
    return why_it_fails(found.learned, below, limits.arithmetic, max_steps=steps, loops=loops)


def _list_certificate(document: dict[str, Any]) -> Table:
    words, letters, result = document["words"], document["labels"]["letters"], check(document)
    u, v, z = (" ".join(letters[x] for x in words[part]) or "ε" for part in ("prefix", "loop", "suffix"))
    rows = (
        ("statement", CLAIM), ("arithmetic", document["arithmetic"]),
        ("first word", f"u v^{words['i']:,} z"), ("second word", f"u v^{words['j']:,} z"), ("u", u), ("v", v), ("z", z),
        ("states after u v^i and u v^j", "equal, bit for bit"), ("the automaton's outputs", "different"),
        ("checker", f"{result.verdict}: {result.reason}"),
    )  # fmt: skip
    return Table(
        "learned-impossible", "Certificate of impossibility",
        "The heads' numbers are rounded once to the values of the arithmetic; the checker runs both words in exact numbers.",
        ("entry", "value"), rows, f"weights of {document['labels']['model']}",
    )  # fmt: skip


COMPARED: tuple[tuple[str, str, Callable[[Trained, Comparison, LearnedLimits], tuple[Any, ...]]], ...] = (
    ("learned-failure", "Failure", show_failure),
    ("learned-heads", "What was learned", show_heads),
    ("learned-spectra", "Spectra and β, learned beside constructed", show_spectra),
    ("learned-margins", "Norms, spread and margin over length", show_margins),
    ("learned-snap", "Snapped to an exact representation", show_snap),
    ("learned-clusters", "State clusters", show_clusters),
)
"""Slug, title and maker of the sections that need a comparison, in order; all but the first need linear heads.

A maker returns a text, items, and perhaps items that are folded.
"""
