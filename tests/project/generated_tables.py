"""Parts of the pages that are computed: figures of constructions, certified horizons, the library, measured times."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer.main
import yaml

from mirrormata.benchmarks.hopper import table_rows as hopper_rows
from mirrormata.benchmarks.kernel_counters import table_rows as counter_rows
from mirrormata.benchmarks.kernel_tables import ERRORS, error_rows, further_rows, results, time_rows
from mirrormata.benchmarks.layer_kernels import table_rows as layer_rows
from mirrormata.benchmarks.named_automata import HEAD as NAMED_HEAD
from mirrormata.benchmarks.named_automata import table_rows as named_rows
from mirrormata.benchmarks.peers_patterns import HEAD as PEERS_PATTERNS_HEAD
from mirrormata.benchmarks.peers_patterns import table_rows as peers_patterns_rows
from mirrormata.benchmarks.peers_semigroups import HEAD as PEERS_SEMIGROUPS_HEAD
from mirrormata.benchmarks.peers_semigroups import table_rows as peers_semigroups_rows
from mirrormata.benchmarks.random_automata import HEAD as RANDOM_HEAD
from mirrormata.benchmarks.random_automata import table_rows as random_rows
from mirrormata.benchmarks.state_size_bounds import table_rows as state_size_rows
from mirrormata.cli import app
from mirrormata.cli.help import OF_SPEC, panels_of
from mirrormata.cli.options import theorem_help
from mirrormata.constructions._construct import Request, choose_by_rule, construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.library._names import library_rows
from mirrormata.constructions.theorems._construction import Problem
from mirrormata.tests.models.recurrences import RECURRENCES, survey
from mirrormata.tests.mutations.run import read_results
from mirrormata.tests.mutations.run import table as of_results
from mirrormata.theory._check import all_checkers
from mirrormata.theory._horizon import horizons
from mirrormata.theory._verdict import status_in_words
from mirrormata.theory.planning._plan import report
from mirrormata.theory.running._refutation import refute_printed
from mirrormata.theory.verifying._registry import load_claims

CONSTRUCTIONS = (
    ("parity", "any"), ("Z2^4", "any"), ("S3", "any"), ("A4", "any"), ("S4", "any"), ("S4[involutions]", "any"),
    ("A5", "any"), ("A5", "integer"), ("A5[involutions]", "any"), ("S5", "any"), ("S5[transpositions]", "any"),
    ("Q8", "any"), ("dihedral:7", "any"), ("dihedral:7", "integer"), ("A4_x_Z5", "any"), ("A4_x_Z5", "integer"),
    ("mod:60", "any"), ("mod:60", "integer"), ("mod:1000", "any"), ("mod:1000", "integer"), ("boxes:5,4", "any"),
)  # fmt: skip
"""SPEC and `--exactness` of each row."""
HORIZONS = ("A5", "dihedral:7", "cycle:5", "A4_x_Z5", "mod:60", "mod:1000")
ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DTYPES = ("fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2")


def table(head: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> str:
    """A Markdown table; the columns named in `right` are aligned to the right."""
    lines = [head, ["---:" if i in right else "---" for i in range(len(head))], *rows]
    return "\n" + "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines) + "\n"


def constructions_table() -> str:
    """One row a construction, from the figures of `construct --json`."""
    rows = []
    for spec, exactness in CONSTRUCTIONS:
        facts = report(choose_by_rule(spec, Request(exactness=exactness)))
        bound = facts["integer_bound"]
        exact = "algebraic" if bound is None else f"integer, {bound}"
        rows.append(
            [
                f"`{spec}`" + (" `--exactness integer`" if exactness == "integer" else ""),
                *(facts[key] for key in ("states", "letters", "construction", "theorem")),
                *(facts[key] for key in ("householders", "heads", "dim")),
                exact,
            ]
        )
    head = ("SPEC", "states", "letters", "construction", "source", "factors", "heads", "dim", "exactness")
    return table(head, rows, (1, 2, 5, 6, 7))


def horizons_table() -> str:
    """One row a construction: the certified horizon in each dtype."""
    rows = []
    for spec in HORIZONS:
        lengths = horizons(construct(spec))
        rows.append([f"`{spec}`", *(f"{lengths[dtype]:,}" for dtype in DTYPES)])
    return table(("SPEC", *DTYPES), rows, range(1, 7))


def library_table() -> str:
    """The named automata, as `inspect --library` lists them."""
    rows = []
    for row in library_rows():
        monoid = "over limit" if row["monoid"] is None else f"{row['monoid']:,}"
        sizes = (f"{row['states']:,}", f"{row['letters']:,}", monoid)
        description = row["description"].replace("*", "\\*")
        rows.append((f"`{row['name']}`", description, f"`{row['example']}`", *sizes))
    return table(("name", "letters; state", "example", "states", "letters", "monoid"), rows, (3, 4, 5))


def files_of_checker(kind: str) -> list[Path]:
    """The program of a kind of certificate, and all files of its folder that it imports, directly or not."""
    folder = ROOT / "theory" / "checker"
    found = [folder / f"{kind}.py"]
    for path in found:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                read = folder / f"{node.module}.py"
                if read not in found:
                    found.append(read)
    return found


def checkers_table() -> str:
    """One row a kind of certificate: its program, what it proves, and how much has to be believed for it."""
    lines = {
        path: len(path.read_text(encoding="utf-8").splitlines())
        for kind in all_checkers()
        for path in files_of_checker(kind)
    }
    rows = []
    for kind in all_checkers():
        program, *others = files_of_checker(kind)
        text = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
        proves = " ".join(text.split("\n\n")[0].split()).partition(": ")[2].rstrip(".")
        read = ", ".join(f"`{path.name}`" for path in sorted(others))
        size = sum(lines[path] for path in (program, *others))
        rows.append([f"`{kind}`", f"`{program.name}`", proves, read, f"{size:,}"])
    head = ("kind", "program", "proves", "with", "lines in all")
    return (
        table(head, rows, (4,))
        + f"All checkers together are {len(lines)} files and {sum(lines.values()):,} lines.\n\n"
    )


def printed_table() -> str:
    """How many random cascades with the printed wiring are refuted."""
    counts: dict[int, list[int]] = {}
    for seed in range(300):
        spec = f"random:states={2 + seed % 5},letters={1 + seed % 3},seed={seed}"
        automaton = automaton_from_spec(spec).trim()
        cascade = Problem(automaton).cascade()
        if len(cascade.levels) < 2:
            continue
        row = counts.setdefault(len(cascade.levels), [0, 0])
        row[0] += 1
        row[1] += refute_printed(automaton).word is not None
    rows: list[list[object]] = [[levels, *counts[levels]] for levels in sorted(counts)]
    rows.append(["all", *(sum(row[i] for row in counts.values()) for i in range(2))])
    text = table(("levels", "cascades", "refuted"), rows, range(3))
    return f"\nOf 300 random automata (2 to 6 states, 1 to 3 letters), those whose cascade has several levels:\n{text}"


def recurrences_table() -> str:
    """One row a recurrence of the field: its transition, and its eigenvalues as decided on exact instances."""
    rows = []
    for r in RECURRENCES:
        found = survey(r)
        here = f"`{r.family}`" if r.family else "not trained here"
        rows.append(
            [
                r.name,
                f"`{r.transition}`",
                r.parameters,
                found.eigenvalue_class,
                r.reason,
                here,
                f"arXiv {r.source}",
            ]
        )
    head = ("recurrence", "transition A", "parameters", "eigenvalues", "why", "family and switches", "source")
    return table(head, rows)


def kernel_times_table() -> str:
    """Times of `delta_product` and its peer, from the committed results."""
    head = ["shape", "B, T, H, D, n_h", "passes", "ours", "FLA", "ratio"]
    head += ["graph", "FLA's graph", "host", "bytes", "operations"]
    return table(head, time_rows(results()), range(3, 11))


def kernel_further_table() -> str:
    """The same for other dtypes, gates and one long sequence."""
    head = ("what", "shape", "B, T, H, D, n_h", "passes", "ours", "FLA", "ratio")
    return table(head, further_rows(results()), range(4, 7))


def kernel_counters_table() -> str:
    """Hardware counters of every kernel of the phases and fused chunks."""
    head = (
        "shape",
        "passes",
        "kernel",
        "ms",
        "MB",
        "bandwidth",
        "warps",
        "issue",
        "registers",
        "longest waits",
    )
    return table(head, counter_rows(measured_results("kernel_counters_nvidia_h200")), range(3, 9))


def hopper_table() -> str:
    """Both passes of `delta_product` on Hopper: that chip's kernels and the others."""
    head = (
        "shape",
        "B, T, H, K, V, n_h",
        "gate",
        "passes",
        "Hopper",
        "others",
        "ratio",
        "MiB",
        "the others'",
    )
    head += ("error", "the others'")
    return table(head, hopper_rows(measured_results("hopper_nvidia_h200")), range(4, 11))


def layer_kernels_table() -> str:
    """Times and errors of the layers' own kernels and of plain torch."""
    head = ("operator", "shape", "Triton", "torch", "ratio", "error", "torch's error")
    return table(head, layer_rows(measured_results("layer_kernels_nvidia_h200")), range(2, 7))


def kernel_errors_table() -> str:
    """Errors of `delta_product` and its peer against float64, by β, length and dtype."""
    return table(("β", "T", "dtype", *ERRORS), error_rows(results()), range(1, 8))


def throughput_table() -> str:
    """Tokens a second in training, ours and the peer's, from the committed results."""
    found = measured_results("training_throughput_nvidia_h200")
    rows = []
    for name, size in found["sizes"].items():
        for row in size["rows"]:
            middle, slowest, fastest = (f"{x / 1e6:.2f}" for x in row["tokens_per_second"])
            against = f"{row['against_peer']:.2f}"
            rows.append(
                [
                    f"`{name}`",
                    row["model"],
                    f"{middle} ({slowest} to {fastest})",
                    f"{row['milliseconds_a_step']:.2f}",
                    against,
                ]
            )
    head = ("size", "model", "million tokens a second", "milliseconds a step", "against FLA")
    return table(head, rows, (2, 3, 4))


def fla_checkpoints_table() -> str:
    """Exported checkpoints run by FLA and by our kernels: accuracy to each length, and the first wrong token."""
    found = measured_results("fla_checkpoints_nvidia_h200")
    rows = []
    for run in found["runs"]:
        accuracy = [f"{run['accuracy'][str(T)]:.2%}" for T in found["lengths"]]
        bound = run["bound"] if isinstance(run["bound"], str) else f"about {run['bound']:,}"
        rows.append([run["task"], run["by"], run["dtype"], bound, *accuracy, run["first_error"] or "none"])
    head = (
        "task",
        "run by",
        "dtype",
        "right up to, foreseen",
        *(f"{T:,}" for T in found["lengths"]),
        "first wrong token",
    )
    return table(head, rows, range(4, 10))


def state_size_table() -> str:
    """The shares of random automata of which the bounds for one vector a state speak."""
    found = json.loads((ROOT / "benchmarks/results/state_size_bounds.json").read_text(encoding="utf-8"))
    head = ("states", "letters", "n - 1 words", "n - 2 words", "fewer", "two layers (own.LMI)")
    return table(head, state_size_rows(found), range(6))


def named_automata_table() -> str:
    """What `construct` makes of named automata, groups, patterns and protocol models, at version 0.1 and now."""
    found = json.loads((ROOT / "benchmarks/results/named_automata.json").read_text(encoding="utf-8"))
    return table(NAMED_HEAD, named_rows(found), (4, 5))


def random_automata_table() -> str:
    """Layers, factors, work, certificate and seconds of random automata, and the layers of the other constructions."""
    found = json.loads((ROOT / "benchmarks/results/random_automata.json").read_text(encoding="utf-8"))
    return table(RANDOM_HEAD, random_rows(found), range(len(RANDOM_HEAD)))


def peers_patterns_table() -> str:
    """Patterns to minimal DFAs, here and by other libraries."""
    found = measured_results("peers")
    return table(
        PEERS_PATTERNS_HEAD, peers_patterns_rows(found["patterns"]), range(1, len(PEERS_PATTERNS_HEAD))
    )


def peers_semigroups_table() -> str:
    """Skeletons and cascades of semigroups, here and by SgpDec, with the layers of chains."""
    found = measured_results("peers")
    return table(
        PEERS_SEMIGROUPS_HEAD,
        peers_semigroups_rows(found["semigroups"]),
        range(1, len(PEERS_SEMIGROUPS_HEAD)),
    )


def peers_versions() -> str:
    """What was compared, and what it ran on, in a sentence."""
    found = measured_results("peers")
    named = [f"{name} {version}" for name, version in found["versions"].items()]
    return f"\nVersions: {', '.join(named)}. Processor: {found['processor']}.\n\n"


def mutations_table() -> str:
    """By area, what the last run of `make mutate` noticed."""
    return f"\n{of_results(read_results())}\n\n"


def kernel_fuzz_table() -> str:
    """Every operator's random shapes on a GPU: how many, how many wrong, and the largest relative errors by dtype."""
    rows = []
    for path in sorted((ROOT / "benchmarks/results/fuzz_kernels_nvidia_h200").glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        worst = found["largest_errors"]
        errors = [
            " / ".join(
                (f"{worst[key]:.0e}" if worst[key] else "0") if (key := f"{dtype} {kind}") in worst else "-"
                for kind in ("output", "gradient")
            )
            for dtype in ("bfloat16", "float16", "float32", "float64")
        ]
        rows.append((f"`{found['operator']}`", f"{found['shapes']:,}", found["wrong"], *errors))
    return table(("operator", "shapes", "wrong", "bf16", "fp16", "fp32", "fp64"), rows, range(1, 7))


def model_fuzz_table() -> str:
    """The committed run of `make fuzz`: models by how they are drawn, and what the oracle says of them."""
    found = measured_results("fuzz_models")
    verdicts = ("equivalent", "counterexample", "unknown", "compared")
    rows = [
        (kind, *(f"{counts.get(verdict, 0):,}" for verdict in verdicts))
        for kind, counts in found["kinds"].items()
    ]
    total = f"{found['models']:,} models, seed {found['seed']}: {found['models_that_differ']} differ, {found['exceptions']} exceptions"
    return f"\n{total}.\n" + table(("models", *verdicts), rows, range(1, 5))


def measured_results(name: str) -> dict[str, Any]:
    """A committed document of results."""
    document: dict[str, Any] = json.loads(
        (ROOT / f"benchmarks/results/{name}.json").read_text(encoding="utf-8")
    )
    return document


def sweeps_tables() -> str:
    """The committed results of sweeps: caption, card and table of each; rows not run are shown as such."""
    parts = []
    for path in sorted((ROOT / "benchmarks/results").glob("sweep_*.json")):
        found = measured_results(path.stem)
        head, *rows = found["table"]
        where = f"{found['card']}, torch {found['torch']}, triton {found['triton']}; `{found['sweep']}`"
        parts.append(f"\n{found['caption']} ({where}.)\n{table(head, rows)}")
    return "".join(parts)


def commands_table() -> str:
    """Every command with the first sentence of its help, in the order of `mirrormata --help`."""
    rows = []
    for name, command in program_commands():
        anchor = name.replace(" ", "-")
        sentence = " ".join(command.help.split()).split(". ")[0].split("; ")[0].rstrip(".")
        rows.append((f"[`{name}`](#{anchor})", sentence))
    return table(("command", "what it does"), rows)


SPEC_SECTION = "#options-of-a-spec"
"""Where the options are explained that say how a SPEC is read."""


SEE = {
    "inspect --alphabet": "automata.md#regular-expressions",
    "inspect --write": "automata.md#writing-and-drawing",
    "construct --theorem": "planning.md",
    "plan --fit": "planning.md#does-an-architecture-hold-an-automaton",
    "plan --bounds": "certificates.md#kind-bound",
    "check --for": "certificates.md#which-automaton",
    "run --word": "conventions.md#words-and-automata",
    "verify --base": "trusted.md#the-base-is-checked-before-the-claims",
    "prove --arithmetic": "arithmetic.md",
    "train --family": "models.md",
    "train --protocol": "training.md",
}
"""The page that says more of an option of a command."""


def options_table(command: Any, panels: Sequence[str] | None = None) -> str:
    """Every option of a command with its help, panel by panel, from the command itself; those of SPEC in one row.

    With `panels`, the options of these alone, each in a row of its own.
    """
    for parameter in command.params:
        if parameter.name == "theorem":
            parameter.help = theorem_help()
    context = command.make_context(command.name, [], resilient_parsing=True)
    rows: list[tuple[str, str]] = []
    for panel, options in panels_of(command, context):
        listed = [(names, text) for names, text in options if "--help" not in names]
        if panel == "Arguments" or not listed or (panels is not None and panel not in panels):
            continue
        if panel == OF_SPEC and panels is None:
            names = ", ".join(f"`{name.split()[0]}`" for name, _ in listed)
            rows.append((names, f"[options of a SPEC]({SPEC_SECTION})"))
            continue
        for names, text in listed:
            option = names.split(", ")[-1].split()[0]
            more = SEE.get(f"{command.name} {option}")
            said = _in_markdown(text) + (f" ([more]({more}))" if more else "")
            rows.append((", ".join(f"`{name}`" for name in names.split(", ")).replace("|", "` or `"), said))
    return table(("option", "meaning"), rows)


def _in_markdown(help_text: str) -> str:
    """A help text for a cell of a table, with its default as a sentence."""
    text = re.sub(r"\s*\[required\]", " Required.", " ".join(help_text.split()))
    text = re.sub(r"\s*\[default: ([^;\]]*)[^\]]*\]", lambda found: f" Default: {_grouped(found[1])}.", text)
    text = re.sub(r"\s*\[x>=([0-9]+)\]", r" At least \1.", text)
    return re.sub(r"([|*<>])", r"\\\1", text)


def _grouped(number: str) -> str:
    return f"{int(number):,}" if number.isdigit() else number


def spec_options_table() -> str:
    """The options that say how a SPEC is read, with the limits of it, as `inspect` has them."""
    return options_table(dict(program_commands())["inspect"], (OF_SPEC,))


def program_commands() -> list[tuple[str, Any]]:
    """Every command of the program by its name, those of groups with the group's name in front."""

    def below(prefix: str, command: Any) -> list[tuple[str, Any]]:
        if not hasattr(command, "commands"):
            return [(prefix, command)]
        return [
            row
            for name, child in command.commands.items()
            for row in below(f"{prefix} {name}".strip(), child)
        ]

    return below("", typer.main.get_command(app))


def pages_table() -> str:
    """The pages of the site's navigation but the first, in its order and by its sections, with what each answers.

    That is said in the page, `<!-- answers: ... -->` below its heading; a page without one is shown with its first sentence.
    """
    parts = []
    for section, pages in navigation_sections():
        rows = []
        for title, name in pages:
            text = (ROOT / "docs" / name).read_text(encoding="utf-8")
            rows.append((f"[{title}]({name})", page_answers(text)))
        parts.append(f"\n### {section}\n{table(('page', 'what it answers'), rows)}")
    return "".join(parts)


def navigation_sections() -> list[tuple[str, list[tuple[str, str]]]]:
    """The sections of the navigation in `mkdocs.yml`, each with titles and files of its pages; of folders only the index."""
    sections = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    found = []
    for section in sections:
        ((name, entries),) = section.items()
        if isinstance(entries, str):
            continue
        pages = []
        for entry in entries:
            ((title, target),) = entry.items()
            pages.append((title, target if isinstance(target, str) else target[0]))
        found.append((name, pages))
    return found


def page_answers(text: str) -> str:
    """What a page says that it answers, else its first sentence."""
    said = re.search(r"^<!-- answers: (.*?) -->$", text, flags=re.MULTILINE | re.DOTALL)
    if said:
        return " ".join(said[1].split())
    paragraphs = [p for p in text.split("\n\n")[1:] if not p.startswith(("<", "#", "|", "`" * 3))]
    return " ".join(paragraphs[0].split()).split(". ")[0].rstrip(".")


def certificate_kinds() -> str:
    """The kinds of certificates that `check` knows, in a sentence."""
    kinds = [f"`{kind}`" for kind in all_checkers()]
    return f"\nThe kinds are {', '.join(kinds[:-1])} and {kinds[-1]}.\n\n"


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
            f"random automata of {largest['states']} states and {largest['letters']} letters ({len(largest['rows'])} of them)",
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


TABLES: dict[str, Callable[[], str]] = {
    "papers-g": lambda: paper_table("G"),
    "papers-dp": lambda: paper_table("DP"),
    "results": results_table,
    "state-size": state_size_table,
    "named-automata": named_automata_table,
    "random-automata": random_automata_table,
    "peers-patterns": peers_patterns_table,
    "peers-semigroups": peers_semigroups_table,
    "peers-versions": peers_versions,
    "commands": commands_table,
    "spec-options": spec_options_table,
    **{
        f"options-{name.replace(' ', '-')}": partial(options_table, command)
        for name, command in program_commands()
    },
    "pages": pages_table,
    "kinds": certificate_kinds,
    "constructions": constructions_table,
    "horizons": horizons_table,
    "printed": printed_table,
    "checkers": checkers_table,
    "library": library_table,
    "recurrences": recurrences_table,
    "sweeps": sweeps_tables,
    "throughput": throughput_table,
    "fla-checkpoints": fla_checkpoints_table,
    "kernel-times": kernel_times_table,
    "kernel-further-times": kernel_further_table,
    "kernel-errors": kernel_errors_table,
    "kernel-counters": kernel_counters_table,
    "kernel-hopper": hopper_table,
    "layer-kernels": layer_kernels_table,
    "mutations": mutations_table,
    "kernel-fuzz": kernel_fuzz_table,
    "model-fuzz": model_fuzz_table,
}
"""The function that computes what stands between `<!-- generated: NAME -->` and `<!-- end -->`."""
